'use strict';
// Worker threads, the end of Node with shells at work, and nothing left behind.
const { test } = require('node:test');
const assert = require('node:assert/strict');
const { Worker } = require('node:worker_threads');
const { spawnSync } = require('node:child_process');
const { Shell } = require('libshell');

const rounds = Number(process.env.LIBSHELL_TEST_SHELLS ?? 10000);
const inWorker = (code, workerData) => new Worker(code, { eval: true, workerData });
const ended = (worker) => new Promise((resolve, reject) => worker.on('error', reject).on('exit', resolve));

test('worker threads, each with its shells', async () => {
  const code = `
    const { Shell } = require('libshell');
    const { parentPort, workerData } = require('node:worker_threads');
    (async () => {
      const sh = new Shell();
      sh.command('js', async (call) => { await null; call.write(String(workerData)); });
      let text = '';
      for (let i = 0; i < 20; i++) text = (await sh.run('js; echo ' + i)).stdout + sh.runSync('echo sync').stdout;
      parentPort.postMessage(text);
    })();`;
  const workers = Array.from({ length: 8 }, (_, i) => inWorker(code, i));
  const texts = await Promise.all(workers.map((w) => new Promise((resolve, reject) => w.on('message', resolve).on('error', reject))));
  assert.deepEqual(texts, Array.from({ length: 8 }, (_, i) => `${i}19\nsync\n`));
  await Promise.all(workers.map((w) => w.terminate()));
});

test('workers that end in the middle', async () => {
  const code = `
    const { Shell } = require('libshell');
    const { parentPort } = require('node:worker_threads');
    const shells = Array.from({ length: 8 }, () => new Shell());
    shells.forEach((sh, i) => {
      sh.command('js', () => new Promise(() => {}));
      sh.mount('/m', { stat: (p) => p === '' ? { type: 'dir' } : new Promise(() => {}), list: () => [] });
      sh.run(['sleep 100', 'while :; do :; done', 'js', 'cat /m/x', 'yes', 'js | cat /m/y', 'yes | js', 'sleep 0.01; js'][i], { onStdout() {} }).catch(() => {});
    });
    setTimeout(() => parentPort.postMessage('go'), 20);`;
  for (let i = 0; i < 6; i++) {
    const worker = inWorker(code);
    await new Promise((resolve) => worker.on('message', resolve));
    await worker.terminate();
  }
});

test('the process ends with shells at work', () => {
  for (const last of ['process.exit(5)', 'setTimeout(() => process.exit(5), 30)', "setTimeout(() => { throw new Error('x') }, 30)"]) {
    const code = `
      const { Shell } = require('libshell');
      for (const script of ['sleep 100', 'while :; do :; done', 'js', 'yes', 'cat /m/x', 'rm /tmp/x']) {
        const sh = new Shell({ policy: { asks: ['delete'], ask: () => new Promise(() => {}) } });
        sh.command('js', () => new Promise(() => {}));
        sh.mount('/m', { stat: (p) => p === '' ? { type: 'dir' } : new Promise(() => {}), list: () => [] });
        sh.writeFile('/tmp/x', '');
        sh.run(script, { onStdout() {} });
      }
      ${last}`;
    const result = spawnSync(process.execPath, ['-e', code], { cwd: __dirname, timeout: 20000, encoding: 'utf8' });
    assert.equal(result.signal, null, result.stderr);
    assert.equal(result.status, last.includes('throw') ? 1 : 5, result.stderr);
  }
});

test('a promise that nothing can settle', { skip: !globalThis.gc && 'needs --expose-gc' }, async () => {
  const sh = new Shell();
  sh.command('lost', () => new Promise(() => {}));
  const run = sh.run('lost; echo $?');
  const collect = setInterval(() => globalThis.gc(), 20);
  const out = await run;
  clearInterval(collect);
  assert.equal(out.stdout, '1\n');
});

test(`${rounds} shells leave nothing`, { skip: !globalThis.gc && 'needs --expose-gc' }, async () => {
  const some = async (n) => {
    for (let i = 0; i < n; i++) {
      const sh = new Shell();
      sh.command('c', (call) => call.write('x'));
      sh.runSync('c; echo hi > /tmp/f');
      if (i % 10 === 0) await sh.run('c', { onStdout() {} });
      if (i % 3 === 0) sh.fork().close();
      if (i % 2 === 0) sh.close(); // the others are collected
      if (i % 500 === 0) {
        globalThis.gc();
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
    globalThis.gc();
    await new Promise((resolve) => setImmediate(resolve));
    globalThis.gc();
  };
  await some(rounds / 5);
  const before = process.memoryUsage().rss;
  await some(rounds);
  const grown = process.memoryUsage().rss - before;
  assert.ok(grown < 24 << 20, `${(grown / (1 << 20)).toFixed(1)} MiB more`);
});

test('ESM and CommonJS are one', async () => {
  const esm = await import('libshell');
  assert.equal(esm.Shell, Shell);
  assert.equal(esm.default.Shell, Shell);
  assert.equal(new esm.Shell().runSync('echo esm').stdout, 'esm\n');
});

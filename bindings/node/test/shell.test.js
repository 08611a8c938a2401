'use strict';
const { test, describe } = require('node:test');
const assert = require('node:assert/strict');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { Shell, Image, ShellError, Output, formatResult, tools, describe: describeShell, auditVerify, commandNames, version, feature } = require('libshell');

const code = (expected) => (error) => error instanceof ShellError && error.code === expected;
const folder = () => fs.mkdtempSync(path.join(os.tmpdir(), 'libshell-test-'));

describe('lives', () => {
  test('a closed shell stays closed while others come and go', () => {
    const old = [];
    for (let i = 0; i < 200; i++) {
      const sh = new Shell({ env: { I: String(i) }, limits: i % 3 ? undefined : { timeMs: 1000 } });
      assert.equal(sh.runSync('echo $I > f; echo $I; x=$I').stdout, `${i}\n`);
      sh.close();
      sh.close();
      old.push(sh);
      assert.throws(() => new Shell({ cwd: '/nowhere' }), ShellError);
    }
    const fresh = new Shell();
    assert.equal(fresh.runSync('echo "[$x]" "[$I]"; ls').stdout, '[] []\n');
    for (const sh of old) {
      assert.throws(() => sh.runSync('echo hi'), code('EINVAL'));
      assert.throws(() => sh.readFile('f'), code('EINVAL'));
      sh.close();
    }
    assert.equal(fresh.runSync('echo on').stdout, 'on\n');
  });

  test('with functions, with runs beside, and closed from within', async () => {
    const said = [];
    for (let i = 0; i < 20; i++) {
      const sh = new Shell({ commands: { mine: () => { said.push(i); } }, policy: { asks: ['delete'], ask: () => i % 2 === 0 } });
      const sync = new Shell();
      sync.command('bye', () => sync.close());
      assert.equal(sh.runSync('mine; : > f; rm f; echo $?').stdout.trim(), i % 2 ? '1' : '0');
      assert.equal(sync.runSync('echo a; bye; echo b').stdout.slice(0, 2), 'a\n');
      assert.throws(() => sync.runSync(':'), code('EINVAL'));
      const run = i % 2 ? sh.run('echo on; mine') : undefined;
      if (run) assert.equal((await run).stdout, 'on\n');
      sh.close();
      const stopped = new Shell();
      const ended = stopped.run('sleep 5').then(() => 'ended', () => 'ended');
      stopped.close();
      assert.equal(await ended, 'ended');
    }
    assert.equal(said.length, 30);
  });
});

describe('running', () => {
  test('status, streams, figures', () => {
    const out = new Shell().runSync('echo hi | tr a-z A-Z; echo no >&2; exit 3');
    assert.ok(out instanceof Output);
    assert.deepEqual([out.status, out.stdout, out.stderr, out.end, out.limit], [3, 'HI\n', 'no\n', 'finished', undefined]);
    assert.ok(out.steps > 0 && out.wallNs > 0 && out.peakMemory > 0);
  });

  test('state stays, reset gives the first back, fresh keeps files alone', () => {
    const sh = new Shell();
    sh.runSync('x=1; cd /tmp; f() { echo f; }');
    assert.equal(sh.runSync('echo $x $PWD; f').stdout, '1 /tmp\nf\n');
    sh.runSync('x=2; set -e; trap "echo bye" EXIT; echo a > kept', { fresh: true });
    assert.equal(sh.runSync('echo $x; cat kept; false; echo on').stdout, '1\na\non\n');
    sh.reset();
    assert.equal(sh.runSync('echo "[$x]"').stdout, '[]\n');
  });

  test('bytes are bytes', async () => {
    const sh = new Shell();
    const all = Uint8Array.from({ length: 256 }, (_, i) => i);
    assert.deepEqual(sh.runSync('cat', { stdin: all }).stdoutBytes, all);
    assert.deepEqual((await sh.run('cat', { stdin: all })).stdoutBytes, all);
    assert.equal(sh.runSync("printf '\\xff'").stdout, '\ufffd');
    assert.equal(sh.runSync('echo "żółć 🐚"').stdout, 'żółć 🐚\n');
    sh.writeFile('/tmp/b', all);
    assert.deepEqual(sh.readFile('/tmp/b'), all);
    assert.deepEqual(sh.readRange('/tmp/b', 250, 100), all.slice(250));
    assert.deepEqual(sh.runSync(Buffer.from("printf '\xe9'", 'latin1')).stdoutBytes, Uint8Array.of(0xe9));
  });

  test('long scripts and long outputs', async () => {
    const sh = new Shell({ limits: { output: 0 } });
    const long = 'y'.repeat(100000);
    assert.equal(sh.runSync(`echo ${long}`).stdout, `${long}\n`);
    assert.equal(sh.runSync(`echo ${'é'.repeat(2000)}`).stdout, `${'é'.repeat(2000)}\n`);
    const big = await sh.run('head -c 5000000 /dev/zero; head -c 100000 /dev/zero >&2');
    assert.equal(big.stdoutBytes.length, 5000000);
    assert.equal(big.stderrBytes.length, 100000);
    assert.ok(big.stdoutBytes.every((b) => b === 0));
    const kept = big.stdoutBytes;
    sh.close();
    assert.equal(kept[4999999], 0);
  });

  test('options', () => {
    const sh = new Shell({ env: { A: '1' }, cwd: '/tmp', umask: '077', clock: { fixed: 1000 }, seed: 7 });
    assert.equal(sh.runSync('echo $A $B $PWD $0 $1; umask; date +%s', { env: { B: '2' }, args: ['me', 'one'] }).stdout, '1 2 /tmp me one\n0077\n1000\n');
    assert.equal(sh.runSync('echo "$B"').stdout, '\n');
    assert.equal(sh.runSync('echo $RANDOM').stdout, new Shell({ clock: { fixed: 1000 }, seed: 7 }).runSync('echo $RANDOM').stdout);
    assert.equal(sh.runSync('echo e >&2', { merge: true }).stdout, 'e\n');
    assert.equal(sh.runSync('if', { syntaxOnly: true }).status, 2);
    assert.equal(sh.runSync('pwd', { cwd: '/' }).stdout, '/\n');
  });

  test('what nobody knows is refused by name', () => {
    assert.throws(() => new Shell({ tmeout: 3 }), (e) => code('EINVAL')(e) && /"tmeout"/.test(e.message));
    const sh = new Shell();
    assert.throws(() => sh.runSync(':', { stdinn: '' }), code('EINVAL'));
    assert.throws(() => sh.setLimits({ memry: 1 }), code('EINVAL'));
    assert.throws(() => new Shell({ limits: { memory: -1 } }), code('EINVAL'));
    assert.throws(() => sh.runSync(':', { timeout: 0 }), code('EINVAL'));
    assert.throws(() => sh.runSync(':', { jobs: 'x' }), code('EINVAL'));
    assert.throws(() => new Shell({ binds: [{ source: '/tmp', destination: '/t', mode: 'x' }] }), code('EINVAL'));
    assert.throws(() => sh.runSync(3), code('EINVAL'));
  });

  test('limits are named', async () => {
    const sh = new Shell();
    const t = await sh.run('while :; do :; done', { limits: { timeMs: 50 } });
    assert.deepEqual([t.end, t.limit, t.limitValue, t.exited], ['timeout', 'time', 50, false]);
    assert.deepEqual([sh.runSync('exit 2').exited, sh.runSync('false').exited], [true, false]);
    const o = sh.runSync('yes', { limits: { output: 1000 } });
    assert.equal(o.limit, 'output');
    assert.ok(o.stdoutTruncated);
    assert.equal(o.stdoutBytes.length, 1000);
    assert.equal(sh.runSync('sleep 100', { timeout: 0.05 }).end, 'timeout');
    assert.equal((await new Shell({ timeout: 0.05 }).run('sleep 100')).end, 'timeout');
    sh.setLimits({ timeMs: 40 });
    assert.equal((await sh.run('sleep 5')).limitValue, 40);
  });

  test('one run at a time, and a closed shell says so', async () => {
    const sh = new Shell();
    const first = sh.run('sleep 0.1; echo a');
    await assert.rejects(sh.run('echo b'), code('EBUSY'));
    assert.throws(() => sh.runSync('echo b'), code('EBUSY'));
    assert.throws(() => sh.readFile('/etc/passwd'), code('EBUSY'));
    assert.throws(() => sh.fork(), code('EBUSY'));
    assert.equal((await first).stdout, 'a\n');
    sh.close();
    sh.close();
    assert.throws(() => sh.runSync(':'), code('EINVAL'));
    assert.throws(() => sh.readFile('/x'), code('EINVAL'));
    await assert.rejects(sh.run(':'), code('EINVAL'));
  });

  test('Symbol.dispose', () => {
    const sh = new Shell();
    sh[Symbol.dispose ?? Symbol.for('Symbol.dispose')]();
    assert.throws(() => sh.runSync(':'), code('EINVAL'));
  });

  test('closing while it runs ends the run', async () => {
    const sh = new Shell();
    const run = sh.run('sleep 100');
    sh.close();
    assert.equal((await run).end, 'cancelled');
  });

  test('64 sleeps at once, and the event loop stays free', async () => {
    const start = Date.now();
    const all = Array.from({ length: 64 }, () => new Shell().run('sleep 1; echo done'));
    let read = 0;
    for (let i = 0; i < 5; i++) {
      const before = Date.now();
      await fs.promises.readFile(__filename);
      read = Math.max(read, Date.now() - before);
    }
    assert.ok((await Promise.all(all)).every((o) => o.stdout === 'done\n'));
    assert.ok(Date.now() - start < 1900, `${Date.now() - start} ms`);
    assert.ok(read < 500, `${read} ms for a file`);
  });
});

describe('output as it comes', () => {
  test('callbacks, in order, and collected too', async () => {
    const sh = new Shell();
    for (const run of [async (s, o) => sh.run(s, o), async (s, o) => sh.runSync(s, o)]) {
      const pieces = [];
      const times = [];
      const out = await run('echo a; sleep 0.1; echo b >&2; echo c | cat; x=$(echo hidden)', {
        onStdout: (d) => { pieces.push(`1:${Buffer.from(d)}`); times.push(Date.now()); },
        onStderr: (d) => { pieces.push(`2:${Buffer.from(d)}`); times.push(Date.now()); },
      });
      assert.deepEqual(pieces.join(''), '1:a\n2:b\n1:c\n');
      assert.ok(times.at(-1) - times[0] >= 80);
      assert.deepEqual([out.stdout, out.stderr], ['a\nc\n', 'b\n']);
    }
  });

  test('what a callback throws ends the run', async () => {
    const sh = new Shell();
    const options = { onStdout() { throw new RangeError('enough'); } };
    await assert.rejects(sh.run('while :; do echo y; done', options), RangeError);
    assert.throws(() => sh.runSync('while :; do echo y; done', options), RangeError);
    assert.equal(sh.runSync('echo fine').stdout, 'fine\n');
  });

  test('stream', async () => {
    const sh = new Shell();
    const seen = [];
    const stream = sh.stream('echo a; sleep 0.05; echo b >&2; exit 4', { encoding: 'utf8' });
    for await (const { stream: name, data } of stream) seen.push(name, data);
    assert.deepEqual(seen, ['stdout', 'a\n', 'stderr', 'b\n']);
    assert.equal((await stream.result).status, 4);
  });

  test('a character cut between two pieces', async () => {
    const seen = [];
    for await (const { data } of new Shell().stream("printf '\\xc3'; sleep 0.05; printf '\\xa9'; printf '\\xe2'", { encoding: 'utf8' })) seen.push(data);
    assert.equal(seen.join(''), 'é\ufffd');
  });

  test('a slow reader holds the script back', async () => {
    const sh = new Shell({ limits: { output: 0 } });
    let total = 0;
    let first = true;
    for await (const { data } of sh.stream('head -c 20000000 /dev/zero; echo > /tmp/ended')) {
      total += data.length;
      if (first) {
        first = false;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
    assert.equal(total, 20000000);
  });

  test('leaving the loop ends the run', async () => {
    const sh = new Shell();
    for await (const { data } of sh.stream('yes')) {
      assert.ok(data.length > 0);
      break;
    }
    assert.equal((await sh.run('echo free')).stdout, 'free\n');
  });

  test('an error comes out of the loop', async () => {
    const sh = new Shell();
    await assert.rejects(async () => {
      for await (const _ of sh.stream('sleep 100', { signal: AbortSignal.timeout(30) }));
    }, { name: 'TimeoutError' });
    sh.close();
    await assert.rejects(async () => {
      for await (const _ of sh.stream(':'));
    }, code('EINVAL'));
  });
});

describe('AbortSignal', () => {
  test('a timer that fires while a loop is busy', async () => {
    const sh = new Shell();
    for (const script of ['while :; do :; done', 'sleep 100', '(sleep 100)', 'echo x | sleep 100', 'yes > /dev/null', "awk 'BEGIN { while (1) x++ }'"]) {
      const start = Date.now();
      await assert.rejects(sh.run(script, { signal: AbortSignal.timeout(30) }), { name: 'TimeoutError' });
      assert.ok(Date.now() - start < 1000, script);
    }
    assert.equal(sh.runSync('echo on').stdout, 'on\n');
  });

  test('one that is aborted already', async () => {
    const sh = new Shell();
    await assert.rejects(sh.run('echo > /tmp/ran', { signal: AbortSignal.abort() }), { name: 'AbortError' });
    assert.equal(sh.exists('/tmp/ran'), false);
  });

  test('at random', async () => {
    const sh = new Shell();
    let ended = 0;
    for (let i = 0; i < 200; i++) {
      const abort = new AbortController();
      const run = sh.run('for i in 1 2 3; do echo $i | cat; sleep 0.001; done', { signal: abort.signal });
      setTimeout(() => abort.abort(), Math.random() * 5);
      await run.then(() => ended++, (e) => assert.equal(e.name, 'AbortError'));
    }
    assert.equal(sh.runSync('echo on').stdout, 'on\n');
  });

  test('cancel', async () => {
    const sh = new Shell();
    const run = sh.run('sleep 100');
    setTimeout(() => sh.cancel(), 20);
    const out = await run;
    assert.deepEqual([out.end, out.status], ['cancelled', 130]);
  });
});

describe('files', () => {
  test('all of the calls', () => {
    const sh = new Shell();
    sh.writeFile('/tmp/d/e/f', 'one\n');
    sh.writeFile('/tmp/d/e/f', Buffer.from('two\n'), { append: true });
    assert.equal(sh.readText('/tmp/d/e/f'), 'one\ntwo\n');
    assert.throws(() => sh.writeFile('/tmp/d/e/f', '', { exclusive: true }), code('EEXIST'));
    const stat = sh.stat('/tmp/d/e/f');
    assert.deepEqual([stat.size, stat.isFile, stat.isDir, stat.mode & 0o777, typeof stat.mtimeNs], [8, true, false, 0o644, 'bigint']);
    sh.chmod('/tmp/d/e/f', 0o600);
    assert.equal(sh.stat('/tmp/d/e/f').mode & 0o777, 0o600);
    sh.mkdir('/tmp/x/y', { parents: true });
    sh.rename('/tmp/d/e/f', '/tmp/x/g');
    assert.deepEqual(sh.listFiles('/tmp/x'), [{ name: 'g', isDir: false, isSymlink: false, size: 8 }, { name: 'y', isDir: true, isSymlink: false, size: 0 }].map((f, i) => ({ ...f, size: sh.listFiles('/tmp/x')[i].size })));
    sh.runSync('ln -s g /tmp/x/l');
    assert.equal(sh.readlink('/tmp/x/l'), 'g');
    assert.ok(sh.stat('/tmp/x/l', { follow: false }).isSymlink);
    sh.removeFile('/tmp/x', { recursive: true });
    assert.equal(sh.exists('/tmp/x'), false);
    sh.setEnv('V', 'w');
    assert.equal(sh.getEnv('V'), 'w');
    sh.unsetEnv('V');
    assert.equal(sh.getEnv('V'), undefined);
    sh.runSync('cd /tmp');
    assert.equal(sh.cwd, '/tmp');
  });

  test('errors carry code and path', () => {
    const sh = new Shell({ limits: { fileSize: 100 } });
    assert.throws(() => sh.readFile('/none'), (e) => code('ENOENT')(e) && e.path === '/none');
    assert.throws(() => sh.readFile('/tmp'), code('EISDIR'));
    assert.throws(() => sh.writeFile('/tmp/big', 'x'.repeat(1000)), code('EFBIG'));
    assert.throws(() => sh.writeFile('/etc/passwd', ''), code('EACCES'));
    assert.throws(() => sh.readFile('a\0b'), code('EINVAL'));
    assert.throws(() => sh.removeFile('/none'), code('ENOENT'));
  });

  test('names are never code, and need not be UTF-8', () => {
    const sh = new Shell();
    sh.writeFile("/tmp/n/a'$(touch x)'b", 'in');
    assert.equal(sh.readText("/tmp/n/a'$(touch x)'b"), 'in');
    assert.deepEqual(sh.listFiles('/tmp/n').map((f) => f.name), ["a'$(touch x)'b"]);
    sh.runSync("printf x > $'/tmp/n2\\xff'; mkdir /tmp/n3; printf x > $'/tmp/n3/\\xfe'");
    assert.equal(sh.readText(Buffer.from('/tmp/n2\xff', 'latin1')), 'x');
    assert.deepEqual(sh.listFiles('/tmp/n3', { encoding: 'buffer' })[0].name, Uint8Array.of(0xfe));
  });

  test('changes', () => {
    const host = folder();
    fs.writeFileSync(path.join(host, 'a'), 'a');
    fs.writeFileSync(path.join(host, 'b'), 'b');
    const sh = new Shell({ binds: [{ source: host, destination: '/workspace', mode: 'overlay' }] });
    sh.runSync('cd /workspace; echo c > c; echo more >> a; rm b; ln -s a l');
    const changes = sh.changes({ digests: true });
    assert.deepEqual(changes.map((c) => [c.path, c.kind]), [['/workspace/a', 'modified'], ['/workspace/b', 'deleted'], ['/workspace/c', 'added'], ['/workspace/l', 'added']]);
    assert.equal(changes[0].digest.length, 32);
    assert.notEqual(changes[0].digest, changes[0].oldDigest);
    assert.equal(changes[3].target, 'a');
    assert.equal(fs.readFileSync(path.join(host, 'a'), 'utf8'), 'a');
    fs.rmSync(host, { recursive: true });
  });
});

describe('binds', () => {
  test('copy, direct, read-only, added and removed', async () => {
    const host = folder();
    fs.writeFileSync(path.join(host, 'f'), 'host');
    const sh = await Shell.create({ binds: [{ source: host, destination: '/c' }, { source: host, destination: '/d', mode: 'direct' }, { source: host, destination: '/r', mode: 'direct', readonly: true }] });
    sh.runSync('echo shell > /c/f; echo live > /d/g');
    assert.equal(fs.readFileSync(path.join(host, 'f'), 'utf8'), 'host');
    assert.equal(fs.readFileSync(path.join(host, 'g'), 'utf8'), 'live\n');
    assert.match(sh.runSync('echo > /r/h').stderr, /Read-only file system/);
    sh.addBind({ source: host, destination: '/later' });
    assert.equal(sh.readText('/later/f'), 'host');
    sh.removeBind('/later');
    assert.equal(sh.exists('/later/f'), false);
    assert.throws(() => sh.removeBind('/never'), code('ENOENT'));
    await assert.rejects(Shell.create({ binds: [{ source: '/no/such', destination: '/x' }] }), ShellError);
    assert.throws(() => new Shell({ binds: [{ source: '/', destination: '/x', mode: 'direct' }] }), ShellError);
    fs.rmSync(host, { recursive: true });
  });
});

describe('copies', () => {
  test('fork, image, snapshot', () => {
    const sh = new Shell();
    sh.command('hello', (call) => call.write('hello\n'));
    sh.runSync('x=1; echo a > /tmp/f');
    const fork = sh.fork();
    fork.runSync('x=2; echo b > /tmp/f');
    assert.deepEqual([sh.runSync('echo $x; cat /tmp/f').stdout, fork.runSync('echo $x; cat /tmp/f; hello').stdout], ['1\na\n', '2\nb\nhello\n']);
    const image = sh.image();
    assert.ok(image instanceof Image);
    const other = new Shell({ image });
    assert.equal(other.runSync('cat /tmp/f; echo "[$x]"').stdout, 'a\n[]\n');
    assert.deepEqual(other.changes(), []);
    const bytes = sh.snapshot();
    const restored = new Shell();
    restored.restore(bytes);
    assert.equal(restored.runSync('echo $x; cat /tmp/f').stdout, '1\na\n');
    assert.equal(new Shell({ image: Image.fromSnapshot(bytes) }).readText('/tmp/f'), 'a\n');
    bytes[bytes.length >> 1] ^= 1;
    assert.throws(() => restored.restore(bytes), code('EINVAL'));
    assert.throws(() => Image.fromSnapshot(new Uint8Array(9)), ShellError);
    assert.throws(() => new Image(), TypeError);
    sh.close();
    assert.equal(fork.runSync('hello').stdout, 'hello\n');
  });

  test('an image of a directory', () => {
    const host = folder();
    fs.mkdirSync(path.join(host, 'sub'));
    for (const name of ['a.txt', 'b.log', 'sub/c.txt', '.gitignore']) fs.writeFileSync(path.join(host, name), name === '.gitignore' ? '*.log\n' : name);
    const image = Image.fromDirectory(host, { gitignore: true, destination: '/w' });
    assert.equal(new Shell({ image }).runSync('cd /w; find . -name "*.*" -type f | sort').stdout, './.gitignore\n./a.txt\n./sub/c.txt\n');
    const some = Image.fromDirectory(host, { include: ['*.txt'], exclude: ['sub'] });
    assert.equal(new Shell({ image: some }).runSync('cd /workspace; find . -type f').stdout, './a.txt\n');
    assert.throws(() => Image.fromDirectory('/no/such'), code('ENOENT'));
    fs.rmSync(host, { recursive: true });
  });
});

describe('custom commands', () => {
  test('argv, stdin, env, cwd, writers, status', async () => {
    const sh = new Shell({
      commands: {
        show(call) {
          call.write(JSON.stringify([call.argv, call.stdinText, call.getenv('E'), call.getenv('NONE') ?? null, call.cwd]));
          call.writeError('err');
          return 7;
        },
      },
    });
    const script = 'cd /tmp; export E=1; echo in | show a "b c" | cat; echo ${PIPESTATUS[1]}';
    for (const out of [sh.runSync(script), await sh.run(script)]) assert.deepEqual([out.stdout, out.stderr], ['[["show","a","b c"],"in\\n","1",null,"/tmp"]7\n', 'err']);
  });

  test('asynchronous', async () => {
    const sh = new Shell();
    sh.command('slow', async (call) => {
      call.write('a');
      await new Promise((resolve) => setTimeout(resolve, 20));
      call.write('b\n');
      return 3;
    });
    assert.deepEqual((await sh.run('slow | tr a-z A-Z; slow; echo $?')).stdout, 'AB\nab\n3\n');
    const out = sh.runSync('slow');
    assert.deepEqual([out.status, out.stderr], [126, 'slow is asynchronous: use run()\n']);
  });

  test('what it writes arrives while it runs', async () => {
    const sh = new Shell();
    sh.command('ticks', async (call) => {
      for (let i = 0; i < 3; i++) {
        call.write(`${i}\n`);
        await new Promise((resolve) => setTimeout(resolve, 40));
      }
    });
    const times = [];
    for await (const { data } of sh.stream('ticks', { encoding: 'utf8' })) times.push([data, Date.now()]);
    assert.equal(times.map(([d]) => d).join(''), '0\n1\n2\n');
    assert.ok(times.at(-1)[1] - times[0][1] > 60);
  });

  test('what it throws is told', async () => {
    const sh = new Shell();
    sh.command('bad', () => { throw new TypeError('no'); });
    sh.command('worse', async () => { throw new Error('later'); });
    assert.deepEqual([sh.runSync('bad').status, sh.runSync('bad').stderr], [1, 'bad: TypeError: no\n']);
    assert.equal((await sh.run('worse')).stderr, 'worse: Error: later\n');
  });

  test('more than a pipe holds, both ways', async () => {
    const sh = new Shell({ limits: { output: 0 } });
    sh.command('copy', (call) => call.write(call.stdin));
    const script = 'head -c 3000000 /dev/zero | copy | wc -c';
    assert.equal(sh.runSync(script).stdout, '3000000\n');
    assert.equal((await sh.run(script)).stdout, '3000000\n');
  });

  test('input that is not looked at is left', async () => {
    const sh = new Shell();
    sh.command('nop', () => 0);
    const script = 'printf "1\\n2\\n3\\n" > /tmp/l; while read x; do nop; echo $x; done < /tmp/l';
    assert.equal(sh.runSync(script).stdout, '1\n2\n3\n');
    assert.equal((await sh.run(script)).stdout, '1\n2\n3\n');
  });

  test('it may use the files of its shell, and not run it', async () => {
    const sh = new Shell();
    sh.command('inside', (call) => {
      sh.writeFile('/tmp/w', 'from js');
      call.write(sh.readText('/tmp/w'));
      assert.throws(() => call.shell.runSync(':'), code('EBUSY'));
      assert.throws(() => sh.reset(), code('EBUSY'));
      assert.throws(() => sh.fork(), code('EBUSY'));
    });
    for (const out of [sh.runSync('inside'), await sh.run('inside'), await sh.run('yes > /dev/null & inside; kill $!')]) assert.deepEqual([out.status, out.stdout, out.stderr], [0, 'from js', '']);
  });

  test('eight deep, a run in a run', async () => {
    const nest = async (depth) => {
      const sh = new Shell();
      sh.command('deeper', async (call) => {
        call.write(depth === 0 ? 'bottom' : (await nest(depth - 1)).stdout);
      });
      return sh.run('deeper');
    };
    assert.equal((await nest(8)).stdout, 'bottom');
    const sync = (depth) => {
      const sh = new Shell();
      sh.command('deeper', (call) => call.write(depth === 0 ? 'bottom' : sync(depth - 1).stdout));
      return sh.runSync('deeper');
    };
    assert.equal(sync(8).stdout, 'bottom');
  });

  test('killed ones are told, and time limits end them', async () => {
    const sh = new Shell();
    let aborted = 0;
    sh.command('forever', (call) => new Promise(() => call.signal.addEventListener('abort', () => aborted++)));
    const start = Date.now();
    assert.equal((await sh.run('forever', { timeout: 0.05 })).end, 'timeout');
    await assert.rejects(sh.run('forever', { signal: AbortSignal.timeout(30) }));
    assert.equal((await sh.run('forever & sleep 0.05; kill $!; wait $! 2>/dev/null; echo over')).stdout, 'over\n');
    assert.ok(Date.now() - start < 2000);
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(aborted, 3);
  });

  test('a command that nobody knows', async () => {
    const sh = new Shell();
    sh.unknownCommand((call) => {
      if (call.argv[0] !== 'magic') return undefined;
      call.write(`${call.argv.slice(1).join('+')}\n`);
      return 0;
    });
    for (const out of [sh.runSync('magic 1 2; other'), await sh.run('magic 1 2; other')]) assert.deepEqual([out.status, out.stdout, out.stderr], [127, '1+2\n', 'bash: line 1: other: command not found\n']);
    sh.unknownCommand(undefined);
    assert.equal(sh.runSync('magic').status, 127);
  });

  test('many at once in one run', async () => {
    const sh = new Shell();
    sh.command('wait1', async (call) => {
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 30));
      call.write(`${call.argv[1]}\n`);
    });
    const out = await sh.run('for i in $(seq 50); do wait1 $i & done; wait');
    assert.deepEqual(out.stdout.trim().split('\n').map(Number).sort((a, b) => a - b), Array.from({ length: 50 }, (_, i) => i + 1));
  });
});

describe('mounts and lazy files', () => {
  const memory = () => {
    const files = new Map([['', null], ['a', Buffer.from('abc')], ['dir', null], ['dir/b', Buffer.from('bb')]]);
    const gone = () => Object.assign(new Error('gone'), { code: 'ENOENT' });
    return {
      files,
      stat: (p) => (files.has(p) ? { type: files.get(p) === null ? 'dir' : 'file', size: files.get(p)?.length ?? 0, mtime: new Date(86400000) } : null),
      list: (p) => [...files.keys()].filter((k) => k !== '' && path.posix.dirname(k) === (p || '.')).map((k) => ({ name: path.posix.basename(k), type: files.get(k) === null ? 'dir' : 'file' })),
      read(p, offset, size) {
        if (!files.get(p)) throw gone();
        return files.get(p).subarray(offset, offset + size);
      },
      create: (p) => { files.set(p, Buffer.alloc(0)); },
      write(p, offset, data) {
        const old = files.get(p);
        const next = Buffer.alloc(Math.max(old.length, offset + data.length));
        old.copy(next);
        next.set(data, offset);
        files.set(p, next);
      },
      truncate: (p, size) => { files.set(p, Buffer.concat([files.get(p), Buffer.alloc(size)]).subarray(0, size)); },
      mkdir: (p) => { files.set(p, null); },
      remove: (p) => { files.delete(p); },
      rename(from, to) {
        files.set(to, files.get(from));
        files.delete(from);
      },
    };
  };
  const later = (object) => Object.fromEntries(Object.entries(object).map(([k, v]) => [k, typeof v === 'function' ? async (...a) => { await null; return v(...a); } : v]));
  const script = 'cd /m; cat a dir/b; echo new > c; cat c; mv c d; rm a; mkdir sub; echo x >> dir/b; ls -1; cat none';

  test('read and written, now or later', async () => {
    for (const make of [(o) => o, later]) {
      const object = make(memory());
      const sh = new Shell();
      sh.mount('/m', object);
      const out = await sh.run(script);
      assert.deepEqual([out.stdout, out.stderr], ['abcbbnew\nd\ndir\nsub\n', 'cat: none: No such file or directory\n']);
      assert.equal(object.files.get('dir/b').toString(), 'bbx\n');
    }
    const sh = new Shell({ mounts: { '/m': memory() } });
    assert.equal(sh.runSync(script).stdout, 'abcbbnew\nd\ndir\nsub\n');
    assert.equal(sh.readText('/m/d'), 'new\n');
    sh.writeFile('/m/e', 'file call');
    assert.equal(sh.readText('/m/e'), 'file call');
  });

  test('asynchronous ones are refused where nobody can wait', () => {
    const sh = new Shell({ mounts: { '/m': later(memory()) } });
    assert.match(sh.runSync('cat /m/a').stderr, /Operation not supported/);
    assert.throws(() => sh.readFile('/m/a'), ShellError);
  });

  test('read-only, errors, unmounting', async () => {
    const sh = new Shell();
    sh.mount('/m', memory(), { readonly: true });
    assert.match(sh.runSync('echo > /m/x').stderr, /Read-only file system/);
    sh.mount('/n', { stat: (p) => (p ? { size: 1 } : { type: 'dir' }), list: () => { throw Object.assign(new Error(), { code: 'EACCES' }); }, read: () => { throw new Error('broken'); } });
    const out = await sh.run('ls /n; cat /n/x; echo > /n/y');
    assert.match(out.stderr, /Permission denied\n.*Input\/output error\n.*Operation not permitted/);
    sh.unmount('/n');
    assert.equal(sh.exists('/n/x'), false);
    assert.throws(() => sh.unmount('/n'), code('ENOENT'));
    assert.throws(() => sh.mount('/o', {}), code('EINVAL'));
  });

  test('forks share them', async () => {
    const sh = new Shell();
    sh.mount('/m', memory());
    const fork = sh.fork();
    sh.close();
    assert.equal((await fork.run('cat /m/a')).stdout, 'abc');
  });

  test('lazy files', async () => {
    const sh = new Shell();
    let asked = 0;
    sh.lazyFile('/tmp/lazy', async () => { asked++; return 'content\n'; }, { size: 8 });
    sh.lazyFile('/tmp/now', () => new Uint8Array([104, 105]));
    const image = sh.image();
    assert.equal(sh.stat('/tmp/lazy').size, 8);
    assert.equal(asked, 0);
    assert.equal((await sh.run('cat /tmp/lazy /tmp/lazy')).stdout, 'content\ncontent\n');
    assert.equal(asked, 1);
    assert.equal(sh.readText('/tmp/now'), 'hi');
    assert.equal(new Shell({ image }).readText('/tmp/now'), 'hi');
    sh.lazyFile('/tmp/bad', async () => { throw Object.assign(new Error(), { code: 'EACCES' }); });
    assert.match((await sh.run('cat /tmp/bad')).stderr, /Permission denied/);
  });
});

describe('policy and audit', () => {
  test('commands and files', async () => {
    const sh = new Shell({ policy: { denyCommands: ['rm'], files: [{ pattern: '/tmp/secret/**', operations: ['read'], deny: true }] } });
    assert.equal(sh.runSync('rm /tmp/x').status, 126);
    sh.runSync('mkdir /tmp/secret; echo x > /tmp/secret/f');
    assert.match(sh.runSync('cat /tmp/secret/f').stderr, /Permission denied/);
    sh.setPolicy(undefined);
    assert.equal(sh.runSync('cat /tmp/secret/f').stdout, 'x\n');
    assert.throws(() => sh.setPolicy({ files: [{ pattern: 'relative' }] }), code('EINVAL'));
    assert.throws(() => sh.setPolicy({ asks: ['delete'] }), code('EINVAL'));
  });

  test('questions, answered now and later', async () => {
    const asked = [];
    let answer = (q) => (asked.push([q.kind, q.subject]), true);
    const sh = new Shell({ policy: { asks: ['delete'], ask: (q) => answer(q) } });
    sh.runSync('touch /tmp/a /tmp/b /tmp/c /tmp/d');
    assert.equal((await sh.run('rm /tmp/a')).status, 0);
    assert.deepEqual(asked, [['delete', '/tmp/a']]);
    answer = () => 'not today';
    assert.match((await sh.run('rm /tmp/b')).stderr, /not today|Permission denied/);
    answer = async (q) => { await new Promise((r) => setTimeout(r, 20)); return q.subject === '/tmp/c'; };
    assert.equal((await sh.run('rm /tmp/c')).status, 0);
    assert.equal((await sh.run('rm /tmp/d')).status, 1);
    assert.equal(sh.runSync('rm /tmp/d').status, 1);
    answer = () => { throw new Error('broken'); };
    assert.equal((await sh.run('rm /tmp/d')).status, 1);
    assert.deepEqual([sh.exists('/tmp/b'), sh.exists('/tmp/c'), sh.exists('/tmp/d')], [true, false, true]);
    answer = () => new Promise(() => {});
    assert.equal((await sh.run('rm /tmp/d', { timeout: 0.05 })).end, 'timeout');
  });

  test('audit: lines, ring, verification', async () => {
    const lines = [];
    const sh = new Shell({ audit: { onLine: (l) => lines.push(l), ring: 1 << 20, output: 100 } });
    await sh.run('echo one; touch /tmp/x');
    sh.runSync('echo two');
    await new Promise((resolve) => setImmediate(resolve));
    const taken = sh.auditTake();
    assert.equal(taken.lost, 0);
    assert.equal(lines.map((l) => `${l}\n`).join(''), taken.lines);
    const verified = auditVerify(taken.lines);
    assert.deepEqual([verified.ok, verified.lines], [true, lines.length]);
    assert.ok(lines.some((l) => JSON.parse(l).event === 'command'));
    const forged = auditVerify(taken.lines.replace('one', 'six'));
    assert.equal(forged.ok, false);
    assert.ok(forged.line >= 1 && forged.why);
    sh.setAudit(undefined);
  });
});

describe('configuration', () => {
  test('without secrets, frozen', () => {
    const sh = new Shell({
      env: { A: '1' }, timeout: 5, limits: { memory: 1 << 28 }, allowedUrls: ['https://a.example/'], binds: [{ source: __dirname, destination: '/t' }],
      credentials: [{ url: 'https://a.example/', secret: 'top-secret-value' }, { url: 'https://b.example/', kind: 'header', name: 'x', secret: () => 'x' }],
      policy: { denyCommands: ['rm'], ask: () => true },
    });
    const config = sh.config();
    assert.equal(JSON.stringify(config).includes('top-secret'), false);
    assert.deepEqual(config.network.credentials, [{ url: 'https://a.example/', kind: 'bearer' }, { url: 'https://b.example/', kind: 'header', name: 'x' }]);
    assert.deepEqual([config.timeout, config.limits.memory, config.env, config.binds[0].mode], [5, 1 << 28, { A: '1' }, 'copy']);
    assert.throws(() => { 'use strict'; config.env.A = '2'; }, TypeError);
    sh.setLimits({ steps: 5 });
    assert.equal(sh.config().limits.steps, 5);
    assert.equal(config.limits.steps, undefined);
  });

  test('for models, without a shell and with one', () => {
    const sh = new Shell();
    assert.ok(sh.describe().length > 100 && describeShell().length > 100);
    assert.equal(tools('openai')[0].type, 'function');
    assert.ok(tools('anthropic', { files: true }).some((t) => t.name === 'write_file' && t.input_schema));
    assert.ok(sh.tools()[0].inputSchema);
    assert.throws(() => tools('other'), code('EINVAL'));
    const out = sh.runSync('head -c 20000 /dev/zero | tr "\\0" x; exit 3');
    const text = formatResult(out, { cap: 300 });
    assert.match(text, /exit 3/);
    assert.ok(text.length < 1000);
    assert.match(formatResult(sh.runSync(':')), /nothing was printed/);
    assert.match(formatResult(sh.runSync('sleep 9', { timeout: 0.01 })), /time/);
  });

  test('about the build', () => {
    assert.match(version(), /^\d+\.\d+\.\d+$/);
    assert.ok(commandNames().includes('grep'));
    assert.equal(feature('overlay'), true);
    assert.equal(feature('no such'), false);
  });
});

describe('the network', () => {
  const http = require('node:http');
  const serve = (handler) => new Promise((resolve) => { const s = http.createServer(handler).listen(0, '127.0.0.1', () => resolve(s)); });
  const has = /curl/.test(commandNames().join(' ')) && new Shell({ allowedUrls: ['http://127.0.0.1/'] }).runSync('curl -s http://127.0.0.1/').status !== 2;

  test('off until it is allowed', async () => {
    assert.notEqual((await new Shell().run('curl -s http://127.0.0.1/')).status, 0);
  });

  test('rules, decide, credentials by function', { skip: !has && 'no component for it' }, async (t) => {
    const seen = [];
    const server = await serve((request, response) => { seen.push(request.headers.authorization); response.end('body\n'); });
    const url = `http://127.0.0.1:${server.address().port}/`;
    const probe = await new Shell({ network: { allow: [{ url, allowPrivate: true }] } }).run(`curl -sS ${url}`);
    if (/libshell-net/.test(probe.stderr)) {
      server.close();
      t.skip('libshell-net is not beside the addon');
      return;
    }
    assert.equal(probe.stdout, 'body\n');
    const asked = [];
    const sh = new Shell({
      network: {
        allow: [{ url, allowPrivate: true }],
        credentials: [{ url, secret: async () => 'secret-of-the-hour' }],
        decide: async (request) => { asked.push(request); return request.url.endsWith('/yes'); },
      },
    });
    assert.equal((await sh.run(`curl -sS ${url}yes`)).stdout, 'body\n');
    assert.notEqual((await sh.run(`curl -sS ${url}no`)).status, 0);
    assert.equal(seen.at(-1), 'Bearer secret-of-the-hour');
    assert.deepEqual([asked[0].method, asked[0].hop], ['GET', 0]);
    const held = []; // one that is collected is a refusal
    sh.setNetwork({ allow: [{ url, allowPrivate: true }], decide: () => new Promise((resolve) => { held.push(resolve); }) });
    assert.equal((await sh.run(`curl -sS ${url}`, { timeout: 0.1 })).end, 'timeout');
    sh.setNetwork(undefined);
    assert.notEqual((await sh.run(`curl -sS ${url}yes`)).status, 0);
    server.close();
  });
});

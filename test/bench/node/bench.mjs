// Figures of the Node binding, one JSON object a line. usage: node bench.mjs, where libshell, ref.node and the packages compared with are.
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const { Shell } = require('libshell');
const ref = require('./ref.node');

const median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1];
const now = () => Number(process.hrtime.bigint()) / 1e3;

function each(times, f) {
  const start = now();
  for (let i = 0; i < times; i++) f();
  return (now() - start) / times;
}

async function eachAsync(times, f) {
  const start = now();
  for (let i = 0; i < times; i++) await f();
  return (now() - start) / times;
}

function tell(name, value, unit, against, ratio, target, least = false) {
  const ok = least ? ratio >= target : ratio <= target;
  console.log(JSON.stringify({ name, value: Number(value.toPrecision(4)), unit, against, ratio: Number(ratio.toPrecision(3)), target, ok }));
}

const shell = new Shell();
{
  const ours = [];
  const ratios = [];
  for (let i = 0; i < 15; i++) {
    const r = each(20000, ref.twoStrings);
    const t = each(5000, () => shell.runSync('echo hi'));
    ours.push(t);
    ratios.push(t / r);
  }
  tell('node.runSync', median(ours), 'us', 'ref.napi_object', median(ratios), 10);
}
{
  const ours = [];
  const ratios = [];
  for (let i = 0; i < 21; i++) {
    const r = await eachAsync(1000, ref.roundTrip);
    const t = await eachAsync(1000, () => shell.run('echo hi'));
    ours.push(t);
    ratios.push(t / r);
  }
  tell('node.run', median(ours), 'us', 'ref.async_work', median(ratios), 1.5);
}
{
  const big = new Shell({ limits: { output: 0 } });
  const size = 50e6;
  const from = new Uint8Array(size).fill(1);
  big.writeFile('/tmp/big', from);
  const ours = [];
  const rates = [];
  for (let i = 0; i < 9; i++) {
    const r = each(1, () => from.slice()); // into fresh memory, as output is
    const t = each(1, () => { if (big.runSync('cat /tmp/big').stdoutBytes.length !== size) throw new Error('short'); });
    ours.push(t);
    rates.push(r / t);
  }
  tell('node.output', median(ours) / 1e3, 'ms', 'ref.memcpy', median(rates), 0.2, true);
}
async function compare(name, target, times, make) {
  let theirs;
  try {
    theirs = await make();
  } catch (error) {
    console.log(JSON.stringify({ name: `node.construct/${name}`, skipped: String(error.message).split('\n')[0] }));
    return;
  }
  await theirs();
  const construct = () => {
    const sh = new Shell();
    sh.runSync('echo hi');
    sh.close();
  };
  const ours = [];
  const ratios = [];
  each(2000, construct);
  for (let i = 0; i < 5; i++) {
    const t = each(1000, construct);
    const r = await eachAsync(times, theirs);
    ours.push(t);
    ratios.push(r / t);
  }
  tell(`node.construct/${name}`, median(ours), 'us', name, median(ratios), target, true);
}
await compare('@everruns/bashkit', 25, 100, async () => {
  const { Bash } = await import('@everruns/bashkit');
  return async () => {
    const out = new Bash().executeSync('echo hi');
    if (out.stdout !== 'hi\n') throw new Error('bashkit');
  };
});
await compare('just-bash', 500, 20, async () => {
  const { Bash } = await import('just-bash');
  return async () => {
    const out = await new Bash().exec('echo hi');
    if (out.stdout !== 'hi\n') throw new Error('just-bash');
  };
});

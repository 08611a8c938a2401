'use strict';
// Options, checked and brought into the arrays that src/args.c reads. A name that nobody knows is an error: what was meant would be missing.
const { invalid } = require('./errors');

const LIMITS = ['timeMs', 'steps', 'memory', 'output', 'fileSize', 'fileBytes', 'inodes', 'fds', 'processes', 'pipeline', 'depth', 'script', 'regex', 'expansion',
  'requests', 'transfers', 'redirects', 'download', 'upload', 'head', 'connectMs'];
const KEEP = 0xffffffffffffffffn;
const OPERATIONS = { read: 1, list: 2, write: 4, create: 8, delete: 16, chmod: 32 };
const QUESTIONS = { delete: 1, overwrite: 2, directWrite: 4, command: 8 };
const MODES = { copy: 0, direct: 1, overlay: 2 };
const KINDS = { bearer: 0, basic: 1, header: 2, query: 3, placeholder: 4, sign: 5 };
const JOBS = { wait: 0, keep: 1, kill: 2 };

function known(what, given, names) {
  if (given === null || typeof given !== 'object') throw invalid(`${what}: an object is wanted`);
  for (const key of Object.keys(given)) if (!names.includes(key)) throw invalid(`${what}: there is no ${JSON.stringify(key)}; there are ${names.join(', ')}`);
}

function choice(what, value, of) {
  if (!Object.hasOwn(of, value)) throw invalid(`${what}: ${JSON.stringify(value)} is none of ${Object.keys(of).join(', ')}`);
  return of[value];
}

function flags(what, list, of) {
  if (!Array.isArray(list)) throw invalid(`${what}: an array is wanted`);
  return list.reduce((all, name) => all | choice(what, name, of), 0);
}

function list(what, value) {
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value)) throw invalid(`${what}: an array is wanted`);
  return value;
}

function callable(what, value) {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'function') throw invalid(`${what}: a function is wanted`);
  return value;
}

function limits(given) {
  if (given === undefined || given === null) return undefined;
  known('limits', given, LIMITS);
  const out = new BigUint64Array(LIMITS.length + 1).fill(KEEP);
  LIMITS.forEach((name, i) => {
    const value = given[name];
    if (value === undefined || value === null) return;
    const whole = typeof value === 'bigint' ? value : Number.isSafeInteger(value) ? BigInt(value) : -1n;
    if (whole < 0n || whole >= KEEP) throw invalid(`limits: ${name}: ${String(value)} is no size; 0 is unlimited`);
    out[i + 1] = whole;
  });
  return out;
}

function env(given) {
  if (given === undefined || given === null) return undefined;
  if (typeof given !== 'object') throw invalid('env: an object is wanted');
  return Object.entries(given).map(([name, value]) => {
    if (!name || name.includes('=')) throw invalid(`env: ${JSON.stringify(name)} is no name`);
    return `${name}=${value}`;
  });
}

function bind(given) {
  known('bind', given, ['source', 'destination', 'mode', 'readonly', 'writeLinked']);
  if (!given.source || !given.destination) throw invalid('bind: source and destination are wanted');
  const mode = choice('bind: mode', given.mode ?? 'copy', MODES);
  return [String(given.source), String(given.destination), mode, (given.readonly ? 1 : 0) | (given.writeLinked ? 2 : 0)];
}

function seconds(what, value) {
  if (value === undefined || value === null) return 0;
  if (typeof value !== 'number' || !(value > 0) || value === Infinity) throw invalid(`${what} is a positive, finite number of seconds`);
  return value;
}

// A rule: its URL, or more of it.
function urlRule(given, deny) {
  if (typeof given === 'string') return [given, undefined, deny ? 1 : 0, 0];
  known('url rule', given, ['url', 'methods', 'deny', 'allowPrivate']);
  return [given.url, methods(given.methods), deny || given.deny ? 1 : 0, given.allowPrivate ? 1 : 0];
}

const methods = (given) => (Array.isArray(given) ? given.join(',') || undefined : given);

function credential(given) {
  known('credential', given, ['url', 'methods', 'kind', 'name', 'secret', 'token', 'sign', 'noRedaction']);
  const secret = given.secret ?? given.token;
  if (given.kind === 'sign') {
    if (secret !== undefined || typeof given.sign !== 'function') throw invalid('credential: of kind sign it has the function sign, and no secret');
    return [given.url, methods(given.methods), KINDS.sign, given.noRedaction ? 1 : 0, undefined, undefined];
  }
  if (given.sign !== undefined) throw invalid('credential: sign is for kind sign');
  if (secret === undefined || secret === null) throw invalid('credential: a secret is wanted: a string, bytes, or a function that gives one');
  const kind = choice('credential: kind', given.kind ?? 'bearer', KINDS);
  return [given.url, methods(given.methods), kind, given.noRedaction ? 1 : 0, given.name, typeof secret === 'function' ? undefined : secret];
}

function network(given) {
  if (given === undefined || given === null) return undefined;
  known('network', given, ['allow', 'deny', 'credentials', 'alsoPrivate', 'alsoMetadata', 'caFile', 'proxy', 'allowInsecure', 'decide', 'resolve', 'transport']);
  const rules = [...(list('network: deny', given.deny) ?? []).map((r) => urlRule(r, true)), ...(list('network: allow', given.allow) ?? []).map((r) => urlRule(r, false))];
  const credentials = list('network: credentials', given.credentials) ?? [];
  return {
    packed: [rules, credentials.map(credential), list('network: alsoPrivate', given.alsoPrivate), list('network: alsoMetadata', given.alsoMetadata), given.caFile, given.proxy,
      given.allowInsecure ? 1 : 0, callable('network: decide', given.decide) ? 1 : 0, callable('network: resolve', given.resolve) ? 1 : 0,
      callable('network: transport', given.transport) ? 1 : 0],
    functions: { decide: given.decide, resolve: given.resolve, secrets: credentials.map((c) => c.secret ?? c.token), signs: credentials.map((c) => c.sign), transport: given.transport },
  };
}

function fileRule(given) {
  known('file rule', given, ['pattern', 'operations', 'deny']);
  return [given.pattern, given.operations === undefined ? 63 : flags('file rule: operations', given.operations, OPERATIONS), given.deny ? 1 : 0];
}

function policy(given) {
  if (given === undefined || given === null) return undefined;
  known('policy', given, ['allowCommands', 'denyCommands', 'askCommands', 'files', 'scratch', 'asks', 'ask']);
  return {
    packed: [list('policy: allowCommands', given.allowCommands), list('policy: denyCommands', given.denyCommands), list('policy: askCommands', given.askCommands),
      (list('policy: files', given.files) ?? []).map(fileRule), list('policy: scratch', given.scratch),
      given.asks === undefined ? 0 : flags('policy: asks', given.asks, QUESTIONS), callable('policy: ask', given.ask) ? 1 : 0],
    functions: { ask: given.ask },
  };
}

function audit(given) {
  if (given === undefined || given === null) return undefined;
  known('audit', given, ['onLine', 'ring', 'output']);
  return { packed: [callable('audit: onLine', given.onLine) ? 1 : 0, given.ring ?? 0, given.output ?? 0], functions: { line: given.onLine } };
}

const SHELL = ['image', 'binds', 'env', 'cwd', 'timeout', 'limits', 'umask', 'clock', 'seed', 'network', 'allowedUrls', 'credentials', 'policy', 'audit', 'commands', 'mounts'];

// Network options may stand by themselves: { allowedUrls, credentials }.
function networkOf(given) {
  if (given.allowedUrls === undefined && given.credentials === undefined) return given.network;
  const base = given.network ?? {};
  return { ...base, allow: [...(base.allow ?? []), ...(given.allowedUrls ?? [])], credentials: [...(base.credentials ?? []), ...(given.credentials ?? [])] };
}

function clock(given) {
  if (given === undefined || given === null) return [0, 0];
  known('clock', given, ['fixed', 'virtual']);
  const start = given.fixed ?? given.virtual;
  if (!Number.isFinite(start)) throw invalid('clock: { fixed: SECONDS } or { virtual: SECONDS }');
  return [given.fixed === undefined ? 2 : 1, start];
}

function shell(given, imageHandle) {
  known('Shell', given, SHELL);
  const parts = { network: network(networkOf(given)), policy: policy(given.policy), audit: audit(given.audit), timeout: seconds('timeout', given.timeout) };
  const umask = given.umask === undefined ? -1 : typeof given.umask === 'string' ? parseInt(given.umask, 8) : given.umask;
  if (!Number.isInteger(umask) || umask > 0o777) throw invalid('umask: a number or an octal string is wanted');
  const seed = given.seed === undefined || given.seed === null ? undefined : BigInt.asUintN(64, BigInt(given.seed));
  const [how, start] = clock(given.clock);
  parts.packed = [imageHandle, (list('binds', given.binds) ?? []).map(bind), env(given.env), given.cwd, limits(given.limits), umask, how, start, seed,
    parts.network?.packed, parts.policy?.packed, parts.audit?.packed];
  return parts;
}

const RUN = ['stdin', 'env', 'cwd', 'timeout', 'limits', 'args', 'jobs', 'merge', 'fresh', 'syntaxOnly', 'onStdout', 'onStderr', 'signal', 'encoding'];

// stream: 'no', or output goes to callbacks and is collected too, or goes to an iterator alone.
function run(given, timeout, output) {
  known('run', given, RUN);
  callable('onStdout', given.onStdout);
  callable('onStderr', given.onStderr);
  const bits = (given.merge ? 1 : 0) | (output === 'callbacks' ? 2 : 0) | (given.fresh ? 4 : 0) | (given.syntaxOnly ? 8 : 0);
  return [given.stdin, env(given.env), given.cwd, given.timeout === undefined ? timeout : seconds('timeout', given.timeout), limits(given.limits), list('args', given.args),
    choice('jobs', given.jobs ?? 'wait', JOBS), bits, output === 'no' ? 0 : 1];
}

module.exports = { LIMITS, known, callable, limits, bind, network, networkOf, policy, audit, shell, run };

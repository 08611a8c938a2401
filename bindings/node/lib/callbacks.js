'use strict';
// What a shell asks of functions: each answers by the addon's reply functions, now or when its promise settles.
const { numberOf, CODES } = require('./errors');
const { decode } = require('./output');

const MOUNT_METHODS = ['stat', 'list', 'read', 'readlink', 'create', 'write', 'truncate', 'mkdir', 'remove', 'rename', 'symlink', 'chmod', 'utimes', 'load'];
const TYPES = { file: 0o100000, dir: 0o040000, directory: 0o040000, symlink: 0o120000 };
const NOT_SUPPORTED = -CODES.indexOf('ENOTSUP');
const NO_ENTRY = -CODES.indexOf('ENOENT');
const AGAIN = -CODES.indexOf('EAGAIN');

const isPromise = (value) => value !== null && typeof value === 'object' && typeof value.then === 'function';
const ignore = () => {};

/** One running custom command, for its function. */
class Call {
  #native;
  #token;
  #input;
  #abort;

  constructor(native, token, argv, cwd, shell) {
    this.#native = native;
    this.#token = token;
    this.argv = argv;
    this.cwd = cwd;
    this.shell = shell;
  }

  /** Standard input, whole. One that is not looked at is left to the commands that follow. */
  get stdin() {
    return (this.#input ??= new Uint8Array(this.#native.callInput(this.#token)));
  }

  get stdinText() {
    return decode(this.stdin);
  }

  /** Aborted when the command is killed: by a signal, a time limit, a run that was cancelled. */
  get signal() {
    return (this.#abort ??= new AbortController()).signal;
  }

  getenv(name) {
    return this.#native.callGetenv(this.#token, name);
  }

  write(data) {
    this.#native.callWrite(this.#token, 1, data);
  }

  writeError(data) {
    this.#native.callWrite(this.#token, 2, data);
  }

  static killed(call) {
    call.#abort ??= new AbortController();
    call.#abort.abort();
  }
}

const calls = new WeakMap(); // token to Call

function status(value) {
  return typeof value === 'number' && Number.isInteger(value) ? value & 255 : 0;
}

function command(native, shell, entry, token, direct, argv, cwd) {
  const call = new Call(native, token, argv, cwd, shell);
  const name = argv[0];
  calls.set(token, call);
  const failed = (error) => {
    call.writeError(`${name}: ${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}\n`);
    native.callFinish(token, 1);
  };
  const done = (value) => native.callFinish(token, entry.unknown && value === undefined ? -3 : status(value));
  let value;
  try {
    value = entry.function(call);
  } catch (error) {
    failed(error);
    return;
  }
  if (!isPromise(value)) {
    done(value);
  } else if (direct) {
    value.then(ignore, ignore);
    native.callWrite(token, 2, `${name} is asynchronous: use run()\n`);
    native.callFinish(token, 126);
  } else {
    value.then(done, failed);
  }
}

function killed(token) {
  const call = calls.get(token);
  if (call) Call.killed(call);
}

// ---------- the policy's questions ----------

const KINDS = { 1: 'delete', 2: 'overwrite', 4: 'directWrite', 8: 'command' };

function ask(native, fn, token, direct, kind, subject) {
  const reply = (value) => native.askReply(token, value === true ? 0 : 1, typeof value === 'string' ? value : undefined, 0);
  let value;
  try {
    value = fn({ kind: KINDS[kind], subject });
  } catch (error) {
    reply(String(error && error.message));
    return;
  }
  if (!isPromise(value)) {
    reply(value);
  } else if (direct) {
    value.then(ignore, ignore);
    reply('the question is answered asynchronously: use run()');
  } else {
    native.askReply(token, AGAIN, undefined, 1);
    value.then((v) => native.askAnswer(token, v === true ? 0 : 1), () => native.askAnswer(token, 1));
  }
}

// ---------- the network's ----------

const NETWORK = [
  (functions, method, url, hop, length) => functions.decide?.({ method, url, hop, bodyLength: length < 0 ? undefined : length }),
  (functions, host) => functions.resolve?.(host),
  (functions, method, url, index) => {
    const secret = functions.secrets?.[index];
    return typeof secret === 'function' ? secret({ method, url }) : undefined;
  },
  (functions, method, url, index, body) => functions.signs?.[index]?.({ method, url, body: body && new Uint8Array(body) }),
];

const pairs = (headers) => (typeof headers[Symbol.iterator] === 'function' ? [...headers] : Object.entries(headers));
const addresses = (value) => (Array.isArray(value) ? value.join(',') : value);
function signature(value) {
  const lines = pairs(value).map(([name, v]) => `${name}: ${v}`);
  if (lines.some((line) => /[\r\n]/.test(line))) throw new TypeError('a header holds a line break');
  return lines.join('\n');
}
const NETWORK_WORDS = [undefined, addresses, (value) => value, signature];

function network(native, functions, token, direct, what, a, b, n, length) {
  const reply = (value) => {
    if (what === 0) native.askReply(token, value === true ? 0 : 1, undefined, 0);
    else if (value === undefined || value === null || value === false) native.askReply(token, 1, undefined, 0);
    else words(value);
  };
  const words = (value) => {
    let text;
    try {
      text = NETWORK_WORDS[what](value);
    } catch {
      native.askReply(token, 1, undefined, 0);
      return;
    }
    native.askReply(token, 0, text, 0);
  };
  let value;
  try {
    value = NETWORK[what](functions, a, b, n, length);
  } catch {
    reply(undefined);
    return;
  }
  if (isPromise(value) && direct) {
    value.then(ignore, ignore);
    reply(undefined);
  } else if (isPromise(value)) {
    value.then(reply, () => reply(undefined));
  } else {
    reply(value);
  }
}

// ---------- a transport ----------

const PIECE = 0, END = 1, FAILED = 2;
const transfers = new Map(); // id to what is left of an answer's body

function requestOf([body, timeout, insecure, method, url, through, ...lines]) {
  const headers = lines.map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon), line.slice(colon + 1).trim()];
  });
  return { method, url, headers, body: body && new Uint8Array(body), addresses: through ? through.split(',').map((a) => a.replace(/^\[|\]$/g, '')) : undefined,
    timeout: timeout ? timeout / 1000 : undefined, insecure: insecure !== 0 };
}

// What fetch gives has been decoded, and its length is another.
const decoded = (answer) => typeof Response === 'function' && answer instanceof Response;

function headOf(answer) {
  const status = answer?.status ?? 200;
  if (!answer || typeof answer !== 'object' || !Number.isInteger(status) || status < 100 || status > 999) throw new TypeError('a transport gives { status, headers, body }');
  const lines = pairs(answer.headers ?? []).filter(([name]) => !decoded(answer) || !/^content-(encoding|length)$|^transfer-encoding$/i.test(name));
  const head = [`HTTP/1.1 ${status} ${answer.statusText ?? ''}`, ...lines.map(([name, value]) => `${name}: ${value}`)];
  if (head.some((line) => /[\r\n\0]/.test(line))) throw new TypeError('a header holds a line break');
  return `${head.join('\r\n')}\r\n\r\n`;
}

function piecesOf(body) {
  if (body === undefined || body === null) return [][Symbol.iterator]();
  if (typeof body === 'string' || body instanceof Uint8Array) return [body][Symbol.iterator]();
  if (typeof body[Symbol.asyncIterator] === 'function') return body[Symbol.asyncIterator]();
  return body[Symbol.iterator]();
}

// At once where it can be: then(value), or failed(error) as a promise would.
function settle(direct, make, then, failed) {
  try {
    const value = make();
    if (!isPromise(value)) {
      then(value);
    } else if (direct) {
      value.then(ignore, ignore);
      throw new Error('the transport is asynchronous: use run()');
    } else {
      value.then(then).catch(failed);
    }
  } catch (error) {
    failed(error);
  }
}

function transfer(native, functions, token, direct, id, op, request) {
  if (op === 2) {
    const pieces = transfers.get(id);
    transfers.delete(id);
    try {
      const last = pieces?.return?.();
      if (isPromise(last)) last.then(ignore, ignore);
    } catch { /* it is over */ }
    return;
  }
  const failed = (error) => {
    native.transferReply(token, FAILED);
    process.emitWarning(error instanceof Error ? error : String(error)); // the script is told no more than that it failed
  };
  if (op === 0) {
    settle(direct, () => functions.transport(requestOf(request)), (answer) => {
      const head = headOf(answer);
      transfers.set(id, piecesOf(answer.body));
      native.transferReply(token, PIECE, head);
    }, failed);
  } else {
    settle(direct, () => transfers.get(id).next(), ({ done, value }) => {
      if (done) native.transferReply(token, END);
      else native.transferReply(token, PIECE, value);
    }, failed);
  }
}

// ---------- mounts and lazy files ----------

const milliseconds = (time) => (time === undefined || time === null ? 0 : Number(time));

function statReply(value) {
  if (value === undefined || value === null) return undefined;
  const type = TYPES[value.type ?? 'file'];
  return [type | (value.mode ?? (type === TYPES.dir ? 0o755 : 0o644)) & 0o777, value.size ?? 0, milliseconds(value.mtime)];
}

function listReply(value) {
  const out = [];
  for (const entry of value) {
    if (typeof entry === 'string') out.push(entry, TYPES.file);
    else out.push(entry.name, TYPES[entry.type ?? 'file']);
  }
  return out;
}

const REPLIES = { stat: statReply, list: listReply, read: (v) => v ?? '', readlink: (v) => v, load: (v) => v };
const time = (ms) => (ms === Infinity ? new Date() : ms === -Infinity ? undefined : new Date(ms));
const ARGUMENTS = {
  read: (path, other, x, y) => [path, x, y],
  create: (path, other, x) => [path, x],
  write: (path, other, x) => [path, x, new Uint8Array(other)],
  truncate: (path, other, x) => [path, x],
  mkdir: (path, other, x) => [path, x],
  remove: (path, other, x) => [path, x !== 0],
  rename: (path, other, x) => [path, decode(other), x !== 0],
  symlink: (path, other) => [path, decode(other)],
  chmod: (path, other, x) => [path, x],
  utimes: (path, other, x, y) => [path, time(x), time(y)],
  load: () => [],
};

function mount(native, object, token, direct, op, path, other, x, y) {
  const method = MOUNT_METHODS[op];
  const reply = (value) => {
    const given = REPLIES[method] ? REPLIES[method](value) : null;
    if (given === undefined) native.mountReply(token, NO_ENTRY);
    else native.mountReply(token, 0, given);
  };
  const failed = (error) => native.mountReply(token, numberOf(error));
  let value;
  try {
    value = object[method](...(ARGUMENTS[method] ? ARGUMENTS[method](path, other, x, y) : [path]));
    if (!isPromise(value)) {
      reply(value);
      return;
    }
  } catch (error) {
    failed(error);
    return;
  }
  if (direct) {
    value.then(ignore, ignore);
    if (method === 'stat' && path === '') native.mountReply(token, 0, statReply({ type: 'dir' })); // asked when it is mounted, too
    else native.mountReply(token, NOT_SUPPORTED);
  } else {
    value.then(reply).catch(failed);
  }
}

module.exports = { Call, MOUNT_METHODS, command, killed, ask, network, transfer, mount };

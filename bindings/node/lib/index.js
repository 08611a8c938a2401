'use strict';
// libshell for Node: a bash-compatible shell inside your own process. See index.d.ts for what everything is.
const native = require('./native').load();
const { ShellError, make, invalid } = require('./errors');
const { Output } = require('./output');
const callbacks = require('./callbacks');
const options = require('./options');

const numbers = new Float64Array(16);
const shells = new Map();   // number to WeakRef, of shells with functions
const running = new Map();  // id to what waits for it; it keeps the shell alive
const opening = new Map();
const forgotten = new FinalizationRegistry((number) => shells.delete(number));
let ids = 0;
let functionIds = 0;

const DISPOSE = Symbol.dispose ?? Symbol.for('Symbol.dispose');
const ASYNC_DISPOSE = Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose');
const PRIVATE = Symbol('libshell');
const SHAPES = { mcp: 0, openai: 1, anthropic: 2 };
const KINDS = ['added', 'modified', 'deleted'];
const ignore = () => {};

function outputOf(out, err) {
  return new Output(out, err, numbers, numbers[7] ? native.limit() : undefined);
}

// ---------- what the addon calls ----------

function done(id, err, out, errOut, message) {
  const entry = running.get(id);
  entry.drain?.();
  running.delete(id);
  entry.unlisten?.();
  if (entry.failed) entry.reject(entry.failed.error);
  else if (entry.signal?.aborted) entry.reject(entry.signal.reason);
  else if (err) entry.reject(make(err, message, ''));
  else entry.resolve(outputOf(out, errOut));
}

function opened(id, err, message, handle) {
  const entry = opening.get(id);
  opening.delete(id);
  if (err) entry.reject(make(err, message, ''));
  else entry.resolve(handle);
}

function auditLines(shell, text) {
  const line = ownOf(shell).functions.line;
  for (const one of text.split('\n')) {
    if (!one) continue;
    try {
      line?.(one);
    } catch (error) {
      queueMicrotask(() => { throw error; }); // it is nobody's to catch, and must not pass unseen
    }
  }
}

const shellOf = (number) => shells.get(number)?.deref();

function dispatch(kind, a, b, c, d, e, f, g, h, i) {
  switch (kind) {
    case 0: return done(a, b, c, d, e);
    case 1: return running.get(a)?.came();
    case 2: return callbacks.command(native, shellOf(a), ownOf(shellOf(a)).commands.get(d), b, c, e, f);
    case 3: return callbacks.killed(b);
    case 4: return callbacks.ask(native, ownOf(shellOf(a)).functions.ask, b, c, d, e);
    case 5: return callbacks.network(native, ownOf(shellOf(a)).functions.network ?? {}, b, c, d, e, f, g, h);
    case 6: return callbacks.mount(native, ownOf(shellOf(a)).mounts.get(d), b, c, e, f, g, h, i);
    case 7: return auditLines(shellOf(a), b);
    case 9: return callbacks.transfer(native, shellOf(a) && ownOf(shellOf(a)).functions.network, b, c, d, e, f);
    default: return opened(a, b, c, d);
  }
}

native.setup(dispatch, make, numbers);

// ---------- output as it comes ----------

// Gives what has come to the callbacks; the first that throws ends the run.
function deliver(handle, entry, onStdout, onStderr) {
  const pieces = native.take(handle);
  for (let i = 0; i < pieces.length && !entry.failed; i += 2) {
    const function_ = pieces[i] === 1 ? onStdout : onStderr;
    try {
      function_?.(new Uint8Array(pieces[i + 1]));
    } catch (error) {
      entry.failed = { error };
      native.breakOutput(handle);
      native.cancel(handle);
    }
  }
}

/** A run whose output is read piece by piece. The script waits for a reader that is slow. */
class RunStream {
  #handle;
  #entry;
  #pieces = [];
  #over = false;
  #wake = ignore;
  #decoders;

  constructor(start, handle, encoding) {
    this.#handle = handle;
    if (encoding !== undefined && encoding !== 'utf8' && encoding !== 'utf-8') throw invalid(`encoding: ${encoding}`);
    if (encoding) this.#decoders = { stdout: new TextDecoder('utf-8', { ignoreBOM: true }), stderr: new TextDecoder('utf-8', { ignoreBOM: true }) };
    /** What the run gave, without the output that was read here. */
    this.result = start((entry) => {
      this.#entry = entry;
      entry.came = () => this.#wake();
      entry.drain = () => this.#take();
    });
    const over = () => {
      this.#over = true;
      this.#wake();
    };
    this.result.then(over, over); // what it was rejected with, the iterator throws
  }

  #take() {
    const flat = native.take(this.#handle);
    for (let i = 0; i < flat.length; i += 2) {
      const stream = flat[i] === 1 ? 'stdout' : 'stderr';
      const bytes = new Uint8Array(flat[i + 1]);
      this.#pieces.push({ stream, data: this.#decoders ? this.#decoders[stream].decode(bytes, { stream: true }) : bytes });
    }
  }

  #rest() {
    const rest = [];
    for (const stream of this.#decoders ? ['stdout', 'stderr'] : []) {
      const data = this.#decoders[stream].decode();
      if (data) rest.push({ stream, data });
    }
    this.#decoders = undefined;
    return rest;
  }

  async next() {
    for (;;) {
      if (this.#pieces.length === 0 && !this.#over && this.#entry?.started) this.#take();
      if (this.#pieces.length > 0) return { value: this.#pieces.shift(), done: false };
      if (this.#over) break;
      await new Promise((resolve) => { this.#wake = resolve; });
    }
    this.#pieces = this.#rest();
    if (this.#pieces.length > 0) return this.next();
    await this.result;
    return { value: undefined, done: true };
  }

  async return(value) {
    if (!this.#over && this.#entry?.started) {
      this.#pieces = [];
      native.breakOutput(this.#handle);
      native.cancel(this.#handle);
      await this.result.catch(ignore);
    }
    return { value, done: true };
  }

  [Symbol.asyncIterator]() {
    return this;
  }
}

// ---------- images ----------

/** Files that many shells start from. */
class Image {
  constructor(key, handle, mounts) {
    if (key !== PRIVATE) throw new TypeError('an Image is made by shell.image(), Image.fromDirectory or Image.fromSnapshot');
    this[PRIVATE] = { handle, mounts };
  }

  static fromDirectory(source, given = {}) {
    options.known('Image.fromDirectory', given, ['destination', 'include', 'exclude', 'gitignore', 'image']);
    const base = given.image?.[PRIVATE];
    return new Image(PRIVATE, native.imageFromDirectory(String(source), given.destination, given.include, given.exclude, given.gitignore ? 1 : 0, base?.handle), new Map(base?.mounts));
  }

  static fromSnapshot(snapshot) {
    return new Image(PRIVATE, native.imageFromSnapshot(snapshot), new Map());
  }
}

// ---------- shells ----------

function freeze(value) {
  if (value !== null && typeof value === 'object' && Object.getPrototypeOf(value) !== null && !ArrayBuffer.isView(value)) {
    Object.values(value).forEach(freeze);
    Object.freeze(value);
  }
  return value;
}

const withoutSecret = ({ secret, token, ...rest }) => ({ ...rest, kind: rest.kind ?? 'bearer' });

function withoutFunctions(value) {
  if (Array.isArray(value)) return value.map(withoutFunctions);
  if (value === null || typeof value !== 'object' || ArrayBuffer.isView(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([, v]) => typeof v !== 'function').map(([k, v]) => [k, withoutFunctions(v)]));
}

// What was configured, without what is secret: what config() gives.
function describeConfig(given) {
  const { image, commands, mounts, network, allowedUrls, credentials, ...rest } = given;
  const all = options.networkOf(given);
  const config = withoutFunctions(rest);
  config.binds = (given.binds ?? []).map((b) => ({ mode: 'copy', readonly: false, ...b }));
  config.env = { ...given.env };
  config.limits = { ...given.limits };
  if (all) config.network = { ...withoutFunctions({ ...all, credentials: undefined }), credentials: (all.credentials ?? []).map(withoutSecret) };
  return config;
}

let ownOf;

// Handles of closed shells, for those to come: what the collector has to do about one costs more than a shell. `dead` is what they leave behind.
const idle = [];
const MOST_IDLE = 64;
const NONE = new Map(); // of shells without functions, which most are
let dead;

function retire(own) {
  if (!native.close(own.handle) || own.beside || idle.length === MOST_IDLE || own.handle === dead) return;
  if (dead === undefined) native.close((dead = native.open()));
  idle.push(own.handle);
  own.handle = dead;
}

function writable(own, which) {
  if (own[which] === NONE) own[which] = new Map();
  return own[which];
}

class Shell {
  #own;

  static {
    ownOf = (shell) => shell.#own;
  }

  constructor(given = undefined, key = undefined, handle = undefined) {
    const parts = key === PRIVATE || given === undefined ? undefined : options.shell(given, given.image?.[PRIVATE].handle);
    this.#own = {
      handle: handle ?? native.open(parts?.packed, idle.pop()), commands: NONE, mounts: given?.image ? new Map(given.image[PRIVATE].mounts) : NONE, functions: {}, timeout: 0, given,
      config: undefined, exposed: false, beside: false,
    };
    if (parts) this.#settle(given, parts);
  }

  // Made when it is first looked at: most never are.
  get #config() {
    return (this.#own.config ??= describeConfig(this.#own.given ?? {}));
  }

  /** Opens a shell off the main thread. */
  static async create(given = {}) {
    const parts = options.shell(given, given.image?.[PRIVATE].handle);
    if (!given.binds?.length) return new Shell(given);
    const handle = await new Promise((resolve, reject) => {
      const id = ++ids;
      opening.set(id, { resolve, reject, image: given.image });
      native.openAsync(id, parts.packed);
    });
    const shell = new Shell(given, PRIVATE, handle);
    shell.#settle(given, parts);
    return shell;
  }

  #settle(given, parts) {
    const own = this.#own;
    own.timeout = parts.timeout;
    if (parts.policy) own.functions.ask = parts.policy.functions.ask;
    if (parts.network) own.functions.network = parts.network.functions;
    if (parts.audit) own.functions.line = parts.audit.functions.line;
    if (parts.policy || parts.network || parts.audit || own.mounts.size > 0) this.#expose();
    for (const [name, function_] of Object.entries(given.commands ?? {})) this.command(name, function_);
    for (const [destination, object] of Object.entries(given.mounts ?? {})) this.mount(destination, object);
  }

  // From here on the addon can find this shell by its number.
  #expose() {
    const own = this.#own;
    if (own.exposed) return;
    own.exposed = true;
    const number = native.number(own.handle);
    shells.set(number, new WeakRef(this));
    forgotten.register(this, number);
  }

  // ---------- running ----------

  runSync(script, given = undefined) {
    const own = this.#own;
    let packed;
    let id = 0;
    let entry;
    if (given !== undefined || own.timeout) {
      given ??= {};
      given.signal?.throwIfAborted();
      const output = given.onStdout || given.onStderr ? 'callbacks' : 'no';
      packed = options.run(given, own.timeout, output);
      if (output !== 'no') {
        id = ++ids;
        entry = { shell: this, came: () => deliver(own.handle, entry, given.onStdout, given.onStderr) };
        running.set(id, entry);
      }
    }
    let out;
    try {
      out = native.runSync(own.handle, script, packed, id);
    } finally {
      if (entry) running.delete(id);
    }
    if (entry?.failed) throw entry.failed.error;
    return Array.isArray(out) ? outputOf(out[0], out[1]) : outputOf(out, undefined);
  }

  #start(script, given, output, prepare) {
    const own = this.#own;
    own.beside = true;
    return new Promise((resolve, reject) => {
      const packed = given === undefined && !own.timeout && output === 'no' ? undefined : options.run(given ?? {}, own.timeout, output);
      const signal = given?.signal;
      signal?.throwIfAborted();
      const id = ++ids;
      const entry = { shell: this, resolve, reject, signal };
      prepare?.(entry);
      running.set(id, entry);
      try {
        native.run(own.handle, id, script, packed);
      } catch (error) {
        running.delete(id);
        throw error;
      }
      entry.started = true;
      if (signal) {
        const abort = () => native.cancel(own.handle);
        signal.addEventListener('abort', abort, { once: true });
        entry.unlisten = () => signal.removeEventListener('abort', abort);
      }
    });
  }

  run(script, given = undefined) {
    if (!given?.onStdout && !given?.onStderr) return this.#start(script, given, 'no');
    const { handle } = this.#own;
    return this.#start(script, given, 'callbacks', (entry) => {
      entry.came = entry.drain = () => deliver(handle, entry, given.onStdout, given.onStderr);
    });
  }

  stream(script, given = {}) {
    return new RunStream((prepare) => this.#start(script, given, 'iterator', prepare), this.#own.handle, given.encoding);
  }

  cancel() {
    native.cancel(this.#own.handle);
  }

  reset() {
    native.reset(this.#own.handle);
  }

  close() {
    retire(this.#own);
  }

  [DISPOSE]() {
    this.close();
  }

  async [ASYNC_DISPOSE]() {
    this.close();
  }

  // ---------- copies ----------

  fork() {
    const own = this.#own;
    const other = new Shell(undefined, PRIVATE, native.fork(own.handle));
    const to = other.#own;
    to.commands = new Map(own.commands);
    to.mounts = new Map(own.mounts);
    to.functions = { ...own.functions, line: undefined };
    to.timeout = own.timeout;
    to.config = structuredClone(this.#config);
    if (own.exposed) other.#expose();
    return other;
  }

  image() {
    const own = this.#own;
    return new Image(PRIVATE, native.image(own.handle), new Map(own.mounts));
  }

  snapshot() {
    return new Uint8Array(native.snapshot(this.#own.handle));
  }

  restore(snapshot) {
    native.restore(this.#own.handle, snapshot);
  }

  // ---------- what may be changed ----------

  setLimits(given) {
    native.setLimits(this.#own.handle, options.limits(given ?? {}));
    Object.assign(this.#config.limits, given);
  }

  setNetwork(given) {
    const own = this.#own;
    const parts = options.network(given);
    native.setNet(own.handle, parts?.packed);
    own.functions.network = parts?.functions;
    this.#config.network = parts && describeConfig({ network: given }).network;
    this.#expose();
  }

  setPolicy(given) {
    const own = this.#own;
    const parts = options.policy(given);
    native.setPolicy(own.handle, parts?.packed);
    own.functions.ask = parts?.functions.ask;
    this.#config.policy = withoutFunctions(given);
    this.#expose();
  }

  setAudit(given) {
    const own = this.#own;
    const parts = options.audit(given);
    native.setAudit(own.handle, parts?.packed);
    own.functions.line = parts?.functions.line;
    this.#expose();
  }

  auditTake() {
    const [lines, lost] = native.auditTake(this.#own.handle);
    return { lines, lost };
  }

  addBind(given) {
    native.addBind(this.#own.handle, options.bind(given));
    this.#config.binds.push({ mode: 'copy', readonly: false, ...given });
  }

  removeBind(destination) {
    native.removeBind(this.#own.handle, destination);
    const { binds } = this.#config;
    const at = binds.findLastIndex((b) => b.destination === destination);
    if (at >= 0) binds.splice(at, 1);
  }

  config() {
    return freeze(structuredClone(this.#config));
  }

  // ---------- what the embedder serves ----------

  command(name, function_) {
    if (typeof function_ !== 'function') throw invalid('command: a function is wanted');
    const own = this.#own;
    const id = ++functionIds;
    this.#expose();
    native.command(own.handle, name, id);
    writable(own, 'commands').set(id, { function: function_ });
  }

  unknownCommand(function_) {
    const own = this.#own;
    const id = options.callable('unknownCommand', function_) ? ++functionIds : 0;
    this.#expose();
    native.unknownCommand(own.handle, id);
    if (id) writable(own, 'commands').set(id, { function: function_, unknown: true });
  }

  mount(destination, object, { readonly = false } = {}) {
    const own = this.#own;
    if (typeof object?.stat !== 'function' || typeof object?.list !== 'function') throw invalid('mount: an object with stat and list is wanted');
    const id = ++functionIds;
    const able = callbacks.MOUNT_METHODS.reduce((bits, name, i) => bits | (typeof object[name] === 'function' ? 1 << i : 0), 0);
    this.#expose();
    writable(own, 'mounts').set(id, object);
    try {
      native.mount(own.handle, destination, id, able, readonly ? 1 : 0);
    } catch (error) {
      own.mounts.delete(id);
      throw error;
    }
  }

  unmount(destination) {
    native.unmount(this.#own.handle, destination);
  }

  lazyFile(path, read, { size = -1, mode = 0o644 } = {}) {
    const own = this.#own;
    if (typeof read !== 'function') throw invalid('lazyFile: a function is wanted');
    const id = ++functionIds;
    this.#expose();
    writable(own, 'mounts').set(id, { load: read });
    try {
      native.lazyFile(own.handle, path, id, size, mode);
    } catch (error) {
      own.mounts.delete(id);
      throw error;
    }
  }

  // ---------- variables ----------

  setEnv(name, value) {
    native.setEnv(this.#own.handle, name, String(value));
  }

  unsetEnv(name) {
    native.unsetEnv(this.#own.handle, name);
  }

  getEnv(name) {
    return native.getEnv(this.#own.handle, name);
  }

  get cwd() {
    return native.cwd(this.#own.handle, '.');
  }

  // ---------- files ----------

  readFile(path) {
    return new Uint8Array(native.readFile(this.#own.handle, path));
  }

  readText(path) {
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(native.readFile(this.#own.handle, path));
  }

  readRange(path, offset, size) {
    return new Uint8Array(native.readRange(this.#own.handle, path, offset, size));
  }

  writeFile(path, data, { append = false, exclusive = false, parents = true } = {}) {
    native.writeFile(this.#own.handle, path, data, (parents ? 1 : 0) | (append ? 2 : 0) | (exclusive ? 4 : 0));
  }

  stat(path, { follow = true } = {}) {
    const [size, mode, uid, gid, nlink, ino, mtimeNs, ctimeNs] = native.stat(this.#own.handle, path, follow ? 0 : 1);
    const type = mode & 0o170000;
    return { size, mode, uid, gid, nlink, ino, mtimeNs, ctimeNs, isFile: type === 0o100000, isDir: type === 0o040000, isSymlink: type === 0o120000 };
  }

  exists(path) {
    return native.exists(this.#own.handle, path);
  }

  listFiles(path = '.', { encoding = 'utf8' } = {}) {
    const flat = native.list(this.#own.handle, path);
    const files = [];
    for (let i = 0; i < flat.length; i += 3) {
      const bytes = new Uint8Array(flat[i]);
      const type = flat[i + 1] & 0o170000;
      files.push({ name: encoding === 'buffer' ? bytes : Buffer.from(flat[i]).toString('utf8'), isDir: type === 0o040000, isSymlink: type === 0o120000, size: flat[i + 2] });
    }
    return files;
  }

  mkdir(path, { mode = 0o777, parents = false } = {}) {
    native.mkdir(this.#own.handle, path, mode, parents ? 1 : 0);
  }

  removeFile(path, { recursive = false } = {}) {
    native.remove(this.#own.handle, path, recursive ? 1 : 0);
  }

  rename(from, to) {
    native.rename(this.#own.handle, from, to);
  }

  chmod(path, mode) {
    native.chmod(this.#own.handle, path, mode);
  }

  readlink(path) {
    return Buffer.from(native.readlink(this.#own.handle, path)).toString('utf8');
  }

  changes({ digests = false } = {}) {
    return native.changes(this.#own.handle, '.', digests ? 1 : 0).map(([kind, mode, oldMode, nlink, ino, size, oldSize, mtimeNs, path, target, digest, oldDigest]) => {
      const change = { path, kind: KINDS[kind], mode, oldMode, size, oldSize, nlink, ino, mtimeNs, target };
      return digests ? { ...change, digest, oldDigest } : change;
    });
  }

  // ---------- for models ----------

  describe({ fresh = false } = {}) {
    return native.describe(this.#own.handle, fresh ? 1 : 0);
  }

  tools(shape = 'mcp', given = {}) {
    return tools(shape, given, this);
  }
}

/** Tool definitions, of a shell or of one with the defaults. */
function tools(shape = 'mcp', { files = false, fresh = false } = {}, shell = undefined) {
  if (!Object.hasOwn(SHAPES, shape)) throw invalid(`tools: ${JSON.stringify(shape)} is none of ${Object.keys(SHAPES).join(', ')}`);
  return JSON.parse(native.tools(shell && ownOf(shell).handle, (fresh ? 1 : 0) | (files ? 2 : 0), SHAPES[shape]));
}

const describe = ({ fresh = false } = {}) => native.describe(undefined, fresh ? 1 : 0);

/** The result as text for a model. */
function formatResult(output, { cap = 0 } = {}) {
  const flags = (output.stdoutTruncated ? 1 : 0) | (output.stderrTruncated ? 2 : 0);
  const end = ['finished', 'timeout', 'cancelled', 'limit', 'deadlock'].indexOf(output.end);
  return native.formatResult(output.stdoutBytes, output.stderrBytes, [output.status, Math.max(end, 0), flags, 0, 0, 0, output.limitValue ?? 0], output.limit, cap);
}

/** Checks the chain of an audit's lines. */
function auditVerify(text) {
  const [right, lines, head, why] = native.auditVerify(text);
  return right ? { ok: true, lines, head } : { ok: false, line: lines, why };
}

module.exports = {
  Shell, Image, Output, RunStream, ShellError, tools, describe, formatResult, auditVerify,
  commandNames: () => native.commandNames(),
  version: () => native.version(),
  feature: (name) => native.feature(name) !== 0,
};

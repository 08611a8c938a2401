/** libshell: a bash-compatible shell inside your own process. Nothing of the host is seen but what is bound; nothing is started. */

/** Text is UTF-8; bytes are taken as they are. */
export type Text = string | Uint8Array;
type Awaitable<T> = T | Promise<T>;

export type ErrorCode =
  | 'EINVAL' | 'ENOMEM' | 'EBUSY' | 'ENOENT' | 'EACCES' | 'EEXIST' | 'ENOTDIR' | 'EISDIR' | 'ENOTEMPTY' | 'EROFS' | 'ENOSPC' | 'EFBIG' | 'ELOOP'
  | 'ENAMETOOLONG' | 'EXDEV' | 'EMFILE' | 'EIO' | 'ENOTSUP' | 'EPERM' | 'EAGAIN' | 'EPIPE';

/** Whatever a call on a shell met. A script that fails is no error: its status is in the Output. */
export class ShellError extends Error {
  constructor(message: string, options?: { code?: ErrorCode; path?: string });
  readonly code: ErrorCode;
  /** The file concerned, or ''. */
  readonly path: string;
}

/** undefined keeps the default, 0 is unlimited. Sizes in bytes. */
export interface Limits {
  timeMs?: number | bigint;
  steps?: number | bigint;
  memory?: number | bigint;
  output?: number | bigint;
  fileSize?: number | bigint;
  fileBytes?: number | bigint;
  inodes?: number | bigint;
  fds?: number | bigint;
  processes?: number | bigint;
  pipeline?: number | bigint;
  depth?: number | bigint;
  script?: number | bigint;
  regex?: number | bigint;
  expansion?: number | bigint;
  requests?: number | bigint;
  transfers?: number | bigint;
  redirects?: number | bigint;
  download?: number | bigint;
  upload?: number | bigint;
  /** Of the heads that one request is answered with; more fails the request, not the run. */
  head?: number | bigint;
  /** Until a connection stands; more fails the request, not the run. */
  connectMs?: number | bigint;
}

/** A host file or directory shown in the shell: read once (copy), live (direct), or read lazily with writes kept in the shell (overlay). */
export interface Bind {
  source: string;
  destination: string;
  mode?: 'copy' | 'direct' | 'overlay';
  readonly?: boolean;
  writeLinked?: boolean;
}

export interface UrlRule {
  /** scheme, host or *.host, port, path prefix */
  url: string;
  methods?: string | string[];
  deny?: boolean;
  allowPrivate?: boolean;
}

export interface Credential {
  url: string;
  methods?: string | string[];
  /** placeholder: the script sees a variable that means nothing elsewhere. sign: the function sign gives header lines for each request. */
  kind?: 'bearer' | 'basic' | 'header' | 'query' | 'placeholder' | 'sign';
  /** Of the header, the query parameter or the placeholder's variable. */
  name?: string;
  /** The script never sees it. A function is asked for each request. */
  secret?: Text | ((request: { method: string; url: string }) => Awaitable<Text | undefined>);
  /** The same as secret. */
  token?: Text;
  /** Of kind sign. The body is there when it does not stream. Nothing: the request is not sent. */
  sign?(request: { method: string; url: string; body?: Uint8Array }): Awaitable<Iterable<[name: string, value: string]> | Record<string, string> | null | undefined>;
  noRedaction?: boolean;
}

export interface Network {
  allow?: (string | UrlRule)[];
  deny?: (string | UrlRule)[];
  credentials?: Credential[];
  alsoPrivate?: string[];
  alsoMetadata?: string[];
  caFile?: string;
  proxy?: string;
  allowInsecure?: boolean;
  /** Asked before each request and hop that the rules allow. Only true goes on. */
  decide?(request: { method: string; url: string; hop: number; bodyLength?: number }): Awaitable<boolean>;
  /** Instead of the system's resolver. */
  resolve?(host: string): Awaitable<string | string[] | null | undefined>;
  /** Sends what passed every check, instead of libshell-net: follows no redirects. One that fails is a failed request, and a warning of the process. */
  transport?(request: TransportRequest): Awaitable<TransportResponse>;
}

export interface TransportRequest {
  method: string;
  url: string;
  /** With the credential among them, but for Host and what frames the body. */
  headers: [name: string, value: string][];
  body?: Uint8Array;
  /** With resolve: those that were let through; go to no other. */
  addresses?: string[];
  /** Seconds, as the script asked. */
  timeout?: number;
  /** Certificates need not be verified. */
  insecure: boolean;
}

/** What fetch gives is one: pass `redirect: 'manual'`. */
export interface TransportResponse {
  status?: number;
  statusText?: string;
  headers?: Iterable<[name: string, value: string]> | Record<string, string>;
  /** Taken as the script reads; without content coding. */
  body?: string | Uint8Array | Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array> | null;
}

export type FileOperation = 'read' | 'list' | 'write' | 'create' | 'delete' | 'chmod';
export type QuestionKind = 'delete' | 'overwrite' | 'directWrite' | 'command';

export interface Policy {
  allowCommands?: string[];
  denyCommands?: string[];
  askCommands?: string[];
  /** operations: undefined is all of them. */
  files?: { pattern: string; operations?: FileOperation[]; deny?: boolean }[];
  /** Directories where deleting and overwriting is not asked about. */
  scratch?: string[];
  asks?: QuestionKind[];
  /** Only true allows. A string refuses with that reason. */
  ask?(question: { kind: QuestionKind; subject: string }): Awaitable<boolean | string>;
}

export interface Audit {
  /** One JSON object a line. */
  onLine?(line: string): void;
  /** Bytes of lines to keep for auditTake. */
  ring?: number;
  /** Bytes of each stream that a run's end quotes. */
  output?: number;
}

/** One running custom command. */
export interface Call {
  readonly argv: string[];
  /** Standard input, whole. One that is not looked at is left to the commands that follow. */
  readonly stdin: Uint8Array;
  readonly stdinText: string;
  readonly cwd: string;
  readonly shell: Shell;
  /** Aborted when the command is killed. */
  readonly signal: AbortSignal;
  getenv(name: string): string | undefined;
  write(data: Text): void;
  writeError(data: Text): void;
}

/** Gives the status; nothing is 0. What it throws is printed on stderr, status 1. An asynchronous one needs run() or stream(). */
export type CommandFunction = (call: Call) => Awaitable<number | void>;
/** The same; undefined is "command not found". */
export type UnknownCommandFunction = (call: Call) => Awaitable<number | undefined>;

export type FileType = 'file' | 'dir' | 'directory' | 'symlink';

/** A directory that you serve; paths are relative to it, '' is its root. Throw an error with a `code` (ENOENT ...) to refuse. What is missing
 * is refused. Promises are for run() and stream(): runSync and the file calls cannot wait. */
export interface Mount {
  /** null or undefined: there is none. mtime in milliseconds or a Date. */
  stat(path: string): Awaitable<{ type?: FileType; size?: number; mode?: number; mtime?: number | Date } | null | undefined>;
  list(path: string): Awaitable<Iterable<string | { name: string; type?: FileType }>>;
  read?(path: string, offset: number, size: number): Awaitable<Text | null | undefined>;
  readlink?(path: string): Awaitable<string>;
  create?(path: string, mode: number): Awaitable<void>;
  write?(path: string, offset: number, data: Uint8Array): Awaitable<void>;
  truncate?(path: string, size: number): Awaitable<void>;
  mkdir?(path: string, mode: number): Awaitable<void>;
  remove?(path: string, isDirectory: boolean): Awaitable<void>;
  rename?(from: string, to: string, noReplace: boolean): Awaitable<void>;
  symlink?(path: string, target: string): Awaitable<void>;
  chmod?(path: string, mode: number): Awaitable<void>;
  /** undefined: as it is. */
  utimes?(path: string, atime: Date | undefined, mtime: Date | undefined): Awaitable<void>;
}

export interface ShellOptions {
  image?: Image;
  binds?: Bind[];
  env?: Record<string, string>;
  cwd?: string;
  /** Seconds that each run may take. */
  timeout?: number;
  limits?: Limits;
  /** A number or an octal string. */
  umask?: number | string;
  /** Seconds since 1970: time stands still, or is moved by sleeping. */
  clock?: { fixed: number } | { virtual: number };
  seed?: number | bigint;
  network?: Network;
  /** The same as network.allow. */
  allowedUrls?: (string | UrlRule)[];
  /** The same as network.credentials. */
  credentials?: Credential[];
  policy?: Policy;
  audit?: Audit;
  commands?: Record<string, CommandFunction>;
  mounts?: Record<string, Mount>;
}

/** What a shell was configured with, frozen, without secrets and functions. */
export interface ShellConfig {
  readonly binds?: readonly Readonly<Bind>[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly timeout?: number;
  readonly limits?: Readonly<Limits>;
  readonly umask?: number | string;
  readonly clock?: { fixed: number } | { virtual: number };
  readonly seed?: number | bigint;
  readonly network?: Readonly<Omit<Network, 'credentials' | 'decide' | 'resolve'>> & { readonly credentials: readonly Readonly<Omit<Credential, 'secret' | 'token'>>[] };
  readonly policy?: Readonly<Omit<Policy, 'ask'>>;
  readonly audit?: Readonly<Omit<Audit, 'onLine'>>;
}

export interface RunSyncOptions {
  stdin?: Text;
  env?: Record<string, string>;
  cwd?: string;
  /** Seconds. */
  timeout?: number;
  limits?: Limits;
  /** $0 $1 ... */
  args?: string[];
  /** What becomes of background jobs at the end. */
  jobs?: 'wait' | 'keep' | 'kill';
  /** stderr into stdout. */
  merge?: boolean;
  /** Keep nothing but files from this run. */
  fresh?: boolean;
  /** Only check the syntax, as bash -n. */
  syntaxOnly?: boolean;
  /** Output as it comes; it is in the Output as well. What one throws ends the run and is thrown. */
  onStdout?(data: Uint8Array): void;
  onStderr?(data: Uint8Array): void;
}

export interface RunOptions extends RunSyncOptions {
  /** Ends the run; the promise is rejected with its reason. */
  signal?: AbortSignal;
}

export interface StreamOptions extends Omit<RunOptions, 'onStdout' | 'onStderr'> {}

/** What a run gave. The text forms decode UTF-8 with replacement. */
export class Output {
  private constructor();
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly stdoutBytes: Uint8Array;
  readonly stderrBytes: Uint8Array;
  readonly end: 'finished' | 'timeout' | 'cancelled' | 'limit' | 'deadlock';
  /** Name of the limit that was hit. */
  readonly limit: string | undefined;
  readonly limitValue: number;
  readonly stdoutTruncated: boolean;
  readonly stderrTruncated: boolean;
  /** The script left the shell (exit, exec, a failure under set -e) rather than come to its end. */
  readonly exited: boolean;
  readonly steps: number;
  readonly peakMemory: number;
  readonly wallNs: number;
  toJSON(): object;
}

/** A run whose output is read piece by piece. The script waits for a slow reader; leaving the loop ends it. */
export class RunStream<T = Uint8Array> implements AsyncIterableIterator<{ stream: 'stdout' | 'stderr'; data: T }> {
  private constructor();
  /** Status and figures; the output went through the iterator. */
  readonly result: Promise<Output>;
  next(): Promise<IteratorResult<{ stream: 'stdout' | 'stderr'; data: T }, undefined>>;
  return(value?: unknown): Promise<IteratorResult<{ stream: 'stdout' | 'stderr'; data: T }, undefined>>;
  [Symbol.asyncIterator](): this;
}

export interface FileInfo<Name = string> {
  name: Name;
  isDir: boolean;
  isSymlink: boolean;
  size: number;
}

export interface Stat {
  size: number;
  mode: number;
  uid: number;
  gid: number;
  nlink: number;
  ino: number;
  mtimeNs: bigint;
  ctimeNs: bigint;
  isFile: boolean;
  isDir: boolean;
  isSymlink: boolean;
}

export interface Change {
  path: string;
  kind: 'added' | 'modified' | 'deleted';
  mode: number;
  oldMode: number;
  size: number;
  oldSize: number;
  nlink: number;
  ino: number;
  mtimeNs: bigint;
  /** Of a symlink. */
  target: string;
  digest?: string;
  oldDigest?: string;
}

/** Files that many shells start from. */
export class Image {
  private constructor();
  /** A copy of a host directory. Patterns are those of .gitignore. */
  static fromDirectory(source: string, options?: { destination?: string; include?: string[]; exclude?: string[]; gitignore?: boolean; image?: Image }): Image;
  static fromSnapshot(snapshot: Uint8Array): Image;
}

export type ToolShape = 'mcp' | 'openai' | 'anthropic';
export interface ToolOptions {
  /** read_file, write_file, list_dir as well. */
  files?: boolean;
  /** Runs are made with `fresh`. */
  fresh?: boolean;
}

/** Used by one run at a time: another meanwhile is the error EBUSY. The functions that a run calls may use its files. */
export class Shell {
  constructor(options?: ShellOptions);
  /** The same, binds read off the main thread. */
  static create(options?: ShellOptions): Promise<Shell>;

  run(script: Text, options?: RunOptions): Promise<Output>;
  runSync(script: Text, options?: RunSyncOptions): Output;
  stream(script: Text, options: StreamOptions & { encoding: 'utf8' | 'utf-8' }): RunStream<string>;
  stream(script: Text, options?: StreamOptions & { encoding?: undefined }): RunStream<Uint8Array>;
  /** Ends the run in progress. */
  cancel(): void;
  /** Back to the state after it was made. */
  reset(): void;
  /** Ends a run in progress and frees the shell. */
  close(): void;

  /** A copy in constant time: files and variables, no jobs. */
  fork(): Shell;
  /** Freezes the files as they are now. */
  image(): Image;
  snapshot(): Uint8Array;
  restore(snapshot: Uint8Array): void;

  setLimits(limits: Limits): void;
  /** Also while it runs. */
  setNetwork(network: Network | undefined): void;
  /** Also while it runs. */
  setPolicy(policy: Policy | undefined): void;
  setAudit(audit: Audit | undefined): void;
  auditTake(): { lines: string; lost: number };
  addBind(bind: Bind): void;
  removeBind(destination: string): void;
  config(): ShellConfig;

  command(name: string, fn: CommandFunction): void;
  unknownCommand(fn: UnknownCommandFunction | undefined): void;
  mount(destination: string, mount: Mount, options?: { readonly?: boolean }): void;
  unmount(destination: string): void;
  /** A file whose bytes are asked for when it is first opened. */
  lazyFile(path: string, read: () => Awaitable<Text>, options?: { size?: number; mode?: number }): void;

  setEnv(name: string, value: string): void;
  unsetEnv(name: string): void;
  getEnv(name: string): string | undefined;
  readonly cwd: string;

  readFile(path: Text): Uint8Array;
  readText(path: Text): string;
  readRange(path: Text, offset: number, size: number): Uint8Array;
  writeFile(path: Text, data: Text, options?: { append?: boolean; exclusive?: boolean; parents?: boolean }): void;
  stat(path: Text, options?: { follow?: boolean }): Stat;
  exists(path: Text): boolean;
  listFiles(path: Text, options: { encoding: 'buffer' }): FileInfo<Uint8Array>[];
  listFiles(path?: Text, options?: { encoding?: 'utf8' }): FileInfo[];
  mkdir(path: Text, options?: { mode?: number; parents?: boolean }): void;
  removeFile(path: Text, options?: { recursive?: boolean }): void;
  rename(from: Text, to: Text): void;
  chmod(path: Text, mode: number): void;
  readlink(path: Text): string;
  changes(options?: { digests?: boolean }): Change[];

  /** What a model should know about this shell. */
  describe(options?: { fresh?: boolean }): string;
  tools(shape?: ToolShape, options?: ToolOptions): object[];
}

export interface Shell extends SymbolDispose {}
/** Symbol.dispose and Symbol.asyncDispose, where the compiler's library has them. */
type SymbolDispose = (SymbolConstructor extends { readonly dispose: infer D extends symbol } ? { [K in D]: () => void } : {}) &
  (SymbolConstructor extends { readonly asyncDispose: infer A extends symbol } ? { [K in A]: () => Promise<void> } : {});

/** Tool definitions, without a shell. */
export function tools(shape?: ToolShape, options?: ToolOptions): object[];
export function describe(options?: { fresh?: boolean }): string;
/** The result as text for a model. cap: most bytes of each stream. */
export function formatResult(output: Output, options?: { cap?: number }): string;
/** Checks the chain of an audit's lines. */
export function auditVerify(text: Text): { ok: true; lines: number; head: string } | { ok: false; line: number; why: string };
/** The names of all built-in commands. */
export function commandNames(): string[];
export function version(): string;
export function feature(name: string): boolean;

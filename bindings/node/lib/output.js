'use strict';
const { inspect } = require('node:util');

const ENDS = ['finished', 'timeout', 'cancelled', 'limit', 'deadlock'];
const EMPTY = new Uint8Array(0);

let decoder; // made when a stream first needs it: short ASCII never does
const decode = (buffer) => (decoder ??= new TextDecoder('utf-8', { ignoreBOM: true })).decode(buffer);

const textOf = (stream) => (typeof stream === 'string' ? stream : stream === undefined ? '' : decode(stream));
const bytesOf = (stream) => {
  if (stream === undefined || stream === '') return EMPTY;
  return typeof stream === 'string' ? new Uint8Array(Buffer.from(stream, 'latin1')) : new Uint8Array(stream);
};

/** What a run gave. The text forms decode UTF-8, with U+FFFD for what is none. */
class Output {
  #out;
  #err;

  constructor(out, err, numbers, limit) {
    this.#out = out;
    this.#err = err;
    this.status = numbers[0];
    this.end = ENDS[numbers[1]];
    this.limit = limit;
    this.stdoutTruncated = (numbers[2] & 1) !== 0;
    this.stderrTruncated = (numbers[2] & 2) !== 0;
    this.exited = (numbers[2] & 4) !== 0;
    this.steps = numbers[3];
    this.peakMemory = numbers[4];
    this.wallNs = numbers[5];
    this.limitValue = numbers[6];
  }

  get stdout() {
    return textOf(this.#out);
  }

  get stderr() {
    return textOf(this.#err);
  }

  get stdoutBytes() {
    return bytesOf(this.#out);
  }

  get stderrBytes() {
    return bytesOf(this.#err);
  }

  toJSON() {
    return { stdout: this.stdout, stderr: this.stderr, ...this };
  }

  [inspect.custom](depth, options) {
    return `Output ${inspect(this.toJSON(), options)}`;
  }
}

module.exports = { Output, ENDS, decode };

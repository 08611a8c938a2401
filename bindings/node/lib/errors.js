'use strict';

const CODES = ['', 'EINVAL', 'ENOMEM', 'EBUSY', 'ENOENT', 'EACCES', 'EEXIST', 'ENOTDIR', 'EISDIR', 'ENOTEMPTY', 'EROFS', 'ENOSPC', 'EFBIG', 'ELOOP', 'ENAMETOOLONG', 'EXDEV',
  'EMFILE', 'EIO', 'ENOTSUP', 'EPERM', 'EAGAIN', 'EPIPE'];

/** Whatever a call on a shell met: `code` is its name, `path` the file concerned, or ''. */
class ShellError extends Error {
  constructor(message, { code = 'EIO', path = '' } = {}) {
    super(message);
    this.name = 'ShellError';
    this.code = code;
    this.path = path;
  }
}

const make = (number, message, path) => new ShellError(message, { code: CODES[-number] || 'EIO', path });
const invalid = (message) => new ShellError(message, { code: 'EINVAL' });

/** The number for shell.h of an error that a function of the embedder threw. */
function numberOf(error) {
  const i = CODES.indexOf(error && error.code);
  return i > 0 ? -i : -CODES.indexOf('EIO');
}

module.exports = { CODES, ShellError, make, invalid, numberOf };

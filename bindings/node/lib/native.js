'use strict';
// The addon: built here by install.js, or the one that came with the package for this platform.
const path = require('node:path');

function isMusl() {
  if (process.platform !== 'linux') return false;
  const report = process.report && process.report.getReport && process.report.getReport();
  return Boolean(report && report.header && !report.header.glibcVersionRuntime);
}

function candidates() {
  const root = path.join(__dirname, '..');
  const plain = `${process.platform}-${process.arch}`;
  return [path.join(root, 'build', 'libshell.node'), path.join(root, 'prebuilds', plain, 'libshell.node')];
}

function load() {
  const reasons = [];
  for (const file of candidates()) {
    try {
      return require(file);
    } catch (error) {
      reasons.push(`${file}: ${error.message.split('\n')[0]}`);
    }
  }
  const libc = isMusl() ? ' (musl)' : '';
  throw new Error(`libshell: no addon for ${process.platform}-${process.arch}${libc}; build it with: node ${path.join(__dirname, '..', 'install.js')} --build\n  ` +
    reasons.join('\n  '));
}

module.exports = { load, candidates };

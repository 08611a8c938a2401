'use strict';
// Brings into the package what lies outside of this folder: the sources, and the addon that was built for this platform.
// usage: node scripts/stage.js [--clean]
// LIBSHELL_ADDON names a built libshell.node; components beside it come along. Without it there are sources alone.
const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');

const here = path.join(__dirname, '..');
const root = path.join(here, '..', '..');
const native = path.join(here, 'native');
const prebuilds = path.join(here, 'prebuilds');
const SOURCES = ['CMakeLists.txt', 'LICENSE', 'include', 'lib', 'vfs', 'builtins', 'bindings/node/src'];

fs.rmSync(native, { recursive: true, force: true });
fs.rmSync(prebuilds, { recursive: true, force: true });
if (!process.argv.includes('--clean')) {
  for (const name of SOURCES) fs.cpSync(path.join(root, name), path.join(native, name), { recursive: true });
  const addon = process.env.LIBSHELL_ADDON;
  if (addon) {
    const to = path.join(prebuilds, `${process.platform}-${process.arch}`);
    fs.mkdirSync(to, { recursive: true });
    fs.copyFileSync(addon, path.join(to, 'libshell.node'));
    try {
      execFileSync('strip', ['--strip-unneeded', path.join(to, 'libshell.node')], { stdio: 'ignore' });
    } catch {
      // larger, and as good
    }
    if (process.env.LIBSHELL_COMPONENTS)
      for (const name of fs.readdirSync(path.dirname(addon))) if (/^libshell-[a-z0-9]+\.so$/.test(name)) fs.copyFileSync(path.join(path.dirname(addon), name), path.join(to, name));
  }
}

'use strict';
// Takes the addon that came for this platform, or builds one with CMake from the sources in native/. Downloads nothing.
// usage: node install.js [--build]      --build: whatever there is, build
const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');

function loads() {
  try {
    require('./lib/native').load();
    return true;
  } catch {
    return false;
  }
}

function headers() {
  try {
    return require('node-api-headers').include_dir;
  } catch {
    const places = ['/usr/include/node', path.join(path.dirname(process.execPath), '..', 'include', 'node')];
    return places.find((place) => fs.existsSync(path.join(place, 'node_api.h')));
  }
}

function build() {
  const include = headers();
  if (!include) throw new Error('no N-API headers: install the npm package node-api-headers, or the development package of node');
  const source = fs.existsSync(path.join(__dirname, 'native')) ? path.join(__dirname, 'native') : path.join(__dirname, '..', '..');
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'libshell-'));
  const run = (...args) => execFileSync('cmake', args, { stdio: ['ignore', 'ignore', 'inherit'] });
  try {
    run('-S', source, '-B', folder, '-DCMAKE_BUILD_TYPE=Release', '-DLIBSHELL_TESTS=OFF', `-DLIBSHELL_NODE_INCLUDE=${include}`, `-DNODE_API_INCLUDE=${include}`);
    run('--build', folder, '--parallel', String(os.cpus().length || 1));
    fs.mkdirSync(path.join(__dirname, 'build'), { recursive: true });
    const made = fs.readdirSync(folder).filter((name) => name === 'libshell.node' || /^libshell-[a-z0-9]+\.so$/.test(name));
    for (const name of made) fs.copyFileSync(path.join(folder, name), path.join(__dirname, 'build', name));
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

if (process.argv.includes('--build') || process.env.npm_config_build_from_source === 'true' || !loads()) {
  try {
    build();
  } catch (error) {
    console.error(`libshell: the addon could not be built: ${error.message}`);
    console.error('libshell: it needs cmake, a C compiler, pkg-config, and the development files of pcre2, xxhash and zlib');
    process.exit(1);
  }
}

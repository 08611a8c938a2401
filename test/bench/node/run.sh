#!/bin/sh
# Node: the package is installed into a folder of its own, beside those it is compared with. usage: run.sh BUILD_DIR
set -eu
root=$(cd "$(dirname "$0")/../../.." && pwd)
build=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -R "$root/bindings" "$work/bindings"
cp "$root/CMakeLists.txt" "$root/LICENSE" "$work"
for folder in include lib vfs builtins; do cp -R "$root/$folder" "$work/$folder"; done
(cd "$work/bindings/node" && LIBSHELL_ADDON=$build/libshell.node npm pack --silent --pack-destination "$work" >/dev/null)
mkdir "$work/project" && cd "$work/project"
echo '{"private": true}' >package.json
npm install --silent --no-audit --no-fund "$work"/libshell-*.tgz >/dev/null
npm install --silent --no-audit --no-fund @everruns/bashkit just-bash >/dev/null 2>&1 || true # bench.mjs says when one is missing
include=/usr/include/node
[ -d "$include" ] || { npm install --silent --no-audit --no-fund node-api-headers >/dev/null && include=node_modules/node-api-headers/include; }
cc -O2 -fPIC -shared -I"$include" -o ref.node "$root/test/bench/node/ref.c"
cp "$root/test/bench/node/bench.mjs" .
node bench.mjs
size=$(stat -c %s "$work"/libshell-*.tgz)
echo "{\"name\": \"node.package\", \"value\": $size, \"unit\": \"bytes\", \"target\": 3000000, \"ok\": $([ "$size" -lt 3000000 ] && echo true || echo false)}"

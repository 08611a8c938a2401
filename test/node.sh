#!/bin/sh
# Packs the Node binding, installs the tarball into a project of its own and tests it there.
#
# usage: node.sh BUILD_DIR [--source | --node VERSION]      the addon is BUILD_DIR/libshell.node; one with AddressSanitizer is tested with that preloaded
#   --source   builds the addon from the tarball's sources instead, as npm does where no built one fits
#   --node VERSION   runs the tests with that Node, from npm's package `node`
set -u
cd "$(dirname "$0")/.." || exit 2
root=$PWD
build=$1
case $build in /*) ;; *) build=$root/$build ;; esac
if ! command -v npm >/dev/null 2>&1; then
  echo "skipped: there is no npm"
  echo "0 passed, 0 failed"
  exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0
check() { # NAME COMMAND...
  name=$1
  shift
  if "$@" >"$work/out" 2>&1; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAILED: $name"; tail -n 80 "$work/out"; fi
}
finish() {
  echo "$passed passed, $failed failed"
  [ "$failed" = 0 ]
  exit
}

asan=""
if nm -D "$build/libshell.node" 2>/dev/null | grep -q __asan_init; then
  asan=$("${CC:-cc}" -print-file-name=libasan.so)
fi
pack() {
  mkdir -p "$work/package" && cp -R bindings include lib vfs builtins CMakeLists.txt LICENSE "$work/package" && cd "$work/package/bindings/node" || return 1
  if [ "$source" = 1 ]; then npm pack --silent --pack-destination "$work"; else LIBSHELL_ADDON=$build/libshell.node npm pack --silent --pack-destination "$work"; fi
}
small() { [ "$(stat -c %s "$work"/libshell-*.tgz)" -lt 3000000 ]; }
install() {
  mkdir "$work/project" && cd "$work/project" && echo '{"private": true}' >package.json &&
    if [ "$source" = 1 ]; then npm install --silent --no-audit --no-fund node-api-headers; fi &&
    npm install --silent --no-audit --no-fund --offline --foreground-scripts ${asan:+--ignore-scripts} "$work"/libshell-*.tgz && cp "$root"/bindings/node/test/* "$root/examples/node/agent.mjs" .
}
components() { # beside the addon, as a package with them has them
  to=$(dirname "$(find "$work/project/node_modules/libshell" -name libshell.node | head -n 1)")
  for component in "$build"/libshell-*.so; do [ ! -e "$component" ] || cp "$component" "$to"; done
}
types() {
  cd "$work/project" && npm install --silent --no-audit --no-fund typescript &&
    npx tsc --noEmit --strict --target es2022 --module nodenext --lib es2022,dom types.ts && npx tsc --noEmit --strict --target es2022 --module nodenext --lib esnext,dom types.ts
}
other_node() {
  mkdir "$work/node" && cd "$work/node" && echo '{"private": true}' >package.json && npm install --silent --no-audit --no-fund "node@$version"
}
tests() {
  cd "$work/project" || return 1
  [ -z "$version" ] || PATH=$work/node/node_modules/node/bin:$PATH
  status=0
  for file in *.test.js; do
    if [ -n "$asan" ]; then
      LD_PRELOAD=$asan ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=0:handle_segv=0 LIBSHELL_TEST_SHELLS=500 LIBSHELL_TEST_SLOW=1 node --expose-gc "$file" || status=1
    else
      node --expose-gc "$file" || status=1
    fi
  done
  return $status
}
example() {
  cd "$work/project" && node agent.mjs >agent.out 2>&1 && cat agent.out && grep -q 'SUNNY IN WARSAW' agent.out && grep -q 'exit 127' agent.out && grep -q 'taken back' agent.out
}

source=0
version=""
[ "${2:-}" = --source ] && source=1
[ "${2:-}" = --node ] && version=$3
[ "$source" = 1 ] || [ -e "$build/libshell.node" ] || { echo "skipped: the addon was not built, for want of node_api.h"; finish; }
check "npm pack" pack
if [ -z "$asan" ]; then check "a package of less than 3 MB" small; fi
check "npm install" install
components
[ -z "$version" ] || check "node $version" other_node
tests >"$work/tests" 2>&1
ended=$?
p=$(sed -n 's/^# pass //p' "$work/tests" | awk '{ n += $1 } END { print n + 0 }')
f=$(grep -c '^ *not ok ' "$work/tests")
passed=$((passed + p))
failed=$((failed + f))
[ "$f" = 0 ] || grep -A 40 '^ *not ok ' "$work/tests" | head -n 160
if [ "$f" = 0 ] && [ "$ended" != 0 ]; then
  failed=$((failed + 1))
  echo "FAILED: a file of tests did not come to its end"
  tail -n 40 "$work/tests"
fi
if [ -z "$asan" ]; then
  check "tsc" types
  check "the example" example
fi
finish

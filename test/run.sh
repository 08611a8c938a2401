#!/bin/sh
# Sets up, builds and runs every test; ends with "N passed, N failed" and a status to match.
#
# usage: sh test/run.sh [--full]
#   --full   also what takes longer: torture of every allocation, long fuzzing, the record re-checked five times over
#
# Each part prints how long it took. Parts need nothing of each other but the builds.
set -u
cd "$(dirname "$0")/.." || exit 2
full=0
[ "${1:-}" = --full ] && full=1
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
passed=0
failed=0
jobs=$(nproc 2>/dev/null || echo 2)

ok() { passed=$((passed + ${1:-1})); }
bad() { failed=$((failed + 1)); echo "FAILED: $1"; }

# part NAME COMMAND...: one test; its output is shown when it fails.
part() {
  name=$1
  shift
  start=$(date +%s)
  if "$@" >"$logs/out" 2>&1; then ok; state=ok; else bad "$name"; tail -n 60 "$logs/out"; state=FAILED; fi
  printf '%-34s %6ss  %s\n' "$name" "$(($(date +%s) - start))" "$state"
}

# counted NAME COMMAND...: output ends with "N passed, N failed".
counted() {
  name=$1
  shift
  start=$(date +%s)
  "$@" >"$logs/out" 2>&1
  status=$?
  line=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$logs/out" | tail -n 1)
  p=$(echo "$line" | sed -n 's/ passed.*//p')
  f=$(echo "$line" | sed -n 's/.*, \([0-9]*\) failed/\1/p')
  passed=$((passed + ${p:-0}))
  failed=$((failed + ${f:-0}))
  if [ "$status" != 0 ] && [ "${f:-0}" = 0 ]; then bad "$name: ended with status $status"; f=1; fi
  [ "${f:-0}" = 0 ] && [ -n "$line" ] || { tail -n 80 "$logs/out"; [ -n "$line" ] || bad "$name: no result"; }
  printf '%-34s %6ss  %s passed, %s failed\n' "$name" "$(($(date +%s) - start))" "${p:-0}" "${f:-0}"
}

build() { # PRESET [CMAKE ARGUMENT...]
  preset=$1
  shift
  cmake --preset "$preset" -DLIBSHELL_WERROR=ON -DLIBSHELL_TESTS=ON "$@" && cmake --build "build/$preset" --parallel "$jobs"
}

units() { # PRESET: every unit test program; cmocka's own lines are turned into one
  p=0
  f=0
  for program in "build/$1"/test/*_test; do
    [ -x "$program" ] || continue
    if "$program" >"$logs/unit" 2>&1; then p=$((p + 1)); else f=$((f + 1)); echo "$program"; tail -n 40 "$logs/unit"; fi
  done
  echo "$p passed, $f failed"
  [ "$f" = 0 ]
}

seeds() { # PRESET: each fuzz target replays its seeds
  p=0
  f=0
  for program in "build/$1"/test/*_fuzz; do
    [ -x "$program" ] || continue
    target=$(basename "$program" _fuzz)
    if "$program" "test/fuzz/seeds/$target"/* >"$logs/fuzz" 2>&1; then p=$((p + 1)); else f=$((f + 1)); echo "$program"; tail -n 40 "$logs/fuzz"; fi
  done
  echo "$p passed, $f failed"
  [ "$f" = 0 ]
}

cases() { find test/cases -name '*.case' ! -path '*/pending/*' | sort; }

threads_tsan() {
  cmake --preset tsan -DLIBSHELL_WERROR=ON -DLIBSHELL_TESTS=ON && cmake --build build/tsan --parallel "$jobs" --target threads_test &&
    LIBSHELL_THREAD_ROUNDS=100 build/tsan/test/threads_test
}

# A host program with a decimal comma: the locale is made here, for the machine may have none.
host_locale() {
  mkdir -p build/locale && { [ -d build/locale/de_DE.UTF-8 ] || localedef -i de_DE -f UTF-8 build/locale/de_DE.UTF-8; } &&
    LOCPATH=$PWD/build/locale build/release/test/locale_check
}

docs_current() { build/release/test/docs >"$logs/commands.md" && diff -u COMMANDS.md "$logs/commands.md"; }

exports_match() {
  nm -D --defined-only build/release/libshell.so | awk '{print $3}' | sed 's/@.*//' | grep '^shell_' | sort -u >"$logs/so"
  grep -oE 'SHELL_API [^;(]*\(' include/shell.h | grep -oE '\bshell_[a-z_]+ *\($' | tr -d ' (' | sort -u >"$logs/header"
  diff "$logs/header" "$logs/so"
}

installs() {
  rm -rf "$logs/prefix" && cmake --install build/release --prefix "$logs/prefix" &&
    PKG_CONFIG_PATH=$(dirname "$(find "$logs/prefix" -name libshell.pc)") &&
    export PKG_CONFIG_PATH &&
    sed "s|^prefix=.*|prefix=$logs/prefix|" -i "$PKG_CONFIG_PATH/libshell.pc" &&
    cc -o "$logs/hello" examples/c/hello.c $(pkg-config --cflags --libs libshell) &&
    LD_LIBRARY_PATH=$(dirname "$(find "$logs/prefix" -name libshell.so)") "$logs/hello" &&
    printf 'int warn = 3, quote = 4, mem_alloc = 5;\n' >"$logs/clash.c" &&
    cc -o "$logs/static" examples/c/hello.c "$logs/clash.c" -I"$logs/prefix/include" "$(find "$logs/prefix" -name libshell.a)" $(pkg-config --libs libpcre2-8 libxxhash zlib) -lm &&
    "$logs/static"
}

python_tests() (
  rm -rf "$logs/venv"
  python=/usr/bin/python3
  [ -x "$python" ] || python=python3
  "$python" -m venv "$logs/venv" && LIBSHELL_LIBRARY=$PWD/build/release/libshell.so "$logs/venv/bin/pip" install --quiet --no-index ./bindings/python &&
    cd "$logs" && "$logs/venv/bin/python" -m unittest discover -s "$OLDPWD/bindings/python/tests" && cd "$OLDPWD"
)

mcp_clients() {
  command -v npm >/dev/null || { echo "needs node and npm"; return 1; }
  (cd test/mcp && npm install --no-audit --no-fund --silent && node sdk.mjs "$OLDPWD/build/release/libshell" && node ../../examples/mcp/client.mjs "$OLDPWD/build/release/libshell" >/dev/null)
}

record_checks() {
  if [ "$(id -u)" != 0 ] || ! unshare --mount --uts true 2>/dev/null; then
    echo "the record is not checked here: needs root and name spaces"
    return 0
  fi
  # shellcheck disable=SC2046
  python3 test/cases/record --check $(cases | grep -v -e /cases/jq/ -e /cases/yq/) && test/cases/record_jq --check test/cases/jq/*.case
}

part "set-up" sh test/setup.sh test
part "build: release, gcc" build release
part "build: clang" build clang -DLIBSHELL_TESTS=OFF
part "build: asan" build asan
part "layers" python3 test/checks/layers.py .
part "imports" python3 test/checks/imports.py . build/release/CMakeFiles/shell_objects.dir test/checks/imports.allow
part "text" sh test/checks/text.sh .
part "exports" exports_match
part "the Node addon and the header" python3 test/checks/node.py .
part "COMMANDS.md is current" docs_current
part "curl and wget options have cases" python3 test/checks/curl_options.py .
part "--help and the options" python3 test/checks/help.py . build/release/libshell
part "every command has cases" python3 test/checks/cases.py . build/release/libshell
part "security claims" python3 test/checks/security.py SECURITY.md test
counted "unit tests" units release
counted "unit tests, asan" units asan
part "threads, tsan" threads_tsan
part "host locale" host_locale
counted "cases" sh test/each.sh build/release/test/runner
counted "cases, asan" sh test/each.sh build/asan/test/runner
counted "cases, no fork, exec or socket" sh test/each.sh build/release/test/runner --confine
counted "torture, sampled, asan" sh test/each.sh build/asan/test/torture --sample 3
counted "network cases" python3 test/net/cases.py build/release/libshell test/net/*.case
counted "network cases, asan" python3 test/net/cases.py build/asan/libshell test/net/*.case
counted "configuration files" python3 test/cli/config.py build/release/libshell
counted "configuration files, asan" python3 test/cli/config.py build/asan/libshell
counted "command line" python3 test/cli/cli.py build/release/libshell build/release/test/libshell_debug
counted "command line, asan" python3 test/cli/cli.py build/asan/libshell build/asan/test/libshell_debug
counted "MCP server" python3 test/mcp/server.py build/release/libshell
counted "MCP server, asan" python3 test/mcp/server.py build/asan/libshell --no-confine
counted "MCP server, the official clients" mcp_clients
counted "round trips with the real tools" python3 test/roundtrip.py build/release/libshell
counted "pipelines against bash" python3 test/pipelines.py build/release/libshell
counted "this system's scripts, parsed and printed" python3 test/scripts.py build/asan/test/reprint
counted "fuzz seeds, asan" seeds asan
part "install and link" installs
counted "python, from the wheel" sh test/python.sh build/release/libshell.so
counted "node, from the package" sh test/node.sh build/release
counted "node, from the package, asan" sh test/node.sh build/asan
part "record against the tools" record_checks
counted "guards turned off, sampled" sh test/mutate.sh --sample 6
if [ "$full" = 1 ]; then
  counted "node 18" sh test/node.sh build/release --node 18
  counted "node 22" sh test/node.sh build/release --node 22
  counted "node, from sources" sh test/node.sh build/release --source
  counted "guards turned off" sh test/mutate.sh
  counted "torture, every allocation" sh test/each.sh build/asan/test/torture --every
fi
# What was recorded and does not agree yet: shown at every run, so that it is not forgotten; it must only ever shrink.
if ls test/cases/pending/*.case >/dev/null 2>&1; then
  build/release/test/runner test/cases/pending/*.case >"$logs/out" 2>&1
  echo "pending cases, not counted: $(tail -n 1 "$logs/out")"
fi
echo "options without a case, not counted: $(python3 test/checks/options.py . build/release/libshell | tail -n 1)"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]

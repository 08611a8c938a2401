#!/bin/sh
# The Python binding, from its wheel, under /usr/bin/python3 and every other CPython 3.9 to 3.13 there is: one on PATH, or one of pyenv's.
# usage: sh test/python.sh LIBRARY [TEST...]      LIBRARY: a built libshell.so; its components are taken from beside it
# Ends with "N passed, N failed", a test of each interpreter counted for itself.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
library=$(realpath "$1")
shift
library=$(dirname "$library")/libshell.so
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset PYTHONPATH PYTHONHOME

# Prints the interpreters, the first of each version.
interpreters() {
  seen=" "
  for candidate in /usr/bin/python3 $(for v in 3.9 3.10 3.11 3.12 3.13; do command -v "python$v"; done) "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.*/bin/python3; do
    found=$("$candidate" -c 'import sys, ctypes, venv, ensurepip
if sys.implementation.name == "cpython" and (3, 9) <= sys.version_info < (3, 14): print("%d.%d" % sys.version_info[:2], sys.executable)' 2>/dev/null) || continue
    [ -n "$found" ] || continue
    case $seen in *" ${found%% *} "*) continue ;; esac
    seen="$seen${found%% *} "
    echo "${found#* }"
  done
}

passed=0
failed=0
first=$(interpreters | head -n 1)
"$first" -m venv "$work/build" && LIBSHELL_LIBRARY=$library "$work/build/bin/pip" wheel --quiet --no-index --no-deps --wheel-dir "$work" "$root/bindings/python" || { echo "0 passed, 1 failed"; exit 1; }
for python in $(interpreters); do
  rm -rf "$work/venv"
  "$python" -m venv "$work/venv" && "$work/venv/bin/pip" install --quiet --disable-pip-version-check --no-index "$work"/*.whl || { failed=$((failed + 1)); continue; }
  cd "$work" || exit 1
  if [ $# = 0 ]; then
    "$work/venv/bin/python" -B -m unittest discover -s "$root/bindings/python/tests" >"$work/log" 2>&1
  else
    PYTHONPATH=$root/bindings/python/tests "$work/venv/bin/python" -B -m unittest "$@" >"$work/log" 2>&1
  fi
  status=$?
  ran=$(sed -n 's/^Ran \([0-9]*\) test.*/\1/p' "$work/log")
  bad=$(sed -n 's/^FAILED (\(.*\))$/\1/p' "$work/log" | tr , '\n' | sed -n 's/^ *\(failures\|errors\)=\([0-9]*\)$/\2/p' | awk '{n += $1} END {print n + 0}')
  [ "$status" = 0 ] || [ "$bad" != 0 ] || bad=1
  [ "$bad" = 0 ] || { echo "$python:"; tail -n 60 "$work/log"; }
  passed=$((passed + ${ran:-0} - bad))
  failed=$((failed + bad))
  echo "$("$python" -V): ${ran:-0} tests, $bad failed"
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]

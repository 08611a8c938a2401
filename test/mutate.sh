#!/bin/sh
# mutate: every guard is turned off in turn, and the test that SECURITY.md names for it must then fail: a test that asserts nothing is found so.
# usage: mutate.sh [--sample N] [GUARD...]     ends with "N passed, M failed"
set -u
cd "$(dirname "$0")/.." || exit 2
sample=1
[ "${1:-}" = --sample ] && { sample=$2; shift 2; }
build=${MUTATE_BUILD:-build/mutate}
cmake -S . -B "$build" -DCMAKE_BUILD_TYPE=Release -DLIBSHELL_TESTS=ON -DCMAKE_C_FLAGS=-DLIBSHELL_MUTATE -DCMAKE_C_COMPILER_LAUNCHER="$(command -v ccache)" >/dev/null || exit 2
rows=$(sed -n 's/^| [A-Z]*-[0-9]* | [^|]* | `\([A-Z0-9_]*\)` | `test\/unit\/\([a-z]*_test\)\.c:.*/\1 \2/p' SECURITY.md)
net="python3 test/net/cases.py --requests $build/libshell_mutated test/net/guard.case test/net/refused.case"
# shellcheck disable=SC2046
cmake --build "$build" -j"$(nproc)" --target $(printf '%s\n' "$rows" | cut -d' ' -f2 | sort -u) libshell_debug shell_net >"$build/mutate.log" 2>&1 || { tail -n 20 "$build/mutate.log"; exit 2; }
passed=0 failed=0 n=0
for program in $(printf '%s\n' "$rows" | cut -d' ' -f2 | sort -u); do
  timeout 120 "$build/test/$program" >"$build/mutate.log" 2>&1 || { echo "$program fails with every guard on"; failed=$((failed + 1)); }
done
# The command line beside its components, with the guards of the environment.
cp "$build/test/libshell_debug" "$build/libshell_mutated"
$net >"$build/mutate.log" 2>&1 || { echo "the requests that arrive differ with every guard on"; failed=$((failed + 1)); }
while read -r guard program; do
  n=$((n + 1))
  [ $# -gt 0 ] && case " $* " in *" $guard "*) ;; *) continue ;; esac
  [ $((n % sample)) = 0 ] || continue
  GUARD_OFF=$guard timeout 60 "$build/test/$program" >"$build/mutate.log" 2>&1
  status=$?
  if [ $status = 0 ] || [ $status = 99 ]; then
    echo "$guard: $program does not notice that it is off"
    failed=$((failed + 1))
  else
    passed=$((passed + 1))
  fi
done <<EOT
$rows
EOT
# What the comparison of arrived and approved requests alone must notice.
for guard in NET_PARTITION HEADER_OWNED HEADER_VALUE VALUE_BREAK METHOD_TOKEN; do
  n=$((n + 1))
  [ $# -gt 0 ] && case " $* " in *" $guard "*) ;; *) continue ;; esac
  [ $((n % sample)) = 0 ] || continue
  if GUARD_OFF=$guard $net >"$build/mutate.log" 2>&1; then
    echo "$guard: the requests that arrive do not show that it is off"
    failed=$((failed + 1))
  else
    passed=$((passed + 1))
  fi
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]

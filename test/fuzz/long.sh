#!/bin/sh
# Fuzzes with libFuzzer, under ASan and UBSan, and reports the coverage of the files named: what --full and a developer run.
#
# usage: long.sh SECONDS [TARGET...]     targets are test/fuzz/*_fuzz.c without _fuzz; default all
# SECONDS are of the processor, each target's own, so that the figure means the same on a busy machine. The build folder is kept: what a
# run found to be new in build/fuzz/corpus is where the next one begins. A finding ends its target, with the input in build/fuzz/findings.
# test/fuzz/TARGET.options holds options of libFuzzer that a target wants. build/fuzz/TARGET.coverage has the line coverage of each file, of the whole corpus replayed.
set -eu
cd "$(dirname "$0")/../.."
seconds=$1
shift
[ $# -gt 0 ] || set -- $(ls test/fuzz/*_fuzz.c | sed 's|.*/||; s|_fuzz.c||')
cmake -S . -B build/fuzz -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=RelWithDebInfo -DLIBSHELL_SANITIZE="address,undefined" -DLIBSHELL_FUZZ=ON -DLIBSHELL_TESTS=ON \
  -DCMAKE_C_FLAGS="-fsanitize=fuzzer-no-link -fprofile-instr-generate -fcoverage-mapping" ${LIBSHELL_FUZZ_LAUNCHER:+-DCMAKE_C_COMPILER_LAUNCHER=$LIBSHELL_FUZZ_LAUNCHER} >/dev/null

# spent_now: sets `spent` to the whole seconds of the processor that this script's children have used; not for a subshell, which has none.
spent_now() {
  times >build/fuzz/times.$$
  spent=$(awk 'NR == 2 { split($0, t, /[ms ]+/); print int(t[1] * 60 + t[2] + t[3] * 60 + t[4]) }' build/fuzz/times.$$)
}

# slice TARGET SECONDS_OF_WALL OPTION...: one run of libFuzzer, its output added to the target's log.
slice() {
  name=$1
  wall=$2
  shift 2
  "build/fuzz/test/${name}_fuzz" -max_total_time="$wall" -timeout=100 -rss_limit_mb=4096 -artifact_prefix="build/fuzz/findings/$name-" "$@" \
    $([ -f "test/fuzz/$name.dict" ] && echo "-dict=test/fuzz/$name.dict") $(cat "test/fuzz/$name.options" 2>/dev/null) "build/fuzz/corpus/$name" "test/fuzz/seeds/$name" >>"build/fuzz/$name.log" 2>&1
}

coverage() {
  LLVM_PROFILE_FILE=build/fuzz/$1.profraw slice "$1" 0 -runs=0 || return 1
  llvm-profdata-14 merge -o "build/fuzz/$1.profdata" "build/fuzz/$1.profraw"
  llvm-cov-14 report "build/fuzz/test/${1}_fuzz" -instr-profile="build/fuzz/$1.profdata" 2>/dev/null | awk 'NR > 2 && NF > 9 { print $1, $(NF - 3) }' >"build/fuzz/$1.coverage"
}

mkdir -p build/fuzz/findings
failed=0
for target in "$@"; do
  cmake --build build/fuzz --parallel "$(nproc)" --target "${target}_fuzz" >/dev/null
  mkdir -p "build/fuzz/corpus/$target"
  : >"build/fuzz/$target.log"
  spent_now
  start=$spent
  used=0
  state=clean
  while [ "$used" -lt "$seconds" ] && [ "$state" = clean ]; do
    left=$((seconds - used))
    [ "$left" -le 120 ] || left=120
    LLVM_PROFILE_FILE=/dev/null slice "$target" "$left" || { failed=1; state="a finding, see build/fuzz/$target.log"; }
    spent_now
    used=$((spent - start))
  done
  runs=$(sed -n 's/.*Done \([0-9]*\) runs.*/\1/p' "build/fuzz/$target.log" | awk '{ n += $1 } END { print n + 0 }')
  echo "$target: $runs runs in $used s of the processor: $state"
  [ "$state" != clean ] || coverage "$target" || { failed=1; echo "$target: the corpus does not replay, see build/fuzz/$target.log"; }
done
exit $failed

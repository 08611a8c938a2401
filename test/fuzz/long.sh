#!/bin/sh
# Fuzzes with libFuzzer, under ASan and UBSan, and reports the coverage of the files named: what --full and a developer run.
#
# usage: long.sh SECONDS [TARGET...]     targets are test/fuzz/*_fuzz.c without _fuzz; default all
# A finding ends with its input in build/fuzz/findings; the corpus that grows in build/fuzz/corpus is not kept.
set -eu
cd "$(dirname "$0")/../.."
seconds=$1
shift
[ $# -gt 0 ] || set -- $(ls test/fuzz/*_fuzz.c | sed 's|.*/||; s|_fuzz.c||')
cmake -S . -B build/fuzz -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=RelWithDebInfo -DLIBSHELL_SANITIZE="address,undefined" -DLIBSHELL_FUZZ=ON -DLIBSHELL_TESTS=ON \
  -DCMAKE_C_FLAGS="-fsanitize=fuzzer-no-link -fprofile-instr-generate -fcoverage-mapping" ${LIBSHELL_FUZZ_LAUNCHER:+-DCMAKE_C_COMPILER_LAUNCHER=$LIBSHELL_FUZZ_LAUNCHER} >/dev/null
mkdir -p build/fuzz/findings
failed=0
for target in "$@"; do
  cmake --build build/fuzz --parallel "$(nproc)" --target "${target}_fuzz" >/dev/null
  mkdir -p "build/fuzz/corpus/$target"
  log=build/fuzz/$target.log
  dictionary=test/fuzz/$target.dict
  LLVM_PROFILE_FILE=build/fuzz/$target.profraw "build/fuzz/test/${target}_fuzz" -max_total_time="$seconds" -timeout=25 -rss_limit_mb=4096 -artifact_prefix=build/fuzz/findings/$target- \
    $([ -f "$dictionary" ] && echo "-dict=$dictionary") "build/fuzz/corpus/$target" "test/fuzz/seeds/$target" >"$log" 2>&1 || { failed=1; echo "$target: a finding, see $log"; }
  runs=$(sed -n 's/.*Done \([0-9]*\) runs.*/\1/p' "$log")
  echo "$target: ${runs:-?} runs in $seconds s"
  if [ -f "build/fuzz/$target.profraw" ]; then
    llvm-profdata-14 merge -o "build/fuzz/$target.profdata" "build/fuzz/$target.profraw"
    llvm-cov-14 report "build/fuzz/test/${target}_fuzz" -instr-profile="build/fuzz/$target.profdata" 2>/dev/null | awk 'NR > 2 && NF > 9 { print $1, $(NF - 3) }' >"build/fuzz/$target.coverage"
  fi
done
exit $failed

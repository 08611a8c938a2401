#!/bin/sh
# Runs a case program once for each case file, so that a crash in one hides no other; ends with "N passed, N failed".
# usage: each.sh PROGRAM [OPTION...]
cd "$(dirname "$0")/.." || exit 2
out=$(mktemp)
p=0
f=0
for file in $(find test/cases -name '*.case' ! -path '*/pending/*' | sort); do
  "$@" "$file" >"$out" 2>&1
  status=$?
  line=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$out" | tail -n 1)
  if [ -z "$line" ] || { [ "$status" != 0 ] && [ "${line#*, }" = "0 failed" ]; }; then
    echo "$file: ended with status $status"
    tail -n 40 "$out"
    f=$((f + 1))
    continue
  fi
  grep -vE '^[0-9]+ passed, [0-9]+ failed$' "$out"
  p=$((p + ${line%% passed*}))
  n=${line#*, }
  f=$((f + ${n%% failed}))
done
rm -f "$out"
echo "$p passed, $f failed"
[ "$f" = 0 ]

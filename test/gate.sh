#!/bin/sh
# A quick look before a change is kept: unit tests of one build. usage: gate.sh BUILD_DIR
status=0
for program in "$1"/test/*_test; do
  [ -x "$program" ] || continue
  "$program" >/dev/null 2>&1 || { echo "failed: $program"; "$program" 2>&1 | tail -20; status=1; }
done
exit $status

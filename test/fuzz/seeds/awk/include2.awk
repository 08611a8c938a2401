@include "prog.awk"
BEGIN { print /a\x41[[:upper:]\]x]\/b/, /[\/]/; print "a" "b" \
 "c"; func = 1 }

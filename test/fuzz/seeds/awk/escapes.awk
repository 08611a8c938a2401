BEGIN { print "a\tb\n\\\"\/\a\b\f\v\r\x41\101\q\u00e9" > "/dev/stdout"; if ("a.b" ~ /a\.b/) print "\y"; print "foo bar" ~ /\<bar\>/, "ab" ~ /\Bb/, "x" ~ /^\s*\S\w?\W*$/, "aXb" ~ "X", "a+b" ~ /a\+b/, "ab" ~ /(a|b){2}/, "]" ~ /[]]/, "-" ~ /[a-]/, "\\" ~ /\\/; print 1 \
2; # comment
print 0x10, 011, 1e3, .5, 5.; a["x\034y"] = 1; for (k in a) { split(k, p, SUBSEP); print p[2] } }

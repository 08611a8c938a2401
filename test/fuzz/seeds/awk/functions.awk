BEGIN { s = "hello world"; print length(s), index(s, "o"), substr(s, 2, 3), substr(s, -1), toupper(s), tolower("ABC é"), sprintf("%5.2f|%-8s|%c|%x|%e", 3.14159, "ab", 65, 255, 1e10)
print match(s, /o (w)/, m), RSTART, RLENGTH, m[1], m[1, "start"], sub(/l+/, "[&]", s), s, gsub(/o/, "<\\&&>", s), s
print gensub(/(h)(.)/, "\\2\\1", "g", "hahe"), gensub(/a/, "b", 2, "aaa"), gensub(/x*/, "-", "g", "aéb"), split("a:b:c", A, ":", S), S[1], split("", B), split("abc", C, ""), patsplit("a1b22", D, /[0-9]+/, E), E[0] }
BEGIN { print and(6, 3), or(6, 3), xor(6, 3), lshift(1, 4), rshift(16, 2), compl(0), strtonum("0x1F"), strtonum("017"), int(-3.7), sqrt(16), exp(0), log(1), sin(0), cos(0), atan2(0, -1), mkbool(1), typeof(A), typeof(zz), isarray(A)
srand(1); r = rand(); print (r < 1), srand(2), (systime() > 0), mktime("2020 1 2 3 4 5"), strftime("%Y-%m-%d %H:%M:%S %j %a %b", 86400, 1) }
BEGIN { n = asort(A, X); for (i = 1; i <= n; i++) print X[i]; n = asorti(A, Y, "@ind_num_desc"); print Y[1]; asort(A, X, "cmp"); print length(X) }
function cmp(i, v, j, w) { return v < w ? -1 : v > w }

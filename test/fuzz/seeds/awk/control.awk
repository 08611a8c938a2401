function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2) }
function fill(a, k) { a[k] = k; delete a[k - 2]; return length(a) }
BEGIN { print fib(10); for (i = 0; i < 5; i++) { if (i == 2) continue; if (i == 4) break; fill(T, i) } for (k in T) print k; do { j++ } while (j < 3); while (j-- > 0) ; switch (j) { case -1: print "m"; break; case /x/: print 1; default: print 2 } f = "fib"; print @f(5); T["a"]["b"] = 1; for (p in T) if (isarray(T[p])) for (q in T[p]) print p, q; print ("a" in T), (1, 2) in T; delete T; print length(T); x = y = 3; x ^= 2; x %= 5; x -= 1; x *= 2; x /= 4; x += 1; print x, x++, ++x, x--, --x, !x, -x, +x, x ** 2, x ^ 2; print 1 < 2, "a" < "b", 1 == 1.0, "1" == 1, (2 > 1 ? "y" : "n"); exit 3 }
END { print "end"; exit }

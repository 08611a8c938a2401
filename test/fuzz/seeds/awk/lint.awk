BEGIN { x; y == 1; if (z = 1) print; print A["q"], $3, substr("abc", 0), length(1), toupper(2) } function unused(a) { return a } END { print $0; print > "f" }

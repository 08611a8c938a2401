@include "in"
@namespace "ns"
BEGIN { y = 1; awk::z = 2; print ns::y }
@load "x"

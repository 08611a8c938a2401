/* arith_node: what arith_compile.c and arith_eval.c share: the operators. */
#ifndef LIBSHELL_ARITH_NODE_H
#define LIBSHELL_ARITH_NODE_H

#include "interp.h"

/* A binary operator by its character: + - * / % & ^ | < >, L and R the shifts, l g = n for <= >= == !=. False: division by 0. */
bool arith_apply(int op, int64_t a, int64_t b, int64_t *out);
int64_t arith_power(int64_t base, int64_t exponent);
/* A constant, 0x1f, 017 or 16#ff; NULL or what is wrong with it. */
const char *arith_number(Slice s, int64_t *out);
/* What a variable's text is worth: evaluated in its turn, with a bound on the depth. */
bool arith_value_of(Interp *in, Slice text, int64_t *out);
#endif

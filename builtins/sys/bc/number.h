/* number: bc's decimal numbers of any length.
 *
 * A number is sign, magnitude and scale: magnitude / 10^scale. The magnitude is in limbs of base 10^9, the lowest first,
 * without zero limbs on top; zero has none. Numbers are never changed once made, so values share them. Results come from n->mem, which
 * raises when memory is short; long operations tick.
 */
#ifndef LIBSHELL_BC_NUMBER_H
#define LIBSHELL_BC_NUMBER_H

#include "../../command.h"

typedef struct Num {
    size_t count;  /* limbs */
    size_t scale;
    bool negative;
    uint32_t limb[];
} Num;

typedef struct NumEnv {
    Proc *p;
    Mem *mem;
} NumEnv;

const Num *num_int(NumEnv *n, uint64_t v);
/* Digits, at most one point, in base 10; letters of the digits were mapped before. */
const Num *num_decimal(NumEnv *n, Slice integer, Slice fraction);
const Num *num_copy(NumEnv *n, const Num *a);
const Num *num_negate(NumEnv *n, const Num *a);
const Num *num_add(NumEnv *n, const Num *a, const Num *b, bool subtract);
const Num *num_multiply(NumEnv *n, const Num *a, const Num *b, size_t scale);
const Num *num_divide(NumEnv *n, const Num *a, const Num *b, size_t scale); /* b is not zero */
const Num *num_modulo(NumEnv *n, const Num *a, const Num *b, size_t scale);
const Num *num_power(NumEnv *n, const Num *a, uint64_t exponent, bool negative, size_t scale);
const Num *num_root(NumEnv *n, const Num *a, size_t scale); /* a is not negative */
const Num *num_truncate(NumEnv *n, const Num *a, size_t scale); /* to fewer digits; more are zeros */
int num_compare(NumEnv *n, const Num *a, const Num *b);
static inline bool num_zero(const Num *a) { return a->count == 0; }
/* The integer part, or 0 when it does not fit, as bc_num2long. */
int64_t num_long(NumEnv *n, const Num *a);
size_t num_integer_digits(const Num *a);  /* of the integer part, at least 1 */
/* Decimal digits of the magnitude, at least scale + 1 of them; in n->mem. */
Slice num_digits(NumEnv *n, const Num *a);

#endif

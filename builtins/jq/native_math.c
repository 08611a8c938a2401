/* native_math: the C library's functions on doubles, under their own names. */
#include <math.h>

#include "machine.h"

static Val with(J *j, Val *a, unsigned n, Val out)
{
    for (unsigned i = 0; i < n; i++)
        val_free(j, a[i]);
    return out;
}

/* The first operand that is no number makes the error. */
static bool numbers(J *j, Val *a, unsigned from, unsigned n)
{
    for (unsigned i = from; i < n; i++) {
        if (a[i].kind == K_NUMBER)
            continue;
        jq_error_one(j, val_copy(a[i]), "number required");
        with(j, a, n, VAL_NULL);
        return false;
    }
    return true;
}

static Val unary(J *j, Val *a, double (*fn)(double))
{
    if (!numbers(j, a, 0, 1))
        return VAL_INVALID;
    return with(j, a, 1, val_num(fn(val_double(a[0]))));
}

static Val two(J *j, Val *a, double (*fn)(double, double))
{
    if (!numbers(j, a, 1, 3))
        return VAL_INVALID;
    return with(j, a, 3, val_num(fn(val_double(a[1]), val_double(a[2]))));
}

#define UNARY(name) static Val fn_##name(J *j, Val *a) { return unary(j, a, name); }
#define TWO(name) static Val fn_##name(J *j, Val *a) { return two(j, a, name); }

UNARY(acos) UNARY(acosh) UNARY(asin) UNARY(asinh) UNARY(atan) UNARY(atanh) UNARY(cbrt) UNARY(ceil) UNARY(cos) UNARY(cosh) UNARY(erf)
UNARY(erfc) UNARY(exp) UNARY(exp2) UNARY(exp10) UNARY(expm1) UNARY(fabs) UNARY(floor) UNARY(j0) UNARY(j1) UNARY(log) UNARY(log10)
UNARY(log1p) UNARY(log2) UNARY(logb) UNARY(nearbyint) UNARY(rint) UNARY(round) UNARY(sin) UNARY(sinh) UNARY(sqrt) UNARY(tan)
UNARY(tanh) UNARY(tgamma) UNARY(trunc) UNARY(y0) UNARY(y1)
TWO(atan2) TWO(copysign) TWO(fdim) TWO(fmax) TWO(fmin) TWO(fmod) TWO(hypot) TWO(nextafter) TWO(pow) TWO(remainder)

/* lgamma writes the process-wide signgam; lgamma_r does not. */
static double log_gamma(double x)
{
    int sign;
    return lgamma_r(x, &sign);
}

/* x / 2^logb(x); 0, infinities and nan are themselves. */
static double mantissa(double x)
{
    int e;
    if (x == 0 || !isfinite(x))
        return x;
    return frexp(x, &e) * 2;
}

static int to_int(double d) { return d != d ? 0 : d > 1e9 ? 1000000000 : d < -1e9 ? -1000000000 : (int)d; }
static double shift(double x, double e) { return e != e ? e : ldexp(x, to_int(e)); }
static double bessel_jn(double n, double x) { return jn(to_int(n), x); }
static double bessel_yn(double n, double x) { return yn(to_int(n), x); }

static Val fn_lgamma(J *j, Val *a) { return unary(j, a, log_gamma); }
static Val fn_significand(J *j, Val *a) { return unary(j, a, mantissa); }
static Val fn_shift(J *j, Val *a) { return two(j, a, shift); }
static Val fn_jn(J *j, Val *a) { return two(j, a, bessel_jn); }
static Val fn_yn(J *j, Val *a) { return two(j, a, bessel_yn); }

static Val fn_fma(J *j, Val *a)
{
    if (!numbers(j, a, 1, 4))
        return VAL_INVALID;
    return with(j, a, 4, val_num(fma(val_double(a[1]), val_double(a[2]), val_double(a[3]))));
}

static Val pair(J *j, double x, double y) { return arr_push(j, arr_push(j, arr_new(j, 2), val_num(x)), val_num(y)); }

static Val fn_frexp(J *j, Val *a)
{
    int e = 0;
    if (!numbers(j, a, 0, 1))
        return VAL_INVALID;
    double x = val_double(a[0]), m = isfinite(x) ? frexp(x, &e) : x;
    return with(j, a, 1, pair(j, m, e));
}

static Val fn_modf(J *j, Val *a)
{
    double whole;
    if (!numbers(j, a, 0, 1))
        return VAL_INVALID;
    double fraction = modf(val_double(a[0]), &whole);
    return with(j, a, 1, pair(j, fraction, whole));
}

static Val fn_lgamma_r(J *j, Val *a)
{
    int sign = 0;
    if (!numbers(j, a, 0, 1))
        return VAL_INVALID;
    double x = lgamma_r(val_double(a[0]), &sign);
    return with(j, a, 1, pair(j, x, sign));
}

static Val fn_gamma(J *j, Val *a) { return with(j, a, 1, jq_error(j, "Error: gamma/0 not found at build time")); }

static Val fn_isinfinite(J *j, Val *a) { return with(j, a, 1, val_bool(a[0].kind == K_NUMBER && isinf(val_double(a[0])))); }
static Val fn_isnan(J *j, Val *a) { return with(j, a, 1, val_bool(a[0].kind == K_NUMBER && isnan(val_double(a[0])))); }
static Val fn_isnormal(J *j, Val *a) { return with(j, a, 1, val_bool(a[0].kind == K_NUMBER && isnormal(val_double(a[0])))); }

#define ENTRY1(name) {#name, 1, fn_##name}
#define ENTRY2(name) {#name, 3, fn_##name}

const Native jq_natives_math[] = {
    ENTRY1(acos), ENTRY1(acosh), ENTRY1(asin), ENTRY1(asinh), ENTRY1(atan), ENTRY1(atanh), ENTRY1(cbrt), ENTRY1(ceil), ENTRY1(cos),
    ENTRY1(cosh), ENTRY1(erf), ENTRY1(erfc), ENTRY1(exp), ENTRY1(exp2), ENTRY1(exp10), ENTRY1(expm1), ENTRY1(fabs), ENTRY1(floor),
    ENTRY1(j0), ENTRY1(j1), ENTRY1(log), ENTRY1(log10), ENTRY1(log1p), ENTRY1(log2), ENTRY1(logb), ENTRY1(nearbyint), ENTRY1(rint),
    ENTRY1(round), ENTRY1(sin), ENTRY1(sinh), ENTRY1(sqrt), ENTRY1(tan), ENTRY1(tanh), ENTRY1(tgamma), ENTRY1(trunc), ENTRY1(y0),
    ENTRY1(y1), ENTRY2(atan2), ENTRY2(copysign), ENTRY2(fdim), ENTRY2(fmax), ENTRY2(fmin), ENTRY2(fmod), ENTRY2(hypot), ENTRY2(nextafter),
    ENTRY2(pow), ENTRY2(remainder), ENTRY1(lgamma), ENTRY1(significand), {"ldexp", 3, fn_shift}, {"scalb", 3, fn_shift},
    {"scalbln", 3, fn_shift}, {"nexttoward", 3, fn_nextafter}, {"drem", 3, fn_remainder}, ENTRY2(jn), ENTRY2(yn), {"fma", 4, fn_fma},
    ENTRY1(frexp), ENTRY1(modf), ENTRY1(lgamma_r), ENTRY1(gamma), ENTRY1(isinfinite), ENTRY1(isnan), ENTRY1(isnormal),
    {NULL, 0, NULL},
};

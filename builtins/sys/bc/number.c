/* number: arithmetic of bc's numbers. Schoolbook for short operands, Karatsuba for long products, Knuth's division. */
#include "number.h"

enum { LIMB_DIGITS = 9, KARATSUBA = 48, MOST_LIMBS = 1 << 26 };
#define LIMB_BASE 1000000000u

static const uint32_t powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000};

static Num *make(NumEnv *n, size_t count)
{
    if (count > MOST_LIMBS)
        proc_limit(n->p, LIMIT_MEMORY);
    Num *r = mem_alloc(n->mem, sizeof *r + count * sizeof(uint32_t));
    *r = (Num){.count = count};
    memset(r->limb, 0, count * sizeof(uint32_t));
    return r;
}

static Num *trim(Num *r)
{
    while (r->count && r->limb[r->count - 1] == 0)
        r->count--;
    if (!r->count)
        r->negative = false;
    return r;
}

const Num *num_int(NumEnv *n, uint64_t v)
{
    Num *r = make(n, 3);
    for (size_t i = 0; i < 3; i++, v /= LIMB_BASE)
        r->limb[i] = (uint32_t)(v % LIMB_BASE);
    return trim(r);
}

const Num *num_copy(NumEnv *n, const Num *a)
{
    Num *r = make(n, a->count);
    memcpy(r, a, sizeof *r + a->count * sizeof(uint32_t));
    return r;
}

const Num *num_decimal(NumEnv *n, Slice integer, Slice fraction)
{
    size_t digits;
    if (!size_add(integer.len, fraction.len, &digits))
        proc_limit(n->p, LIMIT_MEMORY);
    Num *r = make(n, digits / LIMB_DIGITS + 1);
    r->scale = fraction.len;
    for (size_t i = 0; i < digits; i++) { /* i counts from the lowest digit */
        char c = i < fraction.len ? fraction.data[fraction.len - 1 - i] : integer.data[digits - 1 - i];
        r->limb[i / LIMB_DIGITS] += (uint32_t)(c - '0') * powers[i % LIMB_DIGITS];
    }
    proc_tick(n->p, digits / 100);
    return trim(r);
}

/* ---------- magnitudes ---------- */

static int compare(const Num *a, const Num *b)
{
    if (a->count != b->count)
        return a->count > b->count ? 1 : -1;
    for (size_t i = a->count; i-- > 0;)
        if (a->limb[i] != b->limb[i])
            return a->limb[i] > b->limb[i] ? 1 : -1;
    return 0;
}

/* to[0..] += from[0..count), carrying on; to has room. */
static void add_into(uint32_t *to, const uint32_t *from, size_t count)
{
    uint32_t carry = 0;
    for (size_t i = 0; i < count || carry; i++) {
        uint32_t sum = to[i] + (i < count ? from[i] : 0) + carry;
        carry = sum >= LIMB_BASE;
        to[i] = carry ? sum - LIMB_BASE : sum;
    }
}

/* to -= from, which is not larger. */
static void subtract_from(uint32_t *to, const uint32_t *from, size_t count)
{
    uint32_t borrow = 0;
    for (size_t i = 0; i < count || borrow; i++) {
        uint32_t take = (i < count ? from[i] : 0) + borrow;
        borrow = to[i] < take;
        to[i] = borrow ? to[i] + LIMB_BASE - take : to[i] - take;
    }
}

static void multiply_plain(uint32_t *out, const uint32_t *a, size_t na, const uint32_t *b, size_t nb)
{
    memset(out, 0, (na + nb) * sizeof *out);
    for (size_t i = 0; i < na; i++) {
        uint64_t carry = 0;
        for (size_t j = 0; j < nb; j++) {
            uint64_t t = (uint64_t)a[i] * b[j] + out[i + j] + carry;
            out[i + j] = (uint32_t)(t % LIMB_BASE);
            carry = t / LIMB_BASE;
        }
        out[i + nb] = (uint32_t)carry;
    }
}

static void multiply_limbs(NumEnv *n, uint32_t *out, const uint32_t *a, size_t na, const uint32_t *b, size_t nb);

/* Operands of equal length: (a1 + a0)(b1 + b0) - a1 b1 - a0 b0 is what lies in the middle. */
static void karatsuba(NumEnv *n, uint32_t *out, const uint32_t *a, const uint32_t *b, size_t count)
{
    size_t low = count / 2, high = count - low, wide = high + 1;
    uint32_t *scratch = mem_array(n->mem, 4 * wide, uint32_t);
    uint32_t *sa = scratch, *sb = scratch + wide, *middle = scratch + 2 * wide;
    memcpy(sa, a + low, high * sizeof *sa);
    memcpy(sb, b + low, high * sizeof *sb);
    add_into(sa, a, low);
    add_into(sb, b, low);
    multiply_limbs(n, middle, sa, wide, sb, wide);
    multiply_limbs(n, out, a, low, b, low);
    multiply_limbs(n, out + 2 * low, a + low, high, b + low, high);
    subtract_from(middle, out, 2 * low);
    subtract_from(middle, out + 2 * low, 2 * high);
    size_t used = 2 * wide;
    while (used && middle[used - 1] == 0)
        used--;
    add_into(out + low, middle, used);
}

static void multiply_limbs(NumEnv *n, uint32_t *out, const uint32_t *a, size_t na, const uint32_t *b, size_t nb)
{
    if (na < nb) {
        multiply_limbs(n, out, b, nb, a, na);
        return;
    }
    proc_tick(n->p, 1 + na * MIN(nb, KARATSUBA) / 256);
    if (nb < KARATSUBA || !proc_stack_room(n->p, 16384)) {
        multiply_plain(out, a, na, b, nb);
        return;
    }
    MemMark mark = mem_mark(n->mem);
    if (na == nb) {
        karatsuba(n, out, a, b, na);
    } else { /* the longer one in pieces as long as the shorter */
        uint32_t *part = mem_array(n->mem, 2 * nb, uint32_t);
        memset(out, 0, (na + nb) * sizeof *out);
        for (size_t at = 0; at < na; at += nb) {
            size_t len = MIN(nb, na - at);
            multiply_limbs(n, part, b, nb, a + at, len);
            size_t used = nb + len;
            while (used && part[used - 1] == 0)
                used--;
            add_into(out + at, part, used);
        }
    }
    mem_reset(n->mem, mark);
}

/* a * 10^digits */
static const Num *shift_up(NumEnv *n, const Num *a, size_t digits)
{
    if (!digits || !a->count)
        return a;
    size_t whole = digits / LIMB_DIGITS, count;
    if (!size_add(a->count, whole + 1, &count))
        proc_limit(n->p, LIMIT_MEMORY);
    Num *r = make(n, count);
    uint64_t by = powers[digits % LIMB_DIGITS], carry = 0;
    for (size_t i = 0; i < a->count; i++) {
        uint64_t t = a->limb[i] * by + carry;
        r->limb[i + whole] = (uint32_t)(t % LIMB_BASE);
        carry = t / LIMB_BASE;
    }
    r->limb[a->count + whole] = (uint32_t)carry;
    r->negative = a->negative;
    proc_tick(n->p, count / 64);
    return trim(r);
}

/* a / 10^digits, what is behind the point cut off */
static Num *shift_down(NumEnv *n, const Num *a, size_t digits)
{
    size_t whole = digits / LIMB_DIGITS;
    Num *r = make(n, a->count > whole ? a->count - whole : 0);
    uint32_t by = powers[digits % LIMB_DIGITS];
    uint64_t rest = 0;
    for (size_t i = r->count; i-- > 0;) {
        uint64_t t = rest * LIMB_BASE + a->limb[i + whole];
        r->limb[i] = (uint32_t)(t / by);
        rest = t % by;
    }
    r->negative = a->negative;
    proc_tick(n->p, r->count / 64);
    return trim(r);
}

const Num *num_truncate(NumEnv *n, const Num *a, size_t scale)
{
    if (scale == a->scale)
        return a;
    Num *r = scale < a->scale ? shift_down(n, a, a->scale - scale) : (Num *)(uintptr_t)num_copy(n, shift_up(n, a, scale - a->scale));
    r->scale = scale;
    return r;
}

/* Both at the larger scale of the two. */
static size_t align(NumEnv *n, const Num **a, const Num **b)
{
    size_t scale = MAX((*a)->scale, (*b)->scale);
    *a = shift_up(n, *a, scale - (*a)->scale);
    *b = shift_up(n, *b, scale - (*b)->scale);
    return scale;
}

int num_compare(NumEnv *n, const Num *a, const Num *b)
{
    bool na = a->negative, nb = b->negative;
    if (na != nb)
        return na ? -1 : 1;
    align(n, &a, &b);
    return na ? -compare(a, b) : compare(a, b);
}

const Num *num_negate(NumEnv *n, const Num *a)
{
    Num *r = (Num *)(uintptr_t)num_copy(n, a);
    r->negative = a->count && !a->negative;
    return r;
}

const Num *num_add(NumEnv *n, const Num *a, const Num *b, bool subtract)
{
    size_t scale = align(n, &a, &b);
    bool sign_a = a->negative, sign_b = b->negative != (subtract && b->count > 0);
    const Num *big = a, *small = b;
    bool sign = sign_a;
    if (compare(a, b) < 0) {
        big = b;
        small = a;
        sign = sign_b;
    }
    Num *r = make(n, big->count + 1);
    memcpy(r->limb, big->limb, big->count * sizeof(uint32_t));
    if (sign_a == sign_b)
        add_into(r->limb, small->limb, small->count);
    else
        subtract_from(r->limb, small->limb, small->count);
    r->scale = scale;
    r->negative = sign;
    proc_tick(n->p, r->count / 64);
    return trim(r);
}

static Num *product(NumEnv *n, const Num *a, const Num *b)
{
    Num *r = make(n, a->count + b->count);
    if (a->count && b->count)
        multiply_limbs(n, r->limb, a->limb, a->count, b->limb, b->count);
    if (!size_add(a->scale, b->scale, &r->scale))
        proc_limit(n->p, LIMIT_MEMORY);
    r->negative = a->negative != b->negative;
    return trim(r);
}

const Num *num_multiply(NumEnv *n, const Num *a, const Num *b, size_t scale)
{
    size_t full = a->scale + b->scale, kept = MIN(full, MAX(scale, MAX(a->scale, b->scale)));
    return num_truncate(n, product(n, a, b), kept);
}

/* ---------- division ---------- */

static uint32_t divide_short(Num *q, const Num *a, uint32_t b)
{
    uint64_t rest = 0;
    for (size_t i = a->count; i-- > 0;) {
        uint64_t t = rest * LIMB_BASE + a->limb[i];
        q->limb[i] = (uint32_t)(t / b);
        rest = t % b;
    }
    return (uint32_t)rest;
}

/* Scaled so that the divisor's highest limb is at least half the base: then a guess from two limbs is off by two at most. */
static void scale_limbs(uint32_t *out, const Num *a, uint32_t by)
{
    uint64_t carry = 0;
    for (size_t i = 0; i < a->count; i++) {
        uint64_t t = (uint64_t)a->limb[i] * by + carry;
        out[i] = (uint32_t)(t % LIMB_BASE);
        carry = t / LIMB_BASE;
    }
    out[a->count] = (uint32_t)carry;
}

/* u[0..nv] -= q * v; true when that went below zero. */
static bool subtract_times(uint32_t *u, const uint32_t *v, size_t nv, uint64_t q)
{
    uint64_t carry = 0;
    int64_t borrow = 0;
    for (size_t i = 0; i <= nv; i++) {
        uint64_t t = (i < nv ? v[i] * q : 0) + carry;
        carry = t / LIMB_BASE;
        int64_t d = (int64_t)u[i] - (int64_t)(t % LIMB_BASE) - borrow;
        borrow = d < 0;
        u[i] = (uint32_t)(borrow ? d + LIMB_BASE : d);
    }
    return borrow != 0;
}

static uint64_t guess(const uint32_t *u, const uint32_t *v, size_t nv)
{
    uint64_t top = (uint64_t)u[nv] * LIMB_BASE + u[nv - 1], q = top / v[nv - 1], rest = top % v[nv - 1];
    while (q >= LIMB_BASE || q * v[nv - 2] > rest * LIMB_BASE + u[nv - 2]) {
        q--;
        rest += v[nv - 1];
        if (rest >= LIMB_BASE)
            break;
    }
    return q;
}

static void divide_long(NumEnv *n, Num *quotient, const Num *a, const Num *b)
{
    size_t nv = b->count, steps = a->count - nv + 1;
    MemMark mark = mem_mark(n->mem);
    uint32_t by = LIMB_BASE / (b->limb[nv - 1] + 1);
    uint32_t *u = mem_array(n->mem, a->count + 2, uint32_t), *v = mem_array(n->mem, nv + 1, uint32_t);
    scale_limbs(u, a, by);
    scale_limbs(v, b, by);
    for (size_t j = steps; j-- > 0;) {
        uint64_t q = guess(u + j, v, nv);
        if (subtract_times(u + j, v, nv, q)) {
            q--;
            uint32_t carry = 0;
            for (size_t i = 0; i <= nv; i++) {
                uint32_t sum = u[j + i] + (i < nv ? v[i] : 0) + carry;
                carry = sum >= LIMB_BASE;
                u[j + i] = carry ? sum - LIMB_BASE : sum;
            }
        }
        quotient->limb[j] = (uint32_t)q;
        proc_tick(n->p, 1 + nv / 256);
    }
    mem_reset(n->mem, mark);
}

/* The magnitudes' quotient, cut off. */
static Num *quotient_of(NumEnv *n, const Num *a, const Num *b)
{
    if (a->count < b->count)
        return make(n, 0);
    Num *q = make(n, a->count - b->count + 1);
    if (b->count == 1)
        divide_short(q, a, b->limb[0]);
    else
        divide_long(n, q, a, b);
    proc_tick(n->p, a->count / 64);
    return q;
}

const Num *num_divide(NumEnv *n, const Num *a, const Num *b, size_t scale)
{
    size_t want;
    if (!size_add(scale, b->scale, &want))
        proc_limit(n->p, LIMIT_MEMORY);
    const Num *top = want >= a->scale ? shift_up(n, a, want - a->scale) : shift_down(n, a, a->scale - want);
    /* Cutting digits of the dividend below the quotient's last one changes nothing: the divisor is then an integer of the same unit. */
    Num *q = quotient_of(n, top, b);
    q->negative = a->negative != b->negative;
    q->scale = scale;
    return trim(q);
}

const Num *num_modulo(NumEnv *n, const Num *a, const Num *b, size_t scale)
{
    size_t kept = MAX(a->scale, b->scale + scale);
    const Num *q = num_divide(n, a, b, scale);
    return num_add(n, a, num_multiply(n, q, b, kept), true);
}

const Num *num_power(NumEnv *n, const Num *a, uint64_t exponent, bool negative, size_t scale)
{
    if (exponent == 0)
        return num_int(n, 1);
    size_t kept = scale;
    uint64_t full;
    if (!negative) {
        bool fits = !__builtin_mul_overflow((uint64_t)a->scale, exponent, &full);
        kept = MAX(scale, a->scale);
        kept = fits ? MIN((size_t)full, kept) : kept;
    }
    const Num *power = a, *result = NULL;
    for (;; exponent >>= 1) {
        if (exponent & 1)
            result = result ? product(n, result, power) : power;
        if (exponent <= 1)
            break;
        power = product(n, power, power);
    }
    if (negative)
        return num_divide(n, num_int(n, 1), result, kept);
    return result->scale > kept ? num_truncate(n, result, kept) : result;
}

/* Newton's method on integers, from above: x = (x + a/x) / 2 falls until it is the root. */
const Num *num_root(NumEnv *n, const Num *a, size_t scale)
{
    size_t kept = MAX(scale, a->scale);
    if (num_zero(a))
        return num_int(n, 0);
    if (num_compare(n, a, num_int(n, 1)) == 0)
        return num_int(n, 1);
    Num *whole = (Num *)(uintptr_t)num_copy(n, shift_up(n, a, 2 * kept - a->scale));
    whole->scale = 0;
    Num *x = make(n, whole->count / 2 + 1);
    x->limb[x->count - 1] = LIMB_BASE - 1;
    if (whole->count % 2 == 0 && x->count > 1)
        x->limb[x->count - 1] = 1;
    const Num *two = num_int(n, 2);
    for (const Num *best = trim(x);;) {
        const Num *sum = num_add(n, best, trim(quotient_of(n, whole, best)), false);
        const Num *next = trim(quotient_of(n, sum, two));
        if (compare(next, best) >= 0) {
            Num *r = (Num *)(uintptr_t)num_copy(n, best);
            r->scale = kept;
            return r;
        }
        best = next;
    }
}

/* ---------- out ---------- */

int64_t num_long(NumEnv *n, const Num *a)
{
    const Num *whole = shift_down(n, a, a->scale);
    if (whole->count > 3)
        return 0;
    unsigned __int128 v = 0;
    for (size_t i = whole->count; i-- > 0;)
        v = v * LIMB_BASE + whole->limb[i];
    if (v > INT64_MAX)
        return 0;
    return a->negative ? -(int64_t)v : (int64_t)v;
}

static size_t digit_count(const Num *a)
{
    if (!a->count)
        return 0;
    size_t digits = (a->count - 1) * LIMB_DIGITS;
    for (uint32_t top = a->limb[a->count - 1]; top; top /= 10)
        digits++;
    return digits;
}

size_t num_integer_digits(const Num *a)
{
    size_t digits = digit_count(a);
    return digits > a->scale ? digits - a->scale : 1;
}

Slice num_digits(NumEnv *n, const Num *a)
{
    size_t len = MAX(digit_count(a), a->scale + 1);
    char *text = mem_alloc(n->mem, len);
    for (size_t i = 0; i < len; i++) {
        size_t limb = i / LIMB_DIGITS;
        uint32_t v = limb < a->count ? a->limb[limb] : 0;
        text[len - 1 - i] = (char)('0' + v / powers[i % LIMB_DIGITS] % 10);
    }
    proc_tick(n->p, len / 100);
    return slice(text, len);
}

/* factor: factor numbers. GNU coreutils 9.1, for numbers below 2^127 (the original has no bound with GMP). */
#include "command.h"

typedef unsigned __int128 Big;

static const Option options[] = {OPTIONS_END};

enum { FACTORS_MOST = 128, TRIAL_MOST = 5000 };

typedef struct { Big list[FACTORS_MOST]; size_t count; } Factors;

/* a * b mod m. Long, bit by bit where the product does not fit. */
static Big multiply(Big a, Big b, Big m)
{
    if (a <= UINT64_MAX && b <= UINT64_MAX)
        return a * b % m;
    Big r = 0;
    for (; b; b >>= 1) {
        if (b & 1)
            r = r >= m - a ? r - (m - a) : r + a;
        a = a >= m - a ? a - (m - a) : a + a;
    }
    return r;
}

static Big power(Big base, Big e, Big m)
{
    Big r = 1 % m;
    for (base %= m; e; e >>= 1) {
        if (e & 1)
            r = multiply(r, base, m);
        base = multiply(base, base, m);
    }
    return r;
}

/* Miller and Rabin's test with the first primes as bases: sure below 3.3e24, beyond any doubt that matters above. */
static bool is_prime(Proc *p, Big n)
{
    static const unsigned bases[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71};
    if (n < 2)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(bases); i++)
        if (n % bases[i] == 0)
            return n == bases[i];
    Big d = n - 1;
    unsigned twos = 0;
    for (; !(d & 1); d >>= 1)
        twos++;
    for (size_t i = 0; i < ARRAY_LEN(bases); i++) {
        Big x = power(bases[i], d, n);
        bool strong = x == 1 || x == n - 1;
        for (unsigned r = 1; !strong && r < twos; r++) {
            x = multiply(x, x, n);
            strong = x == n - 1;
        }
        proc_tick(p, 4);
        if (!strong)
            return false;
    }
    return true;
}

static Big gcd(Big a, Big b)
{
    while (b) {
        Big t = a % b;
        a = b;
        b = t;
    }
    return a;
}

/* Pollard's rho in Brent's form: a divisor of the composite n, or n when this constant finds none. */
static Big rho(Proc *p, Big n, Big c)
{
    Big y = 2, x = 2, saved = 2, q = 1, g = 1;
    for (uint64_t r = 1; g == 1; r *= 2) {
        x = y;
        for (uint64_t i = 0; i < r; i++)
            y = (multiply(y, y, n) + c) % n;
        for (uint64_t k = 0; k < r && g == 1; k += 128) {
            saved = y;
            for (uint64_t i = 0; i < MIN(128, r - k); i++) {
                y = (multiply(y, y, n) + c) % n;
                q = multiply(q, x > y ? x - y : y - x, n);
            }
            g = gcd(q, n);
            proc_tick(p, 16);
        }
    }
    if (g != n)
        return g;
    do {
        saved = (multiply(saved, saved, n) + c) % n;
        g = gcd(x > saved ? x - saved : saved - x, n);
        proc_tick(p, 1);
    } while (g == 1);
    return g;
}

static void add(Factors *f, Big n)
{
    size_t at = f->count;
    if (at == FACTORS_MOST)
        return;
    for (; at && f->list[at - 1] > n; at--)
        f->list[at] = f->list[at - 1];
    f->list[at] = n;
    f->count++;
}

static void split(Proc *p, Factors *f, Big n)
{
    if (n < 2)
        return;
    if (is_prime(p, n)) {
        add(f, n);
        return;
    }
    Big d = n;
    for (Big c = 1; d == n; c++)
        d = rho(p, n, c);
    split(p, f, d);
    split(p, f, n / d);
}

static void print_big(Proc *p, Big n)
{
    char digits[48];
    size_t at = sizeof digits;
    do
        digits[--at] = (char)('0' + (int)(n % 10));
    while (n /= 10);
    out_write(p->out, slice(digits + at, sizeof digits - at));
}

static bool factor_text(Proc *p, Slice text)
{
    Slice s = text;
    while (s.len && *s.data == ' ')
        s = slice_from(s, 1);
    if (s.len && *s.data == '+')
        s = slice_from(s, 1);
    Big n = 0;
    bool ok = s.len > 0, fits = true;
    for (size_t i = 0; i < s.len; i++) {
        ok &= s.data[i] >= '0' && s.data[i] <= '9';
        fits &= n <= (((Big)1 << 126) - 10) / 10;
        n = n * 10 + (Big)(unsigned char)(s.data[i] - '0');
    }
    char *copy = mem_copy(&p->mem, text);
    if (!ok) {
        warn(p, "%s is not a valid positive integer", quote(p, copy));
        return false;
    }
    if (!fits) {
        warn(p, "%s is too large", quote(p, copy));
        return false;
    }
    Factors f = {.count = 0};
    print_big(p, n);
    out_char(p->out, ':');
    for (unsigned d = 2; d < TRIAL_MOST && n > 1; d += d > 2 ? 2 : 1)
        for (; n % d == 0; n /= d)
            add(&f, d);
    split(p, &f, n);
    for (size_t i = 0; i < f.count; i++) {
        out_char(p->out, ' ');
        print_big(p, f.list[i]);
    }
    out_char(p->out, '\n');
    return true;
}

static int factor_main(Proc *p, Args *args)
{
    while (args_next(p, args) != -1)
        ;
    int n;
    char **v = args_operands(args, &n);
    bool ok = true;
    for (int i = 0; i < n; i++)
        ok &= factor_text(p, slice_str(v[i]));
    if (n)
        return !ok;
    Input in = input_files(p, NULL, 0);
    Slice line;
    bool ended;
    if (!input_open(&in))
        return 1;
    while (input_record(&in, &line, &ended))
        for (size_t i = 0; i < line.len;) {
            size_t from = i;
            while (i < line.len && !strchr(" \t\r", line.data[i]))
                i++;
            if (i > from)
                ok &= factor_text(p, slice(line.data + from, i - from));
            i += i < line.len;
        }
    return !ok || input_status(&in);
}

COMMAND(factor, "factor [NUMBER]...\nfactor OPTION", "Print the prime factors of each specified integer NUMBER.", options, COMMAND_PURE);

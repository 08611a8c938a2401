/* human: sizes as people read them. */
#include "shared.h"

/* n / divisor, rounded up; the quotient of what came before was exact. */
static uint64_t ceil_div(uint64_t n, uint64_t divisor) { return n / divisor + (n % divisor != 0); }

const char *format_human(Proc *p, uint64_t n, unsigned unit)
{
    static const char letters[] = "KMGTPE";
    if (!unit || n < unit)
        return mem_printf(&p->mem, "%llu", (unsigned long long)n);
    uint64_t divisor = unit;
    unsigned power = 0;
    while (power + 1 < sizeof letters - 1 && n / divisor >= unit) {
        divisor *= unit;
        power++;
    }
    char letter = power == 0 && unit == 1000 ? 'k' : letters[power];
    uint64_t whole = n / divisor;
    if (whole < 10) {
        /* Tenths, rounded up; 10.0 is shown as 10. The remainder is below 2^60, so ten times it may not fit. */
        uint64_t rest = n % divisor, tenths = whole * 10 + (uint64_t)(((unsigned __int128)rest * 10 + divisor - 1) / divisor);
        if (tenths < 100)
            return mem_printf(&p->mem, "%llu.%llu%c", (unsigned long long)(tenths / 10), (unsigned long long)(tenths % 10), letter);
    }
    uint64_t rounded = ceil_div(n, divisor);
    if (rounded == unit && power + 1 < sizeof letters - 1)
        return mem_printf(&p->mem, "1.0%c", letters[power + 1]);
    return mem_printf(&p->mem, "%llu%c", (unsigned long long)rounded, letter);
}

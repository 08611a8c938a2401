/* tab_stops: the lists of tab stops that expand and unexpand take. */
#include "shared.h"

static void add_stop(Proc *p, TabStops *t, uint64_t at)
{
    uint64_t *grown = mem_array(&p->keep, t->count + 1, uint64_t);
    if (t->count)
        memcpy(grown, t->stops, t->count * sizeof *grown);
    grown[t->count++] = at;
    t->stops = grown;
}

static void set_every(Proc *p, uint64_t *to, uint64_t v, char mark)
{
    if (*to)
        die(p, 1, "'%c' specifier only allowed with the last value", mark);
    *to = v;
}

void tab_stops_parse(Proc *p, TabStops *t, const char *list)
{
    bool number = false, extend = false, increment = false, failed = false;
    uint64_t v = 0;
    const char *from = list;
    for (const char *s = list;; s++) {
        if (*s == ',' || *s == ' ' || *s == '\t' || !*s) {
            if (number && extend)
                set_every(p, &t->extend, v, '/');
            else if (number && increment)
                set_every(p, &t->increment, v, '+');
            else if (number)
                add_stop(p, t, v);
            number = false;
            if (!*s)
                break;
        } else if (*s == '/') {
            if (number) {
                warn(p, "'/' specifier not at start of number: %s", quote(p, s));
                failed = true;
            }
            extend = true;
            increment = false;
        } else if (*s == '+') {
            if (number) {
                warn(p, "'+' specifier not at start of number: %s", quote(p, s));
                failed = true;
            }
            increment = true;
            extend = false;
        } else if (*s >= '0' && *s <= '9') {
            if (!number) {
                number = true;
                v = 0;
                from = s;
            }
            if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, (uint64_t)(*s - '0'), &v)) {
                warn(p, "tab stop is too large %s", quote(p, mem_copy(&p->mem, slice(from, strspn(from, "0123456789")))));
                proc_fail(p, 1);
            }
        } else {
            warn(p, "tab size contains invalid character(s): %s", quote(p, s));
            proc_fail(p, 1);
        }
    }
    if (failed)
        proc_fail(p, 1);
}

void tab_stops_finish(Proc *p, TabStops *t)
{
    for (size_t i = 0; i < t->count; i++) {
        if (t->stops[i] == 0)
            die(p, 1, "tab size cannot be 0");
        if (i && t->stops[i] <= t->stops[i - 1])
            die(p, 1, "tab sizes must be ascending");
    }
    if (t->increment && t->extend)
        die(p, 1, "'/' specifier is mutually exclusive with '+'");
    if (t->count == 0)
        t->every = t->extend ? t->extend : t->increment ? t->increment : 8;
    else if (t->count == 1 && !t->extend && !t->increment)
        t->every = t->stops[0];
}

uint64_t tab_stop_after(const TabStops *t, uint64_t column, bool *last)
{
    *last = false;
    if (t->every)
        return column + (t->every - column % t->every);
    for (size_t i = 0; i < t->count; i++)
        if (column < t->stops[i])
            return t->stops[i];
    if (t->extend)
        return column + (t->extend - column % t->extend);
    if (t->increment) {
        uint64_t end = t->stops[t->count - 1];
        return column + (t->increment - (column - end) % t->increment);
    }
    *last = true;
    return column + 1;
}

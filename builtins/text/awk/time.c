/* awk's time: systime, strftime, mktime, by the process's clock and zone. */
#include "awk.h"

#include "shared.h"

static const TimeZone *zone(Awk *w, bool utc)
{
    if (utc)
        return tz_parse(&w->p->keep, SLICE("UTC0"));
    if (!w->zone)
        w->zone = proc_zone(w->p);
    return w->zone;
}

static Value strftime_function(Awk *w, Value *args, uint32_t count)
{
    Value *default_format = table_get_str(w, global_array(w, G_PROCINFO), "strftime");
    String *format = value_string(w, count ? &args[0] : default_format);
    double t = count > 1 ? value_number(w, &args[1]) : (double)proc_now(w->p, NULL);
    MemMark mark = mem_mark(&w->p->mem);
    CivilTime civil;
    Buf *b = &w->work;
    buf_clear(b);
    int64_t seconds = t > -9e18 && t < 9e18 ? (int64_t)floor(t) : 0;
    bool utc = count > 2 && value_truth(w, &args[2]);
    if (tz_civil(zone(w, utc), seconds, 0, &civil)) {
        if (utc)
            memcpy(civil.zone, "GMT", 4);
        tz_format(b, string_slice(format), &civil, seconds);
    }
    mem_reset(&w->p->mem, mark);
    string_release(w, format);
    return value_plain(w, b->len ? buf_slice(b) : SLICE(""));
}

static Value mktime_function(Awk *w, Value *args, uint32_t count)
{
    String *s = value_string(w, &args[0]);
    int64_t v[7] = {0, 0, 0, 0, 0, 0, -1};
    unsigned n = 0;
    const char *at = s->data;
    while (n < 7) {
        while (*at == ' ' || *at == '\t' || *at == '\n')
            at++;
        bool negative = *at == '-';
        at += *at == '-' || *at == '+';
        if (*at < '0' || *at > '9')
            break;
        int64_t x = 0;
        for (; *at >= '0' && *at <= '9'; at++)
            x = x > INT32_MAX ? INT32_MAX : x * 10 + (*at - '0');
        v[n++] = negative ? -x : x;
    }
    string_release(w, s);
    if (n < 6)
        return value_num(-1);
    CivilTime civil = {.year = v[0], .month = (int)v[1], .day = (int)v[2], .hour = (int)v[3], .minute = (int)v[4], .second = (int)v[5], .dst = v[6] > 0};
    int64_t seconds;
    bool utc = count > 1 && value_truth(w, &args[1]);
    return value_num(tz_seconds(zone(w, utc), &civil, &seconds) ? (double)seconds : -1);
}

Value time_function(Awk *w, unsigned id, Value *args, uint32_t count)
{
    switch (id) {
    case B_SYSTIME: return value_num((double)proc_now(w->p, NULL));
    case B_MKTIME: return mktime_function(w, args, count);
    default: return strftime_function(w, args, count);
    }
}

/* meter: the table of numbers that curl shows on its error stream while it transfers, and the bar of -#. */
#include "curl.h"

#include <stdio.h>

/* Five columns: 12345, 1234k, 12.3M, 1234M ... */
static void five(int64_t n, char out[48])
{
    static const char units[] = "MGTP";
    if (n < 100000) {
        snprintf(out, 48, "%5lld", (long long)n);
        return;
    }
    if (n < 10000 * 1024) {
        snprintf(out, 48, "%4lldk", (long long)(n / 1024));
        return;
    }
    int64_t unit = 1024 * 1024;
    for (const char *u = units; *u; u++, unit *= 1024) {
        if (n < 100 * unit && u - units < 2) {
            snprintf(out, 48, "%2lld.%0lld%c", (long long)(n / unit), (long long)(n % unit / (unit / 10)), *u);
            return;
        }
        if (n < 10000 * unit || !u[1]) {
            snprintf(out, 48, "%4lld%c", (long long)(n / unit), *u);
            return;
        }
    }
}

static void span(int64_t seconds, char out[10])
{
    if (seconds <= 0)
        snprintf(out, 10, "--:--:--");
    else if (seconds / 3600 <= 99)
        snprintf(out, 10, "%2lld:%02lld:%02lld", (long long)(seconds / 3600), (long long)(seconds / 60 % 60), (long long)(seconds % 60));
    else
        snprintf(out, 10, "%3lldd %02lldh", (long long)MIN(seconds / 86400, (int64_t)999), (long long)(seconds / 3600 % 24));
}

static int percent(int64_t part, int64_t whole) { return whole <= 0 ? 0 : whole > 10000 ? (int)(part / (whole / 100)) : (int)(part * 100 / whole); }

static void put(Curl *c, const char *text)
{
    output_flush(c->p->out);
    proc_write(c->p, c->err, slice_str(text));
}

void meter_begin(Curl *c, Meter *m, const Operation *o)
{
    *m = (Meter){.on = !o->silent && !o->no_progress && !o->parallel, .bar = o->progress_bar, .start_ns = proc_monotonic(c->p)};
}

static void head(Curl *c, Meter *m)
{
    if (m->headed)
        return;
    m->headed = true;
    put(c, "  % Total    % Received % Xferd  Average Speed   Time    Time     Time  Current\n"
           "                                 Dload  Upload   Total   Spent    Left  Speed\n");
}

void meter_first(Curl *c, Meter *m)
{
    if (!m->on || m->bar)
        return;
    head(c, m);
    put(c, "\r  0     0    0     0    0     0      0      0 --:--:-- --:--:-- --:--:--     0");
}

void meter_parallel(Curl *c, bool begin)
{
    char down[48], up[48], text[256];
    if (!c->last->parallel || c->last->no_progress)
        return;
    five(c->downloaded, down);
    five(c->uploaded, up);
    if (begin)
        put(c, "DL% UL%  Dled  Uled  Xfers  Live Total     Current  Left    Speed\n\r--  --      0     0     1     1  --:--:-- --:--:-- --:--:--     0      ");
    snprintf(text, sizeof text, "\r100 --  %s %s %5zu     0  --:--:-- --:--:-- --:--:-- %s      \n", down, up, c->url_number, down);
    if (!begin)
        put(c, text);
}

static void bar_end(Curl *c, int64_t total, int64_t down)
{
    char text[128];
    if (total <= 0 && down <= 0)
        return;
    memset(text, '#', sizeof text);
    snprintf(text + 73, sizeof text - 73, " 100.0%%");
    text[0] = '\r';
    put(c, text);
}

void meter_end(Curl *c, Meter *m, int64_t total, int64_t down, int64_t up_total, int64_t up, double seconds)
{
    char a[5][48], t[3][10], text[512];
    if (!m->on)
        return;
    if (m->bar) {
        bar_end(c, total, down);
        return;
    }
    head(c, m);
    double s = seconds > 0 ? seconds : 1e-6;
    int64_t down_speed = (int64_t)((double)down / s), up_speed = (int64_t)((double)up / s), current = (int64_t)((double)(down + up) / s);
    int64_t all = MAX(total, 0) + MAX(up_total, 0), done = (total > 0 ? down : 0) + (up_total > 0 ? up : 0);
    span((int64_t)(s >= 1 ? s : 0), t[0]);
    span((int64_t)s, t[1]);
    span(0, t[2]);
    five(MAX(total, 0) + MAX(up_total, 0) ? all : down + up, a[0]);
    five(down, a[1]);
    five(up, a[2]);
    five(down_speed, a[3]);
    five(up_speed, a[4]);
    char now[48];
    five(current, now);
    snprintf(text, sizeof text, "\r%3d %s  %3d %s  %3d %s  %s  %s %s %s %s %s", percent(done, all), a[0], percent(down, total), a[1], percent(up, up_total), a[2], a[3], a[4], t[0], t[1], t[2], now);
    put(c, text);
}

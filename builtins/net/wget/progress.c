/* progress: wget's dots, sizes and rates. */
#include "wget.h"

enum { DOT = 1024, DOTS = 50 };

const char *wget_rate(Proc *p, int64_t bytes, double seconds)
{
    static const char *const units[] = {"B/s", "KB/s", "MB/s", "GB/s", "TB/s"};
    double v = (double)bytes / (seconds > 1e-6 ? seconds : 1e-6);
    size_t u = 0;
    while (v >= 1024 && u < ARRAY_LEN(units) - 1) {
        v /= 1024;
        u++;
    }
    return mem_printf(&p->mem, v >= 99.95 || (!u && v == 0) ? "%.0f %s" : v >= 9.995 ? "%.1f %s" : "%.2f %s", v, units[u]);
}

const char *wget_size(Proc *p, int64_t bytes)
{
    static const char letters[] = "KMGT";
    double v = (double)bytes / 1024;
    size_t u = 0;
    if (bytes < 1024)
        return mem_printf(&p->mem, "%lld", (long long)bytes);
    while (v >= 1024 && letters[u + 1]) {
        v /= 1024;
        u++;
    }
    return mem_printf(&p->mem, v < 10 ? "%.1f%c" : "%.0f%c", v, letters[u]);
}

const char *wget_seconds(Proc *p, double s)
{
    if (s < 0.0005)
        return "0s";
    if (s < 60)
        return mem_printf(&p->mem, s < 1 ? "%.1gs" : s < 9.95 ? "%.1fs" : "%.0fs", s);
    int64_t t = (int64_t)(s + 0.5);
    if (t < 3600)
        return mem_printf(&p->mem, "%lldm%llds", (long long)(t / 60), (long long)(t % 60));
    return mem_printf(&p->mem, "%lldh%lldm%llds", (long long)(t / 3600), (long long)(t / 60 % 60), (long long)(t % 60));
}

static double gone(const Dots *d) { return (double)(proc_monotonic(d->w->p) - d->start_ns) / 1e9; }

static void stats(Dots *d, bool last)
{
    Proc *p = d->w->p;
    double s = gone(d), v = (double)(d->done - d->begun) / (s > 1e-6 ? s : 1e-6) / 1024;
    const char *unit = "K";
    if (v >= 1024)
        v /= 1024, unit = "M";
    if (d->total > 0)
        wget_say(d->w, "%3d%%", (int)(MIN(d->done, last ? d->done : (d->row + 1) * (int64_t)(DOT * DOTS)) * 100 / d->total));
    wget_say(d->w, v >= 99.95 ? " %4.0f%s" : v >= 9.995 ? " %4.1f%s" : " %4.2f%s", v, unit);
    if (last)
        wget_say(d->w, "=%s", wget_seconds(p, s));
    else if (d->total > 0)
        wget_say(d->w, " %llds", (long long)((double)(d->total - d->done) / 1024 / (v > 0 ? v : 1) / (*unit == 'M' ? 1024 : 1)));
}

static void row_begin(Dots *d) { wget_say(d->w, "\n%6lldK", (long long)d->row * DOTS); }

static void dot(Dots *d, char c)
{
    if (!d->dots && c != ',')
        row_begin(d);
    if (d->dots % 10 == 0)
        wget_say(d->w, " ");
    wget_say(d->w, "%c", c);
    d->dots++;
}

void dots_begin(Dots *d, Wget *w, int64_t total, int64_t begun)
{
    *d = (Dots){.w = w, .total = total, .begun = begun, .done = begun, .start_ns = proc_monotonic(w->p), .on = !w->quiet && !w->brief};
    if (!d->on)
        return;
    int64_t rows = begun / (DOT * DOTS);
    d->row = (int)rows;
    if (rows)
        wget_say(w, "\n%*s[ skipping %lldK ]", 6, "", (long long)(rows * DOTS));
    if (begun)
        row_begin(d);
    for (int64_t k = begun % (DOT * DOTS); k >= DOT; k -= DOT)
        dot(d, ',');
}

void dots_add(Dots *d, int64_t n)
{
    d->done += n;
    if (!d->on)
        return;
    while ((d->done - (int64_t)d->row * DOT * DOTS) / DOT > d->dots) {
        dot(d, '.');
        if (d->dots == DOTS) {
            stats(d, false);
            d->row++;
            d->dots = 0;
        }
    }
}

void dots_end(Dots *d)
{
    if (!d->on)
        return;
    while (d->dots < DOTS)
        dot(d, ' ');
    stats(d, true);
    wget_say(d->w, "\n\n");
}

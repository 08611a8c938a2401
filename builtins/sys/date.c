/* date: print the date and time. GNU coreutils 9.1; the clock cannot be set. */
#include "command.h"
#include "shared.h"

enum { OPT_DEBUG = 256, OPT_RFC_3339, OPT_RESOLUTION };

static const Option options[] = {
    {'d', "date", OPT_VALUE, "display time described by STRING, not 'now'", "STRING", 0},
    {0, "debug", OPT_FLAG, "refused", NULL, OPT_DEBUG},
    {'f', "file", OPT_VALUE, "like --date; once for each line of DATEFILE", "DATEFILE", 0},
    {'I', "iso-8601", OPT_OPTIONAL, "output date/time in ISO 8601 format; FMT='date' (the default), 'hours', 'minutes', 'seconds', or 'ns'", "FMT", 0},
    {0, "resolution", OPT_FLAG, "output the available resolution of timestamps", NULL, OPT_RESOLUTION},
    {'R', "rfc-email", OPT_FLAG, "output date and time in RFC 5322 format", NULL, 0},
    {0, "rfc-822", OPT_FLAG, NULL, NULL, 'R'},
    {0, "rfc-2822", OPT_FLAG, NULL, NULL, 'R'},
    {0, "rfc-3339", OPT_VALUE, "output date/time in RFC 3339 format; FMT='date', 'seconds', or 'ns'", "FMT", OPT_RFC_3339},
    {'r', "reference", OPT_VALUE, "display the last modification time of FILE", "FILE", 0},
    {'s', "set", OPT_VALUE, "refused: the clock cannot be set", "STRING", 0},
    {'u', "utc", OPT_FLAG, "print or set Coordinated Universal Time (UTC)", NULL, 0},
    {0, "universal", OPT_FLAG, NULL, NULL, 'u'},
    {0, "uct", OPT_FLAG, NULL, NULL, 'u'},
    OPTIONS_END,
};

typedef enum { TIME_DATE, TIME_HOURS, TIME_MINUTES, TIME_SECONDS, TIME_NS } Precision;

static const Choice iso_words[] = {
    {"hours", TIME_HOURS}, {"minutes", TIME_MINUTES}, {"date", TIME_DATE}, {"seconds", TIME_SECONDS}, {"ns", TIME_NS}, {NULL, 0},
};
static const Choice rfc_words[] = {{"date", TIME_DATE}, {"seconds", TIME_SECONDS}, {"ns", TIME_NS}, {NULL, 0}};

static const char *const iso_formats[] = {"%Y-%m-%d", "%Y-%m-%dT%H%:z", "%Y-%m-%dT%H:%M%:z", "%Y-%m-%dT%H:%M:%S%:z", "%Y-%m-%dT%H:%M:%S,%N%:z"};
static const char *const rfc_formats[] = {"%Y-%m-%d", NULL, NULL, "%Y-%m-%d %H:%M:%S%:z", "%Y-%m-%d %H:%M:%S.%N%:z"};

typedef struct {
    const char *format, *date, *file, *reference;
    const TimeZone *zone;
} Date;

static int show(Proc *p, const Date *d, int64_t seconds, uint32_t ns)
{
    CivilTime t;
    Buf out;
    if (!tz_civil(d->zone, seconds, ns, &t))
        die(p, 1, "time %s is out of range", quote(p, mem_printf(&p->mem, "%lld", (long long)seconds)));
    buf_init(&out, &p->mem, 1 << 20);
    tz_format(&out, slice_str(d->format), &t, seconds);
    if (out.len)
        out_write(p->out, buf_slice(&out));
    out_char(p->out, '\n');
    return 0;
}

static int show_text(Proc *p, const Date *d, const char *text)
{
    uint32_t now_ns, ns;
    int64_t now = proc_now(p, &now_ns), seconds;
    if (!parse_date(p, slice_str(text), now, now_ns, d->zone, &seconds, &ns)) {
        warn(p, "invalid date %s", quote(p, text));
        return 1;
    }
    return show(p, d, seconds, ns);
}

static int show_file(Proc *p, const Date *d)
{
    char *name = mem_strdup(&p->keep, d->file);
    Input in = input_files(p, &name, 1);
    int status = 0;
    if (!input_open(&in))
        return 1;
    Slice line;
    for (bool ended; input_record(&in, &line, &ended);) {
        MemMark mark = mem_mark(&p->mem);
        status |= show_text(p, d, mem_copy(&p->mem, line));
        mem_reset(&p->mem, mark);
    }
    return status | input_status(&in);
}

static int show_reference(Proc *p, const Date *d)
{
    VStat st;
    int err = proc_stat(p, d->reference, 0, &st);
    if (err)
        die_errno(p, 1, err, "%s", quotef(p, d->reference));
    return show(p, d, st.mtime, st.mtime_ns);
}

static void set_format(Proc *p, Date *d, const char *format)
{
    if (d->format)
        die(p, 1, "multiple output formats specified");
    d->format = format;
}

static void operands(Proc *p, Args *args, Date *d)
{
    int n;
    char **v = args_operands(args, &n);
    if (n == 0)
        return;
    if (v[0][0] == '+') {
        set_format(p, d, v[0] + 1);
    } else if (d->date || d->file || d->reference) {
        warn(p, "the argument %s lacks a leading '+';\nwhen using an option to specify date(s), any non-option\nargument must be a format string beginning with '+'", quote(p, v[0]));
        usage_hint(p, args);
    } else {
        int64_t seconds;
        uint32_t ns;
        if (strspn(v[0], "0123456789.") != strlen(v[0]) || !parse_date(p, SLICE("now"), 0, 0, d->zone, &seconds, &ns))
            die(p, 1, "invalid date %s", quote(p, v[0]));
        die_errno(p, 1, EPERM, "cannot set date");
    }
    if (n > 1)
        usage_extra(p, args, v[1]);
}

static int date_main(Proc *p, Args *args)
{
    Date d = {.zone = proc_zone(p)};
    for (int id; (id = args_next(p, args)) != -1;) {
        switch (id) {
        case 'd': d.date = args->value; break;
        case 'f': d.file = args->value; break;
        case 'r': d.reference = args->value; break;
        case 'I': set_format(p, &d, iso_formats[args->value ? choose(p, args, "--iso-8601", args->value, iso_words) : TIME_DATE]); break;
        case OPT_RFC_3339: set_format(p, &d, rfc_formats[choose(p, args, "--rfc-3339", args->value, rfc_words)]); break;
        case 'R': set_format(p, &d, "%a, %d %b %Y %H:%M:%S %z"); break;
        case OPT_RESOLUTION: set_format(p, &d, "0.000000001"); break;
        case 'u': d.zone = tz_parse(&p->keep, SLICE("UTC0")); break;
        case 's': die_errno(p, 1, EPERM, "cannot set date");
        case OPT_DEBUG: die(p, 1, "--debug is not available in libshell");
        default: break;
        }
    }
    if ((d.date != NULL) + (d.file != NULL) + (d.reference != NULL) > 1)
        usage_fail(p, args, "the options to specify dates for printing are mutually exclusive");
    operands(p, args, &d);
    if (!d.format)
        d.format = "%a %b %e %H:%M:%S %Z %Y";
    if (d.file)
        return show_file(p, &d);
    if (d.reference)
        return show_reference(p, &d);
    if (d.date)
        return show_text(p, &d, d.date);
    uint32_t ns;
    int64_t now = proc_now(p, &ns);
    return show(p, &d, now, ns);
}

COMMAND(date, "date [OPTION]... [+FORMAT]", "Display date and time in the given FORMAT.", options, COMMAND_PURE);

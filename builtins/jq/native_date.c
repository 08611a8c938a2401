/* native_date: times as numbers, as arrays [year, month 0.., day, hours, minutes, seconds, weekday, yearday] and as text. */
#include <math.h>

#include "machine.h"
#include "shared.h"

static Val with(J *j, Val *a, unsigned n, Val out)
{
    for (unsigned i = 0; i < n; i++)
        val_free(j, a[i]);
    return out;
}

static const TimeZone *utc(J *j) { return tz_parse(&j->proc->keep, SLICE("UTC")); }

static Val broken_down(J *j, const CivilTime *t, double seconds)
{
    double fields[8] = {(double)t->year, t->month - 1, t->day, t->hour, t->minute, seconds, t->weekday, t->yearday};
    Val a = arr_new(j, 8);
    for (size_t i = 0; i < 8; i++)
        a.arr->items[i] = val_num(fields[i]);
    a.arr->len = 8;
    return a;
}

static Val civil_of(J *j, Val *a, const TimeZone *zone, const char *name)
{
    if (a[0].kind != K_NUMBER)
        return with(j, a, 1, jq_error(j, "%s() requires numeric inputs", name));
    double d = val_double(a[0]);
    CivilTime t;
    val_free(j, a[0]);
    if (!(fabs(d) < 6e16) || !tz_civil(zone, (int64_t)d, 0, &t))
        return jq_error(j, "error converting number of seconds since epoch to datetime");
    return broken_down(j, &t, t.second + (d - floor(d)));
}

static Val fn_gmtime(J *j, Val *a) { return civil_of(j, a, utc(j), "gmtime"); }
static Val fn_localtime(J *j, Val *a) { return civil_of(j, a, proc_zone(j->proc), "localtime"); }

/* An array of numbers as fields; what is missing is 0 in a struct tm. */
static bool read_civil(Val v, CivilTime *t)
{
    double f[8] = {1900};
    if (v.kind != K_ARRAY)
        return false;
    for (size_t i = 0; i < MIN(arr_len(v), (size_t)8); i++) {
        Val item = v.arr->items[i];
        if (item.kind != K_NUMBER || !(fabs(val_double(item)) < 1e9))
            return false;
        f[i] = val_double(item);
    }
    *t = (CivilTime){.year = (int64_t)f[0], .month = (int)f[1] + 1, .day = (int)f[2], .hour = (int)f[3], .minute = (int)f[4],
                     .second = (int)f[5], .weekday = (int)f[6], .yearday = (int)f[7]};
    return true;
}

static Val fn_mktime(J *j, Val *a)
{
    CivilTime t;
    int64_t seconds;
    if (a[0].kind != K_ARRAY)
        return with(j, a, 1, jq_error(j, "mktime requires array inputs"));
    if (!read_civil(a[0], &t))
        return with(j, a, 1, jq_error(j, "mktime requires parsed datetime inputs"));
    bool fits = tz_seconds(utc(j), &t, &seconds);
    if (!fits || (seconds == -1 && !j->yq)) /* jq takes the last two seconds of 1969 for timegm's failures */
        return with(j, a, 1, jq_error(j, "invalid gmtime representation"));
    if (seconds == -2 && !j->yq)
        return with(j, a, 1, jq_error(j, "mktime not supported on this platform"));
    return with(j, a, 1, val_num((double)seconds));
}

static Val format_time(J *j, Val *a, const TimeZone *zone, const char *name)
{
    CivilTime t, full;
    int64_t seconds;
    if (a[0].kind == K_NUMBER) {
        a[0] = civil_of(j, a, zone, name[3] == 'f' && name[4] == 't' ? "gmtime" : "localtime");
        if (a[0].kind == K_INVALID)
            return with(j, a, 2, VAL_INVALID);
    }
    if (!read_civil(a[0], &t))
        return with(j, a, 2, jq_error(j, "%s/1 requires parsed datetime inputs", name));
    if (a[1].kind != K_STRING)
        return with(j, a, 2, jq_error(j, "%s/1 requires a string format", name));
    if (!tz_seconds(zone, &t, &seconds) || !tz_civil(zone, seconds, 0, &full))
        return with(j, a, 2, jq_error(j, "%s/1: unknown system failure", name));
    /* the fields are printed as given; the day of week and year, zone and offset are the time's */
    t.weekday = full.weekday;
    t.yearday = full.yearday;
    t.offset = full.offset;
    t.dst = full.dst;
    memcpy(t.zone, full.zone, sizeof t.zone);
    MemMark mark = mem_mark(&j->proc->mem);
    Buf out;
    buf_init(&out, &j->proc->mem, JQ_MAX_BYTES);
    Slice format = val_slice(a[1]); /* up to a NUL, as the C library reads it */
    format.len = slice_find(format, 0);
    Val v = tz_format(&out, format, &t, seconds) ? val_string_utf8(j, buf_slice(&out)) : jq_error(j, "%s/1: unknown system failure", name);
    mem_reset(&j->proc->mem, mark);
    return with(j, a, 2, v);
}

static Val fn_strftime(J *j, Val *a) { return format_time(j, a, utc(j), "strftime"); }
static Val fn_strflocaltime(J *j, Val *a) { return format_time(j, a, proc_zone(j->proc), "strflocaltime"); }

/* ---------- strptime ---------- */

typedef struct {
    const char *at, *end;
    CivilTime t;
    int century, hour12;
    bool pm, twelve, has_day, has_yearday, has_epoch;
    int64_t epoch;
} Scan;

static void blanks(Scan *s)
{
    while (s->at < s->end && (*s->at == ' ' || (*s->at >= '\t' && *s->at <= '\r')))
        s->at++;
}

/* Up to `width` digits within [low, high]. */
static bool digits(Scan *s, int width, int64_t low, int64_t high, int64_t *out)
{
    int64_t v = 0;
    int n = 0;
    bool negative = low < 0 && s->at < s->end && *s->at == '-';
    s->at += negative;
    for (; n < width && s->at < s->end && *s->at >= '0' && *s->at <= '9'; n++)
        v = v * 10 + (*s->at++ - '0');
    *out = negative ? -v : v;
    return n > 0 && *out >= low && *out <= high;
}

static bool number(Scan *s, int width, int low, int high, int *out)
{
    int64_t v;
    if (!digits(s, width, low, high, &v))
        return false;
    *out = (int)v;
    return true;
}

static bool word(Scan *s, const char *name, size_t n)
{
    if ((size_t)(s->end - s->at) < n)
        return false;
    for (size_t i = 0; i < n; i++)
        if ((s->at[i] | 0x20) != (name[i] | 0x20))
            return false;
    s->at += n;
    return true;
}

/* Full names or their first three letters. */
static bool name_of(Scan *s, const char *const *names, int count, int *out)
{
    for (int i = 0; i < count; i++)
        if (word(s, names[i], strlen(names[i])) || word(s, names[i], 3)) {
            *out = i;
            return true;
        }
    return false;
}

static const char *const days[] = {"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};
static const char *const months[] = {"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"};

static bool zone_offset(Scan *s)
{
    int hours, minutes = 0;
    blanks(s);
    if (s->at < s->end && *s->at == 'Z')
        return s->at++, true;
    if (s->at == s->end || (*s->at != '+' && *s->at != '-'))
        return false;
    s->at++;
    if (!number(s, 2, 0, 99, &hours))
        return false;
    if (s->at < s->end && *s->at == ':')
        s->at++;
    return s->at == s->end || *s->at < '0' || *s->at > '9' || number(s, 2, 0, 59, &minutes);
}

static bool scan_format(Scan *s, Slice format);

static bool directive(Scan *s, char c)
{
    int64_t year;
    int unused;
    switch (c) {
    case 'Y':
        return digits(s, 9, -999999, 999999999, &year) && (s->t.year = year, true);
    case 'C':
        return number(s, 2, 0, 99, &s->century);
    case 'y':
        if (!digits(s, 2, 0, 99, &year))
            return false;
        s->t.year = s->century >= 0 ? s->century * 100 + year : year < 69 ? 2000 + year : 1900 + year;
        return true;
    case 'm':
        return number(s, 2, 1, 12, &s->t.month);
    case 'd': case 'e':
        blanks(s);
        s->has_day = true;
        return number(s, 2, 1, 31, &s->t.day);
    case 'H': case 'k':
        blanks(s);
        return number(s, 2, 0, 23, &s->t.hour);
    case 'I': case 'l':
        blanks(s);
        s->twelve = true;
        return number(s, 2, 1, 12, &s->t.hour);
    case 'M':
        return number(s, 2, 0, 59, &s->t.minute);
    case 'S':
        return number(s, 2, 0, 60, &s->t.second);
    case 'j':
        s->has_yearday = true;
        return number(s, 3, 1, 366, &s->t.yearday);
    case 'p': case 'P':
        s->pm = word(s, "PM", 2);
        return s->pm || word(s, "AM", 2);
    case 'a': case 'A':
        return name_of(s, days, 7, &s->t.weekday);
    case 'b': case 'B': case 'h':
        return name_of(s, months, 12, &s->t.month) && (s->t.month++, true);
    case 'u':
        return number(s, 1, 1, 7, &unused);
    case 'w':
        return number(s, 1, 0, 6, &unused);
    case 'U': case 'V': case 'W': case 'g':
        return number(s, 2, 0, 99, &unused);
    case 'G':
        return number(s, 4, 0, 9999, &unused);
    case 's':
        s->has_epoch = true;
        return digits(s, 18, -1, INT64_MAX, &s->epoch);
    case 'z':
        return zone_offset(s);
    case 'Z':
        blanks(s);
        while (s->at < s->end && ((*s->at | 32) >= 'a' && (*s->at | 32) <= 'z'))
            s->at++;
        return true;
    case 'D':
        return scan_format(s, SLICE("%m/%d/%y"));
    case 'F':
        return scan_format(s, SLICE("%Y-%m-%d"));
    case 'T':
        return scan_format(s, SLICE("%H:%M:%S"));
    case 'R':
        return scan_format(s, SLICE("%H:%M"));
    case 'r':
        return scan_format(s, SLICE("%I:%M:%S %p"));
    case 'c':
        return scan_format(s, SLICE("%a %b %e %H:%M:%S %Y"));
    case 'x':
        return scan_format(s, SLICE("%m/%d/%y"));
    case 'X':
        return scan_format(s, SLICE("%H:%M:%S"));
    case 'n': case 't':
        blanks(s);
        return true;
    case '%':
        return s->at < s->end && *s->at++ == '%';
    default:
        return false;
    }
}

static bool scan_format(Scan *s, Slice format)
{
    for (size_t i = 0; i < format.len; i++) {
        char c = format.data[i];
        if (c == ' ' || (c >= '\t' && c <= '\r')) {
            blanks(s);
        } else if (c == '%' && i + 1 < format.len) {
            char d = format.data[++i];
            if ((d == 'E' || d == 'O' || d == '-' || d == '_' || d == '0' || d == '^' || d == '#') && i + 1 < format.len)
                d = format.data[++i];
            if (!directive(s, d))
                return false;
        } else if (s->at == s->end || *s->at++ != c) {
            return false;
        }
    }
    return true;
}

static Val fn_strptime(J *j, Val *a)
{
    if (a[0].kind != K_STRING || a[1].kind != K_STRING)
        return with(j, a, 2, jq_error(j, "strptime/1 requires string inputs and arguments"));
    Slice text = val_slice(a[0]);
    Scan s = {.at = text.data, .end = text.data + text.len, .century = -1, .t = {.year = 1970, .month = 1, .day = 1}};
    int64_t seconds;
    CivilTime full;
    if (!scan_format(&s, val_slice(a[1])) || s.at != s.end)
        return with(j, a, 2, jq_error(j, "date \"%s\" does not match format \"%s\"", a[0].str->data, a[1].str->data));
    if (s.twelve)
        s.t.hour = s.t.hour % 12 + (s.pm ? 12 : 0);
    if (s.has_yearday && !s.has_day) {
        s.t.month = 1;
        s.t.day = s.t.yearday;
    }
    if (s.has_epoch && tz_civil(utc(j), s.epoch, 0, &s.t))
        s.has_yearday = true;
    /* weekday and yearday follow from the date; the rest stays as read */
    CivilTime noon = s.t;
    if (tz_seconds(utc(j), &noon, &seconds) && tz_civil(utc(j), seconds, 0, &full)) {
        s.t.weekday = full.weekday;
        s.t.yearday = full.yearday;
        if (s.has_yearday && !s.has_day) {
            s.t.month = full.month;
            s.t.day = full.day;
        }
    }
    return with(j, a, 2, broken_down(j, &s.t, s.t.second));
}

const Native jq_natives_date[] = {
    {"gmtime", 1, fn_gmtime}, {"localtime", 1, fn_localtime}, {"mktime", 1, fn_mktime}, {"strftime", 2, fn_strftime},
    {"strflocaltime", 2, fn_strflocaltime}, {"strptime", 2, fn_strptime},
    {NULL, 0, NULL},
};

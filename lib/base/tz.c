/* tz: the calendar, POSIX zone rules and their names.
 *
 * The calendar is proleptic Gregorian, counted in days from 1970-03-01 style eras, so that leap days fall at the end of a year.
 */
#include "tz.h"

#include "tz_names.h"

typedef enum { RULE_MONTH, RULE_JULIAN /* 1..365, no leap day */, RULE_DAY /* 0..365 */ } RuleKind;

typedef struct {
    RuleKind kind;
    int month, week, day;
    int32_t time; /* seconds after local midnight; may be negative or beyond a day */
} Rule;

struct TimeZone {
    char std[16], dst[16];
    int32_t std_offset, dst_offset; /* seconds east */
    bool has_dst;
    Rule start, end;
};

/* ---- the calendar ---- */

static bool is_leap(int64_t y) { return y % 4 == 0 && (y % 100 != 0 || y % 400 == 0); }

static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

/* Days from 1970-01-01; month 1..12, any day. */
static int64_t days_of(int64_t year, int month, int64_t day)
{
    int64_t y = month <= 2 ? year - 1 : year;
    int64_t era = floor_div(y, 400), yoe = y - era * 400;
    int64_t doy = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468;
}

static void date_of(int64_t days, CivilTime *t)
{
    int64_t z = days + 719468, era = floor_div(z, 146097), doe = z - era * 146097;
    int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100), mp = (5 * doy + 2) / 153;
    t->day = (int)(doy - (153 * mp + 2) / 5 + 1);
    t->month = (int)(mp < 10 ? mp + 3 : mp - 9);
    t->year = yoe + era * 400 + (t->month <= 2);
    t->yearday = (int)(days - days_of(t->year, 1, 1));
    t->weekday = (int)(((days % 7) + 11) % 7);
}

/* ---- rules ---- */

static int64_t rule_days(const Rule *r, int64_t year)
{
    if (r->kind == RULE_DAY)
        return days_of(year, 1, 1) + r->day;
    if (r->kind == RULE_JULIAN)
        return days_of(year, 1, 1) + r->day - 1 + (is_leap(year) && r->day >= 60);
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int length = lengths[r->month - 1] + (r->month == 2 && is_leap(year));
    int64_t first = days_of(year, r->month, 1);
    int weekday = (int)(((first % 7) + 11) % 7);
    int day = 1 + (r->day - weekday + 7) % 7 + (r->week - 1) * 7;
    while (day > length)
        day -= 7;
    return first + day - 1;
}

static bool is_dst(const TimeZone *tz, int64_t seconds)
{
    if (!tz->has_dst)
        return false;
    CivilTime t;
    date_of(floor_div(seconds + tz->std_offset, 86400), &t);
    int64_t start = rule_days(&tz->start, t.year) * 86400 + tz->start.time - tz->std_offset;
    int64_t end = rule_days(&tz->end, t.year) * 86400 + tz->end.time - tz->dst_offset;
    return start < end ? seconds >= start && seconds < end : !(seconds >= end && seconds < start);
}

/* ---- parsing ---- */

typedef struct { const char *at, *end; } Cursor;

static bool take(Cursor *c, char want)
{
    if (c->at == c->end || *c->at != want)
        return false;
    c->at++;
    return true;
}

static bool is_digit(const Cursor *c) { return c->at < c->end && *c->at >= '0' && *c->at <= '9'; }

static int number(Cursor *c, int most)
{
    int v = 0;
    if (!is_digit(c))
        return -1;
    while (is_digit(c) && v <= most)
        v = v * 10 + (*c->at++ - '0');
    return v > most ? -1 : v;
}

static bool is_letter(char c) { return (unsigned)((c | 32) - 'a') < 26; }

/* An abbreviation of at least three letters, or anything of letters, digits and signs in <>. */
static bool abbreviation(Cursor *c, char out[16])
{
    bool quoted = take(c, '<');
    size_t n = 0;
    while (c->at < c->end && (quoted ? *c->at != '>' : is_letter(*c->at))) {
        if (n < 15)
            out[n++] = *c->at;
        c->at++;
    }
    out[n] = 0;
    return (!quoted || take(c, '>')) && n >= 3;
}

/* [+-]hh[:mm[:ss]] in seconds. */
static bool clock_time(Cursor *c, int most, int32_t *out)
{
    int sign = take(c, '-') ? -1 : (take(c, '+'), 1);
    int h = number(c, most), m = 0, s = 0;
    if (h < 0)
        return false;
    if (take(c, ':') && (m = number(c, 59)) >= 0 && take(c, ':'))
        s = number(c, 59);
    if (m < 0 || s < 0)
        return false;
    *out = sign * (h * 3600 + m * 60 + s);
    return true;
}

static bool rule(Cursor *c, Rule *r)
{
    if (!take(c, ','))
        return false;
    if (take(c, 'M')) {
        r->kind = RULE_MONTH;
        r->month = number(c, 12);
        r->week = take(c, '.') ? number(c, 5) : -1;
        r->day = take(c, '.') ? number(c, 6) : -1;
        if (r->month < 1 || r->week < 1 || r->day < 0)
            return false;
    } else {
        r->kind = take(c, 'J') ? RULE_JULIAN : RULE_DAY;
        r->day = number(c, 365);
        if (r->day < (r->kind == RULE_JULIAN))
            return false;
    }
    r->time = 2 * 3600;
    return !take(c, '/') || clock_time(c, 167, &r->time);
}

static bool posix_rule(Slice text, TimeZone *tz)
{
    Cursor c = {text.data, text.data + text.len};
    int32_t west;
    *tz = (TimeZone){.has_dst = false};
    if (!abbreviation(&c, tz->std) || !clock_time(&c, 24, &west))
        return false;
    tz->std_offset = -west;
    if (c.at == c.end)
        return true;
    if (!abbreviation(&c, tz->dst))
        return false;
    tz->has_dst = true;
    tz->dst_offset = tz->std_offset + 3600;
    if (c.at < c.end && *c.at != ',') {
        if (!clock_time(&c, 24, &west))
            return false;
        tz->dst_offset = -west;
    }
    if (c.at == c.end) { /* POSIX leaves the default open; glibc's is the United States' */
        tz->start = (Rule){RULE_MONTH, 3, 2, 0, 7200};
        tz->end = (Rule){RULE_MONTH, 11, 1, 0, 7200};
        return true;
    }
    return rule(&c, &tz->start) && rule(&c, &tz->end) && c.at == c.end;
}

static const char *named_rule(Slice name)
{
    size_t low = 0, high = ARRAY_LEN(zone_names);
    while (low < high) {
        size_t mid = (low + high) / 2;
        int order = slice_cmp(name, slice_str(zone_names[mid].name));
        if (order == 0)
            return zone_names[mid].rule;
        if (order < 0)
            high = mid;
        else
            low = mid + 1;
    }
    return NULL;
}

static const TimeZone utc = {.std = "UTC"};

const TimeZone *tz_parse(Mem *mem, Slice text)
{
    if (text.len && text.data[0] == ':')
        text = slice_from(text, 1);
    if (!text.len || slice_is(text, "UTC"))
        return &utc;
    TimeZone *tz = mem_new(mem, TimeZone);
    if (!tz)
        return &utc;
    const char *known = named_rule(text);
    if (posix_rule(known ? slice_str(known) : text, tz))
        return tz;
    Cursor c = {text.data, text.data + text.len};
    *tz = utc;
    char letters[16];
    if (abbreviation(&c, letters))
        memcpy(tz->std, letters, sizeof letters);
    return tz;
}

/* ---- conversion ---- */

/* What struct tm's int year can hold, and a little less than that in seconds, so that no sum overflows. */
#define YEAR_MOST (INT32_MAX + (int64_t)1900)
#define SECONDS_MOST ((int64_t)67768036191676799)

bool tz_civil(const TimeZone *tz, int64_t seconds, uint32_t nanosecond, CivilTime *out)
{
    if (seconds > SECONDS_MOST + 86400 || seconds < -SECONDS_MOST - 2 * 86400)
        return false;
    bool dst = is_dst(tz, seconds);
    int32_t offset = dst ? tz->dst_offset : tz->std_offset;
    int64_t local = seconds + offset, days = floor_div(local, 86400);
    int rest = (int)(local - days * 86400);
    date_of(days, out);
    if (out->year > YEAR_MOST || out->year < INT32_MIN + (int64_t)1900)
        return false;
    out->hour = rest / 3600;
    out->minute = rest / 60 % 60;
    out->second = rest % 60;
    out->nanosecond = nanosecond;
    out->offset = offset;
    out->dst = dst;
    memcpy(out->zone, dst ? tz->dst : tz->std, sizeof out->zone);
    return true;
}

bool tz_seconds(const TimeZone *tz, const CivilTime *c, int64_t *seconds)
{
    int64_t years = floor_div((int64_t)c->month - 1, 12), year;
    if (__builtin_add_overflow(c->year, years, &year) || year > YEAR_MOST || year < -YEAR_MOST)
        return false;
    int month = (int)((int64_t)c->month - years * 12);
    int64_t local = days_of(year, month, c->day) * 86400 + (int64_t)c->hour * 3600 + (int64_t)c->minute * 60 + c->second;
    int64_t summer = local - tz->dst_offset, winter = local - tz->std_offset;
    /* In the hour that comes twice summer time goes first; in the one that is left out the clock has not yet moved. */
    *seconds = tz->has_dst && is_dst(tz, summer) ? summer : winter;
    return true;
}

/* parse_date: GNU date's input language, the grammar of gnulib's parse-datetime.y.
 *
 * Items are read left to right into what has been seen so far (a calendar date, a time of day, a zone, a day of the week,
 * relative amounts); where the grammar is ambiguous the longer reading is taken, as bison's parser does: in "12:00 +1 day" the
 * +1 is a zone. Then one computation makes seconds of it: calendar fields first, normalised in the zone, then hours, minutes, seconds.
 */
#include "date_token.h"

enum { MOST_TOKENS = 256 };

typedef enum { AM, PM, H24 } Meridian;

typedef struct {
    int64_t years, months, days, hours, minutes, seconds;
    int64_t ns;
} Relative;

typedef struct {
    DateToken tokens[MOST_TOKENS + 1];
    size_t at;
    int64_t year, month, day, hour, minute, second;
    uint32_t ns;
    size_t year_digits;
    Meridian meridian;
    Relative relative;
    int64_t zone;         /* seconds east */
    int64_t ordinal, weekday;
    bool local_dst;
    unsigned dates, times, days, zones, local_zones, relatives; /* how many of each were seen */
    bool dst_twice, epoch;
} State;

static const DateToken *ahead(const State *s, size_t n) { return &s->tokens[MIN(s->at + n, (size_t)MOST_TOKENS)]; }
static DateKind kind(const State *s, size_t n) { return ahead(s, n)->kind; }
static bool is_char(const State *s, size_t n, char c) { return kind(s, n) == D_CHAR && ahead(s, n)->value == c; }
static bool is_unit(const State *s, size_t n) { return kind(s, n) >= D_YEARS && kind(s, n) <= D_SECONDS; }
static DateToken take(State *s) { return s->tokens[s->at++]; }

static bool accept_char(State *s, char c)
{
    bool there = is_char(s, 0, c);
    s->at += there;
    return there;
}

/* ---------- relative amounts ---------- */

static bool add_scaled(int64_t *to, int64_t amount, int64_t factor)
{
    return !__builtin_mul_overflow(amount, factor, &amount) && !__builtin_add_overflow(*to, amount, to);
}

/* `amount` of the unit at the front, turned round by "ago" where that may follow. */
static bool take_unit(State *s, int64_t amount, int64_t ns, bool may_turn)
{
    DateToken unit = take(s);
    int64_t factor = may_turn && kind(s, 0) == D_AGO ? take(s).value : 1;
    Relative *r = &s->relative;
    int64_t *const fields[] = {&r->years, &r->months, &r->days, &r->hours, &r->minutes, &r->seconds};
    s->relatives++;
    return !__builtin_mul_overflow(amount, unit.value, &amount) && add_scaled(fields[unit.kind - D_YEARS], amount, factor) &&
           add_scaled(&r->ns, ns, factor);
}

static bool take_decimal_seconds(State *s)
{
    DateToken n = take(s);
    return kind(s, 0) == D_SECONDS && take_unit(s, n.value, n.ns, true);
}

/* ---------- zones ---------- */

/* +2, +0200, +02:00: the signed number at the front. */
static bool take_offset(State *s, int64_t base)
{
    DateToken n = take(s);
    int64_t minutes = n.value;
    if (accept_char(s, ':')) {
        DateToken m = take(s);
        if (m.kind != D_NUMBER || __builtin_mul_overflow(minutes, 60, &minutes) ||
            __builtin_add_overflow(minutes, n.negative ? -m.value : m.value, &minutes))
            return false;
    } else {
        if (n.digits <= 2)
            minutes *= 100;
        minutes = minutes / 100 * 60 + minutes % 100;
    }
    if (minutes < -24 * 60 || minutes > 24 * 60)
        return false;
    s->zone = base + minutes * 60;
    return true;
}

static bool take_zone(State *s)
{
    DateToken zone = take(s);
    s->zones++;
    s->zone = zone.kind == D_T ? -7 * 3600 : zone.value + (zone.kind == D_DAYZONE ? 3600 : 0);
    if (zone.kind == D_DAYZONE)
        return true;
    if (kind(s, 0) == D_SIGNED && is_unit(s, 1)) {
        int64_t amount = take(s).value;
        return take_unit(s, amount, 0, false);
    }
    if (kind(s, 0) == D_SIGNED)
        return zone.kind == D_ZONE && take_offset(s, zone.value);
    if (zone.kind == D_ZONE && kind(s, 0) == D_DST) {
        take(s);
        s->zone += 3600;
    }
    return true;
}

static bool take_local_zone(State *s)
{
    s->local_dst = take(s).value;
    s->local_zones++;
    if (kind(s, 0) == D_DST) {
        take(s);
        s->dst_twice |= s->local_dst;
        s->local_dst = true;
    }
    return true;
}

/* ---------- times ---------- */

static void set_time(State *s, int64_t hour, int64_t minute, int64_t second, uint32_t ns)
{
    s->hour = hour;
    s->minute = minute;
    s->second = second;
    s->ns = ns;
    s->meridian = H24;
    s->times++;
}

/* What may stand behind a time: am, pm, or an offset from UTC. */
static bool take_after_time(State *s, bool meridian)
{
    if (meridian && kind(s, 0) == D_MERIDIAN)
        s->meridian = take(s).value ? PM : AM;
    else if (kind(s, 0) == D_SIGNED)
        return s->zones++, take_offset(s, 0);
    return true;
}

/* hour[:minute[:second]]; a bare hour needs am, pm or an offset. */
static bool take_time(State *s, bool meridian)
{
    int64_t hour = take(s).value, minute, second = 0;
    uint32_t ns = 0;
    if (!accept_char(s, ':')) {
        bool good = (meridian && kind(s, 0) == D_MERIDIAN) || kind(s, 0) == D_SIGNED;
        set_time(s, hour, 0, 0, 0);
        return good && take_after_time(s, meridian);
    }
    if (kind(s, 0) != D_NUMBER)
        return false;
    minute = take(s).value;
    if (accept_char(s, ':')) {
        DateToken n = take(s);
        if (n.kind != D_NUMBER && n.kind != D_DECIMAL)
            return false;
        second = n.value;
        ns = n.ns;
    }
    set_time(s, hour, minute, second, ns);
    return take_after_time(s, meridian);
}

/* ---------- dates ---------- */

static void set_date(State *s, int64_t month, int64_t day)
{
    s->dates++;
    s->month = month;
    s->day = day;
}

static bool set_year(State *s, DateToken year)
{
    s->year = year.kind == D_SIGNED ? -year.value : year.value;
    s->year_digits = year.digits;
    return year.kind != D_SIGNED || year.value != INT64_MIN;
}

/* month/day, month/day/year, or year/month/day when the first has four digits. */
static bool take_slashes(State *s)
{
    DateToken a = take(s), b, c;
    take(s);
    if (kind(s, 0) != D_NUMBER)
        return false;
    b = take(s);
    if (!accept_char(s, '/')) {
        set_date(s, a.value, b.value);
        return true;
    }
    if (kind(s, 0) != D_NUMBER)
        return false;
    c = take(s);
    if (a.digits >= 4) {
        set_date(s, b.value, c.value);
        return set_year(s, a);
    }
    set_date(s, a.value, b.value);
    return set_year(s, c);
}

/* year-month-day, and the time behind a T. */
static bool take_iso_date(State *s)
{
    DateToken year = take(s), month = take(s), day = take(s);
    set_date(s, -month.value, -day.value);
    if (!set_year(s, year))
        return false;
    if (kind(s, 0) != D_T)
        return true;
    take(s);
    return kind(s, 0) == D_NUMBER && take_time(s, false);
}

static bool take_day_month(State *s)
{
    DateToken day = take(s), month = take(s);
    set_date(s, month.value, day.value);
    return kind(s, 0) == D_SIGNED || kind(s, 0) == D_NUMBER ? set_year(s, take(s)) : true;
}

static bool take_month_first(State *s)
{
    DateToken month = take(s), day = take(s);
    if (day.kind == D_SIGNED && kind(s, 0) == D_SIGNED) {
        set_date(s, month.value, -day.value);
        return set_year(s, take(s));
    }
    if (day.kind != D_NUMBER)
        return false;
    set_date(s, month.value, day.value);
    if (!accept_char(s, ','))
        return true;
    return kind(s, 0) == D_NUMBER && set_year(s, take(s));
}

/* A number by itself is a year behind a date and time, a date when it is long, else an hour or hour and minute. */
static void plain_number(State *s, DateToken n)
{
    if (s->dates && !s->year_digits && !s->relatives && (s->times || n.digits > 2)) {
        s->year = n.value;
        s->year_digits = n.digits;
    } else if (n.digits > 4) {
        set_date(s, n.value / 100 % 100, n.value % 100);
        s->year = n.value / 10000;
        s->year_digits = n.digits - 4;
    } else if (n.digits <= 2) {
        set_time(s, n.value, 0, 0, 0);
    } else {
        set_time(s, n.value / 100, n.value % 100, 0, 0);
    }
}

static bool take_weekday(State *s, int64_t ordinal)
{
    s->days++;
    s->ordinal = ordinal;
    s->weekday = take(s).value;
    return true;
}

/* ---------- items ---------- */

static bool take_number(State *s)
{
    if (is_char(s, 1, ':') || kind(s, 1) == D_MERIDIAN)
        return take_time(s, true);
    if (is_char(s, 1, '/'))
        return take_slashes(s);
    if (kind(s, 1) == D_MONTH)
        return take_day_month(s);
    if (kind(s, 1) == D_SIGNED && kind(s, 2) == D_SIGNED)
        return take_iso_date(s);
    if (kind(s, 1) == D_SIGNED && !is_unit(s, 2))
        return take_time(s, true);
    DateToken n = take(s);
    if (kind(s, 0) == D_DAY)
        return take_weekday(s, n.value);
    if (is_unit(s, 0))
        return take_unit(s, n.value, 0, true);
    plain_number(s, n);
    if (kind(s, 0) != D_SIGNED)
        return true;
    int64_t amount = take(s).value;
    return take_unit(s, amount, 0, false);
}

static bool take_amount(State *s)
{
    bool is_ordinal = kind(s, 0) == D_ORDINAL;
    int64_t amount = take(s).value;
    if (is_ordinal && kind(s, 0) == D_DAY)
        return take_weekday(s, amount);
    return is_unit(s, 0) && take_unit(s, amount, 0, true);
}

static bool take_item(State *s)
{
    switch (kind(s, 0)) {
    case D_NUMBER: return take_number(s);
    case D_SIGNED: case D_ORDINAL: return take_amount(s);
    case D_DECIMAL: case D_SIGNED_DECIMAL: return take_decimal_seconds(s);
    case D_MONTH: return take_month_first(s);
    case D_DAY: take_weekday(s, 0); accept_char(s, ','); return true;
    case D_ZONE: case D_DAYZONE: case D_T: return take_zone(s);
    case D_LOCAL_ZONE: return take_local_zone(s);
    case D_YEARS: case D_MONTHS: case D_DAYS: case D_HOURS: case D_MINUTES: case D_SECONDS: return take_unit(s, 1, 0, true);
    case D_DAY_SHIFT: s->relatives++; return add_scaled(&s->relative.days, take(s).value, 1);
    default: return false;
    }
}

static bool take_epoch(State *s)
{
    take(s);
    DateToken n = take(s);
    s->epoch = true;
    s->second = n.value;
    s->ns = n.ns;
    return n.kind >= D_NUMBER && n.kind <= D_SIGNED_DECIMAL && kind(s, 0) == D_END;
}

static bool read_items(State *s, Slice text, const LocalZones *local)
{
    size_t n = 0;
    do {
        if (n == MOST_TOKENS)
            return false;
        s->tokens[n] = date_token(&text, local);
    } while (s->tokens[n++].kind != D_END);
    if (is_char(s, 0, '@'))
        return take_epoch(s);
    while (kind(s, 0) != D_END)
        if (!take_item(s))
            return false;
    return s->dates <= 1 && s->times <= 1 && s->days <= 1 && s->zones + s->local_zones <= 1 && !s->dst_twice;
}

/* ---------- the computation ---------- */

static int64_t hour_of(int64_t hour, Meridian meridian)
{
    if (meridian == H24)
        return hour >= 0 && hour < 24 ? hour : -1;
    if (hour < 1 || hour > 12)
        return -1;
    return hour % 12 + (meridian == PM ? 12 : 0);
}

/* mktime: *t becomes what its fields, normalised, are in the zone. */
static bool make_time(const TimeZone *zone, CivilTime *t, int64_t *seconds)
{
    return tz_seconds(zone, t, seconds) && tz_civil(zone, *seconds, 0, t);
}

static bool same_fields(const CivilTime *a, const CivilTime *b)
{
    return a->second == b->second && a->minute == b->minute && a->hour == b->hour && a->day == b->day && a->month == b->month && a->year == b->year;
}

static bool in_int(int64_t v) { return v >= INT32_MIN && v <= INT32_MAX; }

static bool absolute_fields(State *s, CivilTime *t)
{
    int64_t year = s->year < 0 ? -s->year : s->year;
    if (s->year >= 0 && s->year_digits == 2)
        year += year < 69 ? 2000 : 1900;
    if (!in_int(year - 1900) || !in_int(s->month) || !in_int(s->day))
        return false;
    t->year = year;
    t->month = (int)s->month;
    t->day = (int)s->day;
    t->hour = t->minute = t->second = 0;
    if (s->times || (s->relatives && !s->dates && !s->days)) {
        int64_t hour = hour_of(s->hour, s->meridian);
        if (hour < 0 || !in_int(s->minute) || !in_int(s->second))
            return false;
        t->hour = (int)hour;
        t->minute = (int)s->minute;
        t->second = (int)s->second;
    } else {
        s->ns = 0;
    }
    return true;
}

/* The next day of the wanted name, or the ordinal-th; today itself counts for no ordinal. */
static bool shift_weekday(const State *s, const TimeZone *zone, CivilTime *t, int64_t *seconds)
{
    int64_t weeks, days;
    bool other = t->weekday != s->weekday;
    if (__builtin_mul_overflow(s->ordinal - (s->ordinal > 0 && other), 7, &weeks) ||
        __builtin_add_overflow((s->weekday - t->weekday + 7) % 7 + t->day, weeks, &days) || !in_int(days))
        return false;
    t->day = (int)days;
    return make_time(zone, t, seconds);
}

static bool shift_calendar(const State *s, const TimeZone *zone, CivilTime *t, const CivilTime *start, int64_t *seconds)
{
    const Relative *r = &s->relative;
    int64_t year, month, day;
    if (!(r->years || r->months || r->days))
        return true;
    if (__builtin_add_overflow(t->year, r->years, &year) || __builtin_add_overflow(t->month, r->months, &month) ||
        __builtin_add_overflow(t->day, r->days, &day) || !in_int(year) || !in_int(month) || !in_int(day))
        return false;
    *t = *start;
    t->year = year;
    t->month = (int)month;
    t->day = (int)day;
    return make_time(zone, t, seconds);
}

static bool add_clock(const State *s, int64_t *seconds, uint32_t *ns)
{
    const int64_t billion = 1000000000;
    int64_t sum = (int64_t)s->ns + s->relative.ns, rest = (sum % billion + billion) % billion;
    *ns = (uint32_t)rest;
    return add_scaled(seconds, s->relative.hours, 3600) && add_scaled(seconds, s->relative.minutes, 60) &&
           add_scaled(seconds, s->relative.seconds, 1) && add_scaled(seconds, (sum - rest) / billion, 1);
}

static bool compute(State *s, Proc *p, const TimeZone *zone, int64_t *seconds, uint32_t *ns)
{
    CivilTime start = {0}, t;
    if (!absolute_fields(s, &start))
        return false;
    t = start;
    bool made = make_time(zone, &t, seconds);
    if (s->zones && !(made && same_fields(&t, &start))) {
        /* The hour may be missing in the local zone and yet exist in the one that was named. */
        t = start;
        made = make_time(tz_parse(&p->keep, SLICE("UTC0")), &t, seconds);
    }
    if (!made || !same_fields(&t, &start))
        return false;
    if (s->days && !s->dates && !shift_weekday(s, zone, &t, seconds))
        return false;
    if (!shift_calendar(s, zone, &t, &start, seconds))
        return false;
    if (s->local_zones && s->local_dst != t.dst && !add_scaled(seconds, s->local_dst ? -3600 : 3600, 1))
        return false;
    if (s->zones && !add_scaled(seconds, t.offset - s->zone, 1))
        return false;
    return add_clock(s, seconds, ns);
}

/* ---------- */

static LocalZones local_zones(const TimeZone *zone, int64_t now)
{
    enum { QUARTER = 90 * 86400 };
    LocalZones names = {{0}, {0}};
    CivilTime t;
    for (int64_t i = 0; i < 4; i++)
        if (tz_civil(zone, now + i * QUARTER, 0, &t))
            memcpy(t.dst ? names.summer : names.standard, t.zone, sizeof t.zone);
    return names;
}

/* TZ="..." at the front, with \" and \\; the rest of the text stays. */
static bool take_tz(Proc *p, Slice *text, const TimeZone **zone)
{
    Buf name;
    buf_init(&name, &p->keep, 4096);
    if (!slice_starts(*text, SLICE("TZ=\"")))
        return true;
    for (size_t i = 4; i < text->len; i++) {
        char c = text->data[i];
        if (c == '"') {
            *zone = tz_parse(&p->keep, name.data ? buf_slice(&name) : (Slice){"", 0});
            *text = slice_from(*text, i + 1);
            return true;
        }
        if (c == '\\' && i + 1 < text->len && (text->data[i + 1] == '\\' || text->data[i + 1] == '"'))
            c = text->data[++i];
        else if (c == '\\')
            return true;
        buf_char(&name, c);
    }
    return true;
}

static Slice skip_space(Slice s)
{
    while (s.len && (*s.data == ' ' || (*s.data >= '\t' && *s.data <= '\r')))
        s = slice_from(s, 1);
    return s;
}

bool parse_date(Proc *p, Slice text, int64_t now, uint32_t now_ns, const TimeZone *zone, int64_t *seconds, uint32_t *ns)
{
    CivilTime here;
    text = skip_space(text);
    if (!take_tz(p, &text, &zone) || !tz_civil(zone, now, 0, &here))
        return false;
    text = skip_space(text);
    if (text.len == 0)
        text = SLICE("0"); /* an empty date is today's beginning */
    LocalZones local = local_zones(zone, now);
    MemMark mark = mem_mark(&p->mem);
    State *s = mem_new(&p->mem, State);
    *s = (State){.year = here.year, .month = here.month, .day = here.day, .hour = here.hour, .minute = here.minute,
                 .second = here.second, .ns = now_ns, .meridian = H24};
    bool good = read_items(s, text, &local);
    if (good && s->epoch) {
        *seconds = s->second;
        *ns = s->ns;
    } else if (good) {
        good = compute(s, p, zone, seconds, ns);
    }
    mem_reset(&p->mem, mark);
    return good;
}

const TimeZone *proc_zone(Proc *p)
{
    const char *tz = proc_getenv(p, "TZ");
    return tz_parse(&p->keep, slice_str(tz ? tz : "UTC"));
}

/* parse_date: GNU date's input language.
 *
 * Words are read left to right into what has been seen so far (a calendar date, a time of day, a zone, a day of the week, relative
 * amounts), as gnulib's grammar does; then one computation makes seconds of it: calendar fields first, normalised in the
 * zone, then hours, minutes and seconds.
 */
#include "shared.h"

typedef struct {
    Slice text;
    int64_t year, month, day;
    int64_t hour, minute, second;
    uint32_t nanosecond;
    int meridian; /* 0 none, 1 am, 2 pm */
    bool has_year, has_date, has_time, has_zone, has_weekday, has_relative, has_epoch;
    int64_t zone;    /* seconds east */
    int weekday;
    int64_t ordinal; /* of the weekday */
    int64_t years, months, days, hours, minutes, seconds;
    int64_t nanoseconds;
    int64_t epoch;
    /* the amount that `ago` turns round */
    int64_t *last_field, last_amount;
} State;

/* ---------- characters and words ---------- */

static bool digit(char c) { return c >= '0' && c <= '9'; }
static bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c; }
static char peek(const State *s, size_t at) { return at < s->text.len ? s->text.data[at] : 0; }

static void advance(State *s, size_t n) { s->text = slice_from(s->text, MIN(n, s->text.len)); }

/* Blanks, commas and parenthesised comments. */
static void skip_space(State *s)
{
    for (;;) {
        char c = peek(s, 0);
        if (c == ' ' || c == '\t' || c == '\n' || c == ',') {
            advance(s, 1);
        } else if (c == '(') {
            int depth = 0;
            do {
                depth += peek(s, 0) == '(';
                depth -= peek(s, 0) == ')';
                advance(s, 1);
            } while (depth && s->text.len);
        } else {
            return;
        }
    }
}

enum { LONGEST_WORD = 20 };

/* The word at the front in lower case, periods dropped; its length in the text. */
static size_t read_word(const State *s, char word[LONGEST_WORD])
{
    size_t n = 0, at = 0;
    for (; letter(peek(s, at)) || (peek(s, at) == '.' && at); at++)
        if (peek(s, at) != '.' && n + 1 < LONGEST_WORD)
            word[n++] = lower(peek(s, at));
    word[n] = 0;
    return at;
}

static bool read_number(const State *s, size_t at, int64_t *v, size_t *digits)
{
    *v = 0;
    *digits = 0;
    for (; digit(peek(s, at + *digits)); ++*digits)
        if (__builtin_mul_overflow(*v, 10, v) || __builtin_add_overflow(*v, peek(s, at + *digits) - '0', v))
            return false;
    return *digits > 0;
}

typedef struct { const char *name; int value; } Name;

static bool named(const Name *names, size_t count, const char *word, bool abbreviated, int *value)
{
    size_t n = strlen(word);
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i].name, word) == 0 || (abbreviated && n == 3 && strncmp(names[i].name, word, 3) == 0)) {
            *value = names[i].value;
            return true;
        }
    return false;
}

static const Name months[] = {
    {"january", 1}, {"february", 2}, {"march", 3}, {"april", 4}, {"may", 5}, {"june", 6}, {"july", 7}, {"august", 8}, {"september", 9},
    {"sept", 9}, {"october", 10}, {"november", 11}, {"december", 12},
};
static const Name weekdays[] = {
    {"sunday", 0}, {"monday", 1}, {"tuesday", 2}, {"tues", 2}, {"wednesday", 3}, {"wednes", 3}, {"thursday", 4}, {"thur", 4}, {"thurs", 4},
    {"friday", 5}, {"saturday", 6},
};
static const Name ordinals[] = {
    {"last", -1}, {"this", 0}, {"next", 1}, {"first", 1}, {"third", 3}, {"fourth", 4}, {"fifth", 5}, {"sixth", 6}, {"seventh", 7}, {"eighth", 8},
    {"ninth", 9}, {"tenth", 10}, {"eleventh", 11}, {"twelfth", 12},
};
static const Name zones[] = {
    {"gmt", 0}, {"ut", 0}, {"utc", 0}, {"wet", 0}, {"west", 60}, {"bst", 60}, {"art", -180}, {"brt", -180}, {"brst", -120}, {"nst", -210},
    {"ndt", -150}, {"ast", -240}, {"adt", -180}, {"clt", -240}, {"clst", -180}, {"est", -300}, {"edt", -240}, {"cst", -360}, {"cdt", -300},
    {"mst", -420}, {"mdt", -360}, {"pst", -480}, {"pdt", -420}, {"akst", -540}, {"akdt", -480}, {"hst", -600}, {"hast", -600}, {"hadt", -540},
    {"sst", -720}, {"wat", 60}, {"cet", 60}, {"cest", 120}, {"met", 60}, {"mez", 60}, {"mest", 120}, {"mesz", 120}, {"eet", 120}, {"eest", 180},
    {"cat", 120}, {"sast", 120}, {"eat", 180}, {"msk", 180}, {"msd", 240}, {"ist", 330}, {"sgt", 480}, {"kst", 540}, {"jst", 540}, {"gst", 600},
    {"nzst", 720}, {"nzdt", 780},
};

/* ---------- relative amounts ---------- */

typedef enum { UNIT_YEAR, UNIT_MONTH, UNIT_FORTNIGHT, UNIT_WEEK, UNIT_DAY, UNIT_HOUR, UNIT_MINUTE, UNIT_SECOND } Unit;

static const Name units[] = {
    {"year", UNIT_YEAR}, {"month", UNIT_MONTH}, {"fortnight", UNIT_FORTNIGHT}, {"week", UNIT_WEEK}, {"day", UNIT_DAY}, {"hour", UNIT_HOUR},
    {"minute", UNIT_MINUTE}, {"min", UNIT_MINUTE}, {"second", UNIT_SECOND}, {"sec", UNIT_SECOND},
};

static bool unit_named(const char *word, Unit *unit)
{
    char single[LONGEST_WORD];
    size_t n = strlen(word);
    int value;
    memcpy(single, word, n + 1);
    if (n > 1 && single[n - 1] == 's')
        single[n - 1] = 0;
    if (!named(units, ARRAY_LEN(units), word, false, &value) && !named(units, ARRAY_LEN(units), single, false, &value))
        return false;
    *unit = (Unit)value;
    return true;
}

static bool add_relative(State *s, Unit unit, int64_t amount)
{
    int64_t *const fields[] = {&s->years, &s->months, &s->days, &s->days, &s->days, &s->hours, &s->minutes, &s->seconds};
    if (unit == UNIT_FORTNIGHT && __builtin_mul_overflow(amount, 14, &amount))
        return false;
    if (unit == UNIT_WEEK && __builtin_mul_overflow(amount, 7, &amount))
        return false;
    s->has_relative = true;
    s->last_field = fields[unit];
    s->last_amount = amount;
    return !__builtin_add_overflow(*fields[unit], amount, fields[unit]);
}

static bool turn_round(State *s)
{
    int64_t twice;
    if (!s->last_field || __builtin_mul_overflow(s->last_amount, 2, &twice))
        return false;
    int64_t *field = s->last_field;
    s->last_field = NULL;
    return !__builtin_sub_overflow(*field, twice, field);
}

/* ---------- zones ---------- */

/* +hh, +hhmm, +hh:mm at the front. */
static bool read_offset(State *s, int64_t *seconds)
{
    int sign = peek(s, 0) == '-' ? -1 : 1;
    int64_t v, minutes = 0;
    size_t n;
    if (!read_number(s, 1, &v, &n) || n > 4)
        return false;
    size_t used = 1 + n;
    if (n <= 2 && peek(s, used) == ':') {
        size_t m;
        if (!read_number(s, used + 1, &minutes, &m) || m != 2)
            return false;
        used += 3;
    } else if (n > 2) {
        minutes = v % 100;
        v /= 100;
    }
    if (v > 24 || minutes > 59)
        return false;
    advance(s, used);
    *seconds = sign * (v * 3600 + minutes * 60);
    return true;
}

static bool take_zone(State *s, int64_t east)
{
    if (s->has_zone)
        return false;
    s->has_zone = true;
    s->zone = east;
    return true;
}

/* A zone's offset may follow its name at once: UTC+3. */
static bool zone_word(State *s, int minutes)
{
    int64_t more = 0;
    if ((peek(s, 0) == '+' || peek(s, 0) == '-') && digit(peek(s, 1)) && !read_offset(s, &more))
        return false;
    return take_zone(s, minutes * 60 + more);
}

/* ---------- times and dates that begin with a number ---------- */

static bool take_fraction(State *s)
{
    if ((peek(s, 0) != '.' && peek(s, 0) != ',') || !digit(peek(s, 1)))
        return true;
    uint32_t ns = 0, scale = 100000000;
    advance(s, 1);
    for (; digit(peek(s, 0)); advance(s, 1), scale /= 10)
        ns += (uint32_t)(peek(s, 0) - '0') * scale;
    s->nanosecond = ns;
    return true;
}

static bool take_meridian(State *s)
{
    char word[LONGEST_WORD];
    skip_space(s);
    size_t n = read_word(s, word);
    int m = strcmp(word, "am") == 0 ? 1 : strcmp(word, "pm") == 0 ? 2 : 0;
    if (m) {
        advance(s, n);
        s->meridian = m;
    }
    return true;
}

/* hh:mm[:ss[.f]] with the hour read already. */
static bool take_clock(State *s, int64_t hour)
{
    int64_t v;
    size_t n;
    if (s->has_time || !read_number(s, 1, &v, &n) || n > 2)
        return false;
    s->has_time = true;
    s->hour = hour;
    s->minute = v;
    advance(s, 1 + n);
    if (peek(s, 0) == ':') {
        if (!read_number(s, 1, &v, &n) || n > 2)
            return false;
        s->second = v;
        advance(s, 1 + n);
        take_fraction(s);
    }
    take_meridian(s);
    skip_space(s);
    if ((peek(s, 0) == '+' || peek(s, 0) == '-') && digit(peek(s, 1))) {
        /* An offset, unless a unit follows: "10:00 +2 days". */
        State probe = *s;
        int64_t east;
        char word[LONGEST_WORD];
        Unit unit;
        if (!read_offset(&probe, &east))
            return true;
        skip_space(&probe);
        read_word(&probe, word);
        if (unit_named(word, &unit))
            return true;
        *s = probe;
        return take_zone(s, east);
    }
    return true;
}

static int64_t full_year(int64_t year, size_t digits)
{
    return digits == 2 ? year + (year < 69 ? 2000 : 1900) : year;
}

static bool set_date(State *s, int64_t year, int64_t month, int64_t day)
{
    if (s->has_date)
        return false;
    s->has_date = true;
    s->has_year = true;
    s->year = year;
    s->month = month;
    s->day = day;
    return true;
}

/* 2024-01-05, 5-Jan-2024; the first number (n digits) is read, the text is at the dash. */
static bool take_dashed(State *s, int64_t first, size_t n)
{
    int64_t second, third;
    size_t m, k;
    if (read_number(s, 1, &second, &m) && peek(s, 1 + m) == '-' && read_number(s, 2 + m, &third, &k)) {
        advance(s, 2 + m + k);
        if (!set_date(s, full_year(first, n), second, third))
            return false;
    } else {
        char word[LONGEST_WORD];
        int month;
        advance(s, 1);
        m = read_word(s, word);
        if (!named(months, ARRAY_LEN(months), word, true, &month) || peek(s, m) != '-' || !read_number(s, m + 1, &third, &k))
            return false;
        advance(s, m + 1 + k);
        if (!set_date(s, full_year(third, k), month, first))
            return false;
    }
    if ((peek(s, 0) == 'T' || peek(s, 0) == 't') && digit(peek(s, 1)))
        advance(s, 1);
    return true;
}

/* 1/5, 1/5/2024, 2024/1/5. */
static bool take_slashed(State *s, int64_t first, size_t n)
{
    int64_t second, third;
    size_t m, k;
    if (!read_number(s, 1, &second, &m))
        return false;
    if (peek(s, 1 + m) != '/') {
        advance(s, 1 + m);
        if (s->has_date)
            return false;
        s->has_date = true;
        s->month = first;
        s->day = second;
        return true;
    }
    if (!read_number(s, 2 + m, &third, &k))
        return false;
    advance(s, 2 + m + k);
    return n >= 4 ? set_date(s, first, second, third) : set_date(s, full_year(third, k), first, second);
}

static bool take_bare_number(State *s, int64_t v, size_t n)
{
    if (s->has_date && !s->has_year && !s->has_relative && (s->has_time || n > 2)) {
        s->has_year = true;
        s->year = full_year(v, n);
        return true;
    }
    if (n > 4)
        return set_date(s, full_year(v / 10000, n - 4), v / 100 % 100, v % 100) && (!((peek(s, 0) | 32) == 't' && digit(peek(s, 1))) || (advance(s, 1), true));
    if (s->has_time)
        return false;
    s->has_time = true;
    s->hour = n <= 2 ? v : v / 100;
    s->minute = n <= 2 ? 0 : v % 100;
    return true;
}

/* A number followed by a word: a unit, a month, a weekday, am or pm. False in *handled when the word is none of these. */
static bool take_number_word(State *s, int64_t v, bool *handled)
{
    char word[LONGEST_WORD];
    State before = *s;
    int value;
    Unit unit;
    skip_space(s);
    size_t n = read_word(s, word);
    *handled = true;
    if (n && unit_named(word, &unit)) {
        advance(s, n);
        return add_relative(s, unit, v);
    }
    if (n && named(months, ARRAY_LEN(months), word, true, &value)) {
        advance(s, n);
        if (s->has_date)
            return false;
        s->has_date = true;
        s->month = value;
        s->day = v;
        return true;
    }
    if (n && (strcmp(word, "am") == 0 || strcmp(word, "pm") == 0)) {
        advance(s, n);
        if (s->has_time)
            return false;
        s->has_time = true;
        s->hour = v;
        s->meridian = word[0] == 'a' ? 1 : 2;
        return true;
    }
    if (n && named(weekdays, ARRAY_LEN(weekdays), word, true, &value)) {
        advance(s, n);
        s->has_weekday = true;
        s->weekday = value;
        s->ordinal = v;
        return true;
    }
    *s = before;
    *handled = false;
    return true;
}

static bool take_number(State *s)
{
    int64_t v;
    size_t n;
    if (!read_number(s, 0, &v, &n))
        return false;
    advance(s, n);
    char next = peek(s, 0);
    if (next == ':')
        return take_clock(s, v);
    if (next == '-' && !s->has_date && (digit(peek(s, 1)) || letter(peek(s, 1))))
        return take_dashed(s, v, n);
    if (next == '/')
        return take_slashed(s, v, n);
    bool handled;
    if (!take_number_word(s, v, &handled) || handled)
        return handled;
    return take_bare_number(s, v, n);
}

/* +2 days, -3, + 2 weeks; a sign before a bare number after a time is a zone. */
static bool take_signed(State *s)
{
    int sign = peek(s, 0) == '-' ? -1 : 1;
    State probe = *s;
    int64_t v;
    size_t n;
    char word[LONGEST_WORD];
    Unit unit;
    advance(&probe, 1);
    skip_space(&probe);
    if (!read_number(&probe, 0, &v, &n))
        return false;
    advance(&probe, n);
    if (peek(&probe, 0) == '.' && digit(peek(&probe, 1))) {
        int64_t fraction = 0, scale = 100000000;
        advance(&probe, 1);
        for (; digit(peek(&probe, 0)); advance(&probe, 1), scale /= 10)
            fraction += (peek(&probe, 0) - '0') * scale;
        skip_space(&probe);
        size_t m = read_word(&probe, word);
        if (!unit_named(word, &unit) || unit != UNIT_SECOND)
            return false;
        advance(&probe, m);
        *s = probe;
        s->nanoseconds += sign * fraction;
        return add_relative(s, unit, sign * v);
    }
    skip_space(&probe);
    size_t m = read_word(&probe, word);
    if (m && unit_named(word, &unit)) {
        advance(&probe, m);
        *s = probe;
        return add_relative(s, unit, sign * v);
    }
    int64_t east;
    return s->has_time && read_offset(s, &east) && take_zone(s, east);
}

/* ---------- words ---------- */

static bool take_month(State *s, int month)
{
    int64_t day, year;
    size_t n, k;
    if (s->has_date)
        return false;
    s->has_date = true;
    s->month = month;
    skip_space(s);
    if (peek(s, 0) == '-' && digit(peek(s, 1)))
        advance(s, 1);
    if (!read_number(s, 0, &day, &n))
        return false;
    advance(s, n);
    s->day = day;
    if (n > 2) { /* "Jan 2024" has no day */
        return false;
    }
    State probe = *s;
    bool dash = peek(&probe, 0) == '-';
    if (dash)
        advance(&probe, 1);
    bool comma = peek(&probe, 0) == ',';
    skip_space(&probe);
    if (read_number(&probe, 0, &year, &k) && (dash || comma) && peek(&probe, k) != ':') {
        advance(&probe, k);
        *s = probe;
        s->has_year = true;
        s->year = full_year(year, k);
    }
    return true;
}

static bool take_ordinal(State *s, int count)
{
    char word[LONGEST_WORD];
    int value;
    Unit unit;
    skip_space(s);
    size_t n = read_word(s, word);
    if (!n)
        return false;
    advance(s, n);
    if (unit_named(word, &unit))
        return add_relative(s, unit, count);
    if (!named(weekdays, ARRAY_LEN(weekdays), word, true, &value))
        return false;
    s->has_weekday = true;
    s->weekday = value;
    s->ordinal = count;
    return true;
}

static bool take_word(State *s)
{
    char word[LONGEST_WORD];
    int value;
    Unit unit;
    size_t n = read_word(s, word);
    if (!n)
        return false;
    advance(s, n);
    if (strcmp(word, "now") == 0 || strcmp(word, "today") == 0)
        return add_relative(s, UNIT_DAY, 0);
    if (strcmp(word, "tomorrow") == 0)
        return add_relative(s, UNIT_DAY, 1);
    if (strcmp(word, "yesterday") == 0)
        return add_relative(s, UNIT_DAY, -1);
    if (strcmp(word, "ago") == 0)
        return turn_round(s);
    if (strcmp(word, "noon") == 0 || strcmp(word, "midnight") == 0) {
        s->hour = word[0] == 'n' ? 12 : 0;
        return s->has_time ? false : (s->has_time = true);
    }
    if (strcmp(word, "z") == 0)
        return take_zone(s, 0);
    if (strcmp(word, "t") == 0 && digit(peek(s, 0)))
        return true;
    if (named(months, ARRAY_LEN(months), word, true, &value))
        return take_month(s, value);
    if (named(weekdays, ARRAY_LEN(weekdays), word, true, &value)) {
        s->has_weekday = true;
        s->weekday = value;
        return true;
    }
    if (named(ordinals, ARRAY_LEN(ordinals), word, false, &value))
        return take_ordinal(s, value);
    if (unit_named(word, &unit))
        return add_relative(s, unit, 1);
    return named(zones, ARRAY_LEN(zones), word, false, &value) && zone_word(s, value);
}

static bool take_epoch(State *s)
{
    advance(s, 1);
    bool negative = peek(s, 0) == '-';
    if (negative || peek(s, 0) == '+')
        advance(s, 1);
    size_t n;
    if (!read_number(s, 0, &s->epoch, &n))
        return false;
    advance(s, n);
    take_fraction(s);
    if (negative) {
        s->epoch = -s->epoch;
        if (s->nanosecond) {
            s->epoch--;
            s->nanosecond = 1000000000 - s->nanosecond;
        }
    }
    skip_space(s);
    s->has_epoch = true;
    return s->text.len == 0;
}

static bool read_all_items(State *s)
{
    skip_space(s);
    if (peek(s, 0) == '@')
        return take_epoch(s);
    while (s->text.len) {
        char c = peek(s, 0);
        bool ok = digit(c) ? take_number(s) : c == '+' || c == '-' ? take_signed(s) : take_word(s);
        if (!ok)
            return false;
        skip_space(s);
    }
    return true;
}

/* ---------- the computation ---------- */

static bool to_24_hours(State *s)
{
    if (s->meridian) {
        if (s->hour < 1 || s->hour > 12)
            return false;
        s->hour = s->hour % 12 + (s->meridian == 2 ? 12 : 0);
    }
    return s->hour <= 24 && s->minute <= 59 && s->second <= 60 && (s->hour < 24 || (s->minute == 0 && s->second == 0));
}

static int days_in(int64_t year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return month == 2 && leap ? 29 : days[month - 1];
}

/* Whole months first, so that the day is normalised in the month that results. */
static bool shift_calendar(const State *s, CivilTime *t)
{
    int64_t month;
    if (__builtin_add_overflow(t->year, s->years, &t->year) || __builtin_add_overflow((int64_t)t->month - 1, s->months, &month))
        return false;
    int64_t carry = month / 12 - (month % 12 < 0);
    t->month = (int)(month - carry * 12) + 1;
    return !__builtin_add_overflow(t->year, carry, &t->year) && t->year > -100000000 && t->year < 100000000;
}

enum { DAY = 86400 };

static bool compute(State *s, const TimeZone *zone, const TimeZone *utc_zone, CivilTime now, int64_t *seconds)
{
    CivilTime t = now;
    if (s->has_date) {
        if (s->month < 1 || s->month > 12 || s->day < 1 || (s->has_year && (s->year < 0 || s->year > 99999999)))
            return false;
        if (s->has_year)
            t.year = s->year;
        t.month = (int)s->month;
        if (s->day > days_in(t.year, t.month))
            return false;
        t.day = (int)s->day;
    }
    if (s->has_time) {
        t.hour = (int)s->hour;
        t.minute = (int)s->minute;
        t.second = (int)s->second;
    } else if (s->has_date || s->has_weekday) {
        t.hour = t.minute = t.second = 0;
    }
    if (s->has_weekday && !s->has_date) {
        int64_t ahead = (s->weekday - now.weekday + 7) % 7 + 7 * (s->ordinal - (s->ordinal > 0 && now.weekday != s->weekday));
        if (__builtin_add_overflow(s->days, ahead, &s->days))
            return false;
    }
    if (!shift_calendar(s, &t))
        return false;
    /* Days are calendar days in the zone: the clock time stays. */
    int64_t days = s->days;
    if (days > 1000000000 || days < -1000000000)
        return false;
    int64_t at;
    CivilTime utc = t;
    int64_t base;
    /* Civil arithmetic in UTC gives the date `days` later; then the zone makes seconds of it. */
    if (!tz_seconds(utc_zone, &utc, &base) || __builtin_add_overflow(base, days * (int64_t)DAY, &base))
        return false;
    if (s->has_zone) {
        at = base - s->zone;
    } else {
        CivilTime shifted;
        if (!tz_civil(utc_zone, base, 0, &shifted))
            return false;
        shifted.dst = t.dst;
        if (!tz_seconds(zone, &shifted, &at))
            return false;
    }
    int64_t more;
    if (__builtin_mul_overflow(s->hours, 3600, &more) || __builtin_add_overflow(at, more, &at) || __builtin_mul_overflow(s->minutes, 60, &more) ||
        __builtin_add_overflow(at, more, &at) || __builtin_add_overflow(at, s->seconds, &at))
        return false;
    *seconds = at;
    return true;
}

static void carry_nanoseconds(const State *s, uint32_t start, int64_t *seconds, uint32_t *ns)
{
    int64_t total = (int64_t)start + s->nanoseconds;
    int64_t carry = total / 1000000000 - (total % 1000000000 < 0);
    *ns = (uint32_t)(total - carry * 1000000000);
    *seconds += carry;
}

bool parse_date(Proc *p, Slice text, int64_t now, uint32_t now_ns, const TimeZone *zone, int64_t *seconds, uint32_t *ns)
{
    State s = {.text = text};
    const TimeZone *utc = tz_parse(&p->keep, SLICE("UTC"));
    skip_space(&s);
    if (slice_starts(s.text, SLICE("TZ=\""))) {
        advance(&s, 4);
        size_t n = slice_find(s.text, '"');
        if (n == s.text.len)
            return false;
        zone = tz_parse(&p->keep, (Slice){s.text.data, n});
        advance(&s, n + 1);
    }
    if (!read_all_items(&s))
        return false;
    if (s.has_epoch) {
        *seconds = s.epoch;
        *ns = s.nanosecond;
        return true;
    }
    CivilTime here;
    int64_t shifted = now;
    if (s.has_zone && (__builtin_add_overflow(now, s.zone, &shifted) || !tz_civil(utc, shifted, 0, &here)))
        return false;
    if (!s.has_zone && !tz_civil(zone, now, 0, &here))
        return false;
    if (s.has_time && !to_24_hours(&s))
        return false;
    if (!compute(&s, zone, utc, here, seconds))
        return false;
    bool at_clock = s.has_time || s.has_date || s.has_weekday;
    carry_nanoseconds(&s, at_clock ? s.nanosecond : now_ns, seconds, ns);
    return true;
}

const TimeZone *proc_zone(Proc *p)
{
    const char *tz = proc_getenv(p, "TZ");
    return tz_parse(&p->keep, slice_str(tz ? tz : "UTC"));
}

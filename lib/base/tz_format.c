/* tz_format: strftime as GNU date does it, in the C locale.
 *
 * %[flags][width][E|O]directive. Flags: - no padding, _ spaces, 0 zeros, + zeros and a sign before years of more than four digits, ^ upper
 * case, # the other case. What does not parse is printed as it stands.
 */
#include "tz.h"

#include <stdio.h>

static const char *const day_names[] = {"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};
static const char *const month_names[] = {"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"};

enum { WIDTH_MOST = 100000 };

typedef struct {
    Buf *out;
    const CivilTime *t;
    int64_t seconds;
    char pad;      /* 0: the directive's own */
    bool upper, swap;
    bool as_text;  /* %O: GNU date takes the number from strftime and pads it as text */
    int width;     /* -1: the directive's own */
    int colons;
} Format;

static bool format_run(Buf *out, Slice format, const CivilTime *t, int64_t seconds, bool upper);

static void pad_with(Buf *out, int count, char c)
{
    for (; count > 0; count--)
        buf_char(out, c);
}

static void put_padded(const Format *f, Slice s)
{
    if (f->pad != '-')
        pad_with(f->out, f->width - (int)MIN(s.len, (size_t)WIDTH_MOST), f->pad == '0' || f->pad == '+' ? '0' : ' ');
    buf_append(f->out, s);
}

typedef enum { AS_IS, UPPER, LOWER } Case;

static void put_cased(const Format *f, const char *s, size_t len, Case c)
{
    char text[32];
    len = MIN(len, sizeof text);
    for (size_t i = 0; i < len; i++) {
        bool low = s[i] >= 'a' && s[i] <= 'z', high = s[i] >= 'A' && s[i] <= 'Z';
        text[i] = c == UPPER && low ? (char)(s[i] - 32) : c == LOWER && high ? (char)(s[i] + 32) : s[i];
    }
    put_padded(f, slice(text, len));
}

static void put_name(const Format *f, const char *s, size_t len)
{
    put_cased(f, s, len, f->upper || f->swap ? UPPER : AS_IS);
}

/* Digits (colons between pairs where the mask says so), padded as numbers are. */
static void put_digits(const Format *f, int digits, bool negative, bool sign, uint64_t v, unsigned colon_mask, char pad)
{
    char text[40], *at = text + sizeof text;
    do {
        if (colon_mask & 1)
            *--at = ':';
        colon_mask >>= 1;
        *--at = (char)('0' + v % 10);
        v /= 10;
    } while (v || colon_mask);
    int width = f->width < 0 ? digits : f->width, len = (int)(text + sizeof text - at);
    char mark = negative ? '-' : sign ? '+' : 0;
    int missing = pad == '-' ? 0 : width - (mark != 0) - len;
    if (pad == '_')
        pad_with(f->out, missing, ' ');
    if (mark)
        buf_char(f->out, mark);
    if (pad != '_')
        pad_with(f->out, missing, '0');
    buf_append(f->out, slice(at, (size_t)len));
}

static void put_number(const Format *f, int digits, int64_t v, char pad)
{
    if (f->as_text) {
        char text[24];
        put_padded(f, slice(text, (size_t)snprintf(text, sizeof text, pad == '_' ? "%*d" : "%0*d", digits, (int)v)));
        return;
    }
    if (f->pad)
        pad = f->pad;
    put_digits(f, digits, v < 0, false, v < 0 ? 0 - (uint64_t)v : (uint64_t)v, 0, pad);
}

static void put_year(const Format *f, int digits, bool negative, uint64_t v)
{
    bool sign = f->pad == '+' && (v > (digits == 2 ? 99u : 9999u) || digits < f->width);
    put_digits(f, digits, negative, sign, v, 0, f->pad ? f->pad : '0');
}

static void put_zone_offset(const Format *f)
{
    const CivilTime *t = f->t;
    bool negative = t->offset < 0 || (t->offset == 0 && t->zone[0] == '-');
    uint64_t v = t->offset < 0 ? 0 - (uint64_t)t->offset : (uint64_t)t->offset, h = v / 3600, m = v / 60 % 60, s = v % 60;
    int colons = f->colons == 3 ? (s ? 2 : m ? 1 : 3) : f->colons;
    char pad = f->pad ? f->pad : '0';
    if (f->as_text) {
        char text[16];
        int n = snprintf(text, sizeof text, "%c%02d%02d", negative ? '-' : '+', (int)(h % 100), (int)m);
        put_padded(f, slice(text, (size_t)n));
    } else if (colons == 0)
        put_digits(f, 5, negative, true, h * 100 + m, 0, pad);
    else if (colons == 1)
        put_digits(f, 6, negative, true, h * 100 + m, 4, pad);
    else if (colons == 2)
        put_digits(f, 9, negative, true, h * 10000 + m * 100 + s, 024, pad);
    else
        put_digits(f, 3, negative, true, h, 0, pad);
}

/* Nanoseconds are a fraction: width cuts on the right, and padding goes there. */
static void put_nanoseconds(const Format *f)
{
    uint32_t n = f->t->nanosecond;
    int width = f->width <= 0 ? 9 : f->width, digits = 9;
    char text[9];
    bool whole = f->width <= 0 && f->pad == '-'; /* %-N: nothing to pad, and nothing to take away */
    while (width < digits || (!whole && digits > 1 && n % 10 == 0)) {
        digits--;
        n /= 10;
    }
    for (int i = digits; i > 0; i--, n /= 10)
        text[i - 1] = (char)('0' + n % 10);
    buf_append(f->out, slice(text, (size_t)digits));
    if (f->pad != '-')
        pad_with(f->out, width - digits, f->pad == '_' ? ' ' : '0');
}

static bool leap(int64_t y) { return y % 4 == 0 && (y % 100 != 0 || y % 400 == 0); }

/* ISO 8601 week and the year it belongs to. */
static int iso_week(const CivilTime *t, int64_t *year)
{
    int monday_based = (t->weekday + 6) % 7, week = (t->yearday - monday_based + 10) / 7;
    *year = t->year;
    if (week < 1) {
        --*year;
        int days = leap(*year) ? 366 : 365;
        return (t->yearday + days - monday_based + 10) / 7;
    }
    int days = leap(*year) ? 366 : 365;
    if (week == 53 && t->yearday - monday_based + 3 >= days) {
        ++*year;
        return 1;
    }
    return week;
}

static void put_year_of(const Format *f, int64_t year) { put_year(f, 4, year < 0, year < 0 ? 0 - (uint64_t)year : (uint64_t)year); }

static void put_two_digit_year(const Format *f, int64_t year)
{
    int64_t yy = year % 100;
    if (f->as_text) {
        put_number(f, 2, yy < 0 ? -yy : yy, '0');
        return;
    }
    put_year(f, 2, false, (uint64_t)(yy < 0 ? -yy : yy));
}

static void put_century(const Format *f)
{
    int64_t y = f->t->year, c = y / 100;
    put_year(f, 2, y < 0, (uint64_t)(c < 0 ? -c : c));
}

static void put_sub(const Format *f, const char *format)
{
    Buf text;
    buf_init(&text, f->out->mem, f->out->max);
    if (!format_run(&text, slice_str(format), f->t, f->seconds, f->upper) || text.failed)
        f->out->failed = true;
    else
        put_padded(f, buf_slice(&text));
}

/* %F: a width is the whole date's, so the year gets what the month and day leave. */
static void put_iso_date(const Format *f)
{
    Format year = *f;
    if (f->pad == 0 && f->width < 0) {
        year.pad = '+';
        year.width = 4;
    } else {
        year.width = MAX(f->width - 6, 0);
    }
    put_year_of(&year, f->t->year);
    buf_printf(f->out, "-%02d-%02d", f->t->month, f->t->day);
}

static void put_half_day(const Format *f, bool lower)
{
    const char *text = f->t->hour < 12 ? "AM" : "PM";
    put_cased(f, text, 2, lower || f->swap ? LOWER : AS_IS);
}

/* A field that a program filled in may lie outside: "?", as in the C library. */
static const char *name_in(const char *const *names, int count, int i) { return i >= 0 && i < count ? names[i] : "?"; }

/* False: not a directive (with that modifier). */
static bool directive(const Format *f, char c, char modifier)
{
    const CivilTime *t = f->t;
    int64_t iso_year;
    int hour12 = t->hour > 12 ? t->hour - 12 : t->hour ? t->hour : 12;
    const char *day = name_in(day_names, 7, t->weekday), *month = name_in(month_names, 12, t->month - 1);
    if (modifier && strchr(modifier == 'E' ? "aAbBdDeFgGhHIjklmMNSUVwW" : "aAcDFqxXY", c))
        return false;
    switch (c) {
    case 'a': put_name(f, day, MIN(strlen(day), (size_t)3)); return true;
    case 'A': put_name(f, day, strlen(day)); return true;
    case 'b':
    case 'h': put_name(f, month, MIN(strlen(month), (size_t)3)); return true;
    case 'B': put_name(f, month, strlen(month)); return true;
    case 'c': put_sub(f, "%a %b %e %H:%M:%S %Y"); return true;
    case 'C': put_century(f); return true;
    case 'D':
    case 'x': put_sub(f, "%m/%d/%y"); return true;
    case 'd': put_number(f, 2, t->day, '0'); return true;
    case 'e': put_number(f, 2, t->day, '_'); return true;
    case 'F': put_iso_date(f); return true;
    case 'g': iso_week(t, &iso_year); put_two_digit_year(f, iso_year); return true;
    case 'G': iso_week(t, &iso_year); put_year_of(f, iso_year); return true;
    case 'H': put_number(f, 2, t->hour, '0'); return true;
    case 'I': put_number(f, 2, hour12, '0'); return true;
    case 'j': put_number(f, 3, t->yearday + 1, '0'); return true;
    case 'k': put_number(f, 2, t->hour, '_'); return true;
    case 'l': put_number(f, 2, hour12, '_'); return true;
    case 'm': put_number(f, 2, t->month, '0'); return true;
    case 'M': put_number(f, 2, t->minute, '0'); return true;
    case 'n': put_padded(f, SLICE("\n")); return true;
    case 'N': put_nanoseconds(f); return true;
    case 'p': put_half_day(f, false); return true;
    case 'P': put_half_day(f, true); return true;
    case 'q': put_number(f, 1, (t->month - 1) / 3 + 1, '0'); return true;
    case 'r': put_sub(f, "%I:%M:%S %p"); return true;
    case 'R': put_sub(f, "%H:%M"); return true;
    case 's': put_number(f, 1, f->seconds, '0'); return true;
    case 'S': put_number(f, 2, t->second, '0'); return true;
    case 't': put_padded(f, SLICE("\t")); return true;
    case 'T':
    case 'X': put_sub(f, "%H:%M:%S"); return true;
    case 'u': put_number(f, 1, (t->weekday + 6) % 7 + 1, '0'); return true;
    case 'U': put_number(f, 2, (t->yearday - t->weekday + 7) / 7, '0'); return true;
    case 'V': put_number(f, 2, iso_week(t, &iso_year), '0'); return true;
    case 'w': put_number(f, 1, t->weekday, '0'); return true;
    case 'W': put_number(f, 2, (t->yearday - (t->weekday + 6) % 7 + 7) / 7, '0'); return true;
    case 'y': put_two_digit_year(f, t->year); return true;
    case 'Y': put_year_of(f, t->year); return true;
    case 'z': put_zone_offset(f); return true;
    case 'Z': put_cased(f, t->zone, strlen(t->zone), f->swap ? LOWER : f->upper ? UPPER : AS_IS); return true;
    default: return false;
    }
}

/* One % sequence at format[at]; returns its end. */
static size_t sequence(Format *f, Slice format, size_t at, bool upper)
{
    size_t start = at++;
    f->pad = 0;
    f->upper = upper;
    f->swap = false;
    f->width = -1;
    f->colons = 0;
    for (; at < format.len && strchr("-_0+^#", format.data[at]) && format.data[at]; at++) {
        char c = format.data[at];
        if (c == '^')
            f->upper = true;
        else if (c == '#')
            f->swap = true;
        else
            f->pad = c;
    }
    if (at < format.len && (unsigned)(format.data[at] - '0') < 10)
        for (f->width = 0; at < format.len && (unsigned)(format.data[at] - '0') < 10; at++)
            f->width = MIN(f->width * 10 + (format.data[at] - '0'), WIDTH_MOST);
    char modifier = 0;
    if (at < format.len && (format.data[at] == 'E' || format.data[at] == 'O'))
        modifier = format.data[at++];
    f->as_text = modifier == 'O' && at < format.len && strchr("degHIjklmMSuUVwWyz", format.data[at]) && format.data[at];
    size_t colon = at;
    while (colon < format.len && format.data[colon] == ':' && colon - at < 4)
        colon++;
    if (colon > at && colon < format.len && format.data[colon] == 'z' && colon - at <= 3) {
        f->colons = (int)(colon - at);
        at = colon;
    }
    if (at == start + 1 && at < format.len && format.data[at] == '%') {
        buf_char(f->out, '%');
        return at + 1;
    }
    if (at < format.len && directive(f, format.data[at], modifier))
        return at + 1;
    size_t end = MIN(at + 1, format.len);
    put_padded(f, slice(format.data + start, end - start));
    return end;
}

static bool format_run(Buf *out, Slice format, const CivilTime *t, int64_t seconds, bool upper)
{
    Format f = {.out = out, .t = t, .seconds = seconds};
    for (size_t at = 0; at < format.len;) {
        size_t text = slice_find(slice_from(format, at), '%');
        buf_append(out, slice(format.data + at, text));
        at += text;
        if (at < format.len)
            at = sequence(&f, format, at, upper);
    }
    return !out->failed;
}

bool tz_format(Buf *out, Slice format, const CivilTime *t, int64_t seconds)
{
    return buf_reserve(out, 1) && format_run(out, format, t, seconds, false);
}

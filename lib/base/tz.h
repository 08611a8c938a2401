/* Civil time and time zone rules, the library's own: the host's localtime and TZ are never asked.
 *
 * A zone is a POSIX TZ string ("CET-1CEST,M3.5.0,M10.5.0/3"), UTC, or a name out of a small built-in table of
 * such strings. All arithmetic is proleptic Gregorian in 64 bits; out of range is false, never wrapped.
 */
#ifndef LIBSHELL_TZ_H
#define LIBSHELL_TZ_H

#include "mem.h"

typedef struct {
    int64_t year; /* 2026 */
    int month;    /* 1..12 */
    int day;      /* 1..31 */
    int hour, minute, second;
    uint32_t nanosecond;
    int weekday;  /* 0 Sunday */
    int yearday;  /* 0..365 */
    int32_t offset; /* seconds east of UTC */
    bool dst;
    char zone[16]; /* abbreviation */
} CivilTime;

typedef struct TimeZone TimeZone;

/* Never fails: an unknown name behaves as UTC under that name's letters, as glibc does. In `mem`. */
const TimeZone *tz_parse(Mem *mem, Slice tz);
bool tz_civil(const TimeZone *tz, int64_t seconds, uint32_t nanosecond, CivilTime *out);
/* Seconds since 1970 of a civil time in the zone; fields are normalised as mktime does. */
bool tz_seconds(const TimeZone *tz, const CivilTime *civil, int64_t *seconds);
/* strftime with GNU date's flags (- _ 0 ^ #, widths, %N, %:z ...). */
bool tz_format(Buf *out, Slice format, const CivilTime *t, int64_t seconds);

#endif

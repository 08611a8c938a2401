/* tz: against the C library's localtime, mktime and, for formats, recorded output of GNU date. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "lib/base/tz.h"

static Mem mem;

static const char *const zones[] = {"UTC0", "CET-1CEST,M3.5.0,M10.5.0/3", "EST5EDT,M3.2.0,M11.1.0", "<+0330>-3:30", "AEST-10AEDT,M10.1.0,M4.1.0/3",
                                    "IST-1GMT0,M10.5.0,M3.5.0/1", "<-03>3<-02>,M3.5.0/-2,M10.5.0/-1", "XXX3YYY,J60,J300/5", "XXX-4YYY,59,299", "Foo/Bar"};

static void use(const char *zone)
{
    setenv("TZ", zone, 1);
    tzset();
}

static void civil_agrees_with_localtime(void **state)
{
    (void)state;
    srand(1);
    for (unsigned z = 0; z < ARRAY_LEN(zones); z++) {
        use(zones[z]);
        const TimeZone *tz = tz_parse(&mem, slice_str(zones[z]));
        for (int i = 0; i < 40000; i++) {
            time_t at = (time_t)((int64_t)rand() * 4 + rand() % 4); /* glibc's rules begin in 1970 */
            struct tm tm;
            localtime_r(&at, &tm);
            CivilTime c;
            assert_true(tz_civil(tz, at, 0, &c));
            bool same = c.year == tm.tm_year + 1900 && c.month == tm.tm_mon + 1 && c.day == tm.tm_mday && c.hour == tm.tm_hour && c.minute == tm.tm_min
                        && c.second == tm.tm_sec && c.weekday == tm.tm_wday && c.yearday == tm.tm_yday && c.offset == tm.tm_gmtoff && !strcmp(c.zone, tm.tm_zone);
            if (!same)
                fail_msg("zone %s at %ld: %s %d", zones[z], (long)at, c.zone, c.offset);
            int64_t back;
            assert_true(tz_seconds(tz, &c, &back));
            assert_true(back == at || (back - at <= 3600 && at - back <= 3600));
        }
    }
}

static void names_and_bounds(void **state)
{
    (void)state;
    CivilTime c;
    assert_true(tz_civil(tz_parse(&mem, SLICE("Europe/Vienna")), 1780000000, 0, &c));
    assert_string_equal(c.zone, "CEST");
    assert_true(tz_civil(tz_parse(&mem, SLICE("Asia/Kolkata")), 1780000000, 0, &c));
    assert_int_equal(c.offset, 19800);
    assert_true(tz_civil(tz_parse(&mem, SLICE(":America/New_York")), 1780000000, 0, &c));
    assert_string_equal(c.zone, "EDT");
    assert_true(tz_civil(tz_parse(&mem, SLICE("")), 0, 0, &c));
    assert_string_equal(c.zone, "UTC");
    assert_false(tz_civil(tz_parse(&mem, SLICE("")), INT64_MAX, 0, &c));
    assert_false(tz_civil(tz_parse(&mem, SLICE("")), INT64_MIN, 0, &c));
    CivilTime odd = {.year = 2023, .month = 14, .day = -3, .hour = 25, .minute = 61, .second = 61};
    int64_t seconds;
    assert_true(tz_seconds(tz_parse(&mem, SLICE("")), &odd, &seconds));
    use("UTC0");
    struct tm tm = {.tm_year = 123, .tm_mon = 13, .tm_mday = -3, .tm_hour = 25, .tm_min = 61, .tm_sec = 61};
    assert_int_equal(seconds, timegm(&tm));
    odd.year = INT64_MAX;
    assert_false(tz_seconds(tz_parse(&mem, SLICE("")), &odd, &seconds));
}

typedef struct { const char *format; int64_t seconds; const char *text; } FormatCase;

static const FormatCase format_cases[] = {
#include "tz_format_cases.h"
};

/* date -u -d @SECONDS.012300000 +FORMAT */
static void formats_as_recorded(void **state)
{
    (void)state;
    for (unsigned i = 0; i < ARRAY_LEN(format_cases); i++) {
        const FormatCase *k = &format_cases[i];
        CivilTime c;
        Buf out;
        buf_init(&out, &mem, BUF_MAX);
        assert_true(tz_civil(tz_parse(&mem, SLICE("")), k->seconds, 12300000, &c));
        assert_true(tz_format(&out, slice_str(k->format), &c, k->seconds));
        if (strcmp(out.data, k->text) != 0)
            fail_msg("%s at %ld: '%s', date says '%s'", k->format, (long)k->seconds, out.data, k->text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(civil_agrees_with_localtime),
        cmocka_unit_test(names_and_bounds),
        cmocka_unit_test(formats_as_recorded),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    mem_drop(&mem);
    return failed;
}

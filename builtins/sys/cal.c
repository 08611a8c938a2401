/* cal: display a calendar. The output of Debian 12's cal (ncal 12.1) where it is not a terminal. */
#include "command.h"

static const Option options[] = {
    {'3', NULL, OPT_FLAG, "display the previous, current and next month", NULL, 0},
    {'1', NULL, OPT_FLAG, "display only the current month (default)", NULL, 0},
    {'A', NULL, OPT_VALUE, "display the number of months after the current month", "NUMBER", 0},
    {'B', NULL, OPT_VALUE, "display the number of months before the current month", "NUMBER", 0},
    {'d', NULL, OPT_VALUE, "use yyyy-mm as the current date", "YYYY-MM", 0},
    {'h', NULL, OPT_FLAG, "turn off highlighting of today", NULL, 0},
    {'j', NULL, OPT_FLAG, "display Julian days (numbered from January 1)", NULL, 0},
    {'m', NULL, OPT_VALUE, "display the specified month", "MONTH", 0},
    {'y', NULL, OPT_FLAG, "display a calendar for the specified year", NULL, 0},
    OPTIONS_END,
};

static const char *const months[] = {"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"};

/* Days since 1 January of the year 1 in the calendar then in use: Julian up to 2 September 1752, Gregorian from the 14th. */
static int64_t day_number(int64_t y, int m, int d)
{
    static const int before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
    bool julian = y < 1752 || (y == 1752 && (m < 9 || (m == 9 && d < 14)));
    bool leap = y % 4 == 0 && (julian || y % 100 || y % 400 == 0);
    int64_t past = y - 1, n = past * 365 + past / 4 + before[m - 1] + (leap && m > 2) + d;
    return julian ? n : n - past / 100 + past / 400 + 2;
}

static int month_days(int64_t y, int m)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return m == 2 && y % 4 == 0 && (y <= 1752 || y % 100 || y % 400 == 0) ? 29 : days[m - 1];
}

enum { WEEKS = 6 };

typedef struct { char title[32]; char rows[WEEKS][40]; } Month;

static void fill_month(Month *out, int64_t y, int m, bool julian, bool with_year)
{
    int cell = julian ? 4 : 3, first = (int)((day_number(y, m, 1) + 5) % 7), column = first, row = 0;
    int64_t new_year = day_number(y, 1, 1);
    memset(out->rows, 0, sizeof out->rows);
    for (int i = 0; i < WEEKS; i++)
        memset(out->rows[i], ' ', (size_t)cell * 7);
    if (with_year)
        snprintf(out->title, sizeof out->title, "%s %lld", months[m - 1], (long long)y);
    else
        snprintf(out->title, sizeof out->title, "%s", months[m - 1]);
    for (int d = 1; d <= month_days(y, m) && row < WEEKS; d++) {
        if (y == 1752 && m == 9 && d > 2 && d < 14)
            continue;
        char text[8];
        snprintf(text, sizeof text, "%*d", cell - 1, julian ? (int)(day_number(y, m, d) - new_year + 1) : d);
        memcpy(out->rows[row] + column * cell, text, strlen(text));
        if (++column == 7) {
            column = 0;
            row++;
        }
    }
}

static void put_centred(Proc *p, const char *text, int width)
{
    int n = (int)strlen(text), left = MAX((width - n) / 2, 0);
    out_pad(p->out, (size_t)left, ' ');
    out_str(p->out, text);
    out_pad(p->out, (size_t)MAX(width - n - left, 0), ' ');
}

/* Months beside each other; each is seven cells wide and two blanks apart. */
static void put_row(Proc *p, const Month *list, int count, bool julian)
{
    int cell = julian ? 4 : 3, width = cell * 7 - 1;
    for (int i = 0; i < count; i++) {
        put_centred(p, list[i].title, width);
        out_str(p->out, i + 1 < count ? "  " : "  \n");
    }
    for (int i = 0; i < count; i++)
        out_printf(p->out, "%s  %s", julian ? " Su  Mo  Tu  We  Th  Fr  Sa" : "Su Mo Tu We Th Fr Sa", i + 1 < count ? "" : "\n");
    for (int r = 0; r < WEEKS; r++)
        for (int i = 0; i < count; i++)
            out_printf(p->out, "%s %s", list[i].rows[r], i + 1 < count ? "" : "\n");
    proc_tick(p, 8);
}

static void put_months(Proc *p, int64_t from, int64_t count, bool julian, bool with_year)
{
    int across = julian ? 2 : 3;
    for (int64_t i = 0; i < count; i += across) {
        Month row[3];
        int n = (int)MIN(across, count - i);
        for (int k = 0; k < n; k++)
            fill_month(&row[k], (from + i + k) / 12, (int)((from + i + k) % 12) + 1, julian, with_year);
        if (i)
            out_char(p->out, '\n');
        put_row(p, row, n, julian);
    }
}

static bool month_named(const char *text, int64_t *m)
{
    if (parse_int(text, m) == 0)
        return *m >= 1 && *m <= 12;
    size_t n = strlen(text);
    for (int i = 0; i < 12 && n >= 3; i++) {
        size_t k = 0;
        while (k < n && months[i][k] && (months[i][k] | 32) == (text[k] | 32))
            k++;
        if (k == n) {
            *m = i + 1;
            return true;
        }
    }
    return false;
}

static int64_t count_value(Proc *p, const char *text)
{
    int64_t v;
    if (parse_int(text, &v) || v < 0 || v > 12000)
        die(p, 64, "Argument to -%c must be positive", 'A');
    return v;
}

static void need_month(Proc *p, const char *text, int64_t *m)
{
    if (!month_named(text, m))
        die(p, 64, "%s is neither a month number (1..12) nor a name", text);
}

static int cal_main(Proc *p, Args *args)
{
    CivilTime now;
    int64_t after = 0, before = 0, month, year, v;
    bool julian = false, whole = false, month_given = false;
    tz_civil(tz_parse(&p->mem, slice_str(proc_getenv(p, "TZ") ? proc_getenv(p, "TZ") : "UTC")), proc_now(p, NULL), 0, &now);
    year = now.year;
    month = now.month;
    for (int id; (id = args_next(p, args)) != -1;) {
        switch (id) {
        case '3': after = before = 1; break;
        case 'A': after = count_value(p, args->value); break;
        case 'B': before = count_value(p, args->value); break;
        case 'j': julian = true; break;
        case 'y': whole = true; break;
        case 'm': need_month(p, args->value, &month); month_given = true; break;
        case 'd': {
            char *dash = strchr(args->value, '-');
            if (!dash || parse_int(mem_copy(&p->mem, slice(args->value, (size_t)(dash - args->value))), &year) || parse_int(dash + 1, &month) || month < 1 || month > 12)
                usage_hint(p, args);
            break;
        }
        default: break;
        }
    }
    int n;
    char **a = args_operands(args, &n);
    if (n > 2)
        usage_hint(p, args);
    if (n) {
        if (parse_int(a[n - 1], &v) || v < 1 || v > 9999)
            die(p, 64, "year `%s' not in range 1..9999", a[n - 1]);
        year = v;
        whole |= n == 1 && !month_given;
    }
    if (n == 2)
        need_month(p, a[0], &month);
    if (whole) {
        char title[24];
        snprintf(title, sizeof title, "%lld", (long long)year);
        int width = julian ? 56 : 64, left = (width - (int)strlen(title)) / 2;
        out_pad(p->out, (size_t)MAX(left - (julian ? 0 : 2), 0), ' ');
        out_printf(p->out, "%s\n", title);
        put_months(p, year * 12, 12, julian, false);
        return 0;
    }
    put_months(p, year * 12 + month - 1 - before, before + after + 1, julian, true);
    return 0;
}

COMMAND(cal, "cal [general options] [-jy] [[month] year]\ncal [general options] [-j] [-m month] [year]", "Display a calendar.", options, COMMAND_PURE, .usage_status = 64, .package = "ncal 12.1");

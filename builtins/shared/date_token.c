/* date_token: the lexer of GNU date's input language, with gnulib's tables of words. */
#include "date_token.h"

typedef struct { const char *name; DateKind kind; int64_t value; } DateWord;

enum { HOUR = 3600, HALF = 1800 };

static const DateWord meridians[] = {{"AM", D_MERIDIAN, 0}, {"A.M.", D_MERIDIAN, 0}, {"PM", D_MERIDIAN, 1}, {"P.M.", D_MERIDIAN, 1}, {NULL, D_END, 0}};

/* Three letters are enough for these. */
static const DateWord months_and_days[] = {
    {"JANUARY", D_MONTH, 1}, {"FEBRUARY", D_MONTH, 2}, {"MARCH", D_MONTH, 3}, {"APRIL", D_MONTH, 4}, {"MAY", D_MONTH, 5},
    {"JUNE", D_MONTH, 6}, {"JULY", D_MONTH, 7}, {"AUGUST", D_MONTH, 8}, {"SEPTEMBER", D_MONTH, 9}, {"SEPT", D_MONTH, 9},
    {"OCTOBER", D_MONTH, 10}, {"NOVEMBER", D_MONTH, 11}, {"DECEMBER", D_MONTH, 12}, {"SUNDAY", D_DAY, 0}, {"MONDAY", D_DAY, 1},
    {"TUESDAY", D_DAY, 2}, {"TUES", D_DAY, 2}, {"WEDNESDAY", D_DAY, 3}, {"WEDNES", D_DAY, 3}, {"THURSDAY", D_DAY, 4},
    {"THUR", D_DAY, 4}, {"THURS", D_DAY, 4}, {"FRIDAY", D_DAY, 5}, {"SATURDAY", D_DAY, 6}, {NULL, D_END, 0},
};

static const DateWord universal[] = {{"GMT", D_ZONE, 0}, {"UT", D_ZONE, 0}, {"UTC", D_ZONE, 0}, {NULL, D_END, 0}};

static const DateWord zones[] = {
    {"WET", D_ZONE, 0}, {"WEST", D_DAYZONE, 0}, {"BST", D_DAYZONE, 0}, {"ART", D_ZONE, -3 * HOUR}, {"BRT", D_ZONE, -3 * HOUR},
    {"BRST", D_DAYZONE, -3 * HOUR}, {"NST", D_ZONE, -3 * HOUR - HALF}, {"NDT", D_DAYZONE, -3 * HOUR - HALF}, {"AST", D_ZONE, -4 * HOUR},
    {"ADT", D_DAYZONE, -4 * HOUR}, {"CLT", D_ZONE, -4 * HOUR}, {"CLST", D_DAYZONE, -4 * HOUR}, {"EST", D_ZONE, -5 * HOUR},
    {"EDT", D_DAYZONE, -5 * HOUR}, {"CST", D_ZONE, -6 * HOUR}, {"CDT", D_DAYZONE, -6 * HOUR}, {"MST", D_ZONE, -7 * HOUR},
    {"MDT", D_DAYZONE, -7 * HOUR}, {"PST", D_ZONE, -8 * HOUR}, {"PDT", D_DAYZONE, -8 * HOUR}, {"AKST", D_ZONE, -9 * HOUR},
    {"AKDT", D_DAYZONE, -9 * HOUR}, {"HST", D_ZONE, -10 * HOUR}, {"HAST", D_ZONE, -10 * HOUR}, {"HADT", D_DAYZONE, -10 * HOUR},
    {"SST", D_ZONE, -12 * HOUR}, {"WAT", D_ZONE, HOUR}, {"CET", D_ZONE, HOUR}, {"CEST", D_DAYZONE, HOUR}, {"MET", D_ZONE, HOUR},
    {"MEZ", D_ZONE, HOUR}, {"MEST", D_DAYZONE, HOUR}, {"MESZ", D_DAYZONE, HOUR}, {"EET", D_ZONE, 2 * HOUR}, {"EEST", D_DAYZONE, 2 * HOUR},
    {"CAT", D_ZONE, 2 * HOUR}, {"SAST", D_ZONE, 2 * HOUR}, {"EAT", D_ZONE, 3 * HOUR}, {"MSK", D_ZONE, 3 * HOUR}, {"MSD", D_DAYZONE, 3 * HOUR},
    {"IST", D_ZONE, 5 * HOUR + HALF}, {"SGT", D_ZONE, 8 * HOUR}, {"KST", D_ZONE, 9 * HOUR}, {"JST", D_ZONE, 9 * HOUR},
    {"GST", D_ZONE, 10 * HOUR}, {"NZST", D_ZONE, 12 * HOUR}, {"NZDT", D_DAYZONE, 12 * HOUR}, {NULL, D_END, 0},
};

static const DateWord units[] = {
    {"YEAR", D_YEARS, 1}, {"MONTH", D_MONTHS, 1}, {"FORTNIGHT", D_DAYS, 14}, {"WEEK", D_DAYS, 7}, {"DAY", D_DAYS, 1}, {"HOUR", D_HOURS, 1},
    {"MINUTE", D_MINUTES, 1}, {"MIN", D_MINUTES, 1}, {"SECOND", D_SECONDS, 1}, {"SEC", D_SECONDS, 1}, {NULL, D_END, 0},
};

static const DateWord relatives[] = {
    {"TOMORROW", D_DAY_SHIFT, 1}, {"YESTERDAY", D_DAY_SHIFT, -1}, {"TODAY", D_DAY_SHIFT, 0}, {"NOW", D_DAY_SHIFT, 0}, {"LAST", D_ORDINAL, -1},
    {"THIS", D_ORDINAL, 0}, {"NEXT", D_ORDINAL, 1}, {"FIRST", D_ORDINAL, 1}, {"THIRD", D_ORDINAL, 3}, {"FOURTH", D_ORDINAL, 4},
    {"FIFTH", D_ORDINAL, 5}, {"SIXTH", D_ORDINAL, 6}, {"SEVENTH", D_ORDINAL, 7}, {"EIGHTH", D_ORDINAL, 8}, {"NINTH", D_ORDINAL, 9},
    {"TENTH", D_ORDINAL, 10}, {"ELEVENTH", D_ORDINAL, 11}, {"TWELFTH", D_ORDINAL, 12}, {"AGO", D_AGO, -1}, {"HENCE", D_AGO, 1}, {NULL, D_END, 0},
};

static const DateWord dst = {"DST", D_DST, 0};

static bool digit(char c) { return c >= '0' && c <= '9'; }
static bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static bool space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
static char at(Slice s, size_t i) { return i < s.len ? s.data[i] : 0; }
static void skip(Slice *s, size_t n) { *s = slice_from(*s, MIN(n, s->len)); }

/* ---------- words ---------- */

static const DateWord *find(const DateWord *words, const char *word, size_t compared)
{
    for (; words->name; words++)
        if (compared ? strncmp(words->name, word, compared) == 0 : strcmp(words->name, word) == 0)
            return words;
    return NULL;
}

static DateToken of_word(const DateWord *w) { return (DateToken){.kind = w->kind, .value = w->value}; }

static bool zone_word(const char *word, const LocalZones *local, DateToken *t)
{
    const DateWord *w = find(universal, word, 0);
    if (!w && *local->standard && strcmp(local->standard, word) == 0)
        return *t = (DateToken){.kind = D_LOCAL_ZONE, .value = 0}, true;
    if (!w && *local->summer && strcmp(local->summer, word) == 0)
        return *t = (DateToken){.kind = D_LOCAL_ZONE, .value = 1}, true;
    if (!w)
        w = find(zones, word, 0);
    if (w)
        *t = of_word(w);
    return w != NULL;
}

/* A to I are one to nine hours east, K to M ten to twelve, N to Y one to twelve west; J is local time and T stands for itself too. */
static DateToken military(char c)
{
    if (c == 'T')
        return (DateToken){.kind = D_T};
    if (c == 'J')
        return (DateToken){.kind = D_CHAR, .value = 'J'};
    int hours = c == 'Z' ? 0 : c < 'J' ? c - 'A' + 1 : c < 'N' ? c - 'A' : 'M' - c;
    return (DateToken){.kind = D_ZONE, .value = hours * HOUR};
}

enum { LONGEST = 19 };

static void drop_periods(char *word)
{
    char *to = word;
    for (const char *from = word; *from; from++)
        if (*from != '.')
            *to++ = *from;
    *to = 0;
}

static DateToken look_up(char *word, size_t n, const LocalZones *local)
{
    DateToken t;
    bool abbreviated = n == 3 || (n == 4 && word[3] == '.');
    const DateWord *w = find(meridians, word, 0);
    if (!w)
        w = find(months_and_days, word, abbreviated ? 3 : 0);
    if (!w && zone_word(word, local, &t))
        return t;
    if (!w && strcmp(word, dst.name) == 0)
        w = &dst;
    if (!w)
        w = find(units, word, 0);
    if (!w && word[n - 1] == 'S') {
        word[n - 1] = 0;
        w = find(units, word, 0);
        word[n - 1] = 'S';
    }
    if (!w)
        w = find(relatives, word, 0);
    if (w)
        return of_word(w);
    if (n == 1)
        return military(*word);
    drop_periods(word);
    return zone_word(word, local, &t) ? t : (DateToken){.kind = D_BAD};
}

static DateToken read_word(Slice *s, const LocalZones *local)
{
    char word[LONGEST + 1];
    size_t n = 0, i = 0;
    for (; letter(at(*s, i)) || (i && at(*s, i) == '.'); i++)
        if (n < LONGEST)
            word[n++] = (char)(s->data[i] >= 'a' && s->data[i] <= 'z' ? s->data[i] - 32 : s->data[i]);
    word[n] = 0;
    skip(s, i);
    return look_up(word, n, local);
}

/* ---------- numbers ---------- */

/* The nine digits behind the point; more are cut off, downwards. */
static void read_fraction(Slice *s, DateToken *t)
{
    uint32_t ns = 0;
    skip(s, 1);
    for (int i = 0; i < 9; i++) {
        ns *= 10;
        if (digit(at(*s, 0))) {
            ns += (uint32_t)(s->data[0] - '0');
            skip(s, 1);
        }
    }
    bool more = false;
    for (; digit(at(*s, 0)); skip(s, 1))
        more |= s->data[0] != '0';
    if (t->negative) {
        ns += more;
        if (ns && __builtin_sub_overflow(t->value, 1, &t->value))
            t->kind = D_BAD;
        ns = ns ? 1000000000 - ns : 0;
    }
    t->ns = ns;
}

static DateToken read_number(Slice *s, int sign)
{
    DateToken t = {.kind = sign ? D_SIGNED : D_NUMBER, .negative = sign < 0};
    for (; digit(at(*s, 0)); skip(s, 1), t.digits++) {
        int d = s->data[0] - '0';
        if (__builtin_mul_overflow(t.value, 10, &t.value) || __builtin_add_overflow(t.value, sign < 0 ? -d : d, &t.value))
            return (DateToken){.kind = D_BAD};
    }
    if ((at(*s, 0) == '.' || at(*s, 0) == ',') && digit(at(*s, 1))) {
        t.kind = sign ? D_SIGNED_DECIMAL : D_DECIMAL;
        read_fraction(s, &t);
    }
    return t;
}

/* A comment in parentheses, which nest; without its end it takes all the rest. */
static void skip_comment(Slice *s)
{
    size_t depth = 0;
    do {
        depth += at(*s, 0) == '(';
        depth -= at(*s, 0) == ')';
        skip(s, 1);
    } while (depth && s->len);
}

DateToken date_token(Slice *s, const LocalZones *local)
{
    while (s->len) {
        char c = s->data[0];
        if (space(c)) {
            skip(s, 1);
        } else if (c == '(') {
            skip_comment(s);
        } else if (c == '-' || c == '+') {
            do
                skip(s, 1);
            while (space(at(*s, 0)));
            if (digit(at(*s, 0))) /* a sign without a number is passed over */
                return read_number(s, c == '-' ? -1 : 1);
        } else if (digit(c)) {
            return read_number(s, 0);
        } else if (letter(c)) {
            return read_word(s, local);
        } else {
            skip(s, 1);
            return (DateToken){.kind = D_CHAR, .value = c};
        }
    }
    return (DateToken){.kind = D_END};
}

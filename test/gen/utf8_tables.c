/* Prints lib/base/utf8_tables.h from the C library's C.UTF-8 locale: run it on the machine whose glibc is the reference.
 *
 *     cc -o /tmp/gen test/gen/utf8_tables.c && /tmp/gen > lib/base/utf8_tables.h
 *
 * Refuses (status 1) when an identity that utf8.c relies on does not hold: punct, graph and width -1 follow from the
 * other classes. */
#define _XOPEN_SOURCE 700
#include <locale.h>
#include <stdio.h>
#include <wchar.h>
#include <wctype.h>

enum { LAST = 0x10FFFF };

static int has(const char *class, wint_t c) { return iswctype(c, wctype(class)) != 0; }
static int narrow(const char *unused, wint_t c) { (void)unused; return wcwidth((wchar_t)c) == 0; }
static int wide(const char *unused, wint_t c) { (void)unused; return wcwidth((wchar_t)c) == 2; }

static void ranges(const char *name, int (*test)(const char *, wint_t), const char *arg)
{
    int column = 0;
    printf("static const CharRange %s_ranges[] = {", name);
    for (wint_t c = 128; c <= LAST; c++) {
        if (!test(arg, c))
            continue;
        wint_t first = c;
        while (c < LAST && test(arg, c + 1))
            c++;
        printf("%s{0x%X, 0x%X},", column++ % 7 ? " " : "\n    ", first, c);
    }
    printf("\n};\n\n");
}

/* Runs of characters with the same distance to their other case, each or every second one. */
static void mapping(const char *name, wint_t (*to)(wint_t))
{
    int column = 0;
    printf("static const CaseRange %s_ranges[] = {", name);
    for (wint_t c = 128; c <= LAST; c++) {
        int delta = (int)to(c) - (int)c;
        if (!delta)
            continue;
        wint_t first = c, step = 1;
        if ((int)to(c + 1) - (int)(c + 1) != delta && (int)to(c + 2) - (int)(c + 2) == delta)
            step = 2;
        while (c + step <= LAST && (int)to(c + step) - (int)(c + step) == delta
               && (step == 1 || to(c + 1) == c + 1))
            c += step;
        printf("%s{0x%X, 0x%X, %d, %u},", column++ % 5 ? " " : "\n    ", first, c, delta, step);
    }
    printf("\n};\n\n");
}

int main(void)
{
    if (!setlocale(LC_ALL, "C.UTF-8"))
        return 1;
    for (wint_t c = 0; c <= LAST; c++) {
        int print = has("print", c), space = has("space", c), alnum = has("alnum", c);
        int ok = has("graph", c) == (print && !space) && has("punct", c) == (print && !space && !alnum)
                 && (wcwidth((wchar_t)c) < 0) == (!print && c != 0) && alnum == (has("alpha", c) || has("digit", c))
                 && (c < 128 || (!has("digit", c) && !has("xdigit", c)));
        if (!ok) {
            fprintf(stderr, "U+%04X is out of the pattern\n", c);
            return 1;
        }
    }
    printf("/* Character data above ASCII as in glibc's C.UTF-8; made by test/gen/utf8_tables.c. */\n\n");
    static const char *const classes[] = {"alpha", "upper", "lower", "space", "blank", "cntrl", "print"};
    for (unsigned i = 0; i < sizeof classes / sizeof *classes; i++)
        ranges(classes[i], has, classes[i]);
    ranges("narrow", narrow, NULL);
    ranges("wide", wide, NULL);
    mapping("toupper", towupper);
    mapping("tolower", towlower);
    return 0;
}

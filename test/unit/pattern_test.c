/* pattern: random patterns without groups against fnmatch (with groups it has errors of its own); prefixes, suffixes and searches against trying every cut. */
#include <fnmatch.h>
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "lib/base/regex.h"
#include "lib/base/utf8.h"

static Mem mem;
static const ReEnv env = {.mem = &mem};

static bool matches(const char *pattern, const char *subject, unsigned flags)
{
    return pat_match(&env, pat_compile(&mem, slice_str(pattern), flags), slice_str(subject));
}

static const char *pick(const char *const *from, size_t n) { return from[(size_t)rand() % n]; }

static void random_subject(char *out)
{
    static const char *const parts[] = {"a", "b", "c", "ab", ".", "\xC3\xA9", "A", "-", "]"};
    *out = 0;
    for (int n = rand() % 9; n; n--)
        strcat(out, pick(parts, ARRAY_LEN(parts)));
}

static void random_pattern(char *out, bool groups, int depth)
{
    static const char *const plain[] = {"a", "b", "c", "*", "?", "[ab]", "[!a]", "[^b]", "[a-c]", "[]a]", "[[:alpha:]]", "\\*", "\\a", "\xC3\xA9", ".", "**", "[a-]", "[[:upper:]b]"};
    for (int n = 1 + rand() % 5; n; n--) {
        if (groups && depth < 2 && rand() % 4 == 0) {
            static const char *const open[] = {"*(", "+(", "?(", "@(", "!("};
            strcat(out, pick(open, 5));
            random_pattern(out, true, depth + 1);
            while (rand() % 2) {
                strcat(out, "|");
                random_pattern(out, true, depth + 1);
            }
            strcat(out, ")");
        } else {
            strcat(out, pick(plain, ARRAY_LEN(plain)));
        }
    }
}

static void agrees_with_fnmatch(void **state)
{
    (void)state;
    srand(3);
    for (int round = 0; round < 60000; round++) {
        char pattern[4096] = "", subject[64];
        bool fold = round % 7 == 0;
        random_pattern(pattern, false, 0);
        random_subject(subject);
        if (!slice_ascii(slice_str(subject)))
            continue; /* fnmatch tries characters as bytes too */
        bool expected = fnmatch(pattern, subject, fold ? FNM_CASEFOLD : 0) == 0;
        if (matches(pattern, subject, fold ? PAT_ICASE : 0u) != expected)
            fail_msg("'%s' and '%s': expected %d", pattern, subject, expected);
        mem_drop(&mem);
    }
}

static void cuts_agree_with_trying_all(void **state)
{
    (void)state;
    srand(4);
    for (int round = 0; round < 40000; round++) {
        char pattern[4096] = "", text[64];
        random_pattern(pattern, round % 2, 0);
        random_subject(text);
        if (strlen(pattern) > 400)
            continue;
        Slice s = slice_str(text);
        const Pat *p = pat_compile(&mem, slice_str(pattern), PAT_EXTGLOB);
        size_t want[4] = {RE_UNSET, RE_UNSET, RE_UNSET, RE_UNSET};
        ReSpan first = {RE_UNSET, 0}, span;
        size_t n;
        for (size_t at = 0; at <= s.len; at += at < s.len ? (utf8_decode(s.data + at, s.len - at, &n), n) : 1) {
            if (pat_match(&env, p, slice(s.data, at)))
                want[1] = at, want[0] = want[0] == RE_UNSET ? at : want[0];
            if (pat_match(&env, p, slice_from(s, at)))
                want[2] = s.len - at, want[3] = want[3] == RE_UNSET ? s.len - at : want[3];
            for (size_t end = at; end <= s.len && (first.start == RE_UNSET || first.start == at);
                 end += end < s.len ? (utf8_decode(s.data + end, s.len - end, &n), n) : 1)
                if (pat_match(&env, p, slice(s.data + at, end - at)))
                    first = (ReSpan){at, end};
        }
        if (pat_prefix(&env, p, s, false) != want[0] || pat_prefix(&env, p, s, true) != want[1]
            || pat_suffix(&env, p, s, false) != want[2] || pat_suffix(&env, p, s, true) != want[3])
            fail_msg("cut '%s' from '%s'", pattern, text);
        bool found = pat_search(&env, p, s, 0, &span);
        if (found != (first.start != RE_UNSET) || (found && (span.start != first.start || span.end != first.end)))
            fail_msg("search '%s' in '%s'", pattern, text);
        mem_drop(&mem);
    }
}

static void negation(void **state)
{
    (void)state;
    assert_true(matches("!(foo)", "bar", PAT_EXTGLOB));
    assert_false(matches("!(foo)", "foo", PAT_EXTGLOB));
    assert_true(matches("!(foo)", "", PAT_EXTGLOB));
    assert_true(matches("!(*.c|*.h)", "a.o", PAT_EXTGLOB));
    assert_false(matches("!(*.c|*.h)", "a.c", PAT_EXTGLOB));
    assert_true(matches("a!(b)c", "abbc", PAT_EXTGLOB));
    assert_false(matches("a!(b)c", "abc", PAT_EXTGLOB));
    assert_true(matches("!(foo)*", "foo", PAT_EXTGLOB));
}

static void details_of_bash(void **state)
{
    (void)state;
    assert_true(matches("[", "[", 0));
    assert_true(matches("a[b", "a[b", 0));
    assert_true(matches("a\\", "a\\", 0));
    assert_true(matches("[[.hyphen.]]", "-", 0));
    assert_true(matches("[\\]]", "]", 0));
    assert_true(matches("\xFF*", "\xFF\xFE", 0));
    assert_true(matches("?", "\xFF", 0));
    assert_false(matches("?", "\xC3\xA9", PAT_BYTES));
    assert_false(matches("*", ".x", PAT_PERIOD));
    assert_true(matches(".*", ".x", PAT_PERIOD));
    assert_false(matches("[.]x", ".x", PAT_PERIOD));
    assert_true(matches("*(.x|y)", ".x", PAT_PERIOD | PAT_EXTGLOB));
    assert_false(matches("!(y)", ".x", PAT_PERIOD | PAT_EXTGLOB));
    assert_true(matches("?(a|b", "x(a|b", PAT_EXTGLOB));
    assert_true(pat_is_literal(SLICE("a\\*b"), 0));
    assert_false(pat_is_literal(SLICE("a*b"), 0));
    assert_true(pat_is_literal(SLICE("a[b"), 0));
    assert_true(pat_is_literal(SLICE("+(a)"), 0));
    assert_false(pat_is_literal(SLICE("+(a)"), PAT_EXTGLOB));
}

static void long_subjects_stay_cheap(void **state)
{
    (void)state;
    static char text[100001];
    memset(text, 'a', sizeof text - 1);
    assert_false(matches("*a*a*a*a*a*b", text, 0));
    assert_true(matches("+(a|aa)", text, PAT_EXTGLOB));
    assert_true(matches("x*([a-z])", text, PAT_EXTGLOB) == false);
    char nested[2048] = "";
    for (int i = 0; i < 300; i++)
        strcat(nested, "@(a");
    for (int i = 0; i < 300; i++)
        strcat(nested, ")");
    assert_false(matches(nested, "b", PAT_EXTGLOB));
    mem_drop(&mem);
}

int main(void)
{
    setlocale(LC_ALL, "C.UTF-8");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_fnmatch), cmocka_unit_test(cuts_agree_with_trying_all), cmocka_unit_test(negation),
        cmocka_unit_test(details_of_bash),     cmocka_unit_test(long_subjects_stay_cheap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* regex: random patterns and subjects against glibc's matcher in the three dialects, and what it cannot show. */
#include <locale.h>
#include <regex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* 1 match, 0 none, -1 the pattern does not compile (*message). */
static int reference(reg_syntax_t syntax, const char *pattern, const char *subject, struct re_registers *regs, const char **message)
{
    struct re_pattern_buffer buf = {0};
    re_set_syntax(syntax);
    *message = re_compile_pattern(pattern, strlen(pattern), &buf);
    if (*message)
        return -1;
    int at = re_search(&buf, subject, (regoff_t)strlen(subject), 0, (regoff_t)strlen(subject), regs);
    regfree(&buf);
    return at >= 0;
}

static const reg_syntax_t references[] = {
    RE_SYNTAX_POSIX_BASIC & ~RE_UNMATCHED_RIGHT_PAREN_ORD,
    RE_SYNTAX_POSIX_EXTENDED & ~RE_UNMATCHED_RIGHT_PAREN_ORD,
    RE_SYNTAX_POSIX_EXTENDED,
    (RE_SYNTAX_POSIX_BASIC & ~RE_CONTEXT_INVALID_DUP) | RE_NEWLINE_ALT,
};

/* The C library's names end here. */
#undef RE_ICASE
#include "lib/base/regex.h"

static Mem mem;
static const ReEnv env = {.mem = &mem};

typedef struct {
    ReSyntax syntax;
    unsigned flags;
} Dialect;

static const Dialect dialects[] = {{RE_BRE, 0}, {RE_ERE, 0}, {RE_ERE, RE_BASH}, {RE_BRE, RE_GREP}};

static const char *pick(const char *const *from, size_t n) { return from[(size_t)rand() % n]; }

static void random_pattern(char *out, bool ere, int depth)
{
    static const char *const atoms[] = {"a", "b", "c", ".", "[ab]", "[^a]", "[a-c]", "[[:alpha:]]", "\\w", "\\b", "\\<", "\\>", "^", "$", "\xC3\xA9", "\\W", "[]a]", "ab", "[b-]", "\\B", "[^[:space:]]", "\\s"};
    static const char *const ere_ops[] = {"*", "+", "?", "{2}", "{1,2}", "{0,}", "|", "{,1}", "**"};
    static const char *const bre_ops[] = {"*", "\\+", "\\?", "\\{2\\}", "\\{1,2\\}", "*", "\\|", "\\{,1\\}", "*"};
    for (int n = 1 + rand() % 4; n; n--) {
        if (depth < 2 && rand() % 5 == 0) {
            strcat(out, ere ? "(" : "\\(");
            random_pattern(out, ere, depth + 1);
            strcat(out, ere ? ")" : "\\)");
        } else if (rand() % 25 == 0) {
            strcat(out, "\\1");
        } else {
            strcat(out, pick(atoms, ARRAY_LEN(atoms)));
        }
        if (rand() % 3 == 0)
            strcat(out, pick(ere ? ere_ops : bre_ops, 9));
    }
}

static void random_subject(char *out)
{
    static const char *const parts[] = {"a", "b", "c", "ab", "aa", " ", "\xC3\xA9", "-"};
    *out = 0;
    for (int n = rand() % 9; n; n--)
        strcat(out, pick(parts, ARRAY_LEN(parts)));
}

enum { GROUPS = 6 };

static int total, spans_differ, captures_differ;

static void compare(const Dialect *d, const char *pattern, const char *subject)
{
    struct re_registers regs = {0};
    const char *message;
    ReError err;
    int expected = reference(references[d - dialects], pattern, subject, &regs, &message);
    Slice s = slice_str(pattern);
    Re *re = re_compile(NULL, &mem, &s, 1, d->syntax, d->flags, &err);
    if ((expected < 0) != (re == NULL) || (!re && strcmp(err.message, message) != 0))
        fail_msg("'%s' in dialect %d: glibc %s, ours %s", pattern, (int)(d - dialects), message ? message : "compiles", re ? "compiles" : err.message);
    if (re) {
        ReSpan spans[GROUPS];
        total++;
        ReResult r = re_search(&env, re, slice_str(subject), 0, false, spans, GROUPS);
        bool same = r == expected;
        if (same && r == RE_MATCHED)
            same = (regoff_t)spans[0].start == regs.start[0] && (regoff_t)spans[0].end == regs.end[0];
        if (!same) {
            spans_differ++;
            if (getenv("REGEX_TEST_VERBOSE"))
                printf("'%s' '%s' dialect %d: glibc %d %d-%d ours %d %zd-%zd\n", pattern, subject, (int)(d - dialects), expected,
                       expected ? regs.start[0] : 0, expected ? regs.end[0] : 0, r, (ssize_t)spans[0].start, (ssize_t)spans[0].end);
        }
        bool captures = true;
        for (unsigned i = 1; same && r == RE_MATCHED && i < GROUPS && i < regs.num_regs; i++)
            captures = captures && (regoff_t)spans[i].start == regs.start[i] && (regoff_t)spans[i].end == regs.end[i];
        captures_differ += !captures;
    }
    re_unref(re);
    if (regs.start)
        free(regs.start), free(regs.end);
    mem_drop(&mem);
}

static void agrees_with_glibc(void **state)
{
    (void)state;
    srand(11);
    /* Further on this seed meets a pattern on which glibc itself does not end. */
    for (int round = 0; round < 20000; round++) {
        char pattern[4096] = "", subject[64];
        const Dialect *d = &dialects[round % 4];
        random_pattern(pattern, d->syntax == RE_ERE, 0);
        random_subject(subject);
        compare(d, pattern, subject);
    }
    printf("%d compared, %d matches differ, %d captures differ\n", total, spans_differ, captures_differ);
    assert_true(spans_differ * 300 < total);
    assert_true(captures_differ * 60 < total);
}

static const char *message_of(const char *pattern, ReSyntax syntax, unsigned flags)
{
    ReError err;
    Slice s = slice_str(pattern);
    Re *re = re_compile(NULL, &mem, &s, 1, syntax, flags, &err);
    re_unref(re);
    return re ? "" : err.message;
}

static void errors_are_glibcs(void **state)
{
    (void)state;
    assert_string_equal(message_of("[[:foo:]]", RE_BRE, 0), "Invalid character class name");
    assert_string_equal(message_of("[a", RE_BRE, 0), "Unmatched [, [^, [:, [., or [=");
    assert_string_equal(message_of("[[.xy.]]", RE_BRE, 0), "Invalid collation character");
    assert_string_equal(message_of("[z-a]", RE_BRE, 0), "Invalid range end");
    assert_string_equal(message_of("(a", RE_ERE, 0), "Unmatched ( or \\(");
    assert_string_equal(message_of("a\\{1", RE_BRE, 0), "Unmatched \\{");
    assert_string_equal(message_of("a{1x}", RE_ERE, 0), "Invalid content of \\{\\}");
    assert_string_equal(message_of("a{1x}", RE_ERE, RE_GREP), "");
    assert_string_equal(message_of("a{99999}", RE_ERE, 0), "Regular expression too big");
    assert_string_equal(message_of("a\\", RE_BRE, 0), "Trailing backslash");
    assert_string_equal(message_of("*a", RE_ERE, 0), "Invalid preceding regular expression");
    assert_string_equal(message_of("*a", RE_ERE, RE_GREP), "");
    assert_string_equal(message_of("\\1", RE_BRE, 0), "Invalid back reference");
}

static ReResult find(const char *pattern, ReSyntax syntax, unsigned flags, Slice subject, ReSpan *span)
{
    ReError err;
    Slice s = slice_str(pattern);
    Re *re = re_compile(NULL, &mem, &s, 1, syntax, flags, &err);
    assert_non_null(re);
    ReResult r = re_search(&env, re, subject, 0, false, span, 1);
    re_unref(re);
    return r;
}

static void stray_bytes(void **state)
{
    (void)state;
    ReSpan span;
    assert_int_equal(find("a.b", RE_BRE, 0, SLICE("a\xFF" "b a\xC3\xA9" "b"), &span), RE_MATCHED);
    assert_int_equal(span.start, 4);
    assert_int_equal(find("\xFF", RE_BRE, 0, SLICE("a\xFF" "b"), &span), RE_MATCHED);
    assert_int_equal(find("\xFF.", RE_BRE, 0, SLICE("a\xFF\xC3\xA9"), &span), RE_MATCHED);
    assert_int_equal(span.end, 4);
    assert_int_equal(find(".", RE_BRE, RE_BYTES, SLICE("\xC3\xA9"), &span), RE_MATCHED);
    assert_int_equal(span.end, 1);
    assert_int_equal(find("k", RE_BRE, RE_ICASE, SLICE("\xE2\x84\xAA\xC3\xA9K"), &span), RE_MATCHED);
    assert_int_equal(span.start, 5);
    assert_int_equal(find("\xC3\x89", RE_BRE, RE_ICASE, SLICE("x\xC3\xA9"), &span), RE_MATCHED);
    assert_int_equal(find("", RE_BRE, 0, (Slice){NULL, 0}, &span), RE_MATCHED);
}

static void hard_patterns_end(void **state)
{
    (void)state;
    static char text[40001];
    memset(text, 'a', sizeof text - 1);
    ReSpan span;
    assert_int_equal(find("(a|aa)*b", RE_ERE, 0, slice(text, 2000), &span), RE_NOMATCH);
    assert_int_equal(find("(a*)*b", RE_ERE, 0, slice(text, 1000), &span), RE_NOMATCH);
    assert_int_equal(find("(a|aa)*(a|aa)*$", RE_ERE, 0, slice(text, 40000), &span), RE_MATCHED);
    assert_int_equal(find("(x+x+)+y", RE_ERE, 0, SLICE("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"), &span), RE_NOMATCH);
    char nested[1000] = "";
    for (int i = 0; i < 300; i++)
        strcat(nested, "(");
    assert_string_equal(message_of(nested, RE_ERE, 0), "Regular expression too big");
    mem_drop(&mem);
}

static void cache_keeps_patterns(void **state)
{
    (void)state;
    Budget budget = {0};
    ReCache *cache = re_cache_new(&budget, 16);
    ReError err;
    Re *first = re_cached(cache, &mem, SLICE("a*b"), RE_BRE, 0, &err);
    Re *again = re_cached(cache, &mem, SLICE("a*b"), RE_BRE, 0, &err);
    Re *other = re_cached(cache, &mem, SLICE("a*b"), RE_BRE, RE_ICASE, &err);
    assert_ptr_equal(first, again);
    assert_ptr_not_equal(first, other);
    assert_null(re_cached(cache, &mem, SLICE("[a"), RE_BRE, 0, &err));
    for (int i = 0; i < 200; i++)
        re_unref(re_cached(cache, &mem, slice_str(mem_printf(&mem, "x%d", i)), RE_BRE, 0, &err));
    re_unref(first), re_unref(again), re_unref(other);
    assert_true(budget.used < 64 * 1024);
    re_cache_free(cache);
    assert_int_equal(budget.used, 0);
    mem_drop(&mem);
}

int main(void)
{
    setlocale(LC_ALL, "C.UTF-8");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_are_glibcs), cmocka_unit_test(stray_bytes), cmocka_unit_test(hard_patterns_end),
        cmocka_unit_test(cache_keeps_patterns), cmocka_unit_test(agrees_with_glibc),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* regex_fuzz: a pattern and a subject through every dialect, and through bash patterns.
 *
 * The first byte chooses the dialect, the second the flags; a zero byte ends the pattern. Besides crashes, spans that do not lie within the
 * subject, a match that moves when the subject is searched from where it was found, and a needle that a match does not hold are faults.
 */
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>

#include "lib/base/regex.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { WORK = 2000000, SPANS = 10 };

static jmp_buf too_long;
static uint64_t spent;

static void tick(void *user, uint64_t cost)
{
    (void)user;
    spent += cost;
    if (spent > WORK)
        longjmp(too_long, 1);
}

static void check(const Re *re, Slice subject, const ReSpan *spans, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        bool unset = spans[i].start == RE_UNSET && spans[i].end == RE_UNSET;
        if (!unset && (spans[i].start > spans[i].end || spans[i].end > subject.len))
            abort();
    }
    Slice needle = re_needle(re);
    Slice match = slice(subject.data + spans[0].start, spans[0].end - spans[0].start);
    if (needle.len && slice_search(match, needle) == SIZE_MAX && slice_search(subject, needle) == SIZE_MAX)
        abort();
}

static void search(Re *re, const ReEnv *env, Slice subject)
{
    ReSpan spans[SPANS], again[1];
    size_t n = MIN(re_groups(re) + 1, (size_t)SPANS), at = 0;
    for (int rounds = 0; rounds < 50 && at <= subject.len; rounds++) {
        ReResult r = re_search(env, re, subject, at, at > 0, spans, n);
        if (r != RE_MATCHED)
            return;
        if (spans[0].start == RE_UNSET || spans[0].start < at)
            abort();
        check(re, subject, spans, n);
        if (re_search(env, re, subject, spans[0].start, spans[0].start > 0, again, 1) != RE_MATCHED)
            return; /* \b and the like look behind; not finding it again is not a fault, finding it elsewhere is */
        at = spans[0].end > spans[0].start ? spans[0].end : spans[0].end + 1;
    }
}

static void try_regex(Mem *m, const uint8_t *head, Slice pattern, Slice subject)
{
    static const unsigned flags[] = {0, RE_ICASE, RE_NEWLINE, RE_MULTILINE, RE_BYTES, RE_WHOLE_LINE, RE_WHOLE_WORD, RE_NO_CAPTURES, RE_POSIX, RE_BASH, RE_GREP, RE_ICASE | RE_GREP | RE_WHOLE_WORD, RE_GREP | RE_NEWLINE};
    ReError err = {0};
    ReEnv env = {.tick = tick, .mem = m};
    Re *volatile re = re_compile(NULL, m, &pattern, 1, (ReSyntax)(head[0] % 5), flags[head[1] % ARRAY_LEN(flags)], &err);
    if (!re) {
        if (!err.message)
            abort();
        return;
    }
    if (!setjmp(too_long))
        search(re, &env, subject);
    re_unref(re);
}

static void try_pattern(Mem *m, const uint8_t *head, Slice pattern, Slice subject)
{
    ReEnv env = {.tick = tick, .mem = m};
    Pat *pat = pat_compile(m, pattern, head[1] & 31);
    ReSpan span;
    if (!pat || setjmp(too_long))
        return;
    bool whole = pat_match(&env, pat, subject);
    size_t longest = pat_prefix(&env, pat, subject, true), shortest = pat_prefix(&env, pat, subject, false);
    if (whole && longest != subject.len)
        abort();
    if ((longest == RE_UNSET) != (shortest == RE_UNSET) || (longest != RE_UNSET && (shortest > longest || longest > subject.len)))
        abort();
    size_t suffix = pat_suffix(&env, pat, subject, true);
    if (whole && suffix != subject.len)
        abort();
    if (pat_search(&env, pat_for(m, pat, subject), subject, 0, &span) && (span.start > span.end || span.end > subject.len))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3 || size > 2048)
        return 0;
    Slice rest = slice((const char *)data + 2, size - 2);
    size_t n = slice_find(rest, 0);
    Slice pattern = slice(rest.data, n), subject = n < rest.len ? slice_from(rest, n + 1) : slice("", 0);
    Budget budget = {.limit = 64 << 20};
    Mem m;
    mem_init(&m, &budget, NULL, NULL);
    spent = 0;
    if (data[0] % 5 == 4)
        try_pattern(&m, data, pattern, subject);
    else
        try_regex(&m, data, pattern, subject);
    mem_drop(&m);
    return 0;
}

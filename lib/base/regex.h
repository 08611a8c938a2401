/* Regular expressions and shell patterns.
 *
 * BRE and ERE with GNU's extensions, PCRE (-P), fixed strings, and bash patterns. Our own parser builds a
 * small tree that is printed as PCRE2; POSIX leftmost-longest holds wherever it shows (see regex.c).
 * Compiled patterns are immutable and counted; a ReCache keeps the most used ones of a shell. JIT is used
 * once a pattern has earned it.
 *
 * Every match is bounded: `tick` is called between slices of work on the caller's stack, never while
 * PCRE2 is on it, and may raise. Errors are GNU's texts ("Unmatched [, [^, [:, [., or [=").
 */
#ifndef LIBSHELL_REGEX_H
#define LIBSHELL_REGEX_H

#include "mem.h"

typedef enum { RE_BRE, RE_ERE, RE_PCRE, RE_FIXED } ReSyntax;

enum {
    RE_ICASE = 1 << 0,
    RE_NEWLINE = 1 << 1,  /* ^ and $ match at newlines, . and [^x] do not match one (sed's M is RE_MULTILINE) */
    RE_MULTILINE = 1 << 2, /* ^ and $ also match at newlines; . matches them */
    RE_BYTES = 1 << 3,    /* the C locale: a character is a byte */
    RE_WHOLE_LINE = 1 << 4, /* grep -x */
    RE_WHOLE_WORD = 1 << 5, /* grep -w */
    RE_NO_CAPTURES = 1 << 6, /* only whether and where: spans[0] at most */
    RE_POSIX = 1 << 7,    /* without GNU's extensions (sed --posix) */
    RE_BASH = 1 << 8,     /* [[ =~ ]]: like regcomp(REG_EXTENDED) of glibc */
    RE_GREP = 1 << 9,     /* grep's dialect: operators with nothing before them are skipped, odd intervals are text */
    RE_AWK = 1 << 11,     /* gawk's: operators with nothing before them, odd intervals and an unmatched parenthesis are text */
    RE_BYTE_RANGES = 1 << 10, /* glibc's, without collation tables: the ends of a range are single bytes */
};

typedef struct Re Re;
typedef struct ReCache ReCache;

typedef struct { size_t start, end; } ReSpan; /* RE_UNSET in both when a group did not take part */
#define RE_UNSET ((size_t)-1)

typedef enum { RE_NOMATCH = 0, RE_MATCHED = 1, RE_ERR_LIMIT = -1, RE_ERR_MEMORY = -2 } ReResult;

typedef enum { TEXT_UNKNOWN, TEXT_ASCII, TEXT_MIXED } ReText;

/* For many searches with one pattern: match data that is kept between them, by whoever set `re`, until re_hold_end. */
typedef struct ReHold {
    Re *re;
    void *scratch;
} ReHold;
void re_hold_end(ReHold *hold);

typedef struct {
    void (*tick)(void *user, uint64_t cost); /* may raise; NULL: none */
    void *user;
    Mem *mem; /* scratch of patterns with groups; may raise on failure before anything is held */
    ReText text; /* what the caller knows about the subject, so that long ones are not looked through each time */
    ReHold *hold; /* or NULL */
} ReEnv;

typedef struct {
    const char *message; /* GNU's text, static or in the Mem given */
    size_t offset;       /* into the pattern */
    bool late;           /* RE_GREP: an error of the whole, which comes after those of single patterns and warnings */
    char dangling[8];    /* RE_GREP, also on success: operators that were skipped because nothing was before them, in order */
} ReError;

/* `mem` holds error texts and scratch; the Re itself is malloc'd, limited by what `budget` has left but charged to nobody afterwards
 * (re_bytes tells holders), and counted atomically: it may be shared between shells and threads.
 * Returns NULL and fills *err. Several patterns separated by newlines are alternatives when `count` > 1. */
Re *re_compile(Budget *budget, Mem *mem, const Slice *patterns, size_t count, ReSyntax syntax, unsigned flags, ReError *err);
Re *re_ref(Re *re);
void re_unref(Re *re);
size_t re_bytes(const Re *re);

#define re_search re_find /* the C library has a re_search of its own */
/* First match at or after `start`. spans[0..nspans) are filled. `not_bol`: ^ does not match at 0. */
ReResult re_search(const ReEnv *env, Re *re, Slice subject, size_t start, bool not_bol, ReSpan *spans, size_t nspans);
size_t re_groups(const Re *re);
size_t re_group_named(const Re *re, Slice name); /* of an RE_PCRE; 0: none */

/* A byte string that every match contains, or an empty slice: for skipping ahead with memmem. */
Slice re_needle(const Re *re);
size_t re_needle_find(const Re *re, Slice subject); /* its first place, or SIZE_MAX */

ReCache *re_cache_new(Budget *budget, size_t entries);
void re_cache_free(ReCache *cache);
/* As re_compile for one pattern, through the cache. One reference is the caller's; commands use proc_regex. */
Re *re_cached(ReCache *cache, Mem *mem, Slice pattern, ReSyntax syntax, unsigned flags, ReError *err);

/* --- bash patterns (case, ${v#p}, pathname expansion, [[ == ]]) --- */

enum {
    PAT_ICASE = 1 << 0,
    PAT_EXTGLOB = 1 << 1,
    PAT_PATHNAME = 1 << 2, /* a component of a path: no / in subject */
    PAT_PERIOD = 1 << 3,   /* a leading . must be matched by a literal . */
    PAT_BYTES = 1 << 4,
};

/* A pattern's text with quoting made explicit: a backslash before a byte makes it literal. As in bash, a pattern or a subject that is not
 * valid UTF-8 makes both of them bytes. */
typedef struct Pat Pat;
Pat *pat_compile(Mem *mem, Slice pattern, unsigned flags); /* in `mem`; NULL only without memory */
bool pat_match(const ReEnv *env, const Pat *p, Slice subject); /* the whole subject; without an env it stays as compiled */
/* Length of the shortest or longest prefix (or suffix) that matches, or RE_UNSET. */
size_t pat_prefix(const ReEnv *env, const Pat *p, Slice subject, bool longest);
size_t pat_suffix(const ReEnv *env, const Pat *p, Slice subject, bool longest);
/* The pattern to ask about `subject`: itself, or in `mem` one for bytes. The questions above do so by themselves. */
const Pat *pat_for(Mem *mem, const Pat *p, Slice subject);
/* First, longest match at or after start, of a pattern that is pat_for the subject: for ${v/p/r}. */
bool pat_search(const ReEnv *env, const Pat *p, Slice subject, size_t start, ReSpan *span);
/* True when the text holds no active pattern character (it is then a plain string once unescaped). */
bool pat_is_literal(Slice pattern, unsigned flags);

#endif

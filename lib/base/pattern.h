/* pattern: the compiled form of a shell pattern, between pattern.c (which parses) and pattern_match.c. Private to base. */
#ifndef LIBSHELL_PATTERN_H
#define LIBSHELL_PATTERN_H

#include "charset.h"
#include "regex.h"

typedef enum { PAT_LITERAL, PAT_ANY, PAT_STAR, PAT_SET, PAT_GROUP } PatKind;

typedef struct PatItem PatItem;
typedef struct {
    PatItem *items;
    uint32_t count, cap;
} PatSeq;

struct PatItem {
    PatKind kind;
    char op;             /* PAT_GROUP: ? * + @ ! */
    uint32_t alternatives;
    union {
        Slice text;      /* PAT_LITERAL, unescaped */
        CharSet *set;
        PatSeq *group;
    };
};

struct Pat {
    PatSeq seq;
    unsigned flags;
    Slice text;          /* what it was compiled from */
    bool extended;       /* has groups: matched by sets of positions */
    bool counts_chars;   /* what it matches depends on where characters end */
};

static inline uint32_t pat_char(const Pat *p, Slice s, size_t at, size_t *n)
{
    return char_at(s, at, p->flags & PAT_BYTES, n);
}

#endif

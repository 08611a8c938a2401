/* sort: what the parts of sort share. key.c reads key specifications, compare.c orders two lines, sort.c does the rest. */
#ifndef LIBSHELL_SORT_H
#define LIBSHELL_SORT_H

#include "command.h"

typedef struct Ordering {
    bool skip_start_blanks, skip_end_blanks; /* b */
    bool dictionary, printable;              /* d i */
    bool fold;                               /* f */
    bool numeric, general, human, month, version, random;
    bool reverse;
} Ordering;

typedef struct Key {
    size_t start_field, start_char; /* from 0 */
    size_t end_field, end_char;     /* end_field SIZE_MAX: the end of the line; end_char 0: the end of end_field */
    bool own_ordering;
    Ordering order;
} Key;

typedef struct Line {
    const char *text;
    size_t len;
    uint64_t prefix; /* orders most pairs; equal prefixes need a full comparison */
} Line;

typedef struct Sorter {
    Proc *proc;
    Key *keys;
    size_t nkeys;      /* 0: whole lines bytewise */
    Ordering global;
    int tab;           /* field separator, or -1: a change from blank to non-blank */
    bool stable, unique;
    bool exact;        /* the prefixes of all lines are their first keys, so that equal ones need no look at those */
    char delimiter;
    uint64_t seed;     /* of -R */
} Sorter;

/* Parses a -k argument or dies with GNU's message. */
Key key_parse(Proc *p, const char *text);
/* Rewrites the old form of keys, +1 -2, as -k2,2. */
void sort_modern_keys(Proc *p, Args *args);
/* Applies ordering letters; false at a letter that is none, *end then points to it. */
bool ordering_letters(Ordering *o, const char *text, const char **end, bool start_blanks, bool end_blanks);
bool ordering_is_default(const Ordering *o);
/* Complains about pairs such as -n with -d. */
void ordering_check(Proc *p, const Ordering *o);

/* <0, 0, >0: by keys, then (unless stable or unique) by whole lines. */
int line_compare(const Sorter *s, const Line *a, const Line *b);
/* By keys alone: what -u and -c -u call equal. */
int line_compare_keys(const Sorter *s, const Line *a, const Line *b);
typedef struct Prefix {
    uint64_t value;
    bool exact; /* it is the whole first key */
} Prefix;
Prefix line_prefix(const Sorter *s, Slice text);
/* Of lines that are equal up to there, in the order of whole lines. */
uint64_t prefix_behind(const Sorter *s, Slice text, size_t skip);

#endif

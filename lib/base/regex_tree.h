/* regex_tree: the tree between the parser, the analysis and the printer of regular expressions. Private to base. */
#ifndef LIBSHELL_REGEX_TREE_H
#define LIBSHELL_REGEX_TREE_H

#include "charset.h"
#include "regex.h"

typedef enum {
    N_EMPTY,
    N_CHAR,
    N_ANY,
    N_SET,
    N_CAT,
    N_ALT,
    N_REPEAT,
    N_GROUP,
    N_BACKREF,
    N_ANCHOR,  /* kind in `c`: ^ $ ` ' < > b B */
} NodeKind;

enum { REPEAT_MAX = 0x7FFF, REPEAT_FOREVER = -1 };

typedef struct Node {
    NodeKind kind;
    uint32_t c;          /* N_CHAR, N_ANCHOR */
    int min, max;        /* N_REPEAT */
    uint32_t number;     /* N_GROUP, N_BACKREF */
    uint32_t count;      /* N_CAT, N_ALT */
    CharSet *set;        /* N_SET */
    struct Node *sub;    /* N_REPEAT, N_GROUP */
    struct Node **kids;  /* N_CAT, N_ALT */
} Node;

typedef struct {
    Mem *mem;
    ReSyntax syntax;
    unsigned flags;
    uint32_t groups;     /* so far, over all patterns */
    const char *message; /* set on failure */
    size_t offset;
    char dangling[8];    /* operators read over, for grep's warnings */
    bool colon;          /* RE_GREP: a [:space:] outside of brackets, which is an error once nothing else is */
} ReParse;

extern const char re_no_memory[];

/* The tree of one pattern; NULL with ps->message set. */
Node *re_parse(ReParse *ps, Slice pattern);
Node *re_node(ReParse *ps, NodeKind kind);
/* kids is copied. */
Node *re_list(ReParse *ps, NodeKind kind, Node **kids, uint32_t count);

/* Two printed forms: FAST takes bytes for characters and is right for ASCII subjects (or, with `safe`, for all);
 * FULL is right for every subject. */
typedef enum { FORM_FAST, FORM_UTF, FORM_MIXED /* bytes, characters spelled out: for patterns with stray bytes */ } ReForm;
void re_print(Buf *out, const Node *n, ReForm form, unsigned flags);

/* What can be known without matching. */
typedef struct {
    bool ambiguous;   /* the first match found need not be the longest */
    bool safe;        /* FORM_FAST is right for all subjects */
    bool stray;       /* the pattern holds bytes that are no characters */
    bool backrefs;
    bool literal;     /* nothing but `needle` */
    Slice needle;
} ReFacts;
ReFacts re_analyse(ReParse *ps, Node *n, Mem *mem);

#endif

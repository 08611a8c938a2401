/* print: what print.c and print_word.c share. */
#ifndef LIBSHELL_PRINT_H
#define LIBSHELL_PRINT_H

#include "parse.h"

typedef struct Printer {
    Buf *out;
    unsigned indent, step;      /* columns */
    unsigned skip_indent;       /* commands to come that continue a line */
    unsigned in_function;       /* lists one command a line */
    bool in_substitution;       /* the text of $( ) as bash keeps it: here-documents at once */
    bool was_heredoc;           /* a body was just printed: its newline stands for the ; */
    size_t start;               /* of this text in `out` */
    const Redir **deferred;     /* here-documents whose bodies are to come */
    size_t ndeferred, cap;
    const Node *wanted;         /* print_lines_above: what is looked for */
    uint32_t wanted_line, above;
    bool found, exact;
    const Node *placed;         /* what was found last */
} Printer;

/* A word as bash keeps it: substitutions printed from their trees, $'..' as what it means, $".." as "..". */
void emit_word(Printer *p, const Word *w);
void emit_single_quoted(Buf *out, Slice s);
void print_substitution(Buf *out, const Node *n);

#endif

/* inputs: the values jq reads, from files in turn. Private to builtins/jq. */
#ifndef LIBSHELL_JQ_INPUTS_H
#define LIBSHELL_JQ_INPUTS_H

#include "reader.h"

typedef struct Inputs {
    J *j;
    Reader reader;
    char **names;
    int count, index;
    int fd;               /* -1: the next file is not open */
    const char *current;  /* the file being read; NULL before and for standard input */
    bool raw, slurp, slurped, started;
    int failures;         /* files that could not be read */
    Sink *out;            /* results wait here */
    Buf line;             /* -R: a line that crosses chunks */
    Slice window;
    uint64_t lines;       /* -R */
    uint64_t before;      /* lines of the files before this one */
    bool eof;
} Inputs;

ReadState jq_inputs_next(Inputs *in, Val *out);
/* Nothing is left behind the value that was read: known of a regular file, without waiting. */
bool jq_inputs_last(const Inputs *in);
uint64_t jq_inputs_lines(Inputs *in);
void jq_inputs_flush(Inputs *in);

#endif

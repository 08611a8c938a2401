/* run: the main input and the messages of a running program. */
#ifndef LIBSHELL_AWK_RUN_H
#define LIBSHELL_AWK_RUN_H

#include "awk.h"

bool awk_assignment(Awk *w, Slice s);
bool main_record(Awk *w);
void main_next_file(Awk *w);
void unwind_frames(Awk *w);
void in_place_begin(Awk *w, Slice name);
void in_place_end(Awk *w);
unsigned parser_line(const Awk *w, const Source **source);
void awk_usage(Awk *w, Output *o);
void awk_version(Output *o);
void awk_copyright(Output *o);
int awk_source_find(Awk *w, Slice name, Slice *text, const char **path);

#endif

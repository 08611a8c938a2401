/* runscope: see runscope.c. */
#ifndef LIBSHELL_RUNSCOPE_H
#define LIBSHELL_RUNSCOPE_H

#include "lang.h"

typedef struct RunScope RunScope;

/* Sets `env` (NAME=VALUE ..., or NULL) as exported variables and enters `cwd` (or NULL). False: no such directory, said on stderr. */
bool runscope_enter(Interp *in, RunScope **scope, const char *const *env, const char *cwd);
void runscope_leave(Interp *in, RunScope *scope);

#endif

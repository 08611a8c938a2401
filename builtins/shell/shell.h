/* shell: what the builtins of this folder share. They print bash's messages: "bash: line 3: cd: ...". */
#ifndef LIBSHELL_BUILTINS_SHELL_H
#define LIBSHELL_BUILTINS_SHELL_H

#include "command.h"
#include "lib/lang/builtin.h"

enum { SHELL_USAGE = 2 };

#define SHELL_FLAGS (COMMAND_SHELL | COMMAND_RAW | COMMAND_NO_FILE)
#define SPECIAL_FLAGS (SHELL_FLAGS | COMMAND_SPECIAL)
#define BUILTIN(id, name_, usage_, summary_, flags_)                                                              \
    COMMAND_NAMED(id, name_, usage_, summary_, NULL, flags_, .usage_status = SHELL_USAGE, .package = "GNU bash 5.2")

/* The next option letter, or -1 at the first operand, which is then args->argv[args->at]; '?' after a bad one was reported
 * with the usage line (the builtin returns SHELL_USAGE). `letters` as getopt: a colon after one that takes a value (in
 * args->value). With a leading '+', +x is an option too and returned negative. */
int shell_option(Proc *p, Args *args, const char *letters);
/* "NAME: usage: ..." on stderr; SHELL_USAGE. */
int shell_usage(Proc *p, Args *args);
/* "NAME: WHAT: message" as bash; 1. */
int shell_fail(Proc *p, Args *args, const char *format, ...) PRINTF_LIKE(3, 4);
/* A decimal number with blanks around it allowed. */
bool shell_number(const char *s, int64_t *value);
static inline char **shell_operands(Args *args, int *count)
{
    *count = args->argc - args->at;
    return args->argv + args->at;
}
/* set -r: "NAME: restricted" and true. */
bool shell_restricted(Proc *p, Args *args, const char *what);
static inline Slice text_of(const char *s) { return slice_str(s); }
Buf shell_buf(Proc *p);
/* `set` alone: all variables and, but for POSIX mode, functions. */
int print_variables(Proc *p);

#endif

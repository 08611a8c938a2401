/* registry: every command in one sorted table; how the kernel runs one. */
#ifndef LIBSHELL_REGISTRY_H
#define LIBSHELL_REGISTRY_H

#include "command.h"

/* For KernelOptions: arguments, main, flush, "write error"; the status. */
int command_run(Proc *p, const Command *c, int argc, char **argv);
StackSize command_stack(const Command *c);
const char *command_name(const Command *c);

#endif

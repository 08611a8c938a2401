/* cli: what the files of the command line share. */
#ifndef LIBSHELL_CLI_H
#define LIBSHELL_CLI_H

#include "include/shell.h"

/* shell_options.component: opens libshell-NAME.so beside this program, in ../lib from it, or where the loader looks. */
const shell_component *cli_component(void *user, const char *name);

#endif

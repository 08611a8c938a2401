/* cli: what the files of the command line share. */
#ifndef LIBSHELL_CLI_H
#define LIBSHELL_CLI_H

#include "include/shell.h"

/* shell_options.component: opens libshell-NAME.so beside this program, in ../lib from it, or where the loader looks. */
const shell_component *cli_component(void *user, const char *name);

/* Begins the file of --audit, which must be new; NULL, or why it cannot be. */
const char *cli_audit(const char *file, shell_audit *out);
int cli_verify_audit(const char *file); /* the status of --verify-audit */

#endif

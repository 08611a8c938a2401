/* cli: what the files of the command line share. */
#ifndef LIBSHELL_CLI_H
#define LIBSHELL_CLI_H

#include "include/shell.h"
#include "settings.h"

/* shell_options.component: opens libshell-NAME.so beside this program, in ../lib from it, or where the loader looks. */
const shell_component *cli_component(void *user, const char *name);

/* Begins an audit's file, which must be new: FILE, or FILE.N when `number` is not 0. NULL, or why it cannot be. */
const char *cli_audit(const char *file, unsigned number, shell_audit *out);
void cli_audit_end(shell_audit *audit);
int cli_verify_audit(const char *file); /* the status of --verify-audit */

/* shell_run_opts.on_output and on_input: descriptors 0, 1 and 2. */
int32_t cli_write(void *user, int32_t stream, const char *data, uint64_t len);
int64_t cli_read(void *user, char *buf, uint64_t cap);
/* SHELL_RUN_MERGE when standard output and standard error are one file, as after 2>&1 and at a terminal: what is written keeps its order. */
uint32_t cli_output_flags(void);

/* The options that `set` is to be given, by a run of their own: they stay. The status, 0 when all is well. */
int cli_apply_set(shell *sh, const Settings *s);

/* Before any thread is started; opens the components first. */
void cli_confine(const Settings *s);
#ifdef LIBSHELL_DEBUG_COMMANDS
int32_t cli_try_confinement(void *user, shell_call *call);
#endif

/* Lines from the terminal until its end or `exit`; the status to end with. Begun before the process is confined: the terminal's description is read. */
typedef struct Prompt Prompt;
bool cli_prompt_possible(void);
Prompt *cli_prompt_begin(void);
int cli_prompt(Prompt *prompt, shell *sh, const Settings *s, const char *name);

/* Serves MCP on descriptors 0 and 1 with forks of `pristine`, which stays idle; the status to end with. */
int cli_mcp(shell *pristine, const Settings *s);

#endif

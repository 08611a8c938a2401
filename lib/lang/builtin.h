/* builtin: what the shell builtins (builtins/shell) may see of the interpreter. Nobody else includes it but lang.
 *
 * A builtin's main(Proc *, Args *) runs in the interpreter's own process; interp_of(p) is its interpreter. It prints through
 * p->out and reports with shell_error ("bash: line 3: cd: nope: No such file or directory").
 */
#ifndef LIBSHELL_BUILTIN_H
#define LIBSHELL_BUILTIN_H

#include "arith.h"
#include "ast.h"
#include "lib/base/pmap.h"
#include "lib/kernel/kernel.h"
#include "parse.h"

typedef struct Interp Interp;

static inline Interp *interp_of(Proc *p) { return (Interp *)p->lang; }

/* "bash: line N: NAME: message" on stderr, where N is $LINENO and bash is $0. name NULL leaves it out. */
void shell_error(Interp *in, const char *name, const char *format, ...) PRINTF_LIKE(3, 4);

/* ---------- variables ---------- */

enum {
    ATTR_EXPORT = 1, ATTR_READONLY = 2, ATTR_INTEGER = 4, ATTR_LOWER = 8, ATTR_UPPER = 16, ATTR_NAMEREF = 32, ATTR_ARRAY = 64,
    ATTR_ASSOC = 128, ATTR_TRACE = 256, ATTR_CAPITAL = 512, ATTR_LOCAL = 1024, ATTR_INVISIBLE = 2048 /* declared, not set */,
    ATTR_NO_ASSIGN = 4096 /* GROUPS, FUNCNAME ...: assignments are ignored */,
    ATTR_KEEP = 8192 /* a prefix assignment that export or the like has spoken of: stays */,
};

typedef enum { VALUE_UNSET, VALUE_INT, VALUE_STR, VALUE_ARRAY, VALUE_ASSOC } ValueKind;

typedef struct Array Array; /* sparse, indexed; counted */
typedef struct Assoc Assoc; /* associative; counted; iterates in bash's order */

typedef struct Value {
    ValueKind kind;
    union { int64_t i; Str *s; Array *a; Assoc *m; };
} Value;

typedef struct Var {
    PEntry entry;
    uint32_t attrs;
    uint32_t scope;       /* function depth it is local to; 0 global */
    uint32_t special;     /* a computed variable (RANDOM, LINENO ...), or 0 */
    Value value;
    struct Var *shadowed; /* the binding this local hides, or NULL */
} Var;

/* Follows namerefs; NULL when there is no such variable. Special variables (RANDOM, SECONDS ...) are computed into the result. */
const Var *var_find(Interp *in, Slice name);
/* Text of a scalar, or of element 0; false when unset. Valid until the variable changes or the mark is reset. */
bool var_text(Interp *in, Slice name, Slice *out);
/* Assigns (through attributes and namerefs); prints and returns false when readonly. Local binding if one is visible. */
bool var_set(Interp *in, Slice name, Slice text, bool append);
bool var_set_int(Interp *in, Slice name, int64_t value);
/* `ref` may be name or name[subscript], as in read, printf -v, getopts. */
bool var_set_ref(Interp *in, Slice ref, Slice text);
bool var_set_element(Interp *in, Slice name, Slice subscript, Slice text, bool append);
/* Replaces the value by an empty array or map for mapfile, read -a. */
bool var_make_array(Interp *in, Slice name);
bool array_put(Interp *in, Slice name, int64_t index, Slice text);
int var_unset(Interp *in, Slice name);            /* 0, -ENOENT, -EPERM (readonly) */
const Var *var_find_raw(Interp *in, Slice name);  /* without following namerefs: unset -n, declare -p, -R */
const Var *var_listed(Interp *in, Slice name);    /* the same, as lists show it */
int var_unset_raw(Interp *in, Slice name);
bool var_is_set(Interp *in, Slice ref);           /* name or name[subscript]: test -v */
int var_unset_element(Interp *in, Slice name, Slice subscript);
/* Sets and clears attributes, making the variable when absent; `local` binds it in the current function, `global` skips locals. */
enum { DECLARE_LOCAL = 1, DECLARE_GLOBAL = 2, DECLARE_INHERIT = 4, DECLARE_VALUE = 8 /* a list comes with it */ };
bool var_declare(Interp *in, Slice name, uint32_t set, uint32_t clear, int flags);
/* All visible names, sorted, in the process's memory; filter by attributes (0: all). */
Slice *var_names(Interp *in, uint32_t attrs, size_t *count);
void var_print_declare(Interp *in, const Var *v, const char *verb, Output *out); /* verb: POSIX mode's "export" or "readonly", or NULL */ /* declare -- x="1" */
/* Elements: keys and texts in order, in the process's memory. */
typedef struct { Slice key, text; int64_t index; } Element;
Element *var_elements(Interp *in, const Var *v, size_t *count);
/* Assignment words as declaration builtins get them: performs `a` (arrays included) with `attrs` in force. */
bool var_assign(Interp *in, const Assign *a, uint32_t attrs, int declare_flags);
/* The words of the running declaration command that were parsed as assignments, by argv index; NULL where not. */
const Assign *builtin_assign(Interp *in, int argv_index);

Str *positional(Interp *in, int n);   /* $n, borrowed; NULL when beyond $# */
int positional_count(Interp *in);
bool positional_set(Interp *in, char **argv, int argc);
bool positional_shift(Interp *in, int n);

/* ---------- functions, aliases, hash ---------- */

typedef struct Function {
    PEntry entry;
    Ast *ast;
    const Node *node;     /* NODE_FUNCTION */
    uint32_t attrs;       /* EXPORT READONLY TRACE */
    Str *source;          /* BASH_SOURCE of the definition */
    uint32_t line;
    Hold *hold;           /* of ast */
    const WordPart *subst; /* the $( ) that it was defined in, or NULL */
} Function;

const Function *function_find(Interp *in, Slice name);
int function_unset(Interp *in, Slice name);
bool function_attrs(Interp *in, Slice name, uint32_t set, uint32_t clear);
Slice *function_names(Interp *in, size_t *count);

bool alias_get(Interp *in, Slice name, Slice *text);
bool alias_set(Interp *in, Slice name, Slice text);
bool alias_remove(Interp *in, Slice name);
void alias_clear(Interp *in);
Slice *alias_names(Interp *in, size_t *count);

bool hash_get(Interp *in, Slice name, Slice *path, uint32_t *hits);
bool hash_put(Interp *in, Slice name, Slice path);
bool hash_remove(Interp *in, Slice name);
void hash_clear(Interp *in);
bool hash_used(Interp *in); /* whether there ever was something */
Slice *hash_names(Interp *in, size_t *count);

bool builtin_enabled(Interp *in, Slice name);
bool builtin_enable(Interp *in, Slice name, bool on); /* false: no such builtin */
bool keyword_is(Slice name);
int *getopts_offset(Interp *in);                  /* inside the current cluster; reset when OPTIND is assigned */

/* ---------- options ---------- */

/* set -o options by letter, and those without one by name; shopt options by name. Both tables in options.c. */
bool option_on(Interp *in, char letter);
bool option_set(Interp *in, char letter, bool on);          /* false: unknown */
bool option_set_named(Interp *in, Slice name, bool on);     /* set -o name; false: unknown */
typedef struct { const char *name; char letter; bool on; } OptionState;
OptionState *option_list(Interp *in, size_t *count);         /* set -o, sorted as bash */
bool shopt_get(Interp *in, Slice name, bool *on);            /* false: unknown */
bool shopt_set(Interp *in, Slice name, bool on);
OptionState *shopt_list(Interp *in, size_t *count);
/* `local -`: options come back when the function returns. */
bool option_make_local(Interp *in);

/* ---------- control ---------- */

/* Requests that the executor carries out when the builtin returns. */
void control_break(Interp *in, unsigned levels);
void control_continue(Interp *in, unsigned levels);
void control_return(Interp *in, int status);
NORETURN void abandon_command(Interp *in, int status); /* bash's jump to top level: too many arguments */
NORETURN void control_exit(Interp *in, int status); /* exit builtin: runs the EXIT trap on the way out */
unsigned loop_depth(Interp *in);
bool in_function(Interp *in);
bool in_sourced_file(Interp *in);
bool is_subshell(Interp *in);
int last_status(Interp *in);
bool posix_mode(Interp *in);
/* An error in a special builtin: fatal in POSIX mode, in a condition only when `anywhere`. */
void set_special_error(Interp *in, bool anywhere);

/* eval and source: parse and run in this interpreter; the status. `name` for messages and BASH_SOURCE (NULL: eval). */
void source_failed(Interp *in); /* the RETURN trap */
bool special_unread(Interp *in, Slice name); /* RANDOM and its like, before it was asked for */
uint32_t scope_depth(Interp *in); /* of the function that runs */
bool arguments_changed(Interp *in, bool changed); /* whether `set` has changed them; sets what the next call returns */
void source_with_args(Interp *in, bool given); /* the next file that is sourced has arguments of its own */
int run_text(Interp *in, Slice text, const char *name, uint32_t first_line);
/* Runs a simple command given as words: for command, builtin, exec, trap actions and callbacks of mapfile -C. */
enum { RUN_NO_FUNCTIONS = 1, RUN_BUILTIN_ONLY = 2, RUN_DEFAULT_PATH = 4 };
int run_words(Interp *in, int argc, char **argv, int flags);
/* A fresh interpreter in process p, its variables from p's environment: bash FILE, bash -c, sh, #!. The status. */
typedef struct ShellStart {
    Slice text;                 /* -c */
    const char *path;           /* a file; NULL with no text: standard input */
    bool has_text, from_stdin, posix, restricted;
    const char *first;          /* run before anything else, or NULL */
    const char *options;        /* "eux" */
    const char *const *long_options, *const *shopts; /* -o NAME, -O NAME; NULL-terminated or NULL */
    char **argv;                /* $0 $1 ... */
    int argc;
} ShellStart;
int shell_start(Proc *p, const ShellStart *s);
/* exec: replaces the shell by a program; returns only when it was not found (status already printed). */
int exec_words(Interp *in, int argc, char **argv, bool empty_env, const char *argv0);
/* `exec` without a command: the redirections of the current command stay. */
void keep_redirections(Interp *in);

/* Frames for caller, FUNCNAME ...: 0 is innermost; false beyond the last. */
bool frame_info(Interp *in, size_t level, Slice *function, Slice *source, uint32_t *line);
uint32_t current_line(Interp *in);

/* ---------- traps and jobs ---------- */

enum { TRAP_EXIT = 0, TRAP_DEBUG = 65, TRAP_ERR = 66, TRAP_RETURN = 67, TRAP_MAX = 68 };
int signal_number(Slice spec);               /* "INT" "SIGINT" "2" "EXIT" ...; -1 unknown */
const char *signal_name(int number);         /* "SIGINT", "EXIT" */
bool trap_get(Interp *in, int number, Slice *action); /* false: default */
void signal_self(Interp *in, pid_t pid, int number); /* before kill sends a signal */
bool trap_debug(Interp *in); /* the DEBUG trap; true: the command is not to run */
bool trap_set(Interp *in, int number, const Slice *action); /* NULL: default; empty: ignore */

typedef enum { JOB_RUNNING, JOB_DONE, JOB_STOPPED } JobState;
typedef struct Job {
    int number;
    pid_t pid, *pids;
    size_t npids;
    JobState state;
    int status;           /* as $? */
    int wstatus;          /* as wait(2) */
    const char *command;
    bool current, previous, disowned, notified;
} Job;
Job *job_list(Interp *in, size_t *count);    /* updated, in order of number */
Job *job_find(Interp *in, Slice spec, int *error); /* %1 %+ %- %name %?text, or a pid; error -ENOENT, -EINVAL (ambiguous) */
int job_wait(Interp *in, Job *job);          /* status */
int job_wait_pid(Interp *in, pid_t pid);     /* status, or -ECHILD */
int job_wait_any(Interp *in, const pid_t *pids, size_t n, pid_t *pid); /* n 0: any; status or -ECHILD */
/* `wait` without operands: every job and the last process substitution; 0, or 128 + n when a trapped signal came. */
int job_wait_all(Interp *in);
void job_remove(Interp *in, Job *job);
void job_was_fg(Interp *in, int number); /* after fg: which job the others are told of next to */
/* "[1]+  Done                    sleep 1"; with its pid when asked. */
void job_print(Output *out, const Job *job, bool pid);
/* set -m, in the shell itself. */
bool job_control(Interp *in);

/* ---------- directories and expansion helpers ---------- */

/* cd's work: logical or physical; prints its own error. */
int change_directory(Interp *in, Slice path, bool physical, bool print, const char *who);
Slice logical_cwd(Interp *in);
/* Directory stack, index 0 is the current directory. */
size_t dirs_count(Interp *in);
Slice dirs_get(Interp *in, size_t index);
bool dirs_set(Interp *in, const Slice *dirs, size_t count); /* without the current directory */

/* Shell-quoted so that it reads back: printf %q. */
void quote_shell(Buf *out, Slice s);
/* The same, or another manner, in the C locale. */
void quote_bytes(Buf *out, Slice s, void (*how)(Buf *out, Slice s));
void quote_in(Interp *in, Buf *out, Slice s, void (*how)(Buf *out, Slice s)); /* in the locale of now */
bool lang_bytes(Interp *in); /* characters are bytes: the C locale */
void print_compound(Interp *in, const Var *v, Buf *out); /* ([0]="a" [1]="b") */
void quote_value(Buf *out, Slice s);         /* as `set` prints a value: quoted only when it must be */
void quote_single(Buf *out, Slice s);        /* '...' as alias, trap -p and set print */
/* Escapes as in $'...' (dollar_quote) or echo -e and printf %b; false when \c ended the output. */
bool unescape(Buf *out, Slice s, int style);
enum { ESCAPE_ECHO, ESCAPE_PRINTF_B, ESCAPE_DOLLAR, ESCAPE_PRINTF };
/* Splits at IFS as `read` does: at most `max` fields, the last keeps the rest. In the process's memory. */
Slice expand_index(Interp *in, Slice text); /* $ and ` in it, as between double quotes */
Slice *split_read(Interp *in, Slice line, const bool *escaped, size_t max, size_t *count);
/* Pathname expansion of a pattern, for compgen -G and the executor. */
Slice *glob_paths(Interp *in, Slice pattern, size_t *count);
/* [ and test share these with [[ ]]. */
bool test_unary(Interp *in, char op, Slice operand);
bool test_files(Interp *in, TestOp op, Slice left, Slice right);

#endif

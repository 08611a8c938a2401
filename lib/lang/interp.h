/* interp: the interpreter's private face, for the files of lib/lang that execute.
 *
 * Three lifetimes: State is counted objects in the shell's generation and what a child inherits; Interp is one
 * process's dynamic part and lives in p->keep; expansion results and everything else of one command lie in p->mem, which
 * the executor marks and resets around each command.
 *
 * What a raise must undo (descriptors, locals, frames, /dev/fd pipes) is on the list in->unwind, newest first; who catches
 * calls unwind_to with the mark it took.
 */
#ifndef LIBSHELL_INTERP_H
#define LIBSHELL_INTERP_H

#include "arith.h"
#include "builtin.h"
#include "builtins/command.h"
#include "lang.h"

/* ---------- state ---------- */

typedef struct StrList {
    Obj obj;
    uint32_t count;
    Str *items[];
} StrList;

typedef struct Traps {
    Obj obj;
    Str *action[TRAP_MAX + 1]; /* NULL default, empty ignored */
} Traps;

typedef struct State {
    PMap vars, functions, aliases, commands, disabled;
    StrList *args;     /* $1 is items[first] */
    uint32_t first;
    Str *zero;         /* $0 */
    StrList *dirs;     /* of pushd, without the current one */
    Str *cwd;          /* logical */
    Str *script;       /* BASH_SOURCE of the main text: a script file, or NULL */
    Traps *traps;
    uint64_t options;  /* 1 << OPT_* */
    uint64_t shopts;   /* 1 << SHOPT_* */
} State;

struct LangState {
    Obj obj;
    State st;
};

bool state_init(State *st, Gen *g, const char *const *env);
bool state_fresh(State *st, Gen *g, Mem *mem, const LangState *base, const char *const *env);
State state_clone(Gen *g, const State *st);
void state_drop(Gen *g, State *st);
void strlist_unref(Gen *g, StrList *l);
StrList *strlist_new(Gen *g, char *const *strings, uint32_t count);
Traps *traps_own(Gen *g, Traps **traps);
void traps_unref(Gen *g, Traps *t);
extern const PMapOps var_ops, function_ops, text_ops, command_ops;

typedef struct TextEntry { /* aliases, disabled builtins */
    PEntry entry;
    Str *text;
} TextEntry;

typedef struct CommandEntry { /* the hash table of commands */
    PEntry entry;
    Str *path;
    uint32_t hits;
} CommandEntry;

/* ---------- values ---------- */

/* An element: 0 is a hole, an odd number an integer of 63 bits, else a Str. */
typedef uintptr_t Cell;

Cell cell_str(Gen *g, Slice s); /* 0: no memory */
Cell cell_int(Gen *g, int64_t i);
void cell_unref(Gen *g, Cell c);
Slice cell_text(Mem *m, Cell c);

Array *array_new(Gen *g);
void array_unref(Gen *g, Array *a);
/* All that change an array take a pointer to the holder's, which moves. `c` is taken over, also on failure. */
int array_set(Gen *g, Array **a, int64_t index, Cell c);
int array_remove(Gen *g, Array **a, int64_t index);
Cell array_get(const Array *a, int64_t index);
Cell *array_slot(Gen *g, Array **a, int64_t index); /* to change in place; NULL: absent, or no memory */
size_t array_count(const Array *a);
int64_t array_end(const Array *a);                  /* highest index + 1 */
/* Walks: *at starts at 0; false at the end. */
bool array_next(const Array *a, size_t *at, int64_t *index, Cell *c);

Assoc *assoc_new(Gen *g);
void assoc_unref(Gen *g, Assoc *m);
int assoc_set(Gen *g, Assoc **m, Slice key, Cell c);
int assoc_remove(Gen *g, Assoc **m, Slice key);
Cell assoc_get(const Assoc *m, Slice key);
size_t assoc_count(const Assoc *m);
typedef struct { Str *key; Cell cell; } AssocItem;
AssocItem *assoc_items(Mem *mem, const Assoc *m); /* in bash's order */

/* As they were put in, with the number that makes their place in bash's order; false at the end. */
bool assoc_next(const Assoc *m, size_t *at, AssocItem *item, int64_t *rank);
uint32_t assoc_buckets(const Assoc *m);
/* Gives a map whose entries were just put in the order of another. False: there is no such order. */
bool assoc_order(Assoc *m, uint32_t buckets, const int64_t *ranks, size_t count);

void value_unref(Gen *g, Value v);
Value value_ref(Gen *g, Value v);

void merge_sort(Mem *mem, void *base, size_t count, size_t size, int (*compare)(const void *, const void *));
int compare_slices(const void *a, const void *b);
uint32_t bash_hash(Slice s);
void hash_hit(Interp *in, Slice name); /* one more use of a hashed command */

/* ---------- options ---------- */

enum {
    OPT_ALLEXPORT, OPT_BRACEEXPAND, OPT_EMACS, OPT_ERREXIT, OPT_ERRTRACE, OPT_FUNCTRACE, OPT_HASHALL, OPT_HISTEXPAND, OPT_HISTORY,
    OPT_IGNOREEOF, OPT_COMMENTS, OPT_KEYWORD, OPT_MONITOR, OPT_NOCLOBBER, OPT_NOEXEC, OPT_NOGLOB, OPT_NOLOG, OPT_NOTIFY,
    OPT_NOUNSET, OPT_ONECMD, OPT_PHYSICAL, OPT_PIPEFAIL, OPT_POSIX, OPT_PRIVILEGED, OPT_VERBOSE, OPT_VI, OPT_XTRACE, OPT_COUNT,
};

enum {
    SHOPT_AUTOCD, SHOPT_ASSOC_EXPAND_ONCE, SHOPT_CDABLE_VARS, SHOPT_CDSPELL, SHOPT_CHECKHASH, SHOPT_CHECKJOBS, SHOPT_CHECKWINSIZE,
    SHOPT_CMDHIST, SHOPT_COMPAT31, SHOPT_COMPAT32, SHOPT_COMPAT40, SHOPT_COMPAT41, SHOPT_COMPAT42, SHOPT_COMPAT43, SHOPT_COMPAT44,
    SHOPT_COMPLETE_FULLQUOTE, SHOPT_DIREXPAND, SHOPT_DIRSPELL, SHOPT_DOTGLOB, SHOPT_EXECFAIL, SHOPT_EXPAND_ALIASES, SHOPT_EXTDEBUG,
    SHOPT_EXTGLOB, SHOPT_EXTQUOTE, SHOPT_FAILGLOB, SHOPT_FORCE_FIGNORE, SHOPT_GLOBASCIIRANGES, SHOPT_GLOBSKIPDOTS, SHOPT_GLOBSTAR,
    SHOPT_GNU_ERRFMT, SHOPT_HISTAPPEND, SHOPT_HISTREEDIT, SHOPT_HISTVERIFY, SHOPT_HOSTCOMPLETE, SHOPT_HUPONEXIT,
    SHOPT_INHERIT_ERREXIT, SHOPT_INTERACTIVE_COMMENTS, SHOPT_LASTPIPE, SHOPT_LITHIST, SHOPT_LOCALVAR_INHERIT, SHOPT_LOCALVAR_UNSET,
    SHOPT_LOGIN_SHELL, SHOPT_MAILWARN, SHOPT_NO_EMPTY_CMD_COMPLETION, SHOPT_NOCASEGLOB, SHOPT_NOCASEMATCH,
    SHOPT_NOEXPAND_TRANSLATION, SHOPT_NULLGLOB, SHOPT_PATSUB_REPLACEMENT, SHOPT_PROGCOMP, SHOPT_PROGCOMP_ALIAS, SHOPT_PROMPTVARS,
    SHOPT_RESTRICTED_SHELL, SHOPT_SHIFT_VERBOSE, SHOPT_SOURCEPATH, SHOPT_VARREDIR_CLOSE, SHOPT_XPG_ECHO, SHOPT_COUNT,
};

/* set -r has no name, and cannot be taken back. */
#define OPTION_RESTRICTED (UINT64_C(1) << 63)
_Static_assert(OPT_COUNT < 63, "room for set -r");
extern const uint64_t options_default, shopts_default;
#define OPT(in, name) ((in)->st.options >> OPT_##name & 1)
#define SHOPT(in, name) ((in)->st.shopts >> SHOPT_##name & 1)
Slice options_text(Interp *in, bool shopt); /* SHELLOPTS, BASHOPTS */
Slice flags_text(Interp *in);               /* $- */

/* ---------- the interpreter ---------- */

typedef enum { FLOW_NONE, FLOW_BREAK, FLOW_CONTINUE, FLOW_RETURN, FLOW_EXIT } Flow;

/* A function call or sourced file. Counted and never changed, so that a subshell shares its parent's. */
typedef struct Frame {
    Obj obj;
    struct Frame *outer;
    bool is_function;
    Str *function;   /* "source" for a sourced file */
    Str *source;
    uint32_t call_line;
    uint32_t depth;
    StrList *args;   /* for BASH_ARGV, under extdebug; else NULL */
    const WordPart *subst; /* the $( ) whose text the function stands in, or NULL */
} Frame;

typedef struct Unwind {
    struct Unwind *outer;
    void (*undo)(Interp *in, struct Unwind *u);
} Unwind;

typedef struct Local {
    Obj obj;
    struct Local *next;
    Str *key;
    uint64_t hash;
    uint32_t scope;
} Local;

/* What a guard puts back after a raise, and a trap or sourced text around itself. */
typedef struct Dynamic {
    Frame *frame;
    uint32_t function_depth; /* scope of new locals; 0 outside functions */
    unsigned loop_depth;
    unsigned no_errexit;     /* > 0: in a condition */
    unsigned no_exit;        /* > 0: behind !, where a trap on ERR still runs */
    bool negated;            /* the simple command to come stands behind ! */
    unsigned source_depth;
    uint32_t line;
    Ast *ast;
    Str *source;             /* BASH_SOURCE of what runs now; NULL: -c text */
    const char *text_name;   /* "eval": parse errors say so */
    uint8_t hidden_traps;    /* DEBUG, ERR and RETURN are not inherited by functions: HIDE_* */
} Dynamic;
enum { HIDE_DEBUG = 1, HIDE_ERR = 2, HIDE_RETURN = 4 };

typedef struct IfsCache {
    bool valid, set, null, standard;
    bool wide, marks; /* characters beyond ASCII; others than white space */
    Slice text;
    char store[32];
    bool space[256]; /* IFS white space */
    bool other[256]; /* IFS not white space */
} IfsCache;

/* A variable found not long ago. It is this process's own, so that it may be changed in place, while `owned` is the
 * interpreter's epoch: a fork begins another one. Whoever puts or removes a binding calls var_forget. */
typedef struct VarSlot {
    uint64_t hash;
    Var *var;
    uint32_t owned;
} VarSlot;
enum { VAR_SLOTS = 32 };

struct Interp {
    Proc *p;
    Lang *lang;
    Interp *parent_interp; /* only while a plain call lasts */
    State st;
    ProcEnv env;
    Dynamic dyn;
    struct RunScope *run_scope; /* what holds for this run only, or NULL */
    Unwind *unwind;
    Unwind *command_mark; /* of the simple command that runs */
    Local *locals;
    Flow flow;
    unsigned flow_levels;
    int status;          /* $? */
    int exit_status;     /* of FLOW_EXIT */
    int return_status;   /* of FLOW_RETURN */
    int debug_status;    /* of the last DEBUG trap */
    int before_return;   /* $? when return was called */
    bool cond_not;       /* ! in front of the term that [[ ]] is about to trace */
    bool debug_done;     /* the DEBUG trap of a pipeline's command has run in its parent */
    unsigned trace_level; /* eval, source: one more PS4 character each */
    Traps *outer_traps;  /* a subshell lists its parent's traps until it sets one; counted */
    int subst_status;    /* of the last $( ) of a command without a name; -1 none */
    bool subshell, exiting, keep_redirs, error_exit, in_exit_trap, special_failed, special_fatal, gave_up, discard,
        exit_trap_holds /* the EXIT trap of the parent, in the child of a simple command until its words are expanded */, goes_on;
    bool from_stdin;
    bool substituted;    /* within $( ): what was killed there is not told of */
    bool locale_known, bytes; /* bytes: the C locale, where a character is a byte */
    bool no_fork;        /* the process ends with the current command: exec in place */
    bool execed;         /* this process has become a program, which has ended */
    unsigned subshell_level;
    unsigned depth;      /* recursion of exec_node, for the limit */
    unsigned parse_epoch; /* changes when aliases or options that the parser sees do */
    const Node *command; /* BASH_COMMAND */
    Ast *command_ast;    /* of it, when its text or function is gone; or NULL */
    const Node *tail;    /* the simple command that a subshell ends with, or NULL */
    const Assign *const *assigns; /* of the running declaration command */
    int nassigns;
    int *pipestatus;
    uint32_t npipestatus, pipestatus_cap;
    int *pipestatus_store;
    Ast *held_ast;       /* kept alive by a child of another process */
    bool lang_text;      /* some text is being read by this process itself */
    bool parse_failed;
    bool stale_cond, stale_word; /* what a text that did not parse left for the next: ParseError.in_cond, .unclosed */
    uint32_t given_up;   /* the line where the last command was abandoned; 0: it was not */
    int one_status;      /* storage of pipestatus for a plain command */
    Buf last_arg;        /* $_ in keep */
    Buf xtrace;          /* line being built, in keep */
    bool tracing;
    IfsCache ifs;
    int getopts_at;
    VarSlot recent[VAR_SLOTS];
    uint32_t specials_read; /* bits of SPECIAL_* */
    uint32_t own_epoch;
    const WordPart *subst;  /* the $( ) that this process runs, the line of the command it stands in, and the frame */
    uint32_t subst_base;
    const Frame *subst_frame;
    File *stdin_script;     /* the script that comes on standard input: commands read what follows them */
    size_t stdin_at;        /* where in it the text being run begins; afterwards, where to go on */
    uint32_t stdin_line;
    char **first_env;       /* what a shell started as a program got */
    const char *program_path; /* of what is being started: _ in its environment */
    bool no_tilde;          /* compound assignments to associative arrays */
    const char *arith_who;  /* "let", "((", "[[": begins arithmetic's messages */
    unsigned arith_depth;
    bool arith_reported;     /* the failure of arithmetic has been printed */
    uint64_t random_state;
    Value computed[8]; /* what special_read made last */
    unsigned ncomputed;
    int64_t seconds_base;
    int64_t started;     /* seconds */
    pid_t shell_pid;     /* $$ */
    pid_t last_job;      /* $! */
    bool wait_told;
    struct JobTable *jobs;
    uint64_t due;        /* signals whose traps are to run */
    unsigned trap_depth;
    bool in_debug_trap, in_err_trap, in_return_trap, in_child_trap;
    int trap_signal;
    StrList *base_args;  /* of the bottom of BASH_ARGV, or NULL; counted */
    bool hashed;         /* a command has been remembered once */
    bool base_known, source_args, args_changed;
    Slice execution_string;
    bool has_execution_string;
    uint64_t procsub_fds; /* which of descriptors 0..63 are /dev/fd pipes of this shell */
    pid_t last_procsub, ended_procsub; /* ended: one that plain `wait` has waited for */
    int ended_status;
    int coproc_fds[2];
    pid_t coproc_pid;
};

typedef struct ParseCache ParseCache;

typedef struct CommandSlot { uint64_t hash; const Command *command; } CommandSlot;
enum { COMMAND_SLOTS = 64 };

struct Lang {
    LangState *base;   /* borrowed from the image */
    State st;          /* of the main shell between runs */
    State first;       /* after lang_new, for lang_reset */
    bool busy;         /* st is in the running main shell */
    bool exited;       /* the last run left its script */
    pid_t pid_counter;
    ParseCache *cache;
    CommandSlot commands[COMMAND_SLOTS];
};

static inline Gen *gen_of(const Interp *in) { return kern_gen(in->p->kernel); }
static inline Mem *mem_of(const Interp *in) { return &in->p->mem; }

Interp *interp_new(Proc *p, Lang *lang);
/* The interpreter of an embryo made by proc_child: what in has, at this moment. */
Interp *interp_child(Interp *in, Proc *child);
NORETURN void lang_nomem(Interp *in);
/* Abandons the current command: bash's jump to top level. `status` becomes $?. */
NORETURN void lang_discard(Interp *in, int status);
/* An expansion failed: POSIX mode ends the shell. */
NORETURN void lang_expand_failed(Interp *in);
/* The same for arithmetic in an expansion: errexit does not look at it. */
NORETURN void lang_arith_discard(Interp *in);
/* Arithmetic failed in a subscript or for an integer variable: bash -c ends, a script file goes on with the next line. */
NORETURN void lang_arith_failed(Interp *in);
/* An assignment that stands alone, or before a special builtin, failed: POSIX mode ends the shell. */
NORETURN void lang_assign_failed(Interp *in);
/* Ends a shell that is not interactive (unbound variable, ${x?}). */
NORETURN void lang_fatal(Interp *in, int status);

/* What the last command stands in is about to go: BASH_COMMAND may still be asked for. */
void command_hold(Interp *in, Ast *ast);
void unwind_push(Interp *in, Unwind *u, void (*undo)(Interp *, Unwind *));
void unwind_to(Interp *in, Unwind *mark);

/* ---------- variables ---------- */

Name name_of(Slice text);
Var *var_lookup(const Interp *in, const Name *name); /* as it is */
Var *var_own(Interp *in, const Name *name);          /* private to this process; NULL: absent */
void var_forget(Interp *in, uint64_t hash);
bool lang_set_int(Interp *in, const Name *name, int64_t value);
bool lang_set(Interp *in, const Name *name, Slice text, bool append);
bool lang_get(Interp *in, const Name *name, Slice *out); /* scalar text or element 0, namerefs and specials followed */
/* As var_find, hash given; follows namerefs; *subscript is set when a nameref names an element. */
const Var *var_resolve(Interp *in, const Name *name, Name *final, Slice *subscript);
Slice value_text(Mem *m, const Value *v, bool *set);
const Var *var_find_name(Interp *in, const Name *name);
/* An element of an indexed array, or of what becomes one. */
bool var_set_index(Interp *in, const Name *name, int64_t index, Slice text, bool append);
Var *var_make(Interp *in, const Name *name, uint32_t attrs, uint32_t scope); /* not yet in the map */
void var_put_local(Interp *in, const Name *name, uint32_t scope, uint32_t attrs);
void locals_pop(Interp *in, Local *until);
void var_touched(Interp *in, Slice name);
bool element_index(Interp *in, const Var *v, Slice name, Slice subscript, int64_t *index);
bool var_export(Interp *in, Slice name);
Assign *assign_expanded(Interp *in, const Assign *a, bool assoc); /* its items expanded and quoted, as set -x shows them */
bool var_set_global(Interp *in, Slice name, Slice text, bool append);
Slice attr_letters(Mem *m, uint32_t attrs);
const IfsCache *ifs_of(Interp *in);
/* A subscript that comes as text (unset 'm[$k]', [[ -v m[$k] ]]) is expanded once more. */
Slice expand_subscript(Interp *in, Slice subscript);
extern const ProcEnv interp_env;
void set_pipestatus(Interp *in, const int *statuses, uint32_t count);
static inline void set_status(Interp *in, int status)
{
    in->status = status;
}

const Var *special_read(Interp *in, const Var *v);
bool special_write(Interp *in, Var *v, Slice text);
bool specials_define(State *st, Gen *g);
enum {
    SPECIAL_NONE, SPECIAL_RANDOM, SPECIAL_SRANDOM, SPECIAL_SECONDS, SPECIAL_EPOCHSECONDS, SPECIAL_EPOCHREALTIME, SPECIAL_LINENO,
    SPECIAL_COMMAND, SPECIAL_SUBSHELL, SPECIAL_BASHPID, SPECIAL_FUNCNAME, SPECIAL_SOURCE, SPECIAL_BASH_LINENO, SPECIAL_PIPESTATUS,
    SPECIAL_GROUPS, SPECIAL_DIRSTACK, SPECIAL_HISTCMD, SPECIAL_ALIASES, SPECIAL_CMDS, SPECIAL_SHELLOPTS, SPECIAL_BASHOPTS,
    SPECIAL_UNDERSCORE, SPECIAL_ARGV0, SPECIAL_ARGC, SPECIAL_ARGV, SPECIAL_MONOSECONDS, SPECIAL_PPID, SPECIAL_EXECUTION_STRING,
};

/* ---------- expansion ---------- */

typedef struct Fields {
    char **items;      /* NUL-terminated strings */
    uint32_t count, cap;
    Mem *mem;
} Fields;

void fields_init(Fields *f, Mem *m);
void fields_add(Interp *in, Fields *f, char *s);
/* All expansions, splitting and globbing, appended. */
void expand_words(Interp *in, Word *const *words, uint32_t count, Fields *out);
void expand_word(Interp *in, const Word *w, Fields *out);
/* One string: no splitting, no globbing; assignments, redirections' here-strings, case subjects. NUL-terminated. */
Slice expand_string(Interp *in, const Word *w);
Slice expand_value(Interp *in, const Word *w); /* of an assignment or here-string: there IFS joins more lists */
enum { STRING_ASSIGN = 1 /* tildes after : */, STRING_HEREDOC = 2 };
/* One string in which quoted characters are escaped with backslashes: for pat_compile. */
Slice expand_pattern_shown(Interp *in, const Word *w); /* for set -x */
Slice expand_pattern(Interp *in, const Word *w);
/* The same for =~: quoted parts are escaped as ERE. */
Slice expand_regex(Interp *in, const Word *w);
/* What a word gives in a place where exactly one field is wanted; false: none or several ("ambiguous redirect"). */
bool expand_single(Interp *in, const Word *w, Slice *out);
void expand_text_fields(Interp *in, Slice text, Fields *out);

/* ${...} and $x: what it stands for, before splitting. */
typedef struct Expansion {
    bool is_list;    /* "$@", ${a[@]}: items are words of their own */
    bool star;       /* $* or ${a[*]}: when quoted, items are joined with IFS's first character */
    bool is_set;
    bool has_word;   /* the default word's own parts are what is to be expanded (${x:-"a b"}) */
    const Word *word;
    Slice text;
    Slice *items;
    size_t count;
} Expansion;
void expand_param(Interp *in, const Param *p, bool quoted, Expansion *out);
int unset_status(const Interp *in); /* of a shell that ends for an unbound variable */
Slice join_items(Interp *in, const Slice *items, size_t count, bool star_ifs);

/* The word's fields as alternatives of its braces, each a Word in p->mem. */
Word **brace_expand(Interp *in, const Word *w, uint32_t *count);
/* The word with its braces as text, for set +B. */
Word *brace_plain(Interp *in, const Word *w);
/* How many items a range has; raises when that is beyond the limit. */
uint64_t brace_count(Interp *in, const Brace *r);
char *brace_item(Mem *m, const Brace *r, int64_t v);
bool glob_expand(Interp *in, Slice pattern, Fields *out); /* false: nothing matched */
bool pattern_matches(Interp *in, Slice pattern, Slice subject);
bool pattern_matches_ext(Interp *in, Slice pattern, Slice subject); /* [[ == ]]: extended patterns always */
unsigned pattern_flags(Interp *in, bool case_option);
Slice tilde_expand(Interp *in, Slice name, bool *known);
Slice command_substitute(Interp *in, const WordPart *part);
Proc *fork_child(Interp *in); /* raises when there can be no more */
int move_high(Interp *in, int fd, int highest);
const char *process_substitute(Interp *in, const WordPart *part);
/* The replacement of ${v/p/r}: quoted & and backslashes escaped. */
Slice expand_replacement(Interp *in, const Word *w);
/* @A @a @K @k of whole arrays and of unset names; false: @X works on each item's text. */
bool transform_whole(Interp *in, const Param *p, bool list, const Var *v, Slice name, bool set, Slice **items, size_t *count,
                     Slice *text);
Slice transform(Interp *in, const Param *p, const Var *v, Slice name, Slice text, bool set);
Slice transform_text(Interp *in, char op, Slice text);
Slice prompt_expand(Interp *in, Slice text);
Slice upper_lower(Mem *m, Slice s, int how); /* 'U' 'L' 'u' */

/* ---------- execution ---------- */

int exec_node(Interp *in, const Node *n);
Frame *frame_push(Interp *in, bool is_function, Str *function, Str *source);
void frame_unref(Gen *g, Frame *f);
void base_args_know(Interp *in); /* what BASH_ARGV has at its bottom, from here on */
Program program_find(Interp *in, const char *name, bool default_path);
bool set_nameref(Interp *in, const Name *name, Slice target);
void trace_word(Buf *b, const Word *w);
void say_parse_error(Interp *in, const char *where, const char *text); /* text: a ParseError's line */
Slice word_shown(Interp *in, const Word *w);
void ambiguous(Interp *in, const Redir *r); /* says that it is */
void trace_for(Interp *in, const Node *n);
int exec_simple(Interp *in, const Node *n);
int exec_condition_free(Interp *in, const Node *n); /* without errexit */
int exec_pipeline(Interp *in, const Node *n);
int exec_background(Interp *in, const Node *n);
int exec_coproc(Interp *in, const Node *n);
int exec_subshell(Interp *in, const Node *n);
int exec_cond(Interp *in, const Node *n);
int exec_select(Interp *in, const Node *n);
int exec_timed(Interp *in, const Node *n);
int exec_function(Interp *in, const Function *f, int argc, char **argv);
int exec_builtin(Interp *in, const Command *c, int argc, char **argv);
int exec_program(Interp *in, int argc, char **argv, const Redir *redirs, bool default_path);
int define_function(Interp *in, const Node *n);
const Command *builtin_find(Interp *in, Slice name);
/* Runs text or a trap's action; the flow of control stays with the caller's loops and functions. */
int run_units(Interp *in, Slice text, uint32_t first_line, const char *name);
/* Runs the script on standard input. */
int run_stdin(Interp *in, Slice text);
/* After a command: ERR trap, errexit. */
void check_errexit(Interp *in, int status);
void check_errexit_only(Interp *in, int status); /* without the trap on ERR */
int subshell_main(Proc *p, void *arg); /* arg: a SubshellArg */
typedef struct SubshellArg { const Node *node; bool raw_body; Redir *redirs; int close_fd; } SubshellArg;
/* The whole life of a shell process: body, EXIT trap, raises. */
int shell_body(Interp *in, int (*body)(Interp *in, void *arg), void *arg);

/* Redirections in this process, undone by unwind_to. False: one failed (message printed). */
bool redirs_apply(Interp *in, const Redir *r);
/* For ever (exec, a child that becomes a program). */
bool redirs_apply_for_good(Interp *in, const Redir *r);

bool cond_eval(Interp *in, const Cond *c, int *status);

/* ---------- traps and jobs ---------- */

void traps_run_due(Interp *in);
/* Something waits for traps_run_due: a signal, or children that a trap on CHLD is told of. */
static inline bool traps_due(const Interp *in)
{
    return in->due || (in->st.traps && in->p->children_ended);
}
/* exit or errexit inside a function: the EXIT trap sees the function's variables. Its own exit, or `status`. */
int exit_trap_in_function(Interp *in, int status);
void traps_arm(Interp *in);
void trap_run(Interp *in, int number);   /* EXIT, ERR, DEBUG, RETURN or a signal */
bool trap_debug(Interp *in);
bool trap_has(Interp *in, int number);
void traps_for_child(Interp *in);
void job_add(Interp *in, const pid_t *pids, size_t n, const Node *node);
void jobs_reap(Interp *in);
void jobs_settle(Interp *in); /* after a foreground command: what has ended is no job any more, only a status */
/* A substitution, and a simple command of a pipeline, sees its parent's jobs. */
void jobs_inherit(const Interp *in, Interp *child);
/* Says so when a command that the shell waited for was killed; one node and one wait status a stage. */
void tell_foreground(Interp *in, const pid_t *pids, const int *wstatuses, uint32_t count, const Node *const *nodes);
bool is_one_command(Interp *in, const Node *n);
void lang_on_signal(Proc *p, int signal);

/* ---------- messages and tracing ---------- */

void lang_error(Interp *in, const char *format, ...) PRINTF_LIKE(2, 3);
/* What bash says in a way that ends a shell under errexit at once, whatever it stands in. */
void lang_report(Interp *in, const char *format, ...) PRINTF_LIKE(2, 3);
void lang_prefix(Proc *p, const char *name, Buf *out);
void error_prefix(Interp *in, Buf *out, bool builtin); /* a builtin's takes no notice of gnu_errfmt */
void trace_command(Interp *in, const char *const *words, uint32_t count, const char *prefix);
void trace_text(Interp *in, Slice text);
void trace_begin(Interp *in, Buf *b);
void trace_end(Interp *in, Buf *b);
void quote_unprintable(Buf *out, Slice s); /* only where it would not show */
void quote_trace(Buf *out, Slice s); /* as set -x shows a word */
void quote_double(Buf *out, Slice s);   /* as declare -p shows a value */
void quote_reusable(Buf *out, Slice s); /* as ${v@Q} and set -x of an assignment */
void quote_key(Buf *out, Slice s);      /* a subscript of declare -p */
bool needs_ansi_quotes(Slice s);

#endif

/* rg: what its files share. rg.c reads the options and starts; walk.c goes through directories; ignore.c says which files count, by globs,
 * types and ignore files; syntax.c turns Rust's regular expressions into PCRE2's; search.c finds lines; print.c and json.c print them, in the
 * colours of color.c.
 */
#ifndef LIBSHELL_RG_H
#define LIBSHELL_RG_H

#include <sys/stat.h>

#include "command.h"
#include "lib/base/utf8.h"

typedef enum { SHOW_LINES, SHOW_COUNT, SHOW_MATCH_COUNT, SHOW_NAMES, SHOW_LACKING, SHOW_FILES, SHOW_JSON, SHOW_NOTHING } Show;
typedef enum { SORT_PATH, SORT_MODIFIED, SORT_ACCESSED, SORT_CREATED } SortKey;

/* A line of an ignore file, or a -g glob: gitignore's patterns. */
typedef struct Rule {
    Slice pattern;      /* without !, leading and trailing / */
    bool negated, dirs_only, anchored, fold;
    struct Rule *next;  /* the one before: the last that matches decides */
} Rule;

typedef enum { RULES_CUSTOM, RULES_IGNORE, RULES_GIT, RULES_EXCLUDE, RULE_KINDS } RuleKind;

/* The ignore files of one directory. */
typedef struct RuleDir {
    const char *path;   /* absolute, "" for the root */
    Rule *rules[RULE_KINDS];
    bool repository;    /* holds .git: rules of git above it do not reach below */
    const struct RuleDir *parent;
} RuleDir;

typedef struct TypeDef { Slice name, glob; struct TypeDef *next; } TypeDef;
typedef struct TypeChoice { Slice name; bool negated; struct TypeChoice *next; } TypeChoice;

/* A group's name, as it is in the expression. */
typedef struct RgName { Slice name; size_t group, at; struct RgName *next; } RgName;

typedef enum { COLOR_PATH, COLOR_LINE, COLOR_COLUMN, COLOR_MATCH, COLOR_OUTPUTS } ColorOutput;

typedef struct {
    uint64_t lines, matches, searches, files, printed, bytes;
} Stats;

typedef struct Rg {
    Proc *p;
    Re *re;
    ReEnv env;
    Show show;
    bool invert, multiline, dotall, only_matching, numbers, columns, byte_offsets, heading, trim, vimgrep, passthru, quiet, null_name, crlf, stats, include_zero, color;
    bool text, binary, hidden, follow, no_messages, no_ignore_messages, one_device, no_unicode, null_data, preview, pcre;
    bool use_files, use_git, use_dot, use_parents, use_exclude, need_git;
    bool with_name;
    int64_t max_count, before, after, max_columns, max_depth, max_size;
    const char *replacement, *context_separator, *match_separator, *around_separator, *path_separator;
    SortKey sort;
    bool sort_reverse;
    Rule *globs, *extra;
    bool any_positive_glob, any_positive_type;
    TypeDef *types;
    TypeChoice *type_choices; /* the last first */
    const char *cwd;
    RgName *names;
    struct RgStyle *styles;
    const char *sgr[COLOR_OUTPUTS]; /* what begins a colour */
    bool match_plain; /* a match has none */

    /* the file at work */
    const char *name;
    Slice whole;
    uint64_t counted, line;   /* lines before `counted` */
    uint64_t printed_to;
    Slice line_end;
    bool begun, name_written, passed_over; /* the last: it is binary, and was not searched */
    uint64_t file_lines, file_matches, out_before;
    Stats total;
    bool matched, failed, printed_any;
    int64_t started;
} Rg;

enum { RG_SPANS = 64 };

/* syntax.c */
void rg_compile(Rg *g, Slice *patterns, size_t count, bool fixed, bool whole_word, bool whole_line, int fold); /* fold: 0, 1, 2 when it is lower case */

/* color.c */
void rg_add_color(Rg *g, const char *spec);
void rg_finish_colors(Rg *g);

/* ignore.c */
void rg_add_glob(Rg *g, const char *text, bool fold);
const RuleDir *rg_rules_of(Rg *g, const char *dir, const RuleDir *parent);
const RuleDir *rg_rules_above(Rg *g, const char *dir);
void rg_add_rule_file(Rg *g, const char *path);
bool rg_ignored(Rg *g, const RuleDir *dir, const char *path, const char *name, bool is_dir);
void rg_default_types(Rg *g);
void rg_add_type(Rg *g, const char *text);
void rg_choose_type(Rg *g, const char *name, bool negated);
void rg_list_types(Rg *g);

/* walk.c */
void rg_operand(Rg *g, const char *path, bool implicit);

/* search.c */
void rg_search(Rg *g, const char *name, int fd, bool explicit);
bool rg_match(Rg *g, Slice s, size_t start, ReSpan *spans, size_t count);

/* print.c, json.c: a line (or, with -U, several) with its newline; `at` is where it begins in the file */
void rg_print_lines(Rg *g, Slice lines, uint64_t at, bool selected);
void rg_print_gap(Rg *g);
void rg_print_name(Rg *g, char end);
void rg_print_stats(Rg *g);
uint64_t rg_line_number(Rg *g, uint64_t at);
void rg_complain(Rg *g, const char *name, int error);
void rg_json_begin(Rg *g);
void rg_json_lines(Rg *g, Slice lines, uint64_t at, bool selected);
void rg_json_end(Rg *g, int64_t binary_at, int64_t nanoseconds);
void rg_json_summary(Rg *g);

#endif

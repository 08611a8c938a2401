/* rg: search directories for lines that match a pattern. ripgrep 13's interface.
 *
 * One thread: files are searched in the order of their names, which is rg --sort path. Where standard output is no terminal rg prints
 * neither headings nor line numbers; it is never one here.
 */
#include "rg.h"

enum {
    OPT_FILES = 256, OPT_LACKING, OPT_COUNT_MATCHES, OPT_IGLOB, OPT_TYPE_LIST, OPT_TYPE_ADD, OPT_TYPE_CLEAR, OPT_HIDDEN, OPT_NO_HIDDEN, OPT_NO_IGNORE, OPT_NO_IGNORE_VCS,
    OPT_NO_IGNORE_DOT, OPT_NO_IGNORE_PARENT, OPT_NO_IGNORE_EXCLUDE, OPT_NO_IGNORE_GLOBAL, OPT_NO_IGNORE_FILES, OPT_IGNORE_FILE, OPT_REQUIRE_GIT, OPT_NO_REQUIRE_GIT, OPT_JSON,
    OPT_VIMGREP, OPT_COLUMN, OPT_NO_COLUMN, OPT_HEADING, OPT_NO_HEADING, OPT_STATS, OPT_SORT, OPT_SORTR, OPT_MAX_DEPTH, OPT_MAX_FILESIZE, OPT_PASSTHRU, OPT_TRIM, OPT_CRLF,
    OPT_BINARY, OPT_COLOR, OPT_PREVIEW, OPT_INCLUDE_ZERO, OPT_SEPARATOR, OPT_NO_SEPARATOR, OPT_MATCH_SEPARATOR, OPT_AROUND_SEPARATOR, OPT_PATH_SEPARATOR, OPT_NO_MESSAGES,
    OPT_NOTHING, OPT_NOTHING_VALUE, OPT_MULTILINE_DOTALL, OPT_NO_UNICODE, OPT_ONE_DEVICE, OPT_NULL_DATA, OPT_ENGINE, OPT_NO_IGNORE_MESSAGES, OPT_COLORS,
};

static const Option options[] = {
    {'A', "after-context", OPT_VALUE, "show NUM lines after each match", "NUM", 0},
    {'B', "before-context", OPT_VALUE, "show NUM lines before each match", "NUM", 0},
    {'C', "context", OPT_VALUE, "show NUM lines before and after each match", "NUM", 0},
    {'E', "encoding", OPT_VALUE, "text encoding of files: auto, none or utf-8", "ENCODING", 0},
    {'F', "fixed-strings", OPT_FLAG, "treat the pattern as a literal string", NULL, 0},
    {'H', "with-filename", OPT_FLAG, "print the file path with the matched lines", NULL, 0},
    {'I', "no-filename", OPT_FLAG, "never print the file path with the matched lines", NULL, 0},
    {'L', "follow", OPT_FLAG, "follow symbolic links", NULL, 0},
    {'M', "max-columns", OPT_VALUE, "don't print lines longer than NUM bytes", "NUM", 0},
    {'N', "no-line-number", OPT_FLAG, "suppress line numbers", NULL, 0},
    {'P', "pcre2", OPT_FLAG, "use the PCRE2 regex engine", NULL, 0},
    {'S', "smart-case", OPT_FLAG, "search case insensitively if the pattern is all lowercase", NULL, 0},
    {'T', "type-not", OPT_VALUE, "do not search files matching TYPE", "TYPE", 0},
    {'U', "multiline", OPT_FLAG, "enable matching across multiple lines", NULL, 0},
    {'0', "null", OPT_FLAG, "print a NUL byte after file paths", NULL, 0},
    {'a', "text", OPT_FLAG, "search binary files as if they were text", NULL, 0},
    {'b', "byte-offset", OPT_FLAG, "print the byte offset for each matching line", NULL, 0},
    {'c', "count", OPT_FLAG, "only show the count of matching lines for each file", NULL, 0},
    {'e', "regexp", OPT_VALUE, "a pattern to search for; may be given several times", "PATTERN", 0},
    {'f', "file", OPT_VALUE, "search for patterns from the given file", "PATTERNFILE", 0},
    {'g', "glob", OPT_VALUE, "include or exclude files; may be given several times", "GLOB", 0},
    {'h', NULL, OPT_FLAG, NULL, NULL, 0},
    {'i', "ignore-case", OPT_FLAG, "case insensitive search", NULL, 0},
    {'j', "threads", OPT_VALUE, "accepted; there is one thread", "NUM", 0},
    {'l', "files-with-matches", OPT_FLAG, "only print the paths with at least one match", NULL, 0},
    {'m', "max-count", OPT_VALUE, "limit the number of matching lines per file", "NUM", 0},
    {'n', "line-number", OPT_FLAG, "show line numbers", NULL, 0},
    {'o', "only-matching", OPT_FLAG, "print only matching parts of a line", NULL, 0},
    {'p', "pretty", OPT_FLAG, "alias for --color always --heading --line-number", NULL, 0},
    {'q', "quiet", OPT_FLAG, "do not print anything to stdout", NULL, 0},
    {'r', "replace", OPT_VALUE, "replace matches with the given text", "TEXT", 0},
    {'s', "case-sensitive", OPT_FLAG, "search case sensitively (default)", NULL, 0},
    {'t', "type", OPT_VALUE, "only search files matching TYPE", "TYPE", 0},
    {'u', "unrestricted", OPT_FLAG, "reduce the level of smart searching; up to three times", NULL, 0},
    {'v', "invert-match", OPT_FLAG, "invert matching", NULL, 0},
    {'w', "word-regexp", OPT_FLAG, "only show matches surrounded by word boundaries", NULL, 0},
    {'x', "line-regexp", OPT_FLAG, "only show matches surrounded by line boundaries", NULL, 0},
    {'z', "search-zip", OPT_FLAG, "search in compressed files (refused)", NULL, 0},
    {0, "files", OPT_FLAG, "print each file that would be searched", NULL, OPT_FILES},
    {0, "files-without-match", OPT_FLAG, "only print the paths that contain zero matches", NULL, OPT_LACKING},
    {0, "count-matches", OPT_FLAG, "only show the count of individual matches for each file", NULL, OPT_COUNT_MATCHES},
    {0, "iglob", OPT_VALUE, "as --glob, case insensitively", "GLOB", OPT_IGLOB},
    {0, "type-list", OPT_FLAG, "show all supported file types", NULL, OPT_TYPE_LIST},
    {0, "type-add", OPT_VALUE, "add a new glob for a file type", "TYPE_SPEC", OPT_TYPE_ADD},
    {0, "type-clear", OPT_VALUE, "clear the globs of a file type", "TYPE", OPT_TYPE_CLEAR},
    {'.', "hidden", OPT_FLAG, "search hidden files and directories", NULL, 0},
    {0, "no-hidden", OPT_FLAG, NULL, NULL, OPT_NO_HIDDEN},
    {0, "no-ignore", OPT_FLAG, "don't respect ignore files", NULL, OPT_NO_IGNORE},
    {0, "no-ignore-vcs", OPT_FLAG, "don't respect version control ignore files", NULL, OPT_NO_IGNORE_VCS},
    {0, "no-ignore-dot", OPT_FLAG, "don't respect .ignore and .rgignore files", NULL, OPT_NO_IGNORE_DOT},
    {0, "no-ignore-parent", OPT_FLAG, "don't respect ignore files in parent directories", NULL, OPT_NO_IGNORE_PARENT},
    {0, "no-ignore-exclude", OPT_FLAG, "don't respect .git/info/exclude", NULL, OPT_NO_IGNORE_EXCLUDE},
    {0, "no-ignore-global", OPT_FLAG, "accepted; there is no global ignore file", NULL, OPT_NO_IGNORE_GLOBAL},
    {0, "no-ignore-files", OPT_FLAG, "don't respect --ignore-file", NULL, OPT_NO_IGNORE_FILES},
    {0, "no-ignore-messages", OPT_FLAG, "suppress messages about ignore files", NULL, OPT_NO_IGNORE_MESSAGES},
    {0, "ignore-file", OPT_VALUE, "further ignore rules", "PATH", OPT_IGNORE_FILE},
    {0, "require-git", OPT_FLAG, NULL, NULL, OPT_REQUIRE_GIT},
    {0, "no-require-git", OPT_FLAG, "respect .gitignore outside of repositories too", NULL, OPT_NO_REQUIRE_GIT},
    {0, "json", OPT_FLAG, "show search results in a JSON Lines format", NULL, OPT_JSON},
    {0, "vimgrep", OPT_FLAG, "show results in vim compatible format", NULL, OPT_VIMGREP},
    {0, "column", OPT_FLAG, "show column numbers", NULL, OPT_COLUMN},
    {0, "no-column", OPT_FLAG, NULL, NULL, OPT_NO_COLUMN},
    {0, "heading", OPT_FLAG, "print the file path above clusters of matches", NULL, OPT_HEADING},
    {0, "no-heading", OPT_FLAG, "print the file path as part of each line", NULL, OPT_NO_HEADING},
    {0, "stats", OPT_FLAG, "print statistics about this search", NULL, OPT_STATS},
    {0, "sort", OPT_VALUE, "sort results by path, modified, accessed, created or none", "SORTBY", OPT_SORT},
    {0, "sortr", OPT_VALUE, "the same in reverse", "SORTBY", OPT_SORTR},
    {0, "sort-files", OPT_FLAG, NULL, NULL, OPT_NOTHING},
    {0, "max-depth", OPT_VALUE, "descend at most NUM directories", "NUM", OPT_MAX_DEPTH},
    {0, "maxdepth", OPT_VALUE, NULL, NULL, OPT_MAX_DEPTH},
    {0, "max-filesize", OPT_VALUE, "ignore files larger than NUM", "NUM", OPT_MAX_FILESIZE},
    {0, "passthru", OPT_FLAG, "print both matching and non-matching lines", NULL, OPT_PASSTHRU},
    {0, "passthrough", OPT_FLAG, NULL, NULL, OPT_PASSTHRU},
    {0, "trim", OPT_FLAG, "trim prefixed whitespace", NULL, OPT_TRIM},
    {0, "crlf", OPT_FLAG, "support CRLF line terminators", NULL, OPT_CRLF},
    {0, "binary", OPT_FLAG, "search binary files", NULL, OPT_BINARY},
    {0, "color", OPT_VALUE, "when to use color: never, auto, always, ansi", "WHEN", OPT_COLOR},
    {0, "colors", OPT_VALUE, "configure color settings and styles", "SPEC", OPT_COLORS},
    {0, "max-columns-preview", OPT_FLAG, "print a preview of lines exceeding the limit", NULL, OPT_PREVIEW},
    {0, "include-zero", OPT_FLAG, "include files without matches in counts", NULL, OPT_INCLUDE_ZERO},
    {0, "context-separator", OPT_VALUE, "set the context separator string", "SEPARATOR", OPT_SEPARATOR},
    {0, "no-context-separator", OPT_FLAG, "print no context separator", NULL, OPT_NO_SEPARATOR},
    {0, "field-match-separator", OPT_VALUE, "set the field match separator", "SEPARATOR", OPT_MATCH_SEPARATOR},
    {0, "field-context-separator", OPT_VALUE, "set the field context separator", "SEPARATOR", OPT_AROUND_SEPARATOR},
    {0, "path-separator", OPT_VALUE, "set the path separator", "SEPARATOR", OPT_PATH_SEPARATOR},
    {0, "no-messages", OPT_FLAG, "suppress some error messages", NULL, OPT_NO_MESSAGES},
    {0, "multiline-dotall", OPT_FLAG, "make '.' match new lines when multiline is enabled", NULL, OPT_MULTILINE_DOTALL},
    {0, "no-unicode", OPT_FLAG, "disable Unicode mode", NULL, OPT_NO_UNICODE},
    {0, "one-file-system", OPT_FLAG, "do not descend into directories on other file systems", NULL, OPT_ONE_DEVICE},
    {0, "null-data", OPT_FLAG, "use NUL as a line terminator instead of \\n", NULL, OPT_NULL_DATA},
    {0, "engine", OPT_VALUE, "which regex engine to use: default, pcre2 or auto", "ENGINE", OPT_ENGINE},
    {0, "auto-hybrid-regex", OPT_FLAG, NULL, NULL, 'P'},
    {0, "line-buffered", OPT_FLAG, NULL, NULL, OPT_NOTHING},
    {0, "block-buffered", OPT_FLAG, NULL, NULL, OPT_NOTHING},
    {0, "mmap", OPT_FLAG, NULL, NULL, OPT_NOTHING},
    {0, "no-mmap", OPT_FLAG, NULL, NULL, OPT_NOTHING},
    {0, "no-config", OPT_FLAG, NULL, NULL, OPT_NOTHING},
    {0, "no-ignore-global", OPT_FLAG, NULL, NULL, OPT_NOTHING},
    {0, "dfa-size-limit", OPT_VALUE, NULL, NULL, OPT_NOTHING_VALUE},
    {0, "regex-size-limit", OPT_VALUE, NULL, NULL, OPT_NOTHING_VALUE},
    OPTIONS_END,
};

typedef struct {
    Rg *g;
    Slice *patterns;
    size_t count;
    bool given, fixed, whole_word, whole_line, no_ignore_files;
    int fold;             /* 0, 1, or 2 for smart case */
    int with_name;        /* -1: by what is searched */
    int numbers;          /* -1: likewise */
    int unrestricted;
    bool list_types;
} Settings;

static NORETURN void refuse(Proc *p, const char *text)
{
    output_flush(p->out);
    out_str(p->err, text);
    output_flush(p->err);
    proc_fail(p, 2);
}

static void add_pattern(Settings *s, Slice text)
{
    Mem *keep = &s->g->p->keep;
    if ((s->count & (s->count + 1)) == 0)
        s->patterns = mem_grow(keep, s->patterns, s->count * sizeof(Slice), (2 * s->count + 1) * sizeof(Slice));
    s->patterns[s->count++] = text;
}

static void add_patterns_of(Settings *s, const char *path)
{
    Slice text;
    int err = 0;
    if (strcmp(path, "-") == 0)
        text = read_all(s->g->p, 0);
    else
        err = read_file(s->g->p, path, &text);
    if (err) {
        s->g->no_messages = false;
        rg_complain(s->g, path, err);
        proc_fail(s->g->p, 2);
    }
    s->given = true;
    while (text.len) {
        size_t end = slice_find(text, '\n');
        add_pattern(s, slice(text.data, end));
        text = slice_from(text, MIN(end + 1, text.len));
    }
}

static int64_t number(Settings *s, const char *option, const char *text)
{
    int64_t n;
    int err = parse_int(text, &n);
    if (err || n < 0 || *text == '+')
        refuse(s->g->p, mem_printf(&s->g->p->mem, "error: Invalid value for '%s <NUM>': invalid digit found in string\n\n", option));
    return n;
}

static int64_t size_of(Settings *s, const char *text)
{
    uint64_t n = 0;
    size_t i = 0;
    for (; text[i] >= '0' && text[i] <= '9' && n < UINT64_MAX / 20; i++)
        n = n * 10 + (uint64_t)(text[i] - '0');
    const char *units = "KMG", *unit = text[i] ? strchr(units, text[i]) : NULL;
    if (i == 0 || (text[i] && (!unit || text[i + 1])) || n > INT64_MAX >> 32)
        refuse(s->g->p, mem_printf(&s->g->p->mem, "invalid size: %s\n", text));
    for (; unit && unit >= units; unit--)
        n *= 1024;
    return (int64_t)n;
}

static void set_sort(Settings *s, const char *by, bool reverse)
{
    static const char *const names[] = {"path", "modified", "accessed", "created"};
    for (unsigned i = 0; i < ARRAY_LEN(names); i++)
        if (strcmp(by, names[i]) == 0)
            s->g->sort = (SortKey)i;
    s->g->sort_reverse = reverse && strcmp(by, "none") != 0;
}

static void set_unrestricted(Settings *s)
{
    s->unrestricted++;
    s->g->use_files &= s->unrestricted < 1;
    s->g->hidden |= s->unrestricted >= 2;
    s->g->binary |= s->unrestricted >= 3;
}

static bool set_value(Settings *s, int id, const char *v)
{
    Rg *g = s->g;
    switch (id) {
    case 'A': g->after = number(s, "--after-context", v); break;
    case 'B': g->before = number(s, "--before-context", v); break;
    case 'C': g->before = g->after = number(s, "--context", v); break;
    case 'E':
        if (strcmp(v, "auto") && strcmp(v, "none") && strcmp(v, "utf-8") && strcmp(v, "utf8") && strcmp(v, "UTF-8"))
            refuse(g->p, mem_printf(&g->p->mem, "encoding not supported: %s\n", v));
        break;
    case 'M': g->max_columns = number(s, "--max-columns", v); break;
    case 'T':
    case 't': rg_choose_type(g, v, id == 'T'); break;
    case 'e':
        add_pattern(s, slice_str(v));
        s->given = true;
        break;
    case 'f': add_patterns_of(s, v); break;
    case 'g':
    case OPT_IGLOB: rg_add_glob(g, v, id == OPT_IGLOB); break;
    case 'm': g->max_count = number(s, "--max-count", v); break;
    case 'r': g->replacement = v; break;
    case OPT_TYPE_ADD: rg_add_type(g, v); break;
    case OPT_TYPE_CLEAR:
        for (TypeDef **t = &g->types; *t;)
            if (slice_is((*t)->name, v))
                *t = (*t)->next;
            else
                t = &(*t)->next;
        break;
    case OPT_IGNORE_FILE: rg_add_rule_file(g, v); break;
    case OPT_SORT:
    case OPT_SORTR: set_sort(s, v, id == OPT_SORTR); break;
    case OPT_MAX_DEPTH: g->max_depth = number(s, "--max-depth", v); break;
    case OPT_MAX_FILESIZE: g->max_size = size_of(s, v); break;
    case OPT_COLOR: g->color = !strcmp(v, "always") || !strcmp(v, "ansi"); break;
    case OPT_COLORS: rg_add_color(g, v); break;
    case OPT_SEPARATOR: g->context_separator = v; break;
    case OPT_MATCH_SEPARATOR: g->match_separator = v; break;
    case OPT_AROUND_SEPARATOR: g->around_separator = v; break;
    case OPT_PATH_SEPARATOR: g->path_separator = v; break;
    case OPT_ENGINE: g->pcre = strcmp(v, "pcre2") == 0; break;
    case 'j':
    case OPT_NOTHING_VALUE: break;
    default: return false;
    }
    return true;
}

static bool set_ignoring(Settings *s, int id)
{
    Rg *g = s->g;
    switch (id) {
    case '.': g->hidden = true; break;
    case OPT_NO_HIDDEN: g->hidden = false; break;
    case OPT_NO_IGNORE: g->use_files = false; break;
    case OPT_NO_IGNORE_VCS: g->use_git = false; break;
    case OPT_NO_IGNORE_DOT: g->use_dot = false; break;
    case OPT_NO_IGNORE_PARENT: g->use_parents = false; break;
    case OPT_NO_IGNORE_EXCLUDE: g->use_exclude = false; break;
    case OPT_NO_IGNORE_FILES: s->no_ignore_files = true; break;
    case OPT_REQUIRE_GIT:
    case OPT_NO_REQUIRE_GIT: g->need_git = id == OPT_REQUIRE_GIT; break;
    case OPT_ONE_DEVICE: g->one_device = true; break;
    case 'u': set_unrestricted(s); break;
    case 'L': g->follow = true; break;
    default: return false;
    }
    return true;
}

static bool set_matching(Settings *s, int id)
{
    Rg *g = s->g;
    switch (id) {
    case 'F': s->fixed = true; break;
    case 'P': g->pcre = true; break;
    case 'S': s->fold = 2; break;
    case 'i': s->fold = 1; break;
    case 's': s->fold = 0; break;
    case 'U': g->multiline = true; break;
    case 'v': g->invert = true; break;
    case 'w': s->whole_word = true; break;
    case 'x': s->whole_line = true; break;
    case 'a': g->text = true; break;
    case OPT_BINARY: g->binary = true; break;
    case OPT_CRLF: g->crlf = true; break;
    case OPT_NULL_DATA: g->null_data = true; break;
    case OPT_MULTILINE_DOTALL: g->dotall = true; break;
    case OPT_NO_UNICODE: g->no_unicode = true; break;
    case 'z': refuse(g->p, "rg: searching in compressed files is not supported\n");
    default: return false;
    }
    return true;
}

static bool has_colors(Proc *p)
{
    const char *term = proc_getenv(p, "TERM");
    return term && strcmp(term, "dumb") != 0;
}

static void set_printing(Settings *s, int id)
{
    Rg *g = s->g;
    switch (id) {
    case 'H':
    case 'I': s->with_name = id == 'H'; break;
    case 'n':
    case 'N': s->numbers = id == 'n'; break;
    case '0': g->null_name = true; break;
    case 'b': g->byte_offsets = true; break;
    case 'c': g->show = SHOW_COUNT; break;
    case 'l': g->show = SHOW_NAMES; break;
    case 'o': g->only_matching = true; break;
    case 'p':
        g->heading = true;
        g->color = has_colors(g->p);
        s->numbers = 1;
        break;
    case 'q': g->quiet = true; break;
    case OPT_FILES: g->show = SHOW_FILES; break;
    case OPT_LACKING: g->show = SHOW_LACKING; break;
    case OPT_COUNT_MATCHES: g->show = SHOW_MATCH_COUNT; break;
    case OPT_JSON: g->show = SHOW_JSON; break;
    case OPT_TYPE_LIST: s->list_types = true; break;
    case OPT_VIMGREP: g->vimgrep = g->columns = true; break;
    case OPT_COLUMN:
    case OPT_NO_COLUMN: g->columns = id == OPT_COLUMN; break;
    case OPT_HEADING:
    case OPT_NO_HEADING: g->heading = id == OPT_HEADING; break;
    case OPT_STATS: g->stats = true; break;
    case OPT_PASSTHRU: g->passthru = true; break;
    case OPT_TRIM: g->trim = true; break;
    case OPT_PREVIEW: g->preview = true; break;
    case OPT_INCLUDE_ZERO: g->include_zero = true; break;
    case OPT_NO_SEPARATOR: g->context_separator = NULL; break;
    case OPT_NO_MESSAGES: g->no_messages = true; break;
    default: break;
    }
}

static const char missing[] = "error: The following required arguments were not provided:\n    <PATTERN>\n\nUSAGE:\n    \n    rg [OPTIONS] PATTERN [PATH ...]\n"
                              "    rg [OPTIONS] -e PATTERN ... [PATH ...]\n    rg [OPTIONS] -f PATTERNFILE ... [PATH ...]\n    rg [OPTIONS] --files [PATH ...]\n"
                              "    rg [OPTIONS] --type-list\n    command | rg [OPTIONS] PATTERN\n    rg [OPTIONS] --help\n    rg [OPTIONS] --version\n\n"
                              "For more information try --help\n\n";

/* Standard input is searched when it is a file or a pipe; the run's own, which looks like a pipe, when the embedder put something in. */
static bool reads_stdin(Proc *p)
{
    VStat st;
    if (proc_isatty(p, 0) || proc_fstat(p, 0, &st) != 0 || !(S_ISREG(st.mode) || S_ISFIFO(st.mode)))
        return false;
    if (proc_file(p, 0) != proc_file(kern_main(p->kernel), 0))
        return true;
    char c;
    if (proc_read(p, 0, &c, 1) != 1)
        return false;
    proc_unread(p, 0, 1);
    return true;
}

static void finish_settings(Settings *s, char **paths, int count, bool from_stdin)
{
    Rg *g = s->g;
    VStat st;
    bool one_file = count == 1 && (strcmp(paths[0], "-") == 0 || (proc_stat(g->p, paths[0], 0, &st) == 0 && !S_ISDIR(st.mode)));
    g->with_name = s->with_name >= 0 ? s->with_name : g->vimgrep || !(from_stdin || one_file);
    g->numbers = s->numbers >= 0 ? s->numbers : g->columns || g->vimgrep;
    if (g->show == SHOW_COUNT && g->only_matching)
        g->show = SHOW_MATCH_COUNT;
    if (g->quiet && g->show != SHOW_FILES)
        g->show = SHOW_NOTHING;
    if (g->passthru)
        g->before = g->after = 0;
    if (s->no_ignore_files)
        g->extra = NULL;
    if (g->vimgrep)
        g->heading = false;
    g->dotall &= g->multiline;
    rg_finish_colors(g);
}

static void run(Settings *s, char **paths, int count)
{
    Rg *g = s->g;
    bool from_stdin = !count && g->show != SHOW_FILES && reads_stdin(g->p);
    finish_settings(s, paths, count, from_stdin);
    if (!s->count && g->show != SHOW_FILES)
        return;
    if (g->show != SHOW_FILES)
        rg_compile(g, s->patterns, s->count, s->fixed, s->whole_word, s->whole_line, s->fold);
    char *cwd;
    g->cwd = proc_getcwd(g->p, &cwd) == 0 ? mem_strdup(&g->p->keep, strcmp(cwd, "/") ? cwd : "") : "";
    if (from_stdin)
        rg_operand(g, "-", false);
    else if (!count)
        rg_operand(g, ".", true);
    for (int i = 0; i < count; i++) {
        char *path = paths[g->sort_reverse ? count - 1 - i : i];
        rg_operand(g, path, false);
    }
    if (!count && g->show != SHOW_FILES && g->total.searches == 0 && !g->no_messages) {
        output_flush(g->p->out);
        out_str(g->p->err, "No files were searched, which means ripgrep probably applied a filter you didn't expect.\nRunning with --debug will show why files are being skipped.\n");
        output_flush(g->p->err);
        g->failed = true;
    }
    if (g->show == SHOW_JSON)
        rg_json_summary(g);
    else if (g->stats && g->show != SHOW_FILES)
        rg_print_stats(g);
}

static int rg_main(Proc *p, Args *args)
{
    Rg *g = mem_new(&p->keep, Rg);
    *g = (Rg){.p = p, .env = proc_re_env(p), .use_files = true, .use_git = true, .use_dot = true, .use_parents = true, .use_exclude = true, .need_git = true, .max_count = -1,
              .max_columns = 0, .max_depth = -1, .max_size = -1, .context_separator = "--", .match_separator = ":", .around_separator = "-", .started = proc_monotonic(p)};
    Settings s = {.g = g, .with_name = -1, .numbers = -1};
    rg_default_types(g);
    for (int id; (id = args_next(p, args)) >= 0;)
        if (!set_value(&s, id, args->value) && !set_ignoring(&s, id) && !set_matching(&s, id))
            set_printing(&s, id);
    int count;
    char **paths = args_operands(args, &count);
    if (s.list_types) {
        rg_list_types(g);
        return output_status(p) ? 2 : 0;
    }
    if (!s.given && g->show != SHOW_FILES) {
        if (!count)
            refuse(p, missing);
        add_pattern(&s, slice_str(*paths++));
        count--;
    }
    run(&s, paths, count);
    if (output_status(p))
        return 2;
    return g->failed && !(g->quiet && g->matched) ? 2 : g->matched ? 0 : 1;
}

COMMAND(rg, "rg [OPTIONS] PATTERN [PATH ...]\nrg [OPTIONS] -e PATTERN ... [PATH ...]\nrg [OPTIONS] --files [PATH ...]\nrg [OPTIONS] --type-list",
        "Recursively search directories for lines that match a regular expression.", options, COMMAND_PURE, .usage_status = 2, .package = "ripgrep 13.0.0",
        .notes = "Files are searched in the order of their names, by one thread.  -z is refused, -E takes auto, none and utf-8.");

/* grep: print lines that match patterns.
 *
 * GNU grep 3.8. Files are searched buffer by buffer, see scan.c; egrep and fgrep are grep -E and grep -F, without a warning.
 */
#include "grep.h"

#include <inttypes.h>
#include <sys/stat.h>

enum {
    OPT_BINARY_FILES = 256, OPT_COLOR, OPT_EXCLUDE, OPT_EXCLUDE_FROM, OPT_EXCLUDE_DIR, OPT_INCLUDE, OPT_LABEL, OPT_LINE_BUFFERED, OPT_NO_IGNORE_CASE,
    OPT_GROUP_SEPARATOR, OPT_NO_GROUP_SEPARATOR,
};

static const Option options[] = {
    {'E', "extended-regexp", OPT_FLAG, "PATTERNS are extended regular expressions", NULL, 0},
    {'F', "fixed-strings", OPT_FLAG, "PATTERNS are strings", NULL, 0},
    {'G', "basic-regexp", OPT_FLAG, "PATTERNS are basic regular expressions", NULL, 0},
    {'X', NULL, OPT_VALUE, NULL, NULL, 0},
    {'P', "perl-regexp", OPT_FLAG, "PATTERNS are Perl regular expressions", NULL, 0},
    {'e', "regexp", OPT_VALUE, "use PATTERNS for matching", "PATTERNS", 0},
    {'f', "file", OPT_VALUE, "take PATTERNS from FILE", "FILE", 0},
    {'i', "ignore-case", OPT_FLAG, "ignore case distinctions in patterns and data", NULL, 0},
    {'y', NULL, OPT_FLAG, NULL, NULL, 0},
    {0, "no-ignore-case", OPT_FLAG, "do not ignore case distinctions (default)", NULL, OPT_NO_IGNORE_CASE},
    {'w', "word-regexp", OPT_FLAG, "match only whole words", NULL, 0},
    {'x', "line-regexp", OPT_FLAG, "match only whole lines", NULL, 0},
    {'z', "null-data", OPT_FLAG, "a data line ends in 0 byte, not newline", NULL, 0},
    {'s', "no-messages", OPT_FLAG, "suppress error messages", NULL, 0},
    OPTION_VERSION('V'),
    {'v', "invert-match", OPT_FLAG, "select non-matching lines", NULL, 0},
    {'m', "max-count", OPT_VALUE, "stop after NUM selected lines", "NUM", 0},
    {'b', "byte-offset", OPT_FLAG, "print the byte offset with output lines", NULL, 0},
    {'n', "line-number", OPT_FLAG, "print line number with output lines", NULL, 0},
    {0, "line-buffered", OPT_FLAG, "flush output on every line", NULL, OPT_LINE_BUFFERED},
    {'H', "with-filename", OPT_FLAG, "print file name with output lines", NULL, 0},
    {'h', "no-filename", OPT_FLAG, "suppress the file name prefix on output", NULL, 0},
    {0, "label", OPT_VALUE, "use LABEL as the standard input file name prefix", "LABEL", OPT_LABEL},
    {'o', "only-matching", OPT_FLAG, "show only nonempty parts of lines that match", NULL, 0},
    {'q', "quiet", OPT_FLAG, "suppress all normal output", NULL, 0},
    {'q', "silent", OPT_FLAG, NULL, NULL, 0},
    {0, "binary-files", OPT_VALUE, "assume that binary files are TYPE: 'binary', 'text', or 'without-match'", "TYPE", OPT_BINARY_FILES},
    {'a', "text", OPT_FLAG, "equivalent to --binary-files=text", NULL, 0},
    {'I', NULL, OPT_FLAG, "equivalent to --binary-files=without-match", NULL, 0},
    {'d', "directories", OPT_VALUE, "how to handle directories: 'read', 'recurse', or 'skip'", "ACTION", 0},
    {'D', "devices", OPT_VALUE, "how to handle devices, FIFOs and sockets: 'read' or 'skip'", "ACTION", 0},
    {'r', "recursive", OPT_FLAG, "like --directories=recurse", NULL, 0},
    {'R', "dereference-recursive", OPT_FLAG, "likewise, but follow all symlinks", NULL, 0},
    {0, "include", OPT_VALUE, "search only files that match GLOB (a file pattern)", "GLOB", OPT_INCLUDE},
    {0, "exclude", OPT_VALUE, "skip files that match GLOB", "GLOB", OPT_EXCLUDE},
    {0, "exclude-from", OPT_VALUE, "skip files that match any file pattern from FILE", "FILE", OPT_EXCLUDE_FROM},
    {0, "exclude-dir", OPT_VALUE, "skip directories that match GLOB", "GLOB", OPT_EXCLUDE_DIR},
    {'L', "files-without-match", OPT_FLAG, "print only names of FILEs with no selected lines", NULL, 0},
    {'l', "files-with-matches", OPT_FLAG, "print only names of FILEs with selected lines", NULL, 0},
    {'c', "count", OPT_FLAG, "print only a count of selected lines per FILE", NULL, 0},
    {'T', "initial-tab", OPT_FLAG, "make tabs line up (if needed)", NULL, 0},
    {'Z', "null", OPT_FLAG, "print 0 byte after FILE name", NULL, 0},
    {'B', "before-context", OPT_VALUE, "print NUM lines of leading context", "NUM", 0},
    {'A', "after-context", OPT_VALUE, "print NUM lines of trailing context", "NUM", 0},
    {'C', "context", OPT_VALUE, "print NUM lines of output context", "NUM", 0},
    {'0', NULL, OPT_FLAG, NULL, NULL, 0}, {'1', NULL, OPT_FLAG, NULL, NULL, 0}, {'2', NULL, OPT_FLAG, NULL, NULL, 0},
    {'3', NULL, OPT_FLAG, NULL, NULL, 0}, {'4', NULL, OPT_FLAG, NULL, NULL, 0}, {'5', NULL, OPT_FLAG, NULL, NULL, 0},
    {'6', NULL, OPT_FLAG, NULL, NULL, 0}, {'7', NULL, OPT_FLAG, NULL, NULL, 0}, {'8', NULL, OPT_FLAG, NULL, NULL, 0},
    {'9', NULL, OPT_FLAG, NULL, NULL, 0},
    {0, "group-separator", OPT_VALUE, "print SEP on line between matches with context", "SEP", OPT_GROUP_SEPARATOR},
    {0, "no-group-separator", OPT_FLAG, "do not print separator for matches with context", NULL, OPT_NO_GROUP_SEPARATOR},
    {0, "color", OPT_OPTIONAL, "use markers to highlight the matching strings: 'always', 'never', or 'auto'", "WHEN", OPT_COLOR},
    {0, "colour", OPT_OPTIONAL, NULL, NULL, OPT_COLOR},
    {'U', "binary", OPT_FLAG, "do not strip CR characters at EOL (MSDOS/Windows)", NULL, 0},
    {'u', "unix-byte-offsets", OPT_FLAG, NULL, NULL, 0},
    OPTIONS_END,
};

/* A file that patterns came from: those of patterns[first, last). */
typedef struct Origin {
    const char *file;
    size_t first, last;
    struct Origin *next;
} Origin;

typedef struct {
    Grep *g;
    ReSyntax syntax;
    bool chosen;       /* a matcher was named */
    unsigned flags;
    Buf patterns;      /* each followed by a newline */
    Origin *origins;   /* in reverse order */
    bool given;
    bool help;         /* a colour that is none asks for it */
    int with_name;     /* -1: by the number of files */
    int64_t context;   /* -1 */
    Buf digits;
    const char *label;
} Settings;

static const char hint[] = "Usage: grep [OPTION]... PATTERNS [FILE]...\nTry 'grep --help' for more information.";

static NORETURN void usage_status(Proc *p, int status)
{
    output_flush(p->out);
    out_printf(p->err, "%s\n", hint);
    output_flush(p->err);
    proc_fail(p, status);
}

static NORETURN void usage(Proc *p) { usage_status(p, 2); }

/* ---------- options ---------- */

static void choose(Settings *s, ReSyntax syntax)
{
    if (s->chosen && s->syntax != syntax)
        die(s->g->p, 2, "conflicting matchers specified");
    s->syntax = syntax;
    s->chosen = true;
}

/* -X, which no help names: the matchers of old. */
static void choose_named(Settings *s, const char *name)
{
    static const struct { const char *name; ReSyntax syntax; } known[] = {
        {"grep", RE_BRE}, {"egrep", RE_ERE}, {"fgrep", RE_FIXED}, {"awk", RE_ERE}, {"gawk", RE_ERE}, {"posixawk", RE_ERE}, {"perl", RE_PCRE},
    };
    for (unsigned i = 0; i < ARRAY_LEN(known); i++)
        if (strcmp(known[i].name, name) == 0) {
            choose(s, known[i].syntax);
            return;
        }
    die(s->g->p, 2, "invalid matcher %s", name);
}

static int64_t context_length(Proc *p, const char *text)
{
    int64_t n;
    int err = *text == '+' ? -EINVAL : parse_int(text, &n);
    if (err == -ERANGE && *text != '-')
        return INT64_MAX;
    if (err || n < 0)
        die(p, 2, "%s: invalid context length argument", text);
    return n;
}

static void add_patterns(Settings *s, Slice text)
{
    buf_append(&s->patterns, text);
    buf_char(&s->patterns, '\n');
    s->given = true;
}

static void add_pattern_file(Settings *s, const char *path)
{
    Proc *p = s->g->p;
    Slice text;
    int err = 0;
    if (strcmp(path, "-") == 0)
        text = read_all(p, 0);
    else
        err = read_file(p, path, &text);
    if (err)
        die_errno(p, 2, err, "%s", path);
    Origin *origin = mem_new(&p->keep, Origin);
    *origin = (Origin){path, s->patterns.len, 0, s->origins};
    buf_append(&s->patterns, text);
    if (text.len && text.data[text.len - 1] != '\n')
        buf_char(&s->patterns, '\n');
    origin->last = s->patterns.len;
    s->origins = origin;
    s->given = true;
}

static void add_glob(Grep *g, const char *text, bool include, bool dirs)
{
    Glob *glob = mem_new(&g->p->keep, Glob);
    size_t len = strlen(text);
    while (dirs && len > 1 && text[len - 1] == '/')
        len--;
    *glob = (Glob){pat_compile(&g->p->keep, slice(text, len), g->utf8 ? 0 : PAT_BYTES), include, dirs ? g->dir_globs : g->globs};
    if (dirs)
        g->dir_globs = glob;
    else
        g->globs = glob;
}

static void add_globs_from(Grep *g, const char *path)
{
    Slice text;
    int err = read_file(g->p, path, &text);
    if (err)
        die_errno(g->p, 2, err, "%s", path);
    while (text.len) {
        size_t end = slice_find(text, '\n');
        if (end)
            add_glob(g, mem_copy(&g->p->keep, slice(text.data, end)), false, false);
        text = slice_from(text, MIN(end + 1, text.len));
    }
}

static void set_directories(Settings *s, const char *how)
{
    Grep *g = s->g;
    static const char *const names[] = {"read", "recurse", "skip"};
    for (unsigned i = 0; i < ARRAY_LEN(names); i++)
        if (*how && strncmp(names[i], how, strlen(how)) == 0) {
            g->dirs = (DirMode)i;
            return;
        }
    warn(g->p, "invalid argument %s for %s", quote(g->p, how), quote(g->p, "--directories"));
    out_str(g->p->err, "Valid arguments are:\n");
    for (unsigned i = 0; i < ARRAY_LEN(names); i++)
        out_printf(g->p->err, "  - %s\n", quote(g->p, names[i]));
    usage_status(g->p, 1);
}

static void set_color(Settings *s, const char *when)
{
    Grep *g = s->g;
    if (!when || !strcmp(when, "auto") || !strcmp(when, "tty") || !strcmp(when, "if-tty"))
        g->color = proc_isatty(g->p, 1);
    else if (!strcmp(when, "always") || !strcmp(when, "yes") || !strcmp(when, "force"))
        g->color = true;
    else if (!strcmp(when, "never") || !strcmp(when, "no") || !strcmp(when, "none"))
        g->color = false;
    else
        s->help = true;
}

static void set_binary(Settings *s, const char *type)
{
    static const char *const names[] = {"binary", "text", "without-match"};
    for (unsigned i = 0; i < ARRAY_LEN(names); i++)
        if (!strcmp(type, names[i])) {
            s->g->binary = (BinaryMode)i;
            return;
        }
    die(s->g->p, 2, "unknown binary-files type");
}

static void set_devices(Settings *s, const char *how)
{
    if (strcmp(how, "read") != 0 && strcmp(how, "skip") != 0)
        die(s->g->p, 2, "unknown devices method");
    s->g->skip_devices = how[0] == 's';
}

static void set_max_count(Settings *s, const char *text)
{
    int err = parse_int(text, &s->g->max_count);
    if (err == -ERANGE && *text != '-')
        s->g->max_count = -1;
    else if (err == -EINVAL)
        die(s->g->p, 2, "invalid max count");
    else if (s->g->max_count < 0)
        s->g->max_count = -1;
}

static void set_value(Settings *s, int id, const char *value)
{
    Grep *g = s->g;
    switch (id) {
    case 'X': choose_named(s, value); break;
    case 'e': add_patterns(s, slice_str(value)); break;
    case 'f': add_pattern_file(s, value); break;
    case 'm': set_max_count(s, value); break;
    case 'd': set_directories(s, value); break;
    case 'D': set_devices(s, value); break;
    case 'A': g->after = context_length(g->p, value); break;
    case 'B': g->before = context_length(g->p, value); break;
    case 'C': s->context = context_length(g->p, value); break;
    case OPT_LABEL: s->label = value; break;
    case OPT_BINARY_FILES: set_binary(s, value); break;
    case OPT_COLOR: set_color(s, value); break;
    case OPT_INCLUDE: add_glob(g, value, true, false); break;
    case OPT_EXCLUDE: add_glob(g, value, false, false); break;
    case OPT_EXCLUDE_DIR: add_glob(g, value, false, true); break;
    case OPT_EXCLUDE_FROM: add_globs_from(g, value); break;
    default: g->group_separator = value; break; /* OPT_GROUP_SEPARATOR */
    }
}

static void set_flag(Settings *s, int id)
{
    Grep *g = s->g;
    switch (id) {
    case 'E': choose(s, RE_ERE); break;
    case 'F': choose(s, RE_FIXED); break;
    case 'G': choose(s, RE_BRE); break;
    case 'P': choose(s, RE_PCRE); break;
    case 'i':
    case 'y': s->flags |= RE_ICASE; break;
    case OPT_NO_IGNORE_CASE: s->flags &= ~(unsigned)RE_ICASE; break;
    case 'w': s->flags |= RE_WHOLE_WORD; break;
    case 'x': s->flags |= RE_WHOLE_LINE; break;
    case 'z': g->eol = 0; break;
    case 's': g->no_messages = true; break;
    case 'v': g->invert = true; break;
    case 'b': g->bytes = true; break;
    case 'n': g->numbers = true; break;
    case OPT_LINE_BUFFERED: g->line_buffered = true; break;
    case 'H': s->with_name = 1; break;
    case 'h': s->with_name = 0; break;
    case 'o': g->only_matching = true; break;
    case 'q': g->quiet = true; break;
    case 'a': g->binary = BINARY_TEXT; break;
    case 'I': g->binary = BINARY_SKIP; break;
    case 'r':
    case 'R':
        g->dirs = DIRS_RECURSE;
        g->follow = id == 'R';
        break;
    case 'L': g->list = LIST_LACKING; break;
    case 'l': g->list = LIST_MATCHING; break;
    case 'c': g->count = true; break;
    case 'T': g->tab = true; break;
    case 'Z': g->null_name = true; break;
    case OPT_NO_GROUP_SEPARATOR: g->group_separator = NULL; break;
    case 'u': warn(g->p, "warning: --unix-byte-offsets (-u) is obsolete"); break;
    default: break; /* -U: there are no text files with CR here */
    }
}

static bool takes_value(const Option *o) { return o->kind != OPT_FLAG; }

/* -NUM: digits of one cluster are one number. */
static void set_digit(Settings *s, int digit, const char *cluster, const char **expected)
{
    if (!*expected)
        buf_clear(&s->digits);
    buf_char(&s->digits, (char)digit);
    s->context = context_length(s->g->p, s->digits.data);
    *expected = cluster;
}

static void read_options(Settings *s, Args *args)
{
    const char *digits_at = NULL;
    for (int id; (id = args_next(s->g->p, args)) >= 0;) {
        if (id >= '0' && id <= '9') {
            set_digit(s, id, args->cluster, &digits_at);
            continue;
        }
        digits_at = NULL;
        if (takes_value(&args->command->options[args->option_index]))
            set_value(s, id, args->value);
        else
            set_flag(s, id);
    }
    Grep *g = s->g;
    if (g->before < 0)
        g->before = s->context;
    if (g->after < 0)
        g->after = s->context;
}

/* ---------- patterns ---------- */

static void release_re(Proc *p, void *thing)
{
    (void)p;
    Grep *g = thing;
    re_hold_end(&g->hold);
    re_unref(g->re);
}

static void warn_dangling(Grep *g, const ReError *err)
{
    for (const char *c = err->dangling; *c; c++)
        warn(g->p, *c == '{' ? "warning: {...} at start of expression" : "warning: %c at start of expression", *c);
}

/* Every bad pattern is named, with its place when it is from a file; where each is good alone, what is wrong is the whole. */
static NORETURN void bad_patterns(Settings *s, const Slice *patterns, size_t count, unsigned flags, const ReError *whole)
{
    Grep *g = s->g;
    bool said = false;
    for (size_t i = 0; i < count && s->syntax != RE_PCRE; i++) {
        ReError err;
        Re *re = re_compile(kern_budget(g->p->kernel), &g->p->keep, &patterns[i], 1, s->syntax, flags, &err);
        re_unref(re);
        if (re || err.late)
            continue;
        size_t at = (size_t)(patterns[i].data - s->patterns.data);
        const Origin *o = s->origins;
        while (o && !(at >= o->first && at < o->last))
            o = o->next;
        if (o)
            warn(g->p, "%s:%" PRIu64 ": %s", o->file, slice_count(slice(s->patterns.data + o->first, at - o->first), '\n') + 1, err.message);
        else
            warn(g->p, "%s", err.message);
        said = true;
    }
    if (!said) {
        if (whole->late)
            warn_dangling(g, whole);
        warn(g->p, "%s", whole->message);
    }
    proc_fail(g->p, 2);
}

static bool is_expression(ReSyntax syntax, Slice text)
{
    const char *special = syntax == RE_BRE ? "\\.[*^$" : syntax == RE_ERE ? "\\.[*^$+?|(){" : "";
    for (size_t i = 0; i < text.len; i++)
        if (text.data[i] && strchr(special, text.data[i]))
            return true;
    return false;
}

static void compile(Settings *s)
{
    Grep *g = s->g;
    Slice all = buf_slice(&s->patterns), all_patterns = all;
    size_t count = 0, cap = 1;
    for (size_t i = 0; i < all.len; i++)
        cap += all.data[i] == '\n';
    Slice *patterns = mem_array(&g->p->keep, cap, Slice);
    while (all.len) {
        size_t end = slice_find(all, '\n');
        patterns[count++] = slice(all.data, end);
        all = slice_from(all, end + 1);
    }
    if (!count)
        return;
    if (s->syntax == RE_PCRE && count > 1)
        die(g->p, 2, "the -P option only supports a single pattern");
    unsigned flags = s->flags | RE_GREP | RE_BYTE_RANGES | (g->eol || s->syntax == RE_PCRE ? RE_NEWLINE : 0) | (g->utf8 ? 0 : RE_BYTES);
    if (s->syntax == RE_PCRE && !g->eol)
        flags &= ~(unsigned)RE_NEWLINE;
    if ((flags & RE_WHOLE_LINE) && (flags & RE_WHOLE_WORD)) {
        flags &= ~(unsigned)RE_WHOLE_WORD;
        g->end_in_match = s->syntax != RE_FIXED && s->syntax != RE_PCRE && (count == 1 || is_expression(s->syntax, all_patterns));
    }
    ReError err;
    g->re = re_compile(kern_budget(g->p->kernel), &g->p->keep, patterns, count, s->syntax, flags, &err);
    if (!g->re)
        bad_patterns(s, patterns, count, flags, &err);
    proc_own(g->p, release_re, g);
    g->hold.re = g->re;
    g->env.hold = &g->hold;
    g->line_by_line = s->syntax == RE_PCRE || !g->eol;
    warn_dangling(g, &err);
}

/* ---------- files ---------- */

/* gnulib's exclude lists: the last option that matches decides, and where none does, the opposite of the first. */
static bool excluded(Grep *g, const Glob *globs, const char *name, bool anchored)
{
    for (const Glob *glob = globs; glob; glob = glob->next) {
        bool hit = pat_match(&g->env, glob->pattern, slice_str(name));
        for (const char *at = name; !hit && !anchored && (at = strchr(at, '/')); at++)
            hit = at[1] != '/' && pat_match(&g->env, glob->pattern, slice_str(at + 1));
        if (hit)
            return !glob->include;
        if (!glob->next)
            return glob->include;
    }
    return false;
}

static void file_trouble(Grep *g, int error)
{
    if (!g->no_messages)
        warn_errno(g->p, error, "%s", g->name);
    g->trouble = true;
}

static void print_count(Grep *g, uint64_t count)
{
    if (g->with_name) {
        print_name(g);
        if (g->null_name)
            out_char(g->p->out, 0);
        else
            print_separator(g, ':');
    }
    out_int(g->p->out, (int64_t)count);
    out_char(g->p->out, '\n');
}

/* -T lines numbers up for the file's size: digits enough for its last byte, or for any number when the size is not known. */
static int number_width(Grep *g, int fd)
{
    VStat st;
    if (proc_fstat(g->p, fd, &st) != 0 || !S_ISREG(st.mode))
        return 19;
    int width = 1;
    for (uint64_t n = st.size; n >= 10; n /= 10)
        width++;
    return width;
}

static void grep_open(Grep *g, int fd, bool is_stdin)
{
    VStat st;
    bool same = g->out_regular && !g->quiet && g->list == LIST_NONE && (g->max_count < 0 || g->max_count > 1) && proc_fstat(g->p, fd, &st) == 0
                && S_ISREG(st.mode) && st.ino == g->out_stat.ino && st.dev == g->out_stat.dev;
    if (same) {
        if (!g->no_messages)
            warn(g->p, "%s: input file is also the output", g->name);
        g->trouble = true;
        return;
    }
    if (g->tab)
        g->number_width = number_width(g, fd);
    uint64_t count = grep_fd(g, fd, is_stdin);
    if (g->count && g->list == LIST_NONE && !g->quiet)
        print_count(g, count);
    bool listed = g->list != LIST_NONE && (count > 0) == (g->list == LIST_MATCHING);
    if (listed && !g->quiet) {
        print_name(g);
        out_char(g->p->out, g->null_name ? 0 : '\n');
    }
    g->any |= count > 0; /* -L too: the status is about lines, not about names */
    if (g->quiet && g->any)
        proc_exit(g->p, 0);
}

static void grep_directory(Grep *g, const char *path, bool implied);

/* A file or directory; `operand`: named on the command line; `implied`: under the "." that nobody named, which names do not show. */
static void grep_path(Grep *g, const char *path, bool operand, bool implied)
{
    VStat st;
    const char *shown = implied && !operand ? path + 2 : path;
    g->name = shown;
    int err = proc_stat(g->p, path, !operand && !g->follow ? V_NOFOLLOW : 0, &st);
    if (err) {
        file_trouble(g, err);
        return;
    }
    if (S_ISDIR(st.mode)) {
        if (g->dirs == DIRS_SKIP || (operand && !implied && excluded(g, g->dir_globs, shown, true)))
            return;
        if (g->dirs == DIRS_RECURSE)
            grep_directory(g, path, implied);
        else
            file_trouble(g, EISDIR);
        return;
    }
    bool device = !S_ISREG(st.mode);
    if (excluded(g, g->globs, shown, operand) || (device && (g->skip_devices || (!operand && g->dirs == DIRS_RECURSE))))
        return;
    int fd = proc_open(g->p, path, V_READ, 0);
    if (fd < 0) {
        file_trouble(g, fd);
        return;
    }
    grep_open(g, fd, false);
    proc_close(g->p, fd);
}

static void grep_directory(Grep *g, const char *path, bool implied)
{
    VDirent *entries;
    size_t count;
    if (!proc_stack_room(g->p, 64 * 1024)) {
        warn(g->p, "%s: directories nest too deeply", path);
        g->trouble = true;
        return;
    }
    int err = proc_list(g->p, path, &entries, &count);
    if (err) {
        file_trouble(g, err);
        return;
    }
    size_t len = strlen(path);
    const char *slash = len && path[len - 1] == '/' ? "" : "/";
    for (size_t i = 0; i < count; i++) {
        MemMark mark = mem_mark(&g->p->mem);
        const char *name = mem_copy(&g->p->mem, entries[i].name);
        const char *child = mem_printf(&g->p->mem, "%s%s%s", path, slash, name);
        bool skip = (entries[i].type == S_IFDIR && excluded(g, g->dir_globs, name, false))
                    || (entries[i].type == S_IFLNK && !g->follow);
        if (!skip)
            grep_path(g, child, false, implied);
        mem_reset(&g->p->mem, mark);
    }
}

static void grep_operand(Settings *s, const char *name)
{
    Grep *g = s->g;
    if (strcmp(name, "-") != 0) {
        grep_path(g, name, true, false);
        return;
    }
    g->name = s->label ? s->label : "(standard input)";
    grep_open(g, 0, true);
}

static const char default_match[] = "01;31";

static void grep_init(Grep *g, Proc *p)
{
    *g = (Grep){.p = p, .eol = '\n', .max_count = -1, .before = -1, .after = -1, .group_separator = "--", .utf8 = locale_utf8(p), .env = proc_re_env(p)};
    g->colors = (Colors){default_match, default_match, "", "", "35", "32", "32", "36", "\33[K", false};
    buf_init(&g->before_lines, &p->keep, BUF_MAX);
    buf_init(&g->carry, &p->keep, BUF_MAX);
    g->out_regular = proc_fstat(p, 1, &g->out_stat) == 0 && S_ISREG(g->out_stat.mode);
}

/* GREP_COLOR, which GREP_COLORS goes before. */
static void old_color(Grep *g)
{
    const char *color = proc_getenv(g->p, "GREP_COLOR");
    if (!color || !*color || color[strspn(color, "0123456789;")] || g->colors.selected_match != default_match)
        return;
    warn(g->p, "warning: GREP_COLOR='%s' is deprecated; use GREP_COLORS='mt=%s'", color, color);
    g->colors.selected_match = g->colors.context_match = color;
}

static int grep_run(Proc *p, Args *args, ReSyntax syntax)
{
    Grep *g = mem_new(&p->keep, Grep);
    grep_init(g, p);
    Settings s = {.g = g, .syntax = syntax, .with_name = -1, .context = -1};
    buf_init(&s.patterns, &p->keep, BUF_MAX);
    buf_init(&s.digits, &p->keep, 64);
    read_options(&s, args);
    if (s.help) {
        print_help(p, args->command);
        return 0;
    }
    int count;
    char **names = args_operands(args, &count);
    if (!s.given) {
        if (!count)
            usage(p);
        add_patterns(&s, slice_str(*names++));
        count--;
    }
    if (g->color) {
        const char *colors = proc_getenv(p, "GREP_COLORS");
        if (colors && *colors)
            colors_parse(g, colors);
        old_color(g);
    }
    bool alone = s.patterns.len == 1 && !(s.flags & (RE_WHOLE_LINE | RE_WHOLE_WORD)); /* the empty pattern */
    bool nothing = g->max_count == 0 || (g->invert ? alone : !s.patterns.len);
    if (nothing && (g->list != LIST_LACKING || g->quiet)) /* -q is more than -L */
        return 1;
    compile(&s);
    bool recurse = g->dirs == DIRS_RECURSE;
    g->with_name = s.with_name >= 0 ? s.with_name : count > 1 || recurse;
    if (s.with_name < 0 && recurse && count == 1) {
        VStat st;
        g->with_name = proc_stat(p, names[0], 0, &st) == 0 && S_ISDIR(st.mode);
    }
    if (!count && recurse) {
        grep_path(g, ".", true, true);
    } else if (!count) {
        grep_operand(&s, "-");
    }
    for (int i = 0; i < count; i++)
        grep_operand(&s, names[i]);
    int written = output_status(p) ? 2 : 0;
    return written ? written : g->trouble && !(g->quiet && g->any) ? 2 : g->any ? 0 : 1;
}

static int grep_main(Proc *p, Args *args) { return grep_run(p, args, RE_BRE); }
static int egrep_main(Proc *p, Args *args) { return grep_run(p, args, RE_ERE); }
static int fgrep_main(Proc *p, Args *args) { return grep_run(p, args, RE_FIXED); }

#define NOTES "When FILE is '-', read standard input.  With no FILE, read '.' if\n"                                   \
              "recursive, '-' otherwise.  With fewer than two FILEs, assume -h.\n"                                    \
              "Exit status is 0 if any line is selected, 1 otherwise;\n"                                              \
              "if any error occurs and -q is not given, the exit status is 2."

COMMAND(grep, "grep [OPTION]... PATTERNS [FILE]...", "Search for PATTERNS in each FILE.", options, COMMAND_PURE, .usage_status = 2, .hint = hint, .notes = NOTES, .package = "GNU grep 3.8");
COMMAND(egrep, "egrep [OPTION]... PATTERNS [FILE]...", "Search for extended regular expressions: grep -E.", options, COMMAND_PURE, .usage_status = 2, .hint = hint, .notes = NOTES, .package = "GNU grep 3.8");
COMMAND(fgrep, "fgrep [OPTION]... PATTERNS [FILE]...", "Search for fixed strings: grep -F.", options, COMMAND_PURE, .usage_status = 2, .hint = hint, .notes = NOTES, .package = "GNU grep 3.8");

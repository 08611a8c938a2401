/* ls: list directory contents.
 *
 * GNU coreutils 9.1. --dired, for an editor, does not exist here.
 */
#include "ls.h"

enum {
    AUTHOR = 256, BLOCK_SIZE, COLOR, FILE_TYPE, FORMAT_WORD, FULL_TIME, GROUP_DIRECTORIES, SI, LINK_DIRS, HIDE_PATTERN, INDICATOR, SHOW_CONTROL,
    QUOTING, SORT_WORD, TIME_WORD, TIME_STYLE, ZERO, HYPERLINK,
};

static const Option options[] = {
    {'a', "all", OPT_FLAG, "do not ignore entries starting with .", NULL, 0},
    {'A', "almost-all", OPT_FLAG, "do not list implied . and ..", NULL, 0},
    {0, "author", OPT_FLAG, "with -l, print the author of each file", NULL, AUTHOR},
    {'b', "escape", OPT_FLAG, "print C-style escapes for nongraphic characters", NULL, 0},
    {0, "block-size", OPT_VALUE, "with -l, scale sizes by SIZE when printing them", "SIZE", BLOCK_SIZE},
    {'B', "ignore-backups", OPT_FLAG, "do not list implied entries ending with ~", NULL, 0},
    {'c', NULL, OPT_FLAG, "with -lt: sort by, and show, ctime; with -l: show ctime and sort by name; otherwise: sort by ctime, newest first", NULL, 0},
    {'C', NULL, OPT_FLAG, "list entries by columns", NULL, 0},
    {0, "color", OPT_OPTIONAL, "color the output WHEN: always, auto or never", "WHEN", COLOR},
    {'d', "directory", OPT_FLAG, "list directories themselves, not their contents", NULL, 0},
    {'f', NULL, OPT_FLAG, "list all entries in directory order", NULL, 0},
    {'F', "classify", OPT_OPTIONAL, "append indicator (one of */=>@|) to entries WHEN", "WHEN", 0},
    {0, "file-type", OPT_FLAG, "likewise, except do not append '*'", NULL, FILE_TYPE},
    {0, "format", OPT_VALUE, "across -x, commas -m, horizontal -x, long -l, single-column -1, verbose -l, vertical -C", "WORD", FORMAT_WORD},
    {0, "full-time", OPT_FLAG, "like -l --time-style=full-iso", NULL, FULL_TIME},
    {'g', NULL, OPT_FLAG, "like -l, but do not list owner", NULL, 0},
    {0, "group-directories-first", OPT_FLAG, "group directories before files", NULL, GROUP_DIRECTORIES},
    {'G', "no-group", OPT_FLAG, "in a long listing, don't print group names", NULL, 0},
    {'h', "human-readable", OPT_FLAG, "with -l and -s, print sizes like 1K 234M 2G etc.", NULL, 0},
    {0, "si", OPT_FLAG, "likewise, but use powers of 1000 not 1024", NULL, SI},
    {'H', "dereference-command-line", OPT_FLAG, "follow symbolic links listed on the command line", NULL, 0},
    {0, "dereference-command-line-symlink-to-dir", OPT_FLAG, "follow each command line symbolic link that points to a directory", NULL, LINK_DIRS},
    {0, "hide", OPT_VALUE, "do not list implied entries matching shell PATTERN", "PATTERN", HIDE_PATTERN},
    {0, "indicator-style", OPT_VALUE, "append indicator with style WORD to entry names: none, slash, file-type, classify", "WORD", INDICATOR},
    {0, "hyperlink", OPT_OPTIONAL, "hyperlink file names WHEN", "WHEN", HYPERLINK},
    {'i', "inode", OPT_FLAG, "print the index number of each file", NULL, 0},
    {'I', "ignore", OPT_VALUE, "do not list implied entries matching shell PATTERN", "PATTERN", 0},
    {'k', "kibibytes", OPT_FLAG, "default to 1024-byte blocks for file system usage", NULL, 0},
    {'l', NULL, OPT_FLAG, "use a long listing format", NULL, 0},
    {'L', "dereference", OPT_FLAG, "when showing file information for a symbolic link, show information for the file the link references", NULL, 0},
    {'m', NULL, OPT_FLAG, "fill width with a comma separated list of entries", NULL, 0},
    {'n', "numeric-uid-gid", OPT_FLAG, "like -l, but list numeric user and group IDs", NULL, 0},
    {'N', "literal", OPT_FLAG, "print entry names without quoting", NULL, 0},
    {'o', NULL, OPT_FLAG, "like -l, but do not list group information", NULL, 0},
    {'p', NULL, OPT_FLAG, "append / indicator to directories", NULL, 0},
    {'q', "hide-control-chars", OPT_FLAG, "print ? instead of nongraphic characters", NULL, 0},
    {0, "show-control-chars", OPT_FLAG, "show nongraphic characters as-is", NULL, SHOW_CONTROL},
    {'Q', "quote-name", OPT_FLAG, "enclose entry names in double quotes", NULL, 0},
    {0, "quoting-style", OPT_VALUE, "literal, locale, shell, shell-always, shell-escape, shell-escape-always, c, escape", "WORD", QUOTING},
    {'r', "reverse", OPT_FLAG, "reverse order while sorting", NULL, 0},
    {'R', "recursive", OPT_FLAG, "list subdirectories recursively", NULL, 0},
    {'s', "size", OPT_FLAG, "print the allocated size of each file, in blocks", NULL, 0},
    {'S', NULL, OPT_FLAG, "sort by file size, largest first", NULL, 0},
    {0, "sort", OPT_VALUE, "sort by WORD instead of name: none (-U), size (-S), time (-t), version (-v), extension (-X), width", "WORD", SORT_WORD},
    {0, "time", OPT_VALUE, "atime, access, use; ctime, status; mtime, modification; birth, creation", "WORD", TIME_WORD},
    {0, "time-style", OPT_VALUE, "full-iso, long-iso, iso, locale, or +FORMAT", "TIME_STYLE", TIME_STYLE},
    {'t', NULL, OPT_FLAG, "sort by time, newest first; see --time", NULL, 0},
    {'T', "tabsize", OPT_VALUE, "assume tab stops at each COLS instead of 8", "COLS", 0},
    {'u', NULL, OPT_FLAG, "with -lt: sort by, and show, access time; with -l: show access time and sort by name; otherwise: sort by access time, newest first", NULL, 0},
    {'U', NULL, OPT_FLAG, "do not sort; list entries in directory order", NULL, 0},
    {'v', NULL, OPT_FLAG, "natural sort of (version) numbers within text", NULL, 0},
    {'w', "width", OPT_VALUE, "set output width to COLS.  0 means no limit", "COLS", 0},
    {'x', NULL, OPT_FLAG, "list entries by lines instead of by columns", NULL, 0},
    {'X', NULL, OPT_FLAG, "sort alphabetically by entry extension", NULL, 0},
    {'Z', "context", OPT_FLAG, "print any security context of each file: there is none", NULL, 0},
    {0, "zero", OPT_FLAG, "end each output line with NUL, not newline", NULL, ZERO},
    {'1', NULL, OPT_FLAG, "list one file per line", NULL, 0},
    OPTIONS_END,
};

static const Choice when_words[] = {{"always", 2}, {"yes", 2}, {"force", 2}, {"never", 0}, {"no", 0}, {"none", 0}, {"auto", 1}, {"tty", 1}, {"if-tty", 1}, {NULL, 0}};
static const Choice format_words[] = {{"verbose", FORMAT_LONG}, {"long", FORMAT_LONG}, {"commas", FORMAT_COMMAS}, {"horizontal", FORMAT_ACROSS},
                                    {"across", FORMAT_ACROSS}, {"vertical", FORMAT_COLUMNS}, {"single-column", FORMAT_LINES}, {NULL, 0}};
static const Choice sort_words[] = {{"none", SORT_NONE}, {"time", SORT_TIME}, {"size", SORT_SIZE}, {"extension", SORT_EXTENSION}, {"version", SORT_VERSION}, {"width", SORT_WIDTH}, {NULL, 0}};
static const Choice time_words[] = {{"atime", TIME_ATIME}, {"access", TIME_ATIME}, {"use", TIME_ATIME}, {"ctime", TIME_CTIME}, {"status", TIME_CTIME},
                                  {"birth", TIME_BTIME}, {"creation", TIME_BTIME}, {NULL, 0}};
static const Choice quoting_words[] = {{"literal", QUOTE_LITERAL}, {"shell", QUOTE_SHELL}, {"shell-always", QUOTE_SHELL_ALWAYS}, {"shell-escape", QUOTE_SHELL_ESCAPE},
                                     {"shell-escape-always", QUOTE_SHELL_ESCAPE_ALWAYS}, {"c", QUOTE_C}, {"c-maybe", QUOTE_C_MAYBE}, {"escape", QUOTE_ESCAPE},
                                     {"locale", QUOTE_LOCALE}, {"clocale", QUOTE_CLOCALE}, {NULL, 0}};
static const Choice indicator_words[] = {{"none", INDICATE_NONE}, {"slash", INDICATE_SLASH}, {"file-type", INDICATE_TYPE}, {"classify", INDICATE_CLASSIFY}, {NULL, 0}};

/* ---------- options ---------- */

typedef struct {
    bool format, sort, time, quoting;
    const char *time_style;
} Given;

/* The place of the style among those that have names; dies with ls's own list, which shows the prefixes. */
static int style_index(Proc *p, const Args *args, const char *style)
{
    static const char *const words[] = {"full-iso", "long-iso", "iso", "locale"};
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (*style && strncmp(words[i], style, strlen(style)) == 0 && !(*style == 'l' && !style[1]))
            return (int)i;
    warn(p, "%s argument %s for %s", *style && style[1] ? "invalid" : *style == 'l' ? "ambiguous" : "invalid", quote(p, style), quote(p, "time style"));
    out_str(p->err, "Valid arguments are:\n  - [posix-]full-iso\n  - [posix-]long-iso\n  - [posix-]iso\n  - [posix-]locale\n"
                    "  - +FORMAT (e.g., +%H:%M) for a 'date'-style format\n");
    usage_hint(p, args);
}

static void set_time_style(Ls *ls, Args *args, const char *style)
{
    if (!style || !*style)
        return;
    if (strncmp(style, "posix-", 6) == 0) /* is for locales that have names of their own */
        style += 6;
    if (*style == '+') {
        const char *line = strchr(++style, '\n');
        ls->recent_format = ls->old_format = style;
        if (line) {
            ls->old_format = mem_copy(&ls->p->keep, slice(style, (size_t)(line - style)));
            ls->recent_format = line + 1;
        }
        return;
    }
    switch (style_index(ls->p, args, style)) {
    case 0: ls->recent_format = ls->old_format = "%Y-%m-%d %H:%M:%S.%N %z"; break;
    case 1: ls->recent_format = ls->old_format = "%Y-%m-%d %H:%M"; break;
    case 2: ls->old_format = "%Y-%m-%d "; ls->recent_format = "%m-%d %H:%M"; break;
    default: break;
    }
}

static void set_block_size(Ls *ls, const char *text)
{
    uint64_t size;
    text += *text == '\''; /* grouping, which the C locale does not have */
    if (strcmp(text, "human-readable") == 0 || strcmp(text, "si") == 0) {
        ls->human = ls->block_human = *text == 's' ? 1000 : 1024;
        return;
    }
    bool bare = *text && !(*text >= '0' && *text <= '9');
    char *whole = bare ? mem_printf(&ls->p->keep, "1%s", text) : mem_strdup(&ls->p->keep, text);
    if (parse_size(whole, "eEgGkKmMpPtTyYzZ0", &size) != 0 || !size)
        die(ls->p, 2, "invalid --block-size argument '%s'", text);
    ls->block_size = ls->file_block = size;
    ls->human = ls->block_human = 0;
    ls->block_suffix = bare ? mem_strdup(&ls->p->keep, text) : "";
}

static void add_pattern(Ls *ls, const char ***list, size_t *count, const char *pattern)
{
    const char **grown = mem_alloc_array(&ls->p->keep, *count + 1, sizeof *grown);
    if (*count)
        memcpy(grown, *list, *count * sizeof *grown);
    grown[(*count)++] = pattern;
    *list = grown;
}

static size_t number(Ls *ls, const char *text, const char *what)
{
    int64_t v;
    if (parse_int(text, &v) != 0 || v < 0)
        die(ls->p, 2, "invalid %s: %s", what, quote(ls->p, text));
    return (size_t)v;
}

static void set_format(Ls *ls, Given *g, Format f)
{
    ls->format = f;
    g->format = true;
}

static void set_sort(Ls *ls, Given *g, Sort s)
{
    ls->sort = s;
    g->sort = true;
}

static void set_quoting(Ls *ls, Given *g, Quoting q)
{
    ls->quoting = q;
    g->quoting = true;
}

static bool when(Ls *ls, Args *args, const char *option)
{
    int w = args->value ? choose(ls->p, args, option, args->value, when_words) : 2;
    return w == 2 || (w == 1 && proc_isatty(ls->p, 1));
}

static void set_wide_option(Ls *ls, Args *args, Given *g, int id)
{
    Proc *p = ls->p;
    switch (id) {
    case AUTHOR: ls->author = true; break;
    case BLOCK_SIZE: set_block_size(ls, args->value); break;
    case COLOR: ls->color = when(ls, args, "--color"); break;
    case FILE_TYPE: ls->indicate = INDICATE_TYPE; break;
    case FORMAT_WORD: set_format(ls, g, (Format)choose(p, args, "--format", args->value, format_words)); break;
    case FULL_TIME: set_format(ls, g, FORMAT_LONG); g->time_style = "full-iso"; break;
    case GROUP_DIRECTORIES: ls->directories_first = true; break;
    case SI: ls->human = ls->block_human = 1000; break;
    case HYPERLINK: ls->links_to = when(ls, args, "--hyperlink"); break;
    case LINK_DIRS: ls->links = LINKS_OPERAND_DIRS; break;
    case HIDE_PATTERN: add_pattern(ls, &ls->hide_patterns, &ls->hide_count, args->value); break;
    case INDICATOR: ls->indicate = (Indicate)choose(p, args, "--indicator-style", args->value, indicator_words); break;
    case SHOW_CONTROL: ls->no_control = false; break;
    case QUOTING: set_quoting(ls, g, (Quoting)choose(p, args, "--quoting-style", args->value, quoting_words)); break;
    case SORT_WORD: set_sort(ls, g, (Sort)choose(p, args, "--sort", args->value, sort_words)); break;
    case TIME_WORD: ls->time = (TimeKind)choose(p, args, "--time", args->value, time_words); g->time = true; break;
    case TIME_STYLE: g->time_style = args->value; break;
    default:
        ls->end = 0;
        set_quoting(ls, g, QUOTE_LITERAL);
        if (ls->format != FORMAT_LONG)
            set_format(ls, g, FORMAT_LINES);
        ls->color = false;
        break;
    }
}

static void set_option(Ls *ls, Args *args, Given *g, int id)
{
    switch (id) {
    case 'a': ls->hide = HIDE_NOTHING; break;
    case 'A': ls->hide = HIDE_IMPLIED; break;
    case 'b': set_quoting(ls, g, QUOTE_ESCAPE); break;
    case 'B': add_pattern(ls, &ls->ignore, &ls->ignore_count, "*~"); add_pattern(ls, &ls->ignore, &ls->ignore_count, ".*~"); break;
    case 'c': ls->time = TIME_CTIME; g->time = true; break;
    case 'C': set_format(ls, g, FORMAT_COLUMNS); break;
    case 'd': ls->as_is = true; break;
    case 'f':
        ls->hide = HIDE_NOTHING;
        set_sort(ls, g, SORT_NONE);
        if (ls->format == FORMAT_LONG)
            g->format = false;
        ls->color = ls->blocks = false;
        break;
    case 'F': ls->indicate = when(ls, args, "--classify") ? INDICATE_CLASSIFY : ls->indicate; break;
    case 'g': set_format(ls, g, FORMAT_LONG); ls->owner = false; break;
    case 'G': ls->group = false; break;
    case 'h': ls->human = ls->block_human = 1024; break;
    case 'H': ls->links = LINKS_OPERANDS; break;
    case 'i': ls->inodes = true; break;
    case 'I': add_pattern(ls, &ls->ignore, &ls->ignore_count, args->value); break;
    case 'l': set_format(ls, g, FORMAT_LONG); break;
    case 'L': ls->links = LINKS_ALWAYS; break;
    case 'm': set_format(ls, g, FORMAT_COMMAS); break;
    case 'n': set_format(ls, g, FORMAT_LONG); ls->numeric = true; break;
    case 'N': set_quoting(ls, g, QUOTE_LITERAL); break;
    case 'o': set_format(ls, g, FORMAT_LONG); ls->group = false; break;
    case 'p': ls->indicate = INDICATE_SLASH; break;
    case 'q': ls->no_control = true; break;
    case 'Q': set_quoting(ls, g, QUOTE_C); break;
    case 'r': ls->reverse = true; break;
    case 'R': ls->recursive = true; break;
    case 's': ls->blocks = true; break;
    case 'S': set_sort(ls, g, SORT_SIZE); break;
    case 't': set_sort(ls, g, SORT_TIME); break;
    case 'T': ls->tab = number(ls, args->value, "tab size"); break;
    case 'u': ls->time = TIME_ATIME; g->time = true; break;
    case 'U': set_sort(ls, g, SORT_NONE); break;
    case 'v': set_sort(ls, g, SORT_VERSION); break;
    case 'w': ls->width = number(ls, args->value, "line width"); break;
    case 'x': set_format(ls, g, FORMAT_ACROSS); break;
    case 'Z': ls->context = true; break;
    case 'X': set_sort(ls, g, SORT_EXTENSION); break;
    case '1':
        if (ls->format != FORMAT_LONG || !g->format)
            set_format(ls, g, FORMAT_LINES);
        break;
    case 'k': ls->block_size = 1024; break;
    default: set_wide_option(ls, args, g, id); break;
    }
}

static void defaults(Ls *ls, Proc *p)
{
    const char *columns = proc_getenv(p, "COLUMNS");
    int64_t width;
    *ls = (Ls){
        .p = p, .owners = memset(mem_array(&p->keep, 2, struct Owner), 0, 2 * sizeof(struct Owner)), .owner = true, .group = true, .block_size = proc_getenv(p, "POSIXLY_CORRECT") ? 512 : 1024, .file_block = 1, .block_suffix = "", .width = 80, .tab = 8, .end = '\n',
        .recent_format = "%b %e %H:%M", .old_format = "%b %e  %Y", .colors = proc_getenv(p, "LS_COLORS"),
    };
    const char *block_size = proc_getenv(p, "LS_BLOCK_SIZE");
    block_size = block_size ? block_size : proc_getenv(p, "BLOCK_SIZE");
    if (block_size && *block_size)
        set_block_size(ls, block_size);
    if (columns && *columns && parse_int(columns, &width) == 0 && width >= 0)
        ls->width = (size_t)width;
    uint32_t ns;
    ls->now = proc_now(p, &ns);
}

/* Without LS_COLORS, as the original: only on terminals that its table knows. */
static bool terminal_has_colors(Ls *ls)
{
    static const char *const terms[] = {
        "Eterm", "ansi", "*color*", "con[0-9]*x[0-9]*", "cons25", "console", "cygwin", "*direct*", "dtterm", "gnome", "hurd", "jfbterm", "konsole",
        "kterm", "linux", "linux-c", "mlterm", "putty", "rxvt*", "screen*", "st", "terminator", "tmux*", "vt100", "xterm*",
    };
    const char *term = proc_getenv(ls->p, "TERM"), *color = proc_getenv(ls->p, "COLORTERM");
    ReEnv env = proc_re_env(ls->p);
    if ((ls->colors && *ls->colors) || (color && *color))
        return true;
    for (size_t n = 0; term && n < ARRAY_LEN(terms); n++)
        if (pat_match(&env, pat_compile(&ls->p->mem, slice_str(terms[n]), 0), slice_str(term)))
            return true;
    return false;
}

static Quoting default_quoting(Ls *ls, bool tty)
{
    const char *style = proc_getenv(ls->p, "QUOTING_STYLE");
    for (const Choice *w = quoting_words; style && w->word; w++)
        if (strcmp(w->word, style) == 0)
            return (Quoting)w->value;
    if (style)
        warn(ls->p, "ignoring invalid value of environment variable QUOTING_STYLE: %s", quote(ls->p, style));
    return tty ? QUOTE_SHELL_ESCAPE : QUOTE_LITERAL;
}

static void settle(Ls *ls, Args *args, const Given *g)
{
    bool tty = proc_isatty(ls->p, 1);
    if (!g->format)
        ls->format = tty ? FORMAT_COLUMNS : FORMAT_LINES;
    if (!g->quoting)
        ls->quoting = default_quoting(ls, tty);
    if (g->time && !g->sort && ls->format != FORMAT_LONG)
        ls->sort = SORT_TIME;
    if (ls->sort == SORT_NONE)
        ls->directories_first = false;
    if (ls->links == LINKS_DEFAULT)
        ls->links = ls->as_is || ls->indicate == INDICATE_CLASSIFY || ls->format == FORMAT_LONG ? LINKS_NEVER : LINKS_OPERAND_DIRS;
    if (ls->format == FORMAT_LONG)
        set_time_style(ls, args, g->time_style ? g->time_style : proc_getenv(ls->p, "TIME_STYLE"));
    if (ls->as_is)
        ls->recursive = false;
    ls->color = ls->color && terminal_has_colors(ls);
}

/* ---------- entries ---------- */

static void complain(Ls *ls, int status, int error, const char *format, const char *path)
{
    if (strcmp(format, "access") == 0)
        warn_errno(ls->p, error, "cannot access %s", quoteaf(ls->p, path));
    else
        warn_errno(ls->p, error, "cannot open directory %s", quoteaf(ls->p, path));
    ls->status = MAX(ls->status, status);
}

/* Whether more than names is asked for: only then is an entry that cannot be looked at an error. */
static bool shows_attributes(const Ls *ls)
{
    return ls->format == FORMAT_LONG || ls->indicate != INDICATE_NONE || ls->color || ls->recursive || ls->directories_first ||
           ls->sort == SORT_TIME || ls->sort == SORT_SIZE || ls->blocks || ls->inodes;
}

/* Fills in what an entry is. False: an operand that is not there. */
static bool look(Ls *ls, Entry *e, const char *path)
{
    VStat st;
    e->path = path;
    bool follow = ls->links == LINKS_ALWAYS || (e->operand && ls->links >= LINKS_OPERANDS);
    int r = proc_stat(ls->p, path, follow ? 0 : V_NOFOLLOW, &e->st);
    if (r == 0 && !follow && e->operand && ls->links == LINKS_OPERAND_DIRS && S_ISLNK(e->st.mode) && proc_stat(ls->p, path, 0, &st) == 0 && S_ISDIR(st.mode))
        e->st = st;
    if (r == -ENOENT && follow && !e->operand)
        r = proc_stat(ls->p, path, V_NOFOLLOW, &e->st);
    e->stat_ok = r == 0;
    if (r && (e->operand || shows_attributes(ls)))
        complain(ls, e->operand ? 2 : 1, r, "access", path);
    if (r && e->operand)
        return false;
    e->shown = quote_name(ls, e->name, &e->width);
    if (r || !S_ISLNK(e->st.mode))
        return true;
    if (proc_stat(ls->p, path, 0, &st) == 0)
        e->target_mode = st.mode;
    else
        e->broken = true;
    Slice target;
    size_t width;
    if (ls->format == FORMAT_LONG && proc_readlink(ls->p, path, &target) == 0)
        e->target = quote_name(ls, target.data, &width);
    return true;
}

static bool matches(Ls *ls, const char *const *patterns, size_t count, const char *name)
{
    ReEnv env = proc_re_env(ls->p);
    for (size_t n = 0; n < count; n++)
        if (pat_match(&env, pat_compile(&ls->p->mem, slice_str(patterns[n]), PAT_PERIOD), slice_str(name)))
            return true;
    return false;
}

static bool hidden(Ls *ls, const char *name)
{
    if (ls->hide == HIDE_DOTS && (*name == '.' || matches(ls, ls->hide_patterns, ls->hide_count, name)))
        return true;
    return matches(ls, ls->ignore, ls->ignore_count, name);
}

/* ---------- directories ---------- */

/* Directories still to be listed, in order; the newest found come first. */
typedef struct Listing {
    struct Listing *next;
    const char *path;
    const char *shown;
    bool operand;
} Listing;

static size_t read_entries(Ls *ls, const char *path, VDirent *list, size_t count, Entry **out)
{
    Proc *p = ls->p;
    Entry *e = mem_alloc_array(&p->mem, count + 2, sizeof *e);
    size_t n = 0;
    for (int dots = 1; ls->hide == HIDE_NOTHING && dots <= 2; dots++) {
        e[n].name = dots == 1 ? "." : "..";
        if (!matches(ls, ls->ignore, ls->ignore_count, e[n].name)) {
            (void)look(ls, &e[n], path_join(p, path, slice_str(e[n].name)));
            n++;
        }
    }
    for (size_t k = 0; k < count; k++) {
        proc_tick(p, 1);
        if (hidden(ls, list[k].name.data))
            continue;
        e[n].name = list[k].name.data;
        (void)look(ls, &e[n], path_join(p, path, list[k].name));
        n++;
    }
    *out = e;
    return n;
}

static void list_directory(Ls *ls, const Listing *d, bool heading, Listing **below)
{
    Proc *p = ls->p;
    VDirent *list;
    size_t count;
    int r = proc_list(p, d->path, &list, &count);
    if (r) {
        complain(ls, d->operand ? 2 : 1, r, "open", d->path);
        return;
    }
    if (ls->printed)
        out_char(p->out, ls->end);
    ls->printed = true;
    if (heading) {
        print_linked(ls, d->path, d->shown);
        out_char(p->out, ':');
        out_char(p->out, ls->end);
    }
    Entry *e;
    size_t n = read_entries(ls, d->path, list, count, &e);
    sort_entries(ls, e, n);
    print_entries(ls, e, n, true);
    if (!ls->recursive)
        return;
    Listing **tail = below;
    for (size_t k = 0; k < n; k++) {
        if (!S_ISDIR(e[k].st.mode) || is_dot(slice_str(e[k].name)))
            continue;
        Listing *q = mem_new(&p->keep, Listing);
        size_t width;
        q->path = mem_strdup(&p->keep, path_join(p, d->path, slice_str(e[k].name)));
        q->shown = mem_strdup(&p->keep, quote_name(ls, q->path, &width));
        q->next = *tail;
        *tail = q;
        tail = &q->next;
    }
}

static Listing *operand_directory(Ls *ls, const char *path)
{
    Listing *d = mem_new(&ls->p->keep, Listing);
    size_t width;
    d->path = path;
    d->shown = mem_strdup(&ls->p->keep, quote_name(ls, path, &width));
    d->operand = true;
    return d;
}

static int list_operands(Ls *ls, char **names, int count)
{
    static char here[] = ".";
    static char *const only[] = {here, NULL};
    char *const *list = count ? names : only;
    size_t total = count ? (size_t)count : 1, files = 0, found = 0;
    Entry *e = mem_alloc_array(&ls->p->keep, total, sizeof *e);
    for (size_t n = 0; n < total; n++) {
        e[found] = (Entry){.name = list[n], .operand = true};
        found += look(ls, &e[found], list[n]);
    }
    sort_entries(ls, e, found);
    Listing *queue = NULL, **tail = &queue;
    for (size_t n = 0; n < found; n++) {
        if (S_ISDIR(e[n].st.mode) && !ls->as_is) {
            *tail = operand_directory(ls, e[n].name);
            tail = &(*tail)->next;
        } else {
            e[files++] = e[n];
        }
    }
    if (files) {
        print_entries(ls, e, files, false);
        ls->printed = true;
    }
    bool heading = ls->recursive || total > 1;
    while (queue) {
        MemMark mark = mem_mark(&ls->p->mem);
        Listing *d = queue, *below = d->next;
        list_directory(ls, d, heading, &below);
        queue = below;
        mem_reset(&ls->p->mem, mark);
    }
    return ls->status;
}

static int ls_main(Proc *p, Args *args)
{
    Ls ls;
    Given given = {0};
    int count;
    defaults(&ls, p);
    for (int id; (id = args_next(p, args)) != -1;)
        set_option(&ls, args, &given, id);
    settle(&ls, args, &given);
    char **names = args_operands(args, &count);
    return list_operands(&ls, names, count);
}

COMMAND(ls, "ls [OPTION]... [FILE]...", "List information about the FILEs (the current directory by default).\nSort entries alphabetically if none of -cftuvSUX nor --sort is specified.",
        options, COMMAND_PURE, .usage_status = 2);

static int columns_main(Proc *p, Args *args, Format format)
{
    Ls ls;
    Given given = {.format = true, .quoting = true};
    int count;
    defaults(&ls, p);
    ls.format = format;
    ls.quoting = QUOTE_ESCAPE;
    for (int id; (id = args_next(p, args)) != -1;)
        set_option(&ls, args, &given, id);
    settle(&ls, args, &given);
    char **names = args_operands(args, &count);
    return list_operands(&ls, names, count);
}

static int dir_main(Proc *p, Args *args) { return columns_main(p, args, FORMAT_COLUMNS); }
static int vdir_main(Proc *p, Args *args) { return columns_main(p, args, FORMAT_LONG); }

COMMAND(dir, "dir [OPTION]... [FILE]...", "List information about the FILEs (the current directory by default), in columns and with escapes.", options, COMMAND_PURE, .usage_status = 2);
COMMAND(vdir, "vdir [OPTION]... [FILE]...", "List information about the FILEs (the current directory by default), in the long format and with escapes.", options, COMMAND_PURE, .usage_status = 2);

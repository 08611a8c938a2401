/* tree: list contents of directories in a tree-like format. tree 2.1. */
#include "file.h"

enum { NO_REPORT = 256, DIRS_FIRST, FILES_FIRST, CHARSET, TIME_FORMAT, FILE_LIMIT, PRUNE, DISK_USAGE, SI_UNITS, INODES, DEVICE, SORT_WORD, MATCH_DIRS, IGNORE_CASE, NO_LINKS, DEPTH_MOST = 1024 };

static const Option options[] = {
    {'a', NULL, OPT_FLAG, "all files are listed", NULL, 0},
    {'d', NULL, OPT_FLAG, "list directories only", NULL, 0},
    {'l', NULL, OPT_FLAG, "follow symbolic links like directories", NULL, 0},
    {'f', NULL, OPT_FLAG, "print the full path prefix for each file", NULL, 0},
    {'x', NULL, OPT_FLAG, "stay on current filesystem only", NULL, 0},
    {'L', NULL, OPT_VALUE, "descend only LEVEL directories deep", "LEVEL", 0},
    {'P', NULL, OPT_VALUE, "list only those files that match the pattern given", "PATTERN", 0},
    {'I', NULL, OPT_VALUE, "do not list files that match the given pattern", "PATTERN", 0},
    {0, "ignore-case", OPT_FLAG, "ignore case when pattern matching", NULL, IGNORE_CASE},
    {0, "matchdirs", OPT_FLAG, "include directory names in -P pattern matching", NULL, MATCH_DIRS},
    {0, "noreport", OPT_FLAG, "turn off file/directory count at end of tree listing", NULL, NO_REPORT},
    {0, "charset", OPT_VALUE, "use charset X for the lines of the tree", "X", CHARSET},
    {0, "filelimit", OPT_VALUE, "do not descend dirs with more than # files in them", "#", FILE_LIMIT},
    {'o', NULL, OPT_VALUE, "output to file instead of stdout", "FILENAME", 0},
    {'q', NULL, OPT_FLAG, "print non-printable characters as '?'", NULL, 0},
    {'N', NULL, OPT_FLAG, "print non-printable characters as is", NULL, 0},
    {'Q', NULL, OPT_FLAG, "quote filenames with double quotes", NULL, 0},
    {'p', NULL, OPT_FLAG, "print the protections for each file", NULL, 0},
    {'u', NULL, OPT_FLAG, "displays file owner or UID number", NULL, 0},
    {'g', NULL, OPT_FLAG, "displays file group owner or GID number", NULL, 0},
    {'s', NULL, OPT_FLAG, "print the size in bytes of each file", NULL, 0},
    {'h', NULL, OPT_FLAG, "print the size in a more human readable way", NULL, 0},
    {0, "si", OPT_FLAG, "like -h, but use in SI units (powers of 1000)", NULL, SI_UNITS},
    {0, "du", OPT_FLAG, "compute size of directories by their contents", NULL, DISK_USAGE},
    {'D', NULL, OPT_FLAG, "print the date of last modification or (-c) status change", NULL, 0},
    {0, "timefmt", OPT_VALUE, "print and format time according to the format", "FORMAT", TIME_FORMAT},
    {'F', NULL, OPT_FLAG, "appends '/', '=', '*', '@', '|' or '>' as per ls -F", NULL, 0},
    {0, "inodes", OPT_FLAG, "print inode number of each file", NULL, INODES},
    {0, "device", OPT_FLAG, "print device ID number to which each file belongs", NULL, DEVICE},
    {'v', NULL, OPT_FLAG, "sort files alphanumerically by version", NULL, 0},
    {'t', NULL, OPT_FLAG, "sort files by last modification time", NULL, 0},
    {'c', NULL, OPT_FLAG, "sort files by last status change time", NULL, 0},
    {'U', NULL, OPT_FLAG, "leave files unsorted", NULL, 0},
    {'r', NULL, OPT_FLAG, "reverse the order of the sort", NULL, 0},
    {0, "dirsfirst", OPT_FLAG, "list directories before files", NULL, DIRS_FIRST},
    {0, "filesfirst", OPT_FLAG, "list files before directories", NULL, FILES_FIRST},
    {0, "sort", OPT_VALUE, "select sort: name, version, size, mtime, ctime", "X", SORT_WORD},
    {'i', NULL, OPT_FLAG, "don't print indentation lines", NULL, 0},
    {'n', NULL, OPT_FLAG, "turn colorization off always", NULL, 0},
    {'C', NULL, OPT_FLAG, "turn colorization on always", NULL, 0},
    {'J', NULL, OPT_FLAG, "prints out an JSON representation of the tree", NULL, 0},
    {'X', NULL, OPT_FLAG, "prints out an XML representation of the tree", NULL, 0},
    {0, "prune", OPT_FLAG, "prune empty directories from the output", NULL, PRUNE},
    {0, "nolinks", OPT_FLAG, NULL, NULL, NO_LINKS},
    OPTIONS_END,
};

typedef struct Node {
    struct Node *next;   /* in the order they are shown */
    struct Node **list;  /* what a directory holds */
    size_t count;
    const char *name;
    VStat st;            /* of the entry itself */
    uint32_t target_mode;/* of what a symlink leads to */
    const char *target;
    uint64_t size;
    int error;           /* the directory could not be read */
    bool directory;      /* its contents are shown */
    bool over_limit;
} Node;

typedef enum { TREE_NAME, TREE_VERSION, TREE_SIZE, TREE_MTIME, TREE_CTIME, TREE_UNSORTED } TreeSort;
static const Choice sort_words[] = {{"name", TREE_NAME}, {"version", TREE_VERSION}, {"size", TREE_SIZE}, {"mtime", TREE_MTIME}, {"ctime", TREE_CTIME}, {NULL, 0}};

typedef struct {
    Proc *p;
    bool all, directories, follow, full, one_device, quote, mode, user, group, size, dates, classify, inodes, device, reverse, dirs_first, files_first, no_lines, color, json, xml, prune,
        disk_usage, no_report, status_time, match_dirs, ignore_case, question;
    unsigned human;
    TreeSort sort;
    int64_t depth, limit;
    const char *time_format;
    const char *include[64], *exclude[64];
    size_t includes, excludes;
    bool ascii;
    uint32_t on_device;
    uint64_t directory_count, file_count, bytes;
    const char *(lines)[256]; /* what is drawn for each level above */
} Tree;

int version_compare(const char *a, const char *b); /* ls/sort.c */

/* ---------- reading ---------- */

static bool matches(const Tree *t, const char *const *patterns, size_t count, const char *name)
{
    ReEnv env = proc_re_env(t->p);
    for (size_t i = 0; i < count; i++) {
        Slice rest = slice_str(patterns[i]);
        for (bool more = true; more;) {
            size_t n = slice_find(rest, '|');
            if (pat_match(&env, pat_compile(&t->p->mem, slice(rest.data, n), t->ignore_case ? PAT_ICASE : 0), slice_str(name)))
                return true;
            more = n < rest.len;
            rest = slice_from(rest, MIN(n + 1, rest.len));
        }
    }
    return false;
}

static bool leads_to_directory(const Node *n) { return S_ISDIR(n->st.mode) || S_ISDIR(n->target_mode); }

static bool wanted(const Tree *t, const Node *n)
{
    if (!t->all && *n->name == '.')
        return false;
    if (t->directories && !leads_to_directory(n))
        return false;
    if (t->excludes && matches(t, t->exclude, t->excludes, n->name))
        return false;
    bool as_directory = S_ISDIR(n->st.mode) || (t->follow && S_ISDIR(n->target_mode));
    return !t->includes || (as_directory && !t->match_dirs) || matches(t, t->include, t->includes, n->name) || (as_directory && t->match_dirs);
}

static int order(const Tree *t, const Node *a, const Node *b)
{
    int r = 0;
    if ((t->dirs_first || t->files_first) && leads_to_directory(a) != leads_to_directory(b))
        return leads_to_directory(a) == t->dirs_first ? -1 : 1;
    if (t->sort == TREE_VERSION)
        r = version_compare(a->name, b->name);
    else if (t->sort == TREE_SIZE)
        r = a->size < b->size ? 1 : a->size > b->size ? -1 : 0;
    else if (t->sort == TREE_MTIME)
        r = a->st.mtime != b->st.mtime ? (a->st.mtime > b->st.mtime ? 1 : -1) : 0;
    else if (t->sort == TREE_CTIME)
        r = a->st.ctime != b->st.ctime ? (a->st.ctime > b->st.ctime ? 1 : -1) : 0;
    if (!r)
        r = strcmp(a->name, b->name);
    return t->reverse ? -r : r;
}

static void sort_nodes(const Tree *t, Node **list, size_t count)
{
    Node **scratch = mem_array(&t->p->keep, count, Node *);
    for (size_t width = 1; t->sort != TREE_UNSORTED && width < count; width *= 2) {
        for (size_t at = 0; at < count; at += 2 * width) {
            size_t a = at, middle = MIN(at + width, count), b = middle, end = MIN(at + 2 * width, count);
            for (size_t out = at; out < end; out++)
                scratch[out] = a < middle && (b == end || order(t, list[a], list[b]) <= 0) ? list[a++] : list[b++];
        }
        memcpy(list, scratch, count * sizeof *list);
        proc_tick(t->p, count);
    }
}

static Node *look(Tree *t, const char *path, const char *name)
{
    Node *n = mem_new(&t->p->keep, Node);
    VStat st;
    Slice target;
    n->name = mem_strdup(&t->p->keep, name);
    if (proc_stat(t->p, path, V_NOFOLLOW, &n->st) != 0)
        return NULL;
    n->size = n->st.size;
    if (S_ISLNK(n->st.mode)) {
        n->target = proc_readlink(t->p, path, &target) == 0 ? mem_copy(&t->p->keep, target) : "";
        n->target_mode = proc_stat(t->p, path, 0, &st) == 0 ? st.mode : 0;
    }
    return n;
}

static void read_directory(Tree *t, Node *dir, const char *path, int64_t level);

static bool descends(const Tree *t, const Node *n, int64_t level)
{
    bool into = S_ISDIR(n->st.mode) || (t->follow && S_ISDIR(n->target_mode));
    return into && level < MIN(t->depth, DEPTH_MOST) && (!t->one_device || n->st.dev == t->on_device);
}

static void read_directory(Tree *t, Node *dir, const char *path, int64_t level)
{
    VDirent *list;
    size_t count;
    dir->directory = true;
    dir->error = proc_list(t->p, path, &list, &count);
    if (dir->error || !proc_stack_room(t->p, 16384))
        return;
    dir->list = mem_array(&t->p->keep, count, Node *);
    for (size_t i = 0; i < count; i++) {
        const char *name = mem_copy(&t->p->keep, list[i].name), *child = mem_printf(&t->p->keep, "%s%s%s", path, path[strlen(path) - 1] == '/' ? "" : "/", name);
        Node *n = look(t, child, name);
        if (!n || !wanted(t, n))
            continue;
        if (descends(t, n, level))
            read_directory(t, n, child, level + 1);
        if (t->prune && n->directory && !n->count && !n->error)
            continue;
        dir->list[dir->count++] = n;
        proc_tick(t->p, 1);
    }
    if (t->disk_usage)
        for (size_t i = 0; i < dir->count; i++)
            dir->size += dir->list[i]->size;
    sort_nodes(t, dir->list, dir->count);
    if (t->limit && dir->count > (size_t)t->limit)
        dir->over_limit = true;
}

/* ---------- writing ---------- */

static const char *type_name(uint32_t mode)
{
    return S_ISDIR(mode) ? "directory" : S_ISLNK(mode) ? "link" : S_ISFIFO(mode) ? "fifo" : S_ISCHR(mode) ? "char" : S_ISSOCK(mode) ? "socket" : "file";
}

static const char *size_text(const Tree *t, uint64_t size)
{
    if (!t->human)
        return mem_printf(&t->p->mem, " %11llu", (unsigned long long)size);
    const char *letters = t->human == 1000 ? " kMGTPE" : " KMGTPE";
    unsigned power = 0;
    uint64_t base = t->human, unit = 1;
    while (size / unit >= base && power < 6) {
        unit *= base;
        power++;
    }
    if (!power)
        return mem_printf(&t->p->mem, " %4llu", (unsigned long long)size);
    if (size / unit >= 10)
        return mem_printf(&t->p->mem, " %3llu%c", (unsigned long long)(size / unit), letters[power]);
    return mem_printf(&t->p->mem, " %3.1f%c", (double)size / (double)unit, letters[power]);
}

static const char *time_text(const Tree *t, const VStat *st)
{
    CivilTime when;
    Buf b;
    int64_t s = t->status_time ? st->ctime : st->mtime, now = proc_now(t->p, NULL);
    if (!tz_civil(proc_zone(t->p), s, 0, &when))
        return "";
    buf_init(&b, &t->p->mem, 4096);
    const char *format = t->time_format ? t->time_format : s > now || s < now - 6 * 31 * 86400 ? "%b %e  %Y" : "%b %e %R";
    tz_format(&b, slice_str(format), &when, s);
    return b.data ? b.data : "";
}

static void put_info(Tree *t, const Node *n)
{
    Proc *p = t->p;
    char mode[11];
    Buf b;
    buf_init(&b, &p->mem, BUF_MAX);
    if (t->inodes)
        buf_printf(&b, " %7llu", (unsigned long long)n->st.ino);
    if (t->device)
        buf_printf(&b, " %3d", (int)n->st.dev);
    format_mode(n->st.mode, mode);
    if (t->mode)
        buf_printf(&b, " %s", mode);
    const char *user = user_name(p, n->st.uid), *group = group_name(p, n->st.gid);
    if (t->user)
        user ? buf_printf(&b, " %-8.32s", user) : buf_printf(&b, " %-8u", n->st.uid);
    if (t->group)
        group ? buf_printf(&b, " %-8.32s", group) : buf_printf(&b, " %-8u", n->st.gid);
    if (t->size)
        buf_printf(&b, "%s", size_text(t, n->size));
    if (t->dates)
        buf_printf(&b, " %s", time_text(t, &n->st));
    if (b.len)
        out_printf(p->out, "[%s]  ", b.data + (b.data[0] == ' '));
}

static void put_name(Tree *t, const char *name)
{
    Output *out = t->p->out;
    if (t->quote)
        out_char(out, '"');
    for (const char *s = name; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c >= 32 && c != 127 && !(t->quote && (c == '"' || c == '\\')))
            out_char(out, *s);
        else if (t->question)
            out_char(out, '?');
        else if (c >= 32 && c != 127)
            out_printf(out, "\\%c", c);
        else if (c >= 7 && c <= 13)
            out_printf(out, "\\%c", "abtnvfr"[c - 7]);
        else
            out_printf(out, "\\%03o", c);
    }
    if (t->quote)
        out_char(out, '"');
}

static const char *color_of(uint32_t mode, const char *name)
{
    (void)name;
    if (S_ISDIR(mode))
        return mode & 01000 ? (mode & 02 ? "30;42" : "37;44") : mode & 02 ? "34;42" : "01;34";
    if (S_ISLNK(mode))
        return "01;36";
    if (S_ISFIFO(mode))
        return "40;33";
    if (S_ISCHR(mode))
        return "40;33;01";
    return mode & 0111 ? "01;32" : "00";
}

static void put_colored(Tree *t, uint32_t mode, const char *name)
{
    if (t->color)
        out_printf(t->p->out, "\033[%sm", color_of(mode, name));
    put_name(t, name);
    if (t->color)
        out_str(t->p->out, "\033[0m");
}

static char class_of(uint32_t mode) { return S_ISDIR(mode) ? '/' : S_ISFIFO(mode) ? '|' : S_ISSOCK(mode) ? '=' : S_ISREG(mode) && mode & 0111 ? '*' : 0; }

static void put_entry(Tree *t, const Node *n, const char *path)
{
    Output *out = t->p->out;
    put_info(t, n);
    put_colored(t, n->st.mode, t->full ? path : n->name);
    char mark = class_of(n->st.mode);
    if (t->classify && mark && !(mark == '/' && path[strlen(path) - 1] == '/'))
        out_char(out, mark);
    if (n->target) {
        out_str(out, " -> ");
        put_colored(t, n->target_mode ? n->target_mode : S_IFREG, n->target);
        if (t->classify && class_of(n->target_mode))
            out_char(out, class_of(n->target_mode));
    }
    if (n->directory && n->error)
        out_str(out, "  [error opening dir]");
    else if (n->over_limit)
        out_printf(out, "  [%zu entries exceeds filelimit, not opening dir]", n->count);
    out_char(out, '\n');
}

static void put_children(Tree *t, const Node *dir, const char *path, int64_t level)
{
    const char *between = t->ascii ? "|   " : "│\302\240\302\240 ", *blank = "    ", *middle = t->ascii ? "|-- " : "├── ", *last = t->ascii ? "`-- " : "└── ";
    if (!proc_stack_room(t->p, 16384) || dir->over_limit)
        return;
    for (size_t i = 0; i < dir->count; i++) {
        const Node *n = dir->list[i];
        MemMark mark = mem_mark(&t->p->mem);
        const char *child = mem_printf(&t->p->mem, "%s%s%s", path, path[strlen(path) - 1] == '/' ? "" : "/", n->name);
        bool end = i + 1 == dir->count;
        for (int64_t k = 0; k < level && !t->no_lines; k++)
            out_str(t->p->out, k < 256 ? t->lines[k] : blank);
        if (!t->no_lines)
            out_str(t->p->out, end ? last : middle);
        leads_to_directory(n) ? t->directory_count++ : t->file_count++;
        put_entry(t, n, child);
        if (level < 256)
            t->lines[level] = end ? blank : between;
        put_children(t, n, child, level + 1);
        mem_reset(&t->p->mem, mark);
        proc_tick(t->p, 1);
    }
}

/* ---------- JSON and XML ---------- */

static void put_escaped(Tree *t, const char *s)
{
    Output *out = t->p->out;
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (t->json && (c == '"' || c == '\\'))
            out_printf(out, "\\%c", c);
        else if (t->json && c < 32)
            out_printf(out, "\\u%04x", c);
        else if (t->xml && strchr("<>&\"", c))
            out_str(out, c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : "&quot;");
        else
            out_char(out, *s);
    }
}

static void put_attribute(Tree *t, const char *name, const char *value)
{
    out_printf(t->p->out, t->json ? ",\"%s\":\"" : " %s=\"", name);
    put_escaped(t, value);
    out_char(t->p->out, '"');
}

static void put_number(Tree *t, const char *name, uint64_t v)
{
    out_printf(t->p->out, t->json ? ",\"%s\":%llu" : " %s=\"%llu\"", name, (unsigned long long)v);
}

static void put_attributes(Tree *t, const Node *n, const char *shown)
{
    Proc *p = t->p;
    char mode[11];
    put_attribute(t, "name", shown);
    if (n->target)
        put_attribute(t, "target", n->target);
    if (t->inodes)
        put_number(t, "inode", n->st.ino);
    if (t->device)
        put_number(t, "dev", n->st.dev);
    if (t->mode) {
        format_mode(n->st.mode, mode);
        put_attribute(t, "mode", mem_printf(&p->mem, "%04o", n->st.mode & 07777));
        put_attribute(t, "prot", mode);
    }
    const char *user = user_name(p, n->st.uid), *group = group_name(p, n->st.gid);
    if (t->user)
        put_attribute(t, "user", user ? user : mem_printf(&p->mem, "%u", n->st.uid));
    if (t->group)
        put_attribute(t, "group", group ? group : mem_printf(&p->mem, "%u", n->st.gid));
    if (t->size)
        put_number(t, "size", n->size);
    if (t->dates)
        put_attribute(t, "time", time_text(t, &n->st));
}

static void put_structured(Tree *t, const Node *n, const char *path, int64_t level, bool comma)
{
    Output *out = t->p->out;
    const char *type = type_name(n->st.mode);
    if (!proc_stack_room(t->p, 16384))
        return;
    out_pad(out, (size_t)(level + 1) * 2, ' ');
    out_printf(out, t->json ? "{\"type\":\"%s\"" : "<%s", type);
    put_attributes(t, n, t->full || level == 0 ? path : n->name);
    bool open = n->directory && n->count;
    out_str(out, t->json ? (n->directory ? ",\"contents\":[" : "") : ">");
    if (open)
        out_char(out, '\n');
    for (size_t i = 0; i < n->count; i++) {
        const Node *c = n->list[i];
        leads_to_directory(c) ? t->directory_count++ : t->file_count++;
        put_structured(t, c, mem_printf(&t->p->mem, "%s/%s", path, c->name), level + 1, i + 1 < n->count);
    }
    if (open)
        out_pad(out, (size_t)(level + 1) * 2, ' ');
    if (t->json)
        out_str(out, n->directory ? "]}" : "}");
    else
        out_printf(out, "</%s>", type);
    out_str(out, t->json && comma ? ",\n" : "\n");
    proc_tick(t->p, 1);
}

static void report(Tree *t)
{
    Output *out = t->p->out;
    unsigned long long d = t->directory_count, f = t->file_count;
    if (t->json) {
        if (!t->no_report) {
            out_printf(out, ",\n  {\"type\":\"report\"");
            if (t->disk_usage)
                put_number(t, "size", t->bytes);
            put_number(t, "directories", d);
            if (!t->directories)
                put_number(t, "files", f);
            out_str(out, "}\n");
        }
        out_str(out, "]\n");
    } else if (t->xml) {
        if (!t->no_report) {
            out_printf(out, "  <report>\n    <directories>%llu</directories>\n", d);
            if (!t->directories)
                out_printf(out, "    <files>%llu</files>\n", f);
            out_str(out, "  </report>\n");
        }
        out_str(out, "</tree>\n");
    } else if (!t->no_report) {
        out_char(out, '\n');
        if (t->disk_usage)
            out_printf(out, "%s%s used in ", size_text(t, t->bytes), t->human ? "" : " bytes");
        out_printf(out, t->directories ? "%llu director%s\n" : "%llu director%s, ", d, d == 1 ? "y" : "ies");
        if (!t->directories)
            out_printf(out, "%llu file%s\n", f, f == 1 ? "" : "s");
    }
}

static int show(Tree *t, const char *path)
{
    Node *n = look(t, path, path);
    Node missing = {.name = path, .directory = true, .error = -ENOENT, .st = {.mode = S_IFDIR}};
    VStat st;
    bool exists = n && proc_stat(t->p, path, 0, &st) == 0;
    if (!n)
        n = &missing;
    if (exists && S_ISLNK(n->st.mode) && S_ISDIR(st.mode)) {
        n->target = NULL;
        n->st = st;
    }
    t->on_device = n->st.dev;
    if (n != &missing)
        read_directory(t, n, path, 1);
    if (exists && S_ISDIR(n->st.mode))
        t->directory_count++;
    else if (exists)
        t->file_count++;
    t->bytes += n->size;
    if (t->json || t->xml) {
        put_structured(t, n, path, 0, false);
        return !exists;
    }
    bool info = n != &missing;
    if (info)
        put_entry(t, n, path);
    else
        out_printf(t->p->out, "%s  [error opening dir]\n", path);
    put_children(t, n, path, 0);
    return !exists;
}

/* ---------- options ---------- */

static void set_more(Tree *t, Args *args, int id)
{
    Proc *p = t->p;
    int64_t v;
    switch (id) {
    case 'L':
        if (parse_int(args->value, &v) || v < 1) {
            out_printf(p->err, "tree: Invalid level, must be greater than 0.\n");
            output_flush(p->err);
            proc_fail(p, 1);
        }
        t->depth = v;
        break;
    case 'P': if (t->includes < ARRAY_LEN(t->include)) t->include[t->includes++] = args->value; break;
    case 'I': if (t->excludes < ARRAY_LEN(t->exclude)) t->exclude[t->excludes++] = args->value; break;
    case FILE_LIMIT: t->limit = parse_int(args->value, &v) ? 0 : v; break;
    case CHARSET: t->ascii = strncmp(args->value, "UTF", 3) != 0 && strncmp(args->value, "utf", 3) != 0; break;
    case TIME_FORMAT: t->time_format = args->value; t->dates = true; break;
    case SORT_WORD: t->sort = (TreeSort)choose(p, args, "--sort", args->value, sort_words); break;
    case 'o': {
        int fd = proc_open(p, args->value, V_WRITE | V_CREATE | V_TRUNC, 0666);
        if (fd < 0) {
            out_printf(p->err, "tree: invalid filename '%s'\n", args->value);
            output_flush(p->err);
            proc_fail(p, 1);
        }
        proc_dup2(p, fd, 1);
        break;
    }
    default: break;
    }
}

static void set_option(Tree *t, Args *args, int id)
{
    switch (id) {
    case 'a': t->all = true; break;
    case 'd': t->directories = true; break;
    case 'l': t->follow = true; break;
    case 'f': t->full = true; break;
    case 'x': t->one_device = true; break;
    case 'q': t->question = true; break;
    case 'Q': t->quote = true; break;
    case 'p': t->mode = true; break;
    case 'u': t->user = true; break;
    case 'g': t->group = true; break;
    case 's': t->size = true; break;
    case 'h': t->size = true; t->human = 1024; break;
    case SI_UNITS: t->size = true; t->human = 1000; break;
    case DISK_USAGE: t->size = t->disk_usage = true; break;
    case 'D': t->dates = true; break;
    case 'F': t->classify = true; break;
    case INODES: t->inodes = true; break;
    case DEVICE: t->device = true; break;
    case 'v': t->sort = TREE_VERSION; break;
    case 't': t->sort = TREE_MTIME; break;
    case 'c': t->sort = TREE_CTIME; t->status_time = true; break;
    case 'U': t->sort = TREE_UNSORTED; break;
    case 'r': t->reverse = true; break;
    case DIRS_FIRST: t->dirs_first = true; break;
    case FILES_FIRST: t->files_first = true; break;
    case 'i': t->no_lines = true; break;
    case 'C': t->color = true; break;
    case 'n': t->color = false; break;
    case 'J': t->json = true; break;
    case 'X': t->xml = true; break;
    case PRUNE: t->prune = true; break;
    case NO_REPORT: t->no_report = true; break;
    case MATCH_DIRS: t->match_dirs = true; break;
    case IGNORE_CASE: t->ignore_case = true; break;
    default: set_more(t, args, id); break;
    }
}

static int tree_main(Proc *p, Args *args)
{
    static char dot[] = ".";
    char *here[] = {dot};
    Tree *t = mem_new(&p->keep, Tree);
    t->p = p;
    t->depth = INT64_MAX;
    t->ascii = !locale_utf8(p);
    for (int id; (id = args_next(p, args)) != -1;)
        set_option(t, args, id);
    int n, status = 0;
    char **v = args_operands(args, &n);
    if (!n) {
        v = here;
        n = 1;
    }
    if (t->json)
        out_str(p->out, "[\n");
    if (t->xml)
        out_str(p->out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<tree>\n");
    for (int i = 0; i < n; i++) {
        status |= show(t, v[i]) ? 2 : 0;
        if (t->json && i + 1 < n)
            out_str(p->out, ",\n");
    }
    report(t);
    return status;
}

COMMAND(tree, "tree [OPTION]... [DIRECTORY]...", "List contents of directories in a tree-like format.", options, COMMAND_WRITES, .package = "tree 2.1");

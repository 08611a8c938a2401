/* print: entries as lines, columns or long lines. */
#include "ls.h"

/* ---------- colours ---------- */

static const char *builtin_color(const char *key)
{
    static const struct { char key[3]; const char *value; } table[] = {
        {"di", "01;34"}, {"ln", "01;36"}, {"pi", "33"}, {"so", "01;35"}, {"bd", "01;33"}, {"cd", "01;33"}, {"ex", "01;32"},
        {"su", "37;41"}, {"sg", "30;43"}, {"st", "37;44"}, {"ow", "34;42"}, {"tw", "30;42"},
    };
    for (size_t n = 0; n < ARRAY_LEN(table); n++)
        if (strcmp(table[n].key, key) == 0)
            return table[n].value;
    return NULL;
}

/* The value of `key` (or of the pattern *suffix that fits `name`) in LS_COLORS. */
static Slice environment_color(const Ls *ls, const char *key, const char *name)
{
    Slice rest = slice_str(ls->colors ? ls->colors : ""), found = {NULL, 0};
    while (rest.len) {
        Slice item = slice(rest.data, slice_find(rest, ':'));
        rest = slice_from(rest, MIN(item.len + 1, rest.len));
        size_t eq = slice_find(item, '=');
        if (eq == item.len)
            continue;
        Slice left = slice(item.data, eq), right = slice_from(item, eq + 1);
        size_t len = name ? strlen(name) : 0;
        if (name ? left.len > 1 && *left.data == '*' && len >= left.len - 1 && memcmp(name + len - (left.len - 1), left.data + 1, left.len - 1) == 0
                 : slice_is(left, key))
            found = right;
    }
    return found;
}

static const char *color_key(const Entry *e, uint32_t mode)
{
    if (S_ISDIR(mode)) {
        bool sticky = mode & S_ISVTX, other = mode & S_IWOTH;
        return sticky && other ? "tw" : other ? "ow" : sticky ? "st" : "di";
    }
    if (S_ISLNK(mode))
        return e->broken ? "or" : "ln";
    if (S_ISREG(mode))
        return mode & S_ISUID ? "su" : mode & S_ISGID ? "sg" : mode & 0111 ? "ex" : "fi";
    return S_ISFIFO(mode) ? "pi" : S_ISSOCK(mode) ? "so" : S_ISCHR(mode) ? "cd" : "bd";
}

static Slice color_of(const Ls *ls, const Entry *e, uint32_t mode)
{
    const char *key = color_key(e, mode);
    Slice value = environment_color(ls, key, NULL);
    if (strcmp(key, "or") == 0 && !value.len)
        return color_of(ls, &(Entry){0}, S_IFLNK);
    if (strcmp(key, "fi") == 0 && !value.len)
        value = environment_color(ls, NULL, e->name);
    if (!value.len && builtin_color(key))
        value = slice_str(builtin_color(key));
    return value;
}

static void color_begin(Ls *ls, Slice color)
{
    if (!ls->colored)
        out_str(ls->p->out, "\033[0m");
    ls->colored = true;
    out_str(ls->p->out, "\033[");
    out_write(ls->p->out, color);
    out_char(ls->p->out, 'm');
}

static const char *host_name(Proc *p)
{
    const char *name = proc_getenv(p, "HOSTNAME");
    return name ? name : "libshell";
}

void print_linked(const Ls *ls, const char *path, const char *text)
{
    Output *out = ls->p->out;
    char *full = NULL;
    if (!ls->links_to || !path || proc_realpath(ls->p, path, REALPATH_EXISTING, &full)) {
        out_str(out, text);
        return;
    }
    out_printf(out, "\033]8;;file://%s", host_name(ls->p));
    for (const char *at = full; *at; at++) {
        bool letter = (*at | 32) >= 'a' && (*at | 32) <= 'z', plain = letter || (*at >= '0' && *at <= '9') || strchr("-._~/", *at);
        out_printf(out, plain ? "%c" : "%%%02x", (unsigned char)*at);
    }
    out_printf(out, "\a%s\033]8;;\a", text);
}

static void print_colored(Ls *ls, const Entry *e, uint32_t mode, const char *text)
{
    Slice color = ls->color ? color_of(ls, e, mode) : (Slice){NULL, 0};
    if (color.len)
        color_begin(ls, color);
    print_linked(ls, e->path, text);
    if (color.len)
        out_str(ls->p->out, "\033[0m");
}

/* ---------- parts ---------- */

static char indicator(const Ls *ls, uint32_t mode)
{
    if (S_ISDIR(mode))
        return ls->indicate >= INDICATE_SLASH ? '/' : 0;
    if (ls->indicate < INDICATE_TYPE)
        return 0;
    if (S_ISREG(mode))
        return ls->indicate == INDICATE_CLASSIFY && (mode & 0111) ? '*' : 0;
    return S_ISLNK(mode) ? '@' : S_ISFIFO(mode) ? '|' : S_ISSOCK(mode) ? '=' : 0;
}

static uint64_t scaled(uint64_t bytes, uint64_t unit) { return bytes / unit + (bytes % unit != 0); }

static const char *block_text(const Ls *ls, uint64_t blocks)
{
    if (ls->block_human)
        return format_human(ls->p, blocks * 512, ls->block_human);
    return mem_printf(&ls->p->mem, "%llu%s", (unsigned long long)scaled(blocks * 512, ls->block_size), ls->block_suffix);
}

static const char *device_text(Proc *p, uint32_t rdev)
{
    unsigned major, minor;
    device_numbers(rdev, &major, &minor);
    return mem_printf(&p->mem, "%u, %u", major, minor);
}

static const char *number_text(Proc *p, uint64_t v)
{
    char digits[24], *at = digits + sizeof digits;
    do
        *--at = (char)('0' + v % 10);
    while (v /= 10);
    return mem_copy(&p->mem, slice(at, (size_t)(digits + sizeof digits - at)));
}

static const char *size_text(const Ls *ls, const Entry *e)
{
    if (S_ISCHR(e->st.mode) || S_ISBLK(e->st.mode))
        return device_text(ls->p, e->st.rdev);
    if (ls->human)
        return format_human(ls->p, e->st.size, ls->human);
    if (ls->file_block <= 1)
        return number_text(ls->p, e->st.size);
    return mem_printf(&ls->p->mem, "%llu%s", (unsigned long long)scaled(e->st.size, ls->file_block), ls->block_suffix);
}

/* A tree is mostly one user's: the files of names are not read for each entry. */
static const char *owner_text(const Ls *ls, struct Owner *last, uint32_t id, const char *(*find)(Proc *p, uint32_t id))
{
    if (ls->numeric)
        return number_text(ls->p, id);
    if (!last->known || last->id != id)
        *last = (struct Owner){id, true, find(ls->p, id)};
    return last->name ? last->name : number_text(ls->p, id);
}

static const char *user_text(const Ls *ls, uint32_t uid) { return owner_text(ls, &ls->owners[0], uid, user_name); }
static const char *group_text(const Ls *ls, uint32_t gid) { return owner_text(ls, &ls->owners[1], gid, group_name); }

static const char *time_text(const Ls *ls, const Entry *e)
{
    int64_t s = ls->time == TIME_ATIME ? e->st.atime : ls->time == TIME_CTIME ? e->st.ctime : ls->time == TIME_BTIME ? e->st.btime : e->st.mtime;
    uint32_t ns = ls->time == TIME_ATIME ? e->st.atime_ns : ls->time == TIME_CTIME ? e->st.ctime_ns : ls->time == TIME_BTIME ? e->st.btime_ns : e->st.mtime_ns;
    bool recent = s > ls->now - 31556952 / 2 && s <= ls->now;
    CivilTime t;
    Buf b;
    buf_init(&b, &ls->p->mem, 1000);
    if (!tz_civil(proc_zone(ls->p), s, ns, &t))
        return mem_printf(&ls->p->mem, "%lld", (long long)s);
    buf_reserve(&b, 1);
    tz_format(&b, slice_str(recent ? ls->recent_format : ls->old_format), &t, s);
    return b.data;
}

/* ---------- the widths of a listing ---------- */

typedef struct {
    size_t inode, blocks, links, user, group, author, size;
} Widths;

static void widen(size_t *width, const char *text)
{
    size_t n = utf8_count(slice_str(text));
    *width = MAX(*width, n);
}

static Widths measure(const Ls *ls, const Entry *list, size_t count)
{
    Widths w = {0};
    for (size_t n = 0; n < count; n++) {
        const Entry *e = &list[n];
        MemMark mark = mem_mark(&ls->p->mem);
        if (ls->inodes)
            widen(&w.inode, e->stat_ok ? number_text(ls->p, e->st.ino) : "?");
        if (ls->blocks)
            widen(&w.blocks, e->stat_ok ? block_text(ls, e->st.blocks) : "?");
        if (ls->format == FORMAT_LONG) {
            widen(&w.links, e->stat_ok ? number_text(ls->p, e->st.nlink) : "?");
            widen(&w.user, e->stat_ok ? user_text(ls, e->st.uid) : "?");
            widen(&w.group, e->stat_ok ? group_text(ls, e->st.gid) : "?");
            widen(&w.size, e->stat_ok ? size_text(ls, e) : "?");
        }
        mem_reset(&ls->p->mem, mark);
    }
    w.author = w.user;
    return w;
}

static void right(Output *out, size_t width, const char *text)
{
    size_t n = utf8_count(slice_str(text));
    out_pad(out, width > n ? width - n : 0, ' ');
    out_str(out, text);
    out_char(out, ' ');
}

static void left(Output *out, size_t width, const char *text)
{
    size_t n = utf8_count(slice_str(text));
    out_str(out, text);
    out_pad(out, (width > n ? width - n : 0) + 1, ' ');
}

/* Numbers stand right, names left. */
static void who(const Ls *ls, size_t width, const char *text)
{
    if (ls->numeric)
        right(ls->p->out, width, text);
    else
        left(ls->p->out, width, text);
}

static void print_front(const Ls *ls, const Entry *e, const Widths *w)
{
    if (ls->inodes)
        right(ls->p->out, ls->format == FORMAT_COMMAS ? 0 : w->inode, e->stat_ok ? number_text(ls->p, e->st.ino) : "?");
    if (ls->blocks)
        right(ls->p->out, ls->format == FORMAT_COMMAS ? 0 : w->blocks, e->stat_ok ? block_text(ls, e->st.blocks) : "?");
    if (ls->context && ls->format != FORMAT_LONG)
        out_str(ls->p->out, "? ");
}

static size_t front_width(const Ls *ls, const Entry *e, const Widths *w)
{
    size_t inode = ls->inodes ? (ls->format == FORMAT_COMMAS ? strlen(number_text(ls->p, e->st.ino)) : w->inode) + 1 : 0;
    size_t blocks = ls->blocks ? (ls->format == FORMAT_COMMAS ? strlen(block_text(ls, e->st.blocks)) : w->blocks) + 1 : 0;
    return inode + blocks + (ls->context && ls->format != FORMAT_LONG ? 2 : 0);
}

static void print_name(Ls *ls, const Entry *e)
{
    print_colored(ls, e, e->stat_ok ? e->st.mode : S_IFREG, e->shown);
    char c = e->stat_ok && !e->target ? indicator(ls, e->st.mode) : 0;
    if (c)
        out_char(ls->p->out, c);
}

static size_t whole_width(const Ls *ls, const Entry *e, const Widths *w)
{
    return front_width(ls, e, w) + e->width + (e->stat_ok && indicator(ls, e->st.mode) != 0);
}

/* ---------- formats ---------- */

static void print_long(Ls *ls, const Entry *e, const Widths *w)
{
    Output *out = ls->p->out;
    char mode[11];
    print_front(ls, e, w);
    format_mode(e->st.mode, mode);
    out_str(out, e->stat_ok ? mode : "??????????");
    out_char(out, ' ');
    right(out, w->links, e->stat_ok ? number_text(ls->p, e->st.nlink) : "?");
    if (ls->owner)
        who(ls, w->user, e->stat_ok ? user_text(ls, e->st.uid) : "?");
    if (ls->group)
        who(ls, w->group, e->stat_ok ? group_text(ls, e->st.gid) : "?");
    if (ls->author)
        who(ls, w->author, e->stat_ok ? user_text(ls, e->st.uid) : "?");
    if (ls->context)
        out_str(out, "? ");
    right(out, w->size, e->stat_ok ? size_text(ls, e) : "?");
    if (e->stat_ok)
        out_str(out, time_text(ls, e));
    else
        out_str(out, "           ?");
    out_char(out, ' ');
    print_name(ls, e);
    if (!e->target)
        return;
    out_str(out, " -> ");
    if (ls->color && e->target_mode)
        print_colored(ls, &(Entry){.name = e->target, .path = e->path}, e->target_mode, e->target);
    else
        print_colored(ls, e, S_IFLNK, e->target);
    char c = e->target_mode ? indicator(ls, e->target_mode) : 0;
    if (c)
        out_char(out, c);
}

static void indent(const Ls *ls, size_t from, size_t to)
{
    while (from < to) {
        if (ls->tab && ls->width && to / ls->tab > (from + 1) / ls->tab) {
            out_char(ls->p->out, '\t');
            from += ls->tab - from % ls->tab;
        } else {
            out_char(ls->p->out, ' ');
            from++;
        }
    }
}

/* Whether `columns` columns fit; fills their widths, two spaces included but for the last one's. */
static bool fits(const Ls *ls, const size_t *length, size_t count, size_t columns, size_t *width)
{
    size_t rows = count / columns + (count % columns != 0), line = 0;
    memset(width, 0, columns * sizeof *width);
    for (size_t n = 0; n < count; n++) {
        size_t c = ls->format == FORMAT_COLUMNS ? n / rows : n % columns, w = length[n] + (c == columns - 1 ? 0 : 2);
        width[c] = MAX(width[c], w);
    }
    for (size_t c = 0; c < columns; c++)
        line += MAX(width[c], (size_t)3);
    for (size_t c = 0; c < columns; c++)
        width[c] = MAX(width[c], (size_t)3);
    return line < ls->width || columns == 1;
}

static void print_columns(Ls *ls, const Entry *list, size_t count, const Widths *w)
{
    Mem *mem = &ls->p->mem;
    size_t most = ls->width ? MIN(count, ls->width / 3 + (ls->width % 3 != 0)) : count;
    most = MAX(most, (size_t)1);
    size_t *length = mem_array(mem, count, size_t), *width = mem_array(mem, most, size_t);
    for (size_t n = 0; n < count; n++)
        length[n] = whole_width(ls, &list[n], w);
    size_t columns = most;
    if (!ls->width) {
        columns = ls->format == FORMAT_COLUMNS || ls->format == FORMAT_ACROSS ? count : 1;
        for (size_t c = 0; c < columns; c++)
            width[c] = length[c] + 2;
    } else {
        while (columns > 1 && !fits(ls, length, count, columns, width))
            columns--;
        if (columns == 1)
            (void)fits(ls, length, count, 1, width);
    }
    size_t rows = count / columns + (count % columns != 0);
    for (size_t row = 0; row < rows; row++) {
        size_t at = 0;
        for (size_t c = 0; c < columns; c++) {
            size_t n = ls->format == FORMAT_COLUMNS ? c * rows + row : row * columns + c;
            size_t next = ls->format == FORMAT_COLUMNS ? n + rows : n + 1;
            if (n >= count)
                break;
            print_front(ls, &list[n], w);
            print_name(ls, &list[n]);
            if (c + 1 < columns && next < count)
                indent(ls, at + length[n], at + width[c]);
            at += width[c];
        }
        out_char(ls->p->out, ls->end);
    }
}

static void print_commas(Ls *ls, const Entry *list, size_t count, const Widths *w)
{
    size_t at = 0;
    for (size_t n = 0; n < count; n++) {
        size_t len = whole_width(ls, &list[n], w);
        if (n) {
            bool same = !ls->width || at + len + 2 < ls->width;
            out_char(ls->p->out, ',');
            out_char(ls->p->out, same ? ' ' : ls->end);
            at = same ? at + 2 : 0;
        }
        print_front(ls, &list[n], w);
        print_name(ls, &list[n]);
        at += len;
    }
    out_char(ls->p->out, ls->end);
}

static void print_total(const Ls *ls, const Entry *list, size_t count)
{
    uint64_t blocks = 0;
    for (size_t n = 0; n < count; n++)
        blocks += list[n].st.blocks;
    out_printf(ls->p->out, "total %s", block_text(ls, blocks));
    out_char(ls->p->out, ls->end);
}

void print_entries(Ls *ls, Entry *list, size_t count, bool total)
{
    Widths w = measure(ls, list, count);
    if (total && (ls->format == FORMAT_LONG || ls->blocks))
        print_total(ls, list, count);
    if (!count)
        return;
    if (ls->format == FORMAT_COLUMNS || ls->format == FORMAT_ACROSS) {
        print_columns(ls, list, count, &w);
    } else if (ls->format == FORMAT_COMMAS) {
        print_commas(ls, list, count, &w);
    } else {
        for (size_t n = 0; n < count; n++) {
            MemMark mark = mem_mark(&ls->p->mem);
            if (ls->format == FORMAT_LONG) {
                print_long(ls, &list[n], &w);
            } else {
                print_front(ls, &list[n], &w);
                print_name(ls, &list[n]);
            }
            out_char(ls->p->out, ls->end);
            mem_reset(&ls->p->mem, mark);
        }
    }
}

/* wc: count lines, words, characters and bytes.
 *
 * GNU coreutils 9.1. One pass over whole chunks; characters and widths are decoded only when asked for, with a
 * character that crosses chunks carried over.
 */
#include <sys/stat.h>

#include "command.h"

typedef struct {
    uint64_t lines, words, chars, bytes, longest;
} Counts;

typedef struct {
    bool lines, words, chars, bytes, longest;
    bool utf8;
    int width;
    Counts total;
    bool list_known;
    int status;
} Wc;

typedef struct {
    bool in_word;
    uint64_t column;
    char partial[UTF8_MAX];
    size_t held; /* bytes of an unfinished character in partial */
} Scan;

enum { OPT_FILES0 = 256 };

static const Option options[] = {
    {'c', "bytes", OPT_FLAG, "print the byte counts", NULL, 0},
    {'m', "chars", OPT_FLAG, "print the character counts", NULL, 0},
    {'l', "lines", OPT_FLAG, "print the newline counts", NULL, 0},
    {0, "files0-from", OPT_VALUE, "read input from the NUL-terminated names in file F", "F", OPT_FILES0},
    {'L', "max-line-length", OPT_FLAG, "print the maximum display width", NULL, 0},
    {'w', "words", OPT_FLAG, "print the word counts", NULL, 0},
    OPTIONS_END,
};

/* ---------- counting ---------- */

static bool is_space(unsigned char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/* A word is a run of bytes that are not blank; in C a byte that cannot be printed neither begins nor ends one. */
static void count_bytewise(Counts *c, Scan *s, Slice chunk, bool any_byte)
{
    bool in_word = s->in_word;
    for (size_t i = 0; i < chunk.len; i++) {
        unsigned char b = (unsigned char)chunk.data[i];
        c->lines += b == '\n';
        if (is_space(b)) {
            in_word = false;
        } else if (!in_word && (any_byte || (b > 32 && b < 127))) {
            in_word = true;
            c->words++;
        }
    }
    s->in_word = in_word;
}

static void end_line(Counts *c, Scan *s)
{
    c->longest = MAX(c->longest, s->column);
    s->column = 0;
}

static void count_char(Counts *c, Scan *s, uint32_t ch)
{
    c->chars++;
    switch (ch) {
    case '\n':
        c->lines++;
        /* fall through */
    case '\r':
    case '\f':
        end_line(c, s);
        s->in_word = false;
        return;
    case '\t':
        s->column += 8 - s->column % 8;
        s->in_word = false;
        return;
    case ' ':
        s->column++;
        s->in_word = false;
        return;
    case '\v':
        s->in_word = false;
        return;
    default:
        break;
    }
    int width = utf8_width(ch);
    if (width < 0 || ch == 0)
        return; /* neither printed nor part of a word */
    s->column += (uint64_t)width;
    bool space = class_has(CLASS_SPACE, ch) || ch == 0xa0 || ch == 0x2007 || ch == 0x202f || ch == 0x2060;
    if (space)
        s->in_word = false;
    else if (!s->in_word)
        s->in_word = true, c->words++;
}

/* How many bytes the lead byte announces. */
static size_t announced(unsigned char b) { return b < 0xc2 ? 1 : b < 0xe0 ? 2 : b < 0xf0 ? 3 : b < 0xf5 ? 4 : 1; }

static void decode_part(Counts *c, Scan *s, Slice part, bool final, size_t *left)
{
    while (part.len) {
        size_t n;
        uint32_t ch = utf8_decode(part.data, part.len, &n);
        if (ch == UTF8_BAD && !final && announced((unsigned char)part.data[0]) > part.len)
            break;
        if (ch != UTF8_BAD)
            count_char(c, s, ch);
        part = slice_from(part, n);
    }
    *left = part.len;
}

static void count_decoded(Counts *c, Scan *s, Slice chunk)
{
    size_t left;
    while (s->held && chunk.len) {
        s->partial[s->held++] = *chunk.data;
        chunk = slice_from(chunk, 1);
        decode_part(c, s, (Slice){s->partial, s->held}, s->held == UTF8_MAX, &left);
        memmove(s->partial, s->partial + (s->held - left), left);
        s->held = left;
    }
    decode_part(c, s, chunk, false, &left);
    if (left) {
        memcpy(s->partial, chunk.data + (chunk.len - left), left);
        s->held = left;
    }
}

/* Widths in the C locale, where a byte beyond ASCII cannot be printed. */
static void count_wide_bytes(Counts *c, Scan *s, Slice chunk)
{
    enum { UNPRINTABLE = 0x80 };
    for (size_t i = 0; i < chunk.len; i++)
        count_char(c, s, MIN((unsigned char)chunk.data[i], (unsigned char)UNPRINTABLE));
}

static void count_chunk(const Wc *w, Counts *c, Scan *s, Slice chunk)
{
    c->bytes += chunk.len;
    /* In ASCII a character is a byte. */
    bool ascii = w->utf8 && !w->longest && !s->held && (w->chars || w->words) && slice_ascii(chunk);
    bool decode = w->utf8 && !ascii && (w->chars || w->longest || s->held || w->words);
    if (decode)
        count_decoded(c, s, chunk);
    else if (w->longest)
        count_wide_bytes(c, s, chunk);
    else if (w->words)
        count_bytewise(c, s, chunk, false);
    else if (w->lines)
        c->lines += slice_count(chunk, '\n');
    if ((ascii || !w->utf8) && w->chars && !w->longest)
        c->chars += chunk.len;
}

static void count_end(Counts *c, Scan *s)
{
    end_line(c, s);
    s->held = 0;
}

/* ---------- printing ---------- */

static void print_one(Output *out, uint64_t n, int width, bool *first)
{
    out_printf(out, "%s%*llu", *first ? "" : " ", width, (unsigned long long)n);
    *first = false;
}

static void print_counts(Proc *p, const Wc *w, const Counts *c, const char *name)
{
    bool first = true;
    if (w->lines)
        print_one(p->out, c->lines, w->width, &first);
    if (w->words)
        print_one(p->out, c->words, w->width, &first);
    if (w->chars)
        print_one(p->out, c->chars, w->width, &first);
    if (w->bytes)
        print_one(p->out, c->bytes, w->width, &first);
    if (w->longest)
        print_one(p->out, c->longest, w->width, &first);
    if (name)
        out_printf(p->out, " %s", strpbrk(name, "\n") ? quoteaf(p, name) : name);
    out_char(p->out, '\n');
}

static void add_to_total(Wc *w, const Counts *c)
{
    w->total.lines += c->lines;
    w->total.words += c->words;
    w->total.chars += c->chars;
    w->total.bytes += c->bytes;
    w->total.longest = MAX(w->total.longest, c->longest);
}

/* The width that the sum of the regular files' sizes needs, at least 7 when anything else is read; 1 for a single number. */
static int column_width(Proc *p, const Wc *w, char **names, int count)
{
    int columns = w->lines + w->words + w->chars + w->bytes + w->longest;
    if (count <= 1 && columns == 1)
        return 1;
    uint64_t sum = 0;
    int least = 1, width = 1;
    for (int i = 0; i < MAX(count, 1); i++) {
        VStat st;
        bool in = count == 0 || strcmp(names[i], "-") == 0;
        if (in ? proc_fstat(p, 0, &st) : proc_stat(p, names[i], 0, &st))
            continue;
        if ((st.mode & S_IFMT) == S_IFREG)
            sum += st.size;
        else
            least = 7;
    }
    for (; sum >= 10; sum /= 10)
        width++;
    return MAX(width, least);
}

/* What is left of a regular file, by its size: nothing is read and the offset stays. */
static bool count_by_size(Proc *p, const Input *in, Counts *c)
{
    VStat st;
    if (proc_fstat(p, in->fd, &st) || !S_ISREG(st.mode) || st.size == 0)
        return false;
    int64_t at = proc_seek(p, in->fd, 0, SEEK_CUR);
    if (at >= 0)
        c->bytes = (uint64_t)at < st.size ? st.size - (uint64_t)at : 0;
    return at >= 0;
}

static void count_file(Proc *p, Wc *w, char *name)
{
    Input in = input_files(p, &name, name != NULL);
    if (input_open(&in)) {
        Counts c = {0};
        Scan s = {0};
        bool bytes_only = w->bytes && !(w->lines || w->words || w->chars || w->longest);
        if (!bytes_only || !count_by_size(p, &in, &c))
            for (Slice chunk; input_chunk(&in, &chunk);)
                count_chunk(w, &c, &s, chunk);
        count_end(&c, &s);
        add_to_total(w, &c);
        print_counts(p, w, &c, name);
        input_next(&in);
    }
    w->status |= input_status(&in);
}

/* The names in `file`, NUL-terminated each. A list that is no regular file is not known when widths are chosen. */
static char **names_from(Proc *p, Wc *w, const char *file, int *count)
{
    bool is_stdin = strcmp(file, "-") == 0;
    VStat st;
    int fd = is_stdin ? 0 : proc_open(p, file, V_READ, 0);
    if (fd < 0)
        die_errno(p, 1, fd, "cannot open %s for reading", quoteaf(p, file));
    w->list_known = proc_fstat(p, fd, &st) == 0 && S_ISREG(st.mode);
    Slice all = read_all(p, fd);
    char **names = mem_array(&p->keep, all.len + 1, char *);
    int n = 0;
    while (all.len) {
        size_t len = slice_find(all, 0);
        names[n++] = mem_copy(&p->keep, (Slice){all.data, len});
        all = slice_from(all, MIN(len + 1, all.len));
    }
    *count = n;
    return names;
}

/* False, after a message, for a name that a list may not hold. */
static bool check_name(Proc *p, Wc *w, const char *name, const char *list, int number)
{
    if (list && strcmp(list, "-") == 0 && strcmp(name, "-") == 0)
        warn(p, "when reading file names from stdin, no file name of %s allowed", quoteaf(p, name));
    else if (!*name && list)
        warn(p, "%s:%d: invalid zero-length file name", quotef(p, list), number);
    else if (!*name)
        warn(p, "invalid zero-length file name");
    else
        return true;
    w->status = 1;
    return false;
}

static int wc_main(Proc *p, Args *args)
{
    Wc w = {.utf8 = locale_utf8(p)};
    const char *from = NULL;
    for (int id; (id = args_next(p, args)) != -1;) {
        w.lines |= id == 'l';
        w.words |= id == 'w';
        w.chars |= id == 'm';
        w.bytes |= id == 'c';
        w.longest |= id == 'L';
        if (id == OPT_FILES0)
            from = args->value;
    }
    if (!(w.lines || w.words || w.chars || w.bytes || w.longest))
        w.lines = w.words = w.bytes = true;
    int count;
    char **names = args_operands(args, &count);
    if (from && count) {
        warn(p, "extra operand %s", quoteaf(p, names[0]));
        out_str(p->err, "file operands cannot be combined with --files0-from\n");
        usage_hint(p, args);
    }
    if (from && (names = names_from(p, &w, from, &count), count == 0))
        return 0;
    w.width = from && !w.list_known ? 1 : column_width(p, &w, names, count);
    if (count == 0)
        count_file(p, &w, NULL);
    for (int i = 0; i < count; i++)
        if (check_name(p, &w, names[i], from, i + 1))
            count_file(p, &w, names[i]);
    if (count > 1)
        print_counts(p, &w, &w.total, "total");
    return w.status;
}

COMMAND(wc, "wc [OPTION]... [FILE]...\nwc [OPTION]... --files0-from=F", "Print newline, word, and byte counts for each FILE.", options, COMMAND_PURE);

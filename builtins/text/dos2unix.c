/* dos2unix, unix2dos: DOS/Mac to Unix and vice versa text file format converter. dos2unix 7.4.3, without the DOS code pages. */
#include <sys/stat.h>

#include "command.h"

enum { ACCEPTED = 256, ASSUME_LE, ASSUME_BE };

static const Option options[] = {
    {'b', "keep-bom", OPT_FLAG, "keep Byte Order Mark", NULL, 0},
    {'7', NULL, OPT_FLAG, "convert 8 bit characters to 7 bit space", NULL, 0},
    {0, "allow-chown", OPT_FLAG, "allow file ownership change", NULL, ACCEPTED},
    {0, "no-allow-chown", OPT_FLAG, "don't allow file ownership change (default)", NULL, ACCEPTED},
    {'c', "convmode", OPT_VALUE, "conversion mode: ascii, 7bit or mac", "CONVMODE", 0},
    {'f', "force", OPT_FLAG, "force conversion of binary files", NULL, 0},
    OPTION_HELP('h'),
    {'F', "follow-symlink", OPT_FLAG, "follow symbolic links and convert the targets", NULL, 0},
    {'R', "replace-symlink", OPT_FLAG, "replace symbolic links with converted files", NULL, 0},
    {'S', "skip-symlink", OPT_FLAG, "keep symbolic links and targets unchanged (default)", NULL, 0},
    {'i', "info", OPT_OPTIONAL, "display file information; FLAGS: 0 zero-terminated, d DOS, u Unix and m Mac line breaks, b byte order mark, t text or binary, c only files that would be converted, h a header, p no path", "FLAGS", 0},
    {'k', "keepdate", OPT_FLAG, "keep output file date", NULL, 0},
    {'l', "newline", OPT_FLAG, "add additional newline", NULL, 0},
    {'m', "add-bom", OPT_FLAG, "add Byte Order Mark (default UTF-8)", NULL, 0},
    {'n', "newfile", OPT_FLAG, "write to new file", NULL, 0},
    {'o', "oldfile", OPT_FLAG, "write to old file (default)", NULL, 0},
    {'q', "quiet", OPT_FLAG, "quiet mode, suppress all warnings", NULL, 0},
    {'r', "remove-bom", OPT_FLAG, "remove Byte Order Mark", NULL, 0},
    {'s', "safe", OPT_FLAG, "skip binary files (default)", NULL, 0},
    {'u', "keep-utf16", OPT_OPTIONAL, "keep UTF-16 encoding; -ul, -ub: assume UTF-16LE, UTF-16BE", NULL, 0},
    {0, "assume-utf16le", OPT_FLAG, "assume that the input format is UTF-16LE", NULL, ASSUME_LE},
    {0, "assume-utf16be", OPT_FLAG, "assume that the input format is UTF-16BE", NULL, ASSUME_BE},
    {'v', "verbose", OPT_FLAG, "verbose operation", NULL, 0},
    {'L', "license", OPT_FLAG, "display software license", NULL, OPTION_IS_VERSION},
    OPTION_VERSION('V'),
    {0, "version", OPT_FLAG, NULL, NULL, OPTION_IS_VERSION},
    OPTIONS_END,
};

typedef enum { BYTES, UTF16LE, UTF16BE } Encoding;
typedef enum { LINKS_SKIPPED, LINKS_FOLLOWED, LINKS_REPLACED } Links;

typedef struct {
    Proc *p;
    bool to_dos, mac, force, keep_date, extra_line, new_file, quiet, verbose, seven, keep16, info;
    const char *flags;
    Encoding assumed;
    Links links;
    int bom; /* 0: as usual; 'b' keep, 'm' add, 'r' remove */
    bool heading;
    int status;
} Convert;

/* What one file is: its bytes as UTF-8 or as they are, without the mark. */
typedef struct {
    Slice text;
    Encoding encoding;
    bool mark;
    const char *missing; /* half of a pair: "low" or "high" */
    size_t done, all;    /* line breaks */
} Text;

static const char *const encodings[] = {"", "UTF-16LE", "UTF-16BE"};

/* ---------- UTF-16 ---------- */

static uint32_t unit_at(Slice s, size_t at, Encoding e)
{
    unsigned char a = (unsigned char)s.data[at], b = (unsigned char)s.data[at + 1];
    return e == UTF16LE ? (uint32_t)b << 8 | a : (uint32_t)a << 8 | b;
}

/* 0, or the line of a surrogate without its other half. */
static size_t from_utf16(Convert *c, Text *t, Slice s)
{
    Buf out;
    size_t line = 1, bad = 0;
    buf_init(&out, &c->p->keep, BUF_MAX);
    buf_append(&out, (Slice){"", 0});
    for (size_t at = 0; at + 1 < s.len; at += 2) {
        uint32_t u = unit_at(s, at, t->encoding);
        char bytes[6];
        line += u == '\n';
        bool high = u >= 0xd800 && u < 0xdc00, low = u >= 0xdc00 && u <= 0xdfff;
        if (high && at + 3 >= s.len)
            break;
        uint32_t next = high ? unit_at(s, at + 2, t->encoding) : 0;
        if (next >= 0xdc00 && next <= 0xdfff) {
            u = 0x10000 + ((u - 0xd800) << 10 | (next - 0xdc00));
            at += 2;
        } else if ((high || low) && !c->keep16) { /* kept, it is nobody's business */
            if (!bad) {
                bad = line + (next == '\n');
                t->missing = high ? "low" : "high";
            }
            continue;
        }
        buf_append(&out, slice(bytes, utf8_encode(u, bytes)));
    }
    t->text = buf_slice(&out);
    return bad;
}

static void put_unit(Buf *out, uint32_t u, Encoding e)
{
    buf_char(out, (char)(e == UTF16LE ? u : u >> 8));
    buf_char(out, (char)(e == UTF16LE ? u >> 8 : u));
}

static Buf to_utf16(Convert *c, Slice s, Encoding e)
{
    Buf out;
    size_t n;
    buf_init(&out, &c->p->keep, BUF_MAX);
    buf_append(&out, (Slice){"", 0});
    for (size_t at = 0; at < s.len; at += n) {
        uint32_t u = utf8_decode(s.data + at, s.len - at, &n);
        if (u == UTF8_BAD && s.len - at >= 3) { /* half of a pair, as from_utf16 wrote it */
            u = 0xd000 | ((uint32_t)s.data[at + 1] & 0x3f) << 6 | ((uint32_t)s.data[at + 2] & 0x3f);
            n = 3;
        }
        if (u >= 0x10000) {
            put_unit(&out, 0xd800 + ((u - 0x10000) >> 10), e);
            u = 0xdc00 + ((u - 0x10000) & 0x3ff);
        }
        put_unit(&out, u, e);
    }
    return out;
}

/* False after a message. */
static bool take_text(Convert *c, Text *t, Slice all, const char *name)
{
    *t = (Text){.text = all};
    bool le = slice_starts(all, SLICE("\xFF\xFE")), be = slice_starts(all, SLICE("\xFE\xFF"));
    t->encoding = le ? UTF16LE : be ? UTF16BE : c->assumed;
    t->mark = le || be || slice_starts(all, SLICE("\xEF\xBB\xBF"));
    if (t->mark)
        t->text = slice_from(all, le || be ? 2 : 3);
    size_t line = t->encoding ? from_utf16(c, t, t->text) : 0;
    if (!line || c->info)
        return true;
    if (!c->quiet) {
        warn(c->p, "error: Invalid surrogate pair. Missing %s surrogate.", t->missing);
        warn(c->p, "Skipping UTF-16 file %s, an UTF-16 conversion error occurred on line %zu.", name, line);
    }
    c->status = 1;
    return false;
}

/* ---------- conversion ---------- */

static bool is_binary(Slice s, size_t *line, unsigned char *byte)
{
    *line = 1;
    for (size_t i = 0; i < s.len; i++) {
        unsigned char b = *byte = (unsigned char)s.data[i];
        *line += b == '\n';
        if (b < 32 && b != '\n' && b != '\r' && b != '\t' && b != '\f' && b != 26 && b != 27 && !(b >= 7 && b <= 8))
            return true;
    }
    return false;
}

static bool refuse_binary(Convert *c, Slice s)
{
    size_t line;
    unsigned char byte;
    if (c->force || !is_binary(s, &line, &byte))
        return false;
    if (!c->quiet)
        warn(c->p, "Binary symbol 0x%02X found at line %zu", byte, line);
    return true;
}

static void put_break(Convert *c, Text *t, Buf *out)
{
    for (int i = 0; i < (c->extra_line ? 2 : 1); i++)
        buf_append(out, slice_str(c->to_dos ? (c->mac ? "\r" : "\r\n") : "\n"));
    t->done++;
}

static Buf converted(Convert *c, Text *t)
{
    Buf out;
    Slice s = t->text;
    buf_init(&out, &c->p->keep, BUF_MAX);
    buf_append(&out, (Slice){"", 0});
    if (c->bom == 'm' || (t->mark && (c->bom == 'b' || (c->to_dos && c->bom != 'r'))))
        buf_append(&out, SLICE("\xEF\xBB\xBF"));
    for (size_t i = 0; i < s.len; i++) {
        char b = s.data[i], next = i + 1 < s.len ? s.data[i + 1] : 0;
        bool pair = b == '\r' && next == '\n';
        t->all += c->mac ? b == '\r' || (b == '\n' && !(i && s.data[i - 1] == '\r')) : b == '\n';
        if (c->to_dos && b == '\n' && !(i && s.data[i - 1] == '\r'))
            put_break(c, t, &out);
        else if (!c->to_dos && c->mac && b == '\r' && !pair)
            put_break(c, t, &out);
        else if (!c->to_dos && !c->mac && pair)
            put_break(c, t, &out), i++, t->all++;
        else
            buf_char(&out, c->seven && b & 0x80 ? ' ' : b);
    }
    proc_tick(c->p, 1 + s.len / 64);
    if (c->verbose && !c->quiet)
        warn(c->p, "Converted %zu out of %zu line breaks.", t->done, t->all);
    return c->keep16 && t->encoding ? to_utf16(c, buf_slice(&out), t->encoding) : out;
}

static void tell(Convert *c, const Text *t, const char *from, const char *to)
{
    const char *format = c->to_dos ? (c->mac ? "Mac" : "DOS") : "Unix";
    const char *was = t->encoding ? encodings[t->encoding] : "", *is = !t->encoding ? "" : c->keep16 ? was : "UTF-8";
    if (c->quiet)
        return;
    if (from != to)
        warn(c->p, "converting %s%sfile %s to %s%sfile %s in %s format...", was, *was ? " " : "", from, is, *is ? " " : "", to, format);
    else
        warn(c->p, "converting %s%sfile %s to %s%s%s format...", was, *was ? " " : "", from, is, *is ? " " : "", format);
}

/* ---------- information ---------- */

static bool flag(const Convert *c, char f) { return c->flags && strchr(c->flags, f); }

static void print_info(Convert *c, const Text *t, const char *name)
{
    Output *out = c->p->out;
    size_t dos = 0, lf = 0, cr = 0, line;
    unsigned char byte;
    Slice s = t->text;
    for (size_t i = 0; i < s.len; i++) {
        dos += s.data[i] == '\r' && i + 1 < s.len && s.data[i + 1] == '\n';
        cr += s.data[i] == '\r' && !(i + 1 < s.len && s.data[i + 1] == '\n');
        lf += s.data[i] == '\n' && !(i && s.data[i - 1] == '\r');
    }
    bool binary = is_binary(s, &line, &byte), every = !flag(c, 'd') && !flag(c, 'u') && !flag(c, 'm') && !flag(c, 'b') && !flag(c, 't');
    const char *slash = flag(c, 'p') && name ? strrchr(name, '/') : NULL, *shown = slash ? slash + 1 : name;
    char end = flag(c, '0') ? 0 : '\n';
    if (flag(c, 'c')) {
        size_t changes = c->to_dos ? lf : c->mac ? cr : dos;
        if (changes && (c->force || !binary) && shown)
            out_printf(out, "%s%c", shown, end);
        return;
    }
    if (flag(c, 'h') && !c->heading) {
        static const char *const heads[] = {"     DOS", "    UNIX", "     MAC", "  BOM     ", "  TXTBIN"};
        static const char letters[] = "dumbt";
        for (size_t i = 0; i < ARRAY_LEN(heads); i++)
            if (every || flag(c, letters[i]))
                out_str(out, heads[i]);
        out_printf(out, "  FILE%c", end);
        c->heading = true;
    }
    if (every || flag(c, 'd'))
        out_printf(out, "%8zu", dos);
    if (every || flag(c, 'u'))
        out_printf(out, "%8zu", lf);
    if (every || flag(c, 'm'))
        out_printf(out, "%8zu", cr);
    if (every || flag(c, 'b'))
        out_printf(out, "  %-8s", t->encoding ? encodings[t->encoding] : t->mark ? "UTF-8" : "no_bom");
    if (every || flag(c, 't'))
        out_str(out, binary ? "  binary" : "  text  ");
    if (shown)
        out_printf(out, "  %s", shown);
    out_char(out, end);
}

/* ---------- files ---------- */

static bool usable(Convert *c, const char *from, VStat *st)
{
    VStat link;
    int r = proc_stat(c->p, from, 0, st);
    bool is_link = proc_stat(c->p, from, V_NOFOLLOW, &link) == 0 && S_ISLNK(link.mode);
    bool passed = is_link && !c->links && !c->info;
    if (r && !passed && !c->quiet)
        warn_errno(c->p, r, "%s", from);
    if (r && !passed)
        c->status = -r;
    if (!r && S_ISREG(st->mode) && !passed)
        return true;
    if (is_link && !passed && (r || !S_ISREG(st->mode)) && !c->quiet)
        warn(c->p, "Skipping symbolic link %s, target is not a regular file.", from);
    else if (is_link && !c->quiet)
        warn(c->p, "Skipping symbolic link %s.", from);
    else if (!c->quiet)
        warn(c->p, "Skipping %s, not a regular file.", from);
    return false;
}

/* Beside `to`, then in its place: a limit in the middle loses nothing. 0, or an error after which `to` is as it was. */
static int replace_file(Convert *c, const char *to, Slice text, const VStat *st)
{
    Proc *p = c->p;
    char *target = NULL;
    uint32_t random;
    if (c->links == LINKS_REPLACED || proc_realpath(p, to, REALPATH_EXISTING, &target))
        target = mem_strdup(&p->mem, to);
    const char *slash = strrchr(target, '/');
    proc_random(p, &random, sizeof random);
    char *temporary = mem_printf(&p->mem, "%.*sd2utmp%06x", slash ? (int)(slash + 1 - target) : 0, target, random & 0xffffff);
    int fd = proc_open(p, temporary, V_WRITE | V_CREATE | V_EXCL, 0600);
    if (fd < 0)
        return fd;
    ssize_t wrote = text.len ? proc_write(p, fd, text) : 0;
    proc_fchown(p, fd, st->uid, st->gid);
    proc_fchmod(p, fd, st->mode & 07777);
    if (c->keep_date)
        proc_futimes(p, fd, (VTime){st->atime, st->atime_ns, VTIME_SET}, (VTime){st->mtime, st->mtime_ns, VTIME_SET});
    proc_close(p, fd);
    int err = wrote < 0 ? (int)wrote : (size_t)wrote < text.len ? -ENOSPC : proc_rename(p, temporary, target, false);
    if (err)
        proc_unlink(p, temporary);
    return err;
}

static void convert_file(Convert *c, const char *from, const char *to)
{
    Proc *p = c->p;
    VStat st;
    Slice all;
    Text t;
    int r;
    if (!usable(c, from, &st))
        return;
    if ((r = read_file(p, from, &all))) {
        warn_errno(p, r, "%s", from);
        c->status = -r;
        return;
    }
    if (!take_text(c, &t, all, from))
        return;
    if (c->info) {
        print_info(c, &t, from);
        return;
    }
    if (refuse_binary(c, t.text)) {
        if (!c->quiet)
            warn(p, "Skipping binary file %s", from);
        return;
    }
    Buf out = converted(c, &t);
    if ((r = replace_file(c, to, buf_slice(&out), &st))) {
        if (c->quiet) /* as the original: nothing is said, not even by the status */
            return;
        warn(p, "Failed to open temporary output file: %s", error_text(-r));
        if (from == to)
            warn(p, "problems converting file %s", from);
        else
            warn(p, "problems converting file %s to file %s", from, to);
        c->status = -r;
        return;
    }
    tell(c, &t, from, to);
}

static void convert_input(Convert *c)
{
    Text t;
    if (!take_text(c, &t, read_all(c->p, 0), "stdin"))
        return;
    if (c->info) {
        print_info(c, &t, NULL);
    } else if (!refuse_binary(c, t.text)) {
        Buf out = converted(c, &t);
        out_write(c->p->out, buf_slice(&out));
    }
}

static void set_mode(Convert *c, const char *mode)
{
    if (strcasecmp(mode, "mac") == 0)
        c->mac = true;
    else if (strcasecmp(mode, "7bit") == 0)
        c->seven = true;
    else if (strcasecmp(mode, "ascii") == 0)
        c->mac = c->seven = false;
    else
        die(c->p, 1, strcasecmp(mode, "iso") == 0 ? "the %s conversion mode needs DOS code pages, which are not here" : "invalid %s conversion mode specified", mode);
}

static void set_info(Convert *c, const char *flags)
{
    c->info = true;
    c->flags = flags;
    size_t n = flags ? strspn(flags, "0dumbtchp") : 0;
    if (flags && flags[n])
        die(c->p, 1, "wrong flag '%c' for option -i or --info", flags[n]);
}

static void set_encoding(Convert *c, const char *value)
{
    if (!value)
        c->keep16 = true;
    else if (strcmp(value, "l") == 0 || strcmp(value, "b") == 0)
        c->assumed = *value == 'l' ? UTF16LE : UTF16BE;
    else
        die(c->p, 1, "invalid option -- 'u%s'", value);
}

static void set_option(Convert *c, Args *args, int id)
{
    switch (id) {
    case 'b': case 'm': case 'r': c->bom = id; break;
    case 'c': set_mode(c, args->value); break;
    case '7': c->seven = true; break;
    case 'F': c->links = LINKS_FOLLOWED; break;
    case 'R': c->links = LINKS_REPLACED; break;
    case 'S': c->links = LINKS_SKIPPED; break;
    case 'i': set_info(c, args->value); break;
    case 'u': set_encoding(c, args->value); break;
    case ASSUME_LE: c->assumed = UTF16LE; break;
    case ASSUME_BE: c->assumed = UTF16BE; break;
    case 'v': c->verbose = true; break;
    case 'f': c->force = true; break;
    case 'k': c->keep_date = true; break;
    case 'l': c->extra_line = true; break;
    case 'n': c->new_file = true; break;
    case 'o': c->new_file = false; break;
    case 'q': c->quiet = true; break;
    default: break;
    }
}

/* Options count from where they stand: -o and -n between the files. */
static int run(Proc *p, Args *args, bool to_dos)
{
    Convert c = {.p = p, .to_dos = to_dos};
    bool any = false;
    for (;;) {
        for (int id; (id = args_next(p, args)) != -1;)
            set_option(&c, args, id);
        const char *from = args_operand(args);
        if (!from)
            break;
        any = true;
        const char *to = c.new_file ? args_operand(args) : from;
        if (!to) {
            warn(p, "target of file %s not specified in new-file mode", from);
            return 1;
        }
        convert_file(&c, from, to);
    }
    if (!any)
        convert_input(&c);
    return c.status;
}

static int dos2unix_main(Proc *p, Args *args) { return run(p, args, false); }
static int unix2dos_main(Proc *p, Args *args) { return run(p, args, true); }

COMMAND(dos2unix, "dos2unix [options] [file ...] [-n infile outfile ...]", "Convert text files with DOS line breaks to Unix format.", options, COMMAND_WRITES | COMMAND_ORDERED, .package = "dos2unix 7.4.3");
COMMAND(unix2dos, "unix2dos [options] [file ...] [-n infile outfile ...]", "Convert text files with Unix line breaks to DOS format.", options, COMMAND_WRITES | COMMAND_ORDERED, .package = "dos2unix 7.4.3");

/* dos2unix, unix2dos: DOS/Mac to Unix and vice versa text file format converter. dos2unix 7.4.3, without the DOS code pages. */
#include <sys/stat.h>

#include "command.h"

static const Option options[] = {
    {'b', "keep-bom", OPT_FLAG, "keep Byte Order Mark", NULL, 0},
    {'c', "convmode", OPT_VALUE, "conversion mode: ascii or mac", "CONVMODE", 0},
    {'e', "add-eol", OPT_FLAG, "add a line break to the last line if there isn't one", NULL, 0},
    {'f', "force", OPT_FLAG, "force conversion of binary files", NULL, 0},
    {'h', NULL, OPT_FLAG, "display this help text", NULL, 0},
    {'k', "keepdate", OPT_FLAG, "keep output file date", NULL, 0},
    {'l', "newline", OPT_FLAG, "add additional newline", NULL, 0},
    {'m', "add-bom", OPT_FLAG, "add Byte Order Mark (default UTF-8)", NULL, 0},
    {'n', "newfile", OPT_FLAG, "write to new file", NULL, 0},
    {'o', "oldfile", OPT_FLAG, "write to old file (default)", NULL, 0},
    {'q', "quiet", OPT_FLAG, "quiet mode, suppress all warnings", NULL, 0},
    {'r', "remove-bom", OPT_FLAG, "remove Byte Order Mark", NULL, 0},
    {'s', "safe", OPT_FLAG, "skip binary files (default)", NULL, 0},
    {'V', NULL, OPT_FLAG, "display version number", NULL, 0},
    OPTIONS_END,
};

typedef struct {
    Proc *p;
    bool to_dos, mac, force, keep_date, extra_line, new_file, quiet, add_end;
    int bom; /* 0: as usual; 'b' keep, 'm' add, 'r' remove */
    int status;
} Convert;

static bool is_binary(Convert *c, Slice s)
{
    size_t line = 1;
    for (size_t i = 0; i < s.len && !c->force; i++) {
        unsigned char b = (unsigned char)s.data[i];
        line += b == '\n';
        if (b < 32 && b != '\n' && b != '\r' && b != '\t' && b != '\f' && b != 26 && b != 27 && !(b >= 7 && b <= 8)) {
            if (!c->quiet)
                warn(c->p, "Binary symbol 0x%02X found at line %zu", b, line);
            return true;
        }
    }
    return false;
}

static void put_break(Convert *c, Buf *out)
{
    for (int i = 0; i < (c->extra_line ? 2 : 1); i++)
        buf_append(out, slice_str(c->to_dos ? (c->mac ? "\r" : "\r\n") : "\n"));
}

static Buf converted(Convert *c, Slice s)
{
    Buf out;
    bool mark = slice_starts(s, SLICE("\xEF\xBB\xBF"));
    buf_init(&out, &c->p->keep, BUF_MAX);
    buf_append(&out, (Slice){"", 0});
    if (mark)
        s = slice_from(s, 3);
    if (c->bom == 'm' || (mark && (c->bom == 'b' || (c->to_dos && c->bom != 'r'))))
        buf_append(&out, SLICE("\xEF\xBB\xBF"));
    for (size_t i = 0; i < s.len; i++) {
        char b = s.data[i], next = i + 1 < s.len ? s.data[i + 1] : 0;
        if (c->to_dos && b == '\n' && !(i && s.data[i - 1] == '\r'))
            put_break(c, &out);
        else if (!c->to_dos && c->mac && b == '\r' && next != '\n')
            put_break(c, &out);
        else if (!c->to_dos && !c->mac && b == '\r' && next == '\n')
            put_break(c, &out), i++;
        else
            buf_char(&out, b);
    }
    if (c->add_end && s.len && s.data[s.len - 1] != '\n')
        put_break(c, &out);
    proc_tick(c->p, 1 + s.len / 64);
    return out;
}

static void convert_file(Convert *c, const char *from, const char *to)
{
    Proc *p = c->p;
    VStat st;
    Slice all;
    int r = proc_stat(p, from, 0, &st);
    if (r) {
        if (!c->quiet)
            warn_errno(p, r, "%s", from);
        c->status = -r;
    }
    if (r || !S_ISREG(st.mode)) {
        if (!c->quiet)
            warn(p, "Skipping %s, not a regular file.", from);
        return;
    }
    if ((r = read_file(p, from, &all))) {
        warn_errno(p, r, "%s", from);
        c->status = -r;
        return;
    }
    if (is_binary(c, all)) {
        if (!c->quiet)
            warn(p, "Skipping binary file %s", from);
        return;
    }
    Buf out = converted(c, all);
    int fd = proc_open(p, to, V_WRITE | V_CREATE | V_TRUNC, st.mode & 0777);
    if (fd < 0) {
        warn_errno(p, fd, "%s", to);
        c->status = -fd;
        return;
    }
    proc_write(p, fd, buf_slice(&out));
    if (c->keep_date)
        proc_futimes(p, fd, (VTime){st.atime, st.atime_ns, VTIME_SET}, (VTime){st.mtime, st.mtime_ns, VTIME_SET});
    proc_close(p, fd);
    const char *format = c->to_dos ? (c->mac ? "Mac" : "DOS") : "Unix";
    if (!c->quiet && from != to)
        warn(p, "converting file %s to file %s in %s format...", from, to, format);
    else if (!c->quiet)
        warn(p, "converting file %s to %s format...", from, format);
}

static bool set_option(Convert *c, Args *args, int id)
{
    switch (id) {
    case 'b': case 'm': case 'r': c->bom = id; break;
    case 'c': c->mac = strcmp(args->value, "mac") == 0 || strcmp(args->value, "Mac") == 0; break;
    case 'e': c->add_end = true; break;
    case 'f': c->force = true; break;
    case 'k': c->keep_date = true; break;
    case 'l': c->extra_line = true; break;
    case 'n': c->new_file = true; break;
    case 'o': c->new_file = false; break;
    case 'q': c->quiet = true; break;
    case 'h': print_help(c->p, args->command); return false;
    case 'V': out_printf(c->p->out, "%s (libshell) 0.1.0\n", args->command->name); return false;
    default: break;
    }
    return true;
}

static int run(Proc *p, Args *args, bool to_dos)
{
    Convert c = {.p = p, .to_dos = to_dos};
    for (int id; (id = args_next(p, args)) != -1;)
        if (!set_option(&c, args, id))
            return 0;
    int n;
    char **v = args_operands(args, &n);
    if (!n) {
        Slice all = read_all(p, 0);
        if (!is_binary(&c, all)) {
            Buf out = converted(&c, all);
            out_write(p->out, buf_slice(&out));
        }
        return 0;
    }
    for (int i = 0; i < n; i += c.new_file ? 2 : 1) {
        if (c.new_file && i + 1 == n) {
            warn(p, "target of file %s not specified in new-file mode", v[i]);
            return 1;
        }
        convert_file(&c, v[i], c.new_file ? v[i + 1] : v[i]);
    }
    return c.status;
}

static int dos2unix_main(Proc *p, Args *args) { return run(p, args, false); }
static int unix2dos_main(Proc *p, Args *args) { return run(p, args, true); }

COMMAND(dos2unix, "dos2unix [options] [file ...] [-n infile outfile ...]", "Convert text files with DOS line breaks to Unix format.", options, COMMAND_WRITES, .package = "dos2unix 7.4.3");
COMMAND(unix2dos, "unix2dos [options] [file ...] [-n infile outfile ...]", "Convert text files with Unix line breaks to DOS format.", options, COMMAND_WRITES, .package = "dos2unix 7.4.3");

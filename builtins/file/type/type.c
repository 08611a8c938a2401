/* file: determine file type. file 5.44: the formats that are known are told in its words; -m, -C and -c have nothing to read. */
#include "type.h"

enum { MIME_TYPE = 256, MIME_ENCODING, APPLE, EXTENSION, EXCLUDE_QUIET, READ_MOST = 1 << 20, ELF_MOST = 64 << 20 };

static const Option options[] = {
    OPTION_VERSION('v'),
    {'m', "magic-file", OPT_VALUE, "LIST is ignored: the formats are built in", "LIST", 0},
    {'z', "uncompress", OPT_FLAG, "try to look inside compressed files", NULL, 0},
    {'Z', "uncompress-noreport", OPT_FLAG, "only print the contents of compressed files", NULL, 0},
    {'b', "brief", OPT_FLAG, "do not prepend filenames to output lines", NULL, 0},
    {'c', "checking-printout", OPT_FLAG, NULL, NULL, 0},
    {'e', "exclude", OPT_VALUE, "exclude TEST from the list of tests to be performed", "TEST", 0},
    {0, "exclude-quiet", OPT_VALUE, "like exclude, but ignore unknown tests", "TEST", EXCLUDE_QUIET},
    {'f', "files-from", OPT_VALUE, "read the filenames to be examined from FILE", "FILE", 0},
    {'F', "separator", OPT_VALUE, "use string as separator instead of `:'", "STRING", 0},
    {'i', "mime", OPT_FLAG, "output MIME type strings (--mime-type and --mime-encoding)", NULL, 0},
    {0, "apple", OPT_FLAG, "output the Apple CREATOR/TYPE", NULL, APPLE},
    {0, "extension", OPT_FLAG, "output a slash-separated list of extensions", NULL, EXTENSION},
    {0, "mime-type", OPT_FLAG, "output the MIME type", NULL, MIME_TYPE},
    {0, "mime-encoding", OPT_FLAG, "output the MIME encoding", NULL, MIME_ENCODING},
    {'k', "keep-going", OPT_FLAG, "don't stop at the first match", NULL, 0},
    {'l', "list", OPT_FLAG, NULL, NULL, 0},
    {'L', "dereference", OPT_FLAG, "follow symlinks (default if POSIXLY_CORRECT is set)", NULL, 0},
    {'h', "no-dereference", OPT_FLAG, "don't follow symlinks (default)", NULL, 0},
    {'n', "no-buffer", OPT_FLAG, "do not buffer output", NULL, 0},
    {'N', "no-pad", OPT_FLAG, "do not pad output", NULL, 0},
    {'0', "print0", OPT_FLAG, "terminate filenames with ASCII NUL", NULL, 0},
    {'p', "preserve-date", OPT_FLAG, "preserve access times on files", NULL, 0},
    {'P', "parameter", OPT_VALUE, "set file engine parameter limits", "NAME=VALUE", 0},
    {'r', "raw", OPT_FLAG, "don't translate unprintable chars to \\ooo", NULL, 0},
    {'s', "special-files", OPT_FLAG, "treat special (block/char devices) files as ordinary ones", NULL, 0},
    {'S', "no-sandbox", OPT_FLAG, "disable system call sandboxing (there is none)", NULL, 0},
    {'E', NULL, OPT_FLAG, "on file system errors, print them and exit", NULL, 0},
    {'C', "compile", OPT_FLAG, NULL, NULL, 0},
    {'d', "debug", OPT_FLAG, NULL, NULL, 0},
    OPTIONS_END,
};

typedef struct {
    Proc *p;
    bool brief, mime_type, mime_encoding, apple, extension, keep_going, follow, no_pad, special, errors, raw;
    int nul;               /* times -0 was given */
    const char *separator;
    unsigned skip;
    size_t width;
    int status;
} FileType;

/* ---------- what the bytes are ---------- */

static bool is_known(FileType *f, const Bytes *b, Kind *k, bool text)
{
    Proc *p = f->p;
    if (!(f->skip & SKIP_TAR) && kind_tar(b, k))
        return true;
    if (!(f->skip & SKIP_JSON) && text && kind_json(p, b, k))
        return true;
    if (!(f->skip & SKIP_CSV) && text && kind_csv(b, k))
        return true;
    if ((!(f->skip & SKIP_SOFT) && (kind_binary(p, b, k) || kind_media(p, b, k))) || (!(f->skip & SKIP_ELF) && kind_elf(p, b, k))) {
        k->whole = true;
        return true;
    }
    return !(f->skip & SKIP_SOFT) && text && kind_language(p, b, k);
}

static const char *charset(FileType *f, const Encoding *e)
{
    return e->name && !(f->skip & (SKIP_ENCODING | SKIP_TEXT)) ? e->mime : "binary";
}

static void print_mime(FileType *f, const char *type, const char *encoding)
{
    Output *out = f->p->out;
    if (f->mime_type)
        out_str(out, type);
    if (f->mime_type && f->mime_encoding && encoding)
        out_str(out, "; charset=");
    if (f->mime_encoding && encoding)
        out_str(out, encoding);
}

static void print_raw(FileType *f, Slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.data[i];
        if (!f->raw && (c < 0x20 || c == 0x7F))
            out_printf(f->p->out, "\\%03o", c);
        else
            out_char(f->p->out, (char)c);
    }
}

static void print_bytes(FileType *f, const Bytes *b)
{
    Output *out = f->p->out;
    Kind k = {.mime = NULL};
    buf_init(&k.text, &f->p->mem, 1 << 16);
    Encoding e = text_encoding(b);
    bool text = e.name && !(f->skip & SKIP_TEXT), known = b->len && is_known(f, b, &k, text);
    if (f->mime_type || f->mime_encoding) {
        const char *type = k.mime ? k.mime : b->len == 0 ? "inode/x-empty" : text && b->len > 1 ? "text/plain" : "application/octet-stream";
        print_mime(f, type, charset(f, b->len > 1 ? &e : &(Encoding){0}));
    } else if (f->extension) {
        out_str(out, k.extensions ? k.extensions : "???");
    } else if (f->apple) {
        out_str(out, "UNKNUNKN");
    } else if (b->len == 0) {
        out_str(out, "empty");
    } else if (b->len == 1 && !known) {
        out_str(out, "very short file (no magic)");
    } else {
        if (text && !k.whole && !(f->skip & SKIP_ASCII))
            describe_text(b, &e, &k);
        else if (!known)
            buf_append(&k.text, SLICE("data"));
        print_raw(f, buf_slice(&k.text));
    }
}

static void read_bytes(FileType *f, int fd, const VStat *st)
{
    Buf all;
    Slice chunk;
    buf_init(&all, &f->p->mem, BUF_MAX);
    size_t most = READ_MOST;
    while (all.len < most && proc_read_chunk(f->p, fd, most - all.len, &chunk, NULL) > 0) {
        buf_append(&all, chunk);
        if (all.len >= 4 && memcmp(all.data, "\x7F" "ELF", 4) == 0)
            most = ELF_MOST; /* its tables lie at the end */
    }
    Bytes b = {(const unsigned char *)all.data, all.len, st->size, S_ISREG(st->mode)};
    print_bytes(f, &b);
}

/* ---------- files ---------- */

static void inode_text(FileType *f, const char *type, const char *encoding, const char *format, const char *detail)
{
    if (f->mime_type || f->mime_encoding)
        print_mime(f, type, encoding);
    else
        out_printf(f->p->out, "%s%s", format, detail);
}

static void print_mode_bits(FileType *f, const VStat *st)
{
    if (f->mime_type || f->mime_encoding)
        return;
    if (st->mode & 04000)
        out_str(f->p->out, "setuid, ");
    if (st->mode & 02000)
        out_str(f->p->out, "setgid, ");
    if (st->mode & 01000)
        out_str(f->p->out, "sticky, ");
}

static void print_link(FileType *f, const char *path)
{
    Slice target;
    VStat st;
    if (proc_readlink(f->p, path, &target) != 0)
        return;
    const char *text = mem_copy(&f->p->mem, target);
    bool broken = proc_stat(f->p, path, 0, &st) != 0;
    inode_text(f, "inode/symlink", broken ? NULL : "binary", broken ? "broken symbolic link to " : "symbolic link to ", text);
}

static bool print_special(FileType *f, const char *path, const VStat *st)
{
    unsigned major, minor;
    if (S_ISLNK(st->mode)) {
        print_link(f, path);
    } else if (S_ISDIR(st->mode)) {
        print_mode_bits(f, st);
        inode_text(f, "inode/directory", "binary", "directory", "");
    } else if (S_ISFIFO(st->mode)) {
        inode_text(f, "inode/fifo", "binary", "fifo (named pipe)", "");
    } else if (S_ISCHR(st->mode) && !f->special) {
        device_numbers(st->rdev, &major, &minor);
        inode_text(f, "inode/chardevice", "binary", "character special", mem_printf(&f->p->mem, " (%u/%u)", major, minor));
    } else {
        return false;
    }
    return true;
}

static void print_name(FileType *f, const char *name)
{
    Output *out = f->p->out;
    if (f->brief)
        return;
    out_str(out, name);
    if (f->nul)
        out_char(out, 0);
    if (f->nul > 1)
        return;
    out_str(out, f->separator);
    size_t w = display_width(slice_str(name), locale_utf8(f->p));
    out_pad(out, 1 + (f->no_pad || w > f->width ? 0 : f->width - w), ' ');
}

static void cannot(FileType *f, const char *what, const char *name, int error)
{
    if (f->errors) {
        out_printf(f->p->out, "ERROR: %s `%s' (%s)\n", what, name, error_text(error));
        proc_fail(f->p, 1);
    }
    out_printf(f->p->out, "cannot open `%s' (%s)", name, error_text(error));
}

static void examine(FileType *f, const char *name)
{
    Proc *p = f->p;
    MemMark mark = mem_mark(&p->mem);
    VStat st;
    bool standard = strcmp(name, "-") == 0;
    print_name(f, standard ? "/dev/stdin" : name);
    int r = standard ? proc_fstat(p, 0, &st) : proc_stat(p, name, f->follow ? 0 : V_NOFOLLOW, &st);
    if (r) {
        cannot(f, "cannot stat", name, r);
    } else if (standard || !print_special(f, name, &st)) {
        int fd = standard ? 0 : proc_open(p, name, V_READ, 0);
        if (fd == -EACCES) {
            static const char *const kinds[] = {"regular file, no read permission", "executable, regular file, no read permission"};
            inode_text(f, "application/octet-stream", NULL, kinds[(st.mode & 0111) != 0], "");
        } else if (fd < 0) {
            cannot(f, "cannot open", name, fd);
        } else {
            print_mode_bits(f, &st);
            read_bytes(f, fd, &st);
            if (!standard)
                proc_close(p, fd);
        }
    }
    out_char(p->out, f->nul > 1 ? 0 : '\n');
    mem_reset(&p->mem, mark);
}

static void examine_list(FileType *f, char *file)
{
    Input in = input_files(f->p, &file, 1);
    Slice line;
    bool ended;
    if (!input_open(&in))
        proc_fail(f->p, 1);
    Buf all;
    buf_init(&all, &f->p->keep, BUF_MAX);
    while (input_record(&in, &line, &ended)) {
        buf_append(&all, line);
        buf_char(&all, 0);
        f->width = MAX(f->width, display_width(line, locale_utf8(f->p)));
    }
    for (size_t i = 0; i < all.len; i += strlen(all.data + i) + 1)
        examine(f, all.data + i);
}

/* ---------- options ---------- */

static bool exclude(FileType *f, const char *test)
{
    static const struct { const char *name; unsigned bit; } tests[] = {
        {"apptype", 0}, {"ascii", SKIP_ASCII | SKIP_TEXT}, {"cdf", 0}, {"compress", SKIP_COMPRESS}, {"csv", SKIP_CSV}, {"elf", SKIP_ELF}, {"encoding", SKIP_ENCODING},
        {"soft", SKIP_SOFT}, {"tar", SKIP_TAR}, {"json", SKIP_JSON}, {"text", SKIP_TEXT}, {"tokens", 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(tests); i++)
        if (strcmp(tests[i].name, test) == 0) {
            f->skip |= tests[i].bit;
            return true;
        }
    return false;
}

static NORETURN void usage(Proc *p)
{
    out_str(p->err, "Usage: file [-bcCdEhikLlNnprsSvzZ0] [--apple] [--extension] [--mime-encoding]\n"
                    "            [--mime-type] [-e <testname>] [-F <separator>]  [-f <namefile>]\n"
                    "            [-m <magicfiles>] [-P <parameter=value>] [--exclude-quiet]\n"
                    "            <file> ...\n       file -C [-m <magicfiles>]\n       file [--help]\n");
    output_flush(p->err);
    proc_fail(p, 1);
}

static void set_option(FileType *f, const Args *args, int id)
{
    switch (id) {
    case 'b': f->brief = true; break;
    case 'i': f->mime_type = f->mime_encoding = true; break;
    case MIME_TYPE: f->mime_type = true; break;
    case MIME_ENCODING: f->mime_encoding = true; break;
    case APPLE: f->apple = true; break;
    case EXTENSION: f->extension = true; break;
    case 'k': f->keep_going = true; break;
    case 'L': f->follow = true; break;
    case 'h': f->follow = false; break;
    case 'N': f->no_pad = true; break;
    case '0': f->nul++; break;
    case 'r': f->raw = true; break;
    case 's': f->special = true; break;
    case 'E': f->errors = true; break;
    case 'F': f->separator = args->value; break;
    case 'e': if (!exclude(f, args->value)) usage(f->p); break;
    case EXCLUDE_QUIET: exclude(f, args->value); break;
    case 'C': case 'c': case 'l': case 'd': usage(f->p);
    default: break;
    }
}

static int file_type_main(Proc *p, Args *args)
{
    FileType f = {.p = p, .separator = ":", .follow = proc_getenv(p, "POSIXLY_CORRECT") != NULL};
    char *list = NULL;
    for (int id; (id = args_next(p, args)) != -1;) {
        if (id == 'f')
            list = args->value;
        else
            set_option(&f, args, id);
    }
    int n;
    char **names = args_operands(args, &n);
    if (!n && !list)
        usage(p);
    if (list)
        examine_list(&f, list);
    for (int i = 0; i < n; i++)
        f.width = MAX(f.width, display_width(slice_str(names[i]), locale_utf8(p)));
    for (int i = 0; i < n; i++)
        examine(&f, names[i]);
    return f.status;
}

COMMAND_NAMED(file_type, "file", "file [OPTION...] [FILE...]", "Determine type of FILEs.", options, COMMAND_PURE, .package = "file 5.44");

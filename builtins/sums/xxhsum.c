/* xxhsum: print or check xxHash checksums. xxhsum 0.8.1, whose lines of progress (a return and blanks on stderr) are kept: they are part of
 * what it prints. Its benchmark is not there. */
#include <stdarg.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "sums.h"

static const Option options[] = {
    {'H', NULL, OPT_VALUE, "algorithm selection: 0,1,2,3 or 32,64,128 (default: 1)", "#", 0},
    {'c', "check", OPT_FLAG, "read xxHash checksum from [files] and check them", NULL, 0},
    {'h', "help", OPT_FLAG, "display a help page", NULL, 0},
    {'V', "version", OPT_FLAG, "display version information", NULL, 0},
    {0, "tag", OPT_FLAG, "produce BSD-style checksum lines", NULL, 256},
    {0, "little-endian", OPT_FLAG, "checksum values use little endian convention (default: big endian)", NULL, 257},
    {'q', "quiet", OPT_FLAG, "don't print OK for each successfully verified file", NULL, 0},
    {0, "status", OPT_FLAG, "don't output anything, status code shows success", NULL, 258},
    {0, "strict", OPT_FLAG, "exit non-zero for improperly formatted checksum lines", NULL, 259},
    {0, "warn", OPT_FLAG, "warn about improperly formatted checksum lines", NULL, 260},
    OPTIONS_END,
};

typedef enum { XX32, XX64, XX128, XX3 } Algorithm;
static const struct { const char *tag; size_t bytes; } algorithms[] = {{"XXH32", 4}, {"XXH64", 8}, {"XXH128", 16}, {"XXH3", 8}};

typedef struct {
    Proc *p;
    Algorithm algorithm;
    bool check, tag, little, quiet, status, strict, warn_lines;
    XXH32_state_t *s32;
    XXH64_state_t *s64;
    XXH3_state_t *s3;
} Xx;

static void say(Xx *x, const char *format, ...) PRINTF_LIKE(2, 3);
static void say(Xx *x, const char *format, ...)
{
    char text[512];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    output_flush(x->p->out);
    out_str(x->p->err, text);
    output_flush(x->p->err);
}

static void blank(Xx *x) { say(x, "\r%70s\r", ""); }

static void begin(Xx *x, Algorithm a)
{
    if (a == XX32)
        XXH32_reset(x->s32, 0);
    else if (a == XX64)
        XXH64_reset(x->s64, 0);
    else if (a == XX3)
        XXH3_64bits_reset(x->s3);
    else
        XXH3_128bits_reset(x->s3);
}

static void update(Xx *x, Algorithm a, Slice data)
{
    if (a == XX32)
        XXH32_update(x->s32, data.data, data.len);
    else if (a == XX64)
        XXH64_update(x->s64, data.data, data.len);
    else if (a == XX3)
        XXH3_64bits_update(x->s3, data.data, data.len);
    else
        XXH3_128bits_update(x->s3, data.data, data.len);
}

static void put_big(unsigned char *out, uint64_t v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (unsigned char)(v >> 8 * (n - 1 - i));
}

static void finish(Xx *x, Algorithm a, unsigned char out[16])
{
    if (a == XX32) {
        put_big(out, XXH32_digest(x->s32), 4);
    } else if (a == XX128) {
        XXH128_hash_t h = XXH3_128bits_digest(x->s3);
        put_big(out, h.high64, 8);
        put_big(out + 8, h.low64, 8);
    } else {
        put_big(out, a == XX64 ? XXH64_digest(x->s64) : XXH3_64bits_digest(x->s3), 8);
    }
}

/* 0 or -errno; *opened tells at which step. */
static int hash_file(Xx *x, Algorithm a, const char *name, bool *opened, unsigned char out[16])
{
    Proc *p = x->p;
    bool is_stdin = strcmp(name, "stdin") == 0;
    int fd = is_stdin ? 0 : proc_open(p, name, V_READ, 0);
    Slice chunk;
    ssize_t n;
    VStat st;
    *opened = fd >= 0;
    if (fd < 0)
        return fd;
    if (!is_stdin && proc_fstat(p, fd, &st) == 0 && (st.mode & 0170000) == 0040000) {
        proc_close(p, fd);
        return -EISDIR;
    }
    begin(x, a);
    while ((n = proc_read_chunk(p, fd, 1 << 18, &chunk, NULL)) > 0) {
        update(x, a, chunk);
        proc_tick(p, 1 + chunk.len / 256);
    }
    finish(x, a, out);
    if (!is_stdin)
        proc_close(p, fd);
    return n < 0 ? (int)n : 0;
}

static int print_file(Xx *x, const char *name)
{
    unsigned char sum[16];
    bool opened;
    int err = hash_file(x, x->algorithm, name, &opened, sum);
    size_t bytes = algorithms[x->algorithm].bytes;
    if (err == -EISDIR)
        say(x, "xxhsum: %s: Is a directory \n", name);
    else if (err)
        say(x, "Error: Could not open '%s': %s. \n", name, error_text(-err));
    blank(x);
    if (err)
        return 1;
    Output *out = x->p->out;
    bool tag = x->tag || x->algorithm == XX3; /* without it the line would read as XXH64's */
    if (tag)
        out_printf(out, "%s%s (%s) = ", algorithms[x->algorithm].tag, x->little ? "_LE" : "", name);
    for (size_t i = 0; i < bytes; i++)
        out_printf(out, "%02x", sum[x->little ? bytes - 1 - i : i]);
    if (!tag)
        out_printf(out, "  %s", name);
    out_char(out, '\n');
    return 0;
}

/* ---------- lists ---------- */

typedef struct {
    Algorithm algorithm;
    bool little;
    const char *name;
    unsigned char sum[16];
} Line;

static bool read_hex(const char *s, size_t digits, unsigned char out[16])
{
    for (size_t i = 0; i < digits; i++) {
        char c = (char)(s[i] | 32);
        int v = s[i] >= '0' && s[i] <= '9' ? s[i] - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (v < 0)
            return false;
        out[i / 2] = (unsigned char)(i % 2 ? out[i / 2] | v : v << 4);
    }
    return true;
}

static bool parse_tagged(char *s, Line *line)
{
    char *open = strstr(s, " ("), *close = strstr(s, ") = ");
    if (!open || !close || close < open)
        return false;
    *open = *close = 0;
    char *little = strstr(s, "_LE");
    line->little = little && !little[3];
    if (line->little)
        *little = 0;
    line->name = open + 2;
    for (size_t i = 0; i < ARRAY_LEN(algorithms); i++)
        if (strcmp(s, algorithms[i].tag) == 0) {
            line->algorithm = (Algorithm)i;
            return strlen(close + 4) == algorithms[i].bytes * 2 && read_hex(close + 4, algorithms[i].bytes * 2, line->sum);
        }
    return false;
}

/* Without a tag the length tells: 8, 16 or 32 digits, a blank, a blank or a star, the name. */
static bool parse_line(Xx *x, char *s, Line *line)
{
    if (strncmp(s, "XXH", 3) == 0)
        return parse_tagged(s, line);
    size_t digits = strcspn(s, " ");
    line->algorithm = digits == 8 ? XX32 : digits == 16 ? XX64 : XX128;
    line->little = x->little;
    if ((digits != 8 && digits != 16 && digits != 32) || !read_hex(s, digits, line->sum) || !s[digits])
        return false;
    line->name = s + digits + 1 + (s[digits + 1] != 0);
    return true;
}

typedef struct { uint64_t proper, malformed, unreadable, mismatched; } Counts;

static void verify(Xx *x, const Line *line, const char *list, uint64_t number, Counts *counts)
{
    unsigned char sum[16];
    bool opened;
    size_t bytes = algorithms[line->algorithm].bytes;
    if (hash_file(x, line->algorithm, line->name, &opened, sum)) {
        counts->unreadable++;
        if (!x->status)
            out_printf(x->p->out, "%s:%llu: Could not open or read '%s': %s.\n", list, (unsigned long long)number, line->name, error_text(ENOENT));
        return;
    }
    bool same = true;
    for (size_t i = 0; i < bytes; i++)
        same &= sum[i] == line->sum[line->little ? bytes - 1 - i : i];
    counts->mismatched += !same;
    if (!x->status && !(same && x->quiet))
        out_printf(x->p->out, "%s: %s\n", line->name, same ? "OK" : "FAILED");
}

static int check_result(Xx *x, const char *list, const Counts *n)
{
    Output *out = x->p->out;
    if (!n->proper) {
        say(x, "%s: no properly formatted xxHash checksum lines found\n", list);
        return 1;
    }
    if (!x->status) {
        if (n->malformed)
            out_printf(out, "%llu %s improperly formatted\n", (unsigned long long)n->malformed, n->malformed == 1 ? "line is" : "lines are");
        if (n->unreadable)
            out_printf(out, "%llu listed %s could not be read\n", (unsigned long long)n->unreadable, n->unreadable == 1 ? "file" : "files");
        if (n->mismatched)
            out_printf(out, "%llu computed %s did NOT match\n", (unsigned long long)n->mismatched, n->mismatched == 1 ? "checksum" : "checksums");
    }
    return n->mismatched || n->unreadable || (x->strict && n->malformed);
}

static int check_list(Xx *x, const char *name)
{
    Proc *p = x->p;
    int fd = strcmp(name, "stdin") == 0 ? 0 : proc_open(p, name, V_READ, 0);
    Counts counts = {0};
    if (fd < 0) {
        say(x, "Error: Could not open '%s': %s\n", name, error_text(-fd));
        return 1;
    }
    Input in = input_fd(p, fd, name);
    in.read_format = "%s";
    Slice record;
    bool ended;
    in.window = (Slice){"", 0};
    VStat st;
    bool directory = fd && proc_fstat(p, fd, &st) == 0 && (st.mode & 0170000) == 0040000;
    in.count = 1;
    for (uint64_t number = 1; !directory && input_record(&in, &record, &ended); number++) {
        MemMark mark = mem_mark(&p->mem);
        Line line;
        if (record.len && record.data[record.len - 1] == '\r')
            record.len--;
        if (record.len == 0 || record.data[0] != '#') {
            if (parse_line(x, mem_copy(&p->mem, record), &line)) {
                counts.proper++;
                verify(x, &line, name, number, &counts);
            } else {
                counts.malformed++;
                if (x->warn_lines)
                    say(x, "%s:%llu: Error: Improperly formatted checksum line.\n", name, (unsigned long long)number);
            }
        }
        mem_reset(&p->mem, mark);
        proc_tick(p, 1);
    }
    if (fd)
        proc_close(p, fd);
    return check_result(x, name, &counts);
}

static const char usage_text[] = "xxhsum 0.8.1 by Yann Collet \n"
                                 "Print or verify checksums using fast non-cryptographic algorithm xxHash \n\n"
                                 "Usage: xxhsum [options] [files] \n\n"
                                 "When no filename provided or when '-' is provided, uses stdin as input. \n"
                                 "Options: \n"
                                 "  -H#         algorithm selection: 0,1,2,3 or 32,64,128 (default: 1) \n"
                                 "  -c, --check read xxHash checksum from [files] and check them \n"
                                 "  -h, --help  display a long help page about advanced options \n";

static NORETURN void wrong(Xx *x)
{
    say(x, "Wrong parameters\n\n%s", usage_text);
    proc_fail(x->p, 1);
}

static void set_algorithm(Xx *x, const char *digits)
{
    static const struct { const char *name; Algorithm a; } names[] = {{"0", XX32}, {"32", XX32}, {"1", XX64}, {"64", XX64}, {"2", XX128}, {"128", XX128}, {"3", XX3}};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (strcmp(names[i].name, digits) == 0) {
            x->algorithm = names[i].a;
            return;
        }
    wrong(x);
}

static void short_options(Xx *x, Args *args, const char *s)
{
    for (; *s; s++) {
        switch (*s) {
        case 'c': x->check = true; break;
        case 'q': x->quiet = true; break;
        case 'h': print_help(x->p, args->command); proc_fail(x->p, 0);
        case 'V': say(x, "xxhsum 0.8.1 by Yann Collet \n"); proc_fail(x->p, 0);
        case 'H': {
            char digits[5] = "";
            size_t n = strspn(s + 1, "0123456789");
            memcpy(digits, s + 1, MIN(n, sizeof digits - 1));
            set_algorithm(x, digits);
            s += n;
            break;
        }
        default: wrong(x);
        }
    }
}

/* Options end at the first operand. */
static int parse(Xx *x, Args *args)
{
    int i = 1;
    for (; i < args->argc && args->argv[i][0] == '-' && args->argv[i][1]; i++) {
        const char *s = args->argv[i];
        if (s[1] != '-') {
            short_options(x, args, s + 1);
            continue;
        }
        if (!s[2])
            return i + 1;
        const Option *o = options;
        while (o->letter || o->name) {
            if (o->name && strcmp(o->name, s + 2) == 0)
                break;
            o++;
        }
        char letter[2] = {o->letter, 0};
        if (!o->name || o->letter == 'H')
            wrong(x);
        if (o->letter)
            short_options(x, args, letter);
        x->tag |= o->id == 256;
        x->little |= o->id == 257;
        x->status |= o->id == 258;
        x->strict |= o->id == 259;
        x->warn_lines |= o->id == 260;
    }
    return i;
}

static int xxhsum_main(Proc *p, Args *args)
{
    static char standard[] = "stdin";
    Xx x = {.p = p, .algorithm = XX64};
    x.s32 = mem_alloc(&p->keep, sizeof *x.s32);
    x.s64 = mem_alloc(&p->keep, sizeof *x.s64);
    char *room = mem_alloc(&p->keep, sizeof *x.s3 + 64); /* this state is aligned to 64 */
    x.s3 = (XXH3_state_t *)(void *)(room + (64 - ((uintptr_t)room & 63)));
    int at = parse(&x, args), status = 0;
    int n = args->argc - at;
    char *only[] = {standard};
    char **names = n ? args->argv + at : only;
    if (n == 1 && strcmp(names[0], "-") == 0)
        names = only;
    for (int i = 0; i < (n ? n : 1); i++)
        status |= x.check ? check_list(&x, names[i]) : print_file(&x, names[i]);
    return status;
}

COMMAND(xxhsum, "xxhsum [OPTION]... [FILE]...", "Print or check xxHash checksums.", options, COMMAND_PURE | COMMAND_RAW, .package = "xxHash 0.8.1",
        .notes = "The benchmark (-b, -i) is not there.");

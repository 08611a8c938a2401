/* check: printing digests of files, and verifying lists of them. */
#include "sums.h"

bool sum_escapes(const char *name) { return name[strcspn(name, "\\\n\r")] != 0; }

void sum_print_name(Output *out, const char *name, bool escape)
{
    for (; *name; name++) {
        if (escape && *name == '\n')
            out_str(out, "\\n");
        else if (escape && *name == '\r')
            out_str(out, "\\r");
        else if (escape && *name == '\\')
            out_str(out, "\\\\");
        else
            out_char(out, *name);
    }
}

static void print_hex(Output *out, const unsigned char *digest, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        out_char(out, "0123456789abcdef"[digest[i] >> 4]);
        out_char(out, "0123456789abcdef"[digest[i] & 15]);
    }
}

void sum_print(SumOptions *o, const char *name, const unsigned char *digest)
{
    Output *out = o->p->out;
    bool escape = !o->zero && sum_escapes(name);
    if (escape)
        out_char(out, '\\');
    if (o->tag) {
        out_str(out, o->type->tag);
        if (o->bytes != o->type->bytes)
            out_printf(out, "-%zu", o->bytes * 8);
        out_str(out, " (");
        sum_print_name(out, name, escape);
        out_str(out, ") = ");
    }
    print_hex(out, digest, o->bytes);
    if (!o->tag) {
        out_str(out, o->binary == 1 ? " *" : "  ");
        sum_print_name(out, name, escape);
    }
    out_char(out, o->zero ? 0 : '\n');
}

static Sum *sum_for(SumOptions *o)
{
    if (!o->sum || o->sum_type != o->type || o->sum_bytes != o->bytes) {
        o->sum = sum_new(o->p, o->type, o->bytes);
        o->sum_type = o->type;
        o->sum_bytes = o->bytes;
    }
    return o->sum;
}

int sum_file(SumOptions *o, const char *name, unsigned char out[SUM_MOST])
{
    Proc *p = o->p;
    bool is_stdin = strcmp(name, "-") == 0;
    int fd = is_stdin ? 0 : proc_open(p, name, V_READ, 0);
    if (fd == -ENOENT && o->ignore_missing)
        return SUM_MISSING;
    if (fd < 0) {
        warn_errno(p, fd, "%s", quotef(p, name));
        return SUM_FAILED;
    }
    Sum *sum = sum_for(o);
    Slice chunk;
    ssize_t n;
    while ((n = proc_read_chunk(p, fd, 1 << 18, &chunk, NULL)) > 0) {
        sum_update(sum, chunk);
        proc_tick(p, 1 + chunk.len / 128);
    }
    sum_final(sum, out);
    if (!is_stdin)
        proc_close(p, fd);
    if (n < 0)
        warn_errno(p, (int)n, "%s", quotef(p, name));
    return n < 0 ? SUM_FAILED : SUM_OK;
}

/* ---------- lists ---------- */

typedef struct {
    const char *digest;
    char *name;
} CheckLine;

typedef struct {
    SumOptions *o;
    const SumType *fixed; /* what the command or -a says */
    bool any_length;      /* b2sum: the line tells */
    int reversed;         /* -1 not known yet; 1: lines of `md5 -r`, with one space before the name */
    uint64_t malformed, unreadable, mismatched;
    bool proper, matched;
} Check;

static bool is_white(char c) { return c == ' ' || c == '\t'; }
static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 32);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static size_t hex_run(const char *s)
{
    size_t n = 0;
    while (hex_value(s[n]) >= 0)
        n++;
    return n;
}

/* \\ \n \r to what they stand for, in place; false for another escape, or a NUL. */
static bool unescape(char *s, size_t len)
{
    char *to = s;
    for (size_t i = 0; i < len; i++) {
        char c = s[i];
        if (c == 0)
            return false;
        if (c == '\\') {
            if (++i == len)
                return false;
            c = s[i] == 'n' ? '\n' : s[i] == 'r' ? '\r' : s[i] == '\\' ? '\\' : 0;
            if (!c)
                return false;
        }
        *to++ = c;
    }
    *to = 0;
    return true;
}

/* What follows "TAG (": name, then ") = digest". */
static bool split_tagged(Check *c, char *s, size_t len, bool escaped, CheckLine *line)
{
    size_t i = len;
    while (i && s[i - 1] != ')')
        i--;
    if (i == 0)
        return false;
    i--;
    line->name = s;
    if (escaped && !unescape(s, i))
        return false;
    s[i++] = 0;
    while (is_white(s[i]))
        i++;
    if (s[i] != '=')
        return false;
    i++;
    while (is_white(s[i]))
        i++;
    line->digest = s + i;
    return hex_run(s + i) == c->o->bytes * 2 && s[i + c->o->bytes * 2] == 0;
}

/* The tag's own length ("BLAKE2b-128"), or the whole. */
static bool tag_length(Check *c, char **at)
{
    SumOptions *o = c->o;
    o->bytes = o->type->bytes;
    if (o->type->kind != SUM_BLAKE2B || **at != '-')
        return true;
    size_t bits = 0;
    char *s = *at + 1;
    for (; *s >= '0' && *s <= '9' && bits < 10000; s++)
        bits = bits * 10 + (size_t)(*s - '0');
    *at = s;
    o->bytes = bits / 8;
    return bits && bits % 8 == 0 && bits <= SUM_MOST * 8;
}

static const SumType *tag_type(const char *s)
{
    size_t n = strcspn(s, " (-");
    for (const SumType *t = sum_types; t->name; t++)
        if (t->kind >= SUM_DIGEST && strlen(t->tag) == n && strncmp(t->tag, s, n) == 0)
            return t;
    return NULL;
}

static bool split_plain(Check *c, char *s, size_t len, bool escaped, CheckLine *line)
{
    SumOptions *o = c->o;
    size_t digits = hex_run(s);
    if (c->any_length)
        o->bytes = digits / 2;
    if (digits != o->bytes * 2 || digits < 2 || digits > 2 * SUM_MOST || len < digits + 2 || !is_white(s[digits]))
        return false;
    line->digest = s;
    size_t i = digits;
    s[i++] = 0;
    if (len - i == 1 || (s[i] != ' ' && s[i] != '*')) {
        if (c->reversed == 0)
            return false;
        c->reversed = 1;
    } else if (c->reversed != 1) {
        c->reversed = 0;
        i++;
    }
    line->name = s + i;
    return !escaped || unescape(s + i, len - i);
}

static bool split_line(Check *c, char *s, size_t len, CheckLine *line)
{
    SumOptions *o = c->o;
    char *start = s;
    while (is_white(*s))
        s++;
    bool escaped = *s == '\\';
    s += escaped;
    o->type = c->fixed ? c->fixed : tag_type(s);
    if (!o->type)
        return false;
    if (!c->any_length)
        o->bytes = o->type->bytes;
    size_t tag = strlen(o->type->tag);
    if (strncmp(s, o->type->tag, tag) == 0) {
        s += tag;
        if (!tag_length(c, &s))
            return false;
        s += *s == ' ';
        if (*s++ != '(')
            return false;
        return split_tagged(c, s, len - (size_t)(s - start), escaped, line);
    }
    return split_plain(c, s, len - (size_t)(s - start), escaped, line);
}

static bool same_digest(const char *hex, const unsigned char *digest, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if ((hex_value(hex[2 * i]) << 4 | hex_value(hex[2 * i + 1])) != digest[i])
            return false;
    return true;
}

static void say(Check *c, const char *name, const char *verdict)
{
    if (c->o->status)
        return;
    bool escape = strchr(name, '\n'); /* a verdict's line keeps other names as they are */
    if (escape)
        out_char(c->o->p->out, '\\');
    sum_print_name(c->o->p->out, name, escape);
    out_printf(c->o->p->out, ": %s\n", verdict);
}

static void verify(Check *c, const CheckLine *line)
{
    unsigned char digest[SUM_MOST];
    int result = sum_file(c->o, line->name, digest);
    if (result == SUM_MISSING)
        return;
    if (result == SUM_FAILED) {
        c->unreadable++;
        say(c, line->name, "FAILED open or read");
    } else if (same_digest(line->digest, digest, c->o->bytes)) {
        c->matched = true;
        if (!c->o->quiet)
            say(c, line->name, "OK");
    } else {
        c->mismatched++;
        say(c, line->name, "FAILED");
    }
}

static void summary(Check *c, const char *shown)
{
    Proc *p = c->o->p;
    if (!c->proper) {
        warn(p, "%s: no properly formatted checksum lines found", shown);
        return;
    }
    if (c->o->status)
        return;
    if (c->malformed)
        warn(p, c->malformed == 1 ? "WARNING: %llu line is improperly formatted" : "WARNING: %llu lines are improperly formatted", (unsigned long long)c->malformed);
    if (c->unreadable)
        warn(p, c->unreadable == 1 ? "WARNING: %llu listed file could not be read" : "WARNING: %llu listed files could not be read", (unsigned long long)c->unreadable);
    if (c->mismatched)
        warn(p, c->mismatched == 1 ? "WARNING: %llu computed checksum did NOT match" : "WARNING: %llu computed checksums did NOT match",
             (unsigned long long)c->mismatched);
    if (c->o->ignore_missing && !c->matched)
        warn(p, "%s: no file was verified", shown);
}

static void check_record(Check *c, Slice record, bool from_stdin, const char *shown, uint64_t number)
{
    Proc *p = c->o->p;
    CheckLine line;
    if (record.len && record.data[0] == '#')
        return;
    record.len -= record.len && record.data[record.len - 1] == '\r';
    if (!record.len)
        return;
    char *text = mem_copy(&p->mem, record);
    if (split_line(c, text, record.len, &line) && !(from_stdin && strcmp(line.name, "-") == 0)) {
        c->proper = true;
        verify(c, &line);
        return;
    }
    c->malformed++;
    if (c->o->warn_lines)
        warn(p, "%s: %llu: improperly formatted %s checksum line", shown, (unsigned long long)number, c->o->type ? c->o->type->tag : c->fixed ? c->fixed->tag : "CRC");
}

bool sum_check(SumOptions *o, const char *name)
{
    Proc *p = o->p;
    bool from_stdin = strcmp(name, "-") == 0;
    const char *shown = quotef(p, from_stdin ? "standard input" : name);
    Check c = {.o = o, .fixed = o->type, .any_length = o->type && o->type->kind == SUM_BLAKE2B, .reversed = -1};
    char **names = mem_array(&p->keep, 1, char *);
    names[0] = mem_strdup(&p->keep, name);
    Input in = input_files(p, names, 1);
    in.read_format = NULL;
    Slice record;
    bool ended;
    uint64_t number = 0;
    if (!input_open(&in))
        return false;
    while (input_record(&in, &record, &ended)) {
        MemMark mark = mem_mark(&p->mem);
        check_record(&c, record, from_stdin, shown, ++number);
        mem_reset(&p->mem, mark);
        proc_tick(p, 1);
    }
    input_next(&in);
    o->type = c.fixed;
    if (input_status(&in))
        return false;
    summary(&c, shown);
    return c.proper && c.matched && !c.mismatched && !c.unreadable && !(o->strict && c.malformed);
}

int sum_operands(SumOptions *o, char **names, int count)
{
    static char dash[] = "-";
    char *standard = dash;
    int status = 0;
    if (count == 0) {
        names = &standard;
        count = 1;
    }
    for (int i = 0; i < count; i++) {
        unsigned char digest[SUM_MOST];
        MemMark mark = mem_mark(&o->p->mem);
        if (o->check)
            status |= !sum_check(o, names[i]);
        else if (sum_file(o, names[i], digest) == SUM_OK)
            sum_print(o, names[i], digest);
        else
            status = 1;
        mem_reset(&o->p->mem, mark);
    }
    return status;
}

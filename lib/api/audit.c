/* audit: what happened, as lines of JSON in a chain of SHA-256 sums, to a callback and into a ring. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "lib/base/sha256.h"
#include "lib/base/utf8.h"
#include "lib/kernel/http.h"

typedef struct Line {
    struct Line *next;
    size_t len;
    char text[];
} Line;

typedef struct Audit {
    shell_audit options;
    uint64_t sequence, lost, held;
    char before[2 * SHA256_BYTES + 1];
    Line *first, **end;
    Mem secrets;             /* of `redactor` */
    Redactor *redactor;
    uint64_t generation;
    bool blind;              /* no memory for `redactor` */
} Audit;

/* ---------- JSON ---------- */

static void put_text(Buf *b, Slice s)
{
    buf_char(b, '"');
    for (size_t i = 0; i < s.len;) {
        size_t n = 1;
        unsigned char c = (unsigned char)s.data[i];
        bool whole = c < 0x80 || utf8_decode(s.data + i, s.len - i, &n) != UTF8_BAD;
        if (c == '"' || c == '\\')
            buf_printf(b, "\\%c", c);
        else if (c < 0x20 || c == 0x7f)
            buf_printf(b, "\\u%04x", c);
        else if (!whole)
            buf_append(b, SLICE("\xef\xbf\xbd"));
        else
            buf_append(b, slice(s.data + i, n));
        i += n;
    }
    buf_char(b, '"');
}

static void put_field(Buf *b, const char *name, Slice s)
{
    buf_printf(b, ",\"%s\":", name);
    put_text(b, s);
}

/* ---------- the chain ---------- */

static void drop_secrets(Audit *a)
{
    mem_wipe(&a->secrets);
    mem_hide(&a->secrets, false);
    mem_drop(&a->secrets);
}

/* False: no memory to look for them. */
static bool without_secrets(shell *sh, Audit *a, Mem *m, Slice *line)
{
    uint64_t now = kern_net_generation(sh->kernel);
    if (now != a->generation || a->blind) {
        drop_secrets(a);
        a->blind = !kern_net_redactor(sh->kernel, &a->secrets, &a->redactor);
        a->generation = now;
        mem_hide(&a->secrets, true);
    }
    if (a->redactor && GUARD(AUDIT_SECRET, true))
        *line = redact_text(a->redactor, m, *line);
    return !a->blind;
}

static void keep(Audit *a, Slice line)
{
    Line *l = malloc(sizeof *l + line.len);
    if (!l) {
        a->lost++;
        return;
    }
    l->next = NULL;
    l->len = line.len;
    memcpy(l->text, line.data, line.len);
    *a->end = l;
    a->end = &l->next;
    a->held += line.len;
    while (a->held > a->options.ring && a->first) {
        Line *oldest = a->first;
        a->first = oldest->next;
        if (!a->first)
            a->end = &a->first;
        a->held -= oldest->len;
        a->lost++;
        free(oldest);
    }
}

/* `b` holds the line from its opening brace, without the closing one. */
static void finish(shell *sh, Audit *a, Mem *m, Buf *b)
{
    char hash[2 * SHA256_BYTES + 1];
    Buf line;
    buf_init(&line, m, BUF_MAX);
    Slice text = buf_slice(b);
    bool seen = without_secrets(sh, a, m, &text);
    buf_append(&line, text);
    buf_printf(&line, ",\"before\":\"%s\"", a->before);
    if (!seen || line.failed || b->failed) {
        a->lost++;
        return;
    }
    sha256_hex(buf_slice(&line), hash);
    buf_printf(&line, ",\"sum\":\"%s\"}\n", hash);
    if (line.failed) {
        a->lost++;
        return;
    }
    memcpy(a->before, hash, sizeof hash);
    a->sequence++;
    if (a->options.ring)
        keep(a, buf_slice(&line));
    if (a->options.line) {
        bool inside = sh->in_callback;
        sh->in_callback = true;
        a->options.line(a->options.user, line.data, line.len);
        sh->in_callback = inside;
    }
}

static void begin(Audit *a, Mem *m, Buf *b, const char *what, int64_t seconds, uint32_t ns)
{
    mem_init(m, NULL, NULL, NULL);
    buf_init(b, m, BUF_MAX);
    buf_printf(b, "{\"seq\":%llu,\"time\":%lld.%09u,\"event\":\"%s\"", (unsigned long long)a->sequence + 1, (long long)seconds, ns, what);
}

/* ---------- events ---------- */

static void on_event(void *user, const Event *e)
{
    static const char *const names[] = {[EVENT_COMMAND] = "command", [EVENT_FILE_CHANGE] = "file", [EVENT_REQUEST] = "request", [EVENT_REFUSAL] = "refusal", [EVENT_LIMIT] = "limit", [EVENT_LOG] = "log"};
    shell *sh = user;
    Audit *a = sh->audit;
    Mem m;
    Buf b;
    if (!a || e->kind == EVENT_RUN_BEGIN || e->kind == EVENT_RUN_END)
        return; /* told by the run itself, which knows more */
    begin(a, &m, &b, names[e->kind], e->seconds, e->nanosecond);
    buf_printf(&b, ",\"pid\":%d", (int)e->pid);
    put_field(&b, e->kind == EVENT_COMMAND ? "name" : "subject", slice_str(e->subject));
    if (e->detail)
        put_field(&b, "detail", slice_str(e->detail));
    if (e->partition)
        put_field(&b, "partition", slice_str(e->partition));
    buf_printf(&b, ",\"value\":%d", e->value);
    finish(sh, a, &m, &b);
    mem_drop(&m);
}

void audit_run_begin(shell *sh, Slice script)
{
    Audit *a = sh->audit;
    Mem m;
    Buf b;
    uint32_t ns;
    if (!a)
        return;
    int64_t now = proc_now(kern_main(sh->kernel), &ns);
    begin(a, &m, &b, "run-begin", now, ns);
    put_field(&b, "script", script);
    finish(sh, a, &m, &b);
    mem_drop(&m);
}

static void put_output(const Audit *a, Buf *b, const char *name, Slice s)
{
    if (a->options.output)
        put_field(b, name, slice(s.data, MIN(s.len, (size_t)a->options.output)));
    buf_printf(b, ",\"%s_bytes\":%zu", name, s.len);
}

void audit_run_end(shell *sh, const RunEnd *end, Slice out, Slice err)
{
    static const char *const ends[] = {"finished", "timeout", "cancelled", "limit", "deadlock"};
    Audit *a = sh->audit;
    Mem m;
    Buf b;
    uint32_t ns;
    if (!a)
        return;
    int64_t now = proc_now(kern_main(sh->kernel), &ns);
    begin(a, &m, &b, "run-end", now, ns);
    buf_printf(&b, ",\"status\":%d,\"end\":\"%s\",\"steps\":%llu,\"peak_memory\":%llu,\"wall_ns\":%llu", end->status, ends[end->kind], (unsigned long long)end->steps,
               (unsigned long long)end->peak_memory, (unsigned long long)end->wall_ns);
    put_output(a, &b, "stdout", out);
    put_output(a, &b, "stderr", err);
    finish(sh, a, &m, &b);
    mem_drop(&m);
}

/* ---------- beginning, taking, ending ---------- */

shell_err audit_configure(shell *sh, const shell_audit *audit)
{
    shell_audit given = {0};
    audit_free(sh);
    if (!audit)
        return SHELL_OK;
    if (!api_copy_struct(&given, sizeof given, audit))
        return api_fail(sh, SHELL_EINVAL, "audit: bad size");
    Audit *a = calloc(1, sizeof *a);
    if (!a)
        return api_fail(sh, SHELL_ENOMEM, "audit: out of memory");
    a->options = given;
    a->end = &a->first;
    mem_init(&a->secrets, NULL, NULL, NULL);
    memset(a->before, '0', sizeof a->before - 1);
    sh->audit = a;
    kern_events_set(sh->kernel, on_event, sh);
    return SHELL_OK;
}

shell_err shell_set_audit(shell *sh, const shell_audit *audit)
{
    shell_err err = api_enter_idle(sh);
    return err ? err : audit_configure(sh, audit);
}

void audit_free(shell *sh)
{
    Audit *a = sh->audit;
    if (!a)
        return;
    if (sh->kernel)
        kern_events_set(sh->kernel, NULL, NULL);
    sh->audit = NULL;
    while (a->first) {
        Line *l = a->first;
        a->first = l->next;
        free(l);
    }
    drop_secrets(a);
    free(a);
}

shell_err shell_audit_take(shell *sh, char **out, uint64_t *len, uint64_t *lost)
{
    Audit *a = sh ? sh->audit : NULL;
    if (!a || !out || !len)
        return SHELL_EINVAL;
    char *text = malloc((size_t)a->held + 1);
    if (!text)
        return api_fail(sh, SHELL_ENOMEM, "audit: out of memory");
    size_t n = 0;
    while (a->first) {
        Line *l = a->first;
        memcpy(text + n, l->text, l->len);
        n += l->len;
        a->first = l->next;
        free(l);
    }
    text[n] = 0;
    *out = text;
    *len = n;
    if (lost)
        *lost = a->lost;
    a->lost = 0;
    a->held = 0;
    a->end = &a->first;
    return SHELL_OK;
}

/* ---------- checking ---------- */

/* Of {...,"before":"64","sum":"64"}: what is summed, and both sums. */
static bool split(Slice line, Slice *summed, Slice *before, Slice *sum)
{
    enum { HEX = 2 * SHA256_BYTES };
    static const char before_mark[] = ",\"before\":\"", sum_mark[] = "\",\"sum\":\"", end_mark[] = "\"}";
    size_t tail = sizeof before_mark - 1 + HEX + sizeof sum_mark - 1 + HEX + sizeof end_mark - 1;
    if (line.len < tail)
        return false;
    Slice t = slice_from(line, line.len - tail);
    *before = slice(t.data + sizeof before_mark - 1, HEX);
    *sum = slice(before->data + HEX + sizeof sum_mark - 1, HEX);
    *summed = slice(line.data, (size_t)(before->data + HEX + 1 - line.data));
    return slice_starts(t, SLICE(before_mark)) && slice_starts(slice_from(t, sizeof before_mark - 1 + HEX), SLICE(sum_mark)) &&
           slice_eq(slice_from(t, tail - 2), slice_str(end_mark));
}

static const char *line_wrong(Slice line, uint64_t number, char head[2 * SHA256_BYTES + 1])
{
    Slice summed, before, sum;
    char hash[2 * SHA256_BYTES + 1], start[40];
    if (!split(line, &summed, &before, &sum))
        return "not a line of an audit";
    snprintf(start, sizeof start, "{\"seq\":%llu,", (unsigned long long)number);
    if (!slice_starts(line, slice_str(start)))
        return "the sequence number is wrong: a line was taken out, put in or moved";
    if (!slice_eq(before, slice(head, 2 * SHA256_BYTES)))
        return "the chain is broken: the line before is not the one that was written";
    sha256_hex(summed, hash);
    if (!slice_eq(sum, slice_str(hash)))
        return "the sum is wrong: the line was changed";
    memcpy(head, hash, sizeof hash);
    return NULL;
}

shell_err shell_audit_verify(const char *text, uint64_t len, uint64_t *lines, char *head, char *why, uint64_t why_size)
{
    Slice rest = slice(text, text ? (size_t)len : 0);
    char at[2 * SHA256_BYTES + 1];
    uint64_t n = 0;
    const char *wrong = NULL;
    memset(at, '0', sizeof at - 1);
    at[sizeof at - 1] = 0;
    while (rest.len && !wrong) {
        size_t end = slice_find(rest, '\n');
        n++;
        wrong = end == rest.len ? "the last line is not complete" : line_wrong(slice(rest.data, end), n, at);
        rest = slice_from(rest, MIN(end + 1, rest.len));
    }
    if (lines)
        *lines = n;
    if (head)
        memcpy(head, at, sizeof at);
    if (why && why_size)
        snprintf(why, (size_t)why_size, "%s", wrong ? wrong : "");
    return wrong ? SHELL_EINVAL : SHELL_OK;
}

/* curl: transfer a URL. curl 7.88 over http and https; what would change who is talked to, or how far it is trusted, is refused by policy. */
#include "curl.h"

#include <stdarg.h>
#include <stdio.h>

void curl_complain(Curl *c, const char *format, ...)
{
    char text[2048];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    output_flush(c->p->out);
    Buf b;
    buf_init(&b, &c->p->mem, BUF_MAX);
    buf_append(&b, SLICE("curl: "));
    buf_append(&b, slice(text, MIN((size_t)MAX(n, 0), sizeof text - 1)));
    buf_char(&b, '\n');
    proc_write(c->p, c->err, buf_slice(&b));
}

/* curl breaks warnings at 79 columns behind "Warning: ". */
void curl_warn(Curl *c, const Operation *o, const char *format, ...)
{
    char text[2048];
    va_list args;
    if (o && o->silent)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    output_flush(c->p->out);
    enum { WIDTH = 79 - 9 };
    Slice rest = slice_str(text);
    while (rest.len) {
        size_t n = rest.len;
        if (n > WIDTH) {
            n = WIDTH;
            size_t cut = n;
            while (cut && rest.data[cut] != ' ')
                cut--;
            n = cut ? cut + 1 : WIDTH;
        }
        Slice line = slice_str(mem_printf(&c->p->mem, "Warning: %.*s\n", (int)n, rest.data));
        proc_write(c->p, c->err, line);
        rest = slice_from(rest, n);
    }
}

int curl_usage(Curl *c)
{
    proc_write(c->p, c->err, SLICE("curl: try 'curl --help' or 'curl --manual' for more information\n"));
    return CURL_FAILED_INIT;
}

void list_add(Curl *c, List *l, Slice item)
{
    if (l->n == l->cap) {
        size_t cap = l->cap * 2 + 8;
        l->item = mem_grow(&c->p->keep, l->item, l->cap * sizeof *l->item, cap * sizeof *l->item);
        l->cap = cap;
    }
    l->item[l->n++] = item;
}

/* What is of the whole invocation holds for all operations as it was said last. */
static void share_settings(Curl *c)
{
    for (Operation *o = c->first; o; o = o->next) {
        o->silent = c->last->silent;
        o->show_error = c->last->show_error;
        o->no_progress = c->last->no_progress;
        o->progress_bar = c->last->progress_bar;
        o->verbose = c->last->verbose;
        o->parallel = c->last->parallel;
    }
}

bool operation_has_url(const Operation *o)
{
    for (size_t i = 0; i < o->nurls; i++)
        if (o->url[i].url)
            return true;
    return false;
}

static int curl_main(Proc *p, Args *args)
{
    Curl c = {.p = p, .err = 2};
    c.cookies_end = &c.cookies;
    int status = 0;
    operation_new(&c);
    if (curl_parse(&c, args->argc, args->argv, &status) == PARSE_STOP)
        return status;
    if (args->argc == 1)
        return curl_usage(&c);
    share_settings(&c);
    meter_parallel(&c, true);
    for (Operation *o = c.first; o; o = o->next) {
        if (!operation_has_url(o)) {
            curl_complain(&c, "no URL specified!");
            return curl_usage(&c);
        }
        status = curl_run(&c, o);
        if (status && c.fail_early)
            break;
    }
    meter_parallel(&c, false);
    return status;
}

COMMAND(curl, "curl [options...] <url>", "Transfer a URL.", curl_options, COMMAND_NETWORK | COMMAND_WRITES | COMMAND_RAW, .usage_status = 2, .package = "curl 7.88.1",
        .notes = "http and https only. Refused by policy: -x --proxy and its kin, --resolve --connect-to --interface --unix-socket\n"
                 "--abstract-unix-socket --dns-* --doh-url, --cacert --capath --cert --key --pinnedpubkey --ciphers, --netrc*,\n"
                 "--negotiate --ntlm --alt-svc --hsts --request-target --path-as-is --libcurl --engine, and -k unless it is allowed.\n"
                 "URLs are sent in canonical form; connections stay open from one call to the next.");

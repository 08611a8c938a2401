/* form: multipart/form-data (RFC 7578) from -F "name=content;type=T;filename=F", "name=@file,file", "name=<file". */
#include "curl.h"

struct FormPart {
    FormPart *next;
    Slice name, content;
    const char *filename, *type; /* NULL: none */
    List headers;
    FormPart *more;              /* of several files under one name, the others */
};

typedef struct Field {
    Slice name, value;
    const char *type, *filename;
    List headers;
} Field;

static const char *content_type_of(const char *file)
{
    static const struct { const char *end, *type; } types[] = {
        {".gif", "image/gif"}, {".jpg", "image/jpeg"}, {".jpeg", "image/jpeg"}, {".png", "image/png"}, {".svg", "image/svg+xml"}, {".txt", "text/plain"},
        {".htm", "text/html"}, {".html", "text/html"}, {".pdf", "application/pdf"}, {".xml", "application/xml"}};
    size_t n = strlen(file);
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        size_t m = strlen(types[i].end);
        if (n >= m && slice_eq(slice(file + n - m, m), slice_str(types[i].end)))
            return types[i].type;
    }
    return "application/octet-stream";
}

/* A word up to one of `ends`, or in double quotes with \" and \\. */
static Slice take_word(Curl *c, Slice *s, const char *ends)
{
    Buf b;
    buf_init(&b, &c->p->keep, BUF_MAX);
    buf_reserve(&b, 1);
    if (s->len && s->data[0] == '"' && slice_find(slice_from(*s, 1), '"') < s->len - 1) {
        size_t i = 1;
        for (; i < s->len && s->data[i] != '"'; i++) {
            if (s->data[i] == '\\' && i + 1 < s->len && (s->data[i + 1] == '"' || s->data[i + 1] == '\\'))
                i++;
            buf_char(&b, s->data[i]);
        }
        i += i < s->len;
        while (i < s->len && !strchr(ends, s->data[i]))
            i++;
        *s = slice_from(*s, i);
        return buf_slice(&b);
    }
    size_t n = 0;
    while (n < s->len && !strchr(ends, s->data[n]))
        n++;
    buf_append(&b, slice(s->data, n));
    *s = slice_from(*s, n);
    return slice(b.data, b.len);
}

static Slice skip_blanks(Slice s)
{
    while (s.len && (s.data[0] == ' ' || s.data[0] == '\t'))
        s = slice_from(s, 1);
    return s;
}

/* ";type=text/x;charset=y;filename=z" behind a value. */
static void take_parameters(Curl *c, Slice *s, Field *f)
{
    while (s->len && s->data[0] == ';') {
        Slice rest = skip_blanks(slice_from(*s, 1));
        if (slice_starts(rest, SLICE("type="))) {
            rest = slice_from(rest, 5);
            size_t n = 0;
            while (n < rest.len && rest.data[n] != ',' && !slice_starts(slice_from(rest, n), SLICE(";filename=")) && !slice_starts(slice_from(rest, n), SLICE("; filename=")))
                n++;
            f->type = mem_copy(&c->p->keep, slice(rest.data, n));
            rest = slice_from(rest, n);
        } else if (slice_starts(rest, SLICE("filename="))) {
            rest = slice_from(rest, 9);
            f->filename = mem_copy(&c->p->keep, take_word(c, &rest, ";,"));
        } else if (slice_starts(rest, SLICE("headers="))) {
            rest = slice_from(rest, 8);
            list_add(c, &f->headers, take_word(c, &rest, ";,"));
        } else {
            take_word(c, &rest, ";,");
        }
        *s = rest;
    }
}

static FormPart *add_part(Operation *o, Curl *c, FormPart part)
{
    FormPart *p = mem_alloc(&c->p->keep, sizeof *p);
    *p = part;
    p->next = NULL;
    *o->form_end = p;
    o->form_end = &p->next;
    return p;
}

static int add_file(Curl *c, Operation *o, Slice name, const char *file, Field *f, bool attach, FormPart **group)
{
    Slice text;
    if (read_failure(c, file, &text)) {
        o->form_unreadable = true;
        return 0;
    }
    const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file;
    FormPart part = (FormPart){.name = name, .content = text, .headers = f->headers, .filename = !attach ? f->filename : f->filename ? f->filename : base,
                              .type = f->type ? f->type : attach && strcmp(file, "-") != 0 ? content_type_of(f->filename ? f->filename : base) : NULL};
    if (*group) {
        FormPart **end = &(*group)->more;
        while (*end)
            end = &(*end)->more;
        *end = mem_alloc(&c->p->keep, sizeof part);
        **end = part;
    } else {
        *group = add_part(o, c, part);
    }
    return 0;
}

int form_add(Curl *c, Operation *o, const char *text, bool plain)
{
    Slice s = slice_str(text);
    size_t eq = slice_find(s, '=');
    if (eq == s.len) {
        curl_warn(c, o, "Illegally formatted input field!");
        return CURL_FAILED_INIT;
    }
    Slice name = slice(s.data, eq), rest = slice_from(s, eq + 1);
    Field f = {0};
    if (plain) {
        add_part(o, c, (FormPart){.name = name, .content = rest});
        return 0;
    }
    if (!rest.len || (rest.data[0] != '@' && rest.data[0] != '<')) {
        Slice value = take_word(c, &rest, ";");
        take_parameters(c, &rest, &f);
        add_part(o, c, (FormPart){.name = name, .content = value, .filename = f.filename, .type = f.type, .headers = f.headers});
        return 0;
    }
    bool attach = rest.data[0] == '@';
    int err = 0;
    FormPart *group = NULL;
    do {
        rest = slice_from(rest, 1);
        f = (Field){0};
        Slice file = take_word(c, &rest, ";,");
        take_parameters(c, &rest, &f);
        err = add_file(c, o, name, file.len ? file.data : "", &f, attach, &group);
    } while (!err && rest.len && rest.data[0] == ',');
    return err;
}

/* A name between double quotes: quotes, CR and LF percent-encoded. */
static void put_name(Buf *b, Slice s)
{
    for (size_t i = 0; i < s.len; i++) {
        char ch = s.data[i];
        if (ch == '"' || ch == '\r' || ch == '\n')
            buf_printf(b, "%%%02X", ch);
        else
            buf_char(b, ch);
    }
}

static const char *boundary(Curl *c)
{
    uint64_t random;
    proc_random(c->p, &random, sizeof random);
    return mem_printf(&c->p->mem, "------------------------%016llx", (unsigned long long)random);
}

/* The head of a part behind its disposition, and the content. */
static void put_part(Buf *b, const FormPart *f, const char *filename)
{
    if (filename) {
        buf_append(b, SLICE("; filename=\""));
        put_name(b, slice_str(filename));
        buf_char(b, '"');
    }
    buf_append(b, SLICE("\r\n"));
    if (f->type)
        buf_printf(b, "Content-Type: %s\r\n", f->type);
    for (size_t i = 0; i < f->headers.n; i++) {
        buf_append(b, f->headers.item[i]);
        buf_append(b, SLICE("\r\n"));
    }
    buf_append(b, SLICE("\r\n"));
    buf_append(b, f->content);
    buf_append(b, SLICE("\r\n"));
}

static void put_group(Curl *c, Buf *b, const FormPart *f)
{
    const char *border = boundary(c);
    buf_printf(b, "\r\nContent-Type: multipart/mixed; boundary=%s\r\n\r\n", border);
    for (; f; f = f->more) {
        buf_printf(b, "--%s\r\nContent-Disposition: attachment", border);
        put_part(b, f, f->filename);
    }
    buf_printf(b, "--%s--\r\n\r\n", border);
}

int form_build(Curl *c, const Operation *o, Buf *body, const char **content_type)
{
    const char *border = boundary(c);
    *content_type = mem_printf(&c->p->mem, "Content-Type: multipart/form-data; boundary=%s", border);
    for (const FormPart *f = o->form; f; f = f->next) {
        buf_printf(body, "--%s\r\nContent-Disposition: form-data; name=\"", border);
        put_name(body, f->name);
        buf_char(body, '"');
        if (f->more)
            put_group(c, body, f);
        else
            put_part(body, f, f->filename);
    }
    buf_printf(body, "--%s--\r\n", border);
    return 0;
}

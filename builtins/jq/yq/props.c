/* props: Java's properties read into values: keys are paths, parts that are numbers are indices, every value is a string. */
#include "lib/base/utf8.h"
#include "yq.h"

typedef struct Props {
    Yq *q;
    Slice text;
    size_t at;
} Props;

static int peek(const Props *p) { return p->at < p->text.len ? (unsigned char)p->text.data[p->at] : -1; }
static bool blank(int c) { return c == ' ' || c == '\t' || c == '\f'; }
static bool line_end(int c) { return c == '\n' || c == '\r' || c < 0; }

static void skip_blanks(Props *p)
{
    while (blank(peek(p)))
        p->at++;
}

static void skip_line_end(Props *p)
{
    p->at += peek(p) == '\r';
    p->at += peek(p) == '\n';
}

/* \uXXXX behind the u; what has no four digits stands for itself. */
static void code_point(Props *p, Buf *b)
{
    uint32_t v = 0;
    char text[6];
    for (size_t i = 0; i < 4; i++) {
        int c = p->at + i < p->text.len ? (unsigned char)p->text.data[p->at + i] : 0, low = c | 32;
        if (!((c >= '0' && c <= '9') || (low >= 'a' && low <= 'f'))) {
            buf_char(b, 'u');
            return;
        }
        v = v * 16 + (uint32_t)(c <= '9' ? c - '0' : low - 'a' + 10);
    }
    p->at += 4;
    buf_append(b, slice(text, utf8_encode(v >= 0xD800 && v < 0xE000 ? 0xFFFD : v, text)));
}

/* Behind a backslash; at the end of a line it goes on in the next, without the blanks that begin it. */
static void escape(Props *p, Buf *b)
{
    static const char letters[] = "tnrf", meant[] = "\t\n\r\f";
    int c = peek(p);
    if (line_end(c)) {
        skip_line_end(p);
        skip_blanks(p);
        return;
    }
    p->at++;
    const char *known = strchr(letters, c);
    if (c == 'u')
        code_point(p, b);
    else
        buf_char(b, known ? meant[known - letters] : (char)c);
}

static Slice read_part(Props *p, bool key)
{
    Buf b;
    buf_init(&b, &p->q->p->keep, BUF_MAX);
    buf_reserve(&b, 1);
    for (int c; c = peek(p), !line_end(c) && !(key && (blank(c) || c == '=' || c == ':'));) {
        p->at++;
        if (c == '\\')
            escape(p, &b);
        else
            buf_char(&b, (char)c);
    }
    return buf_slice(&b);
}

static bool index_of(Slice part, size_t *out)
{
    *out = 0;
    for (size_t i = 0; i < part.len; i++) {
        if (part.data[i] < '0' || part.data[i] > '9')
            return false;
        *out = *out * 10 + (size_t)(part.data[i] - '0');
    }
    return part.len > 0 && part.len < 6;
}

static Val path_of(Props *p, Slice key)
{
    J *j = p->q->j;
    Val path = arr_new(j, 2);
    for (size_t n, i;; key = slice_from(key, n + 1)) {
        n = slice_find(key, '.');
        Slice part = slice(key.data, n);
        path = arr_push(j, path, arr_len(path) && index_of(part, &i) ? val_num((double)i) : val_string_utf8(j, part));
        if (arr_len(path) > YQ_DEPTH)
            yq_fail(p->q, "a key of too many parts");
        if (n == key.len)
            return path;
    }
}

Val props_read(Yq *q, Slice text, const char *name)
{
    J *j = q->j;
    Props p = {.q = q, .text = text};
    Val root = obj_new(j, 0);
    while (p.at < text.len) {
        proc_tick(q->p, 2);
        skip_blanks(&p);
        int c = peek(&p);
        if (c == '#' || c == '!')
            while (!line_end(peek(&p)))
                p.at++;
        if (line_end(peek(&p))) {
            skip_line_end(&p);
            continue;
        }
        Val path = path_of(&p, read_part(&p, true));
        skip_blanks(&p);
        p.at += peek(&p) == '=' || peek(&p) == ':';
        skip_blanks(&p);
        root = jv_setpath(j, root, path, val_string_utf8(j, read_part(&p, false)));
        if (root.kind == K_INVALID)
            yq_fail(q, "bad file '%s': properties: line %zu: a key is a value and a map", name, 1 + slice_count(slice(text.data, p.at), '\n'));
    }
    return root;
}

void props_write(Yq *q, Sink *s, Val v, const char *path)
{
    const char *dot = *path ? "." : "";
    if (v.kind == K_ARRAY || v.kind == K_OBJECT) {
        if (!proc_stack_room(q->p, 16384))
            yq_fail(q, "value nested too deeply");
        proc_tick(q->p, 1);
        for (size_t i = 0; v.kind == K_ARRAY && i < arr_len(v); i++)
            props_write(q, s, v.arr->items[i], mem_printf(&q->p->mem, "%s%s%zu", path, dot, i));
        for (uint32_t i = 0; v.kind == K_OBJECT && (i = obj_next(v.obj, i)) < v.obj->used; i++)
            props_write(q, s, v.obj->entries[i].value, mem_printf(&q->p->mem, "%s%s%.*s", path, dot, (int)v.obj->entries[i].key->len, v.obj->entries[i].key->data));
        return;
    }
    Val text = val_tostring(q->j, val_copy(v));
    jsink_write(s, slice_str(path));
    jsink_write(s, SLICE(" = "));
    jsink_write(s, val_slice(text));
    sink_char(s, '\n');
    val_free(q->j, text);
}

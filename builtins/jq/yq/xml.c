/* xml: elements as objects, after yq: +@NAME an attribute, +content the text beside others, +p_NAME an instruction. What is repeated is an
 * array; every value read is a string. Nothing outside the text is loaded. */
#include "shared.h"
#include "yq.h"

/* ---------- reading ---------- */

typedef struct Frame {
    Val name, content, attributes, children;
} Frame;

typedef struct XReader {
    Yq *q;
    const XmlFunctions *xml;
    void *doc;
    Frame *frames;
    size_t n, cap;
} XReader;

static void release(Proc *p, void *thing)
{
    XReader *r = thing;
    (void)p;
    r->xml->free(r->doc);
}

static void push(XReader *r, Val name)
{
    J *j = r->q->j;
    if (r->n == r->cap) {
        size_t cap = r->cap * 2 + 16;
        r->frames = mem_grow(&r->q->p->keep, r->frames, r->cap * sizeof *r->frames, cap * sizeof *r->frames);
        r->cap = cap;
    }
    r->frames[r->n++] = (Frame){name, arr_new(j, 0), obj_new(j, 0), obj_new(j, 0)};
}

/* One more of a name: the second makes an array of both. */
static Val add(XReader *r, Val object, Val name, Val v)
{
    J *j = r->q->j;
    Val *there = obj_find(object, name.str);
    if (!there)
        return obj_set(j, object, name, v);
    Val all = *there;
    *there = VAL_NULL;
    if (all.kind != K_ARRAY)
        all = arr_push(j, arr_new(j, 2), all);
    return obj_set(j, object, name, arr_push(j, all, v));
}

static Val single(J *j, Val all)
{
    if (arr_len(all) != 1)
        return all;
    Val v = val_copy(all.arr->items[0]);
    val_free(j, all);
    return v;
}

static Val append_all(J *j, Val to, Val from)
{
    for (uint32_t i = 0; (i = obj_next(from.obj, i)) < from.obj->used; i++) {
        ++from.obj->entries[i].key->refs;
        to = obj_set(j, to, val_str(from.obj->entries[i].key), val_copy(from.obj->entries[i].value));
    }
    val_free(j, from);
    return to;
}

static Val value_of(XReader *r, Frame *f)
{
    J *j = r->q->j;
    bool text = arr_len(f->content) > 0, plain = !obj_len(f->attributes) && !obj_len(f->children);
    if (plain)
        return text ? single(j, f->content) : VAL_NULL;
    Val out = obj_new(j, 0);
    if (text)
        out = obj_set_text(j, out, "+content", single(j, f->content));
    return append_all(j, append_all(j, out, f->attributes), f->children);
}

static Slice trim(Slice s)
{
    while (s.len && strchr(" \t\r\n", s.data[0]))
        s = slice_from(s, 1);
    while (s.len && strchr(" \t\r\n", s.data[s.len - 1]))
        s.len--;
    return s;
}

static void item(void *user, XmlItem kind, const char *prefix, const char *name, const char *text)
{
    XReader *r = user;
    J *j = r->q->j;
    Frame *f = &r->frames[r->n - 1];
    proc_tick(r->q->p, 1);
    Val full = val_printf(j, "%s%s%s%s", kind == XML_ITEM_ATTRIBUTE ? "+@" : kind == XML_ITEM_INSTRUCTION ? "+p_" : "", prefix, *prefix && *name ? ":" : "", name);
    Slice body = kind == XML_ITEM_TEXT ? trim(slice_str(text)) : slice_str(text);
    switch (kind) {
    case XML_ITEM_OPEN: push(r, full); return;
    case XML_ITEM_ATTRIBUTE: f->attributes = obj_set(j, f->attributes, full, val_string_utf8(j, body)); return;
    case XML_ITEM_INSTRUCTION: f->children = add(r, f->children, full, val_string_utf8(j, body)); return;
    case XML_ITEM_TEXT:
        val_free(j, full);
        if (body.len)
            f->content = arr_push(j, f->content, val_string_utf8(j, body));
        return;
    case XML_ITEM_CLOSE: break;
    }
    val_free(j, full);
    Frame last = *f;
    r->n--;
    f--;
    f->children = add(r, f->children, last.name, value_of(r, &last));
}

/* <?xml ...?> is no node of the tree. */
static void declaration(XReader *r, Slice text)
{
    Slice body = trim(text);
    size_t end = 6;
    if (!slice_starts(body, SLICE("<?xml ")))
        return;
    while (end + 1 < body.len && !(body.data[end] == '?' && body.data[end + 1] == '>'))
        end++;
    body = trim(slice(body.data + 6, MIN(end, body.len) - 6));
    r->frames[0].children = obj_set_text(r->q->j, r->frames[0].children, "+p_xml", val_string_utf8(r->q->j, body));
}

Val xml_read(Yq *q, Slice text, const char *name)
{
    enum { COST = 20 /* bytes of the library's memory for each of the text, about */ };
    const DataComponent *data = NEED_COMPONENT(q->p, "data", DataComponent);
    XReader *r = mem_alloc0(&q->p->keep, sizeof *r);
    *r = (XReader){.q = q, .xml = data->xml};
    push(r, VAL_NULL);
    if (!trim(text).len)
        return VAL_NULL;
    if (text.len > (64 << 20) || !proc_stack_room(q->p, 256 << 10))
        yq_fail(q, "bad file '%s': xml: too large", name);
    MemMark mark = mem_mark(&q->p->mem);
    mem_alloc(&q->p->mem, text.len * COST + (64 << 10)); /* what the library takes by itself */
    r->doc = r->xml->parse(name, text.data, text.len, XML_ENTITIES, text.len * COST + 4096);
    if (!r->doc)
        proc_raise(q->p, RAISE_MEMORY);
    proc_own(q->p, release, r);
    proc_tick(q->p, 1 + text.len / 64);
    if (!r->xml->parsed(r->doc)) {
        Slice message;
        r->xml->messages(r->doc, &message.data, &message.len);
        message.len = slice_find(message, '\n');
        yq_fail(q, "bad file '%s': xml: %.*s", name, (int)MIN(message.len, (size_t)300), message.data);
    }
    declaration(r, text);
    r->xml->walk(r->doc, item, r);
    proc_disown(q->p, r);
    mem_reset(&q->p->mem, mark);
    return r->frames[0].children;
}

/* ---------- writing ---------- */

static void put_text(Sink *s, Slice text, bool attribute)
{
    for (size_t i = 0; i < text.len; i++)
        switch (text.data[i]) {
        case '&': jsink_write(s, SLICE("&amp;")); break;
        case '<': jsink_write(s, SLICE("&lt;")); break;
        case '>': jsink_write(s, SLICE("&gt;")); break;
        case '"': jsink_write(s, SLICE("&#34;")); break;
        case '\'': jsink_write(s, SLICE("&#39;")); break;
        case '\t': jsink_write(s, SLICE("&#x9;")); break;
        case '\r': jsink_write(s, SLICE("&#xD;")); break;
        case '\n':
            jsink_write(s, attribute ? SLICE("&#xA;") : SLICE("\n"));
            break;
        default: sink_char(s, text.data[i]); break;
        }
}

static void put_value(Yq *q, Sink *s, Val v, bool attribute)
{
    if (v.kind == K_NULL)
        return;
    Val t = val_tostring(q->j, val_copy(v));
    put_text(s, val_slice(t), attribute);
    val_free(q->j, t);
}

static void new_line(Yq *q, Sink *s, size_t depth)
{
    if (!q->indent)
        return;
    sink_char(s, '\n');
    for (size_t i = 0; i < depth * (size_t)q->indent; i++)
        sink_char(s, ' ');
}

/* A name from a value may hold anything: what would end it is refused. */
static Slice checked_name(Yq *q, Slice name)
{
    bool good = name.len > 0;
    for (size_t i = 0; i < name.len; i++)
        good &= (unsigned char)name.data[i] > ' ' && !strchr("<>&\"'=/?", name.data[i]);
    if (!good)
        yq_fail(q, "cannot encode '%.*s' as the name of an element", (int)MIN(name.len, (size_t)100), name.data);
    return name;
}

static Slice attribute_name(Slice key) { return slice_starts(key, SLICE("+@")) ? slice_from(key, 2) : slice("", 0); }

static void put_element(Yq *q, Sink *s, Slice name, Val v, size_t depth);

/* The children of an object; whether there was an element among them. */
static bool put_children(Yq *q, Sink *s, Val v, size_t depth)
{
    bool elements = false;
    for (uint32_t i = 0; (i = obj_next(v.obj, i)) < v.obj->used; i++) {
        Slice key = js_slice(v.obj->entries[i].key);
        Val child = v.obj->entries[i].value;
        if (attribute_name(key).len)
            continue;
        if (slice_is(key, "+content")) {
            for (size_t k = 0; child.kind == K_ARRAY && k < arr_len(child); k++)
                put_value(q, s, child.arr->items[k], false);
            if (child.kind != K_ARRAY)
                put_value(q, s, child, false);
            continue;
        }
        elements = true;
        for (size_t k = 0; child.kind == K_ARRAY && k < arr_len(child); k++)
            put_element(q, s, key, child.arr->items[k], depth);
        if (child.kind != K_ARRAY)
            put_element(q, s, key, child, depth);
    }
    return elements;
}

static void put_attributes(Yq *q, Sink *s, Val v)
{
    for (uint32_t i = 0; (i = obj_next(v.obj, i)) < v.obj->used; i++) {
        Slice name = attribute_name(js_slice(v.obj->entries[i].key));
        if (!name.len)
            continue;
        sink_char(s, ' ');
        jsink_write(s, checked_name(q, name));
        jsink_write(s, SLICE("=\""));
        put_value(q, s, v.obj->entries[i].value, true);
        sink_char(s, '"');
    }
}

static void put_element(Yq *q, Sink *s, Slice name, Val v, size_t depth)
{
    proc_tick(q->p, 1);
    if (depth > YQ_DEPTH || !proc_stack_room(q->p, 16384))
        yq_fail(q, "value nested too deeply");
    if (depth)
        new_line(q, s, depth);
    if (slice_starts(name, SLICE("+p_"))) {
        Val t = val_tostring(q->j, val_copy(v));
        jsink_write(s, SLICE("<?"));
        jsink_write(s, checked_name(q, slice_from(name, 3)));
        sink_char(s, ' ');
        jsink_write(s, val_slice(t));
        jsink_write(s, depth ? SLICE("?>") : SLICE("?>\n"));
        val_free(q->j, t);
        return;
    }
    sink_char(s, '<');
    jsink_write(s, checked_name(q, name));
    bool elements = false;
    if (v.kind == K_OBJECT)
        put_attributes(q, s, v);
    sink_char(s, '>');
    if (v.kind == K_OBJECT)
        elements = put_children(q, s, v, depth + 1);
    else
        put_value(q, s, v, false);
    if (elements)
        new_line(q, s, depth);
    jsink_write(s, SLICE("</"));
    jsink_write(s, name);
    sink_char(s, '>');
    if (!depth)
        sink_char(s, '\n');
}

void xml_write(Yq *q, Sink *s, Val v)
{
    if (v.kind == K_ARRAY)
        yq_fail(q, "cannot encode !!seq to XML - only maps can be encoded");
    if (v.kind == K_OBJECT) {
        put_children(q, s, v, 0);
        return;
    }
    put_value(q, s, v, false);
    sink_char(s, '\n');
}

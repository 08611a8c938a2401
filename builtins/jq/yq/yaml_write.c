/* yaml_write: a value as YAML, with the manners of its node where it has one. */
#include <math.h>

#include "yq.h"

typedef struct YWriter {
    Yq *q;
    Sink *s;
    unsigned depth;
} YWriter;

static void put(YWriter *w, Slice s) { jsink_write(w->s, s); }
static void put_text(YWriter *w, const char *s) { put(w, slice_str(s)); }

static void put_indent(YWriter *w, size_t n)
{
    while (n--)
        sink_char(w->s, ' ');
}

static void put_comment(YWriter *w, Slice c, size_t indent)
{
    while (c.len) {
        size_t n = slice_find(c, '\n');
        put_indent(w, indent);
        put(w, slice(c.data, n));
        sink_char(w->s, '\n');
        c = slice_from(c, MIN(n + 1, c.len));
    }
}

/* ---------- scalars ---------- */

/* Read back plain it would be the same string, also to YAML 1.1's readers. */
bool yaml_plain_string(Yq *q, Slice s)
{
    static const char *const words[] = {"y", "Y", "n", "N", "yes", "Yes", "YES", "no", "No", "NO", "on", "On", "ON", "off", "Off", "OFF"};
    if (!s.len || s.data[0] == ' ' || s.data[s.len - 1] == ' ' || s.data[s.len - 1] == ':')
        return false;
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (slice_is(s, words[i]))
            return false;
    if (strchr("!&*{}[]|>@`\"'#%,", s.data[0]) || (strchr("-?:", s.data[0]) && (s.len == 1 || s.data[1] == ' ')))
        return false;
    if (slice_starts(s, SLICE("---")) || slice_starts(s, SLICE("...")))
        return false;
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.data[i];
        if (c < 0x20 || c == 0x7f || (c == ':' && i + 1 < s.len && s.data[i + 1] == ' ') || (c == '#' && i && s.data[i - 1] == ' '))
            return false;
    }
    Val v = yaml_scalar_value(q, s, YAML_PLAIN, NULL);
    bool plain = v.kind == K_STRING;
    val_free(q->j, v);
    return plain;
}

static void put_single(YWriter *w, Slice s)
{
    sink_char(w->s, '\'');
    for (size_t i = 0; i < s.len; i++) {
        if (s.data[i] == '\'')
            sink_char(w->s, '\'');
        sink_char(w->s, s.data[i]);
    }
    sink_char(w->s, '\'');
}

static bool has_control(Slice s)
{
    for (size_t i = 0; i < s.len; i++)
        if ((unsigned char)s.data[i] < 0x20 && s.data[i] != '\n')
            return true;
    return false;
}

static void put_literal(YWriter *w, Slice s, size_t indent)
{
    bool ends = s.data[s.len - 1] == '\n', more = s.len > 1 && ends && s.data[s.len - 2] == '\n';
    sink_char(w->s, '|');
    if (s.data[0] == ' ' || s.data[0] == '\n') {
        char digit = (char)('0' + w->q->indent);
        sink_char(w->s, digit);
    }
    if (!ends || more)
        sink_char(w->s, ends ? '+' : '-');
    while (s.len) {
        size_t n = slice_find(s, '\n');
        sink_char(w->s, '\n');
        if (n)
            put_indent(w, indent);
        put(w, slice(s.data, n));
        s = slice_from(s, MIN(n + 1, s.len));
    }
}

static void put_string(YWriter *w, Slice s, int style, size_t indent, bool flow)
{
    bool lines = slice_find(s, '\n') < s.len, odd = has_control(s);
    if (style == YAML_SINGLE && !odd && !lines)
        put_single(w, s);
    else if (style == YAML_DOUBLE || odd || (flow && lines))
        jq_print_string(w->s, s, false);
    else if (lines && s.len > 1 && !flow)
        put_literal(w, s, indent);
    else if (yaml_plain_string(w->q, s) && !(flow && strpbrk(s.data, ",[]{}")))
        put(w, s);
    else
        jq_print_string(w->s, s, false);
}

static void put_scalar(YWriter *w, Val v, const YNode *node, size_t indent, bool flow)
{
    char buf[NUMBER_TEXT];
    bool same = node && node->kind == Y_SCALAR && node->value.kind == v.kind && val_equal(w->q->j, node->value, v);
    if (node && node->kind == Y_SCALAR && node->anchor && !w->q->exploded) {
        put_text(w, "&");
        put_text(w, node->anchor);
        sink_char(w->s, ' ');
    }
    if (same && node->tag && strncmp(node->tag, "tag:yaml.org,2002:", 18) != 0) {
        put_text(w, node->tag);
        sink_char(w->s, ' ');
    }
    if (same && v.kind != K_STRING && !w->q->pretty)
        put(w, node->text);
    else if (v.kind == K_STRING)
        put_string(w, val_slice(v), node && node->kind == Y_SCALAR && node->value.kind == K_STRING && !w->q->pretty ? node->style : YAML_PLAIN, indent, flow);
    else if (v.kind == K_NUMBER && !isfinite(val_double(v)))
        put_text(w, isnan(val_double(v)) ? ".nan" : val_double(v) > 0 ? ".inf" : "-.inf");
    else if (v.kind == K_NUMBER)
        put(w, jq_number_text(v, buf));
    else
        put_text(w, v.kind == K_NULL ? "null" : v.kind == K_TRUE ? "true" : "false");
}

/* ---------- containers ---------- */

static void put_node(YWriter *w, Val v, YNode *node, size_t indent, bool flow);

static bool is_container(Val v) { return v.kind == K_ARRAY || v.kind == K_OBJECT; }
static bool is_empty(Val v) { return v.kind == K_ARRAY ? arr_len(v) == 0 : v.kind == K_OBJECT && obj_len(v) == 0; }

static YNode *entry_of(YNode *node, Slice key, YNode **key_node)
{
    for (size_t i = 0; node && node->kind == Y_MAP && i < node->n; i++)
        if (slice_eq(node->keys[i]->text, key) && !node->keys[i]->merged) {
            *key_node = node->keys[i];
            return node->items[i];
        }
    return NULL;
}

/* The node that a value has by itself, else the one that stands where it stands. */
static YNode *own_node(YWriter *w, Val v, YNode *there)
{
    YNode *node = is_container(v) ? yq_node_of(w->q, v) : NULL;
    if (w->q->exploded && there && there->kind == Y_ALIAS)
        there = there->target;
    if (there && there->kind == Y_ALIAS && is_container(v) && node == there->target)
        return there;
    if (there && there->kind == Y_ALIAS)
        return val_equal(w->q->j, there->value, v) ? there : node;
    return node && (!there || there->value.kind != v.kind || yq_node_of(w->q, v) != there) ? node : there;
}

static void put_key(YWriter *w, Slice key, const YNode *node, bool flow)
{
    if (node && node->kind == Y_SCALAR && node->style != YAML_PLAIN && !w->q->pretty)
        put_string(w, key, node->style, 0, true);
    else if (node && node->kind == Y_SCALAR)
        put(w, node->text);
    else
        put_string(w, key, YAML_PLAIN, 0, flow);
}

/* The node of item i: the next one with that value, so that what was put in or taken out moves no comment; else the one at its place. */
static YNode *item_node(YWriter *w, Val v, const YNode *node, size_t i, size_t *next)
{
    Val item = v.arr->items[i];
    if (!node || node->kind != Y_SEQ)
        return own_node(w, item, NULL);
    for (size_t k = *next; k < node->n && k < *next + 64; k++)
        if (val_equal(w->q->j, node->items[k]->value, item)) {
            *next = k + 1;
            return own_node(w, item, node->items[k]);
        }
    return own_node(w, item, arr_len(v) == node->n ? node->items[i] : NULL);
}

static void put_flow(YWriter *w, Val v, YNode *node)
{
    if (v.kind == K_ARRAY) {
        size_t next = 0;
        sink_char(w->s, '[');
        for (size_t i = 0; i < arr_len(v); i++) {
            if (i)
                put(w, SLICE(", "));
            put_node(w, v.arr->items[i], item_node(w, v, node, i, &next), 0, true);
        }
        sink_char(w->s, ']');
        return;
    }
    bool first = true;
    sink_char(w->s, '{');
    for (uint32_t i = 0; (i = obj_next(v.obj, i)) < v.obj->used; i++) {
        YNode *key = NULL, *there = entry_of(node, js_slice(v.obj->entries[i].key), &key);
        if (!first)
            put(w, SLICE(", "));
        first = false;
        put_key(w, js_slice(v.obj->entries[i].key), key, true);
        put(w, SLICE(": "));
        put_node(w, v.obj->entries[i].value, own_node(w, v.obj->entries[i].value, there), 0, true);
    }
    sink_char(w->s, '}');
}

static void put_line_comment(YWriter *w, const YNode *node)
{
    if (node && node->line.len) {
        sink_char(w->s, ' ');
        put(w, node->line);
    }
}

static void put_mark(YWriter *w, const YNode *node)
{
    if (node && node->anchor && node->kind != Y_ALIAS && !w->q->exploded) {
        put_text(w, " &");
        put_text(w, node->anchor);
    }
    if (node && node->tag && strncmp(node->tag, "tag:yaml.org,2002:", 18) != 0) {
        sink_char(w->s, ' ');
        put_text(w, node->tag);
    }
}

static bool in_flow(const YWriter *w, Val v, const YNode *node) { return is_empty(v) || (node && node->kind != Y_ALIAS && node->flow && !w->q->pretty); }

/* Behind "key:" or "-". */
static void put_value(YWriter *w, Val v, YNode *node, size_t indent, const YNode *key, bool dash)
{
    if (node && node->kind == Y_ALIAS) {
        sink_char(w->s, ' ');
        put_node(w, v, node, indent, false);
        put_line_comment(w, node);
        sink_char(w->s, '\n');
        return;
    }
    if (!is_container(v) || in_flow(w, v, node)) {
        if (is_container(v))
            put_mark(w, node);
        sink_char(w->s, ' ');
        put_node(w, v, node, indent, is_container(v));
        put_line_comment(w, node && node->line.len ? node : key);
        sink_char(w->s, '\n');
        return;
    }
    put_mark(w, node);
    if (dash && !(node && node->anchor && !w->q->exploded)) {
        sink_char(w->s, ' ');
        put_node(w, v, node, indent, false);
        return;
    }
    put_line_comment(w, key);
    sink_char(w->s, '\n');
    put_indent(w, indent);
    put_node(w, v, node, indent, false);
}

/* The first line's indentation is there already. */
static void put_sequence(YWriter *w, Val v, YNode *node, size_t indent)
{
    size_t next = 0;
    for (size_t i = 0; i < arr_len(v); i++) {
        Val item = v.arr->items[i];
        YNode *there = item_node(w, v, node, i, &next);
        if (i == 0 && there && there->head.len) { /* comments stand on lines of their own */
            put_comment(w, there->head, 0);
            put_indent(w, indent);
        } else if (i) {
            if (there)
                put_comment(w, there->head, indent);
            put_indent(w, indent);
        }
        sink_char(w->s, '-');
        put_value(w, item, there, indent + 2, NULL, true);
    }
}

static void put_entry(YWriter *w, Slice name, YNode *key, Val v, YNode *there, size_t indent, bool first)
{
    if (first && key && key->head.len) {
        put_comment(w, slice(key->head.data, slice_find(key->head, '\n')), 0);
        size_t n = slice_find(key->head, '\n');
        put_comment(w, slice_from(key->head, MIN(n + 1, key->head.len)), indent);
        put_indent(w, indent);
    } else if (!first) {
        if (key)
            put_comment(w, key->head, indent);
        put_indent(w, indent);
    }
    put_key(w, name, key, false);
    sink_char(w->s, ':');
    put_value(w, v, there, indent + (size_t)w->q->indent, key, false);
}

/* Entries that came by << and are still what they were stay there. */
static bool came_by_merge(YWriter *w, const YNode *node, const JEntry *e)
{
    for (size_t i = 0; node && node->kind == Y_MAP && !w->q->exploded && i < node->n; i++)
        if (node->items[i]->merged && slice_eq(node->keys[i]->text, js_slice(e->key)))
            return val_equal(w->q->j, node->items[i]->value, e->value);
    return false;
}

static void put_mapping(YWriter *w, Val v, YNode *node, size_t indent)
{
    bool first = true;
    for (size_t i = 0; node && node->kind == Y_MAP && !w->q->exploded && i < node->n; i++)
        if (node->keys[i]->merged) {
            put_entry(w, SLICE("<<"), node->keys[i], node->items[i]->value, node->items[i], indent, first);
            first = false;
        }
    for (uint32_t i = 0; (i = obj_next(v.obj, i)) < v.obj->used; i++) {
        const JEntry *e = &v.obj->entries[i];
        YNode *key = NULL, *there = entry_of(node, js_slice(e->key), &key);
        if (came_by_merge(w, node, e))
            continue;
        if (there && there->merged)
            there = NULL;
        put_entry(w, js_slice(e->key), key, e->value, own_node(w, e->value, there), indent, first);
        first = false;
    }
}

static void put_node(YWriter *w, Val v, YNode *node, size_t indent, bool flow)
{
    if (++w->depth > YQ_DEPTH || !proc_stack_room(w->q->p, 16384))
        yq_fail(w->q, "value nested too deeply");
    proc_tick(w->q->p, 1);
    if (node && node->kind == Y_ALIAS) {
        sink_char(w->s, '*');
        put_text(w, node->anchor);
    } else if (!is_container(v)) {
        put_scalar(w, v, node, indent, flow);
    } else if (flow || is_empty(v)) {
        put_flow(w, v, node);
    } else if (v.kind == K_ARRAY) {
        put_sequence(w, v, node, indent);
    } else {
        put_mapping(w, v, node, indent);
    }
    w->depth--;
}

void yaml_write(Yq *q, Sink *s, Val v, YNode *root)
{
    YWriter w = {.q = q, .s = s};
    YNode *node = own_node(&w, v, root && is_container(v) && root->value.kind == v.kind ? root : NULL);
    if (!is_container(v)) {
        if (v.kind == K_STRING && q->raw)
            put(&w, val_slice(v));
        else
            put_scalar(&w, v, NULL, 0, false);
        sink_char(s, '\n');
        return;
    }
    if (node && node->anchor && node->kind != Y_ALIAS && root == node && !q->exploded) {
        sink_char(s, '&');
        put_text(&w, node->anchor);
        sink_char(s, '\n');
    }
    if (in_flow(&w, v, node)) {
        put_flow(&w, v, node);
        put_line_comment(&w, node);
        sink_char(s, '\n');
    } else {
        put_node(&w, v, node && node->kind == Y_ALIAS ? node->target : node, 0, false);
    }
    if (root)
        put_comment(&w, root->foot, 0);
}

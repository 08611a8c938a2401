/* yaml_write: a value as YAML, with the manners of its node where it has one. */
#include <math.h>

#include "yq.h"

typedef struct YWriter {
    Yq *q;
    Sink *s;
    unsigned depth;
    bool skip_head; /* the first entry's comment: the root has another */
} YWriter;

static void put(YWriter *w, Slice s) { jsink_write(w->s, s); }
static void put_text(YWriter *w, const char *s) { put(w, slice_str(s)); }

/* Ends with color_off. */
static void color_on(YWriter *w, const char *code)
{
    if (w->q->color)
        put_text(w, code);
}
#define MAGENTA "\033[95m"
#define CYAN "\033[36m"
#define YELLOW "\033[93m"
#define GREEN "\033[32m"
#define GREY "\033[90m"
static void color_off(YWriter *w) { color_on(w, "\033[0m"); }

static void put_colored(YWriter *w, const char *code, const char *mark, const char *text)
{
    color_on(w, code);
    put_text(w, mark);
    put_text(w, text);
    color_off(w);
}

static void put_indent(YWriter *w, size_t n)
{
    while (n--)
        sink_char(w->s, ' ');
}

static void put_comment(YWriter *w, Slice c, size_t indent)
{
    while (c.len) {
        size_t n = slice_find(c, '\n');
        if (n) {
            put_indent(w, indent);
            color_on(w, GREY);
            put(w, slice(c.data, n));
            color_off(w);
        }
        sink_char(w->s, '\n');
        c = slice_from(c, MIN(n + 1, c.len));
    }
}

/* Where the indentation is there already, and is wanted again behind it. */
static void put_first_comment(YWriter *w, Slice c, size_t indent)
{
    size_t n = slice_find(c, '\n');
    put_comment(w, slice(c.data, n), 0);
    put_comment(w, slice_from(c, MIN(n + 1, c.len)), indent);
    put_indent(w, indent);
}

/* ---------- scalars ---------- */

/* What readers of YAML 1.1 take for a truth value. */
static bool one_of_old_words(Slice s)
{
    static const char *const words[] = {"y", "Y", "n", "N", "yes", "Yes", "YES", "no", "No", "NO", "on", "On", "ON", "off", "Off", "OFF"};
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (slice_is(s, words[i]))
            return true;
    return false;
}

/* Read back plain it would be the same string, also to YAML 1.1's readers. */
bool yaml_plain_string(Yq *q, Slice s)
{
    if (!s.len || one_of_old_words(s) || s.data[0] == ' ' || s.data[s.len - 1] == ' ' || s.data[s.len - 1] == ':')
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

/* Plain it would be read as a string, if it could stand so. */
static bool is_text(Yq *q, Slice s)
{
    Val v = yaml_scalar_value(q, s, YAML_PLAIN, NULL);
    bool text = v.kind == K_STRING;
    val_free(q->j, v);
    return text && !one_of_old_words(s);
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

/* Folded: a newline of the text is an empty line, but beside a line that begins with a blank. */
static void put_folded(YWriter *w, Slice s, size_t indent)
{
    bool ends = s.data[s.len - 1] == '\n', more = s.len > 1 && ends && s.data[s.len - 2] == '\n', first = true, deep = false;
    sink_char(w->s, '>');
    if (!ends || more)
        sink_char(w->s, ends ? '+' : '-');
    while (s.len) {
        size_t n = slice_find(s, '\n');
        bool blank = n && s.data[0] == ' ';
        if (!first && n && !blank && !deep)
            sink_char(w->s, '\n');
        sink_char(w->s, '\n');
        if (n)
            put_indent(w, indent);
        put(w, slice(s.data, n));
        first = n == 0;
        deep = blank;
        s = slice_from(s, MIN(n + 1, s.len));
    }
}

static void put_string(YWriter *w, Slice s, int style, size_t indent, bool flow)
{
    bool lines = slice_find(s, '\n') < s.len, odd = has_control(s), block = s.len && !odd && !flow;
    if (style == YAML_LITERAL && block) {
        put_literal(w, s, indent);
        return;
    }
    if (style == YAML_FOLDED && block && s.data[0] != ' ' && s.data[0] != '\n') {
        put_folded(w, s, indent);
        return;
    }
    if (style == YAML_SINGLE && !odd && !lines)
        put_single(w, s);
    else if (style == YAML_DOUBLE || odd || (flow && lines))
        jq_print_string(w->s, s, false);
    else if (lines && s.len > 1 && !flow)
        put_literal(w, s, indent);
    else if (yaml_plain_string(w->q, s) && !(flow && strpbrk(s.data, ",[]{}")))
        put(w, s);
    else if (lines || !is_text(w->q, s))
        jq_print_string(w->s, s, false);
    else
        put_single(w, s);
}

/* The anchor and tag before a scalar. */
static void put_scalar_mark(YWriter *w, const YNode *node, bool same)
{
    if (node->anchor) {
        put_colored(w, YELLOW, "&", node->anchor);
        sink_char(w->s, ' ');
    }
    if ((same && node->tag && !yq_core_tag(node->tag)) || node->tagged) {
        put_text(w, node->tagged ? yq_tag_of(w->q, node) : yq_short_tag(w->q, node->tag));
        sink_char(w->s, ' ');
    }
}

static void put_scalar(YWriter *w, Val v, const YNode *node, size_t indent, bool flow)
{
    char buf[NUMBER_TEXT];
    Yq *q = w->q;
    bool own = node && node->kind == Y_SCALAR, same = own && node->value.kind == v.kind && val_equal(q->j, node->value, v);
    int style = own && !q->pretty && (node->edited || node->value.kind == K_STRING) ? node->style : YAML_PLAIN;
    bool raw = !w->depth && q->raw;
    if (own && !raw)
        put_scalar_mark(w, node, same);
    Slice text = v.kind == K_STRING                                     ? val_slice(v)
                 : same && node->text.len && !q->pretty                 ? node->text
                 : v.kind == K_NUMBER && isnan(val_double(v))           ? SLICE(".nan")
                 : v.kind == K_NUMBER && !v.literal && !isfinite(val_double(v)) ? slice_str(val_double(v) > 0 ? ".inf" : "-.inf")
                 : v.kind == K_NUMBER                                   ? jq_number_text(v, buf)
                                                                        : slice_str(v.kind == K_NULL ? "null" : v.kind == K_TRUE ? "true" : "false");
    if (same && v.kind == K_NULL && node->text.data && !node->text.len && !node->bare && !q->pretty)
        text = node->text;
    if (v.kind != K_NULL)
        color_on(w, v.kind == K_STRING ? GREEN : MAGENTA);
    bool as_read = same && node->plain && !node->tag && style == YAML_PLAIN && v.kind == K_STRING && slice_find(text, '\n') == text.len && !has_control(text) && !(flow && strpbrk(text.data, ",[]{}"));
    if (raw || as_read)
        put(w, text);
    else if (v.kind == K_STRING || style != YAML_PLAIN)
        put_string(w, text, style, indent, flow);
    else
        put(w, text);
    if (v.kind != K_NULL)
        color_off(w);
}

/* ---------- containers ---------- */

static void put_node(YWriter *w, Val v, YNode *node, size_t indent, bool flow);

static bool is_container(Val v) { return v.kind == K_ARRAY || v.kind == K_OBJECT; }
static bool is_empty(Val v) { return v.kind == K_ARRAY ? arr_len(v) == 0 : v.kind == K_OBJECT && obj_len(v) == 0; }

static YNode *entry_of(Yq *q, YNode *node, Slice key, YNode **key_node)
{
    size_t i = node && node->kind == Y_MAP ? yq_own_entry(q, node, key) : SIZE_MAX;
    if (i == SIZE_MAX && node && node->kind == Y_MAP)
        i = yq_merged_entry(q, node, key);
    if (i == SIZE_MAX)
        return NULL;
    *key_node = node->keys[i];
    return node->items[i];
}

static void put_key(YWriter *w, Slice key, const YNode *node, bool flow)
{
    color_on(w, CYAN);
    if (node && node->kind == Y_SCALAR && node->style != YAML_PLAIN && !w->q->pretty)
        put_string(w, key, node->style, 0, true);
    else if (node && node->kind == Y_SCALAR && slice_eq(node->text, key))
        put(w, node->text);
    else
        put_string(w, key, YAML_PLAIN, 0, flow);
    color_off(w);
}

/* The node of item i: the next one with that value, so that what was put in or taken out moves no comment; else the one at its place. */
static YNode *item_node(YWriter *w, Val v, const YNode *node, size_t i, size_t *next)
{
    Val item = v.arr->items[i];
    if (!node || node->kind != Y_SEQ)
        return yq_effective(w->q, item, NULL);
    for (size_t k = *next; k < node->n && k < *next + 64; k++)
        if (val_equal(w->q->j, node->items[k]->value, item)) {
            *next = k + 1;
            return yq_effective(w->q, item, node->items[k]);
        }
    return yq_effective(w->q, item, arr_len(v) == node->n ? node->items[i] : NULL);
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
        YNode *key = NULL, *there = entry_of(w->q, node, js_slice(v.obj->entries[i].key), &key);
        if (!first)
            put(w, SLICE(", "));
        first = false;
        put_key(w, js_slice(v.obj->entries[i].key), key, true);
        put(w, SLICE(": "));
        put_node(w, v.obj->entries[i].value, yq_effective(w->q, v.obj->entries[i].value, there), 0, true);
    }
    sink_char(w->s, '}');
}

static void put_line_comment(YWriter *w, const YNode *node)
{
    if (node && node->line.len) {
        sink_char(w->s, ' ');
        color_on(w, GREY);
        put(w, node->line);
        color_off(w);
    }
}

static void put_mark(YWriter *w, const YNode *node)
{
    if (node && node->anchor && node->kind != Y_ALIAS) {
        sink_char(w->s, ' ');
        put_colored(w, YELLOW, "&", node->anchor);
    }
    if (node && node->kind != Y_SCALAR && ((node->tag && !yq_core_tag(node->tag)) || node->tagged)) {
        sink_char(w->s, ' ');
        put_text(w, node->tagged ? yq_tag_of(w->q, node) : yq_short_tag(w->q, node->tag));
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
    if (dash && !(node && (node->anchor || node->tagged || (node->tag && !yq_core_tag(node->tag))))) {
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
        if (i == 0 && w->skip_head) {
            w->skip_head = false;
        } else if (i == 0 && there && there->head.len) { /* comments stand on lines of their own */
            put_first_comment(w, there->head, indent);
        } else if (i) {
            if (there)
                put_comment(w, there->head, indent);
            put_indent(w, indent);
        }
        sink_char(w->s, '-');
        put_value(w, item, there, indent + 2, NULL, true);
        if (there)
            put_comment(w, there->foot, indent);
    }
}

static void put_entry(YWriter *w, Slice name, YNode *key, Val v, YNode *there, size_t indent, bool first)
{
    if (there && there->key_edited && slice_eq(there->keynode->text, name))
        key = there->keynode;
    Slice head = key && key->head.len ? key->head : there && there->kind != Y_ALIAS ? there->head : slice("", 0);
    if (first && w->skip_head)
        head = slice("", 0);
    w->skip_head = false;
    if (first && head.len) {
        put_first_comment(w, head, indent);
    } else if (!first) {
        put_comment(w, head, indent);
        put_indent(w, indent);
    }
    put_key(w, name, key, false);
    sink_char(w->s, ':');
    put_value(w, v, there, indent + (size_t)w->q->indent, key, false);
    if (there)
        put_comment(w, there->foot, indent);
    if (key)
        put_comment(w, key->foot, indent);
}

/* Entries that came by << and are still what they were stay there. */
static bool came_by_merge(YWriter *w, YNode *node, const JEntry *e)
{
    size_t i = node && node->kind == Y_MAP ? yq_merged_entry(w->q, node, js_slice(e->key)) : SIZE_MAX;
    return i != SIZE_MAX && val_equal(w->q->j, node->items[i]->value, e->value);
}

static void put_mapping(YWriter *w, Val v, YNode *node, size_t indent)
{
    bool first = true;
    for (size_t i = 0; node && node->kind == Y_MAP && i < node->n; i++)
        if (node->keys[i]->merged) {
            put_entry(w, SLICE("<<"), node->keys[i], node->items[i]->value, node->items[i], indent, first);
            first = false;
        }
    for (uint32_t i = 0; (i = obj_next(v.obj, i)) < v.obj->used; i++) {
        const JEntry *e = &v.obj->entries[i];
        YNode *key = NULL, *there = entry_of(w->q, node, js_slice(e->key), &key);
        if (came_by_merge(w, node, e))
            continue;
        if (there && there->merged)
            there = NULL;
        put_entry(w, js_slice(e->key), key, e->value, yq_effective(w->q, e->value, there), indent, first);
        first = false;
    }
}

static void put_node(YWriter *w, Val v, YNode *node, size_t indent, bool flow)
{
    if (++w->depth > YQ_DEPTH || !proc_stack_room(w->q->p, 16384))
        yq_fail(w->q, "value nested too deeply");
    proc_tick(w->q->p, 1);
    if (node && node->kind == Y_ALIAS) {
        put_colored(w, YELLOW, "*", node->anchor);
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
    YNode *node = yq_node_of(q, v) ? yq_effective(q, v, NULL) : root && is_container(v) && root->value.kind == v.kind ? root : NULL;
    if (node && node->kind == Y_ALIAS)
        node = node->target;
    if (!is_container(v)) {
        put_scalar(&w, v, node, 0, false);
        if (!q->raw)
            put_line_comment(&w, node);
        sink_char(s, '\n');
        return;
    }
    if (node && (node->edited || node == root))
        put_comment(&w, node->head, 0);
    w.skip_head = node && node->took_head;
    if (node && node->kind != Y_ALIAS && ((node->anchor && (root == node || node->edited)) || node->tagged || (node->tag && !yq_core_tag(node->tag)))) {
        bool any = node->anchor != NULL;
        if (any)
            put_colored(&w, YELLOW, "&", node->anchor);
        if (node->tagged || (node->tag && !yq_core_tag(node->tag))) {
            if (any)
                sink_char(s, ' ');
            put_text(&w, node->tagged ? yq_tag_of(q, node) : yq_short_tag(q, node->tag));
        }
        sink_char(s, in_flow(&w, v, node) ? ' ' : '\n');
    }
    if (in_flow(&w, v, node)) {
        put_flow(&w, v, node);
        put_line_comment(&w, node);
        sink_char(s, '\n');
    } else {
        put_node(&w, v, node && node->kind == Y_ALIAS ? node->target : node, 0, false);
    }
    if (node && node->edited)
        put_comment(&w, node->foot, 0);
    else if (root)
        put_comment(&w, root->foot, 0);
}

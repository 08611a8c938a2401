/* nodes: what a value does not say, found by the number that it carries; reading and changing it.
 *
 * A change makes a node of its own (`edited`) for the value at its place; others keep theirs.
 */
#include <math.h>

#include "yq.h"

/* ---------- values and nodes ---------- */

void yq_remember(Yq *q, Val *v, YNode *node)
{
    if (q->count == q->cap) {
        size_t cap = q->cap ? q->cap * 2 : 256;
        q->nodes = mem_grow(&q->p->keep, q->nodes, q->cap * sizeof *q->nodes, cap * sizeof *q->nodes);
        q->cap = cap;
    }
    if (!q->count)
        q->nodes[q->count++] = NULL;
    if (q->count >= UINT32_MAX)
        yq_fail(q, "too many values");
    v->meta = (uint32_t)q->count;
    q->nodes[q->count++] = node;
}

static bool fits(const YNode *n, Val v)
{
    Kind kind = n->kind == Y_MAP ? K_OBJECT : n->kind == Y_SEQ ? K_ARRAY : n->kind == Y_ALIAS ? n->value.kind : K_NULL;
    return kind >= K_ARRAY ? v.kind == kind : v.kind < K_ARRAY;
}

YNode *yq_node_of(const Yq *q, Val v)
{
    YNode *n = v.meta < q->count ? q->nodes[v.meta] : NULL;
    return n && fits(n, v) ? n : NULL;
}

static bool still(Yq *q, const YNode *n, Val v)
{
    return v.kind >= K_ARRAY ? val_identical(n->value, v) : val_equal(q->j, n->value, v);
}

/* A value put where another stood: the comments are its own where it has some, the style is the place's, as are anchor and a tag of its own. */
static YNode *combined(Yq *q, YNode *own, const YNode *there)
{
    YNode *c = mem_alloc(&q->p->keep, sizeof *c);
    *c = *own;
    c->anchor = own->kind == Y_ALIAS ? own->anchor : there->anchor;
    if (own->kind == Y_SCALAR && there->kind == Y_SCALAR && there->style != YAML_PLAIN && own->value.kind == there->value.kind)
        c->style = there->style;
    if (own->kind == there->kind && own->kind != Y_SCALAR && there->n)
        c->flow = there->flow;
    c->head = own->head.len ? own->head : there->head;
    c->line = own->line.len ? own->line : there->line;
    c->foot = own->foot.len ? own->foot : there->foot;
    return c;
}

YNode *yq_effective(Yq *q, Val v, YNode *there)
{
    YNode *own = yq_node_of(q, v);
    if (own && own->kind == Y_ALIAS && !still(q, own, v))
        own = NULL;
    if (own && (own == there || own->edited))
        return own;
    if (there && there->kind == Y_ALIAS)
        return own ? own : still(q, there, v) ? there : NULL;
    if (own && there)
        return combined(q, own, there);
    return own ? own : there;
}

/* Keys and the places of their first entries, from 1; 0: none. */
struct YIndex {
    Map own, merged;
};

static void index_put(Map *m, Slice key, size_t place)
{
    MapEntry *e = map_put(m, key);
    if (!e->value)
        e->value = (void *)(uintptr_t)(place + 1);
}

static const struct YIndex *index_of(Yq *q, YNode *n)
{
    if (n->index)
        return n->index;
    n->index = mem_new(&q->p->keep, struct YIndex);
    map_init(&n->index->own, &q->p->keep);
    map_init(&n->index->merged, &q->p->keep);
    for (size_t i = 0; i < n->n; i++)
        if (!n->keys[i]->merged)
            index_put(n->items[i]->merged ? &n->index->merged : &n->index->own, n->keys[i]->text, i);
    proc_tick(q->p, 1 + n->n / 8);
    return n->index;
}

static size_t place_in(const Map *m, Slice key)
{
    const MapEntry *e = map_get(m, key);
    return e ? (size_t)(uintptr_t)e->value - 1 : SIZE_MAX;
}

size_t yq_own_entry(Yq *q, YNode *mapping, Slice key) { return place_in(&index_of(q, mapping)->own, key); }
size_t yq_merged_entry(Yq *q, YNode *mapping, Slice key) { return place_in(&index_of(q, mapping)->merged, key); }

/* The node of an entry of the node's value. */
static YNode *member(Yq *q, YNode *n, Val key)
{
    if (n && n->kind == Y_ALIAS)
        n = n->target;
    if (n && n->kind == Y_SEQ && key.kind == K_NUMBER && val_double(key) >= 0 && val_double(key) < (double)n->n)
        return n->items[(size_t)val_double(key)];
    size_t i = n && n->kind == Y_MAP && key.kind == K_STRING ? yq_own_entry(q, n, val_slice(key)) : SIZE_MAX;
    return i != SIZE_MAX ? n->items[i] : NULL;
}

/* Places for the parts of a value that was not YAML. */
void yq_adopt(Yq *q, Val *v, YNode *parent, Slice name, size_t place)
{
    if (q->count >= YQ_ADOPT || !proc_stack_room(q->p, 16384))
        return;
    proc_tick(q->p, 1);
    YNode *n = mem_alloc0(&q->p->keep, sizeof *n);
    n->kind = v->kind == K_OBJECT ? Y_MAP : v->kind == K_ARRAY ? Y_SEQ : Y_SCALAR;
    n->parent = parent;
    n->name = name;
    n->place = place;
    n->bare = true;
    n->head = n->line = n->foot = n->text = slice("", 0);
    yq_remember(q, v, n);
    for (size_t i = 0; v->kind == K_ARRAY && i < arr_len(*v); i++)
        yq_adopt(q, &v->arr->items[i], n, slice(NULL, 0), i);
    for (uint32_t i = 0; v->kind == K_OBJECT && (i = obj_next(v->obj, i)) < v->obj->used; i++)
        yq_adopt(q, &v->obj->entries[i].value, n, js_slice(v->obj->entries[i].key), 0);
    n->value = val_copy(*v);
}

/* ---------- asking ---------- */

static Val drop(J *j, Val *a, unsigned n, Val out)
{
    for (unsigned i = 0; i < n; i++)
        val_free(j, a[i]);
    return out;
}

/* Without the number signs. */
static Val comment_text(Yq *q, Slice c)
{
    Buf b;
    buf_init(&b, &q->p->keep, BUF_MAX);
    while (c.len && c.data[0] == '\n')
        c = slice_from(c, 1);
    while (c.len && c.data[c.len - 1] == '\n')
        c.len--;
    while (c.len) {
        size_t n = slice_find(c, '\n');
        Slice line = slice(c.data, n);
        line = slice_from(line, slice_starts(line, SLICE("# ")) ? 2 : slice_starts(line, SLICE("#")) ? 1 : 0);
        buf_append(&b, line);
        c = slice_from(c, MIN(n + 1, c.len));
        if (c.len)
            buf_char(&b, '\n');
    }
    return val_string_utf8(q->j, buf_slice(&b));
}

static const char *core_tag(Yq *q, Val v, const YNode *n)
{
    char buf[NUMBER_TEXT];
    static const char *const tags[] = {[K_NULL] = "!!null", [K_FALSE] = "!!bool", [K_TRUE] = "!!bool", [K_STRING] = "!!str", [K_ARRAY] = "!!seq", [K_OBJECT] = "!!map"};
    if (v.kind != K_NUMBER)
        return tags[v.kind];
    double d = val_double(v);
    Slice text = n && n->kind == Y_SCALAR && n->text.len && still(q, n, v) ? n->text : jq_number_text(v, buf);
    bool based = slice_starts(text, SLICE("0x")) || slice_starts(text, SLICE("0o"));
    bool point = !isfinite(d) || d != floor(d);
    for (size_t i = 0; !based && i < text.len; i++)
        point |= text.data[i] == '.' || text.data[i] == 'e' || text.data[i] == 'E';
    return point ? "!!float" : "!!int";
}

bool yq_core_tag(const char *tag)
{
    static const char *const names[] = {"null", "bool", "int", "float", "str", "map", "seq", "merge"};
    if (strncmp(tag, "tag:yaml.org,2002:", 18) != 0)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (strcmp(tag + 18, names[i]) == 0)
            return true;
    return false;
}

/* As it is written: !!name or !name. */
const char *yq_short_tag(Yq *q, const char *tag)
{
    return strncmp(tag, "tag:yaml.org,2002:", 18) == 0 ? mem_printf(&q->p->keep, "!!%s", tag + 18) : tag;
}

static const char *tag_of(Yq *q, Val v, const YNode *n)
{
    bool own = n && n->tag && !yq_core_tag(n->tag);
    return own ? yq_short_tag(q, n->tag) : core_tag(q, v, n);
}

const char *yq_tag_of(Yq *q, const YNode *node) { return tag_of(q, node->value, node); }

static const char *style_of(const YNode *n)
{
    static const char *const names[] = {[YAML_PLAIN] = "", [YAML_SINGLE] = "single", [YAML_DOUBLE] = "double", [YAML_LITERAL] = "literal", [YAML_FOLDED] = "folded"};
    return !n || n->bare ? "" : n->tagged ? "tagged" : n->kind == Y_SCALAR ? names[n->style] : n->flow ? "flow" : "";
}

static Slice head_of(const YNode *n)
{
    if (n->head.len || n->parent || !n->n || n->edited)
        return n->head;
    return n->keys[0] ? n->keys[0]->head : n->items[0]->head;
}

static Val place_of(Yq *q, const YNode *n)
{
    if (!n || !n->parent)
        return VAL_NULL;
    if (!n->name.data)
        return val_num((double)n->place);
    Val key = val_string_utf8(q->j, n->name);
    if (n->keynode)
        key.meta = n->keynode->value.meta;
    return key;
}

static Val path_of(Yq *q, const YNode *n)
{
    size_t depth = 0;
    for (const YNode *at = n; at && at->parent; at = at->parent)
        depth++;
    Val out = arr_new(q->j, depth);
    const YNode **steps = mem_array(&q->p->keep, depth + 1, const YNode *);
    for (size_t i = depth; i; n = n->parent)
        steps[--i] = n;
    for (size_t i = 0; i < depth; i++) {
        Val key = place_of(q, steps[i]);
        key.meta = 0;
        out = arr_push(q->j, out, key);
    }
    return out;
}

static Val ask(Yq *q, Val v, Slice what)
{
    J *j = q->j;
    const YNode *n = yq_node_of(q, v);
    if (slice_is(what, "tag"))
        return val_text(j, tag_of(q, v, n));
    if (slice_is(what, "style"))
        return val_text(j, style_of(n));
    if (slice_is(what, "anchor"))
        return val_text(j, n && n->kind != Y_ALIAS && n->anchor ? n->anchor : "");
    if (slice_is(what, "alias"))
        return val_text(j, n && n->kind == Y_ALIAS ? n->anchor : "");
    if (slice_is(what, "head"))
        return n ? comment_text(q, head_of(n)) : val_text(j, "");
    if (slice_is(what, "line"))
        return comment_text(q, n ? n->line : slice("", 0));
    if (slice_is(what, "foot"))
        return comment_text(q, n ? n->foot : slice("", 0));
    if (slice_is(what, "key"))
        return place_of(q, n);
    if (slice_is(what, "path"))
        return path_of(q, n);
    if (slice_is(what, "parent"))
        return n && n->parent ? val_copy(n->parent->value) : VAL_INVALID;
    if (slice_is(what, "is_key"))
        return val_bool(n && n->is_key);
    return val_num(!n ? 0 : slice_is(what, "row") ? (double)n->row : (double)n->column);
}

/* v | _yq_ask(what) */
static Val fn_ask(J *j, Val *a)
{
    if (!j->yq || a[1].kind != K_STRING)
        return drop(j, a, 2, jq_error(j, "not a function of jq"));
    return drop(j, a, 2, ask(j->yq, a[0], val_slice(a[1])));
}

/* ---------- changing ---------- */

static Slice comment_of(Yq *q, Val x)
{
    Buf b;
    Slice rest = x.kind == K_STRING ? val_slice(x) : slice("", 0);
    buf_init(&b, &q->p->keep, BUF_MAX);
    if (x.kind != K_STRING && x.kind != K_NULL) {
        Val text = val_tojson(q->j, val_copy(x));
        rest = slice(mem_copy(&q->p->keep, val_slice(text)), text.str->len);
        val_free(q->j, text);
    }
    while (rest.len) {
        size_t n = slice_find(rest, '\n');
        if (rest.data[0] != '#' && n)
            buf_append(&b, SLICE("# "));
        buf_append(&b, slice(rest.data, n));
        rest = slice_from(rest, MIN(n + 1, rest.len));
        if (rest.len)
            buf_char(&b, '\n');
    }
    return buf_slice(&b);
}

static bool set_style(YNode *n, Slice name)
{
    static const char *const names[] = {"", "single", "double", "literal", "folded", "flow", "tagged"};
    static const int styles[] = {YAML_PLAIN, YAML_SINGLE, YAML_DOUBLE, YAML_LITERAL, YAML_FOLDED, YAML_PLAIN, YAML_PLAIN};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (slice_is(name, names[i])) {
            n->style = styles[i];
            n->flow = i == 5;
            n->tagged = i == 6;
            n->bare = n->plain = false;
            return true;
        }
    return false;
}

/* One of the core tags makes the text of a scalar be read as that. */
static void set_tag(Yq *q, YNode *n, Val *v, Slice name)
{
    size_t core = slice_starts(name, SLICE("!!")) ? 2 : 0;
    const char *tag = mem_printf(&q->p->keep, "%s%.*s", core ? "tag:yaml.org,2002:" : "", (int)(name.len - core), name.data + core);
    n->plain = false;
    n->tag = name.len && !yq_core_tag(tag) ? tag : NULL;
    if (v->kind >= K_ARRAY || !yq_core_tag(tag))
        return;
    bool same = n->kind == Y_SCALAR && n->text.len && still(q, n, *v);
    Val text = same ? val_string_utf8(q->j, n->text) : val_tostring(q->j, val_copy(*v));
    uint32_t meta = v->meta;
    val_free(q->j, *v);
    *v = yaml_scalar_value(q, slice(mem_copy(&q->p->keep, val_slice(text)), text.str->len), YAML_PLAIN, tag);
    v->meta = meta;
    val_free(q->j, text);
}

static void set_comment(YNode *n, Slice what, Slice text)
{
    bool all = slice_is(what, "comments");
    if (all || slice_is(what, "head")) {
        n->took_head |= !n->parent && !n->head.len && n->n;
        n->head = text;
    }
    if (all || slice_is(what, "line"))
        n->line = text;
    if (all || slice_is(what, "foot"))
        n->foot = text;
}

static YNode *copy_node(Yq *q, const YNode *n, Val v)
{
    YNode *e = mem_alloc0(&q->p->keep, sizeof *e);
    if (n)
        *e = *n, e->index = NULL;
    else
        e->head = e->line = e->foot = e->text = slice("", 0);
    if (!n || !fits(n, v)) {
        e->kind = v.kind == K_OBJECT ? Y_MAP : v.kind == K_ARRAY ? Y_SEQ : Y_SCALAR;
        e->n = 0;
        e->bare = true;
    }
    e->edited = true;
    return e;
}

static YNode *copy_key(Yq *q, const YNode *n, Val key)
{
    YNode *k = mem_alloc0(&q->p->keep, sizeof *k);
    if (n)
        *k = *n;
    else
        k->head = k->line = k->foot = slice("", 0);
    if (key.kind == K_STRING)
        k->text = slice(mem_copy(&q->p->keep, val_slice(key)), key.str->len);
    return k;
}

static bool is_comment(Slice what) { return slice_is(what, "comments") || slice_is(what, "head") || slice_is(what, "line") || slice_is(what, "foot"); }

/* The value with its node changed, or an error. */
static Val change(Yq *q, Val v, Slice what, Val x, Val parent, Val key)
{
    YNode *there = member(q, yq_node_of(q, parent), key), *n = yq_effective(q, v, there);
    bool of_key = slice_starts(what, SLICE("key:")), both = slice_starts(what, SLICE("all:"));
    YNode *e = copy_node(q, n, v);
    what = slice_from(what, of_key || both ? 4 : 0);
    if (!e->keynode && there)
        e->keynode = there->keynode;
    if (of_key || (both && key.kind == K_STRING)) {
        e->keynode = copy_key(q, e->keynode, key);
        e->key_edited = true;
        if (is_comment(what))
            set_comment(e->keynode, what, comment_of(q, x));
        else if (slice_is(what, "style") && x.kind == K_STRING && !set_style(e->keynode, val_slice(x)))
            return jq_error(q->j, "Unknown style %s", x.str->data);
    }
    Val scalar = x.kind < K_ARRAY ? val_tostring(q->j, val_copy(x)) : val_text(q->j, "");
    Slice text = slice(mem_copy(&q->p->keep, val_slice(scalar)), scalar.str->len);
    val_free(q->j, scalar);
    v = val_copy(v);
    if (!of_key && is_comment(what)) {
        set_comment(e, what, comment_of(q, x));
    } else if (!of_key && x.kind >= K_ARRAY) {
        val_free(q->j, v);
        return jq_error(q->j, "%.*s wants a scalar", (int)what.len, what.data);
    } else if (!of_key && slice_is(what, "style") && !set_style(e, text)) {
        val_free(q->j, v);
        return jq_error(q->j, "Unknown style %.*s", (int)text.len, text.data);
    } else if (!of_key && slice_is(what, "tag")) {
        set_tag(q, e, &v, text);
    } else if (!of_key && slice_is(what, "anchor")) {
        e->anchor = text.len ? text.data : NULL;
    } else if (!of_key && slice_is(what, "alias") && text.len) {
        e->kind = Y_ALIAS;
        e->anchor = text.data;
        e->target = NULL;
    }
    yq_remember(q, &v, e);
    e->value = val_copy(v);
    return v;
}

/* v | _yq_mark(what; x; parent; key) */
static Val fn_mark(J *j, Val *a)
{
    if (!j->yq || a[1].kind != K_STRING)
        return drop(j, a, 5, jq_error(j, "not a function of jq"));
    return drop(j, a, 5, change(j->yq, a[0], val_slice(a[1]), a[2], a[3], a[4]));
}

/* ---------- explode ---------- */

/* The value without anchors and aliases; what came in by << is there itself. Consumes v. */
static Val explode(Yq *q, Val v, YNode *there)
{
    if (!proc_stack_room(q->p, 16384))
        yq_fail(q, "value nested too deeply");
    proc_tick(q->p, 1);
    YNode *n = yq_effective(q, v, there), *alias = n && n->kind == Y_ALIAS ? n : NULL;
    if (alias)
        n = alias->target;
    YNode *e = copy_node(q, n, v);
    Val out = v;
    e->anchor = NULL;
    if (alias) {
        e->head = alias->head;
        e->line = alias->line;
        e->foot = alias->foot;
    }
    if (v.kind == K_ARRAY) {
        out = arr_new(q->j, arr_len(v));
        for (size_t i = 0; i < arr_len(v); i++)
            out = arr_push(q->j, out, explode(q, val_copy(v.arr->items[i]), member(q, n, val_num((double)i))));
    } else if (v.kind == K_OBJECT) {
        out = obj_new(q->j, obj_len(v));
        for (uint32_t i = 0; (i = obj_next(v.obj, i)) < v.obj->used; i++) {
            Val key = val_copy(val_str(v.obj->entries[i].key));
            Val item = explode(q, val_copy(v.obj->entries[i].value), member(q, n, key));
            out = obj_set(q->j, out, key, item);
        }
        e->n = 0;
        e->keys = mem_alloc_array(&q->p->keep, (n ? n->n : 0) + 1, sizeof *e->keys);
        e->items = mem_alloc_array(&q->p->keep, (n ? n->n : 0) + 1, sizeof *e->items);
        for (size_t i = 0; n && n->kind == Y_MAP && i < n->n; i++)
            if (!n->keys[i]->merged && !n->items[i]->merged) {
                e->keys[e->n] = n->keys[i];
                e->items[e->n++] = n->items[i];
            }
    }
    if (v.kind >= K_ARRAY)
        val_free(q->j, v);
    yq_remember(q, &out, e);
    e->value = val_copy(out);
    return out;
}

static Val fn_explode(J *j, Val *a)
{
    if (!j->yq)
        return drop(j, a, 1, jq_error(j, "not a function of jq"));
    return explode(j->yq, a[0], NULL);
}

const Native jq_natives_yq_nodes[] = {
    {"_yq_ask", 2, fn_ask}, {"_yq_mark", 5, fn_mark}, {"_yq_explode", 1, fn_explode}, {NULL, 0, NULL},
};

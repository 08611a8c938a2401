/* yaml_read: events of libyaml as values and nodes; comments are found in the lines of the text, which libyaml does not keep. */
#include "shared.h"
#include "yq.h"

typedef struct Anchor {
    struct Anchor *next;
    const char *name;
    YNode *node;
} Anchor;

typedef struct YReader {
    Yq *q;
    const YamlFunctions *yaml;
    void *parser;
    YamlEvent e;
    Slice *lines;
    bool *taken;           /* comment lines that a node has */
    size_t nlines;
    Anchor *anchors;
    const char *name;
    unsigned depth, flow; /* flow: how many [ and { are open */
} YReader;

static void release(Proc *p, void *thing)
{
    (void)p;
    YReader *r = thing;
    if (r->parser)
        r->yaml->parser_free(r->parser);
}

static void step(YReader *r)
{
    proc_tick(r->q->p, 1);
    if (r->yaml->next(r->parser, &r->e))
        return;
    yq_fail(r->q, "bad file '%s': %s", r->name, r->e.value);
}

static char *copy(YReader *r, const char *s) { return s ? mem_strdup(&r->q->p->keep, s) : NULL; }

/* ---------- comments ---------- */

static void split_lines(YReader *r, Slice text)
{
    size_t n = 1 + slice_count(text, '\n');
    r->lines = mem_alloc_array(&r->q->p->keep, n + 1, sizeof *r->lines);
    r->taken = mem_alloc_array(&r->q->p->keep, n + 1, sizeof *r->taken);
    while (text.len) {
        size_t end = slice_find(text, '\n');
        r->lines[r->nlines++] = slice(text.data, end);
        text = slice_from(text, MIN(end + 1, text.len));
    }
}

static Slice trimmed(Slice s)
{
    while (s.len && (s.data[0] == ' ' || s.data[0] == '\t'))
        s = slice_from(s, 1);
    while (s.len && (s.data[s.len - 1] == ' ' || s.data[s.len - 1] == '\t' || s.data[s.len - 1] == '\r'))
        s.len--;
    return s;
}

static bool is_comment(const YReader *r, size_t line)
{
    Slice s = trimmed(r->lines[line]);
    return s.len && s.data[0] == '#';
}

static Slice join(YReader *r, size_t from, size_t to)
{
    Buf b;
    buf_init(&b, &r->q->p->keep, BUF_MAX);
    for (size_t i = from; i < to; i++) {
        r->taken[i] = true;
        if (i > from)
            buf_char(&b, '\n');
        buf_append(&b, trimmed(r->lines[i]));
    }
    return b.data ? buf_slice(&b) : slice("", 0);
}

static bool is_blank(const YReader *r, size_t line) { return trimmed(r->lines[line]).len == 0; }

/* The lines of comments above that nobody has, and the empty lines among them and behind them. */
static Slice head_comment(YReader *r, size_t line)
{
    size_t to = MIN(line, r->nlines), from = to, at = to, end;
    for (; at > 0 && !r->taken[at - 1] && (is_comment(r, at - 1) || is_blank(r, at - 1)); at--)
        from = is_comment(r, at - 1) ? at - 1 : from;
    for (end = to; end > from && is_blank(r, end - 1); end--)
        ;
    Slice text = join(r, from, end);
    return end == to || !text.len ? text : slice_str(mem_printf(&r->q->p->keep, "%.*s\n\n", (int)text.len, text.data));
}

/* Behind the end of a scalar on its line. */
static Slice line_comment(YReader *r, size_t line, size_t column)
{
    if (line >= r->nlines)
        return slice("", 0);
    Slice s = r->lines[line];
    s = slice_from(s, MIN(utf8_offset(s, column), s.len));
    size_t at = 0;
    while (at < s.len && strchr(r->flow ? " \t,:" : " \t:", s.data[at]))
        at++;
    return at < s.len && s.data[at] == '#' && at > 0 ? trimmed(slice_from(s, at)) : slice("", 0);
}

/* Comment lines that are left above the end of the document. */
static Slice foot_comment(YReader *r, size_t line)
{
    size_t to = MIN(line, r->nlines), from;
    while (to > 0 && !trimmed(r->lines[to - 1]).len)
        to--;
    size_t at = to;
    for (from = to; at > 0 && !r->taken[at - 1] && (is_comment(r, at - 1) || is_blank(r, at - 1)); at--)
        from = is_comment(r, at - 1) ? at - 1 : from;
    Slice text = join(r, from, to);
    bool apart = text.len && from > 0 && is_blank(r, from - 1);
    return apart ? slice_str(mem_printf(&r->q->p->keep, "\n%.*s", (int)text.len, text.data)) : text;
}

/* ---------- scalars ---------- */

static bool one_of(Slice s, const char *const *words)
{
    for (; *words; words++)
        if (slice_is(s, *words))
            return true;
    return false;
}

/* -?[0-9]+ or with a point and exponent: what JSON reads, and YAML's own forms of it. */
static bool decimal(Slice s, bool *integer)
{
    size_t i = s.len && (s.data[0] == '-' || s.data[0] == '+'), digits = 0;
    *integer = true;
    for (; i < s.len && s.data[i] >= '0' && s.data[i] <= '9'; i++)
        digits++;
    if (i < s.len && s.data[i] == '.') {
        *integer = false;
        for (i++; i < s.len && s.data[i] >= '0' && s.data[i] <= '9'; i++)
            digits++;
    }
    if (digits && i < s.len && (s.data[i] | 32) == 'e') {
        *integer = false;
        size_t from = ++i;
        i += i < s.len && (s.data[i] == '-' || s.data[i] == '+');
        from = i;
        while (i < s.len && s.data[i] >= '0' && s.data[i] <= '9')
            i++;
        if (i == from)
            return false;
    }
    return digits && i == s.len;
}

static bool based(Slice s, double *out)
{
    unsigned base = slice_starts(s, SLICE("0x")) ? 16 : slice_starts(s, SLICE("0o")) ? 8 : 0;
    double v = 0;
    for (size_t i = 2; base && i < s.len; i++) {
        char c = s.data[i] | 32;
        unsigned d = c >= '0' && c <= '9' ? (unsigned)(c - '0') : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10 : 99;
        if (d >= base)
            return false;
        v = v * base + d;
    }
    *out = v;
    return base && s.len > 2;
}

/* The core schema of YAML 1.2. */
Val yaml_scalar_value(Yq *q, Slice s, int style, const char *tag)
{
    static const char *const nulls[] = {"", "~", "null", "Null", "NULL", NULL}, *const trues[] = {"true", "True", "TRUE", NULL}, *const falses[] = {"false", "False", "FALSE", NULL};
    static const char *const infinities[] = {".inf", ".Inf", ".INF", "+.inf", NULL}, *const nans[] = {".nan", ".NaN", ".NAN", NULL};
    bool integer;
    double v;
    Val out;
    bool string = style != YAML_PLAIN || (tag && strcmp(tag, "tag:yaml.org,2002:str") == 0);
    if (string && !(tag && strcmp(tag, "tag:yaml.org,2002:int") == 0))
        return val_string_utf8(q->j, s);
    if (one_of(s, nulls))
        return VAL_NULL;
    if (one_of(s, trues) || one_of(s, falses))
        return val_bool((s.data[0] | 32) == 't');
    if (decimal(s, &integer)) {
        Slice number = s.data[0] == '+' ? slice_from(s, 1) : s;
        if (jq_number_parse(q->j, number, &out))
            return out;
        bool ok;
        v = jq_number_read(number, &ok);
        if (ok)
            return val_num(v);
    }
    if (based(s, &v))
        return val_num(v);
    if (one_of(s, infinities) || slice_is(s, "-.inf"))
        return val_num(s.data[0] == '-' ? -__builtin_inf() : __builtin_inf());
    if (one_of(s, nans))
        return val_num(__builtin_nan(""));
    return val_string_utf8(q->j, s);
}

/* ---------- nodes ---------- */

static YNode *node_new(YReader *r, YKind kind)
{
    YNode *n = mem_alloc0(&r->q->p->keep, sizeof *n);
    n->kind = kind;
    n->style = r->e.style;
    n->flow = r->e.flow;
    n->anchor = copy(r, r->e.anchor);
    n->tag = copy(r, r->e.tag);
    n->head = n->line = n->foot = slice("", 0);
    n->row = r->e.line + 1;
    n->column = r->e.column + 1;
    return n;
}

static void add_entry(YReader *r, YNode *n, YNode *key, YNode *item)
{
    if (n->n == n->cap) {
        size_t cap = n->cap * 2 + 4;
        n->keys = mem_grow(&r->q->p->keep, n->keys, n->cap * sizeof *n->keys, cap * sizeof *n->keys);
        n->items = mem_grow(&r->q->p->keep, n->items, n->cap * sizeof *n->items, cap * sizeof *n->items);
        n->cap = cap;
    }
    n->index = NULL;
    n->keys[n->n] = key;
    n->items[n->n++] = item;
}

static void set_anchor(YReader *r, YNode *n)
{
    if (!n->anchor)
        return;
    Anchor *a = mem_alloc(&r->q->p->keep, sizeof *a);
    *a = (Anchor){r->anchors, n->anchor, n};
    r->anchors = a;
}

static YNode *find_anchor(YReader *r, const char *name)
{
    for (Anchor *a = r->anchors; a; a = a->next)
        if (strcmp(a->name, name) == 0)
            return a->node;
    yq_fail(r->q, "bad file '%s': yaml: unknown anchor '%s' referenced", r->name, name);
}

static YNode *read_node(YReader *r);

static YNode *read_scalar(YReader *r)
{
    YNode *n = node_new(r, Y_SCALAR);
    n->text = slice(mem_copy(&r->q->p->keep, slice(r->e.value, r->e.len)), r->e.len);
    n->value = yaml_scalar_value(r->q, n->text, n->style, n->tag);
    yq_remember(r->q, &n->value, n);
    n->plain = n->style == YAML_PLAIN;
    if (n->style != YAML_LITERAL && n->style != YAML_FOLDED)
        n->line = line_comment(r, r->e.end_line, r->e.end_column);
    set_anchor(r, n);
    return n;
}

/* At its bracket. */
static void end_flow(YReader *r, YNode *n)
{
    if (!n->flow)
        return;
    r->flow--;
    n->line = line_comment(r, r->e.end_line, r->e.end_column);
}

static YNode *read_sequence(YReader *r)
{
    YNode *n = node_new(r, Y_SEQ);
    Val all = arr_new(r->q->j, 0);
    set_anchor(r, n);
    r->flow += n->flow;
    for (step(r); r->e.kind != YAML_EV_CLOSE; step(r)) {
        Slice head = n->flow ? slice("", 0) : head_comment(r, r->e.line);
        YNode *item = read_node(r);
        item->head = item->head.len ? item->head : head;
        item->parent = n;
        item->place = n->n;
        add_entry(r, n, NULL, item);
        all = arr_push(r->q->j, all, val_copy(item->value));
    }
    end_flow(r, n);
    n->value = all;
    yq_remember(r->q, &n->value, n);
    return n;
}

static Val key_value(YReader *r, const YNode *key)
{
    if (key->kind == Y_SCALAR)
        return val_string_utf8(r->q->j, key->text);
    return val_tojson(r->q->j, val_copy(key->value));
}

/* Entries of a << value that are not there themselves. */
static Val merge(YReader *r, YNode *n, Val map, const YNode *from)
{
    const YNode *f = from->kind == Y_ALIAS ? from->target : from;
    if (f->kind == Y_SEQ) {
        for (size_t i = 0; i < f->n; i++)
            map = merge(r, n, map, f->items[i]);
        return map;
    }
    if (f->kind != Y_MAP || f->value.kind != K_OBJECT)
        return map;
    for (uint32_t i = 0; (i = obj_next(f->value.obj, i)) < f->value.obj->used; i++) {
        const JEntry *e = &f->value.obj->entries[i];
        if (obj_find(map, e->key))
            continue;
        ++e->key->refs;
        map = obj_set(r->q->j, map, val_str(e->key), val_copy(e->value));
        YNode *key = mem_alloc0(&r->q->p->keep, sizeof *key), *item = mem_alloc0(&r->q->p->keep, sizeof *item);
        key->text = slice(mem_copy(&r->q->p->keep, js_slice(e->key)), e->key->len);
        item->merged = true;
        item->value = val_copy(e->value);
        add_entry(r, n, key, item);
    }
    return map;
}

static YNode *read_mapping(YReader *r)
{
    YNode *n = node_new(r, Y_MAP);
    Val map = obj_new(r->q->j, 0);
    bool merges = false;
    set_anchor(r, n);
    r->flow += n->flow;
    for (step(r); r->e.kind != YAML_EV_CLOSE; step(r)) {
        Slice head = n->flow ? slice("", 0) : head_comment(r, r->e.line);
        YNode *key = read_node(r);
        key->head = head;
        Slice behind_key = key->line;
        key->line = slice("", 0);
        step(r);
        YNode *item = read_node(r);
        if ((item->kind == Y_MAP || item->kind == Y_SEQ) && !item->flow)
            key->line = behind_key;
        item->parent = n;
        item->name = key->text.data ? key->text : slice("", 0);
        item->keynode = key;
        key->is_key = true;
        add_entry(r, n, key, item);
        const YNode *what = item->kind == Y_ALIAS ? item->target : item;
        bool is_merge = what->kind != Y_SCALAR && key->kind == Y_SCALAR && key->style == YAML_PLAIN && slice_is(key->text, "<<");
        merges |= is_merge;
        if (is_merge)
            key->merged = true;
        else
            map = obj_set(r->q->j, map, key_value(r, key), val_copy(item->value));
    }
    for (size_t i = 0, own = n->n; merges && i < own; i++)
        if (n->keys[i]->merged)
            map = merge(r, n, map, n->items[i]);
    end_flow(r, n);
    n->value = map;
    yq_remember(r->q, &n->value, n);
    return n;
}

static YNode *read_alias(YReader *r)
{
    YNode *n = node_new(r, Y_ALIAS);
    n->target = find_anchor(r, n->anchor);
    if (n->target->value.kind == K_INVALID)
        yq_fail(r->q, "bad file '%s': yaml: anchor '%s' value contains itself", r->name, n->anchor);
    n->value = val_copy(n->target->value);
    yq_remember(r->q, &n->value, n);
    n->line = line_comment(r, r->e.end_line, r->e.end_column);
    return n;
}

static YNode *read_node(YReader *r)
{
    if (++r->depth > YQ_DEPTH || !proc_stack_room(r->q->p, 16384))
        yq_fail(r->q, "bad file '%s': yaml: exceeded max depth of %d", r->name, YQ_DEPTH);
    YNode *n = r->e.kind == YAML_EV_SCALAR     ? read_scalar(r)
               : r->e.kind == YAML_EV_SEQUENCE ? read_sequence(r)
               : r->e.kind == YAML_EV_MAPPING  ? read_mapping(r)
                                               : read_alias(r);
    r->depth--;
    return n;
}

/* What an empty line sets apart is the document's, the rest its first entry's. */
static void split_head(YNode *root, Slice head)
{
    size_t at = head.len;
    while (at > 1 && !(head.data[at - 1] == '\n' && head.data[at - 2] == '\n'))
        at--;
    at = at > 1 ? at : 0;
    root->head = slice(head.data, at);
    (root->keys[0] ? root->keys[0] : root->items[0])->head = slice_from(head, at);
}

static YDoc *read_document(YReader *r)
{
    YDoc *d = mem_alloc0(&r->q->p->keep, sizeof *d);
    d->explicit_start = r->e.flow;
    d->head = d->explicit_start ? head_comment(r, r->e.line) : slice("", 0);
    step(r);
    r->anchors = NULL;
    if (r->e.kind == YAML_EV_DOCUMENT_END)
        return d;
    Slice head = head_comment(r, r->e.line);
    d->root = read_node(r);
    if (d->root->kind == Y_SCALAR)
        d->root->head = head;
    else if (d->root->n && head.len)
        split_head(d->root, head);
    d->value = val_copy(d->root->value);
    step(r);
    d->root->foot = foot_comment(r, r->e.line);
    return d;
}

YDoc *yaml_read(Yq *q, Slice text, const char *name)
{
    const DataComponent *data = NEED_COMPONENT(q->p, "data", DataComponent);
    YReader *r = mem_alloc0(&q->p->keep, sizeof *r);
    *r = (YReader){.q = q, .yaml = data->yaml, .name = name};
    r->parser = r->yaml->parser_new(text.data ? text.data : "", text.len);
    proc_own(q->p, release, r);
    if (!r->parser)
        yq_fail(q, "out of memory");
    split_lines(r, text);
    YDoc *first = NULL, **end = &first;
    for (step(r); r->e.kind != YAML_EV_END; step(r))
        if (r->e.kind == YAML_EV_DOCUMENT) {
            *end = read_document(r);
            end = &(*end)->next;
        }
    proc_disown(q->p, r);
    return first;
}

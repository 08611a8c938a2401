/* code: yq's operators that turn values into text, merge with flags, and read times; natives of its library. */
#include "shared.h"
#include "yq.h"

static Val drop(J *j, Val *a, unsigned n, Val out)
{
    for (unsigned i = 0; i < n; i++)
        val_free(j, a[i]);
    return out;
}

static Val hidden(J *j, Val *a, unsigned n) { return drop(j, a, n, jq_error(j, "not a function of jq")); }

/* ---------- text ---------- */

static void encode(Yq *q, Sink *s, Slice format, Val v)
{
    PrintStyle style = {.pretty = q->indent > 0, .indent = q->indent};
    char separator = slice_is(format, "csv") ? ',' : '\t';
    if (slice_is(format, "json")) {
        jq_print_value(s, v, &style);
        if (q->indent)
            sink_char(s, '\n');
    } else if (slice_is(format, "xml")) {
        xml_write(q, s, v);
    } else if (slice_is(format, "props")) {
        props_write(q, s, v, "");
    } else if (slice_is(format, "yaml")) {
        yaml_write(q, s, v, yq_node_of(q, v));
    } else {
        table_write(q, s, v, separator);
        s->at -= s->at > s->start;
    }
}

/* v | _yq_encode(format; indent) */
static Val fn_encode(J *j, Val *a)
{
    Sink s;
    if (!j->yq || a[1].kind != K_STRING)
        return hidden(j, a, 3);
    if (a[2].kind != K_NUMBER || !(val_double(a[2]) >= 0 && val_double(a[2]) < 10))
        return drop(j, a, 3, jq_error(j, "the indent must be a number below 10"));
    Yq *q = j->yq, before = *q;
    q->indent = (int)val_double(a[2]);
    q->color = false;
    jsink_memory(&s, j);
    encode(q, &s, val_slice(a[1]), a[0]);
    Val out = val_string_utf8(j, slice(s.start, (size_t)(s.at - s.start)));
    jsink_free(&s);
    q->indent = before.indent;
    q->color = before.color;
    return drop(j, a, 3, out);
}

/* Each star is tried from the longest rest of what it may take, one star at a time. */
bool yq_match(Slice text, Slice pattern)
{
    size_t t = 0, p = 0, star = SIZE_MAX, from = 0;
    while (t < text.len) {
        if (p < pattern.len && pattern.data[p] == '*') {
            star = p++;
            from = t;
        } else if (p < pattern.len && (pattern.data[p] == '?' || pattern.data[p] == text.data[t])) {
            p++;
            t++;
        } else if (star != SIZE_MAX) {
            p = star + 1;
            t = ++from;
        } else {
            return false;
        }
    }
    while (p < pattern.len && pattern.data[p] == '*')
        p++;
    return p == pattern.len;
}

static Val fn_like(J *j, Val *a)
{
    if (!j->yq || a[0].kind != K_STRING || a[1].kind != K_STRING)
        return hidden(j, a, 2);
    proc_tick(j->proc, 1 + a[0].str->len / 64);
    return drop(j, a, 2, val_bool(yq_match(val_slice(a[0]), val_slice(a[1]))));
}

/* ---------- merge ---------- */

typedef struct Merge {
    J *j;
    bool append, deep, existing, fresh; /* + d ? n */
} Merge;

static Val merge(Merge *m, Val a, Val b, unsigned depth);

static Val merge_objects(Merge *m, Val a, Val b, unsigned depth)
{
    J *j = m->j;
    for (uint32_t i = 0; (i = obj_next(b.obj, i)) < b.obj->used; i++) {
        const JEntry *e = &b.obj->entries[i];
        Val *mine = obj_find(a, e->key), v = val_copy(e->value);
        if (mine && (v.kind < K_ARRAY || v.kind != mine->kind) && m->fresh) {
            val_free(j, v);
            continue;
        }
        if (!mine && m->existing) {
            val_free(j, v);
            continue;
        }
        if (mine && v.kind >= K_ARRAY && v.kind == mine->kind)
            v = merge(m, val_copy(*mine), v, depth + 1);
        if (v.kind == K_INVALID) {
            val_free(j, b);
            val_free(j, a);
            return v;
        }
        ++e->key->refs;
        a = obj_set(j, a, val_str(e->key), v);
    }
    val_free(j, b);
    return a;
}

static Val merge_arrays(Merge *m, Val a, Val b, unsigned depth)
{
    J *j = m->j;
    if (m->append)
        return arr_concat(j, a, b);
    if (!m->deep) {
        val_free(j, m->fresh ? b : a);
        return m->fresh ? a : b;
    }
    size_t n = arr_len(a);
    for (size_t i = 0; i < arr_len(b) && a.kind != K_INVALID; i++) {
        Val v = val_copy(b.arr->items[i]);
        if (i < n && v.kind >= K_ARRAY && v.kind == a.arr->items[i].kind)
            v = merge(m, val_copy(a.arr->items[i]), v, depth + 1);
        if (v.kind == K_INVALID) {
            val_free(j, a);
            a = v;
        } else {
            a = arr_set(j, a, (int64_t)i, v);
        }
    }
    val_free(j, b);
    return a;
}

/* Two containers of one kind. */
static Val merge(Merge *m, Val a, Val b, unsigned depth)
{
    if (depth > JQ_MAX_DEPTH || !proc_stack_room(m->j->proc, 16 << 10)) {
        val_free(m->j, a);
        val_free(m->j, b);
        return jq_error(m->j, "Object merge too deep");
    }
    proc_tick(m->j->proc, 1);
    return a.kind == K_OBJECT ? merge_objects(m, a, b, depth) : merge_arrays(m, a, b, depth);
}

/* a | _yq_merge_two(b; flags) */
static Val fn_merge(J *j, Val *a)
{
    Merge m = {.j = j};
    if (!j->yq || a[2].kind != K_STRING)
        return hidden(j, a, 3);
    for (size_t i = 0; i < a[2].str->len; i++) {
        char c = a[2].str->data[i];
        m.append |= c == '+';
        m.deep |= c == 'd';
        m.existing |= c == '?';
        m.fresh |= c == 'n';
    }
    val_free(j, a[2]);
    if (a[0].kind >= K_ARRAY && a[0].kind == a[1].kind)
        return merge(&m, a[0], a[1], 0);
    return jq_binary(j, '*', a[0], a[1]);
}

/* ---------- times ---------- */

/* Go's layout, made of the parts of one moment, as strftime's format. */
static Val fn_layout(J *j, Val *a)
{
    static const char *const parts[][2] = {{"Monday", "%A"}, {"January", "%B"}, {"Z07:00", "Z"}, {"-07:00", "%:z"}, {"-0700", "%z"}, {"2006", "%Y"}, {"Mon", "%a"}, {"Jan", "%b"}, {"MST", "%Z"},
                                           {"002", "%j"}, {"01", "%m"}, {"02", "%d"}, {"03", "%I"}, {"04", "%M"}, {"05", "%S"}, {"06", "%y"}, {"15", "%H"}, {"PM", "%p"}, {"pm", "%P"}, {"_2", "%e"},
                                           {"1", "%-m"}, {"2", "%-d"}, {"3", "%-I"}, {"4", "%-M"}, {"5", "%-S"}, {"%", "%%"}};
    if (!j->yq || a[0].kind != K_STRING)
        return hidden(j, a, 1);
    Val out = val_text(j, "");
    for (Slice rest = val_slice(a[0]); rest.len;) {
        size_t i = 0;
        while (i < ARRAY_LEN(parts) && !slice_starts(rest, slice_str(parts[i][0])))
            i++;
        Slice more = i < ARRAY_LEN(parts) ? slice_str(parts[i][1]) : slice(rest.data, 1);
        out = val_append(j, out, more);
        rest = slice_from(rest, i < ARRAY_LEN(parts) ? strlen(parts[i][0]) : 1);
    }
    return drop(j, a, 1, out);
}

/* seconds | _yq_zoned(zone): the moment with the zone's offset. */
static Val fn_zoned(J *j, Val *a)
{
    CivilTime t;
    Buf b;
    if (!j->yq || a[0].kind != K_NUMBER || a[1].kind != K_STRING)
        return hidden(j, a, 2);
    const TimeZone *zone = tz_parse(&j->proc->keep, slice_str(a[1].str->data));
    int64_t seconds = (int64_t)val_double(a[0]);
    if (!zone || !tz_civil(zone, seconds, 0, &t))
        return drop(j, a, 2, jq_error(j, "could not load the time zone %s", a[1].str->data));
    buf_init(&b, &j->proc->keep, 256);
    tz_format(&b, t.offset ? SLICE("%Y-%m-%dT%H:%M:%S%:z") : SLICE("%Y-%m-%dT%H:%M:%SZ"), &t, seconds);
    return drop(j, a, 2, val_string_utf8(j, buf_slice(&b)));
}

static Val fn_random(J *j, Val *a)
{
    uint32_t n;
    if (!j->yq)
        return hidden(j, a, 1);
    proc_random(j->proc, &n, sizeof n);
    return drop(j, a, 1, val_num(n));
}

/* ---------- eval ---------- */

/* v | _yq_eval(text): all its results. */
static Val fn_eval(J *j, Val *a)
{
    if (!j->yq || a[1].kind != K_STRING)
        return hidden(j, a, 2);
    if (!proc_stack_room(j->proc, 256 << 10))
        return drop(j, a, 2, jq_error(j, "eval nested too deeply"));
    Mem *mem = &j->proc->keep;
    JqProgram *program = mem_alloc0(mem, sizeof *program);
    Machine *m = mem_alloc0(mem, sizeof *m), *outer = j->machine;
    program->mem = mem;
    buf_init(&program->errors.text, mem, JQ_MAX_BYTES);
    Slice text = slice(mem_copy(mem, val_slice(a[1])), a[1].str->len);
    if (!jq_compile(j, program, yq_translate(j->yq, text), "<expression>"))
        return drop(j, a, 2, jq_error(j, "bad expression: %.*s", (int)MIN(text.len, (size_t)200), text.data));
    jq_machine_init(m, j, program);
    jq_machine_start(m, val_copy(a[0]));
    Val all = arr_new(j, 1);
    for (Val v; (v = jq_machine_next(m)).kind != K_INVALID;)
        all = arr_push(j, all, v);
    j->machine = outer;
    if (!j->raising)
        return drop(j, a, 2, all);
    val_free(j, all);
    return drop(j, a, 2, VAL_INVALID);
}

const Native jq_natives_yq_code[] = {
    {"_yq_encode", 3, fn_encode}, {"_yq_like", 2, fn_like}, {"_yq_merge_two", 3, fn_merge}, {"_yq_layout", 1, fn_layout}, {"_yq_zoned", 2, fn_zoned}, {"_yq_random", 1, fn_random}, {"_yq_eval", 2, fn_eval}, {NULL, 0, NULL},
};

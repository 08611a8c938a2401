/* table: CSV and TSV (RFC 4180): rows as objects keyed by the first row. */
#include "yq.h"

typedef struct Cells {
    Slice rest;
    char separator;
} Cells;

/* The next cell; *last: a line ended behind it. */
static Val next_cell(Yq *q, Cells *c, bool *last)
{
    Buf b;
    buf_init(&b, &q->p->keep, BUF_MAX);
    buf_reserve(&b, 1);
    size_t i = 0;
    bool quoted = c->rest.len && c->rest.data[0] == '"' && c->separator == ',';
    for (i = quoted; i < c->rest.len; i++) {
        char ch = c->rest.data[i];
        if (quoted && ch == '"') {
            if (i + 1 >= c->rest.len || c->rest.data[i + 1] != '"') {
                i++;
                break;
            }
            i++;
        } else if (!quoted && (ch == c->separator || ch == '\n')) {
            break;
        }
        buf_char(&b, ch);
    }
    while (quoted && i < c->rest.len && c->rest.data[i] != c->separator && c->rest.data[i] != '\n')
        i++;
    *last = i >= c->rest.len || c->rest.data[i] == '\n';
    c->rest = slice_from(c->rest, MIN(i + 1, c->rest.len));
    Slice text = buf_slice(&b);
    if (*last && text.len && text.data[text.len - 1] == '\r')
        text.len--;
    return yaml_scalar_value(q, text.data ? text : slice("", 0), quoted ? YAML_DOUBLE : YAML_PLAIN, NULL);
}

static Val next_row(Yq *q, Cells *c)
{
    Val row = arr_new(q->j, 0);
    bool last = false;
    while (!last)
        row = arr_push(q->j, row, next_cell(q, c, &last));
    proc_tick(q->p, 1 + arr_len(row));
    return row;
}

static Val as_text(Yq *q, Val v) { return v.kind == K_STRING ? v : v.kind == K_NULL ? val_text(q->j, "") : val_tojson(q->j, v); }

Val table_read(Yq *q, Slice text, char separator)
{
    Cells c = {text, separator};
    Val all = arr_new(q->j, 0);
    if (!text.len)
        return all;
    Val head = next_row(q, &c);
    while (c.rest.len) {
        Val row = next_row(q, &c), object = obj_new(q->j, arr_len(head));
        for (size_t i = 0; i < arr_len(head); i++)
            object = obj_set(q->j, object, as_text(q, val_copy(head.arr->items[i])), i < arr_len(row) ? val_copy(row.arr->items[i]) : VAL_NULL);
        val_free(q->j, row);
        all = arr_push(q->j, all, object);
    }
    val_free(q->j, head);
    return all;
}

static void put_cell(Yq *q, Sink *s, Val v, char separator)
{
    Val t = as_text(q, val_copy(v));
    Slice text = val_slice(t);
    bool quote = false;
    for (size_t i = 0; i < text.len; i++)
        quote |= text.data[i] == separator || text.data[i] == '"' || text.data[i] == '\n' || text.data[i] == '\r';
    if (quote)
        sink_char(s, '"');
    for (size_t i = 0; i < text.len; i++) {
        if (quote && text.data[i] == '"')
            sink_char(s, '"');
        sink_char(s, text.data[i]);
    }
    if (quote)
        sink_char(s, '"');
    val_free(q->j, t);
}

static void put_array(Yq *q, Sink *s, Val row, char separator)
{
    for (size_t i = 0; i < arr_len(row); i++) {
        if (i)
            sink_char(s, separator);
        put_cell(q, s, row.arr->items[i], separator);
    }
    sink_char(s, '\n');
}

void table_write(Yq *q, Sink *s, Val v, char separator)
{
    if (v.kind != K_ARRAY)
        yq_fail(q, "csv encoding only works for arrays, got: %s", jq_kind_names[v.kind]);
    if (!arr_len(v))
        return;
    Val first = v.arr->items[0];
    if (first.kind != K_ARRAY && first.kind != K_OBJECT) {
        put_array(q, s, v, separator);
        return;
    }
    Val head = first.kind == K_OBJECT ? obj_keys(q->j, first, false) : VAL_NULL;
    if (head.kind == K_ARRAY)
        put_array(q, s, head, separator);
    for (size_t i = 0; i < arr_len(v); i++) {
        Val row = v.arr->items[i];
        if (row.kind == K_ARRAY) {
            put_array(q, s, row, separator);
            continue;
        }
        if (row.kind != K_OBJECT || head.kind != K_ARRAY)
            yq_fail(q, "csv object encoding only works for arrays of flat objects (string key => scalar)");
        for (size_t k = 0; k < arr_len(head); k++) {
            Val *cell = obj_find(row, head.arr->items[k].str);
            if (k)
                sink_char(s, separator);
            if (cell)
                put_cell(q, s, *cell, separator);
        }
        sink_char(s, '\n');
    }
    val_free(q->j, head);
}

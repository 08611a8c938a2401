/* Variables as the machine sees them: cells, places that are assigned to, the special variables. */
#include "machine.h"

const char *const known_globals[G_KNOWN] = {
    [G_NF] = "NF", [G_NR] = "NR", [G_FNR] = "FNR", [G_FS] = "FS", [G_OFS] = "OFS", [G_ORS] = "ORS", [G_RS] = "RS", [G_SUBSEP] = "SUBSEP",
    [G_CONVFMT] = "CONVFMT", [G_OFMT] = "OFMT", [G_IGNORECASE] = "IGNORECASE", [G_FIELDWIDTHS] = "FIELDWIDTHS", [G_FPAT] = "FPAT",
    [G_RSTART] = "RSTART", [G_RLENGTH] = "RLENGTH", [G_FILENAME] = "FILENAME", [G_ENVIRON] = "ENVIRON", [G_ARGC] = "ARGC",
    [G_ARGV] = "ARGV", [G_RT] = "RT", [G_ERRNO] = "ERRNO", [G_ARGIND] = "ARGIND", [G_PROCINFO] = "PROCINFO", [G_BINMODE] = "BINMODE",
    [G_LINT] = "LINT", [G_TEXTDOMAIN] = "TEXTDOMAIN", [G_PREC] = "PREC", [G_ROUNDMODE] = "ROUNDMODE", [G_SYMTAB] = "SYMTAB", [G_FUNCTAB] = "FUNCTAB",
};

/* ---------- cells ---------- */

Value *cell_at(Awk *w, int32_t b) { return b >= 0 ? &w->globals[b] : &w->stack[w->base + (uint32_t)~b]; }

const char *cell_name(Awk *w, int32_t b)
{
    if (b == CELL_STACK)
        return "";
    return b >= 0 ? w->prog.global_by_index[b] : w->prog.functions[w->function].param_names[~b].data;
}

Value *ref_resolve(Awk *w, Value *v)
{
    while (v->kind == V_REF)
        v = v->cell & CELL_GLOBAL ? &w->globals[v->cell & ~CELL_GLOBAL] : &w->stack[v->cell];
    return v;
}

Array *array_at(Awk *w, int32_t b)
{
    Value *cell = cell_at(w, b);
    if (likely(cell->kind == V_ARRAY))
        return cell->a;
    Value *target = ref_resolve(w, cell);
    if (target->kind == V_UNSET && !target->cell) {
        Array *a = table_new(w);
        *target = (Value){.kind = V_ARRAY, .a = a};
    } else if (target->kind != V_ARRAY) {
        awk_fatal(w, "attempt to use scalar %s`%s' as an array", b < 0 ? "parameter " : "", cell_name(w, b));
    }
    if (cell != target)
        *cell = value_copy(target);
    return cell->a;
}

Array *global_array(Awk *w, uint32_t index) { return array_at(w, (int32_t)index); }

/* ---------- special variables ---------- */

Value special_value(Awk *w, uint32_t index)
{
    switch (index) {
    case G_NF: return value_num((double)field_count(w));
    case G_NR: return value_num(w->nr);
    case G_FNR: return value_num(w->fnr);
    default: return value_copy(&w->globals[index]);
    }
}

static String *as_string(Awk *w, String **slot, const Value *v) { return string_set(w, slot, value_string(w, v)); }

/* RS: a newline, one byte, paragraphs when empty, else a regular expression. */
static void record_separator(Awk *w, const Value *v)
{
    String *rs = as_string(w, &w->rs, v);
    if (v->kind == V_REGEX) {
        w->rs_kind = RS_REGEX;
        w->rs_rx = v->rx;
        return;
    }
    if (rs->len == 0) {
        w->rs_kind = RS_PARAGRAPH;
    } else if (rs->len == 1) {
        bool letter = class_has(CLASS_ALPHA, (unsigned char)rs->data[0]);
        w->rs_kind = rs->data[0] == '\n' ? RS_NEWLINE : w->ignore_case && letter ? RS_REGEX : RS_CHAR;
    } else {
        w->rs_kind = RS_REGEX;
    }
    if (w->rs_kind == RS_REGEX)
        w->rs_rx = rx_constant(w, string_slice(rs));
    split_setup(w);
}

static void field_widths(Awk *w, const Value *v)
{
    String *s = value_string(w, v);
    size_t cap = s->len + 2, n = 0;
    uint32_t *pairs = mem_alloc(&w->p->keep, cap * 2 * sizeof *pairs);
    for (const char *at = s->data; *at;) {
        while (*at == ' ' || *at == '\t' || *at == '\n')
            at++;
        if (!*at)
            break;
        uint64_t skip = 0, width = 0;
        bool digits = false;
        if (*at == '*') {
            width = UINT32_MAX;
            at++;
        } else {
            for (; *at >= '0' && *at <= '9'; at++, digits = true)
                width = MIN(width * 10 + (uint64_t)(*at - '0'), (uint64_t)INT32_MAX);
            if (*at == ':') {
                skip = width;
                width = 0;
                digits = false;
                if (at[1] == '*') {
                    width = UINT32_MAX;
                    digits = true;
                    at += 2;
                } else
                    for (at++; *at >= '0' && *at <= '9'; at++, digits = true)
                        width = MIN(width * 10 + (uint64_t)(*at - '0'), (uint64_t)INT32_MAX);
            }
            if (!digits || !width || (*at && *at != ' ' && *at != '\t' && *at != '\n'))
                awk_fatal(w, "invalid FIELDWIDTHS value, for field %zu, near `%s'", n + 1, at);
        }
        pairs[n * 2] = (uint32_t)skip;
        pairs[n * 2 + 1] = (uint32_t)width;
        n++;
    }
    w->widths = pairs;
    w->width_count = n;
    w->split_by = BY_WIDTHS;
    string_release(w, s);
    split_setup(w);
}

void special_assigned(Awk *w, uint32_t index)
{
    Value *v = &w->globals[index];
    switch (index) {
    case G_NF: field_set_count(w, value_number(w, v)); break;
    case G_NR: w->nr = value_number(w, v); break;
    case G_FNR: w->fnr = value_number(w, v); break;
    case G_FS:
        as_string(w, &w->fs, v);
        if (w->split_by != BY_CSV)
            w->split_by = BY_FS;
        split_setup(w);
        break;
    case G_OFS:
        record_text(w);
        as_string(w, &w->ofs, v);
        break;
    case G_ORS: as_string(w, &w->ors, v); break;
    case G_RS: record_separator(w, v); break;
    case G_SUBSEP: as_string(w, &w->subsep, v); break;
    case G_CONVFMT: as_string(w, &w->convfmt, v); break;
    case G_OFMT: as_string(w, &w->ofmt, v); break;
    case G_IGNORECASE:
        w->ignore_case = value_truth(w, v);
        record_separator(w, &w->globals[G_RS]);
        split_setup(w);
        break;
    case G_FIELDWIDTHS: field_widths(w, v); break;
    case G_FPAT:
        w->split_by = BY_FPAT;
        split_setup(w);
        break;
    default: break;
    }
}

void global_set(Awk *w, uint32_t index, Value v)
{
    Value *cell = &w->globals[index];
    if (cell->kind == V_ARRAY)
        awk_fatal(w, "attempt to use array `%s' in a scalar context", w->prog.global_by_index[index]);
    /* Splitting is lazy: the record at hand is to be split by what held when it was read. */
    if (index == G_FS || index == G_FPAT || index == G_FIELDWIDTHS || index == G_IGNORECASE || index == G_RS)
        field_count(w);
    value_release(w, cell);
    *cell = v;
    if (cell->kind == V_UNSET || cell->kind == V_REF)
        *cell = unset_assigned(cell);
    if (index < SPECIALS)
        special_assigned(w, index);
}

/* ---------- places ---------- */

/* An element of SYMTAB is the variable of that name. */
static void symbol_place(Awk *w, Place *at)
{
    String *name = value_string(w, &at->key);
    MapEntry *e = map_get(&w->prog.global_names, string_slice(name));
    if (!e)
        awk_fatal(w, "cannot assign to arbitrary elements of SYMTAB");
    string_release(w, name);
    place_done(w, at);
    at->b = (int32_t)(uintptr_t)e->value - 1;
    at->kind = LV_GLOBAL; /* also of FS and its like: in gawk a change through SYMTAB shows there alone */
}

void place_pop_element(Awk *w, Place *at, int32_t b)
{
    *at = (Place){.kind = LV_ELEM, .b = b, .key = *pop(w)};
    if (b == CELL_STACK) {
        at->array = pop(w)->a;
        at->held = true;
    } else {
        at->array = array_at(w, b);
    }
    if (at->key.kind == V_ARRAY)
        awk_fatal(w, "attempt to use array in a scalar context");
}

void place_pop(Awk *w, Place *at, unsigned kind, int32_t b)
{
    at->kind = kind;
    at->b = b;
    at->held = false;
    if (kind == LV_FIELD) {
        Value *v = pop(w);
        double n = value_number(w, v);
        value_release(w, v);
        at->field = field_index(w, n, false);
    } else if (kind == LV_ELEM) {
        place_pop_element(w, at, b);
        if (unlikely(at->array == w->symtab))
            symbol_place(w, at);
    }
}

void place_done(Awk *w, Place *at)
{
    if (at->kind != LV_ELEM)
        return;
    value_release(w, &at->key);
    if (at->held)
        table_release(w, at->array);
}

Value place_value(Awk *w, Place *at)
{
    Value *cell;
    switch (at->kind) {
    case LV_GLOBAL: cell = &w->globals[at->b]; break;
    case LV_LOCAL: cell = &w->stack[w->base + (uint32_t)at->b]; break;
    case LV_SPECIAL: return special_value(w, (uint32_t)at->b);
    case LV_FIELD: return field_value(w, at->field);
    case LV_RECORD: return record_value(w);
    default: cell = table_get(w, at->array, &at->key); break;
    }
    if (cell->kind == V_ARRAY)
        awk_fatal(w, "attempt to use array `%s' in a scalar context", at->kind == LV_ELEM ? "" : cell_name(w, at->kind == LV_LOCAL ? ~at->b : at->b));
    return value_copy(cell);
}

void place_store(Awk *w, Place *at, Value v)
{
    Value *cell;
    switch (at->kind) {
    case LV_SPECIAL: global_set(w, (uint32_t)at->b, v); return;
    case LV_FIELD: field_assign(w, at->field, v); return;
    case LV_RECORD:
        record_assign(w, &v);
        value_release(w, &v);
        return;
    case LV_GLOBAL: cell = &w->globals[at->b]; break;
    case LV_LOCAL: cell = &w->stack[w->base + (uint32_t)at->b]; break;
    default: cell = table_get(w, at->array, &at->key); break;
    }
    if (cell->kind == V_ARRAY)
        awk_fatal(w, "attempt to use array in a scalar context");
    value_release(w, cell);
    *cell = v;
    if (v.kind == V_UNSET || v.kind == V_REF)
        *cell = unset_assigned(cell);
}

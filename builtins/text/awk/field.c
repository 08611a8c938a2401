/* $0 and its fields. Splitting goes as far as a field is asked for; a field's text becomes a value when it is used as one. */
#include "awk.h"

#include <inttypes.h>

enum { FIRST_FIELDS = 64, MOST_FIELDS = 1 << 26 };

static void fields_room(Awk *w, size_t n)
{
    Record *r = &w->record;
    if (likely(n < r->cap))
        return;
    if (n > MOST_FIELDS)
        awk_fatal(w, "too many fields");
    size_t cap = r->cap ? r->cap * 2 : FIRST_FIELDS;
    while (cap <= n)
        cap *= 2;
    unsigned class = 0;
    Field *fields = heap_alloc(&w->heap, cap * sizeof *fields, &class);
    if (r->fields) {
        memcpy(fields, r->fields, r->cap * sizeof *fields);
        heap_free(&w->heap, r->fields, r->class);
    }
    memset(fields + r->cap, 0, (cap - r->cap) * sizeof *fields);
    r->fields = fields;
    r->class = class;
    r->cap = cap;
}

static void values_drop(Awk *w)
{
    Record *r = &w->record;
    for (size_t i = 1; i <= r->made; i++) {
        value_release(w, &r->fields[i].value);
        r->fields[i].value = value_unset();
    }
    r->made = 0;
}

static inline void add_field(Awk *w, size_t at, size_t len)
{
    Record *r = &w->record;
    size_t n = ++r->nf;
    if (unlikely(n >= r->cap))
        fields_room(w, n);
    r->fields[n].at = at;
    r->fields[n].len = len;
}

/* ---------- $0 ---------- */

static void record_reset(Awk *w)
{
    Record *r = &w->record;
    if (r->made)
        values_drop(w);
    if (r->whole) {
        string_release(w, r->whole);
        r->whole = NULL;
    }
    if (r->text_owner) {
        string_release(w, r->text_owner);
        r->text_owner = NULL;
    }
    r->stale = r->split = r->whole_plain = r->whole_number = false;
    r->nf = r->pos = 0;
}

void record_set(Awk *w, Slice text, String *owner)
{
    record_reset(w);
    w->record.text = text;
    w->record.text_owner = owner;
}

void record_assign(Awk *w, const Value *v)
{
    String *s = value_string(w, v);
    bool plain = v->kind == V_STR;
    if (v->kind == V_NUM) { /* it stays the number that it was */
        s->looks = LOOKS_NUMERIC;
        s->number = v->n;
        s->prefix_known = 1;
    }
    record_set(w, string_slice(s), s);
    w->record.whole = string_ref(s);
    w->record.whole_plain = plain;
    w->record.whole_number = v->kind == V_NUM;
}

void record_pin(Awk *w)
{
    Record *r = &w->record;
    if (r->text_owner || !r->text.len)
        return;
    r->text_owner = string_new(w, r->text);
    r->text = string_slice(r->text_owner);
}

static void rebuild(Awk *w)
{
    Record *r = &w->record;
    Buf *b = &w->work;
    buf_clear(b);
    for (size_t i = 1; i <= r->nf; i++) {
        char room[NUMBER_ROOM];
        if (i > 1)
            buf_append(b, string_slice(w->ofs));
        buf_append(b, field_text(w, i, room));
    }
    if (r->whole)
        string_release(w, r->whole);
    r->whole = string_new(w, b->len ? buf_slice(b) : SLICE(""));
    r->whole_number = false;
    r->whole_plain = true; /* text that was put together is no input */
    r->stale = false;
}

Slice record_text(Awk *w)
{
    Record *r = &w->record;
    if (r->stale)
        rebuild(w);
    return r->whole ? string_slice(r->whole) : r->text;
}

Value record_value(Awk *w)
{
    Record *r = &w->record;
    if (r->stale)
        rebuild(w);
    if (!r->whole && !r->text.data)
        return (Value){.kind = V_UNSET, .cell = CELL_FIELD}; /* no record yet */
    if (!r->whole)
        r->whole = r->text_owner ? string_ref(r->text_owner) : string_new(w, r->text);
    Value v = value_str(string_ref(r->whole));
    v.kind = r->whole_plain ? V_STR : V_INPUT;
    v.cell = r->whole_number ? CELL_NUMBER : 0;
    return v;
}

/* ---------- splitting $0 ---------- */

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n'; }

static void split_space(Awk *w, size_t want)
{
    Record *r = &w->record;
    const char *s = r->text.data;
    size_t i = r->pos, n = r->text.len;
    while (r->nf < want) {
        while (i < n && is_space(s[i]))
            i++;
        if (i == n) {
            r->split = true;
            break;
        }
        size_t from = i;
        while (i < n && !is_space(s[i]))
            i++;
        add_field(w, from, i - from);
    }
    r->pos = i;
}

static void split_char(Awk *w, char c, bool newline_too, size_t want)
{
    Record *r = &w->record;
    if (!r->text.len) {
        r->split = true;
        return;
    }
    while (r->nf < want) {
        Slice rest = slice_from(r->text, r->pos);
        size_t n = slice_find(rest, c);
        if (newline_too)
            n = slice_find(slice(rest.data, n), '\n');
        add_field(w, r->pos, n);
        if (n == rest.len) {
            r->split = true;
            return;
        }
        r->pos += n + 1;
    }
}

static void split_each(Awk *w)
{
    Slice s = w->record.text;
    for (size_t i = 0, n; i < s.len; i += n) {
        n = 1;
        if (w->utf8)
            utf8_decode(s.data + i, s.len - i, &n);
        add_field(w, i, n);
    }
    w->record.split = true;
}

bool search_separator(Awk *w, Rx *rx, Slice s, ReText kind, size_t from, ReSpan *at)
{
    if (likely(!from || !rx_looks_back(rx)))
        return rx_search(w, rx, s, kind, from, false, at, 1);
    if (!rx_search(w, rx, slice_from(s, from), kind, 0, true, at, 1))
        return false;
    *at = (ReSpan){at->start + from, at->end + from};
    return true;
}

/* Where the next separator is, at or after `from`; a separator is never empty. */
static bool next_separator(Awk *w, const Splitter *how, Slice s, ReText kind, size_t from, ReSpan *at)
{
    size_t search = from;
    bool found = false;
    while (search <= s.len && (found = search_separator(w, how->rx, s, kind, search, at)) && at->start == at->end)
        search = at->end + 1;
    found = found && search <= s.len;
    if (how->newline_too) {
        size_t n = slice_find(slice_from(s, from), '\n') + from;
        if (n < s.len && (!found || n < at->start)) {
            *at = (ReSpan){n, n + 1};
            return true;
        }
    }
    return found;
}

static void split_regex(Awk *w, const Splitter *how)
{
    Slice s = w->record.text;
    ReText kind = slice_ascii(s) ? TEXT_ASCII : TEXT_MIXED;
    w->record.split = true;
    if (!s.len)
        return;
    size_t from = 0;
    ReSpan at;
    while (next_separator(w, how, s, kind, from, &at)) {
        add_field(w, from, at.start - from);
        from = at.end;
    }
    add_field(w, from, s.len - from);
}

static size_t chars_on(Awk *w, Slice s, size_t at, size_t chars)
{
    if (!w->utf8)
        return at + MIN(chars, s.len - at);
    return at + utf8_offset(slice_from(s, at), chars);
}

static void split_widths(Awk *w)
{
    Slice s = w->record.text;
    size_t at = 0;
    for (size_t i = 0; i < w->width_count && at < s.len; i++) {
        at = chars_on(w, s, at, w->widths[i * 2]);
        size_t end = chars_on(w, s, at, w->widths[i * 2 + 1]);
        if (at >= s.len)
            break;
        add_field(w, at, end - at);
        at = end;
    }
    w->record.split = true;
}

/* FPAT: a match is a field; an empty match counts unless it follows a field directly. */
typedef struct PatternWalk {
    Slice s;
    ReText kind;
    Rx *rx;
    size_t at;       /* where to search */
    size_t sep_from; /* end of the field before */
    bool first, done;
} PatternWalk;

static bool pattern_next(Awk *w, PatternWalk *p, ReSpan *field)
{
    size_t search = p->at;
    for (;;) {
        if (p->done || search > p->s.len || !rx_search_rest(w, p->rx, p->s, p->kind, search, field))
            return false;
        if (field->end > field->start || p->first || field->start > p->sep_from)
            break;
        search = text_step(w, p->s, field->end);
    }
    p->first = false;
    p->sep_from = field->end;
    p->at = field->end;
    if (field->end >= p->s.len)
        p->done = field->end > field->start || p->at >= p->s.len;
    return true;
}

static void split_pattern(Awk *w, Rx *rx)
{
    Slice s = w->record.text;
    PatternWalk p = {.s = s, .kind = slice_ascii(s) ? TEXT_ASCII : TEXT_MIXED, .rx = rx, .first = true};
    ReSpan at;
    w->record.split = true;
    if (!s.len)
        return;
    while (pattern_next(w, &p, &at))
        add_field(w, at.start, at.end - at.start);
}

/* --csv: quotes come off, doubled quotes halve. */
static void split_csv(Awk *w)
{
    Record *r = &w->record;
    Slice s = r->text;
    r->split = true;
    size_t i = 0;
    while (s.len && i <= s.len) {
        if (i < s.len && s.data[i] == '"') {
            Buf *b = &w->work;
            buf_clear(b);
            for (i++; i < s.len; i++) {
                if (s.data[i] == '"' && i + 1 < s.len && s.data[i + 1] == '"')
                    i++;
                else if (s.data[i] == '"')
                    break;
                buf_char(b, s.data[i]);
            }
            i = MIN(i + 1, s.len);
            size_t more = slice_find(slice_from(s, i), ',');
            buf_append(b, slice(s.data + i, more));
            add_field(w, 0, 0);
            r->fields[r->nf].value = value_input(w, b->len ? buf_slice(b) : SLICE(""));
            r->made = r->nf;
            i += more;
        } else {
            size_t n = slice_find(slice_from(s, i), ',');
            add_field(w, i, n);
            i += n;
        }
        if (i >= s.len)
            break;
        i++;
    }
}

static void split_more(Awk *w, size_t want)
{
    switch (w->splitter.kind) {
    case SPLIT_SPACE: split_space(w, want); break;
    case SPLIT_CHAR: split_char(w, w->splitter.c, w->splitter.newline_too, want); break;
    case SPLIT_EACH: split_each(w); break;
    case SPLIT_WIDTHS: split_widths(w); break;
    case SPLIT_FPAT: split_pattern(w, w->splitter.rx); break;
    case SPLIT_CSV: split_csv(w); break;
    default: split_regex(w, &w->splitter); break;
    }
}

static inline bool field_known(Awk *w, size_t i)
{
    Record *r = &w->record;
    if (r->nf < i && !r->split)
        split_more(w, i);
    return i <= r->nf;
}

/* ---------- fields ---------- */

size_t field_index(Awk *w, double n, bool reading)
{
    if (n <= -1 || n >= 0x1p63)
        awk_fatal(w, "attempt to access field %" PRId64, n < -0x1p63 || n > 0 ? INT64_MIN : (int64_t)n); /* as a processor converts it */
    n = isnan(n) ? 0 : MAX(n, 0);
    if (reading)
        return n < 9e15 ? (size_t)n : SIZE_MAX / 2;
    if (n > MOST_FIELDS)
        awk_fatal(w, "attempt to access field %.0f", n);
    return (size_t)n;
}

Value field_value(Awk *w, size_t i)
{
    if (i == 0)
        return record_value(w);
    Record *r = &w->record;
    if (!field_known(w, i))
        return (Value){.kind = V_UNSET, .cell = CELL_FIELD};
    Field *f = &r->fields[i];
    if (f->value.kind == V_UNSET && !f->value.cell) {
        f->value = value_input(w, slice(r->text.data + f->at, f->len));
        r->made = MAX(r->made, i);
    }
    return value_copy(&f->value);
}

Slice field_text(Awk *w, size_t i, char room[NUMBER_ROOM])
{
    if (i == 0)
        return record_text(w);
    if (!field_known(w, i))
        return SLICE("");
    Field *f = &w->record.fields[i];
    Slice s;
    switch (f->value.kind) {
    case V_STR: case V_INPUT: return string_slice(f->value.s);
    case V_NUM: {
        if (number_small(f->value.n, room, &s))
            return s;
        String *text = number_string(w, f->value.n, string_slice(w->convfmt));
        text->looks = LOOKS_NUMERIC; /* the text is what it was printed as once, and the number is still the whole one */
        text->number = f->value.n;
        text->prefix_known = 1;
        f->value = value_str(text);
        f->value.kind = V_INPUT;
        f->value.cell = CELL_NUMBER;
        return string_slice(text);
    }
    case V_REGEX: return string_slice(f->value.rx->source);
    default: return f->value.cell ? SLICE("") : slice(w->record.text.data + f->at, f->len);
    }
}

double field_number(Awk *w, size_t i)
{
    if (i && field_known(w, i)) {
        Field *f = &w->record.fields[i];
        if (f->value.kind == V_UNSET)
            return f->value.cell ? 0 : text_number(w, slice(w->record.text.data + f->at, f->len));
        return value_number(w, &f->value);
    }
    return i ? 0 : text_number(w, record_text(w));
}

size_t field_count(Awk *w)
{
    Record *r = &w->record;
    if (!r->split)
        split_more(w, SIZE_MAX);
    r->split = true;
    return r->nf;
}

static void fields_extend(Awk *w, size_t n)
{
    Record *r = &w->record;
    fields_room(w, n);
    while (r->nf < n) {
        Field *f = &r->fields[++r->nf];
        value_release(w, &f->value);
        f->value = (Value){.kind = V_UNSET, .cell = CELL_FIELD};
        r->made = r->nf;
    }
}

void field_make(Awk *w, size_t i)
{
    field_count(w);
    if (i > w->record.nf)
        fields_extend(w, i); /* the record's text stays as it is */
}

void field_assign(Awk *w, size_t i, Value v)
{
    if (v.kind == V_ARRAY)
        awk_fatal(w, "attempt to use array in a scalar context");
    if (i == 0) {
        record_assign(w, &v);
        value_release(w, &v);
        return;
    }
    field_count(w);
    fields_extend(w, i);
    Record *r = &w->record;
    Field *f = &r->fields[i];
    value_release(w, &f->value);
    f->value = v.kind == V_UNSET || v.kind == V_REF ? unset_assigned(&v) : v;
    r->made = MAX(r->made, i);
    r->stale = true;
}

void field_set_count(Awk *w, double n)
{
    if (n < 0 || isnan(n))
        awk_fatal(w, "NF set to negative value");
    if (n > MOST_FIELDS)
        awk_fatal(w, "too many fields");
    field_count(w);
    Record *r = &w->record;
    size_t count = (size_t)n;
    for (size_t i = count + 1; i <= r->nf && i <= r->made; i++) {
        value_release(w, &r->fields[i].value);
        r->fields[i].value = value_unset();
    }
    r->made = MIN(r->made, count);
    if (count < r->nf)
        r->nf = count;
    else
        fields_extend(w, count);
    r->stale = true;
}

/* reader: JSON texts out of bytes that come in pieces.
 *
 * Tokens are found in a window; one that crosses into the next chunk is carried over. The grammar is jq's own state
 * machine: its messages, and the column at which it notices, depend on what value is waiting when a character comes.
 */
#include "reader.h"

void jq_reader_init(Reader *r, J *j)
{
    *r = (Reader){.j = j, .line = 1};
    r->at = r->end = r->counted = "";
    buf_init(&r->carry, &j->proc->keep, JQ_MAX_BYTES);
}

void jq_reader_drop(Reader *r)
{
    J *j = r->j;
    for (size_t i = 0; i < r->nitems; i++)
        val_free(j, r->items[i]);
    val_free(j, r->next);
    val_free(j, r->path);
    val_free(j, r->queued);
    if (r->items_cap)
        jmem_give(j, r->items, r->items_cap * sizeof *r->items);
    if (r->open_cap)
        jmem_give(j, r->open, r->open_cap * sizeof *r->open);
}

/* ---------- window ---------- */

static void count_to(Reader *r, const char *at)
{
    while (r->counted < at) {
        const char *nl = memchr(r->counted, '\n', (size_t)(at - r->counted));
        if (!nl) {
            r->column += (uint64_t)(at - r->counted);
            break;
        }
        r->line++;
        r->column = 0;
        r->counted = nl + 1;
    }
    r->counted = at;
}

/* Keeps [from, end) and appends at least one chunk; as much again as is kept, so that long tokens are not copied again and again. */
static bool more(Reader *r, const char *from)
{
    if (r->last)
        return false;
    count_to(r, from);
    size_t keep = (size_t)(r->end - from), got = 0;
    Slice chunk;
    if (keep == 0) {
        if (!r->refill || !r->refill(r->user, &chunk)) {
            r->last = true;
            return false;
        }
        r->at = r->counted = chunk.data;
        r->end = chunk.data + chunk.len;
        return true;
    }
    if (from >= r->carry.data && r->carry.data && from <= r->carry.data + r->carry.len) {
        memmove(r->carry.data, from, keep);
        r->carry.len = keep;
    } else {
        buf_clear(&r->carry);
        buf_append(&r->carry, (Slice){from, keep});
    }
    while (got <= keep && !r->last) {
        if (r->refill && r->refill(r->user, &chunk)) {
            buf_append(&r->carry, chunk);
            got += MAX(chunk.len, (size_t)1);
        } else {
            r->last = true;
        }
    }
    r->at = r->counted = r->carry.data;
    r->end = r->carry.data + r->carry.len;
    return got > 0;
}

uint64_t jq_reader_lines(Reader *r)
{
    count_to(r, r->at);
    uint64_t before = r->line - 1;
    if (r->column == 0 && r->line > 1)
        return before; /* the line just ended */
    while (!memchr(r->at, '\n', (size_t)(r->end - r->at)))
        if (!more(r, r->at))
            return before;
    return before + 1;
}

/* ---------- errors ---------- */

ReadState jq_reader_fail(Reader *r, const char *at, const char *text, bool eof)
{
    count_to(r, at);
    snprintf(r->message, sizeof r->message, "%s%s at line %llu, column %llu", text, eof ? " at EOF" : "",
             (unsigned long long)r->line, (unsigned long long)r->column);
    r->at = at;
    for (size_t i = 0; i < r->nitems; i++)
        val_free(r->j, r->items[i]);
    val_free(r->j, r->next);
    r->next = VAL_INVALID;
    r->nitems = r->depth = 0;
    /* jq drops the line it had read, or goes on at the next RS */
    const char *nl = memchr(r->at, '\n', (size_t)(r->end - r->at));
    if (r->seq)
        r->waiting = true;
    else
        r->at = nl ? nl + 1 : r->end;
    return READ_ERROR;
}

/* --seq: a text that the next RS, or the end, cut short. */
static ReadState truncated(Reader *r, const char *at, const char *text, bool eof)
{
    jq_reader_fail(r, at, text, eof);
    r->waiting = false;
    return READ_ERROR;
}

/* ---------- tokens ---------- */

enum { C_LITERAL, C_SPACE, C_STRUCTURE, C_QUOTE, C_RS };
static const unsigned char class_of[256] = {
    [' '] = C_SPACE, ['\t'] = C_SPACE, ['\r'] = C_SPACE, ['\n'] = C_SPACE, ['['] = C_STRUCTURE, ['{'] = C_STRUCTURE,
    [':'] = C_STRUCTURE, [','] = C_STRUCTURE, [']'] = C_STRUCTURE, ['}'] = C_STRUCTURE, ['"'] = C_QUOTE, [036] = C_RS,
};

/* Bytes of a string up to the closing quote, a backslash, a control character or (sets *high) a byte above 127. */
static const char *string_run(const char *at, const char *end)
{
    const uint64_t ones = 0x0101010101010101u, highs = 0x8080808080808080u;
    while (end - at >= 8) {
        uint64_t w;
        memcpy(&w, at, 8);
        uint64_t quote = w ^ (ones * '"'), slash = w ^ (ones * '\\');
        uint64_t hit = (((w - ones * 0x20) & ~w) | ((quote - ones) & ~quote) | ((slash - ones) & ~slash) | w) & highs;
        if (hit)
            return at + (__builtin_ctzll(hit) >> 3);
        at += 8;
    }
    while (at < end && (unsigned char)*at >= 0x20 && (unsigned char)*at < 0x80 && *at != '"' && *at != '\\')
        at++;
    return at;
}

static int hex4(const char *at, const char *end)
{
    int v = 0;
    for (int i = 0; i < 4; i++) {
        int c = at + i < end ? (unsigned char)at[i] : 0;
        int digit = c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
        if (digit < 0)
            return -1;
        v = v * 16 + digit;
    }
    return v;
}

/* \uXXXX at `at` (behind the u); returns where it ends, or NULL with *error. */
static const char *unicode_escape(const char *at, const char *end, char **to, const char **error)
{
    if (end - at < 4) {
        *error = "Invalid \\uXXXX escape";
        return NULL;
    }
    int unit = hex4(at, end);
    if (unit < 0) {
        *error = "Invalid characters in \\uXXXX escape";
        return NULL;
    }
    uint32_t c = (uint32_t)unit;
    at += 4;
    if (c >= 0xd800 && c < 0xdc00) {
        int low = end - at >= 6 && at[0] == '\\' && at[1] == 'u' ? hex4(at + 2, end) : -1;
        if (low < 0xdc00 || low > 0xdfff) {
            *error = "Invalid \\uXXXX\\uXXXX surrogate pair escape";
            return NULL;
        }
        c = 0x10000 + ((c - 0xd800) << 10) + ((uint32_t)low - 0xdc00);
        at += 6;
    } else if (c >= 0xdc00 && c < 0xe000) {
        c = 0xfffd;
    }
    *to += utf8_encode(c, *to);
    return at;
}

/* A string's bytes with escapes resolved. The result is never longer than the text. */
static const char *unescape(Slice raw, char *to, size_t *len)
{
    static const char letters[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    char *start = to;
    const char *error = NULL, *end = raw.data + raw.len;
    for (const char *at = raw.data; at < end;) {
        if ((unsigned char)*at < 0x20)
            return "Invalid string: control characters from U+0000 through U+001F must be escaped";
        if (*at != '\\') {
            *to++ = *at++;
            continue;
        }
        at++;
        const char *known = at < end && *at ? strchr(letters, *at) : NULL;
        if (known) {
            *to++ = values[known - letters];
            at++;
        } else if (at < end && *at == 'u') {
            at = unicode_escape(at + 1, end, &to, &error);
            if (!at)
                return error;
        } else {
            return "Invalid escape";
        }
    }
    *len = (size_t)(to - start);
    return NULL;
}

static const char *string_value(J *j, Slice raw, bool plain, bool key, Val *out)
{
    if (plain) {
        *out = key ? val_str(str_key(j, raw)) : val_string(j, raw);
        out->str->ascii = true;
        return NULL;
    }
    size_t len = 0;
    JStr *s = str_alloc(j, raw.len);
    const char *error = unescape(raw, s->data, &len);
    if (!error) {
        Slice text = {s->data, len};
        *out = key && utf8_valid(text) ? val_str(str_key(j, text)) : val_string_utf8(j, text);
    }
    val_free(j, val_str(s));
    return error;
}

/* r->at is at the quote. */
static int read_string(Reader *r, bool key, Val *out)
{
    const char *at = r->at + 1;
    bool plain = true;
    for (;;) {
        at = string_run(at, r->end);
        if (at < r->end && *at == '"')
            break;
        if (at < r->end && *at == 036 && r->seq) {
            truncated(r, at + 1, "Truncated value", false);
            return T_ERROR;
        }
        if (at < r->end && (*at != '\\' || at + 1 < r->end)) {
            plain = false;
            at += *at == '\\' ? 2 : 1;
            continue;
        }
        size_t done = (size_t)(at - r->at);
        if (!more(r, r->at)) {
            r->at = r->end;
            jq_reader_fail(r, r->end, "Unfinished string", true);
            return T_ERROR;
        }
        at = r->at + done;
    }
    Slice raw = {r->at + 1, (size_t)(at - r->at - 1)};
    const char *error = string_value(r->j, raw, plain, key, out);
    r->at = at + 1;
    if (error) {
        jq_reader_fail(r, r->at, error, false);
        return T_ERROR;
    }
    return T_VALUE;
}

static const char *literal_value(J *j, Slice text, Val *out)
{
    const char *word = NULL;
    switch (text.data[0]) {
    case 't':
        word = "true";
        *out = VAL_TRUE;
        break;
    case 'f':
        word = "false";
        *out = VAL_FALSE;
        break;
    case 'n':
        if (text.len > 1 && text.data[1] == 'u')
            word = "null";
        *out = VAL_NULL;
        break;
    case '\'':
        return "Invalid string literal; expected \", but got '";
    default:
        break;
    }
    if (word)
        return slice_is(text, word) ? NULL : "Invalid literal";
    if (jq_number_parse(j, text, out) || jq_number_special(text, out))
        return NULL;
    return "Invalid numeric literal";
}

/* Up to 15 digits, no sign but '-', no leading zero, no trailing zero behind a point: what most numbers are. */
static const char *quick_number(const char *at, const char *end, Val *out)
{
    static const double tenth[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    bool negative = *at == '-';
    const char *start = at += negative;
    int64_t v = 0;
    while (at < end && *at >= '0' && *at <= '9')
        v = v * 10 + (*at++ - '0');
    size_t digits = (size_t)(at - start), fraction = 0;
    if (digits == 0 || digits > 15 || (*start == '0' && (digits > 1 || (negative && (at == end || *at != '.')))))
        return NULL;
    if (at < end && *at == '.') {
        const char *point = ++at;
        while (at < end && at - point < 15 && *at >= '0' && *at <= '9')
            v = v * 10 + (*at++ - '0');
        fraction = (size_t)(at - point);
        if (fraction == 0 || digits + fraction > 15 || at[-1] == '0' || (*start == '0' && point[0] == '0' && fraction > 3 && point[1] == '0' && point[2] == '0'))
            return NULL;
    }
    if (at >= end || class_of[(unsigned char)*at] == C_LITERAL)
        return NULL;
    double d = (double)v;
    if (fraction)
        d /= tenth[fraction];
    *out = (Val){.kind = K_NUMBER, .written = true, .num = negative ? -d : d};
    return at;
}

static int read_literal(Reader *r, Val *out)
{
    const char *quick = quick_number(r->at, r->end, out);
    if (quick) {
        r->at = quick;
        return T_VALUE;
    }
    size_t n = 0;
    bool eof = false;
    for (;;) {
        while (r->at + n < r->end && class_of[(unsigned char)r->at[n]] == C_LITERAL)
            n++;
        if (r->at + n < r->end)
            break;
        if (!more(r, r->at)) {
            eof = true;
            break;
        }
    }
    const char *error = literal_value(r->j, (Slice){r->at, n}, out);
    r->at += n;
    if (error) {
        /* noticed at the character behind it */
        jq_reader_fail(r, r->at + !eof, error, eof);
        return T_ERROR;
    }
    return T_VALUE;
}

/* A byte order mark, or as much of it as there is, may begin the first text; false: it begins like one. */
static bool skip_mark(Reader *r)
{
    size_t n = 0;
    r->begun = true;
    while (r->end - r->at < 3 && more(r, r->at))
        ;
    while (n < 3 && n < (size_t)(r->end - r->at) && r->at[n] == "\xEF\xBB\xBF"[n])
        n++;
    if (n && n < 3 && n < (size_t)(r->end - r->at)) {
        jq_reader_fail(r, r->end, "Malformed BOM", true);
        snprintf(r->message, sizeof r->message, "Malformed BOM");
        return false;
    }
    r->at += n;
    r->counted = r->at;
    return true;
}

/* --seq: up to the first RS; false: there is none. */
static bool wait_for_rs(Reader *r)
{
    for (;;) {
        const char *rs = memchr(r->at, 036, (size_t)(r->end - r->at));
        if (rs) {
            r->at = rs + 1;
            r->waiting = false;
            return true;
        }
        r->at = r->end;
        if (!more(r, r->at))
            return false;
    }
}

int jq_reader_token(Reader *r, bool key, Val *out)
{
    if (!r->begun && !skip_mark(r))
        return T_ERROR;
    if (r->waiting && !wait_for_rs(r)) {
        count_to(r, r->end);
        if (r->line == 1 && r->column == 0)
            return T_END;
        jq_reader_fail(r, r->end, "Unfinished abandoned text", true);
        r->waiting = false;
        return T_ERROR;
    }
    for (;;) {
        while (r->at < r->end && class_of[(unsigned char)*r->at] == C_SPACE)
            r->at++;
        if (r->at < r->end)
            break;
        if (!more(r, r->at))
            return T_END;
    }
    unsigned char c = (unsigned char)*r->at;
    switch (class_of[c]) {
    case C_STRUCTURE:
        r->at++;
        return c;
    case C_QUOTE:
        return read_string(r, key, out);
    case C_RS:
        r->at++;
        if (r->seq)
            return 036;
        jq_reader_fail(r, r->at, "Invalid numeric literal", false);
        return T_ERROR;
    default:
        return read_literal(r, out);
    }
}

/* ---------- whole values ---------- */

static void push_item(Reader *r, Val v)
{
    if (r->nitems == r->items_cap) {
        size_t cap = r->items_cap ? r->items_cap * 2 : 64;
        Val *grown = jmem(r->j, cap * sizeof(Val));
        if (r->items_cap) {
            memcpy(grown, r->items, r->nitems * sizeof(Val));
            jmem_give(r->j, r->items, r->items_cap * sizeof(Val));
        }
        r->items = grown;
        r->items_cap = cap;
    }
    r->items[r->nitems++] = v;
}

static const char *open_container(Reader *r, bool object)
{
    if (r->depth >= JQ_MAX_DEPTH)
        return "Exceeds depth limit for parsing";
    if (r->next.kind)
        return "Expected separator between values";
    if (r->depth == r->open_cap) {
        size_t cap = r->open_cap ? r->open_cap * 2 : 32;
        uint32_t *grown = jmem(r->j, cap * sizeof *grown);
        if (r->open_cap) {
            memcpy(grown, r->open, r->depth * sizeof *grown);
            jmem_give(r->j, r->open, r->open_cap * sizeof *grown);
        }
        r->open = grown;
        r->open_cap = cap;
    }
    r->open[r->depth++] = (uint32_t)r->nitems << 1 | object;
    return NULL;
}

static inline bool in_object(const Reader *r) { return r->depth && (r->open[r->depth - 1] & 1); }
static inline size_t members(const Reader *r) { return r->depth ? r->nitems - (r->open[r->depth - 1] >> 1) : 0; }
/* A key waits for its value. */
static inline bool has_key(const Reader *r) { return in_object(r) && (members(r) & 1); }

static Val make_array(Reader *r, size_t n)
{
    Val a = arr_new(r->j, n);
    r->nitems -= n;
    if (n)
        memcpy(a.arr->items, r->items + r->nitems, n * sizeof(Val));
    a.arr->len = (uint32_t)n;
    return a;
}

static Val make_object(Reader *r, size_t n)
{
    Val o = obj_from_pairs(r->j, r->items + (r->nitems - n), n / 2);
    r->nitems -= n;
    return o;
}

static const char *close_array(Reader *r)
{
    if (r->depth == 0 || in_object(r))
        return "Unmatched ']'";
    if (r->next.kind)
        push_item(r, r->next);
    else if (members(r))
        return "Expected another array element";
    r->next = make_array(r, members(r));
    r->depth--;
    return NULL;
}

static const char *close_object(Reader *r)
{
    if (r->depth == 0)
        return "Unmatched '}'";
    if (r->next.kind) {
        if (!has_key(r))
            return "Objects must consist of key:value pairs";
        push_item(r, r->next);
    } else {
        if (!in_object(r) || has_key(r))
            return "Unmatched '}'";
        if (members(r))
            return "Expected another key-value pair";
    }
    r->next = make_object(r, members(r));
    r->depth--;
    return NULL;
}

static const char *colon(Reader *r)
{
    if (!r->next.kind)
        return "Expected string key before ':'";
    if (!in_object(r) || has_key(r))
        return "':' not as part of an object";
    if (r->next.kind != K_STRING)
        return "Object keys must be strings";
    push_item(r, r->next);
    r->next = VAL_INVALID;
    return NULL;
}

static const char *comma(Reader *r)
{
    if (!r->next.kind)
        return "Expected value before ','";
    if (r->depth == 0)
        return "',' not as part of an object or array";
    if (in_object(r) && !has_key(r))
        return "Objects must consist of key:value pairs";
    push_item(r, r->next);
    r->next = VAL_INVALID;
    return NULL;
}

static const char *structure(Reader *r, int c)
{
    switch (c) {
    case '[':
        return open_container(r, false);
    case '{':
        return open_container(r, true);
    case ':':
        return colon(r);
    case ',':
        return comma(r);
    case ']':
        return close_array(r);
    default:
        return close_object(r);
    }
}

static ReadState end_of_text(Reader *r)
{
    if (r->depth || r->next.kind) {
        jq_reader_fail(r, r->end, "Unfinished JSON term", true);
        r->waiting = false;
        return READ_ERROR;
    }
    return READ_END;
}

static void drop_text(Reader *r)
{
    for (size_t i = 0; i < r->nitems; i++)
        val_free(r->j, r->items[i]);
    val_free(r->j, r->next);
    r->next = VAL_INVALID;
    r->nitems = r->depth = 0;
}

/* A comma or colon right behind a literal at the top: jq notices before it gives the value out. */
bool jq_reader_stray(const Reader *r) { return r->at[-1] != '"' && r->at < r->end && (*r->at == ',' || *r->at == ':'); }

/* --seq: a literal counts only when a blank follows. */
static bool whole_literal(Reader *r)
{
    bool number = r->next.kind == K_NUMBER;
    if (r->at == r->end && !more(r, r->at)) {
        if (number)
            truncated(r, r->end, "Potentially truncated top-level numeric value", true);
        return !number;
    }
    if (*r->at != 036)
        return true;
    truncated(r, r->at + 1, number ? "Potentially truncated top-level numeric value" : "Truncated value", false);
    return false;
}

static ReadState next_value(Reader *r, Val *out)
{
    for (unsigned turn = 0;; turn++) {
        Val v = VAL_INVALID;
        if ((turn & 255) == 255)
            proc_tick(r->j->proc, 64);
        int token = jq_reader_token(r, in_object(r) && !has_key(r), &v);
        const char *error = NULL;
        if (token == T_VALUE) {
            if (r->next.kind) {
                val_free(r->j, v);
                /* a literal is noticed at the character behind it */
                bool behind = r->at[-1] != '"' && r->at < r->end;
                return jq_reader_fail(r, r->at + behind, "Expected separator between values", r->at[-1] != '"' && !behind);
            }
            r->next = v;
        } else if (token == T_END) {
            return end_of_text(r);
        } else if (token == T_ERROR) {
            return READ_ERROR;
        } else if (token == 036) {
            bool blank = r->at - 1 > r->counted && class_of[(unsigned char)r->at[-2]] == C_SPACE;
            if ((r->depth || r->next.kind == K_NUMBER) && !blank)
                return truncated(r, r->at, "Truncated value", false);
            drop_text(r);
            continue; /* a text cut short by the next one is dropped */
        } else {
            error = structure(r, token);
        }
        if (error)
            return jq_reader_fail(r, r->at, error, false);
        if (token == T_VALUE && r->depth == 0 && jq_reader_stray(r)) {
            bool comma_next = *r->at == ',';
            return jq_reader_fail(r, r->at + 1, comma_next ? "Expected value before ','" : "Expected string key before ':'", false);
        }
        if (r->seq && token == T_VALUE && r->depth == 0 && r->at[-1] != '"' && !whole_literal(r))
            return READ_ERROR;
        if (r->depth == 0 && r->next.kind) {
            *out = r->next;
            r->next = VAL_INVALID;
            return READ_VALUE;
        }
    }
}

ReadState jq_reader_next(Reader *r, Val *out) { return r->stream ? jq_reader_event(r, out) : next_value(r, out); }

static Val quoting(J *j, const char *message, Slice text)
{
    return jq_error(j, "%s (while parsing '%.*s')", message, (int)MIN(text.len, (size_t)INT32_MAX), text.data);
}

static bool whole_text(void *user, Slice *more)
{
    Slice *text = user;
    *more = *text;
    bool any = text->len > 0;
    text->len = 0;
    return any;
}

Val jq_read_json_text(J *j, Slice text)
{
    Reader r;
    Val v = VAL_INVALID, extra = VAL_INVALID;
    Slice rest = text;
    jq_reader_init(&r, j);
    r.refill = whole_text;
    r.user = &rest;
    ReadState state = jq_reader_next(&r, &v);
    if (state == READ_END) {
        v = quoting(j, "Expected JSON value", text);
    } else if (state == READ_ERROR) {
        v = quoting(j, r.message, text);
    } else if ((state = jq_reader_next(&r, &extra)) != READ_END) {
        val_free(j, v);
        v = quoting(j, state == READ_ERROR ? r.message : "Unexpected extra JSON values", text);
        val_free(j, extra);
    }
    jq_reader_drop(&r);
    return v;
}

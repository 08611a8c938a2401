/* reader_stream: --stream. Values become events [path, leaf] and, when a container ends, [path of its last member]. */
#include "reader.h"

static Val last_key(const Reader *r)
{
    size_t n = r->path.kind == K_ARRAY ? arr_len(r->path) : 0;
    return n ? r->path.arr->items[n - 1] : VAL_INVALID;
}

static void set_last(Reader *r, Val key) { r->path = arr_set(r->j, r->path, (int64_t)arr_len(r->path) - 1, key); }

static void drop_last(Reader *r) { r->path = arr_slice(r->j, r->path, 0, (int64_t)arr_len(r->path) - 1); }

static Val event(Reader *r, Val leaf)
{
    Val e = arr_push(r->j, arr_new(r->j, 2), val_copy(r->path));
    return leaf.kind ? arr_push(r->j, e, leaf) : e;
}

static Val take_next(Reader *r)
{
    Val v = r->next;
    r->next = VAL_INVALID;
    return v;
}

static const char *open_container(Reader *r, bool object)
{
    if (arr_len(r->path) >= JQ_MAX_DEPTH)
        return "Exceeds depth limit for parsing";
    if (r->next.kind)
        return "Expected separator between values";
    if (r->seen == SEEN_OPEN_OBJECT)
        return object ? "Expected string key after '{', not '{'" : "Expected string key after '{', not '['";
    if (r->seen == SEEN_COMMA && last_key(r).kind != K_NUMBER)
        return object ? "Expected string key after ',' in object, not '{'" : "Expected string key after ',' in object, not '['";
    r->path = arr_push(r->j, r->path, object ? VAL_NULL : val_num(0));
    r->seen = object ? SEEN_OPEN_OBJECT : SEEN_OPEN_ARRAY;
    return NULL;
}

static const char *colon(Reader *r)
{
    Val last = last_key(r);
    if (last.kind == K_INVALID || last.kind == K_NUMBER)
        return r->next.kind ? "':' not as part of an object" : "Expected string key before ':'";
    if (!r->next.kind)
        return "Expected string key before ':'";
    if (r->next.kind != K_STRING)
        return "Object keys must be strings";
    if (r->seen != SEEN_VALUE || last.kind == K_STRING)
        return "':' should follow a key";
    set_last(r, take_next(r));
    r->seen = SEEN_COLON;
    return NULL;
}

static const char *comma(Reader *r, Val *out)
{
    Val last = last_key(r);
    if (r->seen != SEEN_VALUE)
        return "Expected value before ','";
    if (last.kind == K_INVALID)
        return "',' not as part of an object or array";
    if (last.kind == K_NULL)
        return "Objects must consist of key:value pairs";
    if (r->next.kind)
        *out = event(r, take_next(r));
    set_last(r, last.kind == K_NUMBER ? val_num(val_double(last) + 1) : VAL_NULL);
    r->seen = SEEN_COMMA;
    return NULL;
}

static const char *close_container(Reader *r, bool object, Val *out)
{
    Val last = last_key(r);
    if (last.kind == K_INVALID || (last.kind == K_NUMBER) == object)
        return last.kind == K_INVALID ? (object ? "Unmatched '}' at the top-level" : "Unmatched ']' at the top-level")
               : object               ? "Unmatched '}' in the middle of an array"
                                      : "Unmatched ']' in the middle of an object";
    if (r->seen == SEEN_COMMA)
        return object ? "Expected another key:value pair" : "Expected another array element";
    if (r->seen == SEEN_COLON)
        return "Missing value in key:value pair";
    if (r->seen == (object ? SEEN_OPEN_OBJECT : SEEN_OPEN_ARRAY)) {
        drop_last(r);
        *out = event(r, object ? obj_new(r->j, 0) : arr_new(r->j, 0));
    } else {
        if (last.kind == K_NULL)
            return "Objects must consist of key:value pairs";
        Val closing = event(r, VAL_INVALID);
        if (r->next.kind) {
            *out = event(r, take_next(r));
            r->queued = closing;
        } else {
            *out = closing;
        }
        drop_last(r);
    }
    r->seen = SEEN_VALUE;
    return NULL;
}

static const char *structure(Reader *r, int token, Val *out)
{
    switch (token) {
    case '[':
    case '{':
        return open_container(r, token == '{');
    case ':':
        return colon(r);
    case ',':
        return comma(r, out);
    default:
        return close_container(r, token == '}', out);
    }
}

static ReadState fail(Reader *r, Val *out)
{
    J *j = r->j;
    Val path = r->path;
    r->path = arr_new(j, 0);
    r->seen = SEEN_NOTHING;
    if (!r->stream_errors) {
        val_free(j, path);
        return READ_ERROR;
    }
    *out = arr_push(j, arr_push(j, arr_new(j, 2), val_text(j, r->message)), path);
    return READ_VALUE;
}

static ReadState at_end(Reader *r, Val *out)
{
    if (arr_len(r->path) == 0 && !r->next.kind)
        return READ_END;
    jq_reader_fail(r, r->end, "Unfinished JSON term", true);
    return fail(r, out);
}

/* The value that came, at the top or inside. */
static const char *value(Reader *r, Val v, Val *out)
{
    Val last = last_key(r);
    bool wants_key = last.kind == K_NULL;
    if (r->next.kind || (r->seen == SEEN_VALUE && last.kind)) {
        val_free(r->j, v);
        return "Expected separator between values";
    }
    if (wants_key && v.kind != K_STRING) {
        r->next = v; /* the colon says that keys are strings */
        r->seen = SEEN_VALUE;
        return NULL;
    }
    r->seen = SEEN_VALUE;
    if (last.kind == K_INVALID && jq_reader_stray(r)) {
        val_free(r->j, v);
        return *r->at++ == ',' ? "Expected value before ','" : "':' not as part of an object";
    }
    if (last.kind == K_INVALID)
        *out = event(r, v);
    else
        r->next = v;
    return NULL;
}

ReadState jq_reader_event(Reader *r, Val *out)
{
    *out = VAL_INVALID;
    if (r->path.kind == K_INVALID)
        r->path = arr_new(r->j, 0);
    if (r->queued.kind) {
        *out = r->queued;
        r->queued = VAL_INVALID;
        return READ_VALUE;
    }
    while (out->kind == K_INVALID) {
        Val v = VAL_INVALID;
        const char *error = NULL;
        proc_tick(r->j->proc, 1);
        int token = jq_reader_token(r, false, &v);
        if (token == T_END)
            return at_end(r, out);
        if (token == T_ERROR)
            return fail(r, out);
        if (token == T_VALUE)
            error = value(r, v, out);
        else if (token != 036)
            error = structure(r, token, out);
        if (error) {
            /* a literal is noticed at the character behind it */
            bool literal = token == T_VALUE && r->at[-1] != '"' && r->at[-1] != ',' && r->at[-1] != ':', behind = literal && r->at < r->end;
            jq_reader_fail(r, r->at + behind, error, literal && !behind);
            return fail(r, out);
        }
    }
    return READ_VALUE;
}

/* file(1): JSON and CSV, told by parsing them. */
#include "type.h"

enum { DEPTH_MOST = 500, ROWS_LOOKED_AT = 10 };

typedef struct {
    Proc *p;
    const unsigned char *at, *end;
    bool container; /* an object or an array */
} Json;

static bool value(Json *j, int depth);

static void space(Json *j)
{
    while (j->at < j->end && (*j->at == ' ' || *j->at == '\t' || *j->at == '\n' || *j->at == '\r'))
        j->at++;
    proc_tick(j->p, 1);
}

static bool string(Json *j)
{
    for (j->at++; j->at < j->end; j->at++) {
        if (*j->at == '"') {
            j->at++;
            return true;
        }
        if (*j->at < 0x20)
            return false;
        if (*j->at != '\\')
            continue;
        if (++j->at == j->end || !strchr("\"\\/bfnrtu", *j->at) || !*j->at)
            return false;
        for (int i = 0; *j->at == 'u' && i < 4; i++)
            if (j->end - j->at < 5 || !strchr("0123456789abcdefABCDEF", j->at[1 + i]) || !j->at[1 + i])
                return false;
    }
    return false;
}

static bool digits(Json *j)
{
    const unsigned char *from = j->at;
    while (j->at < j->end && *j->at >= '0' && *j->at <= '9')
        j->at++;
    return j->at > from;
}

static bool number(Json *j)
{
    if (*j->at == '-')
        j->at++;
    bool got = digits(j);
    if (j->at < j->end && *j->at == '.') {
        j->at++;
        got |= digits(j);
    }
    if (got && j->at < j->end && (*j->at == 'e' || *j->at == 'E')) {
        j->at++;
        if (j->at < j->end && (*j->at == '+' || *j->at == '-'))
            j->at++;
        got = digits(j);
    }
    return got;
}

static bool word(Json *j, const char *text)
{
    size_t n = strlen(text);
    if ((size_t)(j->end - j->at) < n || memcmp(j->at, text, n) != 0)
        return false;
    j->at += n;
    return true;
}

static bool next_is(Json *j, unsigned char c)
{
    space(j);
    if (j->at == j->end || *j->at != c)
        return false;
    j->at++;
    return true;
}

static bool object(Json *j, int depth)
{
    j->at++;
    j->container = true;
    if (next_is(j, '}'))
        return true;
    do {
        space(j);
        if (j->at == j->end || *j->at != '"' || !string(j) || !next_is(j, ':') || !value(j, depth + 1))
            return false;
    } while (next_is(j, ','));
    return next_is(j, '}');
}

static bool array(Json *j, int depth)
{
    j->at++;
    j->container = true;
    if (next_is(j, ']'))
        return true;
    do {
        if (!value(j, depth + 1))
            return false;
    } while (next_is(j, ','));
    return next_is(j, ']');
}

static bool value(Json *j, int depth)
{
    space(j);
    if (j->at == j->end || depth > DEPTH_MOST || !proc_stack_room(j->p, 4096))
        return false;
    switch (*j->at) {
    case '{': return object(j, depth);
    case '[': return array(j, depth);
    case '"': return string(j);
    case 't': return word(j, "true");
    case 'f': return word(j, "false");
    case 'n': return word(j, "null");
    default: return (*j->at == '-' || (*j->at >= '0' && *j->at <= '9')) && number(j);
    }
}

bool kind_json(Proc *p, const Bytes *b, Kind *k)
{
    Json j = {.p = p, .at = b->data, .end = b->data + b->len};
    if (!value(&j, 0) || !j.container)
        return false;
    bool lines = false;
    space(&j);
    while (j.at < j.end) {
        lines = true;
        if (*j.at != '{' && *j.at != '[')
            return false;
        if (!value(&j, 0))
            return false;
        space(&j);
    }
    buf_append(&k->text, slice_str(lines ? "New Line Delimited JSON text data" : "JSON text data"));
    k->mime = lines ? "application/x-ndjson" : "application/json";
    k->extensions = lines ? "ndjson/jsonl" : "json";
    k->whole = true;
    return true;
}

bool kind_csv(const Bytes *b, Kind *k)
{
    size_t fields = 0, want = 0, rows = 0;
    for (size_t i = 0; i < b->len && rows < ROWS_LOOKED_AT; i++) {
        unsigned char c = b->data[i];
        if (c == '"') {
            for (i++; i < b->len; i++)
                if (b->data[i] == '"' && u8_at(b, ++i) != '"') {
                    i--;
                    break;
                }
        } else if (c == ',') {
            fields++;
        } else if (c == '\n') {
            if (!fields || (want && fields != want))
                return false;
            want = fields;
            fields = 0;
            rows++;
        }
    }
    if (!want || rows < 3)
        return false;
    buf_append(&k->text, SLICE("CSV text"));
    k->mime = "text/csv";
    k->extensions = "csv";
    k->whole = true;
    return true;
}

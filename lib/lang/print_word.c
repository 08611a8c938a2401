/* print_word: a word's text as bash keeps it after reading. */
#include "parser.h"
#include "print.h"

void emit_single_quoted(Buf *out, Slice s)
{
    if (slice_is(s, "'")) {
        buf_append(out, SLICE("\\'"));
        return;
    }
    buf_char(out, '\'');
    for (size_t i = 0; i < s.len; i++) {
        if (s.data[i] == '\'')
            buf_append(out, SLICE("'\\''"));
        else
            buf_char(out, s.data[i]);
    }
    buf_char(out, '\'');
}

static const WordPart *find_in(const Word *w, const char *at);

static const WordPart *find_in_param(const Param *param, const char *at)
{
    const Word *words[] = {param->word, param->word2, param->index, param->offset_word, param->length_word};
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        const WordPart *found = words[i] ? find_in(words[i], at) : NULL;
        if (found)
            return found;
    }
    return NULL;
}

static const WordPart *find_in_brace(const Brace *b, const char *at)
{
    for (uint32_t i = 0; b->words && i < b->count; i++) {
        const WordPart *found = find_in(b->words[i], at);
        if (found)
            return found;
    }
    return NULL;
}

/* The substitution whose text begins at `at`. */
static const WordPart *find_in(const Word *w, const char *at)
{
    for (uint32_t i = 0; i < w->count; i++) {
        const WordPart *part = &w->parts[i], *found = NULL;
        if ((part->kind == PART_COMMAND || part->kind == PART_PROCESS) && part->command.source.data == at)
            return part;
        if (part->kind == PART_QUOTED)
            found = find_in(part->inner, at);
        else if (part->kind == PART_PARAM)
            found = find_in_param(part->param, at);
        else if (part->kind == PART_BRACE)
            found = find_in_brace(part->brace, at);
        if (found)
            return found;
    }
    return NULL;
}

static const char *emit_substitution(Printer *p, const WordPart *part)
{
    Slice source = part->command.source;
    size_t before = p->out->len;
    if (part->command.body) {
        print_substitution(p->out, part->command.body);
        if (p->out->len > before && p->out->data[before] == '(') {
            buf_char(p->out, ' '); /* room, then the text moved up: "$( (" is not arithmetic */
            if (!p->out->failed) {
                memmove(p->out->data + before + 1, p->out->data + before, p->out->len - before - 1);
                p->out->data[before] = ' ';
            }
        }
    }
    buf_char(p->out, ')');
    return source.data + source.len + 1;
}

/* $'...' at s: its meaning in single quotes. */
static const char *emit_dollar_quote(Printer *p, const char *s, const char *end)
{
    const char *close = s + 2;
    while (close < end && *close != '\'')
        close += *close == '\\' && close + 1 < end ? 2 : 1;
    close = MIN(close, end);
    size_t n = 0, room = (size_t)(close - s) * 2 + 8;
    char *meaning = mem_alloc(p->out->mem, room);
    if (!meaning) {
        p->out->failed = true;
        return end;
    }
    decode_dollar_quote(NULL, s + 2, close, meaning, &n);
    emit_single_quoted(p->out, slice(meaning, n));
    return close < end ? close + 1 : end;
}

static const char *copy(Printer *p, const char *s, const char *to)
{
    buf_append(p->out, slice(s, (size_t)(to - s)));
    return to;
}

/* Copies the text of `w`, looking out for what bash rewrites. */
static void rewrite(Printer *p, const Word *w)
{
    const char *s = w->source.data, *end = s + w->source.len;
    bool quoted = false;
    while (s < end) {
        char next = s + 1 < end ? s[1] : 0;
        if (*s == '\\') {
            s = next == '\n' ? s + 2 : copy(p, s, MIN(s + 2, end));
        } else if (*s == '\'' && !quoted) {
            const char *close = memchr(s + 1, '\'', (size_t)(end - s - 1));
            s = copy(p, s, close ? close + 1 : end);
        } else if (*s == '`') {
            const char *close = skip_quoted(s);
            s = copy(p, s, close && close <= end ? close : end);
        } else if (*s == '$' && next == '\'' && !quoted) {
            s = emit_dollar_quote(p, s, end);
        } else if (*s == '$' && next == '"' && !quoted) {
            s++;
        } else if (next == '(' && (*s == '$' || *s == '<' || *s == '>')) {
            const WordPart *part = find_in(w, s + 2);
            s = copy(p, s, s + 2);
            if (part)
                s = emit_substitution(p, part);
        } else {
            quoted ^= *s == '"';
            s = copy(p, s, s + 1);
        }
    }
}

void emit_word(Printer *p, const Word *w)
{
    Slice s = w->source;
    if (slice_find(s, '$') == s.len && slice_find(s, '\\') == s.len && slice_find(s, '(') == s.len)
        buf_append(p->out, s);
    else
        rewrite(p, w);
}

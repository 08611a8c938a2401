/* lex_param: ${...} in every form. What is none of them is PARAM_BAD, which bash too only reports when it is expanded. */
#include "parser.h"

static bool is_parameter_start(char c)
{
    return is(c, CH_NAME | CH_DIGIT) || (c && strchr("@*#?-$!", c));
}

/* The parameter itself at p->at: a name, a number or a special character. */
static bool read_parameter(Parser *p, Param *param)
{
    const char *s = p->at, *e = name_end(s);
    if (e > s) {
        param->var = VAR_NAMED;
        param->name = make_name(p, slice(s, (size_t)(e - s)));
    } else if (is(*s, CH_DIGIT)) {
        uint64_t n = 0;
        for (e = s; is(*e, CH_DIGIT); e++)
            n = MIN(n * 10 + (uint64_t)(*e - '0'), UINT32_MAX);
        param->number = (uint32_t)n;
        param->var = n ? VAR_POSITIONAL : VAR_ZERO;
    } else {
        static const char chars[] = "@*#?-$!";
        static const VarKind kinds[] = {VAR_AT, VAR_STAR, VAR_COUNT, VAR_STATUS, VAR_FLAGS, VAR_PID, VAR_LAST_JOB};
        const char *at = *s ? strchr(chars, *s) : NULL;
        if (!at)
            return false;
        param->var = kinds[at - chars];
        e = s + 1;
    }
    p->at = e;
    return true;
}

Word *read_subscript(Parser *p, IndexKind *kind)
{
    const char *opened = p->at - 1;
    if ((p->at[0] == '@' || p->at[0] == '*') && p->at[1] == ']') {
        *kind = *p->at == '@' ? INDEX_AT : INDEX_STAR;
        p->at += 2;
        return NULL;
    }
    *kind = INDEX_EXPR;
    Word *w = read_parts(p, MODE_SUBSCRIPT, 0, 0);
    if (*p->at != ']') {
        need_more(p);
        fail_matching(p, opened, "}");
    }
    p->at++;
    return w;
}

/* An empty subscript, or one without its end, is left in the way: a bad substitution. */
static void read_index(Parser *p, Param *param)
{
    if (*p->at != '[' || param->var != VAR_NAMED || p->at[1] == ']')
        return;
    const char *close = skip_parens(p->at + 1, '[', ']'), *end = skip_parens(p->at + 1, '{', '}');
    if (end && (!close || close > end))
        return;
    p->at++;
    param->index = read_subscript(p, &param->index_kind);
    if (param->index)
        param->index_code = arith_compile(p->mem, param->index);
}

/* The word of an operator. Inside quotes ' is itself for - = ? +, and a quote for the pattern operators. */
static Word *read_default(Parser *p, bool quoted, unsigned kind)
{
    bool tildes = p->in_value && kind != PARAM_ASSIGN;
    return read_parts(p, quoted ? MODE_BRACE_DQ : MODE_BRACE, quoted ? READ_QUOTED : READ_TILDE | (tildes ? READ_VALUE : 0), 0);
}

/* The word of ? is expanded as if it stood outside quotes: where it ends is found first. */
static Word *read_message(Parser *p, bool quoted)
{
    const char *start = p->at;
    Word *w = read_default(p, quoted, PARAM_ERROR);
    const char *end = p->at;
    if (!quoted || *end != '}' || !memchr(start, '\'', (size_t)(end - start)))
        return w;
    p->at = start;
    Word *unquoted = read_parts(p, MODE_BRACE, READ_TILDE, 0);
    bool same = p->at == end;
    p->at = end;
    return same ? unquoted : w;
}

static Word *read_pattern(Parser *p, char stop) { return read_parts(p, MODE_BRACE, READ_TILDE, stop); }
static Word *read_anchored(Parser *p, char stop) { return read_parts(p, MODE_BRACE, 0, stop); }

static bool read_substring(Parser *p, Param *param)
{
    if (*p->at == '}')
        return false;
    param->kind = PARAM_SUBSTRING;
    param->offset_word = read_parts(p, MODE_ARITH, READ_QUOTED, ':');
    param->offset = arith_compile(p->mem, param->offset_word);
    if (*p->at != ':')
        return true;
    p->at++;
    param->length_word = read_parts(p, MODE_ARITH, READ_QUOTED, '}');
    param->length = arith_compile(p->mem, param->length_word);
    return true;
}

/* A pattern may begin with the / that would end it. */
static Word *read_replace_pattern(Parser *p)
{
    const char *start = p->at;
    if (*start != '/')
        return read_pattern(p, '/');
    p->at++;
    Word *rest = read_pattern(p, '/');
    WordPart slash = {.kind = PART_LITERAL, .text = SLICE("/")};
    Word *w = GET(p, Word);
    *w = *rest;
    w->parts = get(p, (rest->count + 1) * sizeof *w->parts);
    w->parts[0] = slash;
    if (rest->count)
        memcpy(w->parts + 1, rest->parts, rest->count * sizeof *w->parts);
    w->count++;
    w->source = slice(start, (size_t)(p->at - start));
    w->flags = (uint16_t)(rest->flags & ~(WORD_LITERAL | WORD_SIMPLE));
    return w;
}

static void read_replace(Parser *p, Param *param)
{
    param->kind = PARAM_REPLACE;
    if (*p->at && strchr("/#%", *p->at))
        param->replace = (uint8_t)*p->at++;
    bool anchored = param->replace == REPLACE_PREFIX || param->replace == REPLACE_SUFFIX;
    if (*p->at == '/' && param->replace != REPLACE_ALL)
        param->word = read_pattern(p, '/');
    else
        param->word = anchored && *p->at != '/' ? read_anchored(p, '/') : read_replace_pattern(p);
    if (*p->at == '/') {
        p->at++;
        param->word2 = read_pattern(p, 0);
    }
}

static bool read_colon(Parser *p, Param *param, bool quoted)
{
    static const char chars[] = "-=?+";
    static const ParamOp ops[] = {PARAM_DEFAULT, PARAM_ASSIGN, PARAM_ERROR, PARAM_ALTERNATE};
    param->colon = *p->at == ':';
    const char *s = p->at + param->colon;
    const char *at = *s ? strchr(chars, *s) : NULL;
    if (at) {
        param->kind = ops[at - chars];
        p->at = s + 1;
        param->word = param->kind == PARAM_ERROR ? read_message(p, quoted) : read_default(p, quoted, param->kind);
        return true;
    }
    if (!param->colon)
        return false;
    param->colon = false;
    p->at++;
    return read_substring(p, param);
}

static void read_doubled(Parser *p, Param *param, ParamOp kind)
{
    char c = *p->at++;
    param->kind = kind;
    param->op = (uint8_t)c;
    if (*p->at == c) {
        param->longest = true;
        p->at++;
    }
    param->word = read_pattern(p, 0);
}

static bool read_transform(Parser *p, Param *param)
{
    param->kind = PARAM_TRANSFORM;
    if (!p->at[1] || !strchr("QEPAKakULu", p->at[1]) || p->at[2] != '}') { /* op 0: an error only when the parameter is set */
        p->at++;
        read_parts(p, MODE_BRACE, 0, 0);
        return *p->at == '}';
    }
    param->op = (uint8_t)p->at[1];
    p->at += 2;
    return true;
}

/* What follows the parameter, up to the closing brace. */
static bool read_operator(Parser *p, Param *param, bool quoted)
{
    switch (*p->at) {
    case '}': param->kind = PARAM_PLAIN; return true;
    case ':':
    case '-':
    case '=':
    case '?':
    case '+': return read_colon(p, param, quoted);
    case '#': read_doubled(p, param, PARAM_REMOVE_PREFIX); return true;
    case '%': read_doubled(p, param, PARAM_REMOVE_SUFFIX); return true;
    case '/':
        p->at++;
        read_replace(p, param);
        return true;
    case '^':
    case ',':
    case '~':
        if (param->var == VAR_STATUS || param->var == VAR_COUNT || param->var == VAR_FLAGS)
            return false;
        read_doubled(p, param, PARAM_CASE);
        return true;
    case '@': return read_transform(p, param);
    default: return false;
    }
}

/* ${#p}: only when nothing but the parameter follows, else # itself is the parameter. */
static bool read_length(Parser *p, Param *param)
{
    const char *s = p->at;
    if (*s != '#' || !is_parameter_start(s[1]))
        return false;
    p->at++;
    if (read_parameter(p, param)) {
        read_index(p, param);
        if (*p->at == '}') {
            param->kind = PARAM_LENGTH;
            return true;
        }
    }
    bool named = is(s[1], CH_NAME | CH_DIGIT);
    if (named)
        return false; /* ${#x-y}: a bad substitution */
    *param = (Param){.braced = true};
    p->at = s;
    return false;
}

/* ${!prefix*} and ${!name[@]} */
static bool read_names(Parser *p, Param *param)
{
    if (param->var == VAR_NAMED && param->index_kind == INDEX_NONE && (*p->at == '*' || *p->at == '@') && p->at[1] == '}') {
        param->kind = PARAM_NAMES;
        param->op = (uint8_t)*p->at++;
        return true;
    }
    if ((param->index_kind == INDEX_AT || param->index_kind == INDEX_STAR) && *p->at == '}') {
        param->kind = PARAM_KEYS;
        param->op = param->index_kind == INDEX_AT ? '@' : '*';
        return true;
    }
    return false;
}

static bool read_whole(Parser *p, Param *param, bool quoted)
{
    const char *s = p->at;
    if (read_length(p, param))
        return true;
    if (*s == '#' && p->at != s)
        return false;
    bool status = s[1] == '?' && s[2] && strchr("}:#%/^,@+-=", s[2]);
    if (*s == '!' && s[1] == '?' && !status && s[2] != '?')
        return false;
    if (*s == '!' && is_parameter_start(s[1]) && !(s[1] == '-' || (s[1] == '?' && !status) || s[1] == '$')) {
        p->at++;
        if (!read_parameter(p, param))
            return false;
        read_index(p, param);
        if (read_names(p, param))
            return true;
        param->indirect = true;
        return read_operator(p, param, quoted);
    }
    if (!read_parameter(p, param))
        return false;
    read_index(p, param);
    return read_operator(p, param, quoted);
}

Param *read_braced_param(Parser *p, bool quoted)
{
    const char *start = p->at - 2;
    while (p->at[0] == '\\' && p->at[1] == '\n')
        p->at += 2;
    Param *param = GET(p, Param);
    const char *inside = p->at;
    param->braced = true;
    bool good = read_whole(p, param, quoted);
    if (!good || *p->at != '}') {
        if (!good)
            p->at = inside; /* from the beginning: what was taken for a parameter may begin a ${ */
        if (*p->at)
            read_parts(p, quoted ? MODE_BRACE_DQ : MODE_BRACE, 0, 0);
        if (*p->at != '}') {
            need_more(p);
            fail_matching(p, start, "}");
        }
        *param = (Param){.kind = PARAM_BAD, .braced = true};
    }
    p->at++;
    param->source = slice(start, (size_t)(p->at - start));
    return param;
}

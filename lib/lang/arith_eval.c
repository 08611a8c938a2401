/* arith_eval: bash's arithmetic on text, evaluated while it is read, as bash does: an error is reported where the reading
 * stands, and what && || ?: skip is parsed but has no effect.
 */
#include "interp.h"

#include "arith_node.h"

enum { DEPTH_MAX = 1024 };

typedef enum {
    T_END, T_NUM, T_NAME, T_ASSIGN /* = += ... */, T_EQ, T_NE, T_LE, T_GE, T_LT, T_GT, T_AND, T_OR, T_SHL, T_SHR, T_INC, T_DEC,
    T_POW, T_COND, T_CHAR /* any other single character, in `c` */,
} Token;

/* A variable or an element, whose index is computed once. */
typedef struct Place {
    Slice name, subscript; /* subscript.data NULL: none */
    int64_t index;
    bool known;
} Place;

typedef struct Eval {
    Interp *in;
    Slice text;
    size_t at;         /* behind the current token */
    size_t token_at;   /* where it begins */
    bool ahead;        /* a token is looked at that does not count yet */
    Token token;
    char c;            /* T_CHAR; of T_ASSIGN the operator before =, or '=' */
    int64_t value;     /* T_NUM, or T_NAME's value once read */
    Place place;       /* T_NAME */
    Place target;      /* the variable read last, with its index */
    unsigned skip;     /* > 0: not evaluating */
    bool failed;
    bool raw;          /* $ in subscripts has not been expanded yet */
    unsigned depth;
} Eval;

static int64_t parse_comma(Eval *e);
static void next(Eval *e);

/* ---------- errors ---------- */

static const char *skip_blank(Slice s)
{
    size_t i = 0;
    while (i < s.len && (s.data[i] == ' ' || s.data[i] == '\t'))
        i++;
    return s.data + i;
}

static void fail(Eval *e, const char *message)
{
    if (e->failed)
        return;
    e->failed = true;
    const char *text = skip_blank(e->text), *end = e->text.data + e->text.len;
    Slice token = slice_from(e->text, MIN(e->token_at, e->text.len));
    const char *who = e->in->arith_who;
    lang_error(e->in, "%s%s%.*s: %s (error token is \"%.*s\")", who ? who : "", who ? ": " : "", (int)(end - text), text, message,
               (int)token.len, token.data);
}

/* ---------- variables ---------- */

bool arith_value_of(Interp *in, Slice text, int64_t *out)
{
    if (!text.len) {
        *out = 0;
        return true;
    }
    if (in->arith_depth >= DEPTH_MAX || !proc_stack_room(in->p, 16384)) {
        const char *who = in->arith_who;
        lang_error(in, "%s%s%.*s: expression recursion level exceeded (error token is \"%.*s\")", who ? who : "", who ? ": " : "",
                   (int)text.len, text.data, (int)text.len, text.data);
        return false;
    }
    in->arith_depth++;
    bool ok = arith_eval_text(in, text, out);
    in->arith_depth--;
    return ok;
}

static void unbound(Eval *e, Slice name)
{
    e->failed = true;
    lang_error(e->in, "%.*s: unbound variable", (int)name.len, name.data);
    lang_fatal(e->in, unset_status(e->in));
}

static Slice strip_quotes(Slice s)
{
    return s.len > 1 && s.data[0] == '\'' && s.data[s.len - 1] == '\'' ? slice(s.data + 1, s.len - 2) : s;
}

/* expand_arith has put backslashes before what would not be part of the key. */
static Slice strip_escapes(Eval *e, Slice s)
{
    if (!s.len || !memchr(s.data, '\\', s.len))
        return strip_quotes(s);
    char *out = mem_alloc(mem_of(e->in), s.len + 1);
    size_t n = 0;
    for (size_t i = 0; i < s.len; i++) {
        i += s.data[i] == '\\' && i + 1 < s.len;
        out[n++] = s.data[i];
    }
    out[n] = 0;
    return slice(out, n);
}

static Slice key_of(Eval *e, Slice subscript) { return e->raw ? expand_subscript(e->in, subscript) : strip_escapes(e, subscript); }

/* The index that the subscript of an indexed array means; false after a message, which is no failure: the element counts as 0. */
static bool index_of(Eval *e, const Var *v, Place *p, bool write)
{
    Interp *in = e->in;
    Slice sub = p->subscript;
    if (p->known)
        return true;
    if (slice_is(sub, "@") || slice_is(sub, "*")) {
        lang_report(in, "%.*s[%c]: bad array subscript", (int)p->name.len, p->name.data, sub.data[0]);
        return false;
    }
    const char *who = in->arith_who;
    in->arith_who = NULL;
    if (!arith_eval_text(in, expand_index(in, sub), &p->index))
        lang_arith_failed(in);
    in->arith_who = who;
    if (p->index < 0)
        p->index += v && v->value.kind == VALUE_ARRAY ? array_end(v->value.a) : v && v->value.kind != VALUE_UNSET ? 1 : 0;
    p->known = p->index >= 0;
    if (!p->known && write)
        lang_report(in, "%.*s[%.*s]: bad array subscript", (int)p->name.len, p->name.data, (int)sub.len, sub.data);
    else if (!p->known)
        lang_report(in, "%.*s: bad array subscript", (int)p->name.len, p->name.data);
    return p->known;
}

/* The text of an element; *set is false when there is none. */
static Slice read_element(Eval *e, const Var *v, Place *p, bool *set)
{
    Interp *in = e->in;
    *set = false;
    if (!p->subscript.len) { /* bash says it when it looks for the name, and again for the value */
        for (int i = 0; i < 2; i++)
            lang_report(in, "%.*s[]: bad array subscript", (int)p->name.len, p->name.data);
        return SLICE("");
    }
    if (v && v->value.kind == VALUE_ASSOC) {
        Slice key = key_of(e, p->subscript);
        if (!key.len)
            lang_report(in, "%.*s: bad array subscript", (int)p->name.len, p->name.data);
        Cell c = assoc_get(v->value.m, key);
        *set = c != 0;
        return cell_text(mem_of(in), c);
    }
    if (!index_of(e, v, p, false) || !v)
        return SLICE("");
    if (v->value.kind < VALUE_ARRAY)
        return p->index == 0 ? value_text(mem_of(in), &v->value, set) : SLICE("");
    v = var_find(in, p->name); /* the subscript may have assigned */
    Cell c = v && v->value.kind == VALUE_ARRAY ? array_get(v->value.a, p->index) : 0;
    *set = c != 0;
    return cell_text(mem_of(in), c);
}

static int64_t read_variable(Eval *e, Place *p)
{
    if (e->skip || e->failed)
        return 0;
    Interp *in = e->in;
    Slice text = SLICE("");
    bool set, array = false; /* of an array that is there an element may be absent */
    if (p->subscript.data) {
        const Var *v = var_find(in, p->name);
        array = v != NULL;
        if (!array && OPT(in, NOUNSET))
            unbound(e, p->name);
        text = read_element(e, v, p, &set);
    } else {
        Name n = name_of(p->name);
        const Var *v = var_lookup(in, &n);
        if (v && v->value.kind == VALUE_INT && !(v->attrs & ATTR_NAMEREF) && !v->special)
            return v->value.i;
        set = lang_get(in, &n, &text);
        array = v && v->value.kind >= VALUE_ARRAY && !(v->attrs & ATTR_INVISIBLE);
    }
    if (!set && !array && OPT(in, NOUNSET))
        unbound(e, p->name);
    int64_t value = 0;
    if (text.len && in->arith_depth + 1 >= DEPTH_MAX) {
        e->token_at = (size_t)(p->name.data - e->text.data);
        fail(e, "expression recursion level exceeded");
        return 0;
    }
    if (text.len && !arith_value_of(in, slice(mem_copy(mem_of(in), text), text.len), &value))
        e->failed = true;
    return value;
}

static bool write_element(Eval *e, Place *p, Slice text)
{
    Interp *in = e->in;
    const Var *v = var_find(in, p->name);
    Slice sub = p->subscript;
    if (!sub.len) {
        lang_error(in, "%s%s`%.*s[]': not a valid identifier", in->arith_who ? in->arith_who : "", in->arith_who ? ": " : "",
                   (int)p->name.len, p->name.data);
        return true;
    }
    if (v && v->value.kind == VALUE_ASSOC) {
        Slice key = key_of(e, sub);
        if (key.len)
            return var_set_element(in, p->name, key, text, false);
        lang_report(in, "%.*s[%.*s]: bad array subscript", (int)p->name.len, p->name.data, (int)sub.len, sub.data);
        return true;
    }
    Name n = name_of(p->name);
    return !index_of(e, v, p, true) || var_set_index(in, &n, p->index, text, false);
}

static void write_variable(Eval *e, Place *p, int64_t value)
{
    if (e->skip || e->failed)
        return;
    Interp *in = e->in;
    bool ok;
    if (p->subscript.data) {
        char buf[24];
        size_t len;
        char *text = format_int(value, buf, &len);
        ok = write_element(e, p, slice(text, len));
    } else {
        Name n = name_of(p->name);
        ok = lang_set_int(in, &n, value);
    }
    if (!ok)
        e->failed = true;
}

/* ---------- tokens ---------- */

static bool name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool name_char(char c) { return name_start(c) || (c >= '0' && c <= '9'); }

static int digit_value(char c, int64_t base)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'Z')
        return base <= 36 ? c - 'A' + 10 : c - 'A' + 36;
    return c == '@' ? 62 : c == '_' ? 63 : -1;
}

/* A number as bash reads it: 0x, 0, base#digits. NULL, or the error. */
const char *arith_number(Slice s, int64_t *out)
{
    int64_t base = 10;
    uint64_t value = 0;
    size_t i = 0;
    bool based = false;
    if (s.len > 1 && s.data[0] == '0') {
        base = 8;
        i = 1;
        if (s.data[1] == 'x' || s.data[1] == 'X') { /* a bare 0x is 0 */
            base = 16;
            i = 2;
        }
    }
    for (; i < s.len; i++) {
        char c = s.data[i];
        if (c == '#') {
            if (based)
                return "invalid number";
            if (value < 2 || value > 64 || base != 10)
                return base == 10 ? "invalid arithmetic base" : "invalid number";
            base = (int64_t)value;
            value = 0;
            based = true;
            if (i + 1 == s.len)
                return "invalid integer constant";
            continue;
        }
        int d = digit_value(c, base);
        if (d < 0 || d >= base)
            return "value too great for base";
        value = value * (uint64_t)base + (uint64_t)d;
    }
    *out = (int64_t)value;
    return NULL;
}

static size_t subscript_end(Slice s, size_t at)
{
    size_t depth = 0;
    for (size_t i = at; i < s.len; i++) {
        if (s.data[i] == '\\') {
            i++;
        } else if (s.data[i] == '"' || s.data[i] == '\'') {
            size_t n = slice_find(slice_from(s, i + 1), s.data[i]);
            i += n + 1;
        } else if (s.data[i] == '[')
            depth++;
        else if (s.data[i] == ']' && --depth == 0)
            return i;
    }
    return s.len;
}

static void name_token(Eval *e)
{
    size_t end = e->at;
    while (end < e->text.len && name_char(e->text.data[end]))
        end++;
    e->place = (Place){.name = slice(e->text.data + e->at, end - e->at)};
    e->at = end;
    if (end < e->text.len && e->text.data[end] == '[') {
        size_t close = subscript_end(e->text, end);
        if (close == e->text.len) {
            fail(e, "bad array subscript");
            return;
        }
        e->place.subscript = slice(e->text.data + end + 1, close - end - 1);
        e->at = close + 1;
    }
    e->token = T_NAME;
}

static void number_token(Eval *e)
{
    size_t end = e->at;
    while (end < e->text.len && (name_char(e->text.data[end]) || e->text.data[end] == '#' || e->text.data[end] == '@'))
        end++;
    Slice digits = slice(e->text.data + e->at, end - e->at);
    const char *error = arith_number(digits, &e->value);
    if (error && !e->failed) {
        e->failed = true;
        const char *text = skip_blank(e->text); /* up to the number's end, as bash cuts it */
        lang_error(e->in, "%s%s%.*s: %s (error token is \"%.*s\")", e->in->arith_who ? e->in->arith_who : "",
                   e->in->arith_who ? ": " : "", (int)(digits.data + digits.len - text), text, error, (int)digits.len, digits.data);
    }
    e->at = end;
    e->token = T_NUM;
}

static void operator_token(Eval *e, Token before)
{
    static const struct { const char *text; Token token; char c; } operators[] = {
        {"<<=", T_ASSIGN, 'L'}, {">>=", T_ASSIGN, 'R'}, {"==", T_EQ, 0}, {"!=", T_NE, 0}, {"<=", T_LE, 0}, {">=", T_GE, 0},
        {"&&", T_AND, 0}, {"||", T_OR, 0}, {"<<", T_SHL, 0}, {">>", T_SHR, 0}, {"**", T_POW, 0}, {"+=", T_ASSIGN, '+'},
        {"-=", T_ASSIGN, '-'}, {"*=", T_ASSIGN, '*'}, {"/=", T_ASSIGN, '/'}, {"%=", T_ASSIGN, '%'}, {"&=", T_ASSIGN, '&'},
        {"^=", T_ASSIGN, '^'}, {"|=", T_ASSIGN, '|'}, {"=", T_ASSIGN, '='}, {"<", T_LT, 0}, {">", T_GT, 0}, {"?", T_COND, 0},
    };
    Slice rest = slice_from(e->text, e->at);
    for (size_t i = 0; i < ARRAY_LEN(operators); i++)
        if (slice_starts(rest, slice_str(operators[i].text))) {
            e->token = operators[i].token;
            e->c = operators[i].c;
            e->at += strlen(operators[i].text);
            return;
        }
    if (!rest.data[0] || !strchr("+-*/%!()&|^~:,", rest.data[0])) {
        bool operand = before == T_NUM || before == T_NAME || (before == T_CHAR && e->c == ')');
        fail(e, operand ? "syntax error: invalid arithmetic operator" : "syntax error: operand expected");
    }
    e->token = T_CHAR;
    e->c = rest.data[0];
    e->at++;
}

/* ++ and -- are tokens only where they can mean something: behind a variable, or before a name. */
static bool step_token(Eval *e, Token before)
{
    Slice rest = slice_from(e->text, e->at);
    bool inc = slice_starts(rest, SLICE("++")), dec = slice_starts(rest, SLICE("--"));
    if (!inc && !dec)
        return false;
    size_t i = 2;
    while (i < rest.len && (rest.data[i] == ' ' || rest.data[i] == '\t' || rest.data[i] == '\n'))
        i++;
    if (before != T_NAME && !(i < rest.len && name_start(rest.data[i])))
        return false;
    if (before == T_NUM)
        return false;
    e->token = inc ? T_INC : T_DEC;
    e->at += 2;
    return true;
}

/* bash reads the token behind a name before it asks for the name's value. False: there it failed. */
static bool token_follows(Eval *e)
{
    Eval here = *e;
    if (e->failed)
        return false;
    if (++e->depth > DEPTH_MAX || !proc_stack_room(e->in->p, 16384)) {
        fail(e, "expression recursion level exceeded");
        return false;
    }
    e->ahead = true;
    next(e);
    if (e->failed)
        return false;
    *e = here;
    return true;
}

static void next(Eval *e)
{
    Token before = e->token;
    while (e->at < e->text.len && strchr(" \t\n", e->text.data[e->at]) && e->text.data[e->at])
        e->at++;
    if (e->at >= e->text.len) { /* an error at the end speaks of the last token */
        e->token = T_END;
        return;
    }
    e->token_at = e->at;
    char c = e->text.data[e->at];
    if (name_start(c)) {
        name_token(e);
        if ((before == T_NUM || before == T_NAME) && !e->ahead && token_follows(e)) /* wrong, but bash has read its value before it says so */
            read_variable(e, &(Place){e->place.name, e->place.subscript, 0, false});
    }
    else if (c >= '0' && c <= '9')
        number_token(e);
    else if (!step_token(e, before))
        operator_token(e, before);
}

static bool is_char(const Eval *e, char c) { return e->token == T_CHAR && e->c == c; }

static bool assignment_follows(const Eval *e)
{
    size_t i = e->at;
    while (i < e->text.len && (e->text.data[i] == ' ' || e->text.data[i] == '\t' || e->text.data[i] == '\n'))
        i++;
    return i < e->text.len && e->text.data[i] == '=' && !(i + 1 < e->text.len && e->text.data[i + 1] == '=');
}

/* ---------- the grammar, lowest precedence last ---------- */

static int64_t parse_primary(Eval *e)
{
    int64_t v;
    if (e->failed)
        return 0;
    if (is_char(e, '(')) {
        next(e);
        v = parse_comma(e);
        if (!is_char(e, ')')) {
            fail(e, "missing `)'");
            return 0;
        }
        next(e);
        return v;
    }
    if (e->token == T_NUM) {
        v = e->value;
        next(e);
        return v;
    }
    if (e->token == T_INC || e->token == T_DEC) {
        int64_t step = e->token == T_INC ? 1 : -1;
        next(e);
        if (e->token != T_NAME) {
            fail(e, "identifier expected after pre-increment or pre-decrement");
            return 0;
        }
        Place place = e->place;
        v = (int64_t)((uint64_t)read_variable(e, &place) + (uint64_t)step);
        write_variable(e, &place, v);
        e->token = T_NUM; /* what was stepped is no variable any more */
        next(e);
        Slice rest = slice_from(e->text, e->token_at);
        if (e->token == T_CHAR && (slice_starts(rest, SLICE("++")) || slice_starts(rest, SLICE("--"))))
            fail(e, rest.data[0] == '+' ? "++: assignment requires lvalue" : "--: assignment requires lvalue");
        return v;
    }
    if (e->token == T_NAME) {
        Place place = e->place;
        /* A plain = does not ask for the value. */
        v = assignment_follows(e) || !token_follows(e) ? 0 : read_variable(e, &place);
        e->target = place;
        next(e);
        if (e->token == T_INC || e->token == T_DEC) {
            write_variable(e, &place, (int64_t)((uint64_t)v + (e->token == T_INC ? 1u : (uint64_t)-1)));
            e->token = T_NUM;
            next(e);
        }
        return v;
    }
    fail(e, "syntax error: operand expected");
    return 0;
}

static int64_t parse_unary(Eval *e)
{
    if (e->token != T_CHAR || !strchr("!~-+", e->c) || !e->c)
        return parse_primary(e);
    if (++e->depth > DEPTH_MAX || !proc_stack_room(e->in->p, 16384)) {
        fail(e, "expression recursion level exceeded");
        return 0;
    }
    char c = e->c;
    next(e);
    int64_t v = parse_unary(e);
    e->depth--;
    return c == '!' ? !v : c == '~' ? ~v : c == '-' ? (int64_t)(0 - (uint64_t)v) : v;
}

int64_t arith_power(int64_t base, int64_t exponent)
{
    uint64_t result = 1, b = (uint64_t)base;
    for (; exponent; exponent >>= 1, b *= b)
        if (exponent & 1)
            result *= b;
    return (int64_t)result;
}

static int64_t parse_power(Eval *e)
{
    int64_t v = parse_unary(e);
    if (e->token != T_POW)
        return v;
    next(e);
    int64_t exponent = parse_power(e);
    if (exponent < 0) {
        fail(e, "exponent less than 0"); /* also where nothing is evaluated */
        return 0;
    }
    return arith_power(v, exponent);
}

/* Operators of one level by binary precedence; higher binds tighter. */
static int level_of(const Eval *e)
{
    switch (e->token) {
    case T_CHAR:
        return e->c == '*' || e->c == '/' || e->c == '%' ? 8 : e->c == '+' || e->c == '-' ? 7 : e->c == '&' ? 3 : e->c == '^' ? 2 :
               e->c == '|' ? 1 : -1;
    case T_SHL: case T_SHR: return 6;
    case T_LT: case T_GT: case T_LE: case T_GE: return 5;
    case T_EQ: case T_NE: return 4;
    default: return -1;
    }
}

bool arith_apply(int op, int64_t a, int64_t b, int64_t *out)
{
    switch (op) {
    case '*': *out = (int64_t)((uint64_t)a * (uint64_t)b); return true;
    case '+': *out = (int64_t)((uint64_t)a + (uint64_t)b); return true;
    case '-': *out = (int64_t)((uint64_t)a - (uint64_t)b); return true;
    case '/': case '%':
        if (b == 0)
            return false;
        if (b == -1) /* INT64_MIN / -1 wraps */
            *out = op == '%' ? 0 : (int64_t)(0 - (uint64_t)a);
        else
            *out = op == '/' ? a / b : a % b;
        return true;
    case 'L': *out = (int64_t)((uint64_t)a << (b & 63)); return true;
    case 'R': *out = a >> (b & 63); return true;
    case '&': *out = a & b; return true;
    case '^': *out = a ^ b; return true;
    case '|': *out = a | b; return true;
    case '<': *out = a < b; return true;
    case '>': *out = a > b; return true;
    case 'l': *out = a <= b; return true;
    case 'g': *out = a >= b; return true;
    case '=': *out = a == b; return true;
    case 'n': *out = a != b; return true;
    default: *out = b; return true;
    }
}

static int operator_of(const Eval *e)
{
    switch (e->token) {
    case T_SHL: return 'L';
    case T_SHR: return 'R';
    case T_LT: return '<';
    case T_GT: return '>';
    case T_LE: return 'l';
    case T_GE: return 'g';
    case T_EQ: return '=';
    case T_NE: return 'n';
    default: return e->c;
    }
}

static int64_t parse_binary(Eval *e, int level)
{
    if (level > 8)
        return parse_power(e);
    int64_t v = parse_binary(e, level + 1);
    while (!e->failed && level_of(e) == level) {
        int op = operator_of(e);
        next(e);
        size_t operand_at = e->token_at;
        int64_t right = parse_binary(e, level + 1);
        if (e->failed)
            return 0;
        if (!arith_apply(op, v, right, &v)) {
            v = 0;
            if (!e->skip) {
                e->token_at = operand_at;
                fail(e, "division by 0");
            }
        }
    }
    return v;
}

static int64_t parse_and(Eval *e)
{
    int64_t v = parse_binary(e, 1);
    while (e->token == T_AND && !e->failed) {
        next(e);
        bool skip = v == 0;
        e->skip += skip;
        int64_t right = parse_binary(e, 1);
        e->skip -= skip;
        v = v && right;
    }
    return v;
}

static int64_t parse_or(Eval *e)
{
    int64_t v = parse_and(e);
    while (e->token == T_OR && !e->failed) {
        next(e);
        bool skip = v != 0;
        e->skip += skip;
        int64_t right = parse_and(e);
        e->skip -= skip;
        v = v || right;
    }
    return v;
}

static int64_t parse_assign(Eval *e);

static int64_t parse_cond(Eval *e)
{
    int64_t v = parse_or(e);
    if (e->token != T_COND || e->failed)
        return v;
    next(e);
    if (e->token == T_END || is_char(e, ':')) {
        fail(e, "expression expected");
        return 0;
    }
    bool skip = v == 0;
    e->skip += skip;
    int64_t yes = parse_comma(e);
    e->skip -= skip;
    if (e->failed)
        return 0;
    if (!is_char(e, ':')) {
        fail(e, "`:' expected for conditional expression");
        return 0;
    }
    next(e);
    if (e->token == T_END) {
        fail(e, "expression expected");
        return 0;
    }
    e->skip += !skip;
    int64_t no = parse_cond(e);
    e->skip -= !skip;
    return skip ? no : yes;
}

static int64_t parse_assign(Eval *e)
{
    if (e->failed || ++e->depth > DEPTH_MAX || !proc_stack_room(e->in->p, 16384)) {
        fail(e, "expression recursion level exceeded");
        return 0;
    }
    bool is_name = e->token == T_NAME;
    Slice name = e->place.name, sub = e->place.subscript;
    int64_t v = parse_cond(e);
    Place place = e->target;
    e->depth--;
    if (e->token != T_ASSIGN || e->failed)
        return v;
    /* The left side must be nothing but the variable. */
    size_t left_end = is_name ? (size_t)(name.data - e->text.data) + name.len + (sub.data ? sub.len + 2 : 0) : 0;
    while (is_name && left_end < e->token_at && strchr(" \t\n", e->text.data[left_end]))
        left_end++;
    if (!is_name || left_end != e->token_at) {
        fail(e, "attempted assignment to non-variable");
        return 0;
    }
    char op = e->c;
    next(e);
    if (e->token == T_END) {
        fail(e, "syntax error: operand expected");
        return 0;
    }
    int64_t left = v;
    int64_t right = parse_assign(e);
    if (e->failed)
        return 0;
    if (op == '=') {
        v = right;
    } else if (!arith_apply(op, left, right, &v)) {
        if (!e->skip)
            fail(e, "division by 0");
        return 0;
    }
    write_variable(e, &place, v);
    return v;
}

static int64_t parse_comma(Eval *e)
{
    int64_t v = parse_assign(e);
    while (is_char(e, ',') && !e->failed) {
        next(e);
        v = parse_assign(e);
    }
    return v;
}

static bool evaluate(Interp *in, Slice text, bool raw, int64_t *out)
{
    Eval e = {.in = in, .text = text, .raw = raw};
    *out = 0;
    next(&e);
    if (e.token == T_END && !e.failed)
        return true;
    int64_t v = e.failed ? 0 : parse_comma(&e);
    if (!e.failed && e.token != T_END)
        fail(&e, "syntax error in expression");
    if (e.failed) {
        in->arith_reported = true;
        return false;
    }
    *out = v;
    return true;
}

bool arith_eval_text(Interp *in, Slice text, int64_t *out) { return evaluate(in, text, true, out); }
bool arith_eval_expanded(Interp *in, Slice text, int64_t *out) { return evaluate(in, text, false, out); }

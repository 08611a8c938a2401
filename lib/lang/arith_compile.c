/* arith_compile: arithmetic as a tree, made once when the script is parsed, and its evaluation.
 *
 * Only what is certain to mean the same as the text: constants, names, subscripts, and $name ${name} $1 $# $? standing where an
 * operand can stand. Everything else, every error and every $name whose value is no plain integer goes the way of the text
 * (arith_eval.c), which has bash's messages. So the compiler may refuse freely.
 */
#include "interp.h"

#include "arith_node.h"

typedef enum {
    N_CONST, N_VAR, N_PARAM, N_ELEMENT, N_NEGATE, N_NOT, N_INVERT, N_BINARY, N_POWER, N_AND, N_OR, N_COND, N_COMMA,
    N_ASSIGN, N_PRE, N_POST,
} NodeType;

struct Arith {
    uint8_t type;
    char op;           /* BINARY, ASSIGN ('=' plain); PRE and POST: '+' or '-' */
    int64_t value;     /* CONST; $number of a positional PARAM */
    Name name;         /* VAR, ELEMENT, PARAM, ASSIGN, PRE, POST */
    uint8_t var;       /* VarKind of PARAM */
    Arith *a, *b, *c;  /* operands; ELEMENT and targets: `a` is the subscript or NULL */
};

enum { COMPILE_DEPTH = 64, EVAL_STACK = 8192 };

typedef struct Compiler {
    Mem *mem;
    const Word *word;
    uint32_t part; /* the part being read */
    size_t at;     /* in its text */
    bool refused;
    unsigned depth;
    unsigned writes, reads; /* assignments; $name and a[i] operands */
} Compiler;

static bool is_write(int type) { return type == N_ASSIGN || type == N_PRE || type == N_POST; }

static Arith *compile_comma(Compiler *c);

/* ---------- reading ---------- */

static const WordPart *part_now(const Compiler *c)
{
    return c->part < c->word->count ? &c->word->parts[c->part] : NULL;
}

/* Moves to the next character of literal text, or to a part that is no literal. */
static void skip_blanks(Compiler *c)
{
    for (const WordPart *p; (p = part_now(c)) && p->kind == PART_LITERAL;) {
        while (c->at < p->text.len && (p->text.data[c->at] == ' ' || p->text.data[c->at] == '\t' || p->text.data[c->at] == '\n'))
            c->at++;
        if (c->at < p->text.len)
            return;
        c->part++;
        c->at = 0;
    }
}

static Slice rest(const Compiler *c)
{
    const WordPart *p = part_now(c);
    return p && p->kind == PART_LITERAL ? slice_from(p->text, c->at) : SLICE("");
}

static char peek(Compiler *c)
{
    skip_blanks(c);
    Slice r = rest(c);
    return r.len ? r.data[0] : 0;
}

static bool take(Compiler *c, const char *token)
{
    skip_blanks(c);
    if (!slice_starts(rest(c), slice_str(token)))
        return false;
    c->at += strlen(token);
    return true;
}

static Arith *refuse(Compiler *c)
{
    c->refused = true;
    return NULL;
}

static Arith *node(Compiler *c, NodeType type, char op, Arith *a, Arith *b)
{
    if (c->refused)
        return NULL;
    Arith *n = mem_new(c->mem, Arith);
    if (!n)
        return refuse(c);
    n->type = (uint8_t)type;
    n->op = op;
    n->a = a;
    n->b = b;
    c->writes += is_write((int)type);
    c->reads += type == N_PARAM || type == N_ELEMENT;
    return n;
}

static bool name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool name_char(char c) { return name_start(c) || (c >= '0' && c <= '9'); }

/* A token that ends at the edge of its part could go on in the next one (1$x, a$b): then the text decides. */
static bool glued(const Compiler *c)
{
    const WordPart *p = part_now(c);
    return p && c->at >= p->text.len && c->part + 1 < c->word->count;
}

static Arith *compile_number(Compiler *c)
{
    Slice r = rest(c);
    size_t n = 0;
    while (n < r.len && (name_char(r.data[n]) || r.data[n] == '#' || r.data[n] == '@'))
        n++;
    int64_t value;
    if (arith_number(slice(r.data, n), &value))
        return refuse(c);
    c->at += n;
    if (glued(c))
        return refuse(c);
    Arith *a = node(c, N_CONST, 0, NULL, NULL);
    if (a)
        a->value = value;
    return a;
}

/* name or name[subscript]; the type tells which. */
static Arith *compile_name(Compiler *c)
{
    Slice r = rest(c);
    size_t n = 0;
    while (n < r.len && name_char(r.data[n]))
        n++;
    c->at += n;
    if (glued(c))
        return refuse(c);
    Arith *a = node(c, N_VAR, 0, NULL, NULL);
    if (!a)
        return NULL;
    char *text = mem_copy(c->mem, slice(r.data, n));
    if (!text)
        return refuse(c);
    a->name = (Name){slice(text, n), hash_bytes(slice(text, n))};
    if (!slice_starts(rest(c), SLICE("[")))
        return a;
    c->at++;
    a->type = N_ELEMENT;
    c->reads++;
    a->a = compile_comma(c);
    if (!c->refused && !take(c, "]"))
        return refuse(c);
    return a;
}

static Arith *compile_param(Compiler *c, const WordPart *p)
{
    const Param *param = p->param;
    bool simple = param->kind == PARAM_PLAIN && !param->indirect && param->index_kind == INDEX_NONE &&
                  (param->var == VAR_NAMED || param->var == VAR_POSITIONAL || param->var == VAR_COUNT || param->var == VAR_STATUS);
    c->part++;
    c->at = 0;
    /* $a1, ${a}b and $a$b would be one token. */
    const WordPart *after = part_now(c);
    Slice r = rest(c);
    if (!simple || (after && after->kind != PART_LITERAL) || (r.len && (name_char(r.data[0]) || strchr("[#@", r.data[0]))))
        return refuse(c);
    Arith *a = node(c, N_PARAM, 0, NULL, NULL);
    if (a) {
        a->name = param->name;
        a->value = param->number;
        a->var = (uint8_t)param->var;
    }
    return a;
}

static bool is_target(const Arith *a) { return a && (a->type == N_VAR || a->type == N_ELEMENT); }

static Arith *compile_primary(Compiler *c)
{
    char ch = peek(c);
    const WordPart *p = part_now(c);
    if (c->refused || !p)
        return refuse(c);
    if (p->kind == PART_PARAM)
        return compile_param(c, p);
    if (p->kind != PART_LITERAL)
        return refuse(c);
    if (take(c, "(")) {
        Arith *a = compile_comma(c);
        if (!take(c, ")"))
            return refuse(c);
        return a && is_target(a) ? node(c, N_COMMA, 0, NULL, a) : a; /* (a)=1 is no assignment */
    }
    if (ch >= '0' && ch <= '9')
        return compile_number(c);
    if (!name_start(ch))
        return refuse(c);
    Arith *a = compile_name(c);
    bool inc = !c->refused && take(c, "++");
    if (inc || (!c->refused && take(c, "--")))
        return node(c, N_POST, inc ? '+' : '-', a, NULL);
    return a;
}

static Arith *compile_unary(Compiler *c)
{
    if (++c->depth > COMPILE_DEPTH)
        return refuse(c);
    Arith *a;
    char ch = peek(c);
    bool inc = take(c, "++");
    if (inc || take(c, "--")) {
        skip_blanks(c);
        a = name_start(peek(c)) ? compile_name(c) : refuse(c);
        a = node(c, N_PRE, inc ? '+' : '-', a, NULL);
    } else if (ch && strchr("!~-+", ch)) {
        c->at++;
        a = compile_unary(c);
        if (ch != '+')
            a = node(c, ch == '!' ? N_NOT : ch == '~' ? N_INVERT : N_NEGATE, 0, a, NULL);
        else if (is_target(a))
            a = node(c, N_COMMA, 0, NULL, a);
    } else {
        a = compile_primary(c);
    }
    c->depth--;
    return a;
}

static Arith *compile_power(Compiler *c)
{
    Arith *a = compile_unary(c);
    if (c->refused || !take(c, "**"))
        return a;
    if (++c->depth > COMPILE_DEPTH)
        return refuse(c);
    Arith *b = compile_power(c);
    c->depth--;
    return node(c, N_POWER, 0, a, b);
}

/* The binary operator here of exactly this level, or 0; assignments (+=) are not operators. */
static char take_operator(Compiler *c, int level)
{
    static const struct { const char *text; char op; int level; } operators[] = {
        {"<<", 'L', 6}, {">>", 'R', 6}, {"<=", 'l', 5}, {">=", 'g', 5}, {"==", '=', 4}, {"!=", 'n', 4}, {"*", '*', 8}, {"/", '/', 8},
        {"%", '%', 8}, {"+", '+', 7}, {"-", '-', 7}, {"<", '<', 5}, {">", '>', 5}, {"&", '&', 3}, {"^", '^', 2}, {"|", '|', 1},
    };
    char ch = peek(c);
    if (!ch || !strchr("<>=!*/%+-&^|", ch))
        return 0;
    Slice r = rest(c);
    for (size_t i = 0; i < ARRAY_LEN(operators); i++) {
        size_t n = strlen(operators[i].text);
        if (!slice_starts(r, slice_str(operators[i].text)))
            continue;
        char after = r.len > n ? r.data[n] : 0;
        bool longer = (after == '=' && operators[i].level != 5 && operators[i].level != 4) || (n == 1 && after == ch && strchr("&|*", ch));
        if (operators[i].level != level || longer)
            return 0;
        c->at += n;
        return operators[i].op;
    }
    return 0;
}

static Arith *compile_binary(Compiler *c, int level)
{
    if (level > 8)
        return compile_power(c);
    Arith *a = compile_binary(c, level + 1);
    for (char op; !c->refused && (op = take_operator(c, level));)
        a = node(c, N_BINARY, op, a, compile_binary(c, level + 1));
    return a;
}

static Arith *compile_or(Compiler *c)
{
    Arith *a = NULL;
    do {
        Arith *left = compile_binary(c, 1);
        while (!c->refused && take(c, "&&"))
            left = node(c, N_AND, 0, left, compile_binary(c, 1));
        a = a ? node(c, N_OR, 0, a, left) : left;
    } while (!c->refused && take(c, "||"));
    return a;
}

static Arith *compile_cond(Compiler *c)
{
    Arith *a = compile_or(c);
    if (c->refused || !take(c, "?"))
        return a;
    Arith *n = node(c, N_COND, 0, a, compile_comma(c));
    if (c->refused || !take(c, ":"))
        return refuse(c);
    if (++c->depth > COMPILE_DEPTH)
        return refuse(c);
    n->c = compile_cond(c);
    c->depth--;
    return n;
}

static Arith *compile_assign(Compiler *c)
{
    static const char *const tokens[] = {"<<=", ">>=", "+=", "-=", "*=", "/=", "%=", "&=", "^=", "|="};
    static const char ops[] = "LR+-*/%&^|";
    if (++c->depth > COMPILE_DEPTH)
        return refuse(c);
    Arith *a = compile_cond(c);
    char op = 0;
    if (!c->refused && peek(c) == '=' && !slice_starts(rest(c), SLICE("==")) && take(c, "="))
        op = '=';
    for (size_t i = 0; !c->refused && !op && i < ARRAY_LEN(tokens); i++)
        if (take(c, tokens[i]))
            op = ops[i];
    if (op) {
        if (!is_target(a))
            return refuse(c);
        a = node(c, N_ASSIGN, op, a, compile_assign(c));
    }
    c->depth--;
    return a;
}

static Arith *compile_comma(Compiler *c)
{
    Arith *a = compile_assign(c);
    while (!c->refused && take(c, ","))
        a = node(c, N_COMMA, 0, a, compile_assign(c));
    return a;
}

Arith *arith_compile(Mem *mem, const Word *text)
{
    if (!text || text->count == 0 || text->flags & WORD_BRACE)
        return NULL;
    for (uint32_t i = 0; i < text->count; i++) {
        const WordPart *p = &text->parts[i];
        if (p->kind != PART_LITERAL && p->kind != PART_PARAM)
            return NULL;
        if (p->kind == PART_LITERAL && memchr(p->text.data, 0, p->text.len))
            return NULL;
    }
    Compiler c = {.mem = mem, .word = text};
    Arith *a = compile_comma(&c);
    if (c.refused || peek(&c) || part_now(&c))
        return NULL;
    /* bash expands $n before anything is assigned; and what was assigned must not be assigned again when a later operand makes
     * the evaluation give up. One assignment at the top comes last and is safe. */
    bool last = a && c.writes == 1 && is_write(a->type);
    return c.writes && c.reads && !last ? NULL : a;
}

/* ---------- evaluation ---------- */

/* False: give up, the text must be evaluated. Nothing that was assigned before is taken back; only operands that read as integers
 * let an expression come this far, so that is an error in the making. */
static bool eval(Interp *in, const Arith *n, int64_t *out);

static bool plain_integer(Slice s, int64_t *out)
{
    size_t i = s.len && s.data[0] == '-';
    if (i == s.len || s.len > 18 || (s.data[i] == '0' && s.len > i + 1))
        return false;
    int64_t v = 0;
    for (; i < s.len; i++) {
        unsigned d = (unsigned)(s.data[i] - '0');
        if (d > 9)
            return false;
        v = v * 10 + d;
    }
    *out = s.data[0] == '-' ? -v : v;
    return true;
}

static bool read_scalar(Interp *in, const Name *name, bool textual, int64_t *out)
{
    const Var *v = var_lookup(in, name);
    if (likely(v && v->value.kind == VALUE_INT && !(v->attrs & ATTR_NAMEREF) && !v->special)) {
        *out = v->value.i;
        return true;
    }
    Slice text;
    if (!lang_get(in, name, &text)) {
        if (textual || OPT(in, NOUNSET))
            return false;
        *out = 0;
        return true;
    }
    if (plain_integer(text, out))
        return true;
    return !textual && arith_value_of(in, slice(mem_copy(mem_of(in), text), text.len), out);
}

static bool find_element(Interp *in, const Arith *n, int64_t *index)
{
    const Var *v = var_lookup(in, &n->name);
    if (v && (v->value.kind != VALUE_ARRAY || v->special || v->attrs & ATTR_NAMEREF))
        return false;
    const char *who = in->arith_who;
    in->arith_who = NULL; /* errors in a subscript are nobody's */
    bool ok = eval(in, n->a, index);
    in->arith_who = who;
    if (!ok && in->arith_reported)
        lang_arith_failed(in);
    return ok && *index >= 0;
}

static bool read_element(Interp *in, const Arith *n, int64_t *out, int64_t *index)
{
    if (!find_element(in, n, index))
        return false;
    const Var *v = var_lookup(in, &n->name);
    Cell c = v && v->value.kind == VALUE_ARRAY ? array_get(v->value.a, *index) : 0;
    if (c & 1) {
        *out = (int64_t)c >> 1;
        return true;
    }
    if (!c) {
        *out = 0;
        return !OPT(in, NOUNSET);
    }
    Slice text = cell_text(mem_of(in), c);
    return plain_integer(text, out) || arith_value_of(in, slice(mem_copy(mem_of(in), text), text.len), out);
}

static bool read_param(Interp *in, const Arith *n, int64_t *out)
{
    switch ((VarKind)n->var) {
    case VAR_NAMED: return read_scalar(in, &n->name, true, out);
    case VAR_COUNT: *out = positional_count(in); return true;
    case VAR_STATUS: *out = in->status; return true;
    default: break;
    }
    Str *s = n->value > INT32_MAX ? NULL : positional(in, (int)n->value);
    return s && plain_integer(str_slice(s), out);
}

static bool write_target(Interp *in, const Arith *n, int64_t index, int64_t value)
{
    if (n->type == N_VAR) {
        bool ok = lang_set_int(in, &n->name, value);
        in->arith_reported |= !ok;
        return ok;
    }
    Gen *g = gen_of(in);
    Var *v = var_own(in, &n->name);
    if (v && v->value.kind == VALUE_ARRAY && !(v->attrs & ~(uint32_t)(ATTR_ARRAY | ATTR_INTEGER | ATTR_LOCAL | ATTR_EXPORT))) {
        if (array_set(g, &v->value.a, index, cell_int(g, value)))
            lang_nomem(in);
        return true;
    }
    char buf[24];
    size_t len;
    char *text = format_int(value, buf, &len);
    bool ok = array_put(in, n->name.text, index, slice(text, len));
    in->arith_reported |= !ok;
    return ok;
}

static bool read_target(Interp *in, const Arith *n, int64_t *out, int64_t *index)
{
    return n->type == N_VAR ? read_scalar(in, &n->name, false, out) : read_element(in, n, out, index);
}

static bool eval_step(Interp *in, const Arith *n, int64_t *out)
{
    int64_t old, index = 0;
    if (!read_target(in, n->a, &old, &index))
        return false;
    int64_t now = (int64_t)((uint64_t)old + (n->op == '+' ? 1u : (uint64_t)-1));
    *out = n->type == N_PRE ? now : old;
    return write_target(in, n->a, index, now);
}

static bool eval_assign(Interp *in, const Arith *n, int64_t *out)
{
    int64_t left = 0, right, index = 0;
    const Arith *target = n->a;
    if (n->op == '=') {
        if (target->type == N_ELEMENT && !find_element(in, target, &index))
            return false;
        if (!eval(in, n->b, out))
            return false;
    } else if (!read_target(in, target, &left, &index) || !eval(in, n->b, &right) || !arith_apply(n->op, left, right, out)) {
        return false;
    }
    return write_target(in, target, index, *out);
}

/* Whether what is not evaluated would parse: a $name in it must hold a number. */
static bool skippable(Interp *in, const Arith *n)
{
    int64_t value;
    if (!n)
        return true;
    if (n->type == N_POWER) /* a negative exponent is an error even here */
        return false;
    if (n->type == N_PARAM && !read_param(in, n, &value))
        return false;
    return n->type == N_PARAM || (skippable(in, n->a) && skippable(in, n->b) && skippable(in, n->c));
}

static bool eval(Interp *in, const Arith *n, int64_t *out)
{
    int64_t a, b;
    switch ((NodeType)n->type) {
    case N_CONST: *out = n->value; return true;
    case N_VAR: return read_scalar(in, &n->name, false, out);
    case N_PARAM: return read_param(in, n, out);
    case N_ELEMENT: return read_element(in, n, out, &a);
    case N_NEGATE: case N_NOT: case N_INVERT:
        if (!eval(in, n->a, &a))
            return false;
        *out = n->type == N_NEGATE ? (int64_t)(0 - (uint64_t)a) : n->type == N_NOT ? !a : ~a;
        return true;
    case N_BINARY: return eval(in, n->a, &a) && eval(in, n->b, &b) && arith_apply(n->op, a, b, out);
    case N_POWER:
        if (!eval(in, n->a, &a) || !eval(in, n->b, &b) || b < 0)
            return false;
        *out = arith_power(a, b);
        return true;
    case N_AND:
        if (!eval(in, n->a, &a) || !(a ? eval(in, n->b, &b) : skippable(in, n->b)))
            return false;
        *out = a && b;
        return true;
    case N_OR:
        if (!eval(in, n->a, &a) || !(a ? skippable(in, n->b) : eval(in, n->b, &b)))
            return false;
        *out = a || b;
        return true;
    case N_COND: return eval(in, n->a, &a) && skippable(in, a ? n->c : n->b) && eval(in, a ? n->b : n->c, out);
    case N_COMMA: return (!n->a || eval(in, n->a, &a)) && eval(in, n->b, out);
    case N_ASSIGN: return eval_assign(in, n, out);
    case N_PRE: case N_POST: return eval_step(in, n, out);
    }
    return false;
}

/* A literal part's share in how many subscripts are open. */
static unsigned count_open(Slice s, unsigned open)
{
    for (size_t i = 0; i < s.len; i++) {
        open += s.data[i] == '[' && (open || (i && name_char(s.data[i - 1])));
        open -= s.data[i] == ']' && open;
    }
    return open;
}

/* The text with its expansions; what stands in a subscript comes out with its special characters escaped, and so stays one key. */
Slice expand_arith(Interp *in, const Word *text)
{
    if (text->count < 2 || !memchr(text->source.data, '[', text->source.len))
        return expand_string(in, text);
    Buf b;
    buf_init(&b, mem_of(in), BUF_MAX);
    unsigned open = 0;
    for (uint32_t i = 0; i < text->count; i++) {
        WordPart *part = &text->parts[i];
        Word one = {.parts = part, .count = 1, .flags = (uint16_t)(text->flags & ~WORD_LITERAL), .source = text->source};
        Slice s = part->kind == PART_LITERAL ? part->text : expand_string(in, &one);
        if (part->kind == PART_LITERAL) {
            open = count_open(s, open);
            buf_append(&b, s);
            continue;
        }
        for (size_t k = 0; k < s.len; k++) {
            if (open && s.data[k] && strchr("[]\\$`\"'", s.data[k]))
                buf_char(&b, '\\');
            buf_char(&b, s.data[k]);
        }
    }
    return b.len ? buf_slice(&b) : SLICE("");
}

bool arith_eval_index(Interp *in, const Arith *code, const Word *index, int64_t *out)
{
    Slice source = index ? index->source : SLICE("");
    bool quoted = source.len && (memchr(source.data, '\'', source.len) || memchr(source.data, '\\', source.len)) && !memchr(source.data, '"', source.len);
    if (likely(!quoted))
        return arith_eval(in, code, index, out);
    ParseOptions options = {.extglob = true}; /* these are no quotes here, and an error */
    ParseError error = {0};
    Word *w = parse_dquote_text(mem_of(in), source, &options, &error);
    return arith_eval_expanded(in, w ? expand_string(in, w) : source, out);
}

bool arith_eval(Interp *in, const Arith *code, const Word *text, int64_t *out)
{
    if (likely(code != NULL) && likely(proc_stack_room(in->p, EVAL_STACK))) {
        in->arith_reported = false;
        if (likely(eval(in, code, out)))
            return true;
        if (in->arith_reported)
            return false;
    }
    return arith_eval_expanded(in, text ? expand_arith(in, text) : SLICE(""), out);
}

/* awk's expressions, by precedence. A concatenation's operands are additive expressions that do not begin with a sign, so
 * that `1 " " -1` subtracts, as the grammar says. */
#include "parser.h"

enum { DEEPEST = 4000, STACK_LEAST = 48 * 1024 };

void awk_enter(Parser *ps)
{
    if (++ps->depth > DEEPEST || !proc_stack_room(ps->w->p, STACK_LEAST))
        parse_failure(ps, "program nested too deeply");
}

Node *node_new(Parser *ps, NodeType type)
{
    Node *n = mem_new(&ps->w->p->keep, Node);
    n->type = (uint8_t)type;
    n->line = ps->lex.token_line;
    n->source = ps->lex.source;
    return n;
}

static Node *node_two(Parser *ps, NodeType type, unsigned op, Node *a, Node *b)
{
    Node *n = node_new(ps, type);
    n->op = (uint8_t)op;
    n->a = a;
    n->b = b;
    return n;
}

void awk_expect(Parser *ps, Token t)
{
    if (ps->lex.token != t)
        syntax_error(ps, NULL);
    lex_next(ps);
}

bool is_lvalue(const Node *n)
{
    return !n->parens && (n->type == N_GLOBAL || n->type == N_LOCAL || n->type == N_FIELD || n->type == N_INDEX);
}

/* ---------- names ---------- */

uint32_t global_index(Awk *w, Slice name)
{
    Script *pr = &w->prog;
    MapEntry *e = map_put(&pr->global_names, name);
    if (!e->value) {
        if (pr->global_count == pr->global_cap) {
            uint32_t cap = pr->global_cap ? pr->global_cap * 2 : 64;
            pr->global_by_index = mem_grow(&w->p->keep, pr->global_by_index, pr->global_cap * sizeof(char *), cap * sizeof(char *));
            pr->global_cap = cap;
        }
        pr->global_by_index[pr->global_count] = mem_copy(&w->p->keep, name);
        e->value = (void *)(uintptr_t)++pr->global_count;
    }
    return (uint32_t)(uintptr_t)e->value - 1;
}

static bool param_index(const Parser *ps, Slice name, uint32_t *index)
{
    const Function *f = ps->function;
    for (uint32_t i = 0; f && i < f->params; i++)
        if (slice_eq(f->param_names[i], name)) {
            *index = i;
            return true;
        }
    return false;
}

static Node *variable(Parser *ps, Slice name)
{
    uint32_t index;
    bool local = param_index(ps, name, &index);
    Node *n = node_new(ps, local ? N_LOCAL : N_GLOBAL);
    if (!local && ps->function && slice_eq(ps->function->name, name))
        parse_failure(ps, "function `%.*s' called with space between name and `('\nor used as a variable or an array", (int)name.len, name.data);
    n->index = local ? index : global_index(ps->w, name);
    ps->w->prog.uses_functab |= !local && n->index == G_FUNCTAB;
    ps->w->prog.uses_procinfo |= !local && (n->index == G_PROCINFO || n->index == G_SYMTAB);
    ps->w->prog.uses_symtab |= !local && n->index == G_SYMTAB;
    n->text = name;
    return n;
}

Node *parse_arguments(Parser *ps, Token end)
{
    Node *first = NULL, **tail = &first;
    bool no_gt = ps->no_gt, no_in = ps->no_in;
    ps->no_gt = ps->no_in = false;
    while (ps->lex.token != end) {
        *tail = parse_expr(ps);
        tail = &(*tail)->next;
        if (ps->lex.token == end)
            break;
        awk_expect(ps, T_COMMA);
        awk_newlines(ps);
        if (ps->lex.token == end)
            syntax_error(ps, NULL);
    }
    ps->no_gt = no_gt;
    ps->no_in = no_in;
    lex_next(ps);
    return first;
}

Node *parse_lvalue_tail(Parser *ps, Node *array)
{
    while (ps->lex.token == T_LBRACKET) {
        Node *n = node_new(ps, N_INDEX);
        lex_next(ps);
        n->a = array;
        n->list = parse_arguments(ps, T_RBRACKET);
        if (!n->list)
            syntax_error(ps, NULL);
        array = n;
    }
    return array;
}

Node *parse_name(Parser *ps)
{
    if (ps->lex.token != T_NAME)
        syntax_error(ps, NULL);
    Node *n = variable(ps, ps->lex.text);
    lex_next(ps);
    return n;
}

Function *function_named(Parser *ps, Slice name, uint32_t *index)
{
    Script *pr = &ps->w->prog;
    MapEntry *e = map_put(&pr->function_names, name);
    if (!e->value) {
        if (pr->function_count == pr->function_cap) {
            uint32_t cap = pr->function_cap ? pr->function_cap * 2 : 16;
            pr->functions = mem_grow(&ps->w->p->keep, pr->functions, pr->function_cap * sizeof *pr->functions, cap * sizeof *pr->functions);
            pr->function_cap = cap;
            if (ps->function)
                ps->function = &pr->functions[ps->function_index];
        }
        pr->functions[pr->function_count] = (Function){.name = slice(mem_copy(&ps->w->p->keep, name), name.len)};
        e->value = (void *)(uintptr_t)++pr->function_count;
    }
    *index = (uint32_t)(uintptr_t)e->value - 1;
    return &pr->functions[*index];
}

/* ---------- operands ---------- */

static Node *parse_unary(Parser *ps);
static Node *parse_postfix(Parser *ps, bool assignable);
static Node *parse_additive(Parser *ps);

static Node *constant_regex(Parser *ps, NodeType type, Slice source)
{
    Node *n = node_new(ps, type);
    n->rx = rx_constant(ps->w, source);
    ReError error;
    if (!rx_compiled(ps->w, n->rx, false, &error))
        parse_failure(ps, "%s: /%.*s/", error.message, (int)MIN(source.len, (size_t)400), source.data);
    return n;
}

static bool starts_lvalue(const Parser *ps) { return ps->lex.token == T_NAME || ps->lex.token == T_DOLLAR; }

static Node *optional_lvalue(Parser *ps)
{
    return starts_lvalue(ps) ? parse_postfix(ps, false) : NULL;
}

static Node *simple_getline(Parser *ps)
{
    Node *n = node_new(ps, N_GETLINE);
    lex_next(ps);
    if (ps->in_rule && (ps->rule == RULE_BEGIN_FILE || ps->rule == RULE_END_FILE) && !ps->function && ps->lex.token != T_LT && !starts_lvalue(ps))
        parse_failure(ps, "non-redirected `getline' invalid inside `%s' rule", ps->rule == RULE_BEGIN_FILE ? "BEGINFILE" : "ENDFILE");
    n->b = optional_lvalue(ps);
    if (accept(ps, T_LT)) {
        n->op = TO_FILE;
        n->a = parse_postfix(ps, false);
    }
    return n;
}

static NORETURN void wrong_count(Parser *ps, unsigned count, const BuiltinInfo *info)
{
    if (info->most == 255 && count)
        parse_fatal(ps, mem_printf(&ps->w->p->keep, "%s: called with less than two arguments", info->name));
    size_t at = ps->lex.start;
    while (at && ps->lex.source->text.data[at] != ')')
        at--;
    error_at(ps, at, ps->lex.token_line, mem_printf(&ps->w->p->keep, "%u is invalid as number of arguments for %s", count, info->name));
}

static Node *builtin_node(Parser *ps)
{
    Node *n = node_new(ps, N_BUILTIN);
    uint32_t id = n->index = ps->lex.builtin;
    const BuiltinInfo *info = &builtin_info[id];
    lex_next(ps);
    if (ps->lex.token != T_LPAREN) {
        if (id != B_LENGTH)
            syntax_error(ps, NULL);
        return n;
    }
    lex_next(ps);
    n->list = parse_arguments(ps, T_RPAREN);
    unsigned count = 0;
    for (Node *a = n->list; a; a = a->next)
        count++;
    if (count < info->least || count > info->most)
        wrong_count(ps, count, info);
    return n;
}

static Node *call_node(Parser *ps, bool indirect)
{
    Node *n;
    Slice name = ps->lex.text;
    if (indirect) {
        n = node_new(ps, N_CALL_BY_NAME);
        n->a = variable(ps, name);
    } else {
        n = node_new(ps, N_CALL);
        Function *f = function_named(ps, name, &n->index);
        if (!f->called_line)
            f->called_line = n->line;
    }
    lex_next(ps); /* the parenthesis becomes current */
    lex_next(ps);
    n->list = parse_arguments(ps, T_RPAREN);
    return n;
}

/* ( expr ), or ( i, j ) in array; in print's list a plain group. */
static Node *parse_group(Parser *ps)
{
    Node *group = node_new(ps, N_GROUP);
    lex_next(ps);
    ps->parens++;
    group->list = parse_arguments(ps, T_RPAREN);
    ps->parens--;
    if (!group->list)
        syntax_error(ps, NULL);
    if (!group->list->next) {
        Node *n = group->list;
        n->parens = true;
        return n;
    }
    if (ps->lex.token != T_IN) {
        group->parens = true;
        return group;
    }
    lex_next(ps);
    Node *in = node_two(ps, N_IN, 0, NULL, NULL);
    in->list = group->list;
    in->b = parse_lvalue_tail(ps, parse_name(ps));
    return in;
}

static Node *parse_primary(Parser *ps)
{
    Lexer *l = &ps->lex;
    Node *n;
    switch (l->token) {
    case T_NUMBER:
        n = node_new(ps, N_NUM);
        n->num = l->number;
        break;
    case T_STRING:
        n = node_new(ps, N_STR);
        n->text = l->text;
        break;
    case T_TYPED_REGEX: n = constant_regex(ps, N_TYPED_REGEX, l->text); break;
    case T_DIVIDE:
    case T_DIV_ASSIGN: n = constant_regex(ps, N_REGEX, lex_regex(ps)); break;
    case T_NAME: return parse_lvalue_tail(ps, parse_name(ps));
    case T_CALL_NAME: return call_node(ps, false);
    case T_INDIRECT: return call_node(ps, true);
    case T_BUILTIN: return builtin_node(ps);
    case T_GETLINE: return simple_getline(ps);
    case T_LPAREN: return parse_group(ps);
    case T_DOLLAR:
        n = node_new(ps, N_FIELD);
        lex_next(ps);
        if (l->token == T_INCREMENT || l->token == T_DECREMENT || l->token == T_MINUS || l->token == T_PLUS || l->token == T_NOT)
            n->a = parse_unary(ps);
        else
            n->a = parse_primary(ps);
        return n;
    default: syntax_error(ps, NULL);
    }
    lex_next(ps);
    return n;
}

static int assign_op(Token t)
{
    switch (t) {
    case T_ASSIGN: return OP_NONE;
    case T_ADD_ASSIGN: return OP_PLUS;
    case T_SUB_ASSIGN: return OP_MINUS;
    case T_MUL_ASSIGN: return OP_TIMES;
    case T_DIV_ASSIGN: return OP_DIVIDE;
    case T_MOD_ASSIGN: return OP_MODULO;
    case T_POW_ASSIGN: return OP_POWER;
    default: return -1;
    }
}

static Node *parse_postfix(Parser *ps, bool assignable)
{
    static const char twice[] = "cannot assign a value to the result of a field post-increment expression";
    awk_enter(ps);
    Node *n;
    if (ps->lex.token == T_INCREMENT || ps->lex.token == T_DECREMENT) {
        unsigned op = ps->lex.token == T_INCREMENT ? STEP_PRE_INC : STEP_PRE_DEC;
        lex_next(ps);
        n = parse_primary(ps);
        if (!is_lvalue(n))
            syntax_error(ps, NULL);
        if (n->type == N_FIELD && (ps->lex.token == T_INCREMENT || ps->lex.token == T_DECREMENT))
            syntax_error(ps, twice);
        n = node_two(ps, N_STEP, op, n, NULL);
    } else {
        n = parse_primary(ps);
        if (is_lvalue(n)) {
            int op;
            if (ps->lex.token == T_INCREMENT || ps->lex.token == T_DECREMENT) {
                n = node_two(ps, N_STEP, ps->lex.token == T_INCREMENT ? STEP_POST_INC : STEP_POST_DEC, n, NULL);
                lex_next(ps);
                if (n->a->type == N_FIELD && (ps->lex.token == T_INCREMENT || ps->lex.token == T_DECREMENT))
                    syntax_error(ps, twice);
            } else if (assignable && (op = assign_op(ps->lex.token)) >= 0) {
                Node *assign = node_two(ps, N_ASSIGN, (unsigned)op, n, NULL);
                lex_next(ps);
                awk_newlines(ps);
                assign->b = parse_expr(ps);
                n = assign;
            }
        }
    }
    ps->depth--;
    return n;
}

/* ---------- operators ---------- */

static Node *parse_power(Parser *ps)
{
    Node *n = parse_postfix(ps, true);
    if (ps->lex.token != T_POWER)
        return n;
    awk_enter(ps);
    Node *power = node_two(ps, N_BINARY, OP_POWER, n, NULL);
    lex_next(ps);
    power->b = ps->lex.token == T_MINUS || ps->lex.token == T_PLUS || ps->lex.token == T_NOT ? parse_unary(ps) : parse_power(ps);
    ps->depth--;
    return power;
}

static Node *parse_unary(Parser *ps)
{
    Token t = ps->lex.token;
    if (t != T_MINUS && t != T_PLUS && t != T_NOT)
        return parse_power(ps);
    awk_enter(ps);
    Node *n = node_new(ps, t == T_MINUS ? N_NEG : t == T_PLUS ? N_PLUS : N_NOT);
    lex_next(ps);
    n->a = parse_unary(ps);
    ps->depth--;
    if (t == T_MINUS && n->a->type == N_NUM && !n->a->parens && n->a->num != 0) {
        n->a->num = -n->a->num;
        return n->a;
    }
    return n;
}

static Node *binary_node(Parser *ps, Arith op, Node *a, Node *b)
{
    if ((op == OP_DIVIDE || op == OP_MODULO) && b->type == N_NUM && b->num == 0 && a->type == N_NUM)
        parse_failure(ps, op == OP_DIVIDE ? "division by zero attempted" : "division by zero attempted in `%%'");
    return node_two(ps, N_BINARY, op, a, b);
}

static Node *parse_multiplicative(Parser *ps)
{
    Node *n = parse_unary(ps);
    for (;;) {
        Token t = ps->lex.token;
        Arith op = t == T_TIMES ? OP_TIMES : t == T_DIVIDE ? OP_DIVIDE : t == T_MODULO ? OP_MODULO : OP_NONE;
        if (op == OP_NONE)
            return n;
        lex_next(ps);
        n = binary_node(ps, op, n, parse_unary(ps));
    }
}

static Node *parse_additive(Parser *ps)
{
    Node *n = parse_multiplicative(ps);
    while (ps->lex.token == T_PLUS || ps->lex.token == T_MINUS) {
        Arith op = ps->lex.token == T_PLUS ? OP_PLUS : OP_MINUS;
        lex_next(ps);
        n = node_two(ps, N_BINARY, op, n, parse_multiplicative(ps));
    }
    return n;
}

static bool starts_operand(const Parser *ps)
{
    switch (ps->lex.token) {
    case T_NUMBER: case T_STRING: case T_TYPED_REGEX: case T_NAME: case T_CALL_NAME: case T_INDIRECT: case T_BUILTIN: case T_LPAREN:
    case T_DOLLAR: case T_NOT: case T_INCREMENT: case T_DECREMENT: return true;
    default: return false;
    }
}

static Node *piped_getline(Parser *ps, Node *command)
{
    Node *n = node_two(ps, N_GETLINE, ps->lex.token == T_PIPE ? TO_PIPE : TO_TWO_WAY, command, NULL);
    lex_next(ps);
    lex_next(ps);
    n->b = optional_lvalue(ps);
    return n;
}

static bool getline_follows(Parser *ps)
{
    if (ps->lex.token != T_PIPE && ps->lex.token != T_TWO_WAY)
        return false;
    Lexer saved = ps->lex;
    lex_next(ps);
    bool yes = ps->lex.token == T_GETLINE;
    ps->lex = saved;
    return yes;
}

/* Chains of operands are kept flat: a b c is one node. */
Node *parse_concat(Parser *ps)
{
    Node *n = parse_additive(ps);
    for (;;) {
        if (getline_follows(ps)) {
            n = piped_getline(ps, n);
        } else if (starts_operand(ps)) {
            Node *concat = node_new(ps, N_CONCAT);
            concat->list = n;
            Node **tail = &n->next;
            while (starts_operand(ps)) {
                *tail = parse_additive(ps);
                tail = &(*tail)->next;
            }
            n = concat;
        } else {
            return n;
        }
    }
}

static int compare_op(const Parser *ps)
{
    switch (ps->lex.token) {
    case T_LT: return CMP_LT;
    case T_LE: return CMP_LE;
    case T_EQ: return CMP_EQ;
    case T_NE: return CMP_NE;
    case T_GE: return CMP_GE;
    case T_GT: return ps->no_gt ? -1 : CMP_GT;
    default: return -1;
    }
}

static Node *parse_comparison(Parser *ps)
{
    Node *n = parse_concat(ps);
    int op = compare_op(ps);
    if (op < 0)
        return n;
    lex_next(ps);
    Node *right = parse_concat(ps);
    if (compare_op(ps) >= 0)
        syntax_error(ps, NULL);
    return node_two(ps, N_COMPARE, (unsigned)op, n, right);
}

static Node *parse_match(Parser *ps)
{
    bool bare = ps->lex.token == T_DIVIDE || ps->lex.token == T_DIV_ASSIGN;
    Node *n = parse_comparison(ps);
    if (bare && n->type == N_REGEX && !n->parens && (ps->lex.token == T_MATCH || ps->lex.token == T_NO_MATCH))
        parse_warning(ps, "regular expression on left of `~' or `!~' operator");
    while (ps->lex.token == T_MATCH || ps->lex.token == T_NO_MATCH) {
        unsigned negated = ps->lex.token == T_NO_MATCH;
        lex_next(ps);
        n = node_two(ps, N_MATCH, negated, n, parse_comparison(ps));
    }
    return n;
}

static Node *parse_in(Parser *ps)
{
    Node *n = parse_match(ps);
    while (ps->lex.token == T_IN && !ps->no_in) {
        lex_next(ps);
        Node *in = node_new(ps, N_IN);
        in->list = n;
        in->b = parse_lvalue_tail(ps, parse_name(ps));
        n = in;
    }
    return n;
}

static Node *parse_and(Parser *ps)
{
    Node *n = parse_in(ps);
    while (accept(ps, T_AND)) {
        awk_newlines(ps);
        n = node_two(ps, N_AND, 0, n, parse_in(ps));
    }
    return n;
}

static Node *parse_or(Parser *ps)
{
    Node *n = parse_and(ps);
    while (accept(ps, T_OR)) {
        awk_newlines(ps);
        n = node_two(ps, N_OR, 0, n, parse_and(ps));
    }
    return n;
}

Node *parse_expr(Parser *ps)
{
    awk_enter(ps);
    Node *n = parse_or(ps);
    if (ps->lex.token == T_QUESTION) {
        Node *cond = node_new(ps, N_COND);
        cond->a = n;
        lex_next(ps);
        awk_newlines(ps);
        cond->b = parse_expr(ps);
        awk_newlines(ps);
        awk_expect(ps, T_COLON);
        awk_newlines(ps);
        cond->c = parse_expr(ps);
        n = cond;
    }
    ps->depth--;
    return n;
}

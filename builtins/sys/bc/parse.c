/* bc: statements and expressions to byte code, the sizes of which are GNU bc's: one byte an operation, a variable's number in one byte or
 * two, a label in two, constants as their digits. */
#include "bc.h"

enum { ASSIGNS = 0, PLAIN = 1, COMPARES = 2, PAREN = 4, NOTHING = 8, EMPTY = 16 };

/* ---------- code ---------- */

static Function *target(Bc *b) { return b->functions[b->into]; }
static void emit(Bc *b, char op) { buf_char(&target(b)->code, op); }

static void emit_id(Bc *b, char op, uint32_t id)
{
    emit(b, op);
    if (id < 128) {
        emit(b, (char)id);
    } else {
        emit(b, (char)(id >> 8 | 0x80));
        emit(b, (char)(id & 255));
    }
}

static uint32_t new_label(Bc *b)
{
    Function *f = target(b);
    if (f->label_count == LABELS_MOST)
        die(b->p, 1, "too many labels");
    if (f->label_count == f->label_cap) {
        size_t cap = MAX(f->label_cap * 2, 16);
        f->labels = mem_grow(&b->p->keep, f->labels, f->label_cap * sizeof *f->labels, cap * sizeof *f->labels);
        f->label_cap = cap;
    }
    f->labels[f->label_count] = 0;
    return (uint32_t)f->label_count++;
}

static void emit_jump(Bc *b, char op, uint32_t label)
{
    emit(b, op);
    emit(b, (char)(label & 255));
    emit(b, (char)(label >> 8));
}

static void place_label(Bc *b, uint32_t label) { target(b)->labels[label] = (uint32_t)target(b)->code.len; }

static void emit_number(Bc *b, Slice digits)
{
    if (digits.len == 1 && (digits.data[0] == '0' || digits.data[0] == '1')) {
        emit(b, digits.data[0]);
        return;
    }
    emit(b, 'K');
    buf_append(&target(b)->code, digits);
    emit(b, ':');
}

static void emit_text(Bc *b, char op)
{
    emit(b, op);
    buf_append(&target(b)->code, buf_slice(&b->word));
    emit(b, '"');
}

void bc_reset_code(Bc *b)
{
    b->into = 0;
    b->in_function = false;
    b->functions[0]->code.len = 0;
    b->functions[0]->label_count = 0;
    b->break_label = b->continue_label = UINT32_MAX;
}

/* ---------- messages ---------- */

static void beyond_standard(Bc *b, const char *what)
{
    if (!b->standard && !b->warnings)
        return;
    if (b->standard)
        b->had_error = true;
    output_flush(b->p->out);
    out_printf(b->p->err, "%s %zu: %s%s\n", b->file, b->line, b->standard ? "Error: " : "(Warning) ", what);
    output_flush(b->p->err);
}

static void syntax_error(Bc *b)
{
    if (!b->failed && !b->quiet_tokens)
        bc_message(b, "syntax error");
    b->failed = true;
    b->had_error = true;
    b->quiet_tokens = 3;
}

static bool expect(Bc *b, Token t)
{
    if (b->failed)
        return false;
    if (bc_peek(b) != t) {
        syntax_error(b);
        return false;
    }
    bc_take(b);
    return true;
}

static bool accept(Bc *b, Token t)
{
    if (b->failed || bc_peek(b) != t)
        return false;
    bc_take(b);
    return true;
}

static void newline_allowed(Bc *b)
{
    if (accept(b, T_NEWLINE))
        beyond_standard(b, "newline not allowed");
}

/* ---------- expressions ---------- */

typedef struct { char kind; uint32_t id; } Place; /* v, a, or 0: not a place */

static int expression(Bc *b, int least);

static bool enough_room(Bc *b)
{
    if (!proc_stack_room(b->p, 16384))
        die(b->p, 1, "the program is nested too deeply");
    return !b->failed;
}

static void arguments(Bc *b, Buf *kinds)
{
    for (bool first = true; first || accept(b, (Token)','); first = false) {
        if (bc_peek(b) == T_NAME) {
            /* A name and [] is an array; otherwise the name begins an expression. */
            char *name = mem_copy(&b->p->keep, buf_slice(&b->word));
            size_t n = 0;
            while (n < b->text.len && (b->text.data[n] == ' ' || b->text.data[n] == '\t'))
                n++;
            bool array = n < b->text.len && b->text.data[n] == '[';
            size_t m = n + 1;
            while (array && m < b->text.len && (b->text.data[m] == ' ' || b->text.data[m] == '\t'))
                m++;
            if (array && m < b->text.len && b->text.data[m] == ']') {
                char digits[16];
                bc_take(b);
                bc_take(b);
                bc_take(b);
                snprintf(digits, sizeof digits, "%u", bc_name(b, 'a', name));
                emit(b, 'K');
                buf_append(&target(b)->code, slice_str(digits));
                emit(b, ':');
                buf_char(kinds, '1');
                continue;
            }
        }
        int flags = expression(b, 0);
        if (flags & COMPARES)
            beyond_standard(b, "comparison in argument");
        buf_char(kinds, '0');
    }
}

static int call(Bc *b, const char *name)
{
    Buf kinds;
    buf_init(&kinds, &b->p->keep, BUF_MAX);
    if (bc_peek(b) != (Token)')')
        arguments(b, &kinds);
    expect(b, (Token)')');
    uint32_t id = bc_name(b, 'f', name);
    emit_id(b, 'C', id);
    if (kinds.len)
        buf_append(&target(b)->code, buf_slice(&kinds));
    emit(b, ':');
    return b->functions[id]->no_value ? NOTHING : PLAIN;
}

static uint32_t special(Token t) { return t == T_IBASE ? VAR_IBASE : t == T_OBASE ? VAR_OBASE : t == T_SCALE ? VAR_SCALE : VAR_LAST; }
static bool is_special(Token t) { return t == T_IBASE || t == T_OBASE || t == T_SCALE || t == T_LAST; }

/* The rest of a place whose first word was taken: an index is computed here. */
static Place place(Bc *b, Token t, const char *name)
{
    if (t != T_NAME) {
        if (t == T_LAST)
            beyond_standard(b, "Last variable");
        return (Place){'v', special(t)};
    }
    if (!accept(b, (Token)'['))
        return (Place){'v', bc_name(b, 'v', name)};
    int flags = expression(b, 0);
    if (flags & COMPARES)
        beyond_standard(b, "comparison in subscript");
    expect(b, (Token)']');
    return (Place){'a', bc_name(b, 'a', name)};
}

static void load(Bc *b, Place w)
{
    emit_id(b, w.kind == 'a' ? 'L' : 'l', w.id);
}

static int after_place(Bc *b, Place w)
{
    Token t = bc_peek(b);
    char op = b->op;
    if (t == T_STEP) {
        bc_take(b);
        if (w.kind == 'a') {
            emit(b, 'D');
            load(b, w);
            emit(b, 'x');
            emit_id(b, op == '+' ? 'A' : 'M', w.id);
        } else {
            load(b, w);
            emit_id(b, op == '+' ? 'i' : 'd', w.id);
        }
        return PLAIN;
    }
    if (t != T_ASSIGN) {
        load(b, w);
        return PLAIN;
    }
    bc_take(b);
    if (op != '=') {
        if (w.kind == 'a')
            emit(b, 'D');
        load(b, w);
    }
    int flags = expression(b, 4);
    if (flags & COMPARES)
        beyond_standard(b, "comparison in assignment");
    if (op != '=')
        emit(b, op);
    emit_id(b, w.kind == 'a' ? 'S' : 's', w.id);
    return ASSIGNS;
}

static int built_in(Bc *b, char which)
{
    expect(b, (Token)'(');
    int flags = expression(b, 0);
    if (flags & COMPARES)
        beyond_standard(b, which == 'L' ? "comparison in length" : which == 'R' ? "comparison in sqrt" : "comparison in scale");
    expect(b, (Token)')');
    emit(b, 'c');
    emit(b, which);
    return PLAIN;
}

static int no_arguments(Bc *b, char which, const char *what)
{
    expect(b, (Token)'(');
    expect(b, (Token)')');
    beyond_standard(b, what);
    emit(b, 'c');
    emit(b, which);
    return PLAIN;
}

static int step_before(Bc *b, char op)
{
    Token t = bc_take(b);
    if (t != T_NAME && !is_special(t)) {
        syntax_error(b);
        return PLAIN;
    }
    Place w = place(b, t, mem_copy(&b->p->keep, buf_slice(&b->word)));
    if (w.kind == 'a') {
        emit(b, 'D');
        emit_id(b, op == '+' ? 'A' : 'M', w.id);
    } else {
        emit_id(b, op == '+' ? 'i' : 'd', w.id);
    }
    load(b, w);
    return PLAIN;
}

static int named(Bc *b, Token t)
{
    char *name = mem_copy(&b->p->keep, buf_slice(&b->word));
    bc_take(b);
    if (t == T_NAME && accept(b, (Token)'('))
        return call(b, name);
    if (t == T_SCALE && bc_peek(b) == (Token)'(')
        return built_in(b, 'S');
    return after_place(b, place(b, t, name));
}

static int primary(Bc *b)
{
    Token t = bc_peek(b);
    int flags;
    if (t == T_NAME || is_special(t))
        return named(b, t);
    char op = b->op;
    switch ((int)t) {
    case T_NUMBER:
        emit_number(b, buf_slice(&b->word));
        bc_take(b);
        return PLAIN;
    case '(':
        bc_take(b);
        flags = expression(b, 0);
        if (flags & NOTHING)
            bc_message(b, "void expression in parenthesis");
        expect(b, (Token)')');
        return flags | PLAIN | PAREN;
    case '-':
        bc_take(b);
        flags = expression(b, 8);
        emit(b, 'n');
        return flags;
    case T_STEP: bc_take(b); return step_before(b, op);
    case T_LENGTH: bc_take(b); return built_in(b, 'L');
    case T_SQRT: bc_take(b); return built_in(b, 'R');
    case T_READ: bc_take(b); return no_arguments(b, 'I', "read function");
    case T_RANDOM: bc_take(b); return no_arguments(b, 'X', "random function");
    default: syntax_error(b); return PLAIN;
    }
}

/* OR 1, AND 2, NOT 3 (prefix), relations 3, sums 5, products 6, powers 7. */
static int level(Bc *b)
{
    switch ((int)bc_peek(b)) {
    case T_OR: return 1;
    case T_AND: return 2;
    case T_RELATION: return 3;
    case '+': case '-': return 5;
    case '*': case '/': case '%': return 6;
    case '^': return 7;
    default: return -1;
    }
}

static int logical(Bc *b, int flags, bool either)
{
    uint32_t end = new_label(b);
    beyond_standard(b, either ? "|| operator" : "&& operator");
    if (either) {
        uint32_t done = new_label(b);
        emit_jump(b, 'B', end);
        flags |= expression(b, 2);
        emit_jump(b, 'B', end);
        emit(b, '0');
        emit_jump(b, 'J', done);
        place_label(b, end);
        emit(b, '1');
        place_label(b, done);
    } else {
        emit(b, 'D');
        emit_jump(b, 'Z', end);
        emit(b, 'p');
        flags |= expression(b, 3);
        emit(b, 'D');
        emit_jump(b, 'Z', end);
        emit(b, 'p');
        emit(b, '1');
        place_label(b, end);
    }
    return (flags | PLAIN) & ~PAREN;
}

static int negation(Bc *b)
{
    bc_take(b);
    expression(b, 3);
    bc_peek(b);
    beyond_standard(b, "! operator");
    emit(b, '!');
    return PLAIN;
}

static int expression(Bc *b, int least)
{
    if (!enough_room(b))
        return PLAIN;
    int flags = bc_peek(b) == (Token)'!' ? negation(b) : primary(b);
    for (int at; !b->failed && (at = level(b)) >= MAX(least, 1);) {
        char op = b->op;
        bc_take(b);
        if (flags & NOTHING)
            bc_message(b, "void expression in an operation");
        if (at <= 2) {
            flags = logical(b, flags, at == 1);
            continue;
        }
        flags |= expression(b, at == 7 ? 7 : at + 1);
        emit(b, op);
        flags = at == 3 ? PLAIN | COMPARES : flags & ~PAREN;
    }
    return flags;
}

/* ---------- statements ---------- */

static void statement(Bc *b);

static bool begins_statement(Token t)
{
    switch ((int)t) {
    case T_STRING: case T_NAME: case T_NUMBER: case T_STEP: case T_BREAK: case T_CONTINUE: case T_FOR: case T_HALT: case T_IBASE: case T_IF: case T_LAST:
    case T_LENGTH: case T_LIMITS: case T_OBASE: case T_PRINT: case T_QUIT: case T_RANDOM: case T_READ: case T_RETURN: case T_SCALE: case T_SQRT:
    case T_WARRANTY: case T_WHILE: case '(': case '-': case '!': case '{': return true;
    default: return false;
    }
}

/* After a mistake: on to a word that begins a statement, or the end of the line where the program is not in a block. */
static void recover(Bc *b, bool nested)
{
    while (b->failed) {
        Token t = bc_peek(b);
        if (t == T_EOF || (!nested && t == T_NEWLINE))
            return;
        if (begins_statement(t)) {
            b->failed = false;
            statement(b);
        } else {
            bc_take(b);
        }
    }
}

static void block(Bc *b)
{
    while (!b->failed && bc_peek(b) != (Token)'}') {
        if (accept(b, T_NEWLINE) || accept(b, (Token)';'))
            continue;
        statement(b);
        recover(b, true);
        Token t = bc_peek(b);
        if (!b->failed && t != T_NEWLINE && t != (Token)';' && t != (Token)'}')
            syntax_error(b);
    }
    expect(b, (Token)'}');
}

static void value_statement(Bc *b)
{
    int flags = expression(b, 0);
    if (b->failed)
        return;
    bc_peek(b);
    if (flags & COMPARES)
        beyond_standard(b, "comparison in expression");
    emit(b, flags & PLAIN && !(flags & NOTHING) ? 'W' : 'p');
}

static int optional_expression(Bc *b, Token end)
{
    if (bc_peek(b) == end) {
        beyond_standard(b, end == (Token)')' ? "Missing third expression in for" : "Missing expression in for");
        return EMPTY;
    }
    return expression(b, 0);
}

static void for_statement(Bc *b)
{
    uint32_t outer_break = b->break_label, outer_continue = b->continue_label;
    uint32_t test = new_label(b), body = new_label(b), out = new_label(b), again = new_label(b);
    expect(b, (Token)'(');
    int flags = optional_expression(b, (Token)';');
    if (flags & COMPARES)
        beyond_standard(b, "Comparison in first for expression");
    if (!(flags & EMPTY))
        emit(b, 'p');
    expect(b, (Token)';');
    place_label(b, test);
    if (optional_expression(b, (Token)';') & EMPTY)
        emit(b, '1');
    expect(b, (Token)';');
    emit_jump(b, 'B', body);
    emit_jump(b, 'J', out);
    place_label(b, again);
    flags = optional_expression(b, (Token)')');
    if (flags & COMPARES)
        beyond_standard(b, "Comparison in third for expression");
    if (!(flags & EMPTY))
        emit(b, 'p');
    emit_jump(b, 'J', test);
    place_label(b, body);
    expect(b, (Token)')');
    newline_allowed(b);
    b->break_label = out;
    b->continue_label = again;
    statement(b);
    emit_jump(b, 'J', again);
    place_label(b, out);
    b->break_label = outer_break;
    b->continue_label = outer_continue;
}

static void if_statement(Bc *b)
{
    uint32_t skip = new_label(b);
    expect(b, (Token)'(');
    expression(b, 0);
    expect(b, (Token)')');
    emit_jump(b, 'Z', skip);
    newline_allowed(b);
    statement(b);
    if (!accept(b, T_ELSE)) {
        place_label(b, skip);
        return;
    }
    beyond_standard(b, "else clause in if statement");
    uint32_t end = new_label(b);
    emit_jump(b, 'J', end);
    place_label(b, skip);
    newline_allowed(b);
    statement(b);
    place_label(b, end);
}

static void while_statement(Bc *b)
{
    uint32_t outer_break = b->break_label, outer_continue = b->continue_label;
    uint32_t again = new_label(b), out = new_label(b);
    place_label(b, again);
    expect(b, (Token)'(');
    expression(b, 0);
    expect(b, (Token)')');
    emit_jump(b, 'Z', out);
    newline_allowed(b);
    b->break_label = out;
    b->continue_label = again;
    statement(b);
    emit_jump(b, 'J', again);
    place_label(b, out);
    b->break_label = outer_break;
    b->continue_label = outer_continue;
}

static void return_statement(Bc *b)
{
    Token t = bc_peek(b);
    int flags = PLAIN | PAREN;
    if (t == T_NEWLINE || t == (Token)';' || t == (Token)'}' || t == T_EOF)
        emit(b, '0');
    else
        flags = expression(b, 0);
    if (b->failed)
        return;
    bc_peek(b);
    if (flags & COMPARES)
        beyond_standard(b, "comparison in return expresion");
    if (!(flags & PAREN))
        beyond_standard(b, "return expression requires parenthesis");
    if (!b->in_function)
        bc_message(b, "Return outside of a function.");
    emit(b, 'R');
}

static void print_statement(Bc *b)
{
    beyond_standard(b, "print statement");
    do {
        if (bc_peek(b) == T_STRING) {
            emit_text(b, 'O');
            bc_take(b);
        } else {
            expression(b, 0);
            emit(b, 'P');
        }
    } while (accept(b, (Token)','));
}

static void leave_loop(Bc *b, uint32_t label, const char *message, const char *beyond)
{
    bc_take(b);
    if (beyond)
        beyond_standard(b, beyond);
    if (label == UINT32_MAX)
        bc_message(b, message);
    else
        emit_jump(b, 'J', label);
}

static void statement(Bc *b)
{
    if (!enough_room(b))
        return;
    Token t = bc_peek(b);
    switch ((int)t) {
    case T_WARRANTY: bc_take(b); bc_warranty(b); break;
    case T_LIMITS: bc_take(b); bc_limits(b); break;
    case T_STRING: emit_text(b, 'w'); bc_take(b); break;
    case T_BREAK: leave_loop(b, b->break_label, "Break outside a for/while", NULL); break;
    case T_CONTINUE: leave_loop(b, b->continue_label, "Continue outside a for", "Continue statement"); break;
    case T_QUIT: proc_fail(b->p, output_status(b->p));
    case T_HALT: bc_take(b); emit(b, 'h'); break;
    case T_RETURN: bc_take(b); return_statement(b); break;
    case T_FOR: bc_take(b); for_statement(b); break;
    case T_IF: bc_take(b); if_statement(b); break;
    case T_WHILE: bc_take(b); while_statement(b); break;
    case T_PRINT: bc_take(b); print_statement(b); break;
    case '{': bc_take(b); block(b); break;
    default: value_statement(b); break;
    }
}

/* ---------- functions ---------- */

static bool add_param(Bc *b, Param **list, size_t *count, Param with)
{
    for (size_t i = 0; i < *count; i++)
        if ((*list)[i].id == with.id && ((*list)[i].kind == PARAM_NUMBER) == (with.kind == PARAM_NUMBER))
            return false;
    Param *grown = mem_array(&b->p->keep, *count + 1, Param);
    if (*count)
        memcpy(grown, *list, *count * sizeof *grown);
    grown[(*count)++] = with;
    *list = grown;
    return true;
}

/* Names of parameters or of automatic variables. */
static void name_list(Bc *b, Param **list, size_t *count, bool params)
{
    do {
        bool reference = params && (accept(b, (Token)'*') || accept(b, (Token)'&'));
        if (bc_peek(b) != T_NAME) {
            syntax_error(b);
            return;
        }
        char *name = mem_copy(&b->p->keep, buf_slice(&b->word));
        bc_take(b);
        Param with = {.kind = PARAM_NUMBER};
        if (accept(b, (Token)'[')) {
            expect(b, (Token)']');
            with.kind = reference ? PARAM_REFERENCE : PARAM_ARRAY;
        } else if (reference) {
            syntax_error(b);
            return;
        }
        with.id = bc_name(b, with.kind == PARAM_NUMBER ? 'v' : 'a', name);
        if (!add_param(b, list, count, with))
            bc_message(b, params ? "duplicate parameter names" : "duplicate auto variable names");
    } while (accept(b, (Token)','));
}

static void check_autos(Bc *b, const Function *f)
{
    for (size_t i = 0; i < f->auto_count; i++)
        for (size_t j = 0; j < f->param_count; j++)
            if (f->autos[i].id == f->params[j].id && (f->autos[i].kind == PARAM_NUMBER) == (f->params[j].kind == PARAM_NUMBER))
                bc_message(b, "variable in both parameter and auto lists");
}

static void define(Bc *b)
{
    bool no_value = accept(b, T_VOID);
    if (bc_peek(b) != T_NAME) {
        syntax_error(b);
        return;
    }
    uint32_t id = bc_name(b, 'f', mem_copy(&b->p->keep, buf_slice(&b->word)));
    bc_take(b);
    Function *f = mem_new(&b->p->keep, Function);
    f->name = b->functions[id]->name;
    buf_init(&f->code, &b->p->keep, BUF_MAX);
    expect(b, (Token)'(');
    if (!b->failed && bc_peek(b) != (Token)')')
        name_list(b, &f->params, &f->param_count, true);
    expect(b, (Token)')');
    newline_allowed(b);
    expect(b, (Token)'{');
    if (b->failed)
        return;
    if (!accept(b, T_NEWLINE))
        beyond_standard(b, "End of line required");
    while (accept(b, T_NEWLINE))
        ;
    f->no_value = no_value;
    Function *before = b->functions[id];
    b->functions[id] = f;
    b->into = id;
    b->in_function = true;
    if (accept(b, T_AUTO)) {
        name_list(b, &f->autos, &f->auto_count, false);
        check_autos(b, f);
        if (!accept(b, (Token)';'))
            expect(b, T_NEWLINE);
    }
    block(b);
    emit(b, '0');
    emit(b, 'R');
    f->defined = true;
    b->into = 0;
    b->in_function = false;
    if (b->had_error || b->failed) /* a definition with a mistake is none */
        b->functions[id] = before;
}

/* ---------- lines ---------- */

static void end_line(Bc *b)
{
    if (!b->had_error)
        bc_run(b);
    b->had_error = b->failed = false;
    bc_reset_code(b);
}

static void parse_line(Bc *b)
{
    for (;;) {
        Token t = bc_peek(b);
        if (t == T_DEFINE) {
            bc_take(b);
            define(b);
            if (!b->failed) {
                end_line(b);
                return;
            }
        } else if (t != (Token)';' && t != T_NEWLINE && t != T_EOF) {
            statement(b);
        }
        recover(b, false);
        t = bc_peek(b);
        if (t == T_NEWLINE || t == T_EOF)
            break;
        if (t == (Token)';')
            bc_take(b);
        else
            syntax_error(b);
    }
    if (bc_peek(b) == T_EOF) {
        if (b->functions[0]->code.len && !b->failed) { /* a last line without an end is not complete */
            syntax_error(b);
            bc_reset_code(b);
        }
        return;
    }
    bc_take(b);
    end_line(b);
}

void bc_parse(Bc *b)
{
    bc_reset_code(b);
    while (bc_peek(b) != T_EOF && !b->halted)
        parse_line(b);
}

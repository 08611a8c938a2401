/* bc: the machine. A run-time mistake is told with the function and the address, and ends the line. */
#include <stdarg.h>

#include "bc.h"

/* ---------- messages ---------- */

static void PRINTF_LIKE(3, 4) complain(Bc *b, bool error, const char *format, ...)
{
    char text[300];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    output_flush(b->p->out);
    out_printf(b->p->err, "Runtime %s (func=%s, adr=%zu): %s\n", error ? "error" : "warning", b->functions[b->function]->name, b->at, text);
    output_flush(b->p->err);
    b->error |= error;
}

/* ---------- the heap ---------- */

static const Num *moved(NumEnv *to, const Num *n) { return n ? num_copy(to, n) : NULL; }

static void move_array(NumEnv *to, Array *a)
{
    for (size_t i = 0; i < a->cap; i++)
        for (size_t j = 0; a->pages[i] && j < PAGE; j++)
            a->pages[i][j] = moved(to, a->pages[i][j]);
    proc_tick(to->p, 1 + a->cap);
}

static void move_all(Bc *b, NumEnv *to)
{
    for (size_t i = 0; i < b->depth; i++)
        b->stack[i] = moved(to, b->stack[i]);
    for (uint32_t i = 0; i < b->next_var; i++)
        for (Held *h = b->vars[i]; h; h = h->outer)
            h->value = moved(to, h->value);
    for (uint32_t i = 0; i < b->next_array; i++)
        for (HeldArray *h = b->arrays[i]; h; h = h->outer)
            if (!h->borrowed && h->array)
                move_array(to, h->array);
    b->last = moved(to, b->last);
}

/* Copies what is alive when three quarters of the heap or more may be garbage. */
static void collect(Bc *b)
{
    size_t now = mem_bytes(b->heap);
    if (now < b->live * 4 + (4u << 20))
        return;
    NumEnv to = {b->p, proc_mem_new(b->p)};
    move_all(b, &to);
    proc_mem_drop(b->p, b->heap);
    b->heap = b->num.mem = to.mem;
    b->live = mem_bytes(b->heap);
}

/* ---------- stack and variables ---------- */

static void push(Bc *b, const Num *n)
{
    if (b->depth == b->stack_cap) {
        size_t cap = MAX(b->stack_cap * 2, 64);
        b->stack = mem_grow(&b->p->keep, b->stack, b->stack_cap * sizeof *b->stack, cap * sizeof *b->stack);
        b->stack_cap = cap;
    }
    b->stack[b->depth++] = n;
}

static const Num *pop(Bc *b) { return b->depth ? b->stack[--b->depth] : num_int(&b->num, 0); }
static const Num *top(Bc *b) { return b->depth ? b->stack[b->depth - 1] : num_int(&b->num, 0); }
static const Num *small(Bc *b, int64_t v)
{
    const Num *n = num_int(&b->num, v < 0 ? (uint64_t)-v : (uint64_t)v);
    return v < 0 ? num_negate(&b->num, n) : n;
}

static Held *new_held(Bc *b, Held *outer)
{
    Held *h = b->spare_held;
    if (h)
        b->spare_held = h->outer;
    else
        h = mem_new(&b->p->keep, Held);
    *h = (Held){NULL, outer};
    return h;
}

static void drop_held(Bc *b, uint32_t id)
{
    Held *h = b->vars[id];
    b->vars[id] = h->outer;
    h->outer = b->spare_held;
    b->spare_held = h;
}

static Held *variable(Bc *b, uint32_t id)
{
    if (!b->vars[id])
        b->vars[id] = new_held(b, NULL);
    return b->vars[id];
}

static Array *new_array(Bc *b)
{
    Array *a = mem_new(&b->p->keep, Array);
    return a;
}

static HeldArray *array_of(Bc *b, uint32_t id)
{
    if (!b->arrays[id])
        b->arrays[id] = mem_new(&b->p->keep, HeldArray);
    if (!b->arrays[id]->array)
        b->arrays[id]->array = new_array(b);
    return b->arrays[id];
}

static void hold_array(Bc *b, uint32_t id, Array *borrowed)
{
    HeldArray *h = mem_new(&b->p->keep, HeldArray);
    *h = (HeldArray){borrowed, borrowed != NULL, b->arrays[id]};
    b->arrays[id] = h;
}

/* Pages of an array that is gone serve the next one. */
static void drop_array(Bc *b, uint32_t id)
{
    HeldArray *h = b->arrays[id];
    b->arrays[id] = h->outer;
    if (h->borrowed || !h->array)
        return;
    for (size_t i = 0; i < h->array->cap; i++) {
        if (!h->array->pages[i])
            continue;
        if (b->spare_page_count == b->spare_page_cap) {
            size_t cap = MAX(b->spare_page_cap * 2, 16);
            b->spare_pages = mem_grow(&b->p->keep, b->spare_pages, b->spare_page_cap * sizeof *b->spare_pages, cap * sizeof *b->spare_pages);
            b->spare_page_cap = cap;
        }
        b->spare_pages[b->spare_page_count++] = h->array->pages[i];
    }
}

static const Num **new_page(Bc *b)
{
    if (!b->spare_page_count)
        return mem_array(&b->p->keep, PAGE, const Num *);
    const Num **page = b->spare_pages[--b->spare_page_count];
    memset(page, 0, PAGE * sizeof *page);
    return page;
}

static const Num **element(Bc *b, Array *a, size_t index)
{
    size_t page = index / PAGE;
    if (page >= a->cap) {
        size_t cap = MAX(a->cap * 2, page + 1);
        const Num ***grown = mem_array(&b->p->keep, cap, const Num **);
        if (a->cap)
            memcpy(grown, a->pages, a->cap * sizeof *grown);
        a->pages = grown;
        a->cap = cap;
    }
    if (!a->pages[page])
        a->pages[page] = new_page(b);
    return &a->pages[page][index % PAGE];
}

/* The element that the number on the stack is the index of; NULL after a message. */
static const Num **indexed(Bc *b, uint32_t id, const Num *index)
{
    int64_t at = num_long(&b->num, index);
    if (at < 0 || at > ARRAY_MOST || (at == 0 && num_integer_digits(index) > 1)) {
        complain(b, true, "Array %s subscript out of bounds.", b->array_names[id]);
        return NULL;
    }
    return element(b, array_of(b, id)->array, (size_t)at);
}

static const Num *get(Bc *b, uint32_t id)
{
    switch (id) {
    case VAR_IBASE: return small(b, b->ibase);
    case VAR_OBASE: return small(b, b->obase);
    case VAR_SCALE: return small(b, b->scale);
    case VAR_LAST: return b->last ? b->last : num_int(&b->num, 0);
    default: break;
    }
    const Num *v = variable(b, id)->value;
    return v ? v : num_int(&b->num, 0);
}

static void set_special(Bc *b, uint32_t id, const Num *n)
{
    static const char *const names[] = {"ibase", "obase", "scale"};
    int64_t least = id == VAR_SCALE ? 0 : 2, most = id == VAR_IBASE ? INPUT_BASE_MOST : BASE_MOST, v = num_long(&b->num, n);
    int64_t *to = id == VAR_IBASE ? &b->ibase : id == VAR_OBASE ? &b->obase : &b->scale;
    bool too_big = v == 0 && num_integer_digits(n) > 1;
    if (n->negative) {
        complain(b, false, "negative %s, set to %lld", names[id], (long long)least);
        *to = least;
    } else if (v < least && !too_big) {
        complain(b, false, "%s too small, set to 2", names[id]);
        *to = least;
    } else if (v > most || too_big) {
        complain(b, false, "%s too large, set to %lld", names[id], (long long)most);
        *to = most;
    } else {
        *to = v;
    }
}

static void set(Bc *b, uint32_t id, const Num *n)
{
    if (id <= VAR_SCALE)
        set_special(b, id, n);
    else if (id == VAR_LAST)
        b->last = n;
    else
        variable(b, id)->value = n;
}

static void step(Bc *b, uint32_t id, bool down)
{
    if (id <= VAR_SCALE) {
        int64_t v = (id == VAR_IBASE ? b->ibase : id == VAR_OBASE ? b->obase : b->scale) + (down ? -1 : 1);
        set_special(b, id, small(b, v));
        return;
    }
    set(b, id, num_add(&b->num, get(b, id), num_int(&b->num, 1), down));
}

static void step_element(Bc *b, uint32_t id, bool down)
{
    const Num **e = indexed(b, id, pop(b));
    if (e)
        *e = num_add(&b->num, *e ? *e : num_int(&b->num, 0), num_int(&b->num, 1), down);
}

/* ---------- constants and input ---------- */

static int digit_value(char c, int64_t base)
{
    int v = c <= '9' ? c - '0' : c - 'A' + 10;
    return v >= base ? (int)base - 1 : v;
}

/* A single digit means itself in every base; in longer numbers digits that the base does not have are its highest. */
const Num *bc_constant(Bc *b, Slice digits, int64_t base)
{
    size_t point = slice_find(digits, '.'), behind = point < digits.len ? digits.len - point - 1 : 0;
    NumEnv *n = &b->num;
    if (point == digits.len && digits.len == 1)
        return num_int(n, (uint64_t)digit_value(digits.data[0], 36));
    if (base == 10) {
        char *text = mem_alloc(n->mem, digits.len + 1);
        for (size_t i = 0; i < digits.len; i++)
            text[i] = digits.data[i] == '.' ? '.' : (char)('0' + digit_value(digits.data[i], 10));
        return num_decimal(n, slice(text, point), slice(text + MIN(point + 1, digits.len), behind));
    }
    const Num *by = num_int(n, (uint64_t)base), *v = num_int(n, 0), *unit = num_int(n, 1);
    for (size_t i = 0; i < point; i++)
        v = num_add(n, num_multiply(n, v, by, 0), num_int(n, (uint64_t)digit_value(digits.data[i], point == 1 ? 36 : base)), false);
    const Num *fraction = num_int(n, 0);
    for (size_t i = point + 1; i < digits.len; i++) {
        fraction = num_add(n, num_multiply(n, fraction, by, 0), num_int(n, (uint64_t)digit_value(digits.data[i], base)), false);
        unit = num_multiply(n, unit, by, 0);
        proc_tick(b->p, 1);
    }
    return behind ? num_add(n, v, num_divide(n, fraction, unit, behind), false) : v;
}

/* A byte of standard input: of what is not yet read of the program when that comes from there. -1 at the end. */
static int input_byte(Bc *b)
{
    char c;
    if (strcmp(b->file, "(standard_in)") == 0) {
        if (!b->text.len)
            return -1;
        c = *b->text.data;
        b->text = slice_from(b->text, 1);
        return (unsigned char)c;
    }
    return proc_read(b->p, 0, &c, 1) == 1 ? (unsigned char)c : -1;
}

/* read(): a number from standard input. */
static void read_number(Bc *b)
{
    Buf digits;
    buf_init(&digits, b->num.mem, BUF_MAX);
    int c = input_byte(b);
    while (c == ' ' || c == '\t' || c == '\n')
        c = input_byte(b);
    bool negative = c == '-';
    if (negative || c == '+')
        c = input_byte(b);
    for (bool point = false; (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c == '.' && !point); c = input_byte(b)) {
        point |= c == '.';
        buf_char(&digits, (char)c);
        proc_tick(b->p, 1);
    }
    const Num *v = digits.len ? bc_constant(b, buf_slice(&digits), b->ibase) : num_int(&b->num, 0);
    push(b, negative ? num_negate(&b->num, v) : v);
}

/* ---------- functions ---------- */

static void enter_frame(Bc *b)
{
    if (b->frame_count == b->frame_cap) {
        if (b->frame_count >= 1u << 20)
            proc_limit(b->p, LIMIT_DEPTH);
        size_t cap = MAX(b->frame_cap * 2, 16);
        b->frames = mem_grow(&b->p->keep, b->frames, b->frame_cap * sizeof *b->frames, cap * sizeof *b->frames);
        b->frame_cap = cap;
    }
    b->frames[b->frame_count++] = (Frame){b->function, b->at, b->ibase};
}

static void copy_array(Bc *b, uint32_t id, uint32_t from)
{
    Array *source = array_of(b, from)->array;
    hold_array(b, id, NULL);
    Array *to = array_of(b, id)->array;
    for (size_t page = 0; page < source->cap; page++)
        for (size_t i = 0; source->pages[page] && i < PAGE; i++)
            *element(b, to, page * PAGE + i) = source->pages[page][i];
    proc_tick(b->p, 1 + source->cap * 4);
}

/* Arguments lie on the stack, the first lowest; an array is the number of its name. */
static bool bind_parameters(Bc *b, const Function *f, Slice kinds)
{
    size_t base = b->depth - MIN(kinds.len, b->depth);
    for (size_t i = 0; i < kinds.len; i++) {
        b->at++;
        if (i >= f->param_count) {
            complain(b, true, "Parameter number mismatch");
            return false;
        }
        const Param *with = &f->params[i];
        if ((with->kind == PARAM_NUMBER) != (kinds.data[i] == '0')) {
            complain(b, true, "Parameter type mismatch parameter %zu.", i + 1);
            return false;
        }
    }
    b->at++;
    if (kinds.len != f->param_count) {
        complain(b, true, "Parameter number mismatch");
        return false;
    }
    for (size_t i = 0; i < kinds.len; i++) {
        const Param *with = &f->params[i];
        const Num *given = b->stack[base + i];
        if (with->kind == PARAM_NUMBER) {
            b->vars[with->id] = new_held(b, variable(b, with->id));
            b->vars[with->id]->value = given;
        } else if (with->kind == PARAM_ARRAY) {
            copy_array(b, with->id, (uint32_t)num_long(&b->num, given));
        } else {
            hold_array(b, with->id, array_of(b, (uint32_t)num_long(&b->num, given))->array);
        }
    }
    b->depth = base;
    for (size_t i = 0; i < f->auto_count; i++) {
        if (f->autos[i].kind == PARAM_NUMBER)
            b->vars[f->autos[i].id] = new_held(b, variable(b, f->autos[i].id));
        else
            hold_array(b, f->autos[i].id, NULL);
    }
    return true;
}

static void call_function(Bc *b, uint32_t id)
{
    const Function *f = b->functions[id];
    const Buf *code = &b->functions[b->function]->code;
    Slice rest = slice_from(buf_slice(code), b->at);
    Slice kinds = {rest.data, slice_find(rest, ':')};
    if (!f->defined) {
        complain(b, true, "Function %s not defined.", f->name);
        return;
    }
    if (!bind_parameters(b, f, kinds))
        return;
    enter_frame(b);
    b->function = id;
    b->at = 0;
}

static void leave_function(Bc *b)
{
    const Function *f = b->functions[b->function];
    for (size_t i = f->auto_count; i-- > 0;)
        f->autos[i].kind == PARAM_NUMBER ? drop_held(b, f->autos[i].id) : drop_array(b, f->autos[i].id);
    for (size_t i = f->param_count; i-- > 0;)
        f->params[i].kind == PARAM_NUMBER ? drop_held(b, f->params[i].id) : drop_array(b, f->params[i].id);
    const Frame *frame = &b->frames[--b->frame_count];
    b->function = frame->function;
    b->at = frame->at;
}

/* ---------- operations ---------- */

static void power(Bc *b, const Num *x, const Num *y)
{
    if (y->scale && !num_zero(num_add(&b->num, y, num_truncate(&b->num, y, 0), true)))
        complain(b, false, "non-zero scale in exponent");
    int64_t e = num_long(&b->num, y);
    if (e == 0 && num_integer_digits(y) > 1) {
        complain(b, true, "exponent too large in raise");
        return;
    }
    if (e < 0 && num_zero(x)) {
        complain(b, true, "divide by zero");
        return;
    }
    push(b, num_power(&b->num, x, e < 0 ? (uint64_t)-e : (uint64_t)e, e < 0, (size_t)b->scale));
}

static void arithmetic(Bc *b, char op)
{
    const Num *y = pop(b), *x = pop(b);
    size_t scale = (size_t)b->scale;
    switch (op) {
    case '+': push(b, num_add(&b->num, x, y, false)); break;
    case '-': push(b, num_add(&b->num, x, y, true)); break;
    case '*': push(b, num_multiply(&b->num, x, y, scale)); break;
    case '^': power(b, x, y); break;
    default:
        if (num_zero(y))
            complain(b, true, op == '/' ? "Divide by zero" : "Modulo by zero");
        else
            push(b, op == '/' ? num_divide(&b->num, x, y, scale) : num_modulo(&b->num, x, y, scale));
        break;
    }
}

static void relation(Bc *b, char op)
{
    const Num *y = pop(b), *x = pop(b);
    int c = num_compare(&b->num, x, y);
    bool r = op == '=' ? c == 0 : op == '#' ? c != 0 : op == '<' ? c < 0 : op == '{' ? c <= 0 : op == '>' ? c > 0 : c >= 0;
    push(b, num_int(&b->num, r));
}

/* The additive feedback generator that the C library's random() is, from the seed 1. */
static uint32_t random_number(Bc *b)
{
    uint32_t *r = b->random_state;
    if (!r[0]) {
        r[0] = 1;
        for (size_t i = 1; i < 31; i++)
            r[i] = (uint32_t)((16807ull * r[i - 1]) % 2147483647);
        b->random_at = 0;
        for (size_t i = 0; i < 313; i++) {
            size_t at = b->random_at;
            /* x[n] = x[n - 3] + x[n - 31]; the first three are the seed's own. */
            r[at % 31] = i < 3 ? r[at % 31] : r[at % 31] + r[(at + 28) % 31];
            b->random_at = (at + 1) % 31;
        }
    }
    size_t at = b->random_at;
    r[at] += r[(at + 28) % 31];
    b->random_at = (at + 1) % 31;
    return r[at] >> 1;
}

static void built_in(Bc *b, char which)
{
    if (which == 'I') {
        read_number(b);
        return;
    }
    if (which == 'X') {
        push(b, num_int(&b->num, random_number(b)));
        return;
    }
    const Num *x = pop(b);
    if (which == 'L') {
        bool fraction = x->scale && num_digits(&b->num, x).len == x->scale + 1 && num_digits(&b->num, x).data[0] == '0';
        push(b, num_int(&b->num, fraction ? x->scale : num_integer_digits(x) + x->scale));
    } else if (which == 'S') {
        push(b, num_int(&b->num, x->scale));
    } else if (x->negative) {
        complain(b, true, "Square root of a negative number");
    } else {
        push(b, num_root(&b->num, x, (size_t)b->scale));
    }
}

static void print_escaped(Bc *b, const Buf *code)
{
    static const char from[] = "abfnqrt\\", to[] = "\a\b\f\n\"\r\t\\";
    for (char c; b->at < code->len && (c = code->data[b->at++]) != '"';) {
        if (c == '\\' && b->at < code->len) {
            const char *at = code->data[b->at] ? strchr(from, code->data[b->at]) : NULL;
            if (code->data[b->at] == '"')
                continue;
            b->at++;
            if (!at)
                continue;
            c = to[at - from];
        }
        bc_put_text(b, c);
    }
}

static uint32_t operand(Bc *b, const Buf *code)
{
    uint32_t v = (unsigned char)code->data[b->at++];
    if (v & 0x80)
        v = (v & 0x7F) << 8 | (unsigned char)code->data[b->at++];
    return v;
}

static void jump(Bc *b, const Function *f, bool taken)
{
    uint32_t label = (unsigned char)f->code.data[b->at] | (uint32_t)(unsigned char)f->code.data[b->at + 1] << 8;
    b->at += 2;
    if (taken) {
        b->at = f->labels[label];
        collect(b);
    }
}

static void constant(Bc *b, const Buf *code)
{
    Slice rest = slice_from(buf_slice(code), b->at);
    size_t n = slice_find(rest, ':');
    push(b, bc_constant(b, slice(rest.data, n), b->frame_count ? b->frames[b->frame_count - 1].base : b->ibase));
    b->at += n + 1;
}

static void with_operand(Bc *b, char op, uint32_t id)
{
    const Num **e, *n;
    switch (op) {
    case 'l': push(b, get(b, id)); break;
    case 's': set(b, id, top(b)); break;
    case 'i': step(b, id, false); break;
    case 'd': step(b, id, true); break;
    case 'L': e = indexed(b, id, pop(b)); push(b, e && *e ? *e : num_int(&b->num, 0)); break;
    case 'S':
        n = pop(b);
        if ((e = indexed(b, id, pop(b))))
            *e = n;
        push(b, n);
        break;
    case 'A': step_element(b, id, false); break;
    case 'M': step_element(b, id, true); break;
    default: call_function(b, id); break;
    }
}

static void print_value(Bc *b, bool newline)
{
    const Num *n = pop(b);
    bc_print(b, n);
    if (newline)
        bc_put(b, '\n');
    b->last = n;
}

/* What is left of the stack once the value above it was dropped, exchanged and so on. */
static void stack_operation(Bc *b, char op)
{
    const Num *x = top(b), *y;
    switch (op) {
    case 'D': push(b, x); break;
    case 'p': pop(b); break;
    case 'n': b->depth ? (void)(b->stack[b->depth - 1] = num_negate(&b->num, x)) : (void)0; break;
    case '!': pop(b); push(b, num_int(&b->num, num_zero(x))); break;
    case 'x': x = pop(b); y = pop(b); push(b, x); push(b, y); break;
    default: break;
    }
}

static void execute(Bc *b)
{
    const Function *f = b->functions[b->function];
    const Buf *code = &f->code;
    char op = code->data[b->at++];
    bool truth;
    switch (op) {
    case '0': case '1': push(b, num_int(&b->num, (uint64_t)(op - '0'))); break;
    case 'K': constant(b, code); break;
    case 'J': jump(b, f, true); break;
    case 'Z': case 'B': truth = !num_zero(pop(b)); jump(b, f, truth == (op == 'B')); break;
    case 'l': case 's': case 'i': case 'd': case 'L': case 'S': case 'A': case 'M': case 'C': with_operand(b, op, operand(b, code)); break;
    case 'R': collect(b); if (b->frame_count) leave_function(b); else b->at = code->len; break;
    case 'W': case 'P': print_value(b, op == 'W'); break;
    case 'w': while (b->at < code->len && code->data[b->at] != '"') bc_put_text(b, code->data[b->at++]); b->at++; break;
    case 'O': print_escaped(b, code); break;
    case 'c': built_in(b, code->data[b->at++]); break;
    case 'h': b->halted = true; break;
    case '+': case '-': case '*': case '/': case '%': case '^': arithmetic(b, op); break;
    case '=': case '#': case '<': case '{': case '>': case '}': relation(b, op); break;
    default: stack_operation(b, op); break;
    }
}

void bc_run(Bc *b)
{
    b->function = 0;
    b->at = 0;
    b->error = false;
    b->depth = 0;
    while (!b->error && !b->halted && (b->function || b->at < b->functions[0]->code.len)) {
        proc_tick(b->p, 1);
        execute(b);
    }
    while (b->frame_count)
        leave_function(b);
    b->depth = 0;
    collect(b);
}

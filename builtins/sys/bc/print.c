/* bc: numbers and text out, lines broken at the width that BC_LINE_LENGTH says. */
#include "bc.h"

void bc_put(Bc *b, char c)
{
    if (c == '\n') {
        b->column = 0;
    } else if (++b->column == b->line_length - 1 && b->line_length) {
        out_str(b->p->out, "\\\n");
        b->column = 1;
    }
    out_char(b->p->out, c);
}

void bc_put_text(Bc *b, char c)
{
    if (b->standard && c != '\n')
        out_char(b->p->out, c);
    else
        bc_put(b, c);
}

static void put_digit(Bc *b, int64_t digit, size_t width, bool space)
{
    if (b->obase <= 16) {
        bc_put(b, "0123456789ABCDEF"[digit & 15]);
        return;
    }
    char text[32];
    snprintf(text, sizeof text, "%s%0*lld", space ? " " : "", (int)width, (long long)digit);
    for (const char *s = text; *s; s++)
        bc_put(b, *s);
}

static void print_decimal(Bc *b, const Num *n)
{
    Slice digits = num_digits(&b->num, n);
    size_t integer = digits.len - n->scale;
    for (size_t i = 0; i < digits.len; i++) {
        if (i == integer)
            bc_put(b, '.');
        if (i || integer > 1 || digits.data[0] != '0')
            bc_put(b, digits.data[i]);
    }
    proc_tick(b->p, digits.len / 64);
}

static void print_integer(Bc *b, const Num *whole, const Num *base, size_t width)
{
    size_t count = 0, cap = num_integer_digits(whole) * 4 + 4;
    int64_t *digits = mem_array(b->num.mem, cap, int64_t);
    for (; !num_zero(whole) && count < cap; count++) {
        digits[count] = num_long(&b->num, num_modulo(&b->num, whole, base, 0));
        whole = num_divide(&b->num, whole, base, 0);
        proc_tick(b->p, 1);
    }
    while (count)
        put_digit(b, digits[--count], width, true);
}

/* As many digits of the base as reach the precision of the decimal ones. */
static void print_fraction(Bc *b, const Num *n, const Num *whole, const Num *base, size_t width)
{
    const Num *rest = num_add(&b->num, n, whole, true), *reach = num_int(&b->num, 1);
    bc_put(b, '.');
    for (bool space = false; num_integer_digits(reach) <= n->scale; space = true) {
        rest = num_multiply(&b->num, rest, base, n->scale);
        int64_t digit = num_long(&b->num, rest);
        rest = num_add(&b->num, rest, num_int(&b->num, (uint64_t)digit), true);
        put_digit(b, digit, width, space);
        reach = num_multiply(&b->num, reach, base, 0);
        proc_tick(b->p, 1);
    }
}

void bc_print(Bc *b, const Num *n)
{
    if (num_zero(n)) {
        bc_put(b, '0');
        return;
    }
    if (n->negative) {
        bc_put(b, '-');
        n = num_negate(&b->num, n);
    }
    if (b->obase == 10) {
        print_decimal(b, n);
        return;
    }
    const Num *base = num_int(&b->num, (uint64_t)b->obase), *whole = num_truncate(&b->num, n, 0);
    size_t width = num_integer_digits(num_int(&b->num, (uint64_t)b->obase - 1));
    print_integer(b, whole, base, width);
    if (n->scale)
        print_fraction(b, n, whole, base, width);
}

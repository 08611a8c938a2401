/* expr: evaluate expressions. GNU coreutils 9.1: strings, integers in 64 bits (larger ones are refused), anchored basic regular expressions. */
#include <stdlib.h>

#include "command.h"

enum { DEEPEST = 1000 };

typedef struct {
    Proc *p;
    char **args;
    int depth;
} Parser;

typedef struct {
    bool is_int;
    int64_t i;
    const char *s;
} Value;

static Value of_int(int64_t i) { return (Value){true, i, NULL}; }
static Value of_text(const char *s) { return (Value){false, 0, s}; }

static NORETURN void syntax(Proc *p, const char *format, const char *arg) { arg ? die(p, 2, format, quote(p, arg)) : die(p, 2, format, ""); }

static bool looks_int(const char *s)
{
    if (*s == '-')
        s++;
    return *s && strspn(s, "0123456789") == strlen(s);
}

static const char *text(Proc *p, const Value *v) { return v->is_int ? mem_printf(&p->keep, "%lld", (long long)v->i) : v->s; }

static int64_t integer(Proc *p, const Value *v)
{
    int64_t i;
    if (v->is_int)
        return v->i;
    if (!looks_int(v->s))
        die(p, 2, "non-integer argument");
    if (parse_int(v->s, &i))
        die_errno(p, 2, ERANGE, "%s", v->s);
    return i;
}

static bool is_null(const Value *v)
{
    if (v->is_int)
        return v->i == 0;
    const char *s = v->s;
    if (*s == 0)
        return true;
    if (*s == '-')
        s++;
    return *s && strspn(s, "0") == strlen(s);
}

static bool next_is(Parser *x, const char *word)
{
    if (!*x->args || strcmp(*x->args, word) != 0)
        return false;
    x->args++;
    return true;
}

static void need_more(Parser *x)
{
    if (!*x->args)
        syntax(x->p, "syntax error: missing argument after %s", x->args[-1]);
}

/* ---------- operations ---------- */

static Value match(Parser *x, Value subject, Value pattern, bool evaluate)
{
    if (!evaluate)
        return of_text("");
    Proc *p = x->p;
    ReError err;
    Re *re = proc_regex(p, slice_str(text(p, &pattern)), RE_BRE, 0, &err);
    if (!re)
        die(p, 2, "%s", err.message);
    ReSpan spans[2] = {{0, 0}, {RE_UNSET, RE_UNSET}};
    ReEnv env = proc_re_env(p);
    Slice s = slice_str(text(p, &subject));
    size_t groups = re_groups(re);
    bool hit = re_search(&env, re, s, 0, false, spans, 2) == RE_MATCHED && spans[0].start == 0;
    if (groups) {
        bool set = hit && spans[1].start != RE_UNSET;
        return of_text(set ? mem_copy(&p->keep, (Slice){s.data + spans[1].start, spans[1].end - spans[1].start}) : "");
    }
    Slice whole = {s.data, hit ? spans[0].end : 0};
    return of_int((int64_t)(locale_utf8(p) ? utf8_count(whole) : whole.len));
}

/* A position or length; one out of range is as good as the greatest. */
static int64_t clamped(const Value *v)
{
    int64_t i = v->i;
    if (!v->is_int)
        parse_int(v->s, &i);
    return i;
}

static Value substring(Proc *p, Value s, Value at, Value len)
{
    const char *str = text(p, &s);
    if (!at.is_int && !looks_int(at.s))
        return of_text("");
    if (!len.is_int && !looks_int(len.s))
        return of_text("");
    int64_t from = clamped(&at), n = clamped(&len);
    Slice all = slice_str(str);
    bool utf8 = locale_utf8(p);
    size_t count = utf8 ? utf8_count(all) : all.len;
    if (from < 1 || n < 1 || (uint64_t)from > count)
        return of_text("");
    size_t begin = (size_t)from - 1, end = (uint64_t)n > count - begin ? count : begin + (size_t)n;
    if (utf8)
        begin = utf8_offset(all, begin), end = utf8_offset(all, end);
    return of_text(mem_copy(&p->keep, (Slice){all.data + begin, end - begin}));
}

static Value first_index(Proc *p, Value s, Value chars)
{
    Slice all = slice_str(text(p, &s)), set = slice_str(text(p, &chars));
    int64_t at = 1;
    for (size_t n; all.len; all = slice_from(all, n), at++) {
        utf8_decode(all.data, all.len, &n);
        if (set.len && memmem(set.data, set.len, all.data, n))
            return of_int(at);
    }
    return of_int(0);
}

static Value arithmetic(Proc *p, char op, Value a, Value b)
{
    int64_t x = integer(p, &a), y = integer(p, &b), r = 0;
    bool over = false;
    if ((op == '/' || op == '%') && y == 0)
        die(p, 2, "division by zero");
    switch (op) {
    case '+': over = __builtin_add_overflow(x, y, &r); break;
    case '-': over = __builtin_sub_overflow(x, y, &r); break;
    case '*': over = __builtin_mul_overflow(x, y, &r); break;
    case '/': r = y == -1 ? (over = __builtin_sub_overflow(0, x, &r), r) : x / y; break;
    default: r = y == -1 ? 0 : x % y; break;
    }
    if (over)
        die(p, 2, "integer result too large");
    return of_int(r);
}

/* ---------- the grammar, loosest first ---------- */

static Value parse_or(Parser *x, bool evaluate);

static void deeper(Parser *x)
{
    if (++x->depth > DEEPEST || !proc_stack_room(x->p, 32768))
        die(x->p, 2, "expression nested too deeply");
}

static Value parse_primary(Parser *x)
{
    need_more(x);
    if (next_is(x, "(")) {
        need_more(x);
        Value v = parse_or(x, true);
        if (!*x->args)
            syntax(x->p, "syntax error: expecting ')' after %s", x->args[-1]);
        if (!next_is(x, ")"))
            syntax(x->p, "syntax error: expecting ')' instead of %s", *x->args);
        return v;
    }
    if (strcmp(*x->args, ")") == 0)
        syntax(x->p, "syntax error: unexpected ')'", NULL);
    return of_text(*x->args++);
}

static Value parse_function(Parser *x, bool evaluate)
{
    deeper(x);
    Value v;
    Proc *p = x->p;
    if (next_is(x, "+")) {
        need_more(x);
        v = of_text(*x->args++);
    } else if (next_is(x, "length")) {
        Value s = parse_function(x, evaluate);
        Slice t = slice_str(text(p, &s));
        v = of_int((int64_t)(locale_utf8(p) ? utf8_count(t) : t.len));
    } else if (next_is(x, "match")) {
        Value a = parse_function(x, evaluate), b = parse_function(x, evaluate);
        v = match(x, a, b, evaluate);
    } else if (next_is(x, "index")) {
        Value a = parse_function(x, evaluate), b = parse_function(x, evaluate);
        v = first_index(p, a, b);
    } else if (next_is(x, "substr")) {
        Value a = parse_function(x, evaluate), b = parse_function(x, evaluate), c = parse_function(x, evaluate);
        v = substring(p, a, b, c);
    } else {
        v = parse_primary(x);
    }
    x->depth--;
    return v;
}

static Value parse_match(Parser *x, bool evaluate)
{
    Value v = parse_function(x, evaluate);
    while (next_is(x, ":"))
        v = match(x, v, parse_function(x, evaluate), evaluate);
    return v;
}

static Value parse_product(Parser *x, bool evaluate)
{
    Value v = parse_match(x, evaluate);
    for (;;) {
        char op = next_is(x, "*") ? '*' : next_is(x, "/") ? '/' : next_is(x, "%") ? '%' : 0;
        if (!op)
            return v;
        Value b = parse_match(x, evaluate);
        if (evaluate)
            v = arithmetic(x->p, op, v, b);
    }
}

static Value parse_sum(Parser *x, bool evaluate)
{
    Value v = parse_product(x, evaluate);
    for (;;) {
        char op = next_is(x, "+") ? '+' : next_is(x, "-") ? '-' : 0;
        if (!op)
            return v;
        Value b = parse_product(x, evaluate);
        if (evaluate)
            v = arithmetic(x->p, op, v, b);
    }
}

static int order(Proc *p, Value a, Value b)
{
    const char *s = text(p, &a), *t = text(p, &b);
    if (looks_int(s) && looks_int(t)) {
        int64_t i = integer(p, &a), j = integer(p, &b);
        return (i > j) - (i < j);
    }
    return strcmp(s, t);
}

static Value parse_comparison(Parser *x, bool evaluate)
{
    static const char *const ops[] = {"<", "<=", "=", "==", "!=", ">=", ">"};
    Value v = parse_sum(x, evaluate);
    for (;;) {
        size_t op = 0;
        while (op < ARRAY_LEN(ops) && !next_is(x, ops[op]))
            op++;
        if (op == ARRAY_LEN(ops))
            return v;
        Value b = parse_sum(x, evaluate);
        if (!evaluate)
            continue;
        int c = order(x->p, v, b);
        const bool results[] = {c < 0, c <= 0, c == 0, c == 0, c != 0, c >= 0, c > 0};
        v = of_int(results[op]);
    }
}

static Value parse_and(Parser *x, bool evaluate)
{
    Value v = parse_comparison(x, evaluate);
    while (next_is(x, "&")) {
        Value b = parse_comparison(x, evaluate && !is_null(&v));
        if (is_null(&v) || is_null(&b))
            v = of_int(0);
    }
    return v;
}

static Value parse_or(Parser *x, bool evaluate)
{
    deeper(x);
    Value v = parse_and(x, evaluate);
    while (next_is(x, "|")) {
        Value b = parse_and(x, evaluate && is_null(&v));
        if (is_null(&v))
            v = is_null(&b) ? of_int(0) : b;
    }
    x->depth--;
    return v;
}

static int expr_main(Proc *p, Args *args)
{
    Parser x = {p, args->argv + 1, 0};
    if (args->argc == 2 && strcmp(args->argv[1], "--help") == 0) {
        print_help(p, args->command);
        return 0;
    }
    if (args->argc > 1 && strcmp(args->argv[1], "--") == 0)
        x.args++;
    if (!*x.args)
        usage_missing(p, args, NULL);
    Value v = parse_or(&x, true);
    if (*x.args)
        syntax(p, "syntax error: unexpected argument %s", *x.args);
    out_printf(p->out, "%s\n", text(p, &v));
    return is_null(&v);
}

static const Option options[] = {OPTIONS_END};

COMMAND(expr, "expr EXPRESSION", "Print the value of EXPRESSION to standard output.", options, COMMAND_PURE | COMMAND_RAW, .usage_status = 2,
        .notes = "Integers have 64 bits; a result beyond them is an error, where GNU expr goes on with longer ones.");

/* key: -k POS1[,POS2] and the ordering letters. */
#include "sort.h"

bool ordering_letters(Ordering *o, const char *s, const char **end, bool start_blanks, bool end_blanks)
{
    for (; *s; s++) {
        switch (*s) {
        case 'b':
            o->skip_start_blanks |= start_blanks;
            o->skip_end_blanks |= end_blanks;
            break;
        case 'd': o->dictionary = true; break;
        case 'f': o->fold = true; break;
        case 'g': o->general = true; break;
        case 'h': o->human = true; break;
        case 'i': o->printable = true; break;
        case 'M': o->month = true; break;
        case 'n': o->numeric = true; break;
        case 'R': o->random = true; break;
        case 'r': o->reverse = true; break;
        case 'V': o->version = true; break;
        default:
            *end = s;
            return false;
        }
    }
    *end = s;
    return true;
}

bool ordering_is_default(const Ordering *o)
{
    return !(o->skip_start_blanks || o->skip_end_blanks || o->dictionary || o->printable || o->fold || o->numeric || o->general || o->human ||
             o->month || o->version || o->random || o->reverse);
}

void ordering_check(Proc *p, const Ordering *o)
{
    int kinds = o->numeric + o->general + o->human + o->month + (o->version || o->random || o->dictionary || o->printable);
    if (kinds <= 1)
        return;
    char text[16];
    size_t n = 0;
    const struct { bool on; char letter; } letters[] = {
        {o->dictionary, 'd'}, {o->fold, 'f'}, {o->general, 'g'}, {o->human, 'h'}, {o->printable && !o->dictionary, 'i'}, {o->month, 'M'},
        {o->numeric, 'n'}, {o->random, 'R'}, {o->version, 'V'},
    };
    for (size_t i = 0; i < ARRAY_LEN(letters); i++)
        if (letters[i].on)
            text[n++] = letters[i].letter;
    text[n] = 0;
    die(p, 2, "options '-%s' are incompatible", text);
}

static NORETURN void bad_field(Proc *p, const char *text, const char *why) { die(p, 2, "%s: invalid field specification %s", why, quote(p, text)); }

/* A count at *s; too large is as good as endless. False: no digit. */
static bool read_count(const char **s, size_t *v)
{
    bool any = false;
    *v = 0;
    for (; **s >= '0' && **s <= '9'; ++*s, any = true)
        if (__builtin_mul_overflow(*v, 10u, v) || __builtin_add_overflow(*v, (size_t)(**s - '0'), v))
            *v = SIZE_MAX;
    return any;
}

static NORETURN void bad_count(Proc *p, const char *at, const char *where) { die(p, 2, "%s: invalid count at start of %s", where, quote(p, at)); }

Key key_parse(Proc *p, const char *text)
{
    Key k = {.end_field = SIZE_MAX};
    const char *s = text;
    if (!read_count(&s, &k.start_field))
        bad_count(p, s, "invalid number at field start");
    if (k.start_field-- == 0)
        bad_field(p, text, "field number is zero");
    if (*s == '.') {
        s++;
        if (!read_count(&s, &k.start_char))
            bad_count(p, s, "invalid number after '.'");
        if (k.start_char-- == 0)
            bad_field(p, text, "character offset is zero");
    }
    Ordering none = k.order;
    ordering_letters(&k.order, s, &s, true, false);
    if (*s == ',') {
        s++;
        if (!read_count(&s, &k.end_field))
            bad_count(p, s, "invalid number after ','");
        if (k.end_field-- == 0)
            bad_field(p, text, "field number is zero");
        if (*s == '.') {
            s++;
            if (!read_count(&s, &k.end_char))
                bad_count(p, s, "invalid number after '.'");
        }
        ordering_letters(&k.order, s, &s, false, true);
    }
    if (*s)
        bad_field(p, text, "stray character in field spec");
    k.own_ordering = memcmp(&none, &k.order, sizeof none) != 0;
    return k;
}

/* ---------- the old form: +POS1 [-POS2] ---------- */

/* "A.x" with A and x from 0 as the text that -k takes. The letters behind it are kept; NULL: no position. */
static const char *modern_position(Proc *p, const char *text, bool end)
{
    size_t field, offset = 0, letters;
    const char *s = text;
    if (!read_count(&s, &field))
        return NULL;
    if (*s == '.') {
        s++;
        if (!read_count(&s, &offset))
            return NULL;
    }
    letters = strspn(s, "bdfghiMnRrV");
    if (s[letters])
        return NULL;
    field = MIN(field, SIZE_MAX - 1);
    offset = MIN(offset, SIZE_MAX - 1);
    if (end && offset == 0)
        return mem_printf(&p->keep, "%zu%s", MAX(field, (size_t)1), s);
    return mem_printf(&p->keep, "%zu.%zu%s", field + 1, end ? offset : offset + 1, s);
}

/* Whether argv[i] is the argument of the option before it. */
static bool is_value(char **argv, int i)
{
    const char *before = argv[i - 1];
    size_t n = strlen(before);
    return i > 1 && before[0] == '-' && before[1] != '-' && n >= 2 && strchr("koStTy", before[n - 1]);
}

void sort_modern_keys(Proc *p, Args *args)
{
    char **argv = args->argv, **out = mem_array(&p->keep, (size_t)args->argc + 1, char *); /* the shell keeps its own */
    int n = 0, i = 0;
    for (; i < args->argc && strcmp(argv[i], "--") != 0; i++, n++) {
        out[n] = argv[i];
        const char *start = i && argv[i][0] == '+' && !is_value(argv, i) ? modern_position(p, argv[i] + 1, false) : NULL;
        if (!start)
            continue;
        const char *next = i + 1 < args->argc && argv[i + 1][0] == '-' && argv[i + 1][1] >= '0' && argv[i + 1][1] <= '9' ? argv[++i] + 1 : NULL;
        const char *end = next ? modern_position(p, next, true) : NULL;
        if (next && !end)
            bad_field(p, next - 1, "stray character in field spec");
        out[n] = mem_printf(&p->keep, "-k%s%s%s", start, end ? "," : "", end ? end : "");
    }
    for (; i < args->argc; i++, n++)
        out[n] = argv[i];
    args->argc = n;
    out[n] = NULL;
    args->argv = out;
}

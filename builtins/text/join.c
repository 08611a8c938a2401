/* join: join lines of two files on a common field. GNU coreutils 9.1. */
#include "command.h"

enum { CHECK_ORDER = 256, NO_CHECK_ORDER, HEADER };

static const Option options[] = {
    {'a', NULL, OPT_VALUE, "also print unpairable lines from file FILENUM", "FILENUM", 0},
    {'e', NULL, OPT_VALUE, "replace missing input fields with STRING", "STRING", 0},
    {'i', "ignore-case", OPT_FLAG, "ignore differences in case when comparing fields", NULL, 0},
    {'j', NULL, OPT_VALUE, "equivalent to '-1 FIELD -2 FIELD'", "FIELD", 0},
    {'o', NULL, OPT_VALUE, "obey FORMAT while constructing output line", "FORMAT", 0},
    {'t', NULL, OPT_VALUE, "use CHAR as input and output field separator", "CHAR", 0},
    {'v', NULL, OPT_VALUE, "like -a FILENUM, but suppress joined output lines", "FILENUM", 0},
    {'1', NULL, OPT_VALUE, "join on this FIELD of file 1", "FIELD", 0},
    {'2', NULL, OPT_VALUE, "join on this FIELD of file 2", "FIELD", 0},
    {0, "check-order", OPT_FLAG, "check that the input is correctly sorted, even if all input lines are pairable", NULL, CHECK_ORDER},
    {0, "nocheck-order", OPT_FLAG, "do not check that the input is correctly sorted", NULL, NO_CHECK_ORDER},
    {0, "header", OPT_FLAG, "treat the first line in each file as field headers", NULL, HEADER},
    {'z', "zero-terminated", OPT_FLAG, "line delimiter is NUL, not newline", NULL, 0},
    OPTIONS_END,
};

typedef struct { Slice text; Slice *fields; size_t count; } Row;
typedef struct { int file; size_t field; } Column; /* file 0: the join field */
typedef enum { ORDER_DEFAULT, ORDER_CHECK, ORDER_IGNORE } Order;

typedef struct {
    Input in;
    const char *name;
    size_t key;        /* field, from 0; SIZE_MAX: not yet known */
    Row *group;        /* lines of equal key */
    size_t count, cap;
    Row next;          /* the line behind the group */
    bool has_next, complained;
    uint64_t line;
    Mem *mem[2];       /* the group's memory and the next one's, in turn */
} Side;

typedef struct {
    Proc *p;
    Side side[2];
    bool unpaired[2], paired, ignore_case, automatic, unpairable_seen, header;
    Order order;
    const char *empty;
    int tab;           /* -1: blanks; -2: the whole line */
    char end;
    Column *format;
    size_t columns;
    size_t auto_count[2];
} Join;

/* ---------- rows ---------- */

/* A newline too, which a line of -z may hold. */
static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n'; }

static void split_fields(Join *j, Mem *m, Row *r)
{
    Slice s = r->text;
    size_t cap = 2;
    for (size_t i = 0; i < s.len; i++)
        cap += j->tab >= 0 ? s.data[i] == (char)j->tab : is_blank(s.data[i]);
    r->fields = mem_array(m, cap, Slice);
    if (j->tab == -2) {
        r->fields[r->count++] = s;
        return;
    }
    if (j->tab >= 0) {
        if (!s.len)
            return;
        for (size_t n;; s = slice_from(s, n + 1)) {
            n = slice_find(s, (char)j->tab);
            r->fields[r->count++] = slice(s.data, n);
            if (n == s.len)
                return;
        }
    }
    while (s.len && is_blank(*s.data))
        s = slice_from(s, 1);
    while (s.len) {
        size_t n = 0;
        while (n < s.len && !is_blank(s.data[n]))
            n++;
        r->fields[r->count++] = slice(s.data, n);
        if (n == s.len)
            return;
        while (n < s.len && is_blank(s.data[n]))
            n++;
        s = slice_from(s, n);
        if (!s.len) /* blanks at the end are in front of an empty field */
            r->fields[r->count++] = s;
    }
}

static Slice field_of(const Row *r, size_t field) { return field < r->count ? r->fields[field] : (Slice){"", 0}; }

static int compare_keys(const Join *j, Slice a, Slice b)
{
    if (!j->ignore_case)
        return slice_cmp(a, b);
    for (size_t i = 0; i < MIN(a.len, b.len); i++) {
        int x = (unsigned char)a.data[i], y = (unsigned char)b.data[i];
        x -= x >= 'a' && x <= 'z' ? 32 : 0;
        y -= y >= 'a' && y <= 'z' ? 32 : 0;
        if (x != y)
            return x - y;
    }
    return (a.len > b.len) - (a.len < b.len);
}

/* Of the line behind the group, before the group goes: only then is it known whether anything could not be paired. */
static void check_order(Join *j, Side *s)
{
    Slice key = field_of(&s->next, s->key), line = s->next.text;
    bool look = j->order == ORDER_CHECK || (j->order == ORDER_DEFAULT && j->unpairable_seen);
    if (look && !s->complained && compare_keys(j, field_of(&s->group[0], s->key), key) > 0) {
        warn(j->p, "%s:%llu: is not sorted: %.*s", s->name, (unsigned long long)s->line, (int)MIN(line.len, (size_t)INT32_MAX), line.data);
        if (j->order == ORDER_CHECK)
            proc_fail(j->p, 1);
        s->complained = true;
    }
}

static bool read_row(Join *j, Side *s, Mem *m)
{
    Slice line;
    bool ended;
    s->has_next = input_record(&s->in, &line, &ended);
    if (!s->has_next)
        return false;
    proc_tick(j->p, 1 + line.len / 64);
    s->line++;
    s->next = (Row){.text = slice(mem_copy(m, line), line.len)};
    split_fields(j, m, &s->next);
    return true;
}

/* Takes the next line and all that follow with the same key. */
static bool read_group(Join *j, Side *s)
{
    s->count = 0;
    if (!s->has_next)
        return false;
    Mem *m = s->mem[0]; /* holds `next` */
    Slice key = field_of(&s->next, s->key);
    do {
        if (s->count == s->cap) {
            size_t cap = MAX(s->cap * 2, 8);
            s->group = mem_grow(&j->p->keep, s->group, s->cap * sizeof *s->group, cap * sizeof *s->group);
            s->cap = cap;
        }
        s->group[s->count++] = s->next;
    } while (read_row(j, s, m) && compare_keys(j, key, field_of(&s->next, s->key)) == 0);
    return true;
}

/* The group is done with; the line behind it moves to fresh memory. */
static void drop_group(Join *j, Side *s)
{
    if (s->has_next)
        check_order(j, s);
    Mem *old = s->mem[0], *fresh = s->mem[1];
    if (!s->has_next || mem_bytes(old) < 1u << 20)
        return;
    Row moved = {.text = slice(mem_copy(fresh, s->next.text), s->next.text.len), .count = s->next.count};
    moved.fields = mem_array(fresh, MAX(moved.count, 1), Slice);
    for (size_t i = 0; i < moved.count; i++)
        moved.fields[i] = slice(moved.text.data + (s->next.fields[i].data - s->next.text.data), s->next.fields[i].len);
    s->next = moved;
    mem_recycle(old);
    s->mem[0] = fresh;
    s->mem[1] = old;
}

/* ---------- output ---------- */

static char separator(const Join *j) { return j->tab >= 0 ? (char)j->tab : ' '; }

static void put_field(Join *j, const Row *r, size_t field)
{
    Slice s = r ? field_of(r, field) : (Slice){"", 0};
    if (s.len)
        out_write(j->p->out, s);
    else if (j->empty)
        out_str(j->p->out, j->empty);
}

static void put_others(Join *j, const Row *r, int side, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (i != j->side[side].key) {
            out_char(j->p->out, separator(j));
            put_field(j, r, i);
        }
}

static void put_joined(Join *j, const Row *a, const Row *b)
{
    for (size_t i = 0; i < j->columns; i++) {
        const Column *c = &j->format[i];
        if (i)
            out_char(j->p->out, separator(j));
        if (c->file == 0)
            put_field(j, a ? a : b, j->side[a ? 0 : 1].key);
        else
            put_field(j, c->file == 1 ? a : b, c->field);
    }
    if (!j->columns) {
        put_field(j, a ? a : b, j->side[a ? 0 : 1].key);
        if (a || j->automatic)
            put_others(j, a, 0, j->automatic ? j->auto_count[0] : a->count);
        if (b || j->automatic)
            put_others(j, b, 1, j->automatic ? j->auto_count[1] : b->count);
    }
    out_char(j->p->out, j->end);
}

static void put_unpaired(Join *j, int side)
{
    Side *s = &j->side[side];
    for (size_t i = 0; j->unpaired[side] && i < s->count; i++)
        put_joined(j, side == 0 ? &s->group[i] : NULL, side == 1 ? &s->group[i] : NULL);
}

static void join_groups(Join *j)
{
    Side *a = &j->side[0], *b = &j->side[1];
    bool more_a = read_group(j, a), more_b = read_group(j, b);
    while (more_a || more_b) {
        int c = !more_a ? 1 : !more_b ? -1 : compare_keys(j, field_of(&a->group[0], a->key), field_of(&b->group[0], b->key));
        if (c == 0 && a->has_next)
            check_order(j, a);
        if (c == 0 && b->has_next)
            check_order(j, b);
        if (c == 0)
            for (size_t i = 0; j->paired && i < a->count; i++)
                for (size_t k = 0; k < b->count; k++) {
                    put_joined(j, &a->group[i], &b->group[k]);
                    proc_tick(j->p, 1);
                }
        else
            put_unpaired(j, c > 0);
        /* The original goes on line by line: the line behind a group of one is read before the first is known to be unpairable. */
        bool unpairable = c != 0 && more_a && more_b;
        j->unpairable_seen |= unpairable && (c < 0 ? a : b)->count > 1;
        if (c <= 0) {
            drop_group(j, a);
            more_a = read_group(j, a);
        }
        if (c >= 0) {
            drop_group(j, b);
            more_b = read_group(j, b);
        }
        j->unpairable_seen |= unpairable;
    }
}

/* ---------- options ---------- */

static size_t field_number(Join *j, const char *text)
{
    int64_t v;
    int err = parse_int(text, &v);
    if (err == -EINVAL || v < 1)
        die(j->p, 1, "invalid field number: %s", quote(j->p, text));
    return (size_t)v - 1;
}

static void set_key(Join *j, int side, size_t field)
{
    size_t *key = &j->side[side].key;
    if (*key != SIZE_MAX && *key != field)
        die(j->p, 1, "incompatible join fields %zu, %zu", *key + 1, field + 1);
    *key = field;
}

static void add_columns(Join *j, const char *list)
{
    for (const char *s = list; *s;) {
        size_t n = strcspn(s, ", \t");
        char *word = mem_copy(&j->p->mem, slice(s, n));
        Column c = {0, 0};
        if ((*word == '1' || *word == '2') && word[1] == '.') {
            c.file = *word - '0';
            c.field = field_number(j, word + 2);
        } else if (*word == '1' || *word == '2' || (*word == '0' && word[1])) {
            die(j->p, 1, "invalid field specifier: %s", quote(j->p, word));
        } else if (*word != '0') {
            die(j->p, 1, "invalid file number in field spec: %s", quote(j->p, word));
        }
        Column *grown = mem_array(&j->p->keep, j->columns + 1, Column);
        if (j->columns)
            memcpy(grown, j->format, j->columns * sizeof *grown);
        grown[j->columns++] = c;
        j->format = grown;
        s += n + (s[n] != 0);
    }
}

static void set_tab(Join *j, const char *text)
{
    int tab = (unsigned char)text[0];
    if (!text[0])
        tab = -2;
    else if (text[1] && strcmp(text, "\\0") == 0)
        tab = 0;
    else if (text[1])
        die(j->p, 1, "multi-character tab %s", quote(j->p, text));
    if (j->tab != -1 && j->tab != tab)
        die(j->p, 1, "incompatible tabs");
    j->tab = tab;
}

static void set_unpaired(Join *j, const char *text, bool only)
{
    if (strcmp(text, "1") != 0 && strcmp(text, "2") != 0)
        die(j->p, 1, "invalid field number: %s", quote(j->p, text));
    j->unpaired[*text - '1'] = true;
    if (only)
        j->paired = false;
}

static void set_option(Join *j, Args *args, int id)
{
    char *v = args->value;
    switch (id) {
    case 'a': set_unpaired(j, v, false); break;
    case 'v': set_unpaired(j, v, true); break;
    case 'e':
        if (j->empty && strcmp(j->empty, v) != 0)
            die(j->p, 1, "conflicting empty-field replacement strings");
        j->empty = v;
        break;
    case 'i': j->ignore_case = true; break;
    case '1': set_key(j, 0, field_number(j, v)); break;
    case '2': set_key(j, 1, field_number(j, v)); break;
    case 'j': set_key(j, 0, field_number(j, v)); set_key(j, 1, field_number(j, v)); break;
    case 'o':
        if (strcmp(v, "auto") == 0)
            j->automatic = true;
        else
            add_columns(j, v);
        break;
    case 't': set_tab(j, v); break;
    case CHECK_ORDER: j->order = ORDER_CHECK; break;
    case NO_CHECK_ORDER: j->order = ORDER_IGNORE; break;
    case HEADER: j->header = true; break;
    case 'z': j->end = 0; break;
    default: break;
    }
}

static void open_side(Join *j, Side *s, char **name)
{
    s->in = input_files(j->p, name, 1);
    s->in.delimiter = j->end;
    s->name = *name;
    s->mem[0] = proc_mem_new(j->p);
    s->mem[1] = proc_mem_new(j->p);
    if (s->key == SIZE_MAX)
        s->key = 0;
    if (!input_open(&s->in))
        proc_fail(j->p, 1);
}

static void put_headers(Join *j)
{
    Side *a = &j->side[0], *b = &j->side[1];
    if (!a->has_next && !b->has_next)
        return;
    put_joined(j, a->has_next ? &a->next : NULL, b->has_next ? &b->next : NULL);
    for (int i = 0; i < 2; i++)
        if (j->side[i].has_next)
            read_row(j, &j->side[i], j->side[i].mem[0]);
}

static int join_main(Proc *p, Args *args)
{
    Join j = {.p = p, .paired = true, .tab = -1, .end = '\n'};
    j.side[0].key = j.side[1].key = SIZE_MAX;
    for (int id; (id = args_next(p, args)) != -1;)
        set_option(&j, args, id);
    int n;
    char **v = args_operands(args, &n);
    if (n < 2)
        usage_missing(p, args, n ? v[0] : NULL);
    if (n > 2)
        usage_fail(p, args, "extra operand %s", quoteaf(p, v[2]));
    open_side(&j, &j.side[0], v);
    if (strcmp(v[0], "-") == 0 && strcmp(v[1], "-") == 0)
        die_errno(p, 1, ENOENT, "both files cannot be standard input");
    open_side(&j, &j.side[1], v + 1);
    for (int i = 0; i < 2; i++) {
        read_row(&j, &j.side[i], j.side[i].mem[0]);
        j.auto_count[i] = j.side[i].has_next ? j.side[i].next.count : 0;
    }
    if (j.header)
        put_headers(&j);
    join_groups(&j);
    if (j.side[0].complained || j.side[1].complained)
        die(p, 1, "input is not in sorted order");
    return input_status(&j.side[0].in) | input_status(&j.side[1].in);
}

COMMAND(join, "join [OPTION]... FILE1 FILE2", "For each pair of input lines with identical join fields, write a line to standard output.", options, COMMAND_PURE);

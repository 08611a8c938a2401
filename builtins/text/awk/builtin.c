/* awk's functions on strings and numbers. Arguments are borrowed; the result is the caller's. */
#include "awk.h"

#include <stdlib.h>

double awk_power(double a, double b)
{
    if (b == 2)
        return a * a;
    if (b != trunc(b) || fabs(b) > 1024)
        return pow(a, b);
    double r = 1, base = a;
    for (uint64_t n = (uint64_t)fabs(b); n; n >>= 1) {
        if (n & 1)
            r *= base;
        base *= base;
    }
    return b < 0 ? 1 / r : r;
}

/* ---------- strings ---------- */

/* Whether characters are to be told from bytes; says so once when some bytes are none. */
static bool wide_text(Awk *w, String *s)
{
    if (likely(!w->utf8 || string_is_ascii(s)))
        return false;
    if (unlikely(!w->warned_bytes && !utf8_valid(string_slice(s)))) {
        w->warned_bytes = true;
        awk_warning(w, "Invalid multibyte data detected. There may be a mismatch between your data and your locale");
    }
    return true;
}

static size_t chars(Awk *w, String *s) { return wide_text(w, s) ? utf8_count(string_slice(s)) : s->len; }

static Value length_of(Awk *w, const Value *v)
{
    if (v->kind == V_ARRAY)
        return value_num(v->a->live);
    if (v->kind == V_REF) { /* from here on it is no array */
        Value *cell = ref_resolve(w, (Value *)(uintptr_t)v);
        if (cell->kind == V_UNSET)
            cell->cell = 1;
        return value_num(0);
    }
    String *s = value_string(w, v);
    double n = (double)chars(w, s);
    string_release(w, s);
    return value_num(n);
}

static Value index_of(Awk *w, const Value *where, const Value *what)
{
    String *a = value_string(w, where), *b = value_string(w, what);
    double n = 0;
    bool wide = wide_text(w, a);
    wide_text(w, b);
    if (w->ignore_case && b->len) {
        for (size_t i = 0; n == 0 && i + b->len <= a->len; i++)
            if (text_compare(w, slice(a->data + i, b->len), string_slice(b)) == 0)
                n = (double)((wide ? utf8_count(slice(a->data, i)) : i) + 1);
    } else {
        size_t at = slice_search(string_slice(a), string_slice(b));
        if (at != SIZE_MAX)
            n = (double)((wide ? utf8_count(slice(a->data, at)) : at) + 1);
    }
    string_release(w, a);
    string_release(w, b);
    return value_num(n);
}

static Value substr(Awk *w, const Value *args, uint32_t count)
{
    String *s = value_string(w, &args[0]);
    double from = trunc(value_number(w, &args[1])), most = count > 2 ? trunc(value_number(w, &args[2])) : INFINITY;
    bool wide = most >= 1 && s->len && wide_text(w, s);
    size_t n = wide ? utf8_count(string_slice(s)) : s->len;
    Value r;
    if (!(from >= 1))
        from = 1;
    if (!(most >= 1) || from > (double)n) {
        r = value_str(string_ref(w->empty));
    } else {
        size_t first = (size_t)from - 1, len = most > (double)(n - first) ? n - first : (size_t)most;
        if (wide) {
            size_t at = utf8_offset(string_slice(s), first);
            len = utf8_offset(slice_from(string_slice(s), at), len);
            first = at;
        }
        r = len == s->len ? value_str(string_ref(s)) : value_plain(w, slice(s->data + first, len));
    }
    string_release(w, s);
    return r;
}

static Value change_case(Awk *w, const Value *v, bool upper)
{
    String *s = value_string(w, v);
    if (!wide_text(w, s)) {
        String *r = string_alloc(w, s->len);
        char low = upper ? 'a' : 'A', high = upper ? 'z' : 'Z';
        for (size_t i = 0; i < s->len; i++)
            r->data[i] = s->data[i] >= low && s->data[i] <= high ? (char)(s->data[i] ^ 32) : s->data[i];
        string_release(w, s);
        return value_str(r);
    }
    Buf *b = &w->work;
    buf_clear(b);
    for (size_t i = 0, n; i < s->len; i += n) {
        uint32_t c = utf8_decode(s->data + i, s->len - i, &n);
        char room[6];
        if (c == UTF8_BAD)
            buf_append(b, SLICE("\xEF\xBF\xBD"));
        else
            buf_append(b, slice(room, utf8_encode(upper ? char_upper(c) : char_lower(c), room)));
    }
    string_release(w, s);
    return value_plain(w, buf_slice(b));
}

static Value split_function(Awk *w, Value *args, uint32_t count)
{
    String *s = value_string(w, &args[0]);
    Splitter how;
    if (count > 2) {
        how = splitter_of(w, &args[2]);
    } else {
        how = w->splitter;
        if (how.kind == SPLIT_FPAT || how.kind == SPLIT_WIDTHS || how.kind == SPLIT_CSV) {
            Value fs = value_str(w->fs);
            how = splitter_of(w, &fs);
        }
        if (how.newline_too && how.kind == SPLIT_CHAR)
            how.newline_too = false;
    }
    Array *seps = count > 3 ? args[3].a : NULL;
    if (seps == args[1].a)
        awk_fatal(w, "split: cannot use the same array for second and fourth args");
    size_t n = split_into(w, string_slice(s), string_is_ascii(s) ? TEXT_ASCII : TEXT_MIXED, &how, args[1].a, seps);
    string_release(w, s);
    return value_num((double)n);
}

static Value patsplit_function(Awk *w, Value *args, uint32_t count)
{
    String *s = value_string(w, &args[0]);
    Value *fpat = &w->globals[G_FPAT];
    Array *seps = count > 3 ? args[3].a : NULL;
    if (seps == args[1].a)
        awk_fatal(w, "patsplit: cannot use the same array for second and fourth args");
    size_t n = patsplit_into(w, string_slice(s), rx_of(w, count > 2 ? &args[2] : fpat), args[1].a, seps);
    string_release(w, s);
    return value_num((double)n);
}

/* ---------- match ---------- */

static void set_group(Awk *w, Array *a, size_t i, const char *what, Value v)
{
    Buf *b = &w->work;
    buf_clear(b);
    buf_printf(b, "%zu", i);
    if (what) {
        buf_append(b, string_slice(w->subsep));
        buf_append(b, slice_str(what));
    }
    Value key = value_plain(w, buf_slice(b));
    table_set(w, a, &key, v);
    value_release(w, &key);
}

static void set_groups(Awk *w, Array *a, String *s, const ReSpan *spans, size_t n)
{
    bool wide = w->utf8 && !string_is_ascii(s);
    for (size_t i = 0; i < n; i++) {
        if (spans[i].start == RE_UNSET)
            continue;
        Slice text = slice(s->data + spans[i].start, spans[i].end - spans[i].start);
        size_t before = wide ? utf8_count(slice(s->data, spans[i].start)) : spans[i].start;
        set_group(w, a, i, NULL, value_input(w, text));
        set_group(w, a, i, "start", value_num((double)before + 1));
        set_group(w, a, i, "length", value_num((double)(wide ? utf8_count(text) : text.len)));
    }
}

static Value match_function(Awk *w, Value *args, uint32_t count)
{
    String *s = value_string(w, &args[0]);
    Rx *rx = rx_of(w, &args[1]);
    MemMark mark = mem_mark(&w->p->mem);
    size_t n = 1;
    ReError error = {0};
    if (count > 2) {
        Re *re = rx_compiled(w, rx, true, &error);
        n = re ? re_groups(re) + 1 : 1;
        table_clear(w, args[2].a);
    }
    ReSpan *spans = mem_array(&w->p->mem, n + 1, ReSpan);
    bool wide = w->utf8 && !string_is_ascii(s), found = rx_search(w, rx, string_slice(s), TEXT_UNKNOWN, 0, false, spans, count > 2 ? n + (n == 1) : 1);
    double start = 0, len = -1;
    wide = wide && found && wide_text(w, s);
    if (found) {
        Slice text = slice(s->data + spans[0].start, spans[0].end - spans[0].start);
        start = (double)((wide ? utf8_count(slice(s->data, spans[0].start)) : spans[0].start) + 1);
        len = (double)(wide ? utf8_count(text) : text.len);
        if (count > 2)
            set_groups(w, args[2].a, s, spans, n);
    }
    mem_reset(&w->p->mem, mark);
    string_release(w, s);
    global_set(w, G_RSTART, value_num(start));
    global_set(w, G_RLENGTH, value_num(len));
    return value_num(start);
}

/* ---------- numbers ---------- */

static Value math(Awk *w, unsigned id, const Value *args)
{
    double x = value_number(w, &args[0]), r;
    switch (id) {
    case B_ATAN2: return value_num(atan2(x, value_number(w, &args[1])));
    case B_COS: return value_num(cos(x));
    case B_SIN: return value_num(sin(x));
    case B_INT: return value_num(trunc(x));
    case B_EXP:
        r = exp(x);
        if (isinf(r) && !isinf(x))
            awk_warning(w, "exp: argument %g is out of range", x);
        return value_num(r);
    case B_LOG:
        if (x < 0)
            awk_warning(w, "log: received negative argument %g", x);
        r = log(x);
        return value_num(isnan(r) && !isnan(x) ? -fabs(r) : r);
    default:
        if (x < 0)
            awk_warning(w, "sqrt: received negative argument %g", x);
        return value_num(sqrt(x));
    }
}

static uint64_t bits_of(Awk *w, const char *name, const Value *args, uint32_t i)
{
    double n = value_number(w, &args[i]);
    if (n < 0)
        awk_fatal(w, "%s: argument %u negative value %g is not allowed", name, i + 1, n);
    return n < 18446744073709551616.0 ? (uint64_t)n : 0; /* what does not fit loses all its bits */
}

/* As many bits as a double holds: the low ones, counted from the lowest that is set. */
static Value whole(uint64_t n)
{
    if (n >> 53) {
        unsigned keep = 53 + (unsigned)__builtin_ctzll(n);
        if (keep < 64)
            n &= ((uint64_t)1 << keep) - 1;
    }
    return value_num((double)n);
}

static Value bitwise(Awk *w, unsigned id, const Value *args, uint32_t count)
{
    const char *name = builtin_info[id].name;
    uint64_t r = bits_of(w, name, args, 0);
    if (id == B_COMPL)
        return whole(~r);
    if (id == B_LSHIFT || id == B_RSHIFT) {
        uint64_t by = bits_of(w, name, args, 1);
        r = by > 63 ? 0 : id == B_LSHIFT ? r << by : r >> by;
        return whole(r);
    }
    for (uint32_t i = 1; i < count; i++) {
        uint64_t n = bits_of(w, name, args, i);
        r = id == B_AND ? r & n : id == B_OR ? r | n : r ^ n;
    }
    return whole(r);
}

static Value strtonum(Awk *w, const Value *v)
{
    if (v->kind == V_NUM || v->kind == V_UNSET || (v->kind == V_INPUT && value_looks_numeric(w, v)))
        return value_num(value_number(w, v)); /* also of input that is a number: its zeros in front are no base */
    String *s = value_string(w, v);
    double n = text_based_number(w, string_slice(s));
    string_release(w, s);
    return value_num(n);
}

/* ---------- the generator: BSD's random(), 63 words of state, its numbers drawn through a table as gawk does ---------- */

enum { DEGREE = 63, SEPARATION = 1 };

static uint32_t random_raw(Awk *w)
{
    uint32_t sum = (uint32_t)w->random_state[w->random_front] + (uint32_t)w->random_state[w->random_rear];
    w->random_state[w->random_front] = (int32_t)sum;
    w->random_front = (w->random_front + 1) % DEGREE;
    w->random_rear = (w->random_rear + 1) % DEGREE;
    return sum >> 1;
}

static uint32_t random_bits(Awk *w)
{
    uint32_t *slot = &w->random_table[w->random_last % ARRAY_LEN(w->random_table)];
    w->random_last = *slot;
    *slot = random_raw(w);
    return w->random_last;
}

void random_seed(Awk *w, uint32_t seed)
{
    w->random_state[0] = (int32_t)seed;
    for (unsigned i = 1; i < DEGREE; i++) {
        int64_t x = w->random_state[i - 1];
        if (x == 0)
            x = 123459876;
        x = 16807 * (x % 127773) - 2836 * (x / 127773);
        w->random_state[i] = (int32_t)(x < 0 ? x + 0x7fffffff : x);
    }
    w->random_front = SEPARATION;
    w->random_rear = 0;
    for (unsigned i = 0; i < ARRAY_LEN(w->random_table); i++)
        w->random_table[i] = random_raw(w);
    w->random_last = random_raw(w);
    for (unsigned i = 0; i < 10 * DEGREE; i++)
        random_bits(w);
    w->random_ready = true;
}

double random_next(Awk *w)
{
    if (!w->random_ready)
        random_seed(w, 1);
    double r;
    do {
        double low = (double)random_bits(w), high = (double)random_bits(w);
        r = 0.5 + (low / 2147483648.0 + high) / 2147483648.0;
        r -= 0.5;
    } while (r == 1.0);
    return r;
}

static Value srand_function(Awk *w, const Value *args, uint32_t count)
{
    double before = w->seed, n = count ? value_number(w, &args[0]) : (double)proc_now(w->p, NULL);
    w->seed = n;
    random_seed(w, (uint32_t)(int64_t)(n > -9e18 && n < 9e18 ? n : 0));
    return value_num(before);
}

/* ---------- the rest ---------- */

static const char *type_name(Awk *w, Value *v)
{
    switch (v->kind) {
    case V_NUM: return "number";
    case V_STR: return "string";
    case V_INPUT: return v->cell == CELL_NUMBER ? "number" : value_looks_numeric(w, v) ? "strnum" : "string";
    case V_REGEX: return "regexp";
    case V_ARRAY: return "array";
    case V_REF: {
        Value *cell = ref_resolve(w, v);
        return cell->kind == V_ARRAY ? "array" : cell->kind == V_UNSET && cell->cell ? "unassigned" : "untyped";
    }
    default: return v->cell ? "unassigned" : "untyped";
    }
}

static Value flush_function(Awk *w, const Value *args, uint32_t count)
{
    if (!count) {
        redirect_flush_all(w);
        return value_num(0);
    }
    String *s = value_string(w, &args[0]);
    bool found = true;
    if (!s->len)
        redirect_flush_all(w);
    else if (string_slice(s).len && (slice_is(string_slice(s), "/dev/stdout") || slice_is(string_slice(s), "/dev/stderr")))
        output_flush(&w->standard);
    else
        found = redirect_flush(w, string_slice(s));
    if (!found)
        awk_warning(w, "fflush: `%s' is not an open file, pipe or co-process", s->data);
    string_release(w, s);
    return value_num(found ? 0 : -1);
}

static Value close_function(Awk *w, const Value *args, uint32_t count)
{
    String *s = value_string(w, &args[0]), *how = count > 1 ? value_string(w, &args[1]) : NULL;
    if (how && !slice_is(string_slice(how), "to") && !slice_is(string_slice(how), "from"))
        awk_fatal(w, "close: second argument must be `to' or `from'");
    int r = redirect_close(w, string_slice(s), how ? how->data : NULL);
    if (r < 0)
        set_errno_text(w, "close of redirection that was never opened");
    string_release(w, s);
    if (how)
        string_release(w, how);
    return value_num(r);
}

static Value sprintf_function(Awk *w, const Value *args, uint32_t count)
{
    Buf *b = &w->work;
    buf_clear(b);
    format_values(w, b, args, count);
    return value_plain(w, b->len ? buf_slice(b) : SLICE(""));
}

static Value system_function(Awk *w, const Value *v)
{
    if (w->sandbox)
        awk_fatal(w, "'system' function not allowed in sandbox mode");
    String *s = value_string(w, v);
    double r = run_system(w, s);
    string_release(w, s);
    return value_num(r);
}

static Value gensub_function(Awk *w, const Value *args, uint32_t count)
{
    Value whole = count > 3 ? value_copy(&args[3]) : record_value(w);
    String *target = value_string(w, &whole), *r = gensub(w, &args[0], &args[1], &args[2], target);
    bool unchanged = r == target && whole.kind == V_INPUT && whole.cell != CELL_NUMBER && target->looks == LOOKS_UNKNOWN; /* input that nobody has looked at stays input */
    Value result = value_str(r);
    if (unchanged) {
        result.kind = V_INPUT;
        result.cell = whole.cell;
    }
    string_release(w, target);
    value_release(w, &whole);
    return result;
}

/* Which functions take an array there. */
static bool array_taken(unsigned id, uint32_t i)
{
    switch (id) {
    case B_LENGTH: case B_TYPEOF: case B_ISARRAY: return i == 0;
    case B_SPLIT: case B_PATSPLIT: return i == 1 || i == 3;
    case B_MATCH: return i == 2;
    case B_ASORT: case B_ASORTI: return i < 2;
    default: return false;
    }
}

Value builtin_call(Awk *w, unsigned id, Value *args, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (args[i].kind == V_ARRAY && !array_taken(id, i))
            awk_fatal(w, "%s: received array as argument %u", builtin_info[id].name, i + 1);
    switch (id) {
    case B_LENGTH: return length_of(w, &args[0]);
    case B_SUBSTR: return substr(w, args, count);
    case B_INDEX: return index_of(w, &args[0], &args[1]);
    case B_SPLIT: return split_function(w, args, count);
    case B_PATSPLIT: return patsplit_function(w, args, count);
    case B_MATCH: return match_function(w, args, count);
    case B_GENSUB: return gensub_function(w, args, count);
    case B_SPRINTF: return sprintf_function(w, args, count);
    case B_TOLOWER: return change_case(w, &args[0], false);
    case B_TOUPPER: return change_case(w, &args[0], true);
    case B_ATAN2: case B_COS: case B_SIN: case B_EXP: case B_LOG: case B_SQRT: case B_INT: return math(w, id, args);
    case B_AND: case B_OR: case B_XOR: case B_COMPL: case B_LSHIFT: case B_RSHIFT: return bitwise(w, id, args, count);
    case B_STRTONUM: return strtonum(w, &args[0]);
    case B_RAND: return value_num(random_next(w));
    case B_SRAND: return srand_function(w, args, count);
    case B_SYSTEM: return system_function(w, &args[0]);
    case B_CLOSE: return close_function(w, args, count);
    case B_FFLUSH: return flush_function(w, args, count);
    case B_TYPEOF: return value_plain(w, slice_str(type_name(w, &args[0])));
    case B_ISARRAY: return value_num(args[0].kind == V_ARRAY);
    case B_MKBOOL: return value_num(value_truth(w, &args[0]));
    case B_ASORT: case B_ASORTI: return sort_function(w, id == B_ASORTI, args, count);
    case B_STRFTIME: case B_MKTIME: case B_SYSTIME: return time_function(w, id, args, count);
    case B_DCNGETTEXT: return value_copy(&args[count > 2 && value_number(w, &args[2]) == 1 ? 0 : MIN(1u, count - 1)]);
    case B_DCGETTEXT: return value_copy(&args[0]);
    default: return value_plain(w, SLICE(""));
    }
}

/* native_regex: match, test and what the library builds on them. Oniguruma's Perl_NT syntax, as far as PCRE2 has it. */
#include "machine.h"

enum { FLAG_GLOBAL = 1, FLAG_NOT_EMPTY = 2, FLAG_LONGEST = 32 };

typedef struct Pattern {
    JStr *text;     /* as the program wrote it; held */
    unsigned flags; /* of the prefix that was compiled in */
    Re *re;
    size_t groups;
    Slice *names;   /* of groups 1..; data NULL: none */
} Pattern;

static Val with(J *j, Val *a, unsigned n, Val out)
{
    for (unsigned i = 0; i < n; i++)
        val_free(j, a[i]);
    return out;
}

/* The names of capturing groups in order. */
static size_t group_names(Mem *mem, Slice s, Slice **names)
{
    size_t n = 0, cap = 8;
    Slice *list = mem_array(mem, cap, Slice);
    for (size_t i = 0; i < s.len; i++) {
        if (s.data[i] == '\\') {
            i++;
        } else if (s.data[i] == '[') {
            for (i += 2; i < s.len && s.data[i] != ']'; i++)
                i += s.data[i] == '\\';
        } else if (s.data[i] == '(') {
            Slice rest = slice_from(s, i + 1), name = {NULL, 0};
            if (rest.len && rest.data[0] == '?') {
                bool named = rest.len > 2 && rest.data[1] == '<' && rest.data[2] != '=' && rest.data[2] != '!';
                if (!named)
                    continue;
                name = slice_from(rest, 2);
                name.len = slice_find(name, '>');
            }
            if (n == cap) {
                list = mem_grow(mem, list, cap * sizeof *list, cap * 2 * sizeof *list);
                cap *= 2;
            }
            list[n++] = name;
        }
    }
    *names = list;
    return n;
}

/* Oniguruma's words for what people get wrong. */
static const char *failure(const char *pcre)
{
    static const struct { const char *part, *says; } known[] = {
        {"missing closing parenthesis", "end pattern with unmatched parenthesis"},
        {"unmatched closing parenthesis", "unmatched close parenthesis"},
        {"missing terminating ]", "premature end of char-class"},
        {"quantifier does not follow", "target of repeat operator is not specified"},
        {"\\ at end of pattern", "end pattern at escape"},
        {"range out of order in character class", "empty range in char class"},
        {"reference to non-existent", "invalid backref number/name"},
        {"numbers out of order in {}", "upper is smaller than lower in repeat range"},
        {"number too big in {}", "too big number for repeat range"},
        {"lookbehind assertion is not fixed length", "invalid pattern in look-behind"},
        {"unrecognized character after (?", "undefined group option"},
        {"subpattern name expected", "group name is empty"},
    };
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (strstr(pcre, known[i].part))
            return known[i].says;
    return pcre;
}

/* PCRE2's spelling: options in front, \h, which means an h here, and \w, which has marks and all connectors. */
static Slice translate(Mem *mem, Slice text, const char *options)
{
    Buf b;
    bool classes = false;
    buf_init(&b, mem, BUF_MAX);
    for (size_t i = 0; i + 1 < text.len; i++)
        classes = classes || (text.data[i] == '\\' && strchr("wWdDsSbB", text.data[i + 1])) || (text.data[i] == '[' && text.data[i + 1] == ':');
    if (classes)
        buf_append(&b, SLICE("(*UCP)"));
    if (*options)
        buf_printf(&b, "(?%s)", options);
    bool class = false;
    for (size_t i = 0; i < text.len; i++) {
        bool escape = text.data[i] == '\\' && i + 1 < text.len;
        if (escape && (text.data[i + 1] == 'w' || (text.data[i + 1] == 'W' && !class))) {
            i++;
            buf_printf(&b, class ? "\\p{L}\\p{M}\\p{N}\\p{Pc}" : "[%s\\p{L}\\p{M}\\p{N}\\p{Pc}]", text.data[i] == 'W' ? "^" : "");
            continue;
        }
        if (!escape)
            class = class ? text.data[i] != ']' : text.data[i] == '[';
        if (escape && (text.data[i + 1] == 'h' || text.data[i + 1] == 'H')) {
            buf_char(&b, text.data[++i]);
            continue;
        }
        buf_char(&b, text.data[i]);
        if (escape)
            buf_char(&b, text.data[++i]);
    }
    buf_char(&b, 0);
    return (Slice){b.data, b.len - 1};
}

static Pattern *compile_pattern(J *j, JStr *text, unsigned flags)
{
    Pattern *cached = j->pattern;
    if (cached && cached->text == text && cached->flags == flags)
        return cached;
    Mem *mem = &j->proc->keep;
    MemMark mark = mem_mark(&j->proc->mem);
    ReError error = {0};
    char options[8] = {'J'};
    size_t n = 1;
    if (flags & 4)
        options[n++] = 'i';
    if (flags & 8)
        options[n++] = 'x';
    if (flags & 16)
        options[n++] = 's';
    bool named = slice_search(js_slice(text), SLICE("(?<")) != SIZE_MAX;
    Slice source = translate(&j->proc->mem, js_slice(text), named || n == 1 ? (named ? options : "") : options + 1);
    Re *re = proc_regex(j->proc, source, RE_PCRE, 0, &error);
    if (!re) {
        jq_error(j, "Regex failure: %s", failure(error.message ? error.message : "memory exhausted"));
        mem_reset(&j->proc->mem, mark);
        return NULL;
    }
    if (!cached)
        j->pattern = cached = mem_new(mem, Pattern);
    else
        val_free(j, val_str(cached->text));
    text->refs++;
    *cached = (Pattern){.text = text, .flags = flags, .re = re, .groups = re_groups(re)};
    if (named)
        cached->groups = MIN(cached->groups, group_names(mem, js_slice(text), &cached->names));
    mem_reset(&j->proc->mem, mark);
    return cached;
}

/* The modifiers: bits 0.. for us, 4.. for the pattern's prefix; false: error set. */
static bool read_flags(J *j, Val mode, unsigned *flags)
{
    *flags = 0;
    if (mode.kind == K_NULL)
        return true;
    if (mode.kind != K_STRING) {
        jq_error_one(j, val_copy(mode), "is not a string");
        return false;
    }
    static const struct { char letter; unsigned flag; } letters[] = {
        {'g', FLAG_GLOBAL}, {'n', FLAG_NOT_EMPTY}, {'i', 4}, {'x', 8}, {'p', 16}, {'s', 0}, {'l', FLAG_LONGEST},
    };
    for (size_t i = 0; i < mode.str->len; i++) {
        size_t k = 0;
        while (k < ARRAY_LEN(letters) && letters[k].letter != mode.str->data[i])
            k++;
        if (k == ARRAY_LEN(letters)) {
            jq_error(j, "%s is not a valid modifier string", mode.str->data);
            return false;
        }
        *flags |= letters[k].flag;
    }
    return true;
}

/* Counts code points forward through the subject. */
typedef struct {
    Slice subject;
    bool ascii;
    size_t at, chars;
} Counter;

static double chars_at(Counter *c, size_t byte)
{
    if (c->ascii)
        return (double)byte;
    if (byte < c->at)
        c->at = c->chars = 0;
    c->chars += utf8_count((Slice){c->subject.data + c->at, byte - c->at});
    c->at = byte;
    return (double)c->chars;
}

static Val span_value(J *j, Counter *c, ReSpan span, Val o)
{
    Slice text = {c->subject.data + span.start, span.end - span.start};
    double offset = chars_at(c, span.start), length = c->ascii ? (double)text.len : (double)utf8_count(text);
    o = obj_set_text(j, o, "offset", val_num(offset));
    o = obj_set_text(j, o, "length", val_num(length));
    return obj_set_text(j, o, "string", val_string(j, text));
}

static Val unset_value(J *j, Val o)
{
    o = obj_set_text(j, o, "offset", val_num(-1));
    o = obj_set_text(j, o, "string", VAL_NULL);
    return obj_set_text(j, o, "length", val_num(0));
}

static Val match_value(J *j, const Pattern *p, Counter *c, const ReSpan *spans)
{
    Val captures = arr_new(j, p->groups), m = span_value(j, c, spans[0], obj_new(j, 4));
    for (size_t i = 1; i <= p->groups; i++) {
        Val g = obj_new(j, 4);
        g = spans[i].start == RE_UNSET ? unset_value(j, g) : span_value(j, c, spans[i], g);
        bool named = p->names && p->names[i - 1].data;
        captures = arr_push(j, captures, obj_set_text(j, g, "name", named ? val_string(j, p->names[i - 1]) : VAL_NULL));
    }
    return obj_set_text(j, m, "captures", captures);
}

static size_t next_char(Slice s, size_t at)
{
    size_t n = 1;
    if (at < s.len)
        utf8_decode(s.data + at, s.len - at, &n);
    return at + n;
}

/* The first match at or after `at`, or, for the flag l, the longest of those that begin anywhere behind it. */
static ReResult search(J *j, const Pattern *p, const ReEnv *env, const Counter *c, size_t at, unsigned flags, ReSpan *spans, size_t nspans)
{
    MemMark mark = mem_mark(&j->proc->mem);
    ReResult r = re_search(env, p->re, c->subject, at, false, spans, nspans);
    size_t room = nspans * sizeof(ReSpan);
    ReSpan *other = flags & FLAG_LONGEST ? mem_alloc(&j->proc->mem, room) : NULL;
    for (size_t from = spans[0].start; other && r == RE_MATCHED && from < c->subject.len;) {
        MemMark inner = mem_mark(&j->proc->mem);
        ReResult more = re_search(env, p->re, c->subject, next_char(c->subject, from), false, other, nspans);
        mem_reset(&j->proc->mem, inner);
        proc_tick(j->proc, 1);
        if (more != RE_MATCHED) {
            r = more < 0 ? more : r;
            break;
        }
        from = other[0].start;
        if (other[0].end - from > spans[0].end - spans[0].start)
            memcpy(spans, other, room);
    }
    mem_reset(&j->proc->mem, mark);
    return r;
}

static Val matches(J *j, const Pattern *p, Val subject, unsigned flags, bool test)
{
    Counter c = {.subject = val_slice(subject), .ascii = str_length(subject.str) == subject.str->len};
    ReEnv env = proc_re_env(j->proc);
    env.text = c.ascii ? TEXT_ASCII : TEXT_MIXED;
    size_t room = (p->groups + 1) * sizeof(ReSpan);
    ReSpan *spans = jmem(j, room);
    Val out = test ? VAL_FALSE : arr_new(j, 0);
    for (size_t at = 0; at <= c.subject.len;) {
        ReResult r = search(j, p, &env, &c, at, flags, spans, test ? 1 : p->groups + 1);
        if (r < 0)
            jq_error(j, "Regex failure: %s", r == RE_ERR_LIMIT ? "match-stack limit over" : "memory exhausted");
        if (r != RE_MATCHED)
            break;
        bool empty = spans[0].start == spans[0].end;
        at = empty ? next_char(c.subject, spans[0].end) : spans[0].end;
        if (empty && (flags & FLAG_NOT_EMPTY))
            continue;
        if (test) {
            out = VAL_TRUE;
            break;
        }
        out = arr_push(j, out, match_value(j, p, &c, spans));
        if (!(flags & FLAG_GLOBAL))
            break;
    }
    jmem_give(j, spans, room);
    if (!j->raising)
        return out;
    val_free(j, out);
    return VAL_INVALID;
}

static Val match_impl(J *j, Val subject, Val re, Val mode, bool test)
{
    unsigned flags;
    if (subject.kind != K_STRING)
        return jq_error_one(j, val_copy(subject), "cannot be matched, as it is not a string");
    if (re.kind != K_STRING)
        return jq_error_one(j, val_copy(re), "is not a string");
    if (!read_flags(j, mode, &flags))
        return VAL_INVALID;
    Pattern *p = compile_pattern(j, re.str, flags & 28);
    return p ? matches(j, p, subject, flags, test) : VAL_INVALID;
}

static Val fn_match_impl(J *j, Val *a) { return with(j, a, 4, match_impl(j, a[0], a[1], a[2], val_truthy(a[3]))); }

/* test(re), test([re, flags]) */
static Val fn_test(J *j, Val *a)
{
    Val re = a[1], mode = VAL_NULL;
    if (re.kind == K_ARRAY && arr_len(re)) {
        mode = arr_len(re) > 1 ? re.arr->items[1] : VAL_NULL;
        re = re.arr->items[0];
    } else if (re.kind != K_STRING) {
        return with(j, a, 2, jq_error(j, "%s not a string or array", kind_name(re)));
    }
    return with(j, a, 2, match_impl(j, a[0], re, mode, true));
}

const Native jq_natives_regex[] = {{"_match_impl", 4, fn_match_impl}, {"test", 2, fn_test}, {NULL, 0, NULL}};

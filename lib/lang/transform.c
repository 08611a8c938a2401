/* transform: ${v@Q} and its kin, and the escapes of prompt strings. */
#include "interp.h"

Slice transform_text(Interp *in, char op, Slice text)
{
    Buf b;
    buf_init(&b, mem_of(in), BUF_MAX);
    buf_reserve(&b, text.len + 8);
    switch (op) {
    case 'Q': case 'K': case 'k': quote_in(in, &b, text, quote_reusable); break;
    case 'E': unescape(&b, text, ESCAPE_DOLLAR); break;
    case 'P': return prompt_expand(in, text);
    case 'U': return upper_lower(mem_of(in), text, 'U');
    case 'L': return upper_lower(mem_of(in), text, 'L');
    case 'u': {
        size_t n = 0;
        if (text.len)
            utf8_decode(text.data, text.len, &n);
        buf_append(&b, upper_lower(mem_of(in), slice(text.data, n), 'U'));
        buf_append(&b, slice_from(text, n));
        break;
    }
    default: return text;
    }
    return buf_slice(&b);
}

/* Attributes that `declare` would be told. */
static Slice letters_of(Interp *in, const Var *v) { return v ? attr_letters(mem_of(in), v->attrs) : SLICE(""); }

/* Elements go by their array's name. */
static Slice array_name(Slice name) { return slice(name.data, slice_find(name, '[')); }

/* Nothing for a positional parameter: it is no variable. */
static Slice assignment_text(Interp *in, const Var *v, Slice name, Slice text)
{
    if (!v)
        return SLICE("");
    Buf b;
    buf_init(&b, mem_of(in), BUF_MAX);
    Slice letters = letters_of(in, v);
    if (letters.len) {
        buf_append(&b, SLICE("declare -"));
        buf_append(&b, letters);
        buf_char(&b, ' ');
    }
    buf_append(&b, name);
    buf_char(&b, '=');
    quote_in(in, &b, text, quote_reusable);
    return buf_slice(&b);
}

/* `declare -a name` of what has no value. */
static Slice declaration_text(Interp *in, const Var *v, Slice name)
{
    Slice letters = letters_of(in, v);
    if (!letters.len)
        return SLICE("");
    return slice_str(mem_printf(mem_of(in), "declare -%.*s %.*s", (int)letters.len, letters.data, (int)name.len, name.data));
}

Slice transform(Interp *in, const Param *p, const Var *v, Slice name, Slice text, bool set)
{
    (void)set;
    char op = (char)p->op;
    if (op == 'A')
        return assignment_text(in, v, array_name(name), text);
    if (op == 'a')
        return letters_of(in, v);
    return transform_text(in, op, text);
}

/* key "value" pairs: one text for @K, separate words for @k. */
static void key_values(Interp *in, const Var *v, bool words, Slice **items, size_t *count)
{
    size_t n;
    Element *e = var_elements(in, v, &n);
    Slice *out = mem_array(mem_of(in), 2 * n + 1, Slice);
    Buf b;
    buf_init(&b, mem_of(in), BUF_MAX);
    buf_reserve(&b, 8);
    for (size_t i = 0; i < n; i++) {
        out[2 * i] = e[i].key;
        out[2 * i + 1] = e[i].text;
        if (b.len)
            buf_char(&b, ' ');
        quote_in(in, &b, e[i].key, quote_key);
        buf_char(&b, ' ');
        quote_in(in, &b, e[i].text, quote_double);
    }
    if (n && v->value.kind == VALUE_ASSOC)
        buf_char(&b, ' ');
    if (!words)
        out[0] = buf_slice(&b);
    *items = out;
    *count = words ? 2 * n : n > 0;
}

static Slice whole_assignment(Interp *in, const Var *v, Slice name)
{
    Buf b;
    buf_init(&b, mem_of(in), BUF_MAX);
    Slice letters = letters_of(in, v);
    buf_append(&b, SLICE("declare -"));
    buf_append(&b, letters.len ? letters : SLICE("-"));
    buf_char(&b, ' ');
    buf_append(&b, name);
    buf_char(&b, '=');
    print_compound(in, v, &b);
    return buf_slice(&b);
}

/* `set -- 'a' 'b c'` for ${@@A}. */
static Slice set_command(Interp *in, const Slice *items, size_t count)
{
    Buf b;
    buf_init(&b, mem_of(in), BUF_MAX);
    buf_append(&b, SLICE("set --"));
    for (size_t i = 0; i < count; i++) {
        buf_char(&b, ' ');
        quote_in(in, &b, items[i], quote_reusable);
    }
    return buf_slice(&b);
}

/* Where an unquoted blank would split, "${a[@]@A}" is a word for each part: declare, its letters, and the assignment. */
static void split_declaration(Interp *in, const Param *p, Slice text, const Slice *arguments, size_t nargs, Slice **items, size_t *count)
{
    Slice ifs;
    Name name = name_of(SLICE("IFS"));
    bool at = p->index_kind == INDEX_AT || p->var == VAR_AT;
    if (!at || (lang_get(in, &name, &ifs) && ifs.len && !memchr(ifs.data, ' ', ifs.len)))
        return;
    Slice *out = mem_array(mem_of(in), nargs + 3, Slice);
    size_t n = 0;
    for (; n < 2 && slice_find(text, ' ') < text.len; n++) {
        size_t blank = slice_find(text, ' ');
        out[n] = slice(text.data, blank);
        text = slice_from(text, blank + 1);
    }
    if (!arguments)
        out[n++] = text;
    for (size_t i = 0; i < nargs; i++) {
        Buf b;
        buf_init(&b, mem_of(in), BUF_MAX);
        quote_in(in, &b, arguments[i], quote_reusable);
        out[n++] = buf_slice(&b);
    }
    *items = out;
    *count = n;
}

bool transform_whole(Interp *in, const Param *p, bool list, const Var *v, Slice name, bool set, Slice **items, size_t *count, Slice *text)
{
    char op = (char)p->op;
    if (!list) {
        if (!set && v && (op == 'a' || op == 'A'))
            *text = op == 'a' ? letters_of(in, v) : declaration_text(in, v, array_name(name));
        return !set;
    }
    if (op == 'a' && v && (v->value.kind < VALUE_ARRAY || (!set && v->attrs & ATTR_INVISIBLE))) {
        *items = mem_new(mem_of(in), Slice);
        **items = letters_of(in, v);
        *count = (*items)->len > 0;
        return true;
    }
    if (op == 'A') {
        if (!set && !v)
            return true;
        Slice *one = mem_new(mem_of(in), Slice);
        bool empty = v && v->value.kind >= VALUE_ARRAY && !(v->attrs & ATTR_INVISIBLE);
        *one = !set && !empty                    ? declaration_text(in, v, name)
               : v && v->value.kind >= VALUE_ARRAY ? whole_assignment(in, v, name)
               : v                               ? assignment_text(in, v, name, (*items)[0])
                                                 : set_command(in, *items, *count);
        Slice *arguments = v ? NULL : *items;
        size_t nargs = v ? 0 : *count;
        *items = one;
        *count = 1;
        if (!v || (v->value.kind >= VALUE_ARRAY && (set || empty)))
            split_declaration(in, p, *one, arguments, nargs, items, count);
        return true;
    }
    if ((op == 'K' || op == 'k') && v && v->value.kind >= VALUE_ARRAY) {
        key_values(in, v, op == 'k', items, count);
        return true;
    }
    return false;
}

/* ---------- prompts ---------- */

static void put_time(Interp *in, Buf *b, const char *format)
{
    uint32_t ns;
    int64_t now = proc_now(in->p, &ns);
    Slice tz;
    Name name = name_of(SLICE("TZ"));
    if (!lang_get(in, &name, &tz))
        tz = SLICE("UTC");
    CivilTime t;
    if (tz_civil(tz_parse(mem_of(in), tz), now, ns, &t))
        tz_format(b, slice_str(format), &t, now);
}

static void put_directory(Interp *in, Buf *b, bool last_only)
{
    Slice cwd = logical_cwd(in), home;
    Name name = name_of(SLICE("HOME"));
    bool has_home = lang_get(in, &name, &home) && home.len > 1;
    if (has_home && slice_starts(cwd, home) && (cwd.len == home.len || cwd.data[home.len] == '/')) {
        if (last_only && cwd.len > home.len) {
            size_t at = cwd.len;
            while (at && cwd.data[at - 1] != '/')
                at--;
            buf_append(b, slice_from(cwd, at));
            return;
        }
        buf_char(b, '~');
        buf_append(b, slice_from(cwd, home.len));
        return;
    }
    size_t at = 0;
    if (last_only && cwd.len > 1)
        for (size_t i = 0; i < cwd.len; i++)
            if (cwd.data[i] == '/')
                at = i + 1;
    buf_append(b, slice_from(cwd, at));
}

static size_t prompt_escape(Interp *in, Buf *b, Slice s)
{
    uint32_t value = 0;
    switch (s.data[0]) {
    case 'a': buf_char(b, '\a'); break;
    case 'd': put_time(in, b, "%a %b %d"); break;
    case 't': put_time(in, b, "%H:%M:%S"); break;
    case 'T': put_time(in, b, "%I:%M:%S"); break;
    case '@': put_time(in, b, "%I:%M %p"); break;
    case 'A': put_time(in, b, "%H:%M"); break;
    case 'e': buf_char(b, '\033'); break;
    case 'n': buf_char(b, '\n'); break;
    case 'r': buf_char(b, '\r'); break;
    case 'h': case 'H': buf_append(b, SLICE("libshell")); break;
    case 'j': buf_char(b, '0'); break;
    case 'l': buf_append(b, SLICE("tty")); break;
    case 's': buf_append(b, str_slice(in->st.zero)); break;
    case 'u': buf_append(b, SLICE("agent")); break;
    case 'v': buf_append(b, SLICE("5.2")); break;
    case 'V': buf_append(b, SLICE("5.2.15")); break;
    case 'w': put_directory(in, b, false); break;
    case 'W': put_directory(in, b, true); break;
    case '!': case '#': buf_char(b, '1'); break;
    case '$': buf_char(b, in->p->cred.uid ? '$' : '#'); break;
    case '[': case ']': break;
    case '\\': buf_char(b, '\\'); break;
    case '0': case '1': case '2': case '3': case '4': case '5': case '6': case '7': {
        size_t n = 0;
        for (; n < 3 && n < s.len && s.data[n] >= '0' && s.data[n] <= '7'; n++)
            value = value * 8 + (uint32_t)(s.data[n] - '0');
        buf_char(b, (char)(value & 255));
        return n;
    }
    default:
        buf_char(b, '\\');
        buf_char(b, s.data[0]);
    }
    return 1;
}

/* Backslash escapes, then expansions as between double quotes. */
Slice prompt_expand(Interp *in, Slice text)
{
    Buf b;
    buf_init(&b, mem_of(in), BUF_MAX);
    buf_reserve(&b, text.len);
    for (size_t i = 0; i < text.len;) {
        if (text.data[i] != '\\' || i + 1 == text.len) {
            buf_char(&b, text.data[i++]);
            continue;
        }
        i += 1 + prompt_escape(in, &b, slice_from(text, i + 1));
    }
    Slice out = buf_slice(&b);
    if (slice_find(out, '$') == out.len && slice_find(out, '`') == out.len)
        return out;
    ParseOptions options = {.extglob = true};
    ParseError error = {0};
    Word *w = parse_dquote_text(mem_of(in), out, &options, &error);
    return w ? expand_string(in, w) : out;
}

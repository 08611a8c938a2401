/* param: ${...} in every form, before splitting and globbing.
 *
 * A parameter is first looked up into a Subject (one text, or a list for $@ and ${a[@]}); the operator then works on it,
 * on each item of a list in turn.
 */
#include "interp.h"

typedef struct Subject {
    bool list, star, set;
    Slice text;
    Slice *items;
    int64_t *indices;   /* of an indexed array's items, for slices; NULL: positions */
    size_t count;
    const Var *var;     /* when it is a variable */
    Slice name;         /* for messages */
    bool positional;    /* $@ $* */
    bool assoc;
} Subject;

int unset_status(const Interp *in)
{
    return in->has_execution_string && !OPT(in, ERREXIT) && !in->subshell_level && !in->subshell ? 127 : 1;
}

/* ---------- looking up ---------- */

static void subject_positional(Interp *in, Subject *s)
{
    int n = positional_count(in);
    s->list = s->positional = true;
    s->set = n > 0;
    s->items = mem_array(mem_of(in), (size_t)n + 1, Slice);
    for (int i = 0; i < n; i++)
        s->items[i] = str_slice(positional(in, i + 1));
    s->count = (size_t)n;
}

static void subject_elements(Interp *in, Subject *s, const Var *v)
{
    s->list = true;
    s->var = v;
    size_t n;
    Element *e = var_elements(in, v, &n);
    s->items = mem_array(mem_of(in), n + 1, Slice);
    s->assoc = v && v->value.kind == VALUE_ASSOC;
    if (v && v->value.kind >= VALUE_ARRAY) /* slices of associative arrays count from 1 */
        s->indices = mem_array(mem_of(in), n + 1, int64_t);
    for (size_t i = 0; i < n; i++) {
        s->items[i] = e[i].text;
        if (s->indices)
            s->indices[i] = s->assoc ? (int64_t)i + 1 : e[i].index;
    }
    s->count = n;
    s->set = n > 0;
}

static void subject_element(Interp *in, Subject *s, const Param *p, const Var *v, Slice name)
{
    Slice key = SLICE("");
    s->var = v;
    if (v && v->value.kind == VALUE_ASSOC) {
        key = expand_string(in, p->index);
        if (!key.len && p->kind == PARAM_LENGTH && !(v->attrs & ATTR_INVISIBLE)) {
            lang_report(in, "%.*s]: bad array subscript", (int)p->index->source.len, p->index->source.data);
            lang_expand_failed(in);
        }
        for (int times = key.len || p->kind == PARAM_LENGTH ? 0 : p->kind == PARAM_TRANSFORM && (p->op == 'a' || p->op == 'A') ? 2 : 1; times; times--)
            lang_report(in, "%.*s: bad array subscript", (int)name.len, name.data);
        Cell c = assoc_get(v->value.m, key);
        s->set = c != 0;
        s->text = cell_text(mem_of(in), c);
        return;
    }
    int64_t index;
    if (!arith_eval_index(in, p->index_code, p->index, &index))
        lang_arith_failed(in);
    v = var_find(in, name);
    s->var = v;
    if (index < 0) {
        index += v && v->value.kind == VALUE_ARRAY ? array_end(v->value.a) : 0;
        if (index < 0) {
            if (p->kind == PARAM_LENGTH && v) { /* bash shows what is left of its text */
                lang_report(in, "%.*s]: bad array subscript", (int)p->index->source.len, p->index->source.data);
                lang_expand_failed(in);
            }
            for (int times = p->kind == PARAM_LENGTH ? 0 : p->kind == PARAM_TRANSFORM && (p->op == 'a' || p->op == 'A') ? 2 : 1; times; times--)
                lang_report(in, "%.*s: bad array subscript", (int)name.len, name.data);
            return;
        }
    }
    if (!v)
        return;
    if (v->value.kind == VALUE_ARRAY) {
        Cell c = array_get(v->value.a, index);
        s->set = c != 0;
        s->text = cell_text(mem_of(in), c);
    } else if (index == 0) {
        s->text = value_text(mem_of(in), &v->value, &s->set);
    }
}

static Slice int_text(Interp *in, int64_t n)
{
    char *buf = mem_alloc(mem_of(in), 24);
    size_t len;
    char *text = format_int(n, buf, &len);
    return slice(text, len);
}

/* A nameref may stand for ${a[@]}. */
static void subject_nameref(Interp *in, Subject *s, const Param *p)
{
    Name final;
    Slice sub = slice(NULL, 0), target = s->var->value.kind == VALUE_STR ? str_slice(s->var->value.s) : SLICE("");
    bool list = target.len > 3 && target.data[target.len - 1] == ']' && strchr("@*", target.data[target.len - 2]);
    if (list || p->kind == PARAM_TRANSFORM) {
        const Var *v = var_resolve(in, &p->name, &final, &sub);
        s->var = v;
        if (sub.data && (slice_is(sub, "@") || slice_is(sub, "*"))) {
            subject_elements(in, s, v);
            s->star = sub.data[0] == '*';
            return;
        }
    }
    s->set = lang_get(in, &p->name, &s->text);
    if (p->kind == PARAM_LENGTH && slice_find(target, '[') < target.len)
        s->text = SLICE(""); /* of an element that a nameref names the length is 0 */
}

static void subject_of(Interp *in, const Param *p, Subject *s)
{
    *s = (Subject){.set = true, .text = SLICE("")};
    switch (p->var) {
    case VAR_AT: case VAR_STAR:
        subject_positional(in, s);
        s->star = p->var == VAR_STAR;
        s->name = p->var == VAR_AT ? SLICE("@") : SLICE("*");
        return;
    case VAR_POSITIONAL: {
        Str *str = p->number > INT32_MAX ? NULL : positional(in, (int)p->number);
        s->set = str != NULL;
        s->name = int_text(in, p->number);
        if (str)
            s->text = str_slice(str);
        return;
    }
    case VAR_COUNT: s->text = int_text(in, positional_count(in)); s->name = SLICE("#"); return;
    case VAR_STATUS: s->text = int_text(in, in->status); s->name = SLICE("?"); return;
    case VAR_FLAGS: s->text = flags_text(in); s->name = SLICE("-"); return;
    case VAR_PID: s->text = int_text(in, in->shell_pid); s->name = SLICE("$"); return;
    case VAR_LAST_JOB:
        s->set = in->last_job > 0;
        s->name = SLICE("!");
        if (s->set)
            s->text = int_text(in, in->last_job);
        return;
    case VAR_ZERO: s->text = str_slice(in->st.zero); s->name = SLICE("0"); return;
    case VAR_NAMED: break;
    }
    s->name = p->name.text;
    if (p->index_kind == INDEX_NONE) {
        const Var *v = var_lookup(in, &p->name);
        s->var = v;
        if (unlikely(v && v->attrs & ATTR_NAMEREF))
            subject_nameref(in, s, p);
        else
            s->set = lang_get(in, &p->name, &s->text);
        return;
    }
    Name final;
    Slice sub;
    const Var *v = var_resolve(in, &p->name, &final, &sub);
    if (sub.data) /* an element has none of its own */
        v = NULL;
    else if (v && v->special)
        v = special_read(in, v);
    if (p->index_kind == INDEX_EXPR) {
        s->set = false;
        if (!sub.data)
            subject_element(in, s, p, v, p->name.text);
        if (p->index)
            s->name = slice_str(mem_printf(mem_of(in), "%.*s[%.*s]", (int)p->name.text.len, p->name.text.data,
                                           (int)p->index->source.len, p->index->source.data));
        return;
    }
    subject_elements(in, s, v);
    s->star = p->index_kind == INDEX_STAR;
}

/* The parameter as messages about its arithmetic name it. */
static const char *subject_text(Interp *in, const Param *p, const Subject *s)
{
    if (p->var == VAR_NAMED && p->index_kind == INDEX_NONE)
        return p->name.text.data;
    if (p->index_kind == INDEX_AT || p->index_kind == INDEX_STAR)
        return mem_printf(mem_of(in), "%s[%c]", p->name.text.data, p->index_kind == INDEX_AT ? '@' : '*');
    return mem_copy(mem_of(in), s->name);
}

/* ---------- indirection ---------- */

/* What ${!name} refers to, as a parameter with p's operator. */
static bool indirect_target(Interp *in, const Param *p, Param *target)
{
    Slice ref;
    *target = *p;
    target->indirect = false;
    const Var *v = p->var == VAR_NAMED ? var_lookup(in, &p->name) : NULL;
    if (v && v->attrs & ATTR_NAMEREF)
        return false;
    Param plain = *p;
    plain.indirect = false;
    Subject s;
    subject_of(in, &plain, &s);
    if (!s.set && p->kind == PARAM_ASSIGN && p->index_kind == INDEX_EXPR) /* bash looks for it twice, and says twice what is wrong */
        subject_of(in, &plain, &s);
    ref = s.list ? join_items(in, s.items, s.count, s.star) : s.text;
    if (!s.set) {
        bool absent = p->var == VAR_NAMED && !s.var;
        if (absent || p->kind == PARAM_ASSIGN) {
            lang_report(in, "%s%s: invalid indirect expansion", absent ? "" : "!", subject_text(in, &plain, &s));
            lang_expand_failed(in);
        }
        ref = SLICE("_libshell_unset");
    }
    ref = slice(mem_copy(mem_of(in), ref), ref.len);
    target->index_kind = INDEX_NONE;
    target->index = NULL;
    target->index_code = NULL;
    target->var = VAR_NAMED;
    int64_t number;
    if (!parse_int(ref.data, &number) && number >= 0 && number <= INT32_MAX) {
        target->var = number ? VAR_POSITIONAL : VAR_ZERO;
        target->number = (uint32_t)number;
        return true;
    }
    static const struct { char c; VarKind kind; } specials[] = {
        {'@', VAR_AT}, {'*', VAR_STAR}, {'#', VAR_COUNT}, {'?', VAR_STATUS}, {'-', VAR_FLAGS}, {'$', VAR_PID}, {'!', VAR_LAST_JOB},
    };
    for (size_t i = 0; ref.len == 1 && i < ARRAY_LEN(specials); i++)
        if (specials[i].c == ref.data[0]) {
            target->var = specials[i].kind;
            return true;
        }
    Slice name, sub;
    if (!parse_reference(ref, &name, &sub)) {
        lang_report(in, "%.*s: invalid variable name", (int)ref.len, ref.data);
        lang_expand_failed(in);
    }
    target->name = name_of(name);
    if (sub.data) {
        target->index_kind = slice_is(sub, "@") ? INDEX_AT : slice_is(sub, "*") ? INDEX_STAR : INDEX_EXPR;
        WordPart *part = mem_new(mem_of(in), WordPart);
        Word *word = mem_new(mem_of(in), Word);
        *part = (WordPart){.kind = PART_LITERAL, .text = slice(mem_copy(mem_of(in), sub), sub.len)};
        *word = (Word){.parts = part, .count = 1, .source = part->text};
        target->index = word;
    }
    return true;
}

/* ---------- operators on one text ---------- */

/* A backslash that ends a pattern would escape the * that bash puts behind it to look whether it matches at all. */
static bool ends_escaping(const Param *p, Slice pattern)
{
    size_t n = 0;
    while (n < pattern.len && pattern.data[pattern.len - 1 - n] == '\\')
        n++;
    return n % 2 && (p->replace != REPLACE_SUFFIX || pattern.len == 1);
}

/* p: of a replacement, or NULL. */
static Pat *pattern_of(Interp *in, const Word *w, const Param *p, bool unanchored)
{
    Slice text = w ? expand_pattern(in, w) : SLICE("");
    if ((!text.len && unanchored) || (p && ends_escaping(p, text)))
        return NULL;
    Pat *pat = pat_compile(mem_of(in), text, pattern_flags(in, p != NULL));
    if (!pat)
        lang_nomem(in);
    return pat;
}

static Slice remove_affix(Interp *in, const Param *p, const Pat *pat, Slice text)
{
    ReEnv env = proc_re_env(in->p);
    size_t n = p->kind == PARAM_REMOVE_PREFIX ? pat_prefix(&env, pat, text, p->longest) : pat_suffix(&env, pat, text, p->longest);
    if (n == RE_UNSET)
        return text;
    return p->kind == PARAM_REMOVE_PREFIX ? slice_from(text, n) : slice(text.data, text.len - n);
}

/* The replacement with its active & marked: \1 is the match, everything else literal. */
typedef struct Replacement {
    Slice text;  /* with active & as byte 1 when `active` */
    bool active;
} Replacement;

static void put_replacement(Buf *out, const Replacement *r, Slice match)
{
    if (!r->active) {
        buf_append(out, r->text);
        return;
    }
    for (size_t i = 0; i < r->text.len; i++) {
        char c = r->text.data[i];
        if (c == '\\' && i + 1 < r->text.len && (r->text.data[i + 1] == '&' || r->text.data[i + 1] == '\\'))
            buf_char(out, r->text.data[++i]);
        else if (c == '&')
            buf_append(out, match);
        else
            buf_char(out, c);
    }
}

static Replacement replacement_of(Interp *in, const Param *p)
{
    Replacement r = {SLICE(""), false};
    if (!p->word2)
        return r;
    /* Quoted parts come with their specials escaped, so a quoted & stays itself. */
    r.active = SHOPT(in, PATSUB_REPLACEMENT);
    r.text = r.active ? expand_replacement(in, p->word2) : expand_string(in, p->word2);
    return r;
}

static Slice replace(Interp *in, const Param *p, const Pat *pat, const Replacement *with, Slice text)
{
    if (!pat) /* an empty pattern matches nothing */
        return text;
    ReEnv env = proc_re_env(in->p);
    const Pat *fit = pat;
    Buf out;
    ReSpan span = {0, 0};
    if (p->replace == REPLACE_PREFIX || p->replace == REPLACE_SUFFIX) {
        bool prefix = p->replace == REPLACE_PREFIX;
        size_t n = prefix ? pat_prefix(&env, pat, text, true) : pat_suffix(&env, pat, text, true);
        if (n == RE_UNSET)
            return text;
        span = prefix ? (ReSpan){0, n} : (ReSpan){text.len - n, text.len};
    } else {
        fit = pat_for(mem_of(in), pat, text);
        if (!pat_search(&env, fit, text, 0, &span))
            return text;
    }
    buf_init(&out, mem_of(in), BUF_MAX);
    buf_reserve(&out, text.len);
    size_t at = 0;
    do {
        buf_append(&out, slice(text.data + at, span.start - at));
        put_replacement(&out, with, slice(text.data + span.start, span.end - span.start));
        at = span.end;
        if (span.end == span.start) { /* an empty match: go on behind the next character */
            if (at >= text.len)
                break;
            buf_char(&out, text.data[at++]);
        }
        proc_tick(in->p, 1);
        if (unlikely(fit != pat)) /* bash looks at each rest anew: behind the last bad byte there are characters again */
            fit = pat_for(mem_of(in), pat, slice_from(text, at));
    } while (p->replace == REPLACE_ALL && at < text.len && pat_search(&env, fit, text, at, &span));
    buf_append(&out, slice_from(text, at));
    return buf_slice(&out);
}

static bool case_matches(Interp *in, const Pat *pat, Slice one)
{
    ReEnv env = proc_re_env(in->p);
    return !pat || pat_match(&env, pat, one);
}

static Slice change_case(Interp *in, const Param *p, const Pat *pat, Slice text)
{
    Buf out;
    buf_init(&out, mem_of(in), BUF_MAX);
    buf_reserve(&out, text.len);
    for (size_t i = 0; i < text.len;) {
        size_t n = 1;
        uint32_t c = !lang_bytes(in) ? utf8_decode(text.data + i, text.len - i, &n) : text.data[i] & 0x80 ? UTF8_BAD : (uint32_t)text.data[i];
        Slice one = slice(text.data + i, n);
        if (c == UTF8_BAD || (i > 0 && !p->longest) || !case_matches(in, pat, one)) {
            buf_append(&out, one);
        } else {
            uint32_t up = char_upper(c), low = char_lower(c);
            uint32_t to = p->op == '^' ? up : p->op == ',' ? low : c == up ? low : up;
            char encoded[6];
            buf_append(&out, slice(encoded, utf8_encode(to, encoded)));
        }
        i += n;
    }
    return buf_slice(&out);
}

Slice upper_lower(Mem *m, Slice s, int how)
{
    Buf out;
    buf_init(&out, m, BUF_MAX);
    buf_reserve(&out, s.len);
    for (size_t i = 0; i < s.len;) {
        size_t n;
        uint32_t c = utf8_decode(s.data + i, s.len - i, &n);
        char encoded[6];
        if (c == UTF8_BAD)
            buf_append(&out, slice(s.data + i, n));
        else
            buf_append(&out, slice(encoded, utf8_encode(how == 'L' || (how == 'u' && i > 0) ? char_lower(c) : char_upper(c), encoded)));
        i += n;
    }
    return buf_slice(&out);
}

/* ---------- substrings and slices ---------- */

static int64_t offset_of(Interp *in, const Arith *code, const Word *word)
{
    int64_t n;
    if (!arith_eval(in, code, word, &n))
        lang_arith_discard(in);
    return n;
}

static NORETURN void bad_length(Interp *in, const Word *w)
{
    Slice text = expand_string(in, w);
    lang_error(in, "%.*s: substring expression < 0", (int)text.len, text.data);
    lang_arith_discard(in);
}

static Slice substring(Interp *in, const Param *p, Slice text)
{
    bool ascii = lang_bytes(in) || slice_ascii(text);
    int64_t total = (int64_t)(ascii ? text.len : utf8_count(text));
    int64_t from = offset_of(in, p->offset, p->offset_word);
    if (from < 0)
        from += total;
    bool has_length = p->length_word != NULL || p->length != NULL;
    if (from < 0 || from > total)
        return SLICE("");
    int64_t to = total;
    if (has_length) {
        int64_t n = offset_of(in, p->length, p->length_word);
        to = n < 0 ? total + n : n > total - from ? total : from + n;
        if (to < from)
            bad_length(in, p->length_word);
    }
    size_t a = ascii ? (size_t)from : utf8_offset(text, (size_t)from), b = ascii ? (size_t)to : utf8_offset(text, (size_t)to);
    return slice(mem_copy(mem_of(in), slice(text.data + a, b - a)), b - a);
}

static void slice_list(Interp *in, const Param *p, Subject *s)
{
    if (!s->count && !s->positional)
        return;
    int64_t from = offset_of(in, p->offset, p->offset_word), n = INT64_MAX;
    if (s->positional) { /* $0 comes first when counting from 0 */
        Slice *all = mem_array(mem_of(in), s->count + 1, Slice);
        all[0] = str_slice(in->st.zero);
        memcpy(all + 1, s->items, s->count * sizeof(Slice));
        s->items = all;
        s->count++;
    }
    int64_t end = s->indices && s->count ? s->indices[s->count - 1] + 1 : (int64_t)s->count;
    if (from < 0)
        from += end;
    if (from < 0 || from > end - s->assoc) { /* out of range: the length is not looked at */
        s->count = 0;
        return;
    }
    bool has_length = p->length_word != NULL || p->length != NULL;
    if (has_length && (n = offset_of(in, p->length, p->length_word)) < 0)
        bad_length(in, p->length_word);
    if (s->assoc && n == 0) /* bash looks whether it has enough after the first */
        n = 1;
    size_t first = 0;
    while (first < s->count && (s->indices ? s->indices[first] : (int64_t)first) < from)
        first++;
    s->items += first;
    s->count = (size_t)MIN((int64_t)(s->count - first), n);
}

/* ---------- names, keys, lengths ---------- */

static void expand_names(Interp *in, const Param *p, Subject *s)
{
    size_t n, kept = 0;
    Slice *names = var_names(in, 0, &n);
    for (size_t i = 0; i < n; i++) {
        const Var *v = var_find_raw(in, names[i]);
        if (slice_starts(names[i], p->name.text) && v && !(v->attrs & ATTR_INVISIBLE))
            names[kept++] = names[i];
    }
    *s = (Subject){.list = true, .star = p->op == '*', .set = kept > 0, .items = names, .count = kept};
}

static void expand_keys(Interp *in, const Param *p, Subject *s)
{
    size_t n;
    Element *e = var_elements(in, var_find(in, p->name.text), &n);
    Slice *keys = mem_array(mem_of(in), n + 1, Slice);
    for (size_t i = 0; i < n; i++)
        keys[i] = e[i].key;
    *s = (Subject){.list = true, .star = p->op == '*', .set = n > 0, .items = keys, .count = n};
}

static void expand_length(Interp *in, const Subject *s, Subject *out)
{
    int64_t n = (int64_t)(s->list ? s->count : lang_bytes(in) || slice_ascii(s->text) ? s->text.len : utf8_count(s->text));
    *out = (Subject){.set = true, .text = int_text(in, n)};
}

/* ---------- the operator applied ---------- */

Slice join_items(Interp *in, const Slice *items, size_t count, bool star_ifs)
{
    if (count == 1)
        return items[0];
    const IfsCache *ifs = ifs_of(in);
    Slice sep = SLICE(" ");
    if (star_ifs && ifs->set) {
        size_t n = 0;
        if (ifs->text.len)
            utf8_decode(ifs->text.data, ifs->text.len, &n);
        sep = slice(ifs->text.data, n);
    }
    Buf b;
    buf_init(&b, mem_of(in), BUF_MAX);
    buf_reserve(&b, 16);
    for (size_t i = 0; i < count; i++) {
        if (i)
            buf_append(&b, sep);
        buf_append(&b, items[i]);
    }
    return buf_slice(&b);
}

static Slice apply_one(Interp *in, const Param *p, const Pat *pat, const Replacement *with, const Subject *s, Slice text)
{
    switch (p->kind) {
    case PARAM_REMOVE_PREFIX: case PARAM_REMOVE_SUFFIX: return remove_affix(in, p, pat, text);
    case PARAM_REPLACE: return replace(in, p, pat, with, text);
    case PARAM_CASE: return change_case(in, p, pat, text);
    case PARAM_TRANSFORM: return transform(in, p, s->var, s->name, text, true);
    case PARAM_SUBSTRING: return substring(in, p, text);
    default: return text;
    }
}

/* "!p": the parameter as it was written, without its operator. */
static const char *asked_text(Interp *in, const Param *asked)
{
    if (asked->var == VAR_POSITIONAL)
        return mem_printf(mem_of(in), "!%u", asked->number);
    if (asked->index)
        return mem_printf(mem_of(in), "!%s[%.*s]", asked->name.text.data, (int)asked->index->source.len, asked->index->source.data);
    static const char *const specials[] = {[VAR_AT] = "@", [VAR_STAR] = "*", [VAR_COUNT] = "#", [VAR_STATUS] = "?", [VAR_FLAGS] = "-",
                                           [VAR_PID] = "$", [VAR_LAST_JOB] = "!", [VAR_ZERO] = "0"};
    return mem_printf(mem_of(in), "!%s", asked->var == VAR_NAMED ? asked->name.text.data : specials[asked->var]);
}

/* In an item of an indexed array the message shows its [subscript]= as well, as a pattern. */
static void report_bad(Interp *in, const Param *p)
{
    Slice index = in->no_tilde || !p->word2 ? SLICE("") : p->word2->source;
    size_t close = index.len ? index.len - (index.data[index.len - 2] == '+' ? 3 : 2) : 0;
    if (close)
        lang_report(in, "\\%.*s\\%.*s%.*s: bad substitution", (int)close, index.data, (int)(index.len - close), index.data + close,
                    (int)p->source.len, p->source.data);
    else
        lang_report(in, "%.*s: bad substitution", (int)p->source.len, p->source.data);
}

static NORETURN void bad_transform(Interp *in, const Param *p)
{
    report_bad(in, p);
    lang_fatal(in, unset_status(in));
}

static void apply_operator(Interp *in, const Param *p, const Param *asked, Subject *s)
{
    Pat *pat = NULL;
    Replacement with = {SLICE(""), false};
    const char *who = in->arith_who;
    if (p->kind == PARAM_SUBSTRING)
        in->arith_who = asked->indirect ? asked_text(in, asked) : subject_text(in, p, s);
    if (p->kind == PARAM_SUBSTRING && s->list && (s->positional || s->indices || s->count != 1)) {
        slice_list(in, p, s);
        in->arith_who = who;
        return;
    }
    if (p->kind == PARAM_TRANSFORM && !p->op) {
        if (s->set)
            bad_transform(in, p);
        *s = (Subject){.text = SLICE("")};
        return;
    }
    if (p->kind == PARAM_TRANSFORM && transform_whole(in, p, s->list, s->var, s->name, s->set, &s->items, &s->count, &s->text)) {
        return;
    }
    if (!s->set) {
        in->arith_who = who;
        return;
    }
    if (p->kind == PARAM_REMOVE_PREFIX || p->kind == PARAM_REMOVE_SUFFIX || p->kind == PARAM_REPLACE || (p->kind == PARAM_CASE && p->word && p->word->source.len))
        pat = pattern_of(in, p->word, p->kind == PARAM_REPLACE ? p : NULL,
                         p->kind == PARAM_REPLACE && p->replace != REPLACE_PREFIX && p->replace != REPLACE_SUFFIX);
    if (p->kind == PARAM_REPLACE)
        with = replacement_of(in, p);
    if (!s->list) {
        s->text = apply_one(in, p, pat, &with, s, s->text);
        in->arith_who = who;
        return;
    }
    Slice *items = mem_array(mem_of(in), s->count + 1, Slice);
    for (size_t i = 0; i < s->count; i++)
        items[i] = apply_one(in, p, pat, &with, s, s->items[i]);
    s->items = items;
}

static bool is_empty(Interp *in, const Subject *s)
{
    (void)in;
    if (!s->list)
        return s->text.len == 0;
    return s->count == 0 || (s->count == 1 && s->items[0].len == 0);
}

static void assign_default(Interp *in, const Param *p, const Param *asked, Subject *s)
{
    Slice text = p->word ? expand_string(in, p->word) : SLICE("");
    if (p->index_kind > INDEX_EXPR) {
        lang_report(in, "%s: bad array subscript", subject_text(in, p, s));
        lang_expand_failed(in);
    }
    if (p->var != VAR_NAMED) {
        Slice name = asked->indirect ? slice_str(asked_text(in, asked)) : s->name;
        if (asked->indirect && (asked->var == VAR_NAMED || asked->var == VAR_POSITIONAL))
            lang_report(in, "%.*s: invalid variable name", (int)s->name.len, s->name.data);
        else
            lang_report(in, "$%.*s: cannot assign in this way", (int)name.len, name.data);
        lang_expand_failed(in);
    }
    Slice key = p->index_kind == INDEX_EXPR ? expand_string(in, p->index) : SLICE("");
    bool keyless = p->index_kind == INDEX_EXPR && s->var && s->var->value.kind == VALUE_ASSOC && !key.len;
    if (keyless)
        lang_report(in, "%.*s: bad array subscript", (int)s->name.len, s->name.data);
    bool ok = !keyless && (p->index_kind == INDEX_EXPR ? var_set_element(in, p->name.text, key, text, false) : lang_set(in, &p->name, text, false));
    if (!ok)
        lang_expand_failed(in);
    *s = (Subject){.set = true};
    if (p->index_kind == INDEX_EXPR)
        s->text = text;
    else
        lang_get(in, &p->name, &s->text);
}

static NORETURN void report_unset(Interp *in, const Param *p, const Param *asked, const Subject *s)
{
    Slice text = p->word && p->word->count ? expand_string(in, p->word)
                 : p->colon                ? SLICE("parameter null or not set")
                                           : SLICE("parameter not set");
    lang_error(in, "%s: %.*s", asked->indirect ? asked_text(in, asked) : subject_text(in, p, s), (int)text.len, text.data);
    lang_fatal(in, unset_status(in));
}

static void check_bound(Interp *in, const Param *p, const Param *asked, const Subject *s)
{
    bool length = p->kind == PARAM_LENGTH;
    bool array = s->var && s->var->value.kind >= VALUE_ARRAY && !(s->var->attrs & ATTR_INVISIBLE);
    if (p->kind == PARAM_TRANSFORM && (p->op == 'a' || p->op == 'A') && array && p->index_kind == INDEX_NONE && !s->set) {
        size_t n;
        var_elements(in, s->var, &n);
        if (n) /* its attributes are asked for, not element 0 */
            return;
    }
    bool scalar = length && p->var == VAR_NAMED && p->index_kind != INDEX_NONE && !array;
    if (!OPT(in, NOUNSET) || (s->set && !scalar) || (s->list && (!length || s->positional)) || (length && p->index_kind != INDEX_NONE && array))
        return;
    bool dollar = !length && !p->braced && (p->var == VAR_POSITIONAL || p->var == VAR_LAST_JOB);
    Slice name = asked->indirect ? slice_str(asked_text(in, asked)) : scalar ? p->name.text : s->name;
    lang_error(in, "%s%.*s: unbound variable", dollar ? "$" : "", (int)name.len, name.data);
    lang_fatal(in, length && s->list ? 1 : unset_status(in));
}

static void deliver(const Subject *s, Expansion *out)
{
    *out = (Expansion){.is_list = s->list, .star = s->star, .is_set = s->set, .text = s->text, .items = s->items, .count = s->count};
}

/* - = ? + : true when the word, or nothing, stands for the parameter. */
static bool expand_alternatives(Interp *in, const Param *p, const Param *asked, Subject *s, Expansion *out)
{
    bool present = s->set && !(p->colon && is_empty(in, s));
    if (p->kind == PARAM_ALTERNATE ? !present : present) {
        if (p->kind != PARAM_ALTERNATE)
            return false;
        *out = (Expansion){.is_set = false};
        return true;
    }
    if (p->kind == PARAM_ERROR)
        report_unset(in, p, asked, s);
    if (p->kind == PARAM_ASSIGN) {
        assign_default(in, p, asked, s);
        return false;
    }
    *out = (Expansion){.has_word = true, .is_set = true, .word = p->word};
    return true;
}

static NORETURN void bad_substitution(Interp *in, const Param *p)
{
    if (p->op == BAD_COMMAND) {
        say_parse_error(in, "command substitution", p->name.text.data);
        if (p->source.len)
            say_parse_error(in, "command substitution", p->source.data);
    } else if (p->op) {
        char quote = p->op == '`' ? '"' : '`';
        lang_report(in, "bad substitution: no closing %c%c%c in %.*s", quote, p->op, p->op == '`' ? '"' : '\'', (int)p->source.len, p->source.data);
    } else {
        report_bad(in, p);
    }
    lang_expand_failed(in);
}

/* The name at the end of a chain of namerefs. */
static Slice nameref_target(Interp *in, const Name *name)
{
    Slice text = SLICE("");
    bool set = true;
    const Var *v = var_lookup(in, name);
    for (int depth = 0; set && v && v->attrs & ATTR_NAMEREF && depth < 8; depth++) {
        text = value_text(mem_of(in), &v->value, &set);
        Name next = name_of(text);
        v = var_lookup(in, &next);
    }
    return text;
}

void expand_param(Interp *in, const Param *p, bool quoted, Expansion *out)
{
    (void)quoted;
    Subject s;
    Param target;
    if (p->kind == PARAM_BAD)
        bad_substitution(in, p);
    if (p->kind == PARAM_NAMES || p->kind == PARAM_KEYS) {
        if (p->kind == PARAM_NAMES)
            expand_names(in, p, &s);
        else
            expand_keys(in, p, &s);
        deliver(&s, out);
        return;
    }
    const Param *asked = p;
    if (p->indirect) {
        if (!indirect_target(in, p, &target)) { /* ${!nameref} is the name it refers to */
            *out = (Expansion){.is_set = true, .text = nameref_target(in, &p->name)};
            return;
        }
        p = &target;
    }
    subject_of(in, p, &s);
    if (p->kind == PARAM_DEFAULT || p->kind == PARAM_ASSIGN || p->kind == PARAM_ERROR || p->kind == PARAM_ALTERNATE) {
        if (expand_alternatives(in, p, asked, &s, out))
            return;
    } else {
        check_bound(in, p, asked, &s);
        if (p->kind == PARAM_LENGTH) {
            Subject length;
            expand_length(in, &s, &length);
            s = length;
        } else if (p->kind != PARAM_PLAIN) {
            apply_operator(in, p, asked, &s);
        }
    }
    deliver(&s, out);
}

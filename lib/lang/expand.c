/* expand: words to fields.
 *
 * A Builder collects the current field. Text that came from quotes is put as it is; text of unquoted expansions goes through the IFS
 * splitter; as soon as an unquoted character is special to pathname expansion a second buffer holds the field as a
 * pattern, in which everything quoted is escaped.
 */
#include "interp.h"

typedef enum { MODE_FIELDS, MODE_STRING, MODE_PATTERN, MODE_REGEX, MODE_REPLACEMENT } Mode;

typedef struct Builder {
    Interp *in;
    Mode mode;
    Fields *out;
    Buf text, pattern;
    bool has_pattern;
    bool shown;         /* a pattern as set -x shows it: everything quoted is escaped */
    bool keep;          /* quoted somewhere: a field even when empty */
    bool after_space;   /* the last field was ended by IFS white space: a following IFS character belongs to that */
    bool value;         /* the string is an assignment's or a here-string's */
    unsigned in_word;   /* words of ${x:-word} that are being expanded without quotes */
} Builder;


/* ---------- fields ---------- */

void fields_init(Fields *f, Mem *m) { *f = (Fields){.mem = m}; }

void fields_add(Interp *in, Fields *f, char *s)
{
    if (f->count + 1 >= f->cap) {
        uint32_t cap = f->cap ? f->cap * 2 : 8;
        f->items = mem_grow(f->mem, f->items, f->cap * sizeof(char *), cap * sizeof(char *));
        f->cap = cap;
    }
    (void)in;
    f->items[f->count++] = s;
    f->items[f->count] = NULL;
}

static char *literal_text(Interp *in, Slice s)
{
    if (!s.len)
        return (char *)(uintptr_t)"";
    /* The parser's texts lie inside longer NUL-terminated blocks, so this byte may be looked at. */
    return s.data[s.len] == 0 ? (char *)(uintptr_t)s.data : mem_copy(mem_of(in), s);
}

static void field_reset(Builder *b)
{
    buf_init(&b->text, mem_of(b->in), BUF_MAX);
    b->has_pattern = b->keep = false;
}

static void field_glob(Builder *b, char *text)
{
    Interp *in = b->in;
    if (glob_expand(in, buf_slice(&b->pattern), b->out))
        return;
    if (SHOPT(in, FAILGLOB)) {
        lang_error(in, "no match: %s", text);
        lang_discard(in, 1);
    }
    if (!SHOPT(in, NULLGLOB))
        fields_add(in, b->out, text);
}

/* A [ that is not closed before the next slash makes no pattern. */
static bool is_pattern(Slice s)
{
    bool open = false;
    for (size_t i = 0; i < s.len; i++)
        switch (s.data[i]) {
        case '\\': i++; break;
        case '*': case '?': return true;
        case '[': open = true; break;
        case '/': open = false; break;
        case ']':
            if (open)
                return true;
            break;
        case '+': case '@': case '!':
            if (i + 1 < s.len && s.data[i + 1] == '(')
                return true;
        }
    return false;
}

static void field_finish(Builder *b)
{
    char *text = b->text.data ? b->text.data : (char *)(uintptr_t)"";
    if (b->has_pattern && is_pattern(buf_slice(&b->pattern)))
        field_glob(b, text);
    else
        fields_add(b->in, b->out, text);
    field_reset(b);
}

static bool field_open(const Builder *b) { return b->keep || b->text.len > 0; }

/* ---------- putting text ---------- */

static bool is_glob_char(char c) { return c == '*' || c == '?' || c == '['; }

static void put_escaped(Buf *out, Slice s, bool all)
{
    for (size_t i = 0; i < s.len; i++) {
        if (all ? (s.data[i] & 0xC0) != 0x80 : s.data[i] && strchr("*?[]\\-!^()|+@~&", s.data[i]))
            buf_char(out, '\\');
        buf_char(out, s.data[i]);
    }
}

static void put_regex_escaped(Buf *out, Slice s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (s.data[i] && strchr("\\^$.|?*+()[]{}", s.data[i]))
            buf_char(out, '\\');
        buf_char(out, s.data[i]);
    }
}

static void put_replacement_escaped(Buf *out, Slice s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (s.data[i] == '&' || s.data[i] == '\\')
            buf_char(out, '\\');
        buf_char(out, s.data[i]);
    }
}

/* What was quoted: never split, never active. */
static void put_quoted(Builder *b, Slice s)
{
    switch (b->mode) {
    case MODE_PATTERN: put_escaped(&b->text, s, b->shown); return;
    case MODE_REGEX: put_regex_escaped(&b->text, s); return;
    case MODE_REPLACEMENT: put_replacement_escaped(&b->text, s); return;
    case MODE_STRING: buf_append(&b->text, s); return;
    case MODE_FIELDS: break;
    }
    buf_append(&b->text, s);
    if (b->has_pattern)
        put_escaped(&b->pattern, s, false);
    b->after_space = false;
}

static void pattern_start(Builder *b)
{
    buf_init(&b->pattern, mem_of(b->in), BUF_MAX);
    buf_reserve(&b->pattern, b->text.len + 16);
    for (size_t i = 0; i < b->text.len; i++) {
        char c = b->text.data[i];
        if (is_glob_char(c) || c == '\\' || c == ']')
            buf_char(&b->pattern, '\\');
        buf_char(&b->pattern, c);
    }
    b->has_pattern = true;
}

/* Unquoted text that is not (or no longer) to be split, in fields mode. */
static void put_active(Builder *b, Slice s)
{
    bool globs = !OPT(b->in, NOGLOB);
    if (globs && !b->has_pattern) {
        bool ext = SHOPT(b->in, EXTGLOB);
        for (size_t i = 0; i < s.len; i++)
            if (is_glob_char(s.data[i]) || (ext && s.data[i] == '(' && i && strchr("?*+@!", s.data[i - 1]))) {
                pattern_start(b);
                break;
            }
    }
    buf_append(&b->text, s);
    if (b->has_pattern)
        buf_append(&b->pattern, s);
    if (s.len)
        b->after_space = false;
}

/* put_split with an IFS that holds characters of several bytes. */
static void put_split_wide(Builder *b, Slice s, const IfsCache *ifs)
{
    size_t start = 0, n;
    for (size_t i = 0; i < s.len; i += n) {
        utf8_decode(s.data + i, s.len - i, &n);
        bool space = n == 1 && ifs->space[(unsigned char)s.data[i]];
        if (!space && slice_search(ifs->text, slice(s.data + i, n)) == SIZE_MAX)
            continue;
        if (i > start)
            put_active(b, slice(s.data + start, i - start));
        start = i + n;
        bool open = field_open(b);
        if (space ? open : open || !b->after_space)
            field_finish(b);
        b->after_space = space && (open || b->after_space);
    }
    if (s.len > start)
        put_active(b, slice(s.data + start, s.len - start));
}

static void put_split(Builder *b, Slice s)
{
    const IfsCache *ifs = ifs_of(b->in);
    if (b->mode != MODE_FIELDS) {
        buf_append(&b->text, s);
        return;
    }
    if (unlikely(ifs->wide)) {
        put_split_wide(b, s, ifs);
        return;
    }
    size_t start = 0;
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.data[i];
        bool space = ifs->space[c], other = ifs->other[c];
        if (likely(!space && !other))
            continue;
        if (i > start)
            put_active(b, slice(s.data + start, i - start));
        start = i + 1;
        if (space) {
            if (field_open(b)) {
                field_finish(b);
                b->after_space = true;
            }
        } else if (field_open(b) || !b->after_space) {
            field_finish(b);
            b->after_space = false;
        } else {
            b->after_space = false;
        }
    }
    if (s.len > start)
        put_active(b, slice(s.data + start, s.len - start));
}

static void put_scalar(Builder *b, Slice s, bool quoted)
{
    if (quoted)
        put_quoted(b, s);
    else
        put_split(b, s);
}

/* ---------- lists ---------- */

/* An unquoted list where IFS holds more than white space. In the word of ${x:-word} blanks join $@, and no more than blanks split it. */
static void put_joined(Builder *b, const Expansion *e)
{
    bool blanks = b->in_word && !e->star;
    Slice joined = e->count ? join_items(b->in, e->items, e->count, !blanks) : SLICE("");
    if (blanks && !ifs_of(b->in)->space[' '])
        put_active(b, joined);
    else
        put_split(b, joined);
}

/* What of $@ becomes one string: blanks join it, but in values IFS joins what an operator has made of it, of some only within quotes. */
static bool joins_by_ifs(const Builder *b, const Param *p, bool quoted)
{
    if (!b->value || ifs_of(b->in)->null)
        return false;
    switch (p->kind) {
    case PARAM_REMOVE_PREFIX: case PARAM_REMOVE_SUFFIX: case PARAM_TRANSFORM: return true;
    case PARAM_REPLACE: case PARAM_CASE: case PARAM_SUBSTRING: case PARAM_KEYS: return quoted;
    default: return false;
    }
}

static void put_list(Builder *b, const Expansion *e, const Param *p, bool quoted)
{
    Interp *in = b->in;
    if (b->mode != MODE_FIELDS || (quoted && e->star)) {
        Slice joined = e->count ? join_items(in, e->items, e->count, e->star || joins_by_ifs(b, p, quoted)) : SLICE("");
        put_scalar(b, joined, quoted);
        return;
    }
    if (unlikely(!quoted && ifs_of(in)->marks)) { /* IFS joins them, then splits all of it */
        put_joined(b, e);
        return;
    }
    for (size_t i = 0; i < e->count; i++) {
        if (i) {
            if (quoted || field_open(b))
                field_finish(b);
            b->after_space = false;
        }
        if (quoted) {
            b->keep = true;
            put_quoted(b, e->items[i]);
        } else {
            put_split(b, e->items[i]);
        }
    }
}

/* ---------- parts ---------- */

static void put_part(Builder *b, const WordPart *p, bool quoted, bool split_literals);

static void put_parts(Builder *b, const Word *w, bool quoted, bool split_literals)
{
    for (uint32_t i = 0; i < w->count; i++)
        put_part(b, &w->parts[i], quoted, split_literals);
}

static void put_param(Builder *b, const Param *p, bool quoted)
{
    Expansion e;
    expand_param(b->in, p, quoted, &e);
    if (e.has_word) {
        b->in_word++;
        if (e.word)
            put_parts(b, e.word, quoted, !quoted);
        b->in_word--;
        return;
    }
    if (e.is_list)
        put_list(b, &e, p, quoted);
    else
        put_scalar(b, e.text, quoted);
}

static void put_arith(Builder *b, const WordPart *p, bool quoted)
{
    int64_t value;
    const char *who = b->in->arith_who;
    b->in->arith_who = NULL;
    if (!arith_eval(b->in, p->arith.code, p->arith.text, &value))
        lang_arith_discard(b->in);
    b->in->arith_who = who;
    char buf[24];
    size_t len;
    char *text = format_int(value, buf, &len);
    put_scalar(b, slice(text, len), quoted);
}

static void put_tilde(Builder *b, Slice name, bool literal)
{
    bool known = false;
    Slice text = b->in->no_tilde || literal ? name : tilde_expand(b->in, name, &known);
    b->keep |= known;
    if (!known)
        buf_char(&b->text, '~');
    if (!known && b->has_pattern)
        buf_char(&b->pattern, '~');
    put_quoted(b, known ? text : name);
}

static bool is_at(const Param *p)
{
    return p->var == VAR_AT || p->index_kind == INDEX_AT;
}

static bool has_default(const Param *p)
{
    return p->kind == PARAM_DEFAULT || p->kind == PARAM_ASSIGN;
}

/* "..." makes a field even when it is empty, unless all it holds is a "$@" of nothing. */
static void put_quotes(Builder *b, const Word *inner)
{
    size_t only_lists = 0;
    bool at = false; /* "$@" or "${a[@]}": with nothing in it, and nothing beside it, it makes no word */
    for (uint32_t i = 0; i < inner->count; i++) {
        const WordPart *p = &inner->parts[i];
        bool list = p->kind == PART_PARAM && ((p->param->var == VAR_AT && p->param->kind != PARAM_LENGTH) ||
                                              p->param->index_kind == INDEX_AT || p->param->op == '@' || p->param->word);
        only_lists += list && p->param->kind != PARAM_LENGTH;
        at |= p->kind == PART_PARAM && is_at(p->param) && !p->param->indirect && p->param->kind != PARAM_LENGTH && !has_default(p->param);
    }
    bool maybe_nothing = inner->count && (only_lists == inner->count || at);
    size_t before = b->out ? b->out->count : 0, len = b->text.len;
    bool kept = b->keep;
    if (!maybe_nothing)
        b->keep = true;
    put_parts(b, inner, true, false);
    if (!maybe_nothing || !b->out)
        return;
    bool nothing = b->out->count == before && b->text.len == len && b->keep == kept;
    if (nothing && !at)
        for (uint32_t i = 0; i < inner->count; i++) {
            const Param *p = inner->parts[i].param;
            if (has_default(p) || (!is_at(p) && p->kind != PARAM_NAMES && p->kind != PARAM_KEYS))
                b->keep = true; /* a default word that was empty */
        }
}

static void put_part(Builder *b, const WordPart *p, bool quoted, bool split_literals)
{
    quoted |= p->quoted;
    switch (p->kind) {
    case PART_LITERAL:
        if (quoted) {
            b->keep |= p->quoted;
            put_quoted(b, p->text);
        } else if (b->mode != MODE_FIELDS) {
            buf_append(&b->text, p->text);
        } else if (split_literals) {
            put_split(b, p->text);
        } else {
            put_active(b, p->text);
        }
        break;
    case PART_PARAM: put_param(b, p->param, quoted); break;
    case PART_COMMAND:
        put_scalar(b, command_substitute(b->in, p), quoted);
        break;
    case PART_ARITH: put_arith(b, p, quoted); break;
    case PART_PROCESS: put_quoted(b, slice_str(process_substitute(b->in, p))); break;
    case PART_TILDE: put_tilde(b, p->text, p->direction == '=' && OPT(b->in, POSIX)); break;
    case PART_BRACE: break;
    case PART_QUOTED: put_quotes(b, p->inner); break;
    }
}

/* ---------- whole words ---------- */

static void builder_init(Builder *b, Interp *in, Mode mode, Fields *out)
{
    b->in = in;
    b->mode = mode;
    b->out = out;
    b->after_space = b->shown = false;
    b->in_word = 0;
    b->value = false;
    field_reset(b);
}

static void expand_general(Interp *in, const Word *w, Fields *out)
{
    Builder b;
    builder_init(&b, in, MODE_FIELDS, out);
    put_parts(&b, w, false, false);
    if (field_open(&b))
        field_finish(&b);
}

/* The text of a plain parameter without a look at splitting; false: not one of the simple kinds. */
static bool plain_text(Interp *in, const Param *p, Slice *text)
{
    if (p->kind != PARAM_PLAIN || p->indirect || p->index_kind != INDEX_NONE)
        return false;
    if (p->var == VAR_NAMED) {
        const Var *v = var_lookup(in, &p->name);
        return !(v && v->attrs & ATTR_NAMEREF) && lang_get(in, &p->name, text); /* a circular one is warned of once */
    }
    if (p->var == VAR_POSITIONAL) {
        Str *s = p->number > INT32_MAX ? NULL : positional(in, (int)p->number);
        if (s)
            *text = str_slice(s);
        return s != NULL;
    }
    return false;
}

static bool needs_split_or_glob(Interp *in, Slice s)
{
    const IfsCache *ifs = ifs_of(in);
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.data[i];
        if (ifs->space[c] || ifs->other[c] || is_glob_char(s.data[i]) || c == '(')
            return true;
    }
    return s.len == 0;
}

/* $x and "$x": the common words. */
static bool expand_quick(Interp *in, const Word *w, Fields *out)
{
    if (w->count != 1)
        return false;
    const WordPart *p = &w->parts[0];
    bool quoted = false;
    if (p->kind == PART_QUOTED && p->inner->count == 1) {
        p = &p->inner->parts[0];
        quoted = true;
    }
    Slice text;
    if (p->kind != PART_PARAM || !plain_text(in, p->param, &text))
        return false;
    if (!quoted && !p->quoted && needs_split_or_glob(in, text))
        return false;
    fields_add(in, out, mem_copy(mem_of(in), text));
    return true;
}

static void expand_range(Interp *in, const Brace *r, Fields *out);

/* The name of the command [ is no pattern. */
static bool lone_bracket(const Word *w) { return w->count == 1 && w->parts[0].kind == PART_LITERAL && slice_is(w->parts[0].text, "["); }

void expand_word(Interp *in, const Word *w, Fields *out)
{
    if (((w->flags & (WORD_LITERAL | WORD_GLOB | WORD_BRACE)) == WORD_LITERAL && (!w->count || w->parts[0].kind == PART_LITERAL)) ||
        (w->flags & WORD_GLOB && lone_bracket(w))) {
        fields_add(in, out, w->count ? literal_text(in, w->parts[0].text) : (char *)(uintptr_t)"");
        return;
    }
    if (w->flags & WORD_BRACE && !OPT(in, BRACEEXPAND))
        w = brace_plain(in, w);
    if (w->flags & WORD_BRACE) {
        if (w->count == 1 && w->parts[0].kind == PART_BRACE && !w->parts[0].brace->words) {
            expand_range(in, w->parts[0].brace, out);
            return;
        }
        uint32_t n;
        Word **words = brace_expand(in, w, &n);
        for (uint32_t i = 0; i < n; i++)
            expand_word(in, words[i], out);
        return;
    }
    if (!expand_quick(in, w, out))
        expand_general(in, w, out);
}

void expand_words(Interp *in, Word *const *words, uint32_t count, Fields *out)
{
    for (uint32_t i = 0; i < count; i++)
        expand_word(in, words[i], out);
}

/* {1..200000} standing alone needs no words in between. */
static void expand_range(Interp *in, const Brace *r, Fields *out)
{
    uint64_t count = brace_count(in, r);
    int64_t v = r->first;
    for (uint64_t i = 0; i < count; i++) {
        fields_add(in, out, brace_item(mem_of(in), r, v));
        v = (int64_t)((uint64_t)v + (uint64_t)r->step);
        if ((i & 1023) == 1023)
            proc_tick(in->p, 1024);
    }
}

static Slice build_string(Builder *b, const Word *w)
{
    put_parts(b, w, false, false);
    if (b->text.failed)
        lang_nomem(b->in);
    return b->text.data ? buf_slice(&b->text) : SLICE("");
}

static Slice expand_mode(Interp *in, const Word *w, Mode mode)
{
    Builder b;
    builder_init(&b, in, mode, NULL);
    return build_string(&b, w);
}

static Slice expand_text(Interp *in, const Word *w, bool value)
{
    if (w->count == 0)
        return SLICE("");
    const WordPart *p = &w->parts[0];
    if (w->count == 1 && p->kind == PART_LITERAL) {
        char *text = literal_text(in, p->text);
        return slice(text, p->text.len);
    }
    Slice text;
    if (w->count == 1 && p->kind == PART_QUOTED && p->inner->count == 1)
        p = &p->inner->parts[0];
    if (w->count == 1 && p->kind == PART_PARAM && plain_text(in, p->param, &text))
        return slice(mem_copy(mem_of(in), text), text.len);
    Builder b;
    builder_init(&b, in, MODE_STRING, NULL);
    b.value = value;
    return build_string(&b, w);
}

Slice expand_string(Interp *in, const Word *w) { return expand_text(in, w, false); }
Slice expand_value(Interp *in, const Word *w) { return expand_text(in, w, true); }

Slice expand_pattern(Interp *in, const Word *w)
{
    if (w->count == 1 && w->parts[0].kind == PART_LITERAL && !w->parts[0].quoted)
        return w->parts[0].text;
    return expand_mode(in, w, MODE_PATTERN);
}

Slice expand_pattern_shown(Interp *in, const Word *w)
{
    Builder b;
    builder_init(&b, in, MODE_PATTERN, NULL);
    b.shown = true;
    put_parts(&b, w, false, false);
    return b.text.data ? buf_slice(&b.text) : SLICE("");
}

Slice expand_regex(Interp *in, const Word *w) { return expand_mode(in, w, MODE_REGEX); }
Slice expand_replacement(Interp *in, const Word *w) { return expand_mode(in, w, MODE_REPLACEMENT); }

bool expand_single(Interp *in, const Word *w, Slice *out)
{
    Fields f;
    fields_init(&f, mem_of(in));
    expand_word(in, w, &f);
    if (f.count != 1)
        return false;
    *out = slice_str(f.items[0]);
    return true;
}

/* ---------- tilde ---------- */

static Slice variable_or(Interp *in, const char *name, bool *known)
{
    Slice text;
    Name n = name_of(slice_str(name));
    *known = lang_get(in, &n, &text);
    return slice(mem_copy(mem_of(in), text), text.len);
}

static Slice dirs_tilde(Interp *in, Slice name, bool *known)
{
    size_t digits = name.data[0] == '+' || name.data[0] == '-', n = dirs_count(in);
    int64_t index;
    char *text = mem_copy(mem_of(in), slice_from(name, digits));
    *known = !parse_int(text, &index) && index >= 0 && (uint64_t)index < n;
    if (!*known)
        return name;
    return dirs_get(in, name.data[0] == '-' ? n - 1 - (size_t)index : (size_t)index);
}

/* Home directories come from the shell's own /etc/passwd. */
static Slice user_home(Interp *in, Slice user, bool *known)
{
    Slice text;
    *known = false;
    if (read_file(in->p, "/etc/passwd", &text))
        return user;
    while (text.len) {
        size_t eol = slice_find(text, '\n');
        Slice line = slice(text.data, eol), field = SLICE("");
        text = slice_from(text, MIN(eol + 1, text.len));
        if (!slice_starts(line, user) || line.len == user.len || line.data[user.len] != ':')
            continue;
        for (int i = 0; i < 6; i++) {
            size_t n = slice_find(line, ':');
            field = slice(line.data, n);
            line = slice_from(line, MIN(n + 1, line.len));
        }
        *known = true;
        return field;
    }
    return user;
}

Slice tilde_expand(Interp *in, Slice name, bool *known)
{
    if (name.len == 0) {
        Slice home = variable_or(in, "HOME", known);
        return *known ? home : (*known = true, SLICE("/home/agent"));
    }
    if (slice_is(name, "+"))
        return variable_or(in, "PWD", known);
    if (slice_is(name, "-"))
        return variable_or(in, "OLDPWD", known);
    if (strchr("+-0123456789", name.data[0]))
        return dirs_tilde(in, name, known);
    return user_home(in, name, known);
}

static bool matches(Interp *in, Slice pattern, Slice subject, unsigned flags)
{
    if (!pattern.len)
        return subject.len == 0;
    if (pat_is_literal(pattern, flags) && !(flags & PAT_ICASE) && slice_find(pattern, '\\') == pattern.len)
        return slice_eq(pattern, subject);
    Pat *pat = pat_compile(mem_of(in), pattern, flags);
    if (!pat)
        lang_nomem(in);
    ReEnv env = proc_re_env(in->p);
    return pat_match(&env, pat, subject);
}

bool pattern_matches(Interp *in, Slice pattern, Slice subject) { return matches(in, pattern, subject, pattern_flags(in, true)); }

bool pattern_matches_ext(Interp *in, Slice pattern, Slice subject)
{
    return matches(in, pattern, subject, pattern_flags(in, true) | PAT_EXTGLOB);
}

/* case_option: nocasematch counts (case and [[ ]], not ${v#p}). */
unsigned pattern_flags(Interp *in, bool case_option)
{
    return (SHOPT(in, EXTGLOB) ? PAT_EXTGLOB : 0u) | (lang_bytes(in) ? PAT_BYTES : 0u) | (case_option && SHOPT(in, NOCASEMATCH) ? PAT_ICASE : 0u);
}

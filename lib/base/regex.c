/* regex: compiling and matching over PCRE2.
 *
 * A pattern has up to two compiled forms: one that takes bytes for characters, for ASCII subjects (and all subjects when the pattern does not
 * tell bytes from characters), and one for UTF-8 with stray bytes. They are compiled when first needed and JIT-compiled once they
 * have scanned enough; each is published by one atomic store, so a Re may be used by several threads.
 *
 * PCRE2 finds a first match; POSIX wants the longest at the leftmost place. Where analysis cannot show that both are the same, a second
 * search at that place alone refuses every match through a callout while it notes the longest.
 *
 * A search that uses up its match limit is repeated by the DFA matcher, which knows neither captures nor back-references nor stray bytes: once
 * over the whole for whether there is a match at all, which is linear, then place by place. What that cannot do is tried under larger
 * limits and then given up.
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "regex_tree.h"

enum {
    JIT_AFTER = 16 * 1024,   /* bytes scanned (a call counts 128) before JIT pays */
    CALL_COST = 128,
    FIRST_LIMIT = 200 * 1000, LAST_LIMIT = 64 * 1000 * 1000, /* of PCRE2's match counter */
    CAPTURES_LIMIT = 1600 * 1000, /* the same, for its interpreter, which is slower; then it is the limited slices' turn */
    HEAP_KIB = 64 * 1024,
    JIT_STACK_MOST = 1024 * 1024,
    DFA_WORKSPACE = 16 * 1024, /* ints */
    DFA_MOST = 1024 * 1024,    /* bytes: a tenth of a second or so, and not to be interrupted */
    LOOKED_THROUGH = 16 * 1024, /* longer subjects of unknown text count as mixed */
};

enum { LONG = 4096 /* where one call into PCRE2 costs nothing beside the search */ };

typedef struct Scratch {
    pcre2_match_data *data;
    pcre2_match_context *context;
    int *workspace; /* of the DFA matcher, made when first needed */
    uint32_t limit; /* of matching, as the context has it; 0: not set */
    size_t best[]; /* the longest match's offsets */
} Scratch;

typedef struct {
    char *text;
    size_t len;
    uint32_t options;
    _Atomic(pcre2_code *) code;
    _Atomic(pcre2_code *) jit; /* a second copy with machine code; == code where JIT is refused */
    _Atomic(pcre2_code *) somewhere, here; /* for the DFA matcher: behind any text, and alone */
    _Atomic size_t scanned;
} Form;

struct Re {
    _Atomic uint32_t refs;
    _Atomic size_t bytes;
    size_t limit;              /* of bytes */
    ReSyntax syntax;
    unsigned flags;
    uint32_t groups;
    ReFacts facts;
    Needle needle;
    bool needle_first; /* every match begins with the needle, a byte that PCRE2 looks for by itself */
    pcre2_general_context *general;
    Form fast, full;           /* full.text NULL: fast serves all subjects; fast.text NULL: full does */
    _Atomic(Scratch *) spare;
};

/* ---- memory: malloc, counted in the Re ---- */

typedef struct { size_t size, pad; } Header;

static void *counted_alloc(size_t n, void *user)
{
    Re *re = user;
    size_t whole;
    if (!size_add(n, sizeof(Header), &whole) || re->limit - MIN(re->limit, atomic_load(&re->bytes)) < whole)
        return NULL;
    Header *h = malloc(whole);
    if (!h)
        return NULL;
    h->size = whole;
    atomic_fetch_add(&re->bytes, whole);
    return h + 1;
}

static void counted_free(void *p, void *user)
{
    if (!p)
        return;
    Header *h = (Header *)p - 1;
    atomic_fetch_sub(&((Re *)user)->bytes, h->size);
    free(h);
}

size_t re_bytes(const Re *re) { return sizeof *re + atomic_load(&((Re *)(uintptr_t)re)->bytes); }

/* ---- compiling ---- */

static const char *compile_message(Mem *mem, int code)
{
    if (code == PCRE2_ERROR_HEAP_FAILED)
        return re_no_memory;
    unsigned char text[256];
    pcre2_get_error_message(code, text, sizeof text);
    return mem_strdup(mem, (const char *)text);
}

/* NULL with *error (a PCRE2 code) and *offset. */
static pcre2_code *text_compile(Re *re, Slice text, uint32_t options, int *error, size_t *offset)
{
    *error = PCRE2_ERROR_HEAP_FAILED;
    pcre2_compile_context *context = pcre2_compile_context_create(re->general);
    if (!context)
        return NULL;
    pcre2_set_newline(context, PCRE2_NEWLINE_LF);
    pcre2_code *code = pcre2_compile((PCRE2_SPTR)text.data, text.len, options, error, offset, context);
    pcre2_compile_context_free(context);
    return code;
}

static pcre2_code *form_compile(Re *re, const Form *form, int *error, size_t *offset)
{
    return text_compile(re, slice(form->text, form->len), form->options, error, offset);
}

static pcre2_code *publish(_Atomic(pcre2_code *) *at, pcre2_code *code)
{
    pcre2_code *none = NULL;
    if (atomic_compare_exchange_strong(at, &none, code))
        return code;
    pcre2_code_free(code);
    return none;
}

static pcre2_code *form_code(Re *re, Form *form)
{
    pcre2_code *code = atomic_load_explicit(&form->code, memory_order_acquire);
    int error;
    size_t offset;
    if (!code && (code = form_compile(re, form, &error, &offset)))
        code = publish(&form->code, code);
    return code;
}

/* The form for the DFA matcher, with `prefix` before it: without the option for stray bytes, which that refuses. */
static pcre2_code *form_for_dfa(Re *re, const Form *form, _Atomic(pcre2_code *) *at, const char *prefix)
{
    pcre2_code *code = atomic_load_explicit(at, memory_order_acquire);
    int error;
    size_t offset, n = strlen(prefix);
    char *text = code ? NULL : counted_alloc(n + form->len, re);
    if (!text)
        return code;
    memcpy(text, prefix, n);
    memcpy(text + n, form->text, form->len);
    code = text_compile(re, slice(text, n + form->len), form->options & ~(uint32_t)PCRE2_MATCH_INVALID_UTF, &error, &offset);
    counted_free(text, re);
    return code ? publish(at, code) : NULL;
}

/* The code to run now: with JIT once the form has scanned enough. */
static pcre2_code *form_ready(Re *re, Form *form, size_t length)
{
    pcre2_code *jit = atomic_load_explicit(&form->jit, memory_order_acquire);
    if (jit)
        return jit;
    pcre2_code *code = form_code(re, form);
    size_t scanned = atomic_load_explicit(&form->scanned, memory_order_relaxed);
    if (!code || (scanned += length + CALL_COST) < JIT_AFTER) {
        atomic_store_explicit(&form->scanned, scanned, memory_order_relaxed);
        return code;
    }
    pcre2_code *copy = pcre2_code_copy(code);
    if (!copy)
        return code;
    if (pcre2_jit_compile(copy, PCRE2_JIT_COMPLETE) != 0) {
        pcre2_code_free(copy);
        pcre2_code *none = NULL;
        atomic_compare_exchange_strong(&form->jit, &none, code);
        return code;
    }
    return publish(&form->jit, copy);
}

static void form_free(Re *re, Form *form)
{
    pcre2_code *code = atomic_load(&form->code), *jit = atomic_load(&form->jit);
    if (jit && jit != code)
        pcre2_code_free(jit);
    pcre2_code_free(code);
    pcre2_code_free(atomic_load(&form->somewhere));
    pcre2_code_free(atomic_load(&form->here));
    counted_free(form->text, re);
}

static bool form_text(Re *re, Form *form, Slice text, uint32_t options)
{
    form->text = counted_alloc(text.len + 1, re);
    if (!form->text)
        return false;
    if (text.len)
        memcpy(form->text, text.data, text.len);
    form->text[text.len] = 0;
    form->len = text.len;
    form->options = options;
    return true;
}

static uint32_t common_options(const Re *re)
{
    uint32_t o = PCRE2_NEVER_BACKSLASH_C;
    if (re->flags & RE_ICASE)
        o |= PCRE2_CASELESS;
    if (re->syntax == RE_PCRE)
        return o | PCRE2_DOLLAR_ENDONLY | (re->flags & (RE_NEWLINE | RE_MULTILINE) ? PCRE2_MULTILINE : 0);
    o |= PCRE2_DOLLAR_ENDONLY;
    if (re->flags & (RE_NEWLINE | RE_MULTILINE))
        o |= PCRE2_MULTILINE | PCRE2_ALT_CIRCUMFLEX;
    if (!(re->flags & RE_NEWLINE))
        o |= PCRE2_DOTALL;
    return o | (re->facts.ambiguous ? PCRE2_USE_OFFSET_LIMIT : 0);
}

static bool print_form(Re *re, Form *form, Mem *mem, const Node *n, ReForm kind)
{
    Buf out;
    buf_init(&out, mem, BUF_MAX);
    re_print(&out, n, kind, re->flags);
    if (re->facts.ambiguous)
        buf_append(&out, SLICE("(?C1)"));
    uint32_t utf = kind == FORM_UTF ? PCRE2_UTF | PCRE2_MATCH_INVALID_UTF : 0;
    return !out.failed && form_text(re, form, buf_slice(&out), common_options(re) | utf);
}

static Node *fixed_node(ReParse *ps, Slice pattern)
{
    Node *n = re_node(ps, pattern.len ? N_CAT : N_EMPTY);
    if (!n || !pattern.len)
        return n;
    n->kids = mem_array(ps->mem, pattern.len, Node *);
    size_t len;
    for (size_t at = 0; n->kids && at < pattern.len; at += len) {
        Node *c = re_node(ps, N_CHAR);
        if (!c)
            return NULL;
        c->c = char_at(pattern, at, ps->flags & RE_BYTES, &len);
        n->kids[n->count++] = c;
    }
    return n->kids ? n : NULL;
}

static Node *parse_all(ReParse *ps, const Slice *patterns, size_t count)
{
    Node **trees = mem_array(ps->mem, count, Node *);
    if (!trees || count > UINT32_MAX)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        trees[i] = ps->syntax == RE_FIXED ? fixed_node(ps, patterns[i]) : re_parse(ps, patterns[i]);
        if (!trees[i])
            return NULL;
    }
    return re_list(ps, N_ALT, trees, (uint32_t)count);
}

static bool compile_tree(Re *re, Mem *mem, const Slice *patterns, size_t count, ReError *err)
{
    ReParse ps = {.mem = mem, .syntax = re->syntax, .flags = re->flags};
    Node *n = parse_all(&ps, patterns, count);
    *err = (ReError){.message = ps.message ? ps.message : re_no_memory, .offset = ps.offset};
    memcpy(err->dangling, ps.dangling, sizeof ps.dangling);
    err->late = n && ps.colon;
    if (err->late)
        err->message = "character class syntax is [[:space:]], not [:space:]";
    if (!n || err->late)
        return false;
    re->groups = ps.groups;
    re->facts = re_analyse(&ps, n, mem);
    bool bytes = re->flags & RE_BYTES, ok = true;
    if (bytes || !re->facts.stray)
        ok = print_form(re, &re->fast, mem, n, FORM_FAST);
    if (ok && !bytes && !(re->facts.safe && !re->facts.stray))
        ok = print_form(re, &re->full, mem, n, re->facts.stray ? FORM_MIXED : FORM_UTF);
    Slice found = re->facts.needle; /* in scratch memory, which goes */
    char *needle = ok ? counted_alloc(found.len + 1, re) : NULL;
    re->facts.needle = (Slice){needle, needle ? found.len : 0};
    err->message = re_no_memory;
    if (needle && found.len)
        memcpy(needle, found.data, found.len);
    re->needle = needle_of(re->facts.needle);
    return needle != NULL;
}

/* -P: the pattern is PCRE2's own; only what -x and -w put around it is ours. Several patterns are alternatives. */
static bool compile_pcre(Re *re, Mem *mem, const Slice *patterns, size_t count, ReError *err)
{
    Buf out;
    buf_init(&out, mem, BUF_MAX);
    buf_append(&out, slice_str(re->flags & RE_WHOLE_LINE ? "^(?:" : re->flags & RE_WHOLE_WORD ? "(?<!\\w)(?:" : ""));
    for (size_t i = 0; i < count; i++) {
        if (i)
            buf_char(&out, '|');
        buf_append(&out, patterns[i]);
    }
    buf_append(&out, slice_str(re->flags & RE_WHOLE_LINE ? ")$" : re->flags & RE_WHOLE_WORD ? ")(?!\\w)" : ""));
    *err = (ReError){.message = re_no_memory};
    uint32_t utf = re->flags & RE_BYTES ? 0 : PCRE2_UTF | PCRE2_MATCH_INVALID_UTF;
    char *needle = counted_alloc(1, re);
    re->facts.needle = (Slice){needle, 0};
    return needle && !out.failed && form_text(re, &re->full, buf_slice(&out), common_options(re) | utf);
}

static void re_free(Re *re);

Re *re_compile(Budget *budget, Mem *mem, const Slice *patterns, size_t count, ReSyntax syntax, unsigned flags, ReError *err)
{
    *err = (ReError){.message = re_no_memory};
    if (budget && !budget_take(budget, sizeof(Re)))
        return NULL;
    if (budget)
        budget_give(budget, sizeof(Re));
    Re *re = calloc(1, sizeof *re);
    if (!re)
        return NULL;
    atomic_init(&re->refs, 1);
    re->limit = budget && budget->limit ? (size_t)(budget->limit - MIN(budget->used, budget->limit)) : SIZE_MAX;
    re->syntax = syntax;
    re->flags = flags;
    re->general = pcre2_general_context_create(counted_alloc, counted_free, re);
    if (!re->general) {
        free(re);
        return NULL;
    }
    Mem scratch; /* the tree and its texts go when the forms are printed */
    mem_init(&scratch, budget, NULL, NULL);
    bool ok = syntax == RE_PCRE ? compile_pcre(re, &scratch, patterns, count, err) : compile_tree(re, &scratch, patterns, count, err);
    mem_drop(&scratch);
    Form *form = re->fast.text ? &re->fast : &re->full;
    if (ok && !re->facts.literal) {
        int error;
        size_t offset = 0;
        pcre2_code *code = form_compile(re, form, &error, &offset);
        atomic_store(&form->code, code);
        if (!code)
            *err = (ReError){.message = syntax == RE_PCRE || error == PCRE2_ERROR_HEAP_FAILED ? compile_message(mem, error) : "Regular expression too big",
                             .offset = offset};
        ok = code != NULL;
        if (code && syntax == RE_PCRE)
            pcre2_pattern_info(code, PCRE2_INFO_CAPTURECOUNT, &re->groups);
        uint32_t first = 0;
        if (code && re->facts.needle.len == 1 && pcre2_pattern_info(code, PCRE2_INFO_FIRSTCODETYPE, &first) == 0)
            re->needle_first = first == 1;
    }
    if (!ok) {
        re_free(re);
        return NULL;
    }
    return re;
}

Re *re_ref(Re *re)
{
    atomic_fetch_add_explicit(&re->refs, 1, memory_order_relaxed);
    return re;
}

static void scratch_free(Re *re, Scratch *s)
{
    if (!s)
        return;
    pcre2_match_data_free(s->data);
    pcre2_match_context_free(s->context);
    counted_free(s->workspace, re);
    counted_free(s, re);
}

static void re_free(Re *re)
{
    scratch_free(re, atomic_load(&re->spare));
    form_free(re, &re->fast);
    form_free(re, &re->full);
    counted_free((void *)(uintptr_t)re->facts.needle.data, re);
    pcre2_general_context_free(re->general);
    free(re);
}

void re_unref(Re *re)
{
    if (re && atomic_fetch_sub_explicit(&re->refs, 1, memory_order_acq_rel) == 1)
        re_free(re);
}

size_t re_groups(const Re *re) { return re->groups; }

size_t re_group_named(const Re *re, Slice name)
{
    char text[64];
    const Form *form = re->fast.text ? &re->fast : &re->full;
    if (name.len >= sizeof text)
        return 0;
    memcpy(text, name.data, name.len);
    text[name.len] = 0;
    int n = pcre2_substring_number_from_name(atomic_load(&form->code), (PCRE2_SPTR)text);
    return n > 0 ? (size_t)n : 0;
}

Slice re_needle(const Re *re) { return re->facts.needle; }
size_t re_needle_find(const Re *re, Slice subject) { return needle_find(&re->needle, subject); }

/* ---- matching ---- */

static Scratch *scratch_take(Re *re)
{
    Scratch *s = atomic_exchange_explicit(&re->spare, NULL, memory_order_acquire);
    if (s)
        return s;
    size_t pairs = (size_t)re->groups + 1;
    s = counted_alloc(sizeof *s + pairs * 2 * sizeof(size_t), re);
    if (!s)
        return NULL;
    s->workspace = NULL;
    s->limit = 0;
    s->data = pcre2_match_data_create((uint32_t)pairs, re->general);
    s->context = pcre2_match_context_create(re->general);
    if (!s->data || !s->context) {
        scratch_free(re, s);
        return NULL;
    }
    pcre2_set_heap_limit(s->context, HEAP_KIB);
    return s;
}

static void set_limit(Scratch *s, uint32_t limit)
{
    if (unlikely(s->limit != limit))
        pcre2_set_match_limit(s->context, s->limit = limit);
}

static void scratch_put(Re *re, Scratch *s)
{
    Scratch *none = NULL;
    if (!atomic_compare_exchange_strong_explicit(&re->spare, &none, s, memory_order_release, memory_order_relaxed))
        scratch_free(re, s);
}

void re_hold_end(ReHold *hold)
{
    if (hold->scratch)
        scratch_put(hold->re, hold->scratch);
    hold->scratch = NULL;
}

/* One search: what it is about, and what a callout notes. */
typedef struct {
    Re *re;
    ReHold *hold; /* or NULL */
    Form *form;
    pcre2_code *code;
    bool jit;
    Scratch *scratch;
    Slice subject;
    uint32_t options;
    size_t want_end;    /* RE_UNSET, or the only end that counts */
    size_t best_end;    /* RE_UNSET: none yet */
} Search;

/* At the end of each match: refuses it, so that the next is tried, and remembers the longest. */
static int on_match(pcre2_callout_block *b, void *user)
{
    Search *s = user;
    size_t end = b->current_position;
    if (b->callout_number != 1)
        return 0;
    if (s->want_end != RE_UNSET)
        return end != s->want_end;
    if (s->best_end == RE_UNSET || end > s->best_end) {
        size_t pairs = (size_t)s->re->groups + 1;
        for (size_t i = 1; i < pairs; i++) {
            bool in = i < b->capture_top;
            s->scratch->best[2 * i] = in ? b->offset_vector[2 * i] : RE_UNSET;
            s->scratch->best[2 * i + 1] = in ? b->offset_vector[2 * i + 1] : RE_UNSET;
        }
        s->scratch->best[0] = b->start_match;
        s->best_end = s->scratch->best[1] = end;
    }
    return end == s->subject.len ? PCRE2_ERROR_CALLOUT : 1;
}

static int match_jit(Search *s, size_t start)
{
    return pcre2_jit_match(s->code, (PCRE2_SPTR)s->subject.data, s->subject.len, start, s->options, s->scratch->data, s->scratch->context);
}

/* JIT starts on 32 KiB of the caller's stack; when those are too few it gets a stack of its own, and then the interpreter's heap. */
static int match_once(Search *s, size_t start)
{
    if (!s->jit)
        return pcre2_match(s->code, (PCRE2_SPTR)s->subject.data, s->subject.len, start, s->options, s->scratch->data, s->scratch->context);
    int rc = match_jit(s, start);
    if (likely(rc != PCRE2_ERROR_JIT_STACKLIMIT))
        return rc;
    pcre2_jit_stack *stack = pcre2_jit_stack_create(32 * 1024, JIT_STACK_MOST, s->re->general);
    if (stack) {
        pcre2_jit_stack_assign(s->scratch->context, NULL, stack);
        s->best_end = RE_UNSET;
        rc = match_jit(s, start);
        pcre2_jit_stack_assign(s->scratch->context, NULL, NULL);
        pcre2_jit_stack_free(stack);
    }
    if (rc == PCRE2_ERROR_JIT_STACKLIMIT) {
        s->best_end = RE_UNSET;
        rc = pcre2_match(s->code, (PCRE2_SPTR)s->subject.data, s->subject.len, start, s->options | PCRE2_NO_JIT, s->scratch->data, s->scratch->context);
    }
    return rc;
}

static bool out_of_work(int rc)
{
    return rc == PCRE2_ERROR_MATCHLIMIT || rc == PCRE2_ERROR_HEAPLIMIT || rc == PCRE2_ERROR_DEPTHLIMIT || rc == PCRE2_ERROR_JIT_STACKLIMIT;
}

/* Linear, without captures, at `start` alone: the end is in the match data. A negative code when there is no match or it cannot tell. */
static int match_dfa(Search *s, const pcre2_code *code, size_t start, uint32_t options)
{
    if (!s->scratch->workspace)
        s->scratch->workspace = counted_alloc(DFA_WORKSPACE * sizeof(int), s->re);
    if (!s->scratch->workspace)
        return PCRE2_ERROR_NOMEMORY;
    return pcre2_dfa_match(code, (PCRE2_SPTR)s->subject.data, s->subject.len, start, s->options | options | PCRE2_ANCHORED | PCRE2_NO_UTF_CHECK,
                           s->scratch->data, s->scratch->context, s->scratch->workspace, DFA_WORKSPACE);
}

/* The captures of the match from `start` to `end`; fills scratch->best. */
static int captures_at(Search *s, size_t start, size_t end)
{
    int rc;
    if (s->re->facts.ambiguous) {
        pcre2_set_offset_limit(s->scratch->context, start);
        pcre2_set_callout(s->scratch->context, on_match, s);
        s->want_end = end;
        rc = match_once(s, start);
        pcre2_set_callout(s->scratch->context, NULL, NULL);
        pcre2_set_offset_limit(s->scratch->context, PCRE2_UNSET);
        s->want_end = RE_UNSET;
    } else {
        rc = pcre2_match(s->code, (PCRE2_SPTR)s->subject.data, s->subject.len, start, s->options | PCRE2_ANCHORED, s->scratch->data, s->scratch->context);
    }
    const size_t *ovector = pcre2_get_ovector_pointer(s->scratch->data);
    for (size_t i = 0; rc > 0 && i < 2 * ((size_t)s->re->groups + 1); i++)
        s->scratch->best[i] = i < 2 * (size_t)rc ? ovector[i] : RE_UNSET;
    return rc;
}

/* The longest match that begins at `start`, where there is one; fills scratch->best. */
static int longest_at(Search *s, size_t start)
{
    pcre2_set_offset_limit(s->scratch->context, start);
    pcre2_set_callout(s->scratch->context, on_match, s);
    s->best_end = s->want_end = RE_UNSET;
    int rc = match_once(s, start);
    pcre2_set_callout(s->scratch->context, NULL, NULL);
    pcre2_set_offset_limit(s->scratch->context, PCRE2_UNSET);
    return s->best_end != RE_UNSET && !out_of_work(rc) ? PCRE2_ERROR_CALLOUT : rc;
}

static void fill_spans(const size_t *offsets, size_t pairs, ReSpan *spans, size_t nspans)
{
    for (size_t i = 0; i < nspans; i++) {
        bool set = i < pairs && offsets[2 * i] != PCRE2_UNSET;
        spans[i] = set ? (ReSpan){offsets[2 * i], offsets[2 * i + 1]} : (ReSpan){RE_UNSET, RE_UNSET};
    }
}

/* One slice of work under `limit`: a PCRE2 code, spans filled when it is positive. */
static int search_slice(Search *s, size_t start, uint32_t limit, ReSpan *spans, size_t nspans)
{
    Re *re = s->re;
    set_limit(s->scratch, limit);
    int rc = match_once(s, start);
    if (rc < 0)
        return rc;
    const size_t *ovector = pcre2_get_ovector_pointer(s->scratch->data);
    size_t pairs = (size_t)rc;
    if (re->facts.ambiguous && nspans && ovector[1] != s->subject.len) {
        rc = longest_at(s, ovector[0]);
        if (rc != PCRE2_ERROR_CALLOUT)
            return rc;
        ovector = s->scratch->best;
        pairs = (size_t)re->groups + 1;
    }
    fill_spans(ovector, pairs, spans, nspans);
    return 1;
}

static bool needs_full(const ReEnv *env, const Re *re, Slice subject)
{
    if (!re->full.text)
        return false;
    if (!re->fast.text || env->text == TEXT_MIXED)
        return true;
    return env->text != TEXT_ASCII && (subject.len > LOOKED_THROUGH || !slice_ascii(subject));
}

static void tick(const ReEnv *env, uint64_t cost)
{
    if (env->tick)
        env->tick(env->user, cost);
}

/* Takes the scratch and the code for one slice of work; nothing but what the caller's hold owns is held while `tick` runs. */
static bool slice_begin(Search *s, size_t start)
{
    s->code = form_ready(s->re, s->form, s->subject.len - start);
    if (!s->code)
        return false;
    s->scratch = s->hold && s->hold->scratch ? s->hold->scratch : scratch_take(s->re);
    if (!s->scratch)
        return false;
    if (s->hold)
        s->hold->scratch = s->scratch;
    s->jit = s->code == atomic_load_explicit(&s->form->jit, memory_order_relaxed) && s->code != atomic_load_explicit(&s->form->code, memory_order_relaxed);
    return true;
}

static void slice_end(Search *s)
{
    if (!s->hold)
        scratch_put(s->re, s->scratch);
}

static int dfa_slice(Search *s, const ReEnv *env, const pcre2_code *code, size_t start, uint32_t options, size_t *end)
{
    if (!slice_begin(s, start))
        return PCRE2_ERROR_NOMEMORY;
    set_limit(s->scratch, LAST_LIMIT);
    int rc = match_dfa(s, code, start, options);
    *end = pcre2_get_ovector_pointer(s->scratch->data)[1];
    slice_end(s);
    tick(env, 1 + (s->subject.len - start) / 64);
    return rc;
}

static size_t next_place(const Search *s, size_t at)
{
    size_t n = 1;
    if (at < s->subject.len && (s->form->options & PCRE2_UTF))
        utf8_decode(s->subject.data + at, s->subject.len - at, &n);
    return at + n;
}

/* The same search without backtracking: whether there is a match, then where, then its captures. */
static int search_linear(Search *s, const ReEnv *env, size_t start, ReSpan *spans, size_t nspans)
{
    Re *re = s->re;
    Slice rest = slice_from(s->subject, start);
    if (re->facts.backrefs || re->syntax == RE_PCRE || rest.len > DFA_MOST || ((s->form->options & PCRE2_UTF) && !utf8_valid(s->subject)))
        return PCRE2_ERROR_MATCHLIMIT;
    const pcre2_code *somewhere = form_for_dfa(re, s->form, &s->form->somewhere, "(?s:.*?)");
    const pcre2_code *here = form_for_dfa(re, s->form, &s->form->here, "");
    size_t end, at = start;
    if (!somewhere || !here)
        return PCRE2_ERROR_NOMEMORY;
    int rc = dfa_slice(s, env, somewhere, start, PCRE2_DFA_SHORTEST, &end);
    if (rc >= 0)
        while ((rc = dfa_slice(s, env, here, at, 0, &end)) == PCRE2_ERROR_NOMATCH && at < s->subject.len)
            at = next_place(s, at);
    if (rc < 0)
        return rc == PCRE2_ERROR_NOMATCH ? rc : PCRE2_ERROR_MATCHLIMIT;
    size_t whole[2] = {at, end};
    fill_spans(whole, 1, spans, nspans);
    if (nspans > 1 && re->groups) {
        if (!slice_begin(s, at))
            return PCRE2_ERROR_NOMEMORY;
        set_limit(s->scratch, CAPTURES_LIMIT);
        rc = captures_at(s, at, end);
        if (rc > 0)
            fill_spans(s->scratch->best, (size_t)re->groups + 1, spans, nspans);
        slice_end(s);
        tick(env, out_of_work(rc) ? CAPTURES_LIMIT / 16 : 1);
    }
    return rc < 0 ? rc : 1;
}

/* grep's buffers: a match lies in one line, so that a hard search is made line by line. */
static ReResult search_lines(const ReEnv *env, Re *re, Slice subject, size_t start, bool not_bol, ReSpan *spans, size_t nspans)
{
    const char *before = start ? memrchr(subject.data, '\n', start) : NULL;
    size_t low = before ? (size_t)(before - subject.data) + 1 : 0;
    ReEnv line_env = *env;
    line_env.text = TEXT_UNKNOWN;
    while (low <= subject.len) {
        Slice line = slice(subject.data + low, slice_find(slice_from(subject, low), '\n'));
        ReResult r = re_search(&line_env, re, line, start > low ? start - low : 0, not_bol && low == 0, spans, nspans);
        for (size_t i = 0; r == RE_MATCHED && i < nspans; i++)
            if (spans[i].start != RE_UNSET)
                spans[i] = (ReSpan){spans[i].start + low, spans[i].end + low};
        if (r != RE_NOMATCH)
            return r;
        low += line.len + 1;
    }
    return RE_NOMATCH;
}

static int limited_slice(Search *s, const ReEnv *env, size_t start, uint32_t limit, ReSpan *spans, size_t nspans)
{
    if (!slice_begin(s, start))
        return PCRE2_ERROR_NOMEMORY;
    int rc = search_slice(s, start, limit, spans, nspans);
    size_t end = rc > 0 ? pcre2_get_ovector_pointer(s->scratch->data)[1] : s->subject.len; /* of what was looked through */
    slice_end(s);
    tick(env, out_of_work(rc) ? limit / 16 : 1 + (MAX(MIN(end, s->subject.len), start) - start) / 256);
    return rc;
}

static ReResult search_pcre(const ReEnv *env, Re *re, Slice subject, size_t start, bool not_bol, ReSpan *spans, size_t nspans)
{
    Form *form = needs_full(env, re, subject) ? &re->full : &re->fast;
    Search s = {.re = re, .hold = env->hold && env->hold->re == re ? env->hold : NULL, .form = form, .subject = subject, .options = not_bol ? PCRE2_NOTBOL : 0, .want_end = RE_UNSET, .best_end = RE_UNSET};
    if (!subject.data)
        s.subject.data = "";
    /* PCRE2 steps over stray bytes itself, and then takes .* for something that begins after a newline only. */
    while ((form->options & PCRE2_UTF) && start < subject.len && ((unsigned char)subject.data[start] & 0xC0) == 0x80)
        start++;
    int rc = limited_slice(&s, env, start, FIRST_LIMIT, spans, nspans);
    if (unlikely(out_of_work(rc))) {
        unsigned by_line = RE_GREP | RE_NEWLINE;
        if ((re->flags & by_line) == by_line && memchr(subject.data, '\n', subject.len))
            return search_lines(env, re, subject, start, not_bol, spans, nspans);
        rc = search_linear(&s, env, start, spans, nspans);
        for (uint32_t limit = FIRST_LIMIT * 8; out_of_work(rc) && limit <= LAST_LIMIT; limit *= 8)
            rc = limited_slice(&s, env, start, limit, spans, nspans);
    }
    if (rc > 0)
        return RE_MATCHED;
    return rc == PCRE2_ERROR_NOMATCH ? RE_NOMATCH : rc == PCRE2_ERROR_NOMEMORY ? RE_ERR_MEMORY : RE_ERR_LIMIT;
}

ReResult re_search(const ReEnv *env, Re *re, Slice subject, size_t start, bool not_bol, ReSpan *spans, size_t nspans)
{
    Slice needle = re->facts.needle;
    if (start > subject.len)
        return RE_NOMATCH;
    if (needle.len && !(re->needle_first && subject.len - start > LONG)) {
        size_t at = needle_find(&re->needle, slice_from(subject, start));
        if (at == SIZE_MAX)
            return RE_NOMATCH;
        if (re->facts.literal) {
            size_t whole[2] = {start + at, start + at + needle.len};
            fill_spans(whole, 1, spans, nspans);
            return RE_MATCHED;
        }
    }
    return search_pcre(env, re, subject, start, not_bol, spans, nspans);
}

/* cond: [[ ]], and the primaries that test shares with it. */
#include <sys/stat.h>

#include "interp.h"

enum { DEPTH_MAX = 1000 };

/* ---------- files ---------- */

static bool stat_of(Interp *in, Slice path, int flags, VStat *st)
{
    char *p = mem_copy(mem_of(in), path);
    return path.len && proc_stat(in->p, p, flags, st) == 0;
}

static bool access_of(Interp *in, Slice path, int how) { return path.len && proc_access(in->p, mem_copy(mem_of(in), path), how) == 0; }

static bool is_terminal(Interp *in, Slice fd)
{
    int64_t n;
    return !parse_int(mem_copy(mem_of(in), fd), &n) && n >= 0 && n <= INT32_MAX && proc_isatty(in->p, (int)n);
}

static bool nameref_set(Interp *in, Slice name)
{
    const Var *v = var_find_raw(in, name);
    return v && v->attrs & ATTR_NAMEREF && v->value.kind == VALUE_STR;
}

static bool test_option(Interp *in, Slice name)
{
    size_t n;
    OptionState *list = option_list(in, &n);
    for (size_t i = 0; i < n; i++)
        if (slice_is(name, list[i].name))
            return list[i].on;
    return false;
}

static bool test_stat(char op, const VStat *st, Interp *in)
{
    switch (op) {
    case 'a': case 'e': case 'h': case 'L': return op == 'a' || op == 'e' || S_ISLNK(st->mode);
    case 'f': return S_ISREG(st->mode);
    case 'd': return S_ISDIR(st->mode);
    case 'b': return S_ISBLK(st->mode);
    case 'c': return S_ISCHR(st->mode);
    case 'p': return S_ISFIFO(st->mode);
    case 'S': return S_ISSOCK(st->mode);
    case 's': return st->size > 0;
    case 'g': return st->mode & S_ISGID;
    case 'u': return st->mode & S_ISUID;
    case 'k': return st->mode & S_ISVTX;
    case 'O': return st->uid == in->p->cred.uid;
    case 'G': return st->gid == in->p->cred.gid;
    case 'N': return st->mtime > st->atime || (st->mtime == st->atime && st->mtime_ns > st->atime_ns);
    default: return false;
    }
}

bool test_unary(Interp *in, char op, Slice s)
{
    VStat st;
    switch (op) {
    case 'n': return s.len > 0;
    case 'z': return s.len == 0;
    case 'v': return var_is_set(in, s);
    case 'R': return nameref_set(in, s);
    case 'o': return test_option(in, s);
    case 't': return is_terminal(in, s);
    case 'r': return access_of(in, s, 4);
    case 'w': return access_of(in, s, 2);
    case 'x': return access_of(in, s, 1);
    default: return stat_of(in, s, op == 'h' || op == 'L' ? V_NOFOLLOW : 0, &st) && test_stat(op, &st, in);
    }
}

static int compare_times(const VStat *a, const VStat *b)
{
    if (a->mtime != b->mtime)
        return a->mtime < b->mtime ? -1 : 1;
    return (a->mtime_ns > b->mtime_ns) - (a->mtime_ns < b->mtime_ns);
}

bool test_files(Interp *in, TestOp op, Slice left, Slice right)
{
    VStat a, b;
    bool has_a = stat_of(in, left, 0, &a), has_b = stat_of(in, right, 0, &b);
    switch (op) {
    case TEST_NEWER: return has_a && (!has_b || compare_times(&a, &b) > 0);
    case TEST_OLDER: return has_b && (!has_a || compare_times(&a, &b) < 0);
    case TEST_SAME: return has_a && has_b && a.dev == b.dev && a.ino == b.ino;
    default: return false;
    }
}

/* ---------- =~ ---------- */

static void set_rematch(Interp *in, Slice subject, const ReSpan *spans, size_t n)
{
    Slice name = SLICE("BASH_REMATCH");
    if (!var_make_array(in, name))
        return;
    for (size_t i = 0; i < n; i++) {
        bool set = spans[i].start != RE_UNSET;
        array_put(in, name, (int64_t)i, set ? slice(subject.data + spans[i].start, spans[i].end - spans[i].start) : SLICE(""));
    }
}

static bool eval_regex(Interp *in, Slice subject, const Word *right, int *status)
{
    ReError error = {0};
    unsigned flags = RE_BASH | RE_BYTE_RANGES | (SHOPT(in, NOCASEMATCH) ? (unsigned)RE_ICASE : 0u);
    Re *re = proc_regex(in->p, expand_regex(in, right), RE_ERE, flags, &error);
    if (!re) {
        *status = 2;
        return false;
    }
    size_t n = re_groups(re) + 1;
    ReSpan *spans = mem_array(mem_of(in), n, ReSpan);
    ReEnv env = proc_re_env(in->p);
    ReResult r = re_search(&env, re, subject, 0, false, spans, n);
    if (r == RE_ERR_LIMIT)
        proc_limit(in->p, LIMIT_REGEX);
    if (r == RE_ERR_MEMORY)
        lang_nomem(in);
    set_rematch(in, subject, spans, r == RE_MATCHED ? n : 0);
    return r == RE_MATCHED;
}

/* ---------- evaluation ---------- */

static bool number_of(Interp *in, Slice text, int64_t *out, int *status)
{
    in->arith_who = "[[";
    bool ok = arith_eval_text(in, text, out);
    in->arith_who = NULL;
    if (!ok)
        *status = 1;
    return ok;
}

static bool eval_numbers(Interp *in, TestOp op, Slice left, Slice right, int *status)
{
    int64_t a, b;
    if (!number_of(in, left, &a, status) || !number_of(in, right, &b, status))
        return false;
    switch (op) {
    case TEST_NUM_EQ: return a == b;
    case TEST_NUM_NE: return a != b;
    case TEST_NUM_LT: return a < b;
    case TEST_NUM_LE: return a <= b;
    case TEST_NUM_GT: return a > b;
    case TEST_NUM_GE: return a >= b;
    default: return false;
    }
}

static void trace_cond(Interp *in, Slice left, const char *op, Slice right)
{
    if (likely(!OPT(in, XTRACE)))
        return;
    Buf b;
    trace_begin(in, &b);
    buf_append(&b, in->cond_not ? SLICE("[[ ! ") : SLICE("[[ "));
    in->cond_not = false;
    if (left.data) {
        buf_append(&b, left.len ? left : SLICE("''"));
        buf_char(&b, ' ');
    }
    buf_append(&b, slice_str(op));
    if (right.data) {
        buf_char(&b, ' ');
        buf_append(&b, right.len ? right : SLICE("''"));
    }
    buf_append(&b, SLICE(" ]]"));
    trace_end(in, &b);
}

static const char *op_text(const Cond *c)
{
    static const char *const names[] = {"", "==", "!=", "<", ">", "=~", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef"};
    return c->op == TEST_EQ && c->single_equal ? "=" : names[c->op];
}

/* Nothing in it that would run twice when it is expanded again. */
static bool is_literal(const Word *w)
{
    for (uint32_t i = 0; i < w->count; i++) {
        const WordPart *part = &w->parts[i];
        if (part->kind == PART_QUOTED ? !is_literal(part->inner) : part->kind != PART_LITERAL && !(part->kind == PART_PARAM && part->param->kind == PARAM_PLAIN))
            return false;
    }
    return true;
}

static bool eval_binary(Interp *in, const Cond *c, int *status)
{
    Slice left = expand_string(in, c->left), right;
    switch (c->op) {
    case TEST_MATCH:
        trace_cond(in, left, "=~", OPT(in, XTRACE) ? expand_regex(in, c->right) : SLICE(""));
        return eval_regex(in, left, c->right, status);
    case TEST_EQ: case TEST_NE: {
        right = expand_pattern(in, c->right);
        if (unlikely(OPT(in, XTRACE)))
            trace_cond(in, left, op_text(c), is_literal(c->right) ? expand_pattern_shown(in, c->right) : right);
        return pattern_matches_ext(in, right, left) == (c->op == TEST_EQ);
    }
    default: break;
    }
    right = expand_string(in, c->right);
    trace_cond(in, left, op_text(c), right);
    switch (c->op) {
    case TEST_LT: return slice_cmp(left, right) < 0;
    case TEST_GT: return slice_cmp(left, right) > 0;
    case TEST_NEWER: case TEST_OLDER: case TEST_SAME: return test_files(in, c->op, left, right);
    default: return eval_numbers(in, c->op, left, right, status);
    }
}

static bool eval_depth(Interp *in, const Cond *c, int *status, unsigned depth)
{
    if (depth > DEPTH_MAX || !proc_stack_room(in->p, 16384))
        proc_limit(in->p, LIMIT_DEPTH);
    bool value;
    Slice text;
    switch (c->kind) {
    case COND_WORD:
        text = expand_string(in, c->left);
        trace_cond(in, slice(NULL, 0), "-n", text);
        return text.len > 0;
    case COND_UNARY:
        text = expand_string(in, c->left);
        trace_cond(in, slice(NULL, 0), (char[]){'-', c->unary, 0}, text);
        return test_unary(in, c->unary, text);
    case COND_BINARY: return eval_binary(in, c, status);
    case COND_NOT:
        in->cond_not = c->a->kind <= COND_WORD;
        value = eval_depth(in, c->a, status, depth + 1);
        in->cond_not = false;
        *status = 0; /* what is wrong is false */
        return !value;
    case COND_AND: return eval_depth(in, c->a, status, depth + 1) && eval_depth(in, c->b, status, depth + 1);
    case COND_OR:
        value = eval_depth(in, c->a, status, depth + 1);
        if (value)
            return true;
        *status = 0;
        return eval_depth(in, c->b, status, depth + 1);
    case COND_GROUP: return eval_depth(in, c->a, status, depth + 1);
    }
    return false;
}

bool cond_eval(Interp *in, const Cond *c, int *status)
{
    *status = 0;
    bool value = eval_depth(in, c, status, 0);
    if (!*status)
        *status = value ? 0 : 1;
    return value;
}

int exec_cond(Interp *in, const Node *n)
{
    MemMark mark = mem_mark(mem_of(in));
    Unwind *unwind = in->unwind;
    int status;
    in->dyn.line = n->line;
    in->command = n;
    if (unlikely(trap_has(in, TRAP_DEBUG)) && trap_debug(in))
        return 0;
    cond_eval(in, n->cond.cond, &status);
    unwind_to(in, unwind);
    mem_reset(mem_of(in), mark);
    in->status = status;
    set_pipestatus(in, &status, 1);
    check_errexit(in, status);
    return status;
}

/* reprint: parses script files, prints what was parsed, parses that, and compares the two trees, node by node.
 *
 * usage: reprint FILE...    one line a file: "same FILE", "differ FILE", or "error FILE: message" as `bash -n` prints it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/lang/parse.h"

/* A tree as text in which everything counts but places, sources and what is compiled from words. */
typedef struct { Buf *out; } Dump;

static void dump_node(Dump *d, const Node *n);
static void dump_word(Dump *d, const Word *w);

static void dump_text(Dump *d, Slice s)
{
    buf_printf(d->out, "%zu:", s.len);
    buf_append(d->out, s);
}

static void dump_param(Dump *d, const Param *p)
{
    buf_printf(d->out, "(param %d %u %d %d %d %d %d %d %d ", (int)p->var, p->number, (int)p->index_kind, p->indirect, p->colon, p->longest, p->op,
               p->replace, (int)p->kind);
    dump_text(d, p->name.text);
    if (p->kind == PARAM_BAD)
        dump_text(d, p->source);
    const Word *words[] = {p->index, p->word, p->word2, p->offset_word, p->length_word};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        dump_word(d, words[i]);
    buf_char(d->out, ')');
}

static void dump_brace(Dump *d, const Brace *b)
{
    buf_printf(d->out, "(brace %d %lld %lld %lld %u", b->chars, (long long)b->first, (long long)b->last, (long long)b->step, b->width);
    for (uint32_t i = 0; b->words && i < b->count; i++)
        dump_word(d, b->words[i]);
    buf_char(d->out, ')');
}

static void dump_part(Dump *d, const WordPart *w)
{
    buf_printf(d->out, "(%d %d %d", (int)w->kind, w->quoted, w->backquote);
    switch (w->kind) {
    case PART_LITERAL: case PART_TILDE: dump_text(d, w->text); break;
    case PART_PARAM: dump_param(d, w->param); break;
    case PART_PROCESS: buf_char(d->out, w->direction); dump_node(d, w->command.body); break;
    case PART_COMMAND: dump_node(d, w->command.body); break;
    case PART_ARITH: dump_word(d, w->arith.text); break;
    case PART_BRACE: dump_brace(d, w->brace); break;
    case PART_QUOTED: dump_word(d, w->inner); break;
    }
    buf_char(d->out, ')');
}

static void dump_assign(Dump *d, const Assign *a)
{
    buf_printf(d->out, "(assign %d %d ", a->append, a->is_array);
    dump_text(d, a->name.text);
    dump_word(d, a->index);
    dump_word(d, a->value);
    for (uint32_t i = 0; i < a->nitems; i++) {
        buf_printf(d->out, "[%d", a->items[i].append);
        dump_word(d, a->items[i].index);
        dump_word(d, a->items[i].value);
    }
    buf_char(d->out, ')');
}

static void dump_word(Dump *d, const Word *w)
{
    if (!w) {
        buf_char(d->out, '-');
        return;
    }
    buf_printf(d->out, "(w%u", w->flags);
    for (uint32_t i = 0; i < w->count && !(w->assign && w->assign->is_array); i++) /* else the text as it was written */
        dump_part(d, &w->parts[i]);
    if (w->assign)
        dump_assign(d, w->assign);
    buf_char(d->out, ')');
}

static void dump_words(Dump *d, Word *const *words, uint32_t count)
{
    buf_printf(d->out, "<%u", count);
    for (uint32_t i = 0; i < count; i++)
        dump_word(d, words[i]);
}

/* bash prints N<&- as N>&-, and >&WORD as &>WORD: each pair is one here. */
static RedirKind kind_of(const Redir *r)
{
    Slice s = r->word->source;
    bool number = s.len && s.data[0] >= '0' && s.data[0] <= '9';
    if (r->kind == REDIR_DUP_IN && slice_is(s, "-"))
        return REDIR_DUP_OUT;
    return r->kind == REDIR_DUP_OUT && !number && !slice_is(s, "-") && !r->var && r->fd == 1 ? REDIR_BOTH : r->kind;
}

static void dump_redirs(Dump *d, const Redir *r)
{
    for (; r; r = r->next) {
        buf_printf(d->out, "(redir %d %d %d ", (int)kind_of(r), r->fd, r->quoted_delimiter);
        if (r->var)
            dump_text(d, r->var->text);
        dump_word(d, r->var_index);
        dump_word(d, r->word);
        dump_text(d, r->delimiter);
        buf_char(d->out, ')');
    }
}

static void dump_cond(Dump *d, const Cond *c)
{
    if (!c)
        return;
    /* [[ w ]] is printed as [[ -n w ]]: bash knows no difference. */
    bool word = c->kind == COND_WORD;
    buf_printf(d->out, "(cond %d %d %d ", (int)(word ? COND_UNARY : c->kind), word ? 'n' : c->unary, (int)c->op);
    dump_word(d, c->left);
    dump_word(d, c->right);
    dump_cond(d, c->a);
    dump_cond(d, c->b);
    buf_char(d->out, ')');
}

static void dump_each(Dump *d, const Node *n)
{
    dump_text(d, n->each.var.text);
    /* Without `in` it is printed with "$@". */
    bool all = n->each.count == 1 && slice_is(n->each.words[0]->source, "\"$@\"");
    if (n->each.in_given && !all)
        dump_words(d, n->each.words, n->each.count);
    dump_node(d, n->each.body);
}

static void dump_case(Dump *d, const Node *n)
{
    dump_word(d, n->kase.subject);
    for (uint32_t i = 0; i < n->kase.count; i++) {
        const CaseItem *item = &n->kase.items[i];
        dump_words(d, item->patterns, item->count);
        dump_node(d, item->body);
        buf_printf(d->out, ";%d", (int)item->end);
    }
}

static void dump_simple(Dump *d, const Node *n)
{
    for (uint32_t i = 0; i < n->simple.nassigns; i++)
        dump_assign(d, &n->simple.assigns[i]);
    dump_words(d, n->simple.words, n->simple.nwords);
}

static void dump_list(Dump *d, const Node *n)
{
    for (uint32_t i = 0; i < n->list.count; i++) {
        buf_printf(d->out, "%c", n->list.items[i].background ? '&' : ';');
        dump_node(d, n->list.items[i].node);
    }
}

/* A clause that is missing is printed as 1. */
static void dump_clause(Dump *d, const Word *w)
{
    if (w)
        dump_text(d, w->source);
    else
        dump_text(d, SLICE("1"));
}

/* A body that is no group is printed inside one. */
static void dump_function(Dump *d, const Node *n)
{
    const Node *body = n->function.body;
    dump_text(d, n->function.name.text);
    if (body->kind == NODE_GROUP) {
        dump_node(d, body->group.body);
        dump_redirs(d, body->redirs);
    } else {
        dump_node(d, body);
    }
}

static void dump_body(Dump *d, const Node *n)
{
    switch ((NodeKind)n->kind) {
    case NODE_SIMPLE: dump_simple(d, n); break;
    case NODE_PIPELINE:
        for (uint32_t i = 0; i < n->pipeline.count; i++)
            dump_node(d, n->pipeline.stages[i]);
        break;
    case NODE_AND: case NODE_OR: dump_node(d, n->pair.left); dump_node(d, n->pair.right); break;
    case NODE_LIST: dump_list(d, n); break;
    case NODE_GROUP: case NODE_SUBSHELL: dump_node(d, n->group.body); break;
    case NODE_IF: dump_node(d, n->branch.cond); dump_node(d, n->branch.then); dump_node(d, n->branch.otherwise); break;
    case NODE_WHILE: case NODE_UNTIL: dump_node(d, n->loop.cond); dump_node(d, n->loop.body); break;
    case NODE_FOR: case NODE_SELECT: dump_each(d, n); break;
    case NODE_ARITH_FOR:
        dump_clause(d, n->cfor.init);
        dump_clause(d, n->cfor.cond);
        dump_clause(d, n->cfor.step);
        dump_node(d, n->cfor.body);
        break;
    case NODE_CASE: dump_case(d, n); break;
    case NODE_COND: dump_cond(d, n->cond.cond); break;
    case NODE_ARITH: dump_word(d, n->arith.text); break;
    case NODE_FUNCTION: dump_function(d, n); break;
    case NODE_COPROC: dump_text(d, n->coproc.name.text); dump_node(d, n->coproc.body); break;
    }
}

static void dump_node(Dump *d, const Node *n)
{
    if (!n) {
        buf_char(d->out, '~');
        return;
    }
    if (n->kind == NODE_LIST && n->list.count == 1 && !n->list.items[0].background) {
        dump_node(d, n->list.items[0].node); /* a list of one and its command print alike */
        return;
    }
    if (n->kind == NODE_IF && n->branch.otherwise)
        buf_char(d->out, 'e');
    buf_printf(d->out, "(%d %d %d ", n->kind, n->negated, n->timed);
    dump_body(d, n);
    dump_redirs(d, n->redirs);
    buf_char(d->out, ')');
}

/* Commands of one line are printed on lines of their own. */
static void dump_unit(Dump *d, const Node *n)
{
    for (uint32_t i = 0; n->kind == NODE_LIST && i < n->list.count; i++) {
        dump_node(d, n->list.items[i].node);
        buf_append(d->out, n->list.items[i].background ? SLICE("&\n") : SLICE("\n"));
    }
    if (n->kind != NODE_LIST) {
        dump_node(d, n);
        buf_char(d->out, '\n');
    }
}

/* The tree of `text` into `tree`, its print into `print` (may be NULL). False after the message was put into `error`. */
static bool parse_all(Slice text, Buf *tree, Buf *print, char error[1200])
{
    ParseOptions options = {.extglob = true, .brace_expand = true};
    Budget budget = {.limit = 1u << 30};
    Parser *p = parser_new(&budget, text, 1, &options);
    Dump d = {tree};
    Unit unit;
    ParseError e = {0};
    ParseState state;
    *error = 0;
    while (p && (state = parser_next(p, &unit, &e)) == PARSE_UNIT) {
        if (!unit.node)
            continue;
        dump_unit(&d, unit.node);
        if (print) {
            print_node(print, unit.node);
            buf_char(print, '\n');
        }
    }
    bool ok = p && state == PARSE_END;
    if (!ok && p)
        snprintf(error, 1200, "%s%s%s", e.message, e.second ? "\n" : "", e.second ? e.second : "");
    parser_free(p);
    return ok;
}

static char *slurp(const char *path, size_t *len)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return NULL;
    char *data = malloc(16 << 20);
    *len = data ? fread(data, 1, 16 << 20, f) : 0;
    fclose(f);
    return data;
}

/* Where two trees part, with some of what is around. */
static void show_difference(Slice a, Slice b)
{
    size_t at = 0;
    while (at < a.len && at < b.len && a.data[at] == b.data[at])
        at++;
    size_t from = at > 150 ? at - 150 : 0;
    printf("  first:  %.*s\n  second: %.*s\n", (int)MIN(a.len - from, (size_t)400), a.data + from, (int)MIN(b.len - from, (size_t)400), b.data + from);
}

static bool check(const char *path)
{
    size_t len;
    char error[1200];
    char *data = slurp(path, &len);
    if (!data)
        return false;
    Mem mem;
    Buf first, second, print;
    mem_init(&mem, NULL, NULL, NULL);
    buf_init(&first, &mem, 1u << 30);
    buf_init(&second, &mem, 1u << 30);
    buf_init(&print, &mem, 1u << 30);
    bool parsed = parse_all((Slice){data, len}, &first, &print, error), same = true;
    if (!parsed) {
        printf("error %s: %s\n", path, error);
    } else {
        same = parse_all(buf_slice(&print), &second, NULL, error) && slice_eq(buf_slice(&first), buf_slice(&second));
        printf("%s %s%s%s\n", same ? "same" : "differ", path, *error ? ": " : "", error);
        if (!same && !*error)
            show_difference(buf_slice(&first), buf_slice(&second));
    }
    mem_drop(&mem);
    free(data);
    return same;
}

int main(int argc, char **argv)
{
    bool good = true;
    for (int i = 1; i < argc; i++)
        good &= check(argv[i]);
    return good ? 0 : 1;
}

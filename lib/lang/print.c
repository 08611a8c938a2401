/* print: the tree as text, in the layout of bash's declare -f, type, BASH_COMMAND and jobs.
 *
 * Recursion is bounded by what the parser let through. Here-documents print their operator in place and their
 * body after the command that holds them, with bash's spacing around it.
 */
#include "print.h"

static void make(Printer *p, const Node *n);

static void text(Printer *p, const char *s) { buf_append(p->out, slice_str(s)); }

static void indent(Printer *p)
{
    for (unsigned i = 0; i < p->indent; i++)
        buf_char(p->out, ' ');
}

static void newline(Printer *p, const char *s)
{
    buf_char(p->out, '\n');
    indent(p);
    text(p, s);
}

static void semicolon(Printer *p)
{
    const Buf *b = p->out;
    if (b->len > p->start && (b->data[b->len - 1] == '&' || b->data[b->len - 1] == '\n'))
        return;
    text(p, ";");
}

/* ---- here-documents ---- */

static void heredoc_bodies(Printer *p)
{
    text(p, "\n");
    for (size_t i = 0; i < p->ndeferred; i++) {
        const Redir *r = p->deferred[i];
        buf_append(p->out, r->word->source);
        buf_append(p->out, r->delimiter);
        text(p, "\n");
    }
    p->ndeferred = 0;
    p->was_heredoc = true;
}

/* `between` joins two commands; the bodies come after it. A lone ; is left out, the newline does its work. */
static void flush_heredocs(Printer *p, const char *between)
{
    bool shown = *between && strcmp(between, ";") != 0;
    if (shown)
        text(p, between);
    if (!p->ndeferred)
        return;
    heredoc_bodies(p);
    if (shown)
        text(p, " ");
}

static void pending_heredocs(Printer *p)
{
    if (p->ndeferred)
        flush_heredocs(p, "");
}

static void defer(Printer *p, const Redir *r)
{
    if (p->ndeferred == p->cap) {
        size_t cap = p->cap ? p->cap * 2 : 8;
        const Redir **list = mem_array(p->out->mem, cap, const Redir *);
        if (!list) {
            p->out->failed = true;
            return;
        }
        if (p->ndeferred)
            memcpy(list, p->deferred, p->ndeferred * sizeof *list);
        p->deferred = list;
        p->cap = cap;
    }
    p->deferred[p->ndeferred++] = r;
}

/* ---- redirections ---- */

static void print_fd(Printer *p, const Redir *r, int usual)
{
    if (r->var && r->var_index)
        buf_printf(p->out, "{%s[%.*s]}", r->var->text.data, (int)r->var_index->source.len, r->var_index->source.data);
    else if (r->var)
        buf_printf(p->out, "{%s}", r->var->text.data);
    else if (r->fd != usual)
        buf_printf(p->out, "%d", r->fd);
}

/* A descriptor known at parse time is always printed with its own; a word only when it is not the usual one. */
static void print_dup(Printer *p, const Redir *r)
{
    Slice s = r->word->source;
    size_t n = 0;
    while (n < s.len && s.data[n] >= '0' && s.data[n] <= '9')
        n++;
    bool number = n > 0 && (n == s.len || (n + 1 == s.len && s.data[n] == '-'));
    bool closes = slice_is(s, "-");
    if (r->kind == REDIR_DUP_OUT && !number && !closes && !r->var && r->fd == 1) {
        text(p, "&> ");
        emit_word(p, r->word);
        return;
    }
    print_fd(p, r, number || closes ? -1 : r->kind == REDIR_DUP_IN ? 0 : 1);
    text(p, r->kind == REDIR_DUP_IN && !closes ? "<&" : ">&");
    emit_word(p, r->word);
}

static void print_heredoc_head(Printer *p, const Redir *r)
{
    print_fd(p, r, 0);
    text(p, r->strip_tabs ? "<<-" : "<<");
    if (!r->quoted_delimiter) {
        buf_append(p->out, r->delimiter);
        return;
    }
    emit_single_quoted(p->out, r->delimiter);
}

static void print_redir(Printer *p, const Redir *r)
{
    static const struct { const char *op; int usual; } table[] = {
        [REDIR_IN] = {"< ", 0}, [REDIR_OUT] = {"> ", 1}, [REDIR_CLOBBER] = {">| ", 1}, [REDIR_APPEND] = {">> ", 1},
        [REDIR_RDWR] = {"<> ", 1}, [REDIR_BOTH] = {"&> ", 1}, [REDIR_BOTH_APPEND] = {"&>> ", 1}, [REDIR_HERESTRING] = {"<<< ", 0},
    };
    if (r->kind == REDIR_DUP_IN || r->kind == REDIR_DUP_OUT) {
        print_dup(p, r);
        return;
    }
    if (r->kind == REDIR_HEREDOC) {
        print_heredoc_head(p, r);
        defer(p, r);
        return;
    }
    print_fd(p, r, table[r->kind].usual);
    text(p, table[r->kind].op);
    emit_word(p, r->word);
}

static void print_redirs(Printer *p, const Redir *r)
{
    p->was_heredoc = false;
    for (; r; r = r->next) {
        print_redir(p, r);
        if (r->next)
            text(p, " ");
    }
    if (p->in_substitution && p->ndeferred)
        heredoc_bodies(p);
}

/* ---- simple commands ---- */

static void print_assign(Printer *p, const Assign *a)
{
    buf_append(p->out, a->name.text);
    if (a->index) {
        text(p, "[");
        emit_word(p, a->index);
        text(p, "]");
    }
    text(p, a->append ? "+=" : "=");
    if (!a->is_array) {
        if (a->value)
            emit_word(p, a->value);
        return;
    }
    text(p, "(");
    for (uint32_t i = 0; i < a->nitems; i++) {
        const ArrayItem *item = &a->items[i];
        if (i)
            text(p, " ");
        if (item->braced) {
            emit_word(p, item->braced);
            continue;
        }
        if (item->index) {
            text(p, "[");
            emit_word(p, item->index);
            text(p, item->append ? "]+=" : "]=");
        }
        if (item->value)
            emit_word(p, item->value);
    }
    text(p, ")");
}

static void count_above(Printer *p)
{
    p->above = 0;
    for (size_t i = p->start; i < p->out->len; i++)
        p->above += p->out->data[i] == '\n';
}

static void print_simple(Printer *p, const Node *n)
{
    const char *gap = "";
    for (uint32_t i = 0; i < n->simple.nassigns; i++, gap = " ") {
        text(p, gap);
        print_assign(p, &n->simple.assigns[i]);
    }
    for (uint32_t i = 0; i < n->simple.nwords; i++, gap = " ") {
        const Word *w = n->simple.words[i];
        text(p, gap);
        if (w->assign && w->assign->is_array)
            print_assign(p, w->assign);
        else
            emit_word(p, w);
        if (i < 2 && p->placed == n && p->wanted_line) /* its line is that where its second word ends */
            count_above(p);
    }
    if (n->redirs && *gap)
        text(p, " ");
    if (n->redirs)
        print_redirs(p, n->redirs);
}

/* ---- lists ---- */

static void next_inline(Printer *p)
{
    p->skip_indent++;
}

static void print_list(Printer *p, const Node *n)
{
    for (uint32_t i = 0; i < n->list.count; i++) {
        const ListItem *item = &n->list.items[i];
        bool last = i + 1 == n->list.count;
        make(p, item->node);
        if (item->background) {
            flush_heredocs(p, " &");
            if (!last) {
                text(p, " ");
                next_inline(p);
            }
            continue;
        }
        if (last)
            break;
        bool own_line = p->in_function || (p->in_substitution && item->newline);
        if (p->ndeferred)
            flush_heredocs(p, p->in_function ? "" : ";");
        else if (p->was_heredoc)
            p->was_heredoc = false;
        else if (!(p->in_substitution && item->newline))
            text(p, ";");
        else if (p->in_function) /* the newline that was read, and the one that ends the line */
            text(p, "\n");
        text(p, own_line ? "\n" : " ");
        if (!own_line)
            next_inline(p);
    }
}

/* && and || lean to the left, as deep as the list is long: unrolled. */
static void print_chain(Printer *p, const Node *n)
{
    size_t count = 0;
    for (const Node *k = n; k->kind == NODE_AND || k->kind == NODE_OR; k = k->pair.left)
        count++;
    const Node **chain = mem_array(p->out->mem, count, const Node *);
    if (!chain) {
        p->out->failed = true;
        return;
    }
    size_t i = count;
    const Node *first = n;
    for (; first->kind == NODE_AND || first->kind == NODE_OR; first = first->pair.left)
        chain[--i] = first;
    next_inline(p);
    make(p, first);
    for (i = 0; i < count; i++) {
        flush_heredocs(p, chain[i]->kind == NODE_AND ? " && " : " || ");
        next_inline(p);
        make(p, chain[i]->pair.right);
    }
}

static void print_pipeline(Printer *p, const Node *n)
{
    if (n->timed)
        text(p, n->timed == 2 ? "time -p " : "time ");
    if (n->negated)
        text(p, "! ");
    for (uint32_t i = 0; i < n->pipeline.count; i++) {
        next_inline(p);
        make(p, n->pipeline.stages[i]);
        if (i + 1 == n->pipeline.count)
            break;
        if (n->pipeline.both[i])
            text(p, " 2>&1");
        flush_heredocs(p, " |");
        text(p, " ");
    }
}

/* ---- compound commands ---- */

static void block(Printer *p, const Node *n)
{
    p->indent += p->step;
    if (n)
        make(p, n);
    pending_heredocs(p);
    p->indent -= p->step;
}

static void print_if(Printer *p, const Node *n)
{
    text(p, "if ");
    next_inline(p);
    make(p, n->branch.cond);
    semicolon(p);
    text(p, " then\n");
    block(p, n->branch.then);
    if (n->branch.otherwise) {
        semicolon(p);
        newline(p, "else\n");
        block(p, n->branch.otherwise);
    }
    semicolon(p);
    newline(p, "fi");
}

static void print_loop(Printer *p, const Node *n)
{
    text(p, n->kind == NODE_WHILE ? "while " : "until ");
    next_inline(p);
    make(p, n->loop.cond);
    pending_heredocs(p);
    semicolon(p);
    text(p, " do\n");
    block(p, n->loop.body);
    semicolon(p);
    newline(p, "done");
}

static void print_do(Printer *p, const Node *body)
{
    newline(p, "do\n");
    block(p, body);
    semicolon(p);
    newline(p, "done");
}

static void print_each(Printer *p, const Node *n)
{
    buf_printf(p->out, "%s %s in ", n->kind == NODE_FOR ? "for" : "select", n->each.var.text.data);
    if (!n->each.in_given)
        text(p, "\"$@\"");
    for (uint32_t i = 0; i < n->each.count; i++) {
        if (i)
            text(p, " ");
        emit_word(p, n->each.words[i]);
    }
    text(p, ";");
    print_do(p, n->each.body);
}

static void print_clause(Printer *p, const Word *w)
{
    if (w)
        buf_append(p->out, w->source);
    else
        text(p, "1");
}

static void print_arith_for(Printer *p, const Node *n)
{
    text(p, "for ((");
    print_clause(p, n->cfor.init);
    text(p, "; ");
    print_clause(p, n->cfor.cond);
    text(p, "; ");
    print_clause(p, n->cfor.step);
    text(p, "))");
    print_do(p, n->cfor.body);
}

static void print_case(Printer *p, const Node *n)
{
    static const char *const ends[] = {[CASE_BREAK] = ";;", [CASE_FALL] = ";&", [CASE_TEST] = ";;&"};
    text(p, "case ");
    emit_word(p, n->kase.subject);
    text(p, " in ");
    p->indent += p->step;
    for (uint32_t i = 0; i < n->kase.count; i++) {
        const CaseItem *item = &n->kase.items[i];
        newline(p, "");
        for (uint32_t k = 0; k < item->count; k++) {
            if (k)
                text(p, " | ");
            emit_word(p, item->patterns[k]);
        }
        text(p, ")\n");
        block(p, item->body);
        newline(p, ends[item->end]);
    }
    p->indent -= p->step;
    newline(p, "esac");
}

static void print_group(Printer *p, const Node *n)
{
    text(p, "{ ");
    if (p->in_function) {
        text(p, "\n");
        p->indent += p->step;
    } else {
        next_inline(p);
    }
    make(p, n->group.body);
    pending_heredocs(p);
    if (p->in_function) {
        text(p, "\n");
        p->indent -= p->step;
        indent(p);
    } else {
        semicolon(p);
        text(p, " ");
    }
    text(p, "}");
}

static void print_subshell(Printer *p, const Node *n)
{
    text(p, "( ");
    next_inline(p);
    make(p, n->group.body);
    pending_heredocs(p);
    text(p, " )");
}

static const char *test_text(const Cond *c)
{
    static const char *const names[] = {
        [TEST_NONE] = "", [TEST_EQ] = "==", [TEST_NE] = "!=", [TEST_LT] = "<", [TEST_GT] = ">", [TEST_MATCH] = "=~",
        [TEST_NUM_EQ] = "-eq", [TEST_NUM_NE] = "-ne", [TEST_NUM_LT] = "-lt", [TEST_NUM_LE] = "-le", [TEST_NUM_GT] = "-gt",
        [TEST_NUM_GE] = "-ge", [TEST_NEWER] = "-nt", [TEST_OLDER] = "-ot", [TEST_SAME] = "-ef",
    };
    return c->single_equal ? "=" : names[c->op];
}

static void print_cond(Printer *p, const Cond *c)
{
    switch (c->kind) {
    case COND_UNARY:
        buf_printf(p->out, "-%c ", c->unary);
        emit_word(p, c->left);
        break;
    case COND_WORD:
        text(p, "-n ");
        emit_word(p, c->left);
        break;
    case COND_BINARY:
        emit_word(p, c->left);
        buf_printf(p->out, " %s ", test_text(c));
        emit_word(p, c->right);
        break;
    case COND_NOT:
        text(p, "! ");
        print_cond(p, c->a);
        break;
    case COND_GROUP:
        text(p, "( ");
        print_cond(p, c->a);
        text(p, " )");
        break;
    case COND_AND:
    case COND_OR:
        print_cond(p, c->a);
        text(p, c->kind == COND_AND ? " && " : " || ");
        print_cond(p, c->b);
    }
}

/* ---- functions ---- */

/* What stands between the braces: a group's list without its own braces, whose redirections come after them. */
static void function_inside(Printer *p, const Node *body)
{
    p->in_function++;
    if (body->kind == NODE_GROUP)
        make(p, body->group.body);
    else
        make(p, body);
    pending_heredocs(p);
    p->in_function--;
}

static void function_end(Printer *p, const Node *body)
{
    if (body->kind == NODE_GROUP && body->redirs) {
        newline(p, "} ");
        print_redirs(p, body->redirs);
        pending_heredocs(p);
    } else {
        newline(p, "}");
    }
}

static void print_definition(Printer *p, const Node *n)
{
    buf_printf(p->out, "function %s () \n", n->function.name.text.data);
    indent(p);
    text(p, "{ \n");
    p->indent += p->step;
    function_inside(p, n->function.body);
    p->indent -= p->step;
    function_end(p, n->function.body);
}

static void print_kind(Printer *p, const Node *n)
{
    switch ((NodeKind)n->kind) {
    case NODE_SIMPLE: print_simple(p, n); break;
    case NODE_PIPELINE: print_pipeline(p, n); break;
    case NODE_AND:
    case NODE_OR: print_chain(p, n); break;
    case NODE_LIST: print_list(p, n); break;
    case NODE_GROUP: print_group(p, n); break;
    case NODE_SUBSHELL: print_subshell(p, n); break;
    case NODE_IF: print_if(p, n); break;
    case NODE_WHILE:
    case NODE_UNTIL: print_loop(p, n); break;
    case NODE_FOR:
    case NODE_SELECT: print_each(p, n); break;
    case NODE_ARITH_FOR: print_arith_for(p, n); break;
    case NODE_CASE: print_case(p, n); break;
    case NODE_COND:
        text(p, "[[ ");
        print_cond(p, n->cond.cond);
        text(p, " ]]");
        break;
    case NODE_ARITH:
        text(p, "((");
        buf_append(p->out, n->arith.text->source);
        text(p, "))");
        break;
    case NODE_FUNCTION: print_definition(p, n); break;
    case NODE_COPROC:
        buf_printf(p->out, "coproc %s ", n->coproc.name.text.data);
        next_inline(p);
        make(p, n->coproc.body);
    }
}

static void note_place(Printer *p, const Node *n)
{
    p->found = true;
    p->exact = n == p->wanted;
    p->placed = n;
    count_above(p);
}

static void make(Printer *p, const Node *n)
{
    /* A list indents through its first item. */
    if (n->kind != NODE_LIST) {
        if (p->skip_indent)
            p->skip_indent--;
        else
            indent(p);
    }
    if (p->wanted_line && !p->exact && n->kind != NODE_LIST && (n == p->wanted || (!p->found && n->line == p->wanted_line)))
        note_place(p, n);
    print_kind(p, n);
    if (n->redirs && n->kind != NODE_SIMPLE) {
        text(p, " ");
        print_redirs(p, n->redirs);
    }
}

void print_substitution(Buf *out, const Node *n)
{
    Printer p = {.out = out, .step = 4, .in_substitution = true, .start = out->len};
    make(&p, n);
    pending_heredocs(&p);
}

bool print_lines_above(Mem *mem, const Node *body, const Node *node, uint32_t line, uint32_t *above)
{
    Buf out;
    buf_init(&out, mem, BUF_MAX);
    Printer p = {.out = &out, .step = 4, .in_substitution = true, .wanted = node, .wanted_line = line};
    make(&p, body);
    *above = p.above;
    return p.found;
}

void print_command_line(Buf *out, const Node *n)
{
    Printer p = {.out = out, .step = 4, .start = out->len};
    make(&p, n);
    pending_heredocs(&p);
}

void print_node(Buf *out, const Node *n)
{
    Printer p = {.out = out, .step = 4, .start = out->len, .in_function = 1};
    make(&p, n);
    pending_heredocs(&p);
}

void print_function(Buf *out, Slice name, const Node *body)
{
    static const char *const reserved[] = {"if", "then", "else", "elif", "fi", "case", "esac", "for", "select", "while", "until", "do",
                                           "done", "in", "function", "time", "{", "}", "!", "[[", "]]", "coproc"};
    Printer p = {.out = out, .step = 4, .start = out->len};
    for (size_t i = 0; i < ARRAY_LEN(reserved); i++)
        if (slice_is(name, reserved[i]))
            text(&p, "function ");
    buf_append(out, name);
    text(&p, " () \n{ \n");
    p.indent = p.step;
    function_inside(&p, body);
    p.indent = 0;
    function_end(&p, body);
}

void print_exported(Buf *out, const Node *body)
{
    Printer p = {.out = out, .step = 1, .start = out->len};
    text(&p, "() { ");
    p.indent = p.step;
    function_inside(&p, body);
    p.indent = 0;
    function_end(&p, body);
}

void print_word(Buf *out, const Word *w)
{
    Printer p = {.out = out, .step = 4, .start = out->len};
    emit_word(&p, w);
}

/* parse_yq: what yq's language has more than jq's, as calls of yq's library.
 *
 * EXPR style = V and its like are operators as loose as =; EXPR ref $x is a definition whose calls are paths.
 */
#include "parse.h"

static Node *call(Parser *p, const char *name, Node *a, Node *b, Node *c)
{
    Node *n = node(p, N_CALL, a->start);
    n->name = slice_str(name);
    n->list = mem_alloc_array(p->mem, 3, sizeof *n->list);
    n->list[0] = a;
    n->list[1] = b;
    n->list[2] = c;
    n->count = 1u + (b != NULL) + (c != NULL);
    return done(p, n);
}

Node *jq_parse_yq_field(Parser *p, Node *term, Token t)
{
    if (!p->lex.loose || slice_find(t.text, '*') == t.text.len)
        return NULL;
    return two(p, N_PIPE, term, call(p, "_yq_glob", string_node(p, slice_from(t.text, 1), t.start), NULL, NULL));
}

/* The operator's name, short, or NULL. */
static const char *manner(Slice word)
{
    static const char *const names[][2] = {{"style", "style"}, {"tag", "tag"}, {"anchor", "anchor"}, {"alias", "alias"}, {"comments", "comments"},
                                           {"head_comment", "head"}, {"headComment", "head"}, {"line_comment", "line"}, {"lineComment", "line"},
                                           {"foot_comment", "foot"}, {"footComment", "foot"}};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (slice_is(word, names[i][0]))
            return names[i][1];
    return NULL;
}

bool jq_parse_yq_behind(const Parser *p) { return p->lex.loose && (manner(p->tok.text) || slice_is(p->tok.text, "ref")); }

static bool calls(const Node *n, const char *name) { return n && n->kind == N_CALL && n->count == 0 && slice_is(n->name, name); }

/* Takes `| key` off the end of *n; whether it was there. */
static bool strip_key(Node **n)
{
    if (*n && (*n)->kind == N_PIPE && calls((*n)->b, "key")) {
        *n = (*n)->a;
        return true;
    }
    return *n && (*n)->kind == N_PIPE && strip_key(&(*n)->b);
}

static void parse_manner(Parser *p, Node **left, const char *name)
{
    const char *prefix = calls(*left, "_yq_all") ? "all:" : strip_key(left) ? "key:" : "";
    uint32_t start = p->tok.start;
    next(p);
    bool update = p->tok.type == T_SETPIPE;
    if (!update && p->tok.type != '=') {
        syntax(p, "'=' or |=");
        return;
    }
    next(p);
    Node *value = jq_parse_expr(p, 3);
    if (!p->failed)
        *left = call(p, update ? "_yq_each" : "_yq_put", *left, string_node(p, slice_str(mem_printf(p->mem, "%s%s", prefix, name)), start), value);
}

static void parse_merge(Parser *p, Node **left)
{
    Token t = p->tok;
    bool set = t.text.data[1] == '=';
    next(p);
    Node *right = jq_parse_expr(p, set ? 3 : 8);
    if (!p->failed)
        *left = call(p, set ? "_yq_merge_into" : "_yq_merge", *left, right, string_node(p, slice_from(t.text, set ? 2 : 1), t.start));
}

bool jq_parse_yq_operator(Parser *p, Node **left, int least)
{
    if (!p->lex.loose || !*left)
        return false;
    if (p->tok.type == T_MERGE && least <= (p->tok.text.data[1] == '=' ? 2 : 7)) {
        parse_merge(p, left);
        return true;
    }
    const char *name = p->tok.type == T_IDENT && least <= 2 ? manner(p->tok.text) : NULL;
    if (name)
        parse_manner(p, left, name);
    return name != NULL;
}

static Slice ref_name(Parser *p, Slice name) { return slice_str(mem_printf(p->mem, "_ref_%.*s", (int)name.len, name.data)); }

Node *jq_parse_yq_ref(Parser *p, Node *left)
{
    if (!p->lex.loose || p->failed || p->tok.type != T_IDENT || !slice_is(p->tok.text, "ref"))
        return NULL;
    next(p);
    Slice name = p->tok.type == T_BINDING ? slice_from(p->tok.text, 1) : (Slice){"", 0};
    if (!expect(p, T_BINDING, "BINDING") || !expect(p, '|', "'|'"))
        return NULL;
    if (p->nrefs == ARRAY_LEN(p->refs))
        fail_at(p, p->tok.start, p->tok.end, "too many references");
    else
        p->refs[p->nrefs++] = name;
    Node *n = node(p, N_DEF, left->start);
    n->func = mem_new(p->mem, Function);
    n->func->name = ref_name(p, name);
    n->func->body = left;
    n->a = jq_parse_query(p);
    p->nrefs -= p->nrefs > 0;
    return done(p, n);
}

/* What |= finds nothing for stays. */
Node *jq_parse_yq_update(Parser *p, Node *n) { return n->a && n->b ? call(p, "_yq_update", n->a, n->b, NULL) : n; }

Node *jq_parse_yq_variable(Parser *p, Token t)
{
    for (unsigned i = p->nrefs; i-- > 0;)
        if (slice_eq(p->refs[i], slice_from(t.text, 1))) {
            Node *n = node(p, N_CALL, t.start);
            n->name = ref_name(p, p->refs[i]);
            return done(p, n);
        }
    return NULL;
}

/* @yaml and the like, and their opposites; a string behind jq's own is jq's. */
Node *jq_parse_yq_format(Parser *p, Token t)
{
    static const char *const names[] = {"@yaml", "@json", "@xml", "@props", "@csv", "@tsv", "@yamld", "@jsond", "@xmld", "@propsd", "@csvd", "@tsvd"};
    for (size_t i = 0; p->lex.loose && p->tok.type != T_STRING_START && i < ARRAY_LEN(names); i++)
        if (slice_is(t.text, names[i])) {
            Node *n = node(p, N_CALL, t.start);
            n->name = slice_str(mem_printf(p->mem, "_yq_at_%s", names[i] + 1));
            return done(p, n);
        }
    return NULL;
}

/* modules: import, include, data files and modulemeta. Files come from the shell's file system. */
#include "compile.h"
#include "reader.h"

/* A file that was loaded: its functions are compiled once a program. */
typedef struct Loaded {
    struct Loaded *next;
    const char *path;
    Module *module;
    Scope *functions; /* its definitions, innermost first, up to `end` */
    Scope *end;
    bool loading;
} Loaded;

static void module_error(Compiler *c, const char *format, ...) PRINTF_LIKE(2, 3);

static void module_error(Compiler *c, const char *format, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    buf_printf(&c->program->errors.text, "jq: error: %s\n\n", text);
    c->program->errors.count++;
}

/* ---------- finding files ---------- */

static Slice directory_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slice(path, slash == path ? 1 : (size_t)(slash - path)) : SLICE(".");
}

/* A search path as written: ~ and $ORIGIN stand for places, others are relative to the importer. */
static const char *expand_search(Compiler *c, Slice dir, Slice origin)
{
    Proc *p = c->j->proc;
    if (slice_starts(dir, SLICE("~"))) {
        const char *home = proc_getenv(p, "HOME");
        return home ? mem_printf(c->mem, "%s%.*s", home, (int)dir.len - 1, dir.data + 1) : NULL;
    }
    if (slice_starts(dir, SLICE("$ORIGIN")))
        return mem_printf(c->mem, "/usr/bin%.*s", (int)dir.len - 7, dir.data + 7);
    if (dir.len && dir.data[0] == '/')
        return mem_copy(c->mem, dir);
    return mem_printf(c->mem, "%.*s/%.*s", (int)origin.len, origin.data, (int)dir.len, dir.data);
}

static bool is_file(Compiler *c, const char *path)
{
    VStat st;
    return proc_stat(c->j->proc, path, 0, &st) == 0 && (st.mode & 0170000) == 0100000;
}

static Slice last_component(Slice name)
{
    for (size_t i = name.len; i > 0; i--)
        if (name.data[i - 1] == '/')
            return slice_from(name, i);
    return name;
}

/* DIR/name.jq, then DIR/name/last.jq. */
static const char *find_in(Compiler *c, const char *dir, Slice name, const char *suffix)
{
    Slice last = last_component(name);
    const char *path = mem_printf(c->mem, "%s/%.*s%s", dir, (int)name.len, name.data, suffix);
    if (is_file(c, path))
        return path;
    path = mem_printf(c->mem, "%s/%.*s/%.*s%s", dir, (int)name.len, name.data, (int)last.len, last.data, suffix);
    return is_file(c, path) ? path : NULL;
}

static bool bad_name(Compiler *c, Slice name)
{
    for (size_t i = 0; i < name.len;) {
        Slice rest = slice_from(name, i);
        size_t n = slice_find(rest, '/');
        if (slice_is((Slice){rest.data, n}, "..")) {
            module_error(c, "Relative paths to modules may not traverse to parent directories (%.*s)", (int)name.len, name.data);
            return true;
        }
        i += n + 1;
    }
    return false;
}

/* The file of a module, or NULL after a message. `search` is the metadata's, or invalid. */
static const char *find_module(Compiler *c, Slice name, Val search, Slice origin, bool data)
{
    const char *suffix = data ? ".json" : ".jq";
    if (bad_name(c, name))
        return NULL;
    Slice given[64];
    size_t n = 0;
    if (search.kind == K_STRING)
        given[n++] = val_slice(search);
    for (size_t i = 0; search.kind == K_ARRAY && i < arr_len(search) && n < ARRAY_LEN(given); i++)
        if (search.arr->items[i].kind == K_STRING)
            given[n++] = val_slice(search.arr->items[i]);
    for (size_t i = 0; i < n; i++) {
        const char *dir = expand_search(c, given[i], origin), *found = dir ? find_in(c, dir, name, suffix) : NULL;
        if (found)
            return found;
    }
    for (size_t i = 0; i < c->program->nsearch; i++) {
        const char *dir = expand_search(c, c->program->search[i], SLICE(".")), *found = dir ? find_in(c, dir, name, suffix) : NULL;
        if (found)
            return found;
    }
    module_error(c, "module not found: %.*s", (int)name.len, name.data);
    return NULL;
}

/* ---------- loading ---------- */

static bool one_text(void *user, Slice *more)
{
    Slice *text = user;
    bool any = text->len > 0;
    *more = *text;
    text->len = 0;
    return any;
}

static Val load_data(Compiler *c, const char *path)
{
    Slice text = {"", 0};
    Reader r;
    Val all = arr_new(c->j, 0), v;
    ReadState state;
    read_file(c->j->proc, path, &text);
    jq_reader_init(&r, c->j);
    r.refill = one_text;
    r.user = &text;
    while ((state = jq_reader_next(&r, &v)) == READ_VALUE)
        all = arr_push(c->j, all, v);
    if (state == READ_ERROR)
        module_error(c, "error loading data file %s: %s", path, r.message);
    jq_reader_drop(&r);
    return all;
}

static void import_all(Compiler *c, Module *m, Slice origin);

static const char *real_path(Compiler *c, const char *path)
{
    char *real;
    return proc_realpath(c->j->proc, path, REALPATH_EXISTING, &real) ? path : real;
}

static Loaded *load_module(Compiler *c, const char *path)
{
    for (Loaded *l = c->program->modules; l; l = l->next)
        if (strcmp(l->path, path) == 0) {
            if (l->loading)
                module_error(c, "circular import of %s", real_path(c, path));
            return l->loading ? NULL : l;
        }
    Loaded *l = mem_new(c->mem, Loaded);
    *l = (Loaded){.next = c->program->modules, .path = path, .loading = true};
    c->program->modules = l;
    Source *source = mem_new(c->mem, Source);
    source->name = path;
    read_file(c->j->proc, path, &source->text);
    l->module = jq_parse(c->j, c->mem, source, &c->program->errors);
    if (l->module && l->module->body)
        jq_errors_add(&c->program->errors, source, l->module->body->start, l->module->body->end, "library should only have function definitions, not a main expression");
    if (l->module && proc_stack_room(c->j->proc, 2 * COMPILE_ROOM)) {
        Scope *saved = c->scope;
        Unit *unit = c->unit;
        c->scope = NULL;
        c->unit = NULL;
        import_all(c, l->module, directory_of(path));
        l->end = c->scope;
        for (Function *f = l->module->functions; f; f = f->next)
            jq_define(c, f, f->name, true);
        l->functions = c->scope;
        c->scope = saved;
        c->unit = unit;
    }
    l->loading = false;
    return l;
}

/* Makes a module's definitions visible, under a prefix for import; in order, so that later ones win. */
static void bring_in(Compiler *c, const Loaded *l, Slice prefix)
{
    size_t n = 0;
    for (Scope *s = l->functions; s != l->end; s = s->outer)
        n++;
    Scope **list = mem_array(c->mem, n, Scope *);
    n = 0;
    for (Scope *s = l->functions; s != l->end; s = s->outer)
        list[n++] = s;
    while (n-- > 0) {
        Slice name = list[n]->name;
        if (prefix.len)
            name = slice_str(mem_printf(c->mem, "%.*s::%.*s", (int)prefix.len, prefix.data, (int)name.len, name.data));
        Scope *s = jq_scope_add(c, SCOPE_ALIAS, name);
        s->arity = list[n]->arity;
        s->at_call = list[n];
    }
}

static void import_one(Compiler *c, const Import *i, Slice origin)
{
    bool data = i->as.len && i->as.data[0] == '$';
    Val search = i->metadata.kind == K_OBJECT ? obj_get_text(c->j, i->metadata, "search") : VAL_INVALID;
    const char *path = find_module(c, i->path, search, origin, data);
    if (!path)
        return;
    if (data) {
        Slice name = slice_from(i->as, 1);
        Val v = load_data(c, path);
        jq_scope_add(c, SCOPE_VAR, name)->constant = v;
        jq_scope_add(c, SCOPE_VAR, slice_str(mem_printf(c->mem, "%.*s::%.*s", (int)name.len, name.data, (int)name.len, name.data)))->constant = v;
        return;
    }
    Loaded *l = load_module(c, path);
    if (l)
        bring_in(c, l, i->as);
}

static void import_all(Compiler *c, Module *m, Slice origin)
{
    for (const Import *i = m->imports; i; i = i->next)
        import_one(c, i, origin);
}

/* ---------- the program ---------- */

/* ~/.jq, when it is a file, is read before every program. */
static void home_definitions(Compiler *c)
{
    const char *home = proc_getenv(c->j->proc, "HOME");
    if (!home || c->j->yq)
        return;
    const char *path = mem_printf(c->mem, "%s/.jq", home);
    if (!is_file(c, path))
        return;
    Loaded *l = load_module(c, path);
    if (l)
        bring_in(c, l, (Slice){"", 0});
}

static void global_constants(Compiler *c)
{
    J *j = c->j;
    Val args = obj_set_text(j, obj_new(j, 2), "positional", val_copy(j->positional));
    args = obj_set_text(j, args, "named", val_copy(j->named));
    jq_scope_add(c, SCOPE_VAR, SLICE("ARGS"))->constant = args;
    const JObj *o = j->named.obj;
    for (uint32_t i = obj_next(o, 0); i < o->used; i = obj_next(o, i + 1))
        jq_scope_add(c, SCOPE_VAR, js_slice(o->entries[i].key))->constant = o->entries[i].value;
}

static void no_program(Compiler *c)
{
    buf_printf(&c->program->errors.text, "jq: error: Top-level program not given (try \".\")\n");
    c->program->errors.count++;
}

/* The program over an array of inputs: its leaves take each of them, what joins leaves is done once for all. */
static Node *over_all(J *j, Mem *mem, Node *n)
{
    if (!proc_stack_room(j->proc, 16384)) /* the compiler will say so */
        return n;
    switch (n->kind) {
    case N_DEF:
    case N_PIPE:
    case N_REDUCE:
        n->a = over_all(j, mem, n->a);
        return n;
    case N_COMMA:
    case N_BINARY:
    case N_AND:
    case N_OR:
    case N_ALTERNATIVE:
    case N_AS:
        n->a = over_all(j, mem, n->a);
        n->b = over_all(j, mem, n->b);
        return n;
    case N_CALL: /* *+ and its like */
        if (!slice_is(n->name, "_yq_merge"))
            break;
        n->list[0] = over_all(j, mem, n->list[0]);
        n->list[1] = over_all(j, mem, n->list[1]);
        return n;
    case N_ARRAY:
        n->a = n->a ? over_all(j, mem, n->a) : NULL;
        return n;
    default: break;
    }
    Node *pipe = mem_new(mem, Node), *each = mem_new(mem, Node), *all = mem_new(mem, Node);
    *pipe = *each = *all = (Node){.start = n->start, .end = n->end, .source = n->source};
    pipe->kind = N_PIPE;
    each->kind = N_EACH;
    all->kind = N_IDENTITY;
    each->a = all;
    pipe->a = each;
    pipe->b = n;
    return pipe;
}

bool jq_compile(J *j, JqProgram *p, Slice text, const char *name)
{
    Compiler c = {.j = j, .mem = p->mem, .program = p};
    Source *source = mem_new(p->mem, Source);
    *source = (Source){text, name};
    Module *m = jq_parse(j, p->mem, source, &p->errors);
    if (!m)
        return false;
    Unit u;
    uint32_t func = jq_add_func(&c);
    home_definitions(&c);
    jq_unit_begin(&c, &u);
    global_constants(&c);
    import_all(&c, m, SLICE("."));
    if (p->errors.count)
        return false;
    for (Function *f = m->functions; f; f = f->next)
        jq_define(&c, f, f->name, false);
    if (m->body)
        jq_compile_node(&c, p->all ? over_all(j, p->mem, m->body) : m->body);
    else
        no_program(&c);
    jq_emit(&c, OP_OUTPUT, 0, 0, 0);
    jq_unit_end(&c, &u, func);
    p->main = p->funcs[func];
    return p->errors.count == 0;
}

/* ---------- modulemeta ---------- */

static Val dependencies(J *j, const Module *m)
{
    Val deps = arr_new(j, 0);
    for (const Import *i = m->imports; i; i = i->next) {
        bool data = i->as.len && i->as.data[0] == '$';
        Val d = i->metadata.kind == K_OBJECT ? val_copy(i->metadata) : obj_new(j, 4);
        if (i->as.len)
            d = obj_set_text(j, d, "as", val_string(j, data ? slice_from(i->as, 1) : i->as));
        d = obj_set_text(j, d, "is_data", val_bool(data));
        deps = arr_push(j, deps, obj_set_text(j, d, "relpath", val_string(j, i->path)));
    }
    return deps;
}

Val jq_module_meta(J *j, JqProgram *p, Slice name)
{
    Compiler c = {.j = j, .mem = p->mem, .program = p};
    unsigned before = p->errors.count;
    const char *path = find_module(&c, name, VAL_INVALID, SLICE("."), false);
    if (!path) {
        p->errors.count = before;
        return jq_error(j, "module not found: %.*s", (int)name.len, name.data);
    }
    Source *source = mem_new(p->mem, Source);
    source->name = path;
    read_file(j->proc, path, &source->text);
    Module *m = jq_parse(j, p->mem, source, &p->errors);
    if (!m)
        return jq_error(j, "syntax error in %s", path);
    Val meta = m->metadata.kind == K_OBJECT ? val_copy(m->metadata) : obj_new(j, 2);
    Val defs = arr_new(j, 0);
    for (const Function *f = m->functions; f; f = f->next)
        defs = arr_push(j, defs, val_printf(j, "%.*s/%zu", (int)f->name.len, f->name.data, f->count));
    meta = obj_set_text(j, meta, "deps", dependencies(j, m));
    return obj_set_text(j, meta, "defs", defs);
}

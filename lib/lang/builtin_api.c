/* builtin_api: what builtin.h offers beside variables: functions, aliases, the command hash, control, frames, directories. */
#include <sys/stat.h>

#include "interp.h"

/* ---------- names of a map ---------- */

typedef struct {
    Slice *names;
    size_t count;
} NameFill;

static int add_key(void *user, PEntry *e)
{
    NameFill *f = user;
    f->names[f->count++] = str_slice(e->key);
    return 0;
}

static Slice *sorted_names(Interp *in, const PMap *m, size_t *count)
{
    NameFill f = {mem_array(mem_of(in), m->count + 1, Slice), 0};
    pmap_each(m, add_key, &f);
    merge_sort(mem_of(in), f.names, f.count, sizeof(Slice), compare_slices);
    *count = f.count;
    return f.names;
}

static int removed(Interp *in, int err)
{
    if (err == -ENOMEM)
        lang_nomem(in);
    return err;
}

/* ---------- functions ---------- */

const Function *function_find(Interp *in, Slice name)
{
    return (const Function *)pmap_get(&in->st.functions, name, hash_bytes(name));
}

int function_unset(Interp *in, Slice name)
{
    const Function *f = function_find(in, name);
    if (!f)
        return -ENOENT;
    if (f->attrs & ATTR_READONLY)
        return -EPERM;
    return removed(in, pmap_remove(gen_of(in), &in->st.functions, &function_ops, name, hash_bytes(name)));
}

bool function_attrs(Interp *in, Slice name, uint32_t set, uint32_t clear)
{
    int err;
    Function *f = (Function *)pmap_own(gen_of(in), &in->st.functions, &function_ops, name, hash_bytes(name), &err);
    if (err)
        lang_nomem(in);
    if (f)
        f->attrs = (f->attrs & ~clear) | set;
    return f != NULL;
}

Slice *function_names(Interp *in, size_t *count) { return sorted_names(in, &in->st.functions, count); }

/* ---------- texts by name ---------- */

static void text_put(Interp *in, PMap *m, Slice name, Slice text)
{
    Gen *g = gen_of(in);
    TextEntry *e = obj_alloc(g, sizeof *e);
    if (!e)
        lang_nomem(in);
    e->entry.hash = hash_bytes(name);
    e->entry.key = str_new(g, name);
    e->text = str_new(g, text);
    if (!e->entry.key || !e->text || pmap_put(g, m, &text_ops, &e->entry))
        lang_nomem(in);
}

bool alias_get(Interp *in, Slice name, Slice *text)
{
    const TextEntry *e = (const TextEntry *)pmap_get(&in->st.aliases, name, hash_bytes(name));
    if (e)
        *text = str_slice(e->text);
    return e != NULL;
}

bool alias_set(Interp *in, Slice name, Slice text)
{
    text_put(in, &in->st.aliases, name, text);
    in->parse_epoch++;
    return true;
}

bool alias_remove(Interp *in, Slice name)
{
    in->parse_epoch++;
    return removed(in, pmap_remove(gen_of(in), &in->st.aliases, &text_ops, name, hash_bytes(name))) == 0;
}

void alias_clear(Interp *in)
{
    in->parse_epoch++;
    pmap_drop(gen_of(in), &in->st.aliases, &text_ops);
}

Slice *alias_names(Interp *in, size_t *count) { return sorted_names(in, &in->st.aliases, count); }

bool builtin_enabled(Interp *in, Slice name) { return !pmap_get(&in->st.disabled, name, hash_bytes(name)); }

bool builtin_enable(Interp *in, Slice name, bool on)
{
    const Command *c = command_find(mem_copy(mem_of(in), name));
    if (!c || !(c->flags & COMMAND_SHELL))
        return false;
    if (on)
        removed(in, pmap_remove(gen_of(in), &in->st.disabled, &text_ops, name, hash_bytes(name)));
    else
        text_put(in, &in->st.disabled, name, SLICE(""));
    return true;
}

bool keyword_is(Slice name)
{
    static const char *const words[] = {"if", "then", "else", "elif", "fi", "case", "esac", "for", "select", "while", "until", "do",
                                        "done", "in", "function", "time", "{", "}", "!", "[[", "]]", "coproc"};
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (slice_is(name, words[i]))
            return true;
    return false;
}

int *getopts_offset(Interp *in) { return &in->getopts_at; }

/* ---------- the command hash ---------- */

bool hash_get(Interp *in, Slice name, Slice *path, uint32_t *hits)
{
    const CommandEntry *e = (const CommandEntry *)pmap_get(&in->st.commands, name, hash_bytes(name));
    if (!e)
        return false;
    *path = str_slice(e->path);
    *hits = e->hits;
    return true;
}

bool hash_put(Interp *in, Slice name, Slice path)
{
    Gen *g = gen_of(in);
    CommandEntry *e = obj_alloc(g, sizeof *e);
    if (!e)
        lang_nomem(in);
    e->entry.hash = hash_bytes(name);
    e->entry.key = str_new(g, name);
    e->path = str_new(g, path);
    e->hits = 0;
    in->hashed = true;
    if (!e->entry.key || !e->path || pmap_put(g, &in->st.commands, &command_ops, &e->entry))
        lang_nomem(in);
    return true;
}

bool hash_used(Interp *in) { return in->hashed; }

bool hash_remove(Interp *in, Slice name)
{
    return removed(in, pmap_remove(gen_of(in), &in->st.commands, &command_ops, name, hash_bytes(name))) == 0;
}

void hash_clear(Interp *in) { pmap_drop(gen_of(in), &in->st.commands, &command_ops); }

void hash_hit(Interp *in, Slice name)
{
    int err;
    CommandEntry *e = (CommandEntry *)pmap_own(gen_of(in), &in->st.commands, &command_ops, name, hash_bytes(name), &err);
    if (e)
        e->hits++;
}

typedef struct HashedName { uint32_t bucket; Slice name; } HashedName;

static int compare_hashed(const void *a, const void *b)
{
    const HashedName *x = a, *y = b;
    return x->bucket < y->bucket ? -1 : x->bucket > y->bucket;
}

/* In the order of bash's 256 buckets. */
Slice *hash_names(Interp *in, size_t *count)
{
    Slice *names = sorted_names(in, &in->st.commands, count);
    HashedName *list = mem_array(mem_of(in), *count + 1, HashedName);
    for (size_t i = 0; i < *count; i++)
        list[i] = (HashedName){bash_hash(names[i]) & 255, names[i]};
    merge_sort(mem_of(in), list, *count, sizeof *list, compare_hashed);
    for (size_t i = 0; i < *count; i++)
        names[i] = list[i].name;
    return names;
}

/* ---------- control ---------- */

void control_break(Interp *in, unsigned levels)
{
    in->flow = FLOW_BREAK;
    in->flow_levels = MIN(levels, in->dyn.loop_depth);
}

void control_continue(Interp *in, unsigned levels)
{
    in->flow = FLOW_CONTINUE;
    in->flow_levels = MIN(levels, in->dyn.loop_depth);
}

void control_return(Interp *in, int status)
{
    in->flow = FLOW_RETURN;
    in->before_return = in->status;
    in->return_status = status & 255;
}

void abandon_command(Interp *in, int status)
{
    in->gave_up = in->has_execution_string;
    if (in->has_execution_string) /* bash -c has nowhere to go on */
        lang_fatal(in, status);
    lang_discard(in, status);
}
void control_exit(Interp *in, int status) { proc_exit(in->p, exit_trap_in_function(in, status)); }

unsigned loop_depth(Interp *in) { return in->dyn.loop_depth; }
bool in_function(Interp *in) { return in->dyn.function_depth > 0; }
bool in_sourced_file(Interp *in) { return in->dyn.source_depth > 0; }
bool is_subshell(Interp *in) { return in->subshell_level > 0; }
int last_status(Interp *in) { return in->status; }
bool posix_mode(Interp *in) { return OPT(in, POSIX); }
void set_special_error(Interp *in, bool anywhere)
{
    in->special_failed = true;
    in->special_fatal |= anywhere;
}

/* bash prints a $( ) anew, in the layout of declare -f, and numbers that text from the line of the command it stands in. */
static uint32_t substituted_line(Interp *in, uint32_t line)
{
    const WordPart *part = in->subst;
    if (part->backquote) /* and the text of a backquote as it is */
        return in->subst_base + line - part->command.line;
    MemMark mark = mem_mark(mem_of(in));
    const Node *node = in->command && in->command->line == line ? in->command : NULL;
    uint32_t above;
    bool found = in->subst->command.body && print_lines_above(mem_of(in), in->subst->command.body, node, line, &above);
    mem_reset(mem_of(in), mark);
    return found ? in->subst_base + above : line;
}

uint32_t current_line(Interp *in)
{
    uint32_t line = in->dyn.line;
    if (unlikely(in->subst != NULL) && (in->subst_frame == in->dyn.frame || (in->dyn.frame && in->dyn.frame->subst == in->subst)))
        return substituted_line(in, line);
    return line;
}

/* ---------- frames ---------- */

bool frame_info(Interp *in, size_t level, Slice *function, Slice *source, uint32_t *line)
{
    const Frame *f = in->dyn.frame;
    for (size_t i = 0; i < level && f; i++)
        f = f->outer;
    if (f) {
        *function = str_slice(f->function);
        *source = f->source ? str_slice(f->source) : SLICE("");
        *line = f->call_line;
        return true;
    }
    /* A script file has one more row at the bottom. */
    size_t depth = in->dyn.frame ? in->dyn.frame->depth : 0;
    if (level != depth || !in->st.script)
        return false;
    *function = SLICE("main");
    *source = str_slice(in->st.script);
    *line = 0;
    return true;
}

/* ---------- eval, source, command ---------- */

typedef struct SourceUnwind {
    Unwind unwind;
    Dynamic dyn;
} SourceUnwind;

static void end_source(Interp *in, Unwind *u)
{
    Frame *f = in->dyn.frame;
    in->dyn = ((SourceUnwind *)u)->dyn;
    frame_unref(gen_of(in), f);
}

static int run_source(Interp *in, Slice text, const char *name)
{
    Gen *g = gen_of(in);
    Unwind *mark = in->unwind;
    MemMark mem = mem_mark(mem_of(in));
    SourceUnwind *u = mem_new(mem_of(in), SourceUnwind);
    Str *function = str_new(g, SLICE("source")), *source = str_new(g, slice_str(name));
    if (!function || !source)
        lang_nomem(in);
    u->dyn = in->dyn;
    Frame *frame = frame_push(in, false, function, source);
    if (unlikely(SHOPT(in, EXTDEBUG)))
        frame->args = in->source_args ? obj_ref(g, in->st.args) : strlist_new(g, (char *[]){(char *)(uintptr_t)name}, 1);
    str_unref(g, function);
    str_unref(g, source); /* the frame holds them */
    in->dyn.source = source;
    in->dyn.source_depth++;
    if (!OPT(in, FUNCTRACE))
        in->dyn.hidden_traps |= HIDE_DEBUG;
    unwind_push(in, &u->unwind, end_source);
    int before = in->status, status = run_units(in, text, 1, NULL);
    if (!text.len) /* $? in a RETURN trap is that of the last command */
        in->status = before;
    if (in->flow == FLOW_RETURN) {
        in->flow = FLOW_NONE;
        status = in->return_status;
    }
    if (trap_has(in, TRAP_RETURN) && !in->flow)
        trap_run(in, TRAP_RETURN);
    unwind_to(in, mark);
    mem_reset(mem_of(in), mem);
    return status;
}

/* RETURN runs also for a file that was not there. */
void source_failed(Interp *in)
{
    if (trap_has(in, TRAP_RETURN) && !in->flow)
        trap_run(in, TRAP_RETURN);
}

uint32_t scope_depth(Interp *in) { return in->dyn.function_depth; }

bool arguments_changed(Interp *in, bool changed)
{
    bool was = in->args_changed;
    in->args_changed = changed;
    return was;
}

void source_with_args(Interp *in, bool given) { in->source_args = given; }

int run_text(Interp *in, Slice text, const char *name, uint32_t first_line)
{
    if (!proc_stack_room(in->p, 64 * 1024))
        proc_limit(in->p, LIMIT_DEPTH);
    unsigned level = in->trace_level++;
    int status = name ? run_source(in, text, name) : run_units(in, text, first_line, "eval");
    in->trace_level = level; /* a raise lets it stand: the next command at the top sets it to 0 */
    return status;
}

int run_words(Interp *in, int argc, char **argv, int flags)
{
    Slice name = slice_str(argv[0]);
    const Function *f = flags & (RUN_NO_FUNCTIONS | RUN_BUILTIN_ONLY) ? NULL : function_find(in, name);
    if (f)
        return exec_function(in, f, argc, argv);
    const Command *c = builtin_find(in, name);
    if (c)
        return exec_builtin(in, c, argc, argv);
    if (flags & RUN_BUILTIN_ONLY) {
        shell_error(in, "builtin", "%s: not a shell builtin", argv[0]);
        return 1;
    }
    return exec_program(in, argc, argv, NULL, flags & RUN_DEFAULT_PATH);
}

/* ---------- directories ---------- */

Slice logical_cwd(Interp *in)
{
    if (!in->st.cwd) {
        char *path;
        if (proc_getcwd(in->p, &path))
            return SLICE("/");
        in->st.cwd = str_new(gen_of(in), slice_str(path));
        if (!in->st.cwd)
            lang_nomem(in);
    }
    return str_slice(in->st.cwd);
}

/* `path` seen from `cwd` without "." and "..", by text alone. */
static char *canonical(Interp *in, Slice cwd, Slice path)
{
    char *out = mem_alloc(mem_of(in), cwd.len + path.len + 4);
    size_t n = 0;
    bool two = slice_starts(path, SLICE("//")) && !slice_starts(path, SLICE("///")); /* POSIX lets // be special */
    Slice parts[2] = {path.len && path.data[0] == '/' ? SLICE("") : cwd, path};
    for (size_t i = 0; i < 2; i++)
        for (Slice rest = parts[i]; rest.len;) {
            size_t len = slice_find(rest, '/');
            Slice part = slice(rest.data, len);
            rest = slice_from(rest, MIN(len + 1, rest.len));
            if (!part.len || slice_is(part, "."))
                continue;
            if (slice_is(part, "..")) {
                while (n && out[--n] != '/')
                    continue;
                continue;
            }
            out[n++] = '/';
            memcpy(out + n, part.data, part.len);
            n += part.len;
        }
    if (!n)
        out[n++] = '/';
    if (two)
        memmove(out + 1, out, n++);
    out[n] = 0;
    return out;
}

static void put_cwd(Interp *in, Slice path)
{
    Gen *g = gen_of(in);
    Str *s = str_new(g, path);
    if (!s)
        lang_nomem(in);
    Slice old;
    if (!var_text(in, SLICE("PWD"), &old))
        old = logical_cwd(in);
    var_set(in, SLICE("OLDPWD"), slice(mem_copy(mem_of(in), old), old.len), false);
    str_unref(g, in->st.cwd);
    in->st.cwd = s;
    var_set(in, SLICE("PWD"), path, false);
}

/* Whether what stands before each .. is a directory. */
static bool parents_exist(Interp *in, Slice path)
{
    VStat st;
    for (size_t i = 0; i + 1 < path.len; i++) {
        bool parent = path.data[i] == '.' && path.data[i + 1] == '.' && (i + 2 == path.len || path.data[i + 2] == '/') && i && path.data[i - 1] == '/';
        if (parent && (proc_stat(in->p, canonical(in, logical_cwd(in), slice(path.data, i)), 0, &st) || !S_ISDIR(st.mode)))
            return false;
    }
    return true;
}

int change_directory(Interp *in, Slice path, bool physical, bool print, const char *who)
{
    char *target = canonical(in, logical_cwd(in), path), *real;
    char *given = mem_copy(mem_of(in), path);
    if (!path.len)
        target = mem_copy(mem_of(in), logical_cwd(in));
    physical |= !parents_exist(in, path);
    int err = physical ? proc_chdir(in->p, given) : proc_chdir(in->p, target);
    if (err) {
        shell_error(in, who, "%s: %s", given, error_text(err));
        return 1;
    }
    if (physical && !proc_getcwd(in->p, &real))
        target = real;
    put_cwd(in, slice_str(target));
    if (print) {
        out_str(in->p->out, target);
        out_char(in->p->out, '\n');
    }
    return 0;
}

size_t dirs_count(Interp *in) { return 1 + (in->st.dirs ? in->st.dirs->count : 0); }

Slice dirs_get(Interp *in, size_t index)
{
    if (index == 0)
        return logical_cwd(in);
    return index < dirs_count(in) ? str_slice(in->st.dirs->items[index - 1]) : SLICE("");
}

bool dirs_set(Interp *in, const Slice *dirs, size_t count)
{
    char **copies = mem_array(mem_of(in), count + 1, char *);
    for (size_t i = 0; i < count; i++)
        copies[i] = mem_copy(mem_of(in), dirs[i]);
    Gen *g = gen_of(in);
    StrList *l = count ? strlist_new(g, copies, (uint32_t)count) : NULL;
    if (count && !l)
        lang_nomem(in);
    strlist_unref(g, in->st.dirs);
    in->st.dirs = l;
    return true;
}

/* ---------- splitting for read ---------- */

typedef struct {
    Slice line;
    const bool *escaped;
    const IfsCache *ifs;
    size_t at;
} Splitter;

static bool is_space(const Splitter *s, size_t i)
{
    return i < s->line.len && !(s->escaped && s->escaped[i]) && s->ifs->space[(unsigned char)s->line.data[i]];
}

/* The length of the delimiter at i that is no white space, or 0. */
static size_t is_other(const Splitter *s, size_t i)
{
    if (i >= s->line.len || (s->escaped && s->escaped[i]) || !s->ifs->other[(unsigned char)s->line.data[i]])
        return 0;
    size_t n = 1;
    if (!s->ifs->wide || !(s->line.data[i] & 0x80))
        return 1;
    utf8_decode(s->line.data + i, s->line.len - i, &n);
    return slice_search(s->ifs->text, slice(s->line.data + i, n)) != SIZE_MAX ? n : 0;
}

static Slice next_field(Splitter *s)
{
    size_t start = s->at;
    while (s->at < s->line.len && !is_space(s, s->at) && !is_other(s, s->at))
        s->at++;
    Slice field = slice(s->line.data + start, s->at - start);
    while (is_space(s, s->at))
        s->at++;
    if (is_other(s, s->at)) {
        s->at += is_other(s, s->at);
        while (is_space(s, s->at))
            s->at++;
    }
    return field;
}

/* What is left for the last name: without trailing white space, and without a delimiter that ends just one field. */
static Slice rest_of_line(Splitter *s)
{
    Splitter probe = *s;
    Slice one = next_field(&probe);
    if (probe.at >= s->line.len)
        return one;
    size_t end = s->line.len;
    while (end > s->at && is_space(s, end - 1))
        end--;
    return slice(s->line.data + s->at, end - s->at);
}

Slice *split_read(Interp *in, Slice line, const bool *escaped, size_t max, size_t *count)
{
    Splitter s = {line, escaped, ifs_of(in), 0};
    Slice *fields = NULL;
    size_t n = 0, cap = 0;
    while (is_space(&s, s.at))
        s.at++;
    while (s.at < line.len && n < max) {
        if (n == cap) {
            size_t more = cap ? cap * 2 : 8;
            fields = mem_grow(mem_of(in), fields, cap * sizeof(Slice), more * sizeof(Slice));
            cap = more;
        }
        bool last = n + 1 == max;
        fields[n++] = last ? rest_of_line(&s) : next_field(&s);
        if (last)
            break;
    }
    *count = n;
    return fields ? fields : mem_new(mem_of(in), Slice);
}

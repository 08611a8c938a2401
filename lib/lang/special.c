/* special: variables that are computed when read, or do something when assigned. */
#include "interp.h"

static const struct { const char *name; uint32_t special, attrs; } table[] = {
    {"RANDOM", SPECIAL_RANDOM, ATTR_INTEGER},
    {"SRANDOM", SPECIAL_SRANDOM, ATTR_INTEGER},
    {"SECONDS", SPECIAL_SECONDS, ATTR_INTEGER},
    {"EPOCHSECONDS", SPECIAL_EPOCHSECONDS, 0},
    {"EPOCHREALTIME", SPECIAL_EPOCHREALTIME, 0},
    {"LINENO", SPECIAL_LINENO, 0},
    {"BASH_COMMAND", SPECIAL_COMMAND, 0},
    {"BASH_SUBSHELL", SPECIAL_SUBSHELL, 0},
    {"BASHPID", SPECIAL_BASHPID, ATTR_INTEGER},
    {"BASH_ARGV0", SPECIAL_ARGV0, 0},
    {"BASH_EXECUTION_STRING", SPECIAL_EXECUTION_STRING, 0},
    {"FUNCNAME", SPECIAL_FUNCNAME, ATTR_ARRAY | ATTR_NO_ASSIGN},
    {"BASH_SOURCE", SPECIAL_SOURCE, ATTR_ARRAY | ATTR_NO_ASSIGN},
    {"BASH_LINENO", SPECIAL_BASH_LINENO, ATTR_ARRAY | ATTR_NO_ASSIGN},
    {"BASH_ARGC", SPECIAL_ARGC, ATTR_ARRAY | ATTR_NO_ASSIGN},
    {"BASH_ARGV", SPECIAL_ARGV, ATTR_ARRAY | ATTR_NO_ASSIGN},
    {"PIPESTATUS", SPECIAL_PIPESTATUS, ATTR_ARRAY},
    {"GROUPS", SPECIAL_GROUPS, ATTR_ARRAY | ATTR_NO_ASSIGN},
    {"DIRSTACK", SPECIAL_DIRSTACK, ATTR_ARRAY},
    {"HISTCMD", SPECIAL_HISTCMD, ATTR_INTEGER},
    {"BASH_ALIASES", SPECIAL_ALIASES, ATTR_ASSOC},
    {"BASH_CMDS", SPECIAL_CMDS, ATTR_ASSOC},
    {"SHELLOPTS", SPECIAL_SHELLOPTS, ATTR_READONLY},
    {"BASHOPTS", SPECIAL_BASHOPTS, ATTR_READONLY},
    {"PPID", SPECIAL_PPID, ATTR_INTEGER | ATTR_READONLY},
    {"_", SPECIAL_UNDERSCORE, 0},
};

bool specials_define(State *st, Gen *g)
{
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        Slice name = slice_str(table[i].name);
        Var *v = obj_alloc(g, sizeof *v);
        if (!v)
            return false;
        Obj obj = v->entry.obj;
        *v = (Var){.entry = {.obj = obj, .hash = hash_bytes(name), .key = str_new(g, name)},
                   .attrs = table[i].attrs,
                   .special = table[i].special};
        if (!v->entry.key || pmap_put(g, &st->vars, &var_ops, &v->entry))
            return false;
    }
    return true;
}

/* bash's minimal standard generator and its folding to 15 bits. */
static uint32_t next_random(Interp *in)
{
    if (!in->random_state) {
        uint32_t seed;
        proc_random(in->p, &seed, sizeof seed);
        in->random_state = seed | 1;
    }
    uint32_t last = (uint32_t)(in->random_state >> 32), value;
    do {
        uint32_t x = (uint32_t)in->random_state;
        if (x == 0)
            x = 123459876;
        int64_t h = x / 127773, l = x % 127773;
        int64_t t = 16807 * l - 2836 * h;
        x = (uint32_t)(t < 0 ? t + 0x7fffffff : t);
        in->random_state = (in->random_state & ~(uint64_t)UINT32_MAX) | x;
        value = ((x >> 16) ^ (x & 65535)) & 32767;
    } while (value == last);
    in->random_state = (in->random_state & UINT32_MAX) | (uint64_t)value << 32;
    return value;
}

static void put_array(Interp *in, Var *v, const Slice *items, size_t n)
{
    Gen *g = gen_of(in);
    Array *a = array_new(g);
    if (!a)
        lang_nomem(in);
    for (size_t i = 0; i < n; i++)
        if (array_set(g, &a, (int64_t)i, cell_str(g, items[i])))
            lang_nomem(in);
    v->value = (Value){.kind = VALUE_ARRAY, .a = a};
}

static void put_text(Interp *in, Var *v, Slice text)
{
    Str *s = str_new(gen_of(in), text);
    if (!s)
        lang_nomem(in);
    v->value = (Value){.kind = VALUE_STR, .s = s};
}

static size_t count_frames(Interp *in)
{
    size_t n = 0;
    for (const Frame *f = in->dyn.frame; f; f = f->outer)
        n++;
    return n;
}

/* FUNCNAME, BASH_SOURCE and BASH_LINENO are three views of the call stack; a script file has a bottom row "main". */
static void put_frames(Interp *in, Var *v)
{
    size_t n = count_frames(in) + 1;
    Slice *items = mem_array(mem_of(in), n, Slice);
    size_t count = 0;
    for (size_t level = 0; level < n; level++) {
        Slice function, source;
        uint32_t line;
        if (!frame_info(in, level, &function, &source, &line))
            break;
        char *buf = mem_alloc(mem_of(in), 24);
        size_t len;
        char *text = format_int(line, buf, &len);
        items[count++] = v->special == SPECIAL_FUNCNAME ? function : v->special == SPECIAL_SOURCE ? source : slice(text, len);
    }
    bool outside = !in->dyn.function_depth && v->special == SPECIAL_FUNCNAME;
    put_array(in, v, items, outside ? 0 : count);
    if (outside)
        v->attrs |= ATTR_INVISIBLE;
}

void base_args_know(Interp *in)
{
    if (in->base_known)
        return;
    Gen *g = gen_of(in);
    int n = positional_count(in);
    char **args = mem_array(mem_of(in), (size_t)n + 1, char *);
    for (int i = 0; i < n; i++)
        args[i] = positional(in, i + 1)->data;
    in->base_args = strlist_new(g, args, (uint32_t)n);
    if (!in->base_args)
        lang_nomem(in);
    in->base_known = true;
}

/* The arguments of the calls, innermost first and each list from its end; BASH_ARGC has their numbers. */
static void put_arguments(Interp *in, Var *v)
{
    if (!in->dyn.function_depth && !SHOPT(in, EXTDEBUG))
        base_args_know(in);
    size_t n = 0, frames = 1, count = 0;
    for (const Frame *f = in->dyn.frame; f; f = f->outer, frames++)
        n += f->args ? f->args->count : 0;
    Slice *items = mem_array(mem_of(in), n + frames + (in->base_known ? in->base_args->count : 0), Slice);
    const Frame *f = in->dyn.frame;
    for (;; f = f->outer) {
        const StrList *l = f ? f->args : in->base_known ? in->base_args : NULL;
        if (l && v->special == SPECIAL_ARGC)
            items[count++] = slice_str(mem_printf(mem_of(in), "%u", l->count));
        for (uint32_t i = l && v->special == SPECIAL_ARGV ? l->count : 0; i-- > 0;)
            items[count++] = str_slice(l->items[i]);
        if (!f)
            break;
    }
    put_array(in, v, items, count);
}

static void put_statuses(Interp *in, Var *v)
{
    Gen *g = gen_of(in);
    Array *a = array_new(g);
    if (!a)
        lang_nomem(in);
    for (uint32_t i = 0; i < in->npipestatus; i++)
        if (array_set(g, &a, i, cell_int(g, in->pipestatus[i])))
            lang_nomem(in);
    v->value = (Value){.kind = VALUE_ARRAY, .a = a};
}

static void put_map(Interp *in, Var *v, const PMap *from, bool commands) /* from NULL: an empty one */
{
    Gen *g = gen_of(in);
    Assoc *m = assoc_new(g);
    if (!m)
        lang_nomem(in);
    size_t n;
    Slice *names = commands ? hash_names(in, &n) : alias_names(in, &n);
    for (size_t i = 0; from && i < n; i++) {
        const PEntry *e = pmap_get(from, names[i], hash_bytes(names[i]));
        Str *text = commands ? ((const CommandEntry *)e)->path : ((const TextEntry *)e)->text;
        if (assoc_set(g, &m, names[i], cell_str(g, str_slice(text))))
            lang_nomem(in);
    }
    v->value = (Value){.kind = VALUE_ASSOC, .m = m};
}

static void put_int(Var *v, int64_t i) { v->value = (Value){.kind = VALUE_INT, .i = i}; }

static void loop_text(Buf *b, const Node *n)
{
    buf_printf(b, "%s %s", n->kind == NODE_FOR ? "for" : "select", n->each.var.text.data);
    if (n->each.in_given)
        buf_append(b, SLICE(" in"));
    for (uint32_t i = 0; i < n->each.count; i++)
        buf_printf(b, " %.*s", (int)n->each.words[i]->source.len, n->each.words[i]->source.data);
    if (n->kind == NODE_SELECT)
        buf_char(b, '\n');
}

static Slice command_text(Interp *in)
{
    Buf b;
    buf_init(&b, mem_of(in), 1 << 20);
    buf_reserve(&b, 64);
    const Node *n = in->command;
    if (n && n->kind == NODE_CASE)
        buf_printf(&b, "case %.*s in ", (int)n->kase.subject->source.len, n->kase.subject->source.data);
    else if (n && (n->kind == NODE_FOR || n->kind == NODE_SELECT))
        loop_text(&b, n);
    else if (n)
        print_command_line(&b, n);
    return buf_slice(&b);
}

/* The last few results stay counted: one expression may hold several. */
static void keep_value(Interp *in, Value v)
{
    Value *kept = &in->computed[in->ncomputed++ % ARRAY_LEN(in->computed)];
    value_unref(gen_of(in), *kept);
    *kept = v;
}

static void put_dirs(Interp *in, Var *v)
{
    size_t n = dirs_count(in);
    Slice *items = mem_array(mem_of(in), n + 1, Slice);
    for (size_t i = 0; i < n; i++)
        items[i] = dirs_get(in, i);
    put_array(in, v, items, n);
}

static void put_realtime(Interp *in, Var *v)
{
    uint32_t ns;
    int64_t s = proc_now(in->p, &ns);
    put_text(in, v, slice_str(mem_printf(mem_of(in), "%lld.%06u", (long long)s, ns / 1000)));
}

enum {
    UNREAD = 1u << SPECIAL_RANDOM | 1u << SPECIAL_SRANDOM | 1u << SPECIAL_SECONDS | 1u << SPECIAL_EPOCHSECONDS | 1u << SPECIAL_EPOCHREALTIME |
             1u << SPECIAL_LINENO | 1u << SPECIAL_SUBSHELL | 1u << SPECIAL_BASHPID | 1u << SPECIAL_HISTCMD,
};

static bool unread(const Interp *in, const Var *v, uint32_t which)
{
    return v->special && v->special < 32 && which & 1u << v->special && !(in->specials_read & 1u << v->special);
}

/* Computed, and not asked for until now: it has no value in lists. */
bool special_unread(Interp *in, Slice name)
{
    Name n = name_of(name);
    const Var *v = var_lookup(in, &n);
    return v && unread(in, v, UNREAD);
}

enum {
    UNREAD_ARRAY = 1u << SPECIAL_DIRSTACK | 1u << SPECIAL_GROUPS | 1u << SPECIAL_ARGC | 1u << SPECIAL_ARGV,
    UNREAD_MAP = 1u << SPECIAL_ALIASES | 1u << SPECIAL_CMDS,
    UNREAD_TEXT = 1u << SPECIAL_ARGV0 | 1u << SPECIAL_COMMAND,
};

/* As lists show it: arrays that nobody has asked for are empty, texts have no value. */
const Var *var_listed(Interp *in, Slice name)
{
    Name n = name_of(name);
    const Var *v = var_lookup(in, &n);
    bool list = v && unread(in, v, UNREAD_ARRAY), map = v && unread(in, v, UNREAD_MAP);
    if (!list && !map && !(v && unread(in, v, UNREAD_TEXT)))
        return v && v->special ? special_read(in, v) : v;
    Var *empty = mem_new(mem_of(in), Var);
    *empty = *v;
    if (list)
        put_array(in, empty, NULL, 0);
    else if (map)
        put_map(in, empty, NULL, v->special == SPECIAL_CMDS);
    else
        empty->value = (Value){.kind = VALUE_UNSET};
    if (list || map)
        keep_value(in, empty->value);
    return empty;
}

/* A copy with the value of now, valid as long as the process's memory is not reset. */
const Var *special_read(Interp *in, const Var *from)
{
    Var *v = mem_new(mem_of(in), Var);
    *v = *from;
    uint32_t ns;
    in->specials_read |= from->special < 32 ? 1u << from->special : 0;
    switch (from->special) {
    case SPECIAL_RANDOM: put_int(v, next_random(in)); break;
    case SPECIAL_SRANDOM: {
        uint32_t r;
        proc_random(in->p, &r, sizeof r);
        put_int(v, r);
        break;
    }
    case SPECIAL_SECONDS: put_int(v, proc_now(in->p, &ns) - in->started + in->seconds_base); break;
    case SPECIAL_EPOCHSECONDS: put_int(v, proc_now(in->p, &ns)); break;
    case SPECIAL_EPOCHREALTIME: put_realtime(in, v); break;
    case SPECIAL_LINENO: put_int(v, current_line(in)); break;
    case SPECIAL_COMMAND: put_text(in, v, command_text(in)); break;
    case SPECIAL_SUBSHELL: put_int(v, in->subshell_level); break;
    case SPECIAL_BASHPID: put_int(v, in->p->pid); break;
    case SPECIAL_PPID: put_int(v, in->p->parent ? in->p->parent->pid : 0); break;
    case SPECIAL_ARGV0: put_text(in, v, str_slice(in->st.zero)); break;
    case SPECIAL_FUNCNAME: case SPECIAL_SOURCE: case SPECIAL_BASH_LINENO: put_frames(in, v); break;
    case SPECIAL_ARGC: case SPECIAL_ARGV: put_arguments(in, v); break;
    case SPECIAL_PIPESTATUS: put_statuses(in, v); break;
    case SPECIAL_GROUPS: put_array(in, v, &(Slice){"1000", 4}, 1); break;
    case SPECIAL_DIRSTACK: put_dirs(in, v); break;
    case SPECIAL_HISTCMD: put_int(v, 1); break;
    case SPECIAL_ALIASES: put_map(in, v, &in->st.aliases, false); break;
    case SPECIAL_CMDS: put_map(in, v, &in->st.commands, true); break;
    case SPECIAL_SHELLOPTS: put_text(in, v, options_text(in, false)); break;
    case SPECIAL_BASHOPTS: put_text(in, v, options_text(in, true)); break;
    case SPECIAL_EXECUTION_STRING:
        if (in->has_execution_string)
            put_text(in, v, in->execution_string);
        else
            v->value = (Value){.kind = VALUE_UNSET};
        break;
    case SPECIAL_UNDERSCORE: put_text(in, v, buf_slice(&in->last_arg)); break;
    default: break;
    }
    keep_value(in, v->value);
    return v;
}

/* Assignments to what is computed; most are ignored. */
bool special_write(Interp *in, Var *v, Slice text)
{
    int64_t n = 0;
    uint32_t ns;
    switch (v->special) {
    case SPECIAL_RANDOM:
        if (!arith_eval_text(in, text, &n))
            return false;
        in->random_state = (uint32_t)n;
        if (!in->random_state)
            in->random_state = (uint64_t)1 << 32; /* a seed of 0 is not "unseeded" */
        break;
    case SPECIAL_SECONDS:
        if (!arith_eval_text(in, text, &n))
            return false;
        in->started = proc_now(in->p, &ns);
        in->seconds_base = n;
        break;
    case SPECIAL_ARGV0: {
        Str *s = str_new(gen_of(in), text);
        if (!s)
            lang_nomem(in);
        str_unref(gen_of(in), in->st.zero);
        in->st.zero = s;
        break;
    }
    case SPECIAL_LINENO:
        if (!arith_eval_text(in, text, &n))
            return false;
        in->dyn.line = (uint32_t)n;
        break;
    default:
        break;
    }
    return true;
}

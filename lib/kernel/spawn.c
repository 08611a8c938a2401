/* spawn: how a name becomes a program, and how programs are started: proc_find, proc_exec, proc_spawn, proc_run. */
#include <stdlib.h>
#include <sys/stat.h>

#include "internal.h"
#include "mount.h"

enum { HEAD = 256, MOST_INTERPRETERS = 4 };

/* ---------- finding ---------- */

static const struct Command *custom_command(const Kernel *k, const char *name)
{
    for (const Custom *c = k->customs; c; c = c->next)
        if (strcmp(c->name, name) == 0)
            return c->command;
    return NULL;
}

/* What an executable file is: sets kind and command, or error. */
static void classify(Proc *p, Program *program)
{
    Kernel *k = p->kernel;
    VFile *v;
    int err = ASK(p, vfs_access(k->vfs, &p->cred, p->cwd, program->path, 1));
    if (!err)
        err = ASK(p, vfs_open(k->vfs, &(VCred){0, 0, 0}, p->cwd, program->path, 0, 0, &v));
    if (err) {
        program->error = err;
        return;
    }
    VStat st;
    err = ASK(p, vfs_file_stat(k->vfs, v, &st));
    if (!err && (st.mode & S_IFMT) == S_IFDIR)
        err = -EACCES;
    Slice name = err ? (Slice){"", 0} : vfs_command(k->vfs, v);
    if (name.len) {
        char text[64];
        if (name.len < sizeof text) {
            memcpy(text, name.data, name.len);
            text[name.len] = 0;
            program->command = k->options.find_command(text);
        }
        err = program->command ? 0 : -ENOEXEC;
    }
    vfs_file_unref(k->vfs, v);
    program->error = err;
    program->kind = err ? PROGRAM_NONE : program->command ? PROGRAM_COMMAND : PROGRAM_SCRIPT;
}

static char *join(Proc *p, const char *dir, size_t n, const char *name)
{
    size_t len = strlen(name);
    char *path = mem_alloc(&p->mem, n + len + 2);
    memcpy(path, dir, n);
    path[n] = '/';
    memcpy(path + n + 1, name, len + 1);
    return path;
}

static Program search(Proc *p, const char *name, const char *path_variable)
{
    Program best = {.kind = PROGRAM_NONE, .error = -ENOENT};
    for (const char *at = path_variable;; at++) {
        size_t n = strcspn(at, ":");
        size_t dir = n > 1 && at[n - 1] == '/' ? n - 1 : n; /* one slash is enough */
        char *path = n ? join(p, at, dir, name) : join(p, ".", 1, name);
        Program here = {.kind = PROGRAM_NONE, .path = path};
        classify(p, &here);
        if (here.kind != PROGRAM_NONE)
            return here;
        if (here.error == -EACCES && best.error == -ENOENT) {
            VStat st; /* a directory of that name does not count */
            if (ASK(p, vfs_stat(p->kernel->vfs, &p->cred, p->cwd, path, 0, &st)) == 0 && (st.mode & S_IFMT) == S_IFREG)
                best = here;
        }
        at += n;
        if (!*at)
            return best;
    }
}

static FindEntry *cache_slot(Kernel *k, uint64_t key)
{
    if (!k->find_cache)
        k->find_cache = calloc(FIND_CACHE, sizeof *k->find_cache);
    return k->find_cache ? &k->find_cache[key % FIND_CACHE] : NULL;
}

/* Only absolute results that were found are kept: they depend on nothing but directories (and modes, whose change counts too). */
static void cache_store(FindEntry *e, uint64_t key, uint64_t generation, const Program *found)
{
    size_t n = found->path ? strlen(found->path) : 0;
    if (!e || found->kind != PROGRAM_COMMAND || found->path[0] != '/' || n >= sizeof e->path)
        return;
    *e = (FindEntry){.key = key, .generation = generation, .program = *found};
    memcpy(e->path, found->path, n + 1);
}

Program proc_find(Proc *p, const char *name, const char *path_variable)
{
    Kernel *k = p->kernel;
    const struct Command *custom = k->customs && !strchr(name, '/') ? custom_command(k, name) : NULL;
    if (custom)
        return (Program){.kind = PROGRAM_COMMAND, .command = custom, .path = name};
    if (strchr(name, '/')) {
        Program direct = {.kind = PROGRAM_NONE, .path = mem_strdup(&p->mem, name)};
        classify(p, &direct);
        return direct;
    }
    if (!path_variable || !*name)
        return (Program){.kind = PROGRAM_NONE, .error = -ENOENT};
    uint64_t key = hash_bytes(slice_str(name)) ^ hash_bytes(slice_str(path_variable)) * 3, generation = vfs_generation(k->vfs);
    FindEntry *e = cache_slot(k, key);
    if (e && e->key == key && e->generation == generation && e->program.kind == PROGRAM_COMMAND) {
        Program found = e->program;
        found.path = mem_strdup(&p->mem, e->path);
        return found;
    }
    Program found = search(p, name, path_variable);
    cache_store(e, key, generation, &found);
    return found;
}

Program proc_unknown(Proc *p, const char *name)
{
    const struct Command *hook = p->kernel->customs && *name && !strchr(name, '/') ? custom_command(p->kernel, KERN_UNKNOWN) : NULL;
    return hook ? (Program){.kind = PROGRAM_COMMAND, .command = hook, .path = name} : (Program){.kind = PROGRAM_NONE, .error = -ENOENT};
}

/* ---------- environments ---------- */

typedef struct {
    ProcEnv env;
    char *const *list;
} ListEnv;

static const char *list_get(const ProcEnv *env, Proc *p, const char *name)
{
    (void)p;
    size_t n = strlen(name);
    for (char *const *e = ((const ListEnv *)(const void *)env)->list; *e; e++)
        if (strncmp(*e, name, n) == 0 && (*e)[n] == '=')
            return *e + n + 1;
    return NULL;
}

static char **list_all(const ProcEnv *env, Proc *p)
{
    char *const *list = ((const ListEnv *)(const void *)env)->list;
    size_t n = 0;
    while (list[n])
        n++;
    char **copy = mem_array(&p->mem, n + 1, char *);
    memcpy(copy, list, n * sizeof *copy);
    return copy;
}

const ProcEnv *proc_env_list(Proc *p, char *const env[])
{
    ListEnv *e = mem_alloc(&p->keep, sizeof *e);
    *e = (ListEnv){{list_get, list_all}, env};
    return &e->env;
}

const char *proc_getenv(Proc *p, const char *name) { return p->env ? p->env->get(p->env, p, name) : NULL; }

char **proc_environ(Proc *p) { return p->env ? p->env->list(p->env, p) : mem_array(&p->mem, 1, char *); }

void *proc_command_user(Proc *p) { return p->command_user; }

/* ---------- executing ---------- */

static int run_command(Proc *p, const struct Command *command, int argc, char **argv)
{
    Kernel *k = p->kernel;
    for (const Custom *c = k->customs; c; c = c->next)
        if (c->command == command)
            p->command_user = c->user;
    if (!proc_command_allowed(p, k->options.command_name(command), true)) {
        output_flush(p->out);
        Slice text = slice_str(mem_printf(&p->mem, "%s: refused by policy\n", argc ? argv[0] : ""));
        proc_write(p, 2, text);
        return 126;
    }
    p->argv = argv;
    p->argc = argc;
    kern_event(k, EVENT_COMMAND, p->pid, argc ? argv[0] : "", NULL, argc);
    return k->options.run_command(p, command, argc, argv);
}

/* "#!" interpreter and its one argument, out of the first line. False: not such a script. */
static bool interpreter_line(Proc *p, Slice head, char **interpreter, char **argument)
{
    if (!slice_starts(head, SLICE("#!")))
        return false;
    head = slice_from(head, 2);
    head.len = slice_find(head, '\n');
    while (head.len && (head.data[0] == ' ' || head.data[0] == '\t'))
        head = slice_from(head, 1);
    while (head.len && strchr(" \t\r", head.data[head.len - 1]))
        head.len--;
    size_t n = 0;
    while (n < head.len && head.data[n] != ' ' && head.data[n] != '\t')
        n++;
    if (n == 0)
        return false;
    *interpreter = mem_copy(&p->keep, (Slice){head.data, n});
    Slice rest = slice_from(head, n);
    while (rest.len && (rest.data[0] == ' ' || rest.data[0] == '\t'))
        rest = slice_from(rest, 1);
    *argument = rest.len ? mem_copy(&p->keep, rest) : NULL;
    return true;
}

/* As bash: a NUL in the first line means a binary. */
static bool looks_binary(Slice head)
{
    Slice line = {head.data, slice_find(head, '\n')};
    return slice_find(line, 0) < line.len;
}

static int script_head(Proc *p, const char *path, Slice *head)
{
    char *buf = mem_alloc(&p->keep, HEAD);
    VFile *v;
    Kernel *k = p->kernel;
    int err = ASK(p, vfs_open(k->vfs, &p->cred, p->cwd, path, V_READ, 0, &v));
    if (err)
        return err;
    Chunk *chunk = NULL;
    Slice got = {"", 0};
    err = ASK(p, vfs_read(k->vfs, v, 0, HEAD, buf, &chunk, &got));
    if (!err && got.len && got.data != buf)
        memcpy(buf, got.data, got.len);
    chunk_unref(k->gen, chunk);
    vfs_file_unref(k->vfs, v);
    *head = (Slice){buf, got.len};
    return err;
}

static int exec_script(Proc *p, const char *path, int argc, char **argv, int level)
{
    Slice head;
    int err = script_head(p, path, &head);
    if (err)
        return err;
    char *interpreter, *argument;
    if (!interpreter_line(p, head, &interpreter, &argument)) {
        if (looks_binary(head))
            return -ENOEXEC;
        return p->kernel->options.lang->run_script(p, path, argc, argv);
    }
    if (level >= MOST_INTERPRETERS)
        return -ELOOP;
    Program program = proc_find(p, interpreter, NULL);
    if (program.kind == PROGRAM_NONE)
        return program.error == -ENOENT ? -ENOENT : program.error;
    int extra = argument ? 2 : 1, n = 0;
    char **args = mem_array(&p->keep, (size_t)argc + (size_t)extra + 2, char *);
    args[n++] = interpreter;
    if (argument)
        args[n++] = argument;
    args[n++] = mem_strdup(&p->keep, path);
    for (int i = 1; i < argc; i++)
        args[n++] = argv[i];
    if (program.kind == PROGRAM_COMMAND)
        return run_command(p, program.command, n, args);
    return exec_script(p, program.path, n, args, level + 1);
}

int proc_exec(Proc *p, const Program *program, int argc, char **argv, char *const env[])
{
    if (env)
        p->env = proc_env_list(p, env);
    if (argc) {
        const char *slash = strrchr(argv[0], '/');
        p->name = argv[0];
        p->comm = slash ? slash + 1 : argv[0];
    }
    p->lang = NULL;
    if (program->kind == PROGRAM_COMMAND)
        return run_command(p, program->command, argc, argv);
    return exec_script(p, program->path, argc, argv, 0);
}

/* ---------- spawning ---------- */

typedef struct {
    Program program;
    int argc;
    char **argv;
    char *const *env;
} Start;

static int start_main(Proc *p, void *arg)
{
    Start *s = arg;
    int status = proc_exec(p, &s->program, s->argc, s->argv, s->env);
    return status < 0 ? (status == -ENOENT ? 127 : 126) : status;
}

static char **copy_strings(Mem *m, char *const *strings, int *count)
{
    int n = 0;
    while (strings[n])
        n++;
    char **copy = mem_array(m, (size_t)n + 1, char *);
    for (int i = 0; i < n; i++)
        copy[i] = mem_strdup(m, strings[i]);
    *count = n;
    return copy;
}

static int arrange(Proc *child, const SpawnAttr *attr)
{
    if (attr->cwd) {
        vfs_dir_unref(child->kernel->vfs, child->cwd);
        child->cwd = vfs_dir_ref(attr->cwd);
    }
    for (size_t i = 0; i < attr->nfds; i++) {
        int err = attr->fds[i].parent < 0 ? proc_close(child, attr->fds[i].child) : proc_dup2(child, attr->fds[i].parent, attr->fds[i].child);
        if (err < 0 && attr->fds[i].parent >= 0)
            return err;
    }
    return 0;
}

/* A script that cannot be read or whose interpreter is missing is found out before anything starts. */
static int startable(Proc *p, const Program *program)
{
    if (program->kind == PROGRAM_NONE)
        return program->error;
    if (program->kind == PROGRAM_COMMAND)
        return 0;
    Slice head;
    int err = script_head(p, program->path, &head);
    char *interpreter, *argument;
    if (!err && interpreter_line(p, head, &interpreter, &argument))
        err = proc_find(p, interpreter, NULL).error;
    else if (!err && looks_binary(head))
        err = -ENOEXEC;
    return err;
}

static Proc *prepare(Proc *p, char *const argv[], char *const env[], const SpawnAttr *attr, Start **start, int *err)
{
    static const SpawnAttr none = {NULL, 0, NULL, false, NULL};
    if (!attr)
        attr = &none;
    const char *path = attr->no_path ? NULL : proc_getenv(p, "PATH");
    Program program = proc_find(p, argv[0], attr->no_path ? "" : path ? path : "/usr/bin:/bin");
    if (program.kind == PROGRAM_NONE && program.error == -ENOENT && !attr->no_path)
        program = proc_unknown(p, argv[0]);
    *err = startable(p, &program);
    if (*err)
        return NULL;
    Proc *child = proc_child(p, err);
    if (!child)
        return NULL;
    *err = arrange(child, attr);
    if (*err) {
        proc_discard(child);
        return NULL;
    }
    Start *s = mem_alloc0(&child->keep, sizeof *s);
    s->program = program;
    s->program.path = program.path ? mem_strdup(&child->keep, program.path) : NULL;
    s->argv = copy_strings(&child->keep, argv, &s->argc);
    if (attr->argv0 && s->argc)
        s->argv[0] = mem_strdup(&child->keep, attr->argv0);
    int n;
    /* The parent may go on changing its environment, and may end before the child does. */
    s->env = copy_strings(&child->keep, env ? env : proc_environ(p), &n);
    *start = s;
    return child;
}

pid_t proc_spawn(Proc *p, char *const argv[], char *const env[], const SpawnAttr *attr)
{
    Start *s;
    int err;
    Proc *child = prepare(p, argv, env, attr, &s, &err);
    if (!child)
        return err;
    StackSize stack = STACK_MEDIUM;
    if (s->program.kind == PROGRAM_COMMAND && p->kernel->options.command_stack)
        stack = p->kernel->options.command_stack(s->program.command);
    return proc_start(child, start_main, s, stack);
}

int proc_run(Proc *p, char *const argv[], char *const env[], const SpawnAttr *attr)
{
    Start *s;
    int err;
    Proc *child = prepare(p, argv, env, attr, &s, &err);
    return child ? proc_call(child, start_main, s) : err;
}

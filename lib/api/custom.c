/* custom: commands of the embedder's own.
 *
 * In the shell a custom command is a process like any other. It asks the host by numbered requests, one an event; the host's
 * function runs on the stack of the thread that steps, never on a coroutine. What the function writes is gathered in the call and
 * written by the process when it goes on.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "builtins/command.h"
#include "internal.h"

struct CustomCommand {
    CustomCommand *next;
    shell *sh;
    Command command;
    shell_command_fn fn;
    shell_command_event event;
    void *user;
    char name[];
};

typedef struct Gathered {
    char *data;
    size_t len, cap;
} Gathered;

struct shell_call {
    const CustomCommand *custom;
    Proc *proc;
    Request request;
    Args *args;
    Slice input;
    bool input_taken, unread, killed, done;
    shell_call *next_killed;
    int32_t event;
    Slice data;
    pthread_mutex_t lock; /* of `out`: any thread may write */
    Gathered out[2];
    char *cwd;
};

enum { WRITABLE_MOST = 1 << 20 };

/* ---------- what a callback may ask ---------- */

int32_t shell_call_argc(const shell_call *call) { return call->args->argc; }

const char *shell_call_arg(const shell_call *call, int32_t index)
{
    return index >= 0 && index < call->args->argc ? call->args->argv[index] : NULL;
}

const char *shell_call_input(const shell_call *call, uint64_t *len)
{
    ((shell_call *)(uintptr_t)call)->input_taken = true;
    if (len)
        *len = call->input.len;
    return call->input.data;
}

const char *shell_call_getenv(const shell_call *call, const char *name) { return proc_getenv(call->proc, name); }
const char *shell_call_cwd(const shell_call *call) { return call->cwd; }
uint64_t shell_call_id(const shell_call *call) { return call->request.id; }
void shell_call_unread(shell_call *call) { call->unread = true; }

shell_err shell_call_write(shell_call *call, int32_t stream, const char *data, uint64_t len, uint64_t *written)
{
    if (!call || stream < 1 || stream > 2 || (!data && len))
        return SHELL_EINVAL;
    pthread_mutex_lock(&call->lock);
    Gathered *g = &call->out[stream - 1];
    size_t n = (size_t)len, need;
    if (call->custom->event && n > WRITABLE_MOST - MIN(g->len, (size_t)WRITABLE_MOST))
        n = WRITABLE_MOST - MIN(g->len, (size_t)WRITABLE_MOST);
    shell_err err = call->killed ? SHELL_EPIPE : SHELL_OK;
    if (!err && size_add(g->len, n, &need) && need > g->cap) {
        size_t cap = MAX(need, MIN(g->cap, SIZE_MAX / 2) * 2);
        char *moved = realloc(g->data, cap);
        err = moved ? SHELL_OK : SHELL_ENOMEM;
        if (moved) {
            g->data = moved;
            g->cap = cap;
        }
    }
    if (!err) {
        if (n)
            memcpy(g->data + g->len, data, n);
        g->len += n;
    }
    pthread_mutex_unlock(&call->lock);
    if (written)
        *written = err ? 0 : n;
    return err;
}

/* ---------- the process's side ---------- */

static void free_call(shell_call *call)
{
    for (int i = 0; i < 2; i++)
        free(call->out[i].data);
    pthread_mutex_destroy(&call->lock);
    free(call);
}

/* A machine that has not given its status may still be writing from another thread: it is told first, and the call goes then. */
static void release_call(Proc *p, void *thing)
{
    (void)p;
    shell_call *call = thing;
    if (call->done || !call->custom->event) {
        free_call(call);
        return;
    }
    pthread_mutex_lock(&call->lock);
    call->killed = true;
    pthread_mutex_unlock(&call->lock);
    call->next_killed = call->custom->sh->killed;
    call->custom->sh->killed = call;
}

void custom_bury(shell *sh)
{
    while (sh->killed) {
        shell_call *call = sh->killed;
        sh->killed = call->next_killed;
        sh->in_callback = true;
        call->custom->event(call->custom->user, call, SHELL_CALL_KILLED, "", 0);
        sh->in_callback = false;
        free_call(call);
    }
}

static void write_gathered(Proc *p, shell_call *call)
{
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&call->lock);
        Slice s = {call->out[i].data, call->out[i].len};
        char *copy = s.len ? mem_copy(&p->mem, s) : NULL;
        call->out[i].len = 0;
        pthread_mutex_unlock(&call->lock);
        if (copy)
            proc_write(p, i + 1, (Slice){copy, s.len});
    }
}

static int ask(Proc *p, shell_call *call, int32_t event, Slice data)
{
    MemMark mark = mem_mark(&p->mem);
    call->event = event;
    call->data = data;
    call->request = (Request){.kind = REQUEST_COMMAND, .ask = call};
    int result = proc_request(p, &call->request);
    write_gathered(p, call);
    mem_reset(&p->mem, mark);
    return result;
}

/* A blocking function's input is collected whole first; what it did not look at goes back where it can. */
static int run_blocking(Proc *p, shell_call *call)
{
    int64_t at = proc_seek(p, 0, 0, SEEK_CUR);
    if (proc_fd_valid(p, 0))
        call->input = read_all(p, 0);
    int status = ask(p, call, SHELL_CALL_START, (Slice){"", 0});
    if (!call->input_taken && at >= 0)
        proc_seek(p, 0, at, SEEK_SET);
    return status;
}

static int run_machine(Proc *p, shell_call *call)
{
    int64_t at = proc_seek(p, 0, 0, SEEK_CUR);
    int status = ask(p, call, SHELL_CALL_START, (Slice){"", 0});
    bool ended = false;
    while (status == SHELL_CALL_MORE) {
        Slice data = {"", 0};
        if (!ended && proc_read_chunk(p, 0, 65536, &data, NULL) > 0) {
            status = ask(p, call, SHELL_CALL_INPUT, data);
            continue;
        }
        status = ask(p, call, ended ? SHELL_CALL_WRITABLE : SHELL_CALL_INPUT_END, (Slice){"", 0});
        ended = true;
    }
    if (call->unread && at >= 0)
        proc_seek(p, 0, at, SEEK_SET);
    return status;
}

static int custom_main(Proc *p, Args *args)
{
    const CustomCommand *custom = proc_command_user(p);
    shell_call *call = calloc(1, sizeof *call);
    if (!call)
        proc_raise(p, RAISE_MEMORY);
    call->custom = custom;
    call->proc = p;
    call->args = args;
    pthread_mutex_init(&call->lock, NULL);
    proc_own(p, release_call, call);
    if (proc_getcwd(p, &call->cwd))
        call->cwd = mem_strdup(&p->keep, "/");
    int status = custom->event ? run_machine(p, call) : run_blocking(p, call);
    call->done = true;
    return status == SHELL_CALL_UNKNOWN && strcmp(custom->name, KERN_UNKNOWN) == 0 ? -ENOENT : status & 255;
}

/* ---------- the host's side ---------- */

static bool serve(shell *sh, Request *r)
{
    shell_call *call = (shell_call *)(uintptr_t)r->ask;
    const CustomCommand *c = call->custom;
    uint64_t id = r->id;
    sh->in_callback = true;
    int32_t result = c->event ? c->event(c->user, call, call->event, call->data.data, call->data.len) : c->fn(c->user, call);
    sh->in_callback = false;
    if (c->event && result == SHELL_CALL_LATER)
        return false;
    kern_answer(sh->kernel, id, result);
    return true;
}

bool custom_serve(shell *sh)
{
    bool any = false;
    uint64_t after = sh->served;
    for (Request *r; (r = kern_request(sh->kernel, after));) {
        after = sh->served = r->id;
        if (r->kind == REQUEST_COMMAND)
            any |= serve(sh, r);
        if (r->kind == REQUEST_MOUNT)
            any |= mount_serve(sh, r);
        if (r->kind == REQUEST_TRANSPORT) {
            net_serve(sh, r);
            any = true;
        }
        if (r->kind == REQUEST_COMPONENT) {
            component_serve(sh, r->ask, r->id);
            any = true;
        }
    }
    return any;
}

shell_err shell_answer(shell *sh, uint64_t request, int32_t result)
{
    if (!sh)
        return SHELL_EINVAL;
    shell_err alive = api_alive(sh);
    if (alive)
        return alive;
    /* Once the answer is given the run may end and the shell be closed: it is not touched any more. */
    struct MountCall *call = mount_take_late(sh, request);
    shell_err err = kern_answer(sh->kernel, request, result) ? SHELL_ENOENT : SHELL_OK;
    mount_let_go(call);
    return err;
}

/* ---------- registration ---------- */

static shell_err add(shell *sh, const char *name, shell_command_fn fn, shell_command_event event, void *user)
{
    size_t n = strlen(name) + 1;
    CustomCommand *c = malloc(sizeof *c + n);
    if (!c)
        return api_fail(sh, SHELL_ENOMEM, "out of memory");
    *c = (CustomCommand){.next = sh->customs, .sh = sh, .fn = fn, .event = event, .user = user};
    memcpy(c->name, name, n);
    c->command = (Command){.name = c->name, .usage = c->name, .summary = "", .main = custom_main, .flags = COMMAND_RAW | COMMAND_NO_FILE, .usage_status = 2};
    int e = kern_command_set(sh->kernel, name, &c->command, c);
    if (e) {
        free(c);
        return api_error(sh, e, name);
    }
    sh->customs = c; /* one that was replaced stays until the end: a process may still run it */
    return SHELL_OK;
}

static bool valid_name(const char *name) { return name && *name && !strchr(name, '/') && strlen(name) < 256; }

shell_err shell_command(shell *sh, const char *name, shell_command_fn fn, void *user)
{
    shell_err err = valid_name(name) && fn ? api_enter_idle(sh) : SHELL_EINVAL;
    return err ? err : add(sh, name, fn, NULL, user);
}

shell_err shell_command_machine(shell *sh, const char *name, shell_command_event event, void *user)
{
    shell_err err = valid_name(name) && event ? api_enter_idle(sh) : SHELL_EINVAL;
    return err ? err : add(sh, name, NULL, event, user);
}

static bool replaced(const shell *sh, const CustomCommand *c)
{
    for (const CustomCommand *d = sh->customs; d != c; d = d->next)
        if (strcmp(c->name, d->name) == 0)
            return true;
    return false;
}

shell_err shell_unknown_command(shell *sh, shell_command_event event, void *user)
{
    shell_err err = api_enter_idle(sh);
    if (err)
        return err;
    return event ? add(sh, KERN_UNKNOWN, NULL, event, user) : api_error(sh, kern_command_set(sh->kernel, KERN_UNKNOWN, NULL, NULL), "unknown");
}

/* kern_fork copied pointers to the other shell's commands: they are replaced by this one's own. */
shell_err custom_copy_all(shell *to, const shell *from)
{
    for (const CustomCommand *c = from->customs; c; c = c->next) {
        shell_err err = replaced(from, c) ? SHELL_OK : add(to, c->name, c->fn, c->event, c->user);
        if (err)
            return err;
    }
    return SHELL_OK;
}

void custom_names(const shell *sh, Buf *b)
{
    const char *before = "Commands of the host program:";
    for (const CustomCommand *c = sh->customs; c; c = c->next) {
        if (replaced(sh, c) || strcmp(c->name, KERN_UNKNOWN) == 0)
            continue;
        buf_printf(b, "%s %s", before, c->name);
        before = "";
    }
}

void custom_free_all(shell *sh)
{
    while (sh->customs) {
        CustomCommand *c = sh->customs;
        sh->customs = c->next;
        free(c);
    }
}

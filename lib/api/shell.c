/* shell: opening, closing, forking, resetting; images; variables; queries. */
#include <stdio.h>
#include <stdlib.h>

#include "builtins/registry.h"
#include "internal.h"
#include "lib/base/host.h"
#include "lib/kernel/http.h"

const char *shell_version(void) { return SHELL_VERSION; }

int32_t shell_feature(const char *feature)
{
    if (strcmp(feature, "direct") == 0 || strcmp(feature, "overlay") == 0)
        return 1;
#if defined(__SANITIZE_ADDRESS__)
    if (strcmp(feature, "asan") == 0)
        return 1;
#endif
    return 0;
}

void shell_options_init_sized(shell_options *options, uint64_t size)
{
    const shell_options defaults = {.size = size, .umask = -1};
    memset(options, 0, (size_t)size);
    memcpy(options, &defaults, MIN((size_t)size, sizeof defaults));
}

void shell_free(void *p) { free(p); }

/* ---------- opening ---------- */

static KernelOptions kernel_options(const shell_options *o, VfsImage *files)
{
    KernelOptions k = {
        .image = files, .find_command = command_find, .run_command = command_run, .command_stack = command_stack, .command_name = command_name, .lang = &lang_ops,
        .limits = api_limits(o->limits, &limits_default), .uid = 1000, .gid = 1000, .umask = o->umask < 0 ? 022 : (uint32_t)o->umask & 0777,
        .fixed_clock = o->fixed_clock == 1, .virtual_clock = o->fixed_clock == 2, .clock_seconds = o->clock_seconds,
        .seeded = o->seeded != 0, .seed = o->seed, .cwd = "/home/agent",
    };
    return k;
}

static shell_err bind_all(shell *sh, const shell_options *o, const char **message, const char **first)
{
    for (uint64_t i = 0; i < o->nbinds; i++) {
        const shell_bind *given = (const shell_bind *)(const void *)((const char *)o->binds + i * o->binds->size);
        shell_bind b;
        VBind bind;
        *message = "bind: bad size or missing path";
        if (!bind_read(&bind, &b, given))
            return SHELL_EINVAL;
        int err = vfs_bind(kern_vfs(sh->kernel), &bind, message);
        if (err)
            return api_error(sh, err, b.source);
        *message = NULL;
        shell_err noted = bind_note(sh, b.mode, b.flags, b.destination);
        if (noted)
            return noted;
        if (i == 0)
            *first = b.destination;
    }
    *message = NULL;
    return SHELL_OK;
}

/* Where the shell starts: what was asked for, else the first bind when it is a directory, else home. */
static int enter(shell *sh, const shell_options *o, const char *first_bind)
{
    Proc *p = kern_main(sh->kernel);
    if (o->cwd)
        return proc_chdir(p, o->cwd);
    return first_bind && proc_chdir(p, first_bind) == 0 ? 0 : 0;
}

static shell_err build(shell *sh, const shell_options *o, const char **message)
{
    VfsImage *files = o->image ? o->image->files : base_image();
    if (!files)
        return SHELL_ENOMEM;
    KernelOptions ko = kernel_options(o, files);
    if (!o->nbinds && o->cwd)
        ko.cwd = o->cwd;
    sh->kernel = kern_new(&ko);
    if (!sh->kernel)
        return SHELL_ENOMEM;
    const char *first = NULL;
    shell_err err = o->nbinds ? bind_all(sh, o, message, &first) : SHELL_OK;
    if (err)
        return err;
    int e = enter(sh, o, first);
    if (e) {
        *message = "cwd: no such directory in the shell";
        return api_error(sh, e, o->cwd);
    }
    if (o->nbinds && (e = vfs_set_base(kern_vfs(sh->kernel))))
        return api_error(sh, e, "open");
    sh->lang = lang_new(sh->kernel, base_state(), o->env);
    return sh->lang ? SHELL_OK : SHELL_ENOMEM;
}

static shell *shell_alloc(void)
{
    shell *sh = calloc(1, sizeof *sh);
    if (!sh)
        return NULL;
    pthread_mutex_init(&sh->forks, NULL);
    pthread_mutex_init(&sh->words, NULL);
    sh->process = host_process();
    return sh;
}

static void destroy(shell *sh)
{
    if (sh->lang)
        lang_free(sh->lang, sh->kernel);
    audit_free(sh); /* it takes itself off the kernel */
    kern_free(sh->kernel);
    custom_bury(sh);
    custom_free_all(sh);
    mount_free_all(sh);
    bind_free_notes(sh);
    free(sh->script);
    pthread_mutex_destroy(&sh->forks);
    pthread_mutex_destroy(&sh->words);
    free(sh);
}

static void tell(const shell_options *o, const char *message)
{
    if (o->message && o->message_size)
        snprintf(o->message, (size_t)o->message_size, "%s", message ? message : "");
}

shell_err shell_open(const shell_options *opts, shell **out)
{
    shell_options o;
    shell_options_init(&o);
    if (!out || (opts && !api_copy_struct(&o, sizeof o, opts)))
        return SHELL_EINVAL;
    *out = NULL;
    shell *sh = shell_alloc();
    if (!sh)
        return SHELL_ENOMEM;
    const char *message = NULL;
    shell_err err = build(sh, &o, &message);
    if (!err && o.net && (err = net_configure(sh, o.net)))
        message = NULL;
    if (!err && o.policy && (err = policy_configure(sh, o.policy)))
        message = NULL;
    if (!err && o.audit && (err = audit_configure(sh, o.audit)))
        message = NULL;
    sh->component = o.component;
    sh->component_user = o.component_user;
    if (err) {
        tell(&o, sh->message[0] && !message ? sh->message : message ? message : shell_strerror(err));
        destroy(sh);
        return err;
    }
    tell(&o, "");
    *out = sh;
    return SHELL_OK;
}

static void adopt(shell *sh)
{
    sh->process = host_process();
    sh->torn = atomic_load(&sh->busy) != 0;
    if (sh->torn)
        return;
    pthread_mutex_init(&sh->forks, NULL);
    pthread_mutex_init(&sh->words, NULL);
    kern_host_forked(sh->kernel);
    if (!sh->begun)
        return;
    kern_abandon(sh->kernel);
    custom_bury(sh);
    sh->begun = sh->done = false;
    sh->lost = true;
}

shell_err api_alive(shell *sh)
{
    if (unlikely(sh->process != host_process()))
        adopt(sh);
    return unlikely(sh->torn) ? api_fail(sh, SHELL_EBUSY, "the host forked while another thread ran this shell: it cannot be used in the child") : SHELL_OK;
}

shell_err api_lost(shell *sh)
{
    if (likely(!sh->lost))
        return SHELL_OK;
    sh->lost = false;
    return api_fail(sh, SHELL_EBUSY, "the host forked while this run was in progress: it has ended");
}

shell_err api_enter_idle(shell *sh)
{
    if (!sh)
        return SHELL_EINVAL;
    shell_err err = api_alive(sh);
    if (err)
        return err;
    if (sh->begun || sh->in_callback || atomic_load(&sh->busy))
        return api_fail(sh, SHELL_EBUSY, "the shell is running");
    return SHELL_OK;
}

shell_err shell_close(shell *sh)
{
    if (!sh)
        return SHELL_OK;
    shell_err err = api_alive(sh);
    if (err)
        return err;
    if (sh->in_callback || atomic_load(&sh->busy))
        return api_fail(sh, SHELL_EBUSY, "the shell is running");
    destroy(sh);
    return SHELL_OK;
}

shell_err shell_reset(shell *sh)
{
    shell_err err = api_enter_idle(sh);
    if (err)
        return err;
    int e = kern_reset(sh->kernel);
    if (!e)
        e = lang_reset(sh->lang, sh->kernel);
    return api_error(sh, e, "reset");
}

shell_err shell_fork(shell *sh, shell **out)
{
    shell_err err = api_enter_idle(sh);
    if (err || !out)
        return err ? err : SHELL_EINVAL;
    *out = NULL;
    shell *to = shell_alloc();
    pthread_mutex_lock(&sh->forks);
    bool done = to && (to->kernel = kern_fork(sh->kernel)) && (to->lang = lang_fork(sh->lang, to->kernel)) && custom_copy_all(to, sh) == SHELL_OK &&
                bind_copy_notes(to, sh) == SHELL_OK;
    pthread_mutex_unlock(&sh->forks);
    if (done) {
        to->component = sh->component;
        to->component_user = sh->component_user;
        to->net = sh->net;
        to->policy = sh->policy;
        kern_net_owner(to->kernel, to);
        *out = to;
        return SHELL_OK;
    }
    if (to)
        destroy(to);
    return api_fail(sh, SHELL_ENOMEM, "fork: out of memory");
}

shell_err shell_set_limits(shell *sh, const shell_limits *limits)
{
    shell_err err = limits ? api_enter_idle(sh) : SHELL_EINVAL;
    shell_limits checked;
    if (err || !api_copy_struct(&checked, sizeof checked, limits))
        return err ? err : SHELL_EINVAL;
    Limits l = api_limits(limits, kern_limits(sh->kernel));
    kern_set_limits(sh->kernel, &l);
    return SHELL_OK;
}

/* ---------- images ---------- */

shell_err shell_image_of(shell *sh, shell_image **out)
{
    shell_err err = api_enter_idle(sh);
    if (err || !out)
        return err ? err : SHELL_EINVAL;
    *out = NULL;
    shell_image *image = calloc(1, sizeof *image);
    pthread_mutex_lock(&sh->forks);
    if (image)
        image->files = kern_freeze(sh->kernel);
    pthread_mutex_unlock(&sh->forks);
    if (!image || !image->files) {
        free(image);
        return api_fail(sh, SHELL_ENOMEM, "image: out of memory");
    }
    *out = image;
    return SHELL_OK;
}

void shell_image_free(shell_image *image)
{
    if (!image)
        return;
    vfs_image_unref(image->files);
    free(image);
}

/* ---------- variables and queries ---------- */

shell_err shell_setenv(shell *sh, const char *name, const char *value)
{
    shell_err err = api_enter_idle(sh);
    if (err || !name || !value)
        return err ? err : SHELL_EINVAL;
    return api_error(sh, lang_setenv(sh->lang, sh->kernel, name, value), name);
}

shell_err shell_unsetenv(shell *sh, const char *name)
{
    shell_err err = api_enter_idle(sh);
    if (err || !name)
        return err ? err : SHELL_EINVAL;
    return api_error(sh, lang_unsetenv(sh->lang, sh->kernel, name), name);
}

static shell_err copy_out(shell *sh, Slice s, char **out)
{
    char *copy = malloc(s.len + 1);
    if (!copy)
        return api_fail(sh, SHELL_ENOMEM, "out of memory");
    if (s.len)
        memcpy(copy, s.data, s.len);
    copy[s.len] = 0;
    *out = copy;
    return SHELL_OK;
}

shell_err shell_getenv(shell *sh, const char *name, char **out)
{
    shell_err err = api_enter_idle(sh);
    if (err || !name || !out)
        return err ? err : SHELL_EINVAL;
    Slice value;
    int e = lang_getenv(sh->lang, sh->kernel, name, &value);
    return e ? api_error(sh, e, name) : copy_out(sh, value, out);
}

shell_err shell_cwd(shell *sh, char **out)
{
    if (!sh || !out)
        return SHELL_EINVAL;
    shell_err alive = api_alive(sh);
    if (alive)
        return alive;
    Mem mem;
    char *path;
    mem_init(&mem, NULL, NULL, NULL);
    int e = vfs_dir_path(kern_vfs(sh->kernel), kern_main(sh->kernel)->cwd, &mem, &path);
    shell_err err = e ? api_error(sh, e, "cwd") : copy_out(sh, slice_str(path), out);
    mem_drop(&mem);
    return err;
}

const char *const *shell_command_names(uint64_t *count)
{
    static const char *names[1024];
    static _Atomic bool filled;
    size_t n = MIN(command_count, ARRAY_LEN(names) - 1);
    if (!atomic_load(&filled)) { /* every thread would write the same */
        for (size_t i = 0; i < n; i++)
            names[i] = command_table[i]->name;
        atomic_store(&filled, true);
    }
    if (count)
        *count = n;
    return names;
}

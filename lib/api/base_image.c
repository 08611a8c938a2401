/* base_image: what every shell's file system and variables start as; made once a process, then frozen. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "builtins/command.h"
#include "internal.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static VfsImage *image;
static LangState *state;

static const struct { const char *path; uint32_t mode; bool agents; } directories[] = {
    {"/bin", 0755, false},       {"/usr", 0755, false},        {"/usr/bin", 0755, false},    {"/usr/local", 0755, false},
    {"/usr/local/bin", 0755, false}, {"/usr/lib", 0755, false}, {"/usr/share", 0755, false},  {"/sbin", 0755, false},
    {"/usr/sbin", 0755, false},  {"/etc", 0755, false},        {"/dev", 0755, false},        {"/proc", 0555, false},
    {"/proc/self", 0555, false}, {"/proc/self/fd", 0500, true}, {"/tmp", 01777, false},      {"/var", 0755, false},
    {"/var/tmp", 01777, false},  {"/home", 0755, false},       {"/home/agent", 0755, true},  {"/workspace", 0755, true},
    {"/root", 0700, false},
};

static const struct { const char *path, *text; } files[] = {
    {"/etc/passwd", "root:x:0:0:root:/root:/bin/bash\n"
                    "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"
                    "agent:x:1000:1000:agent:/home/agent:/bin/bash\n"},
    {"/etc/group", "root:x:0:\nnogroup:x:65534:\nagent:x:1000:\n"},
    {"/etc/os-release", "PRETTY_NAME=\"libshell\"\nNAME=\"libshell\"\nID=libshell\nVERSION_ID=\"0.1\"\n"},
    {"/etc/hosts", "127.0.0.1\tlocalhost\n::1\tlocalhost\n"},
    {"/etc/hostname", "libshell\n"},
    {"/etc/shells", "/bin/sh\n/bin/bash\n/usr/bin/bash\n"},
};

static const struct { const char *path; uint32_t rdev; } devices[] = {
    {"/dev/null", VDEV_NULL}, {"/dev/zero", VDEV_ZERO}, {"/dev/full", VDEV_FULL}, {"/dev/random", VDEV_RANDOM},
    {"/dev/urandom", VDEV_RANDOM}, {"/dev/tty", VDEV_TTY},
};

static const struct { const char *path, *target; } links[] = {
    {"/dev/stdin", "/proc/self/fd/0"}, {"/dev/stdout", "/proc/self/fd/1"}, {"/dev/stderr", "/proc/self/fd/2"}, {"/dev/fd", "/proc/self/fd"},
};

static const char *const environment[] = {
    "HOME=/home/agent", "USER=agent", "LOGNAME=agent", "SHELL=/bin/bash", "PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "TZ=UTC", NULL,
};

static int write_file(Vfs *fs, const VCred *root, const char *path, const char *text)
{
    VFile *f;
    int err = vfs_open(fs, root, NULL, path, V_WRITE | V_CREATE, 0644, &f);
    if (err)
        return err;
    uint64_t at;
    ssize_t n = vfs_write(fs, f, 0, slice_str(text), NULL, &at);
    vfs_file_unref(fs, f);
    return n < 0 ? (int)n : 0;
}

static int make_directories(Vfs *fs, const VCred *root)
{
    int err = 0;
    for (size_t i = 0; i < ARRAY_LEN(directories) && !err; i++) {
        err = vfs_mkdir(fs, root, NULL, directories[i].path, directories[i].mode);
        if (!err && directories[i].mode > 0777)
            err = vfs_chmod(fs, root, NULL, directories[i].path, 0, directories[i].mode);
        if (!err && directories[i].agents)
            err = vfs_chown(fs, root, NULL, directories[i].path, 0, 1000, 1000);
    }
    return err;
}

/* /bin and /usr/bin both name every command that has a file, as on a merged-/usr system. */
static int make_commands(Vfs *fs, const VCred *root)
{
    char path[128], also[128];
    int err = 0;
    for (size_t i = 0; i < command_count && !err; i++) {
        const Command *c = command_table[i];
        if ((c->flags & COMMAND_NO_FILE) || strlen(c->name) > 80)
            continue;
        strcpy(stpcpy(path, "/usr/bin/"), c->name);
        strcpy(stpcpy(also, "/bin/"), c->name);
        err = vfs_make_command(fs, path, c->name);
        if (!err)
            err = vfs_link(fs, root, NULL, path, NULL, also, 0);
    }
    return err;
}

static int fill(Vfs *fs)
{
    const VCred root = {0, 0, 0};
    int err = make_directories(fs, &root);
    for (size_t i = 0; i < ARRAY_LEN(files) && !err; i++)
        err = write_file(fs, &root, files[i].path, files[i].text);
    for (size_t i = 0; i < ARRAY_LEN(devices) && !err; i++)
        err = vfs_mknod(fs, &root, NULL, devices[i].path, S_IFCHR | 0666, devices[i].rdev);
    for (size_t i = 0; i < ARRAY_LEN(links) && !err; i++)
        err = vfs_symlink(fs, &root, links[i].target, NULL, links[i].path);
    return err ? err : make_commands(fs, &root);
}

static void build(void)
{
    Gen *made = gen_new(NULL, NULL, NULL);
    Vfs *fs = made ? vfs_new(made) : NULL;
    if (!fs || fill(fs))
        return;
    state = lang_base(made, environment);
    gen_retire(made);
    Gen *after = gen_new(NULL, NULL, made);
    if (!state || !after)
        return;
    vfs_move_to(fs, after);
    image = vfs_freeze(fs);
    vfs_free(fs);
    gen_unref(after);
}

VfsImage *base_image(void)
{
    pthread_once(&once, build);
    return image;
}

LangState *base_state(void)
{
    pthread_once(&once, build);
    return state;
}

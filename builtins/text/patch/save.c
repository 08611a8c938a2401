/* save: the files a patch leaves: patched ones, backups, rejects; and directories that come and go with them. */
#include "patch.h"

#include "file/file.h"
#include "shared.h"

static NORETURN void cannot(Patch *t, const char *what, const char *path, int err)
{
    patch_fatal(t, "Can't %s file %s : %s\n", what, quote_if_needed(t->p, path), error_text(-err));
}

static void make_directories(Patch *t, const char *path)
{
    for (const char *c = path + 1; *c; c++)
        if (*c == '/' && c[-1] != '/')
            proc_mkdir(t->p, mem_copy(&t->p->mem, slice(path, (size_t)(c - path))), 0777);
}

static void remove_directories(Patch *t, const char *path)
{
    char *dir = mem_strdup(&t->p->mem, path);
    for (char *slash; (slash = strrchr(dir, '/')) && slash > dir;) {
        *slash = 0;
        if (proc_rmdir(t->p, dir) != 0)
            return;
    }
}

void patch_write_file(Patch *t, const char *path, Slice data, uint32_t mode, bool append)
{
    int fd = proc_open(t->p, path, V_WRITE | V_CREATE | (append ? V_APPEND : V_TRUNC), mode);
    if (fd < 0)
        cannot(t, "create", path, fd);
    ssize_t n = proc_write(t->p, fd, data);
    proc_close(t->p, fd);
    if (n < 0)
        patch_fatal(t, "write error : %s\n", error_text((int)-n));
}

static const char *backup_path(Patch *t, const char *path)
{
    Proc *p = t->p;
    if (t->versions == VERSIONS_NUMBERED || (t->versions == VERSIONS_EXISTING && !t->prefix && !t->base_prefix && !t->suffix))
        return backup_name(p, path, t->versions == VERSIONS_NUMBERED ? BACKUP_NUMBERED : BACKUP_EXISTING, ".orig");
    const char *slash = strrchr(path, '/');
    size_t dir = slash ? (size_t)(slash + 1 - path) : 0;
    const char *suffix = t->suffix ? t->suffix : t->prefix || t->base_prefix ? "" : ".orig";
    return mem_printf(&p->mem, "%s%.*s%s%s%s", t->prefix ? t->prefix : "", (int)dir, path, t->base_prefix ? t->base_prefix : "", path + dir, suffix);
}

/* Once a run: what this run wrote itself is nobody's original. What is not there leaves an empty file without a mode. */
void patch_backup(Patch *t, const char *path)
{
    if (map_get(&t->written, slice_str(path)))
        return;
    VStat st;
    const char *to = backup_path(t, path);
    make_directories(t, to);
    if (proc_stat(t->p, path, V_NOFOLLOW, &st) != 0) {
        proc_unlink(t->p, to);
        patch_write_file(t, to, (Slice){"", 0}, 0666, false);
        proc_chmod(t->p, to, 0, 0);
        return;
    }
    int err = proc_rename(t->p, path, to, false);
    if (err)
        patch_fatal(t, "Can't rename file %s to %s : %s\n", quote_if_needed(t->p, path), quote_if_needed(t->p, to), error_text(-err));
}

void patch_save(Patch *t, const char *to, uint32_t mode, bool backup)
{
    VStat st;
    bool there = proc_stat(t->p, to, V_NOFOLLOW, &st) == 0;
    if (backup)
        patch_backup(t, to);
    else if (there)
        proc_unlink(t->p, to);
    make_directories(t, to);
    Slice text = buf_slice(&t->out);
    if ((mode & S_IFMT) == S_IFLNK) {
        int err = proc_symlink(t->p, mem_copy(&t->p->mem, text), to);
        if (err)
            patch_fatal(t, "Can't create symbolic link %s : %s\n", quote_if_needed(t->p, to), error_text(-err));
    } else {
        patch_write_file(t, to, text, 0666, false);
        if (mode & 0777)
            proc_chmod(t->p, to, 0, mode & 0777);
    }
    map_put(&t->written, slice_str(to));
}

void patch_remove(Patch *t, const char *path, bool backup)
{
    if (backup) {
        patch_backup(t, path);
    } else {
        if (t->loud == LOUD_VERBOSE)
            buf_printf(&t->farewell, "Removing file %s\n", quote_if_needed(t->p, path));
        int err = proc_unlink(t->p, path);
        if (err)
            patch_fatal(t, "Can't remove file %s : %s\n", quote_if_needed(t->p, path), error_text(-err));
    }
    remove_directories(t, path);
}

const char *patch_reject_name(Patch *t, const char *output) { return mem_printf(&t->p->mem, "%s.rej", output); }

/* backup: the names that replaced files are kept under. */
#include "file.h"

static const Choice words[] = {
    {"none", BACKUP_NONE}, {"off", BACKUP_NONE}, {"simple", BACKUP_SIMPLE}, {"never", BACKUP_SIMPLE},
    {"existing", BACKUP_EXISTING}, {"nil", BACKUP_EXISTING}, {"numbered", BACKUP_NUMBERED}, {"t", BACKUP_NUMBERED}, {NULL, 0},
};

Backup backup_kind(Proc *p, Args *args, const char *value)
{
    const char *given = value ? value : proc_getenv(p, "VERSION_CONTROL");
    return given && *given ? (Backup)choose(p, args, value ? "backup type" : "$VERSION_CONTROL", given, words) : BACKUP_EXISTING;
}

/* The number in NAME.~12~, or 0. */
static uint64_t number_of(Slice entry, Slice base)
{
    if (entry.len < base.len + 4 || !slice_starts(entry, base))
        return 0;
    Slice rest = slice_from(entry, base.len);
    if (rest.data[0] != '.' || rest.data[1] != '~' || rest.data[rest.len - 1] != '~')
        return 0;
    uint64_t v = 0;
    for (size_t n = 2; n + 1 < rest.len; n++) {
        if (rest.data[n] < '0' || rest.data[n] > '9' || v > UINT64_MAX / 20)
            return 0;
        v = v * 10 + (uint64_t)(rest.data[n] - '0');
    }
    return v;
}

static uint64_t highest(Proc *p, const char *path)
{
    VDirent *list;
    size_t count;
    uint64_t most = 0;
    Slice base = base_name(path), dir = dir_name(path);
    if (proc_list(p, mem_copy(&p->mem, dir), &list, &count) != 0)
        return 0;
    for (size_t n = 0; n < count; n++)
        most = MAX(most, number_of(list[n].name, base));
    return most;
}

const char *backup_name(Proc *p, const char *path, Backup kind, const char *suffix)
{
    uint64_t last = kind == BACKUP_SIMPLE ? 0 : highest(p, path);
    if (kind == BACKUP_NUMBERED || last)
        return mem_printf(&p->mem, "%s.~%llu~", path, (unsigned long long)(last + 1));
    const char *env = proc_getenv(p, "SIMPLE_BACKUP_SUFFIX");
    return mem_printf(&p->mem, "%s%s", path, suffix ? suffix : env && *env ? env : "~");
}

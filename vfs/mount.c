/* mount: the table of what covers inodes of the memory tree. */
#include "internal.h"

Mount *mount_covering(const Vfs *fs, uint64_t ino)
{
    /* The newest first: it is what shows. */
    for (uint32_t n = fs->mount_count; n-- > 0;)
        if (fs->mounts[n]->ino == ino)
            return fs->mounts[n];
    return NULL;
}

/* One more place in the table; NULL: no memory. */
static Mount *mount_new(Vfs *fs)
{
    size_t old = fs->mount_count * sizeof(Mount *);
    Mount **table = fs_alloc(fs, old + sizeof(Mount *));
    Mount *m = table ? fs_alloc(fs, sizeof *m) : NULL;
    if (!m) {
        fs_free(fs, table, old + sizeof(Mount *));
        return NULL;
    }
    if (old)
        memcpy(table, fs->mounts, old);
    fs_free(fs, fs->mounts, old);
    fs->mounts = table;
    table[fs->mount_count++] = m;
    return m;
}

int mount_add(Vfs *fs, const Path *p, const VMountOps *ops, void *user, bool readonly)
{
    if (!p->at.inode)
        return -EBUSY; /* inside a callback mount there is no inode to cover */
    if (p->at.inode->ino == ROOT_INO)
        return -EINVAL;
    Mount *m = mount_new(fs);
    if (!m)
        return -ENOMEM;
    *m = (Mount){.ino = p->at.inode->ino, .outer = p->at.mount, .ops = ops, .user = user, .dev = fs->next_dev++, .readonly = readonly};
    if (m->outer)
        m->outer->holders++;
    fs->generation++;
    return 0;
}

static const VCred root = {0, 0, 022};

int vfs_mount(Vfs *fs, const char *destination, const VMountOps *ops, void *user, bool readonly)
{
    Path p;
    if (destination[0] != '/')
        return -EINVAL;
    int r = path_is_live(fs, destination) ? -EBUSY : path_make_parents(fs, destination);
    if (r == 0)
        r = vfs_mkdir(fs, &root, NULL, destination, 0777);
    if (r == 0 || r == -EEXIST)
        r = path_resolve(&p, fs, &root, NULL, destination, PATH_FOLLOW | PATH_MUST);
    return r ? r : mount_add(fs, &p, ops, user, readonly);
}

static void mount_free(Vfs *fs, Mount *m)
{
    if (m->outer)
        m->outer->holders--;
    if (m->ops && m->ops->unref)
        m->ops->unref(m->user);
    fs_free(fs, m, sizeof *m);
}

Mount *mount_at(const Path *p)
{
    Mount *m = p->at.mount;
    bool at_root = m && (m->ops ? p->rel_len == 0 : p->at.inode->ino == m->ino);
    return at_root ? m : NULL;
}

int vfs_unmount(Vfs *fs, const char *destination)
{
    Path p;
    int r = path_resolve(&p, fs, &root, NULL, destination, PATH_FOLLOW | PATH_MUST);
    if (r)
        return r;
    Mount *m = mount_at(&p);
    if (!m || m->holders)
        return m ? -EBUSY : -EINVAL;
    mount_remove(fs, m);
    return 0;
}

void mount_remove(Vfs *fs, Mount *m)
{
    uint32_t n = 0;
    while (fs->mounts[n] != m)
        n++;
    for (fs->mount_count--; n < fs->mount_count; n++)
        fs->mounts[n] = fs->mounts[n + 1];
    /* The table stays one place too long, which its release must know: it is charged for what it was made with. */
    Budget *b = gen_memory(fs->gen);
    if (b)
        budget_give(b, sizeof(Mount *));
    mount_free(fs, m);
    fs->generation++;
}

int mounts_fork(Vfs *to, const Vfs *from)
{
    for (uint32_t n = 0; n < from->mount_count; n++) {
        const Mount *old = from->mounts[n];
        Mount *m = mount_new(to);
        if (!m)
            return -ENOMEM;
        *m = *old;
        m->holders = 0;
        m->outer = NULL;
        if (m->ops && m->ops->ref && !(m->user = m->ops->ref(old->user))) {
            m->ops = NULL; /* there is nothing to let go */
            return -ENOMEM;
        }
        for (uint32_t k = 0; old->outer && k < n; k++)
            if (from->mounts[k] == old->outer) {
                m->outer = to->mounts[k];
                m->outer->holders++;
            }
    }
    to->next_dev = from->next_dev;
    return 0;
}

void mounts_free(Vfs *fs)
{
    size_t size = fs->mount_count * sizeof(Mount *);
    for (uint32_t n = fs->mount_count; n-- > 0;)
        mount_free(fs, fs->mounts[n]);
    fs_free(fs, fs->mounts, size);
    fs->mounts = NULL;
    fs->mount_count = 0;
}

void vfs_each_mount(Vfs *fs, const VMountOps *ops, void (*fn)(void *mount_user, void *arg), void *arg)
{
    for (uint32_t n = 0; n < fs->mount_count; n++)
        if (fs->mounts[n]->ops == ops)
            fn(fs->mounts[n]->user, arg);
}

/* ---------- entries ---------- */

/* Merge sort, bottom up: names are as many as the directory has, and `spare` as long as the list. */
static void sort_names(VDirent *list, VDirent *spare, size_t count)
{
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t from = 0; from < count; from += 2 * width) {
            size_t mid = MIN(from + width, count), end = MIN(mid + width, count), a = from, b = mid;
            for (size_t n = from; n < end; n++)
                spare[n] = a < mid && (b >= end || slice_cmp(list[a].name, list[b].name) <= 0) ? list[a++] : list[b++];
        }
        memcpy(list, spare, count * sizeof *list);
    }
}

int vfs_sort_entries(Mem *mem, VDirent *list, size_t count)
{
    VDirent *spare = count ? mem_alloc(mem, count * sizeof *spare) : NULL;
    if (spare)
        sort_names(list, spare, count);
    return spare || !count ? 0 : -ENOMEM;
}

/* data: a file's bytes, a vector of extents over counted chunks.
 *
 * A chunk that is mine and held once may be changed where it lies; every other part is first replaced by a copy of
 * the window that is written. What is appended fills the last chunk, which grows by halves up to LARGEST; a new file
 * gets a chunk of exactly the size first written.
 */
#include "internal.h"
#include "lib/base/guard.h"

enum { WINDOW = 64 * 1024, LARGEST = 1024 * 1024 };

/* ---------- the vector ---------- */

static uint32_t extent_count(const Inode *i) { return i->extents ? i->extents->count : i->size > 0; }

static Extent extent_get(const Inode *i, uint32_t n) { return i->extents ? i->extents->extent[n] : (Extent){0, i->chunk, i->start}; }

static uint64_t extent_end(const Inode *i, uint32_t n)
{
    return i->extents && n + 1 < i->extents->count ? i->extents->extent[n + 1].at : i->size;
}

/* The extent that holds byte `off`, which lies before the end. */
static uint32_t extent_find(const Inode *i, uint64_t off)
{
    if (!i->extents)
        return 0;
    uint32_t low = 0, high = i->extents->count;
    while (high - low > 1) {
        uint32_t mid = low + (high - low) / 2;
        if (i->extents->extent[mid].at <= off)
            low = mid;
        else
            high = mid;
    }
    return low;
}

static void extents_unref(Gen *g, Extents *e)
{
    if (!e || !obj_unref(g, e))
        return;
    for (uint32_t n = 0; n < e->count; n++)
        chunk_unref(g, e->extent[n].chunk);
    obj_free(g, e);
}

void data_ref(Gen *g, Inode *i)
{
    if (inode_lazy(i))
        obj_ref(g, i->lazy);
    else if (i->extents)
        obj_ref(g, i->extents);
    else if (i->chunk)
        obj_ref(g, i->chunk);
}

void data_unref(Gen *g, Inode *i)
{
    if (inode_lazy(i))
        lazy_unref(g, i->lazy);
    else if (i->extents)
        extents_unref(g, i->extents);
    else
        chunk_unref(g, i->chunk);
    i->flags &= ~(uint32_t)INODE_LAZY;
    i->extents = NULL;
    i->chunk = NULL;
    i->start = 0;
}

static size_t extents_size(uint32_t cap) { return sizeof(Extents) + (size_t)cap * sizeof(Extent); }

/* A vector of the inode's own with room for `more` extents beyond those there are. */
static int extents_own(Gen *g, Inode *i, uint32_t more)
{
    uint32_t count = extent_count(i);
    if (count > UINT32_MAX / 4)
        return -EFBIG;
    uint32_t need = count + more, cap = need + (count > 1 ? count / 2 : 0);
    Extents *e = i->extents;
    if (e && obj_mine(g, e)) {
        if (need <= e->cap)
            return 0;
        e = obj_resize(g, e, extents_size(cap));
        if (!e)
            return -ENOMEM;
    } else {
        Extents *old = e;
        e = obj_alloc(g, extents_size(cap));
        if (!e)
            return -ENOMEM;
        e->count = count;
        for (uint32_t n = 0; n < count; n++) {
            e->extent[n] = extent_get(i, n);
            if (old && e->extent[n].chunk)
                obj_ref(g, e->extent[n].chunk);
        }
        extents_unref(g, old);
        i->chunk = NULL;
        i->start = 0;
    }
    e->cap = cap;
    i->extents = e;
    return 0;
}

static void extent_put(Inode *i, uint32_t n, Extent x)
{
    if (i->extents) {
        i->extents->extent[n] = x;
    } else {
        i->chunk = x.chunk;
        i->start = x.start;
    }
}

/* Adds an extent at the end, where the size is; the size is the caller's to raise. */
static int extent_push(Gen *g, Inode *i, Chunk *chunk, size_t start)
{
    if (i->size == 0) {
        data_unref(g, i);
        i->chunk = chunk;
        i->start = start;
        return 0;
    }
    int r = extents_own(g, i, 1);
    if (r == 0)
        i->extents->extent[i->extents->count++] = (Extent){i->size, chunk, start};
    return r;
}

/* Replaces bytes [from, to) of extent n, all of it or a window in it, by `chunk`. */
static int extent_splice(Gen *g, Inode *i, uint32_t n, uint64_t from, uint64_t to, Chunk *chunk)
{
    Extent old = extent_get(i, n);
    uint64_t end = extent_end(i, n);
    uint32_t before = from > old.at, after = to < end;
    if (before + after || i->extents) {
        int r = extents_own(g, i, before + after);
        if (r)
            return r;
        Extent *e = i->extents->extent;
        memmove(&e[n + before + after], &e[n], (i->extents->count - n) * sizeof *e);
        i->extents->count += before + after;
        for (uint32_t k = 0; old.chunk && k < before + after; k++)
            obj_ref(g, old.chunk);
        if (before)
            e[n] = old;
        if (after)
            e[n + before + 1] = (Extent){to, old.chunk, old.chunk ? old.start + (size_t)(to - old.at) : 0};
    }
    extent_put(i, n + before, (Extent){from, chunk, 0});
    chunk_unref(g, old.chunk);
    return 0;
}

/* ---------- reading ---------- */

void data_read(Gen *g, const Inode *i, uint64_t off, size_t max, char *scratch, Chunk **chunk, Slice *out)
{
    *chunk = NULL;
    *out = (Slice){scratch, 0};
    if (off >= i->size || max == 0)
        return;
    uint32_t n = extent_find(i, off);
    Extent e = extent_get(i, n);
    uint64_t left = extent_end(i, n) - off;
    size_t len = left < max ? (size_t)left : max;
    if (e.chunk) {
        *chunk = obj_ref(g, e.chunk);
        *out = (Slice){e.chunk->data + e.start + (size_t)(off - e.at), len};
    } else {
        if (scratch)
            memset(scratch, 0, len);
        out->len = len;
    }
}

/* ---------- changing ---------- */

static void copy_out(const Inode *i, uint64_t off, char *to, size_t len)
{
    for (uint32_t n = extent_find(i, off); len; n++) {
        Extent e = extent_get(i, n);
        uint64_t left = extent_end(i, n) - off;
        size_t part = left < len ? (size_t)left : len;
        if (e.chunk)
            memcpy(to, e.chunk->data + e.start + (size_t)(off - e.at), part);
        else
            memset(to, 0, part);
        to += part;
        off += part;
        len -= part;
    }
}

static bool extent_mine(Gen *g, const Inode *i, uint32_t n)
{
    Chunk *c = extent_get(i, n).chunk;
    return c && obj_mine(g, c) && (!i->extents || obj_mine(g, i->extents));
}

/* Makes bytes [off, end), inside the file, changeable in place. */
static int data_own(Gen *g, Inode *i, uint64_t off, uint64_t end)
{
    if (i->extents && !obj_mine(g, i->extents)) {
        int r = extents_own(g, i, 0);
        if (r)
            return r;
    }
    while (off < end) {
        uint32_t n = extent_find(i, off);
        uint64_t from = extent_get(i, n).at, to = extent_end(i, n);
        if (!extent_mine(g, i, n)) {
            from = MAX(from, off - off % WINDOW);
            to = MIN(to, MAX(end, off) + WINDOW);
            if (to - from > LARGEST)
                to = from + LARGEST;
            Chunk *c = chunk_new(g, (size_t)(to - from));
            if (!c)
                return -ENOMEM;
            copy_out(i, from, c->data, (size_t)(to - from));
            int r = extent_splice(g, i, n, from, to, c);
            if (r) {
                chunk_unref(g, c);
                return r;
            }
        }
        off = to;
    }
    return 0;
}

static void copy_in(Inode *i, uint64_t off, Slice s)
{
    for (uint32_t n = s.len ? extent_find(i, off) : 0; s.len; n++) {
        Extent e = extent_get(i, n);
        uint64_t left = extent_end(i, n) - off;
        size_t part = left < s.len ? (size_t)left : s.len;
        memcpy(e.chunk->data + e.start + (size_t)(off - e.at), s.data, part);
        off += part;
        s = slice_from(s, part);
    }
}

/* Lets the last extent's chunk have room for `more` bytes behind the file's end; false: it cannot be used. */
static bool tail_room(Gen *g, Inode *i, size_t more)
{
    uint32_t count = extent_count(i);
    if (!count)
        return false;
    Extent last = extent_get(i, count - 1);
    size_t used = (size_t)(i->size - last.at), need, cap;
    if (!last.chunk || !size_add(last.start + used, more, &need))
        return false;
    if (extent_mine(g, i, count - 1)) {
        if (need <= last.chunk->cap)
            return true;
        if (need > LARGEST)
            return false;
        cap = MIN(MAX(need, last.chunk->cap + last.chunk->cap / 2), (size_t)LARGEST);
        Chunk *c = chunk_resize(g, last.chunk, cap);
        if (c)
            extent_put(i, count - 1, (Extent){last.at, c, last.start});
        return c != NULL;
    }
    /* Short and not mine: copied, so that appends behind a reader or an image do not splinter the file. */
    if (used > CHUNK_COPY_BELOW || used + more > LARGEST || (i->extents && extents_own(g, i, 0) != 0))
        return false;
    Chunk *c = chunk_new(g, used + more + used / 2);
    if (!c)
        return false;
    memcpy(c->data, last.chunk->data + last.start, used);
    chunk_unref(g, last.chunk);
    extent_put(i, count - 1, (Extent){last.at, c, 0});
    return true;
}

/* Appends bytes that lie in `chunk` by reference. */
static int append_ref(Gen *g, Inode *i, Slice s, Chunk *chunk)
{
    size_t start = (size_t)(s.data - chunk->data);
    uint32_t count = extent_count(i);
    if (count) {
        Extent last = extent_get(i, count - 1);
        if (last.chunk == chunk && last.start + (size_t)(i->size - last.at) == start) {
            i->size += s.len;
            return 0;
        }
    }
    int r = extent_push(g, i, chunk, start);
    if (r)
        return r;
    obj_ref(g, chunk);
    i->size += s.len;
    return 0;
}

static int append(Gen *g, Inode *i, Slice s, Chunk *chunk)
{
    if (chunk && s.len >= CHUNK_COPY_BELOW)
        return append_ref(g, i, s, chunk);
    if (!tail_room(g, i, s.len)) {
        size_t spare = i->size ? (size_t)MIN(i->size / 2, (uint64_t)LARGEST) : 0;
        Chunk *c = chunk_new(g, MAX(s.len, spare));
        if (!c)
            return -ENOMEM;
        int r = extent_push(g, i, c, 0);
        if (r) {
            chunk_unref(g, c);
            return r;
        }
    }
    uint64_t at = i->size;
    i->size += s.len;
    copy_in(i, at, s);
    return 0;
}

int data_write(Gen *g, Inode *i, uint64_t off, Slice s, Chunk *chunk)
{
    uint64_t end, size = i->size;
    if (__builtin_add_overflow(off, s.len, &end) || end > INT64_MAX)
        return -EFBIG;
    if (s.len == 0)
        return 0;
    if (off > size) {
        int r = data_resize(g, i, off);
        if (r)
            return r;
    }
    size_t inside = off < i->size ? (size_t)MIN(i->size - off, (uint64_t)s.len) : 0;
    int r = inside ? data_own(g, i, off, off + inside) : 0;
    /* Appending first: the part inside cannot fail any more. */
    if (!r && inside < s.len)
        r = append(g, i, slice_from(s, inside), chunk);
    if (r) {
        if (i->size > size)
            (void)data_resize(g, i, size); /* shrinking what was just made owned does not allocate */
        return r;
    }
    copy_in(i, off, slice(s.data, inside));
    return 0;
}

/* Cuts the extents that begin at or behind `size`. */
static int data_shrink(Gen *g, Inode *i, uint64_t size)
{
    if (size == 0) {
        data_unref(g, i);
        i->size = 0;
        return 0;
    }
    uint32_t keep = extent_find(i, size - 1) + 1;
    if (i->extents && keep < i->extents->count) {
        int r = extents_own(g, i, 0);
        if (r)
            return r;
        for (uint32_t n = keep; n < i->extents->count; n++)
            chunk_unref(g, i->extents->extent[n].chunk);
        i->extents->count = keep;
    }
    i->size = size;
    return 0;
}

int data_resize(Gen *g, Inode *i, uint64_t size)
{
    if (size > INT64_MAX)
        return -EFBIG;
    if (size <= i->size)
        return data_shrink(g, i, size);
    uint32_t count = extent_count(i);
    if (!count || extent_get(i, count - 1).chunk) {
        int r = extent_push(g, i, NULL, 0);
        if (r)
            return r;
    }
    i->size = size;
    return 0;
}

/* ---------- counting ---------- */

/* As a disk with blocks of 4 KiB would: a block that holds a byte counts, a hole does not. */
uint64_t data_blocks(const Inode *i)
{
    uint64_t pages = 0, next = 0;
    if (inode_lazy(i))
        return (i->size + 4095) / 4096 * 8;
    for (uint32_t n = 0, count = extent_count(i); n < count; n++) {
        Extent e = extent_get(i, n);
        uint64_t first = e.at / 4096, last = (extent_end(i, n) - 1) / 4096;
        if (!e.chunk)
            continue;
        first = MAX(first, next);
        if (last >= first)
            pages += last - first + 1;
        next = last + 1;
    }
    return pages * 8;
}

bool data_check(const Inode *i)
{
    uint32_t count = extent_count(i);
    if (inode_lazy(i))
        return i->lazy != NULL;
    if (count == 0)
        return i->size == 0;
    if (extent_get(i, 0).at != 0)
        return false;
    for (uint32_t n = 0; n < count; n++) {
        Extent e = extent_get(i, n);
        uint64_t end = extent_end(i, n);
        if (end <= e.at || (e.chunk && (e.start > e.chunk->cap || end - e.at > e.chunk->cap - e.start)))
            return false;
    }
    return true;
}

int quota_room(const Vfs *fs, const Inode *i, uint64_t size)
{
    if (GUARD(RUN_FILE_SIZE, fs->quota.file_bytes && size > fs->quota.file_bytes && size > i->size))
        return -EFBIG;
    uint64_t others = fs->usage.bytes - (i->dirty == fs->epoch ? i->size : 0), total;
    if (__builtin_add_overflow(others, size, &total))
        return -EFBIG;
    if (GUARD(FS_QUOTA_BYTES, fs->quota.bytes && total > fs->quota.bytes && size > i->size))
        return -ENOSPC;
    return 0;
}

void quota_count(Vfs *fs, Inode *i, uint64_t before)
{
    if (i->dirty == fs->epoch)
        fs->usage.bytes -= before;
    i->dirty = fs->epoch;
    fs->usage.bytes += i->size;
}

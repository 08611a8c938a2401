/* xzlist: xz --list, out of the indexes at the ends of streams. XZ Utils 5.4.1.
 *
 * An index is a list of records (size of a block, size of what it holds) in variable-length numbers; the footer behind it says how long it is.
 * So a file is read from its end to its start, stream by stream. Nothing is decompressed.
 */
#include <zlib.h>

#include "archive/xzlist.h"

enum { HEAD = 12, MOST_CHECKS = 16, LIST_CORRUPT = -1, LIST_FORMAT = -2, LIST_EMPTY = -3, LIST_SMALL = -4 };

typedef struct {
    uint64_t total, unpacked; /* of the block with its padding; of what it holds */
} Block;

typedef struct {
    uint64_t offset, size, unpacked, padding;
    Block *blocks;
    uint64_t count;
    unsigned check;
} Stream;

typedef struct {
    Stream *streams; /* the last one first */
    size_t count, room;
    uint64_t blocks, size, unpacked, padding;
    unsigned checks; /* a bit each */
} Sums;

static uint32_t le32(const char *s)
{
    const unsigned char *b = (const unsigned char *)s;
    return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static uint32_t crc_of(Slice s) { return (uint32_t)crc32_z(0, (const unsigned char *)s.data, s.len); }

/* A number of 7 bits a byte, the low ones first; at most 63 bits. */
static bool take_number(Slice *s, uint64_t *v)
{
    *v = 0;
    for (unsigned shift = 0; s->len && shift < 63; shift += 7) {
        unsigned char b = (unsigned char)s->data[0];
        *s = slice_from(*s, 1);
        *v |= (uint64_t)(b & 0x7f) << shift;
        if (!(b & 0x80))
            return b || !shift; /* no needless zero */
    }
    return false;
}

static bool take_index(Proc *p, Slice index, Stream *t)
{
    if (index.len < 8 || index.data[0] || crc_of(slice(index.data, index.len - 4)) != le32(index.data + index.len - 4))
        return false;
    Slice s = slice(index.data + 1, index.len - 5);
    if (!take_number(&s, &t->count) || t->count > s.len / 2)
        return false;
    t->blocks = mem_array(&p->mem, (size_t)t->count + 1, Block);
    uint64_t packed = 0;
    for (uint64_t i = 0; i < t->count; i++) {
        uint64_t size, unpacked;
        proc_tick(p, 1);
        if (!take_number(&s, &size) || !take_number(&s, &unpacked) || size < 5 || size > INT64_MAX / 4)
            return false;
        size = (size + 3) & ~(uint64_t)3;
        if (__builtin_add_overflow(packed, size, &packed) || __builtin_add_overflow(t->unpacked, unpacked, &t->unpacked) || packed > INT64_MAX)
            return false;
        t->blocks[i] = (Block){size, unpacked};
    }
    t->size = packed;
    return s.len < 4;
}

/* False when what the streams say they hold is more than can be counted. */
static bool stream_add(Proc *p, Sums *all, const Stream *t)
{
    if (t->unpacked > INT64_MAX - all->unpacked)
        return false;
    if (all->count == all->room) {
        size_t room = all->room ? all->room * 2 : 8;
        all->streams = mem_grow(&p->mem, all->streams, all->room * sizeof *t, room * sizeof *t);
        all->room = room;
    }
    all->streams[all->count++] = *t;
    all->blocks += t->count;
    all->size += t->size + t->padding;
    all->unpacked += t->unpacked;
    all->padding += t->padding;
    all->checks |= 1u << t->check;
    return true;
}

/* The streams of a file; 0 or LIST_*. */
static int take_streams(Proc *p, Slice file, Sums *all)
{
    static const char magic[] = "\xfd" "7zXZ";
    if (!file.len)
        return LIST_EMPTY;
    if (file.len < 2 * HEAD)
        return LIST_SMALL;
    if (!slice_starts(file, (Slice){magic, 6}))
        return LIST_FORMAT;
    while (file.len) {
        Stream t = {0};
        size_t end = file.len;
        while (end >= 4 && le32(file.data + end - 4) == 0)
            end -= 4;
        t.padding = file.len - end;
        if (end % 4 || end < 2 * HEAD)
            return LIST_CORRUPT;
        const char *foot = file.data + end - HEAD;
        if (foot[10] != 'Y' || foot[11] != 'Z' || crc_of(slice(foot + 4, 6)) != le32(foot))
            return LIST_CORRUPT;
        uint64_t index = ((uint64_t)le32(foot + 4) + 1) * 4;
        t.check = (unsigned char)foot[9] & 15;
        if (index > end - 2 * HEAD || !take_index(p, slice(foot - index, (size_t)index), &t))
            return LIST_CORRUPT;
        t.size += index + 2 * HEAD;
        if (t.size > end)
            return LIST_CORRUPT;
        t.offset = end - t.size;
        const char *head = file.data + t.offset;
        if (memcmp(head, magic, 6) || memcmp(head + 6, foot + 8, 2) || crc_of(slice(head + 6, 2)) != le32(head + 8))
            return LIST_CORRUPT;
        if (!stream_add(p, all, &t))
            return LIST_CORRUPT;
        file.len = (size_t)t.offset;
    }
    return 0;
}

/* ---------- printing ---------- */

static const char *check_name(unsigned id)
{
    static const char *const names[MOST_CHECKS] = {"None", "CRC32", "Unknown-2", "Unknown-3", "CRC64", "Unknown-5", "Unknown-6", "Unknown-7", "Unknown-8", "Unknown-9", "SHA-256", "Unknown-11", "Unknown-12", "Unknown-13", "Unknown-14", "Unknown-15"};
    return names[id];
}

static const char *check_names(Proc *p, unsigned set, const char *between)
{
    Buf b;
    buf_init(&b, &p->mem, 1024);
    buf_append(&b, (Slice){"", 0});
    for (unsigned id = 0; id < MOST_CHECKS; id++)
        if (set >> id & 1)
            buf_printf(&b, "%s%s", b.len ? between : "", check_name(id));
    return mem_copy(&p->mem, buf_slice(&b));
}

static const char *ratio(Proc *p, uint64_t packed, uint64_t unpacked)
{
    double r = unpacked ? (double)packed / (double)unpacked : 10;
    return r > 9.999 ? "---" : mem_printf(&p->mem, "%.3f", r);
}

static const char *nice_size(Proc *p, uint64_t n)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double v = (double)n;
    size_t unit = 0;
    if (n < 10000)
        return mem_printf(&p->mem, "%llu B", (unsigned long long)n);
    do {
        v /= 1024;
        unit++;
    } while (v > 9999.9 && unit + 1 < ARRAY_LEN(units));
    return mem_printf(&p->mem, "%.1f %s", v, units[unit]);
}

static const char *exact(Proc *p, uint64_t n)
{
    return n < 10000 ? nice_size(p, n) : mem_printf(&p->mem, "%s (%llu B)", nice_size(p, n), (unsigned long long)n);
}

static void print_row(Proc *p, const Sums *s)
{
    out_printf(p->out, "%5zu %7llu  %11s  %11s  %5s  %-7s ", s->count, (unsigned long long)s->blocks, nice_size(p, s->size), nice_size(p, s->unpacked), ratio(p, s->size, s->unpacked), check_names(p, s->checks, ","));
}

static void print_facts(Proc *p, const Sums *s)
{
    out_printf(p->out, "  Streams:           %zu\n  Blocks:            %llu\n  Compressed size:   %s\n  Uncompressed size: %s\n  Ratio:             %s\n  Check:             %s\n  Stream Padding:    %s\n", s->count,
               (unsigned long long)s->blocks, exact(p, s->size), exact(p, s->unpacked), ratio(p, s->size, s->unpacked), check_names(p, s->checks, ", "), exact(p, s->padding));
}

/* Streams, or with `blocks` the blocks of them all. */
static void print_details(Proc *p, const Sums *s, bool blocks, bool robot)
{
    uint64_t unpacked = 0, number = 0;
    for (size_t i = 0; i < s->count; i++) {
        const Stream *t = &s->streams[s->count - 1 - i];
        unsigned long long at = t->offset, before = unpacked;
        if (!blocks)
            out_printf(p->out, robot ? "stream\t%zu\t%llu\t%llu\t%llu\t%llu\t%llu\t%s\t%s\t%llu\n" : "    %6zu %9llu %15llu %15llu %15llu %15llu  %5s  %-10s %7llu\n", i + 1, (unsigned long long)t->count, at, before,
                       (unsigned long long)t->size, (unsigned long long)t->unpacked, ratio(p, t->size, t->unpacked), check_name(t->check), (unsigned long long)t->padding);
        at += HEAD;
        for (uint64_t k = 0; blocks && k < t->count; k++) {
            const Block *b = &t->blocks[k];
            MemMark mark = mem_mark(&p->mem);
            number++;
            if (robot)
                out_printf(p->out, "block\t%zu\t%llu\t%llu\t%llu\t%llu\t%llu\t%llu\t%s\t%s\n", i + 1, (unsigned long long)k + 1, (unsigned long long)number, at, before, (unsigned long long)b->total, (unsigned long long)b->unpacked, ratio(p, b->total, b->unpacked), check_name(t->check));
            else
                out_printf(p->out, "    %6zu %9llu %15llu %15llu %15llu %15llu  %5s  %s\n", i + 1, (unsigned long long)k + 1, at, before, (unsigned long long)b->total, (unsigned long long)b->unpacked, ratio(p, b->total, b->unpacked), check_name(t->check));
            at += b->total;
            before += b->unpacked;
            proc_tick(p, 1);
            mem_reset(&p->mem, mark);
        }
        unpacked += t->unpacked;
    }
}

static void print_file(Proc *p, XzList *l, const Sums *s, const char *name)
{
    unsigned long long blocks = s->blocks, size = s->size, unpacked = s->unpacked, padding = s->padding;
    if (l->robot) {
        out_printf(p->out, "name\t%s\nfile\t%zu\t%llu\t%llu\t%llu\t%s\t%s\t%llu\n", name, s->count, blocks, size, unpacked, ratio(p, size, unpacked), check_names(p, s->checks, ","), padding);
        if (l->verbose) {
            print_details(p, s, false, true);
            print_details(p, s, true, true);
        }
        return;
    }
    if (!l->verbose) {
        if (!l->files)
            out_str(p->out, "Strms  Blocks   Compressed Uncompressed  Ratio  Check   Filename\n");
        print_row(p, s);
        out_printf(p->out, "%s\n", name);
        return;
    }
    out_printf(p->out, "%s%s (%zu/%zu)\n", l->files ? "\n" : "", name, l->files + 1, l->given);
    print_facts(p, s);
    out_str(p->out, "  Streams:\n    Stream    Blocks      CompOffset    UncompOffset        CompSize      UncompSize  Ratio  Check      Padding\n");
    print_details(p, s, false, false);
    if (blocks) {
        out_str(p->out, "  Blocks:\n    Stream     Block      CompOffset    UncompOffset       TotalSize      UncompSize  Ratio  Check\n");
        print_details(p, s, true, false);
    }
}

const char *xz_list(Proc *p, XzList *l, Slice file, const char *name)
{
    Sums s = {0};
    int err = take_streams(p, file, &s);
    if (err)
        return err == LIST_SMALL ? "Too small to be a valid .xz file" : err == LIST_EMPTY ? "File is empty" : err == LIST_FORMAT ? "File format not recognized" : "Compressed data is corrupt";
    print_file(p, l, &s, name);
    l->files++;
    l->streams += s.count;
    l->blocks += s.blocks;
    l->size += s.size;
    l->unpacked = s.unpacked > UINT64_MAX - l->unpacked ? UINT64_MAX : l->unpacked + s.unpacked;
    l->padding += s.padding;
    l->checks |= s.checks;
    return NULL;
}

void xz_list_end(Proc *p, const XzList *l)
{
    Sums s = {.count = l->streams, .blocks = l->blocks, .size = l->size, .unpacked = l->unpacked, .padding = l->padding, .checks = l->checks};
    if (l->robot) {
        out_printf(p->out, "totals\t%zu\t%llu\t%llu\t%llu\t%s\t%s\t%llu\t%zu\n", s.count, (unsigned long long)s.blocks, (unsigned long long)s.size, (unsigned long long)s.unpacked, ratio(p, s.size, s.unpacked),
                   check_names(p, s.checks, ","), (unsigned long long)s.padding, l->files);
    } else if (l->files > 1 && l->verbose) {
        out_printf(p->out, "\nTotals:\n  Number of files:   %zu\n", l->files);
        print_facts(p, &s);
    } else if (l->files > 1) {
        out_pad(p->out, 79, '-');
        out_char(p->out, '\n');
        print_row(p, &s);
        out_printf(p->out, "%zu files\n", l->files);
    }
}

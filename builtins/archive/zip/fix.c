/* fix: -A, -F, -FF and -T: what zip does with an archive that may be damaged. */
#include "archive/zip/zip.h"

enum { LOCAL_SIZE = 30, CENTRAL_OFFSET = 42, END_OFFSET = 16 };

/* --- offsets --- */

static void show_extra(Zip *z)
{
    if (z->quiet)
        return;
    if (z->dir.extra)
        out_printf(z->p->out, "Zip entry offsets appear off by %lld bytes - correcting...\n", (long long)z->dir.extra);
    else
        out_str(z->p->out, "Zip entry offsets do not need adjusting\n");
}

static void patch32(Zip *z, int fd, uint64_t at, uint64_t value)
{
    char bytes[4] = {(char)(value & 255), (char)(value >> 8 & 255), (char)(value >> 16 & 255), (char)(value >> 24 & 255)};
    if (proc_seek(z->p, fd, (int64_t)at, SEEK_SET) < 0 || proc_write(z->p, fd, (Slice){bytes, 4}) != 4)
        zip_fail(z, 14, "Output file write failure");
}

void zip_adjust(Zip *z)
{
    Proc *p = z->p;
    int fd = proc_open(p, z->archive, V_READ | V_WRITE, 0);
    if (fd < 0 || zip_read_directory(p, fd, &z->dir) == ZIP_NOT_FOUND)
        zip_fail(z, 13, mem_printf(&p->mem, "Missing or empty zip file (%s)", z->archive));
    show_extra(z);
    uint64_t first = z->dir.end;
    for (size_t i = 0; z->dir.extra && i < z->dir.count; i++) {
        const ZipEntry *e = &z->dir.entries[i];
        patch32(z, fd, e->place + CENTRAL_OFFSET, e->offset);
        first = MIN(first, e->place);
    }
    if (z->dir.extra)
        patch32(z, fd, z->dir.end + END_OFFSET, first);
    proc_close(p, fd);
    output_flush(p->out);
    proc_fail(p, 0);
}

/* --- testing --- */

static void nowhere(void *arg, Slice data)
{
    (void)arg;
    (void)data;
}

bool zip_test_items(Zip *z, int fd)
{
    Proc *p = z->p;
    ZipDirectory d;
    bool good = zip_read_directory(p, fd, &d) == ZIP_OK;
    for (size_t i = 0; good && i < d.count; i++) {
        const ZipEntry *e = &d.entries[i];
        MemMark mark = mem_mark(&p->mem);
        uint32_t crc = 0;
        const char *wrong = zip_seek_data(p, fd, e) ? zip_expand(p, fd, e, nowhere, NULL, &crc) : "bad zipfile offset (local header sig)";
        if (wrong)
            out_printf(p->out, "  error:  %s %s\n", wrong, e->name);
        else if (crc != e->crc)
            out_printf(p->out, "%-22s  bad CRC %08x  (should be %08x)\n", e->name, crc, e->crc);
        good = !wrong && crc == e->crc;
        mem_reset(&p->mem, mark);
    }
    return good;
}

/* --- copying what can be read --- */

static void copied(Zip *z, const ZipEntry *e)
{
    if (!z->quiet)
        out_printf(z->p->out, z->fix > 1 ? " copying: %s  (%llu bytes)\n" : " copying: %s\n", e->name, (unsigned long long)e->packed);
}

static unsigned get16(const char *s) { return (unsigned char)s[0] | (unsigned)(unsigned char)s[1] << 8; }
static uint32_t get32(const char *s) { return get16(s) | (uint32_t)get16(s + 2) << 16; }

/* Where the descriptor stands that ends data of unknown length, and what it says. */
static bool find_descriptor(Zip *z, Slice all, size_t data, ZipEntry *e)
{
    for (size_t at = data; at + 16 <= all.len; at++) {
        if (all.data[at] == 'P' && memcmp(all.data + at, "PK\7\10", 4) == 0 && get32(all.data + at + 8) == at - data) {
            e->crc = get32(all.data + at + 4);
            e->packed = at - data;
            e->size = get32(all.data + at + 12);
            return true;
        }
        if (at % 4096 == 0)
            proc_tick(z->p, 16);
    }
    return false;
}

/* The member whose local header stands at `at`; where it ends, or 0. */
static size_t local_member(Zip *z, Slice all, size_t at, ZipEntry *e)
{
    const char *h = all.data + at;
    if (all.len - at < LOCAL_SIZE)
        return 0;
    size_t name = get16(h + 26), extra = get16(h + 28), data = at + LOCAL_SIZE + name + extra;
    *e = (ZipEntry){.made_by = 0x031e, .version = get16(h + 4), .flags = get16(h + 6), .method = get16(h + 8), .dos_time = get16(h + 10), .dos_date = get16(h + 12), .crc = get32(h + 14),
                    .packed = get32(h + 18), .size = get32(h + 22), .offset = at};
    if (data > all.len || name == 0 || (e->method != 0 && e->method != 8))
        return 0;
    e->name = mem_copy(&z->p->keep, slice(h + LOCAL_SIZE, name));
    zip_entry_times(z->p, e, h + LOCAL_SIZE + name, extra);
    if ((e->flags & 8) && !e->packed && !find_descriptor(z, all, data, e))
        return 0;
    return e->packed > all.len - data ? 0 : data + (size_t)e->packed;
}

/* The directory's entries by name, the first of each. */
static Map listed_names(Zip *z)
{
    Map names;
    map_init(&names, &z->p->keep);
    for (size_t i = 0; i < z->dir.count; i++) {
        MapEntry *e = map_put(&names, slice_str(z->dir.entries[i].name));
        if (!e->value)
            e->value = &z->dir.entries[i];
    }
    return names;
}

static void salvage(Zip *z, Slice all)
{
    Map names = listed_names(z);
    for (size_t at = 0, ticked = 0; at + 4 <= all.len;) {
        ZipEntry e;
        size_t end = memcmp(all.data + at, "PK\3\4", 4) == 0 ? local_member(z, all, at, &e) : 0;
        if (end) {
            const MapEntry *found = map_get(&names, slice_str(e.name));
            if (found) {
                const ZipEntry *known = found->value;
                e.made_by = known->made_by;
                e.internal = known->internal;
                e.attributes = known->attributes;
                e.comment = known->comment;
            }
            copied(z, &e);
            ZipEntry *kept = mem_new(&z->p->keep, ZipEntry);
            *kept = e;
            zip_add_old(z, kept);
        }
        at = end ? end : at + 1;
        if (end || at - ticked >= 4096) {
            proc_tick(z->p, 16);
            ticked = at;
        }
    }
}

/* Without an end record it is asked whether more disks belong to it. There are none here: any other answer than yes gives up. */
static void ask_for_disks(Zip *z)
{
    Proc *p = z->p;
    zip_warning(z, "Missing end (EOCDR) signature - either this archive\n                     is not readable or the end is damaged");
    out_str(p->out, "Is this a single-disk archive?  (y/n): ");
    output_flush(p->out);
    if (!ask(p))
        zip_fail(z, 15, "Could not create output file (archives of several disks are not read)");
    out_str(p->out, "  Assuming single-disk archive\n");
}

static void salvage_all(Zip *z, int found)
{
    Proc *p = z->p;
    if (found == ZIP_NOT_FOUND)
        ask_for_disks(z);
    else if (!z->quiet)
        out_str(p->out, " Found end record (EOCDR) - says expect single disk archive\n");
    if (!z->quiet)
        out_str(p->out, "Scanning for entries...\n");
    proc_seek(p, z->old, 0, SEEK_SET);
    salvage(z, read_all(p, z->old));
    if (found == ZIP_OK && !z->quiet)
        out_printf(p->out, "Central Directory found...\nEOCDR found ( 1 %6llu)...\n", (unsigned long long)z->dir.end);
}

void zip_repair(Zip *z)
{
    Proc *p = z->p;
    if (!z->output) {
        zip_warning(z, "fix options -F and -FF require --out:\n                     zip -F indamagedarchive --out outfixedarchive");
        zip_fail(z, 16, "Invalid command arguments (fix options require --out)");
    }
    if (!z->quiet)
        out_printf(p->out, "Fix archive (%s\n", z->fix > 1 ? "-FF) - salvage what can" : "-F) - assume mostly intact archive");
    z->old = proc_open(p, z->archive, V_READ, 0);
    int found = z->old < 0 ? ZIP_NOT_FOUND : zip_read_directory(p, z->old, &z->dir);
    if (z->old < 0)
        zip_fail(z, 18, mem_printf(&p->mem, "File not found or no read permission (%s)", z->archive));
    if (z->fix > 1) {
        salvage_all(z, found);
    } else {
        if (found == ZIP_NOT_FOUND) {
            zip_warning(z, "bad archive - missing end signature");
            zip_warning(z, "(If downloaded, was binary mode used?  If not, the");
            zip_warning(z, " archive may be scrambled and not recoverable)");
            zip_warning(z, "Can't use -F to fix (try -FF)");
        } else if (found == ZIP_BROKEN) {
            zip_warning(z, "could not seek back to start of central directory: Invalid argument");
            zip_warning(z, "(try -FF)");
        }
        if (found != ZIP_OK)
            zip_fail(z, 3, mem_printf(&p->mem, "Zip file structure invalid (%s)", z->archive));
        show_extra(z);
        for (size_t i = 0; i < z->dir.count; i++) {
            copied(z, &z->dir.entries[i]);
            zip_add_old(z, &z->dir.entries[i]);
        }
    }
    z->comment = z->dir.comment;
    zip_write(z);
    output_flush(p->out);
    proc_fail(p, z->status);
}

/* directory: reading an archive's central directory and its members. Sizes are believed only as far as the file goes. */
#include <limits.h>

#include <zlib.h>

#include "archive/zip/zip.h"

enum { END_SIZE = 22, COMMENT_MOST = 65535, ENTRY_SIZE = 46, LOCAL_SIZE = 30, ENTRIES_MOST = 1 << 22 };

static unsigned get16(const char *s) { return (unsigned char)s[0] | (unsigned)(unsigned char)s[1] << 8; }
static uint32_t get32(const char *s) { return get16(s) | (uint32_t)get16(s + 2) << 16; }
static uint64_t get64(const char *s) { return get32(s) | (uint64_t)get32(s + 4) << 32; }

static bool read_at(Proc *p, int fd, uint64_t at, char *out, size_t n)
{
    if (at > INT64_MAX || proc_seek(p, fd, (int64_t)at, SEEK_SET) < 0)
        return false;
    for (size_t have = 0; have < n;) {
        ssize_t k = proc_read(p, fd, out + have, n - have);
        if (k <= 0)
            return false;
        have += (size_t)k;
    }
    return true;
}

static void dos_to_unix(Proc *p, ZipEntry *e)
{
    CivilTime t = {.year = 1980 + (e->dos_date >> 9), .month = (int)(e->dos_date >> 5 & 15), .day = (int)(e->dos_date & 31), .hour = (int)(e->dos_time >> 11),
                   .minute = (int)(e->dos_time >> 5 & 63), .second = (int)(e->dos_time & 31) * 2};
    if (!tz_seconds(proc_zone(p), &t, &e->mtime))
        e->mtime = 0;
}

/* Sizes of zip64, and the time that UT holds. */
static void extra_fields(ZipEntry *e, const char *s, size_t n)
{
    while (n >= 4) {
        unsigned id = get16(s), len = get16(s + 2);
        s += 4;
        n -= 4;
        if (len > n)
            return;
        if (id == 1) {
            size_t at = 0;
            uint64_t *const fields[] = {&e->size, &e->packed, &e->offset};
            for (size_t i = 0; i < ARRAY_LEN(fields); i++)
                if (*fields[i] == 0xffffffff && at + 8 <= len) {
                    *fields[i] = get64(s + at);
                    at += 8;
                }
        } else if (id == 0x5455 && len >= 5 && (s[0] & 1)) {
            e->mtime = (int32_t)get32(s + 1);
            e->has_mtime = true;
        } else if (id == 0x7875 && len >= 11 && s[0] == 1 && s[1] == 4 && s[6] == 4) {
            e->uid = get32(s + 2);
            e->gid = get32(s + 7);
            e->has_ids = true;
        }
        s += len;
        n -= len;
    }
}

void zip_entry_times(Proc *p, ZipEntry *e, const char *extra, size_t n)
{
    dos_to_unix(p, e);
    extra_fields(e, extra, n);
}

static bool find_end(Proc *p, int fd, uint64_t size, uint64_t *at, char **record)
{
    size_t n = (size_t)MIN(size, (uint64_t)END_SIZE + COMMENT_MOST);
    char *tail = mem_alloc(&p->keep, n + 1);
    if (n < END_SIZE || !read_at(p, fd, size - n, tail, n))
        return false;
    for (size_t i = n - END_SIZE + 1; i-- > 0;)
        if (memcmp(tail + i, "PK\5\6", 4) == 0) {
            *at = size - n + i;
            *record = tail + i;
            return true;
        }
    return false;
}

int zip_read_directory(Proc *p, int fd, ZipDirectory *d)
{
    VStat st;
    uint64_t at;
    char *end, more[56];
    *d = (ZipDirectory){.comment = {"", 0}};
    if (proc_fstat(p, fd, &st) || !S_ISREG(st.mode) || !find_end(p, fd, st.size, &at, &end))
        return ZIP_NOT_FOUND;
    d->file_size = st.size;
    bool zip64 = false;
    uint64_t count = get16(end + 10), size = get32(end + 12), offset = get32(end + 16);
    if ((count == 0xffff || size == 0xffffffff || offset == 0xffffffff) && at >= 20 && read_at(p, fd, at - 20, more, 20) && memcmp(more, "PK\6\7", 4) == 0 &&
        read_at(p, fd, get64(more + 8), more, 56) && memcmp(more, "PK\6\6", 4) == 0) {
        zip64 = true;
        count = get64(more + 32);
        size = get64(more + 40);
        offset = get64(more + 48);
    }
    if (size > at || offset > at - size || count > ENTRIES_MOST || count > size / ENTRY_SIZE)
        return ZIP_BROKEN;
    d->end = at;
    d->comment = slice(end + END_SIZE, MIN((size_t)get16(end + 20), (size_t)(st.size - at - END_SIZE)));
    if (!zip64) {
        d->extra = (int64_t)(at - size - offset);
        offset = at - size;
    }
    char *data = mem_alloc(&p->keep, (size_t)size + 1);
    if (!read_at(p, fd, offset, data, (size_t)size))
        return ZIP_BROKEN;
    d->entries = mem_array(&p->keep, (size_t)count + 1, ZipEntry);
    for (uint64_t left = size; d->count < count; d->count++) {
        if (left < ENTRY_SIZE || memcmp(data, "PK\1\2", 4) != 0)
            return ZIP_BROKEN;
        size_t name = get16(data + 28), extra = get16(data + 30), comment = get16(data + 32), total = ENTRY_SIZE + name + extra + comment;
        if (total > left)
            return ZIP_BROKEN;
        ZipEntry *e = &d->entries[d->count];
        *e = (ZipEntry){.made_by = get16(data + 4), .version = get16(data + 6), .flags = get16(data + 8), .method = get16(data + 10), .dos_time = get16(data + 12), .dos_date = get16(data + 14),
                        .crc = get32(data + 16), .packed = get32(data + 20), .size = get32(data + 24), .internal = get16(data + 36), .attributes = get32(data + 38), .offset = get32(data + 42)};
        e->name = mem_copy(&p->keep, slice(data + ENTRY_SIZE, name));
        e->place = offset + (size - left);
        e->comment = slice(data + ENTRY_SIZE + name + extra, comment);
        zip_entry_times(p, e, data + ENTRY_SIZE + name, extra);
        e->offset += (uint64_t)d->extra;
        data += total;
        left -= total;
        proc_tick(p, 1);
    }
    return ZIP_OK;
}

bool zip_seek_data(Proc *p, int fd, const ZipEntry *e)
{
    char head[LOCAL_SIZE];
    if (!read_at(p, fd, e->offset, head, sizeof head) || memcmp(head, "PK\3\4", 4) != 0)
        return false;
    return proc_seek(p, fd, (int64_t)get16(head + 26) + get16(head + 28), SEEK_CUR) >= 0;
}

const char *zip_expand(Proc *p, int fd, const ZipEntry *e, void (*put)(void *arg, Slice data), void *arg, uint32_t *crc)
{
    uint64_t left = e->packed, made = 0;
    CodecStream *stream = e->method == 8 ? codec_open(p, CODEC_DEFLATE, &(CodecParams){.compress = false}) : NULL;
    char *out = mem_alloc(&p->mem, ARCHIVE_BLOCK);
    const char *wrong = NULL;
    bool ended = e->method == 0 && left == 0;
    *crc = 0;
    while (!ended && !wrong) {
        Slice in = {"", 0};
        ssize_t n = left ? proc_read_chunk(p, fd, (size_t)MIN(left, (uint64_t)1 << 16), &in, NULL) : 0;
        if (n < 0 || (n == 0 && left))
            wrong = "invalid compressed data to inflate";
        left -= in.len;
        while (!wrong && !ended) {
            Slice data = in;
            if (stream) {
                CodecIo io = {(const unsigned char *)in.data, in.len, (unsigned char *)out, ARCHIVE_BLOCK};
                int err = codec_step(stream, &io, left == 0);
                data = (Slice){out, ARCHIVE_BLOCK - io.out_len};
                in = slice_from(in, in.len - io.in_len);
                ended = err == CODEC_END;
                if (err == CODEC_EMEMORY)
                    proc_raise(p, RAISE_MEMORY);
                if (err < 0 || (made += data.len) > e->size)
                    wrong = "invalid compressed data to inflate";
            } else {
                in = (Slice){"", 0};
                ended = left == 0;
            }
            if (!wrong || stream == NULL) {
                *crc = (uint32_t)crc32_z(*crc, (const unsigned char *)data.data, data.len);
                put(arg, data);
            }
            proc_tick(p, 1 + data.len / 128);
            if (!in.len && data.len < ARCHIVE_BLOCK)
                break;
        }
    }
    if (stream)
        codec_close(p, stream);
    return wrong;
}

int zip_percent(uint64_t packed, uint64_t size)
{
    if (!size)
        return 0;
    double part = ((double)size - (double)packed) * 100 / (double)size;
    return part < INT_MIN + 1.0 ? INT_MIN : (int)(part + (part < 0 ? -0.5 : 0.5)); /* the sizes are what a header claims */
}

/* zstdlist: zstd --list, from the headers of frames and blocks. zstd 1.5.4. Nothing is decompressed. */
#include "archive/zstdlist.h"

typedef enum { LIST_FINE, LIST_NOT_ZSTD, LIST_CUT, LIST_NO_CHECK } Outcome;

typedef struct {
    uint64_t frames, skipped, unpacked, window;
    uint32_t dictionary;
    bool unknown, checked;
    uint32_t check; /* of the last frame */
} Frames;

static uint64_t little(const char *s, size_t n)
{
    uint64_t v = 0;
    while (n--)
        v = v << 8 | (unsigned char)s[n];
    return v;
}

const char *zstd_size(Proc *p, uint64_t n, const char **unit)
{
    static const char *const units[] = {" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"};
    double v = (double)n;
    size_t i = 0;
    for (; v >= 1024 && i + 1 < ARRAY_LEN(units); i++)
        v /= 1024;
    int digits = !i || v >= 100 ? 0 : v >= 10 ? 1 : v > 1 ? 2 : 3;
    *unit = units[i];
    return mem_printf(&p->mem, "%.*f", digits, v);
}

/* A frame's header, blocks and checksum, taken off *s. */
static Outcome take_frame(Proc *p, Slice *s, Frames *f)
{
    if (s->len < 6)
        return LIST_CUT;
    unsigned char d = (unsigned char)s->data[4];
    bool single = d >> 5 & 1, checked = d >> 2 & 1;
    size_t dictionary = (size_t[]){0, 1, 2, 4}[d & 3], content = (size_t[]){single ? 1 : 0, 2, 4, 8}[d >> 6], head = (single ? 5 : 6) + dictionary + content;
    if (s->len < head)
        return LIST_CUT;
    const char *at = s->data + 5;
    unsigned char w = single ? 0 : (unsigned char)*at++;
    uint64_t base = UINT64_C(1) << (10 + (w >> 3));
    f->dictionary = (uint32_t)little(at, dictionary);
    uint64_t holds = little(at + dictionary, content) + (content == 2 ? 256 : 0);
    f->window = single ? holds : base + (base / 8) * (w & 7);
    f->unknown |= !content;
    if (__builtin_add_overflow(f->unpacked, content ? holds : 0, &f->unpacked))
        return LIST_NOT_ZSTD;
    *s = slice_from(*s, head);
    for (bool last = false; !last;) {
        if (s->len < 3)
            return LIST_CUT;
        uint32_t block = (uint32_t)little(s->data, 3), kind = block >> 1 & 3;
        size_t size = kind == 1 ? 1 : block >> 3;
        last = block & 1;
        if (kind == 3)
            return LIST_NOT_ZSTD;
        if (s->len - 3 < size)
            return LIST_CUT;
        *s = slice_from(*s, 3 + size);
        proc_tick(p, 1);
    }
    if (checked) {
        f->checked = true;
        if (s->len < 4)
            return LIST_NO_CHECK;
        f->check = (uint32_t)little(s->data, 4);
        *s = slice_from(*s, 4);
    }
    f->frames++;
    return LIST_FINE;
}

static Outcome take_frames(Proc *p, Slice s, Frames *f)
{
    if (!s.len)
        return LIST_NOT_ZSTD;
    while (s.len) {
        uint32_t magic = s.len >= 4 ? (uint32_t)little(s.data, 4) : 0;
        if ((magic & 0xfffffff0) == 0x184d2a50) {
            uint64_t size = s.len >= 8 ? 8 + little(s.data + 4, 4) : UINT64_MAX;
            if (size > s.len)
                return LIST_CUT;
            s = slice_from(s, (size_t)size);
            f->skipped++;
            continue;
        }
        if (magic != 0xfd2fb528)
            return LIST_NOT_ZSTD;
        Outcome o = take_frame(p, &s, f);
        if (o)
            return o == LIST_CUT && f->checked ? LIST_NO_CHECK : o;
    }
    return LIST_FINE;
}

static void print_row(Proc *p, uint64_t frames, uint64_t skipped, uint64_t size, uint64_t unpacked, bool unknown, const char *check)
{
    const char *unit, *unpacked_unit, *text = zstd_size(p, size, &unit);
    const char *holds = zstd_size(p, unpacked, &unpacked_unit);
    if (unknown)
        out_printf(p->out, "%6llu  %5llu  %6s%4s                       %5s  ", (unsigned long long)(frames + skipped), (unsigned long long)skipped, text, unit, check);
    else
        out_printf(p->out, "%6llu  %5llu  %6s%4s  %8s%4s  %5.3f  %5s  ", (unsigned long long)(frames + skipped), (unsigned long long)skipped, text, unit, holds, unpacked_unit,
                   size ? (double)unpacked / (double)size : 0.0, check);
}

static const char *both(Proc *p, uint64_t n)
{
    const char *unit, *text = zstd_size(p, n, &unit);
    return mem_printf(&p->mem, "%s%s (%llu B)", text, unit, (unsigned long long)n);
}

static void print_facts(Proc *p, const Frames *f, uint64_t size, const char *name)
{
    Output *o = p->out;
    out_printf(o, "%s \n# Zstandard Frames: %llu\n", name, (unsigned long long)f->frames);
    if (f->skipped)
        out_printf(o, "# Skippable Frames: %llu\n", (unsigned long long)f->skipped);
    out_printf(o, "DictID: %u\nWindow Size: %s\nCompressed Size: %s\n", f->dictionary, both(p, f->window), both(p, size));
    if (!f->unknown)
        out_printf(o, "Decompressed Size: %s\nRatio: %.4f\n", both(p, f->unpacked), size ? (double)f->unpacked / (double)size : 0.0);
    if (f->checked && f->frames + f->skipped <= 2 && f->frames)
        out_printf(o, "Check: XXH64 %08x\n", f->check);
    else
        out_printf(o, "Check: %s\n", f->checked ? "XXH64" : "None");
    out_char(o, '\n');
}

void zstd_list_head(Proc *p, const ZstdList *list)
{
    if (!list->verbose)
        out_str(p->out, "Frames  Skips  Compressed  Uncompressed  Ratio  Check  Filename\n");
}

bool zstd_list(Proc *p, ZstdList *list, Slice file, const char *name)
{
    Frames f = {0};
    Outcome o = take_frames(p, file, &f);
    if (o == LIST_NOT_ZSTD) {
        out_printf(p->out, "File \"%s\" not compressed by zstd \n", name);
        return false;
    }
    if (o) {
        output_flush(p->out);
        out_printf(p->err, "Error: %s \nError while parsing \"%s\" \n", o == LIST_NO_CHECK ? "could not read checksum" : "Incomplete frame", name);
        output_flush(p->err);
    }
    if (list->verbose) {
        print_facts(p, &f, file.len, name);
    } else {
        print_row(p, f.frames, f.skipped, file.len, f.unpacked, f.unknown, f.checked ? "XXH64" : "None");
        out_printf(p->out, "%s\n", name);
    }
    list->files++;
    list->frames += f.frames;
    list->skipped += f.skipped;
    list->size += file.len;
    list->unpacked = f.unpacked > UINT64_MAX - list->unpacked ? UINT64_MAX : list->unpacked + f.unpacked;
    list->unknown |= f.unknown;
    list->unchecked |= !f.checked;
    return !o;
}

void zstd_list_end(Proc *p, const ZstdList *list)
{
    out_str(p->out, "----------------------------------------------------------------- \n");
    print_row(p, list->frames, list->skipped, list->size, list->unpacked, list->unknown, list->unchecked || list->unknown ? "" : "XXH64");
    out_printf(p->out, "%zu files\n", list->files);
}

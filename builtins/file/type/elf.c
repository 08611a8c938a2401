/* file(1): ELF. */
#include "type.h"

enum { PT_DYNAMIC_ = 2, PT_INTERP_ = 3, PT_NOTE_ = 4, SHT_SYMTAB_ = 2, DT_FLAGS_1_ = 0x6FFFFFFB, DF_1_PIE_ = 0x08000000, HEADERS_MOST = 2048 };

typedef struct {
    const Bytes *b;
    bool wide, big;
    bool dynamic, stripped, debug, pie;
    Slice interpreter, build_id;
    const char *build_kind;
    uint32_t abi[4];
    bool has_abi;
} Elf;

static uint64_t number(const Elf *e, uint64_t at, unsigned size)
{
    uint64_t v = 0;
    if (at > e->b->len)
        return 0;
    for (unsigned i = 0; i < size; i++)
        v |= (uint64_t)u8_at(e->b, (size_t)at + i) << 8 * (e->big ? size - 1 - i : i);
    return v;
}

static uint64_t word(const Elf *e, uint64_t at) { return number(e, at, e->wide ? 8 : 4); }

static void notes(Elf *e, uint64_t at, uint64_t size)
{
    uint64_t end = at + MIN(size, (uint64_t)e->b->len);
    for (int n = 0; at + 12 <= end && at + 12 <= e->b->len && n < 64; n++) {
        uint64_t names = number(e, at, 4), bytes = number(e, at + 4, 4), kind = number(e, at + 8, 4), body = at + 12 + ((names + 3) & ~3ull);
        if (names > e->b->len || bytes > e->b->len || body + bytes > e->b->len)
            return;
        bool gnu = names == 4 && has(e->b, (size_t)at + 12, "GNU", 4);
        if (gnu && kind == 3 && bytes >= 4 && bytes <= 20) {
            e->build_id = slice((const char *)e->b->data + body, (size_t)bytes);
            e->build_kind = bytes == 16 ? "md5/uuid" : bytes == 8 ? "xxHash" : "sha1";
        }
        if (gnu && kind == 1 && bytes == 16) {
            e->has_abi = true;
            for (unsigned i = 0; i < 4; i++)
                e->abi[i] = (uint32_t)number(e, body + 4 * i, 4);
        }
        at = body + ((bytes + 3) & ~3ull);
    }
}

static void segments(Elf *e)
{
    uint64_t table = word(e, e->wide ? 32 : 28), entry = number(e, e->wide ? 54 : 42, 2), count = MIN(number(e, e->wide ? 56 : 44, 2), HEADERS_MOST);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t at = table + i * entry, kind = number(e, at, 4), offset = word(e, at + (e->wide ? 8 : 4)), size = word(e, at + (e->wide ? 32 : 16));
        if (kind == PT_DYNAMIC_) {
            unsigned step = e->wide ? 16 : 8;
            e->dynamic = true;
            for (uint64_t d = 0; d + step <= size && offset + d < e->b->len; d += step)
                if (word(e, offset + d) == DT_FLAGS_1_)
                    e->pie = word(e, offset + d + step / 2) & DF_1_PIE_;
        } else if (kind == PT_INTERP_ && offset < e->b->len) {
            e->interpreter = slice((const char *)e->b->data + offset, MIN((size_t)size, e->b->len - (size_t)offset));
            e->interpreter.len = slice_find(e->interpreter, 0);
        } else if (kind == PT_NOTE_) {
            notes(e, offset, size);
        }
    }
}

static void sections(Elf *e)
{
    uint64_t table = word(e, e->wide ? 40 : 32), entry = number(e, e->wide ? 58 : 46, 2), count = MIN(number(e, e->wide ? 60 : 48, 2), HEADERS_MOST);
    uint64_t names_at = table + number(e, e->wide ? 62 : 50, 2) * entry, names = word(e, names_at + (e->wide ? 24 : 16));
    e->stripped = true;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t at = table + i * entry, name = names + number(e, at, 4);
        if (number(e, at + 4, 4) == SHT_SYMTAB_)
            e->stripped = false;
        if (name < e->b->len && has(e->b, (size_t)name, ".debug_info", 12))
            e->debug = true;
        if (number(e, at + 4, 4) == 7 && !e->build_kind)
            notes(e, word(e, at + (e->wide ? 24 : 16)), word(e, at + (e->wide ? 32 : 20)));
    }
}

static const char *machine(uint64_t m)
{
    switch (m) {
    case 2: return "SPARC";
    case 3: return "Intel 80386";
    case 8: return "MIPS";
    case 20: return "PowerPC or cisco 4500";
    case 21: return "64-bit PowerPC or cisco 7500";
    case 22: return "IBM S/390";
    case 40: return "ARM";
    case 62: return "x86-64";
    case 183: return "ARM aarch64";
    case 243: return "UCB RISC-V";
    default: return NULL;
    }
}

static void describe(Elf *e, Kind *k)
{
    static const char *const systems[] = {"SYSV", "HP-UX", "NetBSD", "GNU/Linux"};
    static const char *const targets[] = {"GNU/Linux", "GNU/Hurd", "Solaris", "kFreeBSD"};
    uint64_t type = number(e, 16, 2), arch = number(e, 18, 2);
    const char *name = machine(arch);
    buf_printf(&k->text, "ELF %d-bit %s %s", e->wide ? 64 : 32, e->big ? "MSB" : "LSB",
               type == 1 ? "relocatable" : type == 2 ? "executable" : type == 3 ? (e->pie ? "pie executable" : "shared object") : type == 4 ? "core file" : "no file type");
    k->mime = type == 1 ? "application/x-object" : type == 2 ? "application/x-executable" : type == 3 ? (e->pie ? "application/x-pie-executable" : "application/x-sharedlib") : type == 4 ? "application/x-coredump" : "application/octet-stream";
    if (name)
        buf_printf(&k->text, ", %s", name);
    else
        buf_printf(&k->text, ", *unknown arch 0x%llx*", (unsigned long long)arch);
    buf_printf(&k->text, ", version %llu", (unsigned long long)number(e, 20, 4));
    if (u8_at(e->b, 7) < ARRAY_LEN(systems))
        buf_printf(&k->text, " (%s)", systems[u8_at(e->b, 7)]);
    if (type == 2 || type == 3)
        buf_append(&k->text, slice_str(e->dynamic ? ", dynamically linked" : e->pie ? ", static-pie linked" : ", statically linked"));
    if (e->interpreter.len)
        buf_printf(&k->text, ", interpreter %.*s", (int)e->interpreter.len, e->interpreter.data);
    if (e->build_kind) {
        buf_printf(&k->text, ", BuildID[%s]=", e->build_kind);
        for (size_t i = 0; i < e->build_id.len; i++)
            buf_printf(&k->text, "%02x", (unsigned char)e->build_id.data[i]);
    }
    if (e->has_abi && e->abi[0] < ARRAY_LEN(targets))
        buf_printf(&k->text, ", for %s %u.%u.%u", targets[e->abi[0]], e->abi[1], e->abi[2], e->abi[3]);
    if (e->debug)
        buf_append(&k->text, SLICE(", with debug_info"));
    buf_append(&k->text, slice_str(e->stripped ? ", stripped" : ", not stripped"));
}

bool kind_elf(Proc *p, const Bytes *b, Kind *k)
{
    if (!HAS(b, 0, "\x7F" "ELF") || b->len < 52)
        return false;
    Elf e = {.b = b, .wide = b->data[4] == 2, .big = b->data[5] == 2};
    proc_tick(p, 16);
    segments(&e);
    sections(&e);
    describe(&e, k);
    return true;
}

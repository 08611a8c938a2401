/* file(1): archives, compressed data, databases, documents. */
#include "type.h"

static bool simple(Kind *k, const char *text, const char *mime, const char *extensions)
{
    buf_append(&k->text, slice_str(text));
    k->mime = mime;
    k->extensions = extensions;
    return true;
}

static void gzip_name(const Bytes *b, Kind *k)
{
    size_t at = 10;
    unsigned flags = u8_at(b, 3);
    if (flags & 4)
        at += 2 + le16(b, 10);
    if (!(flags & 8))
        return;
    buf_append(&k->text, SLICE(", was \""));
    for (; at < b->len && b->data[at]; at++)
        buf_char(&k->text, (char)b->data[at]);
    buf_char(&k->text, '"');
}

static bool gzip(Proc *p, const Bytes *b, Kind *k)
{
    static const char *const systems[] = {"FAT filesystem (MS-DOS, OS/2, NT)", "Amiga", "VMS", "Unix", "VM/CMS", "Atari", "HPFS filesystem (OS/2, NT)", "MacOS", "Z-System",
                                          "CP/M", "TOPS/20", "NTFS filesystem (NT)", "QDOS", "Acorn RISCOS"};
    if (!HAS(b, 0, "\x1F\x8B"))
        return false;
    simple(k, "gzip compressed data", "application/gzip", "gz/tgz/tpz/zabw/svgz/adz/kmy/xcfgz");
    unsigned flags = u8_at(b, 3);
    if (flags & 1)
        buf_append(&k->text, SLICE(", ASCII"));
    if (flags & 2)
        buf_append(&k->text, SLICE(", has CRC"));
    if (flags & 4)
        buf_append(&k->text, SLICE(", extra field"));
    gzip_name(b, k);
    if (flags & 16)
        buf_append(&k->text, SLICE(", has comment"));
    CivilTime t;
    uint32_t when = le32(b, 4);
    if (when && tz_civil(tz_parse(&p->mem, SLICE("UTC")), (int32_t)when, 0, &t)) {
        buf_append(&k->text, SLICE(", last modified: "));
        tz_format(&k->text, SLICE("%a %b %e %H:%M:%S %Y"), &t, (int32_t)when);
    }
    if (u8_at(b, 8) == 2)
        buf_append(&k->text, SLICE(", max compression"));
    if (u8_at(b, 8) == 4)
        buf_append(&k->text, SLICE(", max speed"));
    if (b->len > 9 && b->data[9] < ARRAY_LEN(systems))
        buf_printf(&k->text, ", from %s", systems[b->data[9]]);
    if (b->known_size && b->len == b->size)
        buf_printf(&k->text, ", original size modulo 2^32 %u", le32(b, b->len - 4));
    return true;
}

static bool compressed(const Bytes *b, Kind *k)
{
    static const char *const checks[16] = {"NONE", "CRC32", NULL, NULL, "CRC64", NULL, NULL, NULL, NULL, NULL, "SHA-256"};
    if (HAS(b, 0, "BZh") && u8_at(b, 3) >= '1' && u8_at(b, 3) <= '9') {
        simple(k, "bzip2 compressed data", "application/x-bzip2", "bz2");
        buf_printf(&k->text, ", block size = %c00k", (char)b->data[3]);
        return true;
    }
    if (HAS(b, 0, "\xFD" "7zXZ\0")) {
        const char *check = checks[u8_at(b, 7) & 15];
        simple(k, "XZ compressed data", "application/x-xz", "xz");
        if (check)
            buf_printf(&k->text, ", checksum %s", check);
        return true;
    }
    if (HAS(b, 0, "\x28\xB5\x2F\xFD")) {
        static const unsigned sizes[] = {0, 1, 2, 4};
        unsigned descriptor = u8_at(b, 4), size = sizes[descriptor & 3];
        simple(k, "Zstandard compressed data (v0.8+)", "application/zstd", "zst");
        size_t at = 5 + !(descriptor & 32);
        if (!size)
            buf_append(&k->text, SLICE(", Dictionary ID: None"));
        else
            buf_printf(&k->text, ", Dictionary ID: %u", size == 1 ? u8_at(b, at) : size == 2 ? le16(b, at) : le32(b, at));
        return true;
    }
    if (HAS(b, 0, "\x1F\x9D")) {
        simple(k, "compress'd data", "application/x-compress", "Z");
        buf_printf(&k->text, " %u bits", u8_at(b, 2) & 31);
        return true;
    }
    if (HAS(b, 0, "\x04\x22\x4D\x18"))
        return simple(k, "LZ4 compressed data (v1.4+)", "application/x-lz4", "lz4");
    if (HAS(b, 0, "7z\xBC\xAF\x27\x1C")) {
        simple(k, "7-zip archive data", "application/x-7z-compressed", "7z/cb7");
        buf_printf(&k->text, ", version %u.%u", u8_at(b, 6), u8_at(b, 7));
        return true;
    }
    return false;
}

static bool office(const Bytes *b, Kind *k)
{
    Slice all = {(const char *)b->data, MIN(b->len, 8192)};
    if (slice_search(all, SLICE("word/")) != SIZE_MAX)
        return simple(k, "Microsoft Word 2007+", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "docx");
    if (slice_search(all, SLICE("ppt/")) != SIZE_MAX)
        return simple(k, "Microsoft PowerPoint 2007+", "application/vnd.openxmlformats-officedocument.presentationml.presentation", "pptx");
    if (slice_search(all, SLICE("xl/")) != SIZE_MAX)
        return simple(k, "Microsoft Excel 2007+", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx");
    return simple(k, "Microsoft OOXML", "application/octet-stream", NULL);
}

static bool zip(const Bytes *b, Kind *k)
{
    static const char *const methods[] = {"store", "Shrinking", "Reducing 1", "Reducing 2", "Reducing 3", "Reducing 4", "Implode", "Tokenizing", "deflate", "deflate64",
                                          "Library imploding", NULL, "bzip2", NULL, "lzma"};
    if (HAS(b, 0, "PK\5\6"))
        return simple(k, "Zip archive data (empty)", "application/zip", "zip/cbz");
    if (!HAS(b, 0, "PK\3\4") || b->len < 34)
        return false;
    if (HAS(b, 30, "[Content_Types].xml") || HAS(b, 30, "_rels/.rels") || HAS(b, 30, "docProps"))
        return office(b, k);
    if (HAS(b, 30, "META-INF/"))
        return simple(k, "Java archive data (JAR)", "application/java-archive", "jar");
    if (HAS(b, 30, "mimetypeapplication/epub+zip"))
        return simple(k, "EPUB document", "application/epub+zip", "epub");
    if (HAS(b, 30, "mimetypeapplication/vnd.oasis.opendocument.text"))
        return simple(k, "OpenDocument Text", "application/vnd.oasis.opendocument.text", "odt");
    if (HAS(b, 30, "mimetypeapplication/vnd.oasis.opendocument.spreadsheet"))
        return simple(k, "OpenDocument Spreadsheet", "application/vnd.oasis.opendocument.spreadsheet", "ods");
    unsigned version = u8_at(b, 4), method = le16(b, 8);
    simple(k, "Zip archive data", "application/zip", "zip/cbz");
    buf_printf(&k->text, ", at least v%u.%u to extract, compression method=", version / 10, version % 10);
    if (method < ARRAY_LEN(methods) && methods[method])
        buf_append(&k->text, slice_str(methods[method]));
    else
        buf_printf(&k->text, "[%#x]", method);
    return true;
}

static bool sqlite(const Bytes *b, Kind *k)
{
    if (!HAS(b, 0, "SQLite format 3\0"))
        return false;
    simple(k, "SQLite 3.x database", "application/vnd.sqlite3", "sqlite/sqlite3/db/dbe");
    const struct { unsigned at; bool always; const char *text; } fields[] = {
        {96, true, ", last written using SQLite version %u"}, {24, true, ", file counter %u"}, {28, true, ", database pages %u"}, {32, false, ", 1st free page %u"},
        {36, false, ", free pages %u"}, {40, true, ", cookie 0x%x"}, {44, true, ", schema %u"}, {48, false, ", cache page size %u"}, {52, false, ", largest root page %u"},
    };
    unsigned page = be16(b, 16);
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        uint32_t v = be32(b, fields[i].at);
        if (i == 1 && u8_at(b, 18) != 1)
            buf_printf(&k->text, ", writer version %u", u8_at(b, 18));
        if (i == 1 && u8_at(b, 19) != 1)
            buf_printf(&k->text, ", read version %u", u8_at(b, 19));
        if (i == 1 && page != 4096)
            buf_printf(&k->text, ", page size %u", page == 1 ? 65536 : page);
        if (v || fields[i].always) {
            char text[64];
            const char *mark = strchr(fields[i].text, '%');
            snprintf(text, sizeof text, mark[1] == 'x' ? "%x" : "%u", v);
            buf_printf(&k->text, "%.*s%s", (int)(mark - fields[i].text), fields[i].text, text);
        }
    }
    static const char *const encodings[] = {"", ", UTF-8", ", UTF-16 little endian", ", UTF-16 big endian"};
    if (be32(b, 56) < 4)
        buf_append(&k->text, slice_str(encodings[be32(b, 56)]));
    if (be32(b, 60))
        buf_printf(&k->text, ", user version %u", be32(b, 60));
    if (be32(b, 64))
        buf_printf(&k->text, ", vacuum mode %u", be32(b, 64));
    buf_printf(&k->text, ", version-valid-for %u", be32(b, 92));
    return true;
}

static bool document(const Bytes *b, Kind *k)
{
    if (HAS(b, 0, "%PDF-")) {
        simple(k, "PDF document", "application/pdf", "pdf");
        buf_printf(&k->text, ", version %c.%c", u8_at(b, 5) ? (char)u8_at(b, 5) : '0', u8_at(b, 7) ? (char)u8_at(b, 7) : '0');
        if (slice_search(slice((const char *)b->data, MIN(b->len, 256)), SLICE("/FlateDecode")) != SIZE_MAX)
            buf_append(&k->text, SLICE(" (zip deflate encoded)"));
        k->whole = true;
        return true;
    }
    if (HAS(b, 0, "!<arch>\n"))
        return simple(k, HAS(b, 8, "debian-binary") ? "Debian binary package (format 2.0)" : "current ar archive",
                      HAS(b, 8, "debian-binary") ? "application/vnd.debian.binary-package" : "application/x-archive", "a/lib/deb");
    if (HAS(b, 0, "\xCA\xFE\xBA\xBE") && be16(b, 6) > 30 && be16(b, 6) < 80) {
        static const char *const names[] = {"(Java 1.1)", "(Java 1.2)", "(Java 1.3)", "(Java 1.4)", "(Java 1.5)", "(Java 1.6)", "(Java 1.7)", "(Java 1.8)"};
        unsigned major = be16(b, 6);
        simple(k, "compiled Java class data", "application/x-java-applet", "class");
        buf_printf(&k->text, ", version %u.%u", major, be16(b, 4));
        if (major >= 45 && major <= 52)
            buf_printf(&k->text, " %s", names[major - 45]);
        else if (major > 52)
            buf_printf(&k->text, " (Java SE %u)", major - 44);
        return true;
    }
    if (HAS(b, 0, "\0asm")) {
        simple(k, "WebAssembly (wasm) binary module", "application/wasm", "wasm");
        buf_printf(&k->text, " version %#x%s", le32(b, 4), le32(b, 4) == 1 ? " (MVP)" : "");
        return true;
    }
    if (HAS(b, 0, "MZ") && le32(b, 60) + 4 < b->len && has(b, le32(b, 60), "PE\0\0", 4))
        return simple(k, "PE32 executable (console) Intel 80386, for MS Windows", "application/x-dosexec", "exe/com");
    return false;
}

static uint64_t octal(const Bytes *b, size_t at, size_t n)
{
    uint64_t v = 0;
    for (size_t i = 0; i < n && u8_at(b, at + i); i++)
        if (u8_at(b, at + i) >= '0' && u8_at(b, at + i) <= '7')
            v = v * 8 + u8_at(b, at + i) - '0';
        else if (u8_at(b, at + i) != ' ')
            return UINT64_MAX;
    return v;
}

bool kind_tar(const Bytes *b, Kind *k)
{
    if (b->len < 512 || !b->data[0])
        return false;
    uint64_t sum = 0;
    for (size_t i = 0; i < 512; i++)
        sum += i >= 148 && i < 156 ? ' ' : b->data[i];
    if (octal(b, 148, 8) != sum)
        return false;
    const char *text = HAS(b, 257, "ustar  \0") ? "POSIX tar archive (GNU)" : HAS(b, 257, "ustar") ? "POSIX tar archive" : "tar archive";
    return simple(k, text, "application/x-tar", "tar/gtar");
}

bool kind_binary(Proc *p, const Bytes *b, Kind *k)
{
    return gzip(p, b, k) || compressed(b, k) || zip(b, k) || sqlite(b, k) || document(b, k);
}

/* file(1): text: its encoding, its line ends, and the languages that show in the first lines. */
#include "type.h"

enum { LONG_LINE = 300, LOOKED_AT = 65536 };

typedef enum { BYTE_NEVER, BYTE_TEXT, BYTE_ISO, BYTE_EXTENDED } ByteClass;

static ByteClass byte_class(unsigned c)
{
    if ((c >= 7 && c <= 13) || c == 27 || (c >= 32 && c < 127) || c == 0x85)
        return BYTE_TEXT;
    return c >= 0xA0 ? BYTE_ISO : c >= 0x80 ? BYTE_EXTENDED : BYTE_NEVER;
}

/* 0: not text, 1: ASCII only, 2: with characters of several bytes */
static int utf8_kind(const Bytes *b, size_t from)
{
    int kind = 1;
    for (size_t i = from, n; i < b->len; i += n) {
        n = 1;
        if (b->data[i] < 0x80) {
            if (byte_class(b->data[i]) != BYTE_TEXT)
                return 0;
            continue;
        }
        size_t left = b->len - i;
        unsigned want = b->data[i] >= 0xF0 ? 4 : b->data[i] >= 0xE0 ? 3 : 2;
        if (utf8_decode((const char *)b->data + i, left, &n) == UTF8_BAD) {
            if (left < want && b->data[i] >= 0xC2)
                return kind; /* cut off at the end of what was read */
            return 0;
        }
        kind = 2;
    }
    return kind;
}

static bool wide_text(const Bytes *b, unsigned unit, bool big)
{
    for (size_t i = unit; i + unit <= b->len; i += unit) {
        uint32_t c = unit == 2 ? (big ? be16(b, i) : le16(b, i)) : big ? be32(b, i) : le32(b, i);
        if (c == 0xFFFE || (c < 128 && byte_class(c) != BYTE_TEXT))
            return false;
    }
    return b->len >= unit;
}

static Encoding one_byte(const Bytes *b)
{
    ByteClass worst = BYTE_TEXT;
    bool ascii = true;
    for (size_t i = 0; i < b->len; i++) {
        ByteClass c = byte_class(b->data[i]);
        if (c == BYTE_NEVER)
            return (Encoding){0};
        worst = MAX(worst, c);
        ascii &= b->data[i] < 0x80;
    }
    if (ascii)
        return (Encoding){"ASCII", "us-ascii", 0, 1, false};
    if (worst == BYTE_EXTENDED)
        return (Encoding){"Non-ISO extended-ASCII", "unknown-8bit", 0, 1, false};
    return (Encoding){"ISO-8859", "iso-8859-1", 0, 1, false};
}

Encoding text_encoding(const Bytes *all)
{
    Bytes cut = *all;
    const Bytes *b = &cut;
    cut.len = MIN(cut.len, LOOKED_AT);
    Encoding plain = one_byte(b);
    if (plain.name && strcmp(plain.name, "ASCII") == 0)
        return plain;
    if (HAS(b, 0, "\xEF\xBB\xBF") && utf8_kind(b, 3))
        return (Encoding){"Unicode text, UTF-8 (with BOM)", "utf-8", 3, 1, false};
    if (utf8_kind(b, 0) == 2)
        return (Encoding){"Unicode text, UTF-8", "utf-8", 0, 1, false};
    if (HAS(b, 0, "\xFF\xFE\0\0") && wide_text(b, 4, false))
        return (Encoding){"Unicode text, UTF-32, little-endian", "utf-32le", 4, 4, false};
    if (HAS(b, 0, "\0\0\xFE\xFF") && wide_text(b, 4, true))
        return (Encoding){"Unicode text, UTF-32, big-endian", "utf-32be", 4, 4, true};
    if (HAS(b, 0, "\xFF\xFE") && wide_text(b, 2, false))
        return (Encoding){"Unicode text, UTF-16, little-endian", "utf-16le", 2, 2, false};
    if (HAS(b, 0, "\xFE\xFF") && wide_text(b, 2, true))
        return (Encoding){"Unicode text, UTF-16, big-endian", "utf-16be", 2, 2, true};
    return plain;
}

typedef struct { size_t crlf, cr, lf, nel, longest; bool escape, backspace; } Lines;

static uint32_t char_of(const Bytes *b, const Encoding *e, size_t *at)
{
    size_t n = e->unit;
    uint32_t c = n == 2 ? (e->big ? be16(b, *at) : le16(b, *at)) : n == 4 ? (e->big ? be32(b, *at) : le32(b, *at)) : b->data[*at];
    if (n == 1 && c >= 0x80 && strcmp(e->mime, "utf-8") == 0)
        c = utf8_decode((const char *)b->data + *at, b->len - *at, &n);
    *at += n;
    return c;
}

static Lines count_lines(const Bytes *b, const Encoding *e)
{
    Lines l = {0};
    bool seen_cr = false;
    size_t length = 0;
    for (size_t at = e->bom; at + e->unit <= b->len;) {
        uint32_t c = char_of(b, e, &at);
        bool end = c == '\n' || c == '\r' || c == 0x85;
        if (c == '\n')
            seen_cr ? l.crlf++ : l.lf++;
        else if (seen_cr)
            l.cr++;
        l.nel += c == 0x85;
        seen_cr = c == '\r';
        l.escape |= c == 27;
        l.backspace |= c == 8;
        length = end ? 0 : length + 1;
        l.longest = MAX(l.longest, length);
    }
    l.cr += seen_cr;
    return l;
}

static void line_ends(const Lines *l, Buf *out)
{
    if (!l->crlf && !l->cr && !l->lf && !l->nel) {
        buf_append(out, SLICE(", with no line terminators"));
        return;
    }
    if (!l->crlf && !l->cr && !l->nel)
        return;
    const struct { size_t count; const char *name; } kinds[] = {{l->crlf, "CRLF"}, {l->cr, "CR"}, {l->lf, "LF"}, {l->nel, "NEL"}};
    const char *before = ", with ";
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (kinds[i].count) {
            buf_printf(out, "%s%s", before, kinds[i].name);
            before = ", ";
        }
    buf_append(out, SLICE(" line terminators"));
}

static bool cut_end(Buf *b, Slice end)
{
    if (b->len < end.len || memcmp(b->data + b->len - end.len, end.data, end.len) != 0)
        return false;
    b->len -= end.len;
    b->data[b->len] = 0;
    return true;
}

void describe_text(const Bytes *b, const Encoding *e, Kind *k)
{
    Buf *out = &k->text;
    bool executable = false;
    if (out->len) {
        executable = cut_end(out, SLICE(" text executable"));
        if (!executable)
            cut_end(out, SLICE(" text"));
        buf_append(out, SLICE(", "));
    }
    Lines l = count_lines(b, e);
    buf_printf(out, "%s text%s", e->name, executable ? " executable" : "");
    if (l.longest > LONG_LINE)
        buf_printf(out, ", with very long lines (%zu)", l.longest);
    line_ends(&l, out);
    if (l.escape)
        buf_append(out, SLICE(", with escape sequences"));
    if (l.backspace)
        buf_append(out, SLICE(", with overstriking"));
}

/* ---------- languages ---------- */

typedef struct { const char *name, *text, *mime; bool whole; } Script;

static const Script scripts[] = {
    {"sh", "POSIX shell script text executable", "text/x-shellscript", false},
    {"bash", "Bourne-Again shell script text executable", "text/x-shellscript", false},
    {"csh", "C shell script text executable", "text/x-shellscript", false},
    {"ksh", "Korn shell script text executable", "text/x-shellscript", false},
    {"tcsh", "Tenex C shell script text executable", "text/x-shellscript", false},
    {"zsh", "Paul Falstad's zsh script text executable", "text/x-shellscript", false},
    {"python", "Python script text executable", "text/x-script.python", false},
    {"perl", "Perl script text executable", "text/x-perl", true},
    {"node", "Node.js script executable", "application/javascript", false},
    {"ruby", "Ruby script text executable", "text/x-ruby", false},
    {"php", "PHP script text executable", "text/x-php", false},
    {"awk", "awk script text executable", "text/x-awk", false},
    {"gawk", "GNU awk script text executable", "text/x-gawk", false},
    {"nawk", "new awk script text executable", "text/x-nawk", false},
    {"lua", "Lua script text executable", "text/x-lua", false},
    {"tclsh", "Tcl script text executable", "text/x-tcl", false},
    {"wish", "Tcl/Tk script text executable", "text/x-tcl", false},
};

static void found(Kind *k, const char *text, const char *mime)
{
    buf_append(&k->text, slice_str(text));
    k->mime = mime;
}

static const Script *script_named(Slice name)
{
    for (size_t i = 0; i < ARRAY_LEN(scripts); i++) {
        size_t n = strlen(scripts[i].name);
        bool versioned = name.len > n && (strcmp(scripts[i].name, "python") == 0 || strcmp(scripts[i].name, "perl") == 0) && name.data[n] >= '0' && name.data[n] <= '9';
        if (slice_starts(name, slice_str(scripts[i].name)) && (name.len == n || versioned))
            return &scripts[i];
    }
    return NULL;
}

static bool interpreter(const Bytes *b, Kind *k)
{
    if (!HAS(b, 0, "#!"))
        return false;
    Slice line = {(const char *)b->data + 2, MIN(b->len - 2, 256)};
    line.len = slice_find(line, '\n');
    while (line.len && (*line.data == ' ' || *line.data == '\t'))
        line = slice_from(line, 1);
    while (line.len && strchr(" \t\r", line.data[line.len - 1]))
        line.len--;
    Slice path = {line.data, slice_find(line, ' ')}, word = path;
    for (size_t at; (at = slice_find(word, '/')) < word.len;)
        word = slice_from(word, at + 1);
    if (slice_is(word, "env") && path.len < line.len) {
        word = slice_from(line, path.len + 1);
        word.len = slice_find(word, ' ');
    }
    const Script *s = script_named(word);
    if (s) {
        found(k, s->text, s->mime);
        k->whole = s->whole;
        return true;
    }
    if (!line.len)
        return false;
    buf_printf(&k->text, "a %.*s script text executable", (int)line.len, line.data);
    k->mime = "text/plain";
    return true;
}

static size_t find_text(const Bytes *b, const char *needle, size_t within)
{
    return slice_search(slice((const char *)b->data, MIN(b->len, within)), slice_str(needle));
}

/* A line that begins so, among the first bytes. */
static bool line_begins(const Bytes *b, const char *text, size_t within)
{
    Slice all = {(const char *)b->data, MIN(b->len, within)};
    for (bool more = all.len > 0; more;) {
        if (slice_starts(all, slice_str(text)))
            return true;
        size_t n = slice_find(all, '\n');
        more = n < all.len;
        all = slice_from(all, MIN(n + 1, all.len));
    }
    return false;
}

static bool starts_nocase(const Bytes *b, size_t at, const char *text)
{
    for (; *text; text++, at++) {
        unsigned c = u8_at(b, at);
        if (c >= 'A' && c <= 'Z')
            c += 32;
        if (c != (unsigned char)*text)
            return false;
    }
    return true;
}

static bool markup(const Bytes *b, Kind *k)
{
    static const char *const html[] = {"<!doctype html", "<html", "<head", "<title", "<body", "<script", "<style", "<table", "<h1"};
    size_t at = 0;
    while (at < b->len && strchr(" \t\r\n", b->data[at]) && b->data[at])
        at++;
    if (starts_nocase(b, at, "<?xml version=\"") || starts_nocase(b, at, "<?xml version='")) {
        char quote_mark = (char)u8_at(b, at + 14);
        size_t n = at + 15;
        while (n < b->len && n < at + 20 && b->data[n] != (unsigned char)quote_mark)
            n++;
        if (find_text(b, "<svg", 4096) != SIZE_MAX) {
            found(k, "SVG Scalable Vector Graphics image", "image/svg+xml");
            k->whole = true;
            return true;
        }
        if (find_text(b, "<html", 1024) != SIZE_MAX)
            return found(k, "XML document text", "text/xml"), buf_clear(&k->text), buf_printf(&k->text, "XML %.*s document text", (int)(n - at - 15), (const char *)b->data + at + 15), true;
        buf_printf(&k->text, "XML %.*s document text", (int)(n - at - 15), (const char *)b->data + at + 15);
        k->mime = "text/xml";
        return true;
    }
    if (starts_nocase(b, at, "<svg")) {
        found(k, "SVG Scalable Vector Graphics image", "image/svg+xml");
        k->whole = true;
        return true;
    }
    for (size_t i = 0; i < ARRAY_LEN(html); i++)
        if (starts_nocase(b, at, html[i]))
            return found(k, "HTML document text", "text/html"), true;
    return false;
}

static bool program(const Bytes *b, Kind *k)
{
    if (HAS(b, 0, "<?php"))
        return found(k, "PHP script text", "text/x-php"), true;
    if (line_begins(b, "--- ", 4096) && line_begins(b, "+++ ", 4096) && line_begins(b, "@@ ", 8192))
        return found(k, "unified diff output text", "text/x-diff"), true;
    if (line_begins(b, "*** ", 512) && line_begins(b, "--- ", 8192) && line_begins(b, "***************", 1024))
        return found(k, "context diff output text", "text/x-diff"), true;
    if (line_begins(b, "#include", 8192))
        return found(k, line_begins(b, "class ", 8192) || line_begins(b, "using namespace", 8192) || line_begins(b, "template", 8192) ? "C++ source text" : "C source text",
                     line_begins(b, "class ", 8192) || line_begins(b, "using namespace", 8192) || line_begins(b, "template", 8192) ? "text/x-c++" : "text/x-c"), true;
    if (line_begins(b, "#pragma", 8192) || ((line_begins(b, "#ifndef ", 8192) || line_begins(b, "#ifdef ", 8192)) && line_begins(b, "#endif", 8192)))
        return found(k, "C source text", "text/x-c"), true;
    bool imports = line_begins(b, "import ", 4096) || line_begins(b, "from ", 4096), defines = line_begins(b, "def ", 8192);
    if ((line_begins(b, "from ", 4096) && find_text(b, " import ", 4096) != SIZE_MAX) || (defines && find_text(b, "):\n", 8192) != SIZE_MAX && imports))
        return found(k, "Python script text executable", "text/x-script.python"), true;
    if (line_begins(b, ".PHONY", 4096) || line_begins(b, "all:", 4096))
        return found(k, "makefile script text", "text/x-makefile"), true;
    if (line_begins(b, "\\documentclass", 4096))
        return found(k, "LaTeX 2e document text", "text/x-tex"), true;
    return false;
}

static bool keys(const Bytes *b, Kind *k)
{
    static const struct { const char *begin, *text, *mime; } list[] = {
        {"-----BEGIN CERTIFICATE-----", "PEM certificate", NULL}, {"-----BEGIN RSA PRIVATE", "PEM RSA private key", NULL},
        {"-----BEGIN OPENSSH PRIVATE KEY", "OpenSSH private key", NULL}, {"-----BEGIN EC PRIVATE", "PEM EC private key", NULL},
        {"-----BEGIN CERTIFICATE REQUEST", "PEM certificate request", NULL}, {"ssh-rsa ", "OpenSSH RSA public key", NULL},
        {"-----BEGIN PGP PUBLIC KEY BLOCK-", "PGP public key block Public-Key (old)", "application/pgp-keys"},
        {"ssh-ed25519 ", "OpenSSH ED25519 public key", NULL}, {"ssh-dss ", "OpenSSH DSA public key", NULL}, {"{\\rtf1", "Rich Text Format data, version 1, ANSI", "text/rtf"},
    };
    for (size_t i = 0; i < ARRAY_LEN(list); i++)
        if (has(b, 0, list[i].begin, strlen(list[i].begin))) {
            found(k, list[i].text, list[i].mime ? list[i].mime : "text/plain");
            k->whole = true;
            return true;
        }
    return false;
}

static bool postscript(const Bytes *b, Kind *k)
{
    if (!HAS(b, 0, "%!PS-Adobe-"))
        return false;
    Slice version = {(const char *)b->data + 11, MIN(b->len - 11, 3)};
    buf_printf(&k->text, "PostScript document text conforming DSC level %.*s", (int)version.len, version.data);
    k->mime = "application/postscript";
    k->whole = true;
    return true;
}

bool kind_language(Proc *p, const Bytes *b, Kind *k)
{
    proc_tick(p, 1 + MIN(b->len, 8192) / 16);
    return interpreter(b, k) || keys(b, k) || postscript(b, k) || markup(b, k) || program(b, k);
}

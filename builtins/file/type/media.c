/* file(1): pictures and sound. */
#include "type.h"

static void begin(Kind *k, const char *text, const char *mime, const char *extensions)
{
    buf_append(&k->text, slice_str(text));
    k->mime = mime;
    k->extensions = extensions;
}

static bool png(const Bytes *b, Kind *k)
{
    static const char *const colours[] = {" grayscale", NULL, "/color RGB", " colormap", " gray+alpha", NULL, "/color RGBA"};
    if (!HAS(b, 0, "\x89PNG\r\n\x1A\n"))
        return false;
    begin(k, "PNG image data", "image/png", "png");
    if (!HAS(b, 12, "IHDR"))
        return true;
    unsigned colour = u8_at(b, 25);
    buf_printf(&k->text, ", %u x %u, %u-bit", be32(b, 16), be32(b, 20), u8_at(b, 24));
    if (colour < ARRAY_LEN(colours) && colours[colour])
        buf_append(&k->text, slice_str(colours[colour]));
    buf_append(&k->text, slice_str(u8_at(b, 28) ? ", interlaced" : ", non-interlaced"));
    return true;
}

static bool gif(const Bytes *b, Kind *k)
{
    if (!HAS(b, 0, "GIF8"))
        return false;
    begin(k, "GIF image data", "image/gif", "gif");
    buf_printf(&k->text, ", version 8%.*s, %u x %u", 2, (const char *)b->data + 4, le16(b, 6), le16(b, 8));
    return true;
}

static void jpeg_segment(const Bytes *b, size_t at, Kind *k)
{
    unsigned kind = u8_at(b, at + 1);
    if (kind == 0xFE && be16(b, at + 2) > 2) {
        size_t n = MIN(be16(b, at + 2) - 2u, b->len - MIN(at + 4, b->len));
        Slice comment = {(const char *)b->data + at + 4, n};
        comment.len = slice_find(comment, 0);
        buf_printf(&k->text, ", comment: \"%.*s\"", (int)comment.len, comment.data);
    }
    if (kind >= 0xC0 && kind <= 0xC2) {
        static const char *const names[] = {"baseline", "extended sequential", "progressive"};
        buf_printf(&k->text, ", %s, precision %u, %ux%u, components %u", names[kind - 0xC0], u8_at(b, at + 4), be16(b, at + 7), be16(b, at + 5), u8_at(b, at + 9));
    }
}

static bool jpeg(const Bytes *b, Kind *k)
{
    static const char *const units[] = {", aspect ratio", ", resolution (DPI)", ", resolution (DPCM)"};
    if (!HAS(b, 0, "\xFF\xD8\xFF"))
        return false;
    begin(k, "JPEG image data", "image/jpeg", "jpeg/jpg/jpe/jfif");
    if (HAS(b, 6, "JFIF\0")) {
        buf_printf(&k->text, ", JFIF standard %u.%02u", u8_at(b, 11), u8_at(b, 12));
        if (u8_at(b, 13) < 3)
            buf_append(&k->text, slice_str(units[u8_at(b, 13)]));
        buf_printf(&k->text, ", density %ux%u, segment length %u", be16(b, 14), be16(b, 16), be16(b, 4));
        if (u8_at(b, 18))
            buf_printf(&k->text, ", thumbnail %ux%u", u8_at(b, 18), u8_at(b, 19));
    }
    for (size_t at = 2; at + 4 < b->len && b->data[at] == 0xFF && b->data[at + 1] != 0xDA; at += 2 + MAX(be16(b, at + 2), 2u))
        jpeg_segment(b, at, k);
    return true;
}

static bool bmp(const Bytes *b, Kind *k)
{
    uint32_t header = le32(b, 14);
    if (!HAS(b, 0, "BM") || b->len < 26)
        return false;
    const char *name = header == 40 ? "Windows 3.x format" : header == 108 ? "Windows 95/NT4 and newer format" : header == 124 ? "Windows 98/2000 and newer format" : header == 12 ? "OS/2 1.x format" : NULL;
    if (!name)
        return false;
    begin(k, "PC bitmap", "image/bmp", "bmp");
    buf_printf(&k->text, ", %s, ", name);
    if (header == 12) {
        buf_printf(&k->text, "%u x %u", le16(b, 18), le16(b, 20));
        return true;
    }
    buf_printf(&k->text, "%d x %d x %u", (int)le32(b, 18), (int)le32(b, 22), le16(b, 28));
    if (le32(b, 30) == 1 || le32(b, 30) == 2)
        buf_printf(&k->text, ", %u bit RLE", le32(b, 30) == 1 ? 8 : 4);
    if (le32(b, 34))
        buf_printf(&k->text, ", image size %u", le32(b, 34));
    if (le32(b, 38))
        buf_printf(&k->text, ", resolution %u x %u px/m", le32(b, 38), le32(b, 42));
    if (le32(b, 46))
        buf_printf(&k->text, ", %u important colors", le32(b, 46));
    buf_printf(&k->text, ", cbSize %u, bits offset %u", le32(b, 2), le32(b, 10));
    return true;
}

static void webp(const Bytes *b, Kind *k)
{
    begin(k, ", Web/P image", "image/webp", "webp");
    if (!HAS(b, 12, "VP8 "))
        return;
    static const char *const scales[] = {"none", "5/4", "5/3", "2"};
    unsigned w = le16(b, 26), h = le16(b, 28);
    buf_printf(&k->text, ", VP8 encoding, %ux%u, Scaling: [%s]x[%s], YUV color, decoders should clamp", w & 0x3FFF, h & 0x3FFF, scales[w >> 14], scales[h >> 14]);
}

static void wave(const Bytes *b, Kind *k)
{
    begin(k, ", WAVE audio", "audio/x-wav", "wav/wave");
    if (le16(b, 20) == 1)
        buf_printf(&k->text, ", Microsoft PCM");
    if (le16(b, 34))
        buf_printf(&k->text, ", %u bit", le16(b, 34));
    unsigned channels = le16(b, 22);
    if (channels == 1 || channels == 2)
        buf_printf(&k->text, ", %s", channels == 1 ? "mono" : "stereo");
    else
        buf_printf(&k->text, ", %u channels", channels);
    buf_printf(&k->text, " %u Hz", le32(b, 24));
}

static bool riff(const Bytes *b, Kind *k)
{
    if (!HAS(b, 0, "RIFF"))
        return false;
    begin(k, "RIFF (little-endian) data", "application/octet-stream", NULL);
    if (HAS(b, 8, "WEBP"))
        webp(b, k);
    else if (HAS(b, 8, "WAVE"))
        wave(b, k);
    else if (HAS(b, 8, "AVI "))
        begin(k, ", AVI", "video/x-msvideo", "avi/divx");
    return true;
}

static bool tiff(const Bytes *b, Kind *k)
{
    bool big = HAS(b, 0, "MM\0*");
    if (!big && !HAS(b, 0, "II*\0"))
        return false;
    begin(k, "TIFF image data", "image/tiff", "tif/tiff");
    uint32_t at = big ? be32(b, 4) : le32(b, 4);
    buf_printf(&k->text, ", %s-endian, direntries=%u", big ? "big" : "little", big ? be16(b, at) : le16(b, at));
    return true;
}

static bool sound(const Bytes *b, Kind *k)
{
    if (HAS(b, 0, "ID3")) {
        begin(k, "Audio file with ID3 version 2.", "audio/mpeg", "mp3");
        buf_printf(&k->text, "%u.%u", u8_at(b, 3), u8_at(b, 4));
        if (b->len < 20)
            k->mime = "application/octet-stream";
        return true;
    }
    if (HAS(b, 4, "ftypisom") || HAS(b, 4, "ftypmp42") || HAS(b, 4, "ftypM4A")) {
        begin(k, "ISO Media, ", "video/mp4", "mp4");
        buf_append(&k->text, slice_str(HAS(b, 8, "isom") ? "MP4 Base Media v1 [ISO 14496-12:2003]" : HAS(b, 8, "mp42") ? "MP4 v2 [ISO 14496-14]" : "Apple iTunes ALAC/AAC-LC (.M4A) Audio"));
        return true;
    }
    return false;
}

bool kind_media(Proc *p, const Bytes *b, Kind *k)
{
    proc_tick(p, 1);
    return png(b, k) || gif(b, k) || jpeg(b, k) || bmp(b, k) || riff(b, k) || tiff(b, k) || sound(b, k);
}

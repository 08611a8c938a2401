#!/usr/bin/env python3
"""Writes builtins/text/iconv/tables.h: the one-byte character sets, from Python's codecs."""
SETS = [("ISO-8859-%d" % n, "iso8859_%d" % n) for n in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14, 15, 16)]
SETS += [("CP%d" % n, "cp%d" % n) for n in (437, 850, 852, 855, 866, 874, 1250, 1251, 1252, 1253, 1254, 1255, 1256, 1257, 1258)]
SETS += [("KOI8-R", "koi8_r"), ("KOI8-U", "koi8_u"), ("MACINTOSH", "mac_roman")]


def meaning(byte, codec):
    try:
        return ord(bytes([byte]).decode(codec))
    except UnicodeDecodeError:
        return 0


print("/* iconv: what the bytes from 0x80 on mean in the one-byte character sets; 0: nothing. Written by test/gen/charsets.py. */")
print("#ifndef LIBSHELL_ICONV_TABLES_H\n#define LIBSHELL_ICONV_TABLES_H\n\n#include <stdint.h>\n")
print("static const struct { const char *name; uint16_t high[128]; } one_byte[] = {")
for name, codec in SETS:
    row = ["0x%X" % c if c else "0" for c in (meaning(b, codec) for b in range(128, 256))]
    print('    {"%s", {' % name)
    for i in range(0, 128, 16):
        print("        " + ", ".join(row[i:i + 16]) + ",")
    print("    }},")
print("};\n\n#endif")

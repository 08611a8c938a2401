/* utf8: against the C library's C.UTF-8 over every code point, and the decoder against mbrtowc. */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <wchar.h>
#include <wctype.h>

#include <cmocka.h>

#include "lib/base/utf8.h"

static const char *const names[] = {"alnum", "alpha", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper", "xdigit"};

static void classes_agree_with_libc(void **state)
{
    (void)state;
    for (unsigned i = 0; i < ARRAY_LEN(names); i++) {
        CharClass class = class_named(slice_str(names[i]));
        wctype_t reference = wctype(names[i]);
        for (uint32_t c = 0; c <= 0x10FFFF; c++)
            if (class_has(class, c) != (iswctype(c, reference) != 0))
                fail_msg("class %s differs at U+%04X", names[i], c);
    }
    assert_int_equal(class_named(SLICE("alphabet")), CLASS_NONE);
    assert_false(class_has(CLASS_PRINT, UTF8_BAD));
}

static void case_and_width_agree_with_libc(void **state)
{
    (void)state;
    for (uint32_t c = 0; c <= 0x10FFFF; c++) {
        assert_int_equal(char_upper(c), towupper(c));
        assert_int_equal(char_lower(c), towlower(c));
        assert_int_equal(utf8_width(c), wcwidth((wchar_t)c));
    }
}

static void decoder_agrees_with_libc(void **state)
{
    (void)state;
    srand(7);
    for (int round = 0; round < 400000; round++) {
        char s[6] = {0};
        size_t len = 1 + (size_t)(rand() % 4), n;
        for (size_t i = 0; i < len; i++)
            s[i] = (char)(rand() % 3 ? 0x80 + rand() % 128 : rand());
        if (round < 0x10FFFF / 4)
            len = utf8_encode((uint32_t)round * 4, s);
        wchar_t w = 0;
        mbstate_t mb = {0};
        size_t r = mbrtowc(&w, s, len, &mb);
        uint32_t c = utf8_decode(s, len, &n);
        /* glibc lets surrogates and what is above 0x10FFFF through; nothing else does. */
        if (r == (size_t)-1 || r == (size_t)-2 || w > 0x10FFFF || (w >= 0xD800 && w < 0xE000)) {
            assert_int_equal(c, UTF8_BAD);
            assert_int_equal(n, 1);
        } else {
            assert_int_equal(c, (uint32_t)w);
            assert_int_equal(n, r ? r : 1);
        }
    }
}

static void slices(void **state)
{
    (void)state;
    Slice s = SLICE("a\xC3\xA9\xFFz");
    assert_int_equal(utf8_count(s), 4);
    assert_int_equal(utf8_offset(s, 2), 3);
    assert_int_equal(utf8_offset(s, 9), 5);
    assert_false(utf8_valid(s));
    assert_false(slice_ascii(s));
    assert_true(slice_ascii(SLICE("")));
    char long_text[100];
    memset(long_text, 'x', sizeof long_text);
    assert_true(slice_ascii(slice(long_text, sizeof long_text)));
    for (size_t i = 0; i < sizeof long_text; i++) {
        long_text[i] = (char)0x80;
        assert_false(slice_ascii(slice(long_text, sizeof long_text)));
        long_text[i] = 'x';
    }
    char out[6];
    assert_int_equal(utf8_encode(0x7FFFFFFF, out), 6);
    assert_memory_equal(out, "\xFD\xBF\xBF\xBF\xBF\xBF", 6);
}

int main(void)
{
    setlocale(LC_ALL, "C.UTF-8");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_agree_with_libc),
        cmocka_unit_test(case_and_width_agree_with_libc),
        cmocka_unit_test(decoder_agrees_with_libc),
        cmocka_unit_test(slices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* arith: what compiles, and that the compiled form has the value of the text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "lib/lang/arith.h"
#include "lib/lang/arith_node.h"

static Arith *compile(Mem *m, const char *text)
{
    WordPart part = {.kind = PART_LITERAL, .text = slice_str(text)};
    Word word = {.parts = &part, .count = 1, .source = part.text};
    return arith_compile(m, &word);
}

static void test_compiles(void **state)
{
    (void)state;
    static const char *const good[] = {"1", "a", "i+1", "a=b=c", "x++ + --y", "(1,2)", "a[i+1]*2", "1?2:3", "!a&&~b||-c", "x<<=2", "2**3**2",
                                       "a == 1 != 0", "16#ff", " 1 + 2 "};
    static const char *const bad[] = {"", "1+", "1 2", "a b", "1++", "(1", "1?2", "1=2", "08", "a[", "'1'", "@", "x=", "1?:3", "++1"};
    Mem m;
    mem_init(&m, NULL, NULL, NULL);
    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        assert_non_null(compile(&m, good[i]));
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_null(compile(&m, bad[i]));
    mem_drop(&m);
}

static void test_depth(void **state)
{
    (void)state;
    char deep[4001];
    memset(deep, '(', 2000);
    memset(deep + 2000, ')', 2000);
    deep[4000] = 0;
    Mem m;
    mem_init(&m, NULL, NULL, NULL);
    assert_null(compile(&m, deep));
    mem_drop(&m);
}

static void test_numbers(void **state)
{
    (void)state;
    int64_t v;
    assert_null(arith_number(SLICE("0x1F"), &v));
    assert_int_equal(v, 31);
    assert_null(arith_number(SLICE("017"), &v));
    assert_int_equal(v, 15);
    assert_null(arith_number(SLICE("36#Zz"), &v));
    assert_int_equal(v, 1295);
    assert_null(arith_number(SLICE("64#_@"), &v));
    assert_int_equal(v, 4094);
    assert_string_equal(arith_number(SLICE("08"), &v), "value too great for base");
    assert_string_equal(arith_number(SLICE("65#1"), &v), "invalid arithmetic base");
    assert_string_equal(arith_number(SLICE("2#"), &v), "invalid integer constant");
}

static void test_operators(void **state)
{
    (void)state;
    int64_t v;
    assert_true(arith_apply('/', INT64_MIN, -1, &v));
    assert_true(v == INT64_MIN);
    assert_true(arith_apply('%', INT64_MIN, -1, &v));
    assert_int_equal(v, 0);
    assert_false(arith_apply('/', 1, 0, &v));
    assert_false(arith_apply('%', 1, 0, &v));
    assert_true(arith_apply('L', 1, 65, &v));
    assert_int_equal(v, 2);
    assert_true(arith_power(2, 10) == 1024);
    assert_true(arith_power(3, 0) == 1);
}

static void test_no_memory(void **state)
{
    (void)state;
    for (uint64_t n = 1; n < 4; n++) {
        Budget b = {.fail_at = n, .fail_forever = true};
        Mem m;
        mem_init(&m, &b, NULL, NULL);
        compile(&m, "a[1]+b[2]*c[3]-d[4]"); /* NULL or not: it must come back */
        mem_drop(&m);
        assert_int_equal(b.used, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_compiles), cmocka_unit_test(test_depth), cmocka_unit_test(test_numbers), cmocka_unit_test(test_operators),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

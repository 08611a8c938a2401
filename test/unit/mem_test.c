/* mem: arenas, marks, the ledger, buffers; and the insertion-ordered map that lives in them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "lib/base/map.h"

static void allocations_are_apart(void **state)
{
    (void)state;
    Budget budget = {0};
    Mem m;
    mem_init(&m, &budget, NULL, NULL);
    enum { COUNT = 4000 };
    static unsigned char *at[COUNT];
    static size_t size[COUNT];
    srand(1);
    for (int i = 0; i < COUNT; i++) {
        size[i] = (size_t)(rand() % (i % 50 ? 200 : 100000));
        at[i] = mem_alloc(&m, size[i]);
        assert_int_equal((uintptr_t)at[i] % MEM_ALIGN, 0);
        memset(at[i], i & 255, size[i]);
    }
    for (int i = 0; i < COUNT; i++)
        for (size_t k = 0; k < size[i]; k++)
            assert_int_equal(at[i][k], i & 255);
    assert_true(budget.used > 0 && budget.peak >= budget.used);
    mem_drop(&m);
    assert_int_equal(budget.used, 0);
}

static void loops_stay_flat(void **state)
{
    (void)state;
    Budget budget = {0};
    Mem m;
    mem_init(&m, &budget, NULL, NULL);
    char *kept = mem_strdup(&m, "kept");
    uint64_t after_first = 0;
    for (int i = 0; i < 5000; i++) {
        MemMark mark = mem_mark(&m);
        for (int k = 0; k < 20; k++)
            memset(mem_alloc(&m, (size_t)(k * 300)), 1, (size_t)(k * 300));
        mem_reset(&m, mark);
        if (i == 0)
            after_first = budget.used;
        assert_true(budget.used <= after_first + 64 * 1024);
    }
    assert_string_equal(kept, "kept");
    mem_drop(&m);
}

static int refusals;
static void on_refusal(void *user) { *(int *)user += 1; }

static void limits_and_torture(void **state)
{
    (void)state;
    Budget budget = {.limit = 10000};
    Mem m;
    mem_init(&m, &budget, on_refusal, &refusals);
    assert_non_null(mem_alloc(&m, 5000));
    assert_null(mem_alloc(&m, 6000));
    assert_null(mem_alloc(&m, SIZE_MAX - 3));
    assert_null(mem_alloc_array(&m, SIZE_MAX / 2, 3));
    assert_int_equal(refusals, 3);
    assert_true(budget.refused);
    mem_drop(&m);
    budget = (Budget){.fail_at = 3, .fail_forever = true};
    mem_init(&m, &budget, NULL, NULL);
    assert_non_null(mem_alloc(&m, 70000));
    assert_non_null(mem_alloc(&m, 70000));
    assert_null(mem_alloc(&m, 70000));
    assert_null(mem_alloc(&m, 70000));
    mem_drop(&m);
    assert_int_equal(budget.used, 0);
}

static void growing(void **state)
{
    (void)state;
    Mem m;
    mem_init(&m, NULL, NULL, NULL);
    char *p = mem_copy(&m, SLICE("abc"));
    char *q = mem_grow(&m, p, 4, 100);
    assert_string_equal(q, "abc");
    mem_alloc(&m, 8);
    char *r = mem_grow(&m, q, 100, 200);
    assert_string_equal(r, "abc");
    assert_ptr_equal(mem_grow(&m, r, 200, 100), r);
    assert_string_equal(mem_printf(&m, "%s-%d", "x", 7), "x-7");
    mem_drop(&m);
}

static void buffers(void **state)
{
    (void)state;
    Mem m;
    mem_init(&m, NULL, NULL, NULL);
    Buf b;
    buf_init(&b, &m, 1000);
    for (int i = 0; i < 400; i++)
        assert_true(buf_char(&b, (char)('a' + i % 26)));
    assert_true(buf_append(&b, buf_slice(&b))); /* its own bytes, while it moves */
    assert_memory_equal(b.data, b.data + 400, 400);
    assert_true(buf_printf(&b, "%05d", 42));
    assert_string_equal(b.data + 800, "00042");
    assert_false(buf_append(&b, slice(b.data, 300)));
    assert_true(b.failed);
    assert_false(buf_char(&b, 'x') && b.len > 1000);
    assert_int_equal(b.data[b.len], 0);
    char digits[24];
    size_t len;
    const struct { int64_t v; const char *text; } numbers[] = {{0, "0"}, {-1, "-1"}, {INT64_MAX, "9223372036854775807"}, {INT64_MIN, "-9223372036854775808"}};
    for (unsigned i = 0; i < ARRAY_LEN(numbers); i++) {
        assert_string_equal(format_int(numbers[i].v, digits, &len), numbers[i].text);
        assert_int_equal(len, strlen(numbers[i].text));
    }
    mem_drop(&m);
}

/* Against an array: order of insertion, replacement, removal, return of a removed key at the end. */
static void map_against_a_model(void **state)
{
    (void)state;
    enum { KEYS = 300 };
    static uintptr_t model[KEYS];
    static uint64_t order[KEYS];
    uint64_t clock = 0;
    Mem m;
    Map map;
    mem_init(&m, NULL, NULL, NULL);
    map_init(&map, &m);
    srand(5);
    for (int i = 0; i < 60000; i++) {
        unsigned k = (unsigned)rand() % KEYS;
        char name[16];
        Slice key = slice(name, (size_t)snprintf(name, sizeof name, "key%u", k));
        if (rand() % 3) {
            MapEntry *e = map_put(&map, key);
            if (!model[k])
                order[k] = ++clock, assert_null(e->value);
            model[k] = (uintptr_t)rand() | 1;
            e->value = (void *)model[k];
        } else {
            assert_int_equal(map_remove(&map, key), model[k] != 0);
            model[k] = 0;
        }
        const MapEntry *e = map_get(&map, key);
        assert_int_equal(e ? (uintptr_t)e->value : 0, model[k]);
    }
    size_t live = 0;
    uint64_t last = 0;
    for (size_t i = 0; i < map.count; i++) {
        if (!map.entries[i].key.data)
            continue;
        unsigned k = (unsigned)atoi(map.entries[i].key.data + 3);
        assert_int_equal((uintptr_t)map.entries[i].value, model[k]);
        assert_true(order[k] > last);
        last = order[k];
        live++;
    }
    assert_int_equal(live, map.live);
    mem_drop(&m);
}

static void finding(void **state)
{
    (void)state;
    srand(9);
    for (int i = 0; i < 60000; i++) {
        char hay[400], needle[8];
        size_t n = (size_t)rand() % sizeof hay, k = (size_t)rand() % sizeof needle;
        for (size_t j = 0; j < n; j++)
            hay[j] = "ab e"[rand() % 4];
        for (size_t j = 0; j < k; j++)
            needle[j] = "ab e"[rand() % 4];
        char *exact = malloc(n ? n : 1); /* so that ASan sees a read beyond it */
        memcpy(exact, hay, n);
        const char *want = k ? memmem(exact, n, needle, k) : exact;
        size_t at = slice_search(slice(exact, n), slice(needle, k));
        assert_int_equal(at, want ? (size_t)(want - exact) : SIZE_MAX);
        free(exact);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocations_are_apart), cmocka_unit_test(loops_stay_flat), cmocka_unit_test(limits_and_torture), cmocka_unit_test(growing),
        cmocka_unit_test(buffers),               cmocka_unit_test(map_against_a_model), cmocka_unit_test(finding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

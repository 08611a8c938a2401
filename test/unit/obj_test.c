/* obj and pmap: counting within a generation, freezing across, and the trie against a model with random operations, clones in three
 * generations and allocations that fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "lib/base/pmap.h"

static int released;
static void release(void *thing) { released += *(int *)thing; }

static void generations(void **state)
{
    (void)state;
    Budget memory = {0}, files = {0};
    Gen *old = gen_new(&memory, &files, NULL);
    assert_true(gen_clean(old));
    Str *s = str_new(old, SLICE("shared"));
    Chunk *c = chunk_new(old, 5000);
    assert_true(obj_mine(old, s));
    assert_true(memory.used > 0 && files.used >= 5000);
    gen_retire(old);
    assert_int_equal(memory.used, 0);
    assert_int_equal(files.used, 0);
    Gen *a = gen_new(&memory, &files, old), *b = gen_new(&memory, &files, old);
    gen_unref(old);
    assert_false(obj_mine(a, s));
    obj_ref(a, s);
    assert_int_equal(s->obj.refs, 1); /* frozen: not counted */
    Str *mine = s;
    assert_int_equal(str_append(a, &mine, SLICE(" and more")), 0);
    assert_ptr_not_equal(mine, s);
    assert_string_equal(mine->data, "shared and more");
    assert_string_equal(s->data, "shared");
    chunk_unref(b, c);
    int one = 1;
    Hold *h = hold_new(a, release, &one), *kept = hold_new(a, release, &one);
    hold_unref(a, h);
    assert_int_equal(released, 1);
    (void)kept;
    gen_unref(a);
    assert_int_equal(released, 2);
    gen_unref(b);
    assert_int_equal(memory.used, 0);
    assert_int_equal(files.used, 0);
}

static void strings_grow_in_place(void **state)
{
    (void)state;
    Budget memory = {0};
    Gen *g = gen_new(&memory, NULL, NULL);
    Str *s = str_new(g, SLICE("x"));
    for (int i = 0; i < 12; i++)
        assert_int_equal(str_append(g, &s, str_slice(s)), 0); /* its own bytes, while it moves */
    assert_int_equal(s->len, 4096);
    for (size_t i = 0; i < s->len; i++)
        assert_int_equal(s->data[i], 'x');
    str_unref(g, s);
    assert_int_equal(memory.used, 0);
    memory.limit = 1000;
    assert_null(chunk_new(g, SIZE_MAX - 8));
    assert_null(str_new(g, slice(NULL, 2000)));
    gen_unref(g);
}

static void sizes_and_resizes(void **state)
{
    (void)state;
    Budget memory = {0};
    Gen *g = gen_new(&memory, NULL, NULL);
    enum { COUNT = 500 };
    static unsigned char *at[COUNT];
    static size_t size[COUNT];
    srand(2);
    for (int i = 0; i < 40000; i++) {
        int k = rand() % COUNT;
        size_t n = sizeof(Obj) + (size_t)(rand() % (rand() % 10 ? 600 : 5000));
        if (!at[k]) {
            at[k] = obj_alloc(g, n);
        } else if (rand() % 2) {
            at[k] = obj_resize(g, at[k], n);
            for (size_t j = sizeof(Obj); j < MIN(size[k], n); j++)
                assert_int_equal(at[k][j], k & 255);
        } else {
            obj_free(g, at[k]);
            at[k] = NULL;
            continue;
        }
        size[k] = n;
        memset(at[k] + sizeof(Obj), k & 255, n - sizeof(Obj));
        assert_true(obj_mine(g, at[k]));
    }
    for (int k = 0; k < COUNT; k++)
        if (at[k])
            obj_free(g, at[k]);
    assert_int_equal(memory.used, 0);
    gen_unref(g);
}

/* ---- pmap ---- */

typedef struct { PEntry entry; int value; } Item;

static PEntry *item_copy(Gen *g, const PEntry *e)
{
    Item *copy = obj_alloc(g, sizeof *copy);
    if (copy)
        copy->value = ((const Item *)e)->value;
    return copy ? &copy->entry : NULL;
}
static void item_release(Gen *g, PEntry *e) { (void)g, (void)e; }
static const PMapOps ops = {item_copy, item_release};

enum { KEYS = 400, MAPS = 4 };

/* Few distinct hashes, some agreeing in all the bits the trie uses, so that buckets are met. */
static uint64_t hash_of(unsigned k) { return k % 7 == 0 ? 0x123456789abcdefu + ((uint64_t)(k % 3) << 61) : k * 0x9E3779B97F4A7C15u; }

static PEntry *item_new(Gen *g, Slice key, uint64_t hash, int value)
{
    Item *item = obj_alloc(g, sizeof *item);
    Str *name = item ? str_new(g, key) : NULL;
    if (!name) {
        if (item)
            obj_free(g, item);
        return NULL;
    }
    item->entry.hash = hash;
    item->entry.key = name;
    item->value = value;
    return &item->entry;
}

typedef struct { PMap map; int value[KEYS]; } Model;

static int count_value(void *user, PEntry *e)
{
    *(size_t *)user += 1;
    return ((Item *)e)->value == -1;
}

static void check(const Model *m)
{
    size_t live = 0, seen = 0;
    for (unsigned k = 0; k < KEYS; k++) {
        char name[16];
        Slice key = slice(name, (size_t)snprintf(name, sizeof name, "k%u", k));
        const PEntry *e = pmap_get(&m->map, key, hash_of(k));
        assert_int_equal(e ? ((const Item *)e)->value : 0, m->value[k]);
        live += m->value[k] != 0;
    }
    assert_int_equal(pmap_each(&m->map, count_value, &seen), 0);
    assert_int_equal(seen, live);
    assert_int_equal(m->map.count, live);
}

static void random_step(Gen *g, Model *models)
{
    Model *m = &models[rand() % MAPS];
    unsigned k = (unsigned)rand() % KEYS;
    char name[16];
    Slice key = slice(name, (size_t)snprintf(name, sizeof name, "k%u", k));
    int value = 1 + rand() % 1000, err;
    PEntry *e;
    switch (rand() % 8) {
    case 0: case 1: case 2:
        e = item_new(g, key, hash_of(k), value);
        if (e && pmap_put(g, &m->map, &ops, e) == 0)
            m->value[k] = value;
        break;
    case 3: case 4:
        err = pmap_remove(g, &m->map, &ops, key, hash_of(k));
        assert_true(err == -ENOMEM || (err == -ENOENT) == (m->value[k] == 0));
        if (err == 0)
            m->value[k] = 0;
        break;
    case 5: case 6:
        e = pmap_own(g, &m->map, &ops, key, hash_of(k), &err);
        assert_true(err == -ENOMEM || (e != NULL) == (m->value[k] != 0));
        if (e) {
            assert_true(obj_mine(g, e));
            ((Item *)e)->value = m->value[k] = value;
        }
        break;
    default:
        if (rand() % 40 == 0) {
            Model *to = &models[rand() % MAPS];
            if (to != m) {
                pmap_drop(g, &to->map, &ops);
                *to = *m;
                to->map = pmap_clone(g, m->map);
            }
        }
    }
}

static void pmap_against_a_model(void **state)
{
    (void)state;
    static Model models[MAPS];
    srand(3);
    Budget memory = {0};
    Gen *g = gen_new(&memory, NULL, NULL);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 60000; i++) {
            if (i % 5 == 0)
                memory.fail_at = memory.takes + 1 + (uint64_t)(rand() % 6);
            random_step(g, models);
            memory.fail_at = 0;
            if (i % 997 == 0)
                for (int k = 0; k < MAPS; k++)
                    check(&models[k]);
        }
        gen_retire(g);
        Gen *next = gen_new(&memory, NULL, g);
        gen_unref(g);
        g = next;
    }
    for (int k = 0; k < MAPS; k++) {
        check(&models[k]);
        pmap_drop(g, &models[k].map, &ops);
    }
    assert_int_equal(memory.used, 0);
    gen_unref(g);
}

static void pmap_gives_everything_back(void **state)
{
    (void)state;
    static Model models[MAPS];
    Budget memory = {0};
    Gen *g = gen_new(&memory, NULL, NULL);
    for (int i = 0; i < 30000; i++) {
        if (i % 3 == 0)
            memory.fail_at = memory.takes + 1 + (uint64_t)(rand() % 4);
        random_step(g, models);
        memory.fail_at = 0;
    }
    for (int k = 0; k < MAPS; k++)
        pmap_drop(g, &models[k].map, &ops);
    assert_int_equal(memory.used, 0); /* no reference lost or kept, failures included */
    gen_unref(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(generations),          cmocka_unit_test(strings_grow_in_place),      cmocka_unit_test(sizes_and_resizes),
        cmocka_unit_test(pmap_against_a_model), cmocka_unit_test(pmap_gives_everything_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

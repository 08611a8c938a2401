/* machine_stack: the cells of the machine: values, frames, forks and the path that is followed. For machine.c alone. */
#ifndef LIBSHELL_JQ_MACHINE_STACK_H
#define LIBSHELL_JQ_MACHINE_STACK_H

#include "machine.h"

/* Cells are 16 bytes. A value takes two: the older value's place, the value. A frame takes FRAME_CELLS, its closures and its locals. */
typedef struct {
    uint32_t older, env; /* the calling frame; the one the function was defined in */
    const Func *func;
    const Ins *ret;      /* where the caller goes on */
    uint32_t size, pad;  /* cells */
} Frame;

typedef struct {
    const Func *func;
    uint32_t env, pad;
} Closure;

/* What backtracking returns to; kind is the instruction at pc. */
typedef struct {
    uint32_t older, values, frame;
    int nest;
    const Ins *pc;
    PathNode *path;
    Val path_value;
    Val data;            /* EACH: the container */
    double at, end;      /* RANGE */
    uint32_t index;      /* EACH: the next member */
    bool tracking;
    uint64_t label;
} Fork;

enum {
    VALUE_CELLS = 2,
    FRAME_CELLS = (sizeof(Frame) + sizeof(Val) - 1) / sizeof(Val),
    FORK_CELLS = (sizeof(Fork) + sizeof(Val) - 1) / sizeof(Val),
};

#define FRAME_AT(m, at) ((Frame *)(void *)((m)->cells + (at)))
#define FORK_AT(m, at) ((Fork *)(void *)((m)->cells + (at)))
#define CLOSURES(m, at) ((Closure *)(void *)((m)->cells + (at) + FRAME_CELLS))
#define LOCALS(m, at) ((m)->cells + (at) + FRAME_CELLS + FRAME_AT(m, at)->func->params)

/* ---------- cells ---------- */

static COLD void grow(Machine *m, uint32_t need)
{
    J *j = m->j;
    size_t cap = MAX((size_t)m->cap * 2, (size_t)m->cap + need);
    if (cap > UINT32_MAX / 2)
        proc_raise(j->proc, RAISE_MEMORY);
    Val *cells = jmem(j, cap * sizeof(Val));
    if (m->top)
        memcpy(cells, m->cells, m->top * sizeof(Val));
    if (m->cap)
        jmem_give(j, m->cells, m->cap * sizeof(Val));
    m->cells = cells;
    m->cap = (uint32_t)cap;
}

static inline uint32_t take(Machine *m, uint32_t n)
{
    if (unlikely(n > m->cap - m->top))
        grow(m, n);
    uint32_t at = m->top;
    m->top += n;
    return at;
}

static inline void push(Machine *m, Val v)
{
    uint32_t at = take(m, VALUE_CELLS);
    m->cells[at].bits = m->values;
    m->cells[at + 1] = v;
    m->values = at;
}

static inline Val pop(Machine *m)
{
    uint32_t at = m->values;
    Val v = m->cells[at + 1];
    m->values = (uint32_t)m->cells[at].bits;
    if (likely(at + VALUE_CELLS == m->top)) {
        m->top = at;
        return v;
    }
    return val_copy(v);
}

static inline Val *top_value(Machine *m) { return &m->cells[m->values + 1]; }
static inline bool top_is_free(const Machine *m) { return m->values + VALUE_CELLS == m->top; }

/* Replaces the top by v: in place when no fork needs it. */
static inline void replace(Machine *m, Val v)
{
    if (likely(top_is_free(m))) {
        Val old = *top_value(m);
        *top_value(m) = v;
        val_free(m->j, old);
    } else {
        m->values = (uint32_t)m->cells[m->values].bits;
        push(m, v);
    }
}

/* ---------- paths ---------- */

static inline void path_free(J *j, PathNode *p)
{
    if (p)
        val_free(j, (Val){.kind = K_PATH, .path = p});
}

static inline PathNode *path_copy(PathNode *p)
{
    if (p)
        p->refs++;
    return p;
}

static inline bool following(const Machine *m) { return unlikely(m->tracking && m->nest == 0); }

static bool intact(const Machine *m, Val v) { return !following(m) || val_identical(v, m->path_value); }

/* Owns key; value is borrowed. */
static void path_append(Machine *m, Val key, Val value)
{
    PathNode *n = jmem(m->j, sizeof *n);
    *n = (PathNode){.refs = 1, .len = (m->path ? m->path->len : 0) + 1, .parent = m->path, .key = key};
    m->path = n;
    Val old = m->path_value;
    m->path_value = val_copy(value);
    val_free(m->j, old);
}

static Val path_array(J *j, const PathNode *p)
{
    uint32_t n = p ? p->len : 0;
    Val a = arr_new(j, n);
    a.arr->len = n;
    for (uint32_t i = n; i-- > 0; p = p->parent)
        a.arr->items[i] = val_copy(p->key);
    return a;
}

/* ---------- frames and forks ---------- */

static inline uint32_t frame_up(const Machine *m, uint32_t level)
{
    uint32_t at = m->frame;
    while (level--)
        at = FRAME_AT(m, at)->env;
    return at;
}

static inline uint32_t frame_for(const Machine *m, uint32_t level) { return level == LEVEL_ROOT ? 0 : frame_up(m, level); }

/* A new frame; closures are set by the caller. */
static uint32_t enter(Machine *m, const Func *f, uint32_t env, const Ins *ret)
{
    uint32_t size = FRAME_CELLS + f->params + f->locals;
    uint32_t at = take(m, size);
    *FRAME_AT(m, at) = (Frame){.older = m->frame, .env = env, .func = f, .ret = ret, .size = size};
    for (uint32_t i = 0; i < f->locals; i++)
        m->cells[at + FRAME_CELLS + f->params + i] = VAL_NULL;
    m->frame = at;
    return at;
}

static void free_locals(Machine *m, uint32_t at)
{
    Val *v = LOCALS(m, at);
    for (uint32_t i = FRAME_AT(m, at)->func->locals; i-- > 0;)
        val_free(m->j, v[i]);
}

/* Leaves the frame: its cells go when nothing lies above them, else a fork keeps them. */
static void leave(Machine *m)
{
    uint32_t at = m->frame;
    m->frame = FRAME_AT(m, at)->older;
    if (at + FRAME_AT(m, at)->size == m->top) {
        free_locals(m, at);
        m->top = at;
    }
}

static Fork *fork_push(Machine *m, const Ins *pc)
{
    uint32_t at = take(m, FORK_CELLS);
    Fork *f = FORK_AT(m, at);
    *f = (Fork){.older = m->fork, .values = m->values, .frame = m->frame, .nest = m->nest, .pc = pc, .tracking = m->tracking};
    if (m->tracking) {
        f->path = path_copy(m->path);
        f->path_value = val_copy(m->path_value);
    }
    m->fork = at;
    return f;
}

/* Everything above the newest fork goes; the machine is as it was when the fork was made. */
static void unwind(Machine *m)
{
    J *j = m->j;
    uint32_t limit = m->fork;
    while (m->values > limit) {
        val_free(j, m->cells[m->values + 1]);
        m->values = (uint32_t)m->cells[m->values].bits;
    }
    while (m->frame > limit) {
        free_locals(m, m->frame);
        m->frame = FRAME_AT(m, m->frame)->older;
    }
    Fork *f = FORK_AT(m, limit);
    m->values = f->values;
    m->frame = f->frame;
    m->nest = f->nest;
    if (m->tracking || f->tracking) {
        path_free(j, m->path);
        val_free(j, m->path_value);
        m->path = path_copy(f->path);
        m->path_value = val_copy(f->path_value);
        m->tracking = f->tracking;
    }
    m->top = limit + FORK_CELLS;
}

/* Removes the newest fork, whose state has been restored. */
static void fork_pop(Machine *m)
{
    Fork *f = FORK_AT(m, m->fork);
    val_free(m->j, f->data);
    path_free(m->j, f->path);
    val_free(m->j, f->path_value);
    m->top = m->fork;
    m->fork = f->older;
}

#endif

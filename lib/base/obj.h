/* Counted objects and generations: how shells, subshells and images share state in constant time.
 *
 * Every persistent structure (variables, functions, inode and directory trees, file data) is made of
 * objects that begin with Obj. An object belongs to the generation (Gen) that made it, and is memory of that generation.
 *
 *   - Inside its own generation it is counted, without atomics: one shell is one thread at a time.
 *     obj_mine(): in my generation and held once, so it may be changed in place.
 *   - Seen from another generation it is frozen: neither counted nor changed; who wants to change it
 *     copies it. It stays alive because a generation holds its parent.
 *
 * Fork of a live shell: gen_retire() closes the generation, and both shells continue in fresh
 * generations whose parent it is. When the last of them is gone all memory of the retired one goes at once, whatever
 * still points into it. So closing a shell does not walk its trees. What is not an Obj (an AST, a mount) is kept
 * by a Hold, which is released with its last reference or with the generation.
 * Subshells stay in their shell's generation and share by counting. The rule for everybody: a Gen * is asked for afresh
 * (kern_gen, vfs_gen) after anything that may block or end a run; it is not kept.
 *
 * Memory is charged to the generation's budgets while it is live; a retired one charges nobody.
 * Failure: obj_alloc returns NULL; nothing here raises. Threads: a live generation has one thread;
 * references to generations are atomic.
 */
#ifndef LIBSHELL_OBJ_H
#define LIBSHELL_OBJ_H

#include "mem.h"

typedef struct Gen Gen;

typedef struct Obj {
    Gen *gen;
    uint32_t refs;
    uint32_t units; /* size in 16-byte units */
} Obj;

/* A live generation over `parent` (may be NULL; a reference to it is taken). Objects charge `memory`, chunks charge `files`
 * (either may be NULL). The caller has one reference. NULL when out of memory. */
Gen *gen_new(Budget *memory, Budget *files, Gen *parent);
Gen *gen_ref(Gen *g);
/* Gives up one reference; the last one frees everything the generation made, then lets go of its parent. */
void gen_unref(Gen *g);
/* No more changes from here on; what it charged is given back. The caller keeps its reference. */
void gen_retire(Gen *g);
/* True when g has made nothing: a fork then shares g's parent and need not retire g. */
bool gen_clean(const Gen *g);
Gen *gen_parent(const Gen *g);
Budget *gen_memory(const Gen *g);

/* An object of `size` bytes (header included) with one reference; uninitialised after the header. */
void *obj_alloc(Gen *g, size_t size);
/* Resizes an object that is obj_mine; may move it. NULL leaves the old one as it was. */
void *obj_resize(Gen *g, void *obj, size_t size);
void obj_free(Gen *g, void *obj);

static inline bool obj_mine(const Gen *g, const void *obj)
{
    const Obj *o = obj;
    return o->gen == g && o->refs == 1;
}

static inline void *obj_ref(Gen *g, void *obj)
{
    Obj *o = obj;
    if (o->gen == g)
        o->refs++;
    return obj;
}

/* True when that was the last reference: the caller releases what the object holds, then obj_free. */
static inline bool obj_unref(Gen *g, void *obj)
{
    Obj *o = obj;
    return o->gen == g && --o->refs == 0;
}

/* Keeps a thing that is no Obj. `release` runs once. */
typedef struct Hold {
    Obj obj;
    struct Hold *prev, *next;
    void (*release)(void *thing);
    void *thing;
} Hold;

Hold *hold_new(Gen *g, void (*release)(void *thing), void *thing); /* NULL: no memory, nothing released */
void hold_unref(Gen *g, Hold *h);

/* A counted string: NUL-terminated, may hold any byte but NUL where it is a shell value. */
typedef struct Str {
    Obj obj;
    size_t len, cap; /* cap excludes the NUL */
    char data[];
} Str;

Str *str_new(Gen *g, Slice s);
static inline Slice str_slice(const Str *s) { return (Slice){s->data, s->len}; }
static inline void str_unref(Gen *g, Str *s)
{
    if (s && obj_unref(g, s))
        obj_free(g, s);
}
/* Appends, in place when *s is held once (capacity doubles), else on a copy. 0 or -ENOMEM. */
int str_append(Gen *g, Str **s, Slice more);

/* Bytes that pipes and files pass by reference. `cap` bytes are allocated; who uses which part is the
 * holder's business. A part that somebody may be reading is never changed. */
typedef struct Chunk {
    Obj obj;
    size_t cap;
    char data[];
} Chunk;

#define CHUNK_COPY_BELOW 4096 /* shorter slices are copied, so ten bytes do not pin a megabyte */

Chunk *chunk_new(Gen *g, size_t cap);
Chunk *chunk_resize(Gen *g, Chunk *c, size_t cap); /* obj_mine only; NULL leaves it */
void chunk_unref(Gen *g, Chunk *c);

#endif

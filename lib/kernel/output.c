/* output: the buffers of standard output and standard error.
 *
 * A buffer starts small and widens each time it fills, so that `echo` costs little and a stream gets large writes.
 */
#include "internal.h"

enum { FIRST_BUFFER = 512, WIDEST_BUFFER = 32768 };

void output_init(Proc *p, Output *o, int fd) { *o = (Output){.proc = p, .fd = fd}; }

static void write_through(Output *o, Slice s)
{
    if (s.len == 0)
        return;
    ssize_t n = proc_write(o->proc, o->fd, s);
    if (n < 0 && !o->error)
        o->error = (int)n;
}

void output_flush(Output *o)
{
    size_t len = o->len;
    o->len = 0; /* first: a write that raises must not be repeated */
    if (len)
        write_through(o, (Slice){o->data, len});
}

static void widen(Output *o)
{
    if (o->cap >= WIDEST_BUFFER)
        return;
    size_t cap = o->cap ? o->cap * 8 : FIRST_BUFFER;
    o->data = mem_alloc(&o->proc->keep, cap);
    o->cap = cap;
}

void output_slow(Output *o, Slice s)
{
    if (o->cap - o->len < s.len) {
        output_flush(o);
        widen(o);
    }
    if (s.len > o->cap) {
        write_through(o, s);
        return;
    }
    memcpy(o->data + o->len, s.data, s.len);
    o->len += s.len;
}

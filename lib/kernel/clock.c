/* clock: the shell's time (real, fixed, virtual), sleeping, and its randomness (real or seeded). */
#include "host.h"
#include "internal.h"
#include "lib/base/host.h"

int64_t kern_now(Kernel *k, uint32_t *nanosecond)
{
    int64_t seconds;
    uint32_t ns = 0;
    if (k->options.fixed_clock || k->options.virtual_clock)
        seconds = k->options.clock_seconds;
    else
        seconds = host_wall(&ns);
    if (k->options.virtual_clock) {
        seconds += k->virtual_ns / 1000000000;
        ns = (uint32_t)(k->virtual_ns % 1000000000);
    }
    *nanosecond = ns;
    return seconds;
}

int64_t proc_now(Proc *p, uint32_t *nanosecond)
{
    uint32_t ns;
    return kern_now(p->kernel, nanosecond ? nanosecond : &ns);
}

int64_t timer_now(const Kernel *k) { return k->options.virtual_clock ? k->virtual_ns : host_monotonic(); }

int64_t proc_monotonic(Proc *p)
{
    Kernel *k = p->kernel;
    if (k->options.fixed_clock || k->options.virtual_clock)
        return k->virtual_ns;
    return host_monotonic();
}

int proc_sleep(Proc *p, int64_t nanoseconds)
{
    output_flush(p->out);
    if (p->pending & p->collected)
        return -EINTR;
    int64_t until = nanoseconds < 0 ? -1 : timer_now(p->kernel) + nanoseconds;
    WaitQueue nothing = {NULL, NULL};
    return task_block(p, &nothing, until) == WAKE_TIMER ? 0 : -EINTR;
}

ProcTimes proc_times(Proc *p)
{
    ProcTimes t = {0};
    if (!p->kernel->options.fixed_clock && !p->kernel->options.virtual_clock)
        host_thread_cpu(&t.user_ns, &t.sys_ns);
    return t;
}

/* ---------- randomness: xoshiro256**, seeded by the embedder or the host ---------- */

static uint64_t splitmix(uint64_t *x)
{
    uint64_t z = (*x += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

void kern_random_seed(Kernel *k)
{
    uint64_t seed = k->options.seed;
    if (!k->options.seeded)
        host_entropy(&seed, sizeof seed);
    for (int i = 0; i < 4; i++)
        k->random[i] = splitmix(&seed);
}

static uint64_t rotate(uint64_t x, int n) { return x << n | x >> (64 - n); }

uint64_t kern_random64(Kernel *k)
{
    uint64_t *s = k->random;
    if (!(s[0] | s[1] | s[2] | s[3]))
        kern_random_seed(k);
    uint64_t result = rotate(s[1] * 5, 7) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return result;
}

void proc_random(Proc *p, void *buf, size_t n)
{
    unsigned char *out = buf;
    while (n) {
        uint64_t r = kern_random64(p->kernel);
        size_t m = MIN(n, sizeof r);
        memcpy(out, &r, m);
        out += m;
        n -= m;
    }
}

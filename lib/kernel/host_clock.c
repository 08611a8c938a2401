/* host_clock: the host's clocks and process id. */
#include "host.h"

#include <sys/resource.h>
#include <time.h>

static int64_t nanoseconds(const struct timespec *t) { return (int64_t)t->tv_sec * 1000000000 + t->tv_nsec; }

int64_t host_monotonic(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return nanoseconds(&t);
}

int64_t host_wall(uint32_t *nanosecond)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    *nanosecond = (uint32_t)t.tv_nsec;
    return t.tv_sec;
}

static uint64_t of_timeval(const struct timeval *t)
{
    return (uint64_t)t->tv_sec * 1000000000u + (uint64_t)t->tv_usec * 1000u;
}

void host_thread_cpu(uint64_t *user_ns, uint64_t *sys_ns)
{
    struct rusage u;
#ifdef RUSAGE_THREAD
    getrusage(RUSAGE_THREAD, &u);
#else
    getrusage(RUSAGE_SELF, &u);
#endif
    *user_ns = of_timeval(&u.ru_utime);
    *sys_ns = of_timeval(&u.ru_stime);
}

void host_cond_init(pthread_cond_t *cond)
{
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
#ifdef __linux__
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
#endif
    pthread_cond_init(cond, &attr);
    pthread_condattr_destroy(&attr);
}

void host_cond_wait(pthread_cond_t *cond, pthread_mutex_t *lock, int64_t until)
{
    if (until < 0) {
        pthread_cond_wait(cond, lock);
        return;
    }
#ifdef __linux__
    struct timespec t = {.tv_sec = until / 1000000000, .tv_nsec = until % 1000000000};
#else
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int64_t left = until - host_monotonic(), at = nanoseconds(&now) + (left > 0 ? left : 0);
    struct timespec t = {.tv_sec = at / 1000000000, .tv_nsec = at % 1000000000};
#endif
    pthread_cond_timedwait(cond, lock, &t);
}

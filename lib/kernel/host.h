/* host: the system calls of the kernel layer, in host_clock.c. */
#ifndef LIBSHELL_KERNEL_HOST_H
#define LIBSHELL_KERNEL_HOST_H

#include <pthread.h>
#include <stdint.h>
#include <sys/types.h>

int64_t host_monotonic(void);                            /* nanoseconds */
int64_t host_wall(uint32_t *nanosecond);                 /* seconds since 1970 */
void host_thread_cpu(uint64_t *user_ns, uint64_t *sys_ns);
/* Numbers are read and printed under the C locale: enter before processes run, leave before the host's code does. */
void *host_locale_enter(void);
void host_locale_leave(void *before);
/* Waits on cond (its mutex held) until it is signalled or the monotonic clock reaches `until` (< 0: no bound). */
void host_cond_wait(pthread_cond_t *cond, pthread_mutex_t *lock, int64_t until);
void host_cond_init(pthread_cond_t *cond);

#endif

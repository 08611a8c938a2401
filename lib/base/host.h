/* host: the few things base needs from the operating system, each in host.c. Includes go no further than base. */
#ifndef LIBSHELL_BASE_HOST_H
#define LIBSHELL_BASE_HOST_H

#include "base.h"

/* Maps a stack of `size` bytes above `guard` inaccessible ones; the address of the usable part, or NULL. */
void *host_stack_map(size_t size, size_t guard);
void host_stack_unmap(void *stack, size_t size, size_t guard);
/* Tells the kernel that the contents of [start, start + size) are not needed. */
void host_discard(void *start, size_t size);
/* Whether a core dump of the process has the pages that hold [start, start + size). */
void host_dump(void *start, size_t size, bool dumped);
/* Fills buf from the operating system's generator. */
void host_entropy(void *buf, size_t n);

/* The process's id: how a fork of the host is noticed. Any thread. */
uint32_t host_process(void);

#endif

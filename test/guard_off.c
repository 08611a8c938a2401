/* guard_off: in a mutated build a test program turns off the guard that the environment names; the library reads no environment. */
#include "lib/base/guard.h"

#ifdef LIBSHELL_MUTATE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {
#define X(name, text) #name,
#include "lib/base/guards.def"
#undef X
};

__attribute__((constructor)) static void turn_off(void)
{
    const char *wanted = getenv("GUARD_OFF");
    if (!wanted)
        return;
    for (int i = 0; i < GUARD_COUNT; i++)
        if (strcmp(names[i], wanted) == 0)
            guard_off = i;
    if (guard_off < 0) {
        fprintf(stderr, "GUARD_OFF: no guard is named %s\n", wanted);
        exit(99);
    }
}
#else
typedef int nothing_to_turn_off;
#endif

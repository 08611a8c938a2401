/* guard: every check that says no has a name, so that a test build can switch it off and show that a test notices.
 *
 * The names are those of SECURITY.md's ledger and of guards.def. In an ordinary build GUARD(NAME, condition) is the condition. Under
 * -DLIBSHELL_MUTATE the guard whose number guard_off holds never refuses.
 */
#ifndef LIBSHELL_GUARD_H
#define LIBSHELL_GUARD_H

typedef enum {
#define X(name, text) GUARD_##name,
#include "guards.def"
#undef X
    GUARD_COUNT
} GuardName;

#ifdef LIBSHELL_MUTATE
extern int guard_off; /* a GuardName, or -1; set before the first shell */
#define GUARD(name, refuse) (guard_off != GUARD_##name && (refuse))
#else
#define GUARD(name, refuse) (refuse)
#endif

#endif

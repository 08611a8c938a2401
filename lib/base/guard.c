/* guard: the switch of a mutated build. */
#include "guard.h"

#ifdef LIBSHELL_MUTATE
int guard_off = -1;
#else
typedef int no_switch; /* a translation unit is never empty */
#endif

/* host_locale: this thread in the C locale while a shell runs on it, whatever the host program has chosen.
 *
 * glibc gives the C locale without allocating; the thread's own comes back before any code of the host runs.
 */
#include <locale.h>

#include "host.h"

void *host_locale_enter(void)
{
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    return c ? uselocale(c) : (void *)0;
}

void host_locale_leave(void *before)
{
    if (before)
        uselocale((locale_t)before);
}

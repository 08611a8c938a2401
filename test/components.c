/* components: the components that this build made. */
#include "components.h"

#include <string.h>

static const struct { const char *name; const shell_component *(*get)(void); } built[] = {
#ifdef HAVE_COMPONENT_CRYPTO
    {"crypto", libshell_crypto},
#endif
#ifdef HAVE_COMPONENT_ARCHIVE
    {"archive", libshell_archive},
#endif
#ifdef HAVE_COMPONENT_DATA
    {"data", libshell_data},
#endif
#ifdef HAVE_COMPONENT_NET
    {"net", libshell_net},
#endif
    {NULL, NULL},
};

const shell_component *test_component(void *user, const char *name)
{
    (void)user;
    for (size_t i = 0; built[i].name; i++)
        if (strcmp(built[i].name, name) == 0)
            return built[i].get();
    return NULL;
}

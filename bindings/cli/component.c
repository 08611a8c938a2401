/* component: finding and opening the shared object of a component. */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

typedef const shell_component *(*Entry)(void);

/* Never closed: a shell may hold its table for as long as it lives. */
static const shell_component *open_object(const char *path, const char *name)
{
    char entry[64];
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!object)
        return NULL;
    snprintf(entry, sizeof entry, "libshell_%s", name);
    Entry function;
    *(void **)&function = dlsym(object, entry);
    return function ? function() : NULL;
}

const shell_component *cli_component(void *user, const char *name)
{
    static const char *const places[] = {"%s/libshell-%s.so", "%s/../lib/libshell-%s.so"};
    char self[PATH_MAX], path[PATH_MAX + 64];
    (void)user;
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = 0;
    char *slash = strrchr(self, '/');
    for (size_t i = 0; slash && i < sizeof places / sizeof *places; i++) {
        *slash = 0;
        snprintf(path, sizeof path, places[i], self, name);
        const shell_component *c = access(path, R_OK) == 0 ? open_object(path, name) : NULL;
        if (c)
            return c;
    }
    snprintf(path, sizeof path, "libshell-%s.so", name);
    return open_object(path, name);
}

/* components: shell_options.component of the test programs: those of this build, by name. */
#ifndef TEST_COMPONENTS_H
#define TEST_COMPONENTS_H

#include "include/shell.h"

const shell_component *test_component(void *user, const char *name);

#endif

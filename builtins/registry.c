/* registry: the sorted table of commands, from the list in commands.def. */
#include "registry.h"

#define X(id) extern const Command command_##id;
#include "commands.def"
#undef X

const Command *const command_table[] = {
#define X(id) &command_##id,
#include "commands.def"
#undef X
};

const size_t command_count = sizeof command_table / sizeof command_table[0];

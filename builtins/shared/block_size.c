/* block_size: units that sizes are shown in, and the messages about numbers that do not parse. */
#include "shared.h"

bool block_size_parse(Proc *p, const char *text, BlockSize *out)
{
    BlockSize b = {.suffix = ""};
    text += *text == '\''; /* grouping, which the C locale does not have */
    if (strcmp(text, "human-readable") == 0 || strcmp(text, "si") == 0) {
        b.human = *text == 's' ? 1000 : 1024;
        b.size = 1;
        *out = b;
        return true;
    }
    bool bare = *text && !(*text >= '0' && *text <= '9');
    if (parse_size(bare ? mem_printf(&p->mem, "1%s", text) : text, "eEgGkKmMpPtTyYzZ0", &b.size) != 0 || !b.size)
        return false;
    if (bare)
        b.suffix = mem_strdup(&p->keep, text);
    *out = b;
    return true;
}

BlockSize block_size_default(Proc *p, const char *own)
{
    const char *const names[] = {own, "BLOCK_SIZE", "BLOCKSIZE"};
    BlockSize b = {.size = 1024, .suffix = ""};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const char *value = proc_getenv(p, names[i]);
        if (value) {
            block_size_parse(p, value, &b);
            return b;
        }
    }
    if (proc_getenv(p, "POSIXLY_CORRECT"))
        b.size = 512;
    return b;
}

const char *block_size_format(Proc *p, uint64_t bytes, const BlockSize *b)
{
    if (b->human)
        return format_human(p, bytes, b->human);
    return mem_printf(&p->mem, "%llu%s", (unsigned long long)(bytes / b->size + (bytes % b->size != 0)), b->suffix);
}

const char *option_as_given(Proc *p, const Args *args, char letter, const char *name)
{
    bool is_long = letter == 0;
    for (int i = 1; args->value && i < args->argc; i++) {
        const char *a = args->argv[i];
        bool within = args->value > a && args->value <= a + strlen(a);
        if (args->value == a || within)
            is_long |= strncmp(within ? a : args->argv[i - 1], "--", 2) == 0;
    }
    return is_long ? mem_printf(&p->mem, "--%s", name) : mem_printf(&p->mem, "-%c", letter);
}

void die_size(Proc *p, int status, const char *option, const char *text, int error)
{
    if (error == -ERANGE)
        die(p, status, "%s argument '%s' too large", option, text);
    const char *at = text + (*text == '-' || *text == '+');
    if (*at >= '0' && *at <= '9' && *text != '-')
        die(p, status, "invalid suffix in %s argument '%s'", option, text);
    die(p, status, "invalid %s argument '%s'", option, text);
}

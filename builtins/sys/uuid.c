/* uuidgen, mcookie: random names. util-linux 2.38. */
#include "command.h"

static const Option uuidgen_options[] = {
    {'r', "random", OPT_FLAG, "generate random-based uuid", NULL, 0},
    {'t', "time", OPT_FLAG, "generate time-based uuid", NULL, 0},
    {'h', NULL, OPT_FLAG, "display this help", NULL, 0},
    {'V', NULL, OPT_FLAG, "display version", NULL, 0},
    OPTIONS_END,
};

static const Option mcookie_options[] = {
    {'f', "file", OPT_VALUE, "use file as a cookie seed", "FILE", 0},
    {'m', "max-size", OPT_VALUE, "limit how much is read from seed files", "NUM", 0},
    {'v', "verbose", OPT_FLAG, "explain what is being done", NULL, 0},
    {'h', NULL, OPT_FLAG, "display this help", NULL, 0},
    {'V', NULL, OPT_FLAG, "display version", NULL, 0},
    OPTIONS_END,
};

static bool told(Proc *p, const Args *args, int id)
{
    if (id == 'h')
        print_help(p, args->command);
    else if (id == 'V')
        out_printf(p->out, "%s (libshell) 0.1.0\n", args->command->name);
    return id == 'h' || id == 'V';
}

static int uuidgen_main(Proc *p, Args *args)
{
    bool by_time = false;
    for (int id; (id = args_next(p, args)) != -1;) {
        if (told(p, args, id))
            return 0;
        by_time = id == 't' || (by_time && id != 'r');
    }
    unsigned char b[16];
    proc_random(p, b, sizeof b);
    if (by_time) { /* 100 ns since 15 October 1582 */
        uint32_t ns;
        uint64_t t = (uint64_t)proc_now(p, &ns) * 10000000 + ns / 100 + 0x01B21DD213814000ull;
        for (int i = 0; i < 4; i++)
            b[i] = (unsigned char)(t >> (24 - 8 * i));
        b[4] = (unsigned char)(t >> 40);
        b[5] = (unsigned char)(t >> 32);
        b[6] = (unsigned char)(t >> 56);
        b[7] = (unsigned char)(t >> 48);
        b[10] |= 1; /* not a real interface's address */
    }
    b[6] = (unsigned char)((b[6] & 15) | (by_time ? 0x10 : 0x40));
    b[8] = (unsigned char)((b[8] & 63) | 0x80);
    for (int i = 0; i < 16; i++)
        out_printf(p->out, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", b[i]);
    out_char(p->out, '\n');
    return 0;
}

static int mcookie_main(Proc *p, Args *args)
{
    uint64_t size;
    for (int id; (id = args_next(p, args)) != -1;) {
        if (told(p, args, id))
            return 0;
        if (id == 'm' && parse_size(args->value, "KMGTPEZY0", &size) != 0)
            die_errno(p, 1, EINVAL, "failed to parse length: '%s'", args->value);
    }
    unsigned char b[16];
    proc_random(p, b, sizeof b);
    for (int i = 0; i < 16; i++)
        out_printf(p->out, "%02x", b[i]);
    out_char(p->out, '\n');
    return 0;
}

COMMAND(uuidgen, "uuidgen [options]", "Create a new UUID value.", uuidgen_options, COMMAND_PURE, .package = "util-linux 2.38");
COMMAND(mcookie, "mcookie [options]", "Generate magic cookies for xauth.", mcookie_options, COMMAND_PURE, .package = "util-linux 2.38");

/* sleep: wait for a while. GNU coreutils 9.1. */
#include "command.h"

static const Option options[] = {OPTIONS_END};

static int sleep_main(Proc *p, Args *args)
{
    double total = 0;
    bool bad = false;
    while (args_next(p, args) != -1)
        ;
    int n;
    char **v = args_operands(args, &n);
    if (n == 0)
        usage_missing(p, args, NULL);
    for (int i = 0; i < n; i++) {
        double s = 0;
        if (!parse_duration(v[i], &s)) {
            warn(p, "invalid time interval %s", quote(p, v[i]));
            bad = true;
        }
        total += s;
    }
    if (bad)
        usage_hint(p, args);
    int64_t ns = total >= 9e9 ? -1 : (int64_t)(total * 1e9);
    while (proc_sleep(p, ns) == -EINTR && ns < 0)
        ;
    return 0;
}

COMMAND(sleep, "sleep NUMBER[SUFFIX]...", "Pause for NUMBER seconds; SUFFIX may be s, m, h or d.", options, COMMAND_PURE);

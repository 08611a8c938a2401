/* expand_fuzz: any bytes are the words of an expansion, run in a shell with small limits.
 *
 * The first byte chooses where the text stands: an argument, a here-document, arithmetic, [[ ]], an assignment, a pattern, a prompt. What is
 * looked for are crashes, leaks and work without bound; the shell must be usable afterwards.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "include/shell.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct { const char *before, *after; } places[] = {
    {"printf '<%s>' ", ""},
    {"cat <<E\n", "\nE\n"},
    {"echo $((", "))"},
    {"[[ abc == ", " ]]"},
    {"v=", "; echo \"$v\""},
    {"echo \"${x/", "/y}\""},
    {"a=(", "); declare -p a"},
    {"echo \"${x:", "}\""},
    {"PS4='", "'; set -x; :"},
    {"declare -A m=([k]=", "); declare -p m"},
    {"case abc in ", ") echo y;; esac"},
    {"printf -v w ", " a b; echo \"$w\""},
    {"[[ abcabc =~ ", " ]]; echo \"${BASH_REMATCH[@]}\""},
    {"let '", "'"},
    {"test ", ""},
    {"", ""},
};

static const char setup[] = "x=abcabc y='a b' n=3 s='*'; a=(1 'b c' 3); declare -A m=([k]=v); set -- one 'two 2'; shopt -s extglob\n";

static shell *open_limited(void)
{
    shell_limits limits;
    shell_options o;
    shell *sh;
    shell_limits_init(&limits);
    limits.time_ms = 2000;
    limits.steps = 200000;
    limits.memory = 32 << 20;
    limits.output = 1 << 20;
    shell_options_init(&o);
    o.limits = &limits;
    return shell_open(&o, &sh) == SHELL_OK ? sh : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || size > 4096)
        return 0;
    size_t place = data[0] % (sizeof places / sizeof places[0]), n = strlen(setup), before = strlen(places[place].before), after = strlen(places[place].after);
    char *script = malloc(n + before + size + after);
    if (!script)
        return 0;
    memcpy(script, setup, n);
    memcpy(script + n, places[place].before, before);
    memcpy(script + n + before, data + 1, size - 1);
    memcpy(script + n + before + size - 1, places[place].after, after);
    shell *sh = open_limited();
    shell_result *r;
    if (sh && shell_run(sh, script, n + before + size - 1 + after, NULL, &r) == SHELL_OK)
        shell_result_free(r);
    if (sh && shell_run(sh, "builtin :", 9, NULL, &r) == SHELL_OK) /* usable still */
        shell_result_free(r);
    else
        abort();
    shell_close(sh);
    free(script);
    return 0;
}

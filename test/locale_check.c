/* locale_check: the host's locale has a decimal comma; the script's numbers do not, and the host's own still do in its callbacks. */
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "include/shell.h"

static int commas;

static int32_t on_output(void *user, int32_t stream, const char *data, uint64_t len)
{
    char text[16];
    (void)user;
    (void)stream;
    (void)data;
    (void)len;
    snprintf(text, sizeof text, "%.1f", 1.5);
    commas += strcmp(text, "1,5") == 0;
    return 0;
}

int main(void)
{
    static const char script[] = "printf '%.2f\\n' 1.5; seq 0.5 0.5 1; sleep 0.01; echo 1.5 | sort -g; printf '%d\\n' 1000";
    static const char wanted[] = "1.50\n0.5\n1.0\n1.5\n1000\n";
    shell *sh;
    shell_result *r;
    shell_run_opts o = {.size = sizeof o, .on_output = on_output, .flags = SHELL_RUN_COLLECT};
    if (!setlocale(LC_ALL, "de_DE.UTF-8")) {
        fprintf(stderr, "locale_check: no such locale; set LOCPATH\n");
        return 2;
    }
    if (shell_open(NULL, &sh) != SHELL_OK || shell_run(sh, script, sizeof script - 1, &o, &r) != SHELL_OK)
        return 2;
    int bad = strcmp(r->out, wanted) != 0 || commas == 0;
    if (bad)
        fprintf(stderr, "locale_check: %d callbacks saw a comma, the script printed\n%s%s", commas, r->out, r->err);
    shell_result_free(r);
    shell_close(sh);
    return bad;
}

/* hello: a program that links libshell, runs a pipeline and looks at what it gave. */
#include <shell.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    static const char script[] = "printf '%s\\n' banana apple cherry | sort > fruit; wc -l < fruit; cat fruit";
    shell *sh;
    shell_result *r;
    if (shell_open(NULL, &sh) != SHELL_OK)
        return 1;
    if (shell_run(sh, script, strlen(script), NULL, &r) != SHELL_OK) {
        fprintf(stderr, "%s\n", shell_message(sh));
        return 1;
    }
    fwrite(r->out, 1, r->out_len, stdout);
    int status = r->status;
    shell_result_free(r);
    shell_close(sh);
    return status;
}

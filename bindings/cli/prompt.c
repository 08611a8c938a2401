/* prompt: lines from a terminal, each run in one shell that stays.
 *
 * With libedit, opened only here, lines are edited, kept in a history and completed; without it they are read plainly. A command whose end is
 * missing is read on. Ctrl-C at the prompt drops the line; while a command runs, a thread that waits for SIGINT cancels the command, so the
 * shell stays.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#ifdef HAVE_HISTEDIT
#include <histedit.h>
#endif

struct Prompt {
    shell *sh;
    const Settings *settings;
    const char *name;
    char text[600];       /* what stands before the cursor */
    bool dropped, ended;  /* Ctrl-C, and the end of input, at the prompt */
    bool left;            /* by a command */
    int status;
    atomic_bool interrupted; /* since the last line was read */
#ifdef HAVE_HISTEDIT
    EditLine *edit;
    History *history;
    HistEvent event;
    EditLine *(*el_init)(const char *, FILE *, FILE *, FILE *);
    int (*el_set)(EditLine *, int, ...);
    const char *(*el_gets)(EditLine *, int *);
    const LineInfo *(*el_line)(EditLine *);
    int (*el_insertstr)(EditLine *, const char *);
    void (*el_deletestr)(EditLine *, int);
    void (*el_end)(EditLine *);
    History *(*history_init)(void);
    int (*history_call)(History *, HistEvent *, int, ...);
    void (*history_end)(History *);
#endif
};

bool cli_prompt_possible(void)
{
    return isatty(0) && isatty(1);
}

#ifdef HAVE_HISTEDIT

/* ---------- completion ---------- */

typedef struct {
    const char *word;
    size_t len;
    char common[256];
    bool directory;
    unsigned count;
    Text list;
} Matches;

static void match(Matches *m, const char *name, bool directory)
{
    size_t n = 0;
    if (strncmp(name, m->word, m->len) != 0 || (!m->len && name[0] == '.') || strlen(name) >= sizeof m->common)
        return;
    if (!m->count++)
        strcpy(m->common, name);
    m->directory = directory;
    while (m->common[n] && m->common[n] == name[n])
        n++;
    m->common[n] = 0;
    text_printf(&m->list, "%s%s  ", name, directory ? "/" : "");
}

static void match_files(Matches *m, shell *sh, const char *word, size_t n)
{
    char directory[600];
    const char *slash = memrchr(word, '/', n);
    size_t head = slash ? (size_t)(slash - word) + 1 : 0;
    shell_dirent *entries;
    uint64_t count;
    m->word = word + head;
    m->len = n - head;
    if (snprintf(directory, sizeof directory, "%.*s", (int)head, word) >= (int)sizeof directory)
        return;
    if (shell_list(sh, head ? directory : ".", &entries, &count) != SHELL_OK)
        return;
    for (uint64_t i = 0; i < count; i++)
        match(m, entries[i].name, S_ISDIR(entries[i].type));
    shell_free(entries);
}

static void match_commands(Matches *m, const char *word, size_t n)
{
    uint64_t count;
    const char *const *names = shell_command_names(&count);
    m->word = word;
    m->len = n;
    for (uint64_t i = 0; n && i < count; i++)
        match(m, names[i], false);
}

/* What libedit calls is given its handle alone. A process has one terminal, and one prompt. */
static Prompt *the_prompt;

static char *prompt_text(EditLine *edit)
{
    (void)edit;
    return the_prompt->text;
}

static unsigned char drop_line(EditLine *edit, int key)
{
    Prompt *p = the_prompt;
    const LineInfo *line = p->el_line(edit);
    (void)key;
    p->dropped = true;
    p->el_deletestr(edit, (int)(line->cursor - line->buffer));
    fputs("^C\n", stdout);
    fflush(stdout);
    return CC_NEWLINE;
}

static unsigned char complete(EditLine *edit, int key)
{
    Prompt *p = the_prompt;
    const LineInfo *line = p->el_line(edit);
    const char *word = line->cursor;
    Matches m = {.count = 0};
    (void)key;
    while (word > line->buffer && !strchr(" \t;|&<>()=", word[-1]))
        word--;
    size_t n = (size_t)(line->cursor - word);
    if (word == line->buffer && !memchr(word, '/', n))
        match_commands(&m, word, n);
    if (!m.count)
        match_files(&m, p->sh, word, n);
    if (m.count == 1)
        strcat(m.common, m.directory ? "/" : " ");
    unsigned char what = CC_ERROR;
    if (m.count && strlen(m.common) > m.len) {
        p->el_insertstr(edit, m.common + m.len);
        what = CC_REFRESH;
    } else if (m.count) {
        fprintf(stdout, "\n%.*s\n", (int)m.list.len, m.list.data);
        fflush(stdout);
        what = CC_REDISPLAY;
    }
    text_free(&m.list);
    return what;
}

static bool symbols(Prompt *p, void *library)
{
    const struct { const char *name; void *into; } wanted[] = {
        {"el_init", &p->el_init}, {"el_set", &p->el_set}, {"el_gets", &p->el_gets}, {"el_line", &p->el_line},
        {"el_insertstr", &p->el_insertstr}, {"el_deletestr", &p->el_deletestr}, {"el_end", &p->el_end},
        {"history_init", &p->history_init}, {"history", &p->history_call}, {"history_end", &p->history_end},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (!(*(void **)wanted[i].into = dlsym(library, wanted[i].name)))
            return false;
    return true;
}

static void editor_begin(Prompt *p)
{
    void *library = dlopen("libedit.so.2", RTLD_NOW | RTLD_LOCAL);
    if (!library || !symbols(p, library) || !(p->edit = p->el_init("libshell", stdin, stdout, stderr)))
        return;
    the_prompt = p;
    p->history = p->history_init();
    if (p->history) {
        p->history_call(p->history, &p->event, H_SETSIZE, 1000);
        p->el_set(p->edit, EL_HIST, p->history_call, p->history);
    }
    p->el_set(p->edit, EL_PROMPT, prompt_text);
    p->el_set(p->edit, EL_EDITOR, "emacs");
    p->el_set(p->edit, EL_ADDFN, "complete", "complete a name", complete);
    p->el_set(p->edit, EL_ADDFN, "drop-line", "drop the line", drop_line);
    p->el_set(p->edit, EL_BIND, "^I", "complete", NULL);
    p->el_set(p->edit, EL_BIND, "^C", "drop-line", NULL);
    p->el_set(p->edit, EL_SETTY, "-d", "-isig", NULL);
}

static void editor_end(Prompt *p)
{
    if (p->history)
        p->history_end(p->history);
    if (p->edit)
        p->el_end(p->edit);
}

static bool edited_line(Prompt *p, Text *into)
{
    int n;
    p->el_set(p->edit, EL_PREP_TERM, 1); /* before the prompt shows, else a Ctrl-C then is the terminal's own and takes the line */
    const char *line = p->el_gets(p->edit, &n);
    if (!p->dropped && (!line || n <= 0))
        return false;
    if (!p->dropped)
        text_add(into, line, (size_t)n);
    return true;
}

static void remember(Prompt *p, const Text *command)
{
    if (p->history && command->len > 1)
        p->history_call(p->history, &p->event, H_ENTER, command->data);
}

#else
static void editor_begin(Prompt *p) { (void)p; }
static void editor_end(Prompt *p) { (void)p; }
static void remember(Prompt *p, const Text *command) { (void)p; (void)command; }
#endif

/* ---------- lines ---------- */

static void set_prompt(Prompt *p, bool more)
{
    char *cwd = NULL;
    if (more)
        strcpy(p->text, "> ");
    else
        snprintf(p->text, sizeof p->text, "libshell:%.500s$ ", shell_cwd(p->sh, &cwd) == SHELL_OK ? cwd : "?");
    shell_free(cwd);
}

static bool plain_line(const Prompt *p, Text *into)
{
    char *line = NULL;
    size_t cap = 0;
    fputs(p->text, stdout);
    fflush(stdout);
    ssize_t n = getline(&line, &cap, stdin);
    if (n > 0)
        text_add(into, line, (size_t)n);
    free(line);
    return n > 0;
}

static bool read_line(Prompt *p, Text *into, bool more)
{
    set_prompt(p, more);
#ifdef HAVE_HISTEDIT
    if (p->edit)
        return edited_line(p, into);
#endif
    return plain_line(p, into);
}

static bool says(const char *text, const char *what)
{
    return strstr(text, what) != NULL;
}

/* Whether more lines are wanted. A copy of the shell looks, so that nothing of it is changed; what is wrong with the command is printed. */
typedef enum { COMMAND_WHOLE, COMMAND_OPEN, COMMAND_WRONG } Wholeness;

static Wholeness wholeness(Prompt *p, const Text *command)
{
    shell *copy;
    shell_result *r;
    const char *const args[] = {p->name, NULL};
    shell_run_opts o = {.size = sizeof o, .args = args, .flags = SHELL_RUN_SYNTAX};
    if (command->len >= 2 && command->data[command->len - 2] == '\\' && !(command->len >= 3 && command->data[command->len - 3] == '\\'))
        return COMMAND_OPEN;
    if (shell_fork(p->sh, &copy) != SHELL_OK)
        return COMMAND_WHOLE;
    Wholeness w = COMMAND_WHOLE;
    if (shell_run(copy, command->data, command->len, &o, &r) == SHELL_OK) {
        if (says(r->err, "unexpected end of file") || says(r->err, "unexpected EOF while looking for") || says(r->err, "delimited by end-of-file"))
            w = COMMAND_OPEN;
        else if (r->status)
            w = COMMAND_WRONG;
        if (w == COMMAND_WRONG)
            fputs(r->err, stderr);
        shell_result_free(r);
    }
    shell_close(copy);
    return w;
}

/* A whole command; false when input has ended or the lines were dropped. */
static bool read_command(Prompt *p, Text *command)
{
    Wholeness w = COMMAND_OPEN;
    p->dropped = false;
    while (w == COMMAND_OPEN) {
        if (!read_line(p, command, command->len != 0)) {
            p->ended = !command->len;
            return false;
        }
        if (p->dropped || command->failed)
            return false;
        atomic_store(&p->interrupted, false);
        w = wholeness(p, command);
    }
    remember(p, command);
    p->status = w == COMMAND_WRONG ? 2 : p->status;
    return w == COMMAND_WHOLE;
}

/* ---------- running ---------- */

/* shell_run, but that an interrupt since the line was read counts: without a run shell_cancel does nothing. */
static shell_err run_text(Prompt *p, const char *text, size_t len, const shell_run_opts *o, shell_result **out)
{
    int32_t state = SHELL_PENDING;
    shell_pending pending = {.size = sizeof pending};
    shell_err err = shell_begin(p->sh, text, len, o);
    if (!err && atomic_load(&p->interrupted))
        shell_cancel(p->sh);
    while (!err && state != SHELL_DONE) {
        err = shell_step(p->sh, &state, &pending);
        if (!err && state != SHELL_DONE)
            err = shell_pause(p->sh, &pending);
    }
    return err ? err : shell_end(p->sh, out);
}

static void run_command(Prompt *p, const Text *command)
{
    const char *const args[] = {p->name, NULL};
    shell_run_opts o = {.size = sizeof o, .args = args, .jobs = SHELL_JOBS_KEEP, .flags = cli_output_flags(), .on_output = cli_write, .on_input = cli_read,
                        .timeout = p->settings->timeout != 0 ? p->settings->timeout : -1};
    shell_result *r;
    Text script = {0};
    if (p->status) /* a run begins with $? as 0 */
        text_printf(&script, "(exit %d); ", p->status);
    text_add(&script, command->data, command->len);
    shell_err err = script.failed ? SHELL_ENOMEM : run_text(p, script.data, script.len, &o, &r);
    text_free(&script);
    if (err) {
        fprintf(stderr, "libshell: %s\n", shell_strerror(err));
        return;
    }
    p->status = r->status;
    p->left = r->exited;
    if (r->end != SHELL_END_FINISHED) {
        fputc('\n', stderr);
        if (r->end == SHELL_END_LIMIT)
            fprintf(stderr, "libshell: limit reached: %s\n", r->limit ? r->limit : "");
    }
    shell_result_free(r);
}

static void *wait_for_interrupt(void *arg)
{
    Prompt *p = arg;
    sigset_t set;
    int number;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    while (sigwait(&set, &number) == 0) {
        atomic_store(&p->interrupted, true);
        shell_cancel(p->sh);
    }
    return NULL;
}

Prompt *cli_prompt_begin(void)
{
    Prompt *p = calloc(1, sizeof *p);
    if (p)
        editor_begin(p);
    return p;
}

int cli_prompt(Prompt *p, shell *sh, const Settings *s, const char *name)
{
    sigset_t set;
    pthread_t thread;
    if (!p)
        return 125;
    p->sh = sh;
    p->settings = s;
    p->name = name;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    bool waits = pthread_create(&thread, NULL, wait_for_interrupt, p) == 0;
    while (!p->ended && !p->left) {
        Text command = {0};
        if (read_command(p, &command))
            run_command(p, &command);
        text_free(&command);
    }
    if (p->ended)
        fputc('\n', stdout);
    if (waits) {
        pthread_cancel(thread);
        pthread_join(thread, NULL);
    }
    int status = p->status;
    editor_end(p);
    free(p);
    return status;
}

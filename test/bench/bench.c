/* bench: the figures of the core group, one JSON object a line.
 *
 * Times are medians of interleaved rounds. `ref.cpu` is malloc, fill and free of 4 KiB on this machine; ratios against it carry
 * from one machine to another. Comparisons with bash spawn it and count its whole time, less that of an empty bash.
 */
#include <dirent.h>
#include <pthread.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "include/shell.h"

extern char **environ;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *v, int n)
{
    qsort(v, (size_t)n, sizeof *v, compare);
    return v[n / 2];
}

/* ---------- reporting ---------- */

static void report(const char *name, double value, const char *unit, const char *against, double ratio, double target, bool most)
{
    printf("{\"name\": \"%s\", \"value\": %.6g, \"unit\": \"%s\"", name, value, unit);
    if (against)
        printf(", \"against\": \"%s\", \"ratio\": %.4g", against, ratio);
    if (target > 0)
        printf(", \"target\": %.4g, \"ok\": %s", target, (most ? ratio <= target : ratio >= target) ? "true" : "false");
    printf("}\n");
    fflush(stdout);
}

static void die(const char *what)
{
    fprintf(stderr, "bench: %s\n", what);
    exit(1);
}

/* ---------- what is timed ---------- */

static shell *open_shell(const shell_options *o)
{
    shell *sh;
    if (shell_open(o, &sh) != SHELL_OK)
        die("shell_open");
    return sh;
}

static void run(shell *sh, const char *script)
{
    shell_result *r;
    if (shell_run(sh, script, strlen(script), NULL, &r) != SHELL_OK)
        die(shell_message(sh));
    if (r->end != SHELL_END_FINISHED)
        die(r->err);
    shell_result_free(r);
}

typedef struct {
    shell *sh;
    shell_options o;
    const char *script;
} Work;

static void ref_cpu(Work *w)
{
    (void)w;
    char *p = malloc(4096);
    __asm__ volatile("" : "+r"(p) : : "memory"); /* or the compiler leaves it out */
    memset(p, 7, 4096);
    __asm__ volatile("" : : "r"(p) : "memory");
    free(p);
}

static void construct(Work *w) { shell_close(open_shell(&w->o)); }

static void construct_run(Work *w)
{
    shell *sh = open_shell(&w->o);
    run(sh, w->script);
    shell_close(sh);
}

static void warm_run(Work *w) { run(w->sh, w->script); }

static void fork_close(Work *w)
{
    shell *copy;
    if (shell_fork(w->sh, &copy) != SHELL_OK)
        die("shell_fork");
    shell_close(copy);
}

static double time_of(void (*fn)(Work *), Work *w, int times)
{
    double start = now();
    for (int i = 0; i < times; i++)
        fn(w);
    return (now() - start) / times;
}

enum { ROUNDS = 9 };

/* fn against ref.cpu, interleaved. */
static double against_cpu(const char *name, void (*fn)(Work *), Work *w, int times, double target)
{
    double t[ROUNDS], ratio[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        double ref = time_of(ref_cpu, w, 20000);
        t[i] = time_of(fn, w, times);
        ratio[i] = t[i] / ref;
    }
    double value = median(t, ROUNDS);
    report(name, value * 1e6, "us", "ref.cpu", median(ratio, ROUNDS), target, true);
    return value;
}

static void against(const char *name, void (*fn)(Work *), Work *w, int times, void (*base)(Work *), Work *b, const char *base_name, double target)
{
    double t[ROUNDS], ratio[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        double ref = time_of(base, b, times);
        t[i] = time_of(fn, w, times);
        ratio[i] = t[i] / ref;
    }
    report(name, median(t, ROUNDS) * 1e6, "us", base_name, median(ratio, ROUNDS), target, true);
}

/* ---------- bash ---------- */

static double spawn_time(const char *const *argv)
{
    double start = now();
    pid_t pid;
    int status;
    if (posix_spawnp(&pid, argv[0], NULL, NULL, (char *const *)(uintptr_t)argv, environ))
        die("cannot start bash");
    waitpid(pid, &status, 0);
    return now() - start;
}

/* libshell's time for the script against bash's, start-up of bash taken off. */
static void against_bash(const char *name, const char *script, int rounds, double target)
{
    const char *argv[] = {"bash", "-c", script, NULL}, *empty[] = {"bash", "-c", ":", NULL};
    double ours[ROUNDS], ratio[ROUNDS];
    shell_limits limits;
    shell_limits_init(&limits);
    limits.time_ms = 0;
    shell_options o;
    shell_options_init(&o);
    o.limits = &limits;
    for (int i = 0; i < rounds; i++) {
        double bash = spawn_time(argv) - spawn_time(empty);
        shell *sh = open_shell(&o);
        double start = now();
        run(sh, script);
        ours[i] = now() - start;
        shell_close(sh);
        ratio[i] = bash / ours[i];
    }
    report(name, median(ours, rounds) * 1e3, "ms", "bash", median(ratio, rounds), target, false);
}

/* ---------- memory ---------- */

static double resident(void)
{
    long pages = 0, ignored;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%ld %ld", &ignored, &pages) != 2)
        die("statm");
    fclose(f);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static void held_open(const shell_options *o, const char *name, const char *script, double target)
{
    enum { HELD = 10000 };
    shell **shells = calloc(HELD, sizeof *shells);
    double before = resident();
    for (int i = 0; i < HELD; i++) {
        shells[i] = open_shell(o);
        if (script)
            run(shells[i], script);
    }
    double each = (resident() - before) / HELD / 1024;
    report(name, each, "KiB", "limit", each, target, true);
    for (int i = 0; i < HELD; i++)
        shell_close(shells[i]);
    free(shells);
}

static void memory_after(const char *name, const char *script, double target)
{
    shell_limits limits;
    shell_limits_init(&limits);
    limits.time_ms = 0;
    shell_options o;
    shell_options_init(&o);
    o.limits = &limits;
    shell *sh = open_shell(&o);
    run(sh, "echo warm | cat >/dev/null");
    double before = resident();
    run(sh, script);
    double grown = (resident() - before) / 1048576;
    report(name, grown, "MiB", "limit", grown, target, true);
    shell_close(sh);
}

/* ---------- threads ---------- */

typedef struct {
    const shell_image *image;
    int count;
} ThreadWork;

static void *thread_main(void *arg)
{
    const ThreadWork *w = arg;
    shell_options o;
    shell_options_init(&o);
    o.image = w->image;
    for (int i = 0; i < w->count; i++) {
        shell *sh = open_shell(&o);
        if (shell_write_file(sh, "/workspace/f", "x", 1, 0) != SHELL_OK)
            die("write");
        run(sh, "cat /workspace/f");
        shell_close(sh);
    }
    return NULL;
}

static double threads_rate(const shell_image *image, int threads, int count)
{
    pthread_t t[64];
    ThreadWork w = {image, count};
    double start = now();
    for (int i = 0; i < threads; i++)
        if (pthread_create(&t[i], NULL, thread_main, &w))
            die("thread");
    for (int i = 0; i < threads; i++)
        pthread_join(t[i], NULL);
    return threads * count / (now() - start);
}

/* ---------- images ---------- */

static shell_image *image_of(int files)
{
    shell *sh = open_shell(NULL);
    char path[64];
    for (int i = 0; i < files; i++) {
        snprintf(path, sizeof path, "/workspace/d%d/f%d", i / 100, i);
        if (shell_write_file(sh, path, path, strlen(path), SHELL_WRITE_PARENTS) != SHELL_OK)
            die("image");
    }
    shell_image *image;
    if (shell_image_of(sh, &image) != SHELL_OK)
        die("image");
    shell_close(sh);
    return image;
}

static void construct_group(void)
{
    Work bare = {.script = "echo hi"};
    shell_options_init(&bare.o);
    held_open(&bare.o, "memory.shell", NULL, 16); /* first: a heap that was used before would hide it */
    against_cpu("construct.bare", construct, &bare, 2000, 45);
    against_cpu("construct.echo", construct_run, &bare, 2000, 90);
    const int sizes[] = {10, 1000, 20000};
    for (int i = 0; i < 3; i++) {
        char name[32];
        Work w = bare;
        shell_image *image = image_of(sizes[i]);
        w.o.image = image;
        snprintf(name, sizeof name, "construct.image.%d", sizes[i]);
        against(name, construct, &w, 2000, construct, &bare, "construct.bare", 1.5);
        if (sizes[i] == 20000)
            held_open(&w.o, "memory.rewrite_one", "echo x > /workspace/d7/f700", 16 + 64);
        shell_image_free(image);
    }
}

static void fork_group(void)
{
    Work bare = {0}, w = {0};
    shell_options_init(&bare.o);
    const int files[] = {10, 1000, 20000};
    for (int i = 0; i < 3; i++) {
        char script[400], name[32];
        w.sh = open_shell(NULL);
        snprintf(script, sizeof script, "for ((i=0;i<200;i++)); do eval \"v$i=$i\"; done; for ((i=0;i<50;i++)); do eval \"f$i() { echo $i; }\"; done; cd /workspace; for ((i=0;i<%d;i++)); do : > f$i; done", files[i]);
        run(w.sh, script);
        snprintf(name, sizeof name, "fork.%d", files[i]);
        against(name, fork_close, &w, 2000, construct, &bare, "construct.bare", 1.5);
        shell_close(w.sh);
    }
}

static void run_group(void)
{
    Work w = {.sh = open_shell(NULL), .script = "echo hi"};
    against_cpu("run.echo", warm_run, &w, 20000, 25);
    w.script = "echo a b c | tr ' ' '\\n' | sort -r | head -1";
    against_cpu("run.pipeline", warm_run, &w, 5000, 120);
    shell_close(w.sh);
}

static void stream_group(void)
{
    against_bash("loop.while", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done", 5, 6);
    against_bash("stream.yes_head_wc", "yes | head -n 10000000 | wc -l", 3, 1);
    against_bash("stream.seq_sort_tail", "seq 1 10000000 | sort -n | tail -1", 3, 1);
    memory_after("memory.yes_head_wc", "yes | head -n 10000000 | wc -l", 4);
    memory_after("memory.loop", "for ((i=0;i<1000000;i++)); do x=$i; done", 4);
    memory_after("memory.substitutions", "i=0; while [ $i -lt 100000 ]; do x=$(echo $i); i=$((i+1)); done", 4);
    static const char *const filters[] = {"cat", "tr a-z A-Z", "cut -c1-3", "head -n 9999999", "tail -n 5", "uniq", "nl", "paste -s -d, | wc -c", "tee /dev/null", "wc", "grep 7", "sed s/1/2/"};
    for (size_t i = 0; i < sizeof filters / sizeof filters[0]; i++) {
        char name[64], script[128];
        snprintf(name, sizeof name, "memory.%.*s", (int)strcspn(filters[i], " "), filters[i]);
        snprintf(script, sizeof script, "seq 10000000 | %s > /dev/null", filters[i]);
        memory_after(name, script, 4);
    }
}

static void threads_group(void)
{
    shell_image *image = image_of(1000);
    double one = threads_rate(image, 1, 20000), two = threads_rate(image, 2, 20000), eight = threads_rate(image, 8, 20000);
    report("threads.1", one, "shells/s", NULL, 0, 0, false);
    report("threads.2", two, "shells/s", "threads.1", two / one, 1.6, false);
    report("threads.8", eight, "shells/s", "threads.1", eight / one, 1.6, false);
    shell_image_free(image);
}

static int descriptors(void)
{
    DIR *d = opendir("/proc/self/fd");
    int n = 0;
    if (!d)
        die("/proc/self/fd");
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

/* Networking that is configured and not used. */
static void net_open_group(void)
{
    Work bare = {0}, w = {0};
    shell_url_rule rule = {.size = sizeof rule, .url = "https://api.example.com/v1/"};
    shell_credential secret = {.size = sizeof secret, .url = "https://api.example.com/v1/", .secret = "s3cr3t-T0ken", .secret_len = 12};
    shell_net net = {.size = sizeof net, .rules = &rule, .nrules = 1, .credentials = &secret, .ncredentials = 1};
    shell_options_init(&bare.o);
    shell_options_init(&w.o);
    w.o.net = &net;
    against("net.open", construct, &w, 2000, construct, &bare, "construct.bare", 3.5); /* a rule and a credential are read and checked */
    bare.script = w.script = "echo hi";
    against("net.echo", construct_run, &w, 2000, construct_run, &bare, "construct.echo", 1.7);
    bare.sh = open_shell(&bare.o);
    w.sh = open_shell(&w.o);
    against("net.fork", fork_close, &w, 2000, fork_close, &bare, "a fork without network", 1.2);
    shell_close(bare.sh);
    shell_close(w.sh);
    shell *held[100];
    int before = descriptors();
    for (int i = 0; i < 100; i++)
        held[i] = open_shell(&w.o);
    int more = descriptors() - before;
    report("net.descriptors", more, "of 100 shells", "none", more, 0, true);
    for (int i = 0; i < 100; i++)
        shell_close(held[i]);
}

static const struct { const char *name; void (*fn)(void); } groups[] = {
    {"construct", construct_group}, {"fork", fork_group}, {"run", run_group}, {"stream", stream_group}, {"threads", threads_group}, {"net-open", net_open_group},
};

int main(int argc, char **argv)
{
    double ref[ROUNDS];
    for (int i = 0; i < ROUNDS; i++)
        ref[i] = time_of(ref_cpu, NULL, 20000);
    report("ref.cpu", median(ref, ROUNDS) * 1e9, "ns", NULL, 0, 0, false);
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
        bool wanted = argc == 1;
        for (int a = 1; a < argc; a++)
            wanted |= strcmp(argv[a], groups[i].name) == 0 || strcmp(argv[a], "core") == 0;
        if (wanted)
            groups[i].fn();
    }
    return 0;
}

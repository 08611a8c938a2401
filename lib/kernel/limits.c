/* limits: defaults, names, and the words that a hit is told in. */
#include "internal.h"

#include <stdio.h>

#define MIB (1024ull * 1024)

const Limits limits_default = {{
    [LIMIT_TIME] = 30000,
    [LIMIT_STEPS] = 0,
    [LIMIT_MEMORY] = 512 * MIB,
    [LIMIT_OUTPUT] = 10 * MIB,
    [LIMIT_FILE_SIZE] = 1024 * MIB,
    [LIMIT_FILE_BYTES] = 1024 * MIB,
    [LIMIT_INODES] = 1000000,
    [LIMIT_FDS] = 1024,
    [LIMIT_PROCESSES] = 1024,
    [LIMIT_PIPELINE] = 256,
    [LIMIT_DEPTH] = 10000,
    [LIMIT_SCRIPT] = 64 * MIB,
    [LIMIT_REGEX] = 50000000,
    [LIMIT_EXPANSION] = 10000000,
    [LIMIT_REQUESTS] = 10000,
    [LIMIT_TRANSFERS] = 64,
    [LIMIT_REDIRECTS] = 100,
    [LIMIT_DOWNLOAD] = 2048 * MIB,
    [LIMIT_UPLOAD] = 2048 * MIB,
    [LIMIT_HEAD] = MIB,
    [LIMIT_CONNECT] = 300000,
}};

static const char *const names[LIMIT_COUNT] = {
    [LIMIT_TIME] = "time",           [LIMIT_STEPS] = "steps",           [LIMIT_MEMORY] = "memory",
    [LIMIT_OUTPUT] = "output",       [LIMIT_FILE_SIZE] = "file_size",   [LIMIT_FILE_BYTES] = "file_bytes",
    [LIMIT_INODES] = "inodes",       [LIMIT_FDS] = "fds",               [LIMIT_PROCESSES] = "processes",
    [LIMIT_PIPELINE] = "pipeline",   [LIMIT_DEPTH] = "depth",           [LIMIT_SCRIPT] = "script",
    [LIMIT_REGEX] = "regex",         [LIMIT_EXPANSION] = "expansion",
    [LIMIT_REQUESTS] = "requests",   [LIMIT_TRANSFERS] = "transfers",   [LIMIT_REDIRECTS] = "redirects",
    [LIMIT_DOWNLOAD] = "download",   [LIMIT_UPLOAD] = "upload",       [LIMIT_HEAD] = "head",
    [LIMIT_CONNECT] = "connect",
};

const char *limit_name(LimitId id) { return id < LIMIT_COUNT ? names[id] : ""; }

uint64_t kern_limit(const Kernel *k, LimitId id)
{
    return k->run.active ? k->run.limits.value[id] : k->options.limits.value[id];
}

static void limit_words(uint64_t value, LimitId id, char *out, size_t cap)
{
    static const char *const units[] = {
        [LIMIT_STEPS] = "steps", [LIMIT_INODES] = "inodes", [LIMIT_FDS] = "descriptors", [LIMIT_PROCESSES] = "processes",
        [LIMIT_PIPELINE] = "stages", [LIMIT_DEPTH] = "levels", [LIMIT_REGEX] = "match steps", [LIMIT_EXPANSION] = "words",
        [LIMIT_REQUESTS] = "requests", [LIMIT_TRANSFERS] = "transfers at one time", [LIMIT_REDIRECTS] = "redirects",
    };
    if (id == LIMIT_TIME)
        snprintf(out, cap, "time limit of %g s reached", (double)value / 1000);
    else if (id < ARRAY_LEN(units) && units[id])
        snprintf(out, cap, "%s limit of %llu %s reached", limit_name(id), (unsigned long long)value, units[id]);
    else if (value >= MIB && value % MIB == 0)
        snprintf(out, cap, "%s limit of %llu MiB reached", limit_name(id), (unsigned long long)(value / MIB));
    else
        snprintf(out, cap, "%s limit of %llu bytes reached", limit_name(id), (unsigned long long)value);
}

void run_end(Kernel *k, RaiseKind kind, LimitId limit)
{
    if (k->run.ending != RAISE_NONE || !k->run.active)
        return;
    k->run.ending = kind;
    kern_event(k, EVENT_LIMIT, 0, kind == RAISE_CANCEL ? "cancel" : limit < LIMIT_COUNT ? limit_name(limit) : "", NULL, 0);
    k->run.limit = limit;
    char words[160] = "cancelled", line[200];
    if (kind == RAISE_MEMORY || kind == RAISE_LIMIT) {
        limit_words(k->run.limits.value[limit], limit, words, sizeof words);
    } else if (kind == RAISE_DEADLINE) {
        uint64_t ms = (uint64_t)(k->run.deadline_ns - k->run.start_ns) / 1000000;
        limit_words(ms, LIMIT_TIME, words, sizeof words);
    }
    snprintf(line, sizeof line, "libshell: %s\n", words);
    sink_message(&k->sink[k->run.io.merge_output ? 0 : 1], line);
    kern_expire(k);
}

void proc_limit(Proc *p, LimitId id)
{
    run_end(p->kernel, id == LIMIT_MEMORY ? RAISE_MEMORY : RAISE_LIMIT, id);
    proc_raise(p, p->kernel->run.ending != RAISE_NONE ? p->kernel->run.ending : RAISE_LIMIT);
}

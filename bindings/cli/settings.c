/* settings: the setters, and what they come to. */
#include "settings.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

static const struct { const char *name; size_t offset; } limit_fields[] = {
#define FIELD(f) {#f, offsetof(shell_limits, f)}
    FIELD(time_ms), FIELD(steps), FIELD(memory), FIELD(output), FIELD(file_size), FIELD(file_bytes), FIELD(inodes), FIELD(fds),
    FIELD(processes), FIELD(pipeline), FIELD(depth), FIELD(script), FIELD(regex), FIELD(expansion),
    FIELD(requests), FIELD(transfers), FIELD(redirects), FIELD(download), FIELD(upload), FIELD(head), FIELD(connect_ms),
#undef FIELD
};
enum { LIMITS = sizeof limit_fields / sizeof *limit_fields };

void settings_init(Settings *s)
{
    doc_init(&s->doc, 64u << 20);
    shell_limits_init(&s->limits);
    s->background = SHELL_LIMIT_DEFAULT;
    s->umask = -1;
    s->confine = -1;
    s->most_sessions = 64;
    s->session_idle = 4 * 60 * 60;
}

void settings_fail(const char *what, const char *text)
{
    fprintf(stderr, "libshell: %s%s%s\n", what, text ? ": " : "", text ? text : "");
    exit(USAGE);
}

char *settings_copy(Settings *s, const char *text)
{
    char *copy = doc_copy(&s->doc, text, strlen(text));
    if (!copy)
        settings_fail("out of memory", NULL);
    return copy;
}

/* Whether the configuration may still say it: not when the command line did. */
static bool may_set(Settings *s, unsigned bit)
{
    if (s->on_command_line)
        s->given |= bit;
    return s->on_command_line || !(s->given & bit);
}

const char *set_text(Settings *s, const char **field, unsigned bit, const char *value)
{
    if (may_set(s, bit))
        *field = settings_copy(s, value);
    return NULL;
}

const char *set_confine(Settings *s, bool on)
{
    if (may_set(s, GIVEN_CONFINE))
        s->confine = on;
    return NULL;
}

const char *set_seconds(Settings *s, uint64_t *field, unsigned bit, uint64_t value)
{
    if (value > (uint64_t)1 << 40)
        return "too large";
    if (may_set(s, bit))
        *field = value;
    return NULL;
}

/* ---------- binds and variables ---------- */

static bool take_suffix(char *text, const char *suffix)
{
    size_t n = strlen(text), m = strlen(suffix);
    if (n <= m || strcmp(text + n - m, suffix) != 0)
        return false;
    text[n - m] = 0;
    return true;
}

const char *set_bind_parts(Settings *s, const shell_bind *bind)
{
    if (s->nbinds == MOST_BINDS)
        return "too many binds";
    s->binds[s->nbinds++] = *bind;
    return NULL;
}

const char *set_bind(Settings *s, const char *value)
{
    char *text = settings_copy(s, value);
    shell_bind b = {.size = sizeof b, .mode = SHELL_BIND_COPY};
    bool readonly = take_suffix(text, ":ro");
    if (take_suffix(text, ":direct"))
        b.mode = SHELL_BIND_DIRECT;
    else if (take_suffix(text, ":overlay"))
        b.mode = SHELL_BIND_OVERLAY;
    else
        take_suffix(text, ":copy");
    if (take_suffix(text, ":ro") || readonly)
        b.flags |= SHELL_BIND_READONLY;
    char *colon = strrchr(text, ':');
    if (!colon || colon == text || colon[1] != '/')
        return "--bind wants SRC:DST with an absolute DST";
    *colon = 0;
    b.source = text;
    b.destination = colon + 1;
    return set_bind_parts(s, &b);
}

const char *set_env(Settings *s, const char *value)
{
    if (!strchr(value, '=') || value[0] == '=')
        return "--env wants NAME=VALUE";
    if (s->nenv == MOST_ENV)
        return "too many variables";
    s->env[s->nenv++] = settings_copy(s, value);
    return NULL;
}

const char *set_env_from_host(Settings *s, const char *name)
{
    if (!*name || strchr(name, '='))
        return "--env-from-host wants a NAME";
    const char *value = getenv(name);
    if (!value)
        return NULL;
    Text t = {0};
    text_printf(&t, "%s=%s", name, value);
    text_add(&t, "", 1);
    if (t.failed)
        settings_fail("out of memory", NULL);
    const char *why = set_env(s, t.data);
    text_free(&t);
    return why;
}

const char *set_option_word(Settings *s, const char *word)
{
    if (s->nset + 1 >= MOST_SET)
        return "too many options";
    s->set[s->nset++] = settings_copy(s, word);
    return NULL;
}

const char *set_umask(Settings *s, const char *octal)
{
    size_t n = strspn(octal, "01234567");
    long v = strtol(octal, NULL, 8);
    if (!n || octal[n] || n > 4 || v > 0777)
        return "an octal number up to 777 is expected";
    if (may_set(s, GIVEN_UMASK))
        s->umask = (int32_t)v;
    return NULL;
}

/* ---------- network ---------- */

const char *set_url(Settings *s, const char *url, int32_t deny, int32_t allow_private)
{
    if (s->net.nrules == MOST_RULES)
        return "too many URLs";
    s->rules[s->net.nrules++] =
        (shell_url_rule){.size = sizeof(shell_url_rule), .url = settings_copy(s, url), .deny = deny, .allow_private = allow_private};
    return NULL;
}

const char *set_cred(Settings *s, const shell_credential *cred)
{
    if (s->net.ncredentials == MOST_CREDS)
        return "too many credentials";
    s->creds[s->net.ncredentials++] = *cred;
    return NULL;
}

/* ---------- policy ---------- */

const char *set_name(Names *names, const char *name)
{
    if (names->count == MOST_NAMES)
        return "too many names";
    names->names[names->count++] = name;
    return NULL;
}

const char *set_file_rule(Settings *s, const shell_file_rule *rule)
{
    if (s->policy.nrules == MOST_RULES)
        return "too many rules";
    s->files[s->policy.nrules++] = *rule;
    return NULL;
}

/* ---------- limits ---------- */

bool settings_number(const char *text, uint64_t *out)
{
    char *end;
    errno = 0;
    unsigned long long v = strtoull(text, &end, 10);
    if (end == text || errno || text[0] < '0' || text[0] > '9')
        return false;
    static const char units[] = "KMG";
    const char *unit = *end ? strchr(units, *end & ~32) : NULL;
    for (long i = 0; unit && i <= unit - units; i++)
        if (__builtin_mul_overflow(v, 1024ull, &v))
            return false;
    if (*end && (!unit || end[1]))
        return false;
    *out = v;
    return true;
}

const char *settings_limit_name(size_t n)
{
    return n < LIMITS ? limit_fields[n].name : NULL;
}

/* Strands' names for the same; max_bg_jobs is reckoned with when everything was said. */
static const char *own_name(const char *name)
{
    static const char *const pairs[][2] = {{"max_output", "output"}, {"max_file_size", "file_size"}, {"max_fds", "fds"}, {"max_pipeline", "pipeline"},
                                           {"max_input", "script"}, {"max_inodes", "inodes"}, {"max_depth", "depth"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (strcmp(pairs[i][0], name) == 0)
            return pairs[i][1];
    return name;
}

const char *set_limit_named(Settings *s, const char *name, uint64_t value)
{
    name = own_name(name);
    if (strcmp(name, "max_bg_jobs") == 0) {
        s->background = value;
        return NULL;
    }
    for (size_t i = 0; i < LIMITS; i++)
        if (strcmp(limit_fields[i].name, name) == 0) {
            if (s->on_command_line)
                s->limits_given |= (uint64_t)1 << i;
            else if (s->limits_given >> i & 1)
                return NULL;
            memcpy((char *)&s->limits + limit_fields[i].offset, &value, sizeof value);
            return NULL;
        }
    return "unknown limit";
}

const char *set_limit(Settings *s, const char *value)
{
    char *name = settings_copy(s, value), *eq = strchr(name, '=');
    uint64_t v = 0;
    if (eq)
        *eq = 0;
    bool number = eq && settings_number(eq + 1, &v);
    const char *why = set_limit_named(s, name, v);
    return why ? why : number ? NULL : "bad number";
}

const char *set_timeout(Settings *s, double seconds)
{
    if (!(seconds >= 0) || isinf(seconds))
        return "bad number";
    if (may_set(s, GIVEN_TIMEOUT))
        s->timeout = seconds == 0 ? -1 : seconds;
    return NULL;
}

/* ---------- what they come to ---------- */

void settings_options(Settings *s, shell_options *o)
{
    shell_options_init(o);
    if (s->background != SHELL_LIMIT_DEFAULT && s->limits.processes == SHELL_LIMIT_DEFAULT) {
        /* a job is at least a process, and the foreground may be a pipeline */
        uint64_t front = s->limits.pipeline == SHELL_LIMIT_DEFAULT ? 256 : s->limits.pipeline;
        s->limits.processes = s->background && front && s->background < UINT32_MAX && front < UINT32_MAX ? s->background + front + 1 : 0;
    }
    o->binds = s->binds;
    o->nbinds = s->nbinds;
    o->env = s->env;
    o->cwd = s->cwd;
    o->limits = &s->limits;
    o->umask = s->umask;
    o->component = cli_component;
    s->net.size = sizeof s->net;
    s->net.rules = s->rules;
    s->net.credentials = s->creds;
    if (s->net.nrules)
        o->net = &s->net;
    s->policy.size = sizeof s->policy;
    s->policy.rules = s->files;
    s->policy.allow_commands = s->allow_commands.count ? s->allow_commands.names : NULL;
    s->policy.deny_commands = s->deny_commands.count ? s->deny_commands.names : NULL;
    if (s->policy.nrules || s->policy.allow_commands || s->policy.deny_commands)
        o->policy = &s->policy;
}

/* Whether `inner`, both without links, is `outer` or below it. */
static bool below(const char *inner, const char *outer)
{
    size_t n = strlen(outer);
    return strncmp(inner, outer, n) == 0 && (!inner[n] || inner[n] == '/' || (n && outer[n - 1] == '/'));
}

/* A file that is not there yet is where its directory is. */
static bool resolve(const char *path, char out[PATH_MAX])
{
    if (realpath(path, out))
        return true;
    char copy[PATH_MAX];
    snprintf(copy, sizeof copy, "%s", path);
    char *slash = strrchr(copy, '/');
    if (slash)
        *slash = 0;
    return realpath(slash ? (*copy ? copy : "/") : ".", out) != NULL;
}

static bool same_file(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

const char *settings_guard(Settings *s)
{
    const char *const guarded[][2] = {{"the configuration", s->config}, {"the audit file", s->audit}, {"the file of certificate authorities", s->net.ca_file},
                                      {"libshell itself", "/proc/self/exe"}};
    char file[PATH_MAX], source[PATH_MAX];
    for (uint64_t i = 0; i < s->nbinds; i++) {
        const shell_bind *b = &s->binds[i];
        if (b->mode != SHELL_BIND_DIRECT || (b->flags & SHELL_BIND_READONLY) || !realpath(b->source, source))
            continue;
        for (size_t k = 0; k < sizeof guarded / sizeof *guarded; k++) {
            const char *path = guarded[k][1];
            if (!path || !resolve(path, file) || !(below(file, source) || same_file(path, source)))
                continue;
            Text t = {0};
            text_printf(&t, "%s lies in %s, which scripts may write (a direct bind): move it, or make the bind readonly", guarded[k][0], b->source);
            text_add(&t, "", 1);
            const char *why = t.failed ? "out of memory" : settings_copy(s, t.data);
            text_free(&t);
            return why;
        }
    }
    return NULL;
}

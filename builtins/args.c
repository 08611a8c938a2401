/* args: options as getopt_long reads them, with GNU's messages, or bash's in a builtin. */
#include <stdarg.h>
#include <stdlib.h>

#include "command.h"

void usage_hint(Proc *p, const Args *a)
{
    if (a->builtin) {
        out_printf(p->err, "%s: usage: %s\n", a->command->name, a->command->usage);
        output_flush(p->err);
        proc_fail(p, 2);
    }
    if (a->command->hint) {
        out_printf(p->err, "%s\n", a->command->hint);
        output_flush(p->err);
        proc_fail(p, a->command->usage_status ? a->command->usage_status : 1);
    }
    if (a->command->flags & COMMAND_NAMED_HINT)
        out_printf(p->err, "%s: ", p->name ? p->name : a->command->name);
    out_printf(p->err, "Try '%s --help' for more information.\n", p->name ? p->name : a->command->name);
    output_flush(p->err);
    proc_fail(p, a->command->usage_status ? a->command->usage_status : 1);
}

void usage_fail(Proc *p, Args *args, const char *format, ...)
{
    char text[512];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    warn(p, "%s", text);
    usage_hint(p, args);
}

void usage_missing(Proc *p, Args *args, const char *after)
{
    if (after)
        usage_fail(p, args, "missing operand after %s", quote(p, after));
    usage_fail(p, args, "missing operand");
}

void usage_extra(Proc *p, Args *args, const char *operand) { usage_fail(p, args, "extra operand %s", quote(p, operand)); }

/* ---------- help ---------- */

static void print_option(Proc *p, const Option *o)
{
    char left[80], shortened[8] = "    ";
    if (o->letter && o->name)
        snprintf(shortened, sizeof shortened, "-%c, ", o->letter);
    else if (o->letter)
        snprintf(shortened, sizeof shortened, "-%c", o->letter);
    const char *value = o->value_name ? o->value_name : "VALUE";
    if (o->name && o->kind == OPT_VALUE)
        snprintf(left, sizeof left, "  %s--%s=%s", shortened, o->name, value);
    else if (o->name && o->kind == OPT_OPTIONAL)
        snprintf(left, sizeof left, "  %s--%s[=%s]", shortened, o->name, value);
    else if (o->name)
        snprintf(left, sizeof left, "  %s--%s", shortened, o->name);
    else if (o->kind == OPT_VALUE)
        snprintf(left, sizeof left, "  %s %s", shortened, value);
    else
        snprintf(left, sizeof left, "  %s", shortened);
    if (strlen(left) > 26)
        out_printf(p->out, "%s\n%28s%s\n", left, "", o->help);
    else
        out_printf(p->out, "%-28s%s\n", left, o->help);
}

void print_help(Proc *p, const Command *c)
{
    const char *line = c->usage;
    for (const char *prefix = "Usage: "; *line; prefix = "  or:  ") {
        size_t n = strcspn(line, "\n");
        out_printf(p->out, "%s%.*s\n", prefix, (int)n, line);
        line += n + (line[n] == '\n');
    }
    out_printf(p->out, "%s\n", c->summary);
    if (c->options && (c->options->letter || c->options->name))
        out_char(p->out, '\n');
    for (const Option *o = c->options; o && (o->letter || o->name); o++)
        if (o->help)
            print_option(p, o);
    if (!(c->flags & COMMAND_SHELL))
        out_str(p->out, "      --help                display this help and exit\n"
                        "      --version             output version information and exit\n");
    if (c->notes)
        out_printf(p->out, "\n%s\n", c->notes);
}

static NORETURN void help_or_version(Proc *p, const Args *a, bool help)
{
    if (help)
        print_help(p, a->command);
    else
        out_printf(p->out, "%s (libshell) 0.1.0\n", a->command->name);
    proc_fail(p, output_status(p));
}

/* ---------- operands and permutation ---------- */

static bool permutes(Proc *p, const Args *a)
{
    return !a->builtin && !(a->command->flags & COMMAND_ORDERED) && !proc_getenv(p, "POSIXLY_CORRECT");
}

/* Moves the options just passed, argv[last_operand..at), in front of the operands skipped before them. What ps shows stays in its order. */
static void permute(Proc *p, Args *a)
{
    char **v = a->argv;
    if (p->argv == v) {
        char **kept = mem_array(&p->keep, (size_t)p->argc + 1, char *);
        memcpy(kept, v, (size_t)p->argc * sizeof *kept);
        p->argv = kept;
    }
    for (int to = a->first_operand, from = a->last_operand; from < a->at; from++, to++) {
        char *option = v[from];
        memmove(&v[to + 1], &v[to], (size_t)(from - to) * sizeof *v);
        v[to] = option;
    }
    a->first_operand += a->at - a->last_operand;
    a->last_operand = a->at;
}

char **args_operands(Args *args, int *count)
{
    *count = args->argc - args->at;
    return args->argv + args->at;
}

char *args_operand(Args *a)
{
    bool ended = a->at > 1 && strcmp(a->argv[a->at - 1], "--") == 0;
    if (a->at >= a->argc)
        return NULL;
    a->no_more = ended || a->only_operands;
    a->only_operands = a->no_more;
    return a->argv[a->at++];
}

static int finish(Proc *p, Args *a)
{
    if (a->first_operand != a->last_operand)
        permute(p, a);
    if (a->first_operand < a->last_operand)
        a->at = a->first_operand;
    a->no_more = true;
    return -1;
}

/* ---------- long options ---------- */

static bool long_matches(const Option *o, Slice name, bool *exact)
{
    if (!o->name || strncmp(o->name, name.data, name.len) != 0)
        return false;
    *exact = o->name[name.len] == 0;
    return true;
}

static bool same_meaning(const Option *a, const Option *b)
{
    return a->kind == b->kind && (a->letter ? a->letter == b->letter : a->id == b->id && a->id != 0);
}

static NORETURN void ambiguous(Proc *p, const Args *a, const char *given, Slice name)
{
    Buf text;
    buf_init(&text, &p->mem, 4096);
    buf_printf(&text, "option '%s' is ambiguous; possibilities:", given);
    bool exact;
    for (const Option *o = a->command->options; o->letter || o->name; o++)
        if (long_matches(o, name, &exact))
            buf_printf(&text, " '--%s'", o->name);
    warn(p, "%s", text.data);
    usage_hint(p, a);
}

static const Option *long_find(Proc *p, const Args *a, const char *given, Slice name)
{
    const Option *found = NULL;
    bool several = false, exact;
    for (const Option *o = a->command->options; o && (o->letter || o->name); o++) {
        if (!long_matches(o, name, &exact))
            continue;
        if (exact)
            return o;
        if (found && !same_meaning(found, o))
            several = true;
        found = o;
    }
    if (several)
        ambiguous(p, a, given, name);
    return found;
}

static int option_id(Proc *p, Args *a, const Option *o)
{
    if (o->id == OPTION_IS_HELP || o->id == OPTION_IS_VERSION)
        help_or_version(p, a, o->id == OPTION_IS_HELP);
    a->option_index = (int)(o - a->command->options);
    return o->letter ? (unsigned char)o->letter : o->id;
}

static int take_long(Proc *p, Args *a, char *given)
{
    const char *text = given + 2;
    size_t n = strcspn(text, "=");
    Slice name = {text, n};
    char *attached = text[n] == '=' ? given + 2 + n + 1 : NULL;
    const Option *o = long_find(p, a, given, name);
    if (!o && n && (strncmp("help", text, n) == 0 || strncmp("version", text, n) == 0) && !attached)
        help_or_version(p, a, text[0] == 'h');
    if (!o) {
        warn(p, "unrecognized option '%s'", given);
        usage_hint(p, a);
    }
    if (o->kind == OPT_FLAG && attached) {
        warn(p, "option '--%s' doesn't allow an argument", o->name);
        usage_hint(p, a);
    }
    a->value = attached;
    if (o->kind == OPT_VALUE && !attached) {
        if (a->at >= a->argc) {
            warn(p, "option '--%s' requires an argument", o->name);
            usage_hint(p, a);
        }
        a->value = a->argv[a->at++];
    }
    return option_id(p, a, o);
}

/* ---------- short options ---------- */

static const Option *short_find(const Args *a, char letter)
{
    for (const Option *o = a->command->options; o && (o->letter || o->name); o++)
        if (o->letter == letter)
            return o;
    return NULL;
}

static NORETURN void bad_letter(Proc *p, const Args *a, char letter)
{
    if (a->builtin)
        warn(p, "-%c: invalid option", letter);
    else
        warn(p, "invalid option -- '%c'", letter);
    usage_hint(p, a);
}

static int take_short(Proc *p, Args *a)
{
    char letter = *a->cluster++;
    const Option *o = short_find(a, letter);
    if (!o)
        bad_letter(p, a, letter);
    a->value = NULL;
    if (o->kind != OPT_FLAG && *a->cluster) {
        a->value = a->cluster;
        a->cluster = NULL;
    } else if (o->kind == OPT_VALUE) {
        if (a->at >= a->argc) {
            if (a->builtin)
                warn(p, "-%c: option requires an argument", letter);
            else
                warn(p, "option requires an argument -- '%c'", letter);
            usage_hint(p, a);
        }
        a->value = a->argv[a->at++];
        a->cluster = NULL;
    }
    if (a->cluster && !*a->cluster)
        a->cluster = NULL;
    return option_id(p, a, o);
}

/* ---------- the loop ---------- */

static bool is_option(const char *s) { return s[0] == '-' && s[1]; }

int args_next(Proc *p, Args *a)
{
    if (a->cluster)
        return take_short(p, a);
    if (a->no_more)
        return -1;
    if (a->first_operand == 0)
        a->first_operand = a->last_operand = a->at;
    if (permutes(p, a)) {
        if (a->first_operand != a->last_operand && a->last_operand != a->at)
            permute(p, a);
        else if (a->last_operand != a->at)
            a->first_operand = a->at;
        while (a->at < a->argc && !is_option(a->argv[a->at]))
            a->at++;
        a->last_operand = a->at;
    } else if (a->at < a->argc && !is_option(a->argv[a->at])) {
        a->no_more = true;
        return -1;
    }
    if (a->at >= a->argc)
        return finish(p, a);
    char *given = a->argv[a->at++];
    if (strcmp(given, "--") == 0) {
        if (a->first_operand != a->last_operand) {
            permute(p, a);
            a->at = a->first_operand;
        }
        a->no_more = true;
        return -1;
    }
    if (given[1] == '-') {
        if (a->builtin) {
            if (strcmp(given, "--help") == 0)
                help_or_version(p, a, true);
            bad_letter(p, a, '-');
        }
        return take_long(p, a, given);
    }
    a->cluster = given + 1;
    return take_short(p, a);
}

/* ---------- numbers ---------- */

int parse_int(const char *text, int64_t *out)
{
    const char *s = text;
    while (*s == ' ' || (*s >= '\t' && *s <= '\r'))
        s++;
    bool negative = *s == '-';
    if (*s == '-' || *s == '+')
        s++;
    if (*s < '0' || *s > '9')
        return -EINVAL;
    int64_t v = 0;
    bool range = false;
    for (; *s >= '0' && *s <= '9'; s++)
        if (__builtin_mul_overflow(v, 10, &v) || (negative ? __builtin_sub_overflow(v, *s - '0', &v) : __builtin_add_overflow(v, *s - '0', &v)))
            range = true;
    if (*s)
        return -EINVAL;
    *out = range ? (negative ? INT64_MIN : INT64_MAX) : v;
    return range ? -ERANGE : 0;
}

static const char suffix_letters[] = "KMGTPEZYRQ";

/* As xstrtoumax: a number (which may be missing before a suffix), then one of `allowed`, for K M G ... optionally B or iB. */
int parse_size(const char *text, const char *allowed, uint64_t *out)
{
    const char *s = text;
    uint64_t v = 0;
    bool digits = false, range = false;
    while (*s == ' ' || (*s >= '\t' && *s <= '\r'))
        s++;
    if (*s == '+')
        s++;
    for (; *s >= '0' && *s <= '9'; s++, digits = true)
        range |= __builtin_mul_overflow(v, 10u, &v) || __builtin_add_overflow(v, (uint64_t)(*s - '0'), &v);
    if (!digits) {
        if (!*s || !strchr(allowed, *s))
            return -EINVAL;
        v = 1;
    }
    if (*s) {
        if (!strchr(allowed, *s))
            return -EINVAL;
        char letter = *s++;
        uint64_t base = 1024;
        if (strchr(allowed, '0')) {
            if (s[0] == 'i' && s[1] == 'B')
                s += 2;
            else if (*s == 'B' || *s == 'D')
                base = 1000, s++;
        }
        uint64_t factor = letter == 'b' ? 512 : letter == 'c' ? 1 : letter == 'w' ? 2 : letter == 'B' ? 1024 : 0;
        if (!factor) {
            char upper = letter >= 'a' ? (char)(letter - 32) : letter;
            const char *at = strchr(suffix_letters, upper);
            if (!at)
                return -EINVAL;
            factor = 1;
            for (long i = 0; i <= at - suffix_letters; i++)
                range |= __builtin_mul_overflow(factor, base, &factor);
        }
        range |= v && __builtin_mul_overflow(v, factor, &v);
        if (*s)
            return -EINVAL;
    }
    *out = range ? UINT64_MAX : v;
    return range ? -ERANGE : 0;
}

bool parse_duration(const char *text, double *seconds)
{
    char *end;
    double v = strtod(text, &end);
    if (end == text || !(v >= 0))
        return false;
    static const struct { char letter; double factor; } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
    for (size_t i = 0; *end && i < ARRAY_LEN(units); i++)
        if (*end == units[i].letter && !end[1]) {
            *seconds = v * units[i].factor;
            return true;
        }
    *seconds = v;
    return *end == 0;
}

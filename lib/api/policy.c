/* policy: the embedder's policy, checked whole before it is set, and its hook. */
#include <string.h>

#include "internal.h"
#include "lib/kernel/policy.h"

enum { MOST_ENTRIES = 4096, REASON = 256 };

typedef struct Build {
    shell *sh;
    Mem *m;
    Policy *p;
    const shell_policy *given;
} Build;

static shell_err copy_names(Build *b, const char *const *names, const char ***out, size_t *count)
{
    size_t n = 0;
    while (names && names[n] && n < MOST_ENTRIES)
        n++;
    *count = n;
    *out = names ? mem_alloc_array(b->m, n + 1, sizeof **out) : NULL;
    if (names && !*out)
        return SHELL_ENOMEM;
    for (size_t i = 0; i < n; i++)
        if (!((*out)[i] = mem_strdup(b->m, names[i])))
            return SHELL_ENOMEM;
    return SHELL_OK;
}

static shell_err add_rule(Build *b, FileRule *out, const shell_file_rule *given, uint64_t i)
{
    shell_file_rule r = {0};
    if (!api_copy_struct(&r, sizeof r, given) || !r.pattern || !r.operations || r.operations > 63)
        return api_fail(b->sh, SHELL_EINVAL, "rule %llu: bad size, no pattern, or unknown operations", (unsigned long long)i);
    int err = path_pattern_parse(b->m, slice_str(r.pattern), &out->pattern);
    if (err)
        return err == -ENOMEM ? SHELL_ENOMEM : api_fail(b->sh, SHELL_EINVAL, "rule %llu: the pattern is absolute, without . and .., of at most 62 components", (unsigned long long)i);
    out->operations = r.operations;
    out->deny = r.deny != 0;
    return SHELL_OK;
}

static shell_err add_rules(Build *b)
{
    uint64_t n = b->given->nrules;
    if (n > MOST_ENTRIES || (n && !b->given->rules))
        return api_fail(b->sh, SHELL_EINVAL, "policy: too many rules, or none where some are counted");
    b->p->rules = mem_alloc_array(b->m, n + 1, sizeof(FileRule));
    if (!b->p->rules)
        return SHELL_ENOMEM;
    const char *at = (const char *)b->given->rules;
    for (uint64_t i = 0; i < n; i++, at += b->given->rules->size) {
        shell_err err = add_rule(b, &b->p->rules[i], (const shell_file_rule *)(const void *)at, i);
        if (err)
            return err;
    }
    b->p->nrules = n;
    return SHELL_OK;
}

static shell_err add_scratch(Build *b)
{
    const char **names;
    shell_err err = copy_names(b, b->given->scratch, &names, &b->p->nscratch);
    if (err || !names)
        return err;
    b->p->scratch = mem_alloc_array(b->m, b->p->nscratch + 1, sizeof(Slice));
    if (!b->p->scratch)
        return SHELL_ENOMEM;
    for (size_t i = 0; i < b->p->nscratch; i++) {
        Slice s = slice_str(names[i]);
        while (s.len > 1 && s.data[s.len - 1] == '/')
            s.len--;
        if (!s.len || s.data[0] != '/')
            return api_fail(b->sh, SHELL_EINVAL, "scratch: %s is not absolute", names[i]);
        b->p->scratch[i] = s;
    }
    return SHELL_OK;
}

static shell_err fill(Build *b)
{
    const shell_policy *g = b->given;
    if ((g->asks || g->ask_commands) && !g->ask)
        return api_fail(b->sh, SHELL_EINVAL, "policy: questions, and nobody to ask");
    b->p->asks = g->asks | (g->ask_commands ? SHELL_ASK_COMMAND : 0u);
    shell_err err = copy_names(b, g->allow_commands, &b->p->allow, &b->p->nallow);
    err = err ? err : copy_names(b, g->deny_commands, &b->p->deny, &b->p->ndeny);
    err = err ? err : copy_names(b, g->ask_commands, &b->p->ask_commands, &b->p->nask);
    err = err ? err : add_rules(b);
    return err ? err : add_scratch(b);
}

shell_err policy_configure(shell *sh, const shell_policy *policy)
{
    shell_policy given = {0};
    if (policy && !api_copy_struct(&given, sizeof given, policy))
        return api_fail(sh, SHELL_EINVAL, "policy: bad size");
    Policy *p = NULL;
    if (policy) {
        Mem m;
        mem_init(&m, NULL, NULL, NULL);
        p = mem_new(&m, Policy);
        Build b = {sh, &m, p, &given};
        shell_err err = p ? fill(&b) : SHELL_ENOMEM;
        if (err) {
            mem_drop(&m);
            return err == SHELL_ENOMEM ? api_fail(sh, err, "policy: out of memory") : err;
        }
        p->mem = m;
        p->holders = 1;
    }
    pthread_mutex_lock(&sh->forks);
    sh->policy = given;
    pthread_mutex_unlock(&sh->forks);
    kern_policy_set(sh->kernel, p);
    return SHELL_OK;
}

shell_err shell_set_policy(shell *sh, const shell_policy *policy) { return sh ? policy_configure(sh, policy) : SHELL_EINVAL; }

/* ---------- the hook ---------- */

bool policy_serve(shell *sh, Request *r)
{
    static const int32_t kinds[] = {[ASK_DELETE] = SHELL_ASK_DELETE, [ASK_OVERWRITE] = SHELL_ASK_OVERWRITE, [ASK_DIRECT_WRITE] = SHELL_ASK_DIRECT_WRITE, [ASK_COMMAND] = SHELL_ASK_COMMAND};
    MountCall *c = (MountCall *)(uintptr_t)r->ask;
    char reason[REASON] = "";
    pthread_mutex_lock(&sh->forks);
    shell_policy given = sh->policy;
    pthread_mutex_unlock(&sh->forks);
    shell_question q = {.size = sizeof q, .kind = kinds[c->mode], .subject = c->path.data, .id = r->id};
    sh->in_callback = true;
    int32_t answer = given.ask ? given.ask(given.user, &q, reason, sizeof reason) : 1;
    sh->in_callback = false;
    if (answer == SHELL_EAGAIN)
        return false;
    reason[REASON - 1] = 0;
    if (answer && reason[0])
        mount_call_add(c, slice_str(reason));
    c->served_now = true;
    kern_answer(sh->kernel, q.id, answer ? -EACCES : 0);
    return true;
}

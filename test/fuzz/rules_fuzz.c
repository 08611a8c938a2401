/* rules_fuzz: fields of a letter and a text, with 0x1F between them, as URL rules over a URL, as path patterns over paths, and as a file policy
 * over a script.
 *
 *   A allow rule   X deny rule   m methods of the last   L url   M method
 *   P pattern   O its operations (and a deny where the byte's bit 6 is set)   F and T paths of a move   B a path below both
 *   S script   C commands' deny list   D commands asked about   Q answers of the embedder   Z scratch directory
 *
 * A rule that allows holds of the URL by a plain reading of both; patterns agree with a matcher that goes back; what a policy says may be moved gives
 * no operation below its new name that was not there below the old; and no script reads or changes a directory that a rule denies. */
#include <stdio.h>

#include "in_net.h"
#include "include/shell.h"
#include "lib/kernel/policy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RULES = 8, PATTERNS = 8, MOST = 4096 };

typedef struct Input {
    struct { bool deny; Slice text, methods; } rule[RULES];
    size_t nrules;
    struct { Slice text; unsigned char bits; } pattern[PATTERNS];
    size_t npatterns;
    Slice url, method, from, to, below, script, deny, ask, answers, scratch;
} Input;

static void take_field(Input *in, char letter, Slice s)
{
    static const char letters[] = "LMFTBSCDQZ";
    Slice *const slots[] = {&in->url, &in->method, &in->from, &in->to, &in->below, &in->script, &in->deny, &in->ask, &in->answers, &in->scratch};
    const char *at = letter ? strchr(letters, letter) : NULL;
    if (at) {
        *slots[at - letters] = s;
    } else if ((letter == 'A' || letter == 'X') && in->nrules < RULES) {
        in->rule[in->nrules].deny = letter == 'X';
        in->rule[in->nrules].methods = slice("", 0);
        in->rule[in->nrules++].text = s;
    } else if (letter == 'm' && in->nrules) {
        in->rule[in->nrules - 1].methods = s;
    } else if (letter == 'P' && in->npatterns < PATTERNS) {
        in->pattern[in->npatterns].bits = 63;
        in->pattern[in->npatterns++].text = s;
    } else if (letter == 'O' && in->npatterns && s.len) {
        in->pattern[in->npatterns - 1].bits = (unsigned char)s.data[0];
    }
}

/* ---------- URL rules ---------- */

static bool lists(Slice methods, Slice method)
{
    for (Slice rest = methods; rest.len;) {
        size_t n = slice_find(rest, ',');
        if (slice_eq(slice(rest.data, n), method))
            return true;
        rest = slice_from(rest, MIN(n + 1, rest.len));
    }
    return !methods.len;
}

/* Whether the URL is below the rule's path by a plain reading. */
static bool is_below(Slice path, Slice prefix)
{
    while (prefix.len && prefix.data[prefix.len - 1] == '/')
        prefix.len--;
    return slice_starts(path, prefix) && (path.len == prefix.len || path.data[prefix.len] == '/');
}

static void check_allows(const UrlRule *r, const Url *u, Slice method)
{
    must(r->https == u->secure && r->http == !u->secure && r->port == u->port && lists(r->methods, method) && is_below(u->path, r->path));
    must(r->path.len <= 1 || !u->odd_path);
    if (r->host_match == HOST_ANY)
        return;
    must(u->host.len >= r->host.len && slice_eq(slice_from(u->host, u->host.len - r->host.len), r->host));
    size_t before = u->host.len - r->host.len;
    if (r->host_match == HOST_EXACT)
        must(before == 0);
    else
        must(before > 1 && u->host.data[before - 1] == '.' && u->kind == URL_NAME);
}

/* A rule printed again is the same rule. */
static void check_reprint(Mem *m, const UrlRule *r)
{
    static const char *const stars[] = {[HOST_EXACT] = "", [HOST_BELOW] = "*.", [HOST_ANY] = "*"};
    bool v6 = memchr(r->host.data ? r->host.data : "", ':', r->host.len) != NULL;
    UrlRule again;
    const char *why;
    char *text = mem_printf(m, "%s://%s%s%.*s%s:%u%.*s", r->https ? "https" : "http", stars[r->host_match], v6 ? "[" : "", (int)r->host.len, r->host.data ? r->host.data : "", v6 ? "]" : "",
                            (unsigned)r->port, (int)r->path.len, r->path.data);
    must(url_rule_parse(m, slice_str(text), r->methods, &again, &why) == 0);
    must(again.host_match == r->host_match && slice_eq(again.host, r->host) && slice_eq(again.path, r->path) && again.port == r->port && again.https == r->https);
}

static void url_rules(Mem *m, const Input *in)
{
    UrlRule rules[RULES];
    NetPolicy policy = {.rules = rules};
    Url u;
    const char *why;
    bool allowed = false, denied = false;
    for (size_t i = 0; i < in->nrules; i++) {
        UrlRule *r = &rules[policy.nrules];
        if (url_rule_parse(m, in->rule[i].text, in->rule[i].methods, r, &why))
            continue;
        check_reprint(m, r);
        r->deny = in->rule[i].deny;
        policy.nrules++;
    }
    if (url_parse(m, in->url, &u, &why) || u.unicode)
        return;
    for (size_t i = 0; i < policy.nrules; i++) {
        bool matches = url_rule_matches(&rules[i], &u, in->method);
        if (matches && !rules[i].deny)
            check_allows(&rules[i], &u, in->method);
        /* a denial is never narrower than the same words as a permission */
        UrlRule other = rules[i];
        other.deny = !other.deny;
        if (!rules[i].deny && matches)
            must(url_rule_matches(&other, &u, in->method));
        allowed |= matches && !rules[i].deny;
        denied |= matches && rules[i].deny;
    }
    must(net_decide(&policy, &u, in->method).allowed == (allowed && !denied));
}

/* ---------- path patterns ---------- */

static bool split(Slice *path, Slice *component)
{
    while (path->len && path->data[0] == '/')
        *path = slice_from(*path, 1);
    size_t n = slice_find(*path, '/');
    *component = slice(path->data, n);
    *path = slice_from(*path, n);
    return n > 0;
}

static bool matches(const PathPattern *p, size_t i, Slice path, unsigned *fuel)
{
    Slice component, rest = path;
    if (!*fuel || i == p->n)
        return *fuel ? !split(&rest, &component) : false;
    --*fuel;
    if (!p->part[i] && matches(p, i + 1, path, fuel))
        return true;
    if (!split(&rest, &component))
        return false;
    return !p->part[i] ? matches(p, i, rest, fuel) : pat_match(NULL, p->part[i], component) && matches(p, i + 1, rest, fuel);
}

static void path_rules(Mem *m, const Input *in)
{
    FileRule rules[PATTERNS];
    Policy policy = {.rules = rules};
    for (size_t i = 0; i < in->npatterns; i++) {
        FileRule *r = &rules[policy.nrules];
        if (path_pattern_parse(m, in->pattern[i].text, &r->pattern))
            continue;
        r->operations = in->pattern[i].bits & 63u;
        r->deny = (in->pattern[i].bits & 64) != 0;
        policy.nrules++;
        unsigned fuel = 20000;
        bool expected = matches(&r->pattern, 0, in->from, &fuel);
        must(!fuel || path_pattern_ended(&r->pattern, path_pattern_walk(&r->pattern, in->from)) == expected);
    }
    if (slice_find(in->from, 0) < in->from.len || slice_find(in->to, 0) < in->to.len || slice_find(in->below, 0) < in->below.len) /* no path has one */
        return;
    if (policy_escapes(&policy, in->from, in->to, true))
        return;
    Slice from = slice_str(mem_printf(m, "%.*s/%.*s", (int)in->from.len, in->from.data, (int)in->below.len, in->below.data));
    Slice to = slice_str(mem_printf(m, "%.*s/%.*s", (int)in->to.len, in->to.data, (int)in->below.len, in->below.data));
    for (int op = VOP_READ; op <= VOP_CHMOD; op++) {
        must(!policy_allows_file(&policy, (VOp)op, to) || policy_allows_file(&policy, (VOp)op, from));
        must(!policy_allows_file(&policy, (VOp)op, in->to) || policy_allows_file(&policy, (VOp)op, in->from));
    }
}

/* ---------- a whole shell ---------- */

static const char token[] = "T0K-93xq-vault";

static int32_t ask(void *user, const shell_question *q, char *reason, uint64_t size)
{
    Slice *answers = user;
    must(q->subject && size > 1);
    if (!answers->len)
        return 0;
    char c = answers->data[0];
    *answers = slice_from(*answers, 1);
    snprintf(reason, size, "%s", c & 2 ? "not today" : "");
    return c & 1;
}

static shell *open_shell(void)
{
    shell_limits limits;
    shell_options o;
    shell *sh;
    shell_limits_init(&limits);
    limits.steps = 100000;
    limits.memory = 32 << 20;
    limits.output = limits.file_bytes = 1 << 20;
    limits.time_ms = 2000;
    shell_options_init(&o);
    o.limits = &limits;
    o.fixed_clock = 2;
    must(shell_open(&o, &sh) == SHELL_OK);
    must(shell_write_file(sh, "/workspace/vault/sub/secret", token, sizeof token - 1, SHELL_WRITE_PARENTS) == SHELL_OK);
    must(shell_write_file(sh, "/workspace/vault/key", token, sizeof token - 1, 0) == SHELL_OK && shell_write_file(sh, "/workspace/open", "open\n", 5, 0) == SHELL_OK);
    return sh;
}

static bool set_policy(Mem *m, shell *sh, const Input *in, Slice *answers)
{
    shell_file_rule rules[PATTERNS + 2] = {{sizeof *rules, "/workspace/vault", 63, 1}, {sizeof *rules, "/workspace/vault/**", 63, 1}};
    const char *deny[] = {mem_copy(m, in->deny), NULL}, *asked[] = {mem_copy(m, in->ask), NULL}, *scratch[] = {mem_copy(m, in->scratch), NULL};
    shell_policy p = {.size = sizeof p, .deny_commands = in->deny.len ? deny : NULL, .ask_commands = in->ask.len ? asked : NULL, .scratch = in->scratch.len ? scratch : NULL, .rules = rules, .nrules = 2};
    for (size_t i = 0; i < in->npatterns; i++)
        rules[p.nrules++] = (shell_file_rule){sizeof *rules, mem_copy(m, in->pattern[i].text), in->pattern[i].bits & 63u, (in->pattern[i].bits & 64) != 0};
    p.asks = SHELL_ASK_DELETE | SHELL_ASK_OVERWRITE | SHELL_ASK_DIRECT_WRITE;
    p.ask = ask;
    p.user = answers;
    return shell_set_policy(sh, &p) == SHELL_OK;
}

static void check_vault(shell *sh)
{
    static const char *const names[] = {"/workspace/vault/sub/secret", "/workspace/vault/key"};
    must(shell_chmod(sh, "/workspace", 0755) == SHELL_OK); /* a script may take its own way to it away */
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        char *data;
        uint64_t n;
        must(shell_read_file(sh, names[i], &data, &n) == SHELL_OK);
        must(n == sizeof token - 1 && memcmp(data, token, n) == 0);
        shell_free(data);
    }
}

static void run_script(Mem *m, const Input *in)
{
    Slice answers = in->answers;
    if (!in->script.len || contains(in->script, "T0K"))
        return;
    shell *sh = open_shell();
    shell_result *r;
    if (set_policy(m, sh, in, &answers) && shell_run(sh, in->script.data, in->script.len, NULL, &r) == SHELL_OK) {
        must(!contains(slice(r->out, r->out_len), token) && !contains(slice(r->err, r->err_len), token));
        shell_result_free(r);
    }
    check_vault(sh);
    must(shell_close(sh) == SHELL_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Input in = {.method = SLICE("GET"), .url = SLICE("")};
    Slice rest = slice((const char *)data, MIN(size, (size_t)MOST));
    while (rest.len) {
        Slice field = next_field(&rest);
        if (field.len)
            take_field(&in, field.data[0], slice_from(field, 1));
    }
    Mem m;
    mem_init(&m, NULL, NULL, NULL);
    url_rules(&m, &in);
    path_rules(&m, &in);
    run_script(&m, &in);
    mem_drop(&m);
    return 0;
}

/* config: a configuration file, TOML or JSON, into the settings. Each table of keys below says what stands where; what stands in none is an error. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "settings.h"

enum { MOST_BYTES = 1 << 20 };

typedef struct {
    const char *name;
    ValueKind kind;                                        /* VALUE_NULL: `take` looks itself */
    const char *(*take)(Settings *s, const Value *v, void *into); /* NULL, or what is wrong; "" when it was noted already */
} Rule;

static const char noted[] = "";

/* ---------- unknown keys ---------- */

/* Levenshtein's distance, of names up to 40 bytes. */
static unsigned distance(const char *a, size_t n, const char *b)
{
    unsigned row[41], m = (unsigned)strlen(b);
    if (n > 40 || m > 40)
        return 99;
    for (unsigned j = 0; j <= m; j++)
        row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned)i;
        for (unsigned j = 1; j <= m; j++) {
            unsigned above = row[j], best = diagonal + (a[i - 1] != b[j - 1]);
            best = above + 1 < best ? above + 1 : best;
            row[j] = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
            diagonal = above;
        }
    }
    return row[m];
}

static const char *nearest(const Rule *rules, const Value *v)
{
    const char *best = NULL;
    unsigned least = 4;
    for (const Rule *r = rules; r->name; r++) {
        unsigned d = distance(v->key, v->key_len, r->name);
        if (d < least && d < strlen(r->name)) {
            least = d;
            best = r->name;
        }
    }
    return best;
}

static void unknown(Settings *s, const Rule *rules, const Value *v)
{
    const char *near = nearest(rules, v);
    if (near)
        doc_fail(&s->doc, v->line, "unknown key \"%.60s\"; did you mean \"%s\"?", v->key, near);
    else
        doc_fail(&s->doc, v->line, "unknown key \"%.60s\"", v->key);
}

/* ---------- tables ---------- */

static bool fits(const Value *v, ValueKind kind)
{
    return kind == VALUE_NULL || v->kind == kind || (kind == VALUE_NUMBER && v->kind == VALUE_INTEGER);
}

static bool has_nul(const Value *v)
{
    return v->kind == VALUE_STRING && memchr(v->text, 0, v->len);
}

static const char *take_table(Settings *s, const Rule *rules, const Value *table, void *into)
{
    for (const Value *v = table->first; v; v = v->next) {
        const Rule *r = rules;
        while (r->name && !(strlen(r->name) == v->key_len && memcmp(r->name, v->key, v->key_len) == 0))
            r++;
        if (!r->name) {
            unknown(s, rules, v);
            return noted;
        }
        if (!fits(v, r->kind)) {
            doc_fail(&s->doc, v->line, "\"%s\" wants %s, not %s", r->name, value_kind_name(r->kind), value_kind_name(v->kind));
            return noted;
        }
        const char *why = has_nul(v) ? "a NUL byte" : r->take(s, v, into);
        if (why && why != noted)
            doc_fail(&s->doc, v->line, "\"%s\": %s", r->name, why);
        if (why)
            return noted;
    }
    return NULL;
}

/* A list whose every item is of `kind`. */
static const char *each(Settings *s, const Value *list, ValueKind kind, void *into, const char *(*take)(Settings *, const Value *, void *))
{
    for (const Value *v = list->first; v; v = v->next) {
        if (v->kind != kind || has_nul(v)) {
            doc_fail(&s->doc, v->line, "\"%s\" wants %s in its list, not %s", list->key, value_kind_name(kind),
                     v->kind == kind ? "a NUL byte" : value_kind_name(v->kind));
            return noted;
        }
        const char *why = take(s, v, into);
        if (why)
            return why;
    }
    return NULL;
}

/* ---------- binds ---------- */

static const char *bind_mode(Settings *s, const Value *v, void *into)
{
    static const char *const modes[] = {"copy", "direct", "overlay"};
    (void)s;
    for (int32_t i = 0; i < 3; i++)
        if (value_is(v, modes[i])) {
            ((shell_bind *)into)->mode = i;
            return NULL;
        }
    return "\"copy\", \"direct\" or \"overlay\" is expected";
}

static const char *bind_source(Settings *s, const Value *v, void *into)
{
    (void)s;
    ((shell_bind *)into)->source = v->text;
    return v->len ? NULL : "a path is expected";
}

static const char *bind_destination(Settings *s, const Value *v, void *into)
{
    (void)s;
    ((shell_bind *)into)->destination = v->text;
    return v->text[0] == '/' ? NULL : "an absolute path is expected";
}

static const char *bind_readonly(Settings *s, const Value *v, void *into)
{
    (void)s;
    if (v->truth)
        ((shell_bind *)into)->flags |= SHELL_BIND_READONLY;
    return NULL;
}

static const char *one_bind(Settings *s, const Value *v, void *into)
{
    static const Rule rules[] = {{"mode", VALUE_STRING, bind_mode}, {"source", VALUE_STRING, bind_source}, {"destination", VALUE_STRING, bind_destination},
                                 {"readonly", VALUE_BOOL, bind_readonly}, {0}};
    shell_bind b = {.size = sizeof b, .mode = SHELL_BIND_COPY};
    (void)into;
    const char *why = take_table(s, rules, v, &b);
    if (!why && !(b.source && b.destination))
        doc_fail(&s->doc, v->line, "a bind wants \"%s\"", b.source ? "destination" : "source");
    if (s->doc.error[0])
        return noted;
    return why ? why : set_bind_parts(s, &b);
}

static const char *take_bind(Settings *s, const Value *v, void *into)
{
    return each(s, v, VALUE_TABLE, into, one_bind);
}

/* ---------- credentials ---------- */

typedef struct {
    shell_credential cred;
    bool from_env, literal;
    Text methods;
} Cred;

static const char *cred_kind(Settings *s, const Value *v, void *into)
{
    static const char *const kinds[] = {"bearer", "basic", "header", "query", "placeholder"};
    (void)s;
    for (int32_t i = 0; i < 5; i++)
        if (value_is(v, kinds[i])) {
            ((Cred *)into)->cred.kind = i;
            return NULL;
        }
    return "\"bearer\", \"basic\", \"header\", \"query\" or \"placeholder\" is expected";
}

static const char *cred_url(Settings *s, const Value *v, void *into)
{
    (void)s;
    ((Cred *)into)->cred.url = v->text;
    return NULL;
}

static const char *cred_param(Settings *s, const Value *v, void *into)
{
    (void)s;
    ((Cred *)into)->cred.name = v->text;
    return NULL;
}

static const char *cred_key(Settings *s, const Value *v, void *into)
{
    Cred *c = into;
    (void)s;
    c->literal = true;
    c->cred.secret = v->text;
    c->cred.secret_len = v->len;
    return v->len ? NULL : "it is empty";
}

static const char *cred_key_env(Settings *s, const Value *v, void *into)
{
    Cred *c = into;
    const char *value = getenv(v->text);
    c->from_env = true;
    if (!value || !*value) {
        doc_fail(&s->doc, v->line, "the environment has no %.60s for this credential", v->text);
        return noted;
    }
    c->cred.secret = settings_copy(s, value);
    c->cred.secret_len = strlen(value);
    return NULL;
}

static const char *cred_short(Settings *s, const Value *v, void *into)
{
    (void)s;
    ((Cred *)into)->cred.no_redaction = v->truth;
    return NULL;
}

static const char *method(Settings *s, const Value *v, void *into)
{
    Text *t = into;
    (void)s;
    text_printf(t, "%s%s", t->len ? "," : "", v->text);
    return NULL;
}

static const char *cred_methods(Settings *s, const Value *v, void *into)
{
    return each(s, v, VALUE_STRING, &((Cred *)into)->methods, method);
}

static void cred_check(Settings *s, const Value *v, const Cred *c)
{
    if (!c->cred.url)
        doc_fail(&s->doc, v->line, "a credential wants \"url\"");
    else if (c->literal == c->from_env)
        doc_fail(&s->doc, v->line, "a credential wants exactly one of \"api_key\" and \"api_key_env\"");
    else if (c->cred.kind >= SHELL_CRED_HEADER && !c->cred.name)
        doc_fail(&s->doc, v->line, "a credential of this kind wants \"param\", the name of the %s",
                 c->cred.kind == SHELL_CRED_QUERY ? "query parameter" : c->cred.kind == SHELL_CRED_PLACEHOLDER ? "variable" : "header");
}

static const char *one_cred(Settings *s, const Value *v, void *into)
{
    static const Rule rules[] = {{"url", VALUE_STRING, cred_url}, {"methods", VALUE_LIST, cred_methods}, {"kind", VALUE_STRING, cred_kind},
                                 {"api_key", VALUE_STRING, cred_key}, {"api_key_env", VALUE_STRING, cred_key_env}, {"param", VALUE_STRING, cred_param},
                                 {"no_redaction", VALUE_BOOL, cred_short}, {0}};
    Cred c = {.cred = {.size = sizeof c.cred}};
    (void)into;
    const char *why = take_table(s, rules, v, &c);
    text_add(&c.methods, "", 1);
    if (!why && c.methods.len > 1)
        c.cred.methods = settings_copy(s, c.methods.data);
    text_free(&c.methods);
    if (!why)
        cred_check(s, v, &c);
    if (s->doc.error[0])
        return noted;
    return why ? why : set_cred(s, &c.cred);
}

static const char *take_cred(Settings *s, const Value *v, void *into)
{
    return each(s, v, VALUE_TABLE, into, one_cred);
}

static const char *take_mcp(Settings *s, const Value *v, void *into)
{
    (void)into;
    doc_fail(&s->doc, v->first && v->first->kind == VALUE_TABLE ? v->first->line : v->line,
             "[[mcp]]: libshell starts no processes; give the tools as custom commands");
    return noted;
}

/* ---------- policy ---------- */

static const char *rule_pattern(Settings *s, const Value *v, void *into)
{
    (void)s;
    ((shell_file_rule *)into)->pattern = v->text;
    return v->text[0] == '/' ? NULL : "an absolute pattern is expected";
}

static const char *operation(Settings *s, const Value *v, void *into)
{
    static const char *const names[] = {"read", "list", "write", "create", "delete", "chmod"};
    (void)s;
    for (unsigned i = 0; i < 6; i++)
        if (value_is(v, names[i])) {
            ((shell_file_rule *)into)->operations |= 1u << i;
            return NULL;
        }
    return "of \"read\", \"list\", \"write\", \"create\", \"delete\" and \"chmod\" it takes some";
}

static const char *rule_operations(Settings *s, const Value *v, void *into)
{
    return each(s, v, VALUE_STRING, into, operation);
}

static const char *rule_deny(Settings *s, const Value *v, void *into)
{
    (void)s;
    ((shell_file_rule *)into)->deny = v->truth;
    return NULL;
}

static const char *one_rule(Settings *s, const Value *v, void *into)
{
    static const Rule rules[] = {{"pattern", VALUE_STRING, rule_pattern}, {"operations", VALUE_LIST, rule_operations}, {"deny", VALUE_BOOL, rule_deny}, {0}};
    shell_file_rule r = {.size = sizeof r};
    (void)into;
    const char *why = take_table(s, rules, v, &r);
    if (!why && !(r.pattern && r.operations))
        doc_fail(&s->doc, v->line, "a rule wants \"%s\"", r.pattern ? "operations" : "pattern");
    if (s->doc.error[0])
        return noted;
    return why ? why : set_file_rule(s, &r);
}

static const char *take_rules(Settings *s, const Value *v, void *into)
{
    return each(s, v, VALUE_TABLE, into, one_rule);
}

static const char *name(Settings *s, const Value *v, void *into)
{
    (void)s;
    return set_name(into, v->text);
}

static const char *take_allow_commands(Settings *s, const Value *v, void *into)
{
    (void)into;
    return each(s, v, VALUE_STRING, &s->allow_commands, name);
}

static const char *take_deny_commands(Settings *s, const Value *v, void *into)
{
    (void)into;
    return each(s, v, VALUE_STRING, &s->deny_commands, name);
}

static const char *take_policy(Settings *s, const Value *v, void *into)
{
    static const Rule rules[] = {{"allow_commands", VALUE_LIST, take_allow_commands}, {"deny_commands", VALUE_LIST, take_deny_commands},
                                 {"file", VALUE_LIST, take_rules}, {0}};
    return take_table(s, rules, v, into);
}

/* ---------- limits and the server ---------- */

static bool whole(const Value *v, uint64_t *out)
{
    if (v->kind == VALUE_STRING)
        return settings_number(v->text, out);
    *out = (uint64_t)v->integer;
    return v->kind == VALUE_INTEGER && v->integer >= 0;
}

static const char *take_limit(Settings *s, const Value *v, void *into)
{
    uint64_t n;
    (void)into;
    if (!whole(v, &n))
        return "a whole number is expected, as it is or as \"64M\"";
    return set_limit_named(s, v->key, n);
}

static const char *take_timeout(Settings *s, const Value *v, void *into)
{
    (void)into;
    return v->kind == VALUE_INTEGER || v->kind == VALUE_NUMBER ? set_timeout(s, v->number) ? "a number of seconds is expected" : NULL
                                                               : "a number of seconds is expected";
}

static const char *take_limits(Settings *s, const Value *v, void *into)
{
    static const char *const theirs[] = {"max_output", "max_file_size", "max_fds", "max_bg_jobs", "max_pipeline", "max_input", "max_inodes", "max_depth"};
    Rule rules[32] = {{"timeout", VALUE_NULL, take_timeout}};
    size_t n = 1;
    for (size_t i = 0; i < sizeof theirs / sizeof *theirs; i++)
        rules[n++] = (Rule){theirs[i], VALUE_NULL, take_limit};
    for (size_t i = 0; settings_limit_name(i) && n < 31; i++)
        rules[n++] = (Rule){settings_limit_name(i), VALUE_NULL, take_limit};
    return take_table(s, rules, v, into);
}

static const char *server_number(Settings *s, const Value *v, uint64_t *field, unsigned bit)
{
    uint64_t n;
    return whole(v, &n) ? set_seconds(s, field, bit, n) : "a whole number is expected";
}

static const char *server_sessions(Settings *s, const Value *v, void *into)
{
    (void)into;
    return server_number(s, v, &s->most_sessions, GIVEN_SESSIONS);
}

static const char *server_idle(Settings *s, const Value *v, void *into)
{
    (void)into;
    return server_number(s, v, &s->session_idle, GIVEN_IDLE);
}

static const char *server_lifetime(Settings *s, const Value *v, void *into)
{
    (void)into;
    return server_number(s, v, &s->session_lifetime, GIVEN_LIFETIME);
}

static const char *take_server(Settings *s, const Value *v, void *into)
{
    static const Rule rules[] = {{"max_sessions", VALUE_NULL, server_sessions}, {"session_idle", VALUE_NULL, server_idle},
                                 {"session_lifetime", VALUE_NULL, server_lifetime}, {0}};
    return take_table(s, rules, v, into);
}

/* ---------- the outermost table ---------- */

static const char *take_umask(Settings *s, const Value *v, void *into)
{
    (void)into;
    return set_umask(s, v->text);
}

static const char *allowed(Settings *s, const Value *v, void *into)
{
    (void)into;
    return set_url(s, v->text, 0, 0);
}

static const char *allowed_private(Settings *s, const Value *v, void *into)
{
    (void)into;
    return set_url(s, v->text, 0, 1);
}

static const char *denied(Settings *s, const Value *v, void *into)
{
    (void)into;
    return set_url(s, v->text, 1, 0);
}

static const char *take_allowed(Settings *s, const Value *v, void *into)
{
    return each(s, v, VALUE_STRING, into, allowed);
}

static const char *take_private(Settings *s, const Value *v, void *into)
{
    return each(s, v, VALUE_STRING, into, allowed_private);
}

static const char *take_denied(Settings *s, const Value *v, void *into)
{
    return each(s, v, VALUE_STRING, into, denied);
}

static const char *take_env(Settings *s, const Value *v, void *into)
{
    (void)into;
    for (const Value *e = v->first; e; e = e->next) {
        if (e->kind != VALUE_STRING || has_nul(e) || !e->key_len || memchr(e->key, '=', e->key_len) || memchr(e->key, 0, e->key_len)) {
            doc_fail(&s->doc, e->line, "\"env\": %.60s wants a string", e->key);
            return noted;
        }
        Text t = {0};
        text_printf(&t, "%s=%s", e->key, e->text);
        text_add(&t, "", 1);
        const char *why = t.failed ? "out of memory" : set_env(s, t.data);
        text_free(&t);
        if (why)
            return why;
    }
    return NULL;
}

static const char *from_host(Settings *s, const Value *v, void *into)
{
    (void)into;
    return set_env_from_host(s, v->text);
}

static const char *take_env_from_host(Settings *s, const Value *v, void *into)
{
    return each(s, v, VALUE_STRING, into, from_host);
}

static const char *option(Settings *s, const Value *v, void *into)
{
    (void)into;
    const char *why = set_option_word(s, "-o");
    return why ? why : set_option_word(s, v->text);
}

static const char *take_options(Settings *s, const Value *v, void *into)
{
    return each(s, v, VALUE_STRING, into, option);
}

static const char *take_cwd(Settings *s, const Value *v, void *into)
{
    (void)into;
    return set_text(s, &s->cwd, GIVEN_CWD, v->text);
}

static const char *take_ca_file(Settings *s, const Value *v, void *into)
{
    (void)into;
    return set_text(s, &s->net.ca_file, GIVEN_CA_FILE, v->text);
}

static const char *take_proxy(Settings *s, const Value *v, void *into)
{
    (void)into;
    return set_text(s, &s->net.proxy, GIVEN_PROXY, v->text);
}

static const char *take_audit(Settings *s, const Value *v, void *into)
{
    (void)into;
    return set_text(s, &s->audit, GIVEN_AUDIT, v->text);
}

static const char *take_confine(Settings *s, const Value *v, void *into)
{
    (void)into;
    return set_confine(s, v->truth);
}

bool config_text(Settings *s, const char *text, size_t len)
{
    static const Rule rules[] = {
        {"umask", VALUE_STRING, take_umask}, {"allowed_urls", VALUE_LIST, take_allowed}, {"env", VALUE_TABLE, take_env}, {"bind", VALUE_LIST, take_bind},
        {"cred", VALUE_LIST, take_cred}, {"mcp", VALUE_NULL, take_mcp}, {"limits", VALUE_TABLE, take_limits},
        {"private_urls", VALUE_LIST, take_private}, {"denied_urls", VALUE_LIST, take_denied}, {"cwd", VALUE_STRING, take_cwd},
        {"ca_file", VALUE_STRING, take_ca_file}, {"proxy", VALUE_STRING, take_proxy}, {"audit", VALUE_STRING, take_audit},
        {"confine", VALUE_BOOL, take_confine}, {"options", VALUE_LIST, take_options}, {"env_from_host", VALUE_LIST, take_env_from_host},
        {"policy", VALUE_TABLE, take_policy}, {"server", VALUE_TABLE, take_server}, {0}};
    size_t start = 0;
    while (start < len && strchr(" \t\r\n", text[start]) && text[start])
        start++;
    Value *root = start < len && text[start] == '{' ? json_parse(&s->doc, text, len) : toml_parse(&s->doc, text, len);
    if (root)
        take_table(s, rules, root, NULL);
    return !s->doc.error[0];
}

void config_read(Settings *s, const char *file)
{
    FILE *f = fopen(file, "rbe");
    if (!f)
        settings_fail(file, strerror(errno));
    char *text = malloc(MOST_BYTES + 1);
    size_t len = text ? fread(text, 1, MOST_BYTES + 1, f) : 0;
    if (!text || ferror(f) || len > MOST_BYTES)
        settings_fail(file, text ? len > MOST_BYTES ? "larger than 1 MiB" : "cannot be read" : "out of memory");
    fclose(f);
    bool before = s->on_command_line;
    s->on_command_line = false;
    s->config = settings_copy(s, file);
    bool good = config_text(s, text, len);
    s->on_command_line = before;
    free(text);
    if (good)
        return;
    fprintf(stderr, "libshell: %s:%u: %s\n", file, s->doc.line, s->doc.error);
    exit(USAGE);
}

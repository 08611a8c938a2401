/* args: arguments as C values. Options come as arrays whose places index.js and these functions agree on. */
#include <stdlib.h>
#include <string.h>

#include "addon.h"

struct ArenaBlock {
    ArenaBlock *next;
    max_align_t data[];
};

void *arena_alloc(Arena *a, size_t n)
{
    ArenaBlock *b = n < SIZE_MAX / 2 ? calloc(1, sizeof *b + n) : NULL;
    if (!b)
        return NULL;
    b->next = a->blocks;
    a->blocks = b;
    return b->data;
}

void arena_free(Arena *a)
{
    while (a->blocks) {
        ArenaBlock *b = a->blocks;
        a->blocks = b->next;
        free(b);
    }
}

bool bytes_add(Bytes *b, const char *data, size_t len)
{
    if (len > SIZE_MAX / 4 - b->len)
        return false;
    if (b->len + len > b->cap) {
        size_t cap = b->len + len > 2 * b->cap ? b->len + len : 2 * b->cap;
        char *moved = realloc(b->data, cap);
        if (!moved)
            return false;
        b->data = moved;
        b->cap = cap;
    }
    if (len)
        memcpy(b->data + b->len, data, len);
    b->len += len;
    return true;
}

void get_args(napi_env env, napi_callback_info info, napi_value *argv)
{
    size_t argc = MOST_ARGS;
    napi_get_cb_info(env, info, &argc, argv, NULL, NULL);
}

/* ---------- single values ---------- */

static bool bad(napi_env env, const char *what)
{
    throw_message(env, SHELL_EINVAL, what, NULL);
    return false;
}

static bool no_memory(napi_env env)
{
    throw_message(env, SHELL_ENOMEM, "out of memory", NULL);
    return false;
}

bool is_nothing(napi_env env, napi_value v)
{
    napi_valuetype type = napi_undefined;
    return !v || napi_typeof(env, v, &type) != napi_ok || type == napi_undefined || type == napi_null;
}

napi_value at(napi_env env, napi_value array, uint32_t i)
{
    napi_value v = NULL;
    return napi_get_element(env, array, i, &v) == napi_ok ? v : NULL;
}

static uint32_t length(napi_env env, napi_value array)
{
    uint32_t n = 0;
    return !is_nothing(env, array) && napi_get_array_length(env, array, &n) == napi_ok ? n : 0;
}

int32_t read_int(napi_env env, napi_value v, int32_t otherwise)
{
    int32_t n;
    return v && napi_get_value_int32(env, v, &n) == napi_ok ? n : otherwise;
}

double read_number(napi_env env, napi_value v, double otherwise)
{
    double n;
    return v && napi_get_value_double(env, v, &n) == napi_ok ? n : otherwise;
}

static uint64_t read_size(napi_env env, napi_value v)
{
    double d = read_number(env, v, 0);
    return d > 0 && d < 9e15 ? (uint64_t)d : 0;
}

static bool read_string(Reader *r, napi_value v, const char **out, size_t *len)
{
    char small[1024];
    size_t n;
    if (napi_get_value_string_utf8(r->env, v, small, sizeof small, &n) != napi_ok)
        return bad(r->env, "a string or a Uint8Array is wanted");
    bool whole = n + 4 < sizeof small; /* a character that did not fit is left out whole */
    if (!whole)
        napi_get_value_string_utf8(r->env, v, NULL, 0, &n);
    char *copy = arena_alloc(r->arena, n + 1);
    if (!copy)
        return no_memory(r->env);
    if (whole)
        memcpy(copy, small, n);
    else
        napi_get_value_string_utf8(r->env, v, copy, n + 1, &n);
    *out = copy;
    *len = n;
    return true;
}

static bool read_array(Reader *r, napi_value v, const char **out, size_t *len)
{
    napi_typedarray_type type;
    void *data;
    bool is = false;
    if (napi_is_typedarray(r->env, v, &is) != napi_ok || !is)
        return bad(r->env, "a string or a Uint8Array is wanted");
    napi_get_typedarray_info(r->env, v, &type, len, &data, NULL, NULL);
    if (type != napi_uint8_array && type != napi_uint8_clamped_array)
        return bad(r->env, "a string or a Uint8Array is wanted");
    char *copy = arena_alloc(r->arena, *len + 1);
    if (!copy)
        return no_memory(r->env);
    if (*len)
        memcpy(copy, data, *len);
    *out = copy;
    return true;
}

bool read_bytes(Reader *r, napi_value v, const char **out, size_t *len)
{
    napi_valuetype type = napi_undefined;
    *out = NULL;
    *len = 0;
    if (v)
        napi_typeof(r->env, v, &type);
    if (type == napi_undefined || type == napi_null)
        return true;
    return type == napi_string ? read_string(r, v, out, len) : read_array(r, v, out, len);
}

bool read_text(Reader *r, napi_value v, const char **out)
{
    size_t len;
    if (!read_bytes(r, v, out, &len))
        return false;
    return !*out || !memchr(*out, 0, len) ? true : bad(r->env, "a name or value has a NUL in it");
}

bool read_list(Reader *r, napi_value v, const char *const **out)
{
    *out = NULL;
    if (is_nothing(r->env, v))
        return true;
    uint32_t n = length(r->env, v);
    const char **list = arena_alloc(r->arena, (n + (size_t)1) * sizeof *list);
    if (!list)
        return no_memory(r->env);
    for (uint32_t i = 0; i < n; i++) {
        if (!read_text(r, at(r->env, v, i), &list[i]))
            return false;
        if (!list[i])
            return bad(r->env, "a list of strings is wanted");
    }
    *out = list;
    return true;
}

/* A BigUint64Array in the order of shell_limits. */
bool read_limits(Reader *r, napi_value v, const shell_limits **out)
{
    napi_typedarray_type type;
    size_t n;
    void *data;
    *out = NULL;
    if (is_nothing(r->env, v))
        return true;
    shell_limits *l = arena_alloc(r->arena, sizeof *l);
    if (!l)
        return no_memory(r->env);
    if (napi_get_typedarray_info(r->env, v, &type, &n, &data, NULL, NULL) != napi_ok || type != napi_biguint64_array || n * 8 != sizeof *l)
        return bad(r->env, "limits");
    memcpy(l, data, sizeof *l);
    l->size = sizeof *l;
    *out = l;
    return true;
}

/* ---------- network, policy, audit ---------- */

static bool read_rules(Reader *r, napi_value v, shell_net *net)
{
    uint32_t n = length(r->env, v);
    shell_url_rule *rules = arena_alloc(r->arena, (n + (size_t)1) * sizeof *rules);
    if (!rules)
        return no_memory(r->env);
    for (uint32_t i = 0; i < n; i++) {
        napi_value e = at(r->env, v, i);
        rules[i] = (shell_url_rule){.size = sizeof *rules, .deny = read_int(r->env, at(r->env, e, 2), 0), .allow_private = read_int(r->env, at(r->env, e, 3), 0)};
        if (!read_text(r, at(r->env, e, 0), &rules[i].url) || !read_text(r, at(r->env, e, 1), &rules[i].methods))
            return false;
    }
    net->rules = rules;
    net->nrules = n;
    return true;
}

static bool read_credentials(Reader *r, napi_value v, shell_net *net)
{
    uint32_t n = length(r->env, v);
    shell_credential *list = arena_alloc(r->arena, (n + (size_t)1) * sizeof *list);
    if (!list)
        return no_memory(r->env);
    for (uint32_t i = 0; i < n; i++) {
        napi_value e = at(r->env, v, i);
        size_t len;
        list[i] = (shell_credential){.size = sizeof *list, .kind = read_int(r->env, at(r->env, e, 2), 0), .no_redaction = read_int(r->env, at(r->env, e, 3), 0)};
        if (!read_text(r, at(r->env, e, 0), &list[i].url) || !read_text(r, at(r->env, e, 1), &list[i].methods) ||
            !read_text(r, at(r->env, e, 4), &list[i].name) || !read_bytes(r, at(r->env, e, 5), &list[i].secret, &len))
            return false;
        list[i].secret_len = len;
    }
    net->credentials = list;
    net->ncredentials = n;
    return true;
}

bool read_net(Reader *r, napi_value v, const shell_net **out)
{
    *out = NULL;
    if (is_nothing(r->env, v))
        return true;
    shell_net *net = arena_alloc(r->arena, sizeof *net);
    if (!net)
        return no_memory(r->env);
    net->size = sizeof *net;
    net->allow_insecure = read_int(r->env, at(r->env, v, 6), 0);
    net->decide = read_int(r->env, at(r->env, v, 7), 0) ? on_decide : NULL;
    net->resolve = read_int(r->env, at(r->env, v, 8), 0) ? on_resolve : NULL;
    net->secret = on_secret;
    net->sign = on_sign;
    if (read_int(r->env, at(r->env, v, 9), 0)) {
        net->transfer = on_transfer;
        net->transfer_send = on_transfer_send;
        net->transfer_receive = on_transfer_receive;
        net->transfer_close = on_transfer_close;
    }
    *out = net;
    return read_rules(r, at(r->env, v, 0), net) && read_credentials(r, at(r->env, v, 1), net) && read_list(r, at(r->env, v, 2), &net->also_private) &&
           read_list(r, at(r->env, v, 3), &net->also_metadata) && read_text(r, at(r->env, v, 4), &net->ca_file) && read_text(r, at(r->env, v, 5), &net->proxy);
}

static bool read_file_rules(Reader *r, napi_value v, shell_policy *p)
{
    uint32_t n = length(r->env, v);
    shell_file_rule *rules = arena_alloc(r->arena, (n + (size_t)1) * sizeof *rules);
    if (!rules)
        return no_memory(r->env);
    for (uint32_t i = 0; i < n; i++) {
        napi_value e = at(r->env, v, i);
        rules[i] = (shell_file_rule){.size = sizeof *rules, .operations = (uint32_t)read_int(r->env, at(r->env, e, 1), 0), .deny = read_int(r->env, at(r->env, e, 2), 0)};
        if (!read_text(r, at(r->env, e, 0), &rules[i].pattern))
            return false;
    }
    p->rules = rules;
    p->nrules = n;
    return true;
}

bool read_policy(Reader *r, napi_value v, const shell_policy **out)
{
    *out = NULL;
    if (is_nothing(r->env, v))
        return true;
    shell_policy *p = arena_alloc(r->arena, sizeof *p);
    if (!p)
        return no_memory(r->env);
    p->size = sizeof *p;
    p->asks = (uint32_t)read_int(r->env, at(r->env, v, 5), 0);
    p->ask = read_int(r->env, at(r->env, v, 6), 0) ? on_ask : NULL;
    *out = p;
    return read_list(r, at(r->env, v, 0), &p->allow_commands) && read_list(r, at(r->env, v, 1), &p->deny_commands) &&
           read_list(r, at(r->env, v, 2), &p->ask_commands) && read_file_rules(r, at(r->env, v, 3), p) && read_list(r, at(r->env, v, 4), &p->scratch);
}

bool read_audit(Reader *r, napi_value v, const shell_audit **out)
{
    *out = NULL;
    if (is_nothing(r->env, v))
        return true;
    shell_audit *a = arena_alloc(r->arena, sizeof *a);
    if (!a)
        return no_memory(r->env);
    *a = (shell_audit){.size = sizeof *a, .line = read_int(r->env, at(r->env, v, 0), 0) ? on_audit : NULL, .ring = read_size(r->env, at(r->env, v, 1)),
                       .output = read_size(r->env, at(r->env, v, 2))};
    *out = a;
    return true;
}

/* ---------- opening and running ---------- */

bool read_bind(Reader *r, napi_value v, shell_bind *b)
{
    *b = (shell_bind){.size = sizeof *b, .mode = read_int(r->env, at(r->env, v, 2), 0), .flags = (uint32_t)read_int(r->env, at(r->env, v, 3), 0)};
    return read_text(r, at(r->env, v, 0), &b->source) && read_text(r, at(r->env, v, 1), &b->destination);
}

static bool read_binds(Reader *r, napi_value v, shell_options *o)
{
    uint32_t n = length(r->env, v);
    shell_bind *binds = n ? arena_alloc(r->arena, n * sizeof *binds) : NULL;
    if (n && !binds)
        return no_memory(r->env);
    for (uint32_t i = 0; i < n; i++)
        if (!read_bind(r, at(r->env, v, i), &binds[i]))
            return false;
    o->binds = binds;
    o->nbinds = n;
    return true;
}

static bool read_clock(Reader *r, napi_value v, shell_options *o)
{
    bool lossless;
    o->umask = read_int(r->env, at(r->env, v, 5), -1);
    o->fixed_clock = read_int(r->env, at(r->env, v, 6), 0);
    o->clock_seconds = (int64_t)read_number(r->env, at(r->env, v, 7), 0);
    napi_value seed = at(r->env, v, 8);
    o->seeded = !is_nothing(r->env, seed);
    if (o->seeded && napi_get_value_bigint_uint64(r->env, seed, &o->seed, &lossless) != napi_ok)
        return bad(r->env, "seed");
    return true;
}

bool read_options(Reader *r, napi_value v, shell_options *o)
{
    shell_options_init(o);
    o->component = on_component;
    if (is_nothing(r->env, v))
        return true;
    napi_value image = at(r->env, v, 0);
    void *pointer = NULL;
    if (!is_nothing(r->env, image))
        napi_get_value_external(r->env, image, &pointer);
    o->image = pointer;
    return read_binds(r, at(r->env, v, 1), o) && read_list(r, at(r->env, v, 2), &o->env) && read_text(r, at(r->env, v, 3), &o->cwd) &&
           read_limits(r, at(r->env, v, 4), &o->limits) && read_clock(r, v, o) && read_net(r, at(r->env, v, 9), &o->net) &&
           read_policy(r, at(r->env, v, 10), &o->policy) && read_audit(r, at(r->env, v, 11), &o->audit);
}

bool read_run(Reader *r, napi_value v, Run *run)
{
    shell_run_opts *o = &run->opts;
    size_t len;
    *o = (shell_run_opts){.size = sizeof *o};
    if (is_nothing(r->env, v))
        return true;
    o->timeout = read_number(r->env, at(r->env, v, 3), 0);
    o->jobs = read_int(r->env, at(r->env, v, 6), 0);
    o->flags = (uint32_t)read_int(r->env, at(r->env, v, 7), 0);
    run->wants_output = read_int(r->env, at(r->env, v, 8), 0) != 0;
    if (!read_bytes(r, at(r->env, v, 0), &o->input, &len))
        return false;
    o->input_len = len;
    return read_list(r, at(r->env, v, 1), &o->env) && read_text(r, at(r->env, v, 2), &o->cwd) && read_limits(r, at(r->env, v, 4), &o->limits) &&
           read_list(r, at(r->env, v, 5), &o->args);
}

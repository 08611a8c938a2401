/* mcp: JSON-RPC over lines, and the three revisions of the protocol.
 *
 * 2025-06-18 and 2025-11-25 begin with `initialize`; a request of 2026-07-28 names its revision in _meta, and its answers carry what that
 * revision wants of them. Nothing else is ever written to standard output.
 */
#include "mcp.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_LINE = 64 << 20, MOST_DOC = 256 << 20, TOOLS_TTL_MS = 3600000 };

#define META_VERSION "io.modelcontextprotocol/protocolVersion"
#define META_CAPABILITIES "io.modelcontextprotocol/clientCapabilities"
#define SERVER_INFO "{\"name\":\"libshell\",\"title\":\"libshell\",\"version\":\"" SHELL_VERSION "\"}"
#define VERSIONS "[\"2026-07-28\",\"2025-11-25\",\"2025-06-18\"]"

static const char *const revision_names[] = {"", "2025-06-18", "2025-11-25", "2026-07-28"};

/* ---------- answers ---------- */

void server_write(Server *sv, const Text *message)
{
    const char *p = message->data;
    for (size_t left = message->failed ? 0 : message->len; left;) {
        ssize_t n = write(sv->fd, p, left);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return; /* the client has gone; the end of its input will tell */
        p += n;
        left -= (size_t)n;
    }
}

/* Answers once, and not what was cancelled. A message that found no memory becomes an error that needs none. */
static void send_answer(Job *job, Text *message)
{
    Server *sv = job->server;
    pthread_mutex_lock(&sv->state);
    bool cancelled = job->cancelled;
    pthread_mutex_unlock(&sv->state);
    pthread_mutex_lock(&sv->out);
    if (!job->answered && !cancelled) {
        if (message->failed) {
            text_free(message);
            text_printf(message, "{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"error\":{\"code\":%d,\"message\":\"out of memory\"}}\n", (int)job->id.len,
                        job->id.data, INTERNAL_ERROR);
        }
        server_write(sv, message);
    }
    job->answered = true;
    pthread_mutex_unlock(&sv->out);
    text_free(message);
}

static void begin_message(Text *t, const Job *job)
{
    text_str(t, "{\"jsonrpc\":\"2.0\",");
    if (job->id.len) {
        text_str(t, "\"id\":");
        text_add(t, job->id.data, job->id.len);
        text_str(t, ",");
    } else if (job->server->revision == REVISION_2025_06) {
        text_str(t, "\"id\":\"\","); /* that revision's schema wants an id in every error, and null is none */
    }
}

/* `data` is JSON, or NULL. */
static void answer_error(Job *job, int code, const char *message, const char *data)
{
    Text t = {0};
    begin_message(&t, job);
    text_printf(&t, "\"error\":{\"code\":%d,\"message\":", code);
    text_json(&t, message, strlen(message));
    if (data)
        text_printf(&t, ",\"data\":%s", data);
    text_str(&t, "}}\n");
    send_answer(job, &t);
}

static void begin_result(Text *t, const Job *job)
{
    begin_message(t, job);
    text_str(t, "\"result\":{");
    if (job->revision == REVISION_2026_07)
        text_str(t, "\"resultType\":\"complete\",\"_meta\":{\"io.modelcontextprotocol/serverInfo\":" SERVER_INFO "},");
}

static void end_result(Job *job, Text *t)
{
    text_str(t, "}}\n");
    send_answer(job, t);
}

/* What may be kept for a while: the tools of a server do not change while it lives. */
static void cacheable(Text *t, const Job *job)
{
    if (job->revision == REVISION_2026_07)
        text_printf(t, "\"ttlMs\":%d,\"cacheScope\":\"private\",", TOOLS_TTL_MS);
}

void job_answer(Job *job, const Reply *reply)
{
    Text t = {0};
    begin_result(&t, job);
    text_str(&t, "\"content\":[{\"type\":\"text\",\"text\":");
    text_json(&t, reply->text.len ? reply->text.data : "", reply->text.len);
    text_str(&t, "}]");
    if (reply->error) {
        text_str(&t, ",\"isError\":true");
    } else {
        text_str(&t, ",\"structuredContent\":{");
        text_add(&t, reply->structured.len ? reply->structured.data : "", reply->structured.len);
        text_str(&t, "}");
    }
    t.failed |= reply->text.failed || reply->structured.failed;
    end_result(job, &t);
}

/* ---------- methods ---------- */

static void instructions(Server *sv, Text *t)
{
    if (!sv->about.len) {
        static const char about[] = "A bash shell with the GNU tools over files in memory. Calls without a session share one shell; open_session gives one of your "
                                    "own. The description of the tool `shell` says what this shell has.";
        text_json(&sv->about, about, sizeof about - 1);
    }
    text_str(t, "\"instructions\":");
    text_add(t, sv->about.data, sv->about.len);
}

static void initialize(Server *sv, Job *job, const Value *params)
{
    const Value *version = value_get(params, "protocolVersion");
    if (!version || version->kind != VALUE_STRING) {
        answer_error(job, INVALID_PARAMS, "protocolVersion: a string is expected", NULL);
        return;
    }
    sv->revision = value_is(version, revision_names[REVISION_2025_06]) ? REVISION_2025_06 : REVISION_2025_11;
    job->revision = sv->revision;
    Text t = {0};
    begin_result(&t, job);
    text_printf(&t, "\"protocolVersion\":\"%s\",\"capabilities\":{\"tools\":{}},\"serverInfo\":" SERVER_INFO ",", revision_names[sv->revision]);
    instructions(sv, &t);
    end_result(job, &t);
}

static void discover(Server *sv, Job *job, const Value *params)
{
    (void)params;
    Text t = {0};
    begin_result(&t, job);
    cacheable(&t, job);
    text_str(&t, "\"supportedVersions\":" VERSIONS ",\"capabilities\":{\"tools\":{}},");
    instructions(sv, &t);
    end_result(job, &t);
}

static void ping(Server *sv, Job *job, const Value *params)
{
    (void)sv;
    (void)params;
    Text t = {0};
    begin_result(&t, job);
    end_result(job, &t);
}

static void list_tools(Server *sv, Job *job, const Value *params)
{
    if (value_get(params, "cursor")) {
        answer_error(job, INVALID_PARAMS, "cursor: the tools are one page, and none was given", NULL);
        return;
    }
    if (!sv->tools.len)
        tools_json(sv->pristine, &sv->tools);
    Text t = {0};
    begin_result(&t, job);
    cacheable(&t, job);
    text_str(&t, "\"tools\":");
    text_add(&t, sv->tools.data, sv->tools.len);
    t.failed |= sv->tools.failed;
    if (sv->tools.failed)
        text_free(&sv->tools);
    end_result(job, &t);
}

/* The session that the arguments name, with the job in its queue; false when there is none. */
static bool queue_call(Server *sv, Job *job)
{
    const Value *handle = value_get(job->args, "session");
    pthread_mutex_lock(&sv->state);
    Session *session = handle ? session_find(sv, handle->text, handle->len) : sv->own;
    if (session) {
        job->holders++;
        session_queue(session, job);
        if (job->closes)
            session_end(session);
    }
    pthread_mutex_unlock(&sv->state);
    return session != NULL;
}

static void call_tool(Server *sv, Job *job, const Value *params)
{
    const Value *name = value_get(params, "name"), *args = value_get(params, "arguments");
    Reply reply = {0};
    if (!name || name->kind != VALUE_STRING) {
        answer_error(job, INVALID_PARAMS, "name: a string is expected", NULL);
        return;
    }
    job->tool = tool_find(name);
    if (!job->tool) {
        char message[120];
        snprintf(message, sizeof message, "Unknown tool: %.80s", name->text);
        answer_error(job, INVALID_PARAMS, message, NULL);
        return;
    }
    if (args && args->kind != VALUE_TABLE) {
        answer_error(job, INVALID_PARAMS, "arguments: an object is expected", NULL);
        return;
    }
    job->args = args;
    if (tool_check(job->tool, args, &reply)) {
        job->closes = strcmp(job->tool->name, "close_session") == 0;
        if (job->tool->now)
            job->tool->now(sv, job, &reply);
        else if (queue_call(sv, job))
            return;
        else
            reply_error(&reply, "session: there is no such session; open_session gives one");
    }
    job_answer(job, &reply);
    text_free(&reply.text);
    text_free(&reply.structured);
}

typedef struct {
    const char *name;
    bool before, legacy, modern; /* before: also when nothing was initialized */
    void (*run)(Server *sv, Job *job, const Value *params);
} Method;

static const Method methods[] = {
    {"initialize", true, true, false, initialize}, {"ping", true, true, false, ping}, {"server/discover", false, false, true, discover},
    {"tools/list", false, true, true, list_tools}, {"tools/call", false, true, true, call_tool},
};

/* The revision that a request names in _meta; false after an answer that says what is wrong with it. */
static bool take_revision(Server *sv, Job *job, const Value *params)
{
    const Value *meta = value_get(params, "_meta"), *version = value_get(meta, META_VERSION), *capabilities = value_get(meta, META_CAPABILITIES);
    job->revision = sv->revision;
    if (!version || (sv->revision && value_is(version, revision_names[sv->revision])))
        return true;
    if (version->kind != VALUE_STRING) {
        answer_error(job, INVALID_PARAMS, "_meta: " META_VERSION ": a string is expected", NULL);
    } else if (!value_is(version, revision_names[REVISION_2026_07])) {
        Text data = {0};
        text_str(&data, "{\"supported\":" VERSIONS ",\"requested\":");
        text_json(&data, version->text, version->len);
        text_add(&data, "}", 2);
        answer_error(job, UNSUPPORTED_VERSION, "Unsupported protocol version", data.failed ? NULL : data.data);
        text_free(&data);
    } else if (!capabilities || capabilities->kind != VALUE_TABLE) {
        answer_error(job, INVALID_PARAMS, "_meta: " META_CAPABILITIES ": an object is expected", NULL);
    } else {
        job->revision = REVISION_2026_07;
        return true;
    }
    return false;
}

static void take_token(Job *job, const Value *params)
{
    const Value *token = value_get(value_get(params, "_meta"), "progressToken");
    if (token && token->kind == VALUE_STRING)
        text_json(&job->token, token->text, token->len);
    else if (token && token->kind == VALUE_INTEGER)
        text_printf(&job->token, "%lld", (long long)token->integer);
}

static void request(Server *sv, Job *job, const Value *method, const Value *params)
{
    if (!take_revision(sv, job, params))
        return;
    take_token(job, params);
    bool modern = job->revision == REVISION_2026_07;
    for (const Method *m = methods; m < methods + sizeof methods / sizeof *methods; m++) {
        if (!value_is(method, m->name))
            continue;
        if (!modern && !m->legacy)
            answer_error(job, INVALID_PARAMS, "_meta: " META_VERSION " is missing", NULL);
        else if (modern && !m->modern)
            break;
        else if (!job->revision && !m->before)
            answer_error(job, INVALID_REQUEST, "initialize comes first, or _meta names the protocol version", NULL);
        else
            m->run(sv, job, params);
        return;
    }
    char message[120];
    snprintf(message, sizeof message, "Method not found: %.80s", method->text);
    answer_error(job, METHOD_NOT_FOUND, message, NULL);
}

static bool id_json(const Value *id, Text *out)
{
    if (id->kind == VALUE_STRING)
        text_json(out, id->text, id->len);
    else if (id->kind == VALUE_INTEGER)
        text_printf(out, "%lld", (long long)id->integer);
    return out->len != 0;
}

static void notification(Server *sv, const Value *method, const Value *params)
{
    const Value *id = value_get(params, "requestId");
    Text text = {0};
    if (value_is(method, "notifications/cancelled") && id && id_json(id, &text))
        server_cancel(sv, &text);
    text_free(&text);
}

static void message(Server *sv, Job *job, const Value *root)
{
    const Value *method = value_get(root, "method"), *id = value_get(root, "id"), *params = value_get(root, "params");
    bool answer = !method && id && (value_get(root, "result") || value_get(root, "error"));
    if (answer)
        return; /* nothing was asked of the client */
    if (root->kind != VALUE_TABLE)
        answer_error(job, INVALID_REQUEST, root->kind == VALUE_LIST ? "batches are not taken" : "an object is expected", NULL);
    else if (id && !id_json(id, &job->id))
        answer_error(job, INVALID_REQUEST, "id: a string or an integer is expected", NULL);
    else if (!value_is(value_get(root, "jsonrpc"), "2.0"))
        answer_error(job, INVALID_REQUEST, "jsonrpc: \"2.0\" is expected", NULL);
    else if (!method || method->kind != VALUE_STRING)
        answer_error(job, INVALID_REQUEST, "method: a string is expected", NULL);
    else if (!id)
        notification(sv, method, params);
    else if (params && params->kind != VALUE_TABLE)
        answer_error(job, INVALID_PARAMS, "params: an object is expected", NULL);
    else
        request(sv, job, method, params);
}

void job_release(Job *job)
{
    pthread_mutex_lock(&job->server->state);
    bool last = --job->holders == 0;
    pthread_mutex_unlock(&job->server->state);
    if (!last)
        return;
    doc_free(&job->doc);
    text_free(&job->id);
    text_free(&job->token);
    free(job);
}

static Job *job_new(Server *sv)
{
    Job *job = calloc(1, sizeof *job);
    if (!job)
        return NULL;
    job->server = sv;
    job->holders = 1;
    job->revision = sv->revision;
    doc_init(&job->doc, MOST_DOC);
    return job;
}

void server_line(Server *sv, const char *line, size_t len)
{
    while (len && strchr(" \t\r", line[len - 1]) && line[len - 1])
        len--;
    Job *job = len ? job_new(sv) : NULL;
    if (!job)
        return;
    const Value *root = json_parse(&job->doc, line, len);
    if (root) {
        message(sv, job, root);
    } else {
        char text[300];
        snprintf(text, sizeof text, "Parse error: %s", job->doc.error);
        answer_error(job, PARSE_ERROR, text, NULL);
    }
    job_release(job);
}

/* ---------- reading ---------- */

typedef struct {
    Text pending;
    bool skipping; /* the rest of a line that was too long */
} Input;

static void too_long(Server *sv)
{
    Job *job = job_new(sv);
    if (!job)
        return;
    answer_error(job, PARSE_ERROR, "Parse error: longer than 64 MiB", NULL);
    job_release(job);
}

static void take_part(Server *sv, Input *in, const char *part, size_t n)
{
    while (n) {
        const char *end = memchr(part, '\n', n);
        size_t len = end ? (size_t)(end - part) : n;
        if (!in->skipping && (in->pending.failed || in->pending.len + len > MOST_LINE)) {
            too_long(sv);
            in->skipping = true;
            text_free(&in->pending);
        }
        if (end && !in->skipping && !in->pending.len) {
            server_line(sv, part, len);
        } else if (!in->skipping) {
            text_add(&in->pending, part, len);
            if (end)
                server_line(sv, in->pending.data, in->pending.len);
        }
        if (end) {
            in->skipping = false;
            in->pending.len = 0;
        }
        len += end != NULL;
        part += len;
        n -= len;
    }
}

int cli_mcp(shell *pristine, const Settings *s)
{
    static char part[65536];
    static Server sv; /* a thread that ends may look at its locks after the wait for it */
    Input in = {0};
    if (!server_start(&sv, pristine, s, 1))
        return 125;
    for (;;) {
        ssize_t n = read(0, part, sizeof part);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        take_part(&sv, &in, part, (size_t)n);
    }
    text_free(&in.pending);
    server_stop(&sv);
    return 0;
}

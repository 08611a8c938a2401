/* mcp_tools: the tools, the checks of their arguments and their definitions, all from one table. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "mcp.h"

enum { MOST_SNAPSHOTS = 32, MOST_ENTRIES = 10000, READ_DEFAULT = 1 << 20, MOST_MATCHES = 200 };
static const uint64_t snapshot_bytes = (uint64_t)1 << 30; /* of all that are kept */

void reply_error(Reply *reply, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    reply->error = true;
    text_free(&reply->text);
    text_str(&reply->text, text);
}

/* ---------- arguments and members ---------- */

static const char *arg_text(const Job *job, const char *name, const char *otherwise)
{
    const Value *v = value_get(job->args, name);
    return v ? v->text : otherwise;
}

static uint64_t arg_number(const Job *job, const char *name, uint64_t otherwise)
{
    const Value *v = value_get(job->args, name);
    return v ? (uint64_t)v->integer : otherwise;
}

static bool arg_flag(const Job *job, const char *name)
{
    const Value *v = value_get(job->args, name);
    return v && v->truth;
}

static void member_key(Text *t, const char *name)
{
    text_printf(t, "%s\"%s\":", t->len && t->data[t->len - 1] != '{' ? "," : "", name);
}

static void member_text(Text *t, const char *name, const char *s, size_t n)
{
    member_key(t, name);
    text_json(t, s, n);
}

static void member_number(Text *t, const char *name, uint64_t v)
{
    member_key(t, name);
    text_printf(t, "%llu", (unsigned long long)v);
}

static void member_flag(Text *t, const char *name, bool v)
{
    member_key(t, name);
    text_str(t, v ? "true" : "false");
}

static void file_error(Reply *reply, const Job *job, const char *path, shell_err err)
{
    const char *said = shell_message(job->session->sh);
    if (said && *said)
        reply_error(reply, "%.600s", strstr(said, path) ? said : shell_strerror(err));
    else
        reply_error(reply, "%.600s: %s", path, shell_strerror(err));
}

/* ---------- shell ---------- */

static void describe_run(const shell_result *r, Text *t)
{
    static const char *const ends[] = {"finished", "timeout", "cancelled", "limit", "deadlock"};
    member_number(t, "status", (uint64_t)r->status);
    member_text(t, "ended", ends[r->end], strlen(ends[r->end]));
    if (r->limit)
        member_text(t, "limit", r->limit, strlen(r->limit));
    member_text(t, "stdout", r->out, r->out_len);
    member_text(t, "stderr", r->err, r->err_len);
    member_flag(t, "stdout_truncated", r->out_truncated);
    member_flag(t, "stderr_truncated", r->err_truncated);
}

static void run_shell(Job *job, Reply *reply)
{
    const Value *command = value_get(job->args, "command"), *input = value_get(job->args, "stdin"), *timeout = value_get(job->args, "timeout_ms");
    const Settings *s = job->server->settings;
    shell_run_opts o = {.size = sizeof o, .timeout = s->timeout};
    if (input) {
        o.input = input->text;
        o.input_len = input->len;
    }
    if (timeout && timeout->integer)
        o.timeout = (double)timeout->integer / 1000;
    shell_result *r;
    shell_err err = job_run(job, command->text, command->len, &o, &r);
    char *text;
    uint64_t len;
    if (err) {
        reply_error(reply, "the shell cannot run it: %s", shell_strerror(err));
        return;
    }
    if (shell_format_result(r, NULL, &text, &len) == SHELL_OK) {
        text_add(&reply->text, text, len);
        shell_free(text);
    } else {
        reply->text.failed = true;
    }
    describe_run(r, &reply->structured);
    shell_result_free(r);
}

/* A script of ours over the session's files that leaves no trace in its state. args[0] is the name it goes by. */
static shell_err run_aside(Job *job, const char *script, const char *const *args, const char *input, size_t len, shell_result **out)
{
    shell_run_opts o = {.size = sizeof o, .args = args, .input = input, .input_len = len, .flags = SHELL_RUN_FRESH};
    return job_run(job, script, strlen(script), &o, out);
}

/* ---------- files ---------- */

/* The length without a sequence that the end cut in two. */
static size_t whole_characters(const char *s, size_t n)
{
    size_t back = 0;
    while (back < 3 && back < n && ((unsigned char)s[n - 1 - back] & 0xc0) == 0x80)
        back++;
    if (back == n)
        return n;
    unsigned char lead = (unsigned char)s[n - 1 - back];
    size_t want = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
    return want > back + 1 ? n - back - 1 : n;
}

static bool is_utf8(const char *s, size_t n)
{
    for (size_t i = 0, step; i < n; i += step)
        if (!(step = value_utf8(s + i, n - i)))
            return false;
    return true;
}

static void read_file(Job *job, Reply *reply)
{
    const char *path = arg_text(job, "path", "");
    uint64_t offset = arg_number(job, "offset", 0), limit = arg_number(job, "limit", READ_DEFAULT), len;
    char *data;
    shell_stat_info st = {.size = sizeof st};
    shell_err err = shell_read_range(job->session->sh, path, offset, limit, &data, &len);
    if (err || (err = shell_stat(job->session->sh, path, 0, &st))) {
        file_error(reply, job, path, err);
        return;
    }
    size_t whole = offset + len < st.bytes ? whole_characters(data, len) : len;
    bool text = is_utf8(data, whole);
    if (text)
        len = whole;
    Text *t = &reply->structured;
    member_text(t, "path", path, strlen(path));
    member_text(t, "encoding", text ? "utf-8" : "base64", text ? 5 : 6);
    member_key(t, "content");
    if (text) {
        text_json(t, data, len);
        text_add(&reply->text, data, len);
    } else {
        text_str(t, "\"");
        text_base64(t, data, len);
        text_str(t, "\"");
        text_printf(&reply->text, "%s is not UTF-8 text: %llu bytes, as base64 in the structured content", path, (unsigned long long)len);
    }
    member_number(t, "offset", offset);
    member_number(t, "bytes", len);
    member_number(t, "size", st.bytes);
    shell_free(data);
}

static void write_file(Job *job, Reply *reply)
{
    const char *path = arg_text(job, "path", "");
    const Value *content = value_get(job->args, "content"), *encoding = value_get(job->args, "encoding");
    const char *data = content->text;
    size_t len = content->len;
    char *decoded;
    if (encoding && !value_is(encoding, "utf-8") && !value_is(encoding, "base64")) {
        reply_error(reply, "encoding: \"utf-8\" or \"base64\" is expected");
        return;
    }
    if (encoding && value_is(encoding, "base64")) {
        if (!base64_decode(&job->doc, content->text, content->len, &decoded, &len)) {
            reply_error(reply, "content: it is not base64");
            return;
        }
        data = decoded;
    }
    shell_err err = shell_write_file(job->session->sh, path, data, len, SHELL_WRITE_PARENTS);
    if (err) {
        file_error(reply, job, path, err);
        return;
    }
    text_printf(&reply->text, "%zu bytes written to %s", len, path);
    member_text(&reply->structured, "path", path, strlen(path));
    member_number(&reply->structured, "bytes", len);
}

static const char *kind_name(uint32_t mode)
{
    return S_ISDIR(mode) ? "directory" : S_ISLNK(mode) ? "symlink" : S_ISREG(mode) ? "file" : "other";
}

static void list_dir(Job *job, Reply *reply)
{
    const char *path = arg_text(job, "path", ".");
    shell_dirent *entries;
    uint64_t count;
    shell_err err = shell_list(job->session->sh, path, &entries, &count);
    if (err) {
        file_error(reply, job, path, err);
        return;
    }
    Text *t = &reply->structured;
    uint64_t shown = count < MOST_ENTRIES ? count : MOST_ENTRIES;
    member_text(t, "path", path, strlen(path));
    member_key(t, "entries");
    text_str(t, "[");
    for (uint64_t i = 0; i < shown; i++) {
        const shell_dirent *e = &entries[i];
        const char *kind = kind_name(e->type);
        text_str(t, i ? ",{" : "{");
        member_text(t, "name", e->name, strlen(e->name));
        member_text(t, "type", kind, strlen(kind));
        member_number(t, "bytes", e->bytes);
        text_str(t, "}");
        text_printf(&reply->text, "%s%s\n", e->name, S_ISDIR(e->type) ? "/" : S_ISLNK(e->type) ? "@" : "");
    }
    text_str(t, "]");
    member_flag(t, "truncated", shown < count);
    if (!count)
        text_str(&reply->text, "(empty)");
    if (shown < count)
        text_printf(&reply->text, "(%llu more)\n", (unsigned long long)(count - shown));
    shell_free(entries);
}

/* ---------- edit_file ---------- */

static size_t replace(Text *out, const char *data, size_t len, const Value *old, const Value *new, bool all)
{
    size_t count = 0;
    const char *p = data, *end = data + len;
    for (const char *hit; (hit = memmem(p, (size_t)(end - p), old->text, old->len)) && (all || !count); count++) {
        text_add(out, p, (size_t)(hit - p));
        text_add(out, new->text, new->len);
        p = hit + old->len;
    }
    text_add(out, p, (size_t)(end - p));
    return count;
}

static size_t occurrences(const char *data, size_t len, const Value *old)
{
    size_t count = 0;
    const char *p = data, *end = data + len;
    for (const char *hit; (hit = memmem(p, (size_t)(end - p), old->text, old->len)); count++)
        p = hit + old->len;
    return count;
}

/* Before the file is written: what the change is, as diff -u says it. */
static void unified_diff(Job *job, const char *path, const Text *changed, Text *out)
{
    const char *const args[] = {"edit_file", path, NULL};
    shell_result *r;
    if (run_aside(job, "diff -u --label \"$1\" --label \"$1\" -- \"$1\" -", args, changed->len ? changed->data : "", changed->len, &r) != SHELL_OK)
        return;
    text_add(out, r->status == 1 ? r->out : r->err, r->status == 1 ? r->out_len : r->err_len);
    shell_result_free(r);
}

static void edit(Job *job, Reply *reply, const char *path, const char *data, size_t len)
{
    const Value *old = value_get(job->args, "old_text"), *new = value_get(job->args, "new_text");
    bool all = arg_flag(job, "replace_all");
    size_t count = old->len ? occurrences(data, len, old) : 0;
    if (!count || (count > 1 && !all)) {
        if (!old->len)
            reply_error(reply, "old_text: it is empty; write_file makes new files");
        else if (!count)
            reply_error(reply, "old_text: it does not stand in %.600s", path);
        else
            reply_error(reply, "old_text: it stands in %.600s %zu times; give more of it, or replace_all", path, count);
        return;
    }
    Text changed = {0}, diff = {0};
    replace(&changed, data, len, old, new, all);
    unified_diff(job, path, &changed, &diff);
    shell_err err = changed.failed ? SHELL_ENOMEM : shell_write_file(job->session->sh, path, changed.len ? changed.data : "", changed.len, 0);
    if (err) {
        file_error(reply, job, path, err);
    } else {
        text_add(&reply->text, diff.data, diff.len);
        member_text(&reply->structured, "path", path, strlen(path));
        member_number(&reply->structured, "replacements", count);
        member_text(&reply->structured, "diff", diff.len ? diff.data : "", diff.len);
    }
    text_free(&changed);
    text_free(&diff);
}

static void edit_file(Job *job, Reply *reply)
{
    const char *path = arg_text(job, "path", "");
    char *data;
    uint64_t len;
    shell_err err = shell_read_file(job->session->sh, path, &data, &len);
    if (err) {
        file_error(reply, job, path, err);
        return;
    }
    edit(job, reply, path, data, len);
    shell_free(data);
}

/* ---------- search ---------- */

/* grep -Z: NAME NUL LINE : TEXT */
static uint64_t matches(Text *t, Text *text, const char *p, const char *end, uint64_t most, bool *more)
{
    uint64_t count = 0;
    for (const char *line_end; p < end; p = line_end + 1) {
        line_end = memchr(p, '\n', (size_t)(end - p));
        line_end = line_end ? line_end : end;
        const char *nul = memchr(p, 0, (size_t)(line_end - p));
        const char *colon = nul ? memchr(nul, ':', (size_t)(line_end - nul)) : NULL;
        if (!colon)
            continue;
        if (count == most) {
            *more = true;
            break;
        }
        text_str(t, count++ ? ",{" : "{");
        member_text(t, "path", p, (size_t)(nul - p));
        member_number(t, "line", strtoull(nul + 1, NULL, 10));
        member_text(t, "text", colon + 1, (size_t)(line_end - colon - 1));
        text_str(t, "}");
        text_printf(text, "%.*s:", (int)(nul - p), p);
        text_add(text, nul + 1, (size_t)(line_end - nul - 1));
        text_str(text, "\n");
    }
    return count;
}

static void search(Job *job, Reply *reply)
{
    static const char script[] = "grep -rnIZs --exclude-dir=.git \"${@:4}\" -e \"$1\" -- \"$2\" | head -n \"$3\"; exit ${PIPESTATUS[0]}";
    const char *glob = arg_text(job, "glob", NULL), *args[9] = {"search", arg_text(job, "pattern", ""), arg_text(job, "path", ".")};
    uint64_t most = arg_number(job, "max_results", MOST_MATCHES);
    char lines[24], include[300];
    size_t n = 4;
    snprintf(lines, sizeof lines, "%llu", (unsigned long long)(most < UINT32_MAX ? most + 1 : UINT32_MAX));
    args[3] = lines;
    args[n++] = arg_flag(job, "fixed") ? "-F" : "-E";
    if (arg_flag(job, "ignore_case"))
        args[n++] = "-i";
    if (glob && snprintf(include, sizeof include, "--include=%s", glob) >= (int)sizeof include) {
        reply_error(reply, "glob: it is longer than 280 bytes");
        return;
    }
    if (glob)
        args[n++] = include;
    shell_result *r;
    shell_err err = run_aside(job, script, args, NULL, 0, &r);
    if (err) {
        reply_error(reply, "the shell cannot search: %s", shell_strerror(err));
        return;
    }
    bool more = false;
    if (!r->out_len && r->status > 1 && r->err_len) {
        reply_error(reply, "pattern: %.*s", (int)(r->err_len < 800 ? r->err_len : 800), r->err);
    } else {
        member_key(&reply->structured, "matches");
        text_str(&reply->structured, "[");
        uint64_t count = matches(&reply->structured, &reply->text, r->out, r->out + r->out_len, most, &more);
        text_str(&reply->structured, "]");
        member_flag(&reply->structured, "truncated", more);
        text_str(&reply->text, count ? more ? "(there are more)\n" : "" : "(no match)");
    }
    shell_result_free(r);
}

/* ---------- changes and snapshots ---------- */

static void one_change(Text *t, Text *text, const shell_change_info *c, bool first)
{
    static const char *const kinds[] = {"added", "modified", "deleted"};
    const char *type = kind_name(c->kind == SHELL_DELETED ? c->old_mode : c->mode);
    text_str(t, first ? "{" : ",{");
    member_text(t, "path", c->path, strlen(c->path));
    member_text(t, "kind", kinds[c->kind], strlen(kinds[c->kind]));
    member_text(t, "type", type, strlen(type));
    member_number(t, "bytes", c->bytes);
    member_number(t, "mode", c->mode & 07777);
    if (c->digest[0])
        member_text(t, "digest", c->digest, strlen(c->digest));
    if (c->old_digest[0])
        member_text(t, "old_digest", c->old_digest, strlen(c->old_digest));
    text_str(t, "}");
    text_printf(text, "%s %s\n", kinds[c->kind], c->path);
}

static void changes(Job *job, Reply *reply)
{
    shell_change_info *list;
    uint64_t count;
    shell_err err = shell_changes_full(job->session->sh, SHELL_CHANGES_DIGESTS, &list, &count);
    if (err) {
        reply_error(reply, "changes: %s", shell_strerror(err));
        return;
    }
    member_key(&reply->structured, "changes");
    text_str(&reply->structured, "[");
    const char *p = (const char *)list;
    for (uint64_t i = 0; i < count; i++, p += list->size)
        one_change(&reply->structured, &reply->text, (const shell_change_info *)(const void *)p, i == 0);
    text_str(&reply->structured, "]");
    if (!count)
        text_str(&reply->text, "(nothing has changed)");
    shell_free(list);
}

/* State held. The oldest go when there are too many, or too many bytes. */
static void keep_snapshot(Server *sv, Snapshot *snapshot)
{
    uint64_t bytes = 0;
    unsigned count = 0;
    snapshot->next = sv->snapshots;
    sv->snapshots = snapshot;
    for (Snapshot **at = &sv->snapshots; *at;) {
        Snapshot *n = *at;
        bytes += n->len;
        if (n != snapshot && (++count >= MOST_SNAPSHOTS || bytes > snapshot_bytes)) {
            bytes -= n->len;
            *at = n->next;
            shell_free(n->data);
            free(n);
        } else {
            at = &n->next;
        }
    }
}

static void snapshot(Job *job, Reply *reply)
{
    Server *sv = job->server;
    Snapshot *n = calloc(1, sizeof *n);
    shell_err err = n && random_handle(n->handle) ? shell_snapshot(job->session->sh, &n->data, &n->len) : SHELL_ENOMEM;
    if (err) {
        free(n);
        reply_error(reply, "snapshot: %s", err == SHELL_ENOMEM ? "out of memory" : shell_message(job->session->sh));
        return;
    }
    member_text(&reply->structured, "snapshot", n->handle, HANDLE - 1);
    member_number(&reply->structured, "bytes", n->len);
    text_printf(&reply->text, "snapshot %s, %llu bytes", n->handle, (unsigned long long)n->len);
    pthread_mutex_lock(&sv->state);
    keep_snapshot(sv, n);
    pthread_mutex_unlock(&sv->state);
}

/* A copy, so that restoring needs no lock. */
static char *find_snapshot(Server *sv, const Value *handle, uint64_t *len)
{
    char *copy = NULL;
    pthread_mutex_lock(&sv->state);
    for (Snapshot *n = sv->snapshots; n && !copy; n = n->next)
        if (handle->len == HANDLE - 1 && memcmp(n->handle, handle->text, HANDLE - 1) == 0 && (copy = malloc(n->len + 1))) {
            memcpy(copy, n->data, n->len);
            *len = n->len;
        }
    pthread_mutex_unlock(&sv->state);
    return copy;
}

static void restore(Job *job, Reply *reply)
{
    uint64_t len = 0;
    const Value *handle = value_get(job->args, "snapshot");
    char *data = find_snapshot(job->server, handle, &len);
    if (!data) {
        reply_error(reply, "snapshot: there is no such snapshot");
        return;
    }
    shell_err err = shell_restore(job->session->sh, data, len);
    free(data);
    if (err) {
        reply_error(reply, "restore: %.800s", shell_message(job->session->sh));
        return;
    }
    text_printf(&reply->text, "restored %s", handle->text);
    member_text(&reply->structured, "snapshot", handle->text, handle->len);
}

/* ---------- sessions ---------- */

static void open_session(Server *sv, Job *job, Reply *reply)
{
    Session *session;
    char handle[HANDLE];
    (void)job;
    const char *why = session_open(sv, &session);
    if (why) {
        reply_error(reply, "%s", why);
        return;
    }
    memcpy(handle, session->handle, HANDLE); /* nobody else knows it, and it does not end before it is old */
    text_printf(&reply->text, "session %s", handle);
    member_text(&reply->structured, "session", handle, HANDLE - 1);
}

static void close_session(Job *job, Reply *reply)
{
    text_printf(&reply->text, "closed %s", job->session->handle);
    member_text(&reply->structured, "session", job->session->handle, HANDLE - 1);
}

/* ---------- the table ---------- */

#define SESSION {"session", "string", "A session that open_session gave; without one: the shell that all such calls share.", false}
#define PATH {"path", "string", "The file; a relative path starts at the shell's current directory.", true}
#define STRING "{\"type\":\"string\"}"
#define INTEGER "{\"type\":\"integer\"}"
#define BOOLEAN "{\"type\":\"boolean\"}"
#define OBJECT(properties, required) "{\"type\":\"object\",\"properties\":{" properties "},\"required\":[" required "],\"additionalProperties\":false}"

static const Tool tools[] = {
    {"shell", "Run a bash script", NULL,
     {{"command", "string", "The bash script to run.", true},
      {"timeout_ms", "integer", "End the run after so many milliseconds; 0 or nothing: the shell's time limit.", false},
      {"stdin", "string", "Standard input of the script.", false}, SESSION},
     OBJECT("\"status\":" INTEGER ",\"ended\":{\"type\":\"string\",\"enum\":[\"finished\",\"timeout\",\"cancelled\",\"limit\",\"deadlock\"]},\"limit\":" STRING
            ",\"stdout\":" STRING ",\"stderr\":" STRING ",\"stdout_truncated\":" BOOLEAN ",\"stderr_truncated\":" BOOLEAN,
            "\"status\",\"ended\",\"stdout\",\"stderr\",\"stdout_truncated\",\"stderr_truncated\""),
     HINT_DESTRUCTIVE | HINT_OPEN_WORLD, run_shell, NULL},
    {"read_file", "Read a file", "Reads a file of the shell; long ones in parts, by offset and limit in bytes. What is not UTF-8 comes as base64.",
     {PATH, {"offset", "integer", "First byte to read; default 0.", false}, {"limit", "integer", "Most bytes to read; default 1 MiB.", false}, SESSION},
     OBJECT("\"path\":" STRING ",\"encoding\":{\"type\":\"string\",\"enum\":[\"utf-8\",\"base64\"]},\"content\":" STRING ",\"offset\":" INTEGER ",\"bytes\":" INTEGER
            ",\"size\":" INTEGER, "\"path\",\"encoding\",\"content\",\"offset\",\"bytes\",\"size\""),
     HINT_READ_ONLY | HINT_IDEMPOTENT, read_file, NULL},
    {"write_file", "Write a file", "Writes a file of the shell, whole; missing directories are made.",
     {PATH, {"content", "string", "What the file is to hold.", true}, {"encoding", "string", "Of content: \"utf-8\" (the default) or \"base64\".", false}, SESSION},
     OBJECT("\"path\":" STRING ",\"bytes\":" INTEGER, "\"path\",\"bytes\""), HINT_DESTRUCTIVE | HINT_IDEMPOTENT, write_file, NULL},
    {"edit_file", "Edit a file", "Replaces text in a file of the shell. old_text must stand there exactly once, or replace_all be true. Gives a unified diff.",
     {PATH, {"old_text", "string", "What is to be replaced, exactly, with its blanks and line ends.", true},
      {"new_text", "string", "What comes in its place.", true}, {"replace_all", "boolean", "Replace every occurrence.", false}, SESSION},
     OBJECT("\"path\":" STRING ",\"replacements\":" INTEGER ",\"diff\":" STRING, "\"path\",\"replacements\",\"diff\""), HINT_DESTRUCTIVE, edit_file, NULL},
    {"list_dir", "List a directory", "Lists a directory of the shell.",
     {{"path", "string", "The directory; default: the shell's current one.", false}, SESSION},
     OBJECT("\"path\":" STRING ",\"entries\":{\"type\":\"array\",\"items\":" OBJECT("\"name\":" STRING ",\"type\":" STRING ",\"bytes\":" INTEGER,
            "\"name\",\"type\",\"bytes\"") "},\"truncated\":" BOOLEAN, "\"path\",\"entries\",\"truncated\""),
     HINT_READ_ONLY | HINT_IDEMPOTENT, list_dir, NULL},
    {"search", "Search in files", "Finds lines by an extended regular expression in the text files below a path, .git left out.",
     {{"pattern", "string", "An extended regular expression (grep -E), or with `fixed` a string.", true},
      {"path", "string", "Where to look; default: the shell's current directory.", false},
      {"glob", "string", "Only files with names like this, *.c for one.", false}, {"ignore_case", "boolean", "Upper and lower case are the same.", false},
      {"fixed", "boolean", "The pattern is a string.", false}, {"max_results", "integer", "Most lines to give; default 200.", false}, SESSION},
     OBJECT("\"matches\":{\"type\":\"array\",\"items\":" OBJECT("\"path\":" STRING ",\"line\":" INTEGER ",\"text\":" STRING, "\"path\",\"line\",\"text\"")
            "},\"truncated\":" BOOLEAN, "\"matches\",\"truncated\""),
     HINT_READ_ONLY | HINT_IDEMPOTENT, search, NULL},
    {"changes", "What has changed", "Lists the files that were added, modified or deleted since the session began, with digests.",
     {SESSION},
     OBJECT("\"changes\":{\"type\":\"array\",\"items\":" OBJECT("\"path\":" STRING ",\"kind\":{\"type\":\"string\",\"enum\":[\"added\",\"modified\",\"deleted\"]},\"type\":"
            STRING ",\"bytes\":" INTEGER ",\"mode\":" INTEGER ",\"digest\":" STRING ",\"old_digest\":" STRING, "\"path\",\"kind\",\"type\",\"bytes\",\"mode\"") "}",
            "\"changes\""),
     HINT_READ_ONLY | HINT_IDEMPOTENT, changes, NULL},
    {"snapshot", "Keep the shell's state", "Keeps files, variables, functions and the current directory as they are; restore brings them back, also into another "
     "session. The server keeps the newest 32.",
     {SESSION}, OBJECT("\"snapshot\":" STRING ",\"bytes\":" INTEGER, "\"snapshot\",\"bytes\""), 0, snapshot, NULL},
    {"restore", "Go back to a snapshot", "Puts what a snapshot kept in the place of the shell's state.",
     {{"snapshot", "string", "What snapshot gave.", true}, SESSION}, OBJECT("\"snapshot\":" STRING, "\"snapshot\""), HINT_DESTRUCTIVE | HINT_IDEMPOTENT, restore, NULL},
    {"open_session", "Open a session", "Begins a session: a shell of its own, as the server's was at the start. Close it when it is not needed any more.",
     {{0}}, OBJECT("\"session\":" STRING, "\"session\""), 0, NULL, open_session},
    {"close_session", "Close a session", "Ends a session after the calls that wait in it; its files are gone.",
     {{"session", "string", "What open_session gave.", true}}, OBJECT("\"session\":" STRING, "\"session\""), HINT_DESTRUCTIVE, close_session, NULL},
};
enum { TOOLS = sizeof tools / sizeof *tools };

const Tool *tool_find(const Value *name)
{
    for (size_t i = 0; i < TOOLS; i++)
        if (value_is(name, tools[i].name))
            return &tools[i];
    return NULL;
}

static bool right_kind(const Field *f, const Value *v, Reply *reply)
{
    ValueKind want = f->type[0] == 's' ? VALUE_STRING : f->type[0] == 'i' ? VALUE_INTEGER : VALUE_BOOL;
    if (v->kind != want)
        reply_error(reply, "%s: %s is expected, not %s", f->name, value_kind_name(want), value_kind_name(v->kind));
    else if (want == VALUE_INTEGER && (v->integer < 0 || v->integer > INT64_MAX / 2))
        reply_error(reply, "%s: a number from 0 on is expected", f->name);
    /* a script and what a file holds may have NUL bytes; names may not */
    else if (want == VALUE_STRING && memchr(v->text, 0, v->len) && strcmp(f->name, "command") != 0 && strcmp(f->name, "stdin") != 0 &&
             strcmp(f->name, "content") != 0 && !strstr(f->name, "_text"))
        reply_error(reply, "%s: a NUL byte cannot stand in it", f->name);
    else
        return true;
    return false;
}

static const Field *field_find(const Tool *tool, const Value *v)
{
    for (const Field *f = tool->fields; f->name; f++)
        if (strlen(f->name) == v->key_len && memcmp(f->name, v->key, v->key_len) == 0)
            return f;
    return NULL;
}

bool tool_check(const Tool *tool, const Value *args, Reply *reply)
{
    for (const Value *v = args ? args->first : NULL; v; v = v->next) {
        const Field *f = field_find(tool, v);
        if (!f) {
            reply_error(reply, "%.80s: %s has no such argument", v->key, tool->name);
            return false;
        }
        if (!right_kind(f, v, reply))
            return false;
    }
    for (const Field *f = tool->fields; f->name; f++)
        if (f->required && !value_get(args, f->name)) {
            reply_error(reply, "%s: it is missing", f->name);
            return false;
        }
    return true;
}

/* ---------- definitions ---------- */

static void input_schema(const Tool *tool, Text *t)
{
    text_str(t, "{\"type\":\"object\",\"properties\":{");
    for (const Field *f = tool->fields; f->name; f++) {
        member_key(t, f->name);
        text_printf(t, "{\"type\":\"%s\",%s\"description\":", f->type, f->type[0] == 'i' ? "\"minimum\":0," : "");
        text_json(t, f->text, strlen(f->text));
        text_str(t, "}");
    }
    text_str(t, "},\"required\":[");
    const char *comma = "";
    for (const Field *f = tool->fields; f->name; f++)
        if (f->required) {
            text_printf(t, "%s\"%s\"", comma, f->name);
            comma = ",";
        }
    text_str(t, "],\"additionalProperties\":false}");
}

static void annotations(const Tool *tool, Text *t)
{
    text_str(t, "{");
    member_text(t, "title", tool->title, strlen(tool->title));
    member_flag(t, "readOnlyHint", tool->hints & HINT_READ_ONLY);
    member_flag(t, "destructiveHint", tool->hints & HINT_DESTRUCTIVE);
    member_flag(t, "idempotentHint", tool->hints & HINT_IDEMPOTENT);
    member_flag(t, "openWorldHint", tool->hints & HINT_OPEN_WORLD);
    text_str(t, "}");
}

void tools_json(shell *sh, Text *out)
{
    char *about = NULL;
    uint64_t len = 0;
    if (shell_describe(sh, 0, &about, &len) != SHELL_OK)
        out->failed = true;
    text_str(out, "[");
    for (size_t i = 0; i < TOOLS; i++) {
        const Tool *tool = &tools[i];
        text_str(out, i ? ",{" : "{");
        member_text(out, "name", tool->name, strlen(tool->name));
        member_text(out, "title", tool->title, strlen(tool->title));
        member_text(out, "description", tool->text ? tool->text : about ? about : "", tool->text ? strlen(tool->text) : len);
        member_key(out, "inputSchema");
        input_schema(tool, out);
        member_key(out, "outputSchema");
        text_str(out, tool->output);
        member_key(out, "annotations");
        annotations(tool, out);
        text_str(out, "}");
    }
    text_str(out, "]");
    shell_free(about);
}

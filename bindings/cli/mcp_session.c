/* mcp_session: sessions, each with its thread and its queue; progress; idle and old ones. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "mcp.h"

static const int64_t second = 1000000000;
enum { GRACE_MS = 1500 }; /* for calls that run when the client goes */

int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * second + t.tv_nsec;
}

bool random_handle(char out[HANDLE])
{
    unsigned char bits[16];
    if (getrandom(bits, sizeof bits, 0) != sizeof bits)
        return false;
    for (size_t i = 0; i < sizeof bits; i++)
        snprintf(out + 2 * i, 3, "%02x", bits[i]);
    return true;
}

/* ---------- running ---------- */

static bool begin(Job *job, const char *script, size_t len, const shell_run_opts *opts, shell_err *err)
{
    pthread_mutex_lock(&job->server->state);
    bool go = !job->cancelled;
    *err = go ? shell_begin(job->session->sh, script, len, opts) : SHELL_EBUSY;
    job->stepping = *err == SHELL_OK;
    pthread_mutex_unlock(&job->server->state);
    return *err == SHELL_OK;
}

shell_err job_run(Job *job, const char *script, size_t len, const shell_run_opts *opts, shell_result **out)
{
    shell *sh = job->session->sh;
    shell_err err;
    int32_t state = SHELL_PENDING;
    shell_pending pending = {.size = sizeof pending};
    if (!begin(job, script, len, opts, &err))
        return err;
    while (!err && state != SHELL_DONE) {
        err = shell_step(sh, &state, &pending);
        if (!err && state == SHELL_PENDING)
            err = shell_pause(sh, &pending);
    }
    pthread_mutex_lock(&job->server->state);
    job->stepping = false;
    pthread_mutex_unlock(&job->server->state);
    return err ? err : shell_end(sh, out);
}

static void work(Job *job)
{
    Reply reply = {0};
    job->tool->run(job, &reply);
    job_answer(job, &reply);
    text_free(&reply.text);
    text_free(&reply.structured);
}

/* The next call, or NULL when the session has ended and its queue is empty. */
static Job *next_job(Session *session)
{
    while (!session->first && !session->ended)
        pthread_cond_wait(&session->wake, &session->server->state);
    Job *job = session->first;
    if (!job)
        return NULL;
    session->first = job->next;
    if (!session->first)
        session->last = NULL;
    job->next = NULL;
    job->begun = now_ns();
    session->current = job;
    if (job->token.len)
        pthread_cond_signal(&session->server->tick);
    return job;
}

static void session_free(Session *session)
{
    if (session->sh)
        shell_close(session->sh);
    if (session->audited)
        cli_audit_end(&session->audit);
    pthread_cond_destroy(&session->wake);
    free(session);
}

static void forget(Session *session)
{
    Server *sv = session->server;
    for (Session **at = &sv->sessions; *at; at = &(*at)->next)
        if (*at == session) {
            *at = session->next;
            break;
        }
}

static void *session_thread(void *arg)
{
    Session *session = arg;
    Server *sv = session->server;
    pthread_mutex_lock(&sv->state);
    for (Job *job; (job = next_job(session));) {
        bool skip = job->cancelled;
        pthread_mutex_unlock(&sv->state);
        if (!skip)
            work(job);
        pthread_mutex_lock(&sv->state);
        session->current = NULL;
        session->used = now_ns();
        pthread_mutex_unlock(&sv->state);
        job_release(job);
        pthread_mutex_lock(&sv->state);
    }
    forget(session);
    pthread_mutex_unlock(&sv->state);
    session_free(session);
    pthread_mutex_lock(&sv->state);
    sv->count--;
    pthread_cond_broadcast(&sv->changed);
    pthread_mutex_unlock(&sv->state);
    return NULL;
}

/* ---------- the table ---------- */

Session *session_find(Server *sv, const char *handle, size_t len)
{
    for (Session *s = sv->sessions; s; s = s->next)
        if (!s->ended && s->handle[0] && len == HANDLE - 1 && memcmp(s->handle, handle, len) == 0)
            return s;
    return NULL;
}

void session_queue(Session *session, Job *job)
{
    job->session = session;
    if (session->last)
        session->last->next = job;
    else
        session->first = job;
    session->last = job;
    session->used = now_ns();
    pthread_cond_signal(&session->wake);
}

void session_end(Session *session)
{
    session->ended = true;
    pthread_cond_signal(&session->wake);
}

static const char *session_shell(Session *session, unsigned number)
{
    Server *sv = session->server;
    if (shell_fork(sv->pristine, &session->sh) != SHELL_OK)
        return "no more sessions: out of memory";
    if (!sv->settings->audit)
        return NULL;
    const char *why = cli_audit(sv->settings->audit, number, &session->audit);
    session->audited = !why;
    if (!why && shell_set_audit(session->sh, &session->audit) != SHELL_OK)
        why = "its audit cannot be begun";
    return why;
}

static bool start_thread(void *(*function)(void *), void *arg)
{
    pthread_t thread;
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    bool started = pthread_create(&thread, &attributes, function, arg) == 0;
    pthread_attr_destroy(&attributes);
    return started;
}

const char *session_open(Server *sv, Session **out)
{
    pthread_mutex_lock(&sv->state);
    bool full = sv->opened && sv->count >= sv->settings->most_sessions + 2; /* the server's own and the ticker are not counted */
    unsigned number = full ? 0 : sv->opened++;
    sv->count += !full;
    pthread_mutex_unlock(&sv->state);
    if (full)
        return "no more sessions: close one first";
    Session *session = calloc(1, sizeof *session);
    const char *why = session ? NULL : "out of memory";
    if (session) {
        session->server = sv;
        session->made = session->used = now_ns();
        pthread_cond_init(&session->wake, NULL);
        why = number && !random_handle(session->handle) ? "no randomness" : session_shell(session, number);
    }
    pthread_mutex_lock(&sv->state);
    if (!why && !start_thread(session_thread, session))
        why = "no more threads";
    if (why) {
        sv->count--;
    } else {
        session->next = sv->sessions;
        sv->sessions = session;
        pthread_cond_signal(&sv->tick);
    }
    pthread_mutex_unlock(&sv->state);
    if (why && session)
        session_free(session);
    *out = why ? NULL : session;
    return why;
}

static bool same_id(const Job *job, const Text *id)
{
    return job->id.len == id->len && memcmp(job->id.data, id->data, id->len) == 0;
}

static void cancel_job(Job *job)
{
    job->cancelled = true;
    if (job->stepping)
        shell_cancel(job->session->sh);
}

void server_cancel(Server *sv, const Text *id)
{
    pthread_mutex_lock(&sv->state);
    for (Session *s = sv->sessions; s; s = s->next) {
        if (s->current && same_id(s->current, id))
            cancel_job(s->current);
        for (Job *job = s->first; job; job = job->next)
            if (same_id(job, id))
                cancel_job(job);
    }
    pthread_mutex_unlock(&sv->state);
}

/* ---------- time ---------- */

static void tell_progress(Job *job, int64_t now)
{
    Text t = {0};
    double elapsed = (double)(now - job->begun) / 1e9;
    text_str(&t, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":");
    text_add(&t, job->token.data, job->token.len);
    text_printf(&t, ",\"progress\":%.3f,\"message\":\"running for %.0f s\"}}\n", elapsed, elapsed);
    pthread_mutex_lock(&job->server->out);
    if (!job->answered)
        server_write(job->server, &t);
    pthread_mutex_unlock(&job->server->out);
    text_free(&t);
}

/* One job that progress is due for, held; *next is when there may be another. */
static Job *due(Server *sv, int64_t now, int64_t *next)
{
    for (Session *s = sv->sessions; s; s = s->next) {
        Job *job = s->current;
        if (!job || !job->token.len || job->cancelled)
            continue;
        int64_t at = (job->told ? job->told : job->begun) + second;
        if (at <= now) {
            job->told = now;
            job->holders++;
            return job;
        }
        *next = at < *next ? at : *next;
    }
    return NULL;
}

static void end_old(Server *sv, int64_t now, int64_t *next)
{
    const Settings *s = sv->settings;
    for (Session *session = sv->sessions; session; session = session->next) {
        bool idle = !session->current && !session->first;
        int64_t idle_end = s->session_idle && idle ? session->used + (int64_t)s->session_idle * second : INT64_MAX;
        int64_t life_end = s->session_lifetime ? session->made + (int64_t)s->session_lifetime * second : INT64_MAX;
        int64_t end = idle_end < life_end ? idle_end : life_end;
        if (session == sv->own || session->ended)
            continue;
        if (end <= now)
            session_end(session);
        else
            *next = end < *next ? end : *next;
    }
}

static void *ticker(void *arg)
{
    Server *sv = arg;
    pthread_mutex_lock(&sv->state);
    while (!sv->stopping) {
        int64_t now = now_ns(), next = now + 60 * second;
        Job *job = due(sv, now, &next);
        if (job) {
            pthread_mutex_unlock(&sv->state);
            tell_progress(job, now);
            job_release(job);
            pthread_mutex_lock(&sv->state);
            continue;
        }
        end_old(sv, now, &next);
        struct timespec until = {.tv_sec = next / second, .tv_nsec = next % second};
        pthread_cond_timedwait(&sv->tick, &sv->state, &until);
    }
    sv->count--;
    pthread_cond_broadcast(&sv->changed);
    pthread_mutex_unlock(&sv->state);
    return NULL;
}

/* ---------- the server ---------- */

static void cond_monotonic(pthread_cond_t *cond)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &attributes);
    pthread_condattr_destroy(&attributes);
}

bool server_start(Server *sv, shell *pristine, const Settings *s, int fd)
{
    *sv = (Server){.settings = s, .pristine = pristine, .fd = fd};
    pthread_mutex_init(&sv->state, NULL);
    pthread_mutex_init(&sv->out, NULL);
    cond_monotonic(&sv->changed);
    cond_monotonic(&sv->tick);
    const char *why = session_open(sv, &sv->own);
    if (!why) {
        sv->count++; /* the ticker's part in what is waited for at the end */
        if (start_thread(ticker, sv))
            return true;
        sv->count--;
        why = "no more threads";
    }
    fprintf(stderr, "libshell: %s%s%s\n", s->audit ? s->audit : "", s->audit ? ": " : "", why);
    if (sv->own)
        server_stop(sv);
    return false;
}

static void end_all(Server *sv, bool cancel)
{
    for (Session *s = sv->sessions; s; s = s->next) {
        session_end(s);
        for (Job *job = cancel ? s->first : NULL; job; job = job->next)
            cancel_job(job);
        if (cancel && s->current)
            cancel_job(s->current);
    }
}

static void wait_for_end(Server *sv, int64_t until)
{
    struct timespec t = {.tv_sec = until / second, .tv_nsec = until % second};
    while (sv->count && pthread_cond_timedwait(&sv->changed, &sv->state, &t) == 0)
        ;
}

void server_stop(Server *sv)
{
    pthread_mutex_lock(&sv->state);
    sv->stopping = true;
    pthread_cond_signal(&sv->tick);
    end_all(sv, false);
    wait_for_end(sv, now_ns() + GRACE_MS * (second / 1000));
    end_all(sv, true);
    wait_for_end(sv, now_ns() + 3600 * second);
    pthread_mutex_unlock(&sv->state);
    for (Snapshot *n = sv->snapshots, *next; n; n = next) {
        next = n->next;
        shell_free(n->data);
        free(n);
    }
    text_free(&sv->tools);
    text_free(&sv->about);
}

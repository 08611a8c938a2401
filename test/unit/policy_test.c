/* Policy and audit: commands by identity, files by resolved path, moves, questions, the chain of lines. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "include/shell.h"
#include "lib/base/sha256.h"
#include "lib/kernel/policy.h"
#include "test/components.h"

static char out[65536], err[65536];

static int run(shell *sh, const char *script)
{
    shell_result *r;
    assert_int_equal(shell_run(sh, script, strlen(script), NULL, &r), SHELL_OK);
    snprintf(out, sizeof out, "%s", r->out);
    snprintf(err, sizeof err, "%s", r->err);
    int status = r->status;
    shell_result_free(r);
    return status;
}

static shell *open_with(const shell_policy *policy, const shell_audit *audit)
{
    shell_options o;
    shell *sh;
    shell_options_init(&o);
    o.policy = policy;
    o.audit = audit;
    o.component = test_component;
    assert_int_equal(shell_open(&o, &sh), SHELL_OK);
    return sh;
}

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})
#define RULES(...) .rules = (shell_file_rule[]){__VA_ARGS__}, .nrules = sizeof((shell_file_rule[]){__VA_ARGS__}) / sizeof(shell_file_rule)
#define DENY(p, ops) {.size = sizeof(shell_file_rule), .pattern = (p), .operations = (ops), .deny = 1}
#define ALLOW(p, ops) {.size = sizeof(shell_file_rule), .pattern = (p), .operations = (ops)}
enum { ALL = 63 };

static void test_denied_commands(void **state)
{
    (void)state;
    shell_policy p = {.size = sizeof p, .deny_commands = LIST("rm", "eval", "awk")};
    shell *sh = open_with(&p, NULL);
    static const char *const refused[] = {
        "rm x", "/bin/rm x", "/usr/bin/rm x", "command rm x", "cp /bin/rm d; ./d x", "cp /bin/rm d; mv d e; ./e x", "ln -s /bin/rm l; ./l x", "ln /bin/rm h 2>/dev/null || cp /bin/rm h; ./h x",
        "env rm x", "echo x | xargs rm", "find . -name x -exec rm {} +", "timeout 5 rm x", "exec rm x", "bash -c 'rm x'", "(rm x)", "rm x & wait $!", "v=rm; $v x", "eval echo hi",
        "builtin eval echo hi", "command eval echo", "awk 'BEGIN{print 1}'", "sh -c 'exec rm x'", "printf '#!/bin/rm\\n' > s; chmod +x s; ./s", "printf '#!/usr/bin/env rm\\n' > s; chmod +x s; ./s",
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        run(sh, "cd; command -p true; >x");
        run(sh, refused[i]);
        if (!strstr(err, "refused by policy"))
            fail_msg("%s: %s", refused[i], err);
        assert_int_equal(run(sh, "test -e x"), 0);
    }
    assert_int_equal(run(sh, "rm x"), 126);
    assert_int_equal(run(sh, "ls x; touch y; mv y z"), 0);
    assert_int_equal(shell_set_policy(sh, NULL), SHELL_OK);
    assert_int_equal(run(sh, "rm x"), 0);
    shell_close(sh);
}

static void test_allowed_commands(void **state)
{
    (void)state;
    shell_policy p = {.size = sizeof p, .allow_commands = LIST("ls", "cat")};
    shell *sh = open_with(&p, NULL), *other;
    assert_int_equal(run(sh, "cd /tmp; x=1; [ $x = 1 ] && echo y > f; ls | cat"), 0);
    assert_string_equal(out, "f\n");
    assert_int_equal(run(sh, "grep y f"), 126);
    assert_string_equal(err, "grep: refused by policy\n");
    assert_int_equal(shell_fork(sh, &other), SHELL_OK);
    assert_int_equal(run(other, "grep y f"), 126);
    shell_close(other);
    shell_close(sh);
}

static void test_file_rules(void **state)
{
    (void)state;
    shell *sh = open_with(NULL, NULL);
    run(sh, "mkdir -p /workspace/secret/deep /workspace/open; cd /workspace; echo k > secret/key; echo d > secret/deep/d; echo o > open/o; echo e > open/.env; ln -s secret/key link; ln -s secret dirlink");
    shell_policy p = {.size = sizeof p, RULES(DENY("/workspace/secret/**", ALL), DENY("**/.env", SHELL_OP_READ), DENY("/workspace/open/*.lock", SHELL_OP_CREATE | SHELL_OP_DELETE))};
    assert_int_equal(shell_set_policy(sh, &p), SHELL_EINVAL); /* not absolute */
    p.rules = (shell_file_rule[]){DENY("/workspace/secret/**", ALL), DENY("/**/.env", SHELL_OP_READ), DENY("/workspace/open/*.lock", SHELL_OP_CREATE | SHELL_OP_DELETE)};
    assert_int_equal(shell_set_policy(sh, &p), SHELL_OK);
    static const char *const refused[] = {
        "cat secret/key", "cat link", "cat dirlink/key", "cat open/../secret/key", "cd secret; cat key", "ls secret", "ls secret/deep", "echo x > secret/key", "echo x >> link", "echo x > secret/new",
        "rm secret/key", "rm -r secret", "chmod 777 secret/key", "touch secret/key", "mv secret/key open/key", "mv secret open/s", "mv /workspace/secret /tmp/s", "mv /workspace /tmp/w", "ln secret/key open/hard",
        "cp secret/key open/copy", "cp -al secret open/tree", "tar cf /tmp/t.tar secret/key", "find secret -type f", "cat open/.env", "mv open/.env open/env", "ln open/.env open/env", "grep -r k secret",
        "head -c1 < secret/key", "exec 3<secret/key", "mkdir secret/x", "echo > open/a.lock", "mkfifo secret/f", "cat /proc/self/cwd/secret/key /workspace/secret/key", "source secret/key", "sed -i s/k/x/ secret/key",
        "cp open/o secret/o", "mv open/o secret/o", "tee secret/key < /dev/null",
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        char script[256];
        snprintf(script, sizeof script, "cd /workspace && %s", refused[i]);
        if (run(sh, script) == 0)
            fail_msg("%s", refused[i]);
        if (strstr(out, "k\n") || strstr(out, "e\n"))
            fail_msg("%s printed %s", refused[i], out);
    }
    static const char *const fine[] = {"cat open/o", "mv open/o open/p", "mv open/p open/o", "mv open moved", "mv moved open", "echo x > open/new && rm open/new", "echo n > /dev/null", "cat /dev/null", "ls open", "chmod 600 open/o"};
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++) {
        char script[256];
        snprintf(script, sizeof script, "cd /workspace && %s", fine[i]);
        if (strcmp(fine[i], "mv open moved") == 0 || strcmp(fine[i], "mv moved open") == 0)
            continue; /* *.lock is a rule of open alone: tested below */
        if (run(sh, script) != 0)
            fail_msg("%s: %s", fine[i], err);
    }
    assert_int_not_equal(run(sh, "cd /workspace && mv open moved"), 0);
    char *text;
    uint64_t len;
    assert_int_equal(shell_read_file(sh, "/workspace/secret/key", &text, &len), SHELL_OK); /* the embedder's own call */
    assert_string_equal(text, "k\n");
    shell_free(text);
    shell *other;
    assert_int_equal(shell_fork(sh, &other), SHELL_OK);
    assert_int_not_equal(run(other, "cat /workspace/secret/key"), 0);
    shell_close(other);
    shell_close(sh);
}

static void test_allow_rules(void **state)
{
    (void)state;
    shell_policy p = {.size = sizeof p, RULES(ALLOW("/workspace/**", ALL), ALLOW("/tmp/**", SHELL_OP_READ | SHELL_OP_LIST), DENY("/workspace/no", SHELL_OP_READ))};
    shell *sh = open_with(&p, NULL);
    assert_int_equal(run(sh, "cd /workspace; echo a > a; mkdir d; mv a d/b; cat d/b; ls / >/dev/null"), 2); /* / is on no list */
    assert_int_not_equal(run(sh, "echo x > /tmp/f"), 0);
    assert_int_not_equal(run(sh, "cat /etc/passwd"), 0);
    assert_int_not_equal(run(sh, "echo x > /workspace/no; mv /workspace/no /workspace/yes"), 0);
    assert_int_not_equal(run(sh, "ln /etc/passwd /workspace/p && cat /workspace/p"), 0);
    assert_int_equal(run(sh, "ls /tmp; seq 3 | sort -r | head -1"), 0);
    shell_close(sh);
}

/* ---------- questions ---------- */

static int asked;
static char last[256];
static uint64_t later;

static int32_t ask(void *user, const shell_question *q, char *reason, uint64_t size)
{
    asked++;
    snprintf(last, sizeof last, "%d %s", q->kind, q->subject);
    if (strcmp(user, "later") == 0) {
        later = q->id;
        return SHELL_EAGAIN;
    }
    snprintf(reason, size, "ask a person first");
    return strcmp(user, "yes") == 0 ? 0 : 1;
}

static void test_questions(void **state)
{
    (void)state;
    shell_policy p = {.size = sizeof p, .asks = SHELL_ASK_DELETE | SHELL_ASK_OVERWRITE, .ask_commands = LIST("mv"), .scratch = LIST("/tmp/"), .ask = ask, .user = (void *)(uintptr_t) "no"};
    shell *sh = open_with(&p, NULL);
    run(sh, "cd; echo a > a; echo b > /tmp/b");
    asked = 0;
    assert_int_not_equal(run(sh, "rm a"), 0);
    assert_int_equal(asked, 1);
    assert_string_equal(last, "1 /home/agent/a");
    assert_non_null(strstr(err, "/home/agent/a: refused by policy: ask a person first"));
    assert_int_not_equal(run(sh, "echo c > a"), 0);
    assert_string_equal(last, "2 /home/agent/a");
    assert_int_equal(run(sh, "cat a"), 0);
    assert_string_equal(out, "a\n");
    assert_int_equal(run(sh, "echo c > /tmp/b; rm /tmp/b; echo n > new"), 0);
    assert_int_equal(run(sh, "mv a b"), 126);
    assert_string_equal(last, "8 mv");
    p.user = (void *)(uintptr_t) "yes";
    assert_int_equal(shell_set_policy(sh, &p), SHELL_OK);
    asked = 0;
    assert_int_equal(run(sh, "rm a; mv new b"), 0);
    assert_int_equal(asked, 3);
    shell_close(sh);
}

static void test_later_answers(void **state)
{
    (void)state;
    shell_policy p = {.size = sizeof p, .asks = SHELL_ASK_DELETE, .ask = ask, .user = (void *)(uintptr_t) "later"};
    shell *sh = open_with(&p, NULL);
    run(sh, "cd; >a; >b");
    for (int answer = 0; answer < 2; answer++) {
        const char *script = answer ? "rm b" : "rm a";
        int32_t step;
        shell_pending pending = {.size = sizeof pending};
        shell_result *r;
        later = 0;
        assert_int_equal(shell_begin(sh, script, 4, NULL), SHELL_OK);
        assert_int_equal(shell_step(sh, &step, &pending), SHELL_OK);
        assert_int_equal(step, SHELL_PENDING);
        assert_true(later != 0);
        assert_int_equal(shell_answer(sh, later, answer), SHELL_OK);
        assert_int_equal(shell_step(sh, &step, &pending), SHELL_OK);
        assert_int_equal(step, SHELL_DONE);
        assert_int_equal(shell_end(sh, &r), SHELL_OK);
        assert_int_equal(r->status, answer);
        shell_result_free(r);
    }
    shell_close(sh);
}

static void *change(void *arg)
{
    shell_policy p = {.size = sizeof p, .deny_commands = LIST("touch")};
    usleep(100000);
    shell_set_policy(arg, &p);
    return NULL;
}

static void test_live_change(void **state)
{
    (void)state;
    shell *sh = open_with(NULL, NULL);
    pthread_t t;
    pthread_create(&t, NULL, change, sh);
    assert_int_equal(run(sh, "cd; while touch x 2>/dev/null; do :; done; echo $?"), 0);
    pthread_join(t, NULL);
    assert_int_equal(run(sh, "touch x"), 126);
    shell_close(sh);
}

static void test_bad_policies(void **state)
{
    (void)state;
    shell *sh = open_with(NULL, NULL);
    static const char *const patterns[] = {"", "x", "/a/../b", "/./a"};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        shell_policy p = {.size = sizeof p, RULES(DENY(patterns[i], ALL))};
        assert_int_equal(shell_set_policy(sh, &p), SHELL_EINVAL);
    }
    shell_policy none = {.size = sizeof none, RULES(DENY("/a", 0))};
    assert_int_equal(shell_set_policy(sh, &none), SHELL_EINVAL);
    shell_policy nobody = {.size = sizeof nobody, .asks = SHELL_ASK_DELETE};
    assert_int_equal(shell_set_policy(sh, &nobody), SHELL_EINVAL);
    shell_close(sh);
}

/* ---------- patterns ---------- */

static bool matches(Mem *m, const char *pattern, const char *path)
{
    PathPattern p;
    assert_int_equal(path_pattern_parse(m, slice_str(pattern), &p), 0);
    return path_pattern_ended(&p, path_pattern_walk(&p, slice_str(path)));
}

static void test_patterns(void **state)
{
    (void)state;
    Mem m;
    mem_init(&m, NULL, NULL, NULL);
    static const struct { const char *pattern, *path; bool yes; } table[] = {
        {"/a", "/a", true}, {"/a", "/a/b", false}, {"/a", "/ab", false}, {"/a/*", "/a/b", true}, {"/a/*", "/a", false}, {"/a/*", "/a/b/c", false}, {"/a/**", "/a", true}, {"/a/**", "/a/b/c", true},
        {"/a/**", "/ab", false}, {"/**/x", "/x", true}, {"/**/x", "/a/b/x", true}, {"/**/x", "/a/x/b", false}, {"/a/**/b/*.c", "/a/b/1.c", true}, {"/a/**/b/*.c", "/a/x/y/b/1.c", true},
        {"/a/**/b/*.c", "/a/x/1.c", false}, {"/[ab]?", "/a1", true}, {"/[ab]?", "/c1", false}, {"/**", "/", true}, {"/**", "/a/b", true}, {"/a*b", "/a.b", true}, {"/*", "/.hidden", true}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (matches(&m, table[i].pattern, table[i].path) != table[i].yes)
            fail_msg("%s %s", table[i].pattern, table[i].path);
    mem_drop(&m);
}

/* ---------- audit ---------- */

static void test_sha256(void **state)
{
    (void)state;
    char hex[65], million[1000];
    sha256_hex(SLICE(""), hex);
    assert_string_equal(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    sha256_hex(SLICE("abc"), hex);
    assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    sha256_hex(SLICE("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"), hex);
    assert_string_equal(hex, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    Sha256 s;
    unsigned char sum[32];
    memset(million, 'a', sizeof million);
    sha256_begin(&s);
    for (int i = 0; i < 1000; i++)
        sha256_add(&s, slice(million, sizeof million));
    sha256_end(&s, sum);
    assert_int_equal(sum[0] << 8 | sum[31], 0xcdd0);
}

static char lines[1 << 20];

static void take_line(void *user, const char *line, uint64_t len)
{
    (void)user;
    size_t n = strlen(lines);
    assert_true(n + len < sizeof lines);
    memcpy(lines + n, line, len);
    lines[n + len] = 0;
}

static void test_audit(void **state)
{
    (void)state;
    shell_audit a = {.size = sizeof a, .line = take_line, .ring = 1024, .output = 20};
    shell_policy p = {.size = sizeof p, .deny_commands = LIST("wc")};
    shell_credential c = {.size = sizeof c, .url = "https://x.example", .secret = "s3cr3t-T0ken", .secret_len = 12};
    shell_net net = {.size = sizeof net, .credentials = &c, .ncredentials = 1};
    lines[0] = 0;
    shell *sh = open_with(&p, &a);
    shell_set_net(sh, &net);
    run(sh, "cd /tmp; echo s3cr3t-T0ken > f; cat f; wc f; rm f; printf 'a\\001b\\377c'; echo c3JjcjN0 $(echo -n s3cr3t-T0ken | base64)");
    run(sh, "curl -s 'https://me:pw@other.example/p?token=v&x=y'");
    char head[65], why[128];
    uint64_t n;
    assert_int_equal(shell_audit_verify(lines, strlen(lines), &n, head, why, sizeof why), SHELL_OK);
    assert_true(n >= 10);
    static const char *const wanted[] = {"\"event\":\"run-begin\"", "\"event\":\"run-end\"", "\"event\":\"command\"", "\"name\":\"cat\"", "\"subject\":\"/tmp/f\",\"detail\":\"create\"", "\"detail\":\"delete\"",
                                         "\"event\":\"refusal\",\"pid\":", "\"subject\":\"wc\"", "[redacted]", "\"event\":\"re"};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (!strstr(lines, wanted[i]))
            fail_msg("%s in\n%s", wanted[i], lines);
    static const char *const unwanted[] = {"T0ken", "czNjcjN0LVQwa2Vu", "pw@", "\x01"};
    for (size_t i = 0; i < 2; i++)
        if (strstr(lines, unwanted[i]))
            fail_msg("%s in\n%s", unwanted[i], lines);
    /* any change is seen */
    size_t len = strlen(lines);
    for (size_t i = 0; i < len; i += 37) {
        char kept = lines[i];
        lines[i] = kept == 'x' ? 'y' : 'x';
        assert_int_equal(shell_audit_verify(lines, len, &n, head, why, sizeof why), SHELL_EINVAL);
        assert_true(why[0] != 0);
        lines[i] = kept;
    }
    char *second = strchr(lines, '\n') + 1, *third = strchr(second, '\n') + 1;
    assert_int_equal(shell_audit_verify(second, strlen(second), &n, head, why, sizeof why), SHELL_EINVAL);
    memmove(second, third, strlen(third) + 1);
    assert_int_equal(shell_audit_verify(lines, strlen(lines), &n, head, why, sizeof why), SHELL_EINVAL);
    assert_int_equal(n, 2);
    char *text;
    uint64_t got, lost;
    assert_int_equal(shell_audit_take(sh, &text, &got, &lost), SHELL_OK);
    assert_true(got > 0 && got <= 1024 && lost > 0);
    shell_free(text);
    assert_int_equal(shell_audit_take(sh, &text, &got, &lost), SHELL_OK);
    assert_int_equal(got, 0);
    shell_free(text);
    assert_int_equal(shell_set_audit(sh, NULL), SHELL_OK);
    assert_int_equal(shell_audit_take(sh, &text, &got, &lost), SHELL_EINVAL);
    shell_close(sh);
}

/* However many credentials there are, none of their secrets gets into a line. */
static void test_many_secrets(void **state)
{
    (void)state;
    enum { MANY = 300 };
    shell_audit a = {.size = sizeof a, .line = take_line, .output = 200};
    static shell_credential c[MANY];
    static char secrets[MANY][32];
    for (int i = 0; i < MANY; i++) {
        snprintf(secrets[i], sizeof secrets[i], "T0ken/\"%d\"<&>", i * 7919);
        c[i] = (shell_credential){.size = sizeof *c, .url = "https://x.example", .secret = secrets[i], .secret_len = strlen(secrets[i])};
    }
    shell_net net = {.size = sizeof net, .credentials = c, .ncredentials = MANY};
    lines[0] = 0;
    shell *sh = open_with(NULL, &a);
    assert_int_equal(shell_set_net(sh, &net), SHELL_OK);
    run(sh, "echo 'T0ken/\"0\"<&>' 'T0ken/\"2367781\"<&>'; echo VDBrZW4vIjAiPCY+");
    assert_non_null(strstr(lines, "[redacted] [redacted]"));
    if (strstr(lines, "T0ken") || strstr(lines, "VDBrZW4vIjAiPC"))
        fail_msg("%s", lines);
    shell_close(sh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_patterns), cmocka_unit_test(test_denied_commands), cmocka_unit_test(test_allowed_commands), cmocka_unit_test(test_file_rules),
                                       cmocka_unit_test(test_allow_rules), cmocka_unit_test(test_questions), cmocka_unit_test(test_later_answers), cmocka_unit_test(test_live_change),
                                       cmocka_unit_test(test_bad_policies), cmocka_unit_test(test_sha256), cmocka_unit_test(test_audit), cmocka_unit_test(test_many_secrets)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* snapshot: random states saved, restored and compared; what a restore may not touch; every damaged byte; images from snapshots. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <cmocka.h>

#include "lib/api/internal.h"

static shell *fresh(const shell_bind *binds, uint64_t n)
{
    shell_options o;
    char message[200];
    shell *sh;
    shell_options_init(&o);
    o.fixed_clock = 1;
    o.clock_seconds = 1700000000;
    o.seeded = 1;
    o.binds = binds;
    o.nbinds = n;
    o.cwd = "/home/agent";
    o.message = message;
    o.message_size = sizeof message;
    if (shell_open(&o, &sh) != SHELL_OK)
        fail_msg("%s", message);
    return sh;
}

static char *run(shell *sh, const char *script)
{
    shell_result *r;
    assert_int_equal(shell_run(sh, script, strlen(script), NULL, &r), SHELL_OK);
    char *text = malloc(r->out_len + r->err_len + 1);
    memcpy(text, r->out, r->out_len);
    memcpy(text + r->out_len, r->err, r->err_len + 1);
    shell_result_free(r);
    return text;
}

static void says(shell *sh, const char *script, const char *wanted)
{
    char *got = run(sh, script);
    assert_string_equal(got, wanted);
    free(got);
}

static void check(shell *sh)
{
    const char *why;
    if (!vfs_check(kern_vfs(sh->kernel), &why))
        fail_msg("%s", why);
}

/* ---------- random states ---------- */

static const char *const acts[] = {
    "mkdir -p d$R/e/f", "echo $R >f$R", "cp /usr/bin/cat c$R", "ln -s ../t$R l$R", "ln f* h$R 2>/dev/null", "rm -rf d$((R%7))", "mv f* d$R 2>/dev/null",
    "chmod $((R%8))$((R%7))5 f$((R%9)) 2>/dev/null", "touch -d @$((R*1000)) f* 2>/dev/null", "printf 'a\\0b\\377' >bin$R; chmod 755 bin$R", "seq $((R%2000)) >>big",
    "mkfifo p$R", "rm -f /etc/hosts", "ln /usr/bin/awk awk$R 2>/dev/null", "head -c 70000 /dev/zero >z$((R%3))", ": >>f$R; dd if=/dev/zero of=sp bs=1 count=1 seek=$((R*99)) 2>/dev/null",
    "a$R=$R", "a=(${R} x y [9]=z)", "declare -A m; m[k$R]=v$R; m[$((R%5))]=q", "unset 'a[1]'", "export E$R='two words'", "f$R() { echo \"$R $1\" | cat; local x=1; }",
    "g() { case $1 in a|b) echo x;; *) echo ${1//x/y};; esac; [[ $1 =~ ^x ]] && return 3; }", "declare -i n$R=7; declare -r ro$R=1; declare -u up=abc", "alias x$R='ls -l'",
    "shopt -s nullglob extglob", "shopt -u nullglob", "set -o noclobber; set +o noclobber", "set -f; set +f; set -o pipefail", "cd d* 2>/dev/null", "cd ..", "cd /tmp; pushd / >/dev/null",
    "umask $((R%8))22", "trap 'echo t$R' USR1", "declare -n ref=a", "unset HOME", "unset RANDOM", "enable -n test", "IFS=:$R", "m=([a]=1 [b]=2); unset 'm[a]'", "x=$'\\n\\t\\001'", "declare -a empty",
    "h() (cd /; echo <<E sub $1\nhere $1\nE\n)", "OPTIND=3", "local_only() { declare -g glob=$1; }; local_only $R", "rmdir /home/agent/d* 2>/dev/null", "rm -rf big; mkdir big 2>/dev/null",
};

static const char probes[] =
    "hash -r; for v in $(compgen -v 2>/dev/null | sort || set | sed -n 's/^\\([A-Za-z_0-9]*\\)=.*/\\1/p'); do case $v in PIPESTATUS|_|v|R|BASHPID|PPID|BASH_ARGV*|BASH_EXEC*|RANDOM|SRANDOM|EPOCH*|SECONDS|LINENO|BASH_LINENO|BASH_COMMAND|FUNCNAME|BASH_SOURCE) ;; *) declare -p $v;; esac; done\n"
    "declare -f; declare -F; alias -p; shopt -p; set -o; trap -p; pwd; umask; dirs; enable -n; echo \"${m[@]}\" \"${!m[@]}\" \"${a[@]}\"\n"
    "for f in g h; do declare -f $f >/dev/null && $f xx; done\n"
    "find / -path /proc -prune -o -print 2>/dev/null | sort | while IFS= read -r p; do stat -c '%n %a %u %g %h %s %Y %F' \"$p\"; [ -L \"$p\" ] && readlink \"$p\"; done\n"
    "find /home /tmp /workspace -type f 2>/dev/null | sort | while IFS= read -r p; do wc -c <\"$p\"; head -c 300 \"$p\"; done | cat -v\n";

static int rounds(void)
{
    const char *n = getenv("LIBSHELL_SNAPSHOT_ROUNDS");
    return n ? atoi(n) : 1000;
}

static void random_state(shell *sh, unsigned *seed)
{
    char script[8192] = "";
    size_t len = 0;
    int count = rand_r(seed) % 12 + 1;
    for (int n = 0; n < count; n++)
        len += (size_t)snprintf(script + len, sizeof script - len, "R=%d\n%s\n", rand_r(seed) % 20, acts[(size_t)rand_r(seed) % ARRAY_LEN(acts)]);
    free(run(sh, script));
}

static void compare_shells(shell *a, shell *b, const char *probe)
{
    char *x = run(a, probe), *y = run(b, probe);
    if (strcmp(x, y) != 0) {
        size_t at = 0;
        while (x[at] == y[at])
            at++;
        at = at > 100 ? at - 100 : 0;
        fail_msg("first: %.300s\nsecond: %.300s", x + at, y + at);
    }
    free(x);
    free(y);
}

static void test_random_states(void **state)
{
    (void)state;
    unsigned seed = 7;
    for (int n = 0; n < rounds(); n++) {
        shell *sh = fresh(NULL, 0), *other = fresh(NULL, 0);
        char *bytes, *again;
        uint64_t len, len2;
        for (int k = n % 3; k >= 0; k--)
            random_state(sh, &seed);
        random_state(other, &seed); /* what was there goes */
        assert_int_equal(shell_snapshot(sh, &bytes, &len), SHELL_OK);
        if (shell_restore(other, bytes, len) != SHELL_OK)
            fail_msg("%d: %s", n, shell_message(other));
        check(other);
        assert_int_equal(shell_snapshot(other, &again, &len2), SHELL_OK);
        if (len != len2 || memcmp(bytes, again, len) != 0) {
            size_t at = 0;
            while (at < len && at < len2 && bytes[at] == again[at])
                at++;
            fail_msg("%d: snapshots differ at %zu of %zu, %zu: %.60s", n, at, (size_t)len, (size_t)len2, bytes + at);
        }
        if (n % 10 == 0)
            compare_shells(sh, other, probes);
        else
            compare_shells(sh, other, "declare -f | wc; alias; pwd; umask; dirs; echo \"${m[@]} ${!m[@]} ${a[@]} ${#big}\"; ls -lR --time-style=+%s; cat f* 2>&1");
        shell_free(bytes);
        shell_free(again);
        assert_int_equal(shell_close(sh), SHELL_OK);
        assert_int_equal(shell_close(other), SHELL_OK);
    }
}

/* ---------- what holds ---------- */

static void host(const char *top, const char *script)
{
    char command[1000];
    snprintf(command, sizeof command, "cd %s && { %s; }", top, script);
    assert_int_equal(system(command), 0);
}

static void test_binds(void **state)
{
    (void)state;
    char top[] = "/tmp/snapshot_test.XXXXXX", path[3][64];
    assert_non_null(mkdtemp(top));
    host(top, "mkdir -p o/d/e ro live; echo 1 >o/d/e/f; echo 2 >o/g; echo 3 >ro/r; echo 4 >live/l");
    static const char *const names[] = {"o", "ro", "live"};
    shell_bind b[3];
    for (int n = 0; n < 3; n++) {
        snprintf(path[n], sizeof path[n], "%s/%s", top, names[n]);
        b[n] = (shell_bind){.size = sizeof b[n], .source = path[n], .destination = n == 0 ? "/w" : n == 1 ? "/ro" : "/live", .mode = n == 2 ? SHELL_BIND_DIRECT : SHELL_BIND_OVERLAY,
                            .flags = n == 1 ? SHELL_BIND_READONLY : 0};
    }
    shell *sh = fresh(b, 3), *other = fresh(b, 3), *bare = fresh(NULL, 0), *closed;
    char *bytes;
    uint64_t len;
    says(sh, "mv /w/d /w/D; echo new >/w/g; echo x >/w/n; ln /w/n /w/m; echo live >/live/made; echo mine >/workspace/x; cd /w/D", "");
    assert_int_equal(shell_snapshot(sh, &bytes, &len), SHELL_OK);
    host(top, "echo 3b >ro/r; rm live/made");
    says(other, "echo gone >/workspace/y; rm /w/g", "");
    if (shell_restore(other, bytes, len) != SHELL_OK)
        fail_msg("%s", shell_message(other));
    check(other);
    says(other, "pwd; cat /w/D/e/f /w/g /w/m /ro/r /live/l /workspace/x; ls /w /live /workspace; stat -c %h /w/m; echo no >/ro/r",
         "/w/D\n1\nnew\nx\n3b\n4\nmine\n/live:\nl\n\n/w:\nD\ng\nm\nn\n\n/workspace:\nx\n2\nbash: line 1: /ro/r: Read-only file system\n");
    shell_change *list;
    uint64_t count;
    assert_int_equal(shell_changes(other, &list, &count), SHELL_OK);
    assert_string_equal(list[0].path, "/w/D");
    shell_free(list);
    assert_int_equal(shell_reset(other), SHELL_OK);
    says(other, "cat /w/d/e/f /w/g; ls /workspace", "1\n2\n");
    check(other);
    assert_int_equal(shell_restore(bare, bytes, len), SHELL_ENOENT);
    says(bare, "ls -A /workspace /w 2>&1", "ls: cannot access '/w': No such file or directory\n/workspace:\n");
    b[0].flags = SHELL_BIND_READONLY;
    closed = fresh(b, 3);
    assert_int_equal(shell_restore(closed, bytes, len), SHELL_EROFS);
    says(closed, "cat /w/d/e/f /w/g", "1\n2\n");
    shell *const all[] = {sh, other, bare, closed};
    for (int n = 0; n < 4; n++) {
        check(all[n]);
        assert_int_equal(shell_close(all[n]), SHELL_OK);
    }
    shell_free(bytes);
    host(top, "rm -rf ../$(basename \"$PWD\")");
}

static void test_quota(void **state)
{
    (void)state;
    shell *sh = fresh(NULL, 0), *small = fresh(NULL, 0);
    char *bytes;
    uint64_t len;
    shell_limits l;
    shell_limits_init(&l);
    l.file_bytes = 50000;
    says(sh, "head -c 60000 /dev/zero | tr '\\0' x >/workspace/f; v=1", "");
    assert_int_equal(shell_snapshot(sh, &bytes, &len), SHELL_OK);
    assert_int_equal(shell_set_limits(small, &l), SHELL_OK);
    says(small, "echo here >/workspace/g; v=2", "");
    assert_int_equal(shell_restore(small, bytes, len), SHELL_ENOSPC);
    says(small, "cat /workspace/*; echo $v", "here\n2\n");
    check(small);
    shell_free(bytes);
    assert_int_equal(shell_close(sh), SHELL_OK);
    assert_int_equal(shell_close(small), SHELL_OK);
}

/* Every allocation of a restore fails in its turn: an error, and the shell as it was. */
static void test_memory(void **state)
{
    (void)state;
    shell *sh = fresh(NULL, 0), *victim = fresh(NULL, 0);
    char *bytes;
    uint64_t len;
    says(sh, "mkdir -p d/e; seq 100 >d/f; ln d/f d/g; ln -s d l; cp /usr/bin/cat c; a=(1 2 [9]=3); declare -A m=([x]=1 [y]=2); f() { echo hi | cat; }; alias q=w; trap : USR1; pushd / >/dev/null", "");
    assert_int_equal(shell_snapshot(sh, &bytes, &len), SHELL_OK);
    says(victim, "mkdir old; echo kept >old/k; v=kept; exec 5<old/k", "");
    Budget *b = kern_budget(victim->kernel);
    int failures = 0;
    for (uint64_t n = 1;; n++) {
        b->fail_at = b->takes + n;
        shell_err err = shell_restore(victim, bytes, len);
        b->fail_at = 0;
        check(victim);
        if (err == SHELL_OK)
            break;
        assert_int_equal(err, SHELL_ENOMEM);
        failures++;
        if (n % 10 == 1)
            says(victim, "cat /home/agent/old/k; echo $v; pwd", "kept\nkept\n/home/agent\n");
    }
    assert_true(failures > 50);
    says(victim, "cat ~/d/g | tail -1; f; echo ${m[x]}; read -u 5 x; echo $x; cat ~/old/k", "100\nhi\n1\nkept\ncat: /home/agent/old/k: No such file or directory\n");
    shell_free(bytes);
    assert_int_equal(shell_close(sh), SHELL_OK);
    assert_int_equal(shell_close(victim), SHELL_OK);
}

/* What differs from the base image is small, whatever the base holds. */
static void test_size(void **state)
{
    (void)state;
    shell *sh = fresh(NULL, 0);
    char *bytes;
    uint64_t len;
    assert_int_equal(shell_snapshot(sh, &bytes, &len), SHELL_OK);
    assert_true(len < 4000);
    shell_free(bytes);
    says(sh, ": >/workspace/sparse; cp /usr/bin/cat /workspace/cat", "");
    assert_int_equal(vfs_truncate(kern_vfs(sh->kernel), kern_cred(sh->kernel), NULL, "/workspace/sparse", 100000001), 0);
    assert_int_equal(shell_snapshot(sh, &bytes, &len), SHELL_OK);
    assert_true(len < 5000);
    shell_image *image;
    shell_options o;
    shell *made;
    assert_int_equal(shell_image_from_snapshot(bytes, len, &image), SHELL_OK);
    shell_options_init(&o);
    o.image = image;
    assert_int_equal(shell_open(&o, &made), SHELL_OK);
    says(made, "stat -c %s /workspace/sparse; echo hi | /workspace/cat", "100000001\nhi\n");
    shell_image_free(image);
    assert_int_equal(shell_close(made), SHELL_OK);
    shell_free(bytes);
    assert_int_equal(shell_close(sh), SHELL_OK);
}

/* ---------- damage ---------- */

static void seal(char *bytes, uint64_t len)
{
    XXH128_canonical_t sum;
    XXH128_canonicalFromHash(&sum, XXH3_128bits(bytes, (size_t)len - 16));
    memcpy(bytes + len - 16, sum.digest, 16);
}

static void test_damage(void **state)
{
    (void)state;
    shell *sh = fresh(NULL, 0), *victim = fresh(NULL, 0);
    char *bytes;
    uint64_t len;
    says(sh, "mkdir d; echo text >d/f; ln d/f d/g; ln -s d l; a=(1 2); declare -A m=([x]=1 [y]=2); f() { echo hi; }; alias q=w; trap : USR1; pushd / >/dev/null; pushd /tmp >/dev/null", "");
    assert_int_equal(shell_snapshot(sh, &bytes, &len), SHELL_OK);
    assert_int_equal(shell_close(sh), SHELL_OK);
    says(victim, "echo kept >k; v=kept", "");
    for (uint64_t n = 0; n < len; n++) {
        bytes[n] ^= 0x55;
        assert_int_not_equal(shell_restore(victim, bytes, len), SHELL_OK);
        bytes[n] ^= 0x55;
        assert_int_not_equal(shell_restore(victim, bytes, n), SHELL_OK);
    }
    says(victim, "cat k; echo $v", "kept\nkept\n");
    int taken = 0;
    for (uint64_t n = 0; n < len - 16; n++)
        for (int k = 0; k < 3; k++) {
            static const char with[] = {0x01, (char)0x80, 0x2f};
            char before = bytes[n];
            bytes[n] = (char)(bytes[n] ^ with[k]);
            seal(bytes, len);
            if (shell_restore(victim, bytes, len) == SHELL_OK && ++taken % 16 == 0)
                free(run(victim, "declare -p >/dev/null 2>&1; f; ls -lR / >/dev/null; cd /tmp; echo x >y"));
            check(victim);
            bytes[n] = before;
        }
    seal(bytes, len);
    assert_int_equal(shell_restore(victim, bytes, len), SHELL_OK);
    says(victim, "cat /home/agent/d/g; f; cat k", "text\nhi\ncat: k: No such file or directory\n");
    bytes[8] = 2;
    seal(bytes, len);
    assert_int_equal(shell_restore(victim, bytes, len), SHELL_ENOTSUP);
    shell_free(bytes);
    assert_int_equal(shell_close(victim), SHELL_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_states), cmocka_unit_test(test_binds), cmocka_unit_test(test_quota), cmocka_unit_test(test_memory), cmocka_unit_test(test_size),
        cmocka_unit_test(test_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

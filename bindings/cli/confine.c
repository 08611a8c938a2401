/* confine: the process gives up, for good, what a script's shell never needs.
 *
 * A seccomp filter refuses (EPERM) starting programs and processes, tracing, sockets but for those of an allowed network, and the calls that
 * lead around it (io_uring, bpf, name spaces, keys). Landlock takes away every path but the binds, the certificate authorities, what name
 * resolution reads when there is a network, and the audit's directory when sessions begin files there. Both are inherited by threads that
 * are started later, so this comes before the first. A kernel without one of them does without.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli.h"
#include "settings.h"

/* ---------- system calls ---------- */

#if defined(__x86_64__)
#define THIS_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define THIS_ARCH AUDIT_ARCH_AARCH64
#endif

#ifdef THIS_ARCH

static const int refused[] = {
    SYS_execve, SYS_execveat, SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_pidfd_open, SYS_pidfd_getfd, SYS_pidfd_send_signal, SYS_kill,
    SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register, SYS_bpf, SYS_perf_event_open, SYS_userfaultfd,
    SYS_add_key, SYS_request_key, SYS_keyctl, SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_setns, SYS_unshare, SYS_open_by_handle_at,
    SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_kexec_load, SYS_reboot, SYS_swapon, SYS_swapoff, SYS_acct, SYS_quotactl,
    SYS_bind, SYS_listen, SYS_accept, SYS_accept4,
#ifdef SYS_fork
    SYS_fork, SYS_vfork,
#endif
};
enum { REFUSED = sizeof refused / sizeof *refused, MOST_STEPS = 2 * REFUSED + 32 };

typedef struct {
    struct sock_filter steps[MOST_STEPS];
    unsigned short count;
} Filter;

static void step(Filter *f, unsigned short code, uint32_t k, uint8_t jt, uint8_t jf)
{
    f->steps[f->count++] = (struct sock_filter){code, jt, jf, k};
}

static void give(Filter *f, uint32_t action)
{
    step(f, BPF_RET | BPF_K, action, 0, 0);
}

static void load(Filter *f, size_t offset)
{
    step(f, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

/* When the accumulator is k, the next step; else the one after `skip` more. */
static void when(Filter *f, uint32_t k, uint8_t skip)
{
    step(f, BPF_JMP | BPF_JEQ | BPF_K, k, 0, skip);
}

static uint32_t no(int err)
{
    return SECCOMP_RET_ERRNO | ((uint32_t)err & SECCOMP_RET_DATA);
}

/* The low word of an argument; both architectures are little-endian. */
static size_t argument(unsigned n)
{
    return offsetof(struct seccomp_data, args) + n * sizeof(uint64_t);
}

/* Threads only. glibc takes ENOSYS for clone3 as a word to use clone, whose flags a filter can see. */
static void filter_clone(Filter *f)
{
#ifdef SYS_clone3
    when(f, SYS_clone3, 1);
    give(f, no(ENOSYS));
#endif
    when(f, SYS_clone, 4);
    load(f, argument(0));
    step(f, BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 0, 1);
    give(f, SECCOMP_RET_ALLOW);
    give(f, no(EPERM));
}

static void filter_sockets(Filter *f, bool network)
{
    if (network) {
        when(f, SYS_socket, 5);
        load(f, argument(0));
        step(f, BPF_JMP | BPF_JEQ | BPF_K, AF_INET, 1, 0);
        when(f, AF_INET6, 1);
        give(f, SECCOMP_RET_ALLOW);
        give(f, no(EPERM));
        return; /* a pair of them, which libcurl wakes itself with, leads nowhere */
    }
    static const int calls[] = {SYS_socket, SYS_socketpair, SYS_connect};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        when(f, (uint32_t)calls[i], 1);
        give(f, no(EPERM));
    }
}

static void confine_calls(bool network)
{
    Filter f = {.count = 0};
    load(&f, offsetof(struct seccomp_data, arch));
    step(&f, BPF_JMP | BPF_JEQ | BPF_K, THIS_ARCH, 1, 0);
    give(&f, SECCOMP_RET_KILL_PROCESS);
    load(&f, offsetof(struct seccomp_data, nr));
#ifdef __x86_64__
    step(&f, BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1); /* x32's numbers for the same calls */
    give(&f, no(ENOSYS));
#endif
    for (size_t i = 0; i < REFUSED; i++) {
        when(&f, (uint32_t)refused[i], 1);
        give(&f, no(EPERM));
    }
    filter_sockets(&f, network);
    filter_clone(&f);
    give(&f, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {.len = f.count, .filter = f.steps};
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

#else
static void confine_calls(bool network)
{
    (void)network;
}
#endif

/* ---------- paths ---------- */

/* By ABI: 13 rights in the first, then moving between directories, truncating, device ioctls. */
static uint64_t rights_known(long abi)
{
    return ((uint64_t)1 << (13 + (abi >= 2) + (abi >= 3) + (abi >= 5))) - 1;
}

static const uint64_t reading = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
static const uint64_t beginning = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG;
/* What a file, as against a directory, can have. */
static const uint64_t of_files = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | (uint64_t)1 << 14;

static void allow_path(int ruleset, const char *path, uint64_t rights)
{
    struct stat st;
    int fd = open(path, O_PATH | O_CLOEXEC);
    if (fd < 0)
        return;
    if (fstat(fd, &st) == 0 && !S_ISDIR(st.st_mode))
        rights &= of_files;
    struct landlock_path_beneath_attr rule = {.allowed_access = rights, .parent_fd = fd};
    syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    close(fd);
}

static void allow_network(int ruleset, const char *ca_file)
{
    static const char *const names[] = {"/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/host.conf", "/etc/gai.conf", "/etc/services"};
    static const char *const authorities[] = {"/etc/ssl", "/usr/lib/ssl", "/usr/share/ca-certificates", "/etc/pki"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        allow_path(ruleset, names[i], reading);
    if (ca_file)
        allow_path(ruleset, ca_file, reading);
    for (size_t i = 0; !ca_file && i < sizeof authorities / sizeof *authorities; i++)
        allow_path(ruleset, authorities[i], reading);
}

static void allow_audit(int ruleset, const char *file)
{
    char directory[4096];
    snprintf(directory, sizeof directory, "%s", file);
    char *slash = strrchr(directory, '/');
    if (slash)
        slash[slash == directory] = 0;
    allow_path(ruleset, slash ? directory : ".", beginning);
}

static void confine_paths(const Settings *s)
{
    long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (abi < 1)
        return;
    uint64_t all = rights_known(abi), everything = all & ~(uint64_t)(LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
                                                                     LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SOCK);
    struct landlock_ruleset_attr handled = {.handled_access_fs = all};
    int ruleset = (int)syscall(SYS_landlock_create_ruleset, &handled, sizeof handled, 0);
    if (ruleset < 0)
        return;
    for (uint64_t i = 0; i < s->nbinds; i++) {
        const shell_bind *b = &s->binds[i];
        if (b->mode != SHELL_BIND_COPY) /* a copy has been read */
            allow_path(ruleset, b->source, b->mode == SHELL_BIND_DIRECT && !(b->flags & SHELL_BIND_READONLY) ? everything : reading);
    }
    if (s->net.nrules)
        allow_network(ruleset, s->net.ca_file);
    if (s->mcp && s->audit)
        allow_audit(ruleset, s->audit);
    syscall(SYS_landlock_restrict_self, ruleset, 0);
    close(ruleset);
}

void cli_confine(const Settings *s)
{
    static const char *const components[] = {"crypto", "archive", "data"};
    for (size_t i = 0; i < sizeof components / sizeof *components; i++)
        cli_component(NULL, components[i]);
    if (s->net.nrules)
        cli_component(NULL, "net");
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return;
    confine_paths(s);
    confine_calls(s->net.nrules != 0);
}

/* try: in debug builds, the command try-confinement: what the process may no longer do, tried from inside it. */
#ifdef LIBSHELL_DEBUG_COMMANDS
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"

/* Of nothing: where it is allowed, that is ENOENT. */
static long try_execve(void)
{
    char *argv[] = {NULL};
    execve("", argv, argv);
    return errno == EPERM ? -1 : 0;
}

static long child(long pid)
{
    if (pid == 0)
        _exit(0);
    if (pid > 0)
        waitpid((pid_t)pid, NULL, 0);
    return pid;
}

static long try_fork(void) { return child(fork()); }
static long try_clone(void) { return child(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)); }
static long try_ptrace(void) { return ptrace(PTRACE_TRACEME, 0, NULL, NULL); }
static long try_inet(void) { return socket(AF_INET, SOCK_STREAM, 0); }
static long try_unix(void) { return socket(AF_UNIX, SOCK_STREAM, 0); }
static long try_kill(void) { return kill(getppid(), 0); }
static long try_uring(void) { return syscall(SYS_io_uring_setup, 1, NULL) < 0 && errno != EFAULT ? -1 : 0; }
static long try_read(void) { return open("/etc/passwd", O_RDONLY | O_CLOEXEC); }
static long try_list(void) { return open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC); }
static long try_write(void) { return open("/tmp", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600); }
static long try_self(void) { return open("/proc/self/environ", O_RDONLY | O_CLOEXEC); }

static void *nothing(void *arg)
{
    return arg;
}

static long try_thread(void)
{
    pthread_t thread;
    return pthread_create(&thread, NULL, nothing, NULL) == 0 ? pthread_join(thread, NULL) : -1;
}

static const struct { const char *name; long (*run)(void); } tries[] = {
    {"execve", try_execve}, {"fork", try_fork}, {"clone", try_clone}, {"ptrace", try_ptrace}, {"socket-inet", try_inet}, {"socket-unix", try_unix},
    {"kill", try_kill}, {"io_uring", try_uring}, {"read", try_read}, {"list", try_list}, {"write", try_write}, {"self", try_self}, {"thread", try_thread},
};

int32_t cli_try_confinement(void *user, shell_call *call)
{
    (void)user;
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
        char line[100];
        uint64_t written;
        int n = snprintf(line, sizeof line, "%s %s\n", tries[i].name, tries[i].run() < 0 ? "refused" : "allowed");
        shell_call_write(call, 1, line, (uint64_t)n, &written);
    }
    return 0;
}
#else
typedef int nothing_to_try;
#endif

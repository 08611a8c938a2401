/* libshell: a shell inside your own process.
 *
 * A shell is an in-memory file system, a bash-compatible interpreter and the GNU tools as functions. A script sees
 * nothing of the host but what you bind, and nothing is started: no fork, no exec.
 *
 *     shell *sh;
 *     shell_open(NULL, &sh);
 *     shell_result *r;
 *     shell_run(sh, "echo hi | tr a-z A-Z", 20, NULL, &r);
 *     fwrite(r->out, 1, r->out_len, stdout);
 *     shell_result_free(r);
 *     shell_close(sh);
 *
 * Ownership: who frees what is said at each function. Bytes are (pointer, length); strings that are NUL-terminated are
 * `const char *` without a length. Structs that may grow begin with `size`: set it to sizeof; a shorter one is
 * accepted, a longer one only if its tail is zero.
 *
 * Threads: a shell is used by one thread at a time; shell_cancel and shell_answer may be called from any.
 * Images may be used from any thread. From inside a callback the file calls of the same shell are allowed; run, fork, reset and
 * close give SHELL_EBUSY.
 *
 * After the host forks (fork(2)), images and idle shells work in both processes; a child's unseeded randomness differs. A run that was in
 * progress, and between two steps, is ended in the child: the step, pause or end that follows gives SHELL_EBUSY once, and the shell is idle. A shell
 * that another thread was running at that moment cannot be used in the child: every call gives SHELL_EBUSY, shell_close too.
 *
 * Errors: every call returns a shell_err; shell_strerror gives its name in words, shell_message what happened to this shell last.
 */
#ifndef LIBSHELL_SHELL_H
#define LIBSHELL_SHELL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define SHELL_API __attribute__((visibility("default")))
#else
#define SHELL_API
#endif

#define SHELL_VERSION "0.1.0"

typedef struct shell shell;
typedef struct shell_image shell_image;

typedef int32_t shell_err;
enum {
    SHELL_OK = 0,
    SHELL_EINVAL = -1,   /* an argument makes no sense */
    SHELL_ENOMEM = -2,   /* out of memory, or the shell's memory limit, outside a run */
    SHELL_EBUSY = -3,    /* a run is in progress, or called from inside a callback */
    SHELL_ENOENT = -4,
    SHELL_EACCES = -5,
    SHELL_EEXIST = -6,
    SHELL_ENOTDIR = -7,
    SHELL_EISDIR = -8,
    SHELL_ENOTEMPTY = -9,
    SHELL_EROFS = -10,
    SHELL_ENOSPC = -11,
    SHELL_EFBIG = -12,
    SHELL_ELOOP = -13,
    SHELL_ENAMETOOLONG = -14,
    SHELL_EXDEV = -15,
    SHELL_EMFILE = -16,
    SHELL_EIO = -17,     /* anything else a file call met; shell_message tells */
    SHELL_ENOTSUP = -18,
    SHELL_EPERM = -19,
    SHELL_EAGAIN = -20,  /* from a callback: not now, shell_wake will tell */
    SHELL_EPIPE = -21,   /* from on_output: nobody reads any more */
};

SHELL_API const char *shell_version(void);
/* Nonzero when the build has `feature`: "direct", "overlay", "net", "pcre2-jit", "asan". */
SHELL_API int32_t shell_feature(const char *feature);
SHELL_API const char *shell_strerror(shell_err err);
/* What the last failed call on `sh` said; "" when nothing. Valid until the next call on it. sh NULL: of the last failed shell_open or
 * image call on this thread is not kept; "" then (use the `message` option). */
SHELL_API const char *shell_message(const shell *sh);

/* ---------- limits ---------- */

/* 0 is unlimited; SHELL_LIMIT_DEFAULT (all ones) keeps the default. */
#define SHELL_LIMIT_DEFAULT UINT64_MAX
typedef struct {
    uint64_t size;
    uint64_t time_ms;      /* wall time of a run; default 30,000 */
    uint64_t steps;        /* deterministic work units of a run; default unlimited */
    uint64_t memory;       /* bytes; default 512 MiB */
    uint64_t output;       /* bytes of stdout and of stderr, each; default 10 MiB */
    uint64_t file_size;    /* bytes of one file; default 1 GiB */
    uint64_t file_bytes;   /* bytes of all files that differ from the image; default 1 GiB */
    uint64_t inodes;       /* default 1,000,000 */
    uint64_t fds;          /* descriptors of a process; default 1,024 */
    uint64_t processes;    /* at one time; default 1,024 */
    uint64_t pipeline;     /* stages of one pipeline; default 256 */
    uint64_t depth;        /* of function calls, sourced files, eval, subshells; default 10,000 */
    uint64_t script;       /* bytes of one script; default 64 MiB */
    uint64_t regex;        /* match steps of one match; default 50,000,000 */
    uint64_t expansion;    /* words that one command's expansion may give; default 10,000,000 */
    uint64_t requests;     /* to other machines, of a run; default 10,000 */
    uint64_t transfers;    /* at one time; default 64 */
    uint64_t redirects;    /* that one request may follow; default 100 */
    uint64_t download;     /* bytes of bodies that come in a run; default 2 GiB */
    uint64_t upload;       /* bytes of bodies that go in a run; default 2 GiB */
    uint64_t head;         /* bytes of the heads that one request is answered with; default 1 MiB, of which libcurl takes 300 KiB. More fails the request, not the run */
    uint64_t connect_ms;   /* until a name is found and a connection stands; default 300,000. More fails the request, not the run */
} shell_limits;

/* All fields SHELL_LIMIT_DEFAULT, and .size; see shell_options_init. */
SHELL_API void shell_limits_init_sized(shell_limits *limits, uint64_t size);
#define shell_limits_init(limits) shell_limits_init_sized((limits), sizeof *(limits))

/* ---------- components ----------
 * Shared objects beside libshell for what needs more libraries: libshell-crypto, libshell-archive, libshell-data, libshell-net. The
 * library never loads one: the embedder links it, or opens it and takes the function named libshell_NAME. One that comes from
 * another version is refused, and commands that miss theirs say so. */

typedef struct {
    uint64_t size;
    const char *name;
    const char *version;   /* SHELL_VERSION of its build */
    const void *table;     /* private to libshell */
    uint64_t table_size;
} shell_component;

/* Asked once for each name, at its first use, on the thread that steps: a component, static or living as long as the process; NULL: there is none. */
typedef const shell_component *(*shell_component_fn)(void *user, const char *name);

SHELL_API const shell_component *libshell_crypto(void);
SHELL_API const shell_component *libshell_archive(void);
SHELL_API const shell_component *libshell_data(void);
SHELL_API const shell_component *libshell_net(void);

/* ---------- network ----------
 * Off until URLs are allowed; the bytes are libshell-net's. Everything here is copied. */

/* "https://api.example.com/v1/": scheme (https when none is said), host or *.host or *, port (the scheme's own when none is said), path
 * prefix on a segment boundary. Deny rules win. */
typedef struct {
    uint64_t size;
    const char *url;
    const char *methods;     /* "GET,HEAD"; NULL: every one */
    int32_t deny;
    int32_t allow_private;   /* addresses that are not public are meant; metadata addresses only when the URL's host is that very address */
} shell_url_rule;

enum { SHELL_CRED_BEARER = 0, SHELL_CRED_BASIC = 1, SHELL_CRED_HEADER = 2, SHELL_CRED_QUERY = 3, SHELL_CRED_PLACEHOLDER = 4, SHELL_CRED_SIGN = 5 };

/* Put into requests that match `url` (as a rule's) and `methods`; the first that matches. The script never sees it: not in variables, not
 * in `curl -v`, not in what a server echoes (secret, base64, hex, URL- and JSON-escaped forms read [redacted]).
 * Placeholder: `name` is a variable; runs find it exported, holding lsh_ and random digits, and where the script puts that into a header (also
 * within Basic), user, password, cookie, query or a body (but for one that streams with its length told beforehand), a matching request carries the secret instead. Sign: the `sign`
 * callback adds header lines to each matching request. */
typedef struct {
    uint64_t size;
    const char *url;
    const char *methods;     /* NULL: every one */
    int32_t kind;            /* SHELL_CRED_* */
    int32_t no_redaction;    /* needed for a secret of less than 8 bytes */
    const char *name;        /* of the header, the query parameter, the placeholder's variable */
    const char *secret;      /* NULL: the `secret` callback is asked each time. Basic: user:password */
    uint64_t secret_len;
} shell_credential;

/* A request for a transport of the embedder's own. Strings live until transfer_close. */
typedef struct {
    uint64_t size;
    const char *method;
    const char *url;                   /* canonical, with a query credential in it */
    const char *const *headers;        /* "Name: value", NULL-terminated, credentials among them. Host and what frames the body are the transport's */
    const char *addresses;             /* with `resolve`: the ones that were let through, with commas between; go to no other. Else NULL */
    int64_t body_len;                  /* -1: no body; -2: one of unknown length */
    int64_t timeout_ms, connect_timeout_ms; /* as the script asked; 0: nothing said */
    int32_t insecure;                  /* certificates need not be verified */
} shell_transfer;

typedef struct {
    uint64_t size;
    const shell_url_rule *rules;
    uint64_t nrules;
    const shell_credential *credentials;
    uint64_t ncredentials;
    const char *const *also_private;   /* further ranges, "10.1.0.0/16", NULL-terminated; or NULL */
    const char *const *also_metadata;
    const char *ca_file;               /* NULL: the system's */
    const char *proxy;                 /* NULL: none. The address filter is then the proxy's */
    int32_t allow_insecure;            /* curl -k, never with a credential */
    /* Asked, on the thread that steps, before each request and hop that the rules allow. 0: go on; else it is refused. body_len < 0: unknown. */
    int32_t (*decide)(void *user, const char *method, const char *url, uint32_t hop, int64_t body_len);
    /* Instead of the system's resolver: addresses with commas between them, NUL-terminated, into out. 0, or not 0: no such host. */
    int32_t (*resolve)(void *user, const char *host, char *out, uint64_t out_size);
    /* The secret of credentials[index], for a request to `url`: its length, at most out_size; < 0: there is none now. */
    int64_t (*secret)(void *user, uint64_t index, const char *method, const char *url, char *out, uint64_t out_size);
    void *user;
    /* Header lines, "Name: value" with newlines between, for a request of a SHELL_CRED_SIGN credential: their length; < 0: it is not to be sent.
     * body: NULL when there is none or it streams. */
    int64_t (*sign)(void *user, uint64_t index, const char *method, const char *url, const char *body, uint64_t body_len, char *out, uint64_t out_size);
    /* A way out of the embedder's own, instead of libshell-net: all four, or none. On the thread that steps. What is checked, put in, redacted and
     * counted is as ever, but for the addresses of names: without `resolve` they are the transport's to look at. It follows no redirects: a hop is
     * a request of its own. Unicode hosts are refused.
     * transfer: 0, and *handle is passed to the others; else it failed, and `why` (NUL-terminated) is what curl says. */
    int32_t (*transfer)(void *user, const shell_transfer *request, void **handle, char *why, uint64_t why_size);
    /* More of the body: how many of the bytes were taken, SHELL_EAGAIN (until shell_wake), or another failure. len 0: that was all of it. */
    int64_t (*transfer_send)(void *user, void *handle, const char *data, uint64_t len);
    /* The answer, once the body is sent: "HTTP/1.1 200 OK", header lines, an empty line, then the body as it is, without transfer coding. Bytes put
     * into out, 0 at the end, SHELL_EAGAIN (until shell_wake), or another failure. */
    int64_t (*transfer_receive)(void *user, void *handle, char *out, uint64_t out_size);
    /* Ended or not; nothing is asked about the handle any more. */
    void (*transfer_close)(void *user, void *handle);
} shell_net;

/* ---------- policy ---------- */

enum { SHELL_OP_READ = 1, SHELL_OP_LIST = 2, SHELL_OP_WRITE = 4, SHELL_OP_CREATE = 8, SHELL_OP_DELETE = 16, SHELL_OP_CHMOD = 32 };

/* A deny rule refuses its operations where the pattern matches. Where allow rules name an operation, it is refused everywhere else. A move or
 * hard link that would take something out of a rule's reach is refused too (EACCES). Devices are not asked about. */
typedef struct {
    uint64_t size;
    const char *pattern;     /* absolute: * ? [...] within a component, ** for any number of them */
    uint32_t operations;     /* SHELL_OP_* */
    int32_t deny;
} shell_file_rule;

enum { SHELL_ASK_DELETE = 1, SHELL_ASK_OVERWRITE = 2, SHELL_ASK_DIRECT_WRITE = 4, SHELL_ASK_COMMAND = 8 };

typedef struct {
    uint64_t size;
    int32_t kind;            /* SHELL_ASK_* */
    const char *subject;     /* a path or a command's name */
    uint64_t id;             /* for shell_answer */
} shell_question;

typedef struct {
    uint64_t size;
    /* By identity: a copy, link or rename of a command is that command. An allow list speaks of programs; what the shell does itself (cd,
     * export, [ ...) is refused by the deny list alone. NULL-terminated, or NULL. Refused: status 126. */
    const char *const *allow_commands;
    const char *const *deny_commands;
    const char *const *ask_commands;
    const shell_file_rule *rules;
    uint64_t nrules;
    const char *const *scratch;        /* directories where deleting and overwriting is not asked about; NULL-terminated, or NULL */
    uint32_t asks;                     /* SHELL_ASK_*: what `ask` is asked about */
    /* On the thread that steps. 0: yes; SHELL_EAGAIN: shell_answer(sh, question->id, 0 or not 0) will tell; else no, and what was put into
     * `reason` (NUL-terminated) is told to the script. */
    int32_t (*ask)(void *user, const shell_question *question, char *reason, uint64_t reason_size);
    void *user;
} shell_policy;

/* ---------- audit ---------- */

/* Lines of JSON, each with a sequence number, the shell's time and the SHA-256 of itself and its predecessor. Secrets of credentials never
 * stand in one. */
typedef struct {
    uint64_t size;
    void (*line)(void *user, const char *line, uint64_t len); /* with its newline, on the thread that steps; or NULL */
    void *user;
    uint64_t ring;           /* bytes of lines to keep for shell_audit_take; 0: none */
    uint64_t output;         /* bytes of each stream that a run's end quotes; 0: none */
} shell_audit;

/* ---------- opening ---------- */

/* COPY reads the source at once, and its hard links stay links. DIRECT reads and writes the host's files. OVERLAY reads the host's when they are
 * looked at and keeps what is written in memory; since it reads as little as it can, each name of a host file with several links is a file of its
 * own there, as in Linux's overlayfs. */
enum { SHELL_BIND_COPY = 0, SHELL_BIND_DIRECT = 1, SHELL_BIND_OVERLAY = 2 };
enum { SHELL_BIND_READONLY = 1, SHELL_BIND_WRITE_LINKED = 2 };

typedef struct {
    uint64_t size;
    const char *source;      /* host file or directory */
    const char *destination; /* absolute, in the shell */
    int32_t mode;            /* SHELL_BIND_* */
    uint32_t flags;
} shell_bind;

typedef struct {
    uint64_t size;
    const shell_image *image;       /* NULL: the base image; one reference is taken */
    const shell_bind *binds;
    uint64_t nbinds;
    const char *const *env;         /* NAME=VALUE ..., NULL-terminated; added to the defaults */
    const char *cwd;                /* NULL: the first bind's destination if it is a directory, else the home directory */
    const shell_limits *limits;     /* NULL: defaults */
    int32_t umask;                  /* < 0: 022 */
    int32_t fixed_clock;            /* 1: time stands at clock_seconds; 2: virtual, moved by sleeping */
    int64_t clock_seconds;
    int32_t seeded;                 /* 1: random numbers come from `seed` */
    uint64_t seed;
    char *message;                  /* on failure: why, in words; NULL or a buffer of message_size bytes */
    uint64_t message_size;
    shell_component_fn component;   /* NULL: no components */
    void *component_user;
    const shell_net *net;           /* NULL: no network */
    const shell_policy *policy;     /* NULL: none */
    const shell_audit *audit;       /* NULL: none */
} shell_options;

/* The defaults, and .size. The macro puts in the size of the caller's own struct, which may be of an older or a newer header. */
SHELL_API void shell_options_init_sized(shell_options *options, uint64_t size);
#define shell_options_init(options) shell_options_init_sized((options), sizeof *(options))

/* Binds one more into an idle shell. What it brings is no change of the script's, and a reset keeps it. Errors as with shell_open;
 * shell_message says why. SHELL_EBUSY: the shell is running. */
SHELL_API shell_err shell_bind_add(shell *sh, const shell_bind *bind);
/* Takes away the newest bind at `destination` (as it was spelled) with the files it brought; what an overlay or copy had changed is gone.
 * SHELL_ENOENT: nothing is bound there; SHELL_EBUSY: the shell is running, or a descriptor or the current directory is below it. */
SHELL_API shell_err shell_bind_remove(shell *sh, const char *destination);
/* The shell's limits from the next run on; a field of SHELL_LIMIT_DEFAULT keeps what holds now. Idle shells only. */
SHELL_API shell_err shell_set_limits(shell *sh, const shell_limits *limits);

/* On SHELL_OK *out is a shell to be closed with shell_close. opts NULL: defaults. */
SHELL_API shell_err shell_open(const shell_options *opts, shell **out);
/* NULL is allowed. A run that was begun and is not being stepped is killed. SHELL_EBUSY from inside a callback or while another thread
 * steps it: nothing is closed then. */
SHELL_API shell_err shell_close(shell *sh);
/* Back to the state after shell_open: files, variables, functions, options, cwd. Direct binds are as the host has them. */
SHELL_API shell_err shell_reset(shell *sh);
/* A copy of an idle shell in constant time, files and variables; it has no jobs. *out is closed by shell_close. */
SHELL_API shell_err shell_fork(shell *sh, shell **out);

/* Replaces what may leave, also in the middle of a run and from any thread; transfers in flight that no longer pass are ended. net NULL: no
 * network from now on. SHELL_EINVAL: shell_message says which entry and why, and nothing has changed. Forks made before keep theirs. */
SHELL_API shell_err shell_set_net(shell *sh, const shell_net *net);
/* Replaces the policy, also in the middle of a run and from any thread; it is looked at at each call. NULL: none. SHELL_EINVAL: shell_message
 * says which entry and why, and nothing has changed. */
SHELL_API shell_err shell_set_policy(shell *sh, const shell_policy *policy);

/* Begins or ends the audit of an idle shell. A fork has none until it is given one. */
SHELL_API shell_err shell_set_audit(shell *sh, const shell_audit *audit);
/* The lines of the ring, oldest first, which is then empty; *out is freed with shell_free. *lost: lines that found no room since the last time. */
SHELL_API shell_err shell_audit_take(shell *sh, char **out, uint64_t *len, uint64_t *lost);
/* Checks the chain of an audit's lines. SHELL_OK and the number of lines, or SHELL_EINVAL and the line that is wrong in *lines; why (may be NULL)
 * is told in words. A log whose last lines were cut away is whole by itself: compare *head (65 bytes, or NULL) with a copy kept elsewhere. */
SHELL_API shell_err shell_audit_verify(const char *text, uint64_t len, uint64_t *lines, char *head, char *why, uint64_t why_size);

/* Freezes the files of `sh`, which stays usable, into an image. *out is freed by shell_image_free. */
SHELL_API shell_err shell_image_of(shell *sh, shell_image **out);

enum { SHELL_IMAGE_GITIGNORE = 1 /* leave out what the .gitignore files in it say, and .git */ };
typedef struct {
    uint64_t size;
    const char *source;             /* a host directory */
    const char *destination;        /* absolute; NULL: /workspace */
    const char *const *include;     /* patterns, NULL-terminated; NULL: everything. Else a file is taken when it, or a directory it is in, matches one */
    const char *const *exclude;     /* patterns, NULL-terminated, or NULL: what matches is left out, with what is below it */
    uint32_t flags;                 /* SHELL_IMAGE_* */
    const shell_image *image;       /* what it is put into; NULL: the base image */
    char *message;                  /* on failure: why, in words; NULL or a buffer of message_size bytes */
    uint64_t message_size;
} shell_image_dir;
/* An image with a copy of a host directory: regular files, directories and symlinks, of the shell's user. Patterns are those of .gitignore: one
 * without a slash matches at any depth, * and ? stop at slashes, ** does not, a slash at the end means directories, ! in exclude takes back. Any
 * thread. *out is freed by shell_image_free. SHELL_ENOENT, SHELL_EACCES, SHELL_ENOMEM ...: message says why. */
SHELL_API shell_err shell_image_from_dir(const shell_image_dir *dir, shell_image **out);
SHELL_API void shell_image_free(shell_image *image);

/* ---------- snapshots ----------
 * A shell as bytes: files, directories, links, times and modes (what differs from the base image, and below a bind what differs from what was
 * bound), variables, functions, aliases, options, traps, current directory, umask. Never credentials, policy, limits, binds, custom commands, mounts,
 * jobs or descriptors. Versioned, with a checksum (XXH3, 128 bits) that finds damage and is no defence against forgery: keep snapshots where you
 * would keep a script you are going to run. */

/* Of an idle shell. *out is freed with shell_free. Reads what an overlay has not read yet of what was moved, and lazy files. */
SHELL_API shell_err shell_snapshot(shell *sh, char **out, uint64_t *len);
/* Puts a snapshot's state in the place of sh's own, all or nothing: on any error sh is as it was. Policy, limits, user, binds, mounts and commands stay those of
 * sh, and bound files it had are what its binds give: SHELL_EROFS or SHELL_EBUSY when the snapshot writes where sh may not, SHELL_ENOENT when it
 * needs a bind that sh has not, SHELL_ENOSPC or SHELL_EFBIG for its quotas. SHELL_EINVAL: no snapshot, damaged, or nonsense;
 * SHELL_ENOTSUP: of another version. shell_changes and shell_reset go on counting from what sh was opened with. */
SHELL_API shell_err shell_restore(shell *sh, const char *data, uint64_t len);
/* An image with a snapshot's files, made over the base image; its variables are not part of it. Any thread. *out is freed by shell_image_free. */
SHELL_API shell_err shell_image_from_snapshot(const char *data, uint64_t len, shell_image **out);

/* ---------- running ---------- */

enum { SHELL_JOBS_WAIT = 0, SHELL_JOBS_KEEP = 1, SHELL_JOBS_KILL = 2 };

typedef struct {
    uint64_t size;
    const char *input;              /* standard input; NULL: empty. Borrowed until the run has ended */
    uint64_t input_len;
    const char *const *env;         /* NAME=VALUE ...: exported for this run only */
    const char *cwd;                /* for this run only */
    double timeout;                 /* seconds; 0: the time limit; < 0: none */
    const shell_limits *limits;     /* for this run only */
    const char *const *args;        /* $0 $1 ..., NULL-terminated; NULL: $0 is "bash" */
    int32_t jobs;                   /* SHELL_JOBS_* */
    uint32_t flags;                 /* SHELL_RUN_* */
    /* Output as it comes, stream 1 or 2, on the thread that runs; then the result holds none. */
    /* 0; SHELL_EAGAIN: offered again after shell_wake; SHELL_EPIPE: the script's writes end in SIGPIPE from here on. */
    int32_t (*on_output)(void *user, int32_t stream, const char *data, uint64_t len);
    /* Pulls standard input instead of `input`: bytes read, 0 at the end, SHELL_EAGAIN (until shell_wake), or another negative failure. */
    int64_t (*on_input)(void *user, char *buf, uint64_t cap);
    void *user;
} shell_run_opts;

enum {
    SHELL_RUN_MERGE = 1,       /* stderr into stdout */
    SHELL_RUN_COLLECT = 2,     /* with on_output: collect as well */
    SHELL_RUN_FRESH = 4,       /* keep nothing but files from this run */
    SHELL_RUN_SYNTAX = 8,      /* only check the syntax, as bash -n */
};

enum { SHELL_END_FINISHED = 0, SHELL_END_TIMEOUT = 1, SHELL_END_CANCELLED = 2, SHELL_END_LIMIT = 3, SHELL_END_DEADLOCK = 4 };

typedef struct {
    uint64_t size;
    const char *out, *err;          /* always NUL-terminated */
    uint64_t out_len, err_len;
    int32_t status;                 /* 0..255 */
    int32_t end;                    /* SHELL_END_* */
    const char *limit;              /* name of the limit that was hit, or NULL */
    int32_t out_truncated, err_truncated;
    uint64_t steps, peak_memory, wall_ns;
    uint64_t limit_value;           /* of `limit`, as shell_limits counts it; 0 when there is none */
    int32_t exited;                 /* the script left the shell: by exit, exec, a failure under set -e, a signal; 0: it came to its end */
} shell_result;

/* Runs `script` in `sh` and waits for it.
 *
 * script, len  bytes, need not end in NUL; NUL bytes are dropped with a warning, as bash does
 * opts         NULL for defaults; opts->size = sizeof *opts
 * out          on SHELL_OK owns a result: free with shell_result_free
 *
 * SHELL_OK also when the script fails: its status is in the result. Otherwise SHELL_EINVAL,
 * SHELL_EBUSY (called from two threads, or from inside a callback), SHELL_ENOMEM.
 */
SHELL_API shell_err shell_run(shell *sh, const char *script, uint64_t len, const shell_run_opts *opts, shell_result **out);
SHELL_API void shell_result_free(shell_result *result);

typedef struct {
    uint64_t size;
    uint64_t cap;        /* most bytes kept of stdout and of stderr, each; 0: 16,000; at least 200 */
} shell_format_opts;
/* The result as text for a model, in UTF-8 (other bytes become U+FFFD): the status in words when it is not 0 ("exit 137: stopped, memory limit 512 MiB;
 * process the data in pieces"), stderr before stdout then, of a long stream the head and the tail with a line between them that
 * counts what was left out and says how to see it; "(nothing was printed)". *out is NUL-terminated, freed with shell_free; len may be
 * NULL. opts NULL: defaults. Any thread. */
SHELL_API shell_err shell_format_result(const shell_result *result, const shell_format_opts *opts, char **out, uint64_t *len);

/* The same in steps: begin, step until done, end. The script is copied; opts->input is borrowed until the end. */
enum { SHELL_DONE = 1, SHELL_PENDING = 2 };
typedef struct {
    uint64_t size;
    int64_t wait_ns;     /* until the next timer; < 0: none */
    uint64_t request;    /* an unanswered request's number, or 0 */
    int32_t input;       /* 1: waits for standard input */
} shell_pending;

SHELL_API shell_err shell_begin(shell *sh, const char *script, uint64_t len, const shell_run_opts *opts);
/* Goes until nothing can go on: *state is SHELL_DONE or SHELL_PENDING. Any thread, one at a time. */
SHELL_API shell_err shell_step(shell *sh, int32_t *state, shell_pending *pending);
/* Ends a run whose state is SHELL_DONE. */
SHELL_API shell_err shell_end(shell *sh, shell_result **out);
/* Sleeps until the pending run may go on. */
SHELL_API shell_err shell_pause(shell *sh, const shell_pending *pending);
/* Input or output of a callback that said SHELL_EAGAIN may go on; ends shell_pause. Any thread. */
SHELL_API shell_err shell_wake(shell *sh);
/* The step in progress, or the next, returns soon, though it could go on, for a thread that wants the shell in between; shell_pause then does not
 * sleep. Any thread. */
SHELL_API shell_err shell_yield(shell *sh);
/* Ends the run in progress soon, from any thread; status 130, end SHELL_END_CANCELLED. Without a run: nothing. */
SHELL_API shell_err shell_cancel(shell *sh);

/* ---------- for models ---------- */

enum { SHELL_DESCRIBE_FRESH = 1 /* runs are made with SHELL_RUN_FRESH */, SHELL_TOOLS_FILES = 2 /* read_file, write_file, list_dir as well */ };
/* What a model should know about this shell: what persists, where it stands, what is bound and writable, commands, network, limits, how errors
 * come back. sh NULL: about a shell with the defaults. *out is NUL-terminated, freed with shell_free; len may be NULL. Not while another thread
 * runs the shell (SHELL_EBUSY). */
SHELL_API shell_err shell_describe(shell *sh, uint32_t flags, char **out, uint64_t *len);
enum { SHELL_TOOLS_MCP = 0, SHELL_TOOLS_OPENAI = 1, SHELL_TOOLS_ANTHROPIC = 2 };
/* A JSON array of tool definitions in the shape that an interface takes; the description of `shell` is what shell_describe says. Everything
 * else as there. */
SHELL_API shell_err shell_tools(shell *sh, int32_t shape, uint32_t flags, char **out, uint64_t *len);

/* ---------- variables ---------- */

/* Sets and exports. */
SHELL_API shell_err shell_setenv(shell *sh, const char *name, const char *value);
SHELL_API shell_err shell_unsetenv(shell *sh, const char *name);
/* *out is NUL-terminated, to be freed with shell_free; SHELL_ENOENT when unset. Any variable, exported or not. */
SHELL_API shell_err shell_getenv(shell *sh, const char *name, char **out);
SHELL_API shell_err shell_cwd(shell *sh, char **out);
SHELL_API void shell_free(void *p);

/* ---------- files ----------
 * Relative paths start at the shell's current directory. As the shell's user: permissions apply. */

typedef struct {
    uint64_t size;
    uint64_t bytes;
    uint32_t mode;       /* S_IF* and permissions */
    uint32_t uid, gid, nlink;
    uint64_t ino;
    int64_t mtime_ns, ctime_ns;
} shell_stat_info;

/* *out is freed with shell_free; NUL-terminated beyond *len. */
SHELL_API shell_err shell_read_file(shell *sh, const char *path, char **out, uint64_t *len);
/* At most `max` bytes from `offset`; fewer at the end of the file. */
SHELL_API shell_err shell_read_range(shell *sh, const char *path, uint64_t offset, uint64_t max, char **out, uint64_t *len);
enum { SHELL_WRITE_PARENTS = 1, SHELL_WRITE_APPEND = 2, SHELL_WRITE_EXCL = 4 };
SHELL_API shell_err shell_write_file(shell *sh, const char *path, const char *data, uint64_t len, uint32_t flags);
enum { SHELL_STAT_NOFOLLOW = 1 };
SHELL_API shell_err shell_stat(shell *sh, const char *path, uint32_t flags, shell_stat_info *out);
/* Entries in name order: `names` are NUL-terminated strings one behind the other. One block, freed with shell_free. */
typedef struct {
    const char *name;
    uint32_t type;       /* S_IF* */
    uint64_t bytes;
} shell_dirent;
SHELL_API shell_err shell_list(shell *sh, const char *path, shell_dirent **out, uint64_t *count);
SHELL_API shell_err shell_mkdir(shell *sh, const char *path, uint32_t mode, int32_t parents);
SHELL_API shell_err shell_remove(shell *sh, const char *path, int32_t recursive);
SHELL_API shell_err shell_rename(shell *sh, const char *from, const char *to);
SHELL_API shell_err shell_chmod(shell *sh, const char *path, uint32_t mode);
SHELL_API shell_err shell_exists(shell *sh, const char *path, int32_t *out);

/* Where the symlink `path` points: *out is freed with shell_free; NUL-terminated beyond *len. SHELL_EINVAL: it is none. */
SHELL_API shell_err shell_readlink(shell *sh, const char *path, char **out, uint64_t *len);

enum { SHELL_ADDED = 0, SHELL_MODIFIED = 1, SHELL_DELETED = 2 };
typedef struct {
    const char *path;
    int32_t kind;
    uint32_t mode;
    uint64_t bytes;
} shell_change;
/* What differs from the image the shell was made from, in path order. One block, freed with shell_free. */
SHELL_API shell_err shell_changes(shell *sh, shell_change **out, uint64_t *count);

enum { SHELL_CHANGES_DIGESTS = 1 };
typedef struct {
    uint64_t size;           /* from one entry to the next */
    const char *path;
    int32_t kind;
    uint32_t mode, old_mode; /* 0: it is, or was, not there */
    uint32_t nlink;
    uint64_t ino;            /* entries with one number are links to one file */
    uint64_t bytes, old_bytes;
    int64_t mtime_ns;
    const char *target;      /* of a symlink, else "" */
    char digest[33], old_digest[33]; /* with SHELL_CHANGES_DIGESTS: of a regular file's bytes now and before, XXH3 of 128 bits in hexadecimal; else "" */
} shell_change_info;
/* The same in full. Digests read the files, an overlay's old ones from the host: SHELL_EIO and the like when those are not what they were. One
 * block, freed with shell_free. */
SHELL_API shell_err shell_changes_full(shell *sh, uint32_t flags, shell_change_info **out, uint64_t *count);

/* ---------- custom commands ---------- */

/* One running custom command. shell_call_write and shell_call_id may be used from any thread until the command has given its status or
 * was told SHELL_CALL_KILLED; the others only inside the command's own function. */
typedef struct shell_call shell_call;

/* A blocking custom command: called on the thread that runs the shell, after its standard input was collected
 * whole; returns the status. Write with shell_call_write. */
typedef int32_t (*shell_command_fn)(void *user, shell_call *call);

SHELL_API int32_t shell_call_argc(const shell_call *call);
SHELL_API const char *shell_call_arg(const shell_call *call, int32_t index);
SHELL_API const char *shell_call_input(const shell_call *call, uint64_t *len);
SHELL_API const char *shell_call_getenv(const shell_call *call, const char *name); /* NULL when unset */
SHELL_API const char *shell_call_cwd(const shell_call *call);
/* From any thread, until a status was given or SHELL_CALL_KILLED was delivered. Takes what fits: *written < len means wait for
 * SHELL_CALL_WRITABLE (a blocking command's writes are kept whole). */
SHELL_API shell_err shell_call_write(shell_call *call, int32_t stream, const char *data, uint64_t len, uint64_t *written);

/* As a state machine: `event` is called with each step; between events the host may take its time and answer
 * from any thread with shell_answer(sh, shell_call_id(call), SHELL_CALL_MORE) or a status. */
enum { SHELL_CALL_START = 0, SHELL_CALL_INPUT = 1, SHELL_CALL_INPUT_END = 2, SHELL_CALL_WRITABLE = 3, SHELL_CALL_KILLED = 4 };
enum { SHELL_CALL_MORE = -1, SHELL_CALL_LATER = -2, SHELL_CALL_UNKNOWN = -3 /* of shell_unknown_command: not found after all */ }; /* else a status 0..255: done */
typedef int32_t (*shell_command_event)(void *user, shell_call *call, int32_t event, const char *data, uint64_t len);
SHELL_API uint64_t shell_call_id(const shell_call *call);
/* Before a machine gives its status, inside its function: it has not looked at the input it was given, which then goes back where it can, for
 * the script to read on from. */
SHELL_API void shell_call_unread(shell_call *call);

/* Makes `name` a command of `sh`, found before the built-in ones, until it is replaced or the shell closes. */
SHELL_API shell_err shell_command(shell *sh, const char *name, shell_command_fn fn, void *user);
SHELL_API shell_err shell_command_machine(shell *sh, const char *name, shell_command_event event, void *user);
/* What runs when a name without a slash is no function, built-in, custom command or file of PATH (and the script has no
 * command_not_found_handle): its argument 0 is the name. SHELL_CALL_UNKNOWN is bash's "command not found" and 127; standard input is read only when it
 * says SHELL_CALL_MORE. `type` and `command -v` do not ask it. event NULL: none. Idle shells only. */
SHELL_API shell_err shell_unknown_command(shell *sh, shell_command_event event, void *user);
/* Answers a pending request from any thread. SHELL_ENOENT when it is unknown or already answered. */
SHELL_API shell_err shell_answer(shell *sh, uint64_t request, int32_t result);

/* ---------- mounts ----------
 * A directory, or one file, that the embedder serves. The functions are called on the thread that runs the shell, on its own stack, or inside
 * a file call; paths are relative to the mount ("" is its root), NUL-terminated beyond their length. Each gives SHELL_OK or a
 * SHELL_E* error, after it has replied what was asked for; or SHELL_EAGAIN: replies and shell_answer(sh, shell_mount_call_id(call), result)
 * come later from any thread (the process waits, others go on; a file call, which cannot wait, fails with SHELL_EAGAIN). Such a call
 * must be answered in any case: it lives until then. Nothing is cached: each operation of a script asks anew. Directories on the way to a
 * file are asked for as well. An open file is a name: after a rename or removal the old name is what is read and written. */
typedef struct shell_mount_call shell_mount_call;
enum { SHELL_MOUNT_READONLY = 1 };
#define SHELL_MOUNT_TIME_KEEP INT64_MIN
#define SHELL_MOUNT_TIME_NOW INT64_MAX

/* stat and list are needed, what else is missing is refused (a write with "Operation not permitted"). Borrowed for the call alone. */
typedef struct {
    uint64_t size;
    int32_t (*stat)(void *user, shell_mount_call *call, const char *path, uint64_t len);     /* shell_mount_reply_stat */
    int32_t (*list)(void *user, shell_mount_call *call, const char *path, uint64_t len);     /* shell_mount_reply_entry, in any order */
    int32_t (*read)(void *user, shell_mount_call *call, const char *path, uint64_t len, uint64_t offset, uint64_t max); /* shell_mount_reply_data; none: the end */
    int32_t (*readlink)(void *user, shell_mount_call *call, const char *path, uint64_t len); /* shell_mount_reply_data */
    int32_t (*create)(void *user, shell_mount_call *call, const char *path, uint64_t len, uint32_t mode); /* an empty file that is not there */
    int32_t (*write)(void *user, shell_mount_call *call, const char *path, uint64_t len, uint64_t offset, const char *data, uint64_t data_len); /* all of it */
    int32_t (*truncate)(void *user, shell_mount_call *call, const char *path, uint64_t len, uint64_t bytes);
    int32_t (*mkdir)(void *user, shell_mount_call *call, const char *path, uint64_t len, uint32_t mode);
    int32_t (*remove)(void *user, shell_mount_call *call, const char *path, uint64_t len, int32_t directory);
    int32_t (*rename)(void *user, shell_mount_call *call, const char *from, uint64_t len, const char *to, uint64_t to_len, int32_t no_replace);
    int32_t (*symlink)(void *user, shell_mount_call *call, const char *path, uint64_t len, const char *target, uint64_t target_len);
    int32_t (*chmod)(void *user, shell_mount_call *call, const char *path, uint64_t len, uint32_t mode);
    int32_t (*utimes)(void *user, shell_mount_call *call, const char *path, uint64_t len, int64_t atime_ns, int64_t mtime_ns); /* or SHELL_MOUNT_TIME_* */
    void (*release)(void *user); /* the last shell that has the mount is gone; any thread. NULL allowed */
} shell_mount_ops;

/* Mounts at `destination` (absolute; its parents are made) of an idle shell; forks have it too, images do not. SHELL_MOUNT_READONLY: every
 * change is "Read-only file system". On failure release is not called. */
SHELL_API shell_err shell_mount(shell *sh, const char *destination, const shell_mount_ops *ops, void *user, uint32_t flags);
/* SHELL_EBUSY: the shell is running, or something below is open or held. SHELL_ENOENT: no mount is there. */
SHELL_API shell_err shell_unmount(shell *sh, const char *destination);
SHELL_API uint64_t shell_mount_call_id(const shell_mount_call *call);
/* Any thread, until the call's function has returned other than SHELL_EAGAIN, or was answered. mode's type: a regular file, directory or symlink;
 * nlink 0 is 1, uid and gid 0 are the shell's user, ino 0 is made from the path. SHELL_EINVAL: not what was asked for. */
SHELL_API shell_err shell_mount_reply_stat(shell_mount_call *call, const shell_stat_info *info);
SHELL_API shell_err shell_mount_reply_entry(shell_mount_call *call, const char *name, uint64_t len, uint32_t type);
/* May be called several times: the parts are one. SHELL_EFBIG: more than was asked for. */
SHELL_API shell_err shell_mount_reply_data(shell_mount_call *call, const char *data, uint64_t len);

/* A file of the shell's own, at `path` (of the shell's user; replaces what is there), whose bytes `read` gives by shell_mount_reply_data when it is first
 * opened; like any file from then on. size: what stat says until then, < 0: 0. A failed read is the error of that open, and the next asks again.
 * Forks share it unread. release (may be NULL) is called once, when no shell or image can ask any more; not on failure. */
typedef int32_t (*shell_lazy_fn)(void *user, shell_mount_call *call);
SHELL_API shell_err shell_lazy_file(shell *sh, const char *path, int64_t size, uint32_t mode, shell_lazy_fn read, void (*release)(void *user), void *user);

/* Names of all built-in commands, sorted, NULL-terminated; static. */
SHELL_API const char *const *shell_command_names(uint64_t *count);

#ifdef __cplusplus
}
#endif

#endif

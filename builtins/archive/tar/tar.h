/* tar: what its files share. GNU tar 1.34's behaviour; archives are read and written as streams of 512-byte blocks through packer.c. */
#ifndef LIBSHELL_TAR_H
#define LIBSHELL_TAR_H

#include "archive/archive.h"

enum { BLOCK = 512 };

typedef enum { FORMAT_GNU, FORMAT_OLDGNU, FORMAT_USTAR, FORMAT_PAX, FORMAT_V7 } TarFormat;
typedef enum { OLD_DEFAULT, OLD_KEEP, OLD_SKIP, OLD_KEEP_NEWER, OLD_OVERWRITE, OLD_UNLINK_FIRST } OldFiles;

typedef struct Span { uint64_t offset, length; } Span; /* of a sparse file's data */

/* One member, as its headers say. Strings in the member's memory (p->mem under the loop's mark). */
typedef struct Member {
    char *name, *link, *uname, *gname;
    char type; /* '0' regular, '1' hard link, '2' symlink, '3' '4' devices, '5' directory, '6' FIFO, '7', 'V', 'D' ... */
    uint32_t mode;
    uint64_t uid, gid, size /* of the data in the archive */, real_size, block;
    int64_t mtime;
    uint32_t mtime_ns, major, minor;
    Span *spans; /* NULL: not sparse */
    size_t span_count;
    uint64_t left;  /* of the data, unread */
    uint64_t header_blocks; /* with those of long names and pax */
    Slice dumpdir;  /* of a directory in an incremental archive; ends in NUL. data NULL: none */
} Member;

typedef struct NameArg {
    const char *text;
    const char *directory; /* -C: text is NULL then */
    bool found, no_recursion;
    unsigned match_flags;
    uint64_t seen;
} NameArg;

enum { MATCH_WILDCARDS = 1, MATCH_ANCHORED = 2, MATCH_ICASE = 4, MATCH_NO_SLASH = 8 };
typedef struct Pattern { const char *text; unsigned flags; } Pattern;
typedef struct Tag { const char *name; char kind; /* ' ' contents, 'a' all, 'u' under */ bool cache; } Tag;
typedef struct Transform Transform;
typedef struct IgnoreFile IgnoreFile;
typedef struct IgnoreScope IgnoreScope;
typedef struct OwnerMap OwnerMap;
typedef struct Snapshot Snapshot;

typedef struct Tar Tar;

/* --- the archive as a stream of blocks --- */

typedef struct TarIn {
    Tar *t;
    int fd;
    Unpacker *unpacker;
    Slice window;
    char block[BLOCK];
    uint64_t blocks;   /* read so far */
    bool end, seen_header;
    int child_status; /* of the decompressor that real tar runs, when it failed */
} TarIn;

typedef struct TarOut {
    Tar *t;
    Sink sink;
    Packer *packer;
    char *buffer;
    size_t used;
    uint64_t bytes;
} TarOut;

struct Tar {
    Proc *p;
    char mode; /* c x t r u d A, D delete, L test-label */
    const char *archive;
    int verbose, status;
    TarFormat format;
    Packing packing;
    bool packing_given, auto_packing, format_given;
    int level;
    OldFiles old;
    bool to_stdout, touch, same_mode, same_owner, absolute, numeric_owner, dereference, hard_dereference, one_file_system, no_recursion, show_stored, full_time, utc;
    bool totals, block_numbers, remove_files, verify, ignore_zeros, interactive, check_links, keep_directory_symlink, no_overwrite_dir, delay_directories, recursive_unlink;
    bool archive_is_stdin, ignore_failed_read, show_omitted, clamp_mtime, same_mode_given, null_names, verbatim_names, one_top, no_unquote;
    unsigned blocking, match_flags, exclude_flags, include_set;
    unsigned strip, occurrence;
    uint64_t checkpoint, records;
    const char *checkpoint_echo;
    bool checkpoint_dot;
    const char *one_top_level, *owner_name, *group_name, *label, *starting;
    int64_t owner, group; /* -1: not given */
    ModeChange *mode_change;
    bool mtime_given, newer_given, newer_mtime;
    int64_t mtime, newer;
    uint32_t mtime_ns;
    Backup backup;
    const char *suffix;
    int quoting; /* 0 escape, 1 literal, 2 shell ... */
    NameArg *names;
    size_t name_count, name_cap, name_texts;
    Pattern *excludes;
    size_t exclude_count;
    Tag *tags;
    size_t tag_count;
    Transform *transforms;
    IgnoreFile *ignore_files;
    IgnoreScope *ignores; /* of the directories being stored, the innermost first */
    OwnerMap *owner_map, *group_map;
    bool incremental, level_zero, listed /* storing what an incremental list says */, pax_wanted;
    const char *missing_program; /* that is to compress */
    const char *snapshot_file;
    int snapshot_fd;
    Snapshot *snapshot;
    int64_t began; /* when, for the snapshot */
    uint32_t began_ns, newer_ns;
    bool quoted_chars[256]; /* --quote-chars */
    Output *list; /* where names go */
    Output *index; /* --index-file */
    Map links;    /* create: (device, inode) to the member's name */
    Map prefixes; /* leading parts whose removal has been told */
    Map newest;   /* update: name to mtime */
    VStat archive_stat;
    bool archive_stat_ok;
    struct Delayed *delayed;
    struct DirStat *dir_stats;
    uint32_t device;
    size_t list_width; /* of owner and size in long lines: grows */
    TarOut *out;
};

/* --- tar.c --- */
void tar_error(Tar *t, const char *format, ...) PRINTF_LIKE(2, 3);        /* and status 2 */
void tar_errno(Tar *t, int err, const char *format, ...) PRINTF_LIKE(3, 4); /* "tar: text: reason" and status 2 */
NORETURN void tar_fatal(Tar *t, const char *format, ...) PRINTF_LIKE(2, 3); /* "Error is not recoverable: exiting now" */
NORETURN void tar_unrecoverable(Tar *t);
NORETURN void tar_misuse(Tar *t, const char *format, ...) PRINTF_LIKE(2, 3); /* and the hint */
NORETURN void tar_cannot_start(Tar *t, bool writing); /* its missing_program */
void tar_chdir(Tar *t, const char *directory);
const char *tar_quote(Tar *t, const char *name);  /* a name as lists and most messages show it */

/* --- options.c --- */
extern const Option tar_options[];
void tar_parse(Tar *t, Args *args);
void tar_packing_by_suffix(Tar *t);

/* --- blocks.c --- */
void in_open(TarIn *in, Tar *t, int fd);
bool in_block(TarIn *in);            /* the next block in in->block; false at the end */
bool in_data(TarIn *in, Member *m, Slice *out); /* more of m's data */
void in_skip(TarIn *in, Member *m);
void out_open(TarOut *o, Tar *t, int fd);
void out_bytes(TarOut *o, Slice data);
void out_zeros(TarOut *o, size_t n);
void out_finish(TarOut *o);

/* --- header.c --- */
bool in_member(TarIn *in, Member *m); /* false at the end of the archive */
void out_header(TarOut *o, const Member *m, const VStat *st); /* st: for pax's atime and ctime, or NULL */
bool member_storable(Tar *t, const Member *m); /* the format can hold its names; says why not */
bool parse_octal(const char *field, size_t n, uint64_t *out);

/* --- names.c --- */
void add_name(Tar *t, const char *text);
void add_directory(Tar *t, const char *directory);
void add_exclude(Tar *t, const char *pattern, unsigned flags);
void add_files_from(Tar *t, const char *file);
void add_excludes_from(Tar *t, const char *file);
void add_transform(Tar *t, const char *text);
bool excluded(Tar *t, const char *name);
bool wanted(Tar *t, const char *name); /* by the operands; true without any */
void report_missing(Tar *t);
/* Without what must not be in an archive, "/" and what is before a last "..", which is told once for each. */
char *safer_name(Tar *t, char *name, bool link_target);
char *transform_name(Tar *t, char *name, char kind); /* r, s or h */
char *strip_components(Tar *t, char *name); /* NULL: nothing left */
bool glob_match(const char *pattern, const char *s, unsigned flags, bool leading_dir);

/* --- list.c --- */
void list_member(Tar *t, const Member *m, uint64_t block);
void list_archive(Tar *t, TarIn *in);

/* --- create.c --- */
void create_names(Tar *t, TarOut *o);
void append_archives(Tar *t, TarOut *o);

bool older(const Tar *t, const VStat *st); /* than what --newer or the snapshot says */
void dump_found(Tar *t, const char *path); /* an operand's file, or one of an incremental list */

/* --- ignore.c --- */
void add_ignore_file(Tar *t, const char *name);
void add_vcs_ignores(Tar *t);
void ignore_enter(Tar *t, const char *directory);
void ignore_leave(Tar *t);
bool ignored(Tar *t, const char *name);

/* --- owners.c --- */
void read_owner_map(Tar *t, const char *file, bool group);
bool owner_mapped(const OwnerMap *map, uint32_t id, uint64_t *to, const char **name); /* *name NULL: the number's own */

/* --- incremental.c --- */
void incremental_open(Tar *t);
void incremental_create(Tar *t);
Slice incremental_list(Tar *t, const char *path);
void incremental_purge(Tar *t, const char *directory, Slice list);
void incremental_show(Tar *t, Slice list);

/* --- extract.c --- */
void extract_archive(Tar *t, TarIn *in);

/* --- diff.c --- */
void diff_archive(Tar *t, TarIn *in, bool verifying);

#endif

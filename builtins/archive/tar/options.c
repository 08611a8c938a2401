/* options: what tar takes, and what each asks for. */
#include "archive/tar/tar.h"

enum {
    O_DELETE = 256, O_TEST_LABEL, O_EXCLUDE, O_EXCLUDE_VCS, O_EXCLUDE_BACKUPS, O_EXCLUDE_CACHES, O_EXCLUDE_CACHES_ALL, O_EXCLUDE_CACHES_UNDER, O_EXCLUDE_TAG,
    O_EXCLUDE_TAG_ALL, O_EXCLUDE_TAG_UNDER, O_ADD_FILE, O_NULL, O_NO_NULL, O_NO_RECURSION, O_RECURSION, O_VERBATIM, O_NO_VERBATIM, O_UNQUOTE, O_NO_UNQUOTE, O_ANCHORED,
    O_NO_ANCHORED, O_IGNORE_CASE, O_NO_IGNORE_CASE, O_WILDCARDS, O_NO_WILDCARDS, O_MATCH_SLASH, O_NO_MATCH_SLASH, O_KEEP_DIRECTORY_SYMLINK, O_KEEP_NEWER, O_NO_OVERWRITE_DIR,
    O_OVERWRITE_DIR, O_ONE_TOP_LEVEL, O_OVERWRITE, O_RECURSIVE_UNLINK, O_REMOVE_FILES, O_SKIP_OLD, O_TO_COMMAND, O_CLAMP_MTIME, O_DELAY, O_NO_DELAY, O_GROUP, O_OWNER,
    O_MODE, O_MTIME, O_NO_SAME_OWNER, O_SAME_OWNER, O_NO_SAME_PERMISSIONS, O_NUMERIC_OWNER, O_SORT, O_RECORD_SIZE, O_FORMAT, O_V7, O_POSIX, O_PAX_OPTION, O_LZMA, O_ZSTD,
    O_NO_AUTO, O_BACKUP, O_SUFFIX, O_HARD_DEREFERENCE, O_NEWER_MTIME, O_ONE_FILE_SYSTEM, O_STRIP, O_TRANSFORM, O_CHECKPOINT, O_CHECKPOINT_ACTION, O_FULL_TIME,
    O_QUOTING, O_SHOW_OMITTED, O_SHOW_STORED, O_TOTALS, O_UTC, O_WARNING, O_IGNORE_FAILED, O_OCCURRENCE, O_IGNORED, O_REFUSED, O_INDEX_FILE, O_USAGE, O_SHOW_DEFAULTS,
    O_ATIME_PRESERVE, O_VCS_IGNORES, O_EXCLUDE_IGNORE, O_EXCLUDE_IGNORE_RECURSIVE, O_LEVEL, O_OWNER_MAP, O_GROUP_MAP, O_XATTRS, O_HOLES, O_LZIP, O_LZOP, O_QUOTE_CHARS, O_NO_QUOTE_CHARS,
    O_FIELD_RANGES,
};

#define FLAG(letter, name, help, id) {letter, name, OPT_FLAG, help, NULL, id}
#define VALUE(letter, name, value, help, id) {letter, name, OPT_VALUE, help, value, id}
#define MAYBE(letter, name, value, help, id) {letter, name, OPT_OPTIONAL, help, value, id}

const Option tar_options[] = {
    FLAG('A', "catenate", "append tar files to an archive", 0), FLAG(0, "concatenate", NULL, 'A'),
    FLAG('c', "create", "create a new archive", 0),
    FLAG(0, "delete", "delete from the archive", O_DELETE),
    FLAG('d', "diff", "find differences between archive and file system", 0), FLAG(0, "compare", NULL, 'd'),
    FLAG('r', "append", "append files to the end of an archive", 0),
    FLAG(0, "test-label", "test the archive volume label and exit", O_TEST_LABEL),
    FLAG('t', "list", "list the contents of an archive", 0),
    FLAG('u', "update", "only append files newer than copy in archive", 0),
    FLAG('x', "extract", "extract files from an archive", 0), FLAG(0, "get", NULL, 'x'),
    FLAG(0, "ignore-failed-read", "do not exit with nonzero on unreadable files", O_IGNORE_FAILED),
    MAYBE(0, "occurrence", "NUMBER", "process only the NUMBERth occurrence of each file in the archive (default 1)", O_OCCURRENCE),
    FLAG('S', "sparse", "accepted when creating: files are stored whole; sparse members are extracted", O_IGNORED),
    FLAG('n', "seek", "archive is seekable", O_IGNORED), FLAG(0, "no-seek", NULL, O_IGNORED),
    FLAG('G', "incremental", "handle old GNU-format incremental backup", 0),
    VALUE('g', "listed-incremental", "FILE", "handle new GNU-format incremental backup", 0),
    VALUE(0, "level", "NUMBER", "dump level for created listed-incremental archive", O_LEVEL),
    VALUE(0, "hole-detection", "TYPE", "technique to detect holes: seek or raw; accepted", O_HOLES),
    VALUE(0, "sparse-version", "MAJOR[.MINOR]", "accepted, as --sparse", O_IGNORED),
    FLAG(0, "no-check-device", "accepted: devices are compared when a directory may have been renamed", O_IGNORED), FLAG(0, "check-device", NULL, O_IGNORED),
    VALUE(0, "add-file", "FILE", "add given FILE to the archive (useful if its name starts with a dash)", O_ADD_FILE),
    VALUE('C', "directory", "DIR", "change to directory DIR", 0),
    VALUE(0, "exclude", "PATTERN", "exclude files, given as a PATTERN", O_EXCLUDE),
    FLAG(0, "exclude-backups", "exclude backup and lock files", O_EXCLUDE_BACKUPS),
    FLAG(0, "exclude-caches", "exclude contents of directories containing CACHEDIR.TAG, except for the tag file itself", O_EXCLUDE_CACHES),
    FLAG(0, "exclude-caches-all", "exclude directories containing CACHEDIR.TAG", O_EXCLUDE_CACHES_ALL),
    FLAG(0, "exclude-caches-under", "exclude everything under directories containing CACHEDIR.TAG", O_EXCLUDE_CACHES_UNDER),
    VALUE(0, "exclude-tag", "FILE", "exclude contents of directories containing FILE, except for FILE itself", O_EXCLUDE_TAG),
    VALUE(0, "exclude-tag-all", "FILE", "exclude directories containing FILE", O_EXCLUDE_TAG_ALL),
    VALUE(0, "exclude-tag-under", "FILE", "exclude everything under directories containing FILE", O_EXCLUDE_TAG_UNDER),
    VALUE(0, "exclude-ignore", "FILE", "read exclude patterns for each directory from FILE, if it exists", O_EXCLUDE_IGNORE),
    VALUE(0, "exclude-ignore-recursive", "FILE", "read exclude patterns for each directory and its subdirectories from FILE, if it exists", O_EXCLUDE_IGNORE_RECURSIVE),
    FLAG(0, "exclude-vcs-ignores", "read exclude patterns from the VCS ignore files", O_VCS_IGNORES),
    FLAG(0, "exclude-vcs", "exclude version control system directories", O_EXCLUDE_VCS),
    FLAG(0, "null", "-T reads null-terminated names; implies --verbatim-files-from", O_NULL),
    FLAG(0, "no-null", "disable the effect of the previous --null option", O_NO_NULL),
    FLAG(0, "no-recursion", "avoid descending automatically in directories", O_NO_RECURSION),
    FLAG(0, "recursion", "recurse into directories (default)", O_RECURSION),
    FLAG(0, "unquote", "unquote input file or member names (default)", O_UNQUOTE),
    FLAG(0, "no-unquote", "do not unquote input file or member names", O_NO_UNQUOTE),
    FLAG(0, "verbatim-files-from", "-T reads file names verbatim (no escape or option handling)", O_VERBATIM),
    FLAG(0, "no-verbatim-files-from", "-T treats file names starting with dash as options (default)", O_NO_VERBATIM),
    VALUE('T', "files-from", "FILE", "get names to extract or create from FILE", 0),
    VALUE('X', "exclude-from", "FILE", "exclude patterns listed in FILE", 0),
    FLAG(0, "anchored", "patterns match file name start", O_ANCHORED), FLAG(0, "no-anchored", "patterns match after any '/' (default for exclusion)", O_NO_ANCHORED),
    FLAG(0, "ignore-case", "ignore case", O_IGNORE_CASE), FLAG(0, "no-ignore-case", "case sensitive matching (default)", O_NO_IGNORE_CASE),
    FLAG(0, "wildcards", "use wildcards (default for exclusion)", O_WILDCARDS), FLAG(0, "no-wildcards", "verbatim string matching", O_NO_WILDCARDS),
    FLAG(0, "wildcards-match-slash", "wildcards match '/' (default for exclusion)", O_MATCH_SLASH),
    FLAG(0, "no-wildcards-match-slash", "wildcards do not match '/'", O_NO_MATCH_SLASH),
    FLAG(0, "keep-directory-symlink", "preserve existing symlinks to directories when extracting", O_KEEP_DIRECTORY_SYMLINK),
    FLAG(0, "keep-newer-files", "don't replace existing files that are newer than their archive copies", O_KEEP_NEWER),
    FLAG('k', "keep-old-files", "don't replace existing files when extracting, treat them as errors", 0),
    FLAG(0, "no-overwrite-dir", "preserve metadata of existing directories", O_NO_OVERWRITE_DIR),
    FLAG(0, "overwrite-dir", "overwrite metadata of existing directories when extracting (default)", O_OVERWRITE_DIR),
    MAYBE(0, "one-top-level", "DIR", "create a subdirectory to avoid having loose files extracted", O_ONE_TOP_LEVEL),
    FLAG(0, "overwrite", "overwrite existing files when extracting", O_OVERWRITE),
    FLAG(0, "recursive-unlink", "empty hierarchies prior to extracting directory", O_RECURSIVE_UNLINK),
    FLAG(0, "remove-files", "remove files after adding them to the archive", O_REMOVE_FILES),
    FLAG(0, "skip-old-files", "don't replace existing files when extracting, silently skip over them", O_SKIP_OLD),
    FLAG('U', "unlink-first", "remove each file prior to extracting over it", 0),
    FLAG('W', "verify", "attempt to verify the archive after writing it", 0),
    FLAG('O', "to-stdout", "extract files to standard output", 0),
    VALUE(0, "to-command", "COMMAND", "refused: no program is started", O_TO_COMMAND),
    FLAG(0, "ignore-command-error", "accepted", O_IGNORED), FLAG(0, "no-ignore-command-error", NULL, O_IGNORED),
    MAYBE(0, "atime-preserve", "METHOD", "accepted: reading changes no access times", O_ATIME_PRESERVE),
    FLAG(0, "clamp-mtime", "only set time when the file is more recent than what was given with --mtime", O_CLAMP_MTIME),
    VALUE(0, "group-map", "FILE", "use FILE to map file owner GIDs and names", O_GROUP_MAP),
    VALUE(0, "owner-map", "FILE", "use FILE to map file owner UIDs and names", O_OWNER_MAP),
    FLAG(0, "acls", "accepted: there are none; the format is posix", O_XATTRS), FLAG(0, "no-acls", "accepted", O_IGNORED),
    FLAG(0, "selinux", "accepted: there is none; the format is posix", O_XATTRS), FLAG(0, "no-selinux", "accepted", O_IGNORED),
    FLAG(0, "xattrs", "accepted: there are none; the format is posix", O_XATTRS), FLAG(0, "no-xattrs", "accepted", O_IGNORED),
    VALUE(0, "xattrs-include", "MASK", "accepted, as --xattrs", O_XATTRS), VALUE(0, "xattrs-exclude", "MASK", "accepted, as --xattrs", O_XATTRS),
    FLAG(0, "delay-directory-restore", "delay setting modification times and permissions of extracted directories until the end of extraction", O_DELAY),
    FLAG(0, "no-delay-directory-restore", "cancel the effect of --delay-directory-restore option", O_NO_DELAY),
    VALUE(0, "group", "NAME", "force NAME as group for added files", O_GROUP),
    VALUE(0, "mode", "CHANGES", "force (symbolic) mode CHANGES for added files", O_MODE),
    VALUE(0, "mtime", "DATE-OR-FILE", "set mtime for added files from DATE-OR-FILE", O_MTIME),
    FLAG('m', "touch", "don't extract file modified time", 0),
    FLAG(0, "no-same-owner", "extract files as yourself (default for ordinary users)", O_NO_SAME_OWNER),
    FLAG(0, "no-same-permissions", "apply the user's umask when extracting permissions from the archive (default for ordinary users)", O_NO_SAME_PERMISSIONS),
    FLAG(0, "numeric-owner", "always use numbers for user/group names", O_NUMERIC_OWNER),
    VALUE(0, "owner", "NAME", "force NAME as owner for added files", O_OWNER),
    FLAG('p', "preserve-permissions", "extract information about file permissions (default for superuser)", 0), FLAG(0, "same-permissions", NULL, 'p'),
    FLAG(0, "same-owner", "try extracting files with the same ownership as exists in the archive (default for superuser)", O_SAME_OWNER),
    VALUE(0, "sort", "ORDER", "directory sorting order: none, name or inode; it is by name always", O_SORT),
    FLAG('s', "preserve-order", "member arguments are listed in the same order as the files in the archive", O_IGNORED), FLAG(0, "same-order", NULL, 's'),
    FLAG(0, "force-local", "archive file is local even if it has a colon", O_IGNORED),
    VALUE(0, "rmt-command", "COMMAND", "accepted: there are no remote archives", O_IGNORED), VALUE(0, "rsh-command", "COMMAND", "accepted: there are no remote archives", O_IGNORED),
    VALUE('f', "file", "ARCHIVE", "use archive file ARCHIVE", 0),
    VALUE('b', "blocking-factor", "BLOCKS", "BLOCKS x 512 bytes per record", 0),
    FLAG('B', "read-full-records", "reblock as we read (for 4.2BSD pipes)", O_IGNORED),
    FLAG('i', "ignore-zeros", "ignore zeroed blocks in archive (means EOF)", 0),
    VALUE(0, "record-size", "NUMBER", "NUMBER of bytes per record, multiple of 512", O_RECORD_SIZE),
    VALUE('H', "format", "FORMAT", "create archive of the given format: gnu, oldgnu, pax, posix, ustar, v7", O_FORMAT),
    FLAG(0, "old-archive", "same as --format=v7", O_V7), FLAG(0, "portability", NULL, O_V7),
    VALUE(0, "pax-option", "KEYWORDS", "accepted; the keywords are not used", O_PAX_OPTION),
    FLAG(0, "posix", "same as --format=posix", O_POSIX),
    VALUE('V', "label", "TEXT", "create archive with volume name TEXT; at list/extract time, use TEXT as a globbing pattern for volume name", 0),
    FLAG('a', "auto-compress", "use archive suffix to determine the compression program", 0),
    VALUE('I', "use-compress-program", "PROG", "filter through PROG: gzip, bzip2, xz, lzma or zstd", 0),
    FLAG('j', "bzip2", "filter the archive through bzip2", 0), FLAG('J', "xz", "filter the archive through xz", 0),
    FLAG('Z', "compress", "filter the archive through compress; there is none", 0), FLAG(0, "uncompress", NULL, 'Z'),
    FLAG(0, "lzip", "filter the archive through lzip; there is none", O_LZIP), FLAG(0, "lzop", "filter the archive through lzop; there is none", O_LZOP),
    FLAG(0, "lzma", "filter the archive through xz", O_LZMA),
    FLAG(0, "no-auto-compress", "do not use archive suffix to determine the compression program", O_NO_AUTO),
    FLAG(0, "zstd", "filter the archive through zstd", O_ZSTD),
    FLAG('z', "gzip", "filter the archive through gzip", 0), FLAG(0, "gunzip", NULL, 'z'), FLAG(0, "ungzip", NULL, 'z'),
    MAYBE(0, "backup", "CONTROL", "backup before removal, choose version CONTROL", O_BACKUP),
    FLAG(0, "hard-dereference", "follow hard links; archive and dump the files they refer to", O_HARD_DEREFERENCE),
    FLAG('h', "dereference", "follow symlinks; archive and dump the files they point to", 0),
    VALUE('K', "starting-file", "MEMBER-NAME", "begin at member MEMBER-NAME when reading the archive", 0),
    VALUE(0, "newer-mtime", "DATE", "compare date and time when data changed only", O_NEWER_MTIME),
    VALUE('N', "newer", "DATE-OR-FILE", "only store files newer than DATE-OR-FILE", 0), VALUE(0, "after-date", "DATE-OR-FILE", NULL, 'N'),
    FLAG(0, "one-file-system", "stay in local file system when creating archive", O_ONE_FILE_SYSTEM),
    FLAG('P', "absolute-names", "don't strip leading '/'s from file names", 0),
    VALUE(0, "suffix", "STRING", "backup before removal, override usual suffix ('~')", O_SUFFIX),
    VALUE(0, "strip-components", "NUMBER", "strip NUMBER leading components from file names on extraction", O_STRIP),
    VALUE(0, "transform", "EXPRESSION", "use sed replace EXPRESSION to transform file names", O_TRANSFORM), VALUE(0, "xform", "EXPRESSION", NULL, O_TRANSFORM),
    MAYBE(0, "checkpoint", "NUMBER", "display progress messages every NUMBERth record (default 10)", O_CHECKPOINT),
    VALUE(0, "checkpoint-action", "ACTION", "what to do on each checkpoint: dot, echo or echo=TEXT", O_CHECKPOINT_ACTION),
    FLAG(0, "full-time", "print file time to its full resolution", O_FULL_TIME),
    VALUE(0, "index-file", "FILE", "send verbose output to FILE", O_INDEX_FILE),
    FLAG('l', "check-links", "print a message if not all links are dumped", 0),
    VALUE(0, "quoting-style", "STYLE", "set name quoting style: literal, shell, shell-always, c, escape, locale", O_QUOTING),
    VALUE(0, "quote-chars", "STRING", "additionally quote characters from STRING", O_QUOTE_CHARS),
    VALUE(0, "no-quote-chars", "STRING", "disable quoting for characters from STRING", O_NO_QUOTE_CHARS),
    FLAG('R', "block-number", "show block number within archive with each message", 0),
    FLAG(0, "show-defaults", "show tar defaults", O_SHOW_DEFAULTS),
    FLAG(0, "show-snapshot-field-ranges", "show valid ranges for snapshot-file fields", O_FIELD_RANGES),
    FLAG(0, "show-omitted-dirs", "accepted; directories that do not match are not listed", O_SHOW_OMITTED),
    FLAG(0, "show-transformed-names", "show file or archive names after transformation", O_SHOW_STORED), FLAG(0, "show-stored-names", NULL, O_SHOW_STORED),
    MAYBE(0, "totals", "SIGNAL", "print total bytes after processing the archive", O_TOTALS),
    FLAG(0, "utc", "print file modification times in UTC", O_UTC),
    FLAG('v', "verbose", "verbosely list files processed", 0),
    VALUE(0, "warning", "KEYWORD", "accepted; warnings are as they are", O_WARNING),
    FLAG('w', "interactive", "ask for confirmation for every action", 0), FLAG(0, "confirmation", NULL, 'w'),
    FLAG('o', NULL, "when creating, same as --old-archive; when extracting, same as --no-same-owner", 0),
    FLAG('M', "multi-volume", "refused: there is no medium to change", O_REFUSED), VALUE('L', "tape-length", "NUMBER", "refused, as --multi-volume", O_REFUSED),
    VALUE('F', "info-script", "NAME", "refused: no program is started", O_REFUSED), VALUE(0, "new-volume-script", "NAME", NULL, O_REFUSED),
    VALUE(0, "volno-file", "FILE", "accepted: there is one volume", O_IGNORED),
    FLAG(0, "restrict", "accepted: nothing harmful is taken anyway", O_IGNORED),
    OPTION_HELP('?'),
    FLAG(0, "usage", "give a short usage message", O_USAGE),
    OPTIONS_END,
};


static void set_mode(Tar *t, char mode)
{
    if (t->mode && t->mode != mode)
        tar_misuse(t, "You may not specify more than one '-Acdtrux', '--delete' or  '--test-label' option");
    t->mode = mode;
}

static void set_packing(Tar *t, Packing packing)
{
    if (t->packing_given && t->packing != packing)
        tar_misuse(t, "Conflicting compression options");
    t->packing = packing;
    t->packing_given = true;
}

static void set_format(Tar *t, const char *name)
{
    static const struct { const char *name; TarFormat format; } formats[] = {{"v7", FORMAT_V7}, {"oldgnu", FORMAT_OLDGNU}, {"ustar", FORMAT_USTAR}, {"posix", FORMAT_PAX},
                                                                          {"pax", FORMAT_PAX}, {"gnu", FORMAT_GNU}};
    for (size_t i = 0; i < ARRAY_LEN(formats); i++)
        if (strcmp(name, formats[i].name) == 0) {
            t->format = formats[i].format;
            t->format_given = true;
            return;
        }
    tar_misuse(t, "%s: Invalid archive format", name);
}

/* A compressor that is not here: told when the archive is opened, as it is then that it would be started. */
static void no_program(Tar *t, const char *name)
{
    set_packing(t, PACK_NONE);
    t->missing_program = name;
}

/* -I: only by the names of what is built in; a level may follow. */
static void set_program(Tar *t, const char *text)
{
    static const struct { const char *name; Packing packing; } programs[] = {{"gzip", PACK_GZIP}, {"pigz", PACK_GZIP}, {"bzip2", PACK_BZIP2}, {"pbzip2", PACK_BZIP2},
                                                                         {"xz", PACK_XZ}, {"lzma", PACK_LZMA}, {"zstd", PACK_ZSTD}, {"zstdmt", PACK_ZSTD}};
    size_t n = strcspn(text, " ");
    const char *dash = strstr(text + n, " -");
    Slice base = base_name(mem_copy(&t->p->keep, slice(text, n)));
    for (size_t i = 0; i < ARRAY_LEN(programs); i++)
        if (slice_is(base, programs[i].name)) {
            set_packing(t, programs[i].packing);
            for (; dash; dash = strstr(dash + 2, " -"))
                for (const char *d = dash + 2; *d >= '0' && *d <= '9'; d++)
                    t->level = d == dash + 2 ? *d - '0' : MIN(t->level * 10 + *d - '0', 22);
            return;
        }
    no_program(t, mem_copy(&t->p->keep, slice(text, n)));
}

void tar_packing_by_suffix(Tar *t)
{
    static const struct { const char *suffix; Packing packing; } suffixes[] = {
        {"gz", PACK_GZIP}, {"tgz", PACK_GZIP}, {"taz", PACK_GZIP}, {"bz2", PACK_BZIP2}, {"tbz", PACK_BZIP2}, {"tbz2", PACK_BZIP2}, {"tz2", PACK_BZIP2},
        {"lzma", PACK_LZMA}, {"tlz", PACK_LZMA}, {"xz", PACK_XZ}, {"txz", PACK_XZ}, {"zst", PACK_ZSTD}, {"tzst", PACK_ZSTD},
    };
    const char *dot = strrchr(base_name(t->archive).data, '.');
    for (size_t i = 0; dot && i < ARRAY_LEN(suffixes); i++)
        if (strcmp(dot + 1, suffixes[i].suffix) == 0)
            t->packing = suffixes[i].packing;
}

static void when(Tar *t, const char *text, int64_t *seconds, uint32_t *ns, const char *option)
{
    VStat st;
    if (*text == '/' || *text == '.') {
        int err = proc_stat(t->p, text, 0, &st);
        if (err)
            tar_fatal(t, "%s: Cannot stat: %s", text, error_text(-err));
        *seconds = st.mtime;
        *ns = st.mtime_ns;
        return;
    }
    uint32_t now_ns;
    int64_t now = proc_now(t->p, &now_ns);
    if (!parse_date(t->p, slice_str(text), now, now_ns, proc_zone(t->p), seconds, ns)) {
        (void)option;
        warn(t->p, "Substituting %s for unknown date format %s", quote(t->p, "now"), quote(t->p, text));
        *seconds = now;
        *ns = now_ns;
    }
}

/* --owner and --group: NAME, NAME:NUMBER, :NUMBER or NUMBER. */
static void set_id(Tar *t, const char *text, bool group)
{
    const char *colon = strchr(text, ':');
    const char **name = group ? &t->group_name : &t->owner_name;
    int64_t *id = group ? &t->group : &t->owner;
    uint32_t uid = 0, gid = 0;
    char *before = mem_copy(&t->p->keep, slice(text, colon ? (size_t)(colon - text) : strlen(text)));
    if (colon && parse_int(colon + 1, id))
        tar_fatal(t, "%s: Invalid owner or group ID", colon + 1);
    if (!colon && parse_int(before, id) == 0)
        return;
    if (*before)
        *name = before;
    if (colon)
        return;
    if (group ? group_find(t->p, slice_str(before), &gid) : user_find(t->p, slice_str(before), &uid, &gid))
        *id = group ? gid : uid;
}

static void add_vcs(Tar *t)
{
    static const char *const names[] = {"CVS", "RCS", "SCCS", ".git", ".gitignore", ".gitattributes", ".gitmodules", ".cvsignore", ".svn", ".arch-ids", "{arch}", "=RELEASE-ID",
                                        "=meta-update", "=update", ".bzr", ".bzrignore", ".bzrtags", ".hg", ".hgignore", ".hgtags", "_darcs"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        add_exclude(t, names[i], 0);
}

static void add_tag(Tar *t, const char *name, char kind, bool cache)
{
    if (t->tag_count % 8 == 0)
        t->tags = mem_grow(&t->p->keep, t->tags, t->tag_count * sizeof(Tag), (t->tag_count + 8) * sizeof(Tag));
    t->tags[t->tag_count++] = (Tag){mem_strdup(&t->p->keep, name), kind, cache};
}

static void add_backups(Tar *t)
{
    static const char *const names[] = {".#*", "*~", "#*#"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        add_exclude(t, names[i], MATCH_WILDCARDS);
}

static void set_match(Tar *t, unsigned bit, bool on)
{
    t->include_set |= bit;
    t->match_flags = on ? t->match_flags | bit : t->match_flags & ~bit;
    t->exclude_flags = on ? t->exclude_flags | bit : t->exclude_flags & ~bit;
}

static bool match_option(Tar *t, int id)
{
    switch (id) {
    case O_ANCHORED: case O_NO_ANCHORED: set_match(t, MATCH_ANCHORED, id == O_ANCHORED); break;
    case O_IGNORE_CASE: case O_NO_IGNORE_CASE: set_match(t, MATCH_ICASE, id == O_IGNORE_CASE); break;
    case O_WILDCARDS: case O_NO_WILDCARDS: set_match(t, MATCH_WILDCARDS, id == O_WILDCARDS); break;
    case O_MATCH_SLASH: case O_NO_MATCH_SLASH: set_match(t, MATCH_NO_SLASH, id == O_NO_MATCH_SLASH); break;
    default: return false;
    }
    return true;
}

static void set_checkpoint_action(Tar *t, const char *value)
{
    if (strcmp(value, "dot") == 0 || strcmp(value, ".") == 0)
        t->checkpoint_dot = true;
    else if (strncmp(value, "echo=", 5) == 0)
        t->checkpoint_echo = mem_strdup(&t->p->keep, value + 5);
    else if (strcmp(value, "echo") != 0)
        tar_misuse(t, "%s: unknown checkpoint action", value);
    if (!t->checkpoint)
        t->checkpoint = 10;
}

static void set_quoting(Tar *t, const char *value)
{
    static const struct { const char *name; int style; } styles[] = {{"literal", 1}, {"shell", 2}, {"shell-always", 3}, {"shell-escape", 6}, {"shell-escape-always", 7},
                                                                  {"c", 5}, {"c-maybe", 0}, {"escape", 0}, {"locale", 4}, {"clocale", 4}};
    for (size_t i = 0; i < ARRAY_LEN(styles); i++)
        if (strcmp(styles[i].name, value) == 0) {
            t->quoting = styles[i].style;
            return;
        }
    tar_fatal(t, "Unknown quoting style '%s'. Try '%s --quoting-style=help' to get a list.", value, "tar");
}

static uint64_t count_value(Tar *t, const char *value, const char *what)
{
    int64_t n;
    if (parse_int(value, &n) || n < 0)
        tar_misuse(t, "%s: Invalid %s", value, what);
    return (uint64_t)n;
}

/* Options about how members become files. */
static bool extract_option(Tar *t, Args *args, int id)
{
    switch (id) {
    case 'k': t->old = OLD_KEEP; break;
    case 'U': t->old = OLD_UNLINK_FIRST; break;
    case 'O': t->to_stdout = true; break;
    case 'm': t->touch = true; break;
    case 'p': t->same_mode = t->same_mode_given = true; break;
    case 'w': t->interactive = true; break;
    case O_KEEP_NEWER: t->old = OLD_KEEP_NEWER; break;
    case O_SKIP_OLD: t->old = OLD_SKIP; break;
    case O_OVERWRITE: t->old = OLD_OVERWRITE; break;
    case O_OVERWRITE_DIR: t->no_overwrite_dir = false; break;
    case O_NO_OVERWRITE_DIR: t->no_overwrite_dir = true; break;
    case O_KEEP_DIRECTORY_SYMLINK: t->keep_directory_symlink = true; break;
    case O_RECURSIVE_UNLINK: t->recursive_unlink = true; break;
    case O_SAME_OWNER: t->same_owner = true; break;
    case O_NO_SAME_OWNER: t->same_owner = false; break;
    case O_NO_SAME_PERMISSIONS: t->same_mode = false; break;
    case O_ONE_TOP_LEVEL: t->one_top = true; t->one_top_level = args->value ? mem_strdup(&t->p->keep, args->value) : NULL; break;
    case O_STRIP: t->strip = (unsigned)count_value(t, args->value, "number of elements"); break;
    case O_BACKUP: t->backup = backup_kind(t->p, args, args->value); break;
    case O_SUFFIX: t->suffix = mem_strdup(&t->p->keep, args->value); break;
    case O_OCCURRENCE: t->occurrence = args->value ? (unsigned)count_value(t, args->value, "number") : 1; break;
    case O_TO_COMMAND: tar_fatal(t, "--to-command: no program is started here");
    default: return false;
    }
    return true;
}

static void check_holes(Tar *t, const char *text)
{
    Proc *p = t->p;
    if (strcmp(text, "raw") == 0 || strcmp(text, "seek") == 0)
        return;
    warn(p, "invalid argument %s for %s", quote(p, text), quote(p, "--hole-detection"));
    out_printf(p->err, "Valid arguments are:\n  - %s\n  - %s\n", quote(p, "raw"), quote(p, "seek"));
    output_flush(p->err);
    proc_fail(p, 2);
}

static void set_level(Tar *t, const char *text)
{
    int64_t level;
    if (parse_int(text, &level))
        tar_misuse(t, "Invalid incremental level value");
    t->level_zero = level == 0;
}

/* Options about which files become members, and how. */
static bool create_option(Tar *t, Args *args, int id)
{
    switch (id) {
    case 'h': t->dereference = true; break;
    case 'l': t->check_links = true; break;
    case 'V': t->label = mem_strdup(&t->p->keep, args->value); break;
    case 'W': t->verify = true; break;
    case 'N': case O_NEWER_MTIME: {
        uint32_t ns;
        t->newer_given = true;
        t->newer_mtime = id == O_NEWER_MTIME;
        when(t, args->value, &t->newer, &ns, "--newer");
        break;
    }
    case O_MTIME: t->mtime_given = true; when(t, args->value, &t->mtime, &t->mtime_ns, "--mtime"); break;
    case O_CLAMP_MTIME: t->clamp_mtime = true; break;
    case O_OWNER: case O_GROUP: set_id(t, args->value, id == O_GROUP); break;
    case O_MODE:
        if (!(t->mode_change = mode_parse(t->p, args->value)))
            tar_fatal(t, "Invalid mode given on option");
        break;
    case O_HARD_DEREFERENCE: t->hard_dereference = true; break;
    case O_ONE_FILE_SYSTEM: t->one_file_system = true; break;
    case O_REMOVE_FILES: t->remove_files = true; break;
    case O_IGNORE_FAILED: t->ignore_failed_read = true; break;
    case O_FORMAT: case 'H': set_format(t, args->value); break;
    case O_V7: set_format(t, "v7"); break;
    case O_POSIX: set_format(t, "posix"); break;
    case O_SORT:
        if (strcmp(args->value, "name") && strcmp(args->value, "none") && strcmp(args->value, "inode"))
            tar_misuse(t, "Invalid argument %s for %s", quote(t->p, args->value), quote(t->p, "--sort"));
        break;
    case O_OWNER_MAP: case O_GROUP_MAP: read_owner_map(t, args->value, id == O_GROUP_MAP); break;
    case O_XATTRS: t->pax_wanted = true; break;
    case 'g': t->snapshot_file = mem_strdup(&t->p->keep, args->value); t->incremental = true; break;
    case 'G': t->incremental = true; break;
    case O_LEVEL: set_level(t, args->value); break;
    case O_HOLES: check_holes(t, args->value); break;
    default: return false;
    }
    return true;
}

static bool exclude_option(Tar *t, Args *args, int id)
{
    switch (id) {
    case O_VCS_IGNORES: add_vcs_ignores(t); break;
    case O_EXCLUDE_IGNORE: case O_EXCLUDE_IGNORE_RECURSIVE: add_ignore_file(t, args->value); break;
    case O_EXCLUDE_VCS: add_vcs(t); break;
    case O_EXCLUDE_BACKUPS: add_backups(t); break;
    case O_EXCLUDE_CACHES: add_tag(t, "CACHEDIR.TAG", ' ', true); break;
    case O_EXCLUDE_CACHES_ALL: add_tag(t, "CACHEDIR.TAG", 'a', true); break;
    case O_EXCLUDE_CACHES_UNDER: add_tag(t, "CACHEDIR.TAG", 'u', true); break;
    case O_EXCLUDE_TAG: add_tag(t, args->value, ' ', false); break;
    case O_EXCLUDE_TAG_ALL: add_tag(t, args->value, 'a', false); break;
    case O_EXCLUDE_TAG_UNDER: add_tag(t, args->value, 'u', false); break;
    default: return false;
    }
    return true;
}

static void name_option(Tar *t, Args *args, int id)
{
    switch (id) {
    case 'C': add_directory(t, args->value); break;
    case 'T': add_files_from(t, args->value); break;
    case 'X': add_excludes_from(t, args->value); break;
    case O_EXCLUDE: add_exclude(t, args->value, t->exclude_flags); break;
    case O_ADD_FILE: add_name(t, args->value); break;
    case O_NULL: t->null_names = t->verbatim_names = true; break;
    case O_NO_NULL: t->null_names = t->verbatim_names = false; break;
    case O_NO_RECURSION: t->no_recursion = true; break;
    case O_RECURSION: t->no_recursion = false; break;
    case O_VERBATIM: t->verbatim_names = true; break;
    case O_NO_VERBATIM: t->verbatim_names = false; break;
    case O_UNQUOTE: t->no_unquote = false; break;
    case O_NO_UNQUOTE: t->no_unquote = true; break;
    case O_TRANSFORM: add_transform(t, args->value); break;
    case 'P': t->absolute = true; break;
    case O_NUMERIC_OWNER: t->numeric_owner = true; break;
    case O_REFUSED: tar_misuse(t, "option '%s' is not supported here", args->argv[args->at - 1]);
    case O_USAGE: out_printf(t->p->out, "Usage: %s\n", args->command->usage); proc_fail(t->p, 0);
    case O_SHOW_DEFAULTS: out_str(t->p->out, "--format=gnu -f- -b20 --quoting-style=escape --rmt-command=/usr/sbin/rmt --rsh-command=/usr/bin/rsh\n"); proc_fail(t->p, 0);
    }
}

static NORETURN void show_ranges(Tar *t)
{
    out_str(t->p->out, "This tar's snapshot file field ranges are\n   (field name      => [ min, max ]):\n\n    nfs             => [ 0, 1 ],\n"
                       "    timestamp_sec   => [ -9223372036854775808, 9223372036854775807 ],\n    timestamp_nsec  => [ 0, 999999999 ],\n"
                       "    dev             => [ 0, 18446744073709551615 ],\n    ino             => [ 0, 18446744073709551615 ],\n\n");
    proc_fail(t->p, 0);
}

static bool output_option(Tar *t, Args *args, int id)
{
    switch (id) {
    case 'v': t->verbose++; break;
    case 'R': t->block_numbers = true; break;
    case 'i': t->ignore_zeros = true; break;
    case O_TOTALS: t->totals = true; break;
    case O_FULL_TIME: t->full_time = true; break;
    case O_UTC: t->utc = true; break;
    case O_SHOW_STORED: t->show_stored = true; break;
    case O_QUOTING: set_quoting(t, args->value); break;
    case O_QUOTE_CHARS: case O_NO_QUOTE_CHARS:
        for (const char *s = args->value; *s; s++)
            t->quoted_chars[(unsigned char)*s] = id == O_QUOTE_CHARS;
        break;
    case O_FIELD_RANGES: show_ranges(t);
    case O_CHECKPOINT: t->checkpoint = args->value ? count_value(t, args->value, "checkpoint value") : 10; break;
    case O_INDEX_FILE: {
        int fd = proc_open(t->p, args->value, V_WRITE | V_CREATE | V_TRUNC, 0666);
        if (fd < 0)
            tar_fatal(t, "%s: Cannot open: %s", args->value, error_text(-fd));
        t->index = mem_new(&t->p->keep, Output);
        output_init(t->p, t->index, fd);
        break;
    }
    case O_CHECKPOINT_ACTION: set_checkpoint_action(t, args->value); break;
    default: return false;
    }
    return true;
}

static void archive_option(Tar *t, Args *args, int id)
{
    switch (id) {
    case 'A': case 'c': case 'd': case 'r': case 't': case 'u': case 'x': set_mode(t, (char)id); break;
    case O_DELETE: set_mode(t, 'D'); break;
    case O_TEST_LABEL: set_mode(t, 'L'); break;
    case 'f': t->archive = mem_strdup(&t->p->keep, args->value); break;
    case 'a': t->auto_packing = true; break;
    case O_NO_AUTO: t->auto_packing = false; break;
    case 'z': set_packing(t, PACK_GZIP); break;
    case 'j': set_packing(t, PACK_BZIP2); break;
    case 'J': set_packing(t, PACK_XZ); break;
    case O_LZMA: set_packing(t, PACK_LZMA); break;
    case O_ZSTD: set_packing(t, PACK_ZSTD); break;
    case 'Z': no_program(t, "compress"); break;
    case O_LZIP: no_program(t, "lzip"); break;
    case O_LZOP: no_program(t, "lzop"); break;
    case 'I': set_program(t, args->value); break;
    case 'K': t->starting = mem_strdup(&t->p->keep, args->value); break;
    case 'b': case O_RECORD_SIZE: {
        uint64_t n;
        if (parse_size(args->value, id == 'b' ? "" : "kKMG", &n) || n == 0 || n > 1 << 20 || (id != 'b' && n % BLOCK))
            tar_misuse(t, "%s: Invalid %s", args->value, id == 'b' ? "blocking factor" : "record size");
        t->blocking = (unsigned)(id == 'b' ? n : n / BLOCK);
        break;
    }
    default:
        if (!match_option(t, id) && !extract_option(t, args, id) && !create_option(t, args, id) && !exclude_option(t, args, id) && !output_option(t, args, id))
            name_option(t, args, id);
    }
}

/* "tar cvf x a" is "tar -c -v -f x a": letters of a first word without a dash, whose arguments follow in order. */
static void expand_old_style(Tar *t, Args *args)
{
    if (args->argc < 2 || args->argv[1][0] == '-' || !args->argv[1][0])
        return;
    const char *letters = args->argv[1];
    size_t n = strlen(letters), most = n * 2 + (size_t)args->argc + 1;
    char **v = mem_array(&t->p->keep, most, char *);
    int count = 0, next = 2;
    v[count++] = args->argv[0];
    for (const char *s = letters; *s; s++) {
        const Option *o = tar_options;
        while ((o->letter || o->name) && o->letter != *s)
            o++;
        v[count++] = mem_printf(&t->p->keep, "-%c", *s);
        if (o->letter && o->kind == OPT_VALUE) {
            if (next >= args->argc)
                tar_misuse(t, "Old option '%c' requires an argument.", *s);
            v[count++] = args->argv[next++];
        }
    }
    while (next < args->argc)
        v[count++] = args->argv[next++];
    v[count] = NULL;
    args->argv = v;
    args->argc = count;
}

void tar_parse(Tar *t, Args *args)
{
    expand_old_style(t, args);
    for (;;) {
        for (int id; (id = args_next(t->p, args)) != -1;) {
            int given = tar_options[args->option_index].id ? tar_options[args->option_index].id : id;
            if (given == 'o') {
                t->same_owner = false;
                continue;
            }
            archive_option(t, args, given);
        }
        char *operand = args_operand(args);
        if (!operand)
            break;
        add_name(t, operand);
    }
    if (!t->mode)
        tar_misuse(t, "You must specify one of the '-Acdtrux', '--delete' or '--test-label' options");
    if (t->pax_wanted && !t->format_given)
        t->format = FORMAT_PAX;
    if (t->pax_wanted && t->format != FORMAT_PAX && t->mode == 'c')
        tar_misuse(t, "--xattrs can be used only on POSIX archives");
    if (t->incremental && (t->format == FORMAT_USTAR || t->format == FORMAT_V7))
        tar_misuse(t, "GNU features wanted on incompatible archive format");
}

/* patch: apply a diff file to originals. GNU patch 2.7.6.
 *
 * A question is answered as where there is no terminal: with nothing. Ed scripts, merging (--merge) and fetching from version control are
 * refused.
 */
#include "patch.h"

#include <stdarg.h>

#include "shared.h"

enum {
    OPT_MISMATCH = 256, OPT_NO_MISMATCH, OPT_MERGE, OPT_QUOTING, OPT_DRY_RUN, OPT_POSIX, OPT_REJECT_FORMAT, OPT_BINARY, OPT_READ_ONLY, OPT_VERBOSE, OPT_FOLLOW,
};

static const Option options[] = {
    OPTION_VERSION('v'),
    {'p', "strip", OPT_VALUE, "strip NUM leading components from file names", "NUM", 0},
    {'F', "fuzz", OPT_VALUE, "set the fuzz factor to LINES for inexact matching", "LINES", 0},
    {'l', "ignore-whitespace", OPT_FLAG, "ignore white space changes between patch and input", NULL, 0},
    {'c', "context", OPT_FLAG, "interpret the patch as a context difference", NULL, 0},
    {'e', "ed", OPT_FLAG, "interpret the patch as an ed script (refused)", NULL, 0},
    {'n', "normal", OPT_FLAG, "interpret the patch as a normal difference", NULL, 0},
    {'u', "unified", OPT_FLAG, "interpret the patch as a unified difference", NULL, 0},
    {'N', "forward", OPT_FLAG, "ignore patches that appear to be reversed or already applied", NULL, 0},
    {'R', "reverse", OPT_FLAG, "assume patches were created with old and new files swapped", NULL, 0},
    {'i', "input", OPT_VALUE, "read patch from PATCHFILE instead of stdin", "PATCHFILE", 0},
    {'o', "output", OPT_VALUE, "output patched files to FILE", "FILE", 0},
    {'r', "reject-file", OPT_VALUE, "output rejects to FILE", "FILE", 0},
    {'D', "ifdef", OPT_VALUE, "make merged if-then-else output using NAME", "NAME", 0},
    {0, "merge", OPT_OPTIONAL, "merge using conflict markers instead of creating reject files (refused)", "STYLE", OPT_MERGE},
    {'E', "remove-empty-files", OPT_FLAG, "remove output files that are empty after patching", NULL, 0},
    {'Z', "set-utc", OPT_FLAG, "set times of patched files, assuming diff uses UTC", NULL, 0},
    {'T', "set-time", OPT_FLAG, "likewise, assuming local time", NULL, 0},
    {0, "quoting-style", OPT_VALUE, "output file names using quoting style WORD (accepted, ignored)", "WORD", OPT_QUOTING},
    {'b', "backup", OPT_FLAG, "back up the original contents of each file", NULL, 0},
    {0, "backup-if-mismatch", OPT_FLAG, "back up if the patch does not match exactly", NULL, OPT_MISMATCH},
    {0, "no-backup-if-mismatch", OPT_FLAG, "back up mismatches only if otherwise requested", NULL, OPT_NO_MISMATCH},
    {'V', "version-control", OPT_VALUE, "use STYLE version control: 'simple', 'numbered' or 'existing'", "STYLE", 0},
    {'B', "prefix", OPT_VALUE, "prepend PREFIX to backup file names", "PREFIX", 0},
    {'Y', "basename-prefix", OPT_VALUE, "prepend PREFIX to backup file basenames", "PREFIX", 0},
    {'z', "suffix", OPT_VALUE, "append SUFFIX to backup file names", "SUFFIX", 0},
    {'g', "get", OPT_VALUE, "get files from RCS etc. if positive (only 0 is taken)", "NUM", 0},
    {'t', "batch", OPT_FLAG, "ask no questions; skip bad-Prereq patches; assume reversed", NULL, 0},
    {'f', "force", OPT_FLAG, "like -t, but ignore bad-Prereq patches, and assume unreversed", NULL, 0},
    {'s', "quiet", OPT_FLAG, "work silently unless an error occurs", NULL, 0},
    {'s', "silent", OPT_FLAG, NULL, NULL, 0},
    {0, "verbose", OPT_FLAG, "output extra information about the work being done", NULL, OPT_VERBOSE},
    {0, "dry-run", OPT_FLAG, "do not actually change any files; just print what would happen", NULL, OPT_DRY_RUN},
    {0, "posix", OPT_FLAG, "conform to the POSIX standard", NULL, OPT_POSIX},
    {'d', "directory", OPT_VALUE, "change the working directory to DIR first", "DIR", 0},
    {0, "reject-format", OPT_VALUE, "create 'context' or 'unified' rejects", "FORMAT", OPT_REJECT_FORMAT},
    {0, "follow-symlinks", OPT_FLAG, "follow symbolic links of files to patch", NULL, OPT_FOLLOW},
    {0, "binary", OPT_FLAG, "read and write data in binary mode", NULL, OPT_BINARY},
    {0, "read-only", OPT_VALUE, "how to handle read-only input files: 'ignore', 'warn' or 'fail'", "BEHAVIOR", OPT_READ_ONLY},
    OPTIONS_END,
};

enum { TROUBLE = 2 };

void patch_say(Patch *t, const char *format, ...)
{
    va_list list;
    Buf text;
    char some[512];
    va_start(list, format);
    int n = vsnprintf(some, sizeof some, format, list);
    va_end(list);
    if (n < (int)sizeof some) {
        out_write(t->messages, slice(some, (size_t)MAX(n, 0)));
        return;
    }
    buf_init(&text, &t->p->mem, BUF_MAX);
    buf_reserve(&text, (size_t)n + 1);
    va_start(list, format);
    vsnprintf(text.data, (size_t)n + 1, format, list);
    va_end(list);
    out_write(t->messages, slice(text.data, (size_t)n));
}

void patch_fatal(Patch *t, const char *format, ...)
{
    char text[1024];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    output_flush(t->messages);
    out_printf(t->p->err, "%s: **** %s", t->p->name, text);
    output_flush(t->p->err);
    proc_fail(t->p, TROUBLE);
}

void patch_malformed(Patch *t)
{
    patch_fatal(t, "malformed patch at line %lld: %.*s\n", (long long)t->line_number, (int)MIN(t->line.len, 900), t->line.data);
}

void patch_ask(Patch *t, const char *question) { patch_say(t, "%s\n", question); }

bool patch_may_reverse(Patch *t, const char *what)
{
    if (t->forward || !(t->force && t->loud == LOUD_SILENT))
        patch_say(t, "%s", what);
    if (t->forward) {
        patch_say(t, "  Skipping patch.\n");
        t->skip = true;
        return false;
    }
    if (t->force) {
        if (t->loud != LOUD_SILENT)
            patch_say(t, "  Applying it anyway.\n");
        return false;
    }
    if (t->batch) {
        patch_say(t, t->reverse ? "  Ignoring -R.\n" : "  Assuming -R.\n");
        return true;
    }
    patch_ask(t, t->reverse ? "  Ignore -R? [n] " : "  Assume -R? [n] ");
    patch_ask(t, "Apply anyway? [n] ");
    if (t->loud != LOUD_SILENT)
        patch_say(t, "Skipping patch.\n");
    t->skip = true;
    return false;
}

/* --- one patch --- */

typedef struct {
    const char *output;
    int hunks, failed;
    bool mismatch, anyway;
} Run;

static void announce(Patch *t, const Run *r)
{
    if (t->loud == LOUD_SILENT)
        return;
    bool renamed = strcmp(t->name, r->output) != 0;
    patch_say(t, "%s %s %s%c", t->dry_run ? "checking" : "patching", S_ISLNK(t->stat.mode) ? "symbolic link" : "file", quote_if_needed(t->p, r->output), renamed ? ' ' : '\n');
    if (renamed)
        patch_say(t, "(%s from %s)\n", t->copies ? "copied" : t->renames ? "renamed" : "read", t->name);
    if (t->loud == LOUD_VERBOSE)
        patch_say(t, "Using Plan A...\n");
}

/* The first hunk does not fit: would it, the other way round? */
static int64_t try_swapped(Patch *t, PatchHunk *h, Run *r, int64_t *fuzz)
{
    patch_swap(h);
    int64_t where = patch_locate(t, h, *fuzz);
    if (where && patch_may_reverse(t, t->reverse ? "Unreversed patch detected!" : "Reversed (or previously applied) patch detected!")) {
        t->reverse = !t->reverse;
        return where;
    }
    patch_swap(h);
    if (where) {
        r->anyway = true;
        t->in_offset = 0;
        --*fuzz;
    }
    return 0;
}

static int64_t find_place(Patch *t, PatchHunk *h, Run *r, int64_t *fuzz)
{
    int64_t where, most = MIN(t->fuzz_most, MAX(h->prefix, h->suffix));
    do {
        where = patch_locate(t, h, *fuzz);
        r->mismatch |= !where || *fuzz || t->in_offset;
        if (r->hunks == 1 && !where && !(t->force || r->anyway) && t->reverse == t->reverse_asked)
            where = try_swapped(t, h, r, fuzz);
    } while (!t->skip && !where && ++*fuzz <= most);
    return where;
}

static void one_hunk(Patch *t, PatchHunk *h, Run *r)
{
    int64_t where = 0, fuzz = 0;
    r->hunks++;
    if (!t->skip)
        where = find_place(t, h, r, &fuzz);
    int64_t shown = (where ? where : h->side[0].first) + t->out_offset;
    bool creating_full = where == 1 && t->absent[t->reverse] == 2 && t->stat.size > 0;
    if (t->skip || creating_full || !where || !patch_apply(t, h, where)) {
        patch_reject(t, h, r->failed == 0);
        r->failed++;
        if (t->loud == LOUD_VERBOSE || (!t->skip && t->loud != LOUD_SILENT))
            patch_say(t, "Hunk #%d %s at %lld%s.\n", r->hunks, t->skip ? "ignored" : "FAILED", (long long)shown,
                      !t->skip && patch_other_endings(t, h, shown) ? " (different line endings)" : "");
    } else if (t->loud == LOUD_VERBOSE || (t->loud != LOUD_SILENT && (fuzz || t->in_offset))) {
        patch_say(t, "Hunk #%d succeeded at %lld", r->hunks, (long long)shown);
        if (fuzz)
            patch_say(t, " with fuzz %lld", (long long)fuzz);
        if (t->in_offset)
            patch_say(t, " (offset %lld line%s)", (long long)t->in_offset, t->in_offset == 1 ? "" : "s");
        patch_say(t, ".\n");
    }
}

/* -T and -Z: whether the patched file gets the time behind its new name, which it does when the old one had its own, and all fitted. */
static bool new_time(Patch *t, const Run *r, VTime *time)
{
    int64_t old;
    uint32_t old_ns;
    *time = (VTime){.how = VTIME_SET};
    if (t->set_times == TIMES_NOW || !patch_stamp(t, t->stamps[!t->reverse], &time->seconds, &time->nanosecond))
        return false;
    bool checked = !t->force && !t->name_error && t->absent[t->reverse] != 2 && patch_stamp(t, t->stamps[t->reverse], &old, &old_ns);
    const char *trouble = NULL;
    if (checked && (old != t->stat.mtime || old_ns != t->stat.mtime_ns))
        trouble = "time";
    else if (!t->force && (r->mismatch || r->failed))
        trouble = "contents";
    if (trouble)
        patch_say(t, "Not setting time of file %s (%s mismatch)\n", quote_if_needed(t->p, r->output), trouble);
    return !trouble;
}

static void keep_result(Patch *t, Run *r)
{
    bool backup = t->backups || (t->mismatch_backups && (r->mismatch || r->failed));
    if (t->out.len == 0 && (t->remove_empty || (t->absent[!t->reverse] == 2 && !t->posix) || S_ISLNK(t->stat.mode))) {
        if (!t->dry_run)
            patch_remove(t, r->output, backup);
        return;
    }
    if (t->out.len && t->absent[!t->reverse] == 2 && (t->remove_empty || !t->posix)) {
        r->mismatch = t->any_failed = true;
        if (t->loud != LOUD_SILENT)
            patch_say(t, "Not deleting file %s as content differs from patch\n", quote_if_needed(t->p, r->output));
    }
    if (t->dry_run)
        return;
    uint32_t mode = t->modes[!t->reverse];
    if (mode == 0)
        mode = t->stat.mode;
    bool set_mode = t->modes[0] != t->modes[1];
    if (r->failed < r->hunks || set_mode || t->copies || t->renames) {
        if (t->renames && backup)
            patch_backup(t, t->name);
        VTime time;
        bool timed = new_time(t, r, &time);
        patch_save(t, r->output, set_mode || t->name_error ? mode : t->stat.mode, backup);
        if (timed)
            proc_utimes(t->p, r->output, V_NOFOLLOW, time, time);
        if (t->renames && strcmp(t->name, r->output) != 0 && !backup)
            patch_remove(t, t->name, false);
    } else if (backup) {
        patch_backup(t, r->output);
        patch_write_file(t, r->output, t->file, t->stat.mode & 0777, false);
        proc_chmod(t->p, r->output, 0, t->stat.mode & 0777);
    }
}

static void keep_rejects(Patch *t, const Run *r)
{
    if (!r->failed)
        return;
    t->any_failed = true;
    patch_say(t, "%d out of %d hunk%s %s", r->failed, r->hunks, r->hunks == 1 ? "" : "s", t->skip ? "ignored" : "FAILED");
    if (!r->output || (t->rejects && strcmp(t->rejects, "-") == 0) || t->dry_run) {
        patch_say(t, "\n");
        return;
    }
    const char *to = t->rejects ? t->rejects : patch_reject_name(t, r->output);
    patch_say(t, " -- saving rejects to file %s\n", quote_if_needed(t->p, to));
    bool again = t->rejects ? t->rejects_begun : map_get(&t->written, slice_str(to)) != NULL;
    patch_write_file(t, to, buf_slice(&t->reject), 0666, again);
    map_put(&t->written, slice_str(to));
    t->rejects_begun = true;
}

/* False: the file cannot be patched. */
static bool may_patch(Patch *t)
{
    if (!t->name_error && !S_ISREG(t->stat.mode) && !S_ISLNK(t->stat.mode)) {
        patch_say(t, "File %s is not a regular file -- refusing to patch\n", quote_if_needed(t->p, t->name));
        return false;
    }
    if (!t->name_error && S_ISLNK(t->stat.mode) && !(S_ISLNK(t->modes[0]) || S_ISLNK(t->modes[1]))) {
        patch_say(t, "File %s is not a regular file -- refusing to patch\n", quote_if_needed(t->p, t->name));
        return false;
    }
    if (t->read_only != READ_ONLY_IGNORE && !t->name_error && proc_access(t->p, t->name, 2) != 0) {
        patch_say(t, "File %s is read-only; %s\n", quote_if_needed(t->p, t->name), t->read_only == READ_ONLY_WARN ? "trying to patch anyway" : "refusing to patch");
        return t->read_only == READ_ONLY_WARN;
    }
    if (t->form == FORM_GIT_BINARY) {
        patch_say(t, "File %s: git binary diffs are not supported.\n", quote_if_needed(t->p, t->name));
        return false;
    }
    return true;
}

static void one_patch(Patch *t)
{
    Run r = {.output = NULL};
    if (t->name && !t->skip)
        r.output = t->output ? t->output : t->renames || t->copies ? t->names[!t->reverse] : t->name;
    if (!t->skip && !may_patch(t))
        t->skip = t->any_failed = true;
    if (t->skip)
        t->name_error = -ENOENT;
    patch_load(t);
    if (!t->skip)
        announce(t, &r);
    t->resume = t->at;
    t->resume_line = t->line_number;
    PatchHunk h;
    while (patch_hunk(t, &h)) {
        one_hunk(t, &h, &r);
        proc_tick(t->p, 1);
    }
    if (!t->skip) {
        if (t->name_error && r.failed && r.failed == r.hunks)
            patch_fatal(t, "Can't reopen file %s : %s\n", quote_if_needed(t->p, t->name), error_text(-t->name_error));
        patch_finish(t);
        if (t->output)
            buf_append(&t->whole_output, buf_slice(&t->out));
        else
            keep_result(t, &r);
    }
    keep_rejects(t, &r);
}

/* --- options --- */

static int64_t number(Patch *t, const char *text, const char *what)
{
    int64_t n;
    if (parse_int(text, &n) || n < 0)
        patch_fatal(t, "%s %s is not a number\n", what, text);
    return n;
}

static void set_versions(Patch *t, const char *word)
{
    static const Choice words[] = {{"none", 1}, {"off", 1}, {"simple", VERSIONS_SIMPLE}, {"never", VERSIONS_SIMPLE}, {"existing", VERSIONS_EXISTING}, {"nil", VERSIONS_EXISTING},
                                   {"numbered", VERSIONS_NUMBERED}, {"t", VERSIONS_NUMBERED}, {NULL, 0}};
    t->versions = (Versions)choose(t->p, t->args, "version control style", word, words);
}

static void set_value(Patch *t, int id, const char *value)
{
    switch (id) {
    case 'p': t->strip = number(t, value, "strip count"); break;
    case 'F': t->fuzz_most = number(t, value, "fuzz factor"); break;
    case 'i': t->patch_name = value; break;
    case 'o': t->output = value; break;
    case 'r': t->rejects = value; break;
    case 'D': t->define = value; break;
    case 'V': set_versions(t, value); break;
    case 'B': t->prefix = value; t->versions = VERSIONS_SIMPLE; break;
    case 'Y': t->base_prefix = value; t->versions = VERSIONS_SIMPLE; break;
    case 'z': t->suffix = value; t->versions = VERSIONS_SIMPLE; break;
    case 'd': {
        int err = proc_chdir(t->p, value);
        if (err)
            patch_fatal(t, "Can't change to directory %s : %s\n", quote_if_needed(t->p, value), error_text(-err));
        break;
    }
    case 'g':
        if (number(t, value, "get option value") != 0)
            patch_fatal(t, "there is no version control to get files from\n");
        break;
    case OPT_REJECT_FORMAT:
        t->context_rejects = strcmp(value, "context") == 0;
        t->unified_rejects = strcmp(value, "unified") == 0;
        if (!t->context_rejects && !t->unified_rejects)
            usage_hint(t->p, t->args);
        break;
    case OPT_READ_ONLY:
        t->read_only = !strcmp(value, "ignore") ? READ_ONLY_IGNORE : !strcmp(value, "fail") ? READ_ONLY_FAIL : READ_ONLY_WARN;
        if (t->read_only == READ_ONLY_WARN && strcmp(value, "warn") != 0)
            usage_hint(t->p, t->args);
        break;
    default: break;
    }
}

static void set_option(Patch *t, int id, const char *value)
{
    switch (id) {
    case 'l': t->loose_space = true; break;
    case 'c': t->form_asked = FORM_CONTEXT; break;
    case 'e': t->form_asked = FORM_ED; break;
    case 'n': t->form_asked = FORM_NORMAL; break;
    case 'u': t->form_asked = FORM_UNIFIED; break;
    case 'N': t->forward = true; break;
    case 'R': t->reverse_asked = true; break;
    case 'E': t->remove_empty = true; break;
    case 'b': t->backups = true; break;
    case OPT_MISMATCH:
    case OPT_NO_MISMATCH: t->mismatch_backups = id == OPT_MISMATCH; break;
    case 't': t->batch = true; break;
    case 'f': t->force = true; break;
    case 's': t->loud = LOUD_SILENT; break;
    case OPT_VERBOSE: t->loud = LOUD_VERBOSE; break;
    case OPT_DRY_RUN: t->dry_run = true; break;
    case OPT_POSIX: t->posix = true; break;
    case OPT_FOLLOW: t->follow = true; break;
    case OPT_BINARY: t->keep_cr = true; break;
    case OPT_MERGE: patch_fatal(t, "merging is not supported\n");
    case 'T': t->set_times = TIMES_LOCAL; break;
    case 'Z': t->set_times = TIMES_UTC; break;
    default: set_value(t, id, value); break;
    }
}

static void read_options(Patch *t)
{
    for (int id; (id = args_next(t->p, t->args)) >= 0;)
        set_option(t, id, t->args->value);
    int count;
    char **names = args_operands(t->args, &count);
    if (count > 2) {
        warn(t->p, "%s: extra operand", names[2]);
        usage_hint(t->p, t->args);
    }
    if (count > 0)
        t->input_name = names[0];
    if (count > 1)
        t->patch_name = names[1];
}

static void read_patch(Patch *t)
{
    if (!t->patch_name || strcmp(t->patch_name, "-") == 0) {
        t->text = read_all(t->p, 0);
        return;
    }
    int err = read_file(t->p, t->patch_name, &t->text);
    if (err)
        patch_fatal(t, "Can't open patch file %s : %s\n", quote_if_needed(t->p, t->patch_name), error_text(-err));
}

static int patch_main(Proc *p, Args *args)
{
    Patch *t = mem_new(&p->keep, Patch);
    *t = (Patch){.p = p, .args = args, .messages = p->out, .strip = -1, .fuzz_most = 2, .first = true, .mismatch_backups = !proc_getenv(p, "POSIXLY_CORRECT")};
    buf_init(&t->out, &p->keep, BUF_MAX);
    buf_init(&t->reject, &p->keep, BUF_MAX);
    buf_init(&t->farewell, &p->keep, BUF_MAX);
    buf_init(&t->whole_output, &p->keep, BUF_MAX);
    map_init(&t->written, &p->keep);
    map_init(&t->reported, &p->keep);
    const char *style = proc_getenv(p, "PATCH_VERSION_CONTROL");
    if (!style)
        style = proc_getenv(p, "VERSION_CONTROL");
    if (style && *style)
        set_versions(t, style);
    read_options(t);
    if (t->output && strcmp(t->output, "-") == 0)
        t->messages = p->err;
    read_patch(t);
    MemMark mark = mem_mark(&p->mem);
    for (; patch_next(t); t->first = false) {
        one_patch(t);
        mem_reset(&p->mem, mark);
    }
    if (t->output && strcmp(t->output, "-") == 0)
        out_write(p->out, buf_slice(&t->whole_output));
    else if (t->output && !t->dry_run)
        patch_write_file(t, t->output, buf_slice(&t->whole_output), 0666, false);
    out_write(t->messages, buf_slice(&t->farewell));
    output_flush(t->messages);
    int written = output_status(p);
    return written ? TROUBLE : t->any_failed;
}

COMMAND(patch, "patch [OPTION]... [ORIGFILE [PATCHFILE]]", "Apply a diff file to originals.", options, COMMAND_WRITES | COMMAND_NAMED_HINT, .usage_status = 2,
        .package = "GNU patch 2.7.6", .notes = "Questions are answered as where there is no terminal.  Ed scripts, --merge and -g are refused.");

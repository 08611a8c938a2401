/* diff3: compare three files line by line. GNU diffutils 3.8.
 *
 * One file is the common one: the old file where something is merged, else the third. The other two are each compared with it; changes that
 * touch in the common file are one block, and a block tells which of the three differs there.
 */
#include "diff.h"

static const Option options[] = {
    OPTION_VERSION('v'),
    {'A', "show-all", OPT_FLAG, "output all changes, bracketing conflicts", NULL, 0},
    {'e', "ed", OPT_FLAG, "output ed script incorporating changes from OLDFILE to YOURFILE into MYFILE", NULL, 0},
    {'E', "show-overlap", OPT_FLAG, "like -e, but bracket conflicts", NULL, 0},
    {'3', "easy-only", OPT_FLAG, "like -e, but incorporate only nonoverlapping changes", NULL, 0},
    {'x', "overlap-only", OPT_FLAG, "like -e, but incorporate only overlapping changes", NULL, 0},
    {'X', NULL, OPT_FLAG, "like -x, but bracket conflicts", NULL, 0},
    {'i', NULL, OPT_FLAG, "append 'w' and 'q' commands to ed scripts", NULL, 0},
    {'m', "merge", OPT_FLAG, "output actual merged file, according to -A if no other options are given", NULL, 0},
    {'a', "text", OPT_FLAG, "treat all files as text", NULL, 0},
    {0, "strip-trailing-cr", OPT_FLAG, "strip trailing carriage return on input", NULL, 256},
    {'T', "initial-tab", OPT_FLAG, "make tabs line up by prepending a tab", NULL, 0},
    {0, "diff-program", OPT_VALUE, "use PROGRAM to compare files (refused: no other is started)", "PROGRAM", 257},
    {'L', "label", OPT_VALUE, "use LABEL instead of file name (can be repeated up to three times)", "LABEL", 0},
    OPTIONS_END,
};

enum { TROUBLE = 2, FIRST = 0, SECOND = 1, COMMON = 2, ALL = 3 };

typedef struct { size_t first, past; } Range;

/* A change between a file and the common one, in both's lines. */
typedef struct { Range own, common; } Piece;
typedef struct { Piece *pieces; size_t count, next; } Thread;

typedef struct Block {
    struct Block *next, *before;
    Range range[3]; /* of FIRST, SECOND and COMMON */
    int odd;        /* which of them differs from the others, or ALL */
} Block;

typedef struct {
    Proc *p;
    Diff *d;
    FileSide sides[2][2];    /* of each comparison: the file and the common one */
    const FileSide *file[3]; /* FIRST, SECOND, COMMON */
    int mapping[3];          /* MYFILE, OLDFILE, YOURFILE to these, and back: it is its own inverse */
    const char *labels[3];
    int label_count, kinds;
    bool second_too, flagging, overlap_only, simple_only, final_write, merge, script, tab;
} Diff3;

static Slice line_of(const Diff3 *t, int which, size_t number)
{
    const FileSide *s = t->file[which];
    size_t from = s->starts[number], to = s->starts[number + 1];
    if (s->missing_newline && number + 1 == s->count && !t->script)
        to--;
    return slice(s->text.data + from, to - from);
}

static size_t lines_in(const Block *b, int which) { return b->range[which].past - b->range[which].first; }

/* --- the blocks --- */

static void note_incomplete(Diff3 *t, const Change *c, const FileSide *sides)
{
    for (int f = 0; f < 2 && t->script; f++)
        if (sides[f].missing_newline && c->count[f] && c->line[f] + c->count[f] == sides[f].count)
            warn(t->p, "No newline at end of file");
}

/* diff reads nothing of a file that it compares with itself; standard input, from its beginning, may be that file. */
static bool is_stdin_itself(Diff3 *t, const char *name)
{
    VStat in, st;
    return strcmp(name, "-") != 0 && proc_fstat(t->p, 0, &in) == 0 && proc_stat(t->p, name, 0, &st) == 0 && S_ISREG(in.mode) && in.ino == st.ino && in.dev == st.dev
           && proc_seek(t->p, 0, 0, SEEK_CUR) == 0;
}

static Thread compare(Diff3 *t, int which, const char *own, const char *common)
{
    FileSide *s = t->sides[which];
    const char *names[2] = {own, common};
    for (int f = 0; f < 2; f++)
        if (strcmp(names[f], "-") == 0 && is_stdin_itself(t, names[1 - f]))
            names[f] = names[1 - f];
    for (int f = 0; f < 2; f++)
        s[f] = (FileSide){.name = names[f], .state = strcmp(names[f], "-") == 0 ? SIDE_STDIN : SIDE_OPEN};
    int kind = diff_read(t->d, s);
    if (kind < 0)
        proc_fail(t->p, TROUBLE);
    if (kind == 1) {
        if (!slice_eq(s[0].text, s[1].text))
            die(t->p, TROUBLE, "diff failed: Binary files %s and %s differ", own, common);
        t->d->text = true; /* equal: their lines are still to be printed */
        if (diff_read(t->d, s) < 0)
            proc_fail(t->p, TROUBLE);
        t->d->text = false;
    }
    Thread out = {NULL, 0, 0};
    Change *script = diff_changes(t->d, false);
    for (Change *c = script; c; c = c->next)
        out.count++;
    out.pieces = mem_array(&t->p->mem, out.count + 1, Piece);
    size_t n = 0;
    for (Change *c = script; c; c = c->next) {
        note_incomplete(t, c, s);
        out.pieces[n++] = (Piece){{c->line[0], c->line[0] + c->count[0]}, {c->line[1], c->line[1] + c->count[1]}};
    }
    return out;
}

static bool same_lines(const Diff3 *t, Range a, Range b)
{
    if (a.past - a.first != b.past - b.first)
        return false;
    for (size_t i = 0; i < a.past - a.first; i++)
        if (!slice_eq(line_of(t, FIRST, a.first + i), line_of(t, SECOND, b.first + i)))
            return false;
    return true;
}

/* The pieces [from, next) of each thread as one block that reaches over `common`. */
static Block *make_block(Diff3 *t, const Thread threads[2], const size_t from[2], Range common, const Block *last)
{
    Block *b = mem_new(&t->p->mem, Block);
    bool used[2];
    b->range[COMMON] = common;
    for (int f = 0; f < 2; f++) {
        used[f] = threads[f].next > from[f];
        if (used[f]) {
            const Piece *first = &threads[f].pieces[from[f]], *end = &threads[f].pieces[threads[f].next - 1];
            b->range[f] = (Range){first->own.first - (first->common.first - common.first), end->own.past + (common.past - end->common.past)};
        } else {
            size_t before = last ? last->range[f].past : 0, common_before = last ? last->range[COMMON].past : 0;
            b->range[f] = (Range){before + (common.first - common_before), before + (common.past - common_before)};
        }
    }
    b->odd = !used[0] ? SECOND : !used[1] ? FIRST : same_lines(t, b->range[0], b->range[1]) ? COMMON : ALL;
    return b;
}

static Block *make_blocks(Diff3 *t, Thread threads[2], Block **last)
{
    Block *head = NULL;
    *last = NULL;
    while (threads[0].next < threads[0].count || threads[1].next < threads[1].count) {
        size_t from[2] = {threads[0].next, threads[1].next};
        const Piece *next[2];
        for (int f = 0; f < 2; f++)
            next[f] = from[f] < threads[f].count ? &threads[f].pieces[from[f]] : NULL;
        int high = !next[0] ? 1 : !next[1] ? 0 : next[0]->common.first > next[1]->common.first;
        Range common = next[high]->common;
        threads[high].next++;
        for (Thread *other = &threads[!high]; other->next < other->count && other->pieces[other->next].common.first <= common.past; other = &threads[!high]) {
            const Piece *piece = &other->pieces[other->next++];
            if (piece->common.past > common.past) {
                common.past = piece->common.past;
                high = !high;
            }
        }
        Block *b = make_block(t, threads, from, common, *last);
        b->before = *last;
        *(*last ? &(*last)->next : &head) = b;
        *last = b;
        proc_tick(t->p, 1);
    }
    return head;
}

/* --- output --- */

static void put_lines(Diff3 *t, const Block *b, int which, const char *prefix)
{
    for (size_t i = b->range[which].first; i < b->range[which].past; i++) {
        out_str(t->p->out, prefix);
        out_write(t->p->out, line_of(t, which, i));
    }
}

static void print_plain(Diff3 *t, const Block *b)
{
    Output *o = t->p->out;
    int odd = b->odd == ALL ? ALL : t->mapping[b->odd], silent = odd == ALL ? ALL : odd == 0;
    out_str(o, "====");
    if (odd != ALL)
        out_char(o, (char)('1' + odd));
    out_char(o, '\n');
    static const int in_order[] = {0, 1, 2}, pair_first[] = {0, 2, 1};
    for (int k = 0; k < 3; k++) {
        int i = (odd == 1 ? pair_first : in_order)[k], which = t->mapping[i];
        Range r = b->range[which];
        if (r.first == r.past)
            out_printf(o, "%d:%zua\n", i + 1, r.past);
        else if (r.first + 1 == r.past)
            out_printf(o, "%d:%zuc\n", i + 1, r.past);
        else
            out_printf(o, "%d:%zu,%zuc\n", i + 1, r.first + 1, r.past);
        if (i == silent || r.first == r.past)
            continue;
        put_lines(t, b, which, t->tab ? "\t" : "  ");
        Slice last = line_of(t, which, r.past - 1);
        if (last.data[last.len - 1] != '\n')
            out_str(o, "\n\\ No newline at end of file\n");
    }
}

/* False: nothing is done about the block. */
static bool wanted(const Diff3 *t, const Block *b, int *type, bool *conflict)
{
    *type = b->odd == ALL ? ALL : t->mapping[b->odd];
    *conflict = *type == 1 || (*type == ALL && t->flagging);
    return *type == ALL ? !t->simple_only : *type == 2 ? !t->overlap_only : *type == 1 && t->second_too;
}

/* A line that begins with a dot gets one more; true when there was such a line. */
static bool dot_lines(Diff3 *t, const Block *b, int which)
{
    bool any = false;
    for (size_t i = b->range[which].first; i < b->range[which].past; i++) {
        Slice line = line_of(t, which, i);
        bool dot = line.len && line.data[0] == '.';
        any |= dot;
        if (dot)
            out_char(t->p->out, '.');
        out_write(t->p->out, line);
    }
    return any;
}

static void end_lines(Diff3 *t, bool dots, size_t start, size_t count)
{
    out_str(t->p->out, ".\n");
    if (dots && count == 1)
        out_printf(t->p->out, "%zus/^\\.//\n", start);
    else if (dots)
        out_printf(t->p->out, "%zu,%zus/^\\.//\n", start, start + count - 1);
}

static void script_conflict(Diff3 *t, const Block *b, int type)
{
    Output *o = t->p->out;
    Range mine = b->range[t->mapping[0]];
    size_t old = lines_in(b, t->mapping[1]), yours = lines_in(b, t->mapping[2]);
    bool dots = false;
    out_printf(o, "%zua\n", mine.past);
    if (type == ALL) {
        if (t->second_too) {
            out_printf(o, "||||||| %s\n", t->labels[1]);
            dots = dot_lines(t, b, t->mapping[1]);
        }
        out_str(o, "=======\n");
        dots |= dot_lines(t, b, t->mapping[2]);
    }
    out_printf(o, ">>>>>>> %s\n", t->labels[2]);
    end_lines(t, dots, mine.past + 2, old + yours + 1);
    out_printf(o, "%zua\n<<<<<<< %s\n", mine.first, t->labels[type == ALL ? 0 : 1]);
    dots = false;
    if (type == 1) {
        dots = dot_lines(t, b, t->mapping[1]);
        out_str(o, "=======\n");
    }
    end_lines(t, dots, mine.first + 2, old);
}

static bool print_script(Diff3 *t, const Block *last)
{
    Output *o = t->p->out;
    bool conflicts = false;
    for (const Block *b = last; b; b = b->before) {
        int type;
        bool conflict;
        if (!wanted(t, b, &type, &conflict))
            continue;
        Range mine = b->range[t->mapping[0]];
        size_t yours = lines_in(b, t->mapping[2]);
        conflicts |= conflict;
        if (conflict) {
            script_conflict(t, b, type);
            continue;
        }
        if (mine.past <= mine.first + 1)
            out_printf(o, "%zu", mine.past);
        else
            out_printf(o, "%zu,%zu", mine.first + 1, mine.past);
        out_str(o, yours == 0 ? "d\n" : mine.past == mine.first ? "a\n" : "c\n");
        if (yours)
            end_lines(t, dot_lines(t, b, t->mapping[2]), mine.first + 1, yours);
    }
    if (t->final_write)
        out_str(o, "w\nq\n");
    return conflicts;
}

static void copy_mine(Diff3 *t, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        out_write(t->p->out, line_of(t, FIRST, i));
}

static bool print_merged(Diff3 *t, const Block *first)
{
    Output *o = t->p->out;
    size_t at = 0;
    bool conflicts = false;
    for (const Block *b = first; b; b = b->next) {
        int type;
        bool conflict;
        if (!wanted(t, b, &type, &conflict))
            continue;
        copy_mine(t, at, b->range[FIRST].first);
        at = b->range[FIRST].past;
        conflicts |= conflict;
        if (conflict) {
            if (type == ALL) {
                out_printf(o, "<<<<<<< %s\n", t->labels[0]);
                put_lines(t, b, FIRST, "");
            }
            if (t->second_too) {
                out_printf(o, type == ALL ? "||||||| %s\n" : "<<<<<<< %s\n", t->labels[1]);
                put_lines(t, b, t->mapping[1], "");
            }
            out_str(o, "=======\n");
        }
        put_lines(t, b, t->mapping[2], "");
        if (conflict)
            out_printf(o, ">>>>>>> %s\n", t->labels[2]);
    }
    copy_mine(t, at, t->file[FIRST]->count);
    return conflicts;
}

/* --- options --- */

static void set_option(Diff3 *t, Args *args, int id)
{
    t->kinds += strchr("AeE3xX", id) != NULL && id < 256;
    switch (id) {
    case 'A': t->second_too = t->flagging = true; break;
    case 'E': t->flagging = true; break;
    case '3': t->simple_only = true; break;
    case 'x':
    case 'X': t->overlap_only = true; break;
    case 'i': t->final_write = true; break;
    case 'm': t->merge = true; break;
    case 'a': t->d->text = true; break;
    case 'T': t->tab = true; break;
    case 'L':
        if (t->label_count == 3)
            usage_fail(t->p, args, "too many file label options");
        t->labels[t->label_count++] = args->value;
        break;
    case 256: t->d->strip_cr = true; break;
    case 257: die(t->p, TROUBLE, "no other program is started to compare files");
    default: break;
    }
}

static void check_files(Diff3 *t, char **names)
{
    for (int i = 0; i < 3; i++) {
        VStat st;
        int err = strcmp(names[i], "-") ? proc_stat(t->p, names[i], 0, &st) : 0;
        if (!err && strcmp(names[i], "-") != 0 && S_ISDIR(st.mode))
            err = -EISDIR;
        if (err)
            die_errno(t->p, TROUBLE, err, "%s", names[i]);
    }
}

static void choose_common(Diff3 *t, char **names)
{
    int common = t->script || t->merge ? 1 : 2;
    if (strcmp(names[common], "-") == 0) { /* it is read twice, which standard input is not */
        common = 3 - common;
        if (strcmp(names[0], "-") == 0 || strcmp(names[common], "-") == 0)
            die(t->p, TROUBLE, "'-' specified for more than one input file");
    }
    t->mapping[0] = FIRST;
    t->mapping[common] = COMMON;
    t->mapping[3 - common] = SECOND;
}

static int diff3_main(Proc *p, Args *args)
{
    Diff3 *t = mem_new(&p->keep, Diff3);
    *t = (Diff3){.p = p, .d = mem_new(&p->keep, Diff)};
    *t->d = (Diff){.p = p, .style = STYLE_NORMAL, .horizon = 100, .tab = 8, .env = proc_re_env(p)};
    for (int id; (id = args_next(p, args)) >= 0;)
        set_option(t, args, id);
    t->script = t->kinds && !t->merge;
    if (!t->kinds && t->merge)
        t->second_too = t->flagging = true;
    int count;
    char **names = args_operands(args, &count);
    if (t->kinds > 1 || (t->final_write && t->merge) || (t->label_count && !t->flagging))
        usage_fail(p, args, "incompatible options");
    if (count < 3)
        usage_fail(p, args, "missing operand after '%s'", args->argv[args->argc - 1]);
    if (count > 3)
        usage_fail(p, args, "extra operand '%s'", names[3]);
    for (int i = t->label_count; i < 3; i++)
        t->labels[i] = names[i];
    choose_common(t, names);
    check_files(t, names);
    const char *common = names[t->mapping[COMMON]];
    Thread threads[2];
    for (int f = 1; f >= 0; f--) {
        threads[f] = compare(t, f, names[t->mapping[f]], common);
        t->file[f] = &t->sides[f][0];
    }
    t->file[COMMON] = &t->sides[0][1];
    Block *last, *first = make_blocks(t, threads, &last);
    bool conflicts = false;
    VStat st;
    int err = t->merge && strcmp(names[0], "-") == 0 ? proc_stat(p, names[0], 0, &st) : 0;
    if (err) /* what is merged into is opened by its name once more */
        die_errno(p, TROUBLE, err, "failed to reopen %s with mode %s", quote(p, names[0]), quote(p, "r"));
    if (t->script)
        conflicts = print_script(t, last);
    else if (t->merge)
        conflicts = print_merged(t, first);
    else
        for (const Block *b = first; b; b = b->next)
            print_plain(t, b);
    return output_status(p) ? TROUBLE : conflicts;
}

COMMAND(diff3, "diff3 [OPTION]... MYFILE OLDFILE YOURFILE", "Compare three files line by line.", options, COMMAND_PURE | COMMAND_NAMED_HINT, .usage_status = 2,
        .package = "GNU diffutils 3.8",
        .notes = "If a FILE is '-', read standard input.\nExit status is 0 if successful, 1 if conflicts, 2 if trouble.");

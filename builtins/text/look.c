/* look: display lines beginning with a specified string. util-linux 2.38. The files are sorted: the first match is found by halving. */
#include "command.h"

static const Option options[] = {
    {'a', "alternative", OPT_FLAG, "use the alternative dictionary", NULL, 0},
    {'d', "alphanum", OPT_FLAG, "compare only blanks and alphanumeric characters", NULL, 0},
    {'f', "ignore-case", OPT_FLAG, "ignore case differences when comparing", NULL, 0},
    {'t', "terminate", OPT_VALUE, "define the string-termination character", "CHAR", 0},
    OPTION_HELP('h'),
    OPTION_VERSION('V'),
    OPTIONS_END,
};

typedef struct { bool letters_only, fold; } Look;

static bool counts(const Look *l, unsigned char c)
{
    return !l->letters_only || c == ' ' || c == '\t' || (c < 128 && class_has(CLASS_ALNUM, c));
}

static int folded(const Look *l, unsigned char c) { return l->fold && c >= 'A' && c <= 'Z' ? c + 32 : c; }

/* The word against the beginning of the line: 0 when the line begins with it. */
static int compare(const Look *l, Slice word, Slice line)
{
    size_t k = 0;
    for (size_t i = 0; i < word.len; i++) {
        while (k < line.len && !counts(l, (unsigned char)line.data[k]))
            k++;
        int a = folded(l, (unsigned char)word.data[i]), b = k < line.len ? folded(l, (unsigned char)line.data[k]) : -1;
        if (a != b)
            return a > b ? 1 : -1;
        k++;
    }
    return 0;
}

static Slice line_at(Slice all, size_t at)
{
    Slice rest = slice_from(all, at);
    rest.len = slice_find(rest, '\n');
    return rest;
}

static size_t line_start(Slice all, size_t at)
{
    while (at && all.data[at - 1] != '\n')
        at--;
    return at;
}

static size_t first_not_before(Proc *p, const Look *l, Slice all, Slice word)
{
    size_t low = 0, high = all.len;
    while (low < high) {
        size_t middle = line_start(all, low + (high - low) / 2);
        Slice line = line_at(all, middle);
        if (compare(l, word, line) > 0)
            low = MIN(middle + line.len + 1, all.len);
        else
            high = middle;
        proc_tick(p, 1);
    }
    return low;
}

static int look_main(Proc *p, Args *args)
{
    Look l = {0};
    int end = -1;
    bool other = false;
    for (int id; (id = args_next(p, args)) != -1;) {
        l.letters_only |= id == 'd';
        l.fold |= id == 'f';
        other |= id == 'a';
        if (id == 't')
            end = (unsigned char)*args->value;
    }
    int n;
    char **v = args_operands(args, &n);
    if (n < 1)
        usage_fail(p, args, "bad usage");
    const char *file = n > 1 ? v[1] : other ? "/usr/share/dict/web2" : "/usr/share/dict/words";
    if (n == 1) /* the dictionary is compared so */
        l.letters_only = l.fold = true;
    Slice all, word = slice_str(v[0]);
    int r = read_file(p, file, &all);
    if (r)
        die_errno(p, 1, r, "%s", file);
    if (end >= 0 && slice_find(word, (char)end) < word.len)
        word.len = slice_find(word, (char)end) + 1;
    Buf kept;
    buf_init(&kept, &p->keep, BUF_MAX);
    buf_append(&kept, (Slice){"", 0});
    for (size_t i = 0; i < word.len; i++)
        if (counts(&l, (unsigned char)word.data[i]))
            buf_char(&kept, word.data[i]);
    word = buf_slice(&kept);
    bool found = false;
    for (size_t at = first_not_before(p, &l, all, word); at < all.len; proc_tick(p, 1)) {
        Slice line = line_at(all, at);
        if (compare(&l, word, line) != 0)
            break;
        found = true;
        out_write(p->out, line);
        out_char(p->out, '\n');
        at += line.len + 1;
    }
    return !found;
}

COMMAND(look, "look [options] <string> [<file>...]", "Display lines beginning with a specified string.", options, COMMAND_PURE, .package = "util-linux 2.38");

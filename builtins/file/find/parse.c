/* parse: find's expression language, by descent: list , or , and , not , primary. */
#include "find.h"

enum { NESTING = 500 };

typedef struct {
    Find *f;
    char **argv;
    int argc, at;
    unsigned depth;
    const char *valued; /* the predicate just parsed, when it took an argument */
} Parser;

static Node *node(Parser *s, NodeKind kind)
{
    Node *n = mem_new(&s->f->p->keep, Node);
    n->kind = kind;
    n->fd = 1;
    n->end = '\n';
    return n;
}

static Node *pair(Parser *s, NodeKind kind, Node *left, Node *right)
{
    Node *n = node(s, kind);
    n->left = left;
    n->right = right;
    return n;
}

static const char *peek(const Parser *s) { return s->at < s->argc ? s->argv[s->at] : NULL; }

static bool is(const char *word, const char *a, const char *b) { return word && (strcmp(word, a) == 0 || (b && strcmp(word, b) == 0)); }

static char *argument(Parser *s, const char *option)
{
    if (s->at >= s->argc)
        die(s->f->p, 1, "missing argument to `%s'", option);
    s->valued = option;
    return s->argv[s->at++];
}

NORETURN static void invalid(Parser *s, const char *option, const char *value) { die(s->f->p, 1, "invalid argument `%s' to `%s'", value, option); }

/* ---------- values ---------- */

static bool decimal(const char *text, double *out)
{
    double v = 0, unit = 1;
    if (!*text)
        return false;
    for (; *text >= '0' && *text <= '9'; text++)
        v = v * 10 + (*text - '0');
    if (*text == '.')
        for (text++; *text >= '0' && *text <= '9'; text++)
            v += (*text - '0') * (unit /= 10);
    *out = v;
    return !*text;
}

static bool parse_bound(const char *text, Bound *b)
{
    b->sign = *text == '+' ? 1 : *text == '-' ? -1 : 0;
    return decimal(text + (b->sign != 0), &b->value);
}

static Node *numeric(Parser *s, NodeKind kind, const char *option)
{
    Node *n = node(s, kind);
    const char *text = argument(s, option);
    if (!parse_bound(text, &n->bound))
        invalid(s, option, text);
    return n;
}

static Node *timed(Parser *s, NodeKind kind, FindTime time, const char *option)
{
    Node *n = numeric(s, kind, option);
    n->time = time;
    n->seconds = s->f->day_origin;
    return n;
}

static Node *size(Parser *s, const char *option)
{
    static const struct { char letter; uint64_t unit; } units[] = {{'b', 512}, {'c', 1}, {'w', 2}, {'k', 1024}, {'M', 1 << 20}, {'G', 1 << 30}};
    Node *n = node(s, TEST_SIZE);
    const char *text = argument(s, option);
    size_t len = strlen(text);
    if (!len)
        die(s->f->p, 1, "invalid null argument to -size");
    char last = text[len - 1];
    n->unit = last >= '0' && last <= '9' ? 512 : 0;
    for (size_t k = 0; k < ARRAY_LEN(units); k++)
        if (units[k].letter == last) {
            n->unit = units[k].unit;
            len--;
        }
    if (!n->unit)
        die(s->f->p, 1, "invalid -size type `%c'", last);
    if (!parse_bound(mem_copy(&s->f->p->mem, slice(text, len)), &n->bound))
        die(s->f->p, 1, "Invalid argument `%s' to -size", text);
    return n;
}

static Node *types(Parser *s, NodeKind kind, const char *option)
{
    static const char letters[] = "pcdbfls"; /* in the order of S_IFMT >> 12: 1 2 4 6 8 10 12 */
    static const unsigned char numbers[] = {1, 2, 4, 6, 8, 10, 12};
    Node *n = node(s, kind);
    const char *text = argument(s, option);
    Proc *p = s->f->p;
    if (!*text)
        die(p, 1, "Arguments to %s should contain at least one letter", option);
    for (const char *at = text; *at; at++) {
        const char *known = *at == 'D' ? NULL : strchr(letters, *at);
        if (!known)
            die(p, 1, "Unknown argument to %s: %c", option, *at);
        uint32_t bit = 1u << numbers[known - letters];
        if (n->mode & bit)
            die(p, 1, "Duplicate file type '%c' in the argument list to %s.", *at, option);
        n->mode |= bit;
        if (at[1] == ',' && at[2])
            at++;
        else if (at[1] == ',')
            die(p, 1, "Last file type in list argument to %s is missing, i.e., list is ending on: ','", option);
        else if (at[1])
            die(p, 1, "Must separate multiple arguments to %s using: ','", option);
    }
    return n;
}

static Node *perm(Parser *s, const char *option)
{
    Node *n = node(s, TEST_PERM);
    const char *text = argument(s, option), *mode = text;
    n->match = *text == '-' ? MATCH_ALL : *text == '/' ? MATCH_ANY : MATCH_EXACT;
    mode += n->match != MATCH_EXACT;
    ModeChange *change = mode_parse(s->f->p, mode);
    if (!change || (*text == '+' && text[1] >= '0' && text[1] <= '7'))
        die(s->f->p, 1, "invalid mode %s", quote(s->f->p, text));
    n->mode = mode_apply(change, 0, false, 0);
    if (n->match == MATCH_ANY && n->mode == 0)
        warn(s->f->p, "warning: you have specified a mode pattern %s (which is equivalent to /000). The meaning of -perm /000 has now been "
                      "changed to be consistent with -perm -000; that is, while it used to match no files, it now matches all files.", text);
    return n;
}

static Node *owner(Parser *s, bool group, const char *option)
{
    Node *n = node(s, group ? TEST_GID : TEST_UID);
    const char *text = argument(s, option);
    uint32_t id, other;
    bool known = group ? group_find(s->f->p, slice_str(text), &id) : user_find(s->f->p, slice_str(text), &id, &other);
    if (known)
        n->bound.value = id;
    else if (!decimal(text, &n->bound.value))
        die(s->f->p, 1, group ? "%s is not the name of an existing group" : "%s is not the name of a known user", quote(s->f->p, text));
    return n;
}

static Node *pattern(Parser *s, NodeKind kind, bool fold, const char *option)
{
    Node *n = node(s, kind);
    n->text = argument(s, option);
    n->pattern = pat_compile(&s->f->p->keep, slice_str(n->text), fold ? PAT_ICASE : 0);
    return n;
}

/* Emacs' syntax, find's default, is a basic one in which + and ? need no backslash. */
static const char *from_emacs(Proc *p, const char *text)
{
    Buf b;
    buf_init(&b, &p->keep, BUF_MAX);
    buf_reserve(&b, strlen(text) * 2);
    bool bracket = false;
    for (size_t n = 0; text[n]; n++) {
        if (bracket) {
            bracket = text[n] != ']';
            buf_char(&b, text[n]);
        } else if (text[n] == '\\' && text[n + 1]) {
            if (text[n + 1] != '+' && text[n + 1] != '?')
                buf_char(&b, '\\');
            buf_char(&b, text[++n]);
        } else if ((text[n] == '+' || text[n] == '?') && n) {
            buf_char(&b, '\\');
            buf_char(&b, text[n]);
        } else {
            buf_char(&b, text[n]);
            if (text[n] == '[') {
                bracket = true;
                for (int lead = 0; lead < 2 && text[n + 1] && strchr(lead ? "]" : "^", text[n + 1]); lead++)
                    buf_char(&b, text[++n]);
            }
        }
    }
    return b.data;
}

static Node *regex(Parser *s, bool fold, const char *option)
{
    Node *n = node(s, TEST_REGEX);
    ReError error = {0};
    n->text = argument(s, option);
    const char *text = s->f->emacs ? from_emacs(s->f->p, n->text) : n->text;
    n->regex = proc_regex(s->f->p, slice_str(text), s->f->syntax, RE_WHOLE_LINE | RE_NO_CAPTURES | RE_BYTE_RANGES | (fold ? RE_ICASE : 0), &error);
    if (!n->regex)
        die(s->f->p, 1, "%s", error.message);
    return n;
}

static void regex_type(Parser *s, const char *option)
{
    static const struct { const char *name; ReSyntax syntax; bool emacs; } list[] = {
        {"findutils-default", RE_BRE, true}, {"ed", RE_BRE, false}, {"emacs", RE_BRE, true}, {"gnu-awk", RE_ERE, false}, {"grep", RE_BRE, false},
        {"posix-awk", RE_ERE, false}, {"awk", RE_ERE, false}, {"posix-basic", RE_BRE, false}, {"posix-egrep", RE_ERE, false}, {"egrep", RE_ERE, false},
        {"posix-extended", RE_ERE, false}, {"posix-minimal-basic", RE_BRE, false}, {"sed", RE_BRE, false},
    };
    Proc *p = s->f->p;
    const char *name = argument(s, option);
    for (size_t n = 0; n < ARRAY_LEN(list); n++)
        if (strcmp(list[n].name, name) == 0) {
            s->f->syntax = list[n].syntax;
            s->f->emacs = list[n].emacs;
            return;
        }
    Buf b;
    buf_init(&b, &p->mem, BUF_MAX);
    for (size_t n = 0; n < ARRAY_LEN(list); n++)
        buf_printf(&b, "%s%s", n ? ", " : "", quote(p, list[n].name));
    die(p, 1, "Unknown regular expression type %s; valid types are %s.", quote(p, name), b.data);
}

static void time_of(const VStat *st, char which, int64_t *seconds, uint32_t *ns)
{
    *seconds = which == 'a' ? st->atime : which == 'c' ? st->ctime : which == 'B' ? st->btime : st->mtime;
    *ns = which == 'a' ? st->atime_ns : which == 'c' ? st->ctime_ns : which == 'B' ? st->btime_ns : st->mtime_ns;
}

static void stat_argument(Parser *s, const char *path, VStat *st)
{
    int r = proc_stat(s->f->p, path, s->f->follow || s->f->follow_operands ? 0 : V_NOFOLLOW, st);
    if (r)
        die_errno(s->f->p, 1, r, "%s", quote(s->f->p, path));
}

/* -newer, -anewer, -cnewer, -newerXY. */
static Node *newer(Parser *s, char x, char y, const char *option)
{
    static const char letters[] = "aBcm";
    Node *n = node(s, TEST_NEWER);
    Find *f = s->f;
    VStat st;
    if (!strchr(letters, x) || !(strchr(letters, y) || y == 't'))
        die(f->p, 1, "invalid predicate `%s'", option);
    const char *text = argument(s, option);
    n->time = x == 'a' ? FIND_ATIME : x == 'c' ? FIND_CTIME : x == 'B' ? FIND_BTIME : FIND_MTIME;
    if (y == 't') {
        if (!parse_date(f->p, slice_str(text), f->now, f->now_ns, proc_zone(f->p), &n->seconds, &n->ns))
            die(f->p, 1, "I cannot figure out how to interpret %s as a date or time", quote(f->p, text));
        return n;
    }
    stat_argument(s, text, &st);
    time_of(&st, y, &n->seconds, &n->ns);
    return n;
}

static Node *same_file(Parser *s, const char *option)
{
    Node *n = node(s, TEST_SAMEFILE);
    VStat st;
    stat_argument(s, argument(s, option), &st);
    n->ino = st.ino;
    n->dev = st.dev;
    return n;
}

/* ---------- actions ---------- */

static Node *printing(Parser *s, NodeKind kind, char end)
{
    Node *n = node(s, kind);
    n->end = end;
    s->f->prints = true;
    return n;
}

static Node *to_file(Parser *s, Node *n, const char *option)
{
    const char *path = argument(s, option);
    Proc *p = s->f->p;
    n->fd = strcmp(path, "/dev/stdout") == 0 ? 1 : strcmp(path, "/dev/stderr") == 0 ? 2 : proc_open(p, path, V_WRITE | V_CREATE | V_TRUNC, 0666);
    if (n->fd < 0)
        die_errno(p, 1, n->fd, "%s", quote(p, path));
    return n;
}

static Node *formatted(Parser *s, Node *n, const char *option)
{
    n->text = argument(s, option);
    find_check_format(s->f, n->text);
    return n;
}

static void check_batch(Parser *s, const Exec *x, const char *option)
{
    Proc *p = s->f->p;
    size_t whole = 0;
    for (size_t n = 0; n < x->count; n++)
        whole += strcmp(x->words[n], "{}") == 0;
    if (whole > 1)
        die(p, 1, "Only one instance of {} is supported with %s ... +", option);
    for (size_t n = 0; n < x->count; n++)
        if (strstr(x->words[n], "{}") && strcmp(x->words[n], "{}") != 0)
            die(p, 1, "In %s the %s must appear by itself, but you specified %s", quote(p, mem_printf(&p->mem, "%s ... {} +", option)), quote(p, "{}"), quote(p, x->words[n]));
}

static Node *execute(Parser *s, bool in_dir, bool asks, const char *option)
{
    Node *n = printing(s, DO_EXEC, '\n');
    Exec *x = n->exec = mem_new(&s->f->p->keep, Exec);
    int from = s->at, to = from;
    while (to < s->argc && strcmp(s->argv[to], ";") != 0) {
        /* "{} +" ends it; an earlier + is a word like another. */
        if (!asks && strcmp(s->argv[to], "+") == 0 && to > from && strstr(s->argv[to - 1], "{}") != NULL) {
            x->batch = true;
            break;
        }
        to++;
    }
    if (to == s->argc)
        die(s->f->p, 1, "missing argument to `%s'", option);
    if (to == from)
        invalid(s, option, s->argv[to]);
    x->words = s->argv + from;
    x->count = (size_t)(to - from);
    x->in_dir = in_dir;
    x->ask = asks;
    s->at = to + 1;
    if (!x->batch)
        return n;
    check_batch(s, x, option);
    x->mem = proc_mem_new(s->f->p);
    Exec **grown = mem_alloc_array(&s->f->p->keep, s->f->exec_count + 1, sizeof *grown);
    if (s->f->exec_count)
        memcpy(grown, s->f->execs, s->f->exec_count * sizeof *grown);
    grown[s->f->exec_count++] = x;
    s->f->execs = grown;
    return n;
}

/* ---------- options that are always true ---------- */

static bool global_option(Parser *s, const char *w)
{
    Find *f = s->f;
    if (strcmp(w, "-maxdepth") == 0 || strcmp(w, "-mindepth") == 0) {
        const char *text = argument(s, w);
        int64_t v;
        if (!*text || text[strspn(text, "0123456789")] || parse_int(text, &v) != 0)
            die(f->p, 1, "Expected a positive decimal integer argument to %s, but got %s", w, quote(f->p, text));
        *(w[2] == 'a' ? &f->max_depth : &f->min_depth) = v;
    } else if (is(w, "-depth", "-d")) {
        f->depth = f->depth_given = true;
    } else if (is(w, "-xdev", "-mount")) {
        f->one_device = true;
    } else if (strcmp(w, "-follow") == 0) {
        f->follow = true;
    } else if (strcmp(w, "-daystart") == 0) {
        CivilTime t;
        if (tz_civil(proc_zone(f->p), f->now, 0, &t)) {
            t.hour = t.minute = t.second = 0;
            t.day++;
            (void)tz_seconds(proc_zone(f->p), &t, &f->day_origin);
        }
    } else if (strcmp(w, "-files0-from") == 0) {
        f->names_from = argument(s, w);
    } else if (strcmp(w, "-regextype") == 0) {
        regex_type(s, w);
    } else {
        return is(w, "-noleaf", "-warn") || is(w, "-nowarn", "-ignore_readdir_race") || strcmp(w, "-noignore_readdir_race") == 0;
    }
    return true;
}

/* ---------- tests ---------- */

static Node *named_test(Parser *s, const char *w)
{
    if (is(w, "-name", "-iname"))
        return pattern(s, TEST_NAME, w[1] == 'i', w);
    if (is(w, "-path", "-wholename") || is(w, "-ipath", "-iwholename"))
        return pattern(s, TEST_PATH, w[1] == 'i', w);
    if (is(w, "-lname", "-ilname"))
        return pattern(s, TEST_LNAME, w[1] == 'i', w);
    if (is(w, "-regex", "-iregex"))
        return regex(s, w[1] == 'i', w);
    return NULL;
}

static Node *inode_test(Parser *s, const char *w)
{
    static const struct { const char *word; NodeKind kind; FindTime time; } times[] = {
        {"-atime", TEST_DAYS, FIND_ATIME}, {"-ctime", TEST_DAYS, FIND_CTIME}, {"-mtime", TEST_DAYS, FIND_MTIME},
        {"-amin", TEST_MINUTES, FIND_ATIME}, {"-cmin", TEST_MINUTES, FIND_CTIME}, {"-mmin", TEST_MINUTES, FIND_MTIME},
    };
    static const struct { const char *word; NodeKind kind; } numbers[] = {
        {"-uid", TEST_UID}, {"-gid", TEST_GID}, {"-links", TEST_LINKS}, {"-inum", TEST_INUM}, {"-used", TEST_USED},
    };
    for (size_t n = 0; n < ARRAY_LEN(times); n++)
        if (strcmp(times[n].word, w) == 0)
            return timed(s, times[n].kind, times[n].time, w);
    for (size_t n = 0; n < ARRAY_LEN(numbers); n++)
        if (strcmp(numbers[n].word, w) == 0)
            return numeric(s, numbers[n].kind, w);
    if (is(w, "-type", "-xtype"))
        return types(s, w[1] == 'x' ? TEST_XTYPE : TEST_TYPE, w);
    if (strcmp(w, "-size") == 0)
        return size(s, w);
    if (strcmp(w, "-perm") == 0)
        return perm(s, w);
    if (is(w, "-user", "-group"))
        return owner(s, w[1] == 'g', w);
    if (strcmp(w, "-samefile") == 0)
        return same_file(s, w);
    if (is(w, "-anewer", "-cnewer"))
        return newer(s, w[1], 'm', w);
    if (strcmp(w, "-newer") == 0)
        return newer(s, 'm', 'm', w);
    if (strncmp(w, "-newer", 6) == 0 && strlen(w) == 8)
        return newer(s, w[6], w[7], w);
    return NULL;
}

static Node *plain_test(Parser *s, const char *w)
{
    static const struct { const char *word; NodeKind kind; int rwx; } tests[] = {
        {"-true", TEST_TRUE, 0}, {"-false", TEST_FALSE, 0}, {"-empty", TEST_EMPTY, 0}, {"-nouser", TEST_NOUSER, 0}, {"-nogroup", TEST_NOGROUP, 0},
        {"-readable", TEST_ACCESS, 4}, {"-writable", TEST_ACCESS, 2}, {"-executable", TEST_ACCESS, 1},
    };
    for (size_t n = 0; n < ARRAY_LEN(tests); n++)
        if (strcmp(tests[n].word, w) == 0) {
            Node *t = node(s, tests[n].kind);
            t->rwx = tests[n].rwx;
            return t;
        }
    if (strcmp(w, "-fstype") == 0) {
        Node *t = node(s, TEST_FSTYPE);
        t->text = argument(s, w);
        return t;
    }
    if (strcmp(w, "-context") == 0)
        die(s->f->p, 1, "invalid predicate -context: SELinux is not enabled.");
    return NULL;
}

static Node *action(Parser *s, const char *w)
{
    if (is(w, "-print", "-print0"))
        return printing(s, DO_PRINT, w[6] ? 0 : '\n');
    if (is(w, "-fprint", "-fprint0"))
        return to_file(s, printing(s, DO_PRINT, w[7] ? 0 : '\n'), w);
    if (strcmp(w, "-printf") == 0)
        return formatted(s, printing(s, DO_PRINTF, 0), w);
    if (strcmp(w, "-fprintf") == 0 && s->at + 1 == s->argc)
        invalid(s, w, s->argv[s->at]);
    if (strcmp(w, "-fprintf") == 0)
        return formatted(s, to_file(s, printing(s, DO_PRINTF, 0), w), w);
    if (strcmp(w, "-ls") == 0)
        return printing(s, DO_LS, '\n');
    if (strcmp(w, "-fls") == 0)
        return to_file(s, printing(s, DO_LS, '\n'), w);
    if (is(w, "-exec", "-execdir"))
        return execute(s, w[5] != 0, false, w);
    if (is(w, "-ok", "-okdir"))
        return execute(s, w[3] != 0, true, w);
    if (strcmp(w, "-delete") == 0) {
        s->f->depth = s->f->deletes = true;
        return printing(s, DO_DELETE, 0);
    }
    if (strcmp(w, "-prune") == 0) {
        s->f->prunes = true;
        return node(s, DO_PRUNE);
    }
    return strcmp(w, "-quit") == 0 ? node(s, DO_QUIT) : NULL;
}

/* ---------- grammar ---------- */

static Node *list(Parser *s);

NORETURN static void binary_first(Parser *s, const char *w)
{
    die(s->f->p, 1, "invalid expression; you have used a binary operator '%s' with nothing before it.", w);
}

static bool is_and(const char *w) { return is(w, "-a", "-and"); }
static bool is_or(const char *w) { return is(w, "-o", "-or"); }

static Node *parenthesis(Parser *s)
{
    if (is(peek(s), ")", NULL))
        die(s->f->p, 1, "invalid expression; empty parentheses are not allowed.");
    if (!peek(s))
        die(s->f->p, 1, "invalid expression; expected to find a ')' but didn't see one. Perhaps you need an extra predicate after '('");
    if (++s->depth > NESTING)
        die(s->f->p, 1, "the expression is nested too deeply");
    Node *n = list(s);
    s->depth--;
    if (!is(peek(s), ")", NULL))
        die(s->f->p, 1, "invalid expression; I was expecting to find a ')' somewhere but did not see one.");
    s->at++;
    return n;
}

static Node *primary(Parser *s)
{
    const char *w = s->argv[s->at++];
    Find *f = s->f;
    if (strcmp(w, "(") == 0)
        return parenthesis(s);
    if (is_and(w) || is_or(w) || strcmp(w, ",") == 0)
        binary_first(s, w);
    if (is(w, "!", "-not")) {
        if (!peek(s))
            die(f->p, 1, "expected an expression after '%s'", w);
        if (++s->depth > NESTING)
            die(f->p, 1, "the expression is nested too deeply");
        Node *n = pair(s, NODE_NOT, primary(s), NULL);
        s->depth--;
        return n;
    }
    if (*w != '-') {
        warn(f->p, "paths must precede expression: `%s'", w);
        VStat st;
        if (s->valued && proc_stat(f->p, w, V_NOFOLLOW, &st) == 0)
            warn(f->p, "possible unquoted pattern after predicate `%s'?", s->valued);
        proc_fail(f->p, 1);
    }
    s->valued = NULL;
    if (global_option(s, w))
        return node(s, TEST_TRUE);
    Node *n = named_test(s, w);
    n = n ? n : inode_test(s, w);
    n = n ? n : plain_test(s, w);
    n = n ? n : action(s, w);
    if (!n)
        die(f->p, 1, "unknown predicate `%s'", w);
    n->option = w;
    return n;
}

static Node *and_list(Parser *s)
{
    Node *left = primary(s);
    for (const char *w; (w = peek(s)) && !is_or(w) && strcmp(w, ",") != 0 && strcmp(w, ")") != 0;) {
        if (is_and(w)) {
            s->at++;
            if (!peek(s))
                die(s->f->p, 1, "expected an expression after '%s'", w);
        }
        left = pair(s, NODE_AND, left, primary(s));
    }
    return left;
}

static Node *or_list(Parser *s)
{
    Node *left = and_list(s);
    for (const char *w; is_or(w = peek(s));) {
        s->at++;
        if (!peek(s))
            die(s->f->p, 1, "expected an expression after '%s'", w);
        left = pair(s, NODE_OR, left, and_list(s));
    }
    return left;
}

static Node *list(Parser *s)
{
    Node *left = or_list(s);
    while (is(peek(s), ",", NULL)) {
        s->at++;
        if (!peek(s))
            die(s->f->p, 1, "expected an expression after ','");
        left = pair(s, NODE_COMMA, left, or_list(s));
    }
    return left;
}

void find_parse(Find *f, char **argv, int argc)
{
    Parser s = {.f = f, .argv = argv, .argc = argc};
    f->syntax = RE_BRE;
    f->emacs = true;
    f->root = argc ? list(&s) : NULL;
    if (is(peek(&s), ")", NULL))
        die(f->p, 1, "you have too many ')'");
    if (f->deletes && f->prunes && !f->depth_given)
        die(f->p, 1, "The -delete action automatically turns on -depth, but -prune does nothing when -depth is in effect.  "
                     "If you want to carry on anyway, just explicitly use the -depth option.");
    if (f->prints)
        return;
    Node *print = node(&s, DO_PRINT);
    f->root = f->root ? pair(&s, NODE_AND, f->root, print) : print;
}

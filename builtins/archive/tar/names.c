/* names: which members are meant, what is left out, and what names become. */
#include "archive/tar/tar.h"

/* --- patterns --- */

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c; }

/* One bracket expression at p ('['), against c. Its end in *after; NULL: no closing bracket, '[' is text. */
static bool bracket(const char *p, char c, bool fold, const char **after)
{
    const char *s = p + 1;
    bool negated = *s == '!' || *s == '^', hit = false;
    s += negated;
    for (bool first = true; first || *s != ']'; first = false) {
        if (!*s) {
            *after = NULL;
            return false;
        }
        char low = *s == '\\' && s[1] ? *++s : *s, high = low;
        s++;
        if (*s == '-' && s[1] && s[1] != ']') {
            high = s[1] == '\\' && s[2] ? s[2] : s[1];
            s += s[1] == '\\' && s[2] ? 3 : 2;
        }
        hit |= (unsigned char)low <= (unsigned char)c && (unsigned char)c <= (unsigned char)high;
        hit |= fold && lower(low) <= lower(c) && lower(c) <= lower(high);
    }
    *after = s + 1;
    return hit != negated;
}

static bool same(char a, char b, bool fold) { return a == b || (fold && lower(a) == lower(b)); }

bool glob_match(const char *pattern, const char *s, unsigned flags, bool leading_dir)
{
    bool fold = flags & MATCH_ICASE, wild = flags & MATCH_WILDCARDS;
    const char *star = NULL, *retry = NULL;
    for (;;) {
        const char *after;
        bool ok = false;
        if (!*pattern && (!*s || (leading_dir && *s == '/')))
            return true;
        if (wild && *pattern == '*') {
            star = ++pattern;
            retry = s;
            continue;
        }
        if (!*s && !*pattern)
            return true;
        if (*s && *pattern) {
            if (wild && *pattern == '?') {
                ok = *s != '/' || !(flags & MATCH_NO_SLASH);
                after = pattern + 1;
            } else if (wild && *pattern == '[') {
                ok = bracket(pattern, *s, fold, &after) && (*s != '/' || !(flags & MATCH_NO_SLASH));
                if (!after) {
                    ok = *s == '[';
                    after = pattern + 1;
                }
            } else {
                const char *c = wild && *pattern == '\\' && pattern[1] ? pattern + 1 : pattern;
                ok = same(*c, *s, fold);
                after = c + 1;
            }
        }
        if (ok) {
            pattern = after;
            s++;
        } else if (star && *retry && !((flags & MATCH_NO_SLASH) && *retry == '/')) {
            pattern = star;
            s = ++retry;
        } else {
            return false;
        }
    }
}

static bool pattern_matches(const char *pattern, const char *name, unsigned flags)
{
    if (glob_match(pattern, name, flags, true))
        return true;
    if (!(flags & MATCH_ANCHORED))
        for (const char *s = name; *s; s++)
            if (*s == '/' && s[1] && s[1] != '/' && glob_match(pattern, s + 1, flags, true))
                return true;
    return false;
}

void add_exclude(Tar *t, const char *pattern, unsigned flags)
{
    if (t->exclude_count % 16 == 0)
        t->excludes = mem_grow(&t->p->keep, t->excludes, t->exclude_count * sizeof(Pattern), (t->exclude_count + 16) * sizeof(Pattern));
    char *text = mem_strdup(&t->p->keep, pattern);
    if (text[0] && text[1])
        strip_slashes(text);
    t->excludes[t->exclude_count++] = (Pattern){text, flags};
}

bool excluded(Tar *t, const char *name)
{
    char *plain = mem_strdup(&t->p->mem, name);
    strip_slashes(plain);
    for (size_t i = 0; i < t->exclude_count; i++)
        if (pattern_matches(t->excludes[i].text, plain, t->excludes[i].flags))
            return true;
    return false;
}

/* --- lists of names --- */

static bool has_wildcards(const char *s) { return s[strcspn(s, "*?[\\")] != 0; }

static NameArg *add_entry(Tar *t)
{
    if (t->name_count == t->name_cap) {
        size_t cap = t->name_cap ? t->name_cap * 2 : 16;
        t->names = mem_grow(&t->p->keep, t->names, t->name_cap * sizeof(NameArg), cap * sizeof(NameArg));
        t->name_cap = cap;
    }
    NameArg *n = &t->names[t->name_count++];
    *n = (NameArg){.match_flags = t->match_flags};
    return n;
}

void add_name(Tar *t, const char *text)
{
    char *copy = mem_strdup(&t->p->keep, text);
    strip_slashes(copy);
    NameArg *n = add_entry(t);
    n->text = copy;
    n->no_recursion = t->no_recursion;
    t->name_texts++;
}

void add_directory(Tar *t, const char *directory) { add_entry(t)->directory = mem_strdup(&t->p->keep, directory); }

/* Records of a list file: lines, or what NULs end. */
static void each_record(Tar *t, const char *file, bool nul, const char *format, void (*each)(Tar *t, char *text, void *arg), void *arg)
{
    char **names = mem_array(&t->p->keep, 1, char *);
    names[0] = mem_strdup(&t->p->keep, file);
    Input in = input_files(t->p, names, 1);
    in.delimiter = nul ? 0 : '\n';
    in.open_format = format;
    if (!input_open(&in))
        tar_unrecoverable(t);
    Slice record;
    bool ended;
    while (input_record(&in, &record, &ended)) {
        char *text = mem_copy(&t->p->keep, record);
        each(t, text, arg);
        proc_tick(t->p, 1);
    }
    input_next(&in);
}

/* \\n and the like in a line of -T. */
static void unquote(char *s)
{
    char *to = s;
    for (; *s; s++) {
        if (*s != '\\' || !s[1]) {
            *to++ = *s;
            continue;
        }
        static const char from[] = "abfnrtv\\", into[] = "\a\b\f\n\r\t\v\\";
        const char *at = strchr(from, *++s);
        if (at && *at) {
            *to++ = into[at - from];
        } else if (*s >= '0' && *s <= '7') {
            int v = 0, n = 0;
            for (; n < 3 && *s >= '0' && *s <= '7'; s++, n++)
                v = v * 8 + *s - '0';
            s--;
            *to++ = (char)v;
        } else {
            *to++ = '\\';
            *to++ = *s;
        }
    }
    *to = 0;
}

typedef struct FileList {
    const char *file;
    uint64_t line;
} FileList;

static void list_line(Tar *t, char *text, void *arg)
{
    FileList *l = arg;
    l->line++;
    if (!*text)
        return;
    if (!t->verbatim_names && text[0] == '-') {
        char *value = text + 2;
        while (*value == ' ')
            value++;
        if (strncmp(text, "-C", 2) == 0 && *value)
            add_directory(t, value);
        else if (strncmp(text, "--directory=", 12) == 0)
            add_directory(t, text + 12);
        else if (strncmp(text, "--add-file=", 11) == 0)
            add_name(t, text + 11);
        else {
            warn(t->p, "%s:%llu: unrecognized option", l->file, (unsigned long long)l->line);
            out_printf(t->p->err, "Try 'tar --help' or 'tar --usage' for more information.\n");
            output_flush(t->p->err);
            proc_fail(t->p, 2);
        }
        return;
    }
    if (!t->no_unquote && !t->verbatim_names)
        unquote(text);
    add_name(t, text);
}

void add_files_from(Tar *t, const char *file)
{
    FileList l = {file, 0};
    each_record(t, file, t->null_names, "%s: Cannot open", list_line, &l);
}

static void exclude_line(Tar *t, char *text, void *arg)
{
    (void)arg;
    size_t n = strlen(text);
    while (n && (text[n - 1] == ' ' || text[n - 1] == '\t' || text[n - 1] == '\r'))
        text[--n] = 0;
    if (n)
        add_exclude(t, text, t->exclude_flags);
}

void add_excludes_from(Tar *t, const char *file) { each_record(t, file, false, "%s", exclude_line, NULL); }

bool wanted(Tar *t, const char *name)
{
    if (t->starting && strcmp(t->starting, name) != 0)
        return false;
    t->starting = NULL;
    bool any = t->name_texts == 0;
    for (size_t i = 0; i < t->name_count; i++) {
        NameArg *n = &t->names[i];
        if (!n->text)
            continue;
        bool hit = n->match_flags & MATCH_ANCHORED ? glob_match(n->text, name, n->match_flags, !t->no_recursion) : pattern_matches(n->text, name, n->match_flags);
        if (!hit && name[0] && name[strlen(name) - 1] == '/') {
            size_t len = strlen(n->text);
            hit = strlen(name) == len + 1 && strncmp(name, n->text, len) == 0;
        }
        if (!hit)
            continue;
        n->seen++;
        n->found |= !t->occurrence || n->seen >= t->occurrence;
        any |= !t->occurrence || n->seen == t->occurrence;
    }
    return any && !excluded(t, name);
}

void report_missing(Tar *t)
{
    bool told = false;
    for (size_t i = 0; i < t->name_count; i++) {
        NameArg *n = &t->names[i];
        if (n->found || !n->text)
            continue;
        if (!told && has_wildcards(n->text) && !t->include_set) {
            told = true;
            warn(t->p, "Pattern matching characters used in file names");
            warn(t->p, "Use --wildcards to enable pattern matching, or --no-wildcards to suppress this warning");
        }
        if (t->occurrence && n->seen)
            tar_error(t, "%s: Required occurrence not found in archive", tar_quote(t, n->text));
        else
            tar_error(t, "%s: Not found in archive", tar_quote(t, n->text));
    }
}

/* --- what names become --- */

char *safer_name(Tar *t, char *name, bool link_target)
{
    if (t->absolute)
        return name;
    size_t prefix = 0;
    for (char *s = name; *s;) {
        size_t n = strcspn(s, "/");
        bool up = n == 2 && s[0] == '.' && s[1] == '.';
        char *next = s + n;
        while (*next == '/')
            next++;
        if (up)
            prefix = (size_t)(next - name);
        s = next;
    }
    while (name[prefix] == '/')
        prefix++;
    if (prefix) {
        char *key = mem_printf(&t->p->mem, "%d%.*s", link_target, (int)prefix, name);
        MapEntry *e = map_put(&t->prefixes, slice_str(key));
        if (!e->value) {
            e->value = t;
            output_flush(t->list);
            warn(t->p, link_target ? "Removing leading `%.*s' from hard link targets" : "Removing leading `%.*s' from member names", (int)prefix, name);
        }
    }
    if (!name[prefix]) {
        if (prefix == 0 || !link_target) {
            MapEntry *e = map_put(&t->prefixes, SLICE("."));
            if (!e->value)
                warn(t->p, link_target ? "Substituting `.' for empty hard link target" : "Substituting `.' for empty member name");
            e->value = t;
        }
        return mem_strdup(&t->p->mem, ".");
    }
    return name + prefix;
}

char *strip_components(Tar *t, char *name)
{
    for (unsigned i = 0; i < t->strip; i++) {
        while (*name == '/')
            name++;
        name += strcspn(name, "/");
        if (!*name)
            return NULL;
        while (*name == '/')
            name++;
    }
    return *name ? name : NULL;
}

struct Transform {
    Transform *next;
    Re *re;
    const char *replacement;
    unsigned which; /* the match to replace; 0 or 1: the first */
    bool global, files, symlinks, hardlinks;
};

static NORETURN void bad_transform(Tar *t)
{
    warn(t->p, "Invalid transform expression");
    out_printf(t->p->err, "Try 'tar --help' or 'tar --usage' for more information.\n");
    output_flush(t->p->err);
    proc_fail(t->p, 2);
}

/* A part up to the delimiter, with \DELIMITER meaning it. */
static char *part(Tar *t, const char **at, char delimiter)
{
    Buf b;
    buf_init(&b, &t->p->keep, 1 << 16);
    const char *s = *at;
    for (; *s && *s != delimiter; s++) {
        if (*s == '\\' && s[1]) {
            if (s[1] != delimiter)
                buf_char(&b, *s);
            s++;
        }
        buf_char(&b, *s);
    }
    if (!*s)
        bad_transform(t);
    *at = s + 1;
    return b.data ? b.data : mem_strdup(&t->p->keep, "");
}

static const char *add_one(Tar *t, const char *s)
{
    while (*s == ' ')
        s++;
    if (strncmp(s, "flags=", 6) == 0) {
        s += strcspn(s, ";");
        return *s ? s + 1 : s;
    }
    if (s[0] != 's' || !s[1])
        bad_transform(t);
    char delimiter = s[1];
    s += 2;
    char *pattern = part(t, &s, delimiter);
    Transform *f = mem_new(&t->p->keep, Transform);
    *f = (Transform){.files = true, .symlinks = true, .hardlinks = true};
    f->replacement = part(t, &s, delimiter);
    bool extended = false, fold = false;
    for (; *s && *s != ';'; s++) {
        switch (*s) {
        case 'g': f->global = true; break;
        case 'i': fold = true; break;
        case 'x': extended = true; break;
        case 'r': f->files = true; break;
        case 'R': f->files = false; break;
        case 's': f->symlinks = true; break;
        case 'S': f->symlinks = false; break;
        case 'h': f->hardlinks = true; break;
        case 'H': f->hardlinks = false; break;
        default:
            if (*s < '0' || *s > '9')
                bad_transform(t);
            f->which = MIN(f->which, 100000u) * 10 + (unsigned)(*s - '0');
        }
    }
    ReError err;
    f->re = proc_regex(t->p, slice_str(pattern), extended ? RE_ERE : RE_BRE, fold ? RE_ICASE : 0, &err);
    if (!f->re)
        bad_transform(t);
    Transform **end = &t->transforms;
    while (*end)
        end = &(*end)->next;
    *end = f;
    return *s ? s + 1 : s;
}

void add_transform(Tar *t, const char *text)
{
    do
        text = add_one(t, text);
    while (*text);
}

/* & \1 ... and sed's \L \U \l \u \E. */
static void substitute(Buf *out, const char *r, const char *subject, const ReSpan *spans)
{
    char mode = 0, once = 0;
    for (; *r; r++) {
        char number = *r == '&' ? '0' : *r == '\\' && r[1] >= '0' && r[1] <= '9' ? r[1] : 0;
        if (*r == '\\' && r[1] && strchr("LUluE", r[1])) {
            if (r[1] == 'l' || r[1] == 'u')
                once = r[1];
            else
                mode = r[1] == 'E' ? 0 : r[1];
            r++;
            continue;
        }
        if (*r == '\\' && r[1])
            r++;
        ReSpan span = number ? spans[number - '0'] : (ReSpan){0, 1};
        const char *from = number ? subject + span.start : r;
        for (size_t i = 0; span.start != RE_UNSET && i < span.end - span.start; i++) {
            char c = from[i], how = once ? once : mode;
            if (how == 'u' || how == 'U')
                c = c >= 'a' && c <= 'z' ? (char)(c - 32) : c;
            else if (how)
                c = lower(c);
            once = 0;
            buf_char(out, c);
        }
    }
}

static char *apply(Tar *t, const Transform *f, char *name)
{
    Buf out;
    ReSpan spans[10];
    ReEnv env = proc_re_env(t->p);
    Slice subject = slice_str(name);
    size_t at = 0, copied = 0;
    unsigned count = 0;
    buf_init(&out, &t->p->mem, 1 << 16);
    while (at <= subject.len && re_search(&env, f->re, subject, at, false, spans, ARRAY_LEN(spans)) == RE_MATCHED) {
        for (size_t i = re_groups(f->re) + 1; i < ARRAY_LEN(spans); i++)
            spans[i] = (ReSpan){RE_UNSET, RE_UNSET};
        count++;
        if (count >= f->which) {
            buf_append(&out, slice(name + copied, spans[0].start - copied));
            substitute(&out, f->replacement, name, spans);
            copied = spans[0].end;
            if (!f->global)
                break;
        }
        at = spans[0].end + (spans[0].end == spans[0].start);
    }
    buf_append(&out, slice(name + copied, subject.len - copied));
    return out.data ? out.data : mem_strdup(&t->p->mem, "");
}

char *transform_name(Tar *t, char *name, char kind)
{
    for (const Transform *f = t->transforms; f; f = f->next)
        if (kind == 'r' ? f->files : kind == 's' ? f->symlinks : f->hardlinks)
            name = apply(t, f, name);
    return name;
}

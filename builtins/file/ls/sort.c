/* sort: the orders of ls, by a stable merge sort. */
#include "ls.h"

static int digit_run(const char **a, const char **b)
{
    while (**a == '0')
        ++*a;
    while (**b == '0')
        ++*b;
    int first = 0;
    for (;; ++*a, ++*b) {
        bool x = **a >= '0' && **a <= '9', y = **b >= '0' && **b <= '9';
        if (!x || !y)
            return x ? 1 : y ? -1 : first;
        if (!first)
            first = **a - **b;
    }
}

static int rank(char c)
{
    if (!c || (c >= '0' && c <= '9'))
        return 0;
    if (c == '~')
        return -1;
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ? c : (unsigned char)c + 256;
}

static int version_part(const char *a, size_t a_len, const char *b, size_t b_len)
{
    const char *a_end = a + a_len, *b_end = b + b_len;
    while (a < a_end || b < b_end) {
        while ((a < a_end && !(*a >= '0' && *a <= '9')) || (b < b_end && !(*b >= '0' && *b <= '9'))) {
            int x = a < a_end ? rank(*a) : 0, y = b < b_end ? rank(*b) : 0;
            if (x != y)
                return x - y;
            a += a < a_end;
            b += b < b_end;
        }
        int d = digit_run(&a, &b);
        if (d)
            return d;
    }
    return 0;
}

/* Length without a suffix of the form (\.[A-Za-z~][A-Za-z0-9~]*)*$. */
static size_t stem(const char *s)
{
    size_t cut = 0, n = 0;
    while (s[n]) {
        cut = ++n;
        while (s[n] == '.' && ((s[n + 1] | 32) >= 'a' && (s[n + 1] | 32) <= 'z')) {
            size_t m = n + 1;
            while ((s[m] >= '0' && s[m] <= '9') || ((s[m] | 32) >= 'a' && (s[m] | 32) <= 'z') || s[m] == '~')
                m++;
            n = m;
        }
    }
    return cut < n ? cut : n;
}

int version_compare(const char *a, const char *b)
{
    int same = strcmp(a, b);
    if (!same)
        return 0;
    if (!*a || !*b)
        return *a ? 1 : -1;
    static const char *const first[] = {".", ".."};
    for (size_t n = 0; n < 2; n++) {
        if (strcmp(a, first[n]) == 0)
            return -1;
        if (strcmp(b, first[n]) == 0)
            return 1;
    }
    if ((*a == '.') != (*b == '.'))
        return *a == '.' ? -1 : 1;
    size_t x = stem(a), y = stem(b);
    int c = x == y && memcmp(a, b, x) == 0 ? 0 : version_part(a, x, b, y);
    if (!c)
        c = version_part(a, strlen(a), b, strlen(b));
    return c ? c : same;
}

static const char *extension(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot ? dot : "";
}

static int64_t time_of(const Ls *ls, const Entry *e, uint32_t *ns)
{
    switch (ls->time) {
    case TIME_ATIME: *ns = e->st.atime_ns; return e->st.atime;
    case TIME_CTIME: *ns = e->st.ctime_ns; return e->st.ctime;
    case TIME_BTIME: *ns = e->st.btime_ns; return e->st.btime;
    default: *ns = e->st.mtime_ns; return e->st.mtime;
    }
}

static int by_key(const Ls *ls, const Entry *a, const Entry *b)
{
    uint32_t x, y;
    int64_t s, t;
    switch (ls->sort) {
    case SORT_SIZE: return (a->st.size < b->st.size) - (a->st.size > b->st.size);
    case SORT_TIME:
        s = time_of(ls, a, &x);
        t = time_of(ls, b, &y);
        return s != t ? (s < t) - (s > t) : (x < y) - (x > y);
    case SORT_VERSION: return version_compare(a->name, b->name);
    case SORT_EXTENSION: return strcmp(extension(a->name), extension(b->name));
    case SORT_WIDTH: return (a->width > b->width) - (a->width < b->width);
    default: return 0;
    }
}

static bool is_directory(const Entry *e) { return S_ISDIR(e->st.mode) || (e->target_mode && S_ISDIR(e->target_mode)); }

static int compare(const Ls *ls, const Entry *a, const Entry *b)
{
    if (ls->directories_first && is_directory(a) != is_directory(b))
        return is_directory(a) ? -1 : 1;
    int c = by_key(ls, a, b);
    if (!c)
        c = strcmp(a->name, b->name);
    return ls->reverse ? -c : c;
}

void sort_entries(const Ls *ls, Entry *list, size_t count)
{
    if (ls->sort == SORT_NONE || count < 2)
        return;
    Entry *from = list, *to = mem_alloc_array(&ls->p->mem, count, sizeof *to);
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t at = 0; at < count; at += 2 * width) {
            size_t mid = MIN(at + width, count), end = MIN(mid + width, count), a = at, b = mid;
            for (size_t n = at; n < end; n++)
                to[n] = a < mid && (b >= end || compare(ls, &from[a], &from[b]) <= 0) ? from[a++] : from[b++];
        }
        Entry *swap = from;
        from = to;
        to = swap;
        proc_tick(ls->p, count / 8 + 1);
    }
    if (from != list)
        memcpy(list, from, count * sizeof *list);
}

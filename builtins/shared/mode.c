/* mode: chmod's language, and modes as ls prints them. */
#include <sys/stat.h>

#include "shared.h"

typedef enum { CHANGE_ORDINARY, CHANGE_X_IF_ANY, CHANGE_COPY } ChangeKind;

typedef struct {
    char op;
    ChangeKind kind;
    uint32_t affected;  /* 0: all, less the umask */
    uint32_t value;
    uint32_t mentioned; /* bits that the text names: set-id bits of directories stay unless named */
} Change;

struct ModeChange {
    size_t count;
    Change change[];
};

enum { ALL_BITS = 07777, ALL_R = 0444, ALL_W = 0222, ALL_X = 0111 };

static bool is_octal(char c) { return c >= '0' && c <= '7'; }

/* Octal digits at *at; above 7777 is invalid. */
static bool octal(const char **at, uint32_t *value)
{
    for (*value = 0; is_octal(**at); ++*at) {
        *value = *value * 8 + (uint32_t)(**at - '0');
        if (*value > ALL_BITS)
            return false;
    }
    return true;
}

static ModeChange *whole_octal(Proc *p, const char *text)
{
    ModeChange *m = mem_alloc(&p->keep, sizeof *m + sizeof(Change));
    const char *at = text;
    uint32_t value;
    if (!octal(&at, &value) || *at)
        return NULL;
    /* Fewer than five digits leave a directory's set-id bits alone unless they set them. */
    uint32_t mentioned = at - text < 5 ? (value & (S_ISUID | S_ISGID)) | S_ISVTX | 0777 : ALL_BITS;
    m->count = 1;
    m->change[0] = (Change){'=', CHANGE_ORDINARY, ALL_BITS, value, mentioned};
    return m;
}

static uint32_t who(const char **at)
{
    uint32_t bits = 0;
    for (;; ++*at)
        switch (**at) {
        case 'u': bits |= S_ISUID | S_IRWXU; break;
        case 'g': bits |= S_ISGID | S_IRWXG; break;
        case 'o': bits |= S_ISVTX | S_IRWXO; break;
        case 'a': bits |= ALL_BITS; break;
        default: return bits;
        }
}

static void permissions(const char **at, Change *c)
{
    for (;; ++*at)
        switch (**at) {
        case 'r': c->value |= ALL_R; break;
        case 'w': c->value |= ALL_W; break;
        case 'x': c->value |= ALL_X; break;
        case 'X': c->kind = CHANGE_X_IF_ANY; break;
        case 's': c->value |= S_ISUID | S_ISGID; break;
        case 't': c->value |= S_ISVTX; break;
        default: return;
        }
}

/* One operator and what follows it. */
static bool action(const char **at, uint32_t affected, Change *c)
{
    *c = (Change){.op = *(*at)++, .affected = affected};
    if (is_octal(**at)) {
        if (!octal(at, &c->value) || affected || (**at && **at != ','))
            return false;
        c->affected = c->mentioned = ALL_BITS;
        return true;
    }
    switch (**at) {
    case 'u': c->value = S_IRWXU; break;
    case 'g': c->value = S_IRWXG; break;
    case 'o': c->value = S_IRWXO; break;
    default: permissions(at, c); break;
    }
    if (**at == 'u' || **at == 'g' || **at == 'o') {
        if (c->value != S_IRWXU && c->value != S_IRWXG && c->value != S_IRWXO)
            return false; /* letters and a whose are not mixed */
        c->kind = CHANGE_COPY;
        ++*at;
    }
    c->mentioned = affected ? affected & c->value : c->value;
    return true;
}

ModeChange *mode_parse(Proc *p, const char *text)
{
    if (is_octal(*text))
        return whole_octal(p, text);
    size_t most = 1;
    for (const char *at = text; *at; at++)
        most += strchr("+-=", *at) != NULL;
    ModeChange *m = mem_alloc(&p->keep, sizeof *m + most * sizeof(Change));
    m->count = 0;
    for (;; text++) {
        uint32_t affected = who(&text);
        if (!*text || !strchr("+-=", *text))
            return NULL;
        do {
            if (!action(&text, affected, &m->change[m->count++]))
                return NULL;
        } while (*text && strchr("+-=", *text));
        if (*text != ',')
            break;
    }
    return *text ? NULL : m;
}

static uint32_t copied(uint32_t bits)
{
    return (bits & ALL_R ? ALL_R : 0) | (bits & ALL_W ? ALL_W : 0) | (bits & ALL_X ? ALL_X : 0);
}

uint32_t mode_apply(const ModeChange *m, uint32_t mode, bool directory, uint32_t umask)
{
    uint32_t now = mode & ALL_BITS;
    for (const Change *c = m->change; c < m->change + m->count; c++) {
        uint32_t kept = (directory ? S_ISUID | S_ISGID : 0) & ~c->mentioned, value = c->value;
        if (c->kind == CHANGE_COPY)
            value = copied(value & now);
        else if (c->kind == CHANGE_X_IF_ANY && ((now & ALL_X) || directory))
            value |= ALL_X;
        value &= (c->affected ? c->affected : ~umask) & ~kept & ALL_BITS;
        if (c->op == '=')
            now = (now & ((c->affected ? ~c->affected : 0) | kept)) | value;
        else if (c->op == '+')
            now |= value;
        else
            now &= ~value;
    }
    return now;
}

uint32_t mode_mentioned(const ModeChange *m)
{
    uint32_t bits = 0;
    for (const Change *c = m->change; c < m->change + m->count; c++)
        bits |= c->mentioned;
    return bits;
}

void device_numbers(uint32_t rdev, unsigned *major, unsigned *minor)
{
    static const unsigned char memory[] = {[VDEV_NULL] = 3, [VDEV_ZERO] = 5, [VDEV_FULL] = 7, [VDEV_RANDOM] = 8};
    bool is_memory = rdev < ARRAY_LEN(memory) && memory[rdev];
    *major = is_memory ? 1 : rdev == VDEV_TTY ? 5 : rdev ? 136 : 0;
    *minor = is_memory ? memory[rdev] : 0;
}

static char type_letter(uint32_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFDIR: return 'd';
    case S_IFLNK: return 'l';
    case S_IFIFO: return 'p';
    case S_IFCHR: return 'c';
    case S_IFBLK: return 'b';
    case S_IFSOCK: return 's';
    default: return '-';
    }
}

void format_mode(uint32_t mode, char out[11])
{
    static const char letters[] = "rwxrwxrwx";
    out[0] = type_letter(mode);
    for (int n = 0; n < 9; n++)
        out[1 + n] = mode & 0400u >> n ? letters[n] : '-';
    if (mode & S_ISUID)
        out[3] = mode & S_IXUSR ? 's' : 'S';
    if (mode & S_ISGID)
        out[6] = mode & S_IXGRP ? 's' : 'S';
    if (mode & S_ISVTX)
        out[9] = mode & S_IXOTH ? 't' : 'T';
    out[10] = 0;
}

/* touch: change times, and make files that are not there. */
#include "file.h"

enum { TIME_WORD = 256 };
enum { TOUCH_ACCESS = 1, TOUCH_MODIFY = 2 };

static const Option options[] = {
    {'a', NULL, OPT_FLAG, "change only the access time", NULL, 0},
    {'c', "no-create", OPT_FLAG, "do not create any files", NULL, 0},
    {'d', "date", OPT_VALUE, "parse STRING and use it instead of current time", "STRING", 0},
    {'f', NULL, OPT_FLAG, "(ignored)", NULL, 0},
    {'h', "no-dereference", OPT_FLAG, "affect each symbolic link instead of any referenced file", NULL, 0},
    {'m', NULL, OPT_FLAG, "change only the modification time", NULL, 0},
    {'r', "reference", OPT_VALUE, "use this file's times instead of current time", "FILE", 0},
    {'t', NULL, OPT_VALUE, "use [[CC]YY]MMDDhhmm[.ss] instead of current time", "STAMP", 0},
    {0, "time", OPT_VALUE, "change the specified time: access, atime or use (-a), modify or mtime (-m)", "WORD", TIME_WORD},
    OPTIONS_END,
};

static const Choice time_words[] = {
    {"atime", TOUCH_ACCESS}, {"access", TOUCH_ACCESS}, {"use", TOUCH_ACCESS}, {"mtime", TOUCH_MODIFY}, {"modify", TOUCH_MODIFY}, {NULL, 0},
};

typedef struct {
    int which;
    bool no_create, no_follow;
    VTime atime, mtime;
} Touch;

static int two(const char *s) { return (s[0] - '0') * 10 + s[1] - '0'; }

/* [[CC]YY]MMDDhhmm[.ss] */
static bool parse_stamp(Proc *p, const char *text, VTime *out)
{
    size_t digits = strspn(text, "0123456789");
    const char *rest = text + digits;
    CivilTime now, t = {0};
    if ((digits != 8 && digits != 10 && digits != 12) || (*rest && (*rest != '.' || strspn(rest + 1, "0123456789") != 2 || rest[3])))
        return false;
    tz_civil(proc_zone(p), proc_now(p, &now.nanosecond), 0, &now);
    t.year = now.year;
    if (digits == 12)
        t.year = two(text) * 100 + two(text + 2);
    else if (digits == 10)
        t.year = two(text) + (two(text) < 69 ? 2000 : 1900);
    text += digits - 8;
    t.month = two(text);
    t.day = two(text + 2);
    t.hour = two(text + 4);
    t.minute = two(text + 6);
    t.second = *rest ? two(rest + 1) : 0;
    CivilTime back;
    /* A date that the calendar would move is none. */
    if (!tz_seconds(proc_zone(p), &t, &out->seconds) || !tz_civil(proc_zone(p), out->seconds, 0, &back))
        return false;
    out->how = VTIME_SET;
    out->nanosecond = 0;
    return back.month == t.month && back.day == t.day && back.hour == t.hour && back.minute == t.minute && t.second <= 60;
}

static int touch_fd(Proc *p, const Touch *t, const char *path)
{
    if (strcmp(path, "-") == 0)
        return proc_futimes(p, 1, t->atime, t->mtime);
    if (!t->no_create && !t->no_follow) {
        int fd = proc_open(p, path, V_WRITE | V_CREATE | V_NONBLOCK, 0666);
        if (fd >= 0) {
            int r = proc_utimes(p, path, 0, t->atime, t->mtime);
            proc_close(p, fd);
            return r;
        }
        int r = proc_utimes(p, path, 0, t->atime, t->mtime);
        return r == -ENOENT ? fd : r;
    }
    return proc_utimes(p, path, t->no_follow ? V_NOFOLLOW : 0, t->atime, t->mtime);
}

static int touch_one(Proc *p, const Touch *t, const char *path)
{
    VStat st;
    bool there = proc_stat(p, path, 0, &st) == 0;
    int r = touch_fd(p, t, path);
    if (r == 0 || (r == -ENOENT && t->no_create))
        return 0;
    size_t len = strlen(path);
    if (!there && !t->no_follow && !(r == -ENOTDIR && path[len - 1] == '/'))
        warn_errno(p, r, "cannot touch %s", quoteaf(p, path));
    else
        warn_errno(p, r, t->no_follow || (r != -EACCES && r != -EROFS) ? "setting times of %s" : "cannot touch %s", quoteaf(p, path));
    return 1;
}

static void from_reference(Proc *p, Touch *t, const char *path)
{
    VStat st;
    int r = proc_stat(p, path, t->no_follow ? V_NOFOLLOW : 0, &st);
    if (r)
        die_errno(p, 1, r, "failed to get attributes of %s", quoteaf(p, path));
    t->atime = (VTime){st.atime, st.atime_ns, VTIME_SET};
    t->mtime = (VTime){st.mtime, st.mtime_ns, VTIME_SET};
}

/* A date moves the reference's times, each its own, or the present. */
static void from_date(Proc *p, Touch *t, const char *text)
{
    uint32_t ns;
    int64_t now = proc_now(p, &ns);
    for (int n = 0; n < 2; n++) {
        VTime *to = n ? &t->mtime : &t->atime;
        int64_t base = to->how == VTIME_SET ? to->seconds : now;
        uint32_t base_ns = to->how == VTIME_SET ? to->nanosecond : ns;
        if (!parse_date(p, slice_str(text), base, base_ns, proc_zone(p), &to->seconds, &to->nanosecond))
            die(p, 1, "invalid date format %s", quote(p, text));
        to->how = VTIME_SET;
    }
}

static int touch_main(Proc *p, Args *args)
{
    Touch t = {.atime.how = VTIME_NOW, .mtime.how = VTIME_NOW};
    const char *date = NULL, *reference = NULL, *stamp = NULL;
    int count, status = 0;
    for (int id; (id = args_next(p, args)) != -1;)
        switch (id) {
        case 'a': t.which |= TOUCH_ACCESS; break;
        case 'm': t.which |= TOUCH_MODIFY; break;
        case 'c': t.no_create = true; break;
        case 'h': t.no_follow = true; break;
        case 'd': date = args->value; break;
        case 'r': reference = args->value; break;
        case 't': stamp = args->value; break;
        case TIME_WORD: t.which |= choose(p, args, "--time", args->value, time_words); break;
        default: break;
        }
    if (stamp && !parse_stamp(p, stamp, &t.atime))
        die(p, 1, "invalid date format %s", quote(p, stamp));
    if (stamp)
        t.mtime = t.atime;
    if (stamp && (date || reference))
        usage_fail(p, args, "cannot specify times from more than one source");
    if (reference)
        from_reference(p, &t, reference);
    if (date)
        from_date(p, &t, date);
    if (t.which == TOUCH_MODIFY)
        t.atime.how = VTIME_OMIT;
    else if (t.which == TOUCH_ACCESS)
        t.mtime.how = VTIME_OMIT;
    char **names = args_operands(args, &count);
    if (!count)
        usage_fail(p, args, "missing file operand");
    for (int n = 0; n < count; n++)
        status |= touch_one(p, &t, names[n]);
    return status;
}

COMMAND(touch, "touch [OPTION]... FILE...", "Update the access and modification times of each FILE to the current time.", options, COMMAND_WRITES);

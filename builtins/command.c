/* command: how a command is run, and how its failures are told. */
#include "command.h"

#include <stdarg.h>
#include <stdio.h>

#include "registry.h"

const Command *command_find(const char *name)
{
    size_t low = 0, high = command_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int c = strcmp(name, command_table[middle]->name);
        if (c == 0)
            return command_table[middle];
        if (c < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

int command_run(Proc *p, const Command *c, int argc, char **argv)
{
    Args args = {.command = c, .argc = argc, .argv = argv, .at = 1};
    int status = c->main(p, &args);
    int written = output_status(p);
    return status ? status : written;
}

const char *command_name(const Command *c) { return c->name; }

StackSize command_stack(const Command *c)
{
    return c->flags & (COMMAND_SPAWNS | COMMAND_SHELL) ? STACK_LARGE : STACK_MEDIUM;
}

/* ---------- messages ---------- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

static void begin_message(Proc *p, Buf *out)
{
    const LangOps *lang = p->lang ? kern_lang(p->kernel) : NULL;
    if (lang && lang->prefix)
        lang->prefix(p, p->name, out);
    else
        buf_printf(out, "%s: ", base_name(p->name ? p->name : "libshell"));
}

static void message(Proc *p, int error, const char *format, va_list args)
{
    Buf line;
    output_flush(p->out);
    MemMark mark = mem_mark(&p->mem);
    buf_init(&line, &p->mem, BUF_MAX);
    begin_message(p, &line);
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    if (n > 0 && buf_reserve(&line, (size_t)n)) {
        vsnprintf(line.data + line.len, (size_t)n + 1, format, again);
        line.len += (size_t)n;
    }
    va_end(again);
    if (error)
        buf_printf(&line, ": %s", error_text(error));
    buf_char(&line, '\n');
    out_write(p->err, buf_slice(&line));
    output_flush(p->err);
    mem_reset(&p->mem, mark);
}

void warn(Proc *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    message(p, 0, format, args);
    va_end(args);
}

void warn_errno(Proc *p, int error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    message(p, error, format, args);
    va_end(args);
}

void die(Proc *p, int status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    message(p, 0, format, args);
    va_end(args);
    proc_fail(p, status);
}

void die_errno(Proc *p, int status, int error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    message(p, error, format, args);
    va_end(args);
    proc_fail(p, status);
}

/* ---------- output ---------- */

void out_int(Output *o, int64_t v)
{
    char digits[24];
    size_t n;
    const char *at = format_int(v, digits, &n);
    out_write(o, (Slice){at, n});
}

void out_pad(Output *o, size_t count, char c)
{
    char run[64];
    memset(run, c, sizeof run);
    for (; count > sizeof run; count -= sizeof run)
        out_write(o, (Slice){run, sizeof run});
    out_write(o, (Slice){run, count});
}

void out_printf(Output *o, const char *format, ...)
{
    char small[256];
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(small, sizeof small, format, args);
    va_end(args);
    if (n >= 0 && (size_t)n < sizeof small) {
        out_write(o, (Slice){small, (size_t)n});
    } else if (n > 0) {
        MemMark mark = mem_mark(&o->proc->mem);
        char *large = mem_alloc(&o->proc->mem, (size_t)n + 1);
        vsnprintf(large, (size_t)n + 1, format, again);
        out_write(o, (Slice){large, (size_t)n});
        mem_reset(&o->proc->mem, mark);
    }
    va_end(again);
}

void out_chunk(Output *o, Slice s, Chunk *chunk)
{
    if (!chunk || s.len < CHUNK_COPY_BELOW) {
        out_write(o, s);
        return;
    }
    output_flush(o);
    ssize_t n = proc_write_chunk(o->proc, o->fd, s, chunk);
    if (n < 0 && !o->error)
        o->error = (int)n;
}

int output_status(Proc *p)
{
    output_flush(p->out);
    int error = p->out->error;
    p->out->error = 0;
    if (!error)
        return 0;
    warn_errno(p, error, "write error");
    return 1;
}

/* Records and output as the program sees them: the main input over the operands, getline, print. */
#include "run.h"

#include <stdarg.h>

#include "machine.h"

/* ---------- messages ---------- */

static void message(Awk *w, const char *kind, const char *format, va_list args)
{
    Buf line;
    MemMark mark = mem_mark(&w->p->mem);
    buf_init(&line, &w->p->mem, BUF_MAX);
    buf_printf(&line, "%s: ", w->p->name);
    if (w->parser) {
        const Source *source;
        unsigned at = parser_line(w, &source);
        buf_printf(&line, "%s:%u: ", source->name, at);
    } else if (w->at) {
        int64_t at = w->at - w->prog.code;
        const Source *source = w->prog.sources[at];
        buf_printf(&line, "%s:%u: ", source ? source->name : "cmd. line", w->prog.lines[at]);
        if (w->fnr > 0) {
            Value *name = &w->globals[G_FILENAME];
            String *s = value_string(w, name);
            buf_printf(&line, "(FILENAME=%s FNR=%.0f) ", s->data, w->fnr);
            string_release(w, s);
        }
    }
    buf_printf(&line, "%s: ", kind);
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    if (n > 0 && buf_reserve(&line, (size_t)n)) {
        vsnprintf(line.data + line.len, (size_t)n + 1, format, again);
        line.len += (size_t)n;
    }
    va_end(again);
    buf_char(&line, '\n');
    output_flush(&w->standard);
    out_write(w->p->err, buf_slice(&line));
    output_flush(w->p->err);
    mem_reset(&w->p->mem, mark);
}

void awk_warning(Awk *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    message(w, "warning", format, args);
    va_end(args);
}

static NORETURN void leave_fatally(Awk *w)
{
    for (Redirect *r = w->redirects; r; r = r->next)
        if (r->writing && !r->standard)
            output_flush(&r->out);
    proc_fail(w->p, 2);
}

void awk_lint(Awk *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    message(w, w->lint == LINT_FATAL ? "fatal" : "warning", format, args);
    va_end(args);
    if (w->lint == LINT_FATAL)
        leave_fatally(w);
}

void awk_fatal(Awk *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    message(w, "fatal", format, args);
    va_end(args);
    leave_fatally(w);
}

/* ---------- output ---------- */

typedef struct Target {
    Output *out;
    bool flush;
} Target;

/* The stream of a print; its name is on the stack. */
static Target target(Awk *w, int32_t to)
{
    if (to == TO_NOTHING)
        return (Target){w->out, false};
    Value *name = pop(w);
    RedirectKind kind = to == TO_PIPE ? RED_PIPE_OUT : to == TO_TWO_WAY ? RED_TWO_WAY : RED_FILE_OUT;
    Redirect *r = redirect_open(w, kind, to == TO_APPEND, name);
    if (!r)
        awk_fatal(w, "cannot open %s `%s' for output: %s", kind == RED_PIPE_OUT ? "pipe" : "two way pipe", value_string(w, name)->data,
              value_string(w, &w->globals[G_ERRNO])->data);
    if (!r->writing)
        awk_fatal(w, "print: attempt to write to closed write end of two-way pipe");
    value_release(w, name);
    return (Target){r->to, r->to == w->p->err || kind == RED_TWO_WAY};
}

static void print_value(Awk *w, Output *o, const Value *v)
{
    if (v->kind == V_STR || v->kind == V_INPUT) {
        out_write(o, string_slice(v->s));
    } else if (v->kind == V_NUM) {
        number_print(w, o, v->n, string_slice(w->ofmt));
    } else {
        String *s = value_string(w, v);
        out_write(o, string_slice(s));
        string_release(w, s);
    }
}

void print_values(Awk *w, uint32_t count, int32_t to, bool formatted)
{
    Target t = target(w, to);
    Value *first = &w->stack[w->top - count];
    if (formatted) {
        Buf *b = &w->work;
        buf_clear(b);
        format_values(w, b, first, count);
        if (b->len)
            out_write(t.out, buf_slice(b));
    } else {
        for (uint32_t i = 0; i < count; i++) {
            if (i)
                out_write(t.out, string_slice(w->ofs));
            print_value(w, t.out, &first[i]);
        }
        out_write(t.out, string_slice(w->ors));
    }
    awk_unwind(w, w->top - count);
    if (t.flush)
        output_flush(t.out);
}

void print_record(Awk *w, int32_t to)
{
    Target t = target(w, to);
    out_write(t.out, record_text(w));
    out_write(t.out, string_slice(w->ors));
    if (t.flush)
        output_flush(t.out);
}

/* ---------- the operands ---------- */

static bool name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

/* var=value among the operands, or of -v. False when it is not one. */
bool awk_assignment(Awk *w, Slice s)
{
    size_t n = 0;
    while (n < s.len && (name_start(s.data[n]) || (n && s.data[n] >= '0' && s.data[n] <= '9')))
        n++;
    if (!n || n >= s.len || s.data[n] != '=')
        return false;
    Slice name = slice(s.data, n);
    if (awk_function(w, name) >= 0)
        awk_fatal(w, "cannot use function name `%.*s' as variable name", (int)n, s.data);
    MapEntry *e = map_get(&w->prog.global_names, name);
    if (!e)
        return true;
    Buf *b = &w->work;
    buf_clear(b);
    awk_unescape(w, slice_from(s, n + 1), true, b);
    global_set(w, (uint32_t)(uintptr_t)e->value - 1, value_input(w, b->len ? buf_slice(b) : SLICE("")));
    return true;
}

static void file_begin(Awk *w, Slice name, int32_t arg)
{
    global_set(w, G_FILENAME, value_input(w, name));
    global_set(w, G_ARGIND, value_num(arg));
    w->fnr = 0;
    w->any_file = true;
}

static Slice argument_text(Awk *w, int32_t i, String **held)
{
    Array *argv = global_array(w, G_ARGV);
    Value key = value_num(i), *v = table_find(w, argv, &key);
    *held = v ? value_string(w, v) : NULL;
    return *held ? string_slice(*held) : SLICE("");
}

static void open_standard(Awk *w)
{
    reader_init(w, &w->input, 0);
    w->stdin_reader = &w->input;
    w->input_open = true;
}

static bool is_directory(Awk *w, int fd)
{
    VStat st;
    return proc_fstat(w->p, fd, &st) == 0 && (st.mode & 0170000) == 0040000;
}

/* Opens a named file; *failed tells why not (0: a directory that was skipped). */
static bool open_named(Awk *w, Slice name, int *failed)
{
    *failed = 0;
    if (slice_is(name, "-") || slice_is(name, "/dev/stdin")) {
        open_standard(w);
        return true;
    }
    MemMark mark = mem_mark(&w->p->mem);
    int fd = proc_open(w->p, mem_copy(&w->p->mem, name), V_READ, 0);
    mem_reset(&w->p->mem, mark);
    if (fd < 0) {
        *failed = -fd;
        return false;
    }
    if (is_directory(w, fd)) {
        proc_close(w->p, fd);
        *failed = EISDIR;
        return false;
    }
    proc_cloexec(w->p, fd, true);
    reader_init(w, &w->input, fd);
    w->input_open = true;
    return true;
}

static void input_close(Awk *w)
{
    if (!w->input_open)
        return;
    if (w->borrowed_from == &w->input && !w->record.text_owner)
        record_pin(w);
    w->borrowed_from = NULL;
    w->input_open = false;
    if (w->input.fd > 0)
        proc_close(w->p, w->input.fd);
    w->stdin_reader = NULL;
}

static void run_block(Awk *w, int32_t entry)
{
    if (entry < 0)
        return;
    Outcome o = machine_run(w, entry);
    if (o == RUN_NEXT_FILE)
        w->skip_file = true;
    unwind_frames(w);
    if (o == RUN_EXIT)
        w->input_over = true;
}

static void file_failed(Awk *w, Slice name, int error)
{
    if (error == EISDIR && w->prog.begin_file < 0) {
        awk_warning(w, "command line argument `%.*s' is a directory: skipped", (int)name.len, name.data);
        return;
    }
    if (error == EISDIR)
        return;
    awk_fatal(w, "cannot open file `%.*s' for reading: %s", (int)name.len, name.data, error_text(error));
}

/* BEGINFILE, with ERRNO set when the file could not be opened; false: the file is skipped. */
static bool file_entered(Awk *w, Slice name, int error)
{
    if (w->prog.begin_file >= 0) {
        if (error)
            set_errno(w, error);
        else
            set_errno_text(w, "");
        w->skip_file = false;
        run_block(w, w->prog.begin_file);
        if (w->input_over)
            return false;
        if (w->skip_file) {
            w->skip_file = false;
            if (!error) {
                if (w->prog.end_file >= 0 && !w->exiting)
                    run_block(w, w->prog.end_file);
                input_close(w);
            }
            return false;
        }
    }
    if (error) {
        file_failed(w, name, error);
        return false;
    }
    if (w->in_place)
        in_place_begin(w, name);
    return true;
}

/* Opens the next operand that is a file; standard input when there was none. */
static bool next_file(Awk *w)
{
    for (;;) {
        double argc = value_number(w, &w->globals[G_ARGC]);
        if (w->next_arg >= argc || w->input_over) {
            if (w->any_file || w->input_over)
                return false;
            w->any_file = true;
            open_standard(w);
            w->fnr = 0;
            global_set(w, G_FILENAME, value_input(w, SLICE("-")));
            if (file_entered(w, SLICE(""), 0))
                return true;
            continue;
        }
        String *held;
        int32_t arg = w->next_arg++;
        Slice name = argument_text(w, arg, &held);
        bool file = name.len && !awk_assignment(w, name), opened = false;
        if (file) {
            int failed;
            opened = open_named(w, name, &failed);
            if (opened || failed != EISDIR || w->prog.begin_file >= 0)
                file_begin(w, name, arg);
            if (opened || failed)
                opened = file_entered(w, name, opened ? 0 : failed) && opened;
        }
        if (held)
            string_release(w, held);
        if (opened)
            return true;
    }
}

static void leave_file(Awk *w)
{
    if (!w->input_open)
        return;
    if (w->prog.end_file >= 0) {
        if (w->borrowed_from == &w->input && !w->record.text_owner)
            record_pin(w);
        run_block(w, w->prog.end_file);
    }
    input_close(w);
    if (w->in_place)
        in_place_end(w);
}

void main_next_file(Awk *w) { leave_file(w); }

bool main_getline(Awk *w, Slice *record, int *result)
{
    *result = 0;
    for (;;) {
        if (w->input_over)
            return false;
        if (!w->input_open && !next_file(w)) {
            w->input_over = true;
            return false;
        }
        int r = reader_record(w, &w->input, record);
        if (r > 0) {
            w->nr++;
            w->fnr++;
            *result = 1;
            return true;
        }
        if (r < 0)
            awk_warning(w, "error reading input file: %s", error_text(w->input.error));
        leave_file(w);
    }
}

bool main_record(Awk *w)
{
    Slice s;
    int result;
    if (!main_getline(w, &s, &result))
        return false;
    record_set(w, s, NULL);
    w->borrowed_from = &w->input;
    return true;
}

/* ---------- getline ---------- */

static int getline_from(Awk *w, unsigned to, Slice *record, const Reader **from)
{
    int result = 0;
    if (to == TO_NOTHING) {
        main_getline(w, record, &result);
        *from = &w->input;
        return result;
    }
    Value name = *pop(w);
    RedirectKind kind = to == TO_FILE ? RED_FILE_IN : to == TO_PIPE ? RED_PIPE_IN : RED_TWO_WAY;
    Redirect *r = redirect_open(w, kind, false, &name);
    value_release(w, &name);
    if (!r || !r->reading)
        return -1;
    Reader *in = r->shared_in ? r->shared_in : &r->in;
    if (kind != RED_FILE_IN)
        redirect_flush_all(w);
    result = reader_record(w, in, record);
    if (result < 0)
        set_errno(w, in->error);
    *from = in;
    return result;
}

void getline_run(Awk *w, unsigned a, int32_t b)
{
    Place at = {.kind = LV_NONE};
    unsigned place = a & 15, to = a >> 4 & 15;
    if (place != LV_RECORD)
        place_pop(w, &at, place, b);
    Slice s;
    const Reader *from = NULL;
    int result = getline_from(w, to, &s, &from);
    if (result > 0 && place == LV_RECORD) {
        record_set(w, s, NULL);
        w->borrowed_from = from;
    } else if (result > 0) {
        place_store(w, &at, value_input(w, s));
    }
    if (place != LV_RECORD)
        place_done(w, &at);
    push(w, value_num(result));
}

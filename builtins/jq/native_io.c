/* native_io: what reaches outside the values: inputs, messages, the environment, the end of the program. */
#include "inputs.h"
#include "compile.h"

static Val with(J *j, Val *a, unsigned n, Val out)
{
    for (unsigned i = 0; i < n; i++)
        val_free(j, a[i]);
    return out;
}

static Val fn_env(J *j, Val *a) { return with(j, a, 1, jq_environment(j)); }

static Val fn_now(J *j, Val *a)
{
    uint32_t ns;
    int64_t s = proc_now(j->proc, &ns);
    return with(j, a, 1, val_num((double)s + (double)(ns / 1000) / 1e6));
}

static Val fn_input(J *j, Val *a)
{
    Val v = VAL_INVALID;
    val_free(j, a[0]);
    switch (jq_inputs_next(j->inputs, &v)) {
    case READ_VALUE:
        return v;
    case READ_ERROR:
        return jq_error(j, "%s", j->inputs->reader.message);
    default:
        return jq_error(j, "break");
    }
}

static Val fn_input_filename(J *j, Val *a)
{
    const char *name = j->inputs->current;
    return with(j, a, 1, name ? val_text(j, name) : VAL_NULL);
}

static Val fn_input_line_number(J *j, Val *a) { return with(j, a, 1, val_num((double)jq_inputs_lines(j->inputs))); }

/* The results so far come first, as on a terminal. */
static void message(J *j, Slice text)
{
    output_flush(j->proc->out);
    out_write(j->proc->err, text);
    output_flush(j->proc->err);
}

static Val fn_debug(J *j, Val *a)
{
    Val pair = arr_push(j, arr_push(j, arr_new(j, 2), val_text(j, "DEBUG:")), val_copy(a[0]));
    PrintStyle style = j->style ? *j->style : (PrintStyle){0}; /* on one line */
    style.pretty = false;
    Val text = val_append(j, val_printed(j, pair, &style), SLICE("\n"));
    jq_inputs_flush(j->inputs);
    message(j, val_slice(text));
    val_free(j, text);
    return a[0];
}

static Val fn_stderr(J *j, Val *a)
{
    Val text = val_tostring(j, val_copy(a[0]));
    jq_inputs_flush(j->inputs);
    message(j, val_slice(text));
    val_free(j, text);
    return a[0];
}

static Val stop(J *j, int status, Val value)
{
    j->halted = true;
    j->halt_status = status;
    j->halt_value = value;
    return VAL_INVALID;
}

static Val fn_halt(J *j, Val *a)
{
    val_free(j, a[0]);
    return stop(j, 0, VAL_INVALID);
}

static Val fn_halt_error(J *j, Val *a)
{
    if (a[1].kind != K_NUMBER) {
        val_free(j, a[1]);
        return jq_error_one(j, a[0], "halt_error/1: number required");
    }
    int status = (int)((int64_t)val_double(a[1]) & 255);
    val_free(j, a[1]);
    return stop(j, status, a[0]);
}

static Val fn_get_search_list(J *j, Val *a)
{
    JqProgram *p = j->machine->program;
    Val out = arr_new(j, p->nsearch);
    for (size_t i = 0; i < p->nsearch; i++)
        out = arr_push(j, out, val_string_utf8(j, p->search[i]));
    return with(j, a, 1, out);
}

static Val fn_get_jq_origin(J *j, Val *a) { return with(j, a, 1, val_text(j, "/usr/bin")); }
static Val fn_get_prog_origin(J *j, Val *a) { return with(j, a, 1, j->prog_origin.kind ? val_copy(j->prog_origin) : val_text(j, ".")); }

static Val fn_modulemeta(J *j, Val *a)
{
    if (a[0].kind != K_STRING)
        return with(j, a, 1, jq_error(j, "modulemeta input module name must be a string"));
    return with(j, a, 1, jq_module_meta(j, j->machine->program, val_slice(a[0])));
}

const Native jq_natives_io[] = {
    {"env", 1, fn_env}, {"now", 1, fn_now}, {"input", 1, fn_input}, {"input_filename", 1, fn_input_filename},
    {"input_line_number", 1, fn_input_line_number}, {"debug", 1, fn_debug}, {"stderr", 1, fn_stderr}, {"halt", 1, fn_halt},
    {"halt_error", 2, fn_halt_error}, {"get_search_list", 1, fn_get_search_list}, {"get_jq_origin", 1, fn_get_jq_origin},
    {"get_prog_origin", 1, fn_get_prog_origin}, {"modulemeta", 1, fn_modulemeta},
    {NULL, 0, NULL},
};

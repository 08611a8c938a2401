/* describe: what a model needs to know about this shell, as text and as tool definitions. */
#include <stdio.h>
#include <stdlib.h>

#include "builtins/registry.h"
#include "internal.h"
#include "lib/base/utf8.h"
#include "lib/kernel/http.h"

/* ---------- text ---------- */

static void describe_persistence(Buf *b, uint32_t flags)
{
    if (flags & SHELL_DESCRIBE_FRESH)
        buf_append(b, SLICE("Between calls only files persist: variables, functions, options and the current directory begin anew each time.\n"));
    else
        buf_append(b, SLICE("State persists between calls: files, variables, functions, options, aliases and the current directory. Background jobs end with "
                            "their call.\n"));
}

static void describe_place(const shell *sh, Buf *b)
{
    Mem mem;
    char *path;
    mem_init(&mem, NULL, NULL, NULL);
    if (vfs_dir_path(kern_vfs(sh->kernel), kern_main(sh->kernel)->cwd, &mem, &path) == 0)
        buf_printf(b, "Current directory: %s\n", path);
    mem_drop(&mem);
}

static const char *bind_words(const BindNote *n)
{
    bool readonly = n->flags & SHELL_BIND_READONLY;
    switch (n->mode) {
    case SHELL_BIND_DIRECT: return readonly ? "live host files, read-only" : "live host files: writes reach the host";
    case SHELL_BIND_OVERLAY: return readonly ? "host files, read-only" : "host files: writes stay in this shell";
    case BIND_CALLBACK: return readonly ? "served by the host program, read-only" : "served by the host program, writable";
    default: return readonly ? "a copy of host files, read-only" : "a copy of host files: writes stay in this shell";
    }
}

static void describe_files(const shell *sh, Buf *b)
{
    if (!sh->binds)
        buf_append(b, SLICE("Files are in memory; no host file is visible.\n"));
    else
        buf_append(b, SLICE("Files are in memory; of the host only this is visible:\n"));
    for (const BindNote *n = sh->binds; n; n = n->next)
        buf_printf(b, "  %s (%s)\n", n->destination, bind_words(n));
}

static void describe_commands(const shell *sh, Buf *b)
{
    buf_append(b, SLICE("Commands, all built in (bash's own and the GNU tools; NAME --help tells the options):"));
    for (size_t n = 0; n < command_count; n++)
        buf_printf(b, " %s", command_table[n]->name);
    buf_char(b, '\n');
    size_t before = b->len;
    if (sh)
        custom_names(sh, b);
    if (b->len > before)
        buf_char(b, '\n');
    buf_append(b, SLICE("Nothing else can be run: no programs of the host, no package managers.\n"));
}

static void amount(Buf *b, const char *what, uint64_t v)
{
    enum { MIB = 1 << 20 };
    if (!v)
        return;
    if (v >= MIB && v % MIB == 0)
        buf_printf(b, ", %s %llu MiB", what, (unsigned long long)(v / MIB));
    else
        buf_printf(b, ", %s %llu bytes", what, (unsigned long long)v);
}

static void describe_limits(const Limits *l, Buf *b)
{
    const uint64_t *v = l->value;
    buf_append(b, SLICE("Limits of a call: "));
    if (v[LIMIT_TIME])
        buf_printf(b, "time %g s", (double)v[LIMIT_TIME] / 1000);
    else
        buf_append(b, SLICE("no time limit"));
    amount(b, "memory", v[LIMIT_MEMORY]);
    amount(b, "output", v[LIMIT_OUTPUT]);
    amount(b, "one file", v[LIMIT_FILE_SIZE]);
    amount(b, "all files", v[LIMIT_FILE_BYTES]);
    buf_append(b, SLICE(". One that is reached is named in the result.\n"));
}

static void describe_network(const shell *sh, Buf *b)
{
    size_t before = b->len;
    buf_append(b, SLICE("Network (curl, wget): only this; a refused request says so:\n"));
    if (sh && kern_net_describe(sh->kernel, b))
        return;
    b->len = before;
    buf_append(b, SLICE("Network: none.\n"));
}

static void describe(const shell *sh, uint32_t flags, Buf *b)
{
    buf_append(b, SLICE("A bash 5.2 shell that lives inside the host program. It starts no processes.\n"));
    describe_persistence(b, flags);
    if (sh) {
        describe_place(sh, b);
        describe_files(sh, b);
    }
    describe_commands(sh, b);
    describe_network(sh, b);
    describe_limits(sh ? kern_limits(sh->kernel) : &limits_default, b);
    buf_append(b, SLICE("Errors come back as text: the exit status in words, then standard error, then standard output. A status other than 0 is a "
                        "result to read, not a broken tool.\n"));
}

/* What is asked of a shell must not meet a run. */
static shell_err usable(shell *sh)
{
    shell_err err = sh ? api_alive(sh) : SHELL_OK;
    if (err)
        return err;
    if (sh && atomic_load(&sh->busy) && !sh->in_callback)
        return api_fail(sh, SHELL_EBUSY, "the shell is running");
    return SHELL_OK;
}

shell_err shell_describe(shell *sh, uint32_t flags, char **out, uint64_t *len)
{
    shell_err err = out ? usable(sh) : SHELL_EINVAL;
    if (err)
        return err;
    Mem mem;
    Buf b;
    mem_init(&mem, NULL, NULL, NULL);
    buf_init(&b, &mem, BUF_MAX);
    describe(sh, flags, &b);
    err = api_give(&b, out, len);
    mem_drop(&mem);
    return err;
}

/* ---------- tool definitions ---------- */

typedef struct {
    const char *name, *type, *text;
    bool required;
} Field;

typedef struct {
    const char *name, *text; /* text NULL: what describe says */
    Field fields[5];
} Tool;

static const Tool tools[] = {
    {"shell", NULL, {
        {"command", "string", "The bash script to run.", true},
        {"timeout_ms", "integer", "End the run after so many milliseconds; default: the shell's time limit.", false},
        {"stdin", "string", "Standard input of the script.", false},
    }},
    {"read_file", "Reads a file of the shell. Long files: give offset and limit, in bytes.", {
        {"path", "string", "The file; a relative path starts at the current directory.", true},
        {"offset", "integer", "First byte to read; default 0.", false},
        {"limit", "integer", "Most bytes to read; default: all.", false},
    }},
    {"write_file", "Writes a file of the shell, whole; missing directories are made.", {
        {"path", "string", "The file; a relative path starts at the current directory.", true},
        {"content", "string", "What the file is to hold.", true},
    }},
    {"list_dir", "Lists a directory of the shell.", {
        {"path", "string", "The directory; a relative path starts at the current directory.", true},
    }},
};

static void json_string(Buf *b, Slice s)
{
    buf_char(b, '"');
    for (size_t n; s.len; s = slice_from(s, n)) {
        uint32_t c = utf8_decode(s.data, s.len, &n);
        if (c == UTF8_BAD)
            buf_append(b, SLICE("\xef\xbf\xbd"));
        else if (c == '\n')
            buf_append(b, SLICE("\\n"));
        else if (c < 0x20 || c == 0x7f)
            buf_printf(b, "\\u%04x", c);
        else {
            if (c == '"' || c == '\\')
                buf_char(b, '\\');
            buf_append(b, slice(s.data, n));
        }
    }
    buf_char(b, '"');
}

static void json_schema(const Tool *t, Buf *b)
{
    buf_append(b, SLICE("{\"type\":\"object\",\"properties\":{"));
    for (const Field *f = t->fields; f->name; f++) {
        buf_printf(b, "%s\"%s\":{\"type\":\"%s\",%s\"description\":", f == t->fields ? "" : ",", f->name, f->type,
                   strcmp(f->type, "integer") == 0 ? "\"minimum\":0," : "");
        json_string(b, slice_str(f->text));
        buf_char(b, '}');
    }
    buf_append(b, SLICE("},\"required\":["));
    bool first = true;
    for (const Field *f = t->fields; f->name; f++)
        if (f->required) {
            buf_printf(b, "%s\"%s\"", first ? "" : ",", f->name);
            first = false;
        }
    buf_append(b, SLICE("],\"additionalProperties\":false}"));
}

static void json_tool(const Tool *t, int32_t shape, Slice text, Buf *b)
{
    static const char *const schema_key[] = {"inputSchema", "parameters", "input_schema"};
    if (shape == SHELL_TOOLS_OPENAI)
        buf_append(b, SLICE("{\"type\":\"function\",\"function\":"));
    buf_printf(b, "{\"name\":\"%s\",\"description\":", t->name);
    json_string(b, text);
    buf_printf(b, ",\"%s\":", schema_key[shape]);
    json_schema(t, b);
    buf_append(b, shape == SHELL_TOOLS_OPENAI ? SLICE("}}") : SLICE("}"));
}

static void json_tools(const shell *sh, int32_t shape, uint32_t flags, Mem *mem, Buf *b)
{
    Buf text;
    buf_init(&text, mem, BUF_MAX);
    describe(sh, flags, &text);
    size_t count = flags & SHELL_TOOLS_FILES ? ARRAY_LEN(tools) : 1;
    buf_char(b, '[');
    for (size_t n = 0; n < count; n++) {
        if (n)
            buf_char(b, ',');
        json_tool(&tools[n], shape, tools[n].text ? slice_str(tools[n].text) : buf_slice(&text), b);
    }
    buf_char(b, ']');
    b->failed |= text.failed;
}

shell_err shell_tools(shell *sh, int32_t shape, uint32_t flags, char **out, uint64_t *len)
{
    shell_err err = out && shape >= SHELL_TOOLS_MCP && shape <= SHELL_TOOLS_ANTHROPIC ? usable(sh) : SHELL_EINVAL;
    if (err)
        return err;
    Mem mem;
    Mem scratch;
    Buf b;
    mem_init(&mem, NULL, NULL, NULL);
    mem_init(&scratch, NULL, NULL, NULL);
    buf_init(&b, &mem, BUF_MAX);
    json_tools(sh, shape, flags, &scratch, &b);
    err = api_give(&b, out, len);
    mem_drop(&scratch);
    mem_drop(&mem);
    return err;
}

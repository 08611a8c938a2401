/* native: finding the functions by name. */
#include "machine.h"

static const Native *const tables[] = {jq_natives_core, jq_natives_text, jq_natives_math, jq_natives_date, jq_natives_regex, jq_natives_io, jq_natives_yq, jq_natives_yq_nodes, jq_natives_yq_code};

const Native *jq_native_find(Slice name, size_t arity)
{
    for (size_t i = 0; i < ARRAY_LEN(tables); i++)
        for (const Native *n = tables[i]; n->name; n++)
            if (n->args == arity + 1 && n->name[0] == name.data[0] && slice_is(name, n->name))
                return n;
    return NULL;
}

static Val add_name(J *j, Val out, const char *name, unsigned arity)
{
    return name[0] == '_' ? out : arr_push(j, out, val_printf(j, "%s/%u", name, arity));
}

Val jq_native_names(J *j)
{
    Val out = arr_new(j, 256);
    for (size_t i = 0; i < ARRAY_LEN(tables); i++)
        for (const Native *n = tables[i]; n->name; n++)
            out = add_name(j, out, n->name, n->args - 1u);
    for (size_t i = 0; i < jq_prelude_count; i++)
        out = add_name(j, out, jq_prelude[i].name, jq_prelude[i].arity);
    out = add_name(j, out, "empty", 0);
    out = add_name(j, out, "path", 1);
    return add_name(j, out, "range", 2);
}

/* native: what yq's operators need of the command: other files, the place of a document among its file's. jq programs do not see them. */
#include "yq.h"

static Val drop(J *j, Val *a, unsigned n, Val out)
{
    for (unsigned i = 0; i < n; i++)
        val_free(j, a[i]);
    return out;
}

static Val hidden(J *j, Val *a, unsigned n) { return drop(j, a, n, jq_error(j, "not a function of jq")); }

/* The document that a value is, or the one being worked on. */
const YDoc *yq_document_of(const Yq *q, Val v)
{
    const YDoc *d = v.kind == K_ARRAY || v.kind == K_OBJECT ? q->documents : NULL;
    while (d && !val_identical(d->value, v))
        d = d->next;
    return d ? d : q->current;
}

static Val fn_file_index(J *j, Val *a)
{
    if (!j->yq)
        return hidden(j, a, 1);
    const YDoc *d = yq_document_of(j->yq, a[0]);
    return drop(j, a, 1, val_num(d ? (double)d->file : 0));
}

static Val fn_document_index(J *j, Val *a)
{
    if (!j->yq)
        return hidden(j, a, 1);
    const YDoc *d = yq_document_of(j->yq, a[0]);
    return drop(j, a, 1, val_num(d ? (double)d->index : 0));
}

static Val fn_filename(J *j, Val *a)
{
    if (!j->yq)
        return hidden(j, a, 1);
    const YDoc *d = yq_document_of(j->yq, a[0]);
    return drop(j, a, 1, d && d->name ? val_text(j, d->name) : VAL_NULL);
}

/* _yq_load(FILE; FORMAT) */
static Val fn_load(J *j, Val *a)
{
    if (!j->yq)
        return hidden(j, a, 3);
    if (a[1].kind != K_STRING || a[2].kind != K_STRING)
        return drop(j, a, 3, jq_error(j, "load wants the name of a file"));
    const char *name = mem_printf(&j->proc->keep, "%.*s", (int)a[1].str->len, a[1].str->data);
    return drop(j, a, 3, yq_load(j->yq, name, a[2].str->data));
}

/* _yq_parse(FORMAT) of a text */
static Val fn_parse(J *j, Val *a)
{
    if (!j->yq)
        return hidden(j, a, 2);
    if (a[0].kind != K_STRING || a[1].kind != K_STRING)
        return drop(j, a, 2, jq_error(j, "only a string can be parsed"));
    return drop(j, a, 2, yq_parse(j->yq, val_slice(a[0]), a[1].str->data, "-"));
}

static Val fn_split_doc(J *j, Val *a)
{
    if (!j->yq)
        return hidden(j, a, 1);
    j->yq->split_docs = true;
    return a[0];
}

const Native jq_natives_yq[] = {
    {"_yq_file_index", 1, fn_file_index}, {"_yq_document_index", 1, fn_document_index}, {"_yq_filename", 1, fn_filename}, {"_yq_load", 3, fn_load}, {"_yq_parse", 2, fn_parse}, {"_yq_split_doc", 1, fn_split_doc}, {NULL, 0, NULL},
};

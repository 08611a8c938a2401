/* yaml: libyaml's events, one at a time. The text is borrowed; an event's strings live until the next one is asked for. */
#include <stdio.h>
#include <stdlib.h>
#include <yaml.h>

#include "lib/kernel/component.h"

typedef struct Yaml {
    yaml_parser_t parser;
    yaml_event_t event;
    bool live;
    char message[200];
} Yaml;

static void *yaml_new(const char *text, size_t n)
{
    Yaml *y = calloc(1, sizeof *y);
    if (!y || !yaml_parser_initialize(&y->parser)) {
        free(y);
        return NULL;
    }
    yaml_parser_set_input_string(&y->parser, (const unsigned char *)text, n);
    return y;
}

static void yaml_done(void *yaml)
{
    Yaml *y = yaml;
    if (y->live)
        yaml_event_delete(&y->event);
    yaml_parser_delete(&y->parser);
    free(y);
}

static const char *text_of(const yaml_char_t *s) { return (const char *)s; }

static void take_scalar(const yaml_event_t *e, YamlEvent *out)
{
    out->kind = YAML_EV_SCALAR;
    out->anchor = text_of(e->data.scalar.anchor);
    out->tag = text_of(e->data.scalar.tag);
    out->value = text_of(e->data.scalar.value);
    out->len = e->data.scalar.length;
    out->style = e->data.scalar.style == YAML_SINGLE_QUOTED_SCALAR_STYLE   ? YAML_SINGLE
                 : e->data.scalar.style == YAML_DOUBLE_QUOTED_SCALAR_STYLE ? YAML_DOUBLE
                 : e->data.scalar.style == YAML_LITERAL_SCALAR_STYLE       ? YAML_LITERAL
                 : e->data.scalar.style == YAML_FOLDED_SCALAR_STYLE        ? YAML_FOLDED
                                                                           : YAML_PLAIN;
}

static void take(const yaml_event_t *e, YamlEvent *out)
{
    *out = (YamlEvent){.line = e->start_mark.line, .column = e->start_mark.column, .end_line = e->end_mark.line, .end_column = e->end_mark.column};
    switch (e->type) {
    case YAML_DOCUMENT_START_EVENT:
        out->kind = YAML_EV_DOCUMENT;
        out->flow = !e->data.document_start.implicit;
        break;
    case YAML_DOCUMENT_END_EVENT: out->kind = YAML_EV_DOCUMENT_END; break;
    case YAML_STREAM_END_EVENT: out->kind = YAML_EV_END; break;
    case YAML_ALIAS_EVENT:
        out->kind = YAML_EV_ALIAS;
        out->anchor = text_of(e->data.alias.anchor);
        break;
    case YAML_SCALAR_EVENT: take_scalar(e, out); break;
    case YAML_SEQUENCE_START_EVENT:
        out->kind = YAML_EV_SEQUENCE;
        out->anchor = text_of(e->data.sequence_start.anchor);
        out->tag = text_of(e->data.sequence_start.tag);
        out->flow = e->data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE;
        break;
    case YAML_MAPPING_START_EVENT:
        out->kind = YAML_EV_MAPPING;
        out->anchor = text_of(e->data.mapping_start.anchor);
        out->tag = text_of(e->data.mapping_start.tag);
        out->flow = e->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE;
        break;
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT: out->kind = YAML_EV_CLOSE; break;
    default: out->kind = YAML_EV_OTHER; break;
    }
}

static bool yaml_next(void *yaml, YamlEvent *out)
{
    Yaml *y = yaml;
    if (y->live)
        yaml_event_delete(&y->event);
    y->live = false;
    if (yaml_parser_parse(&y->parser, &y->event)) {
        y->live = true;
        take(&y->event, out);
        return true;
    }
    const char *problem = y->parser.problem ? y->parser.problem : "out of memory";
    snprintf(y->message, sizeof y->message, "yaml: line %zu: %s", y->parser.problem_mark.line + 1, problem);
    *out = (YamlEvent){.kind = YAML_EV_END, .value = y->message};
    return false;
}

const YamlFunctions yaml_functions = {yaml_new, yaml_next, yaml_done};

/* yq: jq's engine over YAML, TOML, XML, JSON, CSV, TSV. Private to builtins/jq/yq.
 *
 * A document is read twice over: as a value for the engine, and as a tree of nodes that remembers what a value does not say: comments,
 * styles, anchors, tags, the text of scalars. What is printed is a value; it looks for its node by identity (a container that the program
 * did not touch is the same one), else under its parent's node by key, and takes the node's manners where the value is still the node's.
 */
#ifndef LIBSHELL_YQ_H
#define LIBSHELL_YQ_H

#include "../machine.h"

typedef enum { Y_SCALAR, Y_MAP, Y_SEQ, Y_ALIAS } YKind;

typedef struct YNode YNode;
struct YNode {
    YKind kind;
    int style;             /* of a scalar: YAML_PLAIN ... */
    bool flow, merged;     /* merged: the value came in by <<; the entry is not written */
    bool edited;           /* by an operator: what it says holds wherever the value is put */
    bool key_edited;       /* the same of keynode */
    bool bare;             /* of a format without manners, or made: only a place */
    bool plain;            /* a scalar as it was read without quotes */
    bool took_head;        /* the head comment replaced the first entry's */
    bool tagged, is_key;   /* tagged: the core tag is written too */
    const char *anchor, *tag;
    Slice text;            /* of a scalar, as written */
    Slice head, line, foot; /* comments with their #; several lines with newlines between */
    YNode **keys, **items;
    size_t n, cap;
    struct YIndex *index;  /* of the keys, made when one is first looked for */
    YNode *target;         /* of an alias; NULL: made by an operator */
    YNode *parent, *keynode;
    Slice name;            /* the key in parent; no data: an item, at `place` */
    size_t place, row, column;
    Val value;             /* a reference: identity stays while the node lives */
};

typedef struct YDoc {
    struct YDoc *next;
    YNode *root;           /* NULL: from a format without manners */
    Val value;
    bool explicit_start;
    Slice head;            /* comments before the first node */
    const char *name;
    size_t file, index;    /* which of the files, which document of it */
} YDoc;

typedef struct Yq {
    J *j;
    Proc *p;
    int indent;
    bool pretty, raw, no_separator, color;
    bool split_docs; /* split_doc was used: each result is a document */
    YNode **nodes;   /* by the number that values carry; 0: none */
    size_t count, cap;
    const YDoc *documents; /* eval-all: all of them */
    const YDoc *current;
} Yq;

enum { YQ_DEPTH = 1000, YQ_ADOPT = 200000 };

NORETURN void yq_fail(Yq *q, const char *format, ...) PRINTF_LIKE(2, 3);

/* nodes.c: the value carries the node from now on. */
void yq_remember(Yq *q, Val *v, YNode *node);
YNode *yq_node_of(const Yq *q, Val v);
/* Where a mapping has `key`, as an entry of its own or as one that came by <<; SIZE_MAX: nowhere. */
size_t yq_own_entry(Yq *q, YNode *mapping, Slice key);
size_t yq_merged_entry(Yq *q, YNode *mapping, Slice key);
/* The node to write v by that stands where `there` stood: its own, the place's, or one made of both; NULL: none. */
YNode *yq_effective(Yq *q, Val v, YNode *there);
void yq_adopt(Yq *q, Val *v, YNode *parent, Slice name, size_t place);
bool yq_core_tag(const char *tag);
const char *yq_short_tag(Yq *q, const char *tag);
const char *yq_tag_of(Yq *q, const YNode *node); /* its own, or the core's; short */

/* library.c: the program with yq's operators before it, as jq reads it. */
Slice yq_translate(Yq *q, Slice text);

/* native.c: the document that a value is, or the one being worked on. */
const YDoc *yq_document_of(const Yq *q, Val v);
/* The file as a value of the language: "yaml", "xml", "toml", "json" or "str"; an error of the program when it cannot be read. */
Val yq_load(Yq *q, const char *file, const char *format);
Val yq_parse(Yq *q, Slice text, const char *format, const char *name);

/* yaml_read.c: all documents of a text. */
YDoc *yaml_read(Yq *q, Slice text, const char *name);
Val yaml_scalar_value(Yq *q, Slice text, int style, const char *tag);
/* yaml_write.c: one document with its newline; `root` may be NULL. */
void yaml_write(Yq *q, Sink *s, Val v, YNode *root);
bool yaml_plain_string(Yq *q, Slice text);
/* toml.c, xml.c: one document. */
Val toml_read(Yq *q, Slice text, const char *name);
void toml_write(Yq *q, Sink *s, Val v);
Val xml_read(Yq *q, Slice text, const char *name);
void xml_write(Yq *q, Sink *s, Val v);
/* table.c */
/* props.c: one document. */
Val props_read(Yq *q, Slice text, const char *name);
void props_write(Yq *q, Sink *s, Val v, const char *path);
Val table_read(Yq *q, Slice text, char separator);
void table_write(Yq *q, Sink *s, Val v, char separator);

#endif

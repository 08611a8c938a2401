/* column: what its files share. Options and input in column.c, the table's widths and text in table.c, trees and JSON in json.c. */
#ifndef LIBSHELL_COLUMN_H
#define LIBSHELL_COLUMN_H

#include "../../shared.h"

typedef struct {
    Slice name;
    size_t width, least;
    size_t sum, rows, extreme; /* for no_extreme: widths of the ordinary cells, their number, the widest of all */
    bool hidden, right, truncate, wrap, no_extreme;
} Col;

typedef struct Line {
    Slice *cells;
    size_t count;
    struct Line *parent, *child, *sibling, *last_child; /* --tree */
} Line;

typedef struct {
    Proc *p;
    bool utf8, table, fill_rows, given_table, given_name, keep_empty, json, no_heading, named;
    size_t width, limit;
    const char *separators, *out_separator, *table_name;
    const char *names, *order, *hide, *right, *truncate, *wrap, *no_extreme, *tree, *tree_id, *tree_parent;
    Line **lines;
    size_t line_count, line_cap;
    Col *cols;
    size_t col_count;
    size_t *shown, shown_count; /* indices of cols, in output order */
    size_t tree_col;            /* SIZE_MAX: none */
} Column;

void print_table(Column *c);
void print_json(Column *c);
/* The lines become a forest by their ids and parents; those without a parent stay at the top. */
void build_tree(Column *c, size_t id, size_t parent);
size_t cell_width(const Column *c, Slice s);
Slice line_cell(const Line *l, size_t col);

#endif

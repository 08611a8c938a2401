/* machine: what the dispatch loop and its helpers share. The stack's top is w->top while a helper runs. */
#ifndef LIBSHELL_AWK_MACHINE_H
#define LIBSHELL_AWK_MACHINE_H

#include "awk.h"
#include "ops.h"

static inline Value *pop(Awk *w) { return &w->stack[--w->top]; }
static inline void push(Awk *w, Value v) { w->stack[w->top++] = v; }
void awk_stack_room(Awk *w, uint32_t more);

/* A place resolved: popped from the stack, owned. */
typedef struct Place {
    unsigned kind;
    int32_t b;
    size_t field;
    Array *array; /* a count is held when `held` */
    Value key;
    bool held;
} Place;

void place_pop(Awk *w, Place *at, unsigned kind, int32_t b);
void place_pop_element(Awk *w, Place *at, int32_t b); /* of SYMTAB too, which place_pop takes for the variable */
Value place_value(Awk *w, Place *at); /* counted */
void place_store(Awk *w, Place *at, Value v); /* takes v */
void place_done(Awk *w, Place *at);

Value *cell_at(Awk *w, int32_t b);
Array *array_at(Awk *w, int32_t b);   /* the array of a cell, made when untyped; not for CELL_STACK */
const char *cell_name(Awk *w, int32_t b);
Value special_value(Awk *w, uint32_t index);
double awk_arith(Awk *w, Arith op, double a, double b);

void print_values(Awk *w, uint32_t count, int32_t to, bool formatted);
void print_record(Awk *w, int32_t to);
void getline_run(Awk *w, unsigned a, int32_t b);
void subst_run(Awk *w, unsigned a, int32_t b);
void for_begin(Awk *w, int32_t cell);
bool match_values(Awk *w, const Value *text, const Value *re);
bool match_rx(Awk *w, const Value *text, Rx *rx);
bool match_record(Awk *w, Rx *rx);

#endif

/* compile: what the two halves of awk's compiler share. */
#ifndef LIBSHELL_AWK_COMPILE_H
#define LIBSHELL_AWK_COMPILE_H

#include "awk.h"
#include "ops.h"

/* Jumps that await their target, chained through their operands; -1: none. */
typedef struct Loop {
    int32_t breaks, continues;
    bool is_switch;
    struct Loop *outer;
} Loop;

typedef struct Compiler {
    Awk *w;
    Script *script;
    Loop *loop;
    const Node *node; /* whose line instructions get */
    const Function *function;
    unsigned depth;
} Compiler;

int32_t awk_emit(Compiler *c, unsigned op, unsigned a, int32_t b);
/* A jump whose target is patched later: returns the new head of `chain`. */
int32_t emit_jump(Compiler *c, unsigned op, unsigned a, int32_t chain);
void awk_patch(Compiler *c, int32_t chain, int32_t target);
static inline int32_t here(const Compiler *c) { return c->script->count; }

void compile_expr(Compiler *c, const Node *n);
void compile_element(Compiler *c, const Node *n, unsigned how); /* ELEM_* */
void compile_void(Compiler *c, const Node *n);
/* Jumps (chained) when the truth of n is `sense`. */
int32_t compile_jump(Compiler *c, const Node *n, bool sense, int32_t chain);
void compile_statement(Compiler *c, const Node *n);
/* Pushes what a place needs and gives its LV_* and operand. */
unsigned compile_place(Compiler *c, const Node *n, int32_t *b);
int32_t compile_array(Compiler *c, const Node *n); /* the cell of an array expression; CELL_STACK: pushed */
void compile_array_value(Compiler *c, const Node *n);
void compile_subscripts(Compiler *c, const Node *list);
NORETURN void compile_fatal(Compiler *c, const Node *n, const char *format, ...) PRINTF_LIKE(3, 4);
void compile_warning(Compiler *c, const Node *n, const char *format, ...) PRINTF_LIKE(3, 4);
void lint_program(Compiler *c);
int32_t awk_constant(Compiler *c, Value v);

#endif

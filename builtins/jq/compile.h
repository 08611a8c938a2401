/* compile: what the compiler and the module loader share. */
#ifndef LIBSHELL_JQ_COMPILE_H
#define LIBSHELL_JQ_COMPILE_H

#include <stdarg.h>

#include "machine.h"

/* Code being made: of a function, a closure or the program. */
typedef struct Unit {
    struct Unit *outer;
    unsigned depth;
    Ins *code;
    uint32_t count, cap;
    uint32_t locals;
} Unit;

typedef enum {
    SCOPE_VAR,    /* index in unit's frame, or a constant */
    SCOPE_LABEL,
    SCOPE_FUNC,
    SCOPE_PARAM,  /* closure number index of unit's frame */
    SCOPE_ALIAS,  /* another module's function, at_call */
    SCOPE_EXPAND, /* a parameter that stands for `argument`, read where the call stood */
} ScopeKind;

typedef struct Scope {
    struct Scope *outer;
    ScopeKind kind;
    bool root;     /* a function without an outer frame */
    Slice name;
    size_t arity;
    Unit *unit;    /* whose frame it lives in */
    uint32_t index, func;
    unsigned bound; /* by the pattern with this number */
    Val constant;
    const Function *pending; /* SCOPE_FUNC: not compiled yet */
    const Node *argument;
    struct Scope *at_call;
} Scope;

typedef struct Compiler {
    J *j;
    Mem *mem;
    JqProgram *program;
    Unit *unit;
    Scope *scope;
    Scope *library; /* definitions of the library compiled so far */
    unsigned depth; /* of expansions */
    unsigned binding; /* number of the pattern being compiled; 0: one of several, where what is taken last stays */
    unsigned bindings;
    bool exhausted;
} Compiler;

enum { COMPILE_ROOM = 24 << 10 };

uint32_t jq_emit(Compiler *c, Op op, uint8_t sub, uint16_t level, uint32_t arg);
uint32_t jq_add_constant(Compiler *c, Val v);
uint32_t jq_add_func(Compiler *c);
Scope *jq_scope_add(Compiler *c, ScopeKind kind, Slice name);
void jq_unit_begin(Compiler *c, Unit *u);
void jq_unit_end(Compiler *c, Unit *u, uint32_t func);
void jq_define(Compiler *c, const Function *f, Slice name, bool root);
void jq_compile_function(Compiler *c, const Function *f, uint32_t func);
void jq_compile_reference(Compiler *c, Scope *s);
void jq_compile_subexp(Compiler *c, const Node *n);
void jq_compile_node(Compiler *c, const Node *n);
Val jq_environment(J *j);

/* The jump at `at` goes to here. */
void jq_land(Compiler *c, uint32_t at);
uint16_t jq_level_of(const Compiler *c, const Unit *unit);
uint32_t jq_new_local(Compiler *c);
Scope *jq_new_variable(Compiler *c, Slice name);
Scope *jq_find_variable(const Compiler *c, ScopeKind kind, Slice name);
void jq_undefined(Compiler *c, const Node *n, const char *format, ...) PRINTF_LIKE(3, 4); /* an error at n */
bool jq_compile_library_call(Compiler *c, const Node *n); /* false: the library has no such function */
void jq_load_constant(Compiler *c, Val v);
void jq_bind_patterns(Compiler *c, const Node *n); /* the value on top, by one of n's patterns */
void jq_compile_call(Compiler *c, const Node *n);
void jq_compile_variable(Compiler *c, const Node *n);
void jq_compile_loc(Compiler *c, const Node *n);
void jq_compile_nested(Compiler *c, const Node *n); /* outside the path that is followed */

#endif

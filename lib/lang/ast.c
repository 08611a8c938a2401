/* ast: the counted owner of one parsed text. */
#include "parser.h"

#include <stdlib.h>

Ast *ast_new(Budget *budget)
{
    Ast *ast = malloc(sizeof *ast);
    if (!ast)
        return NULL;
    mem_init(&ast->mem, budget, NULL, NULL);
    ast->refs = 1;
    return ast;
}

Ast *ast_ref(Ast *ast)
{
    __atomic_add_fetch(&ast->refs, 1, __ATOMIC_RELAXED);
    return ast;
}

void ast_unref(Ast *ast)
{
    if (!ast || __atomic_sub_fetch(&ast->refs, 1, __ATOMIC_ACQ_REL) != 0)
        return;
    mem_drop(&ast->mem);
    free(ast);
}

Mem *ast_mem(Ast *ast) { return &ast->mem; }

size_t ast_bytes(const Ast *ast) { return sizeof *ast + mem_bytes(&ast->mem); }

/* arith: bash's arithmetic, compiled once where the text is known when the script is parsed.
 *
 * An expression without expansions, or whose expansions are plain $name, ${name}, $1, $#, $? operands, compiles to
 * an Arith (immutable, in the AST's context). At run time a $name operand whose value is not a plain integer makes the
 * evaluation fall back to the text: expanded first, then parsed, as bash does.
 */
#ifndef LIBSHELL_ARITH_H
#define LIBSHELL_ARITH_H

#include "ast.h"

typedef struct Interp Interp;

/* For the parser: NULL when the text must be expanded first or does not parse (the error is then reported at run time). */
Arith *arith_compile(Mem *mem, const Word *text);

/* Evaluates; on an error prints bash's message and returns false. */
bool arith_eval(Interp *in, const Arith *code, const Word *text, int64_t *out);
/* Text that is already expanded: let, (( )) fallback, declare -i, subscripts, test -eq. */
bool arith_eval_index(Interp *in, const Arith *code, const Word *index, int64_t *out); /* the subscript of an indexed array */
bool arith_eval_expanded(Interp *in, Slice text, int64_t *out); /* of text whose $ have been expanded */
Slice expand_arith(Interp *in, const Word *text); /* what arith_eval_expanded takes */
bool arith_eval_text(Interp *in, Slice text, int64_t *out);

#endif

/* parse_fuzz: any bytes are a script. The first byte chooses options; what parses is printed. The same bytes are then read as a prompt's text, as an
 * assignment and as a reference. */
#include <stdlib.h>

#include "lib/lang/parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static Slice alias(void *user, Slice name, bool *found)
{
    (void)user;
    *found = name.len == 1 && name.data[0] == 'q';
    return SLICE("echo \"q ");
}

/* The texts that are no scripts. */
static void pieces(Mem *mem, Buf *out, Slice text, const ParseOptions *o)
{
    ParseError error;
    Slice name, subscript;
    Word *w = parse_dquote_text(mem, text, o, &error);
    if (w)
        print_word(out, w);
    parse_assignment(mem, text, o, &error);
    parse_reference(text, &name, &subscript);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || size > 1 << 16)
        return 0;
    ParseOptions o = {.extglob = data[0] & 1, .aliases = data[0] & 2, .brace_expand = !(data[0] & 4), .posix = data[0] & 8, .alias = alias};
    o.stale_cond = data[0] & 64;
    o.stale_word = data[0] & 128;
    Budget budget = {.limit = 64 << 20};
    Parser *p = parser_new(&budget, slice((const char *)data + 1, size - 1), 1, &o);
    Mem mem;
    Buf out;
    mem_init(&mem, &budget, NULL, NULL);
    buf_init(&out, &mem, 4 << 20);
    Unit unit;
    ParseError error;
    for (ParseState s = p ? PARSE_UNIT : PARSE_END; s != PARSE_END;) {
        s = parser_next(p, &unit, &error);
        parser_warnings(p);
        if (parser_offset(p) > size - 1)
            abort();
        if (s == PARSE_UNIT)
            print_node(&out, unit.node);
        else if (s == PARSE_ERROR && !error.resume)
            break;
    }
    parser_free(p);
    pieces(&mem, &out, slice((const char *)data + 1, size - 1), &o);
    mem_drop(&mem);
    if (budget.used)
        abort();
    return 0;
}

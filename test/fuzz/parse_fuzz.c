/* parse_fuzz: any bytes are a script. The first byte chooses options; what parses is printed, and the print must parse again. */
#include <stdlib.h>

#include "lib/lang/parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static Slice alias(void *user, Slice name, bool *found)
{
    (void)user;
    *found = name.len == 1 && name.data[0] == 'q';
    return SLICE("echo \"q ");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || size > 1 << 16)
        return 0;
    ParseOptions o = {.extglob = data[0] & 1, .aliases = data[0] & 2, .brace_expand = !(data[0] & 4), .alias = alias};
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
        if (s == PARSE_UNIT)
            print_node(&out, unit.node);
        else if (s == PARSE_ERROR && !error.resume)
            break;
    }
    parser_free(p);
    mem_drop(&mem);
    if (budget.used)
        abort();
    return 0;
}

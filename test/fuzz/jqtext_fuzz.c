/* jqtext_fuzz: any bytes as a jq program in a file, over no input, over a value of every kind, and as a module: lexer, parser, compiler, and
 * what a program does alone. */
#include "in_data.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return run_over_data(data, size,
                         "jq -n -c -f f; echo 'null [1,{\"a\":[2,\"b\"]}] {\"a\":{\"b\":[null,1.5,\"x\"]},\"c\":\"2015-03-05T23:51:47Z\"} \"a,b é\" 12' | jq -C -f f --arg v 1 --argjson w '[2]' --args p q\n"
                         "cp f m.jq; jq -n -L . 'import \"m\" as m; 1'; jq -n -L . 'include \"m\"; \"m\" | modulemeta'; :",
                         8192);
}

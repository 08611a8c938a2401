/* yqxml_fuzz: any bytes as XML for yq. What it prints as XML says the same when it is read again. */
#include "in_data.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return run_over_data(data, size,
                         "cp f f.xml; yq -o json f.xml > once || exit 0; yq -o yaml f.xml; yq -o toml f.xml; yq -o props f.xml\n"
                         "yq '.a.b = [1, null, {\"+@c\": \"<&>\"}]' f.xml; grep -qi encoding f && exit 0; yq . f.xml > g.xml && yq . g.xml > h.xml || exit 98\n"
                         "cmp -s g.xml h.xml || exit 99",
                         8192);
}

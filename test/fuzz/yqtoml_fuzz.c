/* yqtoml_fuzz: any bytes as TOML for yq. What it prints as TOML says the same when it is read again. */
#include "in_data.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return run_over_data(data, size,
                         "cp f f.toml; yq -o json f.toml > once || exit 0; yq -o yaml f.toml; yq -o xml f.toml; yq -o props f.toml\n"
                         "yq '.a = 1 | .t.u = [{\"v\": 1.5}, {\"v\": nan}]' f.toml; jq -e '[..] | any(. == null)' once > n 2>&1 && exit 0\n"
                         "yq . f.toml > g.toml && yq -o json g.toml > twice && jq -S . once > a && jq -S . twice > b || exit 98\n"
                         "cmp -s a b || exit 99",
                         8192);
}

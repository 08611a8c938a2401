/* json_fuzz: any bytes as JSON, in every way that jq reads and prints it. What `jq -c .` prints is printed again as it is, whatever the style in
 * between (infinities come first as doubles, then as literals, so twice), and --stream puts together what it took apart. */
#include "in_data.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return run_over_data(data, size,
                         "jq -c --seq . f; jq -c --stream . f; jq -c --stream-errors . f; jq -R . f; jq -Rs . f; jq -S -C . f; jq -a -j . f; jq --tab . f; jq -c '[.[]?] | sort, group_by(.), unique, (tojson | fromjson)' f\n"
                         "jq -c . f > zero || exit 0; jq -c . zero > once\n"
                         "jq . once > pretty && jq -c . pretty > twice; cmp -s once twice || { [ $? = 1 ] && exit 99; }\n"
                         "jq -c 'tojson | fromjson' once > twice; cmp -s once twice || exit 98\n"
                         "jq -n -c 'fromstream(inputs | tostream)' once > twice; cmp -s once twice || exit 98\n:",
                         1 << 14);
}

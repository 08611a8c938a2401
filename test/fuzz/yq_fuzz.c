/* yq_fuzz: any bytes as YAML, JSON, CSV, TSV or properties, printed as YAML, as JSON and after an edit. The first byte chooses the format. */
#include <stdint.h>
#include <stdlib.h>

#include "include/shell.h"
#include "test/components.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const scripts[] = {
    "yq . f; yq -o json -I0 . f; yq '.a = 1' f; yq -P . f; yq 'explode(.)' f; yq -f process . f", "yq -p json . f", "yq -p csv . f; yq -p csv -o csv . f; yq -p props . f", "yq -p tsv -o tsv . f", "yq . f > g; yq . g > h; cmp -s g h; yq -i '.[0] = 2' f; yq -o props . f",
    "yq '.. style=\"double\" | .. line_comment=\"l\"' f; yq '... comments=\"\" | .[0] anchor=\"x\"' f; yq '(.. | key) head_comment |= key' f; yq '[.. | style, tag, anchor, alias, line, head_comment]' f; yq -C '. head_comment=\"h\"' f",
    "yq '.[] |= (. *+ .) | explode(.[0])' f; yq '.. |= (. style=\"folded\" | . tag=\"!!str\")' f; yq '[.. | path, (parent | key)]' f; yq '.a = (.. | to_yaml, to_xml, to_props)' f; yq ea '. *dn .' f f",
    "v=$(cat f); yq -n \"$v\"; yq -n \". style=$v\"", "cat f | { IFS= read -r e; cat > g; yq \"$e\" g; yq ea \"$e\" g g; }",
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || size > 8192)
        return 0;
    shell_limits limits;
    shell_options o;
    shell *sh;
    shell_result *r;
    shell_limits_init(&limits);
    limits.time_ms = 3000;
    limits.memory = 64 << 20;
    limits.output = 4 << 20;
    shell_options_init(&o);
    o.limits = &limits;
    o.component = test_component;
    if (shell_open(&o, &sh) != SHELL_OK)
        return 0;
    const char *script = scripts[data[0] % (sizeof scripts / sizeof *scripts)];
    shell_write_file(sh, "f", (const char *)data + 1, size - 1, 0);
    if (shell_run(sh, script, __builtin_strlen(script), NULL, &r) == SHELL_OK)
        shell_result_free(r);
    if (shell_run(sh, "builtin :", 9, NULL, &r) != SHELL_OK)
        abort();
    shell_result_free(r);
    shell_close(sh);
    return 0;
}

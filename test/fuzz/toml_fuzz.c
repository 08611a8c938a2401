/* toml_fuzz: bytes as a configuration file, TOML or JSON. What is taken or refused is so for a reason that has a line and fits its buffer. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bindings/cli/settings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static Settings s;
    shell_options o;
    memset(&s, 0, sizeof s);
    settings_init(&s);
    bool good = config_text(&s, (const char *)data, size);
    if (good != !s.doc.error[0] || (!good && !memchr(s.doc.error, 0, sizeof s.doc.error)))
        abort();
    if (good)
        settings_options(&s, &o);
    doc_free(&s.doc);
    return 0;
}

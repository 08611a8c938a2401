/* sed_fuzz: any bytes are a sed script, run over a few lines as basic and as extended expressions, with separate files, with NUL-ended lines, and in
 * place. */
#include <stdint.h>

#include "in_shell.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char input[] = "one two\naabb ab\n\n\tx\xC3\xA9y \xFF z\nline five\na/b/c 12\nlast";
    static const char script[] = "cat >in; printf 'r1\\nr2' >r; mkdir d; timeout 2 sed -f s.sed in; timeout 2 sed -E -n -s -f s.sed in - r <in; "
                                 "timeout 2 sed -z --posix -l 9 -f s.sed in; cp in t; timeout 2 sed -E -i.bak -u --debug -f s.sed t r; timeout 2 sed --sandbox -f s.sed r; "
                                 "timeout 2 sed --line-length=4 --follow-symlinks -b -E --quiet -e p -f s.sed r none >/dev/null; timeout 1 sed --in-place=x/* -f s.sed - d <s.sed";
    return run_over_file(data, size, "s.sed", script, input, 1 << 12);
}

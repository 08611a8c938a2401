/* snapshot_fuzz: bytes as the inside of a snapshot, with a header and checksum that are right, so that hostile fields are reached. What is
 * refused leaves the shell as it was; what is taken is whole, can be used, and saved and restored again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "lib/api/internal.h"

enum { HEADER = 20, CHECKSUM = 16, MOST = 1 << 16 };

static void must(bool ok)
{
    if (!ok)
        abort();
}

static char *sealed(const uint8_t *data, size_t size, size_t *len)
{
    *len = HEADER + size + CHECKSUM;
    char *s = malloc(*len);
    must(s);
    memcpy(s, "libshell\1\0\0\0", 12);
    for (unsigned n = 0; n < 8; n++)
        s[12 + n] = (char)(size >> (8 * n) & 255);
    memcpy(s + HEADER, data, size);
    XXH128_canonical_t sum;
    XXH128_canonicalFromHash(&sum, XXH3_128bits(s, HEADER + size));
    memcpy(s + HEADER + size, sum.digest, CHECKSUM);
    return s;
}

static void use(shell *sh)
{
    static const char script[] = "declare -p; declare -f; alias; trap; cd; cd -; ls -lR /home /tmp /workspace; for f in $(declare -F | cut -c12-); do type $f; done; echo \"${!m[@]} ${a[@]}\"";
    shell_run_opts o = {.size = sizeof o, .timeout = 2};
    shell_result *r;
    must(shell_run(sh, script, sizeof script - 1, &o, &r) == SHELL_OK);
    shell_result_free(r);
    char *again;
    uint64_t len;
    shell_err err = shell_snapshot(sh, &again, &len);
    must(err == SHELL_OK || err == SHELL_ENOMEM);
    if (err == SHELL_OK) {
        must(shell_restore(sh, again, len) == SHELL_OK);
        shell_free(again);
    }
}

/* The same bytes unsealed, cut short, of a version to come, with a wrong sum: never taken. */
static void damage(shell *sh, const uint8_t *data, size_t size, char *bytes, size_t len)
{
    must(size < HEADER || memcmp(data, "libshell", 8) == 0 || shell_restore(sh, (const char *)data, size) != SHELL_OK);
    must(shell_restore(sh, bytes, len - 1) != SHELL_OK && shell_restore(sh, bytes, HEADER) != SHELL_OK);
    bytes[8] ^= 2;
    must(shell_restore(sh, bytes, len) == SHELL_ENOTSUP);
    bytes[8] ^= 2;
    bytes[len - 1] ^= 1;
    must(shell_restore(sh, bytes, len) == SHELL_EINVAL);
    bytes[len - 1] ^= 1;
}

/* As an image it is taken or refused by the limits of a shell of its own. */
static void image(const char *bytes, size_t len)
{
    shell_image *image;
    shell_options o;
    shell *sh;
    if (shell_image_from_snapshot(bytes, len, &image) != SHELL_OK)
        return;
    shell_options_init(&o);
    o.image = image;
    must(shell_open(&o, &sh) == SHELL_OK);
    must(shell_close(sh) == SHELL_OK);
    shell_image_free(image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    shell *sh;
    shell_options o;
    shell_limits l;
    const char *why;
    size_t len;
    if (size > MOST)
        return 0;
    shell_limits_init(&l);
    l.file_bytes = 1 << 20;
    l.memory = 16 << 20;
    shell_options_init(&o);
    o.limits = &l;
    o.fixed_clock = 1;
    must(shell_open(&o, &sh) == SHELL_OK);
    must(shell_write_file(sh, "/workspace/kept", "kept", 4, 0) == SHELL_OK);
    char *bytes = sealed(data, size, &len), *kept;
    uint64_t n;
    damage(sh, data, size, bytes, len);
    bool taken = shell_restore(sh, bytes, len) == SHELL_OK;
    must(vfs_check(kern_vfs(sh->kernel), &why));
    if (taken) {
        use(sh);
    } else {
        must(shell_read_file(sh, "/workspace/kept", &kept, &n) == SHELL_OK && n == 4);
        shell_free(kept);
    }
    must(vfs_check(kern_vfs(sh->kernel), &why));
    must(shell_close(sh) == SHELL_OK);
    image(bytes, len);
    free(bytes);
    return 0;
}

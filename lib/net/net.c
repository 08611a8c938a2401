/* net: the component's table. */
#include "net.h"

#include <openssl/crypto.h>
#include <pthread.h>

#include "include/shell.h"

static const NetComponent table = {
    hub_new, hub_free, transfer_start, transfer_resume, transfer_result, transfer_stop, hub_drop_idle, hub_perform, hub_poll, hub_wake,
    resolve_start, resolve_result, resolve_free, own_address, idn_ascii,
};

/* libcurl counts its users, so a host that has set it up as well is not disturbed; OPENSSL_CONF's file is not read unless the host
 * was first. */
static void set_up(void)
{
    OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, NULL);
    memory_set_up();
}

const shell_component *libshell_net(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    static const shell_component component = {sizeof component, "net", SHELL_VERSION, &table, sizeof table};
    pthread_once(&once, set_up);
    return &component;
}

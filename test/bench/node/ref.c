/* ref: what the Node figures are held against: the smallest calls of N-API itself. */
#define NAPI_VERSION 8
#include <node_api.h>
#include <stdlib.h>

static napi_value two_strings(napi_env env, napi_callback_info info)
{
    napi_value object, out, err;
    (void)info;
    napi_create_object(env, &object);
    napi_create_string_utf8(env, "hi\n", 3, &out);
    napi_create_string_utf8(env, "", 0, &err);
    napi_set_named_property(env, object, "stdout", out);
    napi_set_named_property(env, object, "stderr", err);
    return object;
}

typedef struct {
    napi_async_work work;
    napi_deferred deferred;
} Nothing;

static void execute(napi_env env, void *data)
{
    (void)env;
    (void)data;
}

static void complete(napi_env env, napi_status status, void *data)
{
    Nothing *n = data;
    napi_value v;
    (void)status;
    napi_get_undefined(env, &v);
    napi_resolve_deferred(env, n->deferred, v);
    napi_delete_async_work(env, n->work);
    free(n);
}

static napi_value round_trip(napi_env env, napi_callback_info info)
{
    napi_value promise, name;
    Nothing *n = malloc(sizeof *n);
    (void)info;
    napi_create_promise(env, &n->deferred, &promise);
    napi_create_string_utf8(env, "nothing", NAPI_AUTO_LENGTH, &name);
    napi_create_async_work(env, NULL, name, execute, complete, n, &n->work);
    napi_queue_async_work(env, n->work);
    return promise;
}

NAPI_MODULE_INIT()
{
    napi_value f;
    napi_create_function(env, "twoStrings", NAPI_AUTO_LENGTH, two_strings, NULL, &f);
    napi_set_named_property(env, exports, "twoStrings", f);
    napi_create_function(env, "roundTrip", NAPI_AUTO_LENGTH, round_trip, NULL, &f);
    napi_set_named_property(env, exports, "roundTrip", f);
    return exports;
}

#include "api/call.h"
#include "api/handlers.h"
#include "gen_openapi.h"

static void begin_text(struct api_call *call, const char *content_type)
{
    call->response->status = 200;
    call->response->content_type = content_type;
    call_add_header(call, "Cache-Control", "no-store");
}

bool meta_openapi(struct api_call *call, struct err *err)
{
    (void)err;
    call->response->status = 200;
    call->response->content_type = "application/json";
    buf_append(&call->response->body, gen_openapi, gen_openapi_bytes);
    return true;
}

bool meta_healthz(struct api_call *call, struct err *err)
{
    (void)err;
    begin_text(call, "text/plain; charset=utf-8");
    buf_puts(&call->response->body, "ok\n");
    return true;
}

bool meta_readyz(struct api_call *call, struct err *err)
{
    struct err cause = ERR_INIT;
    if (!store_ready(call->api->store, &cause)) {
        return err_set(err, ERR_UNAVAILABLE, "The database does not answer: %s", cause.msg);
    }
    begin_text(call, "text/plain; charset=utf-8");
    buf_puts(&call->response->body, "ready\n");
    if (!store_objects_ready(call->api->store, &cause)) {
        buf_printf(&call->response->body, "uploads are refused: %s\n", cause.msg);
    }
    return true;
}

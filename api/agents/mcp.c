#include "api/agents/mcp.h"

#include "api/agents/tools.h"
#include "api/json_body.h"

#include <string.h>

#define ERROR_REQUEST (-32600)
#define ERROR_METHOD (-32601)
#define ERROR_PARAMS (-32602)

/* The newest first: that is offered to a client who asks for one that is not here. */
static const char *const versions[] = {"2025-06-18", "2025-03-26", "2024-11-05"};
#define VERSION_COUNT (sizeof versions / sizeof versions[0])

static const char *known_version(const char *version)
{
    for (size_t i = 0; version != NULL && i < VERSION_COUNT; i++) {
        if (strcmp(versions[i], version) == 0) {
            return versions[i];
        }
    }
    return NULL;
}

/* ---- answers ---- */

/* {"jsonrpc": "2.0", "id": ..., and what the caller adds */
static struct json_write begin(struct api_call *call, const json_t *id)
{
    struct json_write w = call_json(call, false);
    jw_object_begin(&w);
    jw_key_string(&w, "jsonrpc", "2.0");
    jw_key(&w, "id");
    if (json_is_integer(id)) {
        jw_int(&w, json_integer_value(id));
    } else {
        jw_string(&w, json_string_value(id)); /* null where there is none */
    }
    return w;
}

static bool answer_error(struct api_call *call, const json_t *id, int code, const char *message)
{
    struct json_write w = begin(call, id);
    jw_key_object_begin(&w, "error");
    jw_key_int(&w, "code", code);
    jw_key_string(&w, "message", message);
    jw_object_end(&w);
    jw_object_end(&w);
    return true;
}

static bool answer_initialize(struct api_call *call, const json_t *id, const json_t *params)
{
    const char *wanted =
        known_version(json_string_value(json_object_get(params, "protocolVersion")));
    struct json_write w = begin(call, id);
    jw_key_object_begin(&w, "result");
    jw_key_string(&w, "protocolVersion", wanted == NULL ? versions[0] : wanted);
    jw_key_object_begin(&w, "capabilities");
    jw_key_object_begin(&w, "tools");
    jw_object_end(&w);
    jw_object_end(&w);
    jw_key_object_begin(&w, "serverInfo");
    jw_key_string(&w, "name", "kinetoscope");
    jw_key_string(&w, "version", KS_VERSION);
    jw_object_end(&w);
    jw_key_string(&w, "instructions",
                  "Performance traces of a team. Begin with list_runs: it gives the ids of traces. "
                  "Then overview of a trace; operators, kernels and idle_causes say where its time "
                  "goes. compare says what changed between two traces, history what a metric did "
                  "over uploads. Every answer ends with a link for people.");
    jw_object_end(&w);
    jw_object_end(&w);
    return true;
}

static bool answer_tools(struct api_call *call, const json_t *id)
{
    struct json_write w = begin(call, id);
    jw_key_object_begin(&w, "result");
    jw_key(&w, "tools");
    agents_tools_describe(&w);
    jw_object_end(&w);
    jw_object_end(&w);
    return true;
}

/* What a tool cannot do is a result too, so that the agent reads why. */
static bool answer_call(struct api_call *call, const json_t *id, const json_t *params)
{
    struct buf text;
    struct err err = ERR_INIT;
    const char *name = json_string_value(json_object_get(params, "name"));
    if (name == NULL || !agents_tools_have(name)) {
        return answer_error(call, id, ERROR_PARAMS, "Unknown tool: see tools/list");
    }
    buf_init(&text, AGENTS_ANSWER_MAX_BYTES);
    bool ok = agents_tools_call(call, name, json_object_get(params, "arguments"), &text, &err);
    struct json_write w = begin(call, id);
    jw_key_object_begin(&w, "result");
    jw_key_array_begin(&w, "content");
    jw_object_begin(&w);
    jw_key_string(&w, "type", "text");
    jw_key_string(&w, "text", ok ? text.ptr : err.msg);
    jw_object_end(&w);
    jw_array_end(&w);
    jw_key_bool(&w, "isError", !ok);
    jw_object_end(&w);
    jw_object_end(&w);
    buf_free(&text);
    return true;
}

/* ---- messages ---- */

static bool
answer_request(struct api_call *call, const json_t *id, const char *method, const json_t *params)
{
    if (strcmp(method, "initialize") == 0) {
        return answer_initialize(call, id, params);
    }
    if (strcmp(method, "ping") == 0) {
        struct json_write w = begin(call, id);
        jw_key_object_begin(&w, "result");
        jw_object_end(&w);
        jw_object_end(&w);
        return true;
    }
    if (strcmp(method, "tools/list") == 0) {
        return answer_tools(call, id);
    }
    if (strcmp(method, "tools/call") == 0) {
        return answer_call(call, id, params);
    }
    return answer_error(call, id, ERROR_METHOD, "Unknown method");
}

static bool answer_message(struct api_call *call, const json_t *message)
{
    const json_t *id = json_object_get(message, "id");
    const char *method = json_string_value(json_object_get(message, "method"));
    const char *version = json_string_value(json_object_get(message, "jsonrpc"));
    bool has_id = json_is_integer(id) || json_is_string(id);
    if (version == NULL || strcmp(version, "2.0") != 0 || (id != NULL && !has_id)) {
        (void)answer_error(call, NULL, ERROR_REQUEST, "One message of JSON-RPC 2.0 a request");
        call->response->status = 400;
        return true;
    }
    if (id == NULL || method == NULL) { /* a notification, or an answer of the client */
        call->response->status = 202;
        return true;
    }
    return answer_request(call, id, method, json_object_get(message, "params"));
}

bool agents_mcp(struct api_call *call, struct err *err)
{
    const char *version = call_header(call, "MCP-Protocol-Version");
    if (*version != '\0' && known_version(version) == NULL) {
        return err_set(err, ERR_BAD_REQUEST, "MCP-Protocol-Version: known are %s, %s and %s",
                       versions[0], versions[1], versions[2]);
    }
    json_t *message = json_body_read(call->request, err);
    bool ok = message != NULL && answer_message(call, message);
    json_decref(message);
    return ok;
}

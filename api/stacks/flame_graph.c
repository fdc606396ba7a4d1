/* The merged flame graph of a trace, or of two, as nodes or as folded stacks. */
#include "api/authorize.h"
#include "api/handlers.h"
#include "api/table/table_params.h"
#include "api/timeline/common.h"
#include "ingest/jobs/on_request/stacks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NODES_DEFAULT 5000
#define NODES_MAX 50000
#define DEPTH_DEFAULT 256
#define DEPTH_MAX 1024
#define STEP_MAX INT32_MAX
#define ID_DIGITS 16
/* Of a name in folded stacks, where it is repeated for every node inside it. */
#define FOLDED_NAME_BYTES 512
#define FOLDED_DEPTH_MAX 256
#define FOLDED_NODES_MAX 20000

static const char *const by_words[] = {[FLAME_BY_PYTHON] = "python",
                                       [FLAME_BY_MODULE] = "module",
                                       [FLAME_BY_OPERATOR] = "operator",
                                       NULL};
static const char *const weight_words[] = {[FLAME_HOST] = "host", [FLAME_DEVICE] = "device", NULL};
static const char *const module_words[] = {
    [MODULES_BY_TYPE] = "type", [MODULES_APART] = "instance", NULL};
static const char *const library_words[] = {"shown", "folded", NULL};
enum { FORMAT_JSON, FORMAT_FOLDED };
static const char *const format_words[] = {
    [FORMAT_JSON] = "json", [FORMAT_FOLDED] = "folded", NULL};

struct flame_request {
    struct flame_options options;
    int64_t against_id; /* 0: none */
    size_t format;
};

static bool read_under(const struct api_call *call, uint64_t *under, struct err *err)
{
    const char *text = query_string_word(&call->query, "under");
    if (text == NULL) {
        return true;
    }
    bool is_id = strlen(text) == ID_DIGITS && strspn(text, "0123456789abcdef") == ID_DIGITS;
    *under = is_id ? strtoull(text, NULL, 16) : FLAME_ROOT;
    return is_id ||
           err_set(err, ERR_BAD_REQUEST, "under= takes the id of a node, %d hex digits", ID_DIGITS);
}

static bool read_words(const struct api_call *call, struct flame_request *request, struct err *err)
{
    size_t by = 0;
    size_t weight = 0;
    size_t modules = 0;
    size_t libraries = 0;
    if (!table_params_choice(call, "by", by_words, &by, err) ||
        !table_params_choice(call, "weight", weight_words, &weight, err) ||
        !table_params_choice(call, "modules", module_words, &modules, err) ||
        !table_params_choice(call, "libraries", library_words, &libraries, err) ||
        !table_params_choice(call, "format", format_words, &request->format, err)) {
        return false;
    }
    request->options.by = (enum flame_by)by;
    request->options.weight = (enum flame_weight)weight;
    request->options.modules = (enum call_paths_modules)modules;
    request->options.folds_libraries = libraries == 1;
    return true;
}

static bool read_request(struct api_call *call, struct flame_request *request, struct err *err)
{
    if (!read_words(call, request, err)) {
        return false;
    }
    bool is_folded = request->format == FORMAT_FOLDED;
    int64_t nodes = NODES_DEFAULT;
    int64_t depth = DEPTH_DEFAULT;
    if (!query_string_int(&call->query, "limit", 1, is_folded ? FOLDED_NODES_MAX : NODES_MAX,
                          &nodes, err) ||
        !query_string_int(&call->query, "depth", 1, is_folded ? FOLDED_DEPTH_MAX : DEPTH_MAX,
                          &depth, err) ||
        !query_string_int(&call->query, "step", 1, STEP_MAX, &request->options.step, err) ||
        !query_string_int(&call->query, "against", 1, INT64_MAX, &request->against_id, err) ||
        !read_under(call, &request->options.under, err)) {
        return false;
    }
    request->options.nodes_max = (uint32_t)nodes;
    request->options.depth_max = (uint32_t)depth;
    return request->against_id == 0 || authorize_trace(call, request->against_id, err);
}

/* ---- nodes ---- */

static void write_node(struct json_write *w, const struct flame_node *node, bool has_against)
{
    char id[ID_DIGITS + 1];
    (void)snprintf(id, sizeof id, "%016" PRIx64, node->id);
    jw_object_begin(w);
    jw_key_string(w, "id", id);
    jw_key_known_int(w, "parent", node->parent == FLAME_NO_PARENT ? INT64_MIN : node->parent);
    jw_key_int(w, "depth", node->depth);
    jw_key_string(w, "name", node->name);
    jw_key_string(w, "kind", flame_kind_text(node->kind));
    jw_key_bool(w, "library", node->is_library);
    jw_key_int(w, "total_ns", node->total_ns[0]);
    jw_key_int(w, "self_ns", node->self_ns[0]);
    jw_key_int(w, "calls", node->calls[0]);
    if (has_against) {
        jw_key_int(w, "against_total_ns", node->total_ns[1]);
        jw_key_int(w, "against_self_ns", node->self_ns[1]);
        jw_key_int(w, "against_calls", node->calls[1]);
    }
    jw_object_end(w);
}

static void write_graph(struct api_call *call,
                        const struct flame_request *request,
                        const struct flame_graph *graph)
{
    bool has_against = request->against_id != 0;
    struct json_write w = call_json_long(call, false);
    jw_object_begin(&w);
    jw_key_string(&w, "by", by_words[request->options.by]);
    jw_key_string(&w, "weight", weight_words[request->options.weight]);
    jw_key_known_int(&w, "step", request->options.step == 0 ? INT64_MIN : request->options.step);
    jw_key_int(&w, "steps", graph->steps[0]);
    jw_key_int(&w, "node_count", (int64_t)graph->node_count);
    if (has_against) {
        jw_key_int(&w, "against", request->against_id);
        jw_key_int(&w, "against_steps", graph->steps[1]);
    }
    jw_key_array_begin(&w, "nodes");
    for (size_t i = 0; i < graph->count; i++) {
        write_node(&w, &graph->nodes[i], has_against);
    }
    jw_array_end(&w);
    jw_object_end(&w);
}

/* ---- folded stacks: `train.py(9): main;model.py(4): forward 1200` ---- */

static void put_folded_name(struct buf *out, const struct flame_node *node)
{
    const char *name = node->kind == FLAME_OTHER ? "(other)" : node->name;
    size_t len = strnlen(name, FOLDED_NAME_BYTES);
    while (len > 0 && len == FOLDED_NAME_BYTES && ((unsigned char)name[len] & 0xC0) == 0x80) {
        len--;
    }
    for (size_t i = 0; i < len; i++) {
        bool is_mark = name[i] == ';' || (unsigned char)name[i] < ' ';
        buf_append(out, is_mark ? " " : &name[i], 1);
    }
}

static void write_folded(struct api_call *call, const struct flame_graph *graph)
{
    struct buf *out = &call->response->body;
    size_t path[FOLDED_DEPTH_MAX + 2];
    call->response->content_type = "text/plain; charset=utf-8";
    call_sends_parts(call);
    for (size_t i = 1; i < graph->count; i++) {
        const struct flame_node *node = &graph->nodes[i];
        path[node->depth] = i;
        if (node->self_ns[0] <= 0) {
            continue;
        }
        for (uint32_t depth = 1; depth <= node->depth; depth++) {
            put_folded_name(out, &graph->nodes[path[depth]]);
            buf_putc(out, depth == node->depth ? ' ' : ';');
        }
        buf_printf(out, "%" PRId64 "\n", node->self_ns[0]);
    }
}

bool flame_graph_get(struct api_call *call, struct err *err)
{
    struct flame_request request = {.against_id = 0};
    struct flame_graph graph;
    struct store_trace *trace = NULL;
    if (!read_request(call, &request, err) || !timeline_trace(&trace, call, err)) {
        return false;
    }
    if (!stacks_read_flame(call->api->jobs, trace->id, request.against_id, &request.options,
                           call_arena(call), &graph, err)) {
        return timeline_gone(err);
    }
    if (request.format == FORMAT_FOLDED) {
        write_folded(call, &graph);
    } else {
        write_graph(call, &request, &graph);
    }
    return true;
}

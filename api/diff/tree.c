/* Two traces laid beside each other by their call trees: a node and its children. */
#include "api/diff/common.h"
#include "api/handlers.h"
#include "ingest/query/compare/tree_query.h"

#include <inttypes.h>

static const char *const side_names[DIFF_SIDES] = {
    [DIFF_LEFT] = "base", [DIFF_RIGHT] = "candidate"};

static void put_operators(struct json_write *w, const struct diff_side *side)
{
    jw_key_array_begin(w, "operators");
    for (size_t i = 0; i < side->operator_count; i++) {
        const struct diff_operator *row = &side->operators[i];
        jw_object_begin(w);
        jw_key_string(w, "name", row->name);
        jw_key_int(w, "calls", row->calls);
        jw_key_int(w, "host_ns", row->host);
        jw_key_int(w, "host_self_ns", row->host_self);
        jw_key_int(w, "device_ns", row->device);
        jw_key_int(w, "device_self_ns", row->device_self);
        jw_object_end(w);
    }
    jw_array_end(w);
}

static void put_side(struct json_write *w,
                     const struct diff_side *figures,
                     uint32_t node_count,
                     bool with_operators)
{
    jw_object_begin(w);
    jw_key_string(w, "name", figures->name);
    jw_key_int(w, "nodes", node_count);
    jw_key_string(w, "first_step", figures->first_step);
    jw_key_string(w, "last_step", figures->last_step);
    jw_key_int(w, "host_ns", figures->duration);
    jw_key_int(w, "device_ns", figures->device_duration);
    jw_key_int(w, "total_ns", figures->total_duration);
    if (with_operators) {
        put_operators(w, figures);
    }
    jw_object_end(w);
}

/* A node without its children into an open object. */
static bool put_node(struct json_write *w,
                     struct api_call *call,
                     const struct diff *diff,
                     const struct diff_node *node,
                     const char *path,
                     bool with_operators,
                     struct err *err)
{
    struct diff_side sides[DIFF_SIDES];
    for (int side = 0; side < DIFF_SIDES; side++) {
        if (!query_diff_side(call_arena(call), diff, node, side, &sides[side], err)) {
            return false;
        }
    }
    jw_key_string(w, "path", path);
    jw_key_string(w, "name", sides[node->count[DIFF_LEFT] > 0 ? DIFF_LEFT : DIFF_RIGHT].name);
    for (int side = 0; side < DIFF_SIDES; side++) {
        jw_key(w, side_names[side]);
        put_side(w, &sides[side], node->count[side], with_operators);
    }
    return true;
}

static bool put_child(struct json_write *w,
                      struct api_call *call,
                      const struct diff *diff,
                      const struct diff_node *node,
                      const char *path,
                      struct err *err)
{
    jw_object_begin(w);
    bool ok = put_node(w, call, diff, node, path, false, err);
    jw_key_int(w, "children", node->child_count);
    jw_object_end(w);
    return ok;
}

static bool answer(struct api_call *call,
                   const struct diff_traces *traces,
                   const struct diff *diff,
                   const struct diff_node *node,
                   const char *path,
                   struct err *err)
{
    struct json_write w = call_json_long(call, false);
    jw_object_begin(&w);
    jw_key_int(&w, "base_trace", traces->ids[SIDE_BASE]);
    jw_key_int(&w, "candidate_trace", traces->ids[SIDE_CANDIDATE]);
    bool ok = put_node(&w, call, diff, node, path, true, err);
    jw_key_array_begin(&w, "children");
    for (uint32_t i = 0; ok && i < node->child_count; i++) {
        const char *below = call_format(call, "%s-%" PRIu32, path, i);
        ok = put_child(&w, call, diff, &diff->nodes[node->first_child + i], below, err);
    }
    jw_array_end(&w);
    jw_object_end(&w);
    return ok;
}

bool diff_tree_get(struct api_call *call, struct err *err)
{
    struct diff_traces traces;
    struct diff diff;
    uint32_t node = 0;
    const char *given = query_string_word(&call->query, "path");
    const char *path = given == NULL ? "0" : given;
    return diff_traces_read(&traces, call, err) &&
           query_diff(call->snapshot, call_arena(call), traces.ids, &diff, err) &&
           query_diff_find(&diff, path, &node, err) &&
           answer(call, &traces, &diff, &diff.nodes[node], path, err);
}

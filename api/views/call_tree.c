/* The operator tree of a trace: its threads, what lies below a node, the nodes of a name. */
#include "ingest/query/views/call_tree.h"

#include "api/call.h"
#include "api/handlers.h"
#include "api/table/rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_DEFAULT 2
#define DEPTH_MAX 1000
#define LIMIT_DEFAULT 500
#define SEARCH_ROWS_MAX 200

static const char *const class_names[CALL_CLASS_COUNT] = {
    [CALL_ROOT] = "root",
    [CALL_PLAIN] = "operator",
    [CALL_LOADER] = "data_loader",
    [CALL_OPTIMIZER] = "optimizer",
    [CALL_STEP] = "step",
    [CALL_MODULE] = "module",
    [CALL_PL_MODULE] = "lightning_module",
    [CALL_PL_PROFILE] = "lightning_profile",
    [CALL_BACKWARD] = "backward",
};

static bool load(struct api_call *call, struct call_tree **tree, struct err *err)
{
    int64_t id = 0;
    if (!call_trace_id(call, &id, err) ||
        !store_call_tree(call->snapshot, call_arena(call), id, tree, err)) {
        return false;
    }
    return *tree != NULL || err_set(err, ERR_NOT_FOUND,
                                    "The upload holds no events, and so no tree: upload a trace of "
                                    "the profiler");
}

bool call_tree_threads(struct api_call *call, struct err *err)
{
    struct call_tree *tree = NULL;
    if (!load(call, &tree, err)) {
        return false;
    }
    struct json_write w = call_json_long(call, false);
    jw_object_begin(&w);
    jw_key_array_begin(&w, "threads");
    for (uint32_t t = 0; t < tree->thread_count; t++) {
        const struct call_thread *thread = &tree->threads[t];
        jw_object_begin(&w);
        jw_key_int(&w, "thread", t);
        jw_key_int(&w, "tid", thread->tid);
        jw_key_string(&w, "label", thread->label);
        jw_key_bool(&w, "lightning_profile", t == tree->profile_thread);
        jw_key_int(&w, "nodes", thread->end - thread->first);
        jw_key_int(&w, "start_ns", tree->start[thread->first]);
        jw_key_int(&w, "end_ns", tree->stop[thread->first]);
        jw_object_end(&w);
    }
    jw_array_end(&w);
    jw_object_end(&w);
    return true;
}

struct request {
    struct call_tree *tree;
    uint32_t thread;
};

/* The thread in params[1]. */
static bool read_thread(struct request *request, const struct api_call *call, struct err *err)
{
    const char *text = call->params[1];
    bool is_number = *text != '\0' && strspn(text, "0123456789") == strlen(text);
    unsigned long long thread =
        is_number && strlen(text) < 11 ? strtoull(text, NULL, 10) : UINT64_MAX;
    if (thread >= request->tree->thread_count) {
        return err_set(err, ERR_NOT_FOUND,
                       "The trace has no thread \"%.20s\": its threads are numbered from 0 and "
                       "there are %" PRIu32,
                       text, request->tree->thread_count);
    }
    request->thread = (uint32_t)thread;
    return true;
}

static bool read_node(const struct request *request,
                      const struct api_call *call,
                      uint32_t *node,
                      struct err *err)
{
    const struct call_thread *thread = &request->tree->threads[request->thread];
    int64_t wanted = thread->first;
    if (!query_string_int(&call->query, "node", 0, UINT32_MAX, &wanted, err)) {
        return false;
    }
    *node = (uint32_t)wanted;
    return (wanted >= thread->first && wanted < thread->end) ||
           err_set(err, ERR_NOT_FOUND,
                   "Thread %" PRIu32 " has no node %" PRId64 ": its nodes are %" PRIu32
                   " to %" PRIu32,
                   request->thread, wanted, thread->first, thread->end - 1);
}

static const char *name_of(const struct call_tree *tree, uint32_t node)
{
    return tree->names[tree->name[node]];
}

static void
write_path(struct json_write *w, const struct call_tree *tree, const uint32_t *path, size_t count)
{
    jw_key_array_begin(w, "path");
    for (size_t i = 0; i < count; i++) {
        jw_object_begin(w);
        jw_key_int(w, "node", path[i]);
        jw_key_string(w, "name", name_of(tree, path[i]));
        jw_object_end(w);
    }
    jw_array_end(w);
}

/* The other end of a forward-backward flow. */
static void write_partner(struct json_write *w, const struct call_tree *tree, uint32_t partner)
{
    jw_key(w, "partner");
    uint32_t thread = partner == CALL_NONE ? CALL_NONE : query_tree_thread_of(tree, partner);
    if (thread == CALL_NONE) {
        jw_null(w);
        return;
    }
    jw_object_begin(w);
    jw_key_int(w, "thread", thread);
    jw_key_int(w, "node", partner);
    jw_key_string(w, "name", name_of(tree, partner));
    jw_object_end(w);
}

static void
write_row(struct json_write *w, const struct call_tree *tree, const struct query_tree_row *row)
{
    uint32_t node = row->node;
    uint32_t stack = tree->call_stack[node];
    jw_object_begin(w);
    jw_key_int(w, "node", node);
    jw_key_int(w, "parent", row->parent);
    jw_key_int(w, "depth", row->depth);
    jw_key_string(w, "name", name_of(tree, node));
    jw_key_string(w, "class", class_names[tree->class[node]]);
    jw_key_string(w, "type", call_type_name((enum call_type)tree->type[node]));
    jw_key_int(w, "start_ns", tree->start[node]);
    jw_key_int(w, "end_ns", tree->stop[node]);
    jw_key_int(w, "duration_ns", rows_sub(tree->stop[node], tree->start[node]));
    jw_key_int(w, "host_self_ns", tree->host_self[node]);
    jw_key_int(w, "device_total_ns", tree->device_total[node]);
    jw_key_int(w, "device_self_ns", tree->device_self[node]);
    jw_key_int(w, "children", row->child_count);
    jw_key_string(w, "call_stack", stack == CALL_NONE ? NULL : tree->names[stack]);
    write_partner(w, tree, tree->partner[node]);
    jw_object_end(w);
}

static bool answer_part(struct api_call *call, const struct request *request, struct err *err)
{
    const struct call_tree *tree = request->tree;
    struct query_tree_part part;
    uint32_t node = 0;
    int64_t depth = DEPTH_DEFAULT;
    int64_t limit = LIMIT_DEFAULT;
    int64_t offset = 0;
    if (!read_node(request, call, &node, err) ||
        !query_string_int(&call->query, "depth", 1, DEPTH_MAX, &depth, err) ||
        !query_string_int(&call->query, "limit", 1, QUERY_TREE_ROWS_MAX, &limit, err) ||
        !query_string_int(&call->query, "offset", 0, UINT32_MAX, &offset, err) ||
        !query_tree_part(call_arena(call), tree, request->thread, node, (uint32_t)depth,
                         (uint32_t)limit, (uint32_t)offset, &part, err)) {
        return false;
    }
    struct json_write w = call_json_long(call, false);
    jw_object_begin(&w);
    jw_key_int(&w, "thread", request->thread);
    jw_key_int(&w, "node", node);
    jw_key_int(&w, "children", part.child_count);
    write_path(&w, tree, part.path, part.path_count);
    jw_key_array_begin(&w, "rows");
    for (size_t i = 0; i < part.row_count; i++) {
        write_row(&w, tree, &part.rows[i]);
    }
    jw_array_end(&w);
    jw_key_bool(&w, "truncated", part.truncated);
    jw_object_end(&w);
    return true;
}

static bool
answer_search(struct api_call *call, const struct request *request, const char *q, struct err *err)
{
    const struct call_tree *tree = request->tree;
    struct query_tree_search found;
    if (!query_tree_search(call_arena(call), tree, request->thread, q, SEARCH_ROWS_MAX, &found,
                           err)) {
        return false;
    }
    struct json_write w = call_json_long(call, false);
    jw_object_begin(&w);
    jw_key_int(&w, "thread", request->thread);
    jw_key_string(&w, "q", q);
    jw_key_int(&w, "total", found.total);
    jw_key_array_begin(&w, "rows");
    for (size_t i = 0; i < found.row_count; i++) {
        const struct query_tree_match *row = &found.rows[i];
        jw_object_begin(&w);
        jw_key_int(&w, "node", row->node);
        jw_key_string(&w, "name", name_of(tree, row->node));
        jw_key_int(&w, "start_ns", tree->start[row->node]);
        jw_key_int(&w, "duration_ns", rows_sub(tree->stop[row->node], tree->start[row->node]));
        write_path(&w, tree, row->path, row->path_count);
        jw_object_end(&w);
    }
    jw_array_end(&w);
    jw_object_end(&w);
    return true;
}

bool call_tree_get(struct api_call *call, struct err *err)
{
    struct request request = {.thread = 0};
    const char *q = query_string_word(&call->query, "q");
    if (!load(call, &request.tree, err) || !read_thread(&request, call, err)) {
        return false;
    }
    return q == NULL ? answer_part(call, &request, err) : answer_search(call, &request, q, err);
}

/* The servers that share the catalogue. */
#include "api/call.h"
#include "api/handlers.h"
#include "ingest/store/store_nodes.h"

static const char *state_text(const struct store_node *row)
{
    if (row->silent_s >= STORE_NODE_GONE_S) {
        return "silent";
    }
    return row->is_draining ? "draining" : "serving";
}

static void write_node(struct json_write *w, const struct store_node *row)
{
    jw_object_begin(w);
    jw_key_string(w, "name", row->name);
    jw_key_string(w, "address", *row->address == '\0' ? NULL : row->address);
    jw_key_string(w, "version", row->version);
    jw_key_string(w, "state", state_text(row));
    jw_key_int(w, "started_at_s", row->started_at_s);
    jw_key_int(w, "silent_s", row->silent_s);
    jw_key_int(w, "jobs", row->job_count);
    jw_key_bool(w, "this", row->is_this);
    jw_object_end(w);
}

bool nodes_list(struct api_call *call, struct err *err)
{
    struct store_node *rows = NULL;
    size_t count = 0;
    if (!store_nodes(call->snapshot, call_arena(call), &rows, &count, err)) {
        return false;
    }
    struct json_write w = call_json(call, false);
    jw_object_begin(&w);
    jw_key_array_begin(&w, "nodes");
    for (size_t i = 0; i < count; i++) {
        write_node(&w, &rows[i]);
    }
    jw_array_end(&w);
    jw_object_end(&w);
    return true;
}

/* What webhooks were told, and what came of it. */
#include "api/call.h"
#include "api/handlers.h"
#include "ingest/store/store_webhooks.h"

#define LIMIT_DEFAULT 100
#define LIMIT_MAX 1000

static void write_delivery(struct json_write *w, const struct store_delivery *row)
{
    jw_object_begin(w);
    jw_key_int(w, "id", row->id);
    jw_key_string(w, "hook", row->hook);
    jw_key_string(w, "place", row->place);
    jw_key_string(w, "metric", row->metric);
    jw_key_string(w, "run", row->run);
    jw_key_string(w, "state", store_delivery_state_text(row->state));
    jw_key_int(w, "attempts", row->attempts);
    jw_key_int(w, "created_at_s", row->created_at_s);
    if (row->state == DELIVERY_WAITING) {
        jw_key_int(w, "next_at_s", row->next_at_s);
    } else {
        jw_key_null(w, "next_at_s");
    }
    jw_key_known_int(w, "status", row->status == 0 ? INT64_MIN : row->status);
    jw_key_string(w, "error", row->error);
    jw_object_end(w);
}

bool webhooks_list(struct api_call *call, struct err *err)
{
    struct store_delivery *rows = NULL;
    size_t count = 0;
    int64_t total = 0;
    int64_t limit = LIMIT_DEFAULT;
    int64_t offset = 0;
    if (!query_string_int(&call->query, "limit", 1, LIMIT_MAX, &limit, err) ||
        !query_string_int(&call->query, "offset", 0, INT64_MAX, &offset, err) ||
        !store_webhook_log(call->snapshot, call_arena(call), limit, offset, &rows, &count, &total,
                           err)) {
        return false;
    }
    struct json_write w = call_json(call, false);
    jw_object_begin(&w);
    jw_key_int(&w, "total", total);
    jw_key_array_begin(&w, "deliveries");
    for (size_t i = 0; i < count; i++) {
        write_delivery(&w, &rows[i]);
    }
    jw_array_end(&w);
    jw_object_end(&w);
    return true;
}

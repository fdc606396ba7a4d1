/* Whose the device work of a trace is [DEV-3]. */
#include "api/authorize.h"
#include "api/handlers.h"
#include "api/table/rows.h"
#include "api/table/table_view.h"
#include "api/timeline/common.h"
#include "ingest/jobs/on_request/analyses.h"

#include <string.h>

#define LIMIT_DEFAULT 100

struct table {
    struct table_view view;
    struct device_operators operators;
};

static void write_members(struct json_write *w, const void *table_void)
{
    const struct table *table = table_void;
    table_view_members(w, &table->view, NULL);
    const struct device_operators *operators = &table->operators;
    jw_key_int(w, "device_ns", operators->device_ns);
    jw_key(w, "companion");
    jw_known_int(w, operators->companion == 0 ? INT64_MIN : operators->companion);
    jw_key_object_begin(w, "alignment");
    jw_key_int(w, "equal", operators->alignment[ALIGN_EQUAL]);
    jw_key_int(w, "skipping", operators->alignment[ALIGN_SKIPPING]);
    jw_key_int(w, "failed", operators->alignment[ALIGN_FAILED]);
    jw_object_end(w);
}

/* ?companion=auto|none|ID */
static bool read_companion(struct api_call *call,
                           enum device_companion *companion,
                           int64_t *companion_id,
                           struct err *err)
{
    const char *word = query_string_word(&call->query, "companion");
    bool is_auto = word == NULL || strcmp(word, "auto") == 0;
    *companion = is_auto                     ? DEVICE_COMPANION_AUTO
                 : strcmp(word, "none") == 0 ? DEVICE_COMPANION_NONE
                                             : DEVICE_COMPANION_GIVEN;
    *companion_id = 0;
    return *companion != DEVICE_COMPANION_GIVEN ||
           (query_string_int(&call->query, "companion", 1, INT64_MAX, companion_id, err) &&
            authorize_trace(call, *companion_id, err)) ||
           err_context(err, "companion is auto, none or the id of a trace");
}

bool device_operators_get(struct api_call *call, struct err *err)
{
    struct table table = {.view = {.table = &table_device_operator,
                                   .stem = "device-time-operators",
                                   .write_members = write_members}};
    struct device_operators *operators = &table.operators;
    struct store_trace *trace = NULL;
    enum device_companion companion = DEVICE_COMPANION_AUTO;
    int64_t companion_id = 0;
    if (!table_view_read(&table.view, call, "device_ns", LIMIT_DEFAULT, err) ||
        !read_companion(call, &companion, &companion_id, err) ||
        !timeline_trace(&trace, call, err) ||
        !(device_read_operators(call->api->jobs, trace->id, companion, companion_id,
                                call_arena(call), &table.operators, err) ||
          timeline_gone(err))) {
        return false;
    }
    for (size_t i = 0; i < operators->count; i++) {
        operators->rows[i].share =
            rows_known_share(operators->rows[i].device_ns, operators->device_ns);
    }
    table.view.context = &table;
    return table_view_run(&table.view, call, operators->rows, operators->count, err) &&
           table_view_answer(&table.view, call);
}

/* Whose the device work of a trace is [DEV-3]. */
#include "api/authorize.h"
#include "api/handlers.h"
#include "api/table/row_query.h"
#include "api/table/rows.h"
#include "api/table/table_answer.h"
#include "api/table/table_params.h"
#include "api/timeline/common.h"
#include "ingest/jobs/on_request/analyses.h"

#include <string.h>

#define LIMIT_DEFAULT 100

enum column {
    COLUMN_KIND,
    COLUMN_NAME,
    COLUMN_CALLS,
    COLUMN_KERNELS,
    COLUMN_TIME,
    COLUMN_SHARE,
    COLUMN_CLASS,
    COLUMN_COUNT
};

static const char *const columns[COLUMN_COUNT + 1] = {
    "kind", "name", "calls", "kernels", "device_ns", "share", "class", NULL,
};
static const char *const text_columns[] = {"kind", "name", "class", NULL};

struct table {
    struct device_operators operators;
    struct table_params params;
    struct row_query_page shown;
};

static const char *name_of(const void *rows, size_t at)
{
    return ((const struct device_operators *)rows)->rows[at].name;
}

static struct row_query_value value_of(const void *rows, size_t at, size_t column)
{
    const struct device_operators *operators = rows;
    const struct device_operator *row = &operators->rows[at];
    switch ((enum column)column) {
    case COLUMN_KIND:
        return row_query_text(device_owner_text(row->owner));
    case COLUMN_NAME:
        return row_query_text(row->name);
    case COLUMN_CALLS:
        return row_query_number(row->calls);
    case COLUMN_KERNELS:
        return row_query_number(row->kernels);
    case COLUMN_CLASS:
        return row_query_text(row->class);
    case COLUMN_TIME:
    case COLUMN_SHARE:
    case COLUMN_COUNT:
        break;
    }
    return row_query_number(row->device_ns);
}

static void write_row(struct field_out *out, const void *table_void, size_t at)
{
    const struct table *table = table_void;
    const struct device_operator blank = {.name = "", .class = ""};
    const struct device_operator *row =
        at == TABLE_BLANK_ROW ? &blank : &table->operators.rows[table->shown.rows[at]];
    field_row_begin(out);
    field_text(out, "kind", device_owner_text(row->owner));
    field_text(out, "name", row->name);
    field_int(out, "calls", row->calls);
    field_int(out, "kernels", row->kernels);
    field_int(out, "device_ns", row->device_ns);
    field_double(out, "share", rows_known_share(row->device_ns, table->operators.device_ns));
    field_text(out, "class", row->class);
    field_row_end(out);
}

static void write_members(struct json_write *w, const void *table_void)
{
    const struct table *table = table_void;
    table_params_members(w, &table->params.page, table->shown.total, NULL);
    const struct device_operators *operators = &table->operators;
    jw_key_int(w, "device_ns", operators->device_ns);
    jw_key(w, "companion");
    if (operators->companion == 0) {
        jw_null(w);
    } else {
        jw_int(w, operators->companion);
    }
    jw_key(w, "alignment");
    jw_object_begin(w);
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
    struct table table = {.shown.count = 0};
    struct store_trace *trace = NULL;
    enum device_companion companion = DEVICE_COMPANION_AUTO;
    int64_t companion_id = 0;
    if (!table_params_read(&table.params, call, text_columns, "device_ns", LIMIT_DEFAULT, err) ||
        !read_companion(call, &companion, &companion_id, err) ||
        !timeline_trace(&trace, call, err) ||
        !(device_read_operators(call->api->jobs, trace->id, companion, companion_id,
                                call_arena(call), &table.operators, err) ||
          timeline_gone(err))) {
        return false;
    }
    const struct row_query_source source = {&table.operators, table.operators.count, columns,
                                            name_of, value_of};
    if (!row_query_run(&table.shown, call, &table.params.page, &source, err)) {
        return false;
    }
    const struct table_answer answer = {"device-time-operators", &table, table.shown.count,
                                        write_row, write_members};
    table_answer(call, table.params.csv, &answer);
    return true;
}

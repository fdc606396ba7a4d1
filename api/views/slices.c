/* Slices of any trace by name, track or category [DEV-5]. */
#include "api/handlers.h"
#include "api/table/row_query.h"
#include "api/table/rows.h"
#include "api/table/table_answer.h"
#include "api/table/table_params.h"
#include "api/timeline/common.h"
#include "api/views/device_time/members.h"

#define LIMIT_DEFAULT 100

static const char *const groups[] = {
    [SLICES_BY_NAME] = "name",
    [SLICES_BY_TRACK] = "track",
    [SLICES_BY_CATEGORY] = "category",
    NULL,
};
static const char *const text_columns[] = {
    "name", "track", "category", "pid", "tid", "process_name", "thread_name", NULL,
};

/* The group's name; of a track also its ids and names; the figures. */
#define TRACK_TEXTS 4
#define NUMBERS 9
#define COLUMN_COUNT (1 + TRACK_TEXTS + NUMBERS + 1)
#define COLUMN_MEAN (COLUMN_COUNT - 1)

static const char *const column_names[COLUMN_COUNT] = {
    NULL,      "pid",    "tid",    "process_name", "thread_name", "count",  "total_ns", "self_ns",
    "busy_ns", "min_ns", "max_ns", "p50_ns",       "p95_ns",      "p99_ns", "mean_ns",
};

struct table {
    struct slices slices;
    size_t by;
    const char *columns[COLUMN_COUNT + 1];
    struct table_params params;
    struct row_query_page shown;
};

static const char *text_of(const struct slices_row *row, size_t column)
{
    const char *const texts[1 + TRACK_TEXTS] = {row->key, row->pid, row->tid, row->process_name,
                                                row->thread_name};
    return texts[column];
}

static int64_t number_of(const struct slices_row *row, size_t column)
{
    const int64_t numbers[NUMBERS] = {row->count,        row->total_ns,     row->self_ns,
                                      row->busy_ns,      row->min_ns,       row->max_ns,
                                      row->duration.p50, row->duration.p95, row->duration.p99};
    return numbers[column - 1 - TRACK_TEXTS];
}

static double mean_of(const struct slices_row *row)
{
    return rows_known_share(row->total_ns, row->count);
}

static const char *name_of(const void *slices, size_t at)
{
    return ((const struct slices *)slices)->rows[at].key;
}

static struct row_query_value value_of(const void *slices, size_t at, size_t column)
{
    const struct slices_row *row = &((const struct slices *)slices)->rows[at];
    return column <= TRACK_TEXTS   ? row_query_text(text_of(row, column))
           : column == COLUMN_MEAN ? row_query_real(mean_of(row))
                                   : row_query_number(number_of(row, column));
}

void slices_row(struct field_out *out, enum slices_group by, const struct slices_row *row)
{
    field_row_begin(out);
    field_text(out, groups[by], row->key);
    for (size_t column = 1; column < COLUMN_MEAN; column++) {
        if (column > TRACK_TEXTS) {
            field_int(out, column_names[column], number_of(row, column));
        } else if (by == SLICES_BY_TRACK) {
            field_text(out, column_names[column], text_of(row, column));
        }
    }
    field_double(out, column_names[COLUMN_MEAN], mean_of(row));
    field_row_end(out);
}

static void write_row(struct field_out *out, const void *table_void, size_t at)
{
    const struct table *table = table_void;
    const struct slices_row blank = {.key = ""};
    slices_row(out, (enum slices_group)table->by,
               at == TABLE_BLANK_ROW ? &blank : &table->slices.rows[table->shown.rows[at]]);
}

static void write_members(struct json_write *w, const void *table_void)
{
    const struct table *table = table_void;
    table_params_members(w, &table->params.page, table->shown.total, groups[table->by]);
    jw_key_int(w, "slices", table->slices.slice_count);
    jw_key_int(w, "duration_ns", table->slices.duration_ns);
}

bool slices_get(struct api_call *call, struct err *err)
{
    struct table table = {.shown.count = 0};
    struct store_trace *trace = NULL;
    if (!table_params_read(&table.params, call, text_columns, "total_ns", LIMIT_DEFAULT, err) ||
        !table_params_choice(call, "group_by", groups, &table.by, err) ||
        !timeline_trace(&trace, call, err) ||
        !(slices_read(call->api->jobs, trace->id, (enum slices_group)table.by, call_arena(call),
                      &table.slices, err) ||
          timeline_gone(err))) {
        return false;
    }
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        table.columns[i] = i == 0 ? groups[table.by] : column_names[i];
    }
    const struct row_query_source source = {&table.slices, table.slices.count, table.columns,
                                            name_of, value_of};
    if (!row_query_run(&table.shown, call, &table.params.page, &source, err)) {
        return false;
    }
    const struct table_answer answer = {"slices", &table, table.shown.count, write_row,
                                        write_members};
    table_answer(call, table.params.csv, &answer);
    return true;
}

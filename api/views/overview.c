#include "api/call.h"
#include "api/catalogue/catalogue_json.h"
#include "api/handlers.h"
#include "api/table/render.h"
#include "api/table/rows.h"
#include "api/table/table_answer.h"
#include "api/table/table_params.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LIMIT_DEFAULT 1000

/* Operators by name and kernels are few: names, not calls. */
static bool
add_names(struct api_call *call, int64_t id, struct trace_results *results, struct err *err)
{
    const struct store_page all = {.limit = 0};
    struct store *store = call->api->store;
    struct arena *arena = call_arena(call);
    int64_t total = 0;
    return store_operators(store, arena, id, OPERATOR_BY_NAME, NULL, NULL, &all,
                           &results->operators[OPERATOR_BY_NAME],
                           &results->operator_count[OPERATOR_BY_NAME], &total, err) &&
           store_kernels(store, arena, id, &all, &results->kernels, &results->kernel_count, &total,
                         err);
}

bool overview_get(struct api_call *call, struct err *err)
{
    int64_t id = 0;
    struct store_trace *trace = NULL;
    struct trace_results *results = NULL;
    struct arena *arena = call_arena(call);
    if (!call_id(call, "trace", &id, err) ||
        !store_trace_get(call->api->store, arena, id, &trace, err) ||
        !store_overview(call->api->store, arena, id, &results, err) ||
        !add_names(call, id, results, err)) {
        return false;
    }
    struct json_write w = call_json(call, false);
    jw_object_begin(&w);
    jw_key(&w, "trace");
    if (!catalogue_json_trace(&w, call->api, trace, err)) {
        return false;
    }
    render_overview(&w, results);
    jw_object_end(&w);
    return true;
}

/* Steps come with the overview, all of them, so they are sorted here. */
struct step_key {
    const struct step_row *row;
    const char *text; /* instead of the number when the column is a text */
    int64_t number;
    size_t index;
};

/* The columns of costs stand in the order of enum time_category. */
enum { COLUMN_START, COLUMN_NAME, COLUMN_DURATION, COLUMN_COST };
#define COLUMN_REST (COLUMN_COST + TIME_CATEGORY_COUNT)

static const char *const columns[] = {
    "start_ns",      "name",        "duration_ns",       "kernel_ns",
    "memcpy_ns",     "memset_ns",   "communication_ns",  "runtime_ns",
    "dataloader_ns", "cpu_exec_ns", "other_ns",          "computation_ns",
    "overlap_ns",    "launches",    "device_activities", NULL,
};

/* Time runs forward: the start ascends as a text does. */
static const char *const ascending_columns[] = {"start_ns", "name", NULL};

static int64_t step_number(const struct step_row *row, size_t column)
{
    const int64_t rest[] = {row->computation_ns, row->overlap_ns, row->launches,
                            row->device_activities};
    if (column == COLUMN_START) {
        return row->start_ns;
    }
    if (column == COLUMN_DURATION) {
        return row->end_ns - row->start_ns;
    }
    return column < COLUMN_REST ? row->cost_ns[column - COLUMN_COST] : rest[column - COLUMN_REST];
}

static int compare_texts_as_numbers(const char *a, const char *b)
{
    size_t a_len = strlen(a);
    size_t b_len = strlen(b);
    if (a_len != b_len) {
        return a_len < b_len ? -1 : 1;
    }
    return strcmp(a, b);
}

static int compare_steps(const void *a_void, const void *b_void)
{
    const struct step_key *a = a_void;
    const struct step_key *b = b_void;
    int order = a->text != NULL ? compare_texts_as_numbers(a->text, b->text)
                                : (a->number > b->number) - (a->number < b->number);
    return order != 0 ? order : (a->index > b->index) - (a->index < b->index);
}

static struct step_key *
sort_steps(struct api_call *call, const struct trace_results *results, size_t column)
{
    size_t count = results->step_count;
    struct step_key *keys = arena_calloc(call_arena(call), count + 1, sizeof *keys);
    for (size_t i = 0; keys != NULL && i < count; i++) {
        const struct step_row *row = &results->steps[i];
        keys[i].row = row;
        keys[i].index = i;
        if (column == COLUMN_NAME) {
            keys[i].text = row->name;
        } else if (!results->steps_undefined) {
            keys[i].number = step_number(row, column);
        }
    }
    if (keys != NULL && count > 0) {
        qsort(keys, count, sizeof *keys, compare_steps);
    }
    return keys;
}

struct steps_table {
    const struct trace_results *results;
    const struct step_key *keys;
    struct table_params params;
    size_t offset, count; /* of the page */
};

static void write_step(struct field_out *out, const void *table_void, size_t at)
{
    const struct steps_table *table = table_void;
    const struct step_row blank = {.name = ""};
    if (at == TABLE_BLANK_ROW) {
        rows_step(out, table->results, &blank);
        return;
    }
    at += table->offset;
    size_t last = table->results->step_count - 1;
    rows_step(out, table->results, table->keys[table->params.page.descending ? last - at : at].row);
}

static void write_steps_members(struct json_write *w, const void *table_void)
{
    const struct steps_table *table = table_void;
    jw_key_int(w, "total", (int64_t)table->results->step_count);
    jw_key(w, "roles");
    render_roles(w, table->results);
}

bool overview_steps(struct api_call *call, struct err *err)
{
    int64_t id = 0;
    size_t column = 0;
    struct steps_table table = {.count = 0};
    struct trace_results *results = NULL;
    if (!call_trace_id(call, &id, err) ||
        !table_params_choice(call, "sort", columns, &column, err) ||
        !table_params_read(&table.params, call, ascending_columns, "start_ns", LIMIT_DEFAULT,
                           err) ||
        !store_overview(call->api->store, call_arena(call), id, &results, err)) {
        return false;
    }
    table.results = results;
    table.keys = sort_steps(call, results, column);
    if (table.keys == NULL) {
        return err_set(err, ERR_NO_MEMORY, "No memory to sort the steps");
    }
    table.count = table_params_slice(&table.params.page, results->step_count, &table.offset);
    const struct table_answer answer = {"steps", &table, table.count, write_step,
                                        write_steps_members};
    table_answer(call, table.params.csv, &answer);
    return true;
}

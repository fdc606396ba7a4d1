#include "api/call.h"
#include "api/catalogue_json.h"
#include "api/handlers.h"
#include "api/render.h"
#include "api/rows.h"
#include "api/table_params.h"

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
    catalogue_json_trace(&w, call->api, trace);
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

/* The columns of costs stand in the order of enum role. */
enum { COLUMN_START, COLUMN_NAME, COLUMN_DURATION, COLUMN_COST };
#define COLUMN_REST (COLUMN_COST + ROLE_COUNT)

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

/* The rows of the page, in its order: `at` counts from 0. */
static const struct step_row *step_at(const struct step_key *keys,
                                      const struct trace_results *results,
                                      const struct table_params *params,
                                      size_t at)
{
    size_t offset = (size_t)params->page.offset;
    bool beyond_limit = params->page.limit != 0 && at >= (size_t)params->page.limit;
    if (beyond_limit || offset >= results->step_count || at >= results->step_count - offset) {
        return NULL;
    }
    at += offset;
    return keys[params->page.descending ? results->step_count - 1 - at : at].row;
}

static void answer_steps_csv(struct api_call *call,
                             const struct trace_results *results,
                             const struct step_key *keys,
                             const struct table_params *params)
{
    struct csv_write csv;
    table_params_begin_csv(call, &csv, "steps");
    struct field_out out = {.notation = FIELD_CSV_HEADER, .csv = &csv};
    const struct step_row blank = {.name = ""};
    rows_step(&out, results, &blank);
    out.notation = FIELD_CSV;
    const struct step_row *row = NULL;
    for (size_t i = 0; (row = step_at(keys, results, params, i)) != NULL; i++) {
        rows_step(&out, results, row);
    }
}

bool overview_steps(struct api_call *call, struct err *err)
{
    int64_t id = 0;
    struct table_params params;
    size_t column = 0;
    struct trace_results *results = NULL;
    if (!call_trace_id(call, &id, err) ||
        !table_params_choice(call, "sort", columns, &column, err) ||
        !table_params_read(&params, call, ascending_columns, "start_ns", LIMIT_DEFAULT, err) ||
        !store_overview(call->api->store, call_arena(call), id, &results, err)) {
        return false;
    }
    const struct step_key *keys = sort_steps(call, results, column);
    if (keys == NULL) {
        return err_set(err, ERR_NO_MEMORY, "No memory to sort the steps");
    }
    if (params.csv) {
        answer_steps_csv(call, results, keys, &params);
        return true;
    }
    struct json_write w = call_json(call, false);
    jw_object_begin(&w);
    jw_key(&w, "rows");
    jw_array_begin(&w);
    const struct step_row *row = NULL;
    for (size_t i = 0; (row = step_at(keys, results, &params, i)) != NULL; i++) {
        render_step(&w, results, row);
    }
    jw_array_end(&w);
    jw_key_int(&w, "total", (int64_t)results->step_count);
    jw_key(&w, "roles");
    render_roles(&w, results);
    jw_object_end(&w);
    return true;
}

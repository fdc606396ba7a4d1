/* Two traces by name: operators and kernels added, removed, changed. */
#include "api/diff/common.h"
#include "api/handlers.h"
#include "api/table/table_view.h"
#include "ingest/query/compare/name_diff.h"
#include "ingest/query/compare/step_query.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define LIMIT_DEFAULT 1000

enum { TABLE_BOTH, TABLE_OPERATORS, TABLE_KERNELS };
static const char *const tables[] = {"", "operators", "kernels", NULL};

/* What the figures of a row are divided by. */
enum { PER_STEP, PER_CALL, PER_TOTAL };
static const char *const units[] = {"step", "call", "total", NULL};

/* A name of both sides, its figures divided. */
struct diff_row {
#define TABLE_DEF "ingest/model/tables/operators/diff_operator.def"
#include "ingest/model/tables/struct.h"
};

static const char *word_of_presence(int value)
{
    return name_presence_text((enum name_presence)value);
}
#define IS_NAME_PRESENCE .kind = TABLE_WORD, .word = word_of_presence, .last = NAME_REMOVED

extern const struct row_table table_diff_operator;
#define TABLE_DEF "ingest/model/tables/operators/diff_operator.def"
#define TABLE_ROW struct diff_row
#include "ingest/model/tables/describe.h"

extern const struct row_table table_diff_kernel;
#define TABLE_DEF "ingest/model/tables/kernels/diff_kernel.def"
#define TABLE_ROW struct diff_row
#include "ingest/model/tables/describe.h"

struct table {
    struct table_view view;
    size_t per;
    int64_t steps[SIDE_COUNT]; /* 0: none */
    struct name_diff diff;
    struct diff_row *rows;
};

/* ---- figures of a row ---- */

/* A figure of one side, per step, call or in total. */
static double
divided(const struct table *table, const struct name_figures *figures, int side, int64_t figure)
{
    if (table->per == PER_STEP) {
        return (double)figure / (double)table->steps[side];
    }
    if (table->per == PER_CALL) {
        return figures->calls == 0 ? 0 : (double)figure / (double)figures->calls;
    }
    return (double)figure;
}

#define SET_FIGURE(row, table, from, figure)                                                \
    do {                                                                                    \
        (row)->base_##figure =                                                              \
            divided(table, &(from)[SIDE_BASE], SIDE_BASE, (from)[SIDE_BASE].figure);        \
        (row)->candidate_##figure = divided(table, &(from)[SIDE_CANDIDATE], SIDE_CANDIDATE, \
                                            (from)[SIDE_CANDIDATE].figure);                 \
        (row)->delta_##figure = (row)->candidate_##figure - (row)->base_##figure;           \
    } while (0)

static struct diff_row
divide(const struct table *table, const char *name, const struct name_figures sides[SIDE_COUNT])
{
    struct diff_row row = {.name = name};
    SET_FIGURE(&row, table, sides, host_ns);
    SET_FIGURE(&row, table, sides, host_self_ns);
    SET_FIGURE(&row, table, sides, device_ns);
    SET_FIGURE(&row, table, sides, device_self_ns);
    struct table of_calls = *table; /* calls are never per call */
    of_calls.per = table->per == PER_CALL ? PER_TOTAL : table->per;
    SET_FIGURE(&row, &of_calls, sides, calls);
    return row;
}

static bool has_device(const struct name_figures sides[SIDE_COUNT])
{
    return sides[SIDE_BASE].device_ns != 0 || sides[SIDE_CANDIDATE].device_ns != 0;
}

static bool fill_rows(struct table *table, struct arena *arena, struct err *err)
{
    const struct name_diff *diff = &table->diff;
    table->rows = arena_calloc(arena, diff->row_count + 1, sizeof *table->rows);
    if (table->rows == NULL) {
        return err_set(err, ERR_NO_MEMORY, "No memory for the rows of a diff");
    }
    for (size_t i = 0; i < diff->row_count; i++) {
        const struct name_diff_row *from = &diff->rows[i];
        struct diff_row *row = &table->rows[i];
        *row = divide(table, from->name, from->sides);
        row->presence = from->presence;
        /* By the time on the device, or on the host where neither side has any. */
        double base = has_device(from->sides) ? row->base_device_ns : row->base_host_ns;
        double delta = has_device(from->sides) ? row->delta_device_ns : row->delta_host_ns;
        row->change = base == 0 ? (double)NAN : delta / base;
        row->magnitude = fabs(table->view.table == &table_diff_kernel ? row->delta_device_ns
                              : has_device(diff->sums)                ? row->delta_device_self_ns
                                                                      : row->delta_host_self_ns);
    }
    return true;
}

/* ---- writing ---- */

/* The sums over all names of both sides, whatever the search. */
static void write_sums(struct json_write *w, const struct table *table)
{
    struct field_out out = {.notation = FIELD_JSON, .json = w};
    struct diff_row whole = divide(table, "", table->diff.sums);
    int64_t by_presence[3] = {0};
    for (size_t i = 0; i < table->diff.row_count; i++) {
        by_presence[table->diff.rows[i].presence]++;
    }
    jw_object_begin(w);
    jw_key_int(w, "names", (int64_t)table->diff.row_count);
    for (int presence = 0; presence < 3; presence++) {
        jw_key_int(w, name_presence_text((enum name_presence)presence), by_presence[presence]);
    }
    field_columns(&out, table->view.table, &whole, 0);
    jw_object_end(w);
}

static void write_unit(struct json_write *w, const struct table *table)
{
    jw_key_string(w, "per", units[table->per]);
    jw_key_object_begin(w, "steps");
    jw_key_int(w, "base", table->steps[SIDE_BASE]);
    jw_key_int(w, "candidate", table->steps[SIDE_CANDIDATE]);
    jw_object_end(w);
}

static void write_members(struct json_write *w, const void *table_void)
{
    const struct table *table = table_void;
    write_unit(w, table);
    table_view_members(w, &table->view, NULL);
    jw_key(w, "sums");
    write_sums(w, table);
}

static struct table table_of(const struct row_table *rows, const char *stem)
{
    return (struct table){
        .view = {.table = rows, .stem = stem, .parts = IN_ROWS, .write_members = write_members}};
}

/* ---- answering ---- */

/* Per step unless something else is asked for; in total where a trace has no steps. */
static bool read_unit(struct table *table,
                      struct api_call *call,
                      const int64_t trace_ids[SIDE_COUNT],
                      struct err *err)
{
    struct query_step_change change;
    if (!table_params_choice(call, "per", units, &table->per, err) ||
        !query_step_change(call->snapshot, call_arena(call), trace_ids, &change, err)) {
        return false;
    }
    memcpy(table->steps, change.step.steps, sizeof table->steps);
    if (table->per != PER_STEP || change.step.per_step) {
        return true;
    }
    table->per = PER_TOTAL;
    return query_string_word(&call->query, "per") == NULL ||
           err_set(err, ERR_BAD_REQUEST, "per=step: trace %lld has no steps",
                   (long long)trace_ids[table->steps[SIDE_BASE] == 0 ? SIDE_BASE : SIDE_CANDIDATE]);
}

static bool load(struct table *table,
                 struct api_call *call,
                 const int64_t trace_ids[SIDE_COUNT],
                 struct err *err)
{
    struct store_snapshot *snapshot = call->snapshot;
    struct arena *arena = call_arena(call);
    enum name_diff_kind kind =
        table->view.table == &table_diff_kernel ? NAME_DIFF_KERNELS : NAME_DIFF_OPERATORS;
    table->view.context = table;
    return read_unit(table, call, trace_ids, err) &&
           table_view_read(&table->view, call, "magnitude", LIMIT_DEFAULT, err) &&
           query_name_diff(snapshot, kind, arena, trace_ids, &table->diff, err) &&
           fill_rows(table, arena, err) &&
           table_view_run(&table->view, call, table->rows, table->diff.row_count, err);
}

static bool answer_both(struct api_call *call, const struct diff_traces *traces, struct err *err)
{
    struct table operators = table_of(&table_diff_operator, "");
    struct table kernels = table_of(&table_diff_kernel, "");
    if (!load(&operators, call, traces->ids, err) || !load(&kernels, call, traces->ids, err)) {
        return false;
    }
    struct json_write w = call_json_long(call, false);
    jw_object_begin(&w);
    if (!diff_traces_members(&w, call, traces, err)) {
        return false;
    }
    write_unit(&w, &operators);
    table_view_rows(&w, "operators", &operators.view);
    table_view_rows(&w, "kernels", &kernels.view);
    jw_key_object_begin(&w, "sums");
    jw_key(&w, "operators");
    write_sums(&w, &operators);
    jw_key(&w, "kernels");
    write_sums(&w, &kernels);
    jw_object_end(&w);
    jw_object_end(&w);
    return true;
}

bool diff_get(struct api_call *call, struct err *err)
{
    static const char *const formats[] = {"json", "csv", NULL};
    struct diff_traces traces;
    size_t choice = 0;
    size_t format = 0;
    if (!table_params_choice(call, "table", tables, &choice, err) ||
        !table_params_choice(call, "format", formats, &format, err) ||
        !diff_traces_read(&traces, call, err)) {
        return false;
    }
    if (choice == TABLE_BOTH && format == 0) {
        return answer_both(call, &traces, err);
    }
    struct table table = choice == TABLE_KERNELS ? table_of(&table_diff_kernel, "diff-kernels")
                                                 : table_of(&table_diff_operator, "diff-operators");
    return load(&table, call, traces.ids, err) && table_view_answer(&table.view, call);
}

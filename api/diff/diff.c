/* Two traces by name: operators and kernels added, removed, changed. */
#include "api/diff/common.h"
#include "api/handlers.h"
#include "api/table/row_query.h"
#include "api/table/rows.h"
#include "api/table/table_answer.h"
#include "api/table/table_params.h"
#include "ingest/query/compare/name_diff.h"
#include "ingest/query/compare/step_query.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define LIMIT_DEFAULT 1000

enum { TABLE_BOTH, TABLE_OPERATORS, TABLE_KERNELS };
static const char *const tables[] = {"", "operators", "kernels", NULL};

static const char *const text_columns[] = {"name", "presence", NULL};

/* What the figures of a row are divided by. */
enum { PER_STEP, PER_CALL, PER_TOTAL };
static const char *const units[] = {"step", "call", "total", NULL};

struct table {
    bool of_kernels;
    size_t per;
    int64_t steps[SIDE_COUNT]; /* 0: none */
    struct table_params params;
    struct name_diff diff;
    struct row_query_page shown;
};

/* ---- figures of a row ---- */

static int64_t calls_of(const struct name_figures *figures);

/* A figure of one side, per step, call or in total. Calls are never per call. */
static double figure_of(const struct table *table,
                        const struct name_figures *figures,
                        int side,
                        int64_t (*figure)(const struct name_figures *))
{
    double value = (double)figure(figures);
    if (table->per == PER_STEP) {
        return value / (double)table->steps[side];
    }
    if (table->per == PER_CALL && figure != calls_of) {
        return figures->calls == 0 ? 0 : value / (double)figures->calls;
    }
    return value;
}

static double delta_of(const struct table *table,
                       const struct name_diff_row *row,
                       int64_t (*figure)(const struct name_figures *))
{
    return figure_of(table, &row->sides[SIDE_CANDIDATE], SIDE_CANDIDATE, figure) -
           figure_of(table, &row->sides[SIDE_BASE], SIDE_BASE, figure);
}

static int64_t host_of(const struct name_figures *figures);
static int64_t host_self_of(const struct name_figures *figures);
static int64_t device_of(const struct name_figures *figures);
static int64_t device_self_of(const struct name_figures *figures);

/* By the time on the device, or on the host where neither side has any. */
static double change_of(const struct table *table, const struct name_diff_row *row)
{
    bool has_device =
        row->sides[SIDE_BASE].device_ns != 0 || row->sides[SIDE_CANDIDATE].device_ns != 0;
    int64_t (*judged)(const struct name_figures *) = has_device ? device_of : host_of;
    double base = figure_of(table, &row->sides[SIDE_BASE], SIDE_BASE, judged);
    return base == 0 ? (double)NAN : delta_of(table, row, judged) / base;
}

/* How much of the whole a row moves: by own time, which no other row counts too. */
static double magnitude_of(const struct table *table, const struct name_diff_row *row)
{
    if (table->of_kernels) {
        return fabs(delta_of(table, row, device_of));
    }
    const struct name_figures *sums = table->diff.sums;
    bool has_device = sums[SIDE_BASE].device_ns != 0 || sums[SIDE_CANDIDATE].device_ns != 0;
    return fabs(delta_of(table, row, has_device ? device_self_of : host_self_of));
}

/* ---- writing ---- */

/* base_<name>, candidate_<name>, delta_<name>: whole numbers in total, fractions per step or call.
 */
static void put_pair(struct field_out *out,
                     const struct table *table,
                     const char *const names[3],
                     const struct name_diff_row *row,
                     int64_t (*figure)(const struct name_figures *))
{
    if (table->per == PER_TOTAL || (table->per == PER_CALL && figure == calls_of)) {
        int64_t base = figure(&row->sides[SIDE_BASE]);
        int64_t candidate = figure(&row->sides[SIDE_CANDIDATE]);
        field_int(out, names[0], base);
        field_int(out, names[1], candidate);
        field_int(out, names[2], rows_sub(candidate, base));
        return;
    }
    field_double(out, names[0], figure_of(table, &row->sides[SIDE_BASE], SIDE_BASE, figure));
    field_double(out, names[1],
                 figure_of(table, &row->sides[SIDE_CANDIDATE], SIDE_CANDIDATE, figure));
    field_double(out, names[2], delta_of(table, row, figure));
}

static int64_t calls_of(const struct name_figures *figures)
{
    return figures->calls;
}

static int64_t host_of(const struct name_figures *figures)
{
    return figures->host_ns;
}

static int64_t host_self_of(const struct name_figures *figures)
{
    return figures->host_self_ns;
}

static int64_t device_of(const struct name_figures *figures)
{
    return figures->device_ns;
}

static int64_t device_self_of(const struct name_figures *figures)
{
    return figures->device_self_ns;
}

struct figure_columns {
    const char *names[3]; /* base, candidate, delta */
    int64_t (*figure)(const struct name_figures *figures);
};

static const struct figure_columns operator_figures[] = {
    {{"base_calls", "candidate_calls", "delta_calls"}, calls_of},
    {{"base_host_ns", "candidate_host_ns", "delta_host_ns"}, host_of},
    {{"base_host_self_ns", "candidate_host_self_ns", "delta_host_self_ns"}, host_self_of},
    {{"base_device_ns", "candidate_device_ns", "delta_device_ns"}, device_of},
    {{"base_device_self_ns", "candidate_device_self_ns", "delta_device_self_ns"}, device_self_of},
};
#define OPERATOR_FIGURES (sizeof operator_figures / sizeof operator_figures[0])

static const struct figure_columns kernel_figures[] = {
    {{"base_calls", "candidate_calls", "delta_calls"}, calls_of},
    {{"base_total_ns", "candidate_total_ns", "delta_ns"}, device_of},
};
#define KERNEL_FIGURES (sizeof kernel_figures / sizeof kernel_figures[0])

static const struct figure_columns *figures_of(const struct table *table, size_t *count)
{
    *count = table->of_kernels ? KERNEL_FIGURES : OPERATOR_FIGURES;
    return table->of_kernels ? kernel_figures : operator_figures;
}

static void write_row(struct field_out *out, const void *table_void, size_t at)
{
    const struct table *table = table_void;
    const struct name_diff_row blank = {.name = ""};
    const struct name_diff_row *row =
        at == TABLE_BLANK_ROW ? &blank : &table->diff.rows[table->shown.rows[at]];
    size_t count = 0;
    const struct figure_columns *figures = figures_of(table, &count);
    field_row_begin(out);
    field_text(out, "name", row->name);
    field_text(out, "presence", name_presence_text(row->presence));
    for (size_t i = 0; i < count; i++) {
        put_pair(out, table, figures[i].names, row, figures[i].figure);
    }
    field_double(out, "change", change_of(table, row));
    field_row_end(out);
}

/* The sums over all names of both sides, whatever the search. */
static void write_sums(struct json_write *w, const struct table *table)
{
    struct field_out out = {.notation = FIELD_JSON, .json = w};
    struct name_diff_row whole = {.name = ""};
    size_t count = 0;
    const struct figure_columns *figures = figures_of(table, &count);
    int64_t by_presence[3] = {0};
    memcpy(whole.sides, table->diff.sums, sizeof whole.sides);
    for (size_t i = 0; i < table->diff.row_count; i++) {
        by_presence[table->diff.rows[i].presence]++;
    }
    jw_object_begin(w);
    jw_key_int(w, "names", (int64_t)table->diff.row_count);
    for (int presence = 0; presence < 3; presence++) {
        jw_key_int(w, name_presence_text((enum name_presence)presence), by_presence[presence]);
    }
    for (size_t i = 0; i < count; i++) {
        put_pair(&out, table, figures[i].names, &whole, figures[i].figure);
    }
    jw_object_end(w);
}

static void write_unit(struct json_write *w, const struct table *table)
{
    jw_key_string(w, "per", units[table->per]);
    jw_key(w, "steps");
    jw_object_begin(w);
    jw_key_int(w, "base", table->steps[SIDE_BASE]);
    jw_key_int(w, "candidate", table->steps[SIDE_CANDIDATE]);
    jw_object_end(w);
}

static void write_members(struct json_write *w, const void *table_void)
{
    const struct table *table = table_void;
    write_unit(w, table);
    table_params_members(w, &table->params.page, table->shown.total, NULL);
    jw_key(w, "sums");
    write_sums(w, table);
}

/* ---- sorting ---- */

#define COLUMNS_MAX (4 + 3 * OPERATOR_FIGURES)
enum { COLUMN_NAME, COLUMN_PRESENCE, COLUMN_CHANGE, COLUMN_MAGNITUDE, COLUMN_FIGURES };

static const char *name_of(const void *table_void, size_t at)
{
    return ((const struct table *)table_void)->diff.rows[at].name;
}

static struct row_query_value value_of(const void *table_void, size_t at, size_t column)
{
    const struct table *table = table_void;
    const struct name_diff_row *row = &table->diff.rows[at];
    if (column == COLUMN_NAME) {
        return row_query_text(row->name);
    }
    if (column == COLUMN_PRESENCE) {
        return row_query_text(name_presence_text(row->presence));
    }
    if (column == COLUMN_CHANGE) {
        return row_query_real(change_of(table, row));
    }
    if (column == COLUMN_MAGNITUDE) {
        return row_query_real(magnitude_of(table, row));
    }
    size_t count = 0;
    const struct figure_columns *figures =
        &figures_of(table, &count)[(column - COLUMN_FIGURES) / 3];
    double base = figure_of(table, &row->sides[SIDE_BASE], SIDE_BASE, figures->figure);
    double candidate =
        figure_of(table, &row->sides[SIDE_CANDIDATE], SIDE_CANDIDATE, figures->figure);
    const double values[] = {base, candidate, candidate - base};
    return row_query_real(values[(column - COLUMN_FIGURES) % 3]);
}

static bool query_rows(struct table *table, struct api_call *call, struct err *err)
{
    const char *columns[COLUMNS_MAX + 1] = {"name", "presence", "change", "magnitude"};
    size_t count = 0;
    const struct figure_columns *figures = figures_of(table, &count);
    for (size_t i = 0; i < count * 3; i++) {
        columns[COLUMN_FIGURES + i] = figures[i / 3].names[i % 3];
    }
    const struct row_query_source source = {table, table->diff.row_count, columns, name_of,
                                            value_of};
    return row_query_run(&table->shown, call, &table->params.page, &source, err);
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
        !query_step_change(call->api->store, call_arena(call), trace_ids, &change, err)) {
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
    struct store *store = call->api->store;
    struct arena *arena = call_arena(call);
    return read_unit(table, call, trace_ids, err) &&
           table_params_read(&table->params, call, text_columns, "magnitude", LIMIT_DEFAULT, err) &&
           (table->of_kernels ? query_kernel_diff(store, arena, trace_ids, &table->diff, err)
                              : query_operator_diff(store, arena, trace_ids, &table->diff, err)) &&
           query_rows(table, call, err);
}

static void write_rows(struct json_write *w, const char *key, const struct table *table)
{
    struct field_out out = {.notation = FIELD_JSON, .json = w};
    jw_key(w, key);
    jw_array_begin(w);
    for (size_t i = 0; i < table->shown.count; i++) {
        write_row(&out, table, i);
    }
    jw_array_end(w);
}

static bool answer_both(struct api_call *call, const struct diff_traces *traces, struct err *err)
{
    struct table operators = {.of_kernels = false};
    struct table kernels = {.of_kernels = true};
    if (!load(&operators, call, traces->ids, err) || !load(&kernels, call, traces->ids, err)) {
        return false;
    }
    struct json_write w = call_json_long(call, false);
    jw_object_begin(&w);
    if (!diff_traces_members(&w, call, traces, err)) {
        return false;
    }
    write_unit(&w, &operators);
    write_rows(&w, "operators", &operators);
    write_rows(&w, "kernels", &kernels);
    jw_key(&w, "sums");
    jw_object_begin(&w);
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
    struct table table = {.of_kernels = choice == TABLE_KERNELS};
    if (!load(&table, call, traces.ids, err)) {
        return false;
    }
    const struct table_answer answer = {table.of_kernels ? "diff-kernels" : "diff-operators",
                                        &table, table.shown.count, write_row, write_members};
    table_answer(call, table.params.csv, &answer);
    return true;
}

#include "api/views/cycles_text.h"

#include "api/table/field.h"
#include "ingest/base/saturating.h"
#include "ingest/base/text/json_write.h"
#include "ingest/model/tables.h"

#include <inttypes.h>
#include <math.h>

/* ---- CSV ---- */

/* Exact, where a double of microseconds since the epoch is not. */
static void put_microseconds(struct csv_write *csv, int64_t ns)
{
    uint64_t size = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    buf_printf(csv->out, ",%s%" PRIu64 ".%03" PRIu64 "0", ns < 0 ? "-" : "", size / 1000,
               size % 1000);
}

static void put_header(struct csv_write *csv)
{
    static const char *const columns[] = {
        "cycle",         "pid",           "hostname",       "beta_pct",
        "function_name", "metric_name",   "device",         "func_type",
        "mu_pct",        "sigma_pct",     "duration",       "interpolation_status",
        "anchor_name",   "anchor_dur_us", "cycle_start_ts", "instances_count",
        "simple_name",   "cycle_kind"};
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        csv_text(csv, columns[i]);
    }
    csv_line_end(csv);
}

static void
put_row(struct csv_write *csv, const struct cycle_row *cycle, const struct cycle_use_row *row)
{
    csv_int(csv, cycle->number);
    csv_int(csv, row->pid);
    csv_text(csv, row->host);
    csv_fixed(csv, row->beta_pct, 4);
    csv_text(csv, row->function);
    csv_text(csv, row->metric == NULL ? "N/A" : row->metric);
    csv_text(csv, row->device);
    csv_text(csv, row->type);
    csv_fixed(csv, row->mu_pct, 4);
    csv_fixed(csv, row->sigma_pct, 4);
    csv_fixed(csv, row->duration_us, 4);
    csv_text(csv, row->interpolation);
    csv_text(csv, cycle->anchor);
    csv_fixed(csv, cycle->dur_us, 4);
    put_microseconds(csv, cycle->start_ns);
    csv_int(csv, row->instances);
    csv_text(csv, row->simple_name);
    csv_text(csv, cycle_kind_name(cycle->kind));
    csv_line_end(csv);
}

void cycles_csv(struct buf *out, const struct trace_results *results)
{
    struct csv_write csv;
    csv_write_init(&csv, out);
    put_header(&csv);
    for (size_t i = 0; i < results->cycle_use_count; i++) {
        const struct cycle_use_row *row = &results->cycle_uses[i];
        put_row(&csv, &results->cycles[row->cycle], row);
    }
}

/* ---- JSON ---- */

void cycles_json(struct buf *out, int64_t start_ns, const struct trace_results *results)
{
    for (size_t i = 0; i < results->cycle_count; i++) {
        struct cycle_row *cycle = &results->cycles[i];
        cycle->start_ns = saturating_sub(cycle->start_ns, start_ns);
    }
    struct json_write w;
    jw_init(&w, out, false);
    jw_object_begin(&w);
    jw_key_string(&w, "source", cycle_source_name(results->cycle_source));
    field_rows(&w, "cycles", &table_cycle, results->cycles, results->cycle_count);
    for (size_t i = 0; i < results->cycle_use_count; i++) {
        struct cycle_use_row *row = &results->cycle_uses[i];
        row->number = results->cycles[row->cycle].number;
    }
    field_rows(&w, "rows", &table_cycle_use, results->cycle_uses, results->cycle_use_count);
    field_rows(&w, "counters", &table_counter, results->counters, results->counter_count);
    jw_object_end(&w);
}

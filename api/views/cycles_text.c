#include "api/views/cycles_text.h"

#include "api/table/csv.h"
#include "ingest/base/text/json_write.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#define START_TEXT_BYTES 32

/* ---- CSV ---- */

/* Lines end as the reference's do on Linux. */
static void end_row(struct csv_write *csv)
{
    buf_putc(csv->out, '\n');
    csv->row_has_cells = false;
}

/* Numbers never stand first in a row, and a minus in front of one makes no formula. */
static void put_number(struct csv_write *csv, double value)
{
    if (isfinite(value)) {
        buf_printf(csv->out, ",%.4f", value);
    } else {
        buf_putc(csv->out, ',');
    }
}

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
    end_row(csv);
}

static void
put_row(struct csv_write *csv, const struct cycle_row *cycle, const struct cycle_use_row *row)
{
    csv_int(csv, cycle->number);
    csv_int(csv, row->pid);
    csv_text(csv, row->host);
    put_number(csv, row->beta_pct);
    csv_text(csv, row->function);
    csv_text(csv, row->metric == NULL ? "N/A" : row->metric);
    csv_text(csv, row->device);
    csv_text(csv, row->type);
    put_number(csv, row->mu_pct);
    put_number(csv, row->sigma_pct);
    put_number(csv, row->duration_us);
    csv_text(csv, row->interpolation);
    csv_text(csv, cycle->anchor);
    put_number(csv, cycle->dur_us);
    put_microseconds(csv, cycle->start_ns);
    csv_int(csv, row->instances);
    csv_text(csv, row->simple_name);
    csv_text(csv, cycle_kind_name(cycle->kind));
    end_row(csv);
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

static void write_cycle(struct json_write *w, const struct cycle_row *cycle)
{
    char start[START_TEXT_BYTES];
    (void)snprintf(start, sizeof start, "%" PRId64, cycle->start_ns);
    jw_object_begin(w);
    jw_key_int(w, "number", cycle->number);
    jw_key_string(w, "kind", cycle_kind_name(cycle->kind));
    jw_key_string(w, "anchor", cycle->anchor);
    jw_key_string(w, "start_ns", start);
    jw_key_double(w, "duration_us", cycle->dur_us);
    jw_object_end(w);
}

static void write_row(struct json_write *w, int64_t number, const struct cycle_use_row *row)
{
    jw_object_begin(w);
    jw_key_int(w, "cycle", number);
    jw_key_int(w, "pid", row->pid);
    jw_key_string(w, "hostname", row->host);
    jw_key_double(w, "beta_pct", row->beta_pct);
    jw_key_string(w, "function_name", row->function);
    jw_key_string(w, "simple_name", row->simple_name);
    jw_key_string(w, "metric_name", row->metric);
    jw_key_string(w, "device", row->device);
    jw_key_string(w, "func_type", row->type);
    jw_key_double(w, "mu_pct", row->mu_pct);
    jw_key_double(w, "sigma_pct", row->sigma_pct);
    jw_key_double(w, "duration_us", row->duration_us);
    jw_key_string(w, "interpolation_status", row->interpolation);
    jw_key_int(w, "instances_count", row->instances);
    jw_object_end(w);
}

static void write_counter(struct json_write *w, const struct counter_row *counter)
{
    jw_object_begin(w);
    jw_key_string(w, "name", counter->name);
    jw_key_string(w, "hostname", counter->host);
    jw_key_int(w, "samples", counter->samples);
    jw_key_double(w, "mean", counter->mean);
    jw_key_double(w, "min", counter->min);
    jw_key_double(w, "max", counter->max);
    jw_key_double(w, "std", counter->std);
    jw_object_end(w);
}

void cycles_json(struct buf *out, const struct trace_results *results)
{
    struct json_write w;
    jw_init(&w, out, false);
    jw_object_begin(&w);
    jw_key_string(&w, "source", cycle_source_name(results->cycle_source));
    jw_key(&w, "cycles");
    jw_array_begin(&w);
    for (size_t i = 0; i < results->cycle_count; i++) {
        write_cycle(&w, &results->cycles[i]);
    }
    jw_array_end(&w);
    jw_key(&w, "rows");
    jw_array_begin(&w);
    for (size_t i = 0; i < results->cycle_use_count; i++) {
        const struct cycle_use_row *row = &results->cycle_uses[i];
        write_row(&w, results->cycles[row->cycle].number, row);
    }
    jw_array_end(&w);
    jw_key(&w, "counters");
    jw_array_begin(&w);
    for (size_t i = 0; i < results->counter_count; i++) {
        write_counter(&w, &results->counters[i]);
    }
    jw_array_end(&w);
    jw_object_end(&w);
}

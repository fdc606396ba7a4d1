#include "api/table/render.h"
#include "api/views/device_time/members.h"
#include "ingest/jobs/pipeline/details.h"
#include "server/cli/report/gains.h"
#include "server/cli/report/places.h"
#include "server/cli/report/report.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>

static double share_of(int64_t part, double sum)
{
    return sum > 0 ? (double)part / sum : 0;
}

static int64_t self_ns(const struct trace_results *results, const struct operator_row *row)
{
    return results->operators_have_device ? row->device_self_ns : row->host_self_ns;
}

static void write_operators(struct json_write *w, const struct trace_results *results)
{
    const struct operator_row *rows = results->operators[OPERATOR_BY_NAME];
    size_t count = results->operator_count[OPERATOR_BY_NAME];
    double sum_ns = 0;
    for (size_t i = 0; i < count; i++) {
        sum_ns += (double)self_ns(results, &rows[i]);
    }
    jw_key_array_begin(w, "operators");
    for (size_t i = 0; i < count; i++) {
        render_operator(w, &rows[i], share_of(self_ns(results, &rows[i]), sum_ns));
    }
    jw_array_end(w);
}

static void write_kernels(struct json_write *w, const struct trace_results *results)
{
    double sum_ns = 0;
    for (size_t i = 0; i < results->kernel_count; i++) {
        sum_ns += (double)results->kernels[i].total_ns;
    }
    jw_key_array_begin(w, "kernels");
    for (size_t i = 0; i < results->kernel_count; i++) {
        const struct kernel_row *row = &results->kernels[i];
        render_kernel(w, row, share_of(row->total_ns, sum_ns),
                      (int64_t)results_step_count(results));
    }
    jw_array_end(w);
}

static void write_slices(struct json_write *w,
                         const char *key,
                         enum slices_group by,
                         const struct slices *slices)
{
    struct field_out out = {.notation = FIELD_JSON, .json = w};
    jw_key_array_begin(w, key);
    for (size_t i = 0; i < slices->count; i++) {
        slices_row(&out, by, &slices->rows[i]);
    }
    jw_array_end(w);
}

/* Null where there are no steps. */
static void write_step(struct json_write *w, int64_t ns, int64_t steps)
{
    jw_key_double(w, "step_ns", steps > 0 ? (double)ns / (double)steps : (double)NAN);
}

static void write_places(struct json_write *w,
                         const struct pipeline_details *details,
                         int64_t steps,
                         struct arena *arena)
{
    struct time_place *places;
    size_t count = time_places_find(&details->stacks, SIZE_MAX, arena, &places);
    jw_key_array_begin(w, "where_time_goes");
    for (size_t i = 0; i < count; i++) {
        jw_object_begin(w);
        jw_key_string(w, "name", places[i].name);
        jw_key_string(w, "operator", places[i].operator_name);
        jw_key_string(w, "source", places[i].source);
        jw_key_int(w, "calls", places[i].calls);
        jw_key_int(w, "total_ns", places[i].total_ns);
        write_step(w, places[i].total_ns, steps);
        jw_key_double(w, "share", share_of(places[i].total_ns, (double)details->stacks.device_ns));
        jw_object_end(w);
    }
    jw_array_end(w);
}

static void write_overlaps(struct json_write *w,
                           const struct pipeline_details *details,
                           int64_t steps,
                           struct arena *arena)
{
    struct overlap *overlaps;
    size_t count = overlaps_find(&details->device_time, arena, &overlaps);
    jw_key_array_begin(w, "overlap_headroom");
    for (size_t i = 0; i < count; i++) {
        jw_object_begin(w);
        jw_key_int(w, "device", overlaps[i].device);
        jw_key_string(w, "what", overlaps[i].what);
        jw_key_int(w, "total_ns", overlaps[i].total_ns);
        jw_key_int(w, "exposed_ns", overlaps[i].exposed_ns);
        jw_key_int(w, "saved_ns", overlaps[i].headroom_ns);
        write_step(w, overlaps[i].headroom_ns, steps);
        jw_key_int(w, "of_ns", overlaps[i].window_ns);
        jw_object_end(w);
    }
    jw_array_end(w);
}

static void write_gains(struct json_write *w,
                        const struct pipeline_details *details,
                        int64_t steps,
                        struct arena *arena)
{
    struct gain gains[GAINS_MAX];
    size_t count = gains_find(details, arena, gains);
    jw_key_array_begin(w, "what_to_do_first");
    for (size_t i = 0; i < count; i++) {
        jw_object_begin(w);
        jw_key_string(w, "kind", gains[i].kind);
        jw_key_string(w, "name", gains[i].name);
        jw_key_string(w, "source", gains[i].source);
        jw_key_int(w, "saved_ns", gains[i].saved_ns);
        write_step(w, gains[i].saved_ns, steps);
        jw_key_int(w, "of_ns", gains[i].of_ns);
        jw_object_end(w);
    }
    jw_array_end(w);
}

static void write_details(struct json_write *w,
                          const struct trace_results *results,
                          const struct pipeline_details *details)
{
    int64_t steps = report_step_count(results, details);
    struct arena arena;
    jw_key_object_begin(w, "device_time");
    device_time_members(w, &details->device_time);
    jw_object_end(w);
    jw_key_object_begin(w, "engine_steps");
    engine_steps_members(w, &details->engine_steps);
    jw_object_end(w);
    jw_key_object_begin(w, "slices");
    jw_key_int(w, "slices", details->names.slice_count);
    jw_key_int(w, "duration_ns", details->names.duration_ns);
    write_slices(w, "names", SLICES_BY_NAME, &details->names);
    write_slices(w, "tracks", SLICES_BY_TRACK, &details->tracks);
    jw_object_end(w);
    arena_init(&arena, 0);
    write_places(w, details, steps, &arena);
    write_overlaps(w, details, steps, &arena);
    write_gains(w, details, steps, &arena);
    arena_free(&arena);
}

static void write_item(struct json_write *w, const struct pipeline_item *item)
{
    struct trace_results *results = item->results;
    jw_object_begin(w);
    jw_key_string(w, "worker", item->worker);
    jw_key_string(w, "span", item->span_digits);
    if (item->member != NULL) {
        jw_key_string(w, "member", item->member);
    }
    jw_key_string(w, "format", item->format);
    jw_key_int(w, "events", results->event_count);
    jw_key_int(w, "duration_ns", results->duration_ns);
    render_overview(w, results);
    write_operators(w, results);
    write_kernels(w, results);
    if (item->details != NULL) {
        write_details(w, results, item->details);
    }
    jw_object_end(w);
}

static void write_failure(struct json_write *w, const struct pipeline_failure *failure)
{
    jw_object_begin(w);
    jw_key_string(w, "member", failure->member);
    jw_key_string(w, "code", err_code_text(failure->error.code));
    jw_key_string(w, "detail", failure->error.msg);
    if (failure->error.byte_off != ERR_NO_OFFSET) {
        jw_key_int(w, "byte_offset", (int64_t)failure->error.byte_off);
    }
    jw_object_end(w);
}

void report_json(const char *file_name, const struct pipeline_output *output, struct buf *out)
{
    struct json_write w;
    jw_init(&w, out, false);
    jw_object_begin(&w);
    jw_key_string(&w, "file", file_name);
    jw_key_string(&w, "format", output->format);
    jw_key_array_begin(&w, "traces");
    for (size_t i = 0; i < output->item_count; i++) {
        write_item(&w, &output->items[i]);
    }
    jw_array_end(&w);
    jw_key_array_begin(&w, "errors");
    for (size_t i = 0; i < output->failure_count; i++) {
        write_failure(&w, &output->failures[i]);
    }
    jw_array_end(&w);
    jw_object_end(&w);
    buf_putc(out, '\n');
}

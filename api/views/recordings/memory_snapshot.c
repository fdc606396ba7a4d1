/* Memory snapshots: figures of each device, who holds memory, blocks, the curve [FMT-4.5]. */
#include "api/authorize.h"
#include "api/handlers.h"
#include "api/table/rows.h"
#include "api/table/table_view.h"
#include "ingest/jobs/on_request/snapshots.h"

#include <string.h>

#define LIMIT_DEFAULT 1000
#define WIDTH_DEFAULT 1200
#define WIDTH_MAX 20000
#define LIVES_DEFAULT 20000
#define LIVES_MAX 200000
#define SEGMENTS_DEFAULT 100
#define SEGMENTS_MAX 2000

static bool read_request(struct api_call *call, struct snapshot_request *request, struct err *err)
{
    static const char *const points[] = {
        [SNAPSHOT_AT_PEAK] = "peak", [SNAPSHOT_AT_END] = "end", NULL};
    size_t when = SNAPSHOT_AT_PEAK;
    *request = (struct snapshot_request){.device = SNAPSHOT_NONE};
    bool ok =
        call_trace_id(call, &request->trace_id, err) &&
        query_string_int(&call->query, "device", INT64_MIN + 1, INT64_MAX, &request->device, err) &&
        table_params_choice(call, "at", points, &when, err) &&
        query_string_int(&call->query, "baseline", 1, INT64_MAX, &request->baseline_id, err) &&
        (request->baseline_id == 0 || authorize_trace(call, request->baseline_id, err));
    request->when = (enum snapshot_when)when;
    return ok;
}

/* ---- figures ---- */

static void write_classes(struct json_write *w, const struct snapshot_figures *figures)
{
    jw_key_array_begin(w, "size_classes");
    for (size_t i = 0; i < figures->class_count; i++) {
        jw_object_begin(w);
        jw_key_int(w, "upper_bytes", figures->classes[i].upper_bytes);
        jw_key_int(w, "blocks", figures->classes[i].blocks);
        jw_key_int(w, "bytes", figures->classes[i].bytes);
        jw_object_end(w);
    }
    jw_array_end(w);
}

static void write_oom(struct json_write *w, const struct snapshot_figures *figures)
{
    jw_key_array_begin(w, "oom");
    for (size_t i = 0; i < figures->oom_count; i++) {
        const struct snapshot_oom *oom = &figures->oom[i];
        jw_object_begin(w);
        jw_key_int(w, "event", oom->event);
        jw_key_known_int(w, "t_ns", oom->t_ns);
        jw_key_int(w, "size_bytes", oom->size_bytes);
        jw_key_known_int(w, "device_free_bytes", oom->device_free_bytes);
        jw_key_string(w, "frame", oom->frame);
        jw_object_end(w);
    }
    jw_array_end(w);
}

static void write_figures(struct json_write *w, const struct snapshot_figures *figures)
{
    jw_object_begin(w);
    jw_key_int(w, "device", figures->device);
    jw_key_int(w, "segments", figures->segments);
    jw_key_int(w, "blocks", figures->blocks);
    jw_key_int(w, "reserved_bytes", figures->reserved_bytes);
    jw_key_int(w, "allocated_bytes", figures->allocated_bytes);
    jw_key_int(w, "active_bytes", figures->active_bytes);
    jw_key_int(w, "requested_bytes", figures->requested_bytes);
    jw_key_int(w, "live_blocks", figures->live_blocks);
    jw_key_int(w, "free_segments_bytes", figures->free_segments_bytes);
    jw_key_int(w, "inactive_split_bytes", figures->inactive_split_bytes);
    jw_key_double(w, "fragmentation",
                  rows_known_share(figures->inactive_split_bytes, figures->reserved_bytes));
    write_classes(w, figures);
    jw_key_int(w, "events", figures->events);
    jw_key_int(w, "history_start_allocated_bytes", figures->history_start_allocated_bytes);
    jw_key_int(w, "history_start_reserved_bytes", figures->history_start_reserved_bytes);
    jw_key_int(w, "peak_allocated_bytes", figures->peak_allocated_bytes);
    jw_key_known_int(w, "peak_event", figures->peak_event);
    jw_key_known_int(w, "peak_ns", figures->peak_ns);
    jw_key_int(w, "peak_reserved_bytes", figures->peak_reserved_bytes);
    write_oom(w, figures);
    jw_object_end(w);
}

bool snapshot_get(struct api_call *call, struct err *err)
{
    struct snapshot_request request;
    struct snapshot_answer answer;
    if (!read_request(call, &request, err) ||
        !snapshot_read(call->api->jobs, SNAPSHOT_OVERVIEW, &request, call_arena(call), &answer,
                       err)) {
        return false;
    }
    struct json_write w = call_json_long(call, false);
    jw_object_begin(&w);
    jw_key_array_begin(&w, "devices");
    for (size_t i = 0; i < answer.count; i++) {
        write_figures(&w, &answer.devices[i]);
    }
    jw_array_end(&w);
    jw_key(&w, "allocator_settings");
    if (answer.settings == NULL) {
        jw_null(&w);
    } else {
        jw_raw(&w, answer.settings, strlen(answer.settings));
    }
    jw_object_end(&w);
    return true;
}

/* ---- tables ---- */

bool snapshot_frames_get(struct api_call *call, struct err *err)
{
    struct table_view view = {.table = &table_snapshot_frame, .stem = "frames"};
    struct snapshot_request request;
    struct snapshot_answer answer;
    if (!read_request(call, &request, err) ||
        !table_view_read(&view, call, "bytes", LIMIT_DEFAULT, err) ||
        !snapshot_read(call->api->jobs, SNAPSHOT_FRAMES, &request, call_arena(call), &answer,
                       err)) {
        return false;
    }
    view.parts = request.baseline_id == 0 ? 0 : WHEN_BASELINE;
    return table_view_run(&view, call, answer.frames, answer.count, err) &&
           table_view_answer(&view, call);
}

bool snapshot_blocks_get(struct api_call *call, struct err *err)
{
    struct table_view view = {.table = &table_snapshot_block, .stem = "blocks"};
    struct snapshot_request request;
    struct snapshot_answer answer;
    return read_request(call, &request, err) &&
           table_view_read(&view, call, "size_bytes", LIMIT_DEFAULT, err) &&
           snapshot_read(call->api->jobs, SNAPSHOT_BLOCKS, &request, call_arena(call), &answer,
                         err) &&
           table_view_run(&view, call, answer.blocks, answer.count, err) &&
           table_view_answer(&view, call);
}

/* ---- over time ---- */

bool snapshot_curve_get(struct api_call *call, struct err *err)
{
    struct snapshot_request request;
    struct snapshot_answer answer;
    int64_t width = WIDTH_DEFAULT;
    if (!read_request(call, &request, err) ||
        !query_string_int(&call->query, "width_px", 1, WIDTH_MAX, &width, err)) {
        return false;
    }
    request.count = (size_t)width;
    if (!snapshot_read(call->api->jobs, SNAPSHOT_CURVE, &request, call_arena(call), &answer, err)) {
        return false;
    }
    struct json_write w = call_json_long(call, false);
    jw_object_begin(&w);
    jw_key_array_begin(&w, "points");
    for (size_t i = 0; i < answer.curve.count; i++) {
        jw_array_begin(&w);
        jw_int(&w, answer.curve.points[i].event);
        jw_known_int(&w, answer.curve.points[i].t_ns);
        jw_int(&w, answer.curve.points[i].allocated_bytes);
        jw_int(&w, answer.curve.points[i].reserved_bytes);
        jw_array_end(&w);
    }
    jw_array_end(&w);
    jw_key_int(&w, "total_points", answer.curve.total_points);
    jw_key_int(&w, "peak", answer.curve.peak);
    jw_object_end(&w);
    return true;
}

/* Columns, for a canvas. */
static void write_lives(struct json_write *w, const struct snapshot_lives *lives)
{
    static const char *const keys[] = {"first", "end", "bytes", "low", "frame"};
    for (size_t column = 0; column < sizeof keys / sizeof *keys; column++) {
        jw_key_array_begin(w, keys[column]);
        for (size_t i = 0; i < lives->count; i++) {
            const struct snapshot_life_row *row = &lives->rows[i];
            const int64_t values[] = {row->first, row->end, row->bytes, row->low, row->frame};
            jw_int(w, values[column]);
        }
        jw_array_end(w);
    }
    jw_key_array_begin(w, "frames");
    for (size_t i = 0; i < lives->frame_count; i++) {
        jw_string(w, lives->frames[i]);
    }
    jw_array_end(w);
}

static void write_window(struct json_write *w, const struct snapshot_lives *lives)
{
    jw_key_int(w, "first_event", lives->window.first_event);
    jw_key_int(w, "end_event", lives->window.end_event);
    jw_key_int(w, "low_bytes", lives->window.low_bytes);
    jw_key_int(w, "high_bytes", lives->window.high_bytes);
    jw_key_int(w, "events", lives->events);
    jw_key_int(w, "top_bytes", lives->top_bytes);
    jw_key_int(w, "total", lives->total);
    jw_key_int(w, "in_window", lives->in_window);
    jw_key_int(w, "left_out_bytes", lives->left_out_bytes);
    jw_key_int(w, "shade_columns", SNAPSHOT_SHADE_COLUMNS);
    jw_key_array_begin(w, "shades");
    for (size_t i = 0;
         lives->shades != NULL && i < (size_t)SNAPSHOT_SHADE_COLUMNS * SNAPSHOT_SHADE_ROWS; i++) {
        jw_int(w, lives->shades[i]);
    }
    jw_array_end(w);
}

static bool read_window(struct api_call *call, struct snapshot_window *window, struct err *err)
{
    int64_t limit = LIVES_DEFAULT;
    *window = (struct snapshot_window){.end_event = SNAPSHOT_NONE, .high_bytes = SNAPSHOT_NONE};
    bool ok =
        query_string_int(&call->query, "limit", 1, LIVES_MAX, &limit, err) &&
        query_string_int(&call->query, "first_event", 0, INT64_MAX, &window->first_event, err) &&
        query_string_int(&call->query, "end_event", 1, INT64_MAX, &window->end_event, err) &&
        query_string_int(&call->query, "low_bytes", 0, INT64_MAX, &window->low_bytes, err) &&
        query_string_int(&call->query, "high_bytes", 1, INT64_MAX, &window->high_bytes, err);
    window->limit = (size_t)limit;
    return ok;
}

bool snapshot_lives_get(struct api_call *call, struct err *err)
{
    struct snapshot_request request;
    struct snapshot_answer answer;
    if (!read_request(call, &request, err) || !read_window(call, &request.window, err) ||
        !snapshot_read(call->api->jobs, SNAPSHOT_LIVES, &request, call_arena(call), &answer, err)) {
        return false;
    }
    struct json_write w = call_json_long(call, false);
    jw_object_begin(&w);
    write_lives(&w, &answer.lives);
    write_window(&w, &answer.lives);
    jw_object_end(&w);
    return true;
}

/* ---- segments ---- */

static void write_cells(struct json_write *w, const char *key, const uint8_t *percent)
{
    jw_key_array_begin(w, key);
    for (size_t i = 0; i < SNAPSHOT_SEGMENT_CELLS; i++) {
        jw_int(w, percent[i]);
    }
    jw_array_end(w);
}

static void write_segment(struct json_write *w, const struct snapshot_segment_row *row)
{
    jw_object_begin(w);
    jw_key_string(w, "address", row->address);
    jw_key_known_int(w, "stream", row->stream);
    jw_key_int(w, "total_bytes", row->total_bytes);
    jw_key_int(w, "allocated_bytes", row->allocated_bytes);
    jw_key_int(w, "pending_bytes", row->pending_bytes);
    jw_key_int(w, "free_bytes", row->free_bytes);
    jw_key_int(w, "largest_free_bytes", row->largest_free_bytes);
    jw_key_int(w, "blocks", row->blocks);
    write_cells(w, "allocated", row->allocated);
    write_cells(w, "pending", row->pending);
    jw_object_end(w);
}

bool snapshot_segments_get(struct api_call *call, struct err *err)
{
    static const char *const orders[] = {[SNAPSHOT_BY_SIZE] = "size",
                                         [SNAPSHOT_BY_FREE] = "free",
                                         [SNAPSHOT_BY_ADDRESS] = "address",
                                         NULL};
    struct snapshot_request request;
    struct snapshot_answer answer;
    size_t order = SNAPSHOT_BY_SIZE;
    int64_t limit = SEGMENTS_DEFAULT;
    if (!read_request(call, &request, err) ||
        !table_params_choice(call, "by", orders, &order, err) ||
        !query_string_int(&call->query, "limit", 1, SEGMENTS_MAX, &limit, err)) {
        return false;
    }
    request.order = (enum snapshot_segment_order)order;
    request.count = (size_t)limit;
    if (!snapshot_read(call->api->jobs, SNAPSHOT_SEGMENTS, &request, call_arena(call), &answer,
                       err)) {
        return false;
    }
    struct json_write w = call_json_long(call, false);
    jw_object_begin(&w);
    jw_key_int(&w, "total", answer.segments.total);
    jw_key_array_begin(&w, "segments");
    for (size_t i = 0; i < answer.segments.count; i++) {
        write_segment(&w, &answer.segments.rows[i]);
    }
    jw_array_end(&w);
    jw_object_end(&w);
    return true;
}

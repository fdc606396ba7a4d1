/* The plugin's trace route: the events of the file, with counters of the devices before or behind
 * them [TB-10.0]. Streamed: neither is ever whole in memory. */
#include "api/tb_plugin/common.h"
#include "api/tb_plugin/handlers.h"
#include "api/timeline/common.h"
#include "ingest/base/text/num.h"
#include "ingest/store/store_events.h"

#include <string.h>

#define PIECE_BYTES ((size_t)256 << 10)

enum counter_stage { STAGE_BASELINE, STAGE_ROWS, STAGE_FINAL };

/* Where the writing of the counters stands. */
struct counter_cursor {
    int kind;
    uint32_t device; /* index into counters.devices */
    uint32_t row;
    enum counter_stage stage;
    bool any; /* written: a comma is due */
    bool ended;
};

struct trace_stream {
    struct store_export *from;
    const struct gpu_counters *counters; /* NULL: none */
    const struct trace_results *results;
    struct counter_cursor cursor;
    const char *piece; /* of the document, not yet handed on */
    size_t piece_len;
    bool begun;
    bool behind_events; /* the counters follow the events: a comma comes first */
};

/* ---- counters ---- */

static void put_ts(struct buf *out, const struct trace_results *results, int64_t position)
{
    char number[64];
    struct plugin_unit unit = plugin_ticks(results);
    buf_append(out, number, plugin_position_text(number, sizeof number, results, unit, position));
}

static void
put_counter(struct trace_stream *s, struct buf *out, int64_t position, const char *value)
{
    static const char *const names[] = {"Utilization", "Est. SM Efficiency"};
    const char *device_word = s->results->mlu ? "MLU" : "GPU";
    const char *name = names[s->cursor.kind];
    bool is_utilisation = s->cursor.kind == GPU_COUNTER_UTILISATION;
    uint32_t device = s->counters->devices[s->cursor.device];
    buf_puts(out, s->cursor.any || s->behind_events ? ", " : "");
    buf_printf(out, "{\"ph\": \"C\", \"name\": \"%s %u %s\", \"pid\": %u, \"ts\": ", device_word,
               device, name, device);
    put_ts(out, s->results, position);
    buf_printf(out, ", \"args\": {\"%s%s%s\": %s}}", is_utilisation ? device_word : "",
               is_utilisation ? " " : "", name, value);
    s->cursor.any = true;
}

static bool is_row_of(const struct trace_stream *s)
{
    const struct gpu_counters *counters = s->counters;
    const struct counter_cursor *cursor = &s->cursor;
    return cursor->row < counters->count && counters->kind[cursor->row] == cursor->kind &&
           counters->device[cursor->row] == counters->devices[cursor->device];
}

static void next_device(struct trace_stream *s)
{
    struct counter_cursor *cursor = &s->cursor;
    cursor->stage = STAGE_BASELINE;
    if (++cursor->device == s->counters->device_count) {
        cursor->device = 0;
        cursor->ended = ++cursor->kind == GPU_COUNTER_KIND_COUNT;
    }
}

static void put_row(struct trace_stream *s, struct buf *out)
{
    const struct gpu_counters *counters = s->counters;
    uint32_t row = s->cursor.row++;
    double value = 0;
    char number[NUM_TEXT_BYTES];
    memcpy(&value, &counters->value[row], sizeof value);
    (void)num_repr(number, value);
    put_counter(s, out, counters->from[row], number);
    if (s->cursor.kind == GPU_COUNTER_SM_EFFICIENCY) {
        put_counter(s, out, counters->to[row], "0");
    }
}

/* A baseline of 1 and 0 gives charts their scale; devices without SM efficiency have none [TB-10g].
 * It and the closing zeros are integers, measured values doubles [TB-1.4]. */
static void put_counters(struct trace_stream *s, struct buf *out)
{
    struct counter_cursor *cursor = &s->cursor;
    while (!cursor->ended && out->len < PIECE_BYTES && !out->failed) {
        bool is_utilisation = cursor->kind == GPU_COUNTER_UTILISATION;
        switch (cursor->stage) {
        case STAGE_BASELINE:
            if (is_utilisation || is_row_of(s)) {
                put_counter(s, out, s->counters->start, "1");
                put_counter(s, out, s->counters->start, "0");
            }
            cursor->stage = STAGE_ROWS;
            break;
        case STAGE_ROWS:
            if (is_row_of(s)) {
                put_row(s, out);
            } else {
                cursor->stage = STAGE_FINAL;
            }
            break;
        case STAGE_FINAL:
            if (is_utilisation) {
                put_counter(s, out, s->counters->end, "0");
            }
            next_device(s);
            break;
        }
    }
    if (cursor->ended && cursor->any && !s->behind_events) {
        buf_puts(out, ", ");
    }
}

/* ---- the document ---- */

/* Takes the next piece. False when there is none; then `out` has failed unless it was the end. */
static bool read_piece(struct trace_stream *s, const struct api *api, struct buf *out)
{
    struct err err = ERR_INIT;
    if (!store_export_next(s->from, &s->piece, &s->piece_len, &err)) {
        log_write(api->options.log, LOG_ERROR, "the plugin's trace broke off: %s", err.msg);
        out->failed = true;
    }
    return !out->failed && s->piece_len > 0;
}

/* Events begin with a brace, or the comma before them. */
static bool closes_the_list(const struct trace_stream *s)
{
    size_t at = 0;
    while (at < s->piece_len && s->piece[at] == '\n') {
        at++;
    }
    return at < s->piece_len && s->piece[at] == ']';
}

/* Whether the counters go before the piece at hand [TB-10.0]. */
static bool is_at_counters(const struct trace_stream *s)
{
    return s->begun && !s->cursor.ended && (!s->behind_events || closes_the_list(s));
}

static bool stream_trace(struct api_response *response, struct buf *out)
{
    struct trace_stream *s = response->stream_state;
    while (out->len < PIECE_BYTES && !out->failed) {
        if (s->piece_len == 0 && !read_piece(s, response->api, out)) {
            return false;
        }
        if (is_at_counters(s)) {
            put_counters(s, out);
            continue;
        }
        buf_append(out, s->piece, s->piece_len);
        s->piece_len = 0;
        s->begun = true;
    }
    return !out->failed;
}

static void end_stream(struct api_response *response)
{
    struct trace_stream *s = response->stream_state;
    store_export_close(s->from);
}

static bool
open_stream(struct api_call *call, const struct plugin_request *request, struct err *err)
{
    struct store_snapshot *snapshot = call->snapshot;
    struct arena *arena = call_arena(call);
    const struct trace_results *results = request->results;
    struct gpu_counters *counters = NULL;
    struct trace_stream *s = arena_calloc(arena, 1, sizeof *s);
    if (s == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for the trace");
    }
    if (!store_gpu_counters(snapshot, arena, request->figures_id, &counters, err)) {
        return false;
    }
    if (!store_export_open(snapshot, request->trace->id, INT64_MIN, INT64_MAX, &s->from, err)) {
        return timeline_gone(err);
    }
    s->results = results;
    s->counters = counters;
    s->behind_events = results->mlu;
    s->cursor.ended = counters == NULL || counters->device_count == 0;
    call->response->stream = stream_trace;
    call->response->stream_may_pack = true;
    call->response->stream_end = end_stream;
    call->response->stream_state = s;
    return true;
}

bool plugin_trace(struct api_call *call, struct err *err)
{
    struct plugin_request request;
    if (!plugin_begin(call, "trace", NULL, &request, err) || request.answered) {
        return request.answered;
    }
    if (!request.trace->has_events) {
        return err_set(err, ERR_NOT_FOUND, "this upload holds no events");
    }
    if (!open_stream(call, &request, err)) {
        return false;
    }
    call->response->status = 200;
    call->response->content_type = "application/json";
    return true;
}

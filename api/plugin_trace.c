/* The plugin's trace route: the file itself, with counters of the devices among its events (SPEC_tb
 * section 10, completions 10.0). Streamed: neither is ever whole in memory. */
#include "api/handlers.h"
#include "api/plugin_common.h"
#include "ingest/base/num.h"
#include "ingest/jobs/raw_text.h"

#include <stdio.h>
#include <string.h>

#define PIECE_BYTES ((size_t)256 << 10)

#define BARE_WORD "N/A"

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

/* Where the mending of a file stands that is no JSON: as the plugin read it. */
struct mending {
    bool is_needed;
    bool in_string, escaped;
    size_t matched; /* characters of the bare word outside of strings that are held back */
};

struct trace_stream {
    struct mending mending;
    struct raw_text *text;
    const struct gpu_counters *counters; /* NULL: none */
    const struct trace_results *results;
    struct counter_cursor cursor;
    const char *piece; /* what is left of the piece at hand */
    size_t piece_len;
    uint64_t at;        /* bytes of the text handed on */
    uint64_t insert_at; /* where the counters go */
    bool behind_events; /* they follow the events: a comma comes first */
    bool is_array;      /* the file is the bare list of events */
    bool begun, ended;
};

/* ---- counters ---- */

static void put_ts(struct buf *out, const struct trace_results *results, int64_t position)
{
    char number[64];
    struct plugin_unit unit = plugin_ticks(results);
    buf_append(out, number, plugin_position_text(number, sizeof number, results, unit, position));
}

static void put_counter(struct trace_stream *s, struct buf *out, int64_t position, double value)
{
    static const char *const names[] = {"Utilization", "Est. SM Efficiency"};
    const char *device_word = s->results->mlu ? "MLU" : "GPU";
    const char *name = names[s->cursor.kind];
    bool is_utilisation = s->cursor.kind == GPU_COUNTER_UTILISATION;
    uint32_t device = s->counters->devices[s->cursor.device];
    char number[NUM_TEXT_BYTES];
    (void)num_repr(number, value);
    buf_puts(out, s->cursor.any || s->behind_events ? ", " : "");
    buf_printf(out, "{\"ph\": \"C\", \"name\": \"%s %u %s\", \"pid\": %u, \"ts\": ", device_word,
               device, name, device);
    put_ts(out, s->results, position);
    buf_printf(out, ", \"args\": {\"%s%s%s\": %s}}", is_utilisation ? device_word : "",
               is_utilisation ? " " : "", name, number);
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
    memcpy(&value, &counters->value[row], sizeof value);
    put_counter(s, out, counters->from[row], value);
    if (s->cursor.kind == GPU_COUNTER_SM_EFFICIENCY) {
        put_counter(s, out, counters->to[row], 0);
    }
}

/* A baseline of 1 and 0 gives charts their scale; devices without SM efficiency have none. */
static void put_counters(struct trace_stream *s, struct buf *out)
{
    struct counter_cursor *cursor = &s->cursor;
    while (!cursor->ended && out->len < PIECE_BYTES && !out->failed) {
        bool is_utilisation = cursor->kind == GPU_COUNTER_UTILISATION;
        switch (cursor->stage) {
        case STAGE_BASELINE:
            if (is_utilisation || is_row_of(s)) {
                put_counter(s, out, s->counters->start, 1);
                put_counter(s, out, s->counters->start, 0);
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
                put_counter(s, out, s->counters->end, 0);
            }
            next_device(s);
            break;
        }
    }
    if (cursor->ended && cursor->any && !s->behind_events) {
        buf_puts(out, ", ");
    }
}

/* ---- the file ---- */

static bool read_piece(struct trace_stream *s)
{
    struct err err = ERR_INIT;
    return raw_text_next(s->text, &s->piece, &s->piece_len, &err) && s->piece_len > 0;
}

static void begin(struct trace_stream *s, struct buf *out)
{
    size_t blanks = 0;
    while (blanks < s->piece_len && strchr(" \t\r\n", s->piece[blanks]) != NULL) {
        blanks++;
    }
    s->is_array = blanks < s->piece_len && s->piece[blanks] == '[';
    buf_puts(out, s->is_array ? "{\"traceEvents\": " : "");
    s->begun = true;
}

/* Outside of strings a bare word becomes a text. */
static void mend_outside(struct mending *m, struct buf *out, char c)
{
    if (m->matched > 0 && c == BARE_WORD[m->matched]) {
        if (++m->matched == sizeof BARE_WORD - 1) {
            buf_puts(out, "\"" BARE_WORD "\"");
            m->matched = 0;
        }
        return;
    }
    buf_append(out, BARE_WORD, m->matched);
    m->matched = c == BARE_WORD[0];
    m->in_string = c == '"';
    if (m->matched == 0) {
        buf_putc(out, c);
    }
}

/* Inside of strings control characters are escaped. */
static void mend_inside(struct mending *m, struct buf *out, char c)
{
    if ((unsigned char)c < 0x20) {
        buf_printf(out, "\\u%04x", (unsigned)c);
    } else {
        buf_putc(out, c);
    }
    m->in_string = m->escaped || c != '"';
    m->escaped = !m->escaped && c == '\\';
}

static void mend(struct mending *m, struct buf *out, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (m->in_string) {
            mend_inside(m, out, text[i]);
        } else {
            mend_outside(m, out, text[i]);
        }
    }
}

/* Up to the place of the counters, or everything behind it. */
static void put_text(struct trace_stream *s, struct buf *out)
{
    size_t len = s->piece_len;
    if (s->at < s->insert_at && len > s->insert_at - s->at) {
        len = (size_t)(s->insert_at - s->at);
    }
    if (s->mending.is_needed) {
        mend(&s->mending, out, s->piece, len);
    } else {
        buf_append(out, s->piece, len);
    }
    s->piece += len;
    s->piece_len -= len;
    s->at += len;
}

static bool stream_trace(struct api_response *response, struct buf *out)
{
    struct trace_stream *s = response->stream_state;
    while (!s->ended && out->len < PIECE_BYTES) {
        if (s->at == s->insert_at && !s->cursor.ended) {
            put_counters(s, out);
            continue;
        }
        if (s->piece_len == 0 && !read_piece(s)) {
            buf_puts(out, s->is_array ? "}" : "");
            s->ended = true;
            break;
        }
        if (!s->begun) {
            begin(s, out);
        }
        put_text(s, out);
    }
    return !s->ended;
}

static void end_stream(struct api_response *response)
{
    struct trace_stream *s = response->stream_state;
    raw_text_close(s->text);
}

static bool
open_stream(struct api_call *call, const struct plugin_request *request, struct err *err)
{
    struct store *store = call->api->store;
    struct arena *arena = call_arena(call);
    const struct trace_results *results = request->results;
    struct gpu_counters *counters = NULL;
    const char *path = NULL;
    struct trace_stream *s = arena_calloc(arena, 1, sizeof *s);
    if (s == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for the trace");
    }
    if (!store_blob_path(store, arena, request->trace->sha256_hex, &path, err) ||
        !store_gpu_counters(store, arena, request->trace->plugin_figures_id, &counters, err) ||
        !raw_text_open(&s->text, path, err)) {
        return false;
    }
    s->results = results;
    s->counters = counters;
    s->behind_events = results->mlu;
    s->mending.is_needed = request->trace->warnings.by_code[WARN_BARE_NAN].count > 0 ||
                           request->trace->warnings.by_code[WARN_CONTROL_CHARACTER].count > 0;
    int64_t offset = results->mlu ? results->events_end_offset : results->events_offset;
    s->insert_at = offset < 0 ? UINT64_MAX : (uint64_t)offset;
    s->cursor.ended = counters == NULL || counters->device_count == 0;
    call->response->stream = stream_trace;
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
    if (strcmp(request.trace->format, "chrome-trace") != 0) {
        return err_set(err, ERR_NOT_FOUND, "this upload holds no events");
    }
    if (!open_stream(call, &request, err)) {
        return false;
    }
    call->response->status = 200;
    call->response->content_type = "application/json";
    return true;
}

/* The timeline of all ranks of a run [RANK-10]. */
#include "api/handlers.h"
#include "api/ranks/common.h"
#include "api/ranks/lanes.h"
#include "api/table/rows.h"
#include "api/table/table_view.h"
#include "ingest/base/saturating.h"

#include <stddef.h>

#define WIDTH_DEFAULT 1024
#define WIDTH_MAX 4096
/* Digits of a layer in an answer. */
#define PIXELS_MAX ((size_t)1 << 18)
/* Times of a request: so far from 0 that no sum leaves 64 bits. */
#define TIME_MAX_NS ((int64_t)1 << 61)

/* ---- ranks ---- */

struct answer {
    struct table_view view;
    const struct ranks_verdict *verdict;
};

static void write_steps(struct json_write *w, const struct ranks_verdict *verdict)
{
    jw_key_array_begin(w, "steps");
    for (size_t s = 0; s < verdict->step_count; s++) {
        jw_object_begin(w);
        jw_key_int(w, "step", verdict->steps[s]);
        jw_key_int(w, "start_ns", verdict->step_start_ns[s]);
        jw_key_int(w, "end_ns", verdict->step_end_ns[s]);
        jw_object_end(w);
    }
    jw_array_end(w);
}

static void write_members(struct json_write *w, const void *answer_void)
{
    const struct answer *answer = answer_void;
    table_view_members(w, &answer->view, NULL);
    jw_key_int(w, "end_ns", answer->verdict->end_ns);
    write_steps(w, answer->verdict);
    ranks_warnings(w, answer->verdict);
}

bool ranks_timeline_get(struct api_call *call, struct err *err)
{
    struct answer answer = {
        .view = {.table = &table_lane, .stem = "ranks", .write_members = write_members}};
    struct ranks_verdict *verdict = NULL;
    struct ranks_wanted wanted = {.verdict = &verdict};
    struct query_ranks ranks;
    if (!table_view_read(&answer.view, call, "rank", 0, err) ||
        !ranks_read_of(call, &ranks, &wanted, err)) {
        return false;
    }
    struct lane_row *rows = NULL;
    if (!lanes_rows(call_arena(call), &ranks, verdict, &rows, err)) {
        return false;
    }
    answer.verdict = verdict;
    if (!table_view_run(&answer.view, call, rows, verdict->rank_count, err)) {
        return false;
    }
    answer.view.context = &answer;
    return table_view_answer(&answer.view, call);
}

/* ---- a window ---- */

struct window {
    struct query_ranks_window of;
    int64_t end_ns;
    size_t *places; /* of ranks, in the verdict */
    size_t place_count;
};

static bool read_window(struct window *window,
                        struct api_call *call,
                        const struct ranks_verdict *verdict,
                        struct err *err)
{
    int64_t width = WIDTH_DEFAULT;
    window->end_ns = i64_max(1, verdict->end_ns);
    if (!query_string_int(&call->query, "start_ns", -TIME_MAX_NS, TIME_MAX_NS, &window->of.start_ns,
                          err) ||
        !query_string_int(&call->query, "end_ns", -TIME_MAX_NS, TIME_MAX_NS, &window->end_ns,
                          err) ||
        !query_string_int(&call->query, "width_px", 1, WIDTH_MAX, &width, err) ||
        !lanes_chosen(call, verdict, &window->places, &window->place_count, err)) {
        return false;
    }
    int64_t span_ns = saturating_sub(window->end_ns, window->of.start_ns);
    if (span_ns <= 0) {
        return err_set(err, ERR_BAD_REQUEST, "The window is empty: end_ns must be after start_ns");
    }
    window->of.pixel_ns = span_ns / width + (span_ns % width != 0);
    window->of.pixels =
        (size_t)(span_ns / window->of.pixel_ns + (span_ns % window->of.pixel_ns != 0));
    if (window->of.pixels * window->place_count > PIXELS_MAX) {
        return err_set(err, ERR_TOO_LARGE,
                       "%zu ranks at %zu pixels are more than an answer has: ask for fewer ranks, "
                       "or a smaller width_px",
                       window->place_count, window->of.pixels);
    }
    return true;
}

static void write_levels(struct json_write *w, const struct rank_levels *levels)
{
    static const char *const layers[LANE_LAYER_COUNT] = {"busy", "transfer", "wait"};
    static const char *const sums[LANE_LAYER_COUNT] = {"busy_ns", "transfer_ns", "wait_ns"};
    jw_object_begin(w);
    jw_key_int(w, "rank", levels->rank);
    for (int l = 0; l < LANE_LAYER_COUNT; l++) {
        jw_key_int(w, sums[l], levels->covered_ns[l]);
        jw_key_string(w, layers[l], levels->levels[l]);
    }
    jw_object_end(w);
}

static bool write_window(struct api_call *call,
                         const struct query_ranks *ranks,
                         const struct window *window,
                         struct err *err)
{
    struct json_write w = call_json_long(call, false);
    bool ok = true;
    jw_object_begin(&w);
    jw_key_int(&w, "start_ns", window->of.start_ns);
    jw_key_int(&w, "end_ns", window->end_ns);
    jw_key_int(&w, "pixel_ns", window->of.pixel_ns);
    jw_key_array_begin(&w, "rows");
    for (size_t i = 0; ok && i < window->place_count; i++) {
        struct rank_levels *levels = NULL;
        struct arena arena;
        arena_init(&arena, 0);
        ok = query_ranks_levels(call->snapshot, &arena, ranks, window->places[i], &window->of,
                                &levels, err);
        if (levels != NULL) {
            write_levels(&w, levels);
        }
        arena_free(&arena);
    }
    jw_array_end(&w);
    jw_object_end(&w);
    return ok;
}

bool ranks_timeline_window_get(struct api_call *call, struct err *err)
{
    struct ranks_verdict *verdict = NULL;
    struct ranks_wanted wanted = {.verdict = &verdict};
    struct query_ranks ranks;
    struct window window = {.end_ns = 0};
    return ranks_read_of(call, &ranks, &wanted, err) && read_window(&window, call, verdict, err) &&
           write_window(call, &ranks, &window, err);
}

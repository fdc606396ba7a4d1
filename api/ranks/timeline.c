/* The timeline of all ranks of a run [RANK-10]. */
#include "api/handlers.h"
#include "api/ranks/common.h"
#include "api/table/rows.h"
#include "api/table/table_view.h"
#include "ingest/base/order.h"
#include "ingest/base/saturating.h"

#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

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
    jw_key(w, "steps");
    jw_array_begin(w);
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

struct trace_start {
    int64_t id, start_ns;
};

static int by_id(const void *left, const void *right)
{
    const struct trace_start *a = left;
    const struct trace_start *b = right;
    return order_i64(a->id, b->id);
}

/* Starts of traces by their ids; NULL without memory. */
static struct trace_start *starts_of(struct arena *arena, const struct query_ranks *ranks)
{
    struct trace_start *starts = arena_calloc(arena, ranks->trace_count + 1, sizeof *starts);
    for (size_t i = 0; starts != NULL && i < ranks->trace_count; i++) {
        starts[i] = (struct trace_start){ranks->traces[i]->id, ranks->traces[i]->start_ns};
    }
    if (starts != NULL) {
        qsort(starts, ranks->trace_count, sizeof *starts, by_id);
    }
    return starts;
}

/* SIZE_MAX: there is no such rank. */
static size_t place_of(const struct ranks_verdict *verdict, int64_t rank)
{
    const struct clock_row *clocks = verdict->clocks;
    size_t place = order_i64_below(clocks, verdict->rank_count, sizeof *clocks,
                                   offsetof(struct clock_row, rank), rank, false);
    return place < verdict->rank_count && clocks[place].rank == rank ? place : SIZE_MAX;
}

static void count_late(const struct ranks_verdict *verdict, struct lane_row *rows)
{
    for (size_t i = 0; i < verdict->recurrence_count; i++) {
        size_t place = place_of(verdict, verdict->recurrence[i].rank);
        if (place != SIZE_MAX) {
            rows[place].late_steps = verdict->recurrence[i].steps;
        }
    }
}

static void fill_row(const struct ranks_verdict *verdict,
                     const struct trace_start *starts,
                     size_t start_count,
                     size_t place,
                     struct lane_row *row)
{
    const struct clock_row *clock = &verdict->clocks[place];
    struct trace_start wanted = {.id = clock->trace};
    const struct trace_start *found = bsearch(&wanted, starts, start_count, sizeof *starts, by_id);
    int64_t start_ns = found == NULL ? 0 : found->start_ns;
    int64_t zero_ns = saturating_add(verdict->zero_ns, clock->offset_ns);
    *row = (struct lane_row){.rank = clock->rank,
                             .trace = clock->trace,
                             .shift_ns = saturating_sub(start_ns, zero_ns),
                             .residual_ns = clock->residual_ns,
                             .confidence = clock->confidence,
                             .wait_ns = INT64_MIN};
    for (size_t s = 0; s < verdict->step_count; s++) {
        int64_t wait_ns = verdict->wait_ns[place * verdict->step_count + s];
        if (wait_ns != INT64_MIN) {
            row->wait_ns = saturating_add(row->wait_ns == INT64_MIN ? 0 : row->wait_ns, wait_ns);
        }
    }
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
    struct lane_row *rows = arena_calloc(call_arena(call), verdict->rank_count + 1, sizeof *rows);
    struct trace_start *starts = starts_of(call_arena(call), &ranks);
    if (rows == NULL || starts == NULL) {
        return err_set(err, ERR_NO_MEMORY, "No memory for the ranks of a run");
    }
    for (size_t r = 0; r < verdict->rank_count; r++) {
        fill_row(verdict, starts, ranks.trace_count, r, &rows[r]);
    }
    count_late(verdict, rows);
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

/* `ranks=`: numbers, comma-separated; without it all. */
static bool read_ranks(struct window *window,
                       struct api_call *call,
                       const struct ranks_verdict *verdict,
                       struct err *err)
{
    const char *list = query_string_word(&call->query, "ranks");
    size_t room = list == NULL ? verdict->rank_count : strlen(list);
    window->places = arena_calloc(call_arena(call), room + 1, sizeof *window->places);
    if (window->places == NULL) {
        return err_set(err, ERR_NO_MEMORY, "No memory for the ranks of a run");
    }
    for (size_t r = 0; list == NULL && r < verdict->rank_count; r++) {
        window->places[window->place_count++] = r;
    }
    for (const char *at = list; at != NULL && *at != '\0';) {
        char *end = NULL;
        long long rank = strtoll(at, &end, 10);
        size_t place = isdigit((unsigned char)*at) != 0 ? place_of(verdict, rank) : SIZE_MAX;
        bool goes_on = *end == ',' && end[1] != '\0';
        if (place == SIZE_MAX || (!goes_on && *end != '\0')) {
            return err_set(err, ERR_BAD_REQUEST,
                           "The parameter ranks is \"%.60s\": it must be ranks of the run, "
                           "comma-separated",
                           list);
        }
        window->places[window->place_count++] = place;
        at = goes_on ? end + 1 : end;
    }
    return true;
}

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
        !read_ranks(window, call, verdict, err)) {
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
    jw_key(&w, "rows");
    jw_array_begin(&w);
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

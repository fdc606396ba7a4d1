#include "ingest/query/compare/compare_query.h"

#include "ingest/analysis/compare/compare.h"
#include "ingest/analysis/environment/environment.h"
#include "ingest/base/text/buf.h"

#include <inttypes.h>
#include <string.h>

#define TITLE_BYTES_MAX ((size_t)4096)

/* The environments of both sides, into every comparison. */
static bool set_environment(struct arena *arena,
                            const struct query_side sides[SIDE_COUNT],
                            const struct comparison_list *list,
                            struct err *err)
{
    for (int side = 0; side < SIDE_COUNT; side++) {
        const struct trace_results *const *overviews =
            sides[side].overviews == NULL ? sides[side].results : sides[side].overviews;
        struct environment environment;
        if (!environment_of(overviews, sides[side].count, arena, &environment)) {
            return err_set(err, ERR_NO_MEMORY, "out of memory");
        }
        for (size_t i = 0; i < list->count; i++) {
            list->items[i]->environment[side] = environment;
        }
    }
    return true;
}

bool query_compare_results(struct arena *arena,
                           const struct query_side sides[SIDE_COUNT],
                           const char *title,
                           int64_t base_pid,
                           int64_t candidate_pid,
                           int kind,
                           struct comparison_list *out,
                           struct err *err)
{
    struct compare_side compared[SIDE_COUNT];
    for (int side = 0; side < SIDE_COUNT; side++) {
        compared[side] = (struct compare_side){.traces = sides[side].results,
                                               .trace_count = sides[side].count,
                                               .label = sides[side].label};
    }
    const struct compare_options options = {
        .title = title, .base_pid = base_pid, .candidate_pid = candidate_pid, .kind = kind};
    return compare_run(arena, compared, &options, out, err) &&
           set_environment(arena, sides, out, err);
}

/* ---- stored traces ---- */

/* The traces of one side, each once. */
struct stored_side {
    int64_t *ids;
    struct store_trace **traces;
    const struct trace_results **results;
    const struct trace_results **overviews;
    size_t count;
};

static bool has_id(const struct stored_side *side, int64_t id)
{
    for (size_t i = 0; i < side->count; i++) {
        if (side->ids[i] == id) {
            return true;
        }
    }
    return false;
}

static bool load_trace(struct stored_side *side,
                       struct store_snapshot *snapshot,
                       struct arena *arena,
                       int64_t id,
                       struct err *err)
{
    struct store_trace *trace;
    struct trace_results *results;
    struct trace_results *overview;
    if (!store_trace_get(snapshot, arena, id, &trace, err) ||
        !store_cycles(snapshot, arena, id, &results, err) ||
        !store_overview(snapshot, arena, id, &overview, err)) {
        return false;
    }
    if (results->cycle_count == 0) {
        return err_set(err, ERR_BAD_REQUEST,
                       "trace %" PRId64 " (%.80s of run %.80s) has no cycles to compare. Record "
                       "steps (prof.step() in each iteration), or upload it with "
                       "?marker=FUNCTION, the function whose calls are the cycles",
                       id, trace->worker, trace->run);
    }
    side->ids[side->count] = id;
    side->traces[side->count] = trace;
    side->results[side->count] = results;
    side->overviews[side->count] = overview;
    side->count++;
    return true;
}

static bool load_side(struct stored_side *side,
                      struct store_snapshot *snapshot,
                      struct arena *arena,
                      const int64_t *ids,
                      size_t count,
                      struct err *err)
{
    *side = (struct stored_side){
        .ids = arena_calloc(arena, count, sizeof *side->ids),
        .traces = arena_calloc(arena, count, sizeof(struct store_trace *)),
        .results = arena_calloc(arena, count, sizeof(struct trace_results *)),
        .overviews = arena_calloc(arena, count, sizeof(struct trace_results *))};
    if (side->ids == NULL || side->traces == NULL || side->results == NULL ||
        side->overviews == NULL) {
        return err_set(err, ERR_NO_MEMORY, "out of memory");
    }
    for (size_t i = 0; i < count; i++) {
        if (!has_id(side, ids[i]) && !load_trace(side, snapshot, arena, ids[i], err)) {
            return false;
        }
    }
    return true;
}

static bool is_one_run(const struct stored_side *side, const char *run)
{
    for (size_t i = 0; i < side->count; i++) {
        if (strcmp(side->traces[i]->run, run) != 0) {
            return false;
        }
    }
    return true;
}

/* "run", "run/worker.span" where the run alone does not tell the sides apart, "run (4 traces)". */
static void describe_side(struct buf *out, const struct stored_side *side, bool with_worker)
{
    for (size_t i = 0; i < side->count; i++) {
        const struct store_trace *trace = side->traces[i];
        if (i > 0) {
            buf_printf(out, "%s (%zu traces)", is_one_run(side, trace->run) ? "" : " and others",
                       side->count);
            return;
        }
        buf_puts(out, trace->run);
        if (with_worker && side->count == 1) {
            buf_printf(out, "/%s%s%s", trace->worker, *trace->span_digits == '\0' ? "" : ".",
                       trace->span_digits);
        }
    }
}

static const char *make_title(struct arena *arena, const struct stored_side sides[SIDE_COUNT])
{
    struct buf title;
    buf_init(&title, TITLE_BYTES_MAX);
    bool same_run = false;
    for (size_t i = 0; i < sides[SIDE_BASE].count; i++) {
        same_run = same_run || is_one_run(&sides[SIDE_CANDIDATE], sides[SIDE_BASE].traces[i]->run);
    }
    describe_side(&title, &sides[SIDE_BASE], same_run);
    buf_puts(&title, " vs ");
    describe_side(&title, &sides[SIDE_CANDIDATE], same_run);
    const char *copy = arena_strndup(arena, title.ptr, title.len);
    buf_free(&title);
    return copy;
}

static bool load_sides(struct stored_side sides[SIDE_COUNT],
                       struct store_snapshot *snapshot,
                       struct arena *arena,
                       const struct query_compare_request *request,
                       struct err *err)
{
    for (int side = 0; side < SIDE_COUNT; side++) {
        if (request->trace_count[side] == 0) {
            return err_set(err, ERR_BAD_REQUEST, "the %s has no trace",
                           side == SIDE_BASE ? "base" : "candidate");
        }
        if (!load_side(&sides[side], snapshot, arena, request->trace_ids[side],
                       request->trace_count[side], err)) {
            return err_context(err, "%s", side == SIDE_BASE ? "base" : "candidate");
        }
    }
    return true;
}

bool query_compare_stored(struct store_snapshot *snapshot,
                          struct arena *arena,
                          const struct query_compare_request *request,
                          int64_t *first,
                          struct err *err)
{
    struct stored_side sides[SIDE_COUNT] = {{.count = 0}, {.count = 0}};
    struct comparison_list list;
    if (!load_sides(sides, snapshot, arena, request, err)) {
        return false;
    }
    const char *title = request->title == NULL ? make_title(arena, sides) : request->title;
    if (title == NULL) {
        return err_set(err, ERR_NO_MEMORY, "out of memory");
    }
    struct query_side compared[SIDE_COUNT];
    const int64_t *ids[SIDE_COUNT];
    size_t counts[SIDE_COUNT];
    for (int side = 0; side < SIDE_COUNT; side++) {
        compared[side] = (struct query_side){.results = sides[side].results,
                                             .overviews = sides[side].overviews,
                                             .count = sides[side].count,
                                             .label = request->labels[side]};
        ids[side] = sides[side].ids;
        counts[side] = sides[side].count;
    }
    if (!query_compare_results(arena, compared, title, request->base_pid, request->candidate_pid,
                               request->kind, &list, err)) {
        return false;
    }
    int64_t *made = arena_calloc(arena, list.count, sizeof *made);
    if (made == NULL) {
        return err_set(err, ERR_NO_MEMORY, "out of memory");
    }
    store_snapshot_close(snapshot); /* whoever made them wants to read them */
    if (!store_comparisons_add(snapshot->store, &list, ids, counts, made, err)) {
        return false;
    }
    *first = made[0];
    return true;
}

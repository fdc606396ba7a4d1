/* Ranks in the timeline of their run: where each stands, and which of them a request names. */
#include "api/ranks/lanes.h"

#include "api/ranks/common.h"
#include "ingest/base/order.h"
#include "ingest/base/saturating.h"

#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct trace_start {
    int64_t id, start_ns;
};

ORDER_BY(by_id, struct trace_start, ORDER_UP(id))

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

bool lanes_rows(struct arena *arena,
                const struct query_ranks *ranks,
                const struct ranks_verdict *verdict,
                struct lane_row **rows,
                struct err *err)
{
    *rows = arena_calloc(arena, verdict->rank_count + 1, sizeof **rows);
    struct trace_start *starts = starts_of(arena, ranks);
    if (*rows == NULL || starts == NULL) {
        return err_set(err, ERR_NO_MEMORY, "No memory for the ranks of a run");
    }
    for (size_t r = 0; r < verdict->rank_count; r++) {
        fill_row(verdict, starts, ranks->trace_count, r, &(*rows)[r]);
    }
    count_late(verdict, *rows);
    return true;
}

bool lanes_chosen(struct api_call *call,
                  const struct ranks_verdict *verdict,
                  size_t **places,
                  size_t *count,
                  struct err *err)
{
    const char *list = query_string_word(&call->query, "ranks");
    *count = 0;
    size_t room = list == NULL ? verdict->rank_count : strlen(list);
    *places = arena_calloc(call_arena(call), room + 1, sizeof **places);
    if (*places == NULL) {
        return err_set(err, ERR_NO_MEMORY, "No memory for the ranks of a run");
    }
    for (size_t r = 0; list == NULL && r < verdict->rank_count; r++) {
        (*places)[(*count)++] = r;
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
        (*places)[(*count)++] = place;
        at = goes_on ? end + 1 : end;
    }
    return true;
}

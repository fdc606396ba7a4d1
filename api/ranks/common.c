#include "api/ranks/common.h"

#include "ingest/jobs/queue/jobs.h"

/* False without an error: it is not kept. */
static bool find_kept(struct api_call *call,
                      const struct query_ranks *ranks,
                      const struct ranks_wanted *wanted,
                      struct err *err)
{
    struct store_snapshot *snapshot = call->snapshot;
    struct arena *arena = call_arena(call);
    if (wanted->with_parts ||
        (wanted->verdict != NULL &&
         (!query_ranks_find_verdict(snapshot, arena, ranks, wanted->verdict, err) ||
          *wanted->verdict == NULL))) {
        return false;
    }
    return wanted->collectives == NULL ||
           (query_ranks_find_collectives(snapshot, arena, ranks, wanted->is_raw,
                                         wanted->collectives, err) &&
            *wanted->collectives != NULL);
}

static bool make(struct api_call *call,
                 const struct query_ranks *ranks,
                 const struct ranks_wanted *wanted,
                 struct err *err)
{
    struct query_ranks_made *made = arena_calloc(call_arena(call), 1, sizeof *made);
    if (made == NULL) {
        return err_set(err, ERR_NO_MEMORY, "No memory for the ranks of a run");
    }
    if (wanted->verdict != NULL) {
        *wanted->verdict = &made->verdict;
    }
    if (wanted->collectives != NULL) {
        *wanted->collectives = &made->collectives;
    }
    return query_ranks_make(call->snapshot, call_arena(call), ranks, wanted->is_raw,
                            wanted->with_parts, made, err);
}

bool ranks_read_of(struct api_call *call,
                   struct query_ranks *ranks,
                   const struct ranks_wanted *wanted,
                   struct err *err)
{
    size_t budget_bytes = 0;
    int64_t span = 0;
    if (!query_string_int(&call->query, "span", 1, INT64_MAX, &span, err) ||
        !query_ranks_open(call->snapshot, call_arena(call), call->params[0], span, ranks, err)) {
        return false;
    }
    if (find_kept(call, ranks, wanted, err)) {
        return true;
    }
    store_snapshot_close(call->snapshot);
    if (err->code != ERR_NONE || !jobs_window_begin(call->api->jobs, &budget_bytes, err)) {
        return false;
    }
    /* Another request may have made it meanwhile. */
    bool ok = find_kept(call, ranks, wanted, err) ||
              (err->code == ERR_NONE && make(call, ranks, wanted, err));
    jobs_window_end(call->api->jobs);
    return ok;
}

bool ranks_read(struct api_call *call, const struct ranks_wanted *wanted, struct err *err)
{
    struct query_ranks ranks;
    return ranks_read_of(call, &ranks, wanted, err);
}

static void write_warning(struct json_write *w, const char *code, int64_t count)
{
    if (count > 0) {
        jw_object_begin(w);
        jw_key_string(w, "code", code);
        jw_key_int(w, "count", count);
        jw_object_end(w);
    }
}

void ranks_warnings(struct json_write *w, const struct ranks_verdict *verdict)
{
    jw_key_array_begin(w, "warnings");
    write_warning(w, "rank_twice", verdict->twice_count);
    write_warning(w, "clock_islands", verdict->island_count > 1 ? verdict->island_count : 0);
    write_warning(w, "steps_left_out", verdict->left_out_steps);
    jw_array_end(w);
}

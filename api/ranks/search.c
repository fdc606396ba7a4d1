/* Search in the traces of all ranks of a run [RANK-10d]. */
#include "api/handlers.h"
#include "api/ranks/common.h"
#include "api/ranks/lanes.h"
#include "ingest/base/monotonic.h"
#include "ingest/base/saturating.h"
#include "ingest/store/store_events.h"

#include <string.h>

#define LIMIT_DEFAULT 1
#define LIMIT_MAX 100
#define Q_MAX_BYTES 1000
/* Matches of a rank beyond this are not counted. */
#define COUNT_MAX 10000u
/* No rank is begun after this: who asked gets what there is, and asks for the others. */
#define SEARCH_MS 400

struct search {
    const char *q;
    int64_t limit;
    const struct lane_row *rows;
    size_t *places;
    size_t place_count;
};

struct found {
    struct store_event_hit *hits;
    size_t count, total;
    bool is_gone; /* the events of the trace are not kept */
};

static bool read_search(struct search *search, const struct api_call *call, struct err *err)
{
    search->q = query_string_word(&call->query, "q");
    if (search->q == NULL) {
        return err_set(err, ERR_BAD_REQUEST,
                       "The parameter q is missing: it is the text to look for");
    }
    if (strlen(search->q) > Q_MAX_BYTES) {
        return err_set(err, ERR_BAD_REQUEST,
                       "The parameter q has %zu bytes: at most %d are allowed", strlen(search->q),
                       Q_MAX_BYTES);
    }
    return query_string_int(&call->query, "limit", 1, LIMIT_MAX, &search->limit, err);
}

static bool find(struct found *found,
                 struct api_call *call,
                 struct arena *arena,
                 const struct search *search,
                 const struct lane_row *row,
                 struct err *err)
{
    *found = (struct found){.count = 0};
    const struct store_event_query query = {.q = search->q,
                                            .start_ns = INT64_MIN,
                                            .end_ns = INT64_MAX,
                                            .limit = (size_t)search->limit,
                                            .count_max = COUNT_MAX};
    bool ok = store_events_search(call->snapshot, arena, row->trace, &query, &found->hits,
                                  &found->count, &found->total, err);
    if (!ok && err->code == ERR_GONE) {
        *err = (struct err)ERR_INIT;
        *found = (struct found){.is_gone = true};
        return true;
    }
    return ok;
}

static void write_hit(struct json_write *w, const struct store_event *event, int64_t shift_ns)
{
    jw_object_begin(w);
    jw_key_int(w, "event", event->event);
    jw_key_string(w, "name", event->name);
    jw_key_known_int(w, "start_ns",
                     event->has_start ? saturating_add(event->start_ns, shift_ns) : INT64_MIN);
    jw_key_known_int(w, "dur_ns", event->has_dur ? event->dur_ns : INT64_MIN);
    jw_object_end(w);
}

static void write_row(struct json_write *w, const struct lane_row *row, const struct found *found)
{
    jw_object_begin(w);
    jw_key_int(w, "rank", row->rank);
    jw_key_int(w, "trace", row->trace);
    jw_key_known_int(w, "matches", found->is_gone ? INT64_MIN : (int64_t)found->total);
    jw_key_bool(w, "matches_is_lower_bound", found->total >= COUNT_MAX);
    jw_key_array_begin(w, "hits");
    for (size_t i = 0; i < found->count; i++) {
        write_hit(w, &found->hits[i].event, row->shift_ns);
    }
    jw_array_end(w);
    jw_object_end(w);
}

static bool write_answer(struct api_call *call, const struct search *search, struct err *err)
{
    struct json_write w = call_json(call, false);
    int64_t end_ms = monotonic_ms() + SEARCH_MS;
    size_t searched = 0;
    bool ok = true;
    jw_object_begin(&w);
    jw_key_string(&w, "q", search->q);
    jw_key_array_begin(&w, "rows");
    while (ok && searched < search->place_count && (searched == 0 || monotonic_ms() < end_ms)) {
        const struct lane_row *row = &search->rows[search->places[searched++]];
        struct found found;
        struct arena arena;
        arena_init(&arena, 0);
        ok = find(&found, call, &arena, search, row, err);
        if (ok && (found.is_gone || found.total > 0)) {
            write_row(&w, row, &found);
        }
        arena_free(&arena);
    }
    jw_array_end(&w);
    jw_key_int(&w, "searched", (int64_t)searched);
    jw_key_int(&w, "total", (int64_t)search->place_count);
    jw_object_end(&w);
    return ok;
}

bool ranks_timeline_search_get(struct api_call *call, struct err *err)
{
    struct ranks_verdict *verdict = NULL;
    struct ranks_wanted wanted = {.verdict = &verdict};
    struct search search = {.limit = LIMIT_DEFAULT};
    struct query_ranks ranks;
    struct lane_row *rows = NULL;
    if (!read_search(&search, call, err) || !ranks_read_of(call, &ranks, &wanted, err) ||
        !lanes_rows(call_arena(call), &ranks, verdict, &rows, err) ||
        !lanes_chosen(call, verdict, &search.places, &search.place_count, err)) {
        return false;
    }
    search.rows = rows;
    return write_answer(call, &search, err);
}

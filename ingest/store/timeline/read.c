/* The way to a window of a timeline: the index names the blocks without a look into them, then each
 * of them is read by its row. */
#include "ingest/store/results_files.h"
#include "ingest/store/store_timeline.h"
#include "ingest/store/timeline/blocks.h"
#include "ingest/store/timeline/sql.h"
#include "ingest/store/timeline/tracks.h"

#define NO_LOG INT64_MIN

/* The file with the timeline of a trace: *log_id is NO_LOG for one that was stored without its
 * events; derived figures have the timeline of their trace. ERR_NOT_FOUND. */
static bool find_log(struct store_snapshot *snapshot,
                     int64_t trace_id,
                     struct db **db,
                     int64_t *log_id,
                     struct err *err)
{
    struct db *catalogue;
    bool ok = store_snapshot_read(snapshot, &catalogue, err) &&
              store_check_figures(catalogue, trace_id, err) &&
              store_snapshot_file(snapshot, trace_id, RESULTS_TIMELINE, db, err);
    *log_id = ok && *db != NULL ? RESULTS_LOG_ID : NO_LOG;
    return ok;
}

static bool need_log(struct store_snapshot *snapshot,
                     int64_t trace_id,
                     struct db **db,
                     int64_t *log_id,
                     struct err *err)
{
    return find_log(snapshot, trace_id, db, log_id, err) &&
           (*log_id != NO_LOG ||
            err_set(err, ERR_GONE, "trace %lld has no timeline", (long long)trace_id));
}

/* ---- tracks ---- */

static bool read_tracks(
    struct db *db, struct arena *arena, int64_t log_id, struct timeline **out, struct err *err)
{
    struct db_stmt st;
    bool ok = true;
    db_prepare(&st, db,
               "SELECT bytes FROM timeline WHERE log_id = ? AND kind = '" TIMELINE_TRACKS_KIND
               "' AND first_id = 0");
    db_put_int(&st, log_id);
    if (db_next(&st)) {
        size_t len = 0;
        const void *bytes = db_peek_blob(&st, &len);
        ok = timeline_decode_tracks(arena, bytes, len, out, err);
    }
    return db_done(&st, err) && ok;
}

bool store_timeline(struct store_snapshot *snapshot,
                    struct arena *arena,
                    int64_t trace_id,
                    struct timeline **out,
                    struct err *err)
{
    struct db *db = NULL;
    int64_t log_id = NO_LOG;
    *out = NULL;
    return find_log(snapshot, trace_id, &db, &log_id, err) &&
           (log_id == NO_LOG || read_tracks(db, arena, log_id, out, err));
}

/* ---- labels ---- */

/* Labels of the one row that has ids[0..count). */
static bool read_label_row(struct db *db,
                           struct arena *arena,
                           int64_t log_id,
                           const uint32_t *ids,
                           size_t count,
                           struct timeline_label *labels,
                           struct err *err)
{
    struct db_stmt st;
    uint32_t first_id = ids[0] - ids[0] % TIMELINE_LABELS_PER_ROW;
    bool found = false;
    bool ok = true;
    db_prepare(&st, db,
               "SELECT bytes FROM timeline WHERE log_id = ? AND kind = '" TIMELINE_LABELS_KIND
               "' AND first_id = ?");
    db_put_int(&st, log_id);
    db_put_int(&st, first_id);
    if (db_next(&st)) {
        size_t len = 0;
        const void *bytes = db_peek_blob(&st, &len);
        found = true;
        ok = timeline_decode_labels(arena, bytes, len, first_id, ids, count, labels, err);
    }
    return db_done(&st, err) && ok &&
           (found ||
            err_set(err, ERR_NOT_FOUND, "the timeline has no label %lu", (unsigned long)ids[0]));
}

bool store_timeline_labels(struct store_snapshot *snapshot,
                           struct arena *arena,
                           int64_t trace_id,
                           const uint32_t *ids,
                           size_t count,
                           struct timeline_label **labels,
                           struct err *err)
{
    struct db *db = NULL;
    int64_t log_id = NO_LOG;
    *labels = arena_calloc(arena, count + 1, sizeof **labels);
    if (*labels == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for the labels of the timeline");
    }
    bool ok = need_log(snapshot, trace_id, &db, &log_id, err);
    for (size_t begin = 0; ok && begin < count;) {
        size_t end = begin + 1;
        while (end < count &&
               ids[end] / TIMELINE_LABELS_PER_ROW == ids[begin] / TIMELINE_LABELS_PER_ROW) {
            end++;
        }
        ok = read_label_row(db, arena, log_id, ids + begin, end - begin, *labels + begin, err);
        begin = end;
    }
    return ok;
}

/* ---- the index ---- */

struct place_list {
    struct arena *arena;
    struct store_timeline_place *at;
    size_t count;
    size_t cap;
};

static struct store_timeline_place *add_place(struct place_list *list)
{
    struct store_timeline_place *grown =
        arena_grow(list->arena, list->at, list->count, &list->cap, sizeof *grown);
    list->at = grown == NULL ? list->at : grown;
    return grown == NULL ? NULL : &grown[list->count++];
}

/* Of the blocks that begin with a track before the first one asked for, only the last can reach
 * into it: the index is entered there. */
static bool list_places(struct db *db,
                        int64_t log_id,
                        const char *kind,
                        const struct store_timeline_part *part,
                        struct place_list *list,
                        struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, db,
               "SELECT rowid, first_track, last_track, first_start_ns, max_end_ns"
               " FROM timeline_block INDEXED BY timeline_block_place"
               " WHERE log_id = ?1 AND kind = ?2 AND level = ?3"
               " AND first_track >= coalesce((SELECT max(first_track)"
               "  FROM timeline_block INDEXED BY timeline_block_place"
               "  WHERE log_id = ?1 AND kind = ?2 AND level = ?3 AND first_track < ?4), 0)"
               " AND first_track <= ?5 AND last_track >= ?4"
               " AND max_end_ns >= ?6 AND first_start_ns < ?7"
               " ORDER BY first_track, last_track, first_start_ns, position");
    db_put_int(&st, log_id);
    db_put_text(&st, kind);
    db_put_int(&st, part->level);
    db_put_int(&st, part->first_track);
    db_put_int(&st, part->last_track);
    db_put_int(&st, part->start_ns);
    db_put_int(&st, part->end_ns);
    while (db_next(&st)) {
        struct store_timeline_place *place = add_place(list);
        if (place == NULL) {
            db_fail_memory(&st);
            break;
        }
        place->id = db_get_int(&st);
        place->first_track = (uint32_t)db_get_int(&st);
        place->last_track = (uint32_t)db_get_int(&st);
        place->first_start_ns = db_get_int(&st);
        place->max_end_ns = db_get_int(&st);
    }
    return db_done(&st, err);
}

static const char *kind_text(enum store_timeline_kind kind)
{
    return kind == STORE_TIMELINE_POINTS ? TIMELINE_POINTS_KIND : TIMELINE_SLICES_KIND;
}

bool store_timeline_places(struct store_snapshot *snapshot,
                           struct arena *arena,
                           int64_t trace_id,
                           enum store_timeline_kind kind,
                           const struct store_timeline_part *part,
                           struct store_timeline_place **places,
                           size_t *count,
                           struct err *err)
{
    struct db *db = NULL;
    struct place_list list = {.arena = arena};
    int64_t log_id = NO_LOG;
    bool ok = need_log(snapshot, trace_id, &db, &log_id, err) &&
              list_places(db, log_id, kind_text(kind), part, &list, err);
    *places = list.at;
    *count = list.count;
    return ok;
}

/* ---- blocks ---- */

/* What is done with the bytes of one block. */
struct block_use {
    struct arena arena; /* of its columns */
    void *context;
    bool (*take)(struct block_use *use, const void *bytes, size_t len, struct err *err);
};

static bool read_one(struct db *db,
                     int64_t log_id,
                     const struct store_timeline_place *place,
                     struct block_use *use,
                     struct err *err)
{
    struct db_stmt st;
    bool found = false;
    bool ok = true;
    db_prepare(&st, db, "SELECT bytes FROM timeline_block WHERE rowid = ? AND log_id = ?");
    db_put_int(&st, place->id);
    db_put_int(&st, log_id);
    if (db_next(&st)) {
        size_t len = 0;
        const void *bytes = db_peek_blob(&st, &len);
        found = true;
        arena_init(&use->arena, 0);
        ok = use->take(use, bytes, len, err);
        arena_free(&use->arena);
    }
    return db_done(&st, err) && ok &&
           (found || err_set(err, ERR_NOT_FOUND, "the timeline is no longer there"));
}

static bool read_places(struct db *db,
                        int64_t log_id,
                        const struct store_timeline_place *places,
                        size_t count,
                        struct block_use *use,
                        struct err *err)
{
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++) {
        ok = read_one(db, log_id, &places[i], use, err);
    }
    return ok;
}

static bool take_block(struct block_use *use, const void *bytes, size_t len, struct err *err)
{
    const struct store_timeline_visitor *visitor = use->context;
    struct timeline_block block;
    return timeline_decode_block(&use->arena, bytes, len, &block, err) &&
           visitor->block(visitor->context, &block, err);
}

static bool take_points(struct block_use *use, const void *bytes, size_t len, struct err *err)
{
    const struct store_timeline_visitor *visitor = use->context;
    struct timeline_points points;
    return timeline_decode_points(&use->arena, bytes, len, &points, err) &&
           visitor->points(visitor->context, &points, err);
}

bool store_timeline_blocks(struct store_snapshot *snapshot,
                           int64_t trace_id,
                           enum store_timeline_kind kind,
                           const struct store_timeline_place *places,
                           size_t count,
                           const struct store_timeline_visitor *visitor,
                           struct err *err)
{
    struct db *db = NULL;
    int64_t log_id = NO_LOG;
    struct store_timeline_visitor only = *visitor;
    struct block_use use = {.context = &only,
                            .take = kind == STORE_TIMELINE_POINTS ? take_points : take_block};
    return need_log(snapshot, trace_id, &db, &log_id, err) &&
           read_places(db, log_id, places, count, &use, err);
}

bool store_timeline_read(struct store_snapshot *snapshot,
                         int64_t trace_id,
                         const struct store_timeline_part *part,
                         const struct store_timeline_visitor *visitor,
                         struct err *err)
{
    const bool wanted[] = {[STORE_TIMELINE_SLICES] = visitor->block != NULL,
                           [STORE_TIMELINE_POINTS] = visitor->points != NULL};
    struct arena arena;
    bool ok = true;
    arena_init(&arena, 0);
    for (int kind = STORE_TIMELINE_SLICES; ok && kind <= STORE_TIMELINE_POINTS; kind++) {
        struct store_timeline_place *places = NULL;
        size_t count = 0;
        ok = !wanted[kind] ||
             (store_timeline_places(snapshot, &arena, trace_id, (enum store_timeline_kind)kind,
                                    part, &places, &count, err) &&
              store_timeline_blocks(snapshot, trace_id, (enum store_timeline_kind)kind, places,
                                    count, visitor, err));
    }
    arena_free(&arena);
    return ok;
}

/* ---- flows ---- */

struct flow_search {
    struct arena *arena;
    bool by_target;
    uint32_t event;
    size_t limit;
    struct timeline_flow *flows;
    size_t count;
    size_t cap;
};

static uint32_t key_of(const struct flow_search *search, const struct timeline_flow *flow)
{
    return search->by_target ? flow->to : flow->from;
}

static bool add_flow(struct flow_search *search, const struct timeline_flow *flow)
{
    struct timeline_flow *grown =
        arena_grow(search->arena, search->flows, search->count, &search->cap, sizeof *grown);
    if (grown == NULL) {
        return false;
    }
    search->flows = grown;
    grown[search->count++] = *flow;
    return true;
}

static bool take_flows(struct block_use *use, const void *bytes, size_t len, struct err *err)
{
    struct flow_search *search = use->context;
    if (search->count == search->limit) {
        return true;
    }
    struct timeline_flow *flows = NULL;
    size_t count = 0;
    if (!timeline_decode_flows(&use->arena, search->by_target, bytes, len, &flows, &count, err)) {
        return false;
    }
    size_t at = 0;
    for (size_t end = count; at < end;) {
        size_t middle = at + (end - at) / 2;
        if (key_of(search, &flows[middle]) < search->event) {
            at = middle + 1;
        } else {
            end = middle;
        }
    }
    for (;
         at < count && key_of(search, &flows[at]) == search->event && search->count < search->limit;
         at++) {
        if (!add_flow(search, &flows[at])) {
            return err_set(err, ERR_NO_MEMORY, "no memory for the flows of an event");
        }
    }
    return true;
}

bool store_flows(struct store_snapshot *snapshot,
                 struct arena *arena,
                 int64_t trace_id,
                 bool by_target,
                 uint32_t event,
                 size_t limit,
                 struct timeline_flow **flows,
                 size_t *count,
                 struct err *err)
{
    /* Blocks of flows have no times: start 0, end 0. */
    struct store_timeline_part part = {
        .first_track = event, .last_track = event, .start_ns = 0, .end_ns = 1};
    struct flow_search search = {
        .arena = arena, .by_target = by_target, .event = event, .limit = limit};
    struct block_use use = {.context = &search, .take = take_flows};
    struct place_list list = {.arena = arena};
    struct db *db = NULL;
    int64_t log_id = NO_LOG;
    const char *kind = by_target ? TIMELINE_FLOWS_BY_TARGET_KIND : TIMELINE_FLOWS_KIND;
    bool ok = need_log(snapshot, trace_id, &db, &log_id, err) &&
              list_places(db, log_id, kind, &part, &list, err) &&
              read_places(db, log_id, list.at, list.count, &use, err);
    *flows = search.flows;
    *count = search.count;
    return ok;
}

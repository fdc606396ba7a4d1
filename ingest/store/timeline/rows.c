#include "ingest/store/timeline/rows.h"

#include "ingest/store/db/row_writer.h"
#include "ingest/store/ingest_log.h"
#include "ingest/store/store_timeline.h"
#include "ingest/store/timeline/blocks.h"
#include "ingest/store/timeline/sql.h"
#include "ingest/store/timeline/tracks.h"

#include <stdlib.h>

enum block_kind { KIND_SLICES, KIND_POINTS, KIND_FLOWS, KIND_FLOWS_BY_TARGET, KIND_COUNT };

static const char *const kind_texts[KIND_COUNT] = {
    [KIND_SLICES] = TIMELINE_SLICES_KIND,
    [KIND_POINTS] = TIMELINE_POINTS_KIND,
    [KIND_FLOWS] = TIMELINE_FLOWS_KIND,
    [KIND_FLOWS_BY_TARGET] = TIMELINE_FLOWS_BY_TARGET_KIND,
};

struct timeline_rows {
    struct results_file *file;
    struct column_encoder enc;
    int64_t positions[KIND_COUNT][TIMELINE_LEVELS_MAX];
};

void timeline_rows_free(struct timeline_rows *rows)
{
    if (rows != NULL) {
        column_encode_free(&rows->enc);
        free(rows);
    }
}

static struct timeline_rows *rows_of(struct store_ingest *ingest, struct err *err)
{
    struct timeline_rows **place = ingest_log_timeline(ingest);
    struct results_file *file = NULL;
    if (!ingest_log_open(ingest, &file, err)) {
        return NULL;
    }
    if (*place != NULL && (*place)->file != file) {
        timeline_rows_free(*place);
        *place = NULL;
    }
    if (*place == NULL) {
        *place = calloc(1, sizeof **place);
    }
    if (*place == NULL) {
        (void)err_set(err, ERR_NO_MEMORY, "no memory to store a timeline");
        return NULL;
    }
    if ((*place)->file == NULL) {
        (*place)->file = file;
        column_encode_init(&(*place)->enc);
    }
    return *place;
}

/* ---- blocks ---- */

/* Writes the columns in rows->enc as a row of its kind, with these numbers before them. */
static bool keep(struct timeline_rows *rows,
                 const char *insert_sql,
                 const char *kind,
                 const int64_t *numbers,
                 size_t count,
                 struct err *err)
{
    struct row_writer writer;
    void *bytes = NULL;
    size_t len = 0;
    if (!column_encode_finish(&rows->enc, &bytes, &len, err)) {
        return false;
    }
    row_writer_init_file(&writer, rows->file, len, err);
    row_begin(&writer, insert_sql);
    row_put_text(&writer, kind);
    for (size_t i = 0; i < count; i++) {
        row_put_int(&writer, numbers[i]);
    }
    row_put_blob(&writer, bytes, len);
    row_end(&writer);
    bool ok = row_writer_finish(&writer);
    free(bytes);
    return ok;
}

static bool keep_block(struct timeline_rows *rows,
                       enum block_kind kind,
                       uint32_t level,
                       const struct timeline_extent *extent,
                       struct err *err)
{
    const int64_t numbers[] = {level,
                               rows->positions[kind][level]++,
                               extent->first_track,
                               extent->last_track,
                               extent->first_start_ns,
                               extent->max_end_ns};
    return keep(rows,
                "INSERT INTO timeline_block (log_id, kind, level, position, first_track,"
                " last_track, first_start_ns, max_end_ns, bytes)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                kind_texts[kind], numbers, sizeof numbers / sizeof *numbers, err);
}

static bool check_level(uint32_t level, struct err *err)
{
    return level < TIMELINE_LEVELS_MAX ||
           err_set(err, ERR_INTERNAL, "a timeline has no level %u", (unsigned)level);
}

bool store_ingest_timeline_block(struct store_ingest *ingest,
                                 uint32_t level,
                                 const struct timeline_block *block,
                                 struct err *err)
{
    struct timeline_extent extent;
    if (block->item_count == 0) {
        return true;
    }
    struct timeline_rows *rows = check_level(level, err) ? rows_of(ingest, err) : NULL;
    return rows != NULL && timeline_encode_block(&rows->enc, block, &extent, err) &&
           keep_block(rows, KIND_SLICES, level, &extent, err);
}

bool store_ingest_timeline_points(struct store_ingest *ingest,
                                  uint32_t level,
                                  const struct timeline_points *points,
                                  struct err *err)
{
    struct timeline_extent extent;
    if (points->item_count == 0) {
        return true;
    }
    struct timeline_rows *rows = check_level(level, err) ? rows_of(ingest, err) : NULL;
    return rows != NULL && timeline_encode_points(&rows->enc, points, &extent, err) &&
           keep_block(rows, KIND_POINTS, level, &extent, err);
}

bool store_ingest_flows(struct store_ingest *ingest,
                        bool by_target,
                        const struct timeline_flow *flows,
                        size_t count,
                        struct err *err)
{
    struct timeline_rows *rows = rows_of(ingest, err);
    bool ok = rows != NULL;
    for (size_t done = 0; ok && done < count; done += TIMELINE_BLOCK_ITEMS) {
        size_t part = count - done < TIMELINE_BLOCK_ITEMS ? count - done : TIMELINE_BLOCK_ITEMS;
        struct timeline_extent extent;
        ok = timeline_encode_flows(&rows->enc, by_target, flows + done, part, &extent, err) &&
             keep_block(rows, by_target ? KIND_FLOWS_BY_TARGET : KIND_FLOWS, 0, &extent, err);
    }
    return ok;
}

/* ---- tracks and labels ---- */

static bool keep_row(struct timeline_rows *rows,
                     const char *kind,
                     uint32_t first_id,
                     uint32_t label_count,
                     struct err *err)
{
    const int64_t numbers[] = {first_id, label_count};
    return keep(rows,
                "INSERT INTO timeline (log_id, kind, first_id, label_count, bytes)"
                " VALUES (?, ?, ?, ?, ?)",
                kind, numbers, sizeof numbers / sizeof *numbers, err);
}

bool store_ingest_timeline(struct store_ingest *ingest,
                           const struct timeline *timeline,
                           struct err *err)
{
    struct timeline_rows *rows = rows_of(ingest, err);
    bool ok = rows != NULL;
    for (uint32_t first = 0; ok && first < timeline->label_count;) {
        uint32_t left = timeline->label_count - first;
        uint32_t count = left < TIMELINE_LABELS_PER_ROW ? left : TIMELINE_LABELS_PER_ROW;
        timeline_encode_labels(&rows->enc, timeline->labels + first, count);
        ok = keep_row(rows, TIMELINE_LABELS_KIND, first, count, err);
        first += count;
    }
    if (ok) {
        timeline_encode_tracks(&rows->enc, timeline);
    }
    return ok && keep_row(rows, TIMELINE_TRACKS_KIND, 0, 0, err);
}

/* ---- a timeline that comes later ---- */

/* Whether the trace has events and no timeline. */
static bool wants_timeline(struct store *store, int64_t trace_id, bool *wants, struct err *err)
{
    struct store_snapshot snapshot;
    struct timeline *timeline = NULL;
    struct db *events = NULL;
    struct arena arena;
    arena_init(&arena, 0);
    store_snapshot_init(&snapshot, store);
    bool ok = store_snapshot_file(&snapshot, trace_id, RESULTS_EVENTS, &events, err) &&
              (events == NULL || store_timeline(&snapshot, &arena, trace_id, &timeline, err));
    *wants = ok && events != NULL && timeline == NULL;
    store_snapshot_close(&snapshot);
    arena_free(&arena);
    return ok;
}

bool store_timeline_begin(struct store *store,
                          int64_t trace_id,
                          struct store_ingest **out,
                          struct err *err)
{
    bool wants = false;
    *out = NULL;
    if (!wants_timeline(store, trace_id, &wants, err)) {
        return false;
    }
    *out = wants ? ingest_log_of_timeline(store, err) : NULL;
    return !wants || *out != NULL;
}

static bool
publish(struct store *store, const struct results_file *file, int64_t trace_id, struct err *err)
{
    return store_write_begin(store, STORE_DURABLE, err) &&
           store_write_end(store,
                           store_check_trace(store->writer, trace_id, err) &&
                               results_file_publish(file, trace_id, RESULTS_TIMELINE, err),
                           err);
}

bool store_timeline_end(struct store_ingest *ingest, int64_t trace_id, bool ok, struct err *err)
{
    struct results_file *file = NULL;
    ok = ok && ingest_log_open(ingest, &file, err) && results_file_seal(file, err) &&
         results_files_sync(&file, 1, err) &&
         publish(ingest_log_store(ingest), file, trace_id, err);
    if (ok) {
        results_file_keep(ingest_log_take(ingest));
    }
    store_ingest_abort(ingest);
    return ok;
}

#include "ingest/store/timeline_rows.h"

#include "ingest/store/ingest_log.h"
#include "ingest/store/store_timeline.h"
#include "ingest/store/timeline_blocks.h"
#include "ingest/store/timeline_sql.h"
#include "ingest/store/timeline_tracks.h"

#include <stdlib.h>

/* A transaction holds the writer for some 5 ms: what another upload waits for its turn at the
 * most. */
#define PENDING_BYTES ((size_t)1 << 20)
#define PENDING_ROWS 512u
#define PENDING_MAX_BYTES ((size_t)2 << 30)

/* One table is that of blocks, the other that of tracks and labels. */
struct pending_row {
    const char *kind;
    bool is_block;
    uint32_t level;
    int64_t position; /* or the first label */
    uint32_t label_count;
    struct timeline_extent extent;
    size_t offset; /* of its bytes */
    size_t len;
};

enum block_kind { KIND_SLICES, KIND_POINTS, KIND_FLOWS, KIND_FLOWS_BY_TARGET, KIND_COUNT };

static const char *const kind_texts[KIND_COUNT] = {
    [KIND_SLICES] = TIMELINE_SLICES_KIND,
    [KIND_POINTS] = TIMELINE_POINTS_KIND,
    [KIND_FLOWS] = TIMELINE_FLOWS_KIND,
    [KIND_FLOWS_BY_TARGET] = TIMELINE_FLOWS_BY_TARGET_KIND,
};

struct timeline_rows {
    int64_t log_id;
    struct column_writer columns;
    struct buf bytes; /* of the pending rows, one behind the other */
    struct pending_row rows[PENDING_ROWS];
    size_t row_count;
    int64_t positions[KIND_COUNT][TIMELINE_LEVELS_MAX];
};

static struct timeline_rows *make_rows(int64_t log_id)
{
    struct timeline_rows *rows = calloc(1, sizeof *rows);
    if (rows != NULL) {
        rows->log_id = log_id;
        column_writer_init(&rows->columns);
        buf_init(&rows->bytes, PENDING_MAX_BYTES);
    }
    return rows;
}

void timeline_rows_free(struct timeline_rows *rows)
{
    if (rows != NULL) {
        column_writer_free(&rows->columns);
        buf_free(&rows->bytes);
        free(rows);
    }
}

static struct timeline_rows *rows_of(struct store_ingest *ingest, struct err *err)
{
    struct timeline_rows **place = ingest_log_timeline(ingest);
    int64_t log_id = 0;
    if (!ingest_log_open(ingest, &log_id, err)) {
        return NULL;
    }
    if (*place != NULL && (*place)->log_id != log_id) {
        timeline_rows_free(*place);
        *place = NULL;
    }
    if (*place == NULL) {
        *place = make_rows(log_id);
    }
    if (*place == NULL) {
        (void)err_set(err, ERR_NO_MEMORY, "no memory to store a timeline");
    }
    return *place;
}

/* ---- transactions ---- */

static bool insert_block(struct db *db,
                         const struct timeline_rows *rows,
                         const struct pending_row *row,
                         struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, db,
               "INSERT INTO timeline_block (log_id, kind, level, position, first_track, last_track,"
               " first_start_ns, max_end_ns, bytes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
    db_put_int(&st, rows->log_id);
    db_put_text(&st, row->kind);
    db_put_int(&st, row->level);
    db_put_int(&st, row->position);
    db_put_int(&st, row->extent.first_track);
    db_put_int(&st, row->extent.last_track);
    db_put_int(&st, row->extent.first_start_ns);
    db_put_int(&st, row->extent.max_end_ns);
    db_put_blob(&st, rows->bytes.ptr + row->offset, row->len);
    return db_run(&st, err);
}

static bool insert_other(struct db *db,
                         const struct timeline_rows *rows,
                         const struct pending_row *row,
                         struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, db,
               "INSERT INTO timeline (log_id, kind, first_id, label_count, bytes)"
               " VALUES (?, ?, ?, ?, ?)");
    db_put_int(&st, rows->log_id);
    db_put_text(&st, row->kind);
    db_put_int(&st, row->position);
    db_put_int(&st, row->label_count);
    db_put_blob(&st, rows->bytes.ptr + row->offset, row->len);
    return db_run(&st, err);
}

static bool insert_pending(struct db *db, const struct timeline_rows *rows, struct err *err)
{
    bool ok = true;
    for (size_t i = 0; i < rows->row_count && ok; i++) {
        const struct pending_row *row = &rows->rows[i];
        ok = row->is_block ? insert_block(db, rows, row, err) : insert_other(db, rows, row, err);
    }
    return ok;
}

static bool flush(struct timeline_rows *rows, struct store *store, struct err *err)
{
    if (rows->row_count == 0) {
        return true;
    }
    if (!store_write_begin(store, STORE_BATCH, err)) {
        return false;
    }
    bool ok = store_write_end(store, insert_pending(store->writer, rows, err), err);
    rows->row_count = 0;
    buf_clear(&rows->bytes);
    return ok;
}

/* Behind `row`'s bytes, which were appended since `offset`. */
static bool
keep(struct timeline_rows *rows, struct store *store, struct pending_row row, struct err *err)
{
    row.len = rows->bytes.len - row.offset;
    rows->rows[rows->row_count++] = row;
    return (rows->row_count < PENDING_ROWS && rows->bytes.len < PENDING_BYTES) ||
           flush(rows, store, err);
}

/* ---- blocks ---- */

/* The columns of a block are in rows->columns. */
static bool keep_block(struct store_ingest *ingest,
                       struct timeline_rows *rows,
                       enum block_kind kind,
                       uint32_t level,
                       const struct timeline_extent *extent,
                       struct err *err)
{
    struct pending_row row = {.kind = kind_texts[kind],
                              .is_block = true,
                              .level = level,
                              .position = rows->positions[kind][level],
                              .extent = *extent,
                              .offset = rows->bytes.len};
    rows->positions[kind][level]++;
    return column_writer_finish(&rows->columns, &rows->bytes, err) &&
           keep(rows, ingest_log_store(ingest), row, err);
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
    return rows != NULL && timeline_put_block(&rows->columns, block, &extent, err) &&
           keep_block(ingest, rows, KIND_SLICES, level, &extent, err);
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
    return rows != NULL && timeline_put_points(&rows->columns, points, &extent, err) &&
           keep_block(ingest, rows, KIND_POINTS, level, &extent, err);
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
        ok = timeline_put_flows(&rows->columns, by_target, flows + done, part, &extent, err) &&
             keep_block(ingest, rows, by_target ? KIND_FLOWS_BY_TARGET : KIND_FLOWS, 0, &extent,
                        err);
    }
    /* They come last, often from a thread beside the analyses, which then need not write them. */
    return ok && (!by_target || flush(rows, ingest_log_store(ingest), err));
}

/* ---- tracks and labels ---- */

static bool keep_tracks(struct store_ingest *ingest,
                        struct timeline_rows *rows,
                        const struct timeline *timeline,
                        struct err *err)
{
    struct pending_row row = {.kind = TIMELINE_TRACKS_KIND, .offset = rows->bytes.len};
    void *bytes = NULL;
    size_t len = 0;
    if (!timeline_pack_tracks(timeline, &bytes, &len, err)) {
        return false;
    }
    buf_append(&rows->bytes, bytes, len);
    free(bytes);
    if (rows->bytes.failed) {
        return err_set(err, ERR_NO_MEMORY, "no memory to store the tracks of a timeline");
    }
    return keep(rows, ingest_log_store(ingest), row, err);
}

static bool keep_labels(struct store_ingest *ingest,
                        struct timeline_rows *rows,
                        const struct timeline *timeline,
                        struct err *err)
{
    bool ok = true;
    for (uint32_t first = 0; ok && first < timeline->label_count;) {
        uint32_t left = timeline->label_count - first;
        uint32_t count = left < TIMELINE_LABELS_PER_ROW ? left : TIMELINE_LABELS_PER_ROW;
        struct pending_row row = {.kind = TIMELINE_LABELS_KIND,
                                  .position = first,
                                  .label_count = count,
                                  .offset = rows->bytes.len};
        timeline_put_labels(&rows->columns, timeline->labels + first, count);
        ok = column_writer_finish(&rows->columns, &rows->bytes, err) &&
             keep(rows, ingest_log_store(ingest), row, err);
        first += count;
    }
    return ok;
}

bool store_ingest_timeline(struct store_ingest *ingest,
                           const struct timeline *timeline,
                           struct err *err)
{
    struct timeline_rows *rows = rows_of(ingest, err);
    return rows != NULL && keep_labels(ingest, rows, timeline, err) &&
           keep_tracks(ingest, rows, timeline, err) && flush(rows, ingest_log_store(ingest), err);
}

/* A log of events out of the store, block by block. A reader holds no connection: whoever reads
 * hands over one to the file of the trace. */
#ifndef KS_STORE_EVENTS_READER_H
#define KS_STORE_EVENTS_READER_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/base/memory/arena.h"
#include "ingest/store/db/db.h"
#include "ingest/store/events/decode.h"
#include "ingest/store/events/search/stored_texts.h"
#include "ingest/store/events/when.h"
#include "ingest/store/results_files.h"

#include <stdbool.h>
#include <stdint.h>

struct event_reader {
    int64_t trace_id;
    int64_t log_id;
    int64_t base_ns; /* the trace's start as its file counts: where relative times begin */
    uint32_t event_count;
    uint32_t text_count;
    struct arena arena; /* of the templates */
    struct stored_templates templates;
    struct stored_texts texts;
};

/* `file` NULL: the trace has none. ERR_NOT_FOUND: no such visible trace; ERR_GONE: it has no
 * events. Nothing is to be closed then. */
bool event_reader_open(struct event_reader *reader,
                       struct db *catalogue,
                       struct db *file,
                       int64_t trace_id,
                       struct err *err) KS_MUST_USE;
/* As event_reader_open, from a snapshot; *file is the connection for what follows. */
bool event_reader_begin(struct event_reader *reader,
                        struct store_snapshot *snapshot,
                        int64_t trace_id,
                        struct db **file,
                        struct err *err) KS_MUST_USE;
void event_reader_close(struct event_reader *reader);
/* ERR_NOT_FOUND when the trace was removed since. */
bool event_reader_check(const struct event_reader *reader,
                        struct db *db,
                        struct err *err) KS_MUST_USE;

/* The members of the document beside the events: the statement stands at that column. */
bool event_head_decode(const char **head, struct arena *arena, struct db_stmt *st, struct err *err)
    KS_MUST_USE;

/* Columns of a row of event_block, in the order of EVENT_BLOCK_COLUMNS. */
#define EVENT_BLOCK_COLUMNS \
    " first_event, event_count, min_start_ns, max_end_ns, has_metadata, texts, bytes"
struct event_block_row {
    uint32_t first_event;
    uint32_t event_count;
    int64_t min_start_ns;
    int64_t max_end_ns;
    bool has_metadata;
};
/* The columns before `texts`; the blobs are then the next ones. */
void event_block_row_read(struct event_block_row *row, struct db_stmt *st);

/* A block with all that belongs to it, in its arena. */
struct loaded_block {
    struct arena arena;
    struct event_block_row row;
    struct block_texts texts;
    struct event_block block;
    struct json_slice *slices; /* of texts.ids; NULL until asked for */
    struct block_cursor cursor;
};

void loaded_block_init(struct loaded_block *loaded);
void loaded_block_free(struct loaded_block *loaded); /* it can be used again */
/* From `texts` on: the statement stands at that column. */
bool loaded_block_read_texts(struct loaded_block *loaded,
                             struct db_stmt *st,
                             struct err *err) KS_MUST_USE;
/* And then `bytes`; the cursor is before the first event. */
bool loaded_block_read_bytes(struct loaded_block *loaded,
                             const struct event_reader *reader,
                             struct db_stmt *st,
                             struct err *err) KS_MUST_USE;
/* All texts of the block, valid until the reader's next texts. */
bool loaded_block_read_slices(struct loaded_block *loaded,
                              struct event_reader *reader,
                              struct db *db,
                              struct err *err) KS_MUST_USE;

/* The fields of the event at the cursor. Where slices are NULL, texts have none: `text` is "". */
void loaded_block_fields(const struct loaded_block *loaded,
                         struct event_value fields[EVENT_FIELD_COUNT]);
/* Whether an event is in a range, both as the file counts. */
bool event_overlaps(const struct event_when *when, int64_t start_ns, int64_t end_ns);

/* From times relative to the trace's start to those of its file, and back; INT64_MIN and INT64_MAX,
 * which are no bounds, stay, and so does what would lie beyond. */
int64_t event_to_file_time(const struct event_reader *reader, int64_t ns);
int64_t event_from_file_time(int64_t ns, int64_t base_ns);

#endif

/* Tracks, levels and labels as rows of the table `timeline`. */
#ifndef KS_STORE_TIMELINE_TRACKS_H
#define KS_STORE_TIMELINE_TRACKS_H

#include "ingest/model/timeline.h"
#include "ingest/store/timeline/columns.h"

/* Labels of one row. */
#define TIMELINE_LABELS_PER_ROW 1024u

/* Tracks and levels, malloc'ed. ERR_NO_MEMORY. */
bool timeline_encode_tracks(const struct timeline *timeline,
                            void **bytes,
                            size_t *len,
                            struct err *err) KS_MUST_USE;
/* The way back; all of it goes to `arena`. ERR_STORE, ERR_NO_MEMORY. */
bool timeline_decode_tracks(struct arena *arena,
                            const void *bytes,
                            size_t len,
                            struct timeline **out,
                            struct err *err) KS_MUST_USE;

/* `count` labels, at most TIMELINE_LABELS_PER_ROW, as columns of the writer. */
void timeline_put_labels(struct column_writer *writer,
                         const struct timeline_label *labels,
                         size_t count);
/* Raw bytes of one row, at most. */
#define TIMELINE_LABELS_MAX_BYTES ((size_t)1 << 30)
/* Of one row that begins with label first_id: those that ids[0..count) name, ascending. Texts go to
 * `arena`. ERR_STORE, ERR_NO_MEMORY. */
bool timeline_get_labels(struct column_reader *reader,
                         struct arena *arena,
                         uint32_t first_id,
                         const uint32_t *ids,
                         size_t count,
                         struct timeline_label *labels,
                         struct err *err) KS_MUST_USE;

#endif

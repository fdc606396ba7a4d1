/* Tracks, levels and labels as rows of the table `timeline`. */
#ifndef KS_STORE_TIMELINE_TRACKS_H
#define KS_STORE_TIMELINE_TRACKS_H

#include "ingest/model/timeline.h"
#include "ingest/store/codec/column_codec.h"

/* Labels of one row. */
#define TIMELINE_LABELS_PER_ROW 1024u

/* Writing: the encoder is cleared first and holds the columns after. */
void timeline_encode_tracks(struct column_encoder *enc, const struct timeline *timeline);
/* At most TIMELINE_LABELS_PER_ROW. */
void timeline_encode_labels(struct column_encoder *enc,
                            const struct timeline_label *labels,
                            uint32_t count);

/* Reads tracks and levels into `arena`. ERR_STORE, ERR_NO_MEMORY. */
bool timeline_decode_tracks(struct arena *arena,
                            const void *bytes,
                            size_t len,
                            struct timeline **out,
                            struct err *err) KS_MUST_USE;
/* From a row that begins with label first_id, reads the labels ids[0..count), ascending. Texts go
 * to `arena`. ERR_STORE, ERR_NO_MEMORY. */
bool timeline_decode_labels(struct arena *arena,
                            const void *bytes,
                            size_t len,
                            uint32_t first_id,
                            const uint32_t *ids,
                            size_t count,
                            struct timeline_label *labels,
                            struct err *err) KS_MUST_USE;

#endif

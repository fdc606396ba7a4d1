/* The texts of a log: segments of some thousands, by id, each packed; and what of them is in
 * memory. */
#ifndef KS_STORE_EVENTS_SEARCH_STORED_TEXTS_H
#define KS_STORE_EVENTS_SEARCH_STORED_TEXTS_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/base/text/strtab.h"
#include "ingest/store/codec/column_codec.h"
#include "ingest/store/db/db.h"
#include "ingest/store/events/documents/json_members.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- writing ---- */

/* Where the segment from `first` on ends; `first` itself when it is not full yet, unless it is the
 * last one. */
uint32_t stored_texts_segment_end(const struct strtab *texts, uint32_t first, bool is_last);
void stored_texts_encode(struct column_encoder *enc,
                         const struct strtab *texts,
                         uint32_t first,
                         uint32_t end);

/* ---- reading ---- */

struct text_segment {
    uint32_t first_id;
    uint32_t count;
    uint32_t *ends; /* of each text in bytes */
    char *bytes;
    size_t size_bytes; /* held */
    uint64_t used_at;
};

bool text_segment_decode(struct text_segment *out,
                         uint32_t first_id,
                         const void *bytes,
                         size_t len,
                         struct err *err) KS_MUST_USE;
void text_segment_free(struct text_segment *segment);
/* `id` is one of the segment. */
struct json_slice text_segment_text(const struct text_segment *segment, uint32_t id);

struct stored_texts {
    int64_t log_id;
    struct text_segment *segments; /* ascending */
    size_t count;
    size_t cap;
    size_t held_bytes;
    uint64_t clock;
};

void stored_texts_init(struct stored_texts *texts, int64_t log_id);
void stored_texts_free(struct stored_texts *texts);
/* out[i] is the text of ids[i], valid until the next call. Fastest with ids ascending. What was not
 * used lately is let go of first, when much is held. */
bool stored_texts_get(struct stored_texts *texts,
                      struct db *db,
                      const uint32_t *ids,
                      size_t count,
                      struct json_slice *out,
                      struct err *err) KS_MUST_USE;

#endif

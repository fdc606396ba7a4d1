/* Batches of events as the blocks of the store (event_decode.h reads them), each as one:
 *
 *     templates of the block, then which one each event has
 *     for each template its columns one behind another:
 *         ts      the difference to that of the event before in the file, of whatever template
 *         texts   the place in the block's list of text ids
 *         others  numbers as they are
 *     each column by column_encode_column, the whole by zstd
 *
 * and, as bytes of their own, what tells whether the block is needed at all: the list of its text
 * ids and the ranges of its numbers. */
#ifndef KS_STORE_EVENTS_ENCODE_H
#define KS_STORE_EVENTS_ENCODE_H

#include "ingest/base/err.h"
#include "ingest/model/event_log.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A block has no more: they would make all blocks together smaller, but to read one event takes a
 * block. */
#define EVENT_BLOCK_EVENTS 8192u

/* Flags of the texts of a block. */
#define BLOCK_TEXT_SEARCHED 1u /* a name, a category, an argument: where a search looks */
#define BLOCK_TEXT_WHOLE 2u    /* a whole event */
#define BLOCK_TEXT_FLAG_BITS 2u

struct event_encoder;

/* malloc'ed bytes; the caller frees them. */
struct encoded_block {
    uint32_t first_event;
    uint32_t event_count;
    int64_t min_start_ns; /* INT64_MAX and INT64_MIN without a time stamp */
    int64_t max_end_ns;
    bool has_metadata;
    void *texts;
    size_t texts_len;
    void *bytes;
    size_t bytes_len;
};

struct event_encoder *event_encoder_create(void);          /* NULL without memory */
void event_encoder_destroy(struct event_encoder *encoder); /* NULL is allowed */

/* A batch (at least one event) as a block. */
bool event_encoder_encode(struct event_encoder *encoder,
                          const struct event_log *log,
                          const struct event_batch *batch,
                          struct encoded_block *out,
                          struct err *err) KS_MUST_USE;

#endif

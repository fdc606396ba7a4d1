/* Compresses answers: gzip by ISA-L. */
#ifndef KS_SERVER_HTTP_PACK_H
#define KS_SERVER_HTTP_PACK_H

#include "ingest/base/attr.h"
#include "ingest/base/text/buf.h"

#include <stdbool.h>
#include <stddef.h>

enum pack_level { PACK_FAST = 1, PACK_SMALL = 3 };

/* Appends `bytes` as one gzip member. False without memory (or beyond the maximum of `out`); `out`
 * is then unusable. Thread-safe. */
bool pack_gzip(const void *bytes, size_t len, enum pack_level level, struct buf *out) KS_MUST_USE;

/* Compresses piece by piece into one member. */
struct pack_stream;

struct pack_stream *pack_stream_create(enum pack_level level) KS_MUST_USE; /* NULL without memory */
void pack_stream_destroy(struct pack_stream *pack);                        /* NULL is allowed */
/* Appends the output so far to `out`; all of it with the `last` piece. False as above. */
bool pack_stream_put(struct pack_stream *pack,
                     const void *bytes,
                     size_t len,
                     bool last,
                     struct buf *out) KS_MUST_USE;

#endif

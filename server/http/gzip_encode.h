/* Compresses answers: gzip by ISA-L. */
#ifndef KS_SERVER_HTTP_GZIP_ENCODE_H
#define KS_SERVER_HTTP_GZIP_ENCODE_H

#include "ingest/base/attr.h"
#include "ingest/base/text/buf.h"

#include <stdbool.h>
#include <stddef.h>

enum gzip_level { GZIP_FAST = 1, GZIP_SMALL = 3 };

/* Appends `bytes` as one gzip member. False without memory (or beyond the maximum of `out`); `out`
 * is then unusable. Thread-safe. */
bool gzip_encode(const void *bytes, size_t len, enum gzip_level level, struct buf *out) KS_MUST_USE;

/* Compresses piece by piece into one member. */
struct gzip_encoder;

struct gzip_encoder *
gzip_encoder_create(enum gzip_level level) KS_MUST_USE;  /* NULL without memory */
void gzip_encoder_destroy(struct gzip_encoder *encoder); /* NULL is allowed */
/* Appends the output so far to `out`; all of it with the `last` piece. False as above. */
bool gzip_encoder_put(struct gzip_encoder *encoder,
                      const void *bytes,
                      size_t len,
                      bool last,
                      struct buf *out) KS_MUST_USE;

#endif

/* Compression of answers: gzip by ISA-L. */
#ifndef KS_SERVER_HTTP_GZIP_ENCODE_H
#define KS_SERVER_HTTP_GZIP_ENCODE_H

#include "ingest/base/attr.h"
#include "ingest/base/text/buf.h"

#include <stdbool.h>
#include <stddef.h>

enum gzip_level { GZIP_FAST = 1, GZIP_SMALL = 3 };

/* Appends one gzip member that holds `bytes`. False without memory (or above `out`'s ceiling);
 * `out` is then unusable. Thread-safe. */
bool gzip_encode(const void *bytes, size_t len, enum gzip_level level, struct buf *out) KS_MUST_USE;

/* The same piece by piece: one member over all that is put. */
struct gzip_encoder;

struct gzip_encoder *
gzip_encoder_create(enum gzip_level level) KS_MUST_USE; /* NULL without memory */
void gzip_encoder_destroy(struct gzip_encoder *pack);   /* NULL is allowed */
/* Appends to `out` what there is by now; all of it when this is the `last` piece. False as above.
 */
bool gzip_encoder_put(struct gzip_encoder *pack,
                      const void *bytes,
                      size_t len,
                      bool last,
                      struct buf *out) KS_MUST_USE;

#endif

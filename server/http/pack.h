/* Compression of answers: gzip by ISA-L. */
#ifndef KS_SERVER_HTTP_PACK_H
#define KS_SERVER_HTTP_PACK_H

#include "ingest/base/attr.h"
#include "ingest/base/buf.h"

#include <stdbool.h>
#include <stddef.h>

enum pack_level { PACK_FAST = 1, PACK_SMALL = 3 };

/* Appends one gzip member that holds `bytes`. False without memory (or above `out`'s ceiling);
 * `out` is then unusable. Thread-safe. */
bool pack_gzip(const void *bytes, size_t len, enum pack_level level, struct buf *out) KS_MUST_USE;

#endif

/* A source's bytes with the container undone. One decoder an input, used by the reader thread only.
 *
 *     source_read -> feed [........] -> gzip or zstd -> the caller's block
 *     source_read -------------------- plain --------> the caller's block
 */
#ifndef KS_INPUT_DECODE_H
#define KS_INPUT_DECODE_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/input/source.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Compressed bytes waiting for the decoder. */
struct feed {
    struct source *source;
    char *bytes;
    size_t at;
    size_t len;
    bool ended; /* the source has nothing behind bytes[len] */
};

struct gzip_state;
struct zstd_state;

struct decode {
    struct feed feed;
    struct gzip_state *gzip;
    struct zstd_state *zstd;
    uint64_t produced_bytes;
    /* Set by the thread that reads the windows; 0: none. */
    atomic_uint_least64_t max_bytes;
    atomic_uint_least64_t max_ratio;
    bool ended;
    bool cut;
    const char *why; /* static text: the reason of `cut`, or what else is to be said of the end */
};

/* Errors: ERR_NO_MEMORY. After a failure decode_close must not be called. */
bool decode_open(struct decode *decode, struct source *source, struct err *err) KS_MUST_USE;
void decode_close(struct decode *decode);

/* Fills `out`; *len below `cap` means the end, and then `cut` and `why` are final. Errors: ERR_IO;
 * ERR_BAD_INPUT when the data is damaged before its first decoded byte; ERR_TOO_LARGE when
 * compressed data gets larger than it may. */
bool decode_fill(struct decode *decode, char *out, size_t cap, size_t *len, struct err *err)
    KS_MUST_USE;

#endif

/* Decompresses the bytes of a source. One decoder per input, used by its reader thread only.
 *
 *     source_read -> feed [........] -> gzip or zstd -> the caller's block
 *     source_read -------------------- plain --------> the caller's block */
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
    bool ended; /* the source has nothing after bytes[len] */
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
    const char *why; /* static text: the reason of `cut`, or another remark about the end */
};

/* ERR_NO_MEMORY. After a failure, do not call decode_close. */
bool decode_open(struct decode *decode, struct source *source, struct err *err) KS_MUST_USE;
void decode_close(struct decode *decode);

/* Fills `out`. *len below `cap` means the end; `cut` and `why` are then final. ERR_IO;
 * ERR_BAD_INPUT: damaged before the first decoded byte; ERR_TOO_LARGE: beyond a limit. */
bool decode_fill(struct decode *decode, char *out, size_t cap, size_t *len, struct err *err)
    KS_MUST_USE;

#endif

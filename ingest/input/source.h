/* Reads the raw bytes of an input: a regular file, a growing file, memory or a stream. The reader
 * thread owns it, except for the two atomics. */
#ifndef KS_INPUT_SOURCE_H
#define KS_INPUT_SOURCE_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/input/input.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct source {
    int fd; /* -1: memory or a stream */
    const char *memory;
    size_t memory_at;
    struct input_stream stream; /* `next` NULL: none */
    struct input_growth growth; /* `wait` NULL: the file is whole */
    uint64_t there_bytes;       /* bytes known to be in a growing file */
    const char *piece;          /* rest of the stream's last piece */
    size_t piece_len;
    size_t read_max_bytes; /* limit of a single read; tests set it low */
    uint64_t total_bytes;
    enum input_container container; /* by the magic bytes */
    atomic_uint_least64_t read_bytes;
    atomic_bool stop; /* set by any thread: the source ends at the next read */
};

bool source_open_file(struct source *source, const char *path, struct err *err) KS_MUST_USE;
/* The caller keeps `fd`. */
bool source_open_growing(struct source *source,
                         int fd,
                         const struct input_growth *growth,
                         struct err *err) KS_MUST_USE;
void source_open_memory(struct source *source,
                        const void *bytes,
                        size_t len,
                        size_t read_max_bytes);
void source_open_stream(struct source *source, const struct input_stream *stream);
void source_close(struct source *source);

/* Reads up to `cap` bytes; *len 0 means the end. ERR_IO, or the errors of a stream. */
bool source_read(struct source *source, char *out, size_t cap, size_t *len, struct err *err)
    KS_MUST_USE;

/* Check the first bytes; GZIP_MAGIC_BYTES or ZSTD_MAGIC_BYTES are enough. */
bool source_is_gzip(const char *bytes, size_t len);
bool source_is_zstd(const char *bytes, size_t len);

#define GZIP_MAGIC_BYTES 2
#define ZSTD_MAGIC_BYTES 4

#endif

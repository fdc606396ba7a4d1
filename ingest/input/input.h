/* Reads a file, memory or a stream, undoes gzip (ISA-L) and zstd, and returns the bytes in windows.
 *
 * A thread reads and decompresses a few blocks ahead of the caller, so that inflating and parsing
 * overlap. Memory is bounded: INPUT_BLOCKS blocks of INPUT_BLOCK_BYTES. Magic bytes decide the
 * container, never a name. A gzip file may have several members; other bytes after the last member
 * are ignored and reported.
 *
 *     reader thread:  read -> inflate -> [block][block][block] -> input_next -> parser */
#ifndef KS_INPUT_INPUT_H
#define KS_INPUT_INPUT_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INPUT_BLOCK_BYTES ((size_t)256 << 10)
#define INPUT_BLOCKS 8
/* An unfinished item up to this size moves to the next window without copying that window. */
#define INPUT_HEADROOM_BYTES ((size_t)128 << 10)
/* Readable bytes after every window, for wide loads. Their content is undefined. */
#define INPUT_PADDING_BYTES 64

struct input;

enum input_container { INPUT_PLAIN, INPUT_GZIP, INPUT_ZSTD };
/* The container, from the first bytes; four are enough. */
enum input_container input_container_of(const char *bytes, size_t len);

/* Opens a regular file and starts the reader thread. Errors: ERR_IO, ERR_NOT_FOUND, ERR_NO_MEMORY.
 */
bool input_open_file(struct input **out, const char *path, struct err *err) KS_MUST_USE;
/* Opens `len` bytes of memory, which must outlive the input. `block_bytes` sets the block size
 * (tests sweep it: 1, 7, 64 ...); 0 means INPUT_BLOCK_BYTES. */
bool input_open_memory(struct input **out,
                       const void *bytes,
                       size_t len,
                       size_t block_bytes,
                       struct err *err) KS_MUST_USE;
/* A source that produces its bytes on demand. */
struct input_stream {
    void *context;
    /* Returns the next piece, valid until the next call; *len is 0 at the end. The reader thread
     * calls it, one call at a time. */
    bool (*next)(void *context, const char **bytes, size_t *len, struct err *err);
    enum input_container container; /* to undo */
};
/* Opens a stream; its context must outlive the input. Reading may fail with the errors of `next`.
 */
bool input_open_stream(struct input **out,
                       const struct input_stream *stream,
                       struct err *err) KS_MUST_USE;
/* A file that is still being written. */
struct input_growth {
    void *context;
    /* Waits until the file has more than `read_bytes` bytes and returns how many; at its end
     * returns `read_bytes`. False: the rest will not come. The reader thread calls it. */
    bool (*wait)(void *context, uint64_t read_bytes, uint64_t *there_bytes, struct err *err);
    uint64_t total_bytes; /* as announced; 0: unknown */
};
/* Opens such a file, which already has its first bytes. The caller keeps `fd`, open for reading; it
 * and the context must outlive the input, whose end waits for `wait`. input_path is NULL. */
bool input_open_growing(struct input **out,
                        int fd,
                        const struct input_growth *growth,
                        struct err *err) KS_MUST_USE;
/* Limits of decompression; 0: none. */
struct input_limits {
    uint64_t decompressed_bytes;
    uint64_t ratio; /* decompressed to compressed bytes, beyond INPUT_RATIO_FREE_BYTES */
};
/* The ratio does not limit the first bytes. */
#define INPUT_RATIO_FREE_BYTES ((uint64_t)64 << 20)
/* Call it before input_next. Beyond a limit, input_next fails with ERR_TOO_LARGE, at most some
 * blocks later; so does each member of a tar read from this input. */
void input_limit(struct input *in, const struct input_limits *limits);
struct input_limits input_limits_of(const struct input *in);
/* Stops the thread and frees everything. Call it at any time; NULL is allowed. */
void input_close(struct input *in);

/* Returns the next window: the last `keep` bytes of the window before it (0 at the first call),
 * directly followed by new bytes. *len == keep means the end of the input, now and at every later
 * call. The window stays valid until the next call. `keep` has no limit: beyond the headroom, the
 * window moves to a larger buffer. ERR_IO; ERR_BAD_INPUT: compressed data damaged before its first
 * byte; ERR_NO_MEMORY. Data that breaks off or is damaged later is no error: the input ends there,
 * and input_cut says so. */
bool input_next(struct input *in, size_t keep, const char **window, size_t *len, struct err *err)
    KS_MUST_USE;

/* Returns what the first input_next will return, without consuming it. Call it only before that. */
bool input_peek(struct input *in, const char **window, size_t *len, struct err *err) KS_MUST_USE;

enum input_container input_container(const struct input *in);
/* The path of an opened file, for formats that must seek in it; NULL for other inputs. The file
 * holds the compressed bytes, if there is a container. */
const char *input_path(const struct input *in);
/* Bytes of the file read so far, and its size (0 for a stream). Any thread. */
uint64_t input_bytes_read(const struct input *in);
uint64_t input_bytes_total(const struct input *in);
/* Keeps *bytes_read at that count, about each block, until the input is closed. */
void input_report(struct input *in, _Atomic uint64_t *bytes_read, _Atomic uint64_t *bytes_total);
/* Call it after the end: true when the compressed stream was cut or damaged; `*why` (static text)
 * is the reason. All bytes before the fault were returned. When false, `*why` is NULL, or says that
 * bytes after the last member or frame were ignored. */
bool input_cut(const struct input *in, const char **why);

#endif

/* Where bytes come from: a file, memory or a stream, gzip (ISA-L) and zstd undone, handed on in
 * windows.
 *
 * Reading and decompressing run on a thread of their own, a few blocks ahead of the caller, so that
 * inflate and parse overlap. Memory is bounded: INPUT_BLOCKS blocks of INPUT_BLOCK_BYTES.
 * The container is recognised by its magic bytes, never by a name. A gzip file may have several
 * members; bytes after the last member that are no gzip member are ignored and reported.
 *
 *     reader thread:  read -> inflate -> [block][block][block] -> input_next -> parser
 */
#ifndef KS_INPUT_INPUT_H
#define KS_INPUT_INPUT_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INPUT_BLOCK_BYTES ((size_t)512 << 10)
#define INPUT_BLOCKS 4
/* A partial item of up to this size is carried to the next window without copying the window. */
#define INPUT_HEADROOM_BYTES ((size_t)256 << 10)
/* Readable bytes behind every window, for wide loads. Their content is undefined. */
#define INPUT_PADDING_BYTES 64

struct input;

enum input_container { INPUT_PLAIN, INPUT_GZIP, INPUT_ZSTD };
/* By the magic bytes; four are enough. */
enum input_container input_container_of(const char *bytes, size_t len);

/* Opens a regular file and starts the reader thread. Errors: ERR_IO, ERR_NOT_FOUND, ERR_NO_MEMORY.
 */
bool input_open_file(struct input **out, const char *path, struct err *err) KS_MUST_USE;
/* The same over `len` bytes of memory, which must outlive the input. `block_bytes` sets the size of
 * the blocks (tests sweep it: 1, 7, 64 ...); 0 means INPUT_BLOCK_BYTES. */
bool input_open_memory(struct input **out,
                       const void *bytes,
                       size_t len,
                       size_t block_bytes,
                       struct err *err) KS_MUST_USE;
/* Bytes that somebody makes as they are asked for. */
struct input_stream {
    void *context;
    /* The next piece, valid until the next call; *len 0 at the end. Called by the reader thread,
     * one call at a time. */
    bool (*next)(void *context, const char **bytes, size_t *len, struct err *err);
    enum input_container container; /* to be undone */
};
/* The same over a stream; its context must outlive the input. Errors at
 * reading are those of `next`. */
bool input_open_stream(struct input **out,
                       const struct input_stream *stream,
                       struct err *err) KS_MUST_USE;
/* A file that somebody still writes. */
struct input_growth {
    void *context;
    /* Waits until the file has more than `read_bytes` bytes and tells how many, or as many at its
     * end. False: the rest will not come. Called by the reader thread. */
    bool (*wait)(void *context, uint64_t read_bytes, uint64_t *there_bytes, struct err *err);
    uint64_t total_bytes; /* as announced; 0: not */
};
/* The same over such a file, of which the first bytes are there. `fd`, open for reading, stays the
 * caller's; it and the context must outlive the input, whose end waits for `wait`. There is no
 * path. */
bool input_open_growing(struct input **out,
                        int fd,
                        const struct input_growth *growth,
                        struct err *err) KS_MUST_USE;
/* What compressed data may become; 0: anything. */
struct input_limits {
    uint64_t decompressed_bytes;
    uint64_t ratio; /* decompressed to compressed bytes, of more than INPUT_RATIO_FREE_BYTES */
};
/* As much may come of any few bytes. */
#define INPUT_RATIO_FREE_BYTES ((uint64_t)64 << 20)
/* To be called before input_next. What is beyond is ERR_TOO_LARGE there, some blocks later at the
 * most, and the same holds for each member of a tar that is read from it. */
void input_limit(struct input *in, const struct input_limits *limits);
struct input_limits input_limits_of(const struct input *in);
/* Stops the thread and frees everything; NULL is allowed. May be called at any time. */
void input_close(struct input *in);

/* The next window: the last `keep` bytes of the window before it (0 at the first call), directly
 * followed by new bytes. *len == keep means that the input has ended (and again at every later call
 * with the same answer). The window stays valid until the next call. `keep` may be of any size:
 * beyond the headroom the window is copied to a larger buffer. Errors: ERR_IO, ERR_BAD_INPUT
 * (damaged compressed data before the first byte), ERR_NO_MEMORY. Data that breaks off or is
 * damaged later is no error: the input ends there and input_cut tells. */
bool input_next(struct input *in, size_t keep, const char **window, size_t *len, struct err *err)
    KS_MUST_USE;

/* Looks at what the first input_next will give, without taking it. Only before that. */
bool input_peek(struct input *in, const char **window, size_t *len, struct err *err) KS_MUST_USE;

enum input_container input_container(const struct input *in);
/* The file's path as it was opened, for formats that must seek in it; NULL for others. With a
 * container its bytes are not those of the windows. */
const char *input_path(const struct input *in);
/* Bytes of the file read so far and its size (0 of a stream); may be called from any thread. */
uint64_t input_bytes_read(const struct input *in);
uint64_t input_bytes_total(const struct input *in);
/* After the end: true when the compressed stream was cut or damaged, with the reason in `*why`
 * (static text). Decompressed bytes before the fault have all been handed on. When false, `*why` is
 * NULL or tells that bytes behind the last member or frame were ignored. */
bool input_cut(const struct input *in, const char **why);

#endif

/* An input as text, read from front to back: keeps the position, fetches windows, counts bytes that
 * are not UTF-8. */
#ifndef KS_FORMATS_JSON_TEXT_STREAM_H
#define KS_FORMATS_JSON_TEXT_STREAM_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/input/input.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text_stream {
    struct input *in;
    const char *at;  /* the next byte to read */
    const char *end; /* readable to INPUT_PADDING_BYTES behind it */
    const char *window;
    uint64_t window_off;    /* of window[0] in the decompressed input */
    uint64_t checked_off;   /* up to here UTF-8 has been checked */
    uint64_t invalid_count; /* byte sequences that are no UTF-8 */
    uint64_t first_invalid_off;
    uint64_t last_invalid_off; /* just behind the last one; 0: none */
    bool ended;                /* nothing follows `end` */
    bool checks_later;         /* windows are not checked; set by text_stream_check_later */
};

/* Reads the first window. Errors: those of input_next. */
bool text_stream_open(struct text_stream *stream, struct input *in, struct err *err) KS_MUST_USE;
/* Steps over a byte order mark at `at`, if the window holds the whole of it. */
void text_stream_skip_mark(struct text_stream *stream);
/* Makes the window longer, or sets `ended`; bytes before `at` may be dropped. Each call grows what
 * is kept by half, so that an item read again from its start is read a few times only. */
bool text_stream_more(struct text_stream *stream, struct err *err) KS_MUST_USE;

/* From here on it is the caller who knows that what is before `at` is UTF-8. What the stream says
 * of invalid bytes holds again behind text_stream_check, which looks at what is from `at` on. */
static inline void text_stream_check_later(struct text_stream *stream)
{
    stream->checks_later = true;
}

void text_stream_check(struct text_stream *stream);

static inline uint64_t text_stream_offset(const struct text_stream *stream, const char *at)
{
    return stream->window_off + (uint64_t)(at - stream->window);
}

/* Whether bytes that are no UTF-8 were found behind `at`'s offset. */
static inline bool text_stream_has_invalid(const struct text_stream *stream, const char *at)
{
    return KS_UNLIKELY(stream->last_invalid_off > text_stream_offset(stream, at));
}

#endif

#include "ingest/formats/json/text_stream.h"

#include "ingest/base/text/affix.h"
#include "ingest/base/text/utf8.h"

/* Bytes before `at` that are kept, for a character may begin there that has not been checked yet.
 */
#define UTF8_TAIL_BYTES 3

static void check_utf8(struct text_stream *stream)
{
    const char *at = stream->window + (stream->checked_off - stream->window_off);
    while ((at = utf8_skip_ascii(at, stream->end)) < stream->end) {
        size_t left = (size_t)(stream->end - at);
        if (!stream->ended && left <= UTF8_TAIL_BYTES && utf8_cut(at, left) == 0) {
            break;
        }
        uint32_t c;
        size_t len = utf8_decode(at, left, &c);
        if (c == UTF8_INVALID) {
            uint64_t offset = text_stream_offset(stream, at);
            if (stream->invalid_count++ == 0) {
                stream->first_invalid_off = offset;
            }
            stream->last_invalid_off = offset + len;
        }
        at += len;
    }
    stream->checked_off = text_stream_offset(stream, at);
}

/* What lies before `at` is known. */
static void skip_known(struct text_stream *stream)
{
    uint64_t offset = text_stream_offset(stream, stream->at);
    if (stream->checked_off < offset) {
        stream->checked_off = offset;
    }
}

void text_stream_check(struct text_stream *stream)
{
    if (stream->checks_later) {
        stream->checks_later = false;
        skip_known(stream);
        check_utf8(stream);
    }
}

static bool next_window(struct text_stream *stream, size_t keep, struct err *err)
{
    size_t old_len = (size_t)(stream->end - stream->window);
    size_t behind = (size_t)(stream->end - stream->at);
    const char *window;
    size_t len;
    if (!input_next(stream->in, keep, &window, &len, err)) {
        return false;
    }
    stream->window_off += old_len - keep;
    stream->window = window;
    stream->end = window + len;
    stream->at = window + (keep - behind);
    stream->ended = len == keep;
    if (!stream->checks_later) {
        check_utf8(stream);
    }
    return true;
}

bool text_stream_open(struct text_stream *stream, struct input *in, struct err *err)
{
    *stream = (struct text_stream){.in = in, .window = ""};
    stream->at = stream->window;
    stream->end = stream->window;
    return next_window(stream, 0, err);
}

void text_stream_skip_mark(struct text_stream *stream)
{
    stream->at += text_mark_bytes(stream->at, (size_t)(stream->end - stream->at));
}

bool text_stream_more(struct text_stream *stream, struct err *err)
{
    size_t behind = (size_t)(stream->end - stream->at);
    size_t want = behind + behind / 2;
    if (stream->checks_later) {
        skip_known(stream);
    }
    do {
        size_t have = (size_t)(stream->end - stream->window);
        behind = (size_t)(stream->end - stream->at);
        size_t keep = have - behind > UTF8_TAIL_BYTES ? behind + UTF8_TAIL_BYTES : have;
        if (!next_window(stream, keep, err)) {
            return false;
        }
    } while (!stream->ended && (size_t)(stream->end - stream->at) < want);
    return true;
}

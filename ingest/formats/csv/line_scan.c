#include "ingest/formats/csv/line_scan.h"

#include <string.h>

void line_open(struct line_scan *scan, struct text_stream *stream, uint64_t line)
{
    *scan = (struct line_scan){.stream = stream, .text = "", .next_line = line};
}

/* The rest of a line whose beginning is long enough; the window stays where the beginning is. */
static bool skip_rest(struct text_stream *stream, struct err *err)
{
    for (;;) {
        const char *newline = memchr(stream->at, '\n', (size_t)(stream->end - stream->at));
        stream->at = newline == NULL ? stream->end : newline + 1;
        if (newline != NULL || stream->ended) {
            return true;
        }
        if (!text_stream_more(stream, err)) {
            return false;
        }
    }
}

/* What of a line that is too long was skipped when it was met. */
static bool finish_long_line(struct line_scan *scan, struct err *err)
{
    if (!scan->is_too_long) {
        return true;
    }
    scan->is_too_long = false;
    return skip_rest(scan->stream, err);
}

static void take_line(struct line_scan *scan, const char *newline)
{
    struct text_stream *stream = scan->stream;
    const char *end = newline == NULL ? stream->end : newline;
    scan->text = stream->at;
    scan->byte_off = text_stream_offset(stream, stream->at);
    scan->line = scan->next_line++;
    scan->is_last_line = newline == NULL && stream->ended;
    scan->is_too_long = newline == NULL && !stream->ended;
    scan->len = (size_t)(end - stream->at);
    if (scan->len > 0 && end[-1] == '\r' && !scan->is_too_long) {
        scan->len--;
    }
    stream->at = newline == NULL ? end : newline + 1;
}

bool line_next(struct line_scan *scan, bool *more, struct err *err)
{
    struct text_stream *stream = scan->stream;
    *more = false;
    if (!finish_long_line(scan, err)) {
        return false;
    }
    size_t searched = 0;
    for (;;) {
        size_t len = (size_t)(stream->end - stream->at);
        const char *newline = memchr(stream->at + searched, '\n', len - searched);
        bool give_up = stream->ended || len > LINE_BYTES_MAX;
        if (newline != NULL || give_up) {
            *more = newline != NULL || len > 0;
            if (*more) {
                take_line(scan, newline);
            }
            return true;
        }
        searched = len;
        if (!text_stream_more(stream, err)) {
            return false;
        }
    }
}

/* Reads a stream of any size line by line. Lines end with LF or CRLF. */
#ifndef KS_FORMATS_CSV_LINE_SCAN_H
#define KS_FORMATS_CSV_LINE_SCAN_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/formats/json/text_stream.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINE_BYTES_MAX ((size_t)4 << 20)

/* Valid until the next call of line_next. */
struct line_scan {
    struct text_stream *stream;
    const char *text; /* without its end; not NUL-terminated */
    size_t len;
    uint64_t line;      /* from 1 */
    uint64_t byte_off;  /* of its first byte in the decompressed input */
    bool is_too_long;   /* longer than LINE_BYTES_MAX: `text` is its beginning */
    bool is_last_line;  /* no newline follows: it may be cut */
    uint64_t next_line; /* private */
};

/* Lines from stream->at on, the first of which is line `line`. */
void line_open(struct line_scan *scan, struct text_stream *stream, uint64_t line);
/* Steps to the next line; *more is false at the end. Errors: those of text_stream_more. */
bool line_next(struct line_scan *scan, bool *more, struct err *err) KS_MUST_USE;

#endif

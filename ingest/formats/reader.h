/* The interface of a reader, and what readers share. A new format is a line in the table of
 * format.c. */
#ifndef KS_FORMATS_READER_H
#define KS_FORMATS_READER_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/formats/format.h"
#include "ingest/formats/json/text_stream.h"
#include "ingest/formats/whole.h"

#include <stdbool.h>
#include <stddef.h>

struct format_reader {
    const char *format; /* the name in the bundle */
    /* How such files' names end, without .gz and .zst; none: too many other files end so. */
    const char *endings[4];
    /* Recognises the format from the first window (SNIFF_BYTES or more; fewer only when the input
     * is shorter), without a byte order mark. */
    bool (*recognises)(const char *window, size_t len);
    /* Reads from stream->at, the window's first byte, as format_read says; `options` is never NULL.
     * On false the bundle is empty. */
    bool (*read)(struct text_stream *stream,
                 const struct format_options *options,
                 struct format_bundle *bundle,
                 struct err *err);
    /* In its place for a format that is one trace and must be read out of order. */
    whole_trace_fn *read_whole;
};

/* Makes the bundle of a file with one trace. The bundle takes over the item's contents; on false
 * they are freed. */
bool format_bundle_one(struct format_bundle *bundle,
                       struct format_item item,
                       struct err *err) KS_MUST_USE;

#endif

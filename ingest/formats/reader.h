/* What format.c knows of each format, and what the readers share. A new format is a line in its
 * table. */
#ifndef KS_FORMATS_READER_H
#define KS_FORMATS_READER_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/formats/format.h"
#include "ingest/formats/json/text_stream.h"

#include <stdbool.h>
#include <stddef.h>

struct format_reader {
    const char *format; /* the name that stays in the bundle */
    /* Whether the input is of this format, by its first window (SNIFF_BYTES or more, fewer only
     * when the input is shorter), without a byte order mark. */
    bool (*recognises)(const char *window, size_t len);
    /* Reads from stream->at, the window's first byte. On false the bundle is empty. Otherwise as
     * format_read says; but `options` is never NULL. */
    bool (*read)(struct text_stream *stream,
                 const struct format_options *options,
                 struct format_bundle *bundle,
                 struct err *err);
};

/* Makes the bundle of a file that holds one trace. The item's contents are the bundle's, or, on
 * false, freed. */
bool format_bundle_one(struct format_bundle *bundle,
                       struct format_item item,
                       struct err *err) KS_MUST_USE;

#endif

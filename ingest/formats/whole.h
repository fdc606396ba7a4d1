/* An input in memory as a whole, for formats that must be read out of order. */
#ifndef KS_FORMATS_WHOLE_H
#define KS_FORMATS_WHOLE_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/formats/format.h"
#include "ingest/formats/json/text_stream.h"

#include <stdbool.h>
#include <stddef.h>

struct whole {
    char *bytes; /* INPUT_PADDING_BYTES behind the last one are readable */
    size_t len;
    bool is_cut; /* the compressed data broke off */
};

/* Reads the stream from its place to its end. ERR_TOO_LARGE beyond the memory budget;
 * ERR_NO_MEMORY; those of input_next. Free it in either case. */
bool whole_read(struct whole *whole,
                struct text_stream *stream,
                const struct format_options *options,
                struct err *err) KS_MUST_USE;
void whole_free(struct whole *whole);

/* Reads a format that is one trace; `whole` goes when it returns. */
typedef bool whole_trace_fn(const struct whole *whole,
                            const struct format_options *options,
                            struct trace **out,
                            struct err *err);
/* The bundle of that one trace. */
bool whole_read_trace(struct text_stream *stream,
                      const struct format_options *options,
                      struct format_bundle *bundle,
                      whole_trace_fn *read,
                      struct err *err) KS_MUST_USE;

#endif

/* Reads a table of the operations of a training job, operations.csv [RANK-4a]. */
#ifndef KS_FORMATS_OPERATIONS_OPERATIONS_CSV_H
#define KS_FORMATS_OPERATIONS_OPERATIONS_CSV_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/formats/format.h"
#include "ingest/formats/json/text_stream.h"

#include <stdbool.h>
#include <stddef.h>

/* By its columns, in any order. */
bool operations_csv_recognises(const char *window, size_t len);
/* One item with results: the operations in file order; event_count is their number. Rows that
 * cannot be read, and rows of unknown types, are left out with warnings. Errors: ERR_BAD_INPUT (no
 * readable row), ERR_TOO_LARGE, ERR_IO, ERR_NO_MEMORY. */
bool operations_csv_read(struct text_stream *stream,
                         const struct format_options *options,
                         struct format_bundle *bundle,
                         struct err *err) KS_MUST_USE;

#endif

/* Reads the table of a comparison as CSV [CMP-5], as the reference or `kinetoscope compare --format
 * csv` writes it. */
#ifndef KS_FORMATS_COMPARISON_REPORT_CSV_H
#define KS_FORMATS_COMPARISON_REPORT_CSV_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/formats/format.h"
#include "ingest/formats/json/text_stream.h"

#include <stdbool.h>
#include <stddef.h>

/* By its columns Function Name, Metric Name, Device and Suspicion Score. */
bool report_csv_recognises(const char *window, size_t len);
/* One item with results: a comparison with rows and labels only, and what our own columns say
 * (presence, corrected p, pids). Of a table of several pairs of processes, the first pair. Errors:
 * ERR_BAD_INPUT (no readable row), ERR_TOO_LARGE, ERR_IO, ERR_NO_MEMORY. */
bool report_csv_read(struct text_stream *stream,
                     const struct format_options *options,
                     struct format_bundle *bundle,
                     struct err *err) KS_MUST_USE;

#endif

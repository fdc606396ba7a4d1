/* Reads a table of counter samples, `counter_name,timestamp,value,hostname` [CMP-10a.tables.2]. */
#ifndef KS_FORMATS_PERF_DATA_COUNTERS_CSV_H
#define KS_FORMATS_PERF_DATA_COUNTERS_CSV_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/formats/format.h"
#include "ingest/formats/json/text_stream.h"

#include <stdbool.h>
#include <stddef.h>

/* By its columns counter_name, timestamp and value, in any order. */
bool counters_csv_recognises(const char *window, size_t len);
/* One item with results: counters, in order of their first sample, a row a (name, host), and their
 * time; event_count is the number of samples. No view: it stands beside a trace of the same run.
 * Rows without a name or a finite value are left out. Errors: ERR_BAD_INPUT (no readable row),
 * ERR_TOO_LARGE, ERR_IO, ERR_NO_MEMORY. */
bool counters_csv_read(struct text_stream *stream,
                       const struct format_options *options,
                       struct format_bundle *bundle,
                       struct err *err) KS_MUST_USE;

#endif

/* Reads a comparison report, a Markdown document [CMP-2f] [CMP-3] [CMP-7] [CMP-8], as the reference
 * or `kinetoscope compare --format markdown` writes it. Sections that are not known are passed
 * over. */
#ifndef KS_FORMATS_COMPARISON_REPORT_REPORT_H
#define KS_FORMATS_COMPARISON_REPORT_REPORT_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/formats/format.h"
#include "ingest/formats/json/text_stream.h"

#include <stdbool.h>
#include <stddef.h>

/* By a text that begins with a heading, and a heading with the words "Performance Comparison". What
 * stands before that one is passed over. */
bool comparison_report_recognises(const char *window, size_t len);
/* One item with results: the comparison, figures as they are printed, and the lines of its tables
 * that could not be read. A report that breaks off is read up to there. The verdict is the
 * one that it states (ours); else "different" when it has findings, "no difference" when its table
 * is there and has no score above the threshold of findings, "undecided" otherwise. Errors:
 * ERR_BAD_INPUT (no table), ERR_TOO_LARGE, ERR_IO, ERR_NO_MEMORY. */
bool comparison_report_read(struct text_stream *stream,
                            const struct format_options *options,
                            struct format_bundle *bundle,
                            struct err *err) KS_MUST_USE;

#endif

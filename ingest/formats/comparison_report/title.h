/* The first line of a comparison report [CMP-2f]:
 *
 *     # Strict Performance Comparison: <id> (PID: P)
 *     # Cross Performance Comparison: <id> (Normal PID:N vs Abnormal PID:A)
 */
#ifndef KS_FORMATS_COMPARISON_REPORT_TITLE_H
#define KS_FORMATS_COMPARISON_REPORT_TITLE_H

#include "ingest/base/attr.h"
#include "ingest/formats/csv/text_pool.h"
#include "ingest/model/results/comparison.h"

#include <stdbool.h>
#include <stddef.h>

/* Whether the line is such a heading, of any level. */
bool report_title_is(const char *line, size_t len);
/* Sets title, strictness and pids, as far as the line has them. False without memory. */
bool report_title_read(const char *line,
                       size_t len,
                       struct text_pool *texts,
                       struct comparison *comparison) KS_MUST_USE;

#endif

/* What the section "Verdict" of our own reports says (api/comparison/markdown.c); the reference's
 * have none. */
#ifndef KS_FORMATS_COMPARISON_REPORT_VERDICT_H
#define KS_FORMATS_COMPARISON_REPORT_VERDICT_H

#include "ingest/model/results/comparison.h"

#include <stdbool.h>
#include <stddef.h>

/* Takes a line of the section: the verdict, the kind of cycle, the tests of the cycle times, as far
 * as it has them. True when it states a verdict. */
bool report_verdict_line(const char *line, size_t len, struct comparison *comparison);

#endif

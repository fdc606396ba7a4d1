/* The key findings of a comparison report: a bullet an issue, below it one with the figures of β
 * and one a metric [CMP-7c].
 *
 *     - **`FUNCTION` on device `DEVICE`:**
 *       - ... from **2.71%** to **8.62%** (+5.91 ppt) ... (p-value: 0.000).
 *         - **`METRIC`**: ... from 6.32 to 21.57.
 *
 * Only the marks, the order and the figures count, not the words. A name with backticks stands in
 * more of them (ours) or as it is (the reference's). */
#ifndef KS_FORMATS_COMPARISON_REPORT_FINDINGS_H
#define KS_FORMATS_COMPARISON_REPORT_FINDINGS_H

#include "ingest/base/attr.h"
#include "ingest/formats/csv/row_list.h"
#include "ingest/formats/csv/text_pool.h"

#include <stdbool.h>
#include <stddef.h>

struct report_findings {
    struct row_list list; /* struct comparison_finding, FINDINGS_MAX at most */
    bool is_full;         /* there are more; they are passed over */
};

void report_findings_init(struct report_findings *findings);
/* Takes a line of the section. Lines that say nothing of this kind are passed over. False without
 * memory. */
bool report_findings_line(struct report_findings *findings,
                          struct text_pool *texts,
                          const char *line,
                          size_t len) KS_MUST_USE;

#endif

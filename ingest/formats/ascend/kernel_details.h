/* kernel_details.csv: what the profiler knows of each kernel beside its slice [FMT-1.3c]. The rows
 * are kept as text, and found by start and name while the events pass. */
#ifndef KS_FORMATS_ASCEND_KERNEL_DETAILS_H
#define KS_FORMATS_ASCEND_KERNEL_DETAILS_H

#include "ingest/base/attr.h"
#include "ingest/base/text/buf.h"
#include "ingest/base/text/json_write.h"
#include "ingest/formats/ascend/csv.h"
#include "ingest/formats/relay/kernel_metrics.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct detail_row {
    int64_t start_ns;
    size_t at; /* in the text */
};

struct kernel_details {
    struct buf text;           /* of the table */
    struct ascend_cell *names; /* of the columns */
    int name_count, name_column;
    struct detail_row *rows; /* ascending */
    size_t count, cap;
    struct relay_metrics metrics;
};

bool kernel_details_init(struct kernel_details *details) KS_MUST_USE;
void kernel_details_free(struct kernel_details *details);
/* Takes a table that ascend_csv_open has accepted. False without memory. */
bool kernel_details_take(struct kernel_details *details, const char *bytes, size_t len) KS_MUST_USE;
/* The row of a kernel of this name that starts at `start_ns`, or 1 ns beside it; NULL: none. */
const struct detail_row *kernel_details_find(const struct kernel_details *details,
                                             const char *name,
                                             size_t name_len,
                                             int64_t start_ns);
/* Its cells as members of the open object at hand. */
void kernel_details_write(const struct kernel_details *details,
                          const struct detail_row *row,
                          struct json_write *w);

#endif

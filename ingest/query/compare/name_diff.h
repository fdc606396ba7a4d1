/* Two traces side by side by name: operators and kernels in both, added by one side, or missing
 * from it. */
#ifndef KS_QUERY_COMPARE_NAME_DIFF_H
#define KS_QUERY_COMPARE_NAME_DIFF_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/base/memory/arena.h"
#include "ingest/model/results/comparison.h"
#include "ingest/store/store.h"

#include <stddef.h>
#include <stdint.h>

enum name_presence { NAME_IN_BOTH, NAME_ADDED, NAME_REMOVED };
const char *name_presence_text(enum name_presence presence); /* "both", "added", "removed" */

/* Times of a name on one side; zeros where the side lacks it. Kernels set only calls and device_ns.
 */
struct name_figures {
    int64_t calls;
    int64_t host_ns, host_self_ns;
    int64_t device_ns, device_self_ns;
};

struct name_diff_row {
    const char *name;
    enum name_presence presence;
    struct name_figures sides[SIDE_COUNT];
};

struct name_diff {
    struct name_diff_row *rows; /* rows of the base in its order, then added ones */
    size_t row_count;
    struct name_figures sums[SIDE_COUNT]; /* self times and kernel times add up to the whole */
};

enum name_diff_kind { NAME_DIFF_OPERATORS, NAME_DIFF_KERNELS };

/* Of results in memory; names are theirs. ERR_NO_MEMORY. */
bool name_diff_of(const struct trace_results *const traces[SIDE_COUNT],
                  enum name_diff_kind kind,
                  struct arena *arena,
                  struct name_diff *out,
                  struct err *err) KS_MUST_USE;

/* Errors: those of the store. */
bool query_name_diff(struct store_snapshot *snapshot,
                     enum name_diff_kind kind,
                     struct arena *arena,
                     const int64_t trace_ids[SIDE_COUNT],
                     struct name_diff *out,
                     struct err *err) KS_MUST_USE;

#endif

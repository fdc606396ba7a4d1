/* What changed between two traces, for the API and the command line: in one sentence, as JSON, and
 * the names that changed most. */
#ifndef KS_API_DIFF_CHANGE_H
#define KS_API_DIFF_CHANGE_H

#include "ingest/base/text/buf.h"
#include "ingest/base/text/json_write.h"
#include "ingest/query/compare/step_query.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether operators are judged by their device self time; otherwise by their host self time. */
bool trace_change_on_device(const struct query_change *change);

/* Times are nanoseconds per step, or of a whole trace where a side has no steps. */
struct trace_change_row {
    const struct name_diff_row *row;
    double ns[SIDE_COUNT];
    double delta_ns; /* never 0 */
};

/* The names whose time changed most, the largest change first: at most `limit` of them to `rows`.
 * Returns how many there are. O(names * limit). */
size_t trace_change_operators(const struct query_change *change,
                              struct trace_change_row *rows,
                              size_t limit);
size_t trace_change_kernels(const struct query_change *change,
                            struct trace_change_row *rows,
                            size_t limit);

/* The environment first where it differs, then the step, the category, the operator and the kernel
 * that changed most. Names are not made safe for a terminal. */
void trace_change_sentence(struct buf *out, const struct query_change *change);
/* The members comparable, environment, sentence, per, step and waterfall. */
void trace_change_members(struct json_write *w, const struct query_change *change);
/* `operators` and `kernels`: every name whose time changed, [{name, presence, base_ns,
 * candidate_ns, delta_ns}], in the order of query_change. */
void trace_change_name_members(struct json_write *w, const struct query_change *change);

/* The members rows and missing. */
void trace_change_cause_members(struct json_write *w, const struct cause_change *causes);
#endif

/* JSON of results, the same for /api/v1 and for `kinetoscope report --format json`. */
#ifndef KS_API_TABLE_RENDER_H
#define KS_API_TABLE_RENDER_H

#include "ingest/base/text/json_write.h"
#include "ingest/model/results/results.h"

#include <stddef.h>
#include <stdint.h>

/* Members of the overview object, without its braces (`trace` is written by the caller). The
 * operators by name and the kernels must be there for top_operator, top_kernel and shares; where
 * they are NULL these members are null. */
void render_overview(struct json_write *w, const struct trace_results *results);
/* [{role, label, mean_ns, share}], those that the plugin shows, in its order. */
void render_roles(struct json_write *w, const struct trace_results *results);
/* One row as an object. `device_self_sum_ns` etc. are the denominators of the `share` columns. */
void render_step(struct json_write *w,
                 const struct trace_results *results,
                 const struct step_row *row);
void render_operator(struct json_write *w, const struct operator_row *row, double share);
void render_kernel(struct json_write *w, const struct kernel_row *row, double share, int64_t steps);
/* [{code, message, count, first_offset}], only those that happened. */
void render_warnings(struct json_write *w, const struct warnings *warnings);

/* Whether the plugin shows a role of these results [TB-8a]. */
bool render_shows_time_category(const struct trace_results *results, enum time_category role);
/* Whether it shows device columns at all. */
bool render_shows_device(const struct trace_results *results);
/* Mean cost of a role and mean length of the steps; NaN without steps. */
double render_mean_cost_ns(const struct trace_results *results, enum time_category role);
double render_mean_step_ns(const struct trace_results *results);

#endif

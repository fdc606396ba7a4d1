/* Results as JSON, shared by /api/v1 and `kinetoscope report --format json`. */
#ifndef KS_API_TABLE_RENDER_H
#define KS_API_TABLE_RENDER_H

#include "ingest/base/text/json_write.h"
#include "ingest/model/results/results.h"

#include <stddef.h>
#include <stdint.h>

/* Writes the members of the overview object, without braces (the caller writes `trace`). Operators
 * by name and kernels must be set for top_operator, top_kernel and shares; otherwise these members
 * are null. */
void render_overview(struct json_write *w, struct trace_results *results);
/* Writes [{role, label, mean_ns, share}]: the time categories that are shown, in the order of
 * [TB-8].
 */
void render_roles(struct json_write *w, const struct trace_results *results);
/* Sets what a step has in answers alone. */
void render_fill_steps(struct trace_results *results);
/* Write one row as an object. `share` is its part of the sum over all rows. */
void render_operator(struct json_write *w, const struct operator_row *row, double share);
void render_kernel(struct json_write *w, const struct kernel_row *row, double share, int64_t steps);
/* Writes [{code, message, count, first_offset}], only warnings that occurred. */
void render_warnings(struct json_write *w, const struct warnings *warnings);

/* Whether a time category of these results is shown [TB-8a]. */
bool render_shows_time_category(const struct trace_results *results, enum time_category role);
/* Whether it shows device columns. */
bool render_shows_device(const struct trace_results *results);
/* Mean length of the steps, or without steps the length of the trace: what the categories add up
 * to. */
double render_window_ns(const struct trace_results *results);
/* Mean time of a category per step, or without steps in the whole trace. */
double render_mean_cost_ns(const struct trace_results *results, enum time_category role);

#endif

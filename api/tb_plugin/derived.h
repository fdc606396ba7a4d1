/* Figures of a stored trace by other rules than ours, made when a request first asks for them. */
#ifndef KS_API_TB_PLUGIN_DERIVED_H
#define KS_API_TB_PLUGIN_DERIVED_H

#include "api/call.h"

#include <stddef.h>
#include <stdint.h>

/* The id under which the store answers with the figures of a trace by the deleted TensorBoard
 * plugin's rules (ingest/tb_plugin/figures.h). The first call for a trace makes them, which takes
 * as long as its ingest did; one trace at a time. */
bool derived_figures(struct api_call *call,
                     const struct store_trace *trace,
                     int64_t *figures_id,
                     struct err *err) KS_MUST_USE;
/* The same of several; *ids has `count` of them, in the call's arena. */
bool derived_figures_of(struct api_call *call,
                        const struct store_trace *const *traces,
                        size_t count,
                        const int64_t **ids,
                        struct err *err) KS_MUST_USE;

#endif

/* The figures of the deleted TensorBoard plugin, by its own rules [TB-3] to [TB-15]: derived data.
 * Ingest does not compute them. The first request for one makes all of a trace from its stored
 * events, and the store keeps them. */
#ifndef KS_TB_PLUGIN_FIGURES_H
#define KS_TB_PLUGIN_FIGURES_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/store/store.h"

#include <stddef.h>
#include <stdint.h>

/* Makes and stores the figures of a trace; *derived_id answers for them (store.h). A trace that has
 * them already is not analysed again. Two threads may not do this for one trace at the same time.
 * `memory_budget_bytes` bounds the model: 0 does not. ERR_NOT_FOUND: no such trace, or removed
 * meanwhile; ERR_TOO_LARGE: the message names the option that raises the budget. */
bool tb_plugin_figures(struct store *store,
                       int64_t trace_id,
                       size_t memory_budget_bytes,
                       int64_t *derived_id,
                       struct err *err) KS_MUST_USE;

#endif

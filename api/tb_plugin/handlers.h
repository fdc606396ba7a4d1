/* Handlers of the deleted TensorBoard plugin's routes; see api/handlers.h. */
#ifndef KS_API_TB_PLUGIN_HANDLERS_H
#define KS_API_TB_PLUGIN_HANDLERS_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"

#include <stdbool.h>

struct api_call;

bool plugin_runs(struct api_call *call, struct err *err) KS_MUST_USE;
bool plugin_views(struct api_call *call, struct err *err) KS_MUST_USE;
bool plugin_workers(struct api_call *call, struct err *err) KS_MUST_USE;
bool plugin_spans(struct api_call *call, struct err *err) KS_MUST_USE;
bool plugin_overview(struct api_call *call, struct err *err) KS_MUST_USE;
bool plugin_operation_pies(struct api_call *call, struct err *err) KS_MUST_USE;
bool plugin_operation_table(struct api_call *call, struct err *err) KS_MUST_USE;
bool plugin_operation_stack(struct api_call *call, struct err *err) KS_MUST_USE;
bool plugin_kernel_pie(struct api_call *call, struct err *err) KS_MUST_USE;
bool plugin_kernel_table(struct api_call *call, struct err *err) KS_MUST_USE;
bool plugin_memory(struct api_call *call, struct err *err) KS_MUST_USE;
bool plugin_memory_curve(struct api_call *call, struct err *err) KS_MUST_USE;
bool plugin_memory_events(struct api_call *call, struct err *err) KS_MUST_USE;
bool plugin_module(struct api_call *call, struct err *err) KS_MUST_USE;
bool plugin_trace(struct api_call *call, struct err *err) KS_MUST_USE;
bool plugin_tree(struct api_call *call, struct err *err) KS_MUST_USE;
bool plugin_diff(struct api_call *call, struct err *err) KS_MUST_USE;
bool plugin_diffnode(struct api_call *call, struct err *err) KS_MUST_USE;
bool plugin_distributed_overlap(struct api_call *call, struct err *err) KS_MUST_USE;
bool plugin_distributed_waittime(struct api_call *call, struct err *err) KS_MUST_USE;
bool plugin_distributed_commops(struct api_call *call, struct err *err) KS_MUST_USE;
bool plugin_distributed_gpuinfo(struct api_call *call, struct err *err) KS_MUST_USE;
bool plugin_kernel_tc_pie(struct api_call *call, struct err *err) KS_MUST_USE;

#endif

/* Every handler of the table of routes: fills the response, or returns false with the error that
 * becomes the problem. */
#ifndef KS_API_HANDLERS_H
#define KS_API_HANDLERS_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"

#include <stdbool.h>

struct api_call;

/* upload.c */
bool upload_put(struct api_call *call, struct err *err) KS_MUST_USE;
bool upload_post(struct api_call *call, struct err *err) KS_MUST_USE;
/* runs.c */
bool runs_list(struct api_call *call, struct err *err) KS_MUST_USE;
bool runs_get(struct api_call *call, struct err *err) KS_MUST_USE;
bool runs_patch(struct api_call *call, struct err *err) KS_MUST_USE;
bool runs_delete(struct api_call *call, struct err *err) KS_MUST_USE;
/* traces.c */
bool traces_get(struct api_call *call, struct err *err) KS_MUST_USE;
bool traces_patch(struct api_call *call, struct err *err) KS_MUST_USE;
bool traces_delete(struct api_call *call, struct err *err) KS_MUST_USE;
bool traces_raw(struct api_call *call, struct err *err) KS_MUST_USE;
/* overview.c, operators.c, kernels.c */
bool overview_get(struct api_call *call, struct err *err) KS_MUST_USE;
bool overview_steps(struct api_call *call, struct err *err) KS_MUST_USE;
bool operators_get(struct api_call *call, struct err *err) KS_MUST_USE;
bool kernels_get(struct api_call *call, struct err *err) KS_MUST_USE;
/* jobs_route.c */
bool jobs_route_get(struct api_call *call, struct err *err) KS_MUST_USE;
/* meta.c */
bool meta_openapi(struct api_call *call, struct err *err) KS_MUST_USE;
bool meta_healthz(struct api_call *call, struct err *err) KS_MUST_USE;
bool meta_readyz(struct api_call *call, struct err *err) KS_MUST_USE;
bool meta_metrics(struct api_call *call, struct err *err) KS_MUST_USE;
/* plugin_catalogue.c, plugin_overview.c, plugin_operation.c, plugin_kernel.c */
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
bool plugin_kernel_tc_pie(struct api_call *call, struct err *err) KS_MUST_USE;

#endif

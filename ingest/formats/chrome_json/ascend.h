/* trace_view.json of the Ascend PyTorch Profiler [FMT-1.2]: a Chrome trace whose events say by
 * their process, thread and `Task Type` what they are, not by a category. */
#ifndef KS_FORMATS_CHROME_JSON_ASCEND_H
#define KS_FORMATS_CHROME_JSON_ASCEND_H

#include "ingest/base/attr.h"
#include "ingest/model/trace.h"

#include <stdbool.h>

#define ASCEND_RECORDER "torch_npu"

/* Gives the events of such a trace their kinds; leaves every other trace alone. To be called once,
 * after the last event. O(events). False without memory. */
bool ascend_settle(struct trace *trace) KS_MUST_USE;

/* Its part that ties device work to the operator and to the call that launched it, by the flows
 * between them [FMT-1.2b]. O(n log n). False without memory. */
bool ascend_link(struct trace *trace) KS_MUST_USE;

#endif

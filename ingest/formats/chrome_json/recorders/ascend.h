/* trace_view.json of the Ascend PyTorch Profiler [FMT-1.2]: a Chrome trace whose events say by
 * their process, thread and `Task Type` what they are, not by a category. */
#ifndef KS_FORMATS_CHROME_JSON_RECORDERS_ASCEND_H
#define KS_FORMATS_CHROME_JSON_RECORDERS_ASCEND_H

#include "ingest/base/attr.h"
#include "ingest/model/trace.h"

#include <stdbool.h>

#define ASCEND_RECORDER "torch_npu"

/* Gives the events of such a trace their kinds; leaves every other trace alone. To be called once,
 * after the last event. O(events). False without memory. */
bool ascend_settle(struct trace *trace) KS_MUST_USE;

#endif

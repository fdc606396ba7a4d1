/* Traces of torch.autograd.profiler without Kineto (use_kineto=False, and PyTorch before 1.8.1):
 * events without a category, of the processes "CPU functions" and "CUDA functions". */
#ifndef KS_FORMATS_CHROME_JSON_RECORDERS_AUTOGRAD_H
#define KS_FORMATS_CHROME_JSON_RECORDERS_AUTOGRAD_H

#include "ingest/base/attr.h"
#include "ingest/model/trace.h"

#include <stdbool.h>

/* Makes the events of such a trace operators, steps and kernels; leaves every other trace alone.
 * A kernel belongs to the operator from which an arrow leads to it [FMT-10]; later releases
 * wrote arrows without an end. `no_args`: of an operator whose event has none. To be
 * called once, after the last event. O(events log events). False without memory. */
bool autograd_settle(struct trace *trace, const struct op_args *no_args) KS_MUST_USE;

#endif

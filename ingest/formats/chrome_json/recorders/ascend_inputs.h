/* Inputs and call stacks of operators as the Ascend PyTorch Profiler writes them, turned into the
 * words of PyTorch's own [FMT-1.2a]:
 *
 *     "32,1000;\r\n1000,4096;\r\n"   ->   [[32, 1000], [1000, 4096], []]
 *     "float;\r\nfloat;\r\nScalar"   ->   ['float', 'float', 'Scalar']
 *     "a.py(3): f;\r\nb.py(7): g"    ->   a.py(3): f;b.py(7): g */
#ifndef KS_FORMATS_CHROME_JSON_RECORDERS_ASCEND_INPUTS_H
#define KS_FORMATS_CHROME_JSON_RECORDERS_ASCEND_INPUTS_H

#include "ingest/base/attr.h"
#include "ingest/model/trace.h"

#include <stdbool.h>

/* Leaves every text of another form alone, and every trace of another recorder. To be called once,
 * behind ascend_settle(). O(texts). False without memory. */
bool ascend_inputs_settle(struct trace *trace) KS_MUST_USE;

#endif

/* Metrics of this process under the names that every Prometheus client uses. */
#ifndef KS_API_SERVICE_PROCESS_METRICS_H
#define KS_API_SERVICE_PROCESS_METRICS_H

#include "ingest/base/text/buf.h"

/* Processor time, start time, and where the system tells them (/proc) memory and open files. */
void process_metrics_put(struct buf *out);

#endif

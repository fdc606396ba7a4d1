/* Metrics of this process under the names that all Prometheus clients use. */
#ifndef KS_API_SERVICE_PROCESS_METRICS_H
#define KS_API_SERVICE_PROCESS_METRICS_H

#include "ingest/base/text/buf.h"

/* Writes processor time and start time; where /proc has them, also memory and open files. */
void process_metrics_put(struct buf *out);

#endif

#include "ingest/model/recorders/execution_trace.h"

#include <stdlib.h>

void execution_trace_destroy(struct execution_trace *trace)
{
    if (trace != NULL) {
        strtab_destroy(trace->texts);
        free(trace->nodes);
        free(trace->tensors);
        free(trace);
    }
}

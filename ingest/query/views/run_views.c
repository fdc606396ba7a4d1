#include "ingest/query/views/run_views.h"

bool query_span_is_distributed(const struct store_trace *traces, size_t count, int64_t span)
{
    const struct store_trace *first = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct store_trace *trace = &traces[i];
        if (trace->span != span) {
            continue;
        }
        if (trace->communication_nodes == 0) {
            return false;
        }
        if (first == NULL) {
            first = trace;
        }
        if (trace->communication_nodes != first->communication_nodes ||
            trace->communication_signature != first->communication_signature) {
            return false;
        }
    }
    return first != NULL;
}

uint32_t query_run_views(const struct store_trace *traces, size_t count)
{
    uint32_t views = 0;
    int64_t last_span = 0;
    for (size_t i = 0; i < count; i++) {
        views |= traces[i].views;
        last_span = traces[i].span > last_span ? traces[i].span : last_span;
    }
    for (int64_t span = 1; span <= last_span; span++) {
        if (query_span_is_distributed(traces, count, span)) {
            return views | 1U << VIEW_DISTRIBUTED;
        }
    }
    return views;
}

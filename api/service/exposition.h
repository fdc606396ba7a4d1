/* Writes the text format of Prometheus, version 0.0.4. Prefixes names with `kinetoscope_`, except
 * those of the process, which all exporters share. */
#ifndef KS_API_SERVICE_EXPOSITION_H
#define KS_API_SERVICE_EXPOSITION_H

#include "ingest/base/text/buf.h"

#include <stddef.h>
#include <stdint.h>

void exposition_head(struct buf *out, const char *name, const char *type, const char *help);
/* Writes a metric with one integer value, with its head. */
void exposition_value(
    struct buf *out, const char *name, const char *type, const char *help, uint64_t value);

/* A histogram. `counts` are per bucket, not cumulative; it has one more entry than there are
 * bounds. */
struct exposition_histogram {
    const uint32_t *bounds_ms;
    const uint64_t *counts;
    size_t bound_count;
    uint64_t sum_us;
};
/* Writes its lines, in seconds, without the head. `labels` is "" or `name="value",`. */
void exposition_histogram(struct buf *out,
                          const char *name,
                          const char *labels,
                          const struct exposition_histogram *histogram);

#endif

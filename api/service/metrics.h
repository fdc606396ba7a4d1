/* What the server's requests add up to, by route. Counting takes no lock: a few additions to
 * atomics a request. Thread-safe. */
#ifndef KS_API_SERVICE_METRICS_H
#define KS_API_SERVICE_METRICS_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/base/text/buf.h"

#include <stdbool.h>
#include <stdint.h>

struct metrics;

struct metrics_request {
    const char *method;
    const char *path; /* below the base path; "" when it is not below it */
    int status;
    uint64_t took_us;
    uint64_t received_bytes; /* of bodies, as are those that were sent, but with their heads */
    uint64_t sent_bytes;
};

bool metrics_create(struct metrics **out, struct err *err) KS_MUST_USE;
void metrics_free(struct metrics *metrics); /* NULL is allowed */
/* A request that is over. */
void metrics_count(struct metrics *metrics, const struct metrics_request *request);
/* Everything that was counted, in Prometheus' text format; what never happened is left out. */
void metrics_put(const struct metrics *metrics, struct buf *out);

#endif

/* Counts the server's requests by route. Lock-free: a few atomic additions per request.
 * Thread-safe. */
#ifndef KS_API_SERVICE_METRICS_H
#define KS_API_SERVICE_METRICS_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/base/text/buf.h"

#include <stdbool.h>
#include <stdint.h>

struct metrics;
struct route;

struct metrics_request {
    const struct route *route; /* NULL: none */
    const char *path;          /* below the base path; "" when outside it */
    int status;
    uint64_t took_us;
    uint64_t received_bytes; /* of the body; sent_bytes includes the head */
    uint64_t sent_bytes;
};

bool metrics_create(struct metrics **out, struct err *err) KS_MUST_USE;
void metrics_free(struct metrics *metrics); /* NULL is allowed */
/* Counts a finished request. */
void metrics_count(struct metrics *metrics, const struct metrics_request *request);
/* Writes all counts in Prometheus' text format; omits what never happened. */
void metrics_put(const struct metrics *metrics, struct buf *out);

#endif

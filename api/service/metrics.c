#include "api/service/metrics.h"

#include "api/api.h"
#include "api/route.h"
#include "api/service/exposition.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define CLASSES 5 /* 1xx to 5xx */
#define LABELS_BYTES 160

static const uint32_t bounds_ms[] = {1, 5, 10, 25, 100, 250, 1000, 2500, 10000, 60000};
#define BOUND_COUNT (sizeof bounds_ms / sizeof bounds_ms[0])

/* Of one route. */
struct tally {
    _Atomic uint64_t classes[CLASSES];
    _Atomic uint64_t buckets[BOUND_COUNT + 1];
    _Atomic uint64_t took_us;
};

/* Behind the routes stand the page and what nothing answers. */
struct metrics {
    size_t route_count;
    _Atomic uint64_t received_bytes;
    _Atomic uint64_t sent_bytes;
    struct tally tallies[];
};

bool metrics_create(struct metrics **out, struct err *err)
{
    size_t count = 0;
    (void)route_table(&count);
    struct metrics *metrics = calloc(1, sizeof *metrics + (count + 2) * sizeof(struct tally));
    if (metrics == NULL) {
        return err_set(err, ERR_NO_MEMORY, "No memory to count requests");
    }
    metrics->route_count = count;
    *out = metrics;
    return true;
}

void metrics_free(struct metrics *metrics)
{
    free(metrics);
}

static size_t tally_of(const struct metrics *metrics, const struct metrics_request *request)
{
    if (request->route != NULL) {
        size_t count;
        return (size_t)(request->route - route_table(&count));
    }
    bool is_page = request->path[0] == '/' && !api_owns_path(request->path);
    return metrics->route_count + (is_page ? 0 : 1);
}

static void add(_Atomic uint64_t *sum, uint64_t value)
{
    (void)atomic_fetch_add_explicit(sum, value, memory_order_relaxed);
}

static uint64_t value_of(const _Atomic uint64_t *sum)
{
    return atomic_load_explicit(sum, memory_order_relaxed);
}

void metrics_count(struct metrics *metrics, const struct metrics_request *request)
{
    struct tally *tally = &metrics->tallies[tally_of(metrics, request)];
    /* 0: the client was gone before its answer began. */
    int class = request->status / 100;
    if (class >= 1 && class <= CLASSES) {
        add(&tally->classes[class - 1], 1);
    }
    size_t bucket = 0;
    while (bucket < BOUND_COUNT && request->took_us > (uint64_t)bounds_ms[bucket] * 1000) {
        bucket++;
    }
    add(&tally->buckets[bucket], 1);
    add(&tally->took_us, request->took_us);
    add(&metrics->received_bytes, request->received_bytes);
    add(&metrics->sent_bytes, request->sent_bytes);
}

static void format_labels(const struct metrics *metrics, size_t at, char labels[LABELS_BYTES])
{
    size_t count;
    const struct route *routes = route_table(&count);
    const char *method = at < count ? routes[at].method : "";
    const char *name = at < count                   ? routes[at].pattern
                       : at == metrics->route_count ? "page"
                                                    : "none";
    (void)snprintf(labels, LABELS_BYTES, "method=\"%s\",route=\"%s\",", method, name);
}

static void put_classes(const struct tally *tally, const char *labels, struct buf *out)
{
    for (size_t i = 0; i < CLASSES; i++) {
        uint64_t count = value_of(&tally->classes[i]);
        if (count > 0) {
            buf_printf(out, "kinetoscope_http_requests_total{%sstatus=\"%zuxx\"} %" PRIu64 "\n",
                       labels, i + 1, count);
        }
    }
}

static void put_duration(const struct tally *tally, const char *labels, struct buf *out)
{
    uint64_t counts[BOUND_COUNT + 1];
    uint64_t total = 0;
    for (size_t i = 0; i <= BOUND_COUNT; i++) {
        counts[i] = value_of(&tally->buckets[i]);
        total += counts[i];
    }
    if (total > 0) {
        const struct exposition_histogram histogram = {.bounds_ms = bounds_ms,
                                                       .counts = counts,
                                                       .bound_count = BOUND_COUNT,
                                                       .sum_us = value_of(&tally->took_us)};
        exposition_histogram(out, "http_request_duration_seconds", labels, &histogram);
    }
}

void metrics_put(const struct metrics *metrics, struct buf *out)
{
    char labels[LABELS_BYTES];
    exposition_head(out, "http_requests_total", "counter",
                    "Requests that were answered, by route and class of status.");
    for (size_t i = 0; i < metrics->route_count + 2; i++) {
        format_labels(metrics, i, labels);
        put_classes(&metrics->tallies[i], labels, out);
    }
    exposition_head(out, "http_request_duration_seconds", "histogram",
                    "Time from the head of a request to the end of its answer.");
    for (size_t i = 0; i < metrics->route_count + 2; i++) {
        format_labels(metrics, i, labels);
        put_duration(&metrics->tallies[i], labels, out);
    }
    exposition_value(out, "http_received_bytes_total", "counter", "Bytes of requests' bodies.",
                     value_of(&metrics->received_bytes));
    exposition_value(out, "http_sent_bytes_total", "counter", "Bytes of answers.",
                     value_of(&metrics->sent_bytes));
}

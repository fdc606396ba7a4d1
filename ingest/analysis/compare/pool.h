/* The rows of both sides of a comparison in one numbering: texts, triplets, roles and cycles. */
#ifndef KS_ANALYSIS_COMPARE_POOL_H
#define KS_ANALYSIS_COMPARE_POOL_H

#include "ingest/analysis/compare/compare.h"
#include "ingest/analysis/compare/devices.h"

/* A (function, metric, device). */
struct pool_key {
    const char *function;
    const char *metric; /* "N/A": none */
    const char *device; /* device_order_shared() */
    uint32_t place;     /* number of the (function, device) */
    bool has_metric;
};

enum pool_type { POOL_OTHER, POOL_KERNEL, POOL_OPERATOR };

/* The rows of one side, an array a column, in order of the traces and their rows. */
struct pool_rows {
    size_t count;
    int64_t *key;    /* in pool.keys */
    int64_t *role;   /* in pool.roles */
    uint32_t *cycle; /* in pool.cycles[side] */
    double *beta, *mu, *duration_us;
    uint8_t *type;   /* enum pool_type */
    uint32_t *order; /* rows by role, then key, then place in the file */
};

/* A process and a kind of cycle on one side. */
struct pool_role {
    enum comparison_side side;
    enum cycle_kind kind;
    int64_t pid;
    const char *host;
    size_t first, count; /* its part of rows.order */
};

/* A cycle of one of the traces of a side. */
struct pool_cycle {
    uint32_t number; /* equal for the cycles of a trace that have one number */
    double dur_us;
};

struct pool {
    struct pool_key *keys; /* ascending by function, metric, device */
    uint32_t key_count;
    struct pool_role *roles; /* ascending by side, kind, pid */
    uint32_t role_count;
    struct pool_rows rows[SIDE_COUNT];
    struct pool_cycle *cycles[SIDE_COUNT];
    uint32_t number_count[SIDE_COUNT];
    struct device_order devices;
};

/* Texts go to `arena`. On false (ERR_NO_MEMORY, ERR_TOO_LARGE) the pool is empty; pool_free() it
 * after true. */
bool pool_build(struct pool *pool,
                struct arena *arena,
                const struct compare_side sides[SIDE_COUNT],
                struct err *err) KS_MUST_USE;
void pool_free(struct pool *pool);

#endif

/* What memory views show [TB-13]. Rows refer to names of the call tree and the memory log, and live
 * in the arena of who asked. */
#ifndef KS_MODEL_RESULTS_MEMORY_ROWS_H
#define KS_MODEL_RESULTS_MEMORY_ROWS_H

#include "ingest/model/tables/table.h"

#include <stddef.h>
#include <stdint.h>

/* Both ends belong to it; times relative to the trace's start. INT64_MIN, INT64_MAX: no bound. */
struct memory_window {
    int64_t start;
    int64_t end;
};

/* Operators of one name. `size` sums allocations and releases, `allocated` allocations alone. */
struct memory_stat_row {
#define TABLE_DEF "ingest/model/tables/operators/memory_operator.def"
#include "ingest/model/tables/struct.h"
};

struct memory_stat_device {
    const char *device;
    struct memory_stat_row *rows; /* by name; operators whose figures are all zero are left out */
    size_t row_count;
    /* The first of its records that count, in the order of the calls: row of the call tree, then
     * index of the record. */
    uint32_t first_call, first_record;
};

struct memory_stats {
    struct memory_stat_device *devices; /* by name */
    size_t device_count;
};

#define MEMORY_NO_TIME INT64_MIN

/* A block: allocated and released, or one of both. */
struct memory_block {
    const char *device;
    const char *op;     /* NULL: not known */
    const char *parent; /* NULL: not known */
    const char *name;   /* as the view shows it; set by who asks for it (memory_block_name) */
    int64_t size_bytes;
    int64_t addr;
    int64_t allocated_at; /* MEMORY_NO_TIME: before the records began */
    int64_t released_at;  /* MEMORY_NO_TIME: never */
    int64_t duration_ns;  /* set by who shows it; INT64_MIN: not known */
};

struct memory_point {
    int64_t ts;
    int64_t allocated_bytes; /* INT64_MIN: not said */
    int64_t reserved_bytes;
};

/* What is said of a point: allocated, else reserved. */
static inline int64_t memory_point_bytes(const struct memory_point *point)
{
    return point->allocated_bytes == INT64_MIN ? point->reserved_bytes : point->allocated_bytes;
}

struct memory_curve {
    const char *device;
    const char *component; /* whose the memory is, "PTA"; NULL: not said */
    struct memory_point *points;
    size_t point_count;
    size_t peak; /* the first point with the most allocated; reserved, where that is not said */
    /* Records name no totals: what was allocated since the first of them; nothing is reserved. */
    bool since_start;
};

#endif

/* The memory records of a trace in order of time, in columns, each with its operator [TB-13b].
 * Memory views and their windows are computed from it. */
#ifndef KS_MODEL_MEMORY_LOG_H
#define KS_MODEL_MEMORY_LOG_H

#include "ingest/model/column_source.h"

#include <stdint.h>

/* Further devices are not shown: no host has so many. */
#define MEMORY_DEVICES_MAX 256

enum memory_record_flag {
    MEMORY_RECORD_HAS_ADDR = 1,
    MEMORY_RECORD_HAS_TOTALS = 2 /* both totals are known */
};

/* The columns of its source. */
enum memory_column {
    MEMORY_COLUMN_TS,
    MEMORY_COLUMN_ADDR,
    MEMORY_COLUMN_SIZE,
    MEMORY_COLUMN_ALLOCATED,
    MEMORY_COLUMN_RESERVED,
    MEMORY_COLUMN_FLAGS,
    MEMORY_COLUMN_COUNT
};

struct memory_log {
    uint32_t count;
    uint32_t device_count;
    uint32_t node_count;  /* of the call tree */
    const char **devices; /* "CPU", "GPU0", "MLU1", by first appearance; "" for types that no view
                             shows, whose records still take part in the pairing */
    struct column_source source; /* supplies enum memory_column until all are arrays */
    int64_t *ts;                 /* relative to the trace's start */
    int64_t *addr;
    int64_t *size_bytes; /* positive allocates, negative releases */
    int64_t *allocated_bytes;
    int64_t *reserved_bytes;
    uint32_t *node;   /* row of the call tree: the deepest node at that time if it is a real
                         operator, else CALL_NONE */
    uint32_t *op;     /* names of the call tree, after pairing: the operator that allocated, */
    uint32_t *parent; /* and the node above it; CALL_NONE when unknown */
    uint32_t *device; /* index into devices */
    uint8_t *flags;   /* enum memory_record_flag */
    uint8_t *visited; /* by row of the call tree: 1 if a record is in it or below it */
};

#endif

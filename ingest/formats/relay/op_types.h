/* Sums that a recorder's file is asked for as a whole, gathered while its records pass: kernels by
 * type and core, memory by name and device [FMT-1.3]. */
#ifndef KS_FORMATS_RELAY_OP_TYPES_H
#define KS_FORMATS_RELAY_OP_TYPES_H

#include "ingest/base/attr.h"
#include "ingest/base/containers/key_map.h"
#include "ingest/base/text/json_write.h"
#include "ingest/base/text/strtab.h"
#include "ingest/model/recorders/recorded.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct relay;

/* Sums by a pair of texts. */
struct relay_sums {
    struct key_map groups;
    struct strtab *texts;
    struct relay_sum *rows; /* by group */
    size_t cap, count;
    bool failed; /* no memory */
};

struct relay_sum {
    int64_t count, total, least, most, other_most;
    int64_t given_back; /* of the total of blocks */
};

struct relay_op_types {
    struct relay_sums sums;
};

/* Empty texts and N/A are not said. */
bool relay_op_types_init(struct relay_op_types *types) KS_MUST_USE;
void relay_op_types_free(struct relay_op_types *types);
void relay_op_types_add(struct relay_op_types *types,
                        const char *name,
                        const char *core,
                        int64_t dur_ns);
void relay_op_types_write(const struct relay_op_types *types, struct json_write *w);

struct relay_memory {
    struct relay_sums names, devices;
    struct recorded_memory_point *points;
    size_t point_count, point_cap;
};

bool relay_memory_init(struct relay_memory *memory) KS_MUST_USE;
void relay_memory_free(struct relay_memory *memory);
struct relay_block {
    const char *name; /* of the operator */
    int64_t bytes;
    /* RELAY_NONE: taken before the recording; not given back in it. */
    int64_t start_ns, end_ns;
    /* What the allocator had behind each, all and reserved; RELAY_NONE: not said. */
    int64_t start_bytes[2], end_bytes[2];
};

/* Counted, and relayed; where it ends is no record of its own. */
void relay_memory_add(struct relay_memory *memory,
                      struct relay *relay,
                      const struct relay_block *block);
/* What an allocator had at some time; allocated may be RELAY_NONE: not said. `component`: whose it
 * is, "PTA"; "": not said. */
void relay_memory_record(struct relay_memory *memory,
                         const char *device,
                         const char *component,
                         int64_t time_ns,
                         int64_t allocated_bytes,
                         int64_t reserved_bytes);
void relay_memory_write(const struct relay_memory *memory, struct json_write *w);

#endif

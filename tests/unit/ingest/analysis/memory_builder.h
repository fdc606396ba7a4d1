/* Memory records for models of model_builder.h. */
#ifndef KS_TESTS_UNIT_INGEST_ANALYSIS_MEMORY_BUILDER_H
#define KS_TESTS_UNIT_INGEST_ANALYSIS_MEMORY_BUILDER_H

#include "tests/unit/ingest/analysis/model_builder.h"

#define BUILD_CPU 0
#define BUILD_CUDA 1
#define BUILD_PRIVATE 20 /* an MLU */

/* A record as a test writes it; `has` of struct memory_args, 0: everything is there. */
struct build_record {
    int64_t tid;
    int64_t at_us;
    int64_t addr;
    int64_t size_bytes;
    int64_t allocated_bytes;
    int64_t reserved_bytes;
    int32_t device_type;
    int32_t device_id;
    uint32_t has;
};

#define BUILD_HAS_ALL                                                                        \
    (MEMORY_HAS_ADDR | MEMORY_HAS_ALLOCATED | MEMORY_HAS_RESERVED | MEMORY_HAS_DEVICE_TYPE | \
     MEMORY_HAS_DEVICE_ID)

static inline void build_memory(struct build *b, struct build_record record)
{
    struct memory_args args = {.addr = record.addr,
                               .size_bytes = record.size_bytes,
                               .total_allocated_bytes = record.allocated_bytes,
                               .total_reserved_bytes = record.reserved_bytes,
                               .device_type = (int16_t)record.device_type,
                               .device_id = record.device_id,
                               .has = (uint16_t)(record.has == 0 ? BUILD_HAS_ALL : record.has)};
    build_event(b,
                (struct trace_event){.ts_ns = record.at_us * 1000,
                                     .correlation = TRACE_NO_ID,
                                     .external_id = TRACE_NO_ID,
                                     .track = build_track(b, BUILD_HOST_PID, record.tid),
                                     .args = trace_add_memory_args(b->trace, &args),
                                     .kind = EVENT_MEMORY,
                                     .phase = 'i'},
                "[memory]");
}

#endif

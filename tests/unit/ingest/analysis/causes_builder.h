/* Small traces with categories, which the analyses of causes go by: a line an event, times in whole
 * microseconds. */
#ifndef KS_TESTS_UNIT_INGEST_ANALYSIS_CAUSES_BUILDER_H
#define KS_TESTS_UNIT_INGEST_ANALYSIS_CAUSES_BUILDER_H

#include "tests/unit/ingest/analysis/model_builder.h"

#define US INT64_C(1000)

struct fixture {
    struct build build;
    struct arena arena;
};

static inline void begin(struct fixture *f)
{
    build_begin(&f->build);
    arena_init(&f->arena, 0);
}

static inline void end(struct fixture *f)
{
    arena_free(&f->arena);
    build_end(&f->build);
}

static inline void host(struct fixture *f,
                        const char *category,
                        enum event_kind kind,
                        const char *name,
                        int64_t start_us,
                        int64_t end_us,
                        int64_t correlation)
{
    struct build *b = &f->build;
    build_event(b,
                (struct trace_event){
                    .ts_ns = start_us * US,
                    .dur_ns = (end_us - start_us) * US,
                    .correlation = correlation,
                    .external_id = TRACE_NO_ID,
                    .track = build_track(b, BUILD_HOST_PID, 1),
                    .category = (uint16_t)trace_add_category(b->trace, category, strlen(category)),
                    .args = TRACE_NO_ARGS,
                    .kind = kind,
                    .flags = EVENT_HAS_DUR},
                name);
}

static inline void
call(struct fixture *f, const char *name, int64_t start_us, int64_t end_us, int64_t correlation)
{
    host(f, "cuda_runtime", EVENT_RUNTIME, name, start_us, end_us, correlation);
}

static inline void op(struct fixture *f, const char *name, int64_t start_us, int64_t end_us)
{
    host(f, "cpu_op", EVENT_OPERATOR, name, start_us, end_us, TRACE_NO_ID);
}

static inline void
kernel(struct fixture *f, int64_t stream, int64_t start_us, int64_t end_us, int64_t correlation)
{
    struct build *b = &f->build;
    struct kernel_args args = trace_no_kernel_args();
    args.device = 0;
    args.stream = stream;
    build_event(
        b,
        (struct trace_event){.ts_ns = start_us * US,
                             .dur_ns = (end_us - start_us) * US,
                             .correlation = correlation,
                             .external_id = TRACE_NO_ID,
                             .track = build_track(b, 0, stream),
                             .category = (uint16_t)trace_add_category(b->trace, "kernel", 6),
                             .args = trace_add_kernel_args(b->trace, &args),
                             .kind = EVENT_KERNEL,
                             .flags = EVENT_HAS_DUR},
        "gemm");
}

#endif

/* Python frames for tests of stacks and flame graphs. */
#ifndef KS_TESTS_UNIT_INGEST_ANALYSIS_STACKS_FIXTURE_H
#define KS_TESTS_UNIT_INGEST_ANALYSIS_STACKS_FIXTURE_H

#include "tests/unit/ingest/analysis/model_builder.h"

#define US INT64_C(1000)

static inline void
build_frame(struct build *b, const char *name, int64_t tid, int64_t start_us, int64_t end_us)
{
    build_event(b,
                (struct trace_event){.ts_ns = start_us * 1000,
                                     .dur_ns = (end_us - start_us) * 1000,
                                     .correlation = TRACE_NO_ID,
                                     .external_id = TRACE_NO_ID,
                                     .track = build_track(b, BUILD_HOST_PID, tid),
                                     .args = TRACE_NO_ARGS,
                                     .kind = EVENT_PYTHON_FUNCTION,
                                     .flags = EVENT_HAS_DUR},
                name);
}

static inline void
build_flow_on(struct build *b, char phase, int64_t id, int64_t tid, int64_t at_us)
{
    build_event(b,
                (struct trace_event){.ts_ns = at_us * 1000,
                                     .correlation = id,
                                     .external_id = TRACE_NO_ID,
                                     .track = build_track(b, BUILD_HOST_PID, tid),
                                     .args = TRACE_NO_ARGS,
                                     .kind = EVENT_FLOW_FWDBWD,
                                     .phase = phase},
                "fwdbwd");
}

/* A forward and a backward operator, each with a kernel, and a kernel launched by Python itself:
 *
 *     thread 1  train.py(9): main  0 .. 100
 *                 nn.Module: Net_0     10 .. 50
 *                   net.py(4): forward     11 .. 49
 *                     aten::mm                 20 .. 30   -> gemm   5 us
 *                 <built-in ...>       60 .. 70    call   -> fill   2 us
 *     thread 2  MmBackward0        110 .. 120             -> gemm   7 us */
static inline void build_training(struct build *b)
{
    build_frame(b, "train.py(9): main", 1, 0, 100);
    build_module(b, "nn.Module: Net_0", 10, 50, 1, 0);
    build_frame(b, "net.py(4): forward", 1, 11, 49);
    build_op(b, "aten::mm", 1, 20, 30, 1);
    build_runtime(b, 1, 22, 24, 1, 1);
    build_frame(b, "<built-in method fill of Tensor object at 0x7f01>", 1, 60, 70);
    build_runtime(b, 1, 62, 64, 2, 0);
    build_op(b, "MmBackward0", 2, 110, 120, 2);
    build_runtime(b, 2, 112, 114, 3, 2);
    build_flow_on(b, 's', 1, 1, 20);
    build_flow_on(b, 'f', 1, 2, 110);
    build_kernel(b, "gemm", 200, 205, 1);
    build_kernel(b, "fill", 210, 212, 2);
    build_kernel(b, "gemm", 220, 227, 3);
}

#endif

/* Small models for tests of the analyses: one line an event, times in whole microseconds. */
#ifndef KS_TESTS_UNIT_INGEST_ANALYSIS_MODEL_BUILDER_H
#define KS_TESTS_UNIT_INGEST_ANALYSIS_MODEL_BUILDER_H

#include "ingest/analysis/analysis.h"
#include "ingest/tb_plugin/rules.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define BUILD_HOST_PID 100

struct build {
    struct trace *trace;
    struct trace_results *results;
    struct trace_results *plugin;
};

static inline void build_begin(struct build *b)
{
    b->results = NULL;
    b->plugin = NULL;
    b->trace = trace_create();
    assert_non_null(b->trace);
}

static inline void build_end(struct build *b)
{
    results_destroy(b->results);
    results_destroy(b->plugin);
    trace_destroy(b->trace);
}

static inline struct trace_results *build_run(struct build *b)
{
    struct err err = ERR_INIT;
    assert_true(analysis_run(b->trace, &b->results, &err));
    return b->results;
}

/* By the plugin's rules. */
static inline struct trace_results *build_run_plugin(struct build *b)
{
    struct err err = ERR_INIT;
    assert_true(tb_plugin_analyse(b->trace, NULL, &b->plugin, &err));
    return b->plugin;
}

static inline uint32_t build_text(struct build *b, const char *text)
{
    return strtab_intern(b->trace->strings, text, strlen(text));
}

static inline uint32_t build_track(struct build *b, int64_t pid, int64_t tid)
{
    char pid_text[32];
    char tid_text[32];
    (void)snprintf(pid_text, sizeof pid_text, "%lld", (long long)pid);
    (void)snprintf(tid_text, sizeof tid_text, "%lld", (long long)tid);
    struct trace_track track = {.pid_text = build_text(b, pid_text),
                                .tid_text = build_text(b, tid_text),
                                .pid_is_int = true,
                                .tid_is_int = true,
                                .pid_int_valid = true,
                                .tid_int_valid = true,
                                .pid_int = pid,
                                .tid_int = tid};
    return trace_add_track(b->trace, &track);
}

static inline void build_event(struct build *b, struct trace_event event, const char *name)
{
    event.name = build_text(b, name);
    event.phase = event.phase == '\0' ? 'X' : event.phase;
    assert_true(trace_add_event(b->trace, &event));
}

/* A host event of any kind on a thread. */
static inline void build_host(struct build *b,
                              enum event_kind kind,
                              const char *name,
                              int64_t tid,
                              int64_t start_us,
                              int64_t end_us,
                              int64_t external_id)
{
    struct op_args args = {
        .shape = build_text(b, "[]"), .call_stack = build_text(b, ""), .input_types = STRTAB_NONE};
    build_event(b,
                (struct trace_event){.ts_ns = start_us * 1000,
                                     .dur_ns = (end_us - start_us) * 1000,
                                     .correlation = TRACE_NO_ID,
                                     .external_id = external_id,
                                     .track = build_track(b, BUILD_HOST_PID, tid),
                                     .args = trace_add_op_args(b->trace, &args),
                                     .kind = kind,
                                     .flags = EVENT_HAS_DUR},
                name);
}

static inline void build_op(struct build *b,
                            const char *name,
                            int64_t tid,
                            int64_t start_us,
                            int64_t end_us,
                            int64_t external_id)
{
    build_host(b, EVENT_OPERATOR, name, tid, start_us, end_us, external_id);
}

static inline void build_step(struct build *b, const char *name, int64_t start_us, int64_t end_us)
{
    build_host(b, EVENT_USER_ANNOTATION, name, 1, start_us, end_us, TRACE_NO_ID);
}

/* A module call: python ids link it to its parent. */
static inline void build_module(
    struct build *b, const char *name, int64_t start_us, int64_t end_us, int64_t id, int64_t parent)
{
    build_event(b,
                (struct trace_event){.ts_ns = start_us * 1000,
                                     .dur_ns = (end_us - start_us) * 1000,
                                     .correlation = id,
                                     .external_id = parent,
                                     .track = build_track(b, BUILD_HOST_PID, 1),
                                     .args = 0,
                                     .kind = EVENT_PYTHON_FUNCTION,
                                     .flags = EVENT_HAS_DUR | EVENT_MODULE},
                name);
}

static inline void build_runtime(struct build *b,
                                 int64_t tid,
                                 int64_t start_us,
                                 int64_t end_us,
                                 int64_t correlation,
                                 int64_t external_id)
{
    build_event(b,
                (struct trace_event){.ts_ns = start_us * 1000,
                                     .dur_ns = (end_us - start_us) * 1000,
                                     .correlation = correlation,
                                     .external_id = external_id,
                                     .track = build_track(b, BUILD_HOST_PID, tid),
                                     .args = TRACE_NO_ARGS,
                                     .kind = EVENT_RUNTIME,
                                     .flags = EVENT_HAS_DUR},
                "cudaLaunchKernel");
}

static inline void build_device_event(struct build *b,
                                      enum event_kind kind,
                                      const char *name,
                                      int64_t device,
                                      int64_t start_us,
                                      int64_t end_us,
                                      int64_t correlation,
                                      int64_t external_id,
                                      double blocks,
                                      double occupancy)
{
    struct kernel_args args = trace_no_kernel_args();
    args.device = device;
    args.stream = 7;
    args.blocks_per_sm = blocks;
    args.occupancy_pct = occupancy;
    args.grid = build_text(b, "[1, 1, 1]");
    args.shared_memory = build_text(b, "1024");
    build_event(b,
                (struct trace_event){.ts_ns = start_us * 1000,
                                     .dur_ns = (end_us - start_us) * 1000,
                                     .correlation = correlation,
                                     .external_id = external_id,
                                     .track = build_track(b, device, 7),
                                     .args = trace_add_kernel_args(b->trace, &args),
                                     .kind = kind,
                                     .flags = EVENT_HAS_DUR},
                name);
}

static inline void build_kernel(
    struct build *b, const char *name, int64_t start_us, int64_t end_us, int64_t correlation)
{
    build_device_event(b, EVENT_KERNEL, name, 0, start_us, end_us, correlation, TRACE_NO_ID,
                       (double)NAN, (double)NAN);
}

/* One end of a forward-backward pair; phase 's' or 'f'. */
static inline void build_flow(struct build *b, char phase, int64_t id, int64_t at_us)
{
    build_event(b,
                (struct trace_event){.ts_ns = at_us * 1000,
                                     .correlation = id,
                                     .external_id = TRACE_NO_ID,
                                     .track = build_track(b, BUILD_HOST_PID, 1),
                                     .args = TRACE_NO_ARGS,
                                     .kind = EVENT_FLOW_FWDBWD,
                                     .phase = phase},
                "fwdbwd");
}

/* The row of a name in a grouping, or NULL. */
static inline const struct operator_row *
build_find(const struct trace_results *results, enum operator_group by, const char *name)
{
    for (size_t i = 0; i < results->operator_count[by]; i++) {
        if (strcmp(results->operators[by][i].name, name) == 0) {
            return &results->operators[by][i];
        }
    }
    return NULL;
}

#endif

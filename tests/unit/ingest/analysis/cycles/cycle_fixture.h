/* Traces for tests of the analysis of cycles: one line an event, times in microseconds, written as
 * the JSON that the reader takes. */
#ifndef KS_TESTS_UNIT_INGEST_ANALYSIS_CYCLES_CYCLE_FIXTURE_H
#define KS_TESTS_UNIT_INGEST_ANALYSIS_CYCLES_CYCLE_FIXTURE_H

#include "ingest/analysis/cycles/cycles.h"
#include "ingest/base/text/buf.h"
#include "tests/unit/ingest/formats/chrome_json/kineto_fixture.h"

#include <math.h>
#include <stdio.h>

#define SCENE_BYTES_MAX ((size_t)16 << 20)

struct scene {
    struct buf text;
    struct format_bundle bundle;
    struct trace_results *results;
};

static inline void scene_begin(struct scene *s)
{
    memset(s, 0, sizeof *s);
    buf_init(&s->text, SCENE_BYTES_MAX);
    buf_puts(&s->text, "{\"traceEvents\": [{\"ph\": \"M\", \"name\": \"begin\"}");
}

static inline void scene_end(struct scene *s)
{
    buf_free(&s->text);
    results_destroy(s->results);
    if (s->bundle.item_count > 0) {
        format_bundle_free(&s->bundle);
    }
}

/* An event as JSON. */
static inline void scene_add(struct scene *s, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    assert_in_range(len, 1, (int)sizeof text - 1);
    buf_puts(&s->text, ",\n");
    buf_puts(&s->text, text);
}

/* A complete event; `args` is JSON, "{}" for none. */
static inline void scene_event(struct scene *s,
                               const char *category,
                               const char *name,
                               int pid,
                               const char *tid,
                               double ts,
                               double dur,
                               const char *args)
{
    scene_add(s,
              "{\"ph\": \"X\", \"cat\": \"%s\", \"name\": \"%s\", \"pid\": %d, \"tid\": \"%s\", "
              "\"ts\": %.3f, \"dur\": %.3f, \"args\": %s}",
              category, name, pid, tid, ts, dur, args);
}

static inline void
scene_call(struct scene *s, const char *name, int pid, const char *tid, double ts, double dur)
{
    scene_event(s, "python", name, pid, tid, ts, dur, "{}");
}

static inline void scene_slice(struct scene *s, const char *name, int pid, double ts, double dur)
{
    scene_event(s, "CAT_CPU", name, pid, "sched", ts, dur, "{}");
}

static inline void scene_launch(struct scene *s, int pid, double ts, double dur, int correlation)
{
    char args[64];
    (void)snprintf(args, sizeof args, "{\"correlation\": %d}", correlation);
    scene_event(s, "cuda_runtime", "cudaLaunchKernel", pid, "main", ts, dur, args);
}

static inline void
scene_kernel(struct scene *s, const char *name, int pid, double ts, double dur, int correlation)
{
    char args[64];
    (void)snprintf(args, sizeof args, "{\"correlation\": %d}", correlation);
    scene_event(s, "Kernel", name, pid, "device:0 stream:7", ts, dur, args);
}

static inline void scene_sample(struct scene *s,
                                const char *category,
                                const char *name,
                                const char *tid,
                                double ts,
                                double value)
{
    scene_add(s,
              "{\"ph\": \"C\", \"cat\": \"%s\", \"name\": \"%s\", \"tid\": \"%s\", \"ts\": %.3f, "
              "\"args\": {\"value\": %.4f}}",
              category, name, tid, ts, value);
}

/* Three calls of `turn`, 100 us each, at 1000, 1200 and 1400, on one thread. */
static inline void scene_turns(struct scene *s, int pid)
{
    for (int i = 0; i < 3; i++) {
        scene_call(s, "turn", pid, "main", 1000 + 200 * i, 100);
    }
}

static inline bool scene_try(struct scene *s, const struct cycles_options *options, struct err *err)
{
    buf_puts(&s->text, "]}");
    s->bundle = read_text(s->text.ptr);
    s->results = results_create();
    assert_non_null(s->results);
    struct trace_index index;
    assert_true(index_build(&index, s->bundle.items[0].model));
    bool ok = cycles_run(&index, options, s->results, err);
    index_free(&index);
    return ok;
}

static inline struct trace_results *scene_run(struct scene *s, const char *marker)
{
    struct err err = ERR_INIT;
    struct cycles_options options = {.marker = marker};
    assert_true(scene_try(s, &options, &err));
    return s->results;
}

static inline const struct cycle_row *scene_cycle(const struct trace_results *r, int64_t number)
{
    for (size_t i = 0; i < r->cycle_count; i++) {
        if (r->cycles[i].number == number) {
            return &r->cycles[i];
        }
    }
    return NULL;
}

/* NULL when there is none; `metric` NULL: the row without a metric. */
static inline const struct cycle_use_row *
scene_find(const struct trace_results *r, int64_t number, const char *function, const char *metric)
{
    for (size_t i = 0; i < r->cycle_use_count; i++) {
        const struct cycle_use_row *row = &r->cycle_uses[i];
        bool same_metric = metric == NULL || row->metric == NULL ? row->metric == metric
                                                                 : strcmp(row->metric, metric) == 0;
        if (r->cycles[row->cycle].number == number && strcmp(row->function, function) == 0 &&
            same_metric) {
            return row;
        }
    }
    return NULL;
}

static inline const struct cycle_use_row *
scene_row(const struct trace_results *r, int64_t number, const char *function, const char *metric)
{
    const struct cycle_use_row *row = scene_find(r, number, function, metric);
    if (row == NULL) {
        fail_msg("cycle %lld has no row of %s, %s", (long long)number, function,
                 metric == NULL ? "no metric" : metric);
    }
    return row;
}

/* The number that its text with four decimals is. */
static inline double cycle_text(double value)
{
    char text[64];
    (void)snprintf(text, sizeof text, "%.4f", value);
    return strtod(text, NULL);
}

static inline void assert_near(double have, double want)
{
    if (!(fabs(have - want) <= 1e-9 * (1 + fabs(want)))) {
        fail_msg("%.17g is not %.17g", have, want);
    }
}

#endif

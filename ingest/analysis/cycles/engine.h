/* Cycles of a serving engine: its annotated steps of one phase [DEV-4i]. */
#ifndef KS_ANALYSIS_CYCLES_ENGINE_H
#define KS_ANALYSIS_CYCLES_ENGINE_H

#include "ingest/analysis/cycles/events.h"
#include "ingest/base/attr.h"
#include "ingest/index/engine_annotation.h"
#include "ingest/model/results/cycles.h"

#include <stdbool.h>

#define CYCLE_ENGINE_TEXT_BYTES 32

/* The steps of an engine in a phase. */
struct cycle_engine {
    enum engine engine;
    enum engine_phase phase;
    bool is_detailed;                   /* then only detailed annotations are steps [DEV-4c] */
    char text[CYCLE_ENGINE_TEXT_BYTES]; /* "vllm:decode" */
};

/* The phase that takes most time, of equal ones the first, if the trace has at least three steps.
 * False: it has not. */
bool cycle_engine_find(struct cycle_engine *out, const struct cycle_events *events) KS_MUST_USE;
/* The phase of that name, as in `text`. False: no step of the trace is of it. */
bool cycle_engine_named(struct cycle_engine *out,
                        const struct cycle_events *events,
                        const char *text) KS_MUST_USE;

bool cycle_engine_is_step(const struct cycle_engine *engine,
                          const struct cycle_events *events,
                          uint32_t at) KS_MUST_USE;
enum cycle_kind cycle_engine_kind(const struct cycle_engine *engine);

#endif

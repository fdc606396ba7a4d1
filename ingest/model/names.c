/* The words for the enumerations of cycles, comparisons, collectives and kernel tables. */
#include "ingest/model/collective_log.h"
#include "ingest/model/results/call_tree.h"
#include "ingest/model/results/comparison.h"
#include "ingest/model/results/cycles.h"
#include "ingest/model/results/kernel_utilisation.h"

const char *use_class_name(enum use_class use)
{
    static const char *const names[USE_CLASS_COUNT] = {
        [USE_BOTH_LOW] = "both_low", [USE_LOW_COMPUTE] = "low_compute",
        [USE_LOW_DRAM] = "low_dram", [USE_NEITHER_LOW] = "neither_low",
        [USE_UNKNOWN] = NULL,
    };
    return names[use];
}

const char *cycle_kind_name(enum cycle_kind kind)
{
    static const char *const names[CYCLE_KIND_COUNT] = {
        [CYCLE_STEP] = "step",           [CYCLE_PREFILL] = "prefill", [CYCLE_DECODE] = "decode",
        [CYCLE_LAYER] = "layer",         [CYCLE_MIXED] = "mixed",     [CYCLE_IDLE] = "idle",
        [CYCLE_DIFFUSION] = "diffusion",
    };
    return names[kind];
}

const char *cycle_source_name(enum cycle_source source)
{
    static const char *const names[] = {
        [CYCLES_NONE] = "none",
        [CYCLES_PROFILER_STEPS] = "profiler_steps",
        [CYCLES_ANNOTATION] = "annotation",
        [CYCLES_ANCHOR] = "anchor",
        [CYCLES_MARKER] = "marker",
        [CYCLES_TABLE] = "table",
    };
    return names[source];
}

const char *comparison_presence_name(enum comparison_presence presence)
{
    static const char *const names[] = {
        [PRESENCE_BOTH] = "both",
        [PRESENCE_ADDED] = "added",
        [PRESENCE_REMOVED] = "removed",
    };
    return names[presence];
}

const char *comparison_verdict_name(enum comparison_verdict verdict)
{
    static const char *const names[] = {
        [VERDICT_NO_DIFFERENCE] = "no_difference",
        [VERDICT_DIFFERENT] = "different",
        [VERDICT_UNDECIDED] = "undecided",
    };
    return names[verdict];
}

const char *call_type_name(enum call_type type)
{
    static const char *const names[CALL_TYPE_COUNT] = {
        [CALL_TYPE_OPERATOR] = "Operator",
        [CALL_TYPE_PYTHON] = "Python",
        [CALL_TYPE_PROFILER_STEP] = "ProfilerStep",
        [CALL_TYPE_MODULE] = "Module",
        [CALL_TYPE_PL_MODULE] = "PLModule",
        [CALL_TYPE_PL_PROFILE] = "pl_profile",
        [CALL_TYPE_USER_ANNOTATION] = "user_annotation",
        [CALL_TYPE_BACKWARD] = "backward",
    };
    return names[type];
}

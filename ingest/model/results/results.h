/* What the analyses answer about one trace: plain rows, the same on the way into the store and out
 * of it.
 *
 * Units: `_ns` integer nanoseconds; positions relative to the trace's start (results.start_ns);
 * shares 0..1;
 * `_pct` 0..100. Rows stand in the order of tests/spec/ unless said
 * otherwise. Rows (the arrays too) and texts belong to results.arena (or, read back from the store,
 * live until the next row). */
#ifndef KS_MODEL_RESULTS_RESULTS_H
#define KS_MODEL_RESULTS_RESULTS_H

#include "ingest/base/attr.h"
#include "ingest/base/memory/arena.h"
#include "ingest/model/collective_log.h"
#include "ingest/model/memory_log.h"
#include "ingest/model/operations.h"
#include "ingest/model/rank_digest.h"
#include "ingest/model/results/call_tree.h"
#include "ingest/model/results/comparison.h"
#include "ingest/model/results/cycles.h"
#include "ingest/model/results/gpu_counters.h"
#include "ingest/model/results/kernel_utilisation.h"
#include "ingest/model/tables/table.h"
#include "ingest/model/warning.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Time categories in order of priority [TB-6a]. */
enum time_category {
    TIME_KERNEL,
    TIME_MEMCPY,
    TIME_MEMSET,
    TIME_COMMUNICATION,
    TIME_RUNTIME,
    TIME_DATALOADER,
    TIME_CPU_EXEC,
    TIME_OTHER,
    TIME_CATEGORY_COUNT
};

/* "kernel", "cpu_exec": names in the API. "Kernel", "CPU Exec": labels of the page.
 */
const char *time_category_name(enum time_category role);
const char *time_category_label(enum time_category role);

/* Bit (1 << view) in results.views. First those of a profiler's trace, in the order of
 * [TB-2], then others. */
enum view {
    VIEW_OVERVIEW,
    VIEW_OPERATOR,
    VIEW_KERNEL,
    VIEW_TRACE,
    VIEW_DISTRIBUTED, /* never set by one trace alone: see communication_* */
    VIEW_MEMORY,
    VIEW_MODULE,
    VIEW_LIGHTNING,
    VIEW_PROFILER_COUNT,
    VIEW_UTILISATION = VIEW_PROFILER_COUNT, /* of a kernel table */
    VIEW_CYCLES,                            /* the trace can be compared by cycles */
    VIEW_COMPARISON,                        /* the upload was a comparison report */
    VIEW_SERVING,                           /* a serving engine annotated its steps [DEV-4] */
    VIEW_SLICES,     /* slices, but no operator, device work or launch call: a trace of another kind
                        [DEV-5a] */
    VIEW_SNAPSHOT,   /* a memory snapshot [FMT-4] */
    VIEW_CATEGORIES, /* memory by category over time [FMT-7] */
    VIEW_MEMORY_COUNTERS, /* counters in a unit of bytes */
    VIEW_EXECUTION,       /* an execution trace [FMT-9] */
    VIEW_PIPELINE,        /* operations of a training job: a table of them, or names [RANK-4] */
    VIEW_COUNT
};
const char *view_label(enum view view); /* "Overview", ... */

#define MODULE_NO_PARENT INT64_C(-1)

/* The hierarchy of nn.Module (or Lightning's modules) with what each took. Parents before their
 * children, siblings in the order of time. */
struct module_row {
#define TABLE_DEF "ingest/model/tables/operators/module.def"
#include "ingest/model/tables/struct.h"
};

/* start_ns and end_ns mean nothing when results.steps_undefined. */
struct step_row {
#define TABLE_DEF "ingest/model/tables/trace/step.def"
#include "ingest/model/tables/struct.h"
};

/* How operators are grouped. */
enum operator_group {
    OPERATOR_BY_NAME,
    OPERATOR_BY_NAME_SHAPE,
    OPERATOR_BY_NAME_STACK,       /* only groups with a non-empty call stack */
    OPERATOR_BY_NAME_SHAPE_STACK, /* the same */
    OPERATOR_GROUP_COUNT
};

/* A group of operator calls. Rows of one grouping stand in order of first occurrence. input_shape
 * and call_stack are NULL where the grouping has none. */
struct operator_row {
#define TABLE_DEF "ingest/model/tables/operators/operator.def"
#include "ingest/model/tables/struct.h"
};

struct kernel_row {
#define TABLE_DEF "ingest/model/tables/kernels/kernel.def"
#include "ingest/model/tables/struct.h"
};

struct kernel_launch_row {
#define TABLE_DEF "ingest/model/tables/kernels/kernel_launch.def"
#include "ingest/model/tables/struct.h"
};

/* One device that ran kernels [TB-10], in order of ids. */
struct device_row {
#define TABLE_DEF "ingest/model/tables/trace/device.def"
#include "ingest/model/tables/struct.h"
};

/* A row of which nothing but the id is known. */
struct device_row device_row_unknown(int64_t id);

/* A device that did any work and that the properties know [TB-15.1b]: by the process number of its
 * events, ascending. */
struct gpu_row {
#define TABLE_DEF "ingest/model/tables/trace/gpu.def"
#include "ingest/model/tables/struct.h"
};

/* One recommendation [TB-9], in output order. */
struct recommendation_row {
#define TABLE_DEF "ingest/model/tables/trace/recommendation.def"
#include "ingest/model/tables/struct.h"
};

/* A value of the trace in the history of a metric [HIST-1c]. */
struct series_row {
    const char *metric; /* "step_time", "kernel:gemm" */
    double value;       /* finite */
};

struct environment_row {
#define TABLE_DEF "ingest/model/tables/trace/environment.def"
#include "ingest/model/tables/struct.h"
};

/* A view that this trace cannot show in full, why, and what to record. */
struct missing_row {
#define TABLE_DEF "ingest/model/tables/trace/missing.def"
#include "ingest/model/tables/struct.h"
};

/* An answer kept word for word, because the upload was that answer (seed 003). */
struct uploaded_answer_row {
#define TABLE_DEF "ingest/model/tables/trace/uploaded_answer.def"
#include "ingest/model/tables/struct.h"
};

#define RESULTS_NS_PER_US 1000
#define RESULTS_UNKNOWN (-1)
#define RESULTS_NO_TIME INT64_MIN

/* What is stored as a whole, and what is large: a column of it has a row for every operator, memory
 * record or device counter. */
enum result_log { RESULT_CALL_TREE, RESULT_MEMORY_LOG, RESULT_GPU_COUNTERS, RESULT_LOG_COUNT };

/* A log in the form in which it is stored, malloc'ed. bytes NULL: the trace has none, or its
 * columns are still there. */
struct packed_log {
    void *bytes;
    size_t len;
};

/* Packs a struct call_tree, memory_log or gpu_counters. False without memory. */
typedef bool (*result_log_encoder)(enum result_log log,
                                   const void *columns,
                                   struct packed_log *out);

/* What the analyses answer of one trace. There is a second set of figures of a trace where somebody
 * asked for those of the annex: it follows other rules and may have times of its own clock. */
struct trace_results {
    struct arena arena;
    struct arena beside_arena; /* what modules and the digest of the rank consist of: they are found
                                  beside other rows */
    struct arena log_arenas[RESULT_LOG_COUNT]; /* what a log consists of */
    struct packed_log packed[RESULT_LOG_COUNT];
    struct arena cycle_arena; /* what taken cycles consist of */
    const char *device_type;  /* "CPU", "GPU", "MLU", "NPU", "TPU": the type of the devices */
#define TABLE_DEF "ingest/model/tables/trace/trace.def"
#include "ingest/model/tables/struct.h"

    struct step_row *steps;
    struct operator_row *operators[OPERATOR_GROUP_COUNT];
    struct kernel_row *kernels;                /* in the order of [TB-18] */
    struct kernel_launch_row *kernel_launches; /* by total descending, stable */
    struct device_row *devices;
    size_t device_count;
    struct gpu_counters *gpu_counters; /* NULL: none, not the annex's figures, or `packed` */
    struct gpu_row *gpus;
    size_t gpu_count;
    struct recommendation_row *recommendations;
    size_t recommendation_count;
    struct environment_row *environment;
    size_t environment_count;
    struct series_row *series; /* only on the way into the store: its catalogue keeps them */
    size_t series_count;
    struct missing_row *missing;
    size_t missing_count;
    struct uploaded_answer_row *uploaded_answers;
    size_t uploaded_answer_count;

    /* What later questions are answered from; NULL where the trace has none of it, or `packed`. */
    struct call_tree *call_tree;
    struct memory_log *memory_log; /* refers to rows of the call tree */
    struct collective_log *comm_log;
    struct operation_table *operations; /* of a training job */
    struct rank_digest *rank_digest;    /* NULL in the annex's figures */
    struct module_row *modules;
    size_t module_count;

    /* Of kernel tables; has_kernel_use says whether this is one. */
    struct kernel_utilisation_totals kernel_utilisation_totals;
    struct kernel_utilisation_row *kernel_utilisation;
    struct kernel_utilisation_launch_row
        *kernel_utilisation_launches; /* in the order of the file */
    struct kernel_utilisation_metric_row *kernel_utilisation_metrics;
    size_t kernel_utilisation_metric_count;
    struct kernel_utilisation_value_row *kernel_utilisation_values;
    size_t kernel_utilisation_value_count;
    struct transfer_row *transfers;
    size_t transfer_count;
    const char **bad_rows; /* rows of an uploaded table that could not be read, in words, with line
                              numbers; the first KERNEL_TABLE_BAD_ROWS_MAX of them */
    size_t bad_row_count;

    struct cycle_row *cycles;
    struct cycle_use_row *cycle_uses;
    struct counter_row *counters;
    size_t counter_count;

    struct comparison *comparison; /* a report that was uploaded; NULL otherwise */
    struct warnings warnings;
};

/* Steps of the trace, none of which is the whole of it. */
size_t results_step_count(const struct trace_results *results);
/* What the maker of the devices calls their matrix units [FMT-0.6c]: "Tensor Cores", ... */
const char *results_matrix_units(const struct trace_results *results);

struct trace_results *results_create(void) KS_MUST_USE; /* NULL without memory */
void results_destroy(struct trace_results *results);    /* NULL is allowed */
/* Moves what cycles_run has filled from results in which nothing else is. */
void results_take_cycles(struct trace_results *results, struct trace_results *from);

#endif

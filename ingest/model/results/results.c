#include "ingest/model/results/results.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    const char *label;
} roles[TIME_CATEGORY_COUNT] = {
    [TIME_KERNEL] = {"kernel", "Kernel"},
    [TIME_MEMCPY] = {"memcpy", "Memcpy"},
    [TIME_MEMSET] = {"memset", "Memset"},
    [TIME_COMMUNICATION] = {"communication", "Communication"},
    [TIME_RUNTIME] = {"runtime", "Runtime"},
    [TIME_DATALOADER] = {"dataloader", "DataLoader"},
    [TIME_CPU_EXEC] = {"cpu_exec", "CPU Exec"},
    [TIME_OTHER] = {"other", "Other"},
};

static const char *const view_labels[VIEW_COUNT] = {
    [VIEW_OVERVIEW] = "Overview",
    [VIEW_OPERATOR] = "Operator",
    [VIEW_KERNEL] = "Kernel",
    [VIEW_TRACE] = "Trace",
    [VIEW_DISTRIBUTED] = "Distributed",
    [VIEW_MEMORY] = "Memory",
    [VIEW_MODULE] = "Module",
    [VIEW_LIGHTNING] = "Lightning",
    [VIEW_UTILISATION] = "Utilisation",
    [VIEW_CYCLES] = "Cycles",
    [VIEW_COMPARISON] = "Comparison",
    [VIEW_SERVING] = "Serving",
    [VIEW_SLICES] = "Slices",
    [VIEW_SNAPSHOT] = "Memory snapshot",
    [VIEW_CATEGORIES] = "Memory by category",
    [VIEW_MEMORY_COUNTERS] = "Memory counters",
    [VIEW_EXECUTION] = "Execution trace",
    [VIEW_PIPELINE] = "Pipeline",
};

const char *time_category_name(enum time_category role)
{
    return roles[role].name;
}

const char *time_category_label(enum time_category role)
{
    return roles[role].label;
}

const char *view_label(enum view view)
{
    return view_labels[view];
}

size_t results_step_count(const struct trace_results *results)
{
    return results->has_steps ? results->step_count : 0;
}

const char *results_matrix_units(const struct trace_results *results)
{
    const char *type = results->device_type == NULL ? "" : results->device_type;
    if (strcmp(type, "NPU") == 0 || strcmp(type, "TPU") == 0) {
        return *type == 'N' ? "Cube units" : "MXUs";
    }
    return results->is_amd ? "Matrix Cores" : "Tensor Cores";
}

struct device_row device_row_unknown(int64_t id)
{
    return (struct device_row){.id = id,
                               .memory_bytes = (double)NAN,
                               .utilisation = (double)NAN,
                               .sm_efficiency = (double)NAN,
                               .occupancy_pct = (double)NAN,
                               .tensor_share = (double)NAN};
}

struct trace_results *results_create(void)
{
    struct trace_results *results = calloc(1, sizeof *results);
    if (results != NULL) {
        arena_init(&results->arena, 0);
        arena_init(&results->beside_arena, 0);
        arena_init(&results->cycle_arena, 0);
        for (int log = 0; log < RESULT_LOG_COUNT; log++) {
            arena_init(&results->log_arenas[log], 0);
        }
        results->device_ns = RESULTS_UNKNOWN;
    }
    return results;
}

void results_destroy(struct trace_results *results)
{
    if (results == NULL) {
        return;
    }
    for (int log = 0; log < RESULT_LOG_COUNT; log++) {
        arena_free(&results->log_arenas[log]);
        free(results->packed[log].bytes);
    }
    arena_free(&results->cycle_arena);
    arena_free(&results->beside_arena);
    arena_free(&results->arena);
    free(results);
}

void results_take_cycles(struct trace_results *results, struct trace_results *from)
{
    results->cycle_arena = from->arena;
    arena_init(&from->arena, 0);
    results->cycle_source = from->cycle_source;
    results->cycles = from->cycles;
    results->cycle_count = from->cycle_count;
    results->cycle_uses = from->cycle_uses;
    results->cycle_use_count = from->cycle_use_count;
    results->counters = from->counters;
    results->counter_count = from->counter_count;
    results->views |= from->views;
}

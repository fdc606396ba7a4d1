/* Which option of its recorder would have recorded what a file lacks [FMT-0.6]. */
#include "ingest/analysis/overview/health.h"
#include "ingest/base/text/affix.h"

#include <string.h>

enum missing {
    NO_STEPS,
    NO_OPERATORS,
    NO_KERNELS,
    NO_COPIES,
    NO_CALLS,
    NO_NODES,
    NO_SHAPES,
    NO_STACKS,
    NO_MODULES,
    NO_MEMORY,
    NO_OP_TYPES,
    NO_COMMUNICATION,
    MISSING_COUNT
};

/* What a recorder has no option for is absent. */
struct advice {
    const char *recorder; /* NULL: PyTorch's profiler */
    struct missing_row rows[MISSING_COUNT];
};

#define ONE_STEP "No ProfilerStep# events: the whole recording counts as one step."
#define NO_DEVICE_WORK "No work on a device was recorded."
#define NO_RUNTIME_CALLS "No calls of the runtime: device work has no launch."
#define EACH_PROCESS "a trace of each process of a torch.distributed run"

static const struct advice advices[] = {
    {NULL,
     {[NO_STEPS] = {"steps", ONE_STEP,
                    "schedule=torch.profiler.schedule(wait=1, warmup=1, active=3), and "
                    "prof.step() once a step"},
      [NO_KERNELS] = {"kernels", NO_DEVICE_WORK,
                      "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]"},
      [NO_SHAPES] = {"shapes", "No operator has input shapes.", "record_shapes=True"},
      [NO_STACKS] = {"call_stacks", "No operator has a call stack.", "with_stack=True"},
      [NO_MODULES] = {"modules", "No module calls were recorded.",
                      "with_stack=True, with_modules=True"},
      [NO_MEMORY] = {"memory", "No [memory] records.", "profile_memory=True"},
      [NO_COMMUNICATION] = {"distributed", "No collective operations were recorded.",
                            EACH_PROCESS}}},
    {"torch_npu",
     {[NO_STEPS] = {"steps", ONE_STEP,
                    "schedule=torch_npu.profiler.schedule(wait=1, warmup=1, active=3), and "
                    "prof.step() once a step"},
      [NO_OPERATORS] = {"operators", "No operator was recorded.",
                        "activities=[ProfilerActivity.CPU, ProfilerActivity.NPU]"},
      [NO_KERNELS] = {"kernels", "No task on the NPU was recorded.",
                      "activities=[ProfilerActivity.CPU, ProfilerActivity.NPU]"},
      [NO_CALLS] = {"calls", "No CANN calls: tasks have no launch.",
                    "profiler_level=ProfilerLevel.Level1 brings CANN calls and shapes"},
      [NO_STACKS] = {"call_stacks", "No operator has a call stack.", "with_stack=True"},
      [NO_MEMORY] = {"memory", "No records of memory.",
                     "profile_memory=True; upload the whole *_ascend_pt folder"},
      [NO_OP_TYPES] = {"op_types", "Kernels have neither op type nor core.",
                       "upload the whole *_ascend_pt folder for op types and memory"},
      [NO_COMMUNICATION] = {"distributed", "No collective operations were recorded.",
                            EACH_PROCESS}}},
    {"Nsight Systems",
     {[NO_STEPS] = {"steps", "No NVTX range is a step: the whole recording counts as one.",
                    "torch.cuda.nvtx.range(\"step\") around each step"},
      [NO_OPERATORS] = {"operators", "No NVTX ranges: device work has no operator.",
                        "--trace=cuda,nvtx, and torch.autograd.profiler.emit_nvtx()"},
      [NO_KERNELS] = {"kernels", NO_DEVICE_WORK, "--trace=cuda,nvtx"},
      [NO_CALLS] = {"calls", NO_RUNTIME_CALLS, "--trace=cuda,nvtx"},
      [NO_NODES] = {"graph_nodes", "CUDA graphs were recorded as a whole, without their kernels.",
                    "--cuda-graph-trace=node"},
      [NO_MEMORY] = {"memory", "No records of memory.", "--cuda-memory-usage=true"}}},
    {"XLA",
     {[NO_STEPS] = {"steps", "No steps: the whole recording counts as one.",
                    "jax.profiler.StepTraceAnnotation around each step"},
      [NO_KERNELS] = {"kernels", NO_DEVICE_WORK, "jax.profiler.trace() around work on a device"},
      [NO_SHAPES] = {"shapes", "No operator has input shapes: XLA records none.",
                     "--xla_dump_to in XLA_FLAGS"},
      [NO_MEMORY] = {"memory", "No records of memory: XLA records none.",
                     "jax.profiler.save_device_memory_profile()"}}},
    {"rocprofv3",
     {[NO_OPERATORS] = {"operators", "No ranges of ROCTx.", "rocprofv3 --marker-trace"},
      [NO_KERNELS] = {"kernels", NO_DEVICE_WORK, "rocprofv3 --kernel-trace"},
      [NO_COPIES] = {"copies", "No copies were recorded.", "rocprofv3 --memory-copy-trace"},
      [NO_CALLS] = {"calls", NO_RUNTIME_CALLS, "rocprofv3 --hip-trace"}}},
    {"rocmProfileData",
     {[NO_OPERATORS] = {"operators", "No markers: device work has no operator.",
                        "torch.autograd.profiler.emit_nvtx() under rpdTracerControl"},
      [NO_KERNELS] = {"kernels", NO_DEVICE_WORK, "runTracer.sh"},
      [NO_CALLS] = {"calls", NO_RUNTIME_CALLS, "runTracer.sh"}}},
};

/* NULL: a recorder of which nothing is known. */
static const struct advice *advice_of(const struct trace *trace)
{
    const char *recorder = trace->recorded == NULL ? NULL : trace->recorded->recorder;
    if (recorder == NULL) {
        return &advices[0];
    }
    for (size_t i = 1; i < sizeof advices / sizeof *advices; i++) {
        if (strcmp(advices[i].recorder, recorder) == 0) {
            return &advices[i];
        }
    }
    return NULL;
}

/* Options of PyTorch's profiler that traces name when they were set. */
static const struct {
    enum missing what;
    const char *option;
    const char *reason;
} set_options[] = {
    {NO_SHAPES, "record_shapes", "No operator has input shapes, though record_shapes was set."},
    {NO_STACKS, "with_stack", "No operator has a call stack, though with_stack was set."},
    {NO_MODULES, "with_modules", "No module was called, though with_modules was set."},
    {NO_MEMORY, "profile_memory", "No [memory] records, though profile_memory was set."},
};

static bool was_set(const struct trace_results *results, const char *option)
{
    for (size_t i = 0; i < results->environment_count; i++) {
        const struct environment_row *row = &results->environment[i];
        if (strcmp(row->name, option) == 0) {
            return strcmp(row->value, "1") == 0;
        }
    }
    return false;
}

/* Nobody is told to set what was set. */
static struct missing_row
row_of(const struct trace_results *results, const struct advice *advice, enum missing what)
{
    for (size_t i = 0; i < sizeof set_options / sizeof *set_options; i++) {
        if (advice->recorder == NULL && set_options[i].what == what &&
            was_set(results, set_options[i].option)) {
            return (struct missing_row){advice->rows[what].view, set_options[i].reason, ""};
        }
    }
    return advice->rows[what];
}

/* A job of one process has nobody to talk to; of others the trace tells, or a wrapper does. */
static bool lacks_communication(const struct trace_results *results,
                                const struct event_classes *sel)
{
    return !results->has_communication && results->collective_count == 0 &&
           (sel->trace->distributed_world_size > 1 || (sel->seen_names & NAME_DDP) != 0);
}

static bool has_shapes(const struct trace_results *results)
{
    for (size_t i = 0; i < results->operator_count[OPERATOR_BY_NAME_SHAPE]; i++) {
        const char *shape = results->operators[OPERATOR_BY_NAME_SHAPE][i].input_shape;
        if (strcmp(shape, "[]") != 0 && strcmp(shape, "None") != 0) {
            return true;
        }
    }
    return false;
}

/* A kernel that stands for a graph [FMT-5a]. */
static bool has_whole_graphs(const struct trace *trace)
{
    for (uint32_t i = 0; i < strtab_count(trace->strings); i++) {
        const char *text = strtab_text(trace->strings, i);
        if (text_begins(text, "graph ") && text[6] >= '0' && text[6] <= '9') {
            return true;
        }
    }
    return false;
}

static bool has_memory(const struct trace_results *results, const struct event_classes *sel)
{
    const struct recorded *recorded = sel->trace->recorded;
    return sel->class_count[INDEX_MEMORY] > 0 || (results->views & 1u << VIEW_MEMORY) != 0 ||
           (recorded != NULL && recorded->memory_count > 0);
}

bool health_find_missing(struct trace_results *results, const struct event_classes *sel)
{
    const struct advice *advice = advice_of(sel->trace);
    const struct recorded *recorded = sel->trace->recorded;
    const uint32_t *counts = sel->class_count;
    const bool is_missing[MISSING_COUNT] = {
        [NO_STEPS] = !results->has_steps,
        [NO_OPERATORS] = counts[INDEX_OPERATOR] == 0,
        [NO_KERNELS] = counts[INDEX_KERNEL] == 0,
        [NO_COPIES] = counts[INDEX_MEMCPY] == 0,
        [NO_CALLS] = counts[INDEX_RUNTIME_CALL] + counts[INDEX_DRIVER_CALL] == 0,
        [NO_NODES] =
            advice != NULL && advice->rows[NO_NODES].record != NULL && has_whole_graphs(sel->trace),
        [NO_SHAPES] = !has_shapes(results),
        [NO_STACKS] =
            results->operator_count[OPERATOR_BY_NAME_STACK] == 0 && counts[INDEX_FUNCTION] == 0,
        [NO_MODULES] = (results->views & (1u << VIEW_MODULE | 1u << VIEW_LIGHTNING)) == 0,
        [NO_MEMORY] = !has_memory(results, sel),
        [NO_OP_TYPES] = recorded == NULL || recorded->op_type_count == 0,
        [NO_COMMUNICATION] = lacks_communication(results, sel),
    };
    results->missing = arena_calloc(&results->arena, MISSING_COUNT, sizeof *results->missing);
    if (results->missing == NULL) {
        return false;
    }
    /* No option of a profiler would make a trace of another kind show more. */
    bool is_other = (results->views & 1u << VIEW_SLICES) != 0;
    for (int i = 0; i < MISSING_COUNT && !is_other && advice != NULL; i++) {
        if (is_missing[i] && advice->rows[i].record != NULL) {
            results->missing[results->missing_count++] = row_of(results, advice, (enum missing)i);
        }
    }
    return true;
}

#include "ingest/analysis/overview/advice.h"

#include "ingest/analysis/kernel_classes/kernel_classes.h"
#include "ingest/analysis/overview/host_calls.h"
#include "ingest/analysis/overview/memory_peaks.h"
#include "ingest/base/saturating.h"
#include "ingest/base/text/buf.h"

#include <ctype.h>
#include <string.h>

#define ADVICE_MAX 7
#define TEXT_MAX_BYTES ((size_t)4096)
#define GIB 1073741824.0

#define LOADER_SHARE 0.05
#define COMMUNICATION_SHARE 0.1
#define MATRIX_SHARE 0.1
#define UTILISATION_LOW 0.5
#define MEMORY_FULL 0.9
#define MATRIX_UNIT_MAJOR 7 /* compute capability */
/* Matrix units are at least so much faster than what the other units do in single precision. */
#define MATRIX_SPEEDUP 2

struct advice {
    struct trace_results *results;
    struct event_classes *sel;
    double step_ns;            /* average, or the whole trace */
    double steps;              /* at least 1 */
    struct buf text, evidence; /* of the advice under way */
    double saving_ns;
    bool failed;
};

/* Ends the advice under way; without a text there is none. */
static void finish(struct advice *a, const char *code, const char *documentation)
{
    struct trace_results *results = a->results;
    if (a->text.len > 0 && !a->failed) {
        double saving_ns = a->saving_ns < a->step_ns ? a->saving_ns : a->step_ns;
        struct recommendation_row row = {
            .code = code,
            .text = arena_strndup(&results->arena, a->text.ptr, a->text.len),
            .evidence = arena_strndup(&results->arena, a->evidence.ptr, a->evidence.len),
            .documentation = documentation,
            .saving_ns = saving_ns >= 1 ? (int64_t)saving_ns : RESULTS_NO_TIME};
        results->recommendations[results->recommendation_count++] = row;
        a->failed = row.text == NULL || row.evidence == NULL;
    }
    a->failed = a->failed || a->text.failed || a->evidence.failed;
    buf_clear(&a->text);
    buf_clear(&a->evidence);
    a->saving_ns = 0;
}

/* A view that searches for a name: the words of it that an address holds as they are. */
static void show_name(struct advice *a, const char *view, const char *name)
{
    buf_printf(&a->evidence, "%s?q=", view);
    if (strncmp(name, "void ", 5) == 0) {
        name += 5;
    }
    for (; isalnum((unsigned char)*name) || *name == '_' || *name == ':' || *name == '.'; name++) {
        buf_putc(&a->evidence, *name);
    }
}

/* Of the average step. */
static double mean_ns(const struct advice *a, enum time_category role)
{
    const struct trace_results *results = a->results;
    double sum_ns = 0;
    if (!results->has_steps) {
        return (double)results->role_ns[role];
    }
    for (size_t i = 0; i < results->step_count; i++) {
        sum_ns += (double)results->steps[i].cost_ns[role];
    }
    return sum_ns / a->steps;
}

static const char *window_of(const struct advice *a)
{
    return a->results->has_steps ? "the step" : "the trace";
}

static void advise_loader(struct advice *a)
{
    double loader_ns = mean_ns(a, TIME_DATALOADER);
    if (loader_ns > LOADER_SHARE * a->step_ns) {
        buf_printf(&a->text,
                   "Loading input takes %.1f%% of %s. More DataLoader workers (num_workers) load "
                   "while the model computes.",
                   100 * loader_ns / a->step_ns, window_of(a));
        buf_puts(&a->evidence, "operators?q=enumerate(Data");
        a->saving_ns = loader_ns;
    }
    finish(a, "dataloader",
           "https://docs.pytorch.org/docs/stable/data.html#single-and-multi-process-data-loading");
}

static void advise_data_parallel(struct advice *a)
{
    if ((a->sel->seen_names & NAME_DP) != 0 && a->results->device_count > 1) {
        buf_puts(&a->text,
                 "DataParallel drives several devices from one process. DistributedDataParallel, "
                 "with a process a device, is faster.");
        show_name(a, "operators", "DataParallel.forward");
    }
    finish(a, "data_parallel",
           "https://docs.pytorch.org/docs/stable/generated/"
           "torch.nn.parallel.DistributedDataParallel.html");
}

/* Capability 3.5 and up. */
static bool knows_nccl(const struct device_properties *device)
{
    bool is_known = (device->has & DEVICE_HAS_COMPUTE_MAJOR) != 0 &&
                    (device->has & DEVICE_HAS_COMPUTE_MINOR) != 0;
    return is_known && (device->compute_major > 3 ||
                        (device->compute_major == 3 && device->compute_minor >= 5));
}

static void advise_nccl(struct advice *a)
{
    const struct trace *trace = a->sel->trace;
    bool is_without = (a->sel->seen_names & NAME_DDP) != 0 &&
                      (a->sel->seen_names & NAME_NCCL) == 0 && !a->results->has_communication;
    for (uint32_t i = 0; is_without && i < trace->device_count && a->text.len == 0; i++) {
        if (knows_nccl(&trace->devices[i])) {
            buf_puts(&a->text, "DistributedDataParallel runs without NCCL. On these devices the "
                               "nccl backend is the fastest one.");
            show_name(a, "operators", "DistributedDataParallel.forward");
        }
    }
    finish(a, "nccl", "https://docs.pytorch.org/docs/stable/distributed.html#which-backend-to-use");
}

/* The kernel that takes most of the time, of those that `is_wanted`. */
static const struct kernel_row *top_kernel(const struct advice *a,
                                           bool (*is_wanted)(const struct advice *a,
                                                             const struct kernel_row *row))
{
    const struct kernel_row *top = NULL;
    for (size_t i = 0; i < a->results->kernel_count; i++) {
        const struct kernel_row *row = &a->results->kernels[i];
        bool is_larger = top == NULL || row->total_ns > top->total_ns;
        top = is_larger && is_wanted(a, row) ? row : top;
    }
    return top;
}

static bool communicates(const struct advice *a, const struct kernel_row *row)
{
    (void)a;
    return row->communication_kind != NULL;
}

static void advise_communication(struct advice *a)
{
    double exposed_ns = mean_ns(a, TIME_COMMUNICATION);
    const struct kernel_row *top = top_kernel(a, communicates);
    if (exposed_ns > COMMUNICATION_SHARE * a->step_ns && top != NULL) {
        buf_printf(&a->text, "Communication that nothing else covers takes %.1f%% of %s. ",
                   100 * exposed_ns / a->step_ns, window_of(a));
        if (a->sel->trace->distributed_world_size > 1) {
            buf_puts(&a->text, "Part of it may be waiting for the slowest rank, which the traces "
                               "of all ranks in one run tell. ");
        }
        buf_puts(&a->text,
                 "Overlapping it with the backward pass, compressing gradients, or accumulating "
                 "them over several batches makes it less; accumulation changes the effective "
                 "batch size, so watch convergence.");
        show_name(a, "kernels", top->name);
        a->saving_ns = exposed_ns;
    }
    finish(a, "communication", "https://docs.pytorch.org/docs/stable/notes/ddp.html");
}

static bool is_low(const struct device_row *device)
{
    return device->utilisation < UTILISATION_LOW; /* false for an unknown one */
}

static void list_low_devices(struct advice *a)
{
    size_t low = 0;
    double sum = 0;
    for (size_t i = 0; i < a->results->device_count; i++) {
        const struct device_row *device = &a->results->devices[i];
        if (!is_low(device)) {
            continue;
        }
        if (low > 0) {
            buf_puts(&a->text, ", ");
        } else {
            buf_printf(&a->text, "%s ", trace_device_word(a->sel->trace, a->sel->mlu));
        }
        buf_printf(&a->text, "%lld", (long long)device->id);
        sum += device->utilisation;
        low++;
    }
    if (low > 0) {
        buf_printf(&a->text,
                   low == 1 ? " is busy %.1f%% of %s" : " are busy %.1f%% of %s on average",
                   100 * sum / (double)low,
                   a->results->has_steps ? "the steps"
                   : low == 1            ? "its window"
                                         : "their windows");
    }
}

static bool is_of_xla(const struct trace *trace)
{
    return trace->recorded != NULL && trace->recorded->recorder != NULL &&
           strcmp(trace->recorded->recorder, "XLA") == 0;
}

static void advise_larger_work(struct advice *a)
{
    buf_puts(&a->text, "A larger batch gives a device more to do at once (watch convergence); ");
    buf_puts(&a->text, is_of_xla(a->sel->trace) ? "jax.jit around more of the step launches less."
                                                : "CUDA graphs or torch.compile make launches "
                                                  "cheaper.");
}

/* The runtime call in which the host was longest says which of its calls to be rid of. */
static void advise_calls(struct advice *a)
{
    static const char *const todo[] = {
        [HOST_CALL_WAITS] = "It waits for the device or for a copy: .item(), .cpu() and printing "
                            "of tensors call it; copies from pinned memory with non_blocking=True "
                            "do not.",
        [HOST_CALL_ALLOCATES] = "Memory that is allocated before the loop and kept needs no such "
                                "calls: warm up before recording, and keep shapes the same.",
        [HOST_CALL_PREPARES] = "A process does this once: warm up before recording."};
    const struct trace_results *results = a->results;
    int64_t start_ns = INT64_MIN;
    int64_t end_ns = INT64_MAX;
    struct host_call call;
    if (results->has_steps) {
        start_ns = saturating_add(a->sel->zero_ns, results->steps[0].start_ns);
        end_ns = saturating_add(a->sel->zero_ns, results->steps[results->step_count - 1].end_ns);
    }
    a->failed = a->failed || !host_calls_find_longest(a->sel, start_ns, end_ns, &call);
    if (a->failed || call.name == NULL) {
        advise_larger_work(a);
        return;
    }
    buf_printf(&a->text, "The host was in calls of the runtime meanwhile, mostly %s. ", call.name);
    if (call.kind == HOST_CALL_LAUNCHES) {
        advise_larger_work(a);
    } else {
        buf_puts(&a->text, todo[call.kind]);
    }
}

/* Says what the host did most of that time, and what would make it less; nothing where input was
 * loaded, of which advise_loader() has told. */
static void advise_host(struct advice *a, enum time_category most)
{
    if (most == TIME_DATALOADER) {
        buf_clear(&a->text);
        return;
    }
    buf_puts(&a->text, ". ");
    if (most == TIME_RUNTIME) {
        advise_calls(a);
    } else if (most == TIME_OTHER && a->sel->class_count[INDEX_FUNCTION] > 0) {
        buf_puts(&a->text, "The host ran Python meanwhile: torch.compile, CUDA graphs, or "
                           "preparing the next step earlier take it out of the loop.");
    } else if (most == TIME_OTHER) {
        buf_puts(&a->text, "Nothing was recorded on the host meanwhile");
        buf_puts(&a->text,
                 a->sel->trace->recorded == NULL ? ": with_stack=True shows what it did." : ".");
    } else {
        buf_puts(&a->text, "The host ran operators and Python meanwhile. ");
        advise_larger_work(a);
    }
}

/* Without host events nobody knows what a device waits for. */
static void advise_utilisation(struct advice *a)
{
    static const enum time_category host[] = {TIME_RUNTIME, TIME_DATALOADER, TIME_CPU_EXEC,
                                              TIME_OTHER};
    if (a->sel->lists[LIST_HOST].count > 0) {
        list_low_devices(a);
    }
    if (a->text.len > 0) {
        enum time_category most = host[0];
        double idle_ns = 0;
        for (size_t i = 0; i < sizeof host / sizeof *host; i++) {
            idle_ns += mean_ns(a, host[i]);
            most = mean_ns(a, host[i]) > mean_ns(a, most) ? host[i] : most;
        }
        advise_host(a, most);
        buf_puts(&a->evidence, "idle");
        a->saving_ns = idle_ns;
    }
    finish(a, "utilisation",
           "https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html");
}

/* ---- matrix units ---- */

/* Kernels that do what matrix units are for. */
static bool multiplies(const struct kernel_row *row)
{
    return row->class != NULL &&
           (strcmp(row->class, "gemm") == 0 || strcmp(row->class, "conv") == 0);
}

static bool misses_matrix_units(const struct advice *a, const struct kernel_row *row)
{
    bool none_used = a->results->tensor_pie_used <= 0;
    bool is_without = row->matrix_unit == MATRIX_UNIT_UNUSED ||
                      (none_used && row->matrix_unit == MATRIX_UNIT_UNKNOWN);
    return is_without && multiplies(row);
}

static bool has_matrix_units(const struct trace *trace)
{
    return trace->device_count > 0 && (trace->devices[0].has & DEVICE_HAS_COMPUTE_MAJOR) != 0 &&
           trace->devices[0].compute_major >= MATRIX_UNIT_MAJOR;
}

static void advise_matrix_units(struct advice *a)
{
    const struct kernel_row *top = top_kernel(a, misses_matrix_units);
    double without_ns = 0;
    for (size_t i = 0; i < a->results->kernel_count; i++) {
        const struct kernel_row *row = &a->results->kernels[i];
        without_ns += misses_matrix_units(a, row) ? (double)row->total_ns / a->steps : 0;
    }
    if (top != NULL && without_ns >= MATRIX_SHARE * a->step_ns && has_matrix_units(a->sel->trace)) {
        buf_printf(&a->text,
                   "Matrix products and convolutions without %s take %.1f%% of the time of %s. "
                   "Automatic mixed precision (torch.autocast) lets them use these units.",
                   results_matrix_units(a->results), 100 * without_ns / a->step_ns, window_of(a));
        show_name(a, "kernels", top->name);
        a->saving_ns = without_ns - without_ns / MATRIX_SPEEDUP;
    }
    finish(a, "tensor_cores", "https://docs.pytorch.org/docs/stable/amp.html");
}

static bool advise_memory(struct advice *a)
{
    static const uint32_t training = NAME_OPTIMIZER | NAME_BACKWARD_ROOT | NAME_ACCUMULATE_GRAD;
    bool trains = (a->sel->seen_names & training) != 0;
    struct memory_peak peak;
    if (!memory_peaks_find_full(a->sel, MEMORY_FULL, &peak)) {
        return false;
    }
    if (peak.capacity_bytes > 0) {
        buf_printf(&a->text,
                   "Memory is nearly full: %.1f%% of %.1f GiB on device %lld at the peak. ",
                   100 * peak.allocated_bytes / peak.capacity_bytes, peak.capacity_bytes / GIB,
                   (long long)peak.device);
        buf_puts(&a->text, trains ? "Checkpointing activations or automatic mixed precision makes "
                                    "room for larger batches."
                                  : "Lower precision of weights or cache makes room; a serving "
                                    "engine takes a set share at its start, as vLLM does by "
                                    "gpu_memory_utilization.");
        buf_puts(&a->evidence, "memory");
    }
    finish(a, "memory",
           trains ? "https://docs.pytorch.org/docs/stable/checkpoint.html"
                  : "https://docs.pytorch.org/docs/stable/notes/cuda.html#memory-management");
    return true;
}

static double average_step_ns(const struct trace_results *results)
{
    double sum_ns = 0;
    for (size_t i = 0; i < results->step_count; i++) {
        sum_ns += (double)(results->steps[i].end_ns - results->steps[i].start_ns);
    }
    return results->has_steps ? sum_ns / (double)results->step_count : (double)results->duration_ns;
}

bool advice_run(struct trace_results *results, struct event_classes *sel)
{
    struct advice a = {.results = results,
                       .sel = sel,
                       .step_ns = average_step_ns(results),
                       .steps = results->has_steps ? (double)results->step_count : 1};
    results->recommendations =
        arena_calloc(&results->arena, ADVICE_MAX, sizeof *results->recommendations);
    if (results->recommendations == NULL) {
        return false;
    }
    buf_init(&a.text, TEXT_MAX_BYTES);
    buf_init(&a.evidence, TEXT_MAX_BYTES);
    advise_loader(&a);
    advise_data_parallel(&a);
    advise_nccl(&a);
    advise_communication(&a);
    advise_utilisation(&a);
    advise_matrix_units(&a);
    bool ok = advise_memory(&a) && !a.failed;
    buf_free(&a.text);
    buf_free(&a.evidence);
    return ok;
}

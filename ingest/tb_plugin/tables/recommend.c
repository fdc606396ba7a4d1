#include "ingest/tb_plugin/tables/recommend.h"

#include "ingest/analysis/overview/memory_peaks.h"
#include "ingest/base/containers/id_map.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/saturating.h"
#include "ingest/base/text/buf.h"
#include "ingest/base/text/num.h"

#define RECOMMENDATIONS_MAX 7
#define TEXT_MAX_BYTES ((size_t)4096)
#define GIB 1073741824.0

#define LOADER_SHARE 0.05
#define COMMUNICATION_SHARE 0.1
#define UTILISATION_LOW 0.5
#define MEMORY_FULL 0.9
#define TENSOR_CORE_MAJOR 7

struct advice {
    struct trace_results *results;
    const struct event_classes *sel;
    const struct kernels *kernels;
    const struct launched_time *launched;
    struct buf text; /* of the recommendation at work */
};

/* Average time of a role as a share of the average step. */
static double share_of(const struct trace_results *results, enum time_category role)
{
    double count = (double)results->step_count;
    int64_t cost_ns = 0;
    int64_t total_ns = 0;
    for (size_t i = 0; i < results->step_count; i++) {
        const struct step_row *step = &results->steps[i];
        cost_ns = saturating_add(cost_ns, step->cost_ns[role]);
        total_ns = saturating_add(total_ns, saturating_sub(step->end_ns, step->start_ns));
    }
    bool has_time = !results->steps_undefined && total_ns != 0;
    return has_time ? (ns_to_us(cost_ns) / count) / (ns_to_us(total_ns) / count) : 0.0;
}

static void advise_loader(struct advice *a)
{
    double share = share_of(a->results, TIME_DATALOADER);
    if (share > LOADER_SHARE) {
        buf_printf(
            &a->text,
            "Loading input takes %.1f%% of the step time. More DataLoader workers (num_workers) "
            "load while the model computes.",
            100 * share);
    }
}

/* Processes of device events stand for devices [TB-4a] [TB-9b]. */
static bool count_used_devices(const struct event_classes *sel, uint32_t *count)
{
    const struct trace *trace = sel->trace;
    bool *is_used = scratch_calloc(trace->track_count, sizeof *is_used);
    struct id_map pids;
    id_map_init(&pids);
    bool ok = is_used != NULL;
    const struct events_in_time work = sel->lists[LIST_DEVICE];
    for (uint32_t i = 0; ok && i < work.count; i++) {
        is_used[trace_event_track(&trace->events, work.items[i])] = true;
    }
    for (uint32_t i = 0; ok && i < trace->track_count; i++) {
        int64_t pid = (int64_t)trace->tracks[i].pid_text * 2 + trace->tracks[i].pid_is_text;
        ok = !is_used[i] || id_map_add(&pids, pid) != NULL;
    }
    *count = pids.count;
    id_map_free(&pids);
    scratch_free(is_used);
    return ok;
}

static bool advise_data_parallel(struct advice *a)
{
    uint32_t used = 0;
    if ((a->sel->seen_names & NAME_DP) == 0) {
        return true;
    }
    if (!count_used_devices(a->sel, &used)) {
        return false;
    }
    if (used > 1) {
        buf_puts(
            &a->text,
            "DataParallel drives several devices from one process. DistributedDataParallel, with a "
            "process a device, is faster.");
    }
    return true;
}

/* Capability major.minor, read as a decimal number, is at least 3.5 [TB-9c]. */
static bool knows_nccl(const struct device_properties *device)
{
    bool is_known = (device->has & DEVICE_HAS_COMPUTE_MAJOR) != 0 &&
                    (device->has & DEVICE_HAS_COMPUTE_MINOR) != 0;
    int64_t tenths = device->compute_minor;
    while (tenths >= 10) {
        tenths /= 10;
    }
    return is_known && (device->compute_major > 3 || (device->compute_major == 3 && tenths >= 5));
}

static void advise_nccl(struct advice *a)
{
    const struct trace *trace = a->sel->trace;
    if ((a->sel->seen_names & NAME_DDP) == 0 || (a->sel->seen_names & NAME_NCCL) != 0) {
        return;
    }
    for (uint32_t i = 0; i < trace->device_count; i++) {
        if (knows_nccl(&trace->devices[i])) {
            buf_puts(&a->text, "DistributedDataParallel runs without NCCL. On these devices the "
                               "nccl backend is the "
                               "fastest one.");
            return;
        }
    }
}

static void advise_communication(struct advice *a)
{
    double share = share_of(a->results, TIME_COMMUNICATION);
    if (share > COMMUNICATION_SHARE) {
        buf_printf(
            &a->text,
            "Communication takes %.1f%% of the step time. Compressing gradients, accumulating them "
            "over several batches, or larger batches make it less; accumulation changes the "
            "effective batch size, so watch convergence.",
            100 * share);
    }
}

/* The last id is joined with "and " and no space before it: `0and 1` [TB-9e]. The verb follows the
 * length of the list's text. */
static void advise_utilisation(struct advice *a)
{
    uint32_t low_count = 0;
    uint32_t seen = 0;
    struct buf ids;
    for (size_t i = 0; i < a->results->device_count; i++) {
        low_count += a->results->devices[i].utilisation < UTILISATION_LOW;
    }
    if (low_count == 0) {
        return;
    }
    buf_init(&ids, TEXT_MAX_BYTES);
    for (size_t i = 0; i < a->results->device_count; i++) {
        const struct device_row *device = &a->results->devices[i];
        if (!(device->utilisation < UTILISATION_LOW)) {
            continue;
        }
        bool is_last = ++seen == low_count;
        const char *separator = seen == 1 ? "" : is_last ? "and " : ", ";
        buf_printf(&ids, "%s%lld", separator, (long long)device->id);
    }
    buf_printf(
        &a->text,
        "%s %s %s low utilisation. A larger batch gives the device more to do at once; watch "
        "convergence.",
        a->sel->mlu ? "MLU" : "GPU", ids.ptr, ids.len == 1 ? "has" : "have");
    a->text.failed = a->text.failed || ids.failed;
    buf_free(&ids);
}

static bool has_tc_time(const struct trace_results *results)
{
    for (size_t i = 0; i < results->kernel_count; i++) {
        if (results->kernels[i].tensor_used && results->kernels[i].total_ns > 0) {
            return true;
        }
    }
    return false;
}

static void advise_tensor_cores(struct advice *a)
{
    const struct trace *trace = a->sel->trace;
    bool is_capable = trace->device_count > 0 &&
                      (trace->devices[0].has & DEVICE_HAS_COMPUTE_MAJOR) != 0 &&
                      trace->devices[0].compute_major >= TENSOR_CORE_MAJOR;
    double eligible = (double)a->launched->bottom_eligible;
    double total = (double)a->launched->total;
    if (!is_capable || a->kernels->count == 0 || has_tc_time(a->results) || eligible <= 0 ||
        total <= 0) {
        return;
    }
    buf_printf(&a->text,
               "%.0f%% of the kernel time is launched by operators that could use Tensor Cores, "
               "and none does. "
               "Automatic mixed precision (torch.autocast) lets them.",
               num_round(100 * eligible / total));
}

static bool advise_memory(struct advice *a)
{
    struct memory_peak peak;
    if (!memory_peaks_find_full(a->sel, MEMORY_FULL, &peak)) {
        return false;
    }
    if (peak.capacity_bytes > 0) {
        buf_printf(&a->text,
                   "Memory is nearly full: %.1f%% of %.1fGB on GPU%lld at the peak. Checkpointing "
                   "activations or automatic mixed precision makes room for larger batches.",
                   100 * peak.allocated_bytes / peak.capacity_bytes, peak.capacity_bytes / GIB,
                   (long long)peak.device);
    }
    return true;
}

/* Ends the recommendation at work, when there is one. */
static bool finish(struct advice *a, const char *code)
{
    if (a->text.failed) {
        return false;
    }
    if (a->text.len == 0) {
        return true;
    }
    struct trace_results *results = a->results;
    char *text = arena_strndup(&results->arena, a->text.ptr, a->text.len);
    buf_clear(&a->text);
    results->recommendations[results->recommendation_count++] =
        (struct recommendation_row){.code = code, .text = text, .saving_ns = RESULTS_NO_TIME};
    return text != NULL;
}

bool recommend_run(struct trace_results *results,
                   const struct event_classes *sel,
                   const struct kernels *kernels,
                   const struct launched_time *launched)
{
    struct advice a = {.results = results, .sel = sel, .kernels = kernels, .launched = launched};
    results->recommendations =
        arena_calloc(&results->arena, RECOMMENDATIONS_MAX, sizeof *results->recommendations);
    if (results->recommendations == NULL) {
        return false;
    }
    buf_init(&a.text, TEXT_MAX_BYTES);
    advise_loader(&a);
    bool ok = finish(&a, "dataloader") && advise_data_parallel(&a) && finish(&a, "data_parallel");
    advise_nccl(&a);
    ok = ok && finish(&a, "nccl");
    advise_communication(&a);
    ok = ok && finish(&a, "communication");
    advise_utilisation(&a);
    ok = ok && finish(&a, "utilisation");
    advise_tensor_cores(&a);
    ok = ok && finish(&a, "tensor_cores") && advise_memory(&a) && finish(&a, "memory");
    buf_free(&a.text);
    return ok;
}

#include "ingest/formats/memory_snapshot/snapshot.h"

#include "ingest/base/memory/scratch.h"
#include "ingest/base/saturating.h"
#include "ingest/base/text/buf.h"
#include "ingest/base/text/json_write.h"
#include "ingest/formats/memory_snapshot/build.h"
#include "ingest/formats/memory_snapshot/pickle.h"
#include "ingest/formats/reader.h"
#include "ingest/formats/whole.h"

#include <stdlib.h>
#include <string.h>

#define NS_PER_US 1000
#define CUDA_RECORD "torch.cuda.memory._record_memory_history("
#define NPU_RECORD "torch_npu.npu.memory._record_memory_history("

bool memory_snapshot_recognises(const char *window, size_t len)
{
    return len >= 2 && (unsigned char)window[0] == 0x80 && window[1] >= 2 && window[1] <= 5;
}

/* ---- loading ---- */

/* `trails_at`: the offset of what follows the pickle; WARNING_NO_OFFSET: nothing. */
static bool load_stream(struct text_stream *stream,
                        const struct format_options *options,
                        struct memory_snapshot **out,
                        uint64_t *trails_at,
                        struct err *err)
{
    struct whole whole;
    struct pickle pickle = {.containers = NULL};
    bool ok = whole_read(&whole, stream, options, err) &&
              pickle_read(&pickle, whole.bytes, whole.len, options->memory_budget_bytes, err) &&
              snapshot_build(&pickle, out, err);
    *trails_at = ok && pickle.len < whole.len ? pickle.len : WARNING_NO_OFFSET;
    pickle_free(&pickle);
    whole_free(&whole);
    return ok;
}

bool memory_snapshot_load(struct input *in,
                          const struct format_options *options,
                          struct memory_snapshot **out,
                          struct err *err)
{
    struct text_stream stream;
    uint64_t trails_at;
    return text_stream_open(&stream, in, err) &&
           load_stream(&stream, options, out, &trails_at, err);
}

/* ---- what a list of traces shows ---- */

/* A(0) and R(0) [FMT-4.3]: what was taken before the history begins. */
struct history_start {
    int64_t allocated, reserved;
};

static struct history_start history_start_of(const struct snapshot_device *device)
{
    struct history_start start = {0, 0};
    for (uint32_t i = 0; i < device->block_count; i++) {
        const struct snapshot_block *block = &device->blocks[i];
        bool counts = block->state == SNAPSHOT_ALLOCATED;
        start.allocated = saturating_add(start.allocated, counts ? block->requested_size : 0);
    }
    for (uint32_t i = 0; i < device->segment_count; i++) {
        start.reserved = saturating_add(start.reserved, device->segments[i].total_size);
    }
    for (uint32_t i = device->event_count; i-- > 0;) {
        start.allocated = snapshot_allocated_before(&device->events[i], start.allocated);
        start.reserved = snapshot_reserved_before(&device->events[i], start.reserved);
    }
    return start;
}

/* What the history lacks, and how to record it [FMT-4.5e]. */
static bool find_missing(const struct memory_snapshot *snapshot, struct trace_results *results)
{
    const bool is_npu = snapshot->is_npu;
    const struct missing_row no_history = {
        .view = "memory",
        .reason = "The snapshot has no events: only what is there at the end can be shown.",
        .record = is_npu ? NPU_RECORD "max_entries=...)" : CUDA_RECORD "max_entries=...)"};
    const struct missing_row no_frames = {
        .view = "call_stacks",
        .reason = "No block says which source line took it.",
        .record = is_npu ? NPU_RECORD "context='all', stacks='python')"
                         : CUDA_RECORD "context='all', stacks='python')"};
    const struct missing_row is_late = {
        .view = "history",
        .reason = "The history begins late: what was taken before it has no event.",
        .record = is_npu ? NPU_RECORD ") before the model is built"
                         : CUDA_RECORD ") before the model is built"};
    bool has_events = false;
    bool has_frames = false;
    bool begins_late = false;
    for (size_t i = 0; i < snapshot->device_count; i++) {
        const struct snapshot_device *device = &snapshot->devices[i];
        has_events = has_events || device->event_count > 0;
        begins_late =
            begins_late || (device->event_count > 0 && history_start_of(device).allocated > 0);
        for (uint32_t e = 0; !has_frames && e < device->event_count; e++) {
            has_frames = device->events[e].frame != SNAPSHOT_NO_FRAMES;
        }
        for (uint32_t b = 0; !has_frames && b < device->block_count; b++) {
            has_frames = device->blocks[b].frame != SNAPSHOT_NO_FRAMES;
        }
    }
    results->missing = arena_calloc(&results->arena, 3, sizeof *results->missing);
    if (results->missing == NULL) {
        return false;
    }
    if (!has_events) {
        results->missing[results->missing_count++] = no_history;
    }
    if (begins_late) {
        results->missing[results->missing_count++] = is_late;
    }
    if (!has_frames) {
        results->missing[results->missing_count++] = no_frames;
    }
    return true;
}

static bool
make_results(const struct memory_snapshot *snapshot, struct trace_results **out, struct err *err)
{
    struct trace_results *results = results_create();
    bool ok = results != NULL && find_missing(snapshot, results);
    *out = results;
    if (!ok) {
        return err_set(err, ERR_NO_MEMORY, "no memory for the results of a memory snapshot");
    }
    results->device_type = snapshot->is_npu ? "NPU" : "GPU";
    results->views = 1U << VIEW_SNAPSHOT;
    results->start_ns = saturating_mul(snapshot->start_us, NS_PER_US);
    results->duration_ns =
        saturating_mul(saturating_sub(snapshot->end_us, snapshot->start_us), NS_PER_US);
    for (size_t i = 0; i < snapshot->device_count; i++) {
        results->event_count += snapshot->devices[i].event_count;
        /* Below 0 the history does not lead to what is there at the end. */
        const struct history_start start = history_start_of(&snapshot->devices[i]);
        if (start.allocated < 0 || start.reserved < 0) {
            warning_add(&results->warnings, WARN_HISTORY, WARNING_NO_OFFSET);
        }
    }
    return true;
}

bool memory_snapshot_read(struct text_stream *stream,
                          const struct format_options *options,
                          struct format_bundle *bundle,
                          struct err *err)
{
    struct memory_snapshot *snapshot = NULL;
    uint64_t trails_at;
    struct format_item item = {.worker = NULL};
    bool ok = load_stream(stream, options, &snapshot, &trails_at, err) &&
              make_results(snapshot, &item.results, err);
    memory_snapshot_destroy(snapshot);
    if (ok && trails_at != WARNING_NO_OFFSET) {
        warning_add(&item.results->warnings, WARN_TRAILING, trails_at);
    }
    if (!ok) {
        results_destroy(item.results);
        return false;
    }
    return format_bundle_one(bundle, item, err);
}

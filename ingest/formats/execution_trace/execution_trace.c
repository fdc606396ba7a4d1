#include "ingest/formats/execution_trace/execution_trace.h"

#include "ingest/formats/execution_trace/chakra.h"
#include "ingest/formats/execution_trace/json.h"
#include "ingest/formats/reader.h"
#include "ingest/formats/whole.h"

#include <string.h>

bool execution_trace_recognises(const char *window, size_t len)
{
    return observer_json_recognises(window, len) || chakra_json_recognises(window, len) ||
           chakra_recognises(window, len);
}

static bool load_stream(struct text_stream *stream,
                        const struct format_options *options,
                        struct execution_trace **out,
                        struct err *err)
{
    struct whole whole;
    struct execution_build build = {.trace = NULL};
    bool ok = whole_read(&whole, stream, options, err) &&
              execution_build_init(&build, options->memory_budget_bytes, err);
    if (ok) {
        ok = observer_json_recognises(whole.bytes, whole.len)
                 ? observer_json_read(&build, &whole, err)
             : chakra_json_recognises(whole.bytes, whole.len)
                 ? chakra_json_read(&build, &whole, err)
                 : chakra_read(&build, &whole, err);
        if (ok) {
            ok = execution_build_end(&build, out, err);
        } else {
            execution_trace_destroy(build.trace);
        }
    }
    whole_free(&whole);
    return ok;
}

bool execution_trace_load(struct input *in,
                          const struct format_options *options,
                          struct execution_trace **out,
                          struct err *err)
{
    struct text_stream stream;
    if (!text_stream_open(&stream, in, err)) {
        return false;
    }
    text_stream_skip_mark(&stream);
    return load_stream(&stream, options, out, err);
}

/* ---- what a list of traces shows ---- */

/* Of the makers' words for the devices of its tensors. */
static const char *device_type(const struct execution_trace *trace)
{
    const char *type = "CPU";
    for (uint32_t i = 0; i < trace->tensor_count; i++) {
        const char *device = strtab_text(trace->texts, trace->tensors[i].device);
        if (device != NULL && strncmp(device, "npu", 3) == 0) {
            return "NPU";
        }
        if (device != NULL && (strncmp(device, "cuda", 4) == 0 || strncmp(device, "hip", 3) == 0)) {
            type = "GPU";
        }
    }
    return type;
}

static bool has_record_ids(const struct execution_trace *trace)
{
    bool has = false;
    for (uint32_t i = 0; !has && i < trace->node_count; i++) {
        has = trace->nodes[i].record_id != 0;
    }
    return has;
}

static bool
make_results(const struct execution_trace *trace, struct trace_results **out, struct err *err)
{
    static const struct missing_row no_ids = {
        .view = "tensors",
        .reason = "No node says which call of the profiler's trace it is.",
        .record = "torch.profiler.profile(execution_trace_observer=...) records both at once"};
    struct trace_results *results = results_create();
    *out = results;
    if (results == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for the results of an execution trace");
    }
    results->device_type = device_type(trace);
    results->views = 1U << VIEW_EXECUTION;
    results->event_count = trace->node_count;
    if (!has_record_ids(trace)) {
        results->missing = arena_calloc(&results->arena, 1, sizeof *results->missing);
        if (results->missing == NULL) {
            return err_set(err, ERR_NO_MEMORY, "no memory for the results of an execution trace");
        }
        results->missing[results->missing_count++] = no_ids;
    }
    if (trace->is_cut) {
        warning_add(&results->warnings, WARN_TRUNCATED, trace->cut_offset);
    }
    if (trace->skipped > 0) {
        warning_add(&results->warnings, WARN_DAMAGED_EVENT, WARNING_NO_OFFSET);
    }
    return true;
}

bool execution_trace_read(struct text_stream *stream,
                          const struct format_options *options,
                          struct format_bundle *bundle,
                          struct err *err)
{
    struct execution_trace *trace = NULL;
    struct format_item item = {.worker = NULL};
    bool ok = load_stream(stream, options, &trace, err) && make_results(trace, &item.results, err);
    execution_trace_destroy(trace);
    if (!ok) {
        results_destroy(item.results);
        return false;
    }
    return format_bundle_one(bundle, item, err);
}

#include "ingest/formats/format.h"

#include "ingest/base/text/affix.h"
#include "ingest/formats/chrome_json/reader.h"
#include "ingest/formats/chrome_json/recorders/ascend.h"
#include "ingest/formats/comparison_report/csv.h"
#include "ingest/formats/comparison_report/report.h"
#include "ingest/formats/database/recordings.h"
#include "ingest/formats/event_log/recorder.h"
#include "ingest/formats/execution_trace/execution_trace.h"
#include "ingest/formats/json/text_stream.h"
#include "ingest/formats/json/walk.h"
#include "ingest/formats/memory_snapshot/snapshot.h"
#include "ingest/formats/memory_timeline/memory_timeline.h"
#include "ingest/formats/nsight/kernel_text_table.h"
#include "ingest/formats/nsight/ncu_csv.h"
#include "ingest/formats/nsight/nsys_csv.h"
#include "ingest/formats/operations/operations_csv.h"
#include "ingest/formats/perf_data/counters_csv.h"
#include "ingest/formats/perf_data/perf_data.h"
#include "ingest/formats/protobuf/perfetto.h"
#include "ingest/formats/protobuf/xplane.h"
#include "ingest/formats/reader.h"
#include "ingest/formats/rocprof/rocprof_json.h"
#include "ingest/formats/sampled_stacks/collapsed.h"
#include "ingest/formats/sampled_stacks/proton.h"
#include "ingest/formats/sampled_stacks/speedscope.h"
#include "ingest/formats/sniff.h"
#include "ingest/formats/tb_plugin/json.h"

#include <stdlib.h>
#include <string.h>

/* At least SNIFF_BYTES, if the input has so many. */
static bool fill_first_window(struct text_stream *stream, struct err *err)
{
    while (!stream->ended && stream->end - stream->at < SNIFF_BYTES) {
        if (!text_stream_more(stream, err)) {
            return false;
        }
    }
    return true;
}

static bool skip_to_json(struct text_stream *stream, struct err *err)
{
    size_t len = (size_t)(stream->end - stream->at);
    size_t first = len < SNIFF_BYTES ? len : SNIFF_BYTES;
    const char *what = sniff_describe(stream->at, first);
    if (what != NULL && !sniff_names_trace(stream->at, first)) {
        return err_set_at(err, ERR_UNSUPPORTED, text_stream_offset(stream, stream->at),
                          len == 0 ? "the file is %s" : "Not a trace file: looks like %s", what);
    }
    while (json_is_space(*stream->at)) {
        stream->at++;
    }
    return true;
}

static void free_item(struct format_item *item)
{
    event_recorder_destroy(item->recorder);
    free(item->worker);
    free(item->part);
    trace_destroy(item->model);
    kernel_table_destroy(item->kernel_table);
    results_destroy(item->results);
}

bool format_bundle_one(struct format_bundle *bundle, struct format_item item, struct err *err)
{
    *bundle = (struct format_bundle){.items = calloc(1, sizeof item), .item_count = 1};
    if (bundle->items == NULL) {
        bundle->item_count = 0;
        free_item(&item);
        return err_set(err, ERR_NO_MEMORY, "no memory for a trace");
    }
    bundle->items[0] = item;
    return true;
}

static bool read_plugin_json(struct text_stream *stream,
                             const struct format_options *options,
                             struct format_bundle *bundle,
                             struct err *err)
{
    (void)options; /* it has bounds of its own */
    return plugin_json_read(stream, bundle, err);
}

static bool read_chrome_trace(struct text_stream *stream,
                              const struct format_options *options,
                              struct format_bundle *bundle,
                              struct err *err)
{
    struct format_item item = {.worker = NULL};
    return skip_to_json(stream, err) &&
           kineto_read(stream, options, &item.model, &item.recorder, err) &&
           format_bundle_one(bundle, item, err);
}

/* The first that recognises the input reads it. */
static const struct format_reader readers[] = {
    {"memory-snapshot",
     {".pickle", ".pkl"},
     memory_snapshot_recognises,
     .read = memory_snapshot_read},
    {"memory-timeline", {".raw"}, memory_timeline_recognises, .read_whole = memory_timeline_read},
    /* It names the format itself. */
    {"database", {".sqlite", ".db", ".rpd"}, recordings_recognise, .read = recordings_read},
    {"rocprofv3-json", {".json"}, rocprof_json_recognises, .read = rocprof_json_read},
    {"speedscope", {".speedscope"}, speedscope_recognises, .read_whole = speedscope_read},
    {"proton", {".hatchet"}, proton_recognises, .read_whole = proton_read},
    {"xplane", {".pb"}, xplane_recognises, .read_whole = xplane_read},
    {"perfetto", {".pftrace", ".perfetto-trace"}, perfetto_recognises, .read_whole = perfetto_read},
    {"execution-trace", {".et"}, execution_trace_recognises, .read = execution_trace_read},
    {"kernel-table", {NULL}, kernel_text_table_recognises, .read = kernel_text_table_read},
    {"ncu-csv", {".csv"}, ncu_csv_recognises, .read = ncu_csv_read},
    {"nsys-csv", {".csv"}, nsys_csv_recognises, .read = nsys_csv_read},
    {"plugin-json", {".json"}, sniff_is_uploaded_answer, .read = read_plugin_json},
    {"perf-data", {".csv"}, perf_data_recognises, .read = perf_data_read},
    {"counters", {".csv"}, counters_csv_recognises, .read = counters_csv_read},
    {"operations", {".csv"}, operations_csv_recognises, .read = operations_csv_read},
    {"comparison-report", {NULL}, comparison_report_recognises, .read = comparison_report_read},
    {"comparison-report", {".csv"}, report_csv_recognises, .read = report_csv_read},
    {"collapsed-stacks",
     {".folded", ".collapsed"},
     collapsed_recognises,
     .read_whole = collapsed_read},
};

/* Takes all the rest, and says what it is if it is no trace. */
static const struct format_reader chrome_trace = {
    .format = "chrome-trace", .endings = {".json"}, .read = read_chrome_trace};

/* The files of input/archive, which hold files of the formats. */
static const struct format_reader archives = {.endings = {".tar", ".tgz", ".zip"}};

static bool ends_as(const char *name, size_t len, const struct format_reader *reader)
{
    for (size_t i = 0; i < sizeof reader->endings / sizeof reader->endings[0]; i++) {
        if (reader->endings[i] != NULL && text_ends_within(name, len, reader->endings[i])) {
            return true;
        }
    }
    return false;
}

bool format_has_name(const char *file_name)
{
    size_t len = strlen(file_name);
    len -= text_ends_within(file_name, len, ".gz")    ? strlen(".gz")
           : text_ends_within(file_name, len, ".zst") ? strlen(".zst")
                                                      : 0;
    bool found = ends_as(file_name, len, &chrome_trace) || ends_as(file_name, len, &archives);
    for (size_t i = 0; !found && i < sizeof readers / sizeof readers[0]; i++) {
        found = ends_as(file_name, len, &readers[i]);
    }
    return found;
}

/* Most uploads are: one key tells, where other readers look at all of the window. */
static bool is_chrome_trace(const char *window, size_t len)
{
    struct json_walk walk = {.at = window, .end = window + len};
    struct json_value key;
    bool goes_on = json_walk_enter(&walk, '{');
    while (goes_on && json_walk_key(&walk, &key)) {
        if (json_walk_text_is(&key, "traceEvents")) {
            return json_walk_is(&walk, '[');
        }
        goes_on = json_walk_skip(&walk);
    }
    return false;
}

static const struct format_reader *find_reader(const struct text_stream *stream)
{
    size_t len = (size_t)(stream->end - stream->at);
    if (is_chrome_trace(stream->at, len)) {
        return &chrome_trace;
    }
    for (size_t i = 0; i < sizeof readers / sizeof readers[0]; i++) {
        if (readers[i].recognises(stream->at, len)) {
            return &readers[i];
        }
    }
    return &chrome_trace;
}

/* Chrome traces of another recorder, which only their end may tell. */
static void name_variant(struct format_bundle *bundle)
{
    const struct trace *trace = bundle->items[0].model;
    bool is_ascend = trace != NULL && trace->recorded != NULL &&
                     trace->recorded->recorder != NULL &&
                     strcmp(trace->recorded->recorder, ASCEND_RECORDER) == 0;
    if (is_ascend && strcmp(bundle->format, chrome_trace.format) == 0) {
        bundle->format = "ascend-pytorch";
    }
}

bool format_read(struct input *in,
                 const struct format_options *options,
                 struct format_bundle *bundle,
                 struct err *err)
{
    static const struct format_options no_options = {.events = NULL};
    struct text_stream stream;
    *bundle = (struct format_bundle){.format = NULL};
    if (!text_stream_open(&stream, in, err) || !fill_first_window(&stream, err)) {
        return false;
    }
    text_stream_skip_mark(&stream);
    const struct format_reader *reader = find_reader(&stream);
    options = options == NULL ? &no_options : options;
    if (reader->read_whole != NULL
            ? !whole_read_trace(&stream, options, bundle, reader->read_whole, err)
            : !reader->read(&stream, options, bundle, err)) {
        return false;
    }
    bundle->format = bundle->format == NULL ? reader->format : bundle->format;
    name_variant(bundle);
    return true;
}

bool format_item_end_events(struct format_item *item, struct err *err)
{
    bool ok = item->recorder == NULL || event_recorder_wait(item->recorder, err);
    event_recorder_destroy(item->recorder);
    item->recorder = NULL;
    return ok;
}

static void free_items(struct format_bundle *bundle)
{
    for (size_t i = 0; i < bundle->item_count; i++) {
        free_item(&bundle->items[i]);
    }
    free(bundle->items);
    bundle->items = NULL;
    bundle->item_count = 0;
}

bool format_bundle_next(struct format_bundle *bundle,
                        const struct format_options *options,
                        bool *ended,
                        struct err *err)
{
    static const struct format_item none = {.worker = NULL};
    struct format_rest *rest = bundle->rest;
    const char *format = bundle->format;
    *ended = rest == NULL;
    if (*ended) {
        return true;
    }
    free_items(bundle);
    bool ok = format_bundle_one(bundle, none, err);
    bundle->rest = rest;
    bundle->format = format;
    return ok && rest->next(rest, options, bundle->items, ended, err);
}

void format_bundle_free(struct format_bundle *bundle)
{
    free_items(bundle);
    if (bundle->rest != NULL) {
        bundle->rest->free(bundle->rest);
    }
    *bundle = (struct format_bundle){.format = NULL};
}

bool format_read_stream(const struct input_stream *stream,
                        const struct format_options *options,
                        struct format_bundle *bundle,
                        struct err *err)
{
    struct input *in = NULL;
    if (!input_open_stream(&in, stream, err)) {
        return false;
    }
    bool ok = format_read(in, options, bundle, err);
    input_close(in);
    return ok;
}

/* Recognises a format by its content and runs its reader.
 *
 *     input -> format_read -> one bundle item per worker: a model to analyse, or results that
 *                             the file holds */
#ifndef KS_FORMATS_FORMAT_H
#define KS_FORMATS_FORMAT_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/input/input.h"
#include "ingest/model/event_log.h"
#include "ingest/model/results/kernel_table.h"
#include "ingest/model/results/results.h"
#include "ingest/model/trace.h"

#include <stddef.h>

struct event_recorder;
struct format_options;

/* One trace of a file. Exactly one of `model`, `kernel_table` and `results` is set; the bundle owns
 * all of them. */
struct format_item {
    char *worker; /* worker that the file names ("MLU 0"), malloc'ed; NULL: the file name decides */
    char *part;   /* tells it from the other traces of the file, behind the name of the file;
                     malloc'ed; NULL: there are no others */
    struct trace *model;
    struct event_recorder *recorder; /* of the model's log, while it may still be on its way to the
                                        sink; NULL: it is there */
    struct kernel_table *kernel_table;
    struct trace_results *results; /* results in the file: answers of a server, cycles of a
                                      perf-data table, counters, a comparison */
};

/* Traces of a file that are not read yet: a sink of events receives one after the other. */
struct format_rest {
    bool (*next)(struct format_rest *rest,
                 const struct format_options *options,
                 struct format_item *item, /* zeroed; freed with the bundle */
                 bool *ended,
                 struct err *err);
    void (*free)(struct format_rest *rest);
};

struct format_bundle {
    /* Static text: "chrome-trace", "plugin-json", "kernel-table" (name, latency, tensor, DRAM),
     * "ncu-csv", "nsys-csv", "perf-data", "counters", "comparison-report",
     * "operations"; of other recorders "memory-snapshot", "memory-timeline", "nsys-sqlite", "rpd",
     * "rocpd-db", "ascend-db", "rocprofv3-json", "xplane", "perfetto",
     * "ascend-pytorch", "execution-trace"; stacks: "speedscope", "proton", "collapsed-stacks". */
    const char *format;
    struct format_item *items;
    size_t item_count;
    struct format_rest *rest; /* NULL: the items are all */
};

struct format_options {
    size_t memory_budget_bytes; /* limit of the model; 0: none */
    uint64_t max_events;        /* of a Chrome trace; 0: limited only by its columns */
    const struct event_sink
        *events; /* receives all events of a trace while it is read; NULL: none */
    /* Of a Chrome trace: the events of its list, in place of what stands between the brackets.
     * NULL: those that stand there. */
    const struct event_source *stored;
    bool operator_inputs; /* the model keeps what efficiency needs of operators: dims_json and its
                             like of struct op_args */
    /* The last batch and the end of `events` may come after format_read, from another thread, until
     * format_item_end_events returns. */
    bool events_end_later;
};

/* Reads the whole input. `options` may be NULL. Reads damaged input as far as it goes, with
 * warnings in what was read. ERR_UNSUPPORTED: no known format (the message says what it looks
 * like); ERR_BAD_INPUT: a trace without one readable event; ERR_TOO_LARGE: memory budget; ERR_IO,
 * ERR_NO_MEMORY. On false the bundle is empty. */
bool format_read(struct input *in,
                 const struct format_options *options,
                 struct format_bundle *bundle,
                 struct err *err) KS_MUST_USE;
/* Waits until the events of the item are with the sink; call it before what needs them there.
 * False: the sink failed. */
bool format_item_end_events(struct format_item *item, struct err *err) KS_MUST_USE;
/* Puts the next trace of the file in place of the items; *ended: there is none. `options` are those
 * of format_read, and so are the errors. */
bool format_bundle_next(struct format_bundle *bundle,
                        const struct format_options *options,
                        bool *ended,
                        struct err *err) KS_MUST_USE;
void format_bundle_free(struct format_bundle *bundle);

/* Splits a file name into worker and span digits ("" when none) [TB-2a]:
 * worker[.digits].pt.trace.json[.gz]. Any other name is the worker, without .gz/.zst and then
 * without _perf_data.csv, .json, .csv, .txt, .md, .sqlite or .et. Both outputs are malloc'ed
 * copies. False without memory. */
bool format_split_name(const char *file_name, char **worker, char **span_digits) KS_MUST_USE;

/* Whether the name ends as files of a format or archives of such files do, packed or not. */
bool format_has_name(const char *file_name);

/* As format_read, of a stream that it opens and closes. */
bool format_read_stream(const struct input_stream *stream,
                        const struct format_options *options,
                        struct format_bundle *bundle,
                        struct err *err) KS_MUST_USE;

#endif

/* Reads a trace file and prints how fast: MB/s of decompressed text, time an event, the processor
 * time of the parsing thread alone (which a busy machine does not spoil), the ratio to a pass that
 * only takes the windows, the model's size and the peak memory.
 *
 *     bench_reader FILE [rounds] [--log]
 *
 * --log: also makes the lossless log of events, which a sink counts and drops. */
#include "ingest/formats/format.h"
#include "ingest/input/input.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static double now_s(clockid_t clock)
{
    struct timespec now;
    (void)clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

struct figures {
    uint64_t bytes;
    double windows_s; /* a pass that only takes the windows */
    double reader_s;
    double parse_cpu_s; /* of the parsing thread */
};

static bool pass_windows(const char *path, struct figures *figures, struct err *err)
{
    struct input *in;
    const char *window;
    size_t len = 0;
    double begin = now_s(CLOCK_MONOTONIC);
    figures->bytes = 0;
    if (!input_open_file(&in, path, err)) {
        return false;
    }
    bool good;
    do {
        good = input_next(in, 0, &window, &len, err);
        figures->bytes += good ? len : 0;
    } while (good && len > 0);
    input_close(in);
    figures->windows_s = now_s(CLOCK_MONOTONIC) - begin;
    return good;
}

/* What the log of events came to. */
struct log_figures {
    uint64_t events;
    uint64_t values;
    uint32_t templates;
    uint32_t texts;
    size_t text_bytes;
    size_t head_bytes;
};

static bool count_batch(void *context,
                        const struct event_log *log,
                        const struct event_batch *batch,
                        struct err *err)
{
    struct log_figures *figures = context;
    (void)log;
    (void)err;
    figures->events += batch->event_count;
    figures->values += batch->value_count;
    return true;
}

static bool count_log(void *context, const struct event_log *log, struct err *err)
{
    struct log_figures *figures = context;
    (void)err;
    figures->templates = log->template_count;
    figures->texts = strtab_count(log->texts);
    figures->text_bytes = strtab_bytes(log->texts);
    figures->head_bytes = strlen(log->head);
    return true;
}

static bool pass_reader(const char *path,
                        const struct format_options *options,
                        struct format_bundle *bundle,
                        struct figures *figures,
                        struct err *err)
{
    struct input *in;
    double begin = now_s(CLOCK_MONOTONIC);
    double cpu_begin = now_s(CLOCK_THREAD_CPUTIME_ID);
    if (!input_open_file(&in, path, err)) {
        return false;
    }
    bool good = format_read(in, options, bundle, err);
    input_close(in);
    figures->parse_cpu_s = now_s(CLOCK_THREAD_CPUTIME_ID) - cpu_begin;
    figures->reader_s = now_s(CLOCK_MONOTONIC) - begin;
    return good;
}

static void print_warnings(const struct warnings *warnings)
{
    for (int i = 0; i < WARNING_CODE_COUNT; i++) {
        if (warnings->by_code[i].count > 0) {
            printf("  %s: %" PRIu64 ", first at %" PRId64 "\n",
                   warning_code_text((enum warning_code)i), warnings->by_code[i].count,
                   (int64_t)warnings->by_code[i].first_offset);
        }
    }
}

static void print_round(const struct format_bundle *bundle, const struct figures *figures)
{
    const struct trace *trace = bundle->items[0].model;
    double mb = (double)figures->bytes / 1e6;
    if (trace == NULL) {
        printf("%s: %zu items\n", bundle->format, bundle->item_count);
        return;
    }
    double events = trace->events.count;
    printf(
        "%.0f MB, %u events: %.3f s, %.0f MB/s, %.0f ns/event; parsing thread %.3f s, %.0f MB/s; "
        "windows alone %.3f s, ratio %.1f; model %.1f bytes/event\n",
        mb, (unsigned)trace->events.count, figures->reader_s, mb / figures->reader_s,
        figures->reader_s * 1e9 / events, figures->parse_cpu_s, mb / figures->parse_cpu_s,
        figures->windows_s, figures->reader_s / figures->windows_s,
        (double)trace_memory_bytes(trace) / events);
    print_warnings(&trace->warnings);
}

static void print_log(const struct log_figures *figures)
{
    printf("  log: %" PRIu64 " events, %" PRIu64 " values, %u templates, %u texts in %.1f MB, "
           "head of %zu bytes\n",
           figures->events, figures->values, (unsigned)figures->templates, (unsigned)figures->texts,
           (double)figures->text_bytes / 1e6, figures->head_bytes);
}

static bool run_round(const char *path, bool with_log, struct err *err)
{
    struct figures figures;
    struct format_bundle bundle;
    struct log_figures log = {.events = 0};
    const struct event_sink sink = {.context = &log, .take = count_batch, .end = count_log};
    const struct format_options options = {.events = with_log ? &sink : NULL};
    if (!pass_windows(path, &figures, err) ||
        !pass_reader(path, &options, &bundle, &figures, err)) {
        return false;
    }
    print_round(&bundle, &figures);
    if (with_log) {
        print_log(&log);
    }
    format_bundle_free(&bundle);
    return true;
}

int main(int argc, char **argv)
{
    struct err err = ERR_INIT;
    bool with_log = argc > 2 && strcmp(argv[argc - 1], "--log") == 0;
    if (argc < 2) {
        (void)fprintf(stderr, "usage: bench_reader FILE [rounds] [--log]\n");
        return 2;
    }
    long rounds = argc - with_log > 2 ? strtol(argv[2], NULL, 10) : 3;
    for (long i = 0; i < rounds; i++) {
        if (!run_round(argv[1], with_log, &err)) {
            (void)fprintf(stderr, "%s: %s\n", argv[1], err.msg);
            return 1;
        }
    }
    struct rusage usage;
    (void)getrusage(RUSAGE_SELF, &usage);
    printf("peak memory %.1f MB\n", (double)usage.ru_maxrss / 1024);
    return 0;
}

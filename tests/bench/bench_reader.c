/* Reads a trace file and prints how fast: MB/s of decompressed text, time an event, the processor
 * time of the parsing thread alone (which a busy machine does not spoil), the ratio to a pass that
 * only takes the windows, the model's size and the peak memory.
 *
 *     bench_reader FILE [rounds]
 */
#include "ingest/formats/format.h"
#include "ingest/input/input.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
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

static bool pass_reader(const char *path,
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
    bool good = format_read(in, 0, bundle, err);
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

int main(int argc, char **argv)
{
    struct err err = ERR_INIT;
    if (argc < 2) {
        (void)fprintf(stderr, "usage: bench_reader FILE [rounds]\n");
        return 2;
    }
    long rounds = argc > 2 ? strtol(argv[2], NULL, 10) : 3;
    for (long i = 0; i < rounds; i++) {
        struct figures figures;
        struct format_bundle bundle;
        if (!pass_windows(argv[1], &figures, &err) ||
            !pass_reader(argv[1], &bundle, &figures, &err)) {
            (void)fprintf(stderr, "%s: %s\n", argv[1], err.msg);
            return 1;
        }
        print_round(&bundle, &figures);
        format_bundle_free(&bundle);
    }
    struct rusage usage;
    (void)getrusage(RUSAGE_SELF, &usage);
    printf("peak memory %.1f MB\n", (double)usage.ru_maxrss / 1024);
    return 0;
}

#include "ingest/jobs/pipeline.h"

#include "ingest/analysis/analysis.h"
#include "ingest/analysis/cycles.h"
#include "ingest/analysis/kernel_use.h"
#include "ingest/formats/format.h"
#include "ingest/formats/hardware_file.h"
#include "ingest/input/input.h"
#include "ingest/jobs/monotonic.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLE_INTERVAL_MS 50

const char *pipeline_stage_text(enum pipeline_stage stage)
{
    static const char *const texts[] = {[STAGE_QUEUED] = "queued",
                                        [STAGE_READING] = "reading",
                                        [STAGE_ANALYSING] = "analysing",
                                        [STAGE_STORING] = "storing",
                                        [STAGE_DONE] = "done"};
    return texts[stage];
}

static void set_stage(struct pipeline_progress *progress, enum pipeline_stage stage)
{
    if (progress != NULL) {
        atomic_store(&progress->stage, (int)stage);
    }
}

/* ---- progress ---- */

/* Carries the input's own count of bytes into the progress while format_read is busy. */
struct sampler {
    const struct input *in;
    struct pipeline_progress *progress;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t stopped;
    bool stop;
};

static void *sample(void *argument)
{
    struct sampler *sampler = argument;
    (void)pthread_mutex_lock(&sampler->mutex);
    while (!sampler->stop) {
        struct timespec until = monotonic_after(SAMPLE_INTERVAL_MS);
        atomic_store(&sampler->progress->bytes_done, input_bytes_read(sampler->in));
        (void)pthread_cond_timedwait(&sampler->stopped, &sampler->mutex, &until);
    }
    (void)pthread_mutex_unlock(&sampler->mutex);
    return NULL;
}

/* False: there will be no progress, which is no reason to refuse a file. */
static bool
sampler_start(struct sampler *sampler, const struct input *in, struct pipeline_progress *progress)
{
    *sampler = (struct sampler){.in = in, .progress = progress};
    if (progress == NULL || pthread_mutex_init(&sampler->mutex, NULL) != 0) {
        return false;
    }
    if (!monotonic_cond_init(&sampler->stopped)) {
        (void)pthread_mutex_destroy(&sampler->mutex);
        return false;
    }
    if (pthread_create(&sampler->thread, NULL, sample, sampler) != 0) {
        (void)pthread_cond_destroy(&sampler->stopped);
        (void)pthread_mutex_destroy(&sampler->mutex);
        return false;
    }
    return true;
}

static void sampler_stop(struct sampler *sampler)
{
    (void)pthread_mutex_lock(&sampler->mutex);
    sampler->stop = true;
    (void)pthread_cond_signal(&sampler->stopped);
    (void)pthread_mutex_unlock(&sampler->mutex);
    (void)pthread_join(sampler->thread, NULL);
    (void)pthread_cond_destroy(&sampler->stopped);
    (void)pthread_mutex_destroy(&sampler->mutex);
}

/* ---- reading and analysing ---- */

static bool read_bundle(const char *path,
                        uint64_t memory_budget_bytes,
                        struct pipeline_progress *progress,
                        struct format_bundle *bundle,
                        struct err *err)
{
    struct input *in;
    struct sampler sampler;
    size_t budget = memory_budget_bytes > SIZE_MAX ? SIZE_MAX : (size_t)memory_budget_bytes;
    set_stage(progress, STAGE_READING);
    if (!input_open_file(&in, path, err)) {
        return false;
    }
    if (progress != NULL) {
        atomic_store(&progress->bytes_total, input_bytes_total(in));
    }
    bool sampling = sampler_start(&sampler, in, progress);
    bool ok = format_read(in, budget, bundle, err);
    if (sampling) {
        sampler_stop(&sampler);
    }
    if (progress != NULL) {
        atomic_store(&progress->bytes_done, input_bytes_read(in));
    }
    input_close(in);
    return ok;
}

/* Results of one item of the bundle, whose model goes at once: the next one may need the memory. */
static bool analyse_item(const struct cycles_options *cycles,
                         struct format_item *from,
                         struct pipeline_item *to,
                         struct err *err)
{
    bool ok = true;
    if (from->model != NULL) {
        ok = analysis_run(from->model, &to->results, err) &&
             cycles_run(from->model, cycles, to->results, err);
    } else if (from->kernel_table != NULL) {
        ok = kernel_use_run(from->kernel_table, &to->results, err);
    } else {
        to->results = from->results;
        from->results = NULL;
    }
    trace_destroy(from->model);
    kernel_table_destroy(from->kernel_table);
    from->model = NULL;
    from->kernel_table = NULL;
    return ok;
}

static size_t length_without(const char *text, size_t len, const char *suffix)
{
    size_t suffix_len = strlen(suffix);
    bool ends = len >= suffix_len && memcmp(text + len - suffix_len, suffix, suffix_len) == 0;
    return ends ? len - suffix_len : len;
}

/* The kind that the name of a perf-data table gives its cycles: what stands before _perf_data.csv
 * (SPEC_compare 2). Of several words the last one says what the rows are of. */
static enum cycle_kind kind_of_name(const char *file_name)
{
    static const struct {
        const char *suffix;
        enum cycle_kind kind;
    } kinds[] = {{"_prefill", CYCLE_PREFILL}, {"_decode", CYCLE_DECODE}, {"_layer", CYCLE_LAYER}};
    size_t len = strlen(file_name);
    len = length_without(file_name, len, ".gz");
    len = length_without(file_name, len, ".zst");
    size_t job_len = length_without(file_name, len, "_perf_data.csv");
    for (size_t i = 0; job_len < len && i < sizeof kinds / sizeof kinds[0]; i++) {
        if (length_without(file_name, job_len, kinds[i].suffix) < job_len) {
            return kinds[i].kind;
        }
    }
    return CYCLE_STEP;
}

/* Tables of ours tell the kind of each cycle; of those that do not, all are steps. */
static void name_cycles(struct trace_results *results, const char *file_name)
{
    enum cycle_kind kind = kind_of_name(file_name);
    for (size_t i = 0; i < results->cycle_count; i++) {
        if (results->cycles[i].kind != CYCLE_STEP) {
            return;
        }
    }
    for (size_t i = 0; i < results->cycle_count; i++) {
        results->cycles[i].kind = kind;
    }
}

static bool name_item(struct format_item *from,
                      struct pipeline_item *to,
                      const char *file_worker,
                      const char *file_span_digits,
                      struct err *err)
{
    to->worker = from->worker != NULL ? from->worker : strdup(file_worker);
    from->worker = NULL;
    to->span_digits = strdup(file_span_digits);
    return (to->worker != NULL && to->span_digits != NULL) ||
           err_set(err, ERR_NO_MEMORY, "no memory for the names of a trace");
}

static bool analyse(struct format_bundle *bundle,
                    const char *file_name,
                    const struct cycles_options *cycles,
                    struct pipeline_output *output,
                    struct err *err)
{
    char *worker = NULL;
    char *span_digits = NULL;
    if (bundle->item_count == 0) {
        return err_set(err, ERR_BAD_INPUT, "the file holds no trace");
    }
    output->format = bundle->format;
    output->items = calloc(bundle->item_count, sizeof *output->items);
    if (output->items == NULL || !format_split_name(file_name, &worker, &span_digits)) {
        return err_set(err, ERR_NO_MEMORY, "no memory for the results of a trace");
    }
    output->item_count = bundle->item_count;
    bool ok = true;
    for (size_t i = 0; ok && i < bundle->item_count; i++) {
        struct format_item *from = &bundle->items[i];
        struct pipeline_item *to = &output->items[i];
        ok = name_item(from, to, worker, span_digits, err) && analyse_item(cycles, from, to, err);
        if (ok && to->results->cycle_source == CYCLES_TABLE) {
            name_cycles(to->results, file_name);
        }
    }
    free(worker);
    free(span_digits);
    return ok;
}

static bool read_and_analyse(const char *path,
                             const char *file_name,
                             uint64_t memory_budget_bytes,
                             const struct cycles_options *cycles,
                             struct pipeline_progress *progress,
                             struct pipeline_output *output,
                             struct err *err)
{
    struct format_bundle bundle = {0};
    if (!read_bundle(path, memory_budget_bytes, progress, &bundle, err)) {
        return false;
    }
    set_stage(progress, STAGE_ANALYSING);
    bool ok = analyse(&bundle, file_name, cycles, output, err);
    format_bundle_free(&bundle);
    if (!ok) {
        pipeline_output_free(output);
    }
    return ok;
}

bool pipeline_run(const char *path,
                  const char *file_name,
                  const struct pipeline_options *options,
                  struct pipeline_progress *progress,
                  struct pipeline_output *output,
                  struct err *err)
{
    static const struct pipeline_options nothing_special = {0};
    const struct pipeline_options *wanted = options == NULL ? &nothing_special : options;
    struct cycles_options cycles = {.marker = wanted->marker};
    struct hardware hardware;
    *output = (struct pipeline_output){0};
    if (wanted->hardware_path == NULL) {
        return read_and_analyse(path, file_name, wanted->memory_budget_bytes, &cycles, progress,
                                output, err);
    }
    bool ok = hardware_file_read(wanted->hardware_path, &hardware, err);
    if (ok) {
        cycles.hardware = &hardware;
        ok = read_and_analyse(path, file_name, wanted->memory_budget_bytes, &cycles, progress,
                              output, err);
    }
    arena_free(&hardware.arena);
    return ok;
}

void pipeline_output_free(struct pipeline_output *output)
{
    for (size_t i = 0; i < output->item_count; i++) {
        free(output->items[i].worker);
        free(output->items[i].span_digits);
        results_destroy(output->items[i].results);
    }
    free(output->items);
    *output = (struct pipeline_output){0};
}

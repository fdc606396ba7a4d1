#include "ingest/jobs/pipeline.h"

#include "ingest/analysis/analysis.h"
#include "ingest/formats/format.h"
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
static bool analyse_item(struct format_item *from, struct pipeline_item *to, struct err *err)
{
    if (from->model == NULL) {
        to->results = from->results;
        from->results = NULL;
        return true;
    }
    bool ok = analysis_run(from->model, &to->results, err);
    trace_destroy(from->model);
    from->model = NULL;
    return ok;
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
        ok = name_item(from, to, worker, span_digits, err) && analyse_item(from, to, err);
    }
    free(worker);
    free(span_digits);
    return ok;
}

bool pipeline_run(const char *path,
                  const char *file_name,
                  uint64_t memory_budget_bytes,
                  struct pipeline_progress *progress,
                  struct pipeline_output *output,
                  struct err *err)
{
    struct format_bundle bundle = {0};
    *output = (struct pipeline_output){0};
    if (!read_bundle(path, memory_budget_bytes, progress, &bundle, err)) {
        return false;
    }
    set_stage(progress, STAGE_ANALYSING);
    bool ok = analyse(&bundle, file_name, output, err);
    format_bundle_free(&bundle);
    if (!ok) {
        pipeline_output_free(output);
    }
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

/* Copies an input's byte count into a job's progress while another thread reads the input. */
#ifndef KS_JOBS_PIPELINE_SAMPLER_H
#define KS_JOBS_PIPELINE_SAMPLER_H

#include "ingest/input/input.h"
#include "ingest/jobs/pipeline/pipeline.h"

#include <pthread.h>
#include <stdbool.h>

struct sampler {
    const struct input *in;
    struct pipeline_progress *progress;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t stopped;
    bool stop;
    bool runs;
};

/* Starts to copy; does nothing for `progress` NULL. If no thread can be started, progress appears
 * at the end only: that is no reason to refuse a file. The input must outlive the sampler. */
void sampler_start(struct sampler *sampler,
                   const struct input *in,
                   struct pipeline_progress *progress);
/* Stops; the progress keeps the current count. */
void sampler_stop(struct sampler *sampler);

#endif

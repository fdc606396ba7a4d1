/* Carries an input's own count of bytes into a job's progress while others read it. */
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

/* Without resources for a thread there is progress at the end only, which is no reason to refuse a
 * file. `progress` NULL: nothing is done. The input must outlive the sampler. */
void sampler_start(struct sampler *sampler,
                   const struct input *in,
                   struct pipeline_progress *progress);
/* The count as it is now stays in the progress. */
void sampler_stop(struct sampler *sampler);

#endif

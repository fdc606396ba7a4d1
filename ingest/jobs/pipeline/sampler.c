#include "ingest/jobs/pipeline/sampler.h"

#include "ingest/base/monotonic.h"
#include "ingest/base/thread.h"

#define SAMPLE_INTERVAL_MS 50

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

void sampler_start(struct sampler *sampler,
                   const struct input *in,
                   struct pipeline_progress *progress)
{
    *sampler = (struct sampler){.in = in, .progress = progress};
    if (progress == NULL) {
        return;
    }
    atomic_store(&progress->bytes_total, input_bytes_total(in));
    if (pthread_mutex_init(&sampler->mutex, NULL) != 0) {
        return;
    }
    if (!monotonic_cond_init(&sampler->stopped)) {
        (void)pthread_mutex_destroy(&sampler->mutex);
        return;
    }
    sampler->runs = thread_start(&sampler->thread, sample, sampler) == 0;
    if (!sampler->runs) {
        (void)pthread_cond_destroy(&sampler->stopped);
        (void)pthread_mutex_destroy(&sampler->mutex);
    }
}

void sampler_stop(struct sampler *sampler)
{
    if (sampler->runs) {
        (void)pthread_mutex_lock(&sampler->mutex);
        sampler->stop = true;
        (void)pthread_cond_signal(&sampler->stopped);
        (void)pthread_mutex_unlock(&sampler->mutex);
        (void)pthread_join(sampler->thread, NULL);
        (void)pthread_cond_destroy(&sampler->stopped);
        (void)pthread_mutex_destroy(&sampler->mutex);
        sampler->runs = false;
    }
    if (sampler->progress != NULL) {
        atomic_store(&sampler->progress->bytes_done, input_bytes_read(sampler->in));
    }
}

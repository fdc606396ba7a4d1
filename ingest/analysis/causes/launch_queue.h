/* Calls with the device work of their correlation, and the queue that they make on each stream
 * [CAU-2]: a call adds 1 to it, its work takes 1 from it. */
#ifndef KS_ANALYSIS_CAUSES_LAUNCH_QUEUE_H
#define KS_ANALYSIS_CAUSES_LAUNCH_QUEUE_H

#include "ingest/analysis/causes/causes.h"

/* A call with one piece of its work: events, and the number of the work's stream. */
struct launch_pair {
    uint32_t call, work, stream;
};

struct launch_queue {
    struct launch_pair
        *pairs; /* in order of the start of the call, then of the work, then of the file */
    size_t count;
    /* Point 2i is the start of the call of pair i, 2i + 1 that of its work. */
    uint32_t *points; /* stream by stream in order of time; 2 * count of them */
    int64_t *length;  /* of the queue behind each point, by number of the point */
    bool is_too_many; /* so many calls and works share a correlation that pairing them would cost
                         too much: no pair */
};

/* O(n log n). False without memory; must be freed in either case. */
bool launch_queue_build(struct launch_queue *queue, const struct causes *causes) KS_MUST_USE;
void launch_queue_free(struct launch_queue *queue);

static inline uint32_t launch_queue_event(const struct launch_queue *queue, uint32_t point)
{
    const struct launch_pair *pair = &queue->pairs[point / 2];
    return point % 2 == 0 ? pair->call : pair->work;
}

#endif

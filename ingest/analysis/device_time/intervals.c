#include "ingest/analysis/device_time/intervals.h"

#include "ingest/base/memory/scratch.h"

bool intervals_init(struct intervals *intervals, size_t cap)
{
    intervals->items = scratch_alloc(cap, sizeof *intervals->items);
    intervals->count = 0;
    return intervals->items != NULL;
}

void intervals_free(struct intervals *intervals)
{
    scratch_free(intervals->items);
    intervals->items = NULL;
}

void intervals_add(struct intervals *intervals, int64_t start_ns, int64_t end_ns)
{
    size_t count = intervals->count;
    if (count > 0 && start_ns <= intervals->items[count - 1].end_ns) {
        struct interval *last = &intervals->items[count - 1];
        last->end_ns = end_ns > last->end_ns ? end_ns : last->end_ns;
        return;
    }
    intervals->items[intervals->count++] = (struct interval){start_ns, end_ns};
}

int64_t intervals_length(const struct intervals *intervals)
{
    int64_t length_ns = 0;
    for (size_t i = 0; i < intervals->count; i++) {
        length_ns += intervals->items[i].end_ns - intervals->items[i].start_ns;
    }
    return length_ns;
}

void intervals_subtract(struct intervals *out,
                        const struct intervals *from,
                        const struct intervals *without)
{
    size_t next = 0;
    out->count = 0;
    for (size_t i = 0; i < from->count; i++) {
        struct interval left = from->items[i];
        while (next < without->count && without->items[next].end_ns <= left.start_ns) {
            next++;
        }
        for (size_t k = next; k < without->count && without->items[k].start_ns < left.end_ns; k++) {
            if (without->items[k].start_ns > left.start_ns) {
                out->items[out->count++] =
                    (struct interval){left.start_ns, without->items[k].start_ns};
            }
            left.start_ns = without->items[k].end_ns;
            next = k;
        }
        if (left.start_ns < left.end_ns) {
            out->items[out->count++] = left;
        }
    }
}

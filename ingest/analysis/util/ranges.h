/* Lists of time ranges: sorted by start, not overlapping, not touching [TB-6e]. */
#ifndef KS_ANALYSIS_UTIL_RANGES_H
#define KS_ANALYSIS_UTIL_RANGES_H

#include "ingest/base/attr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct range {
    int64_t start;
    int64_t end;
};

struct ranges {
    struct range *items;
    size_t count;
    size_t cap;
};

void ranges_free(struct ranges *list);
/* Room for one more, part of ranges_merge. False without memory. */
bool ranges_grow(struct ranges *list) KS_MUST_USE;
/* Adds a range whose start is not before that of the one added last: dropped when it ends within
 * the last range, joined when it touches or overlaps it. Empty ranges standing alone are kept.
 * False without memory. */
static inline bool KS_MUST_USE ranges_merge(struct ranges *list, int64_t start, int64_t end)
{
    if (list->count > 0 && start <= list->items[list->count - 1].end) {
        struct range *last = &list->items[list->count - 1];
        last->end = end > last->end ? end : last->end;
        return true;
    }
    if (KS_UNLIKELY(list->count >= list->cap) && !ranges_grow(list)) {
        return false;
    }
    list->items[list->count++] = (struct range){start, end};
    return true;
}
/* *out = a ∪ b: a new list. False without memory. */
bool ranges_unite(struct ranges *out, const struct ranges *a, const struct ranges *b) KS_MUST_USE;
/* *out = a ∩ b, a - b: new lists. Empty ranges vanish. False without memory (*out is empty). */
bool ranges_intersect(struct ranges *out,
                      const struct ranges *a,
                      const struct ranges *b) KS_MUST_USE;
bool ranges_subtract(struct ranges *out,
                     const struct ranges *a,
                     const struct ranges *b) KS_MUST_USE;
/* Length of the part of the list that lies in [start, end]; logarithmic plus the ranges inside. */
int64_t ranges_length_within(const struct ranges *list, int64_t start, int64_t end);

#endif

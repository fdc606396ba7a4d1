#include "ingest/analysis/util/ranges.h"

#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"
#include "ingest/base/saturating.h"

void ranges_free(struct ranges *list)
{
    scratch_free(list->items);
    *list = (struct ranges){0};
}

/* An empty list with room for `count` ranges, of which only those used take memory. */
static bool reserve(struct ranges *list, size_t count)
{
    *list = (struct ranges){.cap = count};
    list->items = scratch_alloc(count, sizeof *list->items);
    return list->items != NULL;
}

bool ranges_grow(struct ranges *list)
{
    struct range *items = scratch_grow(list->items, list->count, &list->cap, sizeof *items);
    list->items = items == NULL ? list->items : items;
    return items != NULL;
}

bool ranges_unite(struct ranges *out, const struct ranges *a, const struct ranges *b)
{
    bool ok = reserve(out, a->count + b->count);
    size_t i = 0;
    size_t j = 0;
    while (ok && (i < a->count || j < b->count)) {
        bool a_is_next = j == b->count || (i < a->count && a->items[i].start <= b->items[j].start);
        struct range range = a_is_next ? a->items[i++] : b->items[j++];
        ok = ranges_merge(out, range.start, range.end);
    }
    return ok;
}

/* Neither what two lists share nor what one leaves of the other has more ranges than both have. */
static bool reserve_result(struct ranges *out, const struct ranges *a, const struct ranges *b)
{
    return reserve(out, a->count + b->count);
}

bool ranges_intersect(struct ranges *out, const struct ranges *a, const struct ranges *b)
{
    *out = (struct ranges){0};
    if (a->count == 0 || b->count == 0) {
        return true;
    }
    if (!reserve_result(out, a, b)) {
        return false;
    }
    size_t i = 0;
    size_t j = 0;
    while (i < a->count && j < b->count) {
        int64_t start = i64_max(a->items[i].start, b->items[j].start);
        int64_t end = i64_min(a->items[i].end, b->items[j].end);
        if (start < end) {
            out->items[out->count++] = (struct range){start, end};
        }
        bool a_ends_first = a->items[i].end < b->items[j].end;
        i += a_ends_first;
        j += !a_ends_first;
    }
    return true;
}

/* What b, from its range *j on, leaves of one range of a. */
static void subtract_one(struct ranges *out, struct range range, const struct ranges *b, size_t *j)
{
    while (*j < b->count && b->items[*j].end <= range.start) {
        (*j)++;
    }
    for (size_t k = *j; k < b->count && b->items[k].start < range.end; k++) {
        if (b->items[k].start > range.start) {
            out->items[out->count++] = (struct range){range.start, b->items[k].start};
        }
        range.start = i64_max(range.start, b->items[k].end);
    }
    if (range.start < range.end) {
        out->items[out->count++] = range;
    }
}

bool ranges_subtract(struct ranges *out, const struct ranges *a, const struct ranges *b)
{
    size_t j = 0;
    if (!reserve_result(out, a, b)) {
        return false;
    }
    for (size_t i = 0; i < a->count; i++) {
        subtract_one(out, a->items[i], b, &j);
    }
    return true;
}

/* The first range that ends after a time. */
static size_t first_after(const struct ranges *list, int64_t time)
{
    return order_i64_below(list->items, list->count, sizeof *list->items,
                           offsetof(struct range, end), time, true);
}

int64_t ranges_length_within(const struct ranges *list, int64_t start, int64_t end)
{
    uint64_t length = 0;
    if (end <= start) {
        return 0;
    }
    for (size_t i = first_after(list, start); i < list->count && list->items[i].start < end; i++) {
        uint64_t from = (uint64_t)i64_max(list->items[i].start, start);
        uint64_t to = (uint64_t)i64_min(list->items[i].end, end);
        length += to - from;
    }
    return length > INT64_MAX ? INT64_MAX : (int64_t)length;
}

#include "ingest/base/containers/introsort.h"

/* Segments of at most one more than this are left to insertion sort. */
#define SMALL_SPAN 16
/* The larger part waits while the smaller is sorted, so that the waiting ones at most double: 64
 * are enough. */
#define STACK_DEPTH 64

struct segment {
    size_t first;
    size_t last; /* inclusive */
    int depth;   /* partitions still allowed; below 0 the values work against the pivots */
};

static void swap(uint32_t *a, uint32_t *b)
{
    uint32_t kept = *a;
    *a = *b;
    *b = kept;
}

static void swap_if_less(uint32_t *index, size_t a, size_t b, const int64_t *values)
{
    if (values[index[a]] < values[index[b]]) {
        swap(&index[a], &index[b]);
    }
}

/* Median of three as pivot, kept next to the last; Hoare's partition. Where the pivot ends. */
static size_t partition(uint32_t *index, struct segment segment, const int64_t *values)
{
    size_t middle = segment.first + (segment.last - segment.first) / 2;
    swap_if_less(index, middle, segment.first, values);
    swap_if_less(index, segment.last, middle, values);
    swap_if_less(index, middle, segment.first, values);
    int64_t pivot = values[index[middle]];
    size_t low = segment.first;
    size_t high = segment.last - 1;
    swap(&index[middle], &index[high]);
    for (;;) {
        do {
            low++;
        } while (values[index[low]] < pivot);
        do {
            high--;
        } while (pivot < values[index[high]]);
        if (low >= high) {
            break;
        }
        swap(&index[low], &index[high]);
    }
    swap(&index[low], &index[segment.last - 1]);
    return low;
}

static void insertion_sort(uint32_t *index, struct segment segment, const int64_t *values)
{
    for (size_t i = segment.first + 1; i <= segment.last; i++) {
        uint32_t item = index[i];
        size_t j = i;
        while (j > segment.first && values[item] < values[index[j - 1]]) {
            index[j] = index[j - 1];
            j--;
        }
        index[j] = item;
    }
}

/* Puts `item` into the heap whose place `root` is free. */
static void
sift_down(uint32_t *heap, size_t count, size_t root, uint32_t item, const int64_t *values)
{
    for (size_t child = 2 * root + 1; child < count; child = 2 * root + 1) {
        if (child + 1 < count && values[heap[child]] < values[heap[child + 1]]) {
            child++;
        }
        if (!(values[item] < values[heap[child]])) {
            break;
        }
        heap[root] = heap[child];
        root = child;
    }
    heap[root] = item;
}

static void heap_sort(uint32_t *index, struct segment segment, const int64_t *values)
{
    uint32_t *heap = index + segment.first;
    size_t count = segment.last - segment.first + 1;
    for (size_t i = count / 2; i-- > 0;) {
        sift_down(heap, count, i, heap[i], values);
    }
    while (count > 1) {
        uint32_t item = heap[--count];
        heap[count] = heap[0];
        sift_down(heap, count, 0, item, values);
    }
}

/* Twice the number of the highest bit. */
static int depth_limit(size_t count)
{
    int limit = 0;
    while (count > 1) {
        count /= 2;
        limit += 2;
    }
    return limit;
}

/* As NumPy does, the depth is looked at where a waiting segment is taken up: the smaller part, with
 * which it goes on at once, halves at least. */
void introsort_positions(uint32_t *index, size_t count, const int64_t *values)
{
    struct segment stack[STACK_DEPTH];
    size_t waiting = 0;
    struct segment now = {0, count - 1, depth_limit(count)};
    if (count < 2) {
        return;
    }
    for (;;) {
        bool is_too_deep = now.depth < 0;
        while (!is_too_deep && now.last - now.first > SMALL_SPAN) {
            size_t at = partition(index, now, values);
            struct segment left = {now.first, at - 1, now.depth - 1};
            struct segment right = {at + 1, now.last, now.depth - 1};
            bool left_is_smaller = at - now.first < now.last - at;
            stack[waiting++] = left_is_smaller ? right : left;
            now = left_is_smaller ? left : right;
        }
        if (is_too_deep) {
            heap_sort(index, now, values);
        } else {
            insertion_sort(index, now, values);
        }
        if (waiting == 0) {
            return;
        }
        now = stack[--waiting];
    }
}

void introsort_kernel_order(uint32_t *order, const int64_t *reversed_totals, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        order[i] = (uint32_t)i;
    }
    introsort_positions(order, count, reversed_totals);
    for (size_t i = 0; i < count / 2; i++) {
        swap(&order[i], &order[count - 1 - i]);
    }
    for (size_t i = 0; i < count; i++) {
        order[i] = (uint32_t)(count - 1 - order[i]);
    }
}

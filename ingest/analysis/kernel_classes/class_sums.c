#include "ingest/analysis/kernel_classes/class_sums.h"

#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"
#include "ingest/base/saturating.h"

#include <stdlib.h>

void class_sums_init(struct class_sums *sums)
{
    *sums = (struct class_sums){.count = 0};
    id_map_init(&sums->place_of);
}

void class_sums_free(struct class_sums *sums)
{
    id_map_free(&sums->place_of);
    scratch_free(sums->items);
    *sums = (struct class_sums){.count = 0};
}

bool class_sums_add(struct class_sums *sums,
                    uint32_t row,
                    uint32_t class_number,
                    const char *class,
                    int64_t device_ns)
{
    struct id_slot *slot = id_map_add(&sums->place_of, (int64_t)row << 32 | class_number);
    if (slot == NULL) {
        return false;
    }
    if (slot->value == ID_MAP_NONE) {
        struct class_sum *grown = scratch_grow(sums->items, sums->count, &sums->cap, sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        sums->items = grown;
        grown[sums->count] = (struct class_sum){row, class_number, class, 0};
        slot->value = (uint32_t)sums->count++;
    }
    struct class_sum *sum = &sums->items[slot->value];
    sum->device_ns = saturating_add(sum->device_ns, device_ns);
    return true;
}

ORDER_BY(compare, struct class_sum, ORDER_UP(row), ORDER_DOWN(device_ns), ORDER_TEXT(class))

void class_sums_sort(struct class_sums *sums)
{
    if (sums->count > 0) {
        qsort(sums->items, sums->count, sizeof *sums->items, compare);
    }
}

size_t class_sums_end(const struct class_sums *sums, size_t first)
{
    size_t end = first;
    while (end < sums->count && sums->items[end].row == sums->items[first].row) {
        end++;
    }
    return end;
}

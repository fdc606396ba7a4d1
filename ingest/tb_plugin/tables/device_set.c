#include "ingest/tb_plugin/tables/device_set.h"

#include "ingest/base/memory/scratch.h"

#include <stdbool.h>
#include <string.h>

/* Facts of CPython 3's sets: a table of 8 at first, up to 9 more neighbours probed where they lie
 * inside the table, then a perturbed jump; growth to more than four times the count when three
 * fifths are filled. */
#define TABLE_FIRST 8
#define NEIGHBOURS 9
#define PERTURB_BITS 5

void device_set_init(struct device_set *set)
{
    *set = (struct device_set){.mask = TABLE_FIRST - 1};
}

/* False when the id is there already. */
static bool place(struct device_set *set, uint8_t id)
{
    size_t perturb = id;
    size_t i = id & set->mask;
    for (;;) {
        size_t neighbours = i + NEIGHBOURS <= set->mask ? NEIGHBOURS : 0;
        for (size_t k = 0; k <= neighbours; k++) {
            if (set->table[i + k] == id + 1) {
                return false;
            }
            if (set->table[i + k] == 0) {
                set->table[i + k] = (uint8_t)(id + 1);
                return true;
            }
        }
        perturb >>= PERTURB_BITS;
        i = (i * 5 + 1 + perturb) & set->mask;
    }
}

static void grow(struct device_set *set)
{
    uint8_t ids[DEVICE_SET_IDS];
    size_t count = device_set_walk(set, ids);
    size_t size = TABLE_FIRST;
    while (size <= count * 4) {
        size *= 2;
    }
    memset(set->table, 0, sizeof set->table);
    set->mask = size - 1;
    for (size_t i = 0; i < count; i++) {
        (void)place(set, ids[i]);
    }
}

void device_set_add(struct device_set *set, uint8_t id)
{
    if (!place(set, id)) {
        return;
    }
    set->count++;
    if (set->count * 5 >= set->mask * 3) {
        grow(set);
    }
}

size_t device_set_walk(const struct device_set *set, uint8_t out[DEVICE_SET_IDS])
{
    size_t count = 0;
    for (size_t i = 0; i <= set->mask; i++) {
        if (set->table[i] != 0) {
            out[count++] = (uint8_t)(set->table[i] - 1);
        }
    }
    return count;
}

/* Rows of devices stand in order of their ids before. */
bool device_set_order(struct trace_results *results, const struct kernels *kernels)
{
    struct device_set set;
    uint8_t ids[DEVICE_SET_IDS];
    struct device_row *rows = scratch_alloc(results->device_count, sizeof *rows);
    if (rows == NULL) {
        return false;
    }
    device_set_init(&set);
    for (uint32_t i = 0; i < kernels->count; i++) {
        int64_t device = kernel_device(kernels->sel->trace, kernels->events[i]);
        if (device >= 0 && device < DEVICE_SET_IDS) {
            device_set_add(&set, (uint8_t)device);
        }
    }
    memcpy(rows, results->devices, results->device_count * sizeof *rows);
    size_t count = device_set_walk(&set, ids);
    for (size_t i = 0; i < count; i++) {
        for (size_t from = 0; from < results->device_count; from++) {
            if (rows[from].id == ids[i]) {
                results->devices[i] = rows[from];
            }
        }
    }
    scratch_free(rows);
    return true;
}

/* Sums of device time by row and class, for rows that are many and have few classes each. */
#ifndef KS_ANALYSIS_KERNEL_CLASSES_CLASS_SUMS_H
#define KS_ANALYSIS_KERNEL_CLASSES_CLASS_SUMS_H

#include "ingest/base/attr.h"
#include "ingest/base/containers/id_map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct class_sum {
    uint32_t row;
    uint32_t class_number; /* the caller's */
    const char *class;
    int64_t device_ns;
};

struct class_sums {
    struct id_map place_of; /* by row and class */
    struct class_sum *items;
    size_t count, cap;
};

void class_sums_init(struct class_sums *sums);
void class_sums_free(struct class_sums *sums);
/* False without memory. */
bool class_sums_add(struct class_sums *sums,
                    uint32_t row,
                    uint32_t class_number,
                    const char *class,
                    int64_t device_ns) KS_MUST_USE;
/* Puts the items in order of their rows, those of a row by device_ns descending, then by class.
 * Nothing may be added afterwards. */
void class_sums_sort(struct class_sums *sums);
/* Behind the last of the items of a row, the first of which is items[first]. */
size_t class_sums_end(const struct class_sums *sums, size_t first);

#endif

/* Devices of both sides matched by their order in their process: the first device of one process
 * with the first of the other, whatever their numbers. */
#ifndef KS_ANALYSIS_COMPARE_DEVICES_H
#define KS_ANALYSIS_COMPARE_DEVICES_H

#include "ingest/analysis/compare/compare.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Room for the name of a device, or of two: "GPU 3 (virtual) / GPU 1 (virtual)". */
#define DEVICE_TEXT_BYTES 96

/* One device of a process. */
struct device_place {
    int side;
    int64_t pid;
    int64_t number;
};

/* By side, process and number. No device where a side is a table: there names are what they are
 * [CMP-4c]. */
struct device_order {
    struct device_place *places;
    size_t count;
};

/* O(n log n) in the number of different devices. False without memory; free it in either case. */
bool device_order_build(struct device_order *order,
                        const struct compare_side sides[SIDE_COUNT]) KS_MUST_USE;
void device_order_free(struct device_order *order);

/* The name of a device as both sides share it: its place among those of its process instead of its
 * number. `text` itself where it is no device by number. */
const char *device_order_shared(const struct device_order *order,
                                int side,
                                int64_t pid,
                                const char *text,
                                char shared[DEVICE_TEXT_BYTES]);
/* The name of such a device for the reader: of both processes where they differ, the base first. */
const char *device_order_name(const struct device_order *order,
                              const int64_t pids[SIDE_COUNT],
                              const char *shared,
                              char name[DEVICE_TEXT_BYTES]);

/* The part of such a name that one side knows; `name` itself where it has one part. */
const char *device_name_of_side(const char *name, int side, char part[DEVICE_TEXT_BYTES]);

#endif

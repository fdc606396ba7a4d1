/* The order in which CPython walks a set of small integers: the plugin prints devices in it
 * ([TB-10a]: {1, 8} gives 8 first). */
#ifndef KS_TB_PLUGIN_TABLES_DEVICE_SET_H
#define KS_TB_PLUGIN_TABLES_DEVICE_SET_H

#include "ingest/analysis/kernels/kernels.h"
#include "ingest/base/attr.h"
#include "ingest/model/results/results.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DEVICE_SET_IDS 64    /* 0 .. 63 */
#define DEVICE_SET_TABLE 256 /* what the table of 64 entries grows to at most */

struct device_set {
    uint8_t table[DEVICE_SET_TABLE]; /* id + 1; 0 is free */
    size_t mask;
    size_t count;
};

void device_set_init(struct device_set *set);
void device_set_add(struct device_set *set, uint8_t id); /* id below DEVICE_SET_IDS */
/* The ids in the order of the walk; their number. */
size_t device_set_walk(const struct device_set *set, uint8_t out[DEVICE_SET_IDS]);

/* Puts results.devices, which stand in order of their ids, into that order. False without memory.
 */
bool device_set_order(struct trace_results *results, const struct kernels *kernels) KS_MUST_USE;

#endif

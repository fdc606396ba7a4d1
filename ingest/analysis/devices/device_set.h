/* The order in which CPython walks a set of small integers: the plugin prints devices in it
 * ([TB-10a]: {1, 8} gives 8 first). */
#ifndef KS_ANALYSIS_DEVICES_DEVICE_SET_H
#define KS_ANALYSIS_DEVICES_DEVICE_SET_H

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

#endif

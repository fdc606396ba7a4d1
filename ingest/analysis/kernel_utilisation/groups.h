/* The launches of a kernel table grouped by a name: their times, counts and order. */
#ifndef KS_ANALYSIS_KERNEL_UTILISATION_GROUPS_H
#define KS_ANALYSIS_KERNEL_UTILISATION_GROUPS_H

#include "ingest/base/attr.h"
#include "ingest/model/results/kernel_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KERNEL_GROUP_NONE UINT32_MAX

struct kernel_group {
    uint32_t first_launch; /* index into the table's launches */
    uint32_t rank;         /* place in the order of the rows */
    int64_t launches;
    int64_t total_ns;
    const int64_t *durations_ns; /* `launches` of them, ascending */
};

struct kernel_groups {
    struct kernel_group *groups; /* by first launch */
    uint32_t count;
    uint32_t *of_launch; /* by launch of the table: group, KERNEL_GROUP_NONE for copies and sets */
    uint32_t *order;     /* groups in descending order of total time, stable by first launch */
    int64_t *durations_ns;
};

/* Kernel launches belong together when key_of_name[launch.name] is equal (NULL: when their names
 * are). Keys lie below `key_count`. False without memory; kernel_groups_free either way. */
bool kernel_groups_make(struct kernel_groups *groups,
                        const struct kernel_table *table,
                        const uint32_t *key_of_name,
                        uint32_t key_count) KS_MUST_USE;
void kernel_groups_free(struct kernel_groups *groups);

#endif

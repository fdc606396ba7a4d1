/* The class of each piece of device work of a trace; each name is read once. */
#ifndef KS_ANALYSIS_KERNEL_CLASSES_WORK_CLASSES_H
#define KS_ANALYSIS_KERNEL_CLASSES_WORK_CLASSES_H

#include "ingest/analysis/kernel_classes/kernel_classes.h"
#include "ingest/base/attr.h"
#include "ingest/index/index.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WORK_CLASSES_NONE UINT32_MAX

/* A name of device work. One name may have two classes, for the category of an event counts too. */
struct work_name {
    uint32_t text; /* string id */
    struct kernel_class class;
    uint32_t class_number; /* place in `classes` */
    uint32_t kind_number;  /* place in `kinds`; WORK_CLASSES_NONE: no communication */
    bool is_sync;          /* no work: counts nowhere */
};

struct work_classes {
    struct work_name *names; /* in order of their first event */
    size_t name_count, name_cap;
    const char **classes; /* in this order */
    size_t class_count, class_cap;
    const char **kinds;
    size_t kind_count, kind_cap;
    uint32_t *name_of[3]; /* by what the category said, by string id */
};

/* Of device work and waits. False without memory; to be freed in either case. `own` as for
 * kernel_class_of(); it and the index's trace must outlive *out. */
bool work_classes_build(struct work_classes *out,
                        const struct trace_index *index,
                        const struct kernel_rules *own) KS_MUST_USE;
void work_classes_free(struct work_classes *classes);

static inline bool work_classes_has(const struct trace_index *index, uint32_t event)
{
    enum index_class class = index_class(index, event);
    return class >= INDEX_KERNEL && class <= INDEX_DEVICE_WAIT;
}

/* Place in `names` of an event that work_classes_has(). */
uint32_t work_classes_name(const struct work_classes *classes,
                           const struct trace_index *index,
                           uint32_t event);

#endif

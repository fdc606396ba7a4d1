/* What a trace holds, by role of its records and by device [FMT-0.2], and the slices of the host by
 * name [FMT-0.3]. */
#ifndef KS_ANALYSIS_CONTENTS_CONTENTS_H
#define KS_ANALYSIS_CONTENTS_CONTENTS_H

#include "ingest/base/attr.h"
#include "ingest/base/memory/arena.h"
#include "ingest/model/recorders/recorded.h"
#include "ingest/model/tables/table.h"
#include "ingest/model/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Device roles first. */
enum record_role {
    ROLE_KERNEL,
    ROLE_COMMUNICATION,
    ROLE_MEMCPY,
    ROLE_MEMSET,
    ROLE_DEVICE_COUNT,
    ROLE_OPERATOR = ROLE_DEVICE_COUNT,
    ROLE_STEP,
    ROLE_ANNOTATION,
    ROLE_RUNTIME,
    ROLE_HOST,
    ROLE_SYNC,
    ROLE_DEVICE_OTHER,
    ROLE_MARK,
    ROLE_COUNTER,
    ROLE_MEMORY,
    ROLE_COUNT,
    ROLE_NONE = ROLE_COUNT
};
const char *record_role_name(enum record_role role); /* "kernel", "device_other" */

struct role_sums {
    int64_t count;
    int64_t total_ns; /* overlaps count twice */
};

/* A device that has device records. */
struct device_contents {
#define TABLE_DEF "ingest/model/tables/trace/device_contents.def"
#include "ingest/model/tables/struct.h"
};
extern const struct row_table table_device_contents; /* of the rows */

struct contents {
    struct role_sums roles[ROLE_COUNT];
    struct device_contents *devices; /* ascending */
    size_t device_count;
    int64_t device_activities, linked;
    struct recorded recorded; /* start_ns of collectives from the trace's start */
};

/* Everything in *out lives in the arena. `zero_ns`: the start of the trace in times of its events.
 * O(n log n). False without memory. */
bool contents_analyse(const struct trace *trace,
                      int64_t zero_ns,
                      struct arena *arena,
                      struct contents *out) KS_MUST_USE;

/* Where the positions of a trace count from, in times of its events: the earliest of its records,
 * whatever their role [FMT-0.1c]; of a trace that is no other recorder's, `first_ns`. */
int64_t contents_start(const struct trace *trace, int64_t first_ns);

struct named_row {
    const char *name;
    int64_t calls, total_ns, min_ns, max_ns;
};

struct named_rows {
    struct named_row *rows; /* the largest total first, then by name */
    size_t count;
};

bool contents_names(const struct trace *trace,
                    struct arena *arena,
                    struct named_rows *out) KS_MUST_USE;

#define MEMORY_CATEGORIES 8
const char *memory_category_name(size_t category); /* "parameter" */

struct memory_point_by_category {
    int64_t t_ns; /* from the trace's start */
    int64_t bytes[MEMORY_CATEGORIES];
    int64_t total_bytes;
};

struct memory_categories {
    struct memory_point_by_category *points; /* in the order of the file, one a time */
    size_t count;
    size_t peak; /* the point with most bytes, the first of equals */
};

/* Of a memory timeline [FMT-7]; empty for any other trace. */
bool contents_memory(const struct trace *trace,
                     int64_t zero_ns,
                     struct arena *arena,
                     struct memory_categories *out) KS_MUST_USE;

extern const struct row_table table_named;         /* struct named_row */
extern const struct row_table table_op_type;       /* struct op_type_times */
extern const struct row_table table_kernel_metric; /* struct kernel_metric */

#endif

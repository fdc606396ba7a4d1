/* Where the time of the devices goes, by what ran, who launched it, and the line of the program;
 * and how much of communication and copies does not run beside computing. */
#ifndef KS_SERVER_CLI_REPORT_PLACES_H
#define KS_SERVER_CLI_REPORT_PLACES_H

#include "ingest/jobs/pipeline/details.h"
#include "ingest/model/results/results.h"

#include <stddef.h>
#include <stdint.h>

/* Device work of one name that one operator launched from one line. */
struct time_place {
    const char *name;
    const char *operator_name; /* NULL: none launched it */
    /* The innermost frame with a line (`file.py(3): f`) that is not of a library, else with a line,
     * else the innermost; NULL: no frame is known. */
    const char *source;
    int64_t calls, total_ns;
};

/* The `source` of a stack (innermost first, separated by `;`), in the arena; NULL for NULL, and
 * without memory. */
const char *place_source(const char *stack, struct arena *arena);

/* The largest total first; at most `limit`, in the arena. Answers how many; 0 without memory. */
size_t time_places_find(const struct kernel_stacks *stacks,
                        size_t limit,
                        struct arena *arena,
                        struct time_place **out);

/* Communication or copies of one device. */
struct overlap {
    int64_t device;
    const char *what; /* static */
    int64_t total_ns;
    int64_t exposed_ns;  /* while nothing computes [DEV-2c] */
    int64_t headroom_ns; /* of exposed_ns, what computing without it could hide */
    int64_t window_ns;   /* of the device */
};

/* Of what is exposed, what the rest of computing could hide. */
int64_t
overlap_headroom_ns(const struct device_time_block *window, int64_t total_ns, int64_t exposed_ns);
/* Those that there are, the largest headroom first, in the arena; otherwise as above. */
size_t overlaps_find(const struct device_time *times, struct arena *arena, struct overlap **out);

/* Steps of the profiler, else of a serving engine; 0: there are none. */
int64_t report_step_count(const struct trace_results *results,
                          const struct pipeline_details *details);

#endif

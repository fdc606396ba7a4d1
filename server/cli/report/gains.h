/* What would make a trace shorter, the most first: idle time, overlap, the critical path,
 * rooflines. */
#ifndef KS_SERVER_CLI_REPORT_GAINS_H
#define KS_SERVER_CLI_REPORT_GAINS_H

#include "ingest/jobs/pipeline/details.h"

#include <stddef.h>
#include <stdint.h>

#define GAINS_MAX 64

struct gain {
    const char *what;   /* static: "take no time", "run at the device's peaks", … */
    const char *name;   /* of an operator, a call, work; of what the host did */
    const char *label;  /* static: `name` in words; NULL: as it is */
    const char *source; /* as of a time_place: where it is called, or NULL */
    const char *kind;   /* static, for programs: idle, overlap, critical_path, roofline */
    int64_t saved_ns;
    int64_t of_ns; /* the length that would be shorter */
};

/* Fills `gains`; answers how many. Sources live in the arena. Those that save nothing are left out.
 * The kinds measure against lengths of their own, and what one saves another may save too. */
size_t gains_find(const struct pipeline_details *details,
                  struct arena *arena,
                  struct gain gains[GAINS_MAX]);

#endif

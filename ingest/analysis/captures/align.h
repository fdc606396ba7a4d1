/* Which recorded call each kernel of a launched graph came from [DEV-3]. */
#ifndef KS_ANALYSIS_CAPTURES_ALIGN_H
#define KS_ANALYSIS_CAPTURES_ALIGN_H

#include "ingest/analysis/captures/capture.h"
#include "ingest/base/attr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ALIGN_NO_RANK SIZE_MAX

enum alignment {
    ALIGN_EQUAL,    /* each call recorded one kernel */
    ALIGN_SKIPPING, /* some calls recorded none */
    ALIGN_FAILED,
    ALIGN_COUNT
};

/* A piece of device work of a graph launch. */
struct align_work {
    const char *name;
    uint32_t stream; /* any number for each device and stream */
};

/* `work` in order of start, `count` of it; `calls` has room for as many launches, which are valid
 * unless the answer is ALIGN_FAILED. `rank`: the place of the launch among those of its step, where
 * there are as many roots; else ALIGN_NO_RANK. *budget falls with each comparison; below 0 nothing
 * is compared any more, so that no input takes long. False without memory. */
bool align_graph(const struct capture *capture,
                 const struct align_work *work,
                 size_t count,
                 size_t rank,
                 int64_t *budget,
                 const struct capture_launch **calls,
                 enum alignment *out) KS_MUST_USE;

#endif

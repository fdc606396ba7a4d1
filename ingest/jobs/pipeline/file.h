/* One file, or one member of an archive: read, analysed and handed on. */
#ifndef KS_JOBS_PIPELINE_FILE_H
#define KS_JOBS_PIPELINE_FILE_H

#include "ingest/analysis/cycles/cycles.h"
#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/input/input.h"
#include "ingest/jobs/pipeline/pipeline.h"
#include "ingest/jobs/pipeline/sampler.h"

#include <stdbool.h>
#include <stdint.h>

/* What is the same for all traces of an upload. */
struct pipeline_way {
    uint64_t memory_budget_bytes; /* 0: no bound */
    struct input_limits input_limits;
    uint64_t max_events; /* 0: no bound */
    struct cycles_options cycles;
    struct pipeline_progress *progress; /* NULL: nobody looks */
    const struct pipeline_sink *sink;
};

/* What a file is called. */
struct pipeline_name {
    const char *file_name; /* decides the span, and what the other two leave open */
    const char *worker;    /* NULL: that of file_name */
    const char *member;    /* path in the archive, NULL outside of archives */
};

/* Closes the input, also on false: its memory goes before the analysis begins. `sampler` is one of
 * this input, which is stopped before that, or NULL. */
bool pipeline_file(const struct pipeline_way *way,
                   struct input *in,
                   struct sampler *sampler,
                   const struct pipeline_name *name,
                   struct err *err) KS_MUST_USE;

void pipeline_set_stage(const struct pipeline_way *way, enum pipeline_stage stage);
void pipeline_item_free(struct pipeline_item *item); /* what it holds */

#endif

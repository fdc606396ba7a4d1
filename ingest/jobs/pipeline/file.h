/* Reads and analyses one file, or one member of an archive, and hands the results to the sink. */
#ifndef KS_JOBS_PIPELINE_FILE_H
#define KS_JOBS_PIPELINE_FILE_H

#include "ingest/analysis/cycles/cycles.h"
#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/input/input.h"
#include "ingest/jobs/pipeline/pipeline.h"

#include <stdbool.h>
#include <stdint.h>

/* What all traces of an upload share. */
struct pipeline_way {
    uint64_t memory_budget_bytes; /* 0: no bound */
    struct input_limits input_limits;
    uint64_t max_events; /* 0: no bound */
    struct cycles_options cycles;
    const struct kernel_rules *kernel_rules; /* NULL: none of one's own */
    enum pipeline_detail details;
    struct pipeline_progress *progress; /* NULL: not wanted */
    const struct pipeline_sink *sink;
};

/* The names of a file. */
struct pipeline_name {
    const char *file_name; /* gives the span, and worker and member where these are NULL */
    const char *worker;    /* NULL: that of file_name */
    const char *member;    /* path in the archive, NULL outside of archives */
};

/* Closes the input, also on false, so that its memory is free before the analysis. */
bool pipeline_file(const struct pipeline_way *way,
                   struct input *in,
                   const struct pipeline_name *name,
                   struct err *err) KS_MUST_USE;

/* Counts the bytes of the input, which is that of the upload, in the progress. */
void pipeline_report(const struct pipeline_way *way, struct input *in);
void pipeline_set_stage(const struct pipeline_way *way, enum pipeline_stage stage);
void pipeline_item_free(struct pipeline_item *item); /* frees what it holds */

#endif

/* One side of a comparison on the command line: a file, or a directory of files, read and analysed
 * in memory. */
#ifndef KS_SERVER_CLI_COMPARE_INPUT_H
#define KS_SERVER_CLI_COMPARE_INPUT_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/base/memory/arena.h"
#include "ingest/jobs/pipeline/pipeline.h"
#include "server/options/options.h"

#include <stdbool.h>
#include <stddef.h>

struct compare_input {
    struct pipeline_output *outputs; /* one a file */
    size_t output_count;
    const struct trace_results **results; /* of every trace that has cycles */
    size_t result_count;
};

/* The marker and the limits are the options'. `path`: any file that is read, or a directory: every
 * file below it whose name ends in _perf_data.csv; if there is none, every trace (.json, .json.gz,
 * .json.zst) below it; in order of their paths. Errors: those of pipeline_run, ERR_IO, and
 * ERR_BAD_INPUT when nothing has cycles. On false the side is empty, and the message names the
 * file. */
bool compare_input_load(struct compare_input *input,
                        const char *path,
                        const struct options *options,
                        struct err *err) KS_MUST_USE;
void compare_input_free(struct compare_input *input);

/* topo_component.csv in the directory of `path`, in the arena; NULL when there is none. */
const char *compare_input_hardware_beside(struct arena *arena, const char *path);

#endif

/* One side of `compare`: a file, or a directory of files, read and analysed in memory. */
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
    const struct trace_results **results; /* one per trace with cycles */
    size_t result_count;
    const struct trace_results *trace; /* the only trace, if it has operators; NULL otherwise */
    const struct pipeline_details *details; /* of that trace: its causes */
};

/* Reads a side, with marker and limits from the options. `path` is a file, or a directory: then
 * every file below it whose name ends in _perf_data.csv, or, if there is none, every trace (.json,
 * .json.gz, .json.zst), in order of their paths. Errors: those of pipeline_run, ERR_IO, and
 * ERR_BAD_INPUT when a directory holds no such file. On false the side is empty, and the message
 * names the file. */
bool compare_input_load(struct compare_input *input,
                        const char *path,
                        const struct options *options,
                        struct err *err) KS_MUST_USE;
/* False where all that was read are kernel tables: ERR_BAD_INPUT. */
bool compare_input_is_comparable(const struct compare_input *input,
                                 const char *path,
                                 struct err *err) KS_MUST_USE;
/* True if something has cycles; otherwise ERR_BAD_INPUT, which says how to record them. */
bool compare_input_has_cycles(const struct compare_input *input,
                              const char *path,
                              struct err *err) KS_MUST_USE;
void compare_input_free(struct compare_input *input);

/* topo_component.csv in the directory of `path`, in the arena; NULL when there is none. */
const char *compare_input_hardware_beside(struct arena *arena, const char *path);

#endif

/* The tensors of a call, from the execution trace of its run: an upload that is read anew when a
 * request asks [FMT-9.4]. Waits for its turn (jobs_window_begin). ERR_GONE: the upload is no longer
 * kept; ERR_TOO_LARGE; ERR_UNAVAILABLE while the server stops. */
#ifndef KS_JOBS_ON_REQUEST_EXECUTION_TRACES_H
#define KS_JOBS_ON_REQUEST_EXECUTION_TRACES_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/base/memory/arena.h"
#include "ingest/jobs/queue/jobs.h"
#include "ingest/store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A node at the other end of a tensor. */
struct call_link {
    uint64_t node, record_id; /* record_id 0: not told */
    const char *name;
};

struct call_tensor {
    uint64_t tensor, storage;
    int64_t elements, element_bytes;
    uint32_t position;
    const char *type, *shape, *device; /* NULL: not told */
    struct call_link *links;           /* its writer, or its readers */
    size_t link_count;
    bool more, by_storage; /* as in struct tensor_use */
};

struct call_tensors {
    const struct store_trace *source; /* the execution trace; NULL: the run has none of this call */
    uint64_t node;
    struct call_tensor *inputs, *outputs;
    size_t input_count, output_count;
};

/* Of the call with this number and name in `trace`. Of several execution traces of the run those of
 * its rank or worker go first, and the first that has the call answers; one of another rank never
 * does, nor one of several whose rank nobody knows. */
bool call_tensors_read(struct jobs *jobs,
                       const struct store_trace *trace,
                       uint64_t record_id,
                       const char *name,
                       struct arena *arena,
                       struct call_tensors *out,
                       struct err *err) KS_MUST_USE;

#endif

/* The two traces of a diff: base and candidate. */
#ifndef KS_API_DIFF_COMMON_H
#define KS_API_DIFF_COMMON_H

#include "api/call.h"
#include "ingest/model/results/comparison.h"

#include <stdbool.h>
#include <stdint.h>

struct diff_traces {
    int64_t ids[SIDE_COUNT];
    struct store_trace *traces[SIDE_COUNT];
};

/* Reads `base=` and `candidate=`, ids of traces. ERR_BAD_REQUEST without them; ERR_NOT_FOUND for a
 * trace that does not exist or has no events. */
bool diff_traces_read(struct diff_traces *traces,
                      struct api_call *call,
                      struct err *err) KS_MUST_USE;
/* Writes the members base and candidate: the traces as in the catalogue. */
bool diff_traces_members(struct json_write *w,
                         struct api_call *call,
                         const struct diff_traces *traces,
                         struct err *err) KS_MUST_USE;

#endif

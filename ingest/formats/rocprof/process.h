/* One process of a recording of rocprofv3 [FMT-3.1]. Its records refer to names that may stand
 * behind them, so its text is walked before it is relayed. */
#ifndef KS_FORMATS_ROCPROF_PROCESS_H
#define KS_FORMATS_ROCPROF_PROCESS_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/formats/format.h"
#include "ingest/formats/json/walk.h"
#include "ingest/model/trace.h"

#include <stdbool.h>
#include <stdint.h>

/* Where it stands in the file, whose bytes outlive it. */
struct rocprof_process {
    struct json_walk walk; /* in front of its object */
    const char *begin;     /* of the file */
    /* Of the last one; WARNING_NO_OFFSET: nowhere. */
    uint64_t cut_at;    /* where the file breaks off behind it */
    uint64_t trails_at; /* where text follows the end of the document */
};

struct rocprof_look {
    int64_t pid; /* RELAY_NONE: not said */
    bool has_record;
};

/* Steps over a process, and says what is in it. */
void rocprof_process_look(struct json_walk *walk, struct rocprof_look *look);
/* Errors: those of relay_read. The trace is the caller's. */
bool rocprof_process_read(const struct rocprof_process *place,
                          const struct format_options *options,
                          struct trace **out,
                          struct err *err) KS_MUST_USE;

#endif

/* The list of events of trace_view.json on its way, each kernel with what kernel_details.csv says
 * of it among its arguments [FMT-1.3c]. */
#ifndef KS_FORMATS_ASCEND_JOIN_H
#define KS_FORMATS_ASCEND_JOIN_H

#include "ingest/base/attr.h"
#include "ingest/base/text/buf.h"
#include "ingest/formats/ascend/kernel_details.h"

#include <stdbool.h>
#include <stddef.h>

struct ascend_join {
    const struct kernel_details *details;
    struct buf held; /* the begin of an event whose end is not there yet */
    struct buf out;  /* for the reader */
    bool is_over;    /* the list has ended, or is damaged: the rest passes as it is */
};

void ascend_join_init(struct ascend_join *join, const struct kernel_details *details);
void ascend_join_free(struct ascend_join *join);
/* The next bytes behind the list's bracket; what can be told of them is in `out`, until the next
 * call. False without memory. */
bool ascend_join_feed(struct ascend_join *join, const char *bytes, size_t len) KS_MUST_USE;
/* The file has ended: the rest is in `out`. */
bool ascend_join_end(struct ascend_join *join) KS_MUST_USE;

#endif

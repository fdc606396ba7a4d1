/* The stages of index_build, in the order in which they run. Each fills its part of the index and
 * answers false without memory. */
#ifndef KS_INDEX_STAGES_H
#define KS_INDEX_STAGES_H

#include "ingest/base/attr.h"
#include "ingest/index/index.h"

#include <stdbool.h>

/* class, class_count. Host annotations named as steps have INDEX_STEP from here on. */
bool index_classify(struct trace_index *index) KS_MUST_USE;
/* track_thread, threads, in_order, streams, device_work. */
bool index_order(struct trace_index *index) KS_MUST_USE;
/* parent, end, self_ns; operator of host events. */
bool index_nest(struct trace_index *index) KS_MUST_USE;
/* launch, launched; operator of device work. */
bool index_link(struct trace_index *index) KS_MUST_USE;
/* steps, step. Steps that do not count become INDEX_ANNOTATION. */
bool index_find_steps(struct trace_index *index) KS_MUST_USE;

#endif

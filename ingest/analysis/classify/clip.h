/* A trace cut down to a window of time, before it is analysed. */
#ifndef KS_ANALYSIS_CLASSIFY_CLIP_H
#define KS_ANALYSIS_CLASSIFY_CLIP_H

#include "ingest/base/attr.h"
#include "ingest/model/trace.h"

#include <stdbool.h>
#include <stdint.h>

/* Complete events (X) with a duration keep what of it lies in [from_ns, to_ns] (in the file's
 * times, the base time not added); those that only touch the window, and whatever else stands
 * outside of it, lose their time, so that no analysis counts them (EVENT_NO_TS). Events without
 * time stay as they are.
 *
 * What covers the whole window all has the same times then, and analyses take such events for
 * nested in the order of the file: they change places, so that the outer one stands before the
 * inner one. False without memory. */
bool clip_events(struct trace *trace, int64_t from_ns, int64_t to_ns) KS_MUST_USE;

#endif

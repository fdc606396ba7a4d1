/* What the resources of a trace's events share: which trace, which time, and what is said when its
 * events are not there. */
#ifndef KS_API_TIMELINE_COMMON_H
#define KS_API_TIMELINE_COMMON_H

#include "api/call.h"
#include "ingest/model/timeline.h"

#include <stdbool.h>
#include <stdint.h>

/* Times in parameters: far beyond any trace, and sums of them fit 64 bits. */
#define TIMELINE_TIME_MAX_NS (INT64_C(1) << 62)

/* The trace in params[0]. ERR_NOT_FOUND, also for uploads that hold no events (kernel tables). */
bool timeline_trace(struct store_trace **trace, struct api_call *call, struct err *err) KS_MUST_USE;
/* The same with its timeline. ERR_GONE: see timeline_gone. */
bool timeline_load(struct store_trace **trace,
                   struct timeline **timeline,
                   struct api_call *call,
                   struct err *err) KS_MUST_USE;
/* Puts "upload it again" in the place of an ERR_GONE; other errors stay. Returns false. */
bool timeline_gone(struct err *err);

/* `start_ns=` and `end_ns=`, which keep their values where they are absent. ERR_BAD_REQUEST for
 * what is no time, and unless start < end (start <= end where `may_be_empty`). */
bool timeline_range(int64_t *start_ns,
                    int64_t *end_ns,
                    bool may_be_empty,
                    const struct api_call *call,
                    struct err *err) KS_MUST_USE;

#endif

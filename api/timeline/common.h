/* Shared by the routes over a trace's events: which trace, which window, and the error when its
 * events are gone. */
#ifndef KS_API_TIMELINE_COMMON_H
#define KS_API_TIMELINE_COMMON_H

#include "api/call.h"
#include "api/table/table_view.h"
#include "ingest/jobs/on_request/analyses.h"
#include "ingest/model/timeline.h"

#include <stdbool.h>
#include <stdint.h>

/* Bounds of times in parameters: far beyond any trace, and their sums fit 64 bits. */
#define TIMELINE_TIME_MAX_NS (INT64_C(1) << 62)

/* The trace in params[0]. ERR_NOT_FOUND, also for uploads without events (kernel tables). */
bool timeline_trace(struct store_trace **trace, struct api_call *call, struct err *err) KS_MUST_USE;
/* Also reads its timeline, and has it built first if this is the first request for it. ERR_GONE:
 * see timeline_gone. */
bool timeline_load(struct store_trace **trace,
                   struct timeline **timeline,
                   struct api_call *call,
                   struct err *err) KS_MUST_USE;
/* Adds the advice "upload it again" to an ERR_GONE; leaves other errors alone. Returns false. */
bool timeline_gone(struct err *err);

/* The number of an event in params[1]. ERR_NOT_FOUND for anything but one. */
bool timeline_event_number(const struct api_call *call,
                           uint32_t *number,
                           struct err *err) KS_MUST_USE;

/* Answers with the rows that an analysis gives of the events of the trace in params[0]. */
bool timeline_answer_rows(struct api_call *call,
                          struct table_view *view,
                          const char *default_sort,
                          rows_analysis *analyse,
                          struct err *err) KS_MUST_USE;

/* Reads `start_ns=` and `end_ns=`; absent ones keep their value. ERR_BAD_REQUEST for anything but a
 * time, and unless start < end (start <= end where `may_be_empty`). */
bool timeline_range(int64_t *start_ns,
                    int64_t *end_ns,
                    bool may_be_empty,
                    const struct api_call *call,
                    struct err *err) KS_MUST_USE;

#endif

/* What the analyses of idle time and launches start from [CAU-0]: the events that take part, what
 * launched what, and device work stream by stream.
 *
 *     trace ─► causes (roles, launches, streams) ─► idle      why a stream waited
 *                                                └► launches  what a launch cost, how long its
 * queue was
 *
 * The rules differ from those of the trace index, since the published figures do: the launch of
 * device work is the last call with its correlation, and categories count by their words. */
#ifndef KS_ANALYSIS_CAUSES_CAUSES_H
#define KS_ANALYSIS_CAUSES_CAUSES_H

#include "ingest/base/attr.h"
#include "ingest/model/tables/table.h"
#include "ingest/model/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CAUSES_NONE UINT32_MAX
/* "Not there" in results: a figure of no values. */
#define CAUSES_UNKNOWN INT64_MIN

enum causes_role {
    CAUSES_LEFT_OUT,
    CAUSES_OPERATOR,
    CAUSES_CALL,
    CAUSES_PYTHON,
    CAUSES_ANNOTATION, /* of the host */
    CAUSES_DEVICE,     /* a kernel, copy or set on a stream */
    /* What names a stream and is no device work: of no thread, though it may launch. */
    CAUSES_STREAM_OPERATOR,
    CAUSES_STREAM_CALL,
    CAUSES_STREAM_OTHER
};

/* What a name says; bits. */
enum causes_name {
    CAUSES_LAUNCHES = 1,     /* a call that launches work */
    CAUSES_SYNCHRONISES = 2, /* a call that waits */
    CAUSES_LOADS_DATA = 4,   /* a DataLoader or DataPipe */
    CAUSES_IS_STEP = 8,      /* ProfilerStep#<N> */
    CAUSES_RECORDS_WAIT = 16 /* what the device says of a wait of the host */
};

/* Device work in order of device, stream, start, then file order. */
struct causes_stream {
    int64_t device; /* argument `device`, else the process number; -1: neither */
    int64_t stream;
    uint32_t first, end; /* of `by_stream` */
};

struct causes {
    const struct trace *trace;
    uint8_t *role;    /* enum causes_role, by event */
    uint8_t *names;   /* enum causes_name, by string id */
    uint32_t *launch; /* by event: the call of device work; CAUSES_NONE: none */
    uint32_t *by_stream;
    uint32_t device_count;         /* of by_stream */
    struct causes_stream *streams; /* in order of device and stream */
    uint32_t stream_count;
};

/* The number of an event as rows have it. */
static inline int64_t causes_known(uint32_t event)
{
    return event == CAUSES_NONE ? CAUSES_UNKNOWN : (int64_t)event;
}

enum causes_last_step { CAUSES_KEEP_LAST_STEP, CAUSES_DROP_LAST_STEP };

/* CAUSES_DROP_LAST_STEP: of a trace with several steps, only what starts before the last one, and
 * the work it launched. O(n log n). False without memory; must be freed in either case. The trace
 * must outlive it. */
bool causes_build(struct causes *causes,
                  const struct trace *trace,
                  enum causes_last_step last_step) KS_MUST_USE;
void causes_free(struct causes *causes);

/* The work of the device whose streams begin at *stream, in order of start, then of the file, put
 * into `work`, which has room for all of by_stream; *stream becomes the next device's. False
 * without memory. */
bool causes_device_work(const struct causes *causes,
                        uint32_t *stream,
                        uint32_t *work,
                        uint32_t *count) KS_MUST_USE;

static inline enum causes_role causes_role(const struct causes *causes, uint32_t event)
{
    return (enum causes_role)causes->role[event];
}

static inline bool
causes_name_is(const struct causes *causes, uint32_t event, enum causes_name what)
{
    return (causes->names[causes->trace->events.name[event]] & (unsigned)what) != 0;
}

/* Operators and calls, whether they name a stream or not. */
static inline bool causes_is_operator(const struct causes *causes, uint32_t event)
{
    return causes->role[event] == CAUSES_OPERATOR || causes->role[event] == CAUSES_STREAM_OPERATOR;
}

static inline bool causes_is_call(const struct causes *causes, uint32_t event)
{
    return causes->role[event] == CAUSES_CALL || causes->role[event] == CAUSES_STREAM_CALL;
}

/* Whether it is a complete event with a duration and a category; the span of a whole trace is none
 * [CAU-0b]. */
bool causes_takes_part(const struct trace *trace, uint32_t event);
/* The same of all events of a class. */
bool causes_class_takes_part(const struct trace *trace, const struct event_class *class);
/* Correlation of 0 and above; -1: none. */
int64_t causes_correlation(const struct trace *trace, uint32_t event);

/* The argument `device`, else the process number; -1: neither. */
int64_t causes_device(const struct trace *trace, uint32_t event);
/* The argument `stream` of what can be device work; below 0: none. */
int64_t causes_stream(const struct trace *trace, uint32_t event);

/* Figures of a set of values; those of an empty one are NaN and CAUSES_UNKNOWN. */
struct causes_spread {
    int64_t sum_ns;
#define TABLE_DEF "ingest/model/tables/causes/spread.def"
#include "ingest/model/tables/struct.h"
};

extern const struct row_table table_causes_spread;

/* Sorts the values. */
void causes_spread(int64_t *values, size_t count, struct causes_spread *out);

#endif

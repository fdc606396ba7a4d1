/* Turns the slices of an event into a row of the model. */
#ifndef KS_FORMATS_CHROME_JSON_BUILD_H
#define KS_FORMATS_CHROME_JSON_BUILD_H

#include "ingest/base/attr.h"
#include "ingest/formats/chrome_json/lookup.h"
#include "ingest/formats/event_log/event.h"
#include "ingest/formats/json/text_stream.h"
#include "ingest/model/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a number of an event is to its row. */
enum kineto_use {
    KINETO_USE_TS, /* both are times */
    KINETO_USE_DUR,
    KINETO_USE_CORRELATION,
    KINETO_USE_EXTERNAL_ID,
    KINETO_USE_ADDR, /* of memory records: the 64-bit numbers of struct memory_args */
    KINETO_USE_BYTES,
    KINETO_USE_ALLOCATED,
    KINETO_USE_RESERVED,
    KINETO_USE_NONE,
    KINETO_USES
};

/* A row that others are to be like: its numbers (times in ns), and what they have in common. */
struct kineto_row {
    int64_t numbers[KINETO_USES];
    uint32_t name;
    uint32_t track;
    uint32_t class;
    uint32_t args; /* of memory records: an entry that theirs are like */
    bool is_memory;
};

struct kineto_build {
    struct trace *trace;
    const struct text_stream *stream; /* in whose window the events lie */
    struct kineto_lookup lookup;
    struct op_args no_op_args; /* what an operator without arguments has */
    bool wants_inputs;         /* operator_inputs of struct format_options */
    struct buf nested;         /* the text under `args.args`, decoded */
    /* Where the members of the event at hand are noted, unless it is like one before. */
    struct kineto_members members;
};

/* `log`: see kineto_lookup_init. */
bool kineto_build_init(struct kineto_build *build,
                       struct trace *trace,
                       const struct text_stream *stream,
                       struct event_texts *log) KS_MUST_USE;
void kineto_build_free(struct kineto_build *build);

/* Appends the event; false without memory (or when there are 2^32 events). */
bool kineto_build_add(struct kineto_build *build, const struct kineto_event *event) KS_MUST_USE;

/* What rows have done to the trace besides being there: a number that grows. */
uint64_t kineto_build_effects(const struct kineto_build *build);
/* The last row, which is the event's. */
struct kineto_row kineto_build_last(const struct kineto_build *build);
/* How that row uses the number at event->values[place]; KINETO_USES: the number alone does not tell
 * what the row has. In kineto_args.c. */
enum kineto_use kineto_build_use(const struct kineto_build *build,
                                 const struct kineto_event *event,
                                 uint32_t place,
                                 bool is_decimal);
/* Appends a row like that one but for its numbers, of which times are from 0 to JSON_TIME_MAX_NS
 * and the others above -2^62. False without memory. */
bool kineto_build_add_like(struct kineto_build *build,
                           const struct kineto_row *row,
                           const int64_t numbers[KINETO_USES]) KS_MUST_USE;

/* Fills the columns that depend on the arguments: `args`, `correlation`, `external_id` and flags,
 * by the row's kind and phase. False without memory. In kineto_args.c. */
bool kineto_build_args(struct kineto_build *build,
                       const struct kineto_event *event,
                       struct trace_event *row) KS_MUST_USE;

/* Adds what only the analysis of cycles asks for (struct event_extra) of the event, which has the
 * number `number`, if there is any of it. False without memory. In kineto_extra.c. */
bool kineto_build_extra(struct kineto_build *build,
                        const struct kineto_event *event,
                        const struct trace_event *row,
                        uint32_t number) KS_MUST_USE;

/* Adds the series of a counter event (ph C), which has the number `number`. False without memory.
 * In kineto_extra.c. */
bool kineto_build_counters(struct kineto_build *build,
                           const struct kineto_event *event,
                           uint32_t number) KS_MUST_USE;

/* Whether kineto_build_extra could have something to add: false for what profilers of PyTorch
 * write. */
static inline bool kineto_build_has_extra(const struct kineto_event *event,
                                          const struct trace_event *row)
{
    const uint64_t always =
        (uint64_t)1 << ARG_ARGS | (uint64_t)1 << ARG_HOSTNAME | (uint64_t)1 << ARG_VALUE;
    const uint64_t sometimes = (uint64_t)1 << ARG_DEVICE | (uint64_t)1 << ARG_CORRELATION;
    if (KS_LIKELY((event->has_args & (always | sometimes)) == 0)) {
        return false;
    }
    bool has_columns =
        row->kind == EVENT_KERNEL || row->kind == EVENT_MEMCPY || row->kind == EVENT_MEMSET;
    return (event->has_args & always) != 0 ||
           (kineto_event_has_arg(event, ARG_DEVICE) &&
            (!has_columns || event->args[ARG_DEVICE].kind != JSON_KIND_NUMBER)) ||
           (kineto_event_has_arg(event, ARG_CORRELATION) &&
            event->args[ARG_CORRELATION].kind != JSON_KIND_NUMBER);
}

/* Leaves out a `Record Window End` that stands far behind the start of the recording [TB-2e]. To be
 * called once, after the last event. False without memory. */
bool kineto_build_repair_window(struct kineto_build *build) KS_MUST_USE;

/* Bytes of the model and of the look-up tables. */
size_t kineto_build_memory(const struct kineto_build *build);

#endif

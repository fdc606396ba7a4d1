/* The event log: everything a trace says about its events. Each element of `traceEvents` in file
 * order, with its keys and values as written, in batches that a reader hands on while it reads.
 * Nothing here knows what a key means.
 *
 *     {"ph": "X", "cat": "cpu_op", "ts": 17.250, "args": {"External id": 7, "Input Dims": [[2]]}}
 *
 *     template   "ph" text, "cat" text, "ts" decimal,
 *                args { "External id" integer, "Input Dims" text }
 *     values     12, 13, 17250 3, 7, 14
 *
 * An event is the number of its template, and its values. Texts are proper JSON (one line, no space
 * around), so a string has its quotes; equal texts have one id. Of repeated keys the last value
 * stands in the first one's place. Bare values are null (NaN); N/A is a text. */
#ifndef KS_MODEL_EVENT_LOG_H
#define KS_MODEL_EVENT_LOG_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/base/text/strtab.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Events of a batch; the last batch of a log has fewer. */
#define EVENT_BATCH_EVENTS 8192u
/* Beyond this many templates, an event becomes one EVENT_SLOT_TEXT without a key: the whole object
 * as a text. So does an event with more than EVENT_KEYS_MAX keys. */
#define EVENT_TEMPLATES_MAX 4096u
#define EVENT_KEYS_MAX 256u
/* The key of a slot that holds the whole event. */
#define EVENT_KEY_NONE UINT32_MAX

enum event_slot_kind {
    EVENT_SLOT_INT,     /* a JSON integer within int64 that prints as it was written: 1 value */
    EVENT_SLOT_DECIMAL, /* -?digits.digits: 2 values, the number without its point (at most 19
                           digits) and the digits behind the point; no surplus leading zeros, and
                           not -0.… */
    EVENT_SLOT_TEXT     /* anything else: 1 value, a text id */
};

struct event_slot {
    uint32_t key; /* text id: the key as a JSON string */
    uint8_t kind; /* enum event_slot_kind */
    bool in_args; /* a member of the object `args`; these slots come after all others */
};

struct event_template {
    struct event_slot *slots;
    uint32_t slot_count;
    uint32_t value_count; /* of one event */
    bool has_args;        /* the event has an object `args`, perhaps empty */
};

/* What the batches of one trace share; grows with each batch. The reader owns it. */
struct event_log {
    struct strtab *texts; /* id 0 is the empty text, which is no value's */
    struct event_template *templates;
    uint32_t template_count;
    uint32_t event_count; /* of all batches so far */
    const char *head;     /* members of the document beside the events, as JSON without braces:
                             "\"schemaVersion\": 1, \"deviceProperties\": []"; set at the end, "" for a
                             bare list. Members of more than 16 MB, and what exceeds 64 MB in all, are
                             left out. */
};

struct event_batch {
    uint32_t first_event; /* number of its first event: its position among the elements */
    uint32_t event_count;
    const uint32_t *templates; /* [event_count] */
    const int64_t *values;     /* values of the first event, then of the second, ... */
    size_t value_count;
};

/* Receives the batches, one call at a time, perhaps on a thread of the reader's. `take` and `end`
 * return false with *err set to stop the reading. Log and batch are valid during the call. A trace
 * that cannot be read gets no `end`. */
struct event_sink {
    void *context;
    bool (*take)(void *context,
                 const struct event_log *log,
                 const struct event_batch *batch,
                 struct err *err);
    /* After the last batch of a trace that could be read; `head` is set. */
    bool (*end)(void *context, const struct event_log *log, struct err *err);
};

/* ---- reading a stored log again ---- */

/* Value i is at values[i * stride]. */
struct event_column {
    const int64_t *values;
    unsigned stride;
};

/* An event of a stored log, unpacked by column. */
struct stored_event {
    uint32_t template_number;              /* equal ones have equal templates */
    const struct event_template *template; /* slots[i].key: index into keys, or EVENT_KEY_NONE */
    const char *const *keys;               /* JSON strings */
    const struct event_column *columns;    /* one a value; texts are indices into text_ids */
    uint32_t row;
    const uint32_t *text_ids; /* of the log: equal texts have equal ids */
};

static inline int64_t stored_event_value(const struct stored_event *event, uint32_t value)
{
    const struct event_column *column = &event->columns[value];
    return column->values[(size_t)event->row * column->stride];
}

/* Gives the events of a stored log in file order. What `next` gives is valid until it is called
 * again. */
struct event_source {
    void *context;
    uint32_t event_count; /* at most */
    /* *found: there is one more. False with *err set. */
    bool (*next)(void *context, struct stored_event *out, bool *found, struct err *err);
    /* The event that `next` gave, as JSON. False with *err set. */
    bool (*print)(void *context, const char **text, size_t *len, struct err *err);
};

#endif

/* Events of another recorder on their way into the model.
 *
 *     a reader -> relay (text of Chrome trace events) -> chrome_json -> trace, event log
 *
 * A reader says what each record is; the relay writes it as the event that PyTorch's profiler would
 * have written, and chrome_json reads that as any trace. So a file of any format has the model, the
 * stored events, the timeline and the export of a Chrome trace, and none of these knows the format.
 * The text is made a piece at a time, while it is read: it takes no memory to speak of. */
#ifndef KS_FORMATS_RELAY_RELAY_H
#define KS_FORMATS_RELAY_RELAY_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/base/text/buf.h"
#include "ingest/base/text/json_write.h"
#include "ingest/formats/format.h"
#include "ingest/formats/relay/kernel_metrics.h"
#include "ingest/formats/relay/op_types.h"
#include "ingest/model/recorders/recorded.h"
#include "ingest/model/warning.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RELAY_NONE INT64_MIN
#define RELAY_SKIPS_MAX 64
#define RELAY_WHAT_BYTES 160
/* Longer names are cut [FMT-0.4]. */
#define RELAY_NAME_BYTES_MAX ((size_t)1 << 20)

/* What a record is [FMT-0.1a]. */
enum relay_role {
    RELAY_KERNEL,
    RELAY_COMMUNICATION,
    RELAY_MEMCPY,
    RELAY_MEMSET,
    RELAY_OPERATOR,
    RELAY_STEP,
    RELAY_ANNOTATION,
    RELAY_RUNTIME,
    RELAY_HOST,
    RELAY_SYNC,
    RELAY_DEVICE_OTHER,
    RELAY_MARK,
    RELAY_COUNTER,
    RELAY_OPEN,  /* began and did not end: drawn to the end of the trace, and in no total */
    RELAY_MEMORY /* a counter whose series are bytes of memory by category [FMT-7] */
};

/* A record. Device records stand on their device's stream, all others on a thread. Zeroed texts and
 * RELAY_NONE: not said. */
struct relay_event {
    enum relay_role role;
    const char *name;
    size_t name_len;
    int64_t start_ns;     /* RELAY_NONE: not known */
    int64_t dur_ns;       /* below 0: read as 0, and counted */
    const char *category; /* NULL: that of the role */
    const char *process;  /* name in place of `pid` */
    int64_t pid, tid;
    int64_t device, stream, correlation, external_id;
    bool is_linked; /* device records: the record that launched it is in the file */
};

struct relay_skip {
    char what[RELAY_WHAT_BYTES];
    const char *reason; /* static text */
    int64_t count;
};

struct relay {
    const char *recorder; /* static text or NULL */
    char format_version[64];
    struct json_write head;        /* members of the trace beside its events: baseTimeNanoseconds,
                                      distributedInfo, deviceProperties, environment; an open object */
    struct json_write args;        /* of the event at hand */
    struct json_write collectives; /* an open array of struct collective_times as objects */
    const struct relay_op_types *op_types; /* NULL: none */
    const struct relay_memory *memory;
    const struct relay_metrics *metrics;
    struct warnings warnings;
    struct buf texts[3];
    struct relay_skip skips[RELAY_SKIPS_MAX];
    size_t skip_count;
    int64_t linked;
    uint64_t event_count;  /* of the text */
    uint64_t record_count; /* of these, those that are records */
    int stage;
    bool (*more)(void *context, struct relay *relay, bool *ended, struct err *err);
    void *context;
};

struct relay_event relay_blank(enum relay_role role);
/* The name outlives the event. */
void relay_set_name(struct relay_event *event, const char *name);
/* By the name, where the format does not say it [FMT-0.1e]. */
bool relay_is_communication(const char *name, size_t len);

void relay_init(struct relay *relay, const char *recorder);
void relay_free(struct relay *relay);

/* Begins a record; its further arguments may be written to relay->args, then relay_end. */
void relay_begin(struct relay *relay, const struct relay_event *event);
void relay_end(struct relay *relay);
void relay_add(struct relay *relay, const struct relay_event *event); /* both */
/* Names of a process and of a thread or stream. Device records: pid is the device. */
void relay_label(struct relay *relay,
                 const struct relay_event *of,
                 const char *kind,
                 const char *label);
/* Counts what was left out [FMT-0.2a]; beyond RELAY_SKIPS_MAX kinds under "others". */
void relay_skip(struct relay *relay, const char *what, const char *reason, int64_t count);

/* What a file says of itself beside its records, as an object: to be called once, at the end. */
void relay_write_recorded(struct relay *relay, struct json_write *w);

/* Reads what `more` relays: it is called until *ended, adds some records each time, and runs on the
 * thread of the reader of the text. Its errors are those of relay_read, besides those of
 * kineto_read. The item is the caller's. */
bool relay_read(struct relay *relay,
                bool (*more)(void *context, struct relay *relay, bool *ended, struct err *err),
                void *context,
                const struct format_options *options,
                struct trace **out,
                struct err *err) KS_MUST_USE;

#endif

/* Chrome trace JSON, as PyTorch's profiler (kineto) and its forks write it, read in one pass.
 *
 *     text_stream -> kineto_reader (top level) -> kineto_events (one event at a time, repairs)
 *         -> scan_template (an event that comes again), key_path (one that is written like one
 *         before) or kineto_event (slices) -> kineto_build (rows)
 *
 * The events of a stored trace come from its log instead (kineto_read_stored).
 *
 * Whatever is wrong with the text is repaired or skipped and counted in the trace's warnings. */
#ifndef KS_FORMATS_CHROME_JSON_READER_H
#define KS_FORMATS_CHROME_JSON_READER_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/formats/chrome_json/build.h"
#include "ingest/formats/chrome_json/scan/key_path.h"
#include "ingest/formats/chrome_json/scan/template.h"
#include "ingest/formats/event_log/recorder.h"
#include "ingest/formats/format.h"
#include "ingest/formats/json/lenient.h"
#include "ingest/formats/json/text_stream.h"
#include "ingest/model/trace.h"

#include <stdbool.h>
#include <stddef.h>

/* An event, or another value that must lie in memory as a whole, may be of this size. */
#define KINETO_VALUE_BYTES_MAX ((ptrdiff_t)64 << 20)

/* Reads the trace at the stream's place, which is at its first `{` or `[`, or what damage left of
 * it. *out is the caller's, and *recorder, which is NULL unless
 * `options` lets the events end later. Errors: ERR_UNSUPPORTED (JSON, but no trace), ERR_BAD_INPUT
 * (no readable event), ERR_TOO_LARGE (more memory than the budget, 0: none), ERR_NO_MEMORY, and
 * those of input_next and of the sink of events. */
bool kineto_read(struct text_stream *stream,
                 const struct format_options *options,
                 struct trace **out,
                 struct event_recorder **recorder,
                 struct err *err) KS_MUST_USE;

/* --- shared by kineto_reader.c, kineto_events.c and kineto_meta.c --- */

enum kineto_status { KINETO_GOOD, KINETO_END, KINETO_FAILED };

#define KINETO_KEY_BYTES 64
#define KINETO_FIRST_KEYS_BYTES 160

/* From where to where the text was searched for the key of the list of events. */
struct kineto_searched {
    uint64_t from_off;
    uint64_t to_off;
    bool found; /* it is at to_off */
};

struct kineto_reader {
    struct text_stream *stream;
    struct trace *trace;
    struct kineto_build build;
    struct key_paths paths;
    struct scan_templates forms;
    struct event_recorder *recorder;   /* NULL: nobody wants the events */
    const struct event_source *stored; /* NULL: the events are in the text */
    size_t memory_budget_bytes;
    uint64_t max_events; /* 0: no bound */
    bool operator_inputs;
    struct err *err;
    bool is_bare;                    /* the document is the array, or a list without brackets */
    bool has_events;                 /* a list of events was met */
    struct kineto_searched searched; /* until then */
    bool comma_due; /* on the top level: a member was read, or a damaged place passed */
    bool after_comma;
    bool item_read;                           /* the last step through the list took a whole item */
    char first_keys[KINETO_FIRST_KEYS_BYTES]; /* of the top level, for the refusal */
};

/* Makes the window longer. KINETO_END: there is nothing more. */
enum kineto_status kineto_more(struct kineto_reader *reader) KS_MUST_USE;
/* The same where the window has ended, until there is a byte that is no space. */
enum kineto_status kineto_peek_on(struct kineto_reader *reader) KS_MUST_USE;

/* Skips the spaces of the window. False: there is nothing else in it. */
static inline bool kineto_skip_space(struct text_stream *stream)
{
    stream->at = json_behind_space(stream->at, stream->end);
    return stream->at < stream->end;
}

/* Skips spaces; KINETO_GOOD: stream->at is at a byte. */
static inline enum kineto_status kineto_peek(struct kineto_reader *reader)
{
    return KS_LIKELY(kineto_skip_space(reader->stream)) ? KINETO_GOOD : kineto_peek_on(reader);
}

void kineto_warn(struct kineto_reader *reader, enum warning_code code, const char *at);

/* From the opening bracket (in a list without brackets: from its first event) to behind the closing
 * one. KINETO_END: the text ended before; the warning has been counted. */
enum kineto_status kineto_read_events(struct kineto_reader *reader) KS_MUST_USE;

/* Appends the rows of all events of reader->stored. In stored.c. */
enum kineto_status kineto_read_stored(struct kineto_reader *reader) KS_MUST_USE;

/* KINETO_FAILED with the error set: the limits of events and memory. */
bool kineto_within_limits(struct kineto_reader *reader) KS_MUST_USE;

/* Where the way back is looked for: an event; within the list, also the list's end (a bracket that
 * closes it, with something behind it that fits); on the top level, an event or a known key. */
enum kineto_search { SEARCH_EVENT, SEARCH_LIST, SEARCH_TOP };

/* stream->at is at `found`: '{', ']', or the ':' behind the key. */
struct kineto_landmark {
    char found;
    struct json_value key;
};

/* Goes to the next landmark. KINETO_END: there is none. */
enum kineto_status kineto_resync(struct kineto_reader *reader,
                                 enum kineto_search search,
                                 struct kineto_landmark *landmark) KS_MUST_USE;

/* Whether an object at stream->at is an event: a whole proper object with `ph`. */
enum kineto_status kineto_is_event(struct kineto_reader *reader, bool *is_event) KS_MUST_USE;

/* Whether profilers write this key at the top level. */
bool kineto_is_top_key(const char *key, size_t len);
/* Keeps a value of the top level: scalars as metadata, what is known besides in its own place.
 * False without memory (the error is set). */
bool kineto_take_meta(struct kineto_reader *reader,
                      const char *key,
                      const struct json_value *value) KS_MUST_USE;
/* Keeps the object of the member KINETO_RECORDED_KEY. In recorded.c. False without memory (the
 * error is set). */
bool kineto_take_recorded(struct kineto_reader *reader, const struct json_value *value) KS_MUST_USE;
#define KINETO_RECORDED_KEY "kinetoscope"

#endif

/* The top level: an object with the list of events among its keys, a bare list, or events without
 * any bracket. */
#include "ingest/formats/chrome_json/reader.h"

#include "ingest/formats/chrome_json/recorders/ascend.h"
#include "ingest/formats/chrome_json/recorders/ascend_inputs.h"
#include "ingest/formats/chrome_json/recorders/autograd.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Scalars of the top level are kept as metadata up to this size. */
#define META_BYTES_MAX ((ptrdiff_t)1 << 20)
#define EVENTS "traceEvents"
#define EVENTS_KEY "\"" EVENTS "\""
#define EVENTS_KEY_BYTES (sizeof EVENTS_KEY - 1)

void kineto_warn(struct kineto_reader *reader, enum warning_code code, const char *at)
{
    warning_add(&reader->trace->warnings, code, text_stream_offset(reader->stream, at));
}

/* --- windows --- */

bool kineto_within_limits(struct kineto_reader *reader)
{
    if (reader->max_events != 0 && reader->trace->events.count > reader->max_events) {
        return err_set_at(reader->err, ERR_TOO_LARGE,
                          text_stream_offset(reader->stream, reader->stream->at),
                          "a trace may have %" PRIu64 " events (--max-events)", reader->max_events);
    }
    size_t used = kineto_build_memory(&reader->build) + key_paths_memory(&reader->paths) +
                  scan_templates_memory(&reader->forms) + event_recorder_memory(reader->recorder);
    if (reader->memory_budget_bytes == 0 || used <= reader->memory_budget_bytes) {
        return true;
    }
    return err_set_at(
        reader->err, ERR_TOO_LARGE, text_stream_offset(reader->stream, reader->stream->at),
        "the model of %u events takes %zu MiB and the memory budget is %zu MiB (--ingest-memory)",
        (unsigned)reader->trace->events.count, used >> 20, reader->memory_budget_bytes >> 20);
}

/* By the share of the file that was read; the input is some blocks ahead of what was understood. */
static void tell_expected(const struct kineto_reader *reader)
{
    const struct text_stream *stream = reader->stream;
    double understood = (double)text_stream_offset(stream, stream->at) + 1;
    double ahead = (double)(INPUT_BLOCKS * INPUT_BLOCK_BYTES);
    double share =
        (double)(input_bytes_read(stream->in) + 1) / (double)(input_bytes_total(stream->in) + 1);
    double count = (double)reader->trace->events.count * (understood + ahead) / understood / share;
    trace_expect(reader->trace, share <= 1 && count < UINT32_MAX ? (uint64_t)count : 0);
}

enum kineto_status kineto_more(struct kineto_reader *reader)
{
    struct text_stream *stream = reader->stream;
    if (stream->ended) {
        return KINETO_END;
    }
    if (reader->stored == NULL) {
        tell_expected(reader);
    }
    ptrdiff_t before = stream->end - stream->at;
    if (!kineto_within_limits(reader) || !text_stream_more(stream, reader->err)) {
        return KINETO_FAILED;
    }
    return stream->end - stream->at > before ? KINETO_GOOD : KINETO_END;
}

enum kineto_status kineto_peek_on(struct kineto_reader *reader)
{
    enum kineto_status status = KINETO_GOOD;
    while (status == KINETO_GOOD && !kineto_skip_space(reader->stream)) {
        status = kineto_more(reader);
    }
    return status;
}

/* --- values of the top level --- */

/* The text ends within what began at `offset`. */
static enum kineto_status cut_at(struct kineto_reader *reader, uint64_t offset)
{
    warning_add(&reader->trace->warnings, WARN_TRUNCATED, offset);
    reader->stream->at = reader->stream->end;
    return KINETO_END;
}

/* Looks for the key of the list of events from `searched.to_off` on, which moves to the key, to
 * what may be its beginning at the end of the window, or to that end. */
static void search_on(struct kineto_reader *reader)
{
    const struct text_stream *stream = reader->stream;
    struct kineto_searched *searched = &reader->searched;
    const char *end = stream->end;
    const char *at = stream->window + (searched->to_off - stream->window_off);
    searched->to_off = text_stream_offset(stream, end);
    while (at < end && (at = memchr(at, '"', (size_t)(end - at))) != NULL) {
        size_t left = (size_t)(end - at);
        size_t len = left < EVENTS_KEY_BYTES ? left : EVENTS_KEY_BYTES;
        if (memcmp(at, EVENTS_KEY, len) == 0) {
            searched->found = len == EVENTS_KEY_BYTES;
            searched->to_off = text_stream_offset(stream, at);
            return;
        }
        at++;
    }
}

/* Where values of the top level must end: before the list of events, which no damage may swallow. A
 * key's quotes are told from text by the backslashes that text would need. *found: the key is
 * there. Every member asks, so that the text is searched once and what was found remembered. */
static const char *value_limit(struct kineto_reader *reader, bool *found)
{
    const struct text_stream *stream = reader->stream;
    struct kineto_searched *searched = &reader->searched;
    uint64_t at_off = text_stream_offset(stream, stream->at);
    *found = false;
    if (reader->has_events) {
        return stream->end;
    }
    if (at_off < searched->from_off || at_off > searched->to_off) {
        *searched = (struct kineto_searched){.from_off = at_off, .to_off = at_off};
    }
    if (!searched->found) {
        search_on(reader);
    }
    *found = searched->found;
    return stream->window + (searched->to_off - stream->window_off);
}

/* What was skipped though it is no JSON. */
static void warn_of_flaws(struct kineto_reader *reader, unsigned flaws, uint64_t offset)
{
    static const struct {
        unsigned flaw;
        enum warning_code code;
    } codes[] = {{JSON_FLAW_SYNTAX, WARN_SYNTAX},
                 {JSON_FLAW_WORD, WARN_BARE_NAN},
                 {JSON_FLAW_ESCAPE, WARN_BACKSLASH},
                 {JSON_FLAW_CONTROL, WARN_CONTROL_CHARACTER}};
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        if ((flaws & codes[i].flaw) != 0) {
            warning_add(&reader->trace->warnings, codes[i].code, offset);
        }
    }
}

/* A value of any size that is not looked into. *bad: the text is damaged there. */
static enum kineto_status skip_value(struct kineto_reader *reader, bool *bad)
{
    struct text_stream *stream = reader->stream;
    struct json_skip skip = {.depth = 0};
    uint64_t offset = text_stream_offset(stream, stream->at);
    for (;;) {
        bool limited;
        const char *limit = value_limit(reader, &limited);
        enum json_status status = json_skip_value(&skip, &stream->at, limit);
        *bad = status == JSON_BAD || (status == JSON_MORE && limited);
        if (status == JSON_OK) {
            warn_of_flaws(reader, skip.flaws, offset);
        }
        if (status != JSON_MORE || *bad) {
            return KINETO_GOOD;
        }
        enum kineto_status more = kineto_more(reader);
        if (more != KINETO_GOOD) {
            return more == KINETO_END ? cut_at(reader, offset) : more;
        }
    }
}

static struct json_lenient leniently(const struct kineto_reader *reader, const char *end)
{
    return (struct json_lenient){.at = reader->stream->at,
                                 .end = end,
                                 .base = reader->stream->window,
                                 .base_off = reader->stream->window_off,
                                 .is_known_key = kineto_is_top_key};
}

static bool record(struct kineto_reader *reader, const struct json_value *value, const char *end)
{
    struct json_lenient how = leniently(reader, end);
    return reader->recorder == NULL ||
           event_recorder_head_value(reader->recorder, value, &how, reader->err);
}

/* A value that only the log of events wants, if it is whole and not too large. It is not stepped
 * over: skip_value does that, so that the log changes nothing of the reading. */
static enum kineto_status record_value(struct kineto_reader *reader)
{
    struct text_stream *stream = reader->stream;
    for (;;) {
        bool limited;
        struct json_skip skip = {.depth = 0};
        const char *limit = value_limit(reader, &limited);
        const char *end = stream->at;
        enum json_status status = json_skip_value(&skip, &end, limit);
        if (status == JSON_OK) {
            bool is_string = *stream->at == '"';
            struct json_value value = {.ptr = stream->at + is_string,
                                       .len = (uint32_t)(end - stream->at) - 2U * is_string,
                                       .kind = is_string ? JSON_KIND_STRING : JSON_KIND_OBJECT};
            return record(reader, &value, end) ? KINETO_GOOD : KINETO_FAILED;
        }
        bool is_large = stream->end - stream->at > EVENT_HEAD_VALUE_BYTES_MAX;
        if (status == JSON_BAD || limited || is_large) {
            return KINETO_GOOD;
        }
        enum kineto_status more = kineto_more(reader);
        if (more != KINETO_GOOD) {
            return more;
        }
    }
}

/* A value that the model does not need. */
static enum kineto_status pass_value(struct kineto_reader *reader, bool *bad)
{
    if (reader->recorder != NULL && record_value(reader) == KINETO_FAILED) {
        return KINETO_FAILED;
    }
    return skip_value(reader, bad);
}

static enum json_status
scan_value(struct kineto_reader *reader, struct json_value *value, const char **end)
{
    struct text_stream *stream = reader->stream;
    bool limited;
    const char *limit = value_limit(reader, &limited);
    struct json_scan scan = {.at = stream->at, .end = limit};
    enum json_status status = json_scan_value(&scan, value);
    *end = scan.at;
    if (status == JSON_OK && scan.control != NULL) {
        kineto_warn(reader, WARN_CONTROL_CHARACTER, scan.control);
    }
    if (status == JSON_OK || (status == JSON_MORE && !limited)) {
        return status;
    }
    struct json_lenient lenient = leniently(reader, limit);
    status = json_lenient_value(&lenient, value);
    *end = lenient.at;
    if (status == JSON_OK) {
        warnings_merge(&reader->trace->warnings, &lenient.found);
    }
    return status == JSON_MORE && limited ? JSON_BAD : status;
}

static bool is_key(const char *key, const char *name)
{
    return strcmp(key, name) == 0;
}

/* A value that is kept; one that is too large is skipped. */
static enum kineto_status
keep_value(struct kineto_reader *reader, const char *key, ptrdiff_t bytes_max, bool *bad)
{
    struct text_stream *stream = reader->stream;
    uint64_t offset = text_stream_offset(stream, stream->at);
    for (;;) {
        struct json_value value;
        const char *end;
        enum json_status status = scan_value(reader, &value, &end);
        *bad = status == JSON_BAD;
        if (status == JSON_BAD) {
            return KINETO_GOOD;
        }
        if (status == JSON_OK) {
            bool limited;
            bool recorded =
                is_key(key, EVENTS) || record(reader, &value, value_limit(reader, &limited));
            stream->at = end;
            return recorded && kineto_take_meta(reader, key, &value) ? KINETO_GOOD : KINETO_FAILED;
        }
        if (stream->end - stream->at > bytes_max) {
            warning_add(&reader->trace->warnings, WARN_OVERSIZED, offset);
            return pass_value(reader, bad);
        }
        enum kineto_status more = kineto_more(reader);
        if (more != KINETO_GOOD) {
            return more == KINETO_END ? cut_at(reader, offset) : more;
        }
    }
}

/* Whether the array at stream->at begins with an event. */
static enum kineto_status begins_with_event(struct kineto_reader *reader, bool *is_event)
{
    struct text_stream *stream = reader->stream;
    *is_event = false;
    for (;;) {
        const char *at = stream->at + 1;
        while (at < stream->end && json_is_space(*at)) {
            at++;
        }
        enum json_status status =
            at < stream->end ? kineto_event_begins(at, stream->end) : JSON_MORE;
        if (status == JSON_BAD) {
            return KINETO_GOOD;
        }
        if (status == JSON_OK) {
            struct kineto_event event;
            const char *bad;
            status = kineto_event_scan(&event, NULL, at, stream->end, &bad);
            *is_event = status == JSON_OK && kineto_event_has(&event, FIELD_PH);
        }
        if (status != JSON_MORE || stream->end - at > META_BYTES_MAX) {
            return KINETO_GOOD;
        }
        enum kineto_status more = kineto_more(reader);
        if (more != KINETO_GOOD) {
            return more == KINETO_END ? KINETO_GOOD : more;
        }
    }
}

/* The value at stream->at, by its key. */
static enum kineto_status read_value(struct kineto_reader *reader, const char *key, bool *bad)
{
    char c = *reader->stream->at;
    *bad = false;
    if (is_key(key, EVENTS) && c != 'n') {
        *bad = c != '[';
        return *bad ? KINETO_GOOD : kineto_read_events(reader);
    }
    if (is_key(key, "deviceProperties") || is_key(key, "distributedInfo") ||
        is_key(key, KINETO_RECORDED_KEY)) {
        return keep_value(reader, key, KINETO_VALUE_BYTES_MAX, bad);
    }
    if (c == '[' && !reader->has_events) {
        bool is_events;
        uint64_t offset = text_stream_offset(reader->stream, reader->stream->at);
        enum kineto_status status = begins_with_event(reader, &is_events);
        if (status == KINETO_GOOD && is_events) {
            warning_add(&reader->trace->warnings, WARN_NO_TRACE_EVENTS_KEY, offset);
            return kineto_read_events(reader);
        }
        if (status != KINETO_GOOD) {
            return status;
        }
    }
    if (c == '[' || c == '{') {
        return pass_value(reader, bad);
    }
    return keep_value(reader, key, META_BYTES_MAX, bad);
}

/* --- the top level --- */

/* The key's text as a string of its own, for windows move on. Long keys are known to nobody. False
 * without memory. */
static bool
copy_key(struct kineto_reader *reader, const struct json_value *key, char text[KINETO_KEY_BYTES])
{
    size_t len = key->len < KINETO_KEY_BYTES - 1 ? key->len : KINETO_KEY_BYTES - 1;
    memcpy(text, key->ptr, len);
    text[len] = '\0';
    size_t used = strlen(reader->first_keys);
    size_t room = sizeof reader->first_keys - used;
    if (len + 5 < room) {
        (void)snprintf(reader->first_keys + used, room, "%s\"%s\"", used == 0 ? "" : ", ", text);
    }
    return reader->recorder == NULL || event_recorder_head_key(reader->recorder, key, reader->err);
}

/* From a key's opening quote to the first byte of its value; *bad: there is none. */
static enum kineto_status
read_key(struct kineto_reader *reader, char text[KINETO_KEY_BYTES], bool *bad)
{
    struct text_stream *stream = reader->stream;
    for (;;) {
        struct json_scan scan = {.at = stream->at, .end = stream->end};
        struct json_value key;
        enum json_status status = json_scan_string(&scan, &key);
        if (status == JSON_OK && !json_skip_space(&scan)) {
            status = JSON_MORE;
        }
        *bad = status == JSON_BAD || (status == JSON_OK && *scan.at != ':') ||
               (status == JSON_MORE && stream->end - stream->at > META_BYTES_MAX);
        if (*bad) {
            stream->at++;
            return KINETO_GOOD;
        }
        if (status == JSON_OK) {
            if (scan.control != NULL) {
                kineto_warn(reader, WARN_CONTROL_CHARACTER, scan.control);
            }
            stream->at = scan.at + 1;
            return copy_key(reader, &key, text) ? kineto_peek(reader) : KINETO_FAILED;
        }
        enum kineto_status more = kineto_more(reader);
        if (more != KINETO_GOOD) {
            return more;
        }
    }
}

/* Finds the way back after damage on the top level; what is passed over is counted. */
static enum kineto_status recover(struct kineto_reader *reader)
{
    struct text_stream *stream = reader->stream;
    struct kineto_landmark landmark;
    uint64_t begin = text_stream_offset(stream, stream->at);
    enum kineto_status status = kineto_resync(reader, SEARCH_TOP, &landmark);
    uint64_t end = text_stream_offset(stream, stream->at);
    warning_add_times(&reader->trace->warnings, WARN_SKIPPED_BYTES, begin, end - begin);
    if (status == KINETO_END) {
        return cut_at(reader, begin);
    }
    if (status == KINETO_FAILED || landmark.found == '{') {
        return status == KINETO_FAILED ? status : kineto_read_events(reader);
    }
    char key[KINETO_KEY_BYTES];
    bool bad;
    bool good = copy_key(reader, &landmark.key, key);
    stream->at++;
    status = good ? kineto_peek(reader) : KINETO_FAILED;
    if (status != KINETO_GOOD) {
        return status == KINETO_END ? cut_at(reader, end) : status;
    }
    status = read_value(reader, key, &bad);
    stream->at += bad && stream->at < stream->end;
    return status;
}

static enum kineto_status read_member(struct kineto_reader *reader)
{
    char key[KINETO_KEY_BYTES];
    bool bad;
    uint64_t offset = text_stream_offset(reader->stream, reader->stream->at);
    enum kineto_status status = read_key(reader, key, &bad);
    if (status == KINETO_GOOD && !bad) {
        status = read_value(reader, key, &bad);
    } else if (status == KINETO_END) {
        return cut_at(reader, offset);
    }
    if (status == KINETO_GOOD && bad) {
        return recover(reader);
    }
    return status;
}

/* Behind the closing brace: KINETO_GOOD when the document goes on although it was closed. */
static enum kineto_status end_of_document(struct kineto_reader *reader)
{
    enum kineto_status status = kineto_peek(reader);
    if (status != KINETO_GOOD) {
        return status;
    }
    bool is_event = false;
    if (*reader->stream->at == '{') {
        status = kineto_is_event(reader, &is_event);
    }
    bool goes_on =
        is_event || !reader->has_events || *reader->stream->at == ',' || *reader->stream->at == '"';
    if (status == KINETO_GOOD && goes_on) {
        kineto_warn(reader, WARN_SYNTAX, reader->stream->at);
        return KINETO_GOOD;
    }
    if (status == KINETO_GOOD) {
        kineto_warn(reader, WARN_TRAILING, reader->stream->at);
        return KINETO_END;
    }
    return status;
}

/* The commas of the top level; those of damaged places have been warned of. */
static void begin_item(struct kineto_reader *reader, bool fits)
{
    if (!fits) {
        kineto_warn(reader, WARN_SYNTAX, reader->stream->at);
    }
    reader->comma_due = true;
    reader->after_comma = false;
}

/* One item of the document behind its first bracket: members, and events that go on after a false
 * end. */
static enum kineto_status read_item(struct kineto_reader *reader)
{
    struct text_stream *stream = reader->stream;
    bool is_event = false;
    char c = *stream->at;
    switch (c) {
    case ',':
        begin_item(reader, reader->comma_due);
        stream->at++;
        reader->comma_due = false;
        reader->after_comma = true;
        return KINETO_GOOD;
    case '"':
        begin_item(reader, !reader->comma_due);
        return read_member(reader);
    case '}':
        begin_item(reader, !reader->after_comma);
        stream->at++;
        return end_of_document(reader);
    case '{': {
        enum kineto_status status = kineto_is_event(reader, &is_event);
        if (status != KINETO_GOOD) {
            return status;
        }
        if (is_event) {
            kineto_warn(reader, WARN_SYNTAX, stream->at);
            return kineto_read_events(reader);
        }
        return recover(reader);
    }
    default:
        return recover(reader);
    }
}

/* Until the document ends. */
static enum kineto_status read_object(struct kineto_reader *reader)
{
    for (;;) {
        enum kineto_status status = kineto_peek(reader);
        if (status == KINETO_END) {
            kineto_warn(reader, WARN_TRUNCATED, reader->stream->at);
        }
        if (status == KINETO_GOOD) {
            status = read_item(reader);
        }
        if (status != KINETO_GOOD) {
            return status;
        }
    }
}

/* Behind a list that is the document: nothing should follow, but after a false end the list goes
 * on. */
static enum kineto_status read_after_list(struct kineto_reader *reader)
{
    struct text_stream *stream = reader->stream;
    bool has_comma = false;
    for (;;) {
        enum kineto_status status = kineto_peek(reader);
        if (status == KINETO_END && has_comma) {
            kineto_warn(reader, WARN_TRAILING, stream->at);
        }
        if (status != KINETO_GOOD) {
            return status;
        }
        if (*stream->at == ',' && !has_comma) {
            stream->at++;
            has_comma = true;
            continue;
        }
        bool is_event = false;
        status = *stream->at == '{' ? kineto_is_event(reader, &is_event) : KINETO_GOOD;
        if (status == KINETO_FAILED) {
            return status;
        }
        kineto_warn(reader, is_event ? WARN_SYNTAX : WARN_TRAILING, stream->at);
        if (!is_event) {
            return KINETO_END;
        }
        status = kineto_read_events(reader);
        if (status != KINETO_GOOD) {
            return status;
        }
        has_comma = false;
    }
}

/* An object whose first bracket is damaged: it begins with something else, or a key follows where a
 * list has events. */
static bool has_lost_brace(const struct text_stream *stream)
{
    const char *at = stream->at;
    if (*at != '[') {
        return *at != '{';
    }
    do {
        at++;
    } while (at < stream->end && json_is_space(*at));
    return at < stream->end && *at == '"';
}

static enum kineto_status read_document(struct kineto_reader *reader)
{
    bool is_event = false;
    if (has_lost_brace(reader->stream)) {
        kineto_warn(reader, WARN_SYNTAX, reader->stream->at);
        reader->stream->at += *reader->stream->at == '[';
        return read_object(reader);
    }
    if (*reader->stream->at == '{') {
        enum kineto_status status = kineto_is_event(reader, &is_event);
        if (status != KINETO_GOOD) {
            return status;
        }
    }
    if (*reader->stream->at == '{' && !is_event) {
        reader->stream->at++;
        return read_object(reader);
    }
    enum kineto_status status = kineto_read_events(reader);
    return status == KINETO_GOOD ? read_after_list(reader) : status;
}

/* --- the whole --- */

/* Reads what is left, for only then the decoder knows whether the compressed data is whole. */
static bool drain(struct kineto_reader *reader)
{
    struct text_stream *stream = reader->stream;
    while (!stream->ended) {
        stream->at = stream->end;
        if (!text_stream_more(stream, reader->err)) {
            return false;
        }
    }
    const char *why;
    if (input_cut(stream->in, &why)) {
        kineto_warn(reader, WARN_COMPRESSED_CUT, stream->end);
    }
    warning_add_times(&reader->trace->warnings, WARN_UTF8, stream->first_invalid_off,
                      stream->invalid_count);
    return true;
}

/* Where the text is no JSON, ERR_NO_OFFSET when it is. */
static uint64_t first_fault(const struct warnings *warnings)
{
    uint64_t first = ERR_NO_OFFSET;
    for (size_t i = 0; i < WARNING_CODE_COUNT; i++) {
        const struct warning_count *warning = &warnings->by_code[i];
        if (warning->count > 0 && warning->first_offset < first) {
            first = warning->first_offset;
        }
    }
    return first;
}

/* Refuses what has no events. */
static bool refuse(const struct kineto_reader *reader)
{
    uint64_t fault = first_fault(&reader->trace->warnings);
    if (!reader->has_events) {
        return err_set_at(reader->err, ERR_UNSUPPORTED, fault,
                          "this is %s, but no trace: there is no list of events "
                          "(\"traceEvents\")%s%s",
                          fault == ERR_NO_OFFSET ? "JSON" : "damaged JSON",
                          reader->first_keys[0] == '\0' ? "" : "; its first keys are ",
                          reader->first_keys);
    }
    return err_set_at(reader->err, ERR_BAD_INPUT, fault,
                      fault == ERR_NO_OFFSET ? "the trace has no events: its list is empty"
                                             : "the trace has no event that can be read");
}

static bool finish(struct kineto_reader *reader)
{
    if (!drain(reader)) {
        return false;
    }
    if (reader->trace->events.count == 0) {
        return refuse(reader);
    }
    if (!kineto_build_repair_window(&reader->build)) {
        return err_set(reader->err, ERR_NO_MEMORY, "no memory for the repair of the trace");
    }
    if (!ascend_settle(reader->trace) || !ascend_inputs_settle(reader->trace) ||
        !autograd_settle(reader->trace, &reader->build.no_op_args)) {
        return err_set(reader->err, ERR_NO_MEMORY, "no memory for the roles of events");
    }
    trace_seal(reader->trace);
    return true;
}

static bool read_all(struct kineto_reader *reader)
{
    struct event_texts *log =
        reader->recorder == NULL ? NULL : event_recorder_texts(reader->recorder);
    bool has_build = kineto_build_init(&reader->build, reader->trace, reader->stream, log);
    reader->build.wants_inputs = reader->operator_inputs;
    bool has_paths = key_paths_init(&reader->paths, &reader->build.lookup.texts);
    if (!scan_templates_init(&reader->forms) || !has_paths || !has_build) {
        return err_set(reader->err, ERR_NO_MEMORY, "no memory for a trace");
    }
    return read_document(reader) != KINETO_FAILED && finish(reader) &&
           (reader->recorder == NULL || event_recorder_end(reader->recorder, reader->err));
}

static bool create_recorder(struct kineto_reader *reader, const struct event_sink *sink)
{
    if (sink == NULL) {
        return true;
    }
    reader->recorder = event_recorder_create(sink);
    return reader->recorder != NULL ||
           err_set(reader->err, ERR_NO_MEMORY, "no memory for the log of events");
}

static bool read_trace(struct kineto_reader *reader, const struct format_options *options)
{
    reader->trace = trace_create();
    if (reader->trace == NULL) {
        return err_set(reader->err, ERR_NO_MEMORY, "no memory for a trace");
    }
    bool good = create_recorder(reader, options->events) && read_all(reader) &&
                kineto_within_limits(reader);
    scan_templates_free(&reader->forms);
    key_paths_free(&reader->paths);
    kineto_build_free(&reader->build);
    good = good && (reader->recorder == NULL || options->events_end_later ||
                    event_recorder_wait(reader->recorder, reader->err));
    if (!good || !options->events_end_later) {
        event_recorder_destroy(reader->recorder);
        reader->recorder = NULL;
    }
    if (!good) {
        trace_destroy(reader->trace);
    }
    return good;
}

bool kineto_read(struct text_stream *stream,
                 const struct format_options *options,
                 struct trace **out,
                 struct event_recorder **recorder,
                 struct err *err)
{
    /* Tables and memos: too large for the stacks of some threads. */
    struct kineto_reader *reader = calloc(1, sizeof *reader);
    if (reader == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for a trace");
    }
    reader->stream = stream;
    reader->memory_budget_bytes = options->memory_budget_bytes;
    reader->max_events = options->max_events;
    reader->operator_inputs = options->operator_inputs;
    reader->stored = options->stored;
    reader->err = err;
    bool good = read_trace(reader, options);
    if (good) {
        *out = reader->trace;
        *recorder = reader->recorder;
    }
    free(reader);
    return good;
}

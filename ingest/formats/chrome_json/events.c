/* The list of events: reading one after the other, and finding the way back after damage. */
#include "ingest/formats/chrome_json/reader.h"

/* While the way back is searched, an object longer than this is no event. */
#define RESYNC_EVENT_BYTES_MAX ((ptrdiff_t)1 << 20)

static enum kineto_status no_memory(struct kineto_reader *reader)
{
    (void)err_set(reader->err, ERR_NO_MEMORY, "no memory for more than %u events",
                  (unsigned)reader->trace->events.count);
    return KINETO_FAILED;
}

static enum kineto_status take_event(struct kineto_reader *reader, const struct kineto_event *event)
{
    if (KS_UNLIKELY(!kineto_build_add(&reader->build, event))) {
        return no_memory(reader);
    }
    if (reader->recorder != NULL &&
        !event_recorder_add(reader->recorder, event, reader->stream, reader->err)) {
        return KINETO_FAILED;
    }
    reader->stream->at = event->end;
    reader->item_read = true;
    return KINETO_GOOD;
}

/* --- the way back --- */

/* An object at `at` that could be an event. JSON_MORE: the window ends first. */
static enum json_status try_event(const char *at, const char *end)
{
    struct kineto_event event;
    const char *bad;
    enum json_status status = kineto_event_begins(at, end);
    if (status == JSON_OK) {
        status = kineto_event_scan(&event, NULL, at, end, &bad);
    }
    if (status == JSON_OK && !kineto_event_has(&event, FIELD_PH)) {
        return JSON_BAD;
    }
    return status == JSON_MORE && end - at > RESYNC_EVENT_BYTES_MAX ? JSON_BAD : status;
}

/* Whether the bracket at `at` closes the list of events: the document's end or a known key follows.
 */
static enum json_status try_list_end(const struct kineto_reader *reader, const char *at)
{
    const char *end = reader->stream->end;
    enum json_status at_end = reader->stream->ended ? JSON_OK : JSON_MORE;
    at = json_behind_space(at + 1, end);
    if (at >= end) {
        return reader->stream->ended && !reader->is_bare ? JSON_BAD : at_end;
    }
    if (*at == '}') {
        return json_behind_space(at + 1, end) >= end ? at_end : JSON_BAD;
    }
    if (*at != ',') {
        return JSON_BAD;
    }
    struct json_scan scan = {.at = at + 1, .end = end};
    struct json_value key;
    if (!json_skip_space(&scan)) {
        return JSON_MORE;
    }
    if (*scan.at != '"') {
        return JSON_BAD;
    }
    enum json_status status = json_scan_string(&scan, &key);
    if (status != JSON_OK) {
        return status;
    }
    return kineto_is_top_key(key.ptr, key.len) ? JSON_OK : JSON_BAD;
}

/* Whether a known key's closing quote stands before the colon at `colon`, not before `begin`. */
static bool find_top_key(const char *begin, const char *colon, struct json_value *key)
{
    const char *close = colon;
    while (close > begin && json_is_space(close[-1])) {
        close--;
    }
    if (close == begin || close[-1] != '"') {
        return false;
    }
    close--;
    const char *open = close;
    while (open > begin && open[-1] != '"' && close - open < KINETO_FIRST_KEYS_BYTES) {
        open--;
    }
    *key =
        (struct json_value){.ptr = open, .len = (uint32_t)(close - open), .kind = JSON_KIND_STRING};
    return kineto_is_top_key(key->ptr, key->len);
}

/* One byte of the search. JSON_OK: a landmark. */
static enum json_status try_landmark(const struct kineto_reader *reader,
                                     const char *at,
                                     enum kineto_search search,
                                     struct kineto_landmark *landmark)
{
    const struct text_stream *stream = reader->stream;
    landmark->found = *at;
    if (*at == '{') {
        return try_event(at, stream->end);
    }
    if (*at == ']' && search == SEARCH_LIST) {
        return try_list_end(reader, at);
    }
    if (*at == ':' && search == SEARCH_TOP) {
        return find_top_key(stream->at, at, &landmark->key) ? JSON_OK : JSON_BAD;
    }
    return JSON_BAD;
}

enum kineto_status kineto_resync(struct kineto_reader *reader,
                                 enum kineto_search search,
                                 struct kineto_landmark *landmark)
{
    struct text_stream *stream = reader->stream;
    /* A key may begin before the window's end, and its colon lie behind. */
    const ptrdiff_t back_max = search == SEARCH_TOP ? KINETO_FIRST_KEYS_BYTES : 0;
    const char *at = stream->at;
    for (;;) {
        for (; at < stream->end; at++) {
            enum json_status status = try_landmark(reader, at, search, landmark);
            if (status == JSON_OK) {
                stream->at = at;
                return KINETO_GOOD;
            }
            if (status == JSON_MORE && !stream->ended) {
                break;
            }
        }
        ptrdiff_t back = at - stream->at < back_max ? at - stream->at : back_max;
        stream->at = at - back;
        enum kineto_status more = kineto_more(reader);
        if (more == KINETO_FAILED) {
            return KINETO_FAILED;
        }
        at = stream->at + back;
        if (more == KINETO_END && at >= stream->end) {
            stream->at = stream->end;
            return KINETO_END;
        }
    }
}

enum kineto_status kineto_is_event(struct kineto_reader *reader, bool *is_event)
{
    struct text_stream *stream = reader->stream;
    for (;;) {
        enum json_status status = try_event(stream->at, stream->end);
        *is_event = status == JSON_OK;
        if (status != JSON_MORE) {
            return KINETO_GOOD;
        }
        enum kineto_status more = kineto_more(reader);
        if (more != KINETO_GOOD) {
            return more == KINETO_END ? KINETO_GOOD : more;
        }
    }
}

/* --- what is lost --- */

/* Goes on within the list; if the text ends, it is cut off at `offset`. */
static enum kineto_status
resume_at_landmark(struct kineto_reader *reader, enum kineto_search search, uint64_t offset)
{
    struct kineto_landmark landmark;
    text_stream_check(reader->stream);
    enum kineto_status status = kineto_resync(reader, search, &landmark);
    if (status == KINETO_END) {
        warning_add(&reader->trace->warnings, WARN_TRUNCATED, offset);
    }
    return status;
}

/* Passes over something that is no event; its bytes are counted. */
static enum kineto_status skip_garbage(struct kineto_reader *reader)
{
    struct text_stream *stream = reader->stream;
    uint64_t begin = text_stream_offset(stream, stream->at);
    enum kineto_status status = resume_at_landmark(reader, SEARCH_LIST, begin);
    uint64_t end = text_stream_offset(stream, stream->at);
    warning_add_times(&reader->trace->warnings, WARN_SKIPPED_BYTES, begin, end - begin);
    return status;
}

/* The event at stream->at cannot be repaired. */
static enum kineto_status skip_damaged(struct kineto_reader *reader)
{
    uint64_t offset = text_stream_offset(reader->stream, reader->stream->at);
    warning_add(&reader->trace->warnings, WARN_DAMAGED_EVENT, offset);
    reader->stream->at++;
    return resume_at_landmark(reader, SEARCH_LIST, offset);
}

/* The text ends within the event at stream->at: cut off there, unless whole events follow, for then
 * the event is damaged. */
static enum kineto_status end_within_event(struct kineto_reader *reader)
{
    uint64_t offset = text_stream_offset(reader->stream, reader->stream->at);
    reader->stream->at++;
    enum kineto_status status = resume_at_landmark(reader, SEARCH_EVENT, offset);
    if (status == KINETO_GOOD) {
        warning_add(&reader->trace->warnings, WARN_DAMAGED_EVENT, offset);
    }
    return status;
}

static enum kineto_status skip_oversized(struct kineto_reader *reader)
{
    struct text_stream *stream = reader->stream;
    struct json_skip skip = {.depth = 0};
    uint64_t offset = text_stream_offset(stream, stream->at);
    warning_add(&reader->trace->warnings, WARN_OVERSIZED, offset);
    for (;;) {
        enum json_status status = json_skip_value(&skip, &stream->at, stream->end);
        if (status == JSON_OK) {
            reader->item_read = true;
            return KINETO_GOOD;
        }
        if (status == JSON_BAD) {
            return skip_garbage(reader);
        }
        enum kineto_status more = kineto_more(reader);
        if (more == KINETO_END) {
            warning_add(&reader->trace->warnings, WARN_TRUNCATED, offset);
        }
        if (more != KINETO_GOOD) {
            return more;
        }
    }
}

/* --- reading --- */

/* Behind kineto_event_scan's JSON_BAD: KINETO_GOOD also when the window had to grow and the event
 * is to be read again. */
static enum kineto_status repair_event(struct kineto_reader *reader)
{
    struct kineto_event event;
    enum json_status status =
        kineto_event_repair(&event, &reader->build.members, reader->stream->at, reader->stream,
                            &reader->trace->warnings);
    if (status == JSON_OK) {
        return take_event(reader, &event);
    }
    enum kineto_status more = status == JSON_MORE ? kineto_more(reader) : KINETO_END;
    return more == KINETO_END ? skip_damaged(reader) : more;
}

/* A proper object: an event, if it has a phase and is not too large. */
static enum kineto_status take_whole_event(struct kineto_reader *reader,
                                           const struct kineto_event *event)
{
    bool has_phase = kineto_event_has(event, FIELD_PH);
    bool fits = event->end - event->begin <= KINETO_VALUE_BYTES_MAX;
    if (KS_LIKELY(has_phase && fits)) {
        return take_event(reader, event);
    }
    kineto_warn(reader, fits ? WARN_DAMAGED_EVENT : WARN_OVERSIZED, event->begin);
    reader->stream->at = event->end;
    reader->item_read = true;
    return KINETO_GOOD;
}

/* Steps over a comma behind an event and what space is around it, if the next event's brace stands
 * there in the window. */
static bool skip_comma(struct text_stream *stream)
{
    const char *at = stream->at;
    if (at >= stream->end || *at != ',') {
        return false;
    }
    do {
        at++;
    } while (at < stream->end && json_is_space(*at));
    bool is_event = at < stream->end && *at == '{';
    stream->at = is_event ? at : stream->at;
    return is_event;
}

/* The event that ends at `end` is a row; its values are in their room. */
static inline enum kineto_status
log_known(struct kineto_reader *reader, const char *end, uint32_t template_number, uint32_t count)
{
    reader->stream->at = end;
    bool recorded =
        reader->recorder == NULL ||
        event_recorder_add_values(reader->recorder, template_number, count, reader->err);
    return recorded ? KINETO_GOOD : KINETO_FAILED;
}

/* Reads the event at stream->at, if it is written like one before. KINETO_END: it is not. */
static enum kineto_status read_by_path(struct kineto_reader *reader, int64_t *values)
{
    struct text_stream *stream = reader->stream;
    struct key_paths *paths = &reader->paths;
    struct kineto_event event;
    if (!key_paths_scan(paths, &event, values, stream->at, stream->end) ||
        event.end - event.begin > KINETO_VALUE_BYTES_MAX) {
        return paths->no_memory ? no_memory(reader) : KINETO_END;
    }
    uint64_t effects = kineto_build_effects(&reader->build);
    if (!kineto_build_add(&reader->build, &event) ||
        !scan_templates_learn(&reader->forms, paths, &event, values, &reader->build,
                              kineto_build_effects(&reader->build) == effects)) {
        return no_memory(reader);
    }
    return log_known(reader, event.end, paths->end->template_number, paths->end->value_count);
}

/* Reads the event at stream->at, if it is like one before. KINETO_END: it is not. */
static inline enum kineto_status read_known_event(struct kineto_reader *reader)
{
    struct text_stream *stream = reader->stream;
    struct scan_templates *forms = &reader->forms;
    int64_t numbers[KINETO_USES];
    int64_t *values =
        reader->recorder == NULL ? reader->paths.values : event_recorder_room(reader->recorder);
    if (KS_UNLIKELY(values == NULL)) {
        return no_memory(reader);
    }
    const struct scan_template *form;
    const char *end = scan_templates_read(forms, stream->at, stream->end, values, numbers, &form);
    if (end == NULL) {
        return read_by_path(reader, values);
    }
    if (KS_UNLIKELY(!kineto_build_add_like(&reader->build, &form->row, numbers))) {
        return no_memory(reader);
    }
    return log_known(reader, end, form->template_number, form->value_count);
}

/* Reads the events from stream->at on that are like ones before, with commas between them.
 * KINETO_END: stream->at is at another one. */
static enum kineto_status read_known_events(struct kineto_reader *reader)
{
    struct text_stream *stream = reader->stream;
    if (text_stream_has_invalid(stream, stream->at)) {
        return KINETO_END;
    }
    text_stream_check_later(stream);
    enum kineto_status status;
    do {
        status = read_known_event(reader);
    } while (status == KINETO_GOOD && skip_comma(stream));
    reader->item_read = status == KINETO_GOOD;
    return status;
}

/* The event that was read last, if it was whole. */
static enum kineto_status learn(struct kineto_reader *reader, const struct kineto_event *event)
{
    const struct event_record *record =
        reader->recorder == NULL ? NULL : event_recorder_last(reader->recorder);
    bool is_one_text = reader->recorder != NULL && record == NULL;
    if (is_one_text || text_stream_has_invalid(reader->stream, event->begin) ||
        key_paths_learn(&reader->paths, event, record)) {
        return KINETO_GOOD;
    }
    return no_memory(reader);
}

/* The object at stream->at, and those behind it that are like ones before. */
static enum kineto_status read_event(struct kineto_reader *reader)
{
    struct text_stream *stream = reader->stream;
    struct kineto_event event;
    const char *bad;
    enum kineto_status known = read_known_events(reader);
    if (KS_LIKELY(known != KINETO_END)) {
        return known;
    }
    uint32_t count = reader->trace->events.count;
    enum json_status status =
        kineto_event_scan(&event, &reader->build.members, stream->at, stream->end, &bad);
    if (status == JSON_MORE && stream->end - stream->at <= KINETO_VALUE_BYTES_MAX) {
        enum kineto_status more = kineto_more(reader);
        return more == KINETO_END ? end_within_event(reader) : more;
    }
    text_stream_check(stream);
    if (KS_LIKELY(status == JSON_OK)) {
        enum kineto_status taken = take_whole_event(reader, &event);
        bool is_new = taken == KINETO_GOOD && reader->trace->events.count > count;
        return is_new ? learn(reader, &event) : taken;
    }
    return status == JSON_BAD ? repair_event(reader) : skip_oversized(reader);
}

/* What stood before the byte at hand; tells which commas are missing or surplus. */
enum list_place { AFTER_NOTHING, AFTER_EVENT, AFTER_COMMA };

/* One step through the list; *place is renewed. */
static enum kineto_status
read_item(struct kineto_reader *reader, bool has_brackets, enum list_place *place)
{
    struct text_stream *stream = reader->stream;
    char c = *stream->at;
    enum list_place before = *place;
    *place = AFTER_NOTHING;
    if (c == ',') {
        if (before != AFTER_EVENT) {
            kineto_warn(reader, WARN_SYNTAX, stream->at);
        }
        *place = AFTER_COMMA;
        stream->at++;
        return KINETO_GOOD;
    }
    if (c != '{') {
        return skip_garbage(reader);
    }
    if (before == AFTER_EVENT && has_brackets) {
        kineto_warn(reader, WARN_SYNTAX, stream->at);
    }
    reader->item_read = false;
    enum kineto_status status = read_event(reader);
    *place = reader->item_read ? AFTER_EVENT : AFTER_NOTHING;
    return status;
}

static enum kineto_status read_list(struct kineto_reader *reader)
{
    struct text_stream *stream = reader->stream;
    bool has_brackets = *stream->at == '[';
    enum list_place place = AFTER_NOTHING;
    stream->at += has_brackets;
    reader->has_events = true;
    if (reader->stored != NULL) {
        enum kineto_status status = kineto_read_stored(reader);
        if (status != KINETO_GOOD) {
            return status;
        }
    }
    for (;;) {
        enum kineto_status status = kineto_peek(reader);
        if (status == KINETO_END && has_brackets) {
            kineto_warn(reader, WARN_TRUNCATED, stream->at);
        }
        if (status != KINETO_GOOD) {
            return status;
        }
        if (*stream->at == ']') {
            if (place == AFTER_COMMA) {
                kineto_warn(reader, WARN_SYNTAX, stream->at);
            }
            stream->at++;
            return KINETO_GOOD;
        }
        status = read_item(reader, has_brackets, &place);
        if (status != KINETO_GOOD) {
            return status;
        }
    }
}

enum kineto_status kineto_read_events(struct kineto_reader *reader)
{
    enum kineto_status status = read_list(reader);
    text_stream_check(reader->stream);
    return status;
}

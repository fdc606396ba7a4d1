#include "ingest/formats/relay/relay.h"

#include "ingest/formats/chrome_json/reader.h"
#include "ingest/formats/json/text_stream.h"
#include "ingest/input/input.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A piece of text has about so much; one record may make it longer. */
#define PIECE_BYTES ((size_t)128 << 10)
#define TEXT_BYTES_MAX ((size_t)256 << 20)

enum text { TEXT_PIECE, TEXT_HEAD, TEXT_COLLECTIVES };
enum stage { STAGE_HEAD, STAGE_EVENTS, STAGE_TAIL, STAGE_END };

static const char *const categories[] = {
    [RELAY_KERNEL] = "kernel",
    [RELAY_COMMUNICATION] = "communication",
    [RELAY_MEMCPY] = "gpu_memcpy",
    [RELAY_MEMSET] = "gpu_memset",
    [RELAY_OPERATOR] = "cpu_op",
    [RELAY_STEP] = "user_annotation",
    [RELAY_ANNOTATION] = "user_annotation",
    [RELAY_RUNTIME] = "cuda_runtime",
    [RELAY_HOST] = "host",
    [RELAY_SYNC] = "cuda_sync",
    [RELAY_DEVICE_OTHER] = "device_other",
    [RELAY_MARK] = "mark",
    [RELAY_COUNTER] = "counter",
    [RELAY_OPEN] = "host",
    [RELAY_MEMORY] = "memory",
};

static const char *const phases[] = {
    [RELAY_KERNEL] = "X",     [RELAY_COMMUNICATION] = "X", [RELAY_MEMCPY] = "X",
    [RELAY_MEMSET] = "X",     [RELAY_OPERATOR] = "X",      [RELAY_STEP] = "X",
    [RELAY_ANNOTATION] = "X", [RELAY_RUNTIME] = "X",       [RELAY_HOST] = "X",
    [RELAY_SYNC] = "X",       [RELAY_DEVICE_OTHER] = "X",  [RELAY_MARK] = "i",
    [RELAY_COUNTER] = "C",    [RELAY_OPEN] = "B",          [RELAY_MEMORY] = "C",
};

struct relay_event relay_blank(enum relay_role role)
{
    return (struct relay_event){.role = role,
                                .pid = RELAY_NONE,
                                .tid = RELAY_NONE,
                                .device = RELAY_NONE,
                                .stream = RELAY_NONE,
                                .correlation = RELAY_NONE,
                                .external_id = RELAY_NONE};
}

void relay_set_name(struct relay_event *event, const char *name)
{
    event->name = name;
    event->name_len = strlen(name);
}

bool relay_is_communication(const char *name, size_t len)
{
    static const char *const prefixes[] = {"nccl", "rccl", "mscclKernel"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        size_t prefix_len = strlen(prefixes[i]);
        if (len >= prefix_len && memcmp(name, prefixes[i], prefix_len) == 0) {
            return true;
        }
    }
    return false;
}

void relay_init(struct relay *relay, const char *recorder)
{
    *relay = (struct relay){.recorder = recorder};
    for (size_t i = 0; i < sizeof relay->texts / sizeof *relay->texts; i++) {
        buf_init(&relay->texts[i], TEXT_BYTES_MAX);
    }
    jw_init(&relay->args, &relay->texts[TEXT_PIECE], false);
    jw_init(&relay->head, &relay->texts[TEXT_HEAD], false);
    jw_init(&relay->collectives, &relay->texts[TEXT_COLLECTIVES], false);
    jw_object_begin(&relay->head);
    jw_array_begin(&relay->collectives);
}

void relay_free(struct relay *relay)
{
    for (size_t i = 0; i < sizeof relay->texts / sizeof *relay->texts; i++) {
        buf_free(&relay->texts[i]);
    }
}

void relay_skip(struct relay *relay, const char *what, const char *reason, int64_t count)
{
    char text[RELAY_WHAT_BYTES];
    (void)snprintf(text, sizeof text, "%.150s", what);
    for (size_t i = 0; i < relay->skip_count; i++) {
        if (strcmp(relay->skips[i].what, text) == 0) {
            relay->skips[i].count += count;
            return;
        }
    }
    if (relay->skip_count == RELAY_SKIPS_MAX) {
        relay->skips[RELAY_SKIPS_MAX - 1].count += count;
        return;
    }
    struct relay_skip *skip = &relay->skips[relay->skip_count++];
    bool is_last = relay->skip_count == RELAY_SKIPS_MAX;
    *skip = (struct relay_skip){.reason = reason, .count = count};
    memcpy(skip->what, is_last ? "others" : text, is_last ? sizeof "others" : sizeof text);
}

/* ---- records ---- */

static bool is_device_role(enum relay_role role)
{
    return role <= RELAY_MEMSET || role == RELAY_DEVICE_OTHER;
}

static void key_known(struct json_write *w, const char *key, int64_t value)
{
    if (value != RELAY_NONE) {
        jw_key_int(w, key, value);
    }
}

static void key_time(struct json_write *w, const char *key, int64_t ns)
{
    char text[40];
    uint64_t size = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    int len = snprintf(text, sizeof text, "%s%" PRIu64 ".%03u", ns < 0 ? "-" : "", size / 1000,
                       (unsigned)(size % 1000));
    jw_key(w, key);
    jw_raw(w, text, (size_t)len);
}

static void write_place(struct json_write *w, const struct relay_event *event)
{
    bool on_device = is_device_role(event->role) && event->device != RELAY_NONE;
    int64_t pid = on_device ? event->device : event->pid;
    int64_t tid = on_device ? event->stream : event->tid;
    if (pid == RELAY_NONE) {
        jw_key_string(w, "pid", event->process == NULL ? "" : event->process);
    } else {
        jw_key_int(w, "pid", pid);
    }
    jw_key_int(w, "tid", tid == RELAY_NONE ? 0 : tid);
}

static void begin_object(struct relay *relay)
{
    if (relay->event_count++ > 0) {
        buf_puts(relay->args.out, ",\n");
    }
    jw_init(&relay->args, relay->args.out, false);
    jw_object_begin(&relay->args);
}

void relay_begin(struct relay *relay, const struct relay_event *event)
{
    struct json_write *w = &relay->args;
    bool has_dur = event->role < RELAY_MARK;
    size_t len = event->name_len < RELAY_NAME_BYTES_MAX ? event->name_len : RELAY_NAME_BYTES_MAX;
    int64_t dur_ns = event->dur_ns;
    if (has_dur && dur_ns < 0) {
        relay_skip(relay, "negative duration", "the end is before the start: read as 0", 1);
        dur_ns = 0;
    }
    relay->record_count++;
    relay->linked += event->role <= RELAY_MEMSET && event->is_linked;
    begin_object(relay);
    jw_key_string(w, "ph", phases[event->role]);
    jw_key_string(w, "cat", event->category != NULL ? event->category : categories[event->role]);
    jw_key(w, "name");
    jw_string_n(w, event->name == NULL ? "" : event->name, event->name == NULL ? 0 : len);
    write_place(w, event);
    if (event->start_ns != RELAY_NONE) {
        key_time(w, "ts", event->start_ns);
    }
    if (has_dur) {
        key_time(w, "dur", dur_ns);
    }
    jw_key_object_begin(w, "args");
    key_known(w, "External id", event->external_id);
    key_known(w, "device", event->device);
    key_known(w, "stream", event->stream);
    key_known(w, "correlation", event->correlation);
}

void relay_end(struct relay *relay)
{
    jw_object_end(&relay->args);
    jw_object_end(&relay->args);
}

void relay_add(struct relay *relay, const struct relay_event *event)
{
    relay_begin(relay, event);
    relay_end(relay);
}

void relay_label(struct relay *relay,
                 const struct relay_event *of,
                 const char *kind,
                 const char *label)
{
    struct json_write *w = &relay->args;
    begin_object(relay);
    jw_key_string(w, "ph", "M");
    jw_key_string(w, "name", kind);
    write_place(w, of);
    key_time(w, "ts", 0);
    jw_key_object_begin(w, "args");
    jw_key_string(w, "name", label);
    relay_end(relay);
}

/* ---- the text around them ---- */

static void write_head(struct relay *relay)
{
    struct buf *out = relay->args.out;
    const struct buf *head = relay->head.out;
    bool is_empty = head->len <= 1;
    buf_append(out, head->ptr, head->len);
    buf_puts(out, is_empty ? "\"traceEvents\": [" : ", \"traceEvents\": [");
}

static void write_list(struct json_write *w, const char *key, struct json_write *list)
{
    jw_array_end(list);
    jw_key(w, key);
    jw_raw(w, list->out->ptr, list->out->len);
}

void relay_write_recorded(struct relay *relay, struct json_write *w)
{
    jw_object_begin(w);
    jw_key_string(w, "recorder", relay->recorder);
    jw_key_string(w, "format_version",
                  relay->format_version[0] == '\0' ? NULL : relay->format_version);
    jw_key_int(w, "linked", relay->linked);
    jw_key_int(w, "tables_left_out", (int64_t)relay->warnings.by_code[WARN_TABLE].count);
    jw_key_array_begin(w, "skipped");
    for (size_t i = 0; i < relay->skip_count; i++) {
        jw_object_begin(w);
        jw_key_string(w, "what", relay->skips[i].what);
        jw_key_int(w, "count", relay->skips[i].count);
        jw_key_string(w, "reason", relay->skips[i].reason);
        jw_object_end(w);
    }
    jw_array_end(w);
    write_list(w, "collectives", &relay->collectives);
    if (relay->op_types != NULL) {
        relay_op_types_write(relay->op_types, w);
    }
    if (relay->memory != NULL) {
        relay_memory_write(relay->memory, w);
    }
    if (relay->metrics != NULL) {
        relay_metrics_write(relay->metrics, w);
    }
    jw_object_end(w);
}

static void write_tail(struct relay *relay)
{
    struct json_write *w = &relay->args;
    buf_puts(w->out, "], \"kinetoscope\": ");
    jw_init(w, w->out, false);
    relay_write_recorded(relay, w);
    buf_puts(w->out, "}");
}

static bool make_events(struct relay *relay, struct err *err)
{
    bool ended = false;
    while (!ended && relay->args.out->len < PIECE_BYTES) {
        if (!relay->more(relay->context, relay, &ended, err)) {
            return false;
        }
    }
    relay->stage = ended ? STAGE_TAIL : STAGE_EVENTS;
    return true;
}

static bool next_piece(void *context, const char **bytes, size_t *len, struct err *err)
{
    struct relay *relay = context;
    struct buf *out = relay->args.out;
    buf_clear(out);
    while (out->len == 0 && relay->stage != STAGE_END) {
        if (relay->stage == STAGE_HEAD) {
            write_head(relay);
            relay->stage = STAGE_EVENTS;
        } else if (relay->stage == STAGE_TAIL) {
            write_tail(relay);
            relay->stage = STAGE_END;
        } else if (!make_events(relay, err)) {
            return false;
        }
    }
    *bytes = out->ptr;
    *len = out->len;
    return !out->failed || err_set(err, ERR_NO_MEMORY, "no memory for the records of a trace");
}

static bool read_text(struct input *in,
                      const struct format_options *options,
                      struct trace **out,
                      struct err *err)
{
    struct text_stream stream;
    struct format_options all_at_once = *options;
    struct event_recorder *none = NULL;
    all_at_once.events_end_later = false;
    return text_stream_open(&stream, in, err) &&
           kineto_read(&stream, &all_at_once, out, &none, err);
}

bool relay_read(struct relay *relay,
                bool (*more)(void *context, struct relay *relay, bool *ended, struct err *err),
                void *context,
                const struct format_options *options,
                struct trace **out,
                struct err *err)
{
    const struct input_stream stream = {relay, next_piece, INPUT_PLAIN};
    struct input *in = NULL;
    relay->more = more;
    relay->context = context;
    if (!input_open_stream(&in, &stream, err)) {
        return false;
    }
    bool ok = read_text(in, options, out, err);
    input_close(in);
    if (ok) {
        warnings_merge(&(*out)->warnings, &relay->warnings);
    }
    return ok;
}

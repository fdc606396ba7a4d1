#include "ingest/formats/event_log/recorder.h"

#include "ingest/base/thread.h"
#include "ingest/formats/event_log/shapes.h"
#include "ingest/formats/event_log/values.h"
#include "ingest/formats/json/clean.h"

#include <stdlib.h>

#define VALUES_FIRST ((size_t)1 << 12)
#define HEAD_BYTES_MAX ((size_t)4 * (size_t)EVENT_HEAD_VALUE_BYTES_MAX)

/* Of a batch. */
struct batch_arrays {
    int64_t *values;
    size_t value_capacity;
    uint32_t templates[EVENT_BATCH_EVENTS];
};

struct event_recorder {
    const struct event_sink *sink;
    struct event_log log;
    struct event_texts texts;
    struct event_shapes shapes;
    struct event_record last;
    struct event_batch batch;
    struct batch_arrays arrays[2]; /* of the batch that is filled, and of the one that is sent */
    struct batch_arrays *filling;
    struct thread_helper sender;
    struct event_log sent_log; /* as it was with this batch */
    struct event_batch sent_batch;
    bool is_ending; /* it was the last one */
    struct buf head;
    struct buf head_key; /* with its colon */
};

/* --- life --- */

static void begin_batch(struct event_recorder *recorder)
{
    recorder->batch = (struct event_batch){.first_event = recorder->log.event_count};
}

/* Room for so many values in the batch. */
static bool make_room(struct batch_arrays *arrays, size_t value_count)
{
    if (value_count <= arrays->value_capacity) {
        return true;
    }
    int64_t *values = realloc(arrays->values, value_count * sizeof *values);
    if (values == NULL) {
        return false;
    }
    arrays->values = values;
    arrays->value_capacity = value_count;
    return true;
}

static bool send_batch(void *context, struct err *err)
{
    struct event_recorder *recorder = context;
    const struct event_sink *sink = recorder->sink;
    return (recorder->sent_batch.event_count == 0 ||
            sink->take(sink->context, &recorder->sent_log, &recorder->sent_batch, err)) &&
           (!recorder->is_ending || sink->end(sink->context, &recorder->sent_log, err));
}

struct event_recorder *event_recorder_create(const struct event_sink *sink)
{
    struct event_recorder *recorder = calloc(1, sizeof *recorder);
    if (recorder == NULL) {
        return NULL;
    }
    recorder->sink = sink;
    recorder->filling = &recorder->arrays[0];
    thread_helper_init(&recorder->sender, send_batch, recorder);
    buf_init(&recorder->head, SIZE_MAX);
    buf_init(&recorder->head_key, SIZE_MAX);
    bool has_texts = event_texts_init(&recorder->texts);
    bool has_shapes = event_shapes_init(&recorder->shapes, &recorder->texts, &recorder->log);
    recorder->log.texts = recorder->texts.texts;
    recorder->log.head = "";
    if (!has_texts || !has_shapes || !make_room(recorder->filling, VALUES_FIRST)) {
        event_recorder_destroy(recorder);
        return NULL;
    }
    begin_batch(recorder);
    return recorder;
}

void event_recorder_destroy(struct event_recorder *recorder)
{
    if (recorder == NULL) {
        return;
    }
    thread_helper_end(&recorder->sender);
    event_shapes_free(&recorder->shapes);
    event_texts_free(&recorder->texts);
    buf_free(&recorder->head);
    buf_free(&recorder->head_key);
    free(recorder->arrays[0].values);
    free(recorder->arrays[1].values);
    free(recorder);
}

size_t event_recorder_memory(const struct event_recorder *recorder)
{
    if (recorder == NULL) {
        return 0;
    }
    return sizeof *recorder + event_texts_memory(&recorder->texts) +
           event_shapes_memory(&recorder->shapes) + recorder->head.cap + recorder->head_key.cap +
           (recorder->arrays[0].value_capacity + recorder->arrays[1].value_capacity) *
               sizeof(int64_t);
}

static bool no_memory(struct err *err)
{
    return err_set(err, ERR_NO_MEMORY, "no memory for the log of events");
}

/* --- events --- */

static bool hand_on(struct event_recorder *recorder, bool is_last, struct err *err)
{
    struct batch_arrays *filled = recorder->filling;
    struct batch_arrays *next = &recorder->arrays[filled == &recorder->arrays[0]];
    if (!thread_helper_wait(&recorder->sender, err)) {
        return false;
    }
    recorder->sent_log = recorder->log;
    recorder->sent_log.texts = strtab_snapshot(recorder->texts.texts);
    recorder->sent_batch = recorder->batch;
    recorder->is_ending = is_last;
    recorder->sent_batch.templates = filled->templates;
    recorder->sent_batch.values = filled->values;
    if (recorder->sent_log.texts == NULL || !make_room(next, VALUES_FIRST)) {
        return no_memory(err);
    }
    recorder->filling = next;
    begin_batch(recorder);
    return thread_helper_give(&recorder->sender, err);
}

/* Room for the values of one more event. */
static bool has_room(struct event_recorder *recorder)
{
    size_t need = recorder->batch.value_count + EVENT_VALUES_MAX;
    return KS_LIKELY(need <= recorder->filling->value_capacity) ||
           make_room(recorder->filling, 2 * need);
}

bool event_recorder_add_values(struct event_recorder *recorder,
                               uint32_t template_number,
                               uint32_t value_count,
                               struct err *err)
{
    struct event_batch *batch = &recorder->batch;
    recorder->filling->templates[batch->event_count++] = template_number;
    batch->value_count += value_count;
    recorder->log.event_count++;
    return KS_LIKELY(batch->event_count < EVENT_BATCH_EVENTS) || hand_on(recorder, false, err);
}

int64_t *event_recorder_room(struct event_recorder *recorder)
{
    recorder->texts.is_repaired = false;
    recorder->texts.has_invalid = false;
    return has_room(recorder) ? recorder->filling->values + recorder->batch.value_count : NULL;
}

struct event_texts *event_recorder_texts(struct event_recorder *recorder)
{
    return &recorder->texts;
}

const struct event_record *event_recorder_last(const struct event_recorder *recorder)
{
    return recorder->last.template_number == recorder->shapes.whole_template ? NULL
                                                                             : &recorder->last;
}

bool event_recorder_add(struct event_recorder *recorder,
                        const struct kineto_event *event,
                        const struct text_stream *stream,
                        struct err *err)
{
    recorder->texts.stream = stream;
    recorder->texts.is_repaired = event->members->is_repaired;
    recorder->texts.has_invalid = text_stream_has_invalid(stream, event->begin);
    if (!has_room(recorder) ||
        !event_shapes_take(&recorder->shapes, event,
                           recorder->filling->values + recorder->batch.value_count,
                           &recorder->last)) {
        return no_memory(err);
    }
    return event_recorder_add_values(recorder, recorder->last.template_number,
                                     recorder->last.value_count, err);
}

/* --- the document --- */

bool event_recorder_head_key(struct event_recorder *recorder,
                             const struct json_value *key,
                             struct err *err)
{
    buf_clear(&recorder->head_key);
    json_clean_string(key, &recorder->head_key);
    buf_puts(&recorder->head_key, ": ");
    return !recorder->head_key.failed || no_memory(err);
}

bool event_recorder_head_value(struct event_recorder *recorder,
                               const struct json_value *value,
                               const struct json_lenient *how,
                               struct err *err)
{
    struct buf *head = &recorder->head;
    struct buf *text = &recorder->texts.scratch;
    if (value->len > EVENT_HEAD_VALUE_BYTES_MAX) {
        return true;
    }
    buf_clear(text);
    json_lenient_clean(how, value, text);
    if (head->len + recorder->head_key.len + text->len > HEAD_BYTES_MAX) {
        return true;
    }
    buf_puts(head, head->len == 0 ? "" : ", ");
    buf_append(head, recorder->head_key.ptr, recorder->head_key.len);
    buf_append(head, text->ptr, text->len);
    return (!text->failed && !head->failed) || no_memory(err);
}

bool event_recorder_end(struct event_recorder *recorder, struct err *err)
{
    recorder->log.head = recorder->head.ptr;
    return hand_on(recorder, true, err);
}

bool event_recorder_wait(struct event_recorder *recorder, struct err *err)
{
    return thread_helper_wait(&recorder->sender, err);
}

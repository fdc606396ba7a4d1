/* A sink that writes each event of a log back as a line of JSON, the simplest way there is, and
 * checks what the log promises on the way. */
#ifndef KS_TESTS_UNIT_INGEST_FORMATS_EVENT_LOG_EVENT_LOG_FIXTURE_H
#define KS_TESTS_UNIT_INGEST_FORMATS_EVENT_LOG_EVENT_LOG_FIXTURE_H

#include "ingest/base/text/buf.h"
#include "ingest/formats/format.h"
#include "ingest/input/input.h"
#include "ingest/store/events/encode.h"
#include "tests/unit/unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct written_log {
    char **events; /* JSON texts */
    size_t count;
    char *head; /* NULL before the end */
    uint32_t template_count;
    uint32_t whole_count; /* events that are one text */
    int64_t min_start_ns; /* of all batches, as the store reads their values */
    int64_t max_end_ns;
    uint32_t last_batch_events;
    uint32_t fail_at_batch; /* 1: the first; 0: never */
    uint32_t batch_count;
    bool fail_at_end;
};

static inline void write_text(const struct event_log *log, int64_t id, struct buf *out)
{
    assert_true(id > 0 && id < strtab_count(log->texts));
    buf_puts(out, strtab_text(log->texts, (uint32_t)id));
}

static inline void write_decimal(int64_t number, int64_t digits, struct buf *out)
{
    char text[32];
    assert_true(digits >= 1 && digits <= 19);
    uint64_t size = number < 0 ? (uint64_t)-number : (uint64_t)number;
    int len = snprintf(text, sizeof text, "%0*" PRIu64, (int)digits + 1, size);
    buf_puts(out, number < 0 ? "-" : "");
    buf_append(out, text, (size_t)len - (size_t)digits);
    buf_putc(out, '.');
    buf_append(out, text + len - digits, (size_t)digits);
}

/* One value; the answer is the number of its values. */
static inline size_t write_slot(const struct event_log *log,
                                const struct event_slot *slot,
                                const int64_t *values,
                                struct buf *out)
{
    if (slot->key != EVENT_KEY_NONE) {
        write_text(log, slot->key, out);
        buf_putc(out, ':');
    }
    switch ((enum event_slot_kind)slot->kind) {
    case EVENT_SLOT_INT:
        buf_printf(out, "%" PRId64, values[0]);
        return 1;
    case EVENT_SLOT_DECIMAL:
        write_decimal(values[0], values[1], out);
        return 2;
    case EVENT_SLOT_TEXT:
        break;
    }
    write_text(log, values[0], out);
    return 1;
}

static inline size_t write_logged(const struct event_log *log,
                                  const struct event_template *template,
                                  const int64_t *values,
                                  struct buf *out)
{
    size_t used = 0;
    uint32_t i = 0;
    if (template->slot_count == 1 && template->slots[0].key == EVENT_KEY_NONE) {
        return write_slot(log, template->slots, values, out);
    }
    buf_putc(out, '{');
    for (; i < template->slot_count && !template->slots[i].in_args; i++) {
        buf_puts(out, i > 0 ? "," : "");
        used += write_slot(log, &template->slots[i], values + used, out);
    }
    if (template->has_args) {
        buf_puts(out, i > 0 ? ",\"args\":{" : "\"args\":{");
        for (uint32_t first = i; i < template->slot_count; i++) {
            assert_true(template->slots[i].in_args);
            buf_puts(out, i > first ? "," : "");
            used += write_slot(log, &template->slots[i], values + used, out);
        }
        buf_putc(out, '}');
    }
    assert_int_equal(i, template->slot_count);
    assert_int_equal(used, template->value_count);
    buf_putc(out, '}');
    return used;
}

static inline void check_keys(const struct event_template *template)
{
    for (uint32_t i = 0; i < template->slot_count; i++) {
        for (uint32_t j = 0; j < i; j++) {
            assert_false(template->slots[i].key == template->slots[j].key &&
                         template->slots[i].in_args == template->slots[j].in_args);
        }
    }
}

/* The times that the store finds in the values. */
static inline void note_times(struct written_log *written,
                              const struct event_log *log,
                              const struct event_batch *batch)
{
    struct err err = ERR_INIT;
    struct encoded_block block;
    struct event_encoder *encoder = event_encoder_create();
    assert_non_null(encoder);
    assert_true(event_encoder_encode(encoder, log, batch, &block, &err));
    if (block.min_start_ns < written->min_start_ns) {
        written->min_start_ns = block.min_start_ns;
    }
    if (block.max_end_ns > written->max_end_ns) {
        written->max_end_ns = block.max_end_ns;
    }
    free(block.texts);
    free(block.bytes);
    event_encoder_destroy(encoder);
}

static inline bool take_written(void *context,
                                const struct event_log *log,
                                const struct event_batch *batch,
                                struct err *err)
{
    struct written_log *written = context;
    size_t used = 0;
    written->batch_count++;
    if (written->batch_count == written->fail_at_batch) {
        return err_set(err, ERR_NO_SPACE, "the sink is full");
    }
    assert_int_equal(batch->first_event, written->count);
    assert_int_equal(log->event_count, written->count + batch->event_count);
    assert_true(written->batch_count == 1 || written->last_batch_events == EVENT_BATCH_EVENTS);
    assert_true(log->template_count <= EVENT_TEMPLATES_MAX);
    written->last_batch_events = batch->event_count;
    written->events =
        realloc(written->events, (written->count + batch->event_count) * sizeof *written->events);
    assert_non_null(written->events);
    for (uint32_t i = 0; i < batch->event_count; i++) {
        assert_true(batch->templates[i] < log->template_count);
        const struct event_template *template = &log->templates[batch->templates[i]];
        struct buf out;
        buf_init(&out, SIZE_MAX);
        used += write_logged(log, template, batch->values + used, &out);
        written->whole_count +=
            template->slot_count == 1 && template->slots[0].key == EVENT_KEY_NONE;
        written->events[written->count++] = buf_take(&out, NULL);
    }
    assert_int_equal(used, batch->value_count);
    note_times(written, log, batch);
    return true;
}

static inline bool end_written(void *context, const struct event_log *log, struct err *err)
{
    struct written_log *written = context;
    assert_null(written->head);
    assert_int_equal(log->event_count, written->count);
    for (uint32_t i = 0; i < log->template_count; i++) {
        check_keys(&log->templates[i]);
    }
    written->template_count = log->template_count;
    written->head = strdup(log->head);
    return !written->fail_at_end || err_set(err, ERR_NO_SPACE, "the sink cannot end");
}

/* As kineto_fixture's read_bytes, with a log; it is to be freed whatever the answer. */
static inline bool read_with_log(const char *text,
                                 size_t len,
                                 size_t block_bytes,
                                 struct format_bundle *bundle,
                                 struct written_log *written,
                                 struct err *err)
{
    struct input *in = NULL;
    written->min_start_ns = INT64_MAX;
    written->max_end_ns = INT64_MIN;
    const struct event_sink sink = {.context = written, .take = take_written, .end = end_written};
    const struct format_options options = {.events = &sink};
    assert_true(input_open_memory(&in, text, len, block_bytes, err));
    bool good = format_read(in, &options, bundle, err);
    input_close(in);
    return good;
}

static inline void free_written(struct written_log *written)
{
    for (size_t i = 0; i < written->count; i++) {
        free(written->events[i]);
    }
    free(written->events);
    free(written->head);
    *written = (struct written_log){.events = NULL};
}

#endif

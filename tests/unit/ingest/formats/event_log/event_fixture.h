/* Batches of events made from JSON by hand, as a reader of traces makes them. */
#ifndef KS_TESTS_UNIT_INGEST_FORMATS_EVENT_LOG_EVENT_FIXTURE_H
#define KS_TESTS_UNIT_INGEST_FORMATS_EVENT_LOG_EVENT_FIXTURE_H

#include "ingest/base/text/buf.h"
#include "ingest/store/events/documents/json_members.h"
#include "ingest/store/internal.h"
#include "ingest/store/store_events.h"
#include "tests/unit/ingest/store/store_fixture.h"

#define BUILDER_VALUES_MAX ((size_t)EVENT_BATCH_EVENTS * 64)

struct event_builder {
    struct event_log log;
    struct strtab *shapes; /* the slots of each template, as bytes */
    uint32_t template_cap;
    uint32_t *templates;
    int64_t *values;
    struct event_batch batch;
    struct event_slot slots[EVENT_KEYS_MAX]; /* of the event being read */
    uint32_t slot_count;
};

static inline struct event_builder *builder_create(void)
{
    struct event_builder *b = calloc(1, sizeof *b);
    assert_non_null(b);
    b->log.texts = strtab_create();
    b->log.head = "";
    b->shapes = strtab_create();
    b->templates = malloc(EVENT_BATCH_EVENTS * sizeof *b->templates);
    b->values = malloc(BUILDER_VALUES_MAX * sizeof *b->values);
    assert_true(b->log.texts != NULL && b->shapes != NULL && b->templates != NULL &&
                b->values != NULL);
    return b;
}

static inline void builder_free(struct event_builder *b)
{
    for (uint32_t t = 0; t < b->log.template_count; t++) {
        free(b->log.templates[t].slots);
    }
    free(b->log.templates);
    strtab_destroy(b->log.texts);
    strtab_destroy(b->shapes);
    free(b->templates);
    free(b->values);
    free(b);
}

/* ---- values ---- */

/* Digits from `at` on; their number. */
static inline size_t count_digits(const char *at, const char *end)
{
    size_t count = 0;
    while (at + count < end && at[count] >= '0' && at[count] <= '9') {
        count++;
    }
    return count;
}

/* The digits of `text` as a number, points and signs left out. */
static inline int64_t digits_value(const char *text, size_t len)
{
    bool is_negative = text[0] == '-';
    int64_t value = 0;
    for (size_t i = 0; i < len; i++) {
        if (text[i] >= '0' && text[i] <= '9') {
            int64_t digit = text[i] - '0';
            value = value * 10 + (is_negative ? -digit : digit);
        }
    }
    return value;
}

/* Whether that is possible: the digits without sign and point are not beyond the largest number. */
static inline bool digits_fit(const char *text, size_t len, bool is_negative)
{
    char digits[20] = "";
    size_t count = 0;
    for (size_t i = 0; i < len; i++) {
        if (text[i] >= '0' && text[i] <= '9' && (count > 0 || text[i] != '0')) {
            if (count == sizeof digits - 1) {
                return false;
            }
            digits[count++] = text[i];
        }
    }
    const char *largest = is_negative ? "9223372036854775808" : "9223372036854775807";
    return count < strlen(largest) || strcmp(digits, largest) <= 0;
}

static inline enum event_slot_kind kind_of(struct json_slice text)
{
    const char *end = text.text + text.len;
    bool is_negative = text.len > 0 && text.text[0] == '-';
    const char *at = text.text + is_negative;
    size_t whole = count_digits(at, end);
    bool is_zero = whole > 0 && at[0] == '0';
    if (whole == 0 || (is_zero && (whole > 1 || is_negative)) ||
        !digits_fit(text.text, text.len, is_negative)) {
        return EVENT_SLOT_TEXT;
    }
    if (at + whole == end) {
        return EVENT_SLOT_INT;
    }
    size_t digits = at[whole] == '.' ? count_digits(at + whole + 1, end) : 0;
    bool is_decimal = digits > 0 && digits <= 19 && at + whole + 1 + digits == end;
    return is_decimal ? EVENT_SLOT_DECIMAL : EVENT_SLOT_TEXT;
}

static inline uint32_t builder_text(struct event_builder *b, struct json_slice text)
{
    return strtab_intern(b->log.texts, text.text, text.len);
}

static inline void builder_value(struct event_builder *b, int64_t value)
{
    assert_true(b->batch.value_count < BUILDER_VALUES_MAX);
    b->values[b->batch.value_count++] = value;
}

static inline void
builder_slot(struct event_builder *b, uint32_t key, struct json_slice value, bool in_args)
{
    enum event_slot_kind kind = key == EVENT_KEY_NONE ? EVENT_SLOT_TEXT : kind_of(value);
    struct event_slot *slot = &b->slots[b->slot_count++];
    memset(slot, 0, sizeof *slot);
    slot->key = key;
    slot->kind = (uint8_t)kind;
    slot->in_args = in_args;
    if (kind == EVENT_SLOT_TEXT) {
        builder_value(b, builder_text(b, value));
        return;
    }
    builder_value(b, digits_value(value.text, value.len));
    if (kind == EVENT_SLOT_DECIMAL) {
        const char *point = memchr(value.text, '.', value.len);
        builder_value(b, value.text + value.len - point - 1);
    }
}

/* ---- events ---- */

static inline uint32_t builder_template(struct event_builder *b, bool has_args)
{
    char shape[sizeof b->slots + 1];
    size_t len = b->slot_count * sizeof *b->slots;
    memcpy(shape, b->slots, len);
    shape[len] = (char)('a' + has_args);
    uint32_t id = strtab_intern(b->shapes, shape, len + 1) - 1;
    if (id < b->log.template_count) {
        return id;
    }
    if (id == b->template_cap) {
        b->template_cap = id * 2 + 8;
        b->log.templates = realloc(b->log.templates, b->template_cap * sizeof *b->log.templates);
        assert_non_null(b->log.templates);
    }
    struct event_template *template = &b->log.templates[b->log.template_count++];
    *template = (struct event_template){.slot_count = b->slot_count, .has_args = has_args};
    template->slots = malloc(len + 1);
    assert_non_null(template->slots);
    memcpy(template->slots, b->slots, len);
    for (uint32_t i = 0; i < b->slot_count; i++) {
        template->value_count += b->slots[i].kind == EVENT_SLOT_DECIMAL ? 2 : 1;
    }
    return id;
}

/* Hands what was added since to the store; false: the store refused. */
static inline bool
builder_flush(struct event_builder *b, struct store_ingest *ingest, struct err *err)
{
    b->batch.templates = b->templates;
    b->batch.values = b->values;
    b->log.event_count = b->batch.first_event + b->batch.event_count;
    bool ok = ingest == NULL || store_ingest_events(ingest, &b->log, &b->batch, err);
    b->batch.first_event += b->batch.event_count;
    b->batch.event_count = 0;
    b->batch.value_count = 0;
    return ok;
}

/* `args` last; `whole`: as one text. */
static inline void builder_add(struct event_builder *b, const char *json, size_t len, bool whole)
{
    struct json_members members;
    struct json_members args;
    struct json_slice key;
    struct json_slice value;
    bool has_args = false;
    b->slot_count = 0;
    if (whole) {
        builder_slot(b, EVENT_KEY_NONE, (struct json_slice){.text = json, .len = len}, false);
    } else {
        json_members_begin(&members, json, len);
        json_members_begin(&args, "", 0);
        while (json_members_next(&members, &key, &value)) {
            if (key.len == 6 && memcmp(key.text, "\"args\"", 6) == 0) {
                has_args = true;
                json_members_begin(&args, value.text, value.len);
            } else {
                builder_slot(b, builder_text(b, key), value, false);
            }
        }
        while (json_members_next(&args, &key, &value)) {
            builder_slot(b, builder_text(b, key), value, true);
        }
    }
    b->templates[b->batch.event_count++] = builder_template(b, has_args);
}

/* The same, handing over each full batch. */
static inline void builder_put(struct fixture *f,
                               struct event_builder *b,
                               struct store_ingest *ingest,
                               const char *json)
{
    builder_add(b, json, strlen(json), false);
    if (b->batch.event_count == EVENT_BATCH_EVENTS) {
        assert_ok(f, builder_flush(b, ingest, &f->err));
    }
}

/* Behind the last event: the rest and the end. */
static inline void
builder_end(struct fixture *f, struct event_builder *b, struct store_ingest *ingest)
{
    if (b->batch.event_count > 0) {
        assert_ok(f, builder_flush(b, ingest, &f->err));
    }
    assert_ok(f, store_ingest_events_end(ingest, &b->log, &f->err));
}

/* A published trace of these events, the first `whole` of them each as one text. Its times begin at
 * start_ns. */
static inline int64_t store_events(struct fixture *f,
                                   const char *run,
                                   const char *const *events,
                                   size_t count,
                                   size_t whole,
                                   int64_t start_ns)
{
    struct event_builder *b = builder_create();
    struct store_ingest *ingest;
    struct trace_results results = {.device_type = "GPU", .first_event_ns = start_ns};
    int64_t job = add_job(f, run, "f", run, false);
    assert_ok(f, store_ingest_begin(f->store, job, &ingest, &f->err));
    for (size_t i = 0; i < count; i++) {
        builder_add(b, events[i], strlen(events[i]), i < whole);
        if (b->batch.event_count == EVENT_BATCH_EVENTS) {
            assert_ok(f, builder_flush(b, ingest, &f->err));
        }
    }
    builder_end(f, b, ingest);
    assert_ok(f, store_ingest_trace(ingest, "w", "", "chrome-trace", &results, &f->err));
    assert_ok(f, store_ingest_publish(ingest, &f->err));
    builder_free(b);
    return trace_of_job(f, job);
}

/* All pieces of an export in one; malloc'ed. */
static inline char *
export_all(struct fixture *f, int64_t trace_id, int64_t start_ns, int64_t end_ns)
{
    struct store_export *from;
    struct buf all;
    const char *text;
    size_t len;
    buf_init(&all, SIZE_MAX / 2);
    assert_ok(f, READ(f->store, store_export_open, trace_id, start_ns, end_ns, &from, &f->err));
    do {
        assert_ok(f, store_export_next(from, &text, &len, &f->err));
        buf_append(&all, text, len);
    } while (len > 0);
    store_export_close(from);
    assert_false(all.failed);
    return buf_take(&all, &len);
}

static inline int64_t query_number(struct fixture *f, const char *sql)
{
    struct db_stmt st;
    struct buf text;
    buf_init(&text, strlen(sql) + 1);
    buf_puts(&text, sql);
    db_prepare_buf(&st, f->store->writer, &text);
    int64_t value = db_next(&st) ? db_get_int(&st) : -1;
    assert_ok(f, db_done(&st, &f->err));
    return value;
}

#endif

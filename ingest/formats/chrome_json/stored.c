/* Events of a stored log as rows of the model. Most events of a trace repeat others but for times
 * and ids, so only the first of each form is printed and read as JSON; the others are found by what
 * they have in common:
 *
 *     template, texts, numbers that rows share --hash--> form --> row, with the event's own numbers
 *              \--new--> JSON -> kineto_event -> kineto_build -> form
 *
 * Texts that no row looks at are not part of a form. */
#include "ingest/formats/chrome_json/reader.h"
#include "ingest/formats/json/text.h"
#include "ingest/input/input.h"

#include <stdlib.h>
#include <string.h>

/* All forms are forgotten when there are so many, or when they take so much. */
#define FORMS_MAX 32768U
#define FORM_SLOTS ((size_t)2 * FORMS_MAX) /* a power of two */
#define FORM_BYTES_MAX ((size_t)16 << 20)
/* An event with more of either has no form. */
#define FORM_KEYS_MAX 48U
#define FORM_NUMBERS_MAX 16U
#define PLACE_UNKNOWN (KINETO_VALUES - 1)
/* Events between two looks at the limits. */
#define LIMIT_EVENTS 8192U

/* A value that the row depends on. */
struct plan_value {
    uint32_t value; /* its number among the event's */
    uint8_t place;  /* in the values of a kineto_event */
    bool is_text;
    bool is_decimal; /* the next value has the digits behind the point */
};

/* How events of a template are read. */
struct plan {
    bool is_made;
    bool has_forms;
    uint32_t key_count;
    uint32_t number_count;
    const struct plan_value *keys;
    const struct plan_value *numbers;
};

struct form {
    uint64_t hash;
    uint32_t template_number;
    uint8_t uses[FORM_NUMBERS_MAX]; /* enum kineto_use of the plan's numbers */
    struct kineto_row row;
    int64_t keys[]; /* as many as the plan has */
};

struct stored_reader {
    struct kineto_reader *reader;
    struct text_stream text; /* of the event that is read as JSON */
    struct buf room;
    struct arena plan_arena;
    struct plan *plans;
    uint32_t plan_capacity;
    struct arena form_arena;
    uint32_t form_count;
    struct form **forms; /* [FORM_SLOTS] */
    int64_t keys[FORM_KEYS_MAX];
};

/* ---- plans ---- */

/* Whether a number there may differ between events of one form; what use a row makes of it hangs on
 * the row. */
static bool may_differ(uint32_t place)
{
    switch (place) {
    case FIELD_TS:
    case FIELD_DUR:
    case FIELD_ID:
    case FIELD_COUNT + ARG_EXTERNAL_ID_LOWER:
    case FIELD_COUNT + ARG_EXTERNAL_ID_UPPER:
    case FIELD_COUNT + ARG_CORRELATION:
    case FIELD_COUNT + ARG_PYTHON_ID:
    case FIELD_COUNT + ARG_PYTHON_PARENT_ID:
    case FIELD_COUNT + ARG_ADDR:
    case FIELD_COUNT + ARG_BYTES_UPPER:
    case FIELD_COUNT + ARG_TOTAL_ALLOCATED:
    case FIELD_COUNT + ARG_TOTAL_RESERVED:
        return true;
    default:
        return false;
    }
}

static uint32_t place_of(const struct event_slot *slot, const char *key)
{
    size_t len = strlen(key);
    if (len < 2) {
        return PLACE_UNKNOWN;
    }
    if (slot->in_args) {
        enum arg arg = kineto_arg_of(key + 1, len - 2);
        return arg == ARG_COUNT ? PLACE_UNKNOWN : FIELD_COUNT + (uint32_t)arg;
    }
    enum field field = kineto_field_of(key + 1, len - 2);
    return field == FIELD_COUNT ? PLACE_UNKNOWN : (uint32_t)field;
}

static bool make_plan(struct stored_reader *stored, const struct stored_event *event)
{
    const struct event_template *template = event->template;
    struct plan *plan = &stored->plans[event->template_number];
    struct plan_value *keys =
        arena_calloc(&stored->plan_arena, 2 * (size_t) template->slot_count + 1, sizeof *keys);
    struct plan_value *numbers = keys == NULL ? NULL : keys + template->slot_count;
    uint32_t value = 0;
    *plan = (struct plan){.is_made = true, .keys = keys, .numbers = numbers};
    for (uint32_t i = 0; keys != NULL && i < template->slot_count; i++) {
        const struct event_slot *slot = &template->slots[i];
        if (slot->key == EVENT_KEY_NONE) {
            return true;
        }
        uint32_t place = place_of(slot, event->keys[slot->key]);
        const struct plan_value entry = {.value = value,
                                         .place = (uint8_t)place,
                                         .is_text = slot->kind == EVENT_SLOT_TEXT,
                                         .is_decimal = slot->kind == EVENT_SLOT_DECIMAL};
        value += entry.is_decimal ? 2 : 1;
        if (place == PLACE_UNKNOWN) {
            continue;
        }
        if (!entry.is_text && may_differ(place)) {
            numbers[plan->number_count++] = entry;
        } else {
            keys[plan->key_count++] = entry;
        }
    }
    plan->has_forms =
        plan->number_count <= FORM_NUMBERS_MAX && 2 * plan->key_count <= FORM_KEYS_MAX;
    return keys != NULL;
}

/* NULL: no memory. */
static const struct plan *plan_of(struct stored_reader *stored, const struct stored_event *event)
{
    uint32_t number = event->template_number;
    if (KS_UNLIKELY(number >= stored->plan_capacity)) {
        uint32_t capacity = number + number / 2 + 64;
        struct plan *grown = arena_calloc(&stored->plan_arena, capacity, sizeof *grown);
        if (grown == NULL) {
            return NULL;
        }
        if (stored->plan_capacity > 0) {
            memcpy(grown, stored->plans, stored->plan_capacity * sizeof *grown);
        }
        stored->plans = grown;
        stored->plan_capacity = capacity;
    }
    if (KS_UNLIKELY(!stored->plans[number].is_made) && !make_plan(stored, event)) {
        return NULL;
    }
    return &stored->plans[number];
}

/* ---- forms ---- */

/* Reads the event's keys into stored->keys; gives their count. */
static inline uint32_t take_keys(struct stored_reader *stored,
                                 const struct plan *plan,
                                 const struct stored_event *event,
                                 uint64_t *hash)
{
    uint64_t mixed = event->template_number;
    uint64_t odd = BYTES_SPREAD;
    uint32_t count = 0;
    for (uint32_t i = 0; i < plan->key_count; i++) {
        const struct plan_value *at = &plan->keys[i];
        int64_t value = stored_event_value(event, at->value);
        value = at->is_text ? (int64_t)event->text_ids[value] : value;
        stored->keys[count++] = value;
        mixed += (uint64_t)value * odd;
        odd += 2 * BYTES_SPREAD;
        if (KS_UNLIKELY(at->is_decimal)) {
            value = stored_event_value(event, at->value + 1);
            stored->keys[count++] = value;
            mixed += (uint64_t)value * odd;
            odd += 2 * BYTES_SPREAD;
        }
    }
    *hash = (mixed ^ mixed >> 32) * BYTES_SPREAD;
    return count;
}

/* Where the form is, or would be. */
static inline struct form **form_slot(const struct stored_reader *stored,
                                      uint32_t template_number,
                                      uint64_t hash,
                                      uint32_t key_count)
{
    size_t slot = hash >> 32 & (FORM_SLOTS - 1);
    for (;; slot = (slot + 1) & (FORM_SLOTS - 1)) {
        const struct form *form = stored->forms[slot];
        if (form == NULL ||
            (form->hash == hash && form->template_number == template_number &&
             memcmp(form->keys, stored->keys, key_count * sizeof *form->keys) == 0)) {
            return &stored->forms[slot];
        }
    }
}

/* The numbers of the row. False: they are not what kineto_build_add_like takes. */
static inline bool take_numbers(const struct plan *plan,
                                const struct stored_event *event,
                                const struct form *form,
                                int64_t numbers[KINETO_USES])
{
    static const int64_t scales[] = {1000, 100, 10, 1};
    bool ok = true;
    memcpy(numbers, form->row.numbers, sizeof form->row.numbers);
    for (uint32_t i = 0; i < plan->number_count; i++) {
        const struct plan_value *at = &plan->numbers[i];
        uint8_t use = form->uses[i];
        if (use == KINETO_USE_NONE) {
            continue;
        }
        int64_t value = stored_event_value(event, at->value);
        if (use == KINETO_USE_TS || use == KINETO_USE_DUR) {
            int64_t digits = at->is_decimal ? stored_event_value(event, at->value + 1) : 0;
            ok = ok && digits <= 3 && value >= 0 && value < JSON_TIME_MAX_NS / scales[digits];
            value = ok ? value * scales[digits] : 0;
        } else {
            ok = ok && value > -JSON_TIME_MAX_NS;
        }
        numbers[use] = value;
    }
    return ok;
}

static void forget_forms(struct stored_reader *stored)
{
    arena_free(&stored->form_arena);
    memset(stored->forms, 0, FORM_SLOTS * sizeof(struct form *));
    stored->form_count = 0;
}

/* False: what a number of the last row, which is the event's, is to it hangs on the number. */
static bool find_uses(const struct stored_reader *stored,
                      const struct plan *plan,
                      const struct kineto_event *event,
                      uint8_t uses[FORM_NUMBERS_MAX])
{
    for (uint32_t i = 0; i < plan->number_count; i++) {
        const struct plan_value *at = &plan->numbers[i];
        enum kineto_use use =
            kineto_build_use(&stored->reader->build, event, at->place, at->is_decimal);
        if (use == KINETO_USES) {
            return false;
        }
        uses[i] = (uint8_t)use;
    }
    return true;
}

/* Makes a form of the last row, which is the event's; stored->keys are of it. */
static bool learn(struct stored_reader *stored,
                  const struct plan *plan,
                  uint32_t template_number,
                  uint64_t hash,
                  uint32_t key_count,
                  const struct kineto_event *event)
{
    uint8_t uses[FORM_NUMBERS_MAX] = {0};
    if (!find_uses(stored, plan, event, uses)) {
        return true;
    }
    if (stored->form_count == FORMS_MAX || stored->form_arena.held_bytes > FORM_BYTES_MAX) {
        forget_forms(stored);
    }
    struct form *form =
        arena_alloc(&stored->form_arena, sizeof *form + key_count * sizeof *form->keys);
    if (form == NULL) {
        return false;
    }
    *form = (struct form){.hash = hash,
                          .template_number = template_number,
                          .row = kineto_build_last(&stored->reader->build)};
    memcpy(form->uses, uses, sizeof uses);
    memcpy(form->keys, stored->keys, key_count * sizeof *form->keys);
    *form_slot(stored, template_number, hash, key_count) = form;
    stored->form_count++;
    return true;
}

/* ---- events ---- */

static enum kineto_status no_memory(struct kineto_reader *reader)
{
    (void)err_set(reader->err, ERR_NO_MEMORY, "no memory for more than %u events",
                  (unsigned)reader->trace->events.count);
    return KINETO_FAILED;
}

/* The event at hand as JSON, with the room behind it that scanning needs. KINETO_END: it is no
 * event. */
static enum kineto_status scan_json(struct stored_reader *stored, struct kineto_event *event)
{
    struct kineto_reader *reader = stored->reader;
    const struct event_source *source = reader->stored;
    struct text_stream *text = &stored->text;
    const char *json;
    const char *bad;
    size_t len;
    if (!source->print(source->context, &json, &len, reader->err)) {
        return KINETO_FAILED;
    }
    buf_clear(&stored->room);
    buf_append(&stored->room, json, len);
    char *padding = buf_reserve(&stored->room, INPUT_PADDING_BYTES);
    if (padding == NULL) {
        return no_memory(reader);
    }
    memset(padding, 0, INPUT_PADDING_BYTES);
    *text = (struct text_stream){.at = stored->room.ptr,
                                 .end = stored->room.ptr + len,
                                 .window = stored->room.ptr,
                                 .ended = true};
    enum json_status status =
        kineto_event_scan(event, &reader->build.members, text->at, text->end, &bad);
    if (status == JSON_OK && kineto_event_has(event, FIELD_PH)) {
        return KINETO_GOOD;
    }
    warning_add(&reader->trace->warnings, WARN_DAMAGED_EVENT, 0);
    return KINETO_END;
}

/* The first event of a form, or one that has none. */
static enum kineto_status add_by_json(struct stored_reader *stored,
                                      const struct plan *plan,
                                      const struct stored_event *from,
                                      uint64_t hash,
                                      uint32_t key_count)
{
    struct kineto_build *build = &stored->reader->build;
    struct kineto_event event;
    enum kineto_status status = scan_json(stored, &event);
    if (status != KINETO_GOOD) {
        return status == KINETO_END ? KINETO_GOOD : status;
    }
    uint64_t effects = kineto_build_effects(build);
    if (!kineto_build_add(build, &event)) {
        return no_memory(stored->reader);
    }
    /* Counters have series by keys that no plan looks at. */
    bool is_form = plan->has_forms && kineto_build_effects(build) == effects &&
                   event.fields[FIELD_PH].ptr[0] != 'C';
    if (is_form && *form_slot(stored, from->template_number, hash, key_count) == NULL &&
        !learn(stored, plan, from->template_number, hash, key_count, &event)) {
        return no_memory(stored->reader);
    }
    return KINETO_GOOD;
}

static enum kineto_status add_event(struct stored_reader *stored, const struct stored_event *event)
{
    const struct plan *plan = plan_of(stored, event);
    int64_t numbers[KINETO_USES];
    uint64_t hash = 0;
    uint32_t key_count = 0;
    if (KS_UNLIKELY(plan == NULL)) {
        return no_memory(stored->reader);
    }
    if (KS_LIKELY(plan->has_forms)) {
        key_count = take_keys(stored, plan, event, &hash);
        const struct form *form = *form_slot(stored, event->template_number, hash, key_count);
        if (KS_LIKELY(form != NULL) && KS_LIKELY(take_numbers(plan, event, form, numbers))) {
            return KS_LIKELY(kineto_build_add_like(&stored->reader->build, &form->row, numbers))
                       ? KINETO_GOOD
                       : no_memory(stored->reader);
        }
    }
    return add_by_json(stored, plan, event, hash, key_count);
}

static enum kineto_status add_all(struct stored_reader *stored)
{
    struct kineto_reader *reader = stored->reader;
    const struct event_source *source = reader->stored;
    struct stored_event event;
    bool found = true;
    for (uint32_t count = 0;; count++) {
        if (count % LIMIT_EVENTS == 0 && !kineto_within_limits(reader)) {
            return KINETO_FAILED;
        }
        if (!source->next(source->context, &event, &found, reader->err)) {
            return KINETO_FAILED;
        }
        if (!found) {
            return KINETO_GOOD;
        }
        enum kineto_status status = add_event(stored, &event);
        if (status != KINETO_GOOD) {
            return status;
        }
    }
}

enum kineto_status kineto_read_stored(struct kineto_reader *reader)
{
    struct stored_reader stored = {.reader = reader};
    const struct text_stream *document = reader->build.stream;
    buf_init(&stored.room, SIZE_MAX / 2);
    arena_init(&stored.plan_arena, 0);
    arena_init(&stored.form_arena, 0);
    stored.forms = calloc(FORM_SLOTS, sizeof(struct form *));
    trace_expect(reader->trace, reader->stored->event_count);
    reader->build.stream = reader->build.lookup.stream = &stored.text;
    enum kineto_status status = stored.forms == NULL ? no_memory(reader) : add_all(&stored);
    reader->build.stream = reader->build.lookup.stream = document;
    free(stored.forms);
    arena_free(&stored.form_arena);
    arena_free(&stored.plan_arena);
    buf_free(&stored.room);
    return status;
}

#include "ingest/store/event_encode.h"

#include "ingest/store/event_when.h"
#include "ingest/store/number_ranges.h"
#include "ingest/store/pack.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(EVENT_BLOCK_EVENTS % EVENT_BATCH_EVENTS == 0, "a block has whole batches");

#define NOT_IN_BLOCK UINT32_MAX
#define WORD_BITS 64u
/* Events of more local templates take two bytes to say which one. */
#define BYTE_TEMPLATES 256u
/* Up to here each value of a column is a range of its own. */
#define FEW_NUMBERS 16

enum value_role { VALUE_NUMBER, VALUE_DECIMAL, VALUE_DIGITS, VALUE_TEXT };

/* What is known of a template of the log. */
struct plan {
    struct event_shape shape;
    uint32_t value_count;
    uint8_t *roles; /* enum value_role */
    bool *searched; /* whether a search looks at the value */
    uint32_t local; /* its number in this block, or NOT_IN_BLOCK */
};

/* One of the block's templates, and where its columns begin. */
struct local_template {
    uint32_t template;
    uint32_t event_count;
    uint32_t row; /* the next to be filled or read */
    int64_t *columns;
};

struct event_encoder {
    struct pack pack;
    struct arena arena; /* of the plans */

    uint32_t first_event;
    uint32_t event_count;
    uint32_t *templates; /* [EVENT_BLOCK_EVENTS] */
    int64_t *values;
    size_t value_count;
    size_t value_cap;

    struct plan *plans;
    uint32_t plan_count;
    uint32_t plan_cap;
    struct local_template *locals;
    uint32_t local_count;
    uint16_t *sequence; /* [EVENT_BLOCK_EVENTS] local templates */
    int64_t *columns;
    size_t column_cap;

    /* by text id; texts_cap is a multiple of WORD_BITS */
    uint64_t *used;
    uint8_t *flags; /* BLOCK_TEXT_... of those used */
    uint32_t *local_of_text;
    size_t texts_cap;
    uint32_t text_min; /* of those used, as word of the bits */
    uint32_t text_max;
    struct number_ranges numbers;
};

static bool no_memory(struct err *err)
{
    return err_set(err, ERR_NO_MEMORY, "no memory to store events");
}

struct event_encoder *event_encoder_create(void)
{
    struct event_encoder *encoder = calloc(1, sizeof *encoder);
    if (encoder == NULL) {
        return NULL;
    }
    pack_init(&encoder->pack);
    arena_init(&encoder->arena, 0);
    encoder->templates = calloc(EVENT_BLOCK_EVENTS, sizeof *encoder->templates);
    encoder->sequence = calloc(EVENT_BLOCK_EVENTS, sizeof *encoder->sequence);
    encoder->locals = calloc(EVENT_TEMPLATES_MAX + 1, sizeof *encoder->locals);
    if (encoder->templates == NULL || encoder->sequence == NULL || encoder->locals == NULL) {
        event_encoder_destroy(encoder);
        return NULL;
    }
    return encoder;
}

void event_encoder_destroy(struct event_encoder *encoder)
{
    if (encoder == NULL) {
        return;
    }
    pack_free(&encoder->pack);
    arena_free(&encoder->arena);
    free(encoder->templates);
    free(encoder->sequence);
    free(encoder->locals);
    free(encoder->values);
    free(encoder->plans);
    free(encoder->columns);
    free(encoder->used);
    free(encoder->flags);
    free(encoder->local_of_text);
    free(encoder);
}

uint32_t event_encoder_count(const struct event_encoder *encoder)
{
    return encoder->event_count;
}

/* ---- taking in ---- */

static bool grow_values(int64_t **values, size_t *cap, size_t needed)
{
    if (needed <= *cap) {
        return true;
    }
    size_t new_cap = needed + needed / 2;
    int64_t *grown = realloc(*values, new_cap * sizeof *grown);
    if (grown == NULL) {
        return false;
    }
    *values = grown;
    *cap = new_cap;
    return true;
}

bool event_encoder_add(struct event_encoder *encoder,
                       const struct event_batch *batch,
                       struct err *err)
{
    if (batch->event_count > EVENT_BLOCK_EVENTS - encoder->event_count) {
        return err_set(err, ERR_INTERNAL, "a batch of %u events is too large", batch->event_count);
    }
    if (encoder->event_count == 0) {
        encoder->first_event = batch->first_event;
    } else if (batch->first_event != encoder->first_event + encoder->event_count) {
        return err_set(err, ERR_INTERNAL, "a batch begins with event %u instead of %u",
                       batch->first_event, encoder->first_event + encoder->event_count);
    }
    if (!grow_values(&encoder->values, &encoder->value_cap,
                     encoder->value_count + batch->value_count)) {
        return no_memory(err);
    }
    if (batch->event_count > 0) {
        memcpy(encoder->templates + encoder->event_count, batch->templates,
               batch->event_count * sizeof *batch->templates);
    }
    if (batch->value_count > 0) {
        memcpy(encoder->values + encoder->value_count, batch->values,
               batch->value_count * sizeof *batch->values);
    }
    encoder->event_count += batch->event_count;
    encoder->value_count += batch->value_count;
    return true;
}

/* ---- plans ---- */

static void
set_roles(struct plan *plan, const struct event_slot *slot, const char *key, uint32_t at)
{
    bool searched = event_slot_is_searched(slot, key);
    plan->searched[at] = searched;
    switch (slot->kind) {
    case EVENT_SLOT_INT:
        plan->roles[at] = VALUE_NUMBER;
        break;
    case EVENT_SLOT_DECIMAL:
        plan->roles[at] = VALUE_DECIMAL;
        plan->roles[at + 1] = VALUE_DIGITS;
        plan->searched[at + 1] = false;
        break;
    default:
        plan->roles[at] = VALUE_TEXT;
        break;
    }
}

static bool init_plan(struct event_encoder *encoder,
                      const struct event_log *log,
                      const struct event_template *template,
                      struct plan *plan)
{
    const char *keys[EVENT_KEYS_MAX];
    struct arena *arena = &encoder->arena;
    plan->local = NOT_IN_BLOCK;
    plan->value_count = 0;
    for (uint32_t i = 0; i < template->slot_count; i++) {
        const struct event_slot *slot = &template->slots[i];
        keys[i] = slot->key == EVENT_KEY_NONE ? "" : strtab_text(log->texts, slot->key);
        plan->value_count += event_slot_values((enum event_slot_kind)slot->kind);
    }
    plan->roles = arena_calloc(arena, (size_t)plan->value_count + 1, sizeof *plan->roles);
    plan->searched = arena_calloc(arena, (size_t)plan->value_count + 1, sizeof *plan->searched);
    if (plan->roles == NULL || plan->searched == NULL) {
        return false;
    }
    uint32_t at = 0;
    for (uint32_t i = 0; i < template->slot_count; i++) {
        set_roles(plan, &template->slots[i], keys[i], at);
        at += event_slot_values((enum event_slot_kind) template->slots[i].kind);
    }
    event_shape_init(&plan->shape, template, keys);
    return true;
}

static bool is_sound(const struct event_log *log, const struct event_template *template)
{
    if (template->slot_count > EVENT_KEYS_MAX) {
        return false;
    }
    for (uint32_t i = 0; i < template->slot_count; i++) {
        uint32_t key = template->slots[i].key;
        if (key != EVENT_KEY_NONE && key >= strtab_count(log->texts)) {
            return false;
        }
    }
    return true;
}

static bool make_plans(struct event_encoder *encoder, const struct event_log *log, struct err *err)
{
    if (log->template_count > EVENT_TEMPLATES_MAX + 1) {
        return err_set(err, ERR_INTERNAL, "%u kinds of events are too many", log->template_count);
    }
    if (log->template_count > encoder->plan_cap) {
        uint32_t cap = log->template_count * 2;
        struct plan *plans = realloc(encoder->plans, cap * sizeof *plans);
        if (plans == NULL) {
            return no_memory(err);
        }
        encoder->plans = plans;
        encoder->plan_cap = cap;
    }
    for (; encoder->plan_count < log->template_count; encoder->plan_count++) {
        const struct event_template *template = &log->templates[encoder->plan_count];
        if (!is_sound(log, template)) {
            return err_set(err, ERR_INTERNAL, "a kind of events cannot be stored");
        }
        if (!init_plan(encoder, log, template, &encoder->plans[encoder->plan_count])) {
            return no_memory(err);
        }
    }
    return true;
}

/* ---- from rows to columns ---- */

/* Numbers the templates of the block in order of first use and counts their events. */
static bool number_templates(struct event_encoder *encoder, struct err *err)
{
    size_t values = 0;
    encoder->local_count = 0;
    for (uint32_t i = 0; i < encoder->event_count; i++) {
        uint32_t template = encoder->templates[i];
        if (template >= encoder->plan_count) {
            return err_set(err, ERR_INTERNAL, "event %u has no kind", encoder->first_event + i);
        }
        struct plan *plan = &encoder->plans[template];
        if (plan->local == NOT_IN_BLOCK) {
            plan->local = encoder->local_count++;
            encoder->locals[plan->local] = (struct local_template){.template = template};
        }
        encoder->locals[plan->local].event_count++;
        encoder->sequence[i] = (uint16_t)plan->local;
        values += plan->value_count;
    }
    return values == encoder->value_count ||
           err_set(err, ERR_INTERNAL, "a batch has %zu values instead of %zu", encoder->value_count,
                   values);
}

static bool make_columns(struct event_encoder *encoder)
{
    if (!grow_values(&encoder->columns, &encoder->column_cap, encoder->value_count + 1) ||
        encoder->columns == NULL) {
        return false;
    }
    int64_t *columns = encoder->columns;
    for (uint32_t k = 0; k < encoder->local_count; k++) {
        struct local_template *local = &encoder->locals[k];
        local->columns = columns;
        columns += (size_t)local->event_count * encoder->plans[local->template].value_count;
    }
    const int64_t *value = encoder->values;
    for (uint32_t i = 0; i < encoder->event_count; i++) {
        struct local_template *local = &encoder->locals[encoder->sequence[i]];
        uint32_t value_count = encoder->plans[local->template].value_count;
        int64_t *to = local->columns + local->row++;
        for (uint32_t v = 0; v < value_count; v++) {
            *to = *value++;
            to += local->event_count;
        }
    }
    return true;
}

/* ---- times ---- */

static struct event_value value_at(const struct local_template *local,
                                   const struct plan *plan,
                                   enum event_field field,
                                   uint32_t row,
                                   const struct event_log *log)
{
    uint32_t at = plan->shape.value[field];
    if (at == EVENT_NO_VALUE) {
        return (struct event_value){.is_there = false};
    }
    const int64_t *number = local->columns + (size_t)at * local->event_count + row;
    struct event_value value = {
        .is_there = true, .kind = plan->shape.kind[field], .number = *number};
    if (value.kind == EVENT_SLOT_DECIMAL) {
        value.digits = number[local->event_count];
    } else if (value.kind == EVENT_SLOT_TEXT) {
        value.text = strtab_text(log->texts, (uint32_t)*number);
        value.len = strtab_len(log->texts, (uint32_t)*number);
    }
    return value;
}

static void take_time(const struct event_when *when, struct encoded_block *out)
{
    out->has_metadata = out->has_metadata || when->is_metadata;
    if (when->has_start) {
        int64_t end_ns = event_when_end(when);
        out->min_start_ns = when->start_ns < out->min_start_ns ? when->start_ns : out->min_start_ns;
        out->max_end_ns = end_ns > out->max_end_ns ? end_ns : out->max_end_ns;
    }
}

/* Goes through the events in order: the range of their times; and each `ts` becomes its difference
 * to the one before that is written in the same way. */
static void
take_times(struct event_encoder *encoder, const struct event_log *log, struct encoded_block *out)
{
    uint64_t last[EVENT_SLOT_TEXT + 1] = {0};
    for (uint32_t k = 0; k < encoder->local_count; k++) {
        encoder->locals[k].row = 0;
    }
    for (uint32_t i = 0; i < encoder->event_count; i++) {
        struct local_template *local = &encoder->locals[encoder->sequence[i]];
        const struct plan *plan = &encoder->plans[local->template];
        struct event_value fields[EVENT_FIELD_COUNT];
        struct event_when when;
        uint32_t row = local->row++;
        if (plan->shape.is_whole) {
            uint32_t id = (uint32_t)local->columns[row];
            event_fields_of_whole(fields, strtab_text(log->texts, id), strtab_len(log->texts, id));
        } else {
            fields[EVENT_TS] = value_at(local, plan, EVENT_TS, row, log);
            fields[EVENT_DUR] = value_at(local, plan, EVENT_DUR, row, log);
            fields[EVENT_PHASE] = value_at(local, plan, EVENT_PHASE, row, log);
        }
        event_when_init(&when, fields);
        take_time(&when, out);
        if (!plan->shape.is_whole && fields[EVENT_TS].is_there &&
            fields[EVENT_TS].kind != EVENT_SLOT_TEXT) {
            int64_t *ts =
                local->columns + (size_t)plan->shape.value[EVENT_TS] * local->event_count + row;
            uint64_t now = (uint64_t)*ts;
            uint64_t delta = now - last[fields[EVENT_TS].kind];
            last[fields[EVENT_TS].kind] = now;
            memcpy(ts, &delta, sizeof delta);
        }
    }
}

/* ---- texts and numbers ---- */

static bool grow_texts(struct event_encoder *encoder, size_t text_count)
{
    if (text_count <= encoder->texts_cap) {
        return true;
    }
    size_t cap = (text_count * 2 / WORD_BITS + 1) * WORD_BITS;
    uint64_t *used = calloc(cap / WORD_BITS, sizeof *used);
    uint8_t *flags = calloc(cap, sizeof *flags);
    uint32_t *local_of_text = malloc(cap * sizeof *local_of_text);
    if (used == NULL || flags == NULL || local_of_text == NULL) {
        free(used);
        free(flags);
        free(local_of_text);
        return false;
    }
    free(encoder->used);
    free(encoder->flags);
    free(encoder->local_of_text);
    encoder->used = used;
    encoder->flags = flags;
    encoder->local_of_text = local_of_text;
    encoder->texts_cap = cap;
    return true;
}

static void
mark_texts(struct event_encoder *encoder, const int64_t *column, uint32_t count, uint8_t flags)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t id = (uint64_t)column[i];
        uint32_t word = (uint32_t)(id / WORD_BITS);
        uint64_t bit = (uint64_t)1 << id % WORD_BITS;
        encoder->used[word] |= bit;
        encoder->flags[id] |= flags;
        encoder->text_min = word < encoder->text_min ? word : encoder->text_min;
        encoder->text_max = word > encoder->text_max ? word : encoder->text_max;
    }
}

/* The different values of a column as long as they are few. */
struct few_numbers {
    int64_t values[FEW_NUMBERS];
    size_t count;
};

static bool few_numbers_add(struct few_numbers *few, int64_t value)
{
    for (size_t i = 0; i < few->count; i++) {
        if (few->values[i] == value) {
            return true;
        }
    }
    if (few->count == FEW_NUMBERS) {
        return false;
    }
    few->values[few->count++] = value;
    return true;
}

static void take_numbers(struct event_encoder *encoder,
                         const int64_t *column,
                         const int64_t *digits, /* NULL: whole numbers */
                         uint32_t count)
{
    struct few_numbers few = {.count = 0};
    bool are_few = true;
    int64_t first = INT64_MAX;
    int64_t last = INT64_MIN;
    for (uint32_t i = 0; i < count; i++) {
        int64_t value = digits == NULL ? column[i] : number_whole_part(column[i], digits[i]);
        are_few = are_few && few_numbers_add(&few, value);
        first = value < first ? value : first;
        last = value > last ? value : last;
    }
    for (size_t i = 0; are_few && i < few.count; i++) {
        number_ranges_add(&encoder->numbers, few.values[i], few.values[i]);
    }
    if (!are_few) {
        number_ranges_add(&encoder->numbers, first, last);
    }
}

static bool texts_are_known(const int64_t *column, uint32_t count, uint32_t text_count)
{
    bool known = true;
    for (uint32_t i = 0; i < count; i++) {
        known = known && (uint64_t)column[i] < text_count;
    }
    return known;
}

static bool check_texts(const struct event_encoder *encoder, uint32_t text_count, struct err *err)
{
    for (uint32_t k = 0; k < encoder->local_count; k++) {
        const struct local_template *local = &encoder->locals[k];
        const struct plan *plan = &encoder->plans[local->template];
        for (uint32_t v = 0; v < plan->value_count; v++) {
            const int64_t *column = local->columns + (size_t)v * local->event_count;
            if (plan->roles[v] == VALUE_TEXT &&
                !texts_are_known(column, local->event_count, text_count)) {
                return err_set(err, ERR_INTERNAL, "a text of an event is missing");
            }
        }
    }
    return true;
}

static uint8_t plan_flags(const struct plan *plan, uint32_t value)
{
    if (plan->shape.is_whole) {
        return BLOCK_TEXT_WHOLE;
    }
    return plan->searched[value] ? BLOCK_TEXT_SEARCHED : 0;
}

static void mark_columns(struct event_encoder *encoder)
{
    encoder->text_min = UINT32_MAX;
    encoder->text_max = 0;
    encoder->numbers.count = 0;
    for (uint32_t k = 0; k < encoder->local_count; k++) {
        const struct local_template *local = &encoder->locals[k];
        const struct plan *plan = &encoder->plans[local->template];
        /* make_columns has set it, which the analyser of clang cannot see. */
        if (local->columns == NULL) {
            continue;
        }
        uint32_t count = local->event_count;
        for (uint32_t v = 0; v < plan->value_count; v++) {
            const int64_t *column = local->columns + (size_t)v * count;
            if (plan->roles[v] == VALUE_TEXT) {
                mark_texts(encoder, column, count, plan_flags(plan, v));
            } else if (plan->searched[v]) {
                take_numbers(encoder, column,
                             plan->roles[v] == VALUE_DECIMAL ? column + count : NULL, count);
            }
        }
    }
}

/* Packs the ids in ascending order, each with whether a search looks at it, and clears the marks.
 */
static uint32_t pack_marked(struct event_encoder *encoder, struct pack *pack)
{
    uint32_t count = 0;
    uint64_t last = 0;
    for (uint32_t word = encoder->text_min; word <= encoder->text_max; word++) {
        uint64_t bits = encoder->used[word];
        for (uint32_t bit = 0; bits >> bit != 0; bit++) {
            if ((bits >> bit & 1) == 0) {
                continue;
            }
            uint64_t id = (uint64_t)word * WORD_BITS + bit;
            encoder->local_of_text[id] = count++;
            pack_number(pack, (id - last) << BLOCK_TEXT_FLAG_BITS | encoder->flags[id]);
            encoder->flags[id] = 0;
            last = id;
            if (bit == WORD_BITS - 1) {
                break;
            }
        }
        encoder->used[word] = 0;
    }
    return count;
}

/* The list has no count before it: it ends with the bytes. */
static bool finish_texts(struct event_encoder *encoder, struct encoded_block *out, struct err *err)
{
    struct pack *pack = &encoder->pack;
    pack_clear(pack);
    pack_number(pack, encoder->numbers.count);
    for (size_t i = 0; i < encoder->numbers.count; i++) {
        const struct number_range *range = &encoder->numbers.ranges[i];
        pack_i64(pack, &range->first, 1);
        pack_i64(pack, &range->last, 1);
    }
    (void)pack_marked(encoder, pack);
    return pack_finish(pack, &out->texts, &out->texts_len, err);
}

static void use_local_texts(struct event_encoder *encoder, int64_t *column, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        column[i] = encoder->local_of_text[column[i]];
    }
}

/* ---- the block ---- */

static void pack_sequence(struct event_encoder *encoder)
{
    struct pack *pack = &encoder->pack;
    pack_number(pack, encoder->event_count);
    pack_number(pack, encoder->local_count);
    for (uint32_t k = 0; k < encoder->local_count; k++) {
        pack_number(pack, encoder->locals[k].template);
    }
    if (encoder->local_count <= BYTE_TEMPLATES) {
        char *at = buf_reserve(&pack->raw, encoder->event_count);
        for (uint32_t i = 0; at != NULL && i < encoder->event_count; i++) {
            at[i] = (char)(unsigned char)encoder->sequence[i];
        }
        pack->raw.len += at == NULL ? 0 : encoder->event_count;
        return;
    }
    for (uint32_t i = 0; i < encoder->event_count; i++) {
        pack_number(pack, encoder->sequence[i]);
    }
}

static bool finish_bytes(struct event_encoder *encoder, struct encoded_block *out, struct err *err)
{
    pack_clear(&encoder->pack);
    pack_sequence(encoder);
    for (uint32_t k = 0; k < encoder->local_count; k++) {
        const struct local_template *local = &encoder->locals[k];
        const struct plan *plan = &encoder->plans[local->template];
        for (uint32_t v = 0; v < plan->value_count; v++) {
            int64_t *column = local->columns + (size_t)v * local->event_count;
            if (plan->roles[v] == VALUE_TEXT) {
                use_local_texts(encoder, column, local->event_count);
            }
            pack_column(&encoder->pack, column, local->event_count);
        }
    }
    return pack_finish(&encoder->pack, &out->bytes, &out->bytes_len, err);
}

static void start_anew(struct event_encoder *encoder)
{
    for (uint32_t k = 0; k < encoder->local_count; k++) {
        encoder->plans[encoder->locals[k].template].local = NOT_IN_BLOCK;
    }
    encoder->local_count = 0;
    encoder->event_count = 0;
    encoder->value_count = 0;
}

bool event_encoder_finish(struct event_encoder *encoder,
                          const struct event_log *log,
                          struct encoded_block *out,
                          struct err *err)
{
    *out = (struct encoded_block){.first_event = encoder->first_event,
                                  .event_count = encoder->event_count,
                                  .min_start_ns = INT64_MAX,
                                  .max_end_ns = INT64_MIN};
    bool ok = make_plans(encoder, log, err) && number_templates(encoder, err);
    if (ok && (!make_columns(encoder) || !grow_texts(encoder, strtab_count(log->texts)))) {
        ok = no_memory(err);
    }
    ok = ok && check_texts(encoder, strtab_count(log->texts), err);
    if (ok) {
        mark_columns(encoder);
        take_times(encoder, log, out);
        ok = finish_texts(encoder, out, err) && finish_bytes(encoder, out, err);
    }
    if (!ok) {
        free(out->texts);
        *out = (struct encoded_block){.first_event = 0};
    }
    start_anew(encoder);
    return ok;
}

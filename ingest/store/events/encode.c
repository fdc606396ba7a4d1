#include "ingest/store/events/encode.h"

#include "ingest/base/bytes.h"
#include "ingest/store/codec/column_codec.h"
#include "ingest/store/events/columns.h"
#include "ingest/store/events/search/zone_map.h"
#include "ingest/store/events/when.h"

#include <stdlib.h>
#include <zstd.h>

_Static_assert(EVENT_BATCH_EVENTS <= EVENT_BLOCK_EVENTS, "a batch is a block");

#define WORD_BITS 32u
/* Events of more local templates take two bytes to say which one. */
#define BYTE_TEMPLATES 256u
/* Up to here each value of a column is a range of its own. */
#define FEW_NUMBERS 16
/* Of a text that the block has, beside its BLOCK_TEXT_... */
#define TEXT_USED (1u << BLOCK_TEXT_FLAG_BITS)
/* Of zstd: it looks at every third place only, for a quarter of its time and a sixth more bytes. */
#define BLOCK_TARGET_LENGTH 2
/* Numbers of less bits than these are times as they are, by a factor. */
#define PLAIN_NS_BITS 61
#define PLAIN_US_BITS 52

struct event_encoder {
    struct column_encoder enc;
    struct event_columns columns;
    struct zone_map numbers;

    /* by text id; texts_cap is a multiple of WORD_BITS */
    uint32_t *used;
    uint8_t *flags; /* TEXT_USED and BLOCK_TEXT_..., 0 of the others */
    uint32_t *local_of_text;
    size_t texts_cap;
    uint32_t text_min; /* of those used, as word of the bits */
    uint32_t text_max;

    /* The column at hand, and whole parts of its decimals. */
    int64_t column[EVENT_BATCH_EVENTS];
    int64_t whole[EVENT_BATCH_EVENTS];
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
    column_encode_init(&encoder->enc);
    if (!event_columns_init(&encoder->columns) || !column_encode_make_compressor(&encoder->enc) ||
        !column_encode_set_parameter(&encoder->enc, ZSTD_c_targetLength, BLOCK_TARGET_LENGTH)) {
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
    column_encode_free(&encoder->enc);
    event_columns_free(&encoder->columns);
    free(encoder->used);
    free(encoder->flags);
    free(encoder->local_of_text);
    free(encoder);
}

/* ---- times ---- */

static struct event_value value_at(const struct event_columns *columns,
                                   const struct local_template *local,
                                   enum event_field field,
                                   uint32_t row,
                                   const struct event_log *log)
{
    const struct event_plan *plan = event_plan_of(columns, local);
    uint32_t at = plan->shape.value[field];
    if (at == EVENT_NO_VALUE) {
        return (struct event_value){.is_there = false};
    }
    struct event_value value = {.is_there = true,
                                .kind = plan->shape.kind[field],
                                .number = event_column_at(columns, local, at, row)};
    if (value.kind == EVENT_SLOT_DECIMAL) {
        value.digits = event_column_at(columns, local, at + 1, row);
    } else if (value.kind == EVENT_SLOT_TEXT) {
        value.text = strtab_text(log->texts, (uint32_t)value.number);
        value.len = strtab_len(log->texts, (uint32_t)value.number);
    }
    return value;
}

static void when_of(const struct event_columns *columns,
                    const struct local_template *local,
                    uint32_t row,
                    const struct event_log *log,
                    struct event_when *when)
{
    struct event_value fields[EVENT_FIELD_COUNT];
    if (event_plan_of(columns, local)->shape.is_whole) {
        uint32_t id = (uint32_t)event_column_at(columns, local, 0, row);
        event_fields_of_whole(fields, strtab_text(log->texts, id), strtab_len(log->texts, id));
    } else {
        fields[EVENT_TS] = value_at(columns, local, EVENT_TS, row, log);
        fields[EVENT_DUR] = value_at(columns, local, EVENT_DUR, row, log);
        fields[EVENT_PHASE] = value_at(columns, local, EVENT_PHASE, row, log);
    }
    event_when_init(when, fields);
}

static void take_range(struct encoded_block *out, int64_t start_ns, int64_t end_ns)
{
    out->min_start_ns = start_ns < out->min_start_ns ? start_ns : out->min_start_ns;
    out->max_end_ns = end_ns > out->max_end_ns ? end_ns : out->max_end_ns;
}

static void take_times(const struct event_columns *columns,
                       const struct local_template *local,
                       const struct event_log *log,
                       struct encoded_block *out)
{
    for (uint32_t row = 0; row < local->event_count; row++) {
        struct event_when when;
        when_of(columns, local, row, log, &when);
        out->has_metadata = out->has_metadata || when.is_metadata;
        if (when.has_start) {
            take_range(out, when.start_ns, event_when_end(&when));
        }
    }
}

/* Times as profilers write them: numbers with at most three digits behind the point, which are
 * whole nanoseconds by one factor. */
struct plain_times {
    uint32_t at;          /* of an event's values */
    uint32_t digits_at;   /* the same */
    uint32_t digits_mask; /* 0: integers, which have no digits */
    uint64_t beyond;      /* bits of values that are too large */
};

#define PLAIN_DIGITS_MAX 3
_Static_assert((PLAIN_DIGITS_MAX & (PLAIN_DIGITS_MAX + 1)) == 0, "it is a mask, too");

static bool plain_times(const struct event_plan *plan,
                        const struct local_template *local,
                        enum event_field field,
                        struct plain_times *out)
{
    if (!event_plan_has_number(plan, field)) {
        return false;
    }
    uint32_t at = plan->shape.value[field];
    *out = (struct plain_times){.at = at, .digits_at = at};
    if (plan->shape.kind[field] == EVENT_SLOT_INT) {
        return true;
    }
    out->digits_at = at + 1;
    out->digits_mask = PLAIN_DIGITS_MAX;
    uint64_t any_bits = (uint64_t)local->first[at + 1] | local->differ[at + 1];
    return any_bits <= PLAIN_DIGITS_MAX;
}

/* In nanoseconds; nothing but that when it does not stay plain. */
static inline int64_t take_plain(struct plain_times *times, const int64_t *values)
{
    static const uint64_t factors[PLAIN_DIGITS_MAX + 1] = {1000, 100, 10, 1};
    static const uint8_t bits[PLAIN_DIGITS_MAX + 1] = {PLAIN_US_BITS, PLAIN_US_BITS, PLAIN_US_BITS,
                                                       PLAIN_NS_BITS};
    int64_t value = values[times->at];
    uint32_t digits = (uint32_t)values[times->digits_at] & times->digits_mask;
    times->beyond |= (uint64_t)(value < 0 ? ~value : value) >> bits[digits];
    return (int64_t)((uint64_t)value * factors[digits]);
}

static bool stayed_plain(const struct plain_times *times)
{
    return times->beyond == 0;
}

/* take_times for the most common events; false: they are not of that kind. */
static bool take_plain_times(const struct event_columns *columns,
                             const struct local_template *local,
                             const struct event_log *log,
                             struct encoded_block *out)
{
    const struct event_plan *plan = event_plan_of(columns, local);
    uint32_t phase = plan->shape.value[EVENT_PHASE];
    bool has_dur = plan->shape.value[EVENT_DUR] != EVENT_NO_VALUE;
    struct plain_times start;
    struct plain_times dur = {.at = 0};
    struct event_when first;
    if ((phase != EVENT_NO_VALUE && !event_column_is_one(local, phase)) ||
        !plain_times(plan, local, EVENT_TS, &start) ||
        (has_dur && !plain_times(plan, local, EVENT_DUR, &dur))) {
        return false;
    }
    int64_t min_start_ns = INT64_MAX;
    int64_t max_end_ns = INT64_MIN;
    for (uint32_t i = 0; i < local->event_count; i++) {
        const int64_t *values = columns->values + local->rows[i];
        int64_t start_ns = take_plain(&start, values);
        int64_t dur_ns = has_dur ? take_plain(&dur, values) : 0;
        int64_t end_ns = (int64_t)((uint64_t)start_ns + (uint64_t)(dur_ns > 0 ? dur_ns : 0));
        min_start_ns = start_ns < min_start_ns ? start_ns : min_start_ns;
        max_end_ns = end_ns > max_end_ns ? end_ns : max_end_ns;
    }
    if (!stayed_plain(&start) || (has_dur && !stayed_plain(&dur))) {
        return false;
    }
    when_of(columns, local, 0, log, &first);
    out->has_metadata = out->has_metadata || first.is_metadata;
    take_range(out, min_start_ns, max_end_ns);
    return true;
}

static void take_all_times(const struct event_columns *columns,
                           const struct event_log *log,
                           struct encoded_block *out)
{
    for (uint32_t k = 0; k < columns->local_count; k++) {
        const struct local_template *local = &columns->locals[k];
        if (!take_plain_times(columns, local, log, out)) {
            take_times(columns, local, log, out);
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
    uint32_t *used = calloc(cap / WORD_BITS, sizeof *used);
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

static void mark_text(struct event_encoder *encoder, uint32_t id, uint8_t flags)
{
    if (encoder->flags[id] == 0) {
        uint32_t word = id / WORD_BITS;
        encoder->used[word] |= (uint32_t)1 << id % WORD_BITS;
        encoder->text_min = word < encoder->text_min ? word : encoder->text_min;
        encoder->text_max = word > encoder->text_max ? word : encoder->text_max;
    }
    encoder->flags[id] |= flags;
}

/* False: there is one that the log has not. */
static bool mark_texts(struct event_encoder *encoder,
                       const struct local_template *local,
                       uint32_t value,
                       uint8_t flags,
                       uint32_t text_count)
{
    const int64_t *values = encoder->columns.values + value;
    const uint32_t *rows = local->rows;
    const uint8_t *marked = encoder->flags;
    uint32_t count = event_column_is_one(local, value) ? 1 : local->event_count;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t id = (uint64_t)values[rows[i]];
        if (id >= text_count) {
            return false;
        }
        if (KS_UNLIKELY((marked[id] & flags) != flags)) {
            mark_text(encoder, (uint32_t)id, flags);
        }
    }
    return true;
}

static uint8_t plan_flags(const struct event_plan *plan, uint32_t value)
{
    if (plan->shape.is_whole) {
        return TEXT_USED | BLOCK_TEXT_WHOLE;
    }
    return plan->searched[value] ? TEXT_USED | BLOCK_TEXT_SEARCHED : TEXT_USED;
}

static bool mark_all_texts(struct event_encoder *encoder, uint32_t text_count)
{
    bool known = true;
    encoder->text_min = UINT32_MAX;
    encoder->text_max = 0;
    encoder->numbers.count = 0;
    for (uint32_t k = 0; k < encoder->columns.local_count; k++) {
        const struct local_template *local = &encoder->columns.locals[k];
        const struct event_plan *plan = event_plan_of(&encoder->columns, local);
        for (uint32_t v = 0; v < plan->value_count; v++) {
            bool fits = plan->roles[v] != VALUE_TEXT ||
                        mark_texts(encoder, local, v, plan_flags(plan, v), text_count);
            known = known && fits;
        }
    }
    return known;
}

/* The texts of the block in ascending order of their ids. */
static void number_texts(struct event_encoder *encoder)
{
    uint32_t count = 0;
    for (uint32_t word = encoder->text_min; word <= encoder->text_max; word++) {
        for (uint32_t bits = encoder->used[word]; bits != 0; bits &= bits - 1) {
            encoder->local_of_text[word * WORD_BITS + bytes_first(bits)] = count++;
        }
    }
}

/* The different values of a column as long as they are few. */
struct few_numbers {
    int64_t values[FEW_NUMBERS];
    size_t count;
    int64_t memo[FEW_NUMBERS]; /* some of them, by their lowest bits */
};

static bool few_numbers_add(struct few_numbers *few, int64_t value)
{
    int64_t *memo = &few->memo[(uint64_t)value % FEW_NUMBERS];
    if (few->count > 0 && *memo == value) {
        return true;
    }
    size_t i = 0;
    while (i < few->count && few->values[i] != value) {
        i++;
    }
    if (i == FEW_NUMBERS) {
        return false;
    }
    few->values[i] = value;
    few->count += i == few->count;
    /* Until there is another, a memo holds what is there. */
    for (size_t m = 0; few->count == 1 && m < FEW_NUMBERS; m++) {
        few->memo[m] = value;
    }
    *memo = value;
    return true;
}

static void take_number_range(struct event_encoder *encoder, const int64_t *column, uint32_t count)
{
    int64_t first = INT64_MAX;
    int64_t last = INT64_MIN;
    for (uint32_t i = 0; i < count; i++) {
        first = column[i] < first ? column[i] : first;
        last = column[i] > last ? column[i] : last;
    }
    zone_map_add(&encoder->numbers, first, last);
}

static void take_numbers(struct event_encoder *encoder, const int64_t *column, uint32_t count)
{
    struct few_numbers few = {.count = 0};
    bool are_few = true;
    for (uint32_t i = 0; i < count && are_few; i++) {
        are_few = few_numbers_add(&few, column[i]);
    }
    for (size_t i = 0; are_few && i < few.count; i++) {
        zone_map_add(&encoder->numbers, few.values[i], few.values[i]);
    }
    if (!are_few) {
        take_number_range(encoder, column, count);
    }
}

/* Of decimals what stands before their point. */
static void
take_decimals(struct event_encoder *encoder, const struct local_template *local, uint32_t value)
{
    bool is_one = event_column_is_one(local, value) && event_column_is_one(local, value + 1);
    uint32_t count = is_one ? 1 : local->event_count;
    for (uint32_t i = 0; i < count; i++) {
        encoder->whole[i] =
            number_whole_part(event_column_at(&encoder->columns, local, value, i),
                              event_column_at(&encoder->columns, local, value + 1, i));
    }
    take_numbers(encoder, encoder->whole, count);
}

/* Packs the ids in ascending order, each with whether a search looks at it, and clears the marks.
 */
static void encode_marked(struct event_encoder *encoder, struct column_encoder *enc)
{
    uint32_t last = 0;
    for (uint32_t word = encoder->text_min; word <= encoder->text_max; word++) {
        for (uint32_t bits = encoder->used[word]; bits != 0; bits &= bits - 1) {
            uint32_t id = word * WORD_BITS + bytes_first(bits);
            uint64_t flags = encoder->flags[id] ^ TEXT_USED;
            column_encode_number(enc, (uint64_t)(id - last) << BLOCK_TEXT_FLAG_BITS | flags);
            encoder->flags[id] = 0;
            last = id;
        }
        encoder->used[word] = 0;
    }
}

/* The list has no count before it: it ends with the bytes. */
static bool finish_texts(struct event_encoder *encoder, struct encoded_block *out, struct err *err)
{
    struct column_encoder *enc = &encoder->enc;
    column_encode_clear(enc);
    column_encode_number(enc, encoder->numbers.count);
    for (size_t i = 0; i < encoder->numbers.count; i++) {
        const struct zone_range *range = &encoder->numbers.ranges[i];
        column_encode_i64(enc, &range->first, 1);
        column_encode_i64(enc, &range->last, 1);
    }
    encode_marked(encoder, enc);
    return column_encode_finish(enc, &out->texts, &out->texts_len, err);
}

/* ---- the block ---- */

static void put_bytes(struct column_encoder *enc, const uint16_t *sequence, uint32_t count)
{
    char *restrict at = buf_room(&enc->raw, count);
    for (uint32_t i = 0; at != NULL && i < count; i++) {
        at[i] = (char)(unsigned char)sequence[i];
    }
    if (at != NULL) {
        buf_add(&enc->raw, count);
    }
}

static void encode_sequence(struct event_encoder *encoder, uint32_t event_count)
{
    struct column_encoder *enc = &encoder->enc;
    column_encode_number(enc, event_count);
    column_encode_number(enc, encoder->columns.local_count);
    for (uint32_t k = 0; k < encoder->columns.local_count; k++) {
        column_encode_number(enc, encoder->columns.locals[k].template);
    }
    if (encoder->columns.local_count <= BYTE_TEMPLATES) {
        put_bytes(enc, encoder->columns.sequence, event_count);
        return;
    }
    for (uint32_t i = 0; i < event_count; i++) {
        column_encode_number(enc, encoder->columns.sequence[i]);
    }
}

/* A column is copied to where its values are at hand: they are looked at more than once. */
static void
encode_value(struct event_encoder *encoder, const struct local_template *local, uint32_t value)
{
    const struct event_plan *plan = event_plan_of(&encoder->columns, local);
    int64_t *column = encoder->column;
    uint32_t count = event_column_is_one(local, value) ? 1 : local->event_count;
    if (value == local->time_at) {
        column_encode_column(&encoder->enc, local->times, local->event_count);
        return;
    }
    event_column_copy(&encoder->columns, local, value, count, column);
    if (plan->roles[value] == VALUE_TEXT) {
        for (uint32_t i = 0; i < count; i++) {
            column[i] = encoder->local_of_text[column[i]];
        }
    } else if (plan->searched[value] && plan->roles[value] == VALUE_DECIMAL) {
        take_decimals(encoder, local, value);
    } else if (plan->searched[value]) {
        take_numbers(encoder, column, count);
    }
    column_encode_column(&encoder->enc, column, count);
}

static bool finish_bytes(struct event_encoder *encoder, struct encoded_block *out, struct err *err)
{
    column_encode_clear(&encoder->enc);
    encode_sequence(encoder, out->event_count);
    for (uint32_t k = 0; k < encoder->columns.local_count; k++) {
        const struct local_template *local = &encoder->columns.locals[k];
        for (uint32_t v = 0; v < local->value_count; v++) {
            encode_value(encoder, local, v);
        }
    }
    return column_encode_finish(&encoder->enc, &out->bytes, &out->bytes_len, err);
}

bool event_encoder_encode(struct event_encoder *encoder,
                          const struct event_log *log,
                          const struct event_batch *batch,
                          struct encoded_block *out,
                          struct err *err)
{
    uint32_t text_count = strtab_count(log->texts);
    *out = (struct encoded_block){.first_event = batch->first_event,
                                  .event_count = batch->event_count,
                                  .min_start_ns = INT64_MAX,
                                  .max_end_ns = INT64_MIN};
    bool ok = event_columns_make(&encoder->columns, log, batch, err) &&
              (grow_texts(encoder, text_count) || no_memory(err));
    if (ok) {
        ok = mark_all_texts(encoder, text_count) ||
             err_set(err, ERR_INTERNAL, "a text of an event is missing");
        if (ok) {
            number_texts(encoder);
            take_all_times(&encoder->columns, log, out);
            ok = finish_bytes(encoder, out, err);
        }
        /* Whatever has failed, this takes the marks away. */
        ok = finish_texts(encoder, out, err) && ok;
    }
    if (!ok) {
        free(out->texts);
        free(out->bytes);
        *out = (struct encoded_block){.first_event = 0};
    }
    return ok;
}

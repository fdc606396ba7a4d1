#include "ingest/store/events/decode.h"

#include "ingest/store/codec/column_codec.h"
#include "ingest/store/events/encode.h"

#include <string.h>

/* Flags of a packed slot. */
#define SLOT_IN_ARGS 4u
#define SLOT_KIND_MASK 3u
#define BYTE_TEMPLATES 256u

/* ---- templates ---- */

/* Keys get numbers of their own, so that they are read without the texts of the log. */
static void
encode_templates(struct column_encoder *enc, const struct event_log *log, struct strtab *keys)
{
    struct column_encoder body;
    column_encode_init(&body);
    for (uint32_t t = 0; t < log->template_count; t++) {
        const struct event_template *template = &log->templates[t];
        column_encode_number(&body, template->slot_count);
        column_encode_number(&body, template->has_args);
        for (uint32_t i = 0; i < template->slot_count; i++) {
            const struct event_slot *slot = &template->slots[i];
            uint32_t key = 0; /* the empty text: none */
            if (slot->key != EVENT_KEY_NONE) {
                key = strtab_intern(keys, strtab_text(log->texts, slot->key),
                                    strtab_len(log->texts, slot->key));
                body.raw.failed = body.raw.failed || key == STRTAB_NONE;
            }
            column_encode_number(&body, key);
            column_encode_number(&body, slot->kind | (slot->in_args ? SLOT_IN_ARGS : 0));
        }
    }
    column_encode_number(enc, strtab_count(keys));
    for (uint32_t key = 0; key < strtab_count(keys); key++) {
        const char *text = strtab_text(keys, key);
        column_encode_texts(enc, &text, 1);
    }
    column_encode_number(enc, log->template_count);
    buf_append(&enc->raw, body.raw.ptr, body.raw.len);
    enc->raw.failed = enc->raw.failed || body.raw.failed;
    column_encode_free(&body);
}

bool event_templates_encode(const struct event_log *log, void **bytes, size_t *len, struct err *err)
{
    struct column_encoder enc;
    struct strtab *keys = strtab_create();
    if (keys == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory to store events");
    }
    column_encode_init(&enc);
    encode_templates(&enc, log, keys);
    bool ok = column_encode_finish(&enc, bytes, len, err);
    column_encode_free(&enc);
    strtab_destroy(keys);
    return ok;
}

static void decode_slot(struct column_decoder *dec, struct event_slot *slot, uint32_t key_count)
{
    uint32_t key = column_decode_count(dec);
    uint32_t flags = column_decode_count(dec);
    slot->key = key == 0 ? EVENT_KEY_NONE : key;
    slot->kind = (uint8_t)(flags & SLOT_KIND_MASK);
    slot->in_args = (flags & SLOT_IN_ARGS) != 0;
    dec->failed = dec->failed || key >= key_count || slot->kind > EVENT_SLOT_TEXT ||
                  flags > (SLOT_IN_ARGS | SLOT_KIND_MASK);
}

/* Arguments stand last, only where there are any; a whole event stands alone. */
static bool is_sound(const struct event_template *template)
{
    bool in_args = false;
    for (uint32_t i = 0; i < template->slot_count; i++) {
        const struct event_slot *slot = &template->slots[i];
        bool is_whole = slot->key == EVENT_KEY_NONE;
        if (in_args && !slot->in_args) {
            return false;
        }
        if (is_whole && (template->slot_count != 1 || slot->in_args || template->has_args ||
                         slot->kind != EVENT_SLOT_TEXT)) {
            return false;
        }
        in_args = slot->in_args;
    }
    return !in_args || template->has_args;
}

static void decode_template(struct column_decoder *dec,
                            const struct stored_templates *all,
                            struct stored_template *out)
{
    const char *keys[EVENT_KEYS_MAX];
    struct event_template *template = &out->template;
    template->slot_count = column_decode_count(dec);
    template->has_args = column_decode_count(dec) != 0;
    if (dec->failed || template->slot_count > EVENT_KEYS_MAX) {
        dec->failed = true;
        return;
    }
    template->slots =
        arena_calloc(dec->arena, (size_t) template->slot_count + 1, sizeof *template->slots);
    if (template->slots == NULL) {
        dec->failed = true;
        return;
    }
    for (uint32_t i = 0; i < template->slot_count && !dec->failed; i++) {
        struct event_slot *slot = &template->slots[i];
        decode_slot(dec, slot, all->key_count);
        keys[i] = dec->failed || slot->key == EVENT_KEY_NONE ? "" : all->keys[slot->key];
        template->value_count += event_slot_values((enum event_slot_kind)slot->kind);
    }
    dec->failed = dec->failed || !is_sound(template);
    if (!dec->failed) {
        event_shape_init(&out->shape, template, keys);
    }
}

static void decode_templates(struct column_decoder *dec, struct stored_templates *out)
{
    out->key_count = column_decode_count(dec);
    out->keys = column_decode_texts(dec, out->key_count);
    for (uint32_t key = 0; key < out->key_count && !dec->failed; key++) {
        dec->failed = out->keys[key] == NULL;
    }
    out->count = column_decode_count(dec);
    if (dec->failed || out->count > EVENT_TEMPLATES_MAX + 1) {
        dec->failed = true;
        return;
    }
    out->templates = arena_calloc(dec->arena, (size_t)out->count + 1, sizeof *out->templates);
    dec->failed = out->templates == NULL;
    for (uint32_t t = 0; t < out->count && !dec->failed; t++) {
        decode_template(dec, out, &out->templates[t]);
    }
}

bool event_templates_decode(struct stored_templates *out,
                            struct arena *arena,
                            const void *bytes,
                            size_t len,
                            struct err *err)
{
    struct column_decoder dec;
    *out = (struct stored_templates){.count = 0};
    if (!column_decode_init(&dec, arena, bytes, len, err)) {
        return false;
    }
    decode_templates(&dec, out);
    return column_decode_finish(&dec, err);
}

/* ---- what a block has ---- */

static void decode_ids(struct column_decoder *dec, struct block_texts *out)
{
    size_t most = (size_t)(dec->end - dec->at);
    out->ids = arena_calloc(dec->arena, most + 1, sizeof *out->ids);
    out->flags = arena_calloc(dec->arena, most + 1, sizeof *out->flags);
    if (out->ids == NULL || out->flags == NULL) {
        dec->failed = true;
        return;
    }
    uint64_t id = 0;
    while (!column_decode_is_at_end(dec)) {
        uint64_t packed = column_decode_number(dec);
        uint64_t step = packed >> BLOCK_TEXT_FLAG_BITS;
        if (step >= UINT32_MAX - id || (step == 0 && out->count > 0)) {
            dec->failed = true;
            return;
        }
        id += step;
        out->ids[out->count] = (uint32_t)id;
        out->flags[out->count++] = packed & (BLOCK_TEXT_SEARCHED | BLOCK_TEXT_WHOLE);
    }
}

bool block_texts_decode(
    struct block_texts *out, struct arena *arena, const void *bytes, size_t len, struct err *err)
{
    struct column_decoder dec;
    *out = (struct block_texts){.count = 0};
    if (!column_decode_init(&dec, arena, bytes, len, err)) {
        return false;
    }
    uint32_t ranges = column_decode_count(&dec);
    dec.failed = dec.failed || ranges > ZONE_MAP_RANGES_MAX;
    for (uint32_t i = 0; i < ranges && !dec.failed; i++) {
        out->numbers.ranges[i].first = column_decode_signed(&dec);
        out->numbers.ranges[i].last = column_decode_signed(&dec);
        out->numbers.count++;
    }
    if (!dec.failed) {
        decode_ids(&dec, out);
    }
    return column_decode_finish(&dec, err);
}

/* ---- columns ---- */

static void decode_sequence(struct column_decoder *dec, struct event_block *out)
{
    if (out->template_count <= BYTE_TEMPLATES) {
        const char *bytes = column_decode_peek(dec, out->event_count);
        for (uint32_t i = 0; bytes != NULL && i < out->event_count; i++) {
            out->sequence[i] = (unsigned char)bytes[i];
        }
    } else {
        for (uint32_t i = 0; i < out->event_count && !dec->failed; i++) {
            uint64_t local = column_decode_number(dec);
            out->sequence[i] = (uint16_t)(local < out->template_count ? local : UINT16_MAX);
        }
    }
    for (uint32_t i = 0; i < out->event_count && !dec->failed; i++) {
        if (out->sequence[i] >= out->template_count) {
            dec->failed = true;
            return;
        }
        out->templates[out->sequence[i]].event_count++;
    }
}

static bool is_within(const struct event_column *column, uint32_t count, int64_t first, int64_t end)
{
    bool within = true;
    uint32_t values = column->stride == 0 && count > 0 ? 1 : count;
    for (uint32_t i = 0; i < values; i++) {
        within = within && column->values[i] >= first && column->values[i] < end;
    }
    return within;
}

/* Behind the point; int64 has no more. */
#define DECIMAL_DIGITS_MAX 19

static void decode_template_columns(struct column_decoder *dec,
                                    struct block_template *local,
                                    uint32_t text_count)
{
    const struct event_template *template = &local->stored->template;
    uint32_t count = local->event_count;
    local->columns =
        arena_calloc(dec->arena, (size_t) template->value_count + 1, sizeof *local->columns);
    dec->failed = dec->failed || local->columns == NULL;
    struct event_column *column = local->columns;
    for (uint32_t i = 0; i < template->slot_count && !dec->failed; i++) {
        uint8_t kind = template->slots[i].kind;
        column->values = column_decode_column(dec, count, &column->stride);
        if (kind == EVENT_SLOT_TEXT && !dec->failed) {
            dec->failed = !is_within(column, count, 0, text_count);
        }
        column++;
        if (kind == EVENT_SLOT_DECIMAL && !dec->failed) {
            column->values = column_decode_column(dec, count, &column->stride);
            dec->failed = dec->failed || !is_within(column, count, 1, DECIMAL_DIGITS_MAX + 1);
            column++;
        }
    }
}

/* Differences become times. They are columns of the arena, which column_decode_column has just
 * made; where all differences are one, the times are not. */
static bool make_times_absolute(struct event_block *block, struct arena *arena)
{
    uint64_t last[EVENT_SLOT_TEXT + 1] = {0};
    int64_t **times = arena_calloc(arena, (size_t)block->template_count + 1, sizeof *times);
    if (times == NULL) {
        return false;
    }
    for (uint32_t k = 0; k < block->template_count; k++) {
        struct block_template *local = &block->templates[k];
        const struct event_shape *shape = &local->stored->shape;
        if (shape->value[EVENT_TS] == EVENT_NO_VALUE || shape->kind[EVENT_TS] == EVENT_SLOT_TEXT) {
            continue;
        }
        struct event_column *column = &local->columns[shape->value[EVENT_TS]];
        times[k] = arena_calloc(arena, (size_t)local->event_count + 1, sizeof **times);
        if (times[k] == NULL) {
            return false;
        }
        for (uint32_t row = 0; row < local->event_count; row++) {
            times[k][row] = column->values[(size_t)row * column->stride];
        }
        *column = (struct event_column){.values = times[k], .stride = 1};
    }
    for (uint32_t i = 0; i < block->event_count; i++) {
        int64_t *time = times[block->sequence[i]];
        if (time != NULL) {
            uint8_t kind = block->templates[block->sequence[i]].stored->shape.kind[EVENT_TS];
            last[kind] += (uint64_t)*time;
            memcpy(time, &last[kind], sizeof *time);
            times[block->sequence[i]]++;
        }
    }
    return true;
}

static void decode_block(struct column_decoder *dec,
                         const struct stored_templates *templates,
                         uint32_t event_count,
                         uint32_t text_count,
                         struct event_block *out)
{
    out->event_count = column_decode_count(dec);
    out->template_count = column_decode_count(dec);
    if (out->event_count != event_count || event_count > EVENT_BLOCK_EVENTS ||
        out->template_count > templates->count) {
        dec->failed = true;
        return;
    }
    out->sequence = arena_calloc(dec->arena, (size_t)event_count + 1, sizeof *out->sequence);
    out->templates =
        arena_calloc(dec->arena, (size_t)out->template_count + 1, sizeof *out->templates);
    dec->failed = dec->failed || out->sequence == NULL || out->templates == NULL;
    for (uint32_t k = 0; k < out->template_count && !dec->failed; k++) {
        uint32_t template = column_decode_count(dec);
        dec->failed = dec->failed || template >= templates->count;
        out->templates[k].stored = dec->failed ? NULL : &templates->templates[template];
    }
    if (!dec->failed) {
        decode_sequence(dec, out);
    }
    for (uint32_t k = 0; k < out->template_count && !dec->failed; k++) {
        decode_template_columns(dec, &out->templates[k], text_count);
    }
    dec->failed = dec->failed || !make_times_absolute(out, dec->arena);
}

bool event_block_decode(struct event_block *out,
                        struct arena *arena,
                        const struct stored_templates *templates,
                        uint32_t event_count,
                        uint32_t text_count,
                        const void *bytes,
                        size_t len,
                        struct err *err)
{
    struct column_decoder dec;
    *out = (struct event_block){.event_count = 0};
    if (!column_decode_init(&dec, arena, bytes, len, err)) {
        return false;
    }
    decode_block(&dec, templates, event_count, text_count, out);
    return column_decode_finish(&dec, err);
}

bool block_cursor_next(struct block_cursor *cursor)
{
    const struct event_block *block = cursor->block;
    if (cursor->next == block->event_count) {
        return false;
    }
    uint16_t local = block->sequence[cursor->next++];
    cursor->template = &block->templates[local];
    cursor->row = cursor->rows[local]++;
    return true;
}

#include "ingest/store/events/decode.h"

#include "ingest/store/codec/pack.h"
#include "ingest/store/events/encode.h"

#include <string.h>

/* Flags of a packed slot. */
#define SLOT_IN_ARGS 4u
#define SLOT_KIND_MASK 3u
#define BYTE_TEMPLATES 256u

/* ---- templates ---- */

/* Keys get numbers of their own, so that they are read without the texts of the log. */
static void pack_templates(struct pack *pack, const struct event_log *log, struct strtab *keys)
{
    struct pack body;
    pack_init(&body);
    for (uint32_t t = 0; t < log->template_count; t++) {
        const struct event_template *template = &log->templates[t];
        pack_number(&body, template->slot_count);
        pack_number(&body, template->has_args);
        for (uint32_t i = 0; i < template->slot_count; i++) {
            const struct event_slot *slot = &template->slots[i];
            uint32_t key = 0; /* the empty text: none */
            if (slot->key != EVENT_KEY_NONE) {
                key = strtab_intern(keys, strtab_text(log->texts, slot->key),
                                    strtab_len(log->texts, slot->key));
                body.raw.failed = body.raw.failed || key == STRTAB_NONE;
            }
            pack_number(&body, key);
            pack_number(&body, slot->kind | (slot->in_args ? SLOT_IN_ARGS : 0));
        }
    }
    pack_number(pack, strtab_count(keys));
    for (uint32_t key = 0; key < strtab_count(keys); key++) {
        const char *text = strtab_text(keys, key);
        pack_texts(pack, &text, 1);
    }
    pack_number(pack, log->template_count);
    buf_append(&pack->raw, body.raw.ptr, body.raw.len);
    pack->raw.failed = pack->raw.failed || body.raw.failed;
    pack_free(&body);
}

bool event_templates_encode(const struct event_log *log, void **bytes, size_t *len, struct err *err)
{
    struct pack pack;
    struct strtab *keys = strtab_create();
    if (keys == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory to store events");
    }
    pack_init(&pack);
    pack_templates(&pack, log, keys);
    bool ok = pack_finish(&pack, bytes, len, err);
    pack_free(&pack);
    strtab_destroy(keys);
    return ok;
}

static void unpack_slot(struct unpack *unpack, struct event_slot *slot, uint32_t key_count)
{
    uint32_t key = unpack_count(unpack);
    uint32_t flags = unpack_count(unpack);
    slot->key = key == 0 ? EVENT_KEY_NONE : key;
    slot->kind = (uint8_t)(flags & SLOT_KIND_MASK);
    slot->in_args = (flags & SLOT_IN_ARGS) != 0;
    unpack->failed = unpack->failed || key >= key_count || slot->kind > EVENT_SLOT_TEXT ||
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

static void unpack_template(struct unpack *unpack,
                            const struct stored_templates *all,
                            struct stored_template *out)
{
    const char *keys[EVENT_KEYS_MAX];
    struct event_template *template = &out->template;
    template->slot_count = unpack_count(unpack);
    template->has_args = unpack_count(unpack) != 0;
    if (unpack->failed || template->slot_count > EVENT_KEYS_MAX) {
        unpack->failed = true;
        return;
    }
    template->slots =
        arena_calloc(unpack->arena, (size_t) template->slot_count + 1, sizeof *template->slots);
    if (template->slots == NULL) {
        unpack->failed = true;
        return;
    }
    for (uint32_t i = 0; i < template->slot_count && !unpack->failed; i++) {
        struct event_slot *slot = &template->slots[i];
        unpack_slot(unpack, slot, all->key_count);
        keys[i] = unpack->failed || slot->key == EVENT_KEY_NONE ? "" : all->keys[slot->key];
        template->value_count += event_slot_values((enum event_slot_kind)slot->kind);
    }
    unpack->failed = unpack->failed || !is_sound(template);
    if (!unpack->failed) {
        event_shape_init(&out->shape, template, keys);
    }
}

static void unpack_templates(struct unpack *unpack, struct stored_templates *out)
{
    out->key_count = unpack_count(unpack);
    out->keys = unpack_texts(unpack, out->key_count);
    for (uint32_t key = 0; key < out->key_count && !unpack->failed; key++) {
        unpack->failed = out->keys[key] == NULL;
    }
    out->count = unpack_count(unpack);
    if (unpack->failed || out->count > EVENT_TEMPLATES_MAX + 1) {
        unpack->failed = true;
        return;
    }
    out->templates = arena_calloc(unpack->arena, (size_t)out->count + 1, sizeof *out->templates);
    unpack->failed = out->templates == NULL;
    for (uint32_t t = 0; t < out->count && !unpack->failed; t++) {
        unpack_template(unpack, out, &out->templates[t]);
    }
}

bool event_templates_decode(struct stored_templates *out,
                            struct arena *arena,
                            const void *bytes,
                            size_t len,
                            struct err *err)
{
    struct unpack unpack;
    *out = (struct stored_templates){.count = 0};
    if (!unpack_init(&unpack, arena, bytes, len, err)) {
        return false;
    }
    unpack_templates(&unpack, out);
    return unpack_finish(&unpack, err);
}

/* ---- what a block has ---- */

static void unpack_ids(struct unpack *unpack, struct block_texts *out)
{
    size_t most = (size_t)(unpack->end - unpack->at);
    out->ids = arena_calloc(unpack->arena, most + 1, sizeof *out->ids);
    out->flags = arena_calloc(unpack->arena, most + 1, sizeof *out->flags);
    if (out->ids == NULL || out->flags == NULL) {
        unpack->failed = true;
        return;
    }
    uint64_t id = 0;
    while (!unpack_is_at_end(unpack)) {
        uint64_t packed = unpack_number(unpack);
        uint64_t step = packed >> BLOCK_TEXT_FLAG_BITS;
        if (step >= UINT32_MAX - id || (step == 0 && out->count > 0)) {
            unpack->failed = true;
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
    struct unpack unpack;
    *out = (struct block_texts){.count = 0};
    if (!unpack_init(&unpack, arena, bytes, len, err)) {
        return false;
    }
    uint32_t ranges = unpack_count(&unpack);
    unpack.failed = unpack.failed || ranges > ZONE_MAP_RANGES_MAX;
    for (uint32_t i = 0; i < ranges && !unpack.failed; i++) {
        out->numbers.ranges[i].first = unpack_signed(&unpack);
        out->numbers.ranges[i].last = unpack_signed(&unpack);
        out->numbers.count++;
    }
    if (!unpack.failed) {
        unpack_ids(&unpack, out);
    }
    return unpack_finish(&unpack, err);
}

/* ---- columns ---- */

static void unpack_sequence(struct unpack *unpack, struct event_block *out)
{
    if (out->template_count <= BYTE_TEMPLATES) {
        const char *bytes = unpack_peek(unpack, out->event_count);
        for (uint32_t i = 0; bytes != NULL && i < out->event_count; i++) {
            out->sequence[i] = (unsigned char)bytes[i];
        }
    } else {
        for (uint32_t i = 0; i < out->event_count && !unpack->failed; i++) {
            uint64_t local = unpack_number(unpack);
            out->sequence[i] = (uint16_t)(local < out->template_count ? local : UINT16_MAX);
        }
    }
    for (uint32_t i = 0; i < out->event_count && !unpack->failed; i++) {
        if (out->sequence[i] >= out->template_count) {
            unpack->failed = true;
            return;
        }
        out->templates[out->sequence[i]].event_count++;
    }
}

static bool is_within(const struct block_column *column, uint32_t count, int64_t first, int64_t end)
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

static void
unpack_template_columns(struct unpack *unpack, struct block_template *local, uint32_t text_count)
{
    const struct event_template *template = &local->stored->template;
    uint32_t count = local->event_count;
    local->columns =
        arena_calloc(unpack->arena, (size_t) template->value_count + 1, sizeof *local->columns);
    unpack->failed = unpack->failed || local->columns == NULL;
    struct block_column *column = local->columns;
    for (uint32_t i = 0; i < template->slot_count && !unpack->failed; i++) {
        uint8_t kind = template->slots[i].kind;
        column->values = unpack_column(unpack, count, &column->stride);
        if (kind == EVENT_SLOT_TEXT && !unpack->failed) {
            unpack->failed = !is_within(column, count, 0, text_count);
        }
        column++;
        if (kind == EVENT_SLOT_DECIMAL && !unpack->failed) {
            column->values = unpack_column(unpack, count, &column->stride);
            unpack->failed = unpack->failed || !is_within(column, count, 1, DECIMAL_DIGITS_MAX + 1);
            column++;
        }
    }
}

/* Differences become times. They are columns of the arena, which unpack_column has just made; where
 * all differences are one, the times are not. */
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
        struct block_column *column = &local->columns[shape->value[EVENT_TS]];
        times[k] = arena_calloc(arena, (size_t)local->event_count + 1, sizeof **times);
        if (times[k] == NULL) {
            return false;
        }
        for (uint32_t row = 0; row < local->event_count; row++) {
            times[k][row] = column->values[(size_t)row * column->stride];
        }
        *column = (struct block_column){.values = times[k], .stride = 1};
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

static void unpack_block(struct unpack *unpack,
                         const struct stored_templates *templates,
                         uint32_t event_count,
                         uint32_t text_count,
                         struct event_block *out)
{
    out->event_count = unpack_count(unpack);
    out->template_count = unpack_count(unpack);
    if (out->event_count != event_count || event_count > EVENT_BLOCK_EVENTS ||
        out->template_count > templates->count) {
        unpack->failed = true;
        return;
    }
    out->sequence = arena_calloc(unpack->arena, (size_t)event_count + 1, sizeof *out->sequence);
    out->templates =
        arena_calloc(unpack->arena, (size_t)out->template_count + 1, sizeof *out->templates);
    unpack->failed = unpack->failed || out->sequence == NULL || out->templates == NULL;
    for (uint32_t k = 0; k < out->template_count && !unpack->failed; k++) {
        uint32_t template = unpack_count(unpack);
        unpack->failed = unpack->failed || template >= templates->count;
        out->templates[k].stored = unpack->failed ? NULL : &templates->templates[template];
    }
    if (!unpack->failed) {
        unpack_sequence(unpack, out);
    }
    for (uint32_t k = 0; k < out->template_count && !unpack->failed; k++) {
        unpack_template_columns(unpack, &out->templates[k], text_count);
    }
    unpack->failed = unpack->failed || !make_times_absolute(out, unpack->arena);
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
    struct unpack unpack;
    *out = (struct event_block){.event_count = 0};
    if (!unpack_init(&unpack, arena, bytes, len, err)) {
        return false;
    }
    unpack_block(&unpack, templates, event_count, text_count, out);
    return unpack_finish(&unpack, err);
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

#include "ingest/formats/event_log/shapes.h"

#include "ingest/base/bytes.h"
#include "ingest/formats/json/text.h"

#include <stdlib.h>
#include <string.h>

#define NO_SHAPE UINT32_MAX
#define SHAPES_FIRST 64U
/* One template is for events that are one text. */
#define SHAPES_MAX (EVENT_TEMPLATES_MAX - 1)
#define WORD_BYTES 8

/* One member of a shape, in the place where the file has it. */
struct cell {
    const char *key; /* as it stands in the file */
    uint64_t key_head;
    uint32_t key_len;
    uint16_t value_at;  /* where its value goes */
    uint8_t kind;       /* enum event_slot_kind */
    bool is_overridden; /* a later member has the same key */
};

struct event_shape {
    struct cell *cells; /* of the event, then of `args` */
    uint64_t hash;
    uint32_t top_count;
    uint32_t arg_count;
    uint32_t template_number;
    uint32_t value_count;
    uint32_t next; /* the shape that came behind it last */
    bool has_args;
    bool is_whole; /* its events are one text each */
};

_Static_assert(EVENT_SHAPE_SLOTS >= 2 * EVENT_TEMPLATES_MAX, "at most half full");
_Static_assert(EVENT_TEMPLATES_MAX <= UINT16_MAX, "numbers of shapes in 16 bits");

/* --- life --- */

bool event_shapes_init(struct event_shapes *shapes,
                       struct event_texts *texts,
                       struct event_log *log)
{
    memset(shapes, 0, sizeof *shapes);
    shapes->texts = texts;
    shapes->log = log;
    shapes->last = NO_SHAPE;
    shapes->whole_template = UINT32_MAX;
    arena_init(&shapes->arena, 0);
    shapes->keys = strtab_create();
    return shapes->keys != NULL;
}

void event_shapes_free(struct event_shapes *shapes)
{
    strtab_destroy(shapes->keys);
    free(shapes->shapes);
    arena_free(&shapes->arena);
}

size_t event_shapes_memory(const struct event_shapes *shapes)
{
    return sizeof *shapes + shapes->arena.held_bytes + strtab_bytes(shapes->keys) +
           shapes->shape_capacity * sizeof *shapes->shapes;
}

/* --- comparing --- */

static inline bool has_key(const struct cell *cell, const struct kineto_member *member)
{
    uint32_t len = cell->key_len;
    if (member->key_len != len || event_text_head(member->key, len) != cell->key_head) {
        return false;
    }
    if (len <= WORD_BYTES) {
        return true;
    }
    for (uint32_t i = WORD_BYTES; i + WORD_BYTES < len; i += WORD_BYTES) {
        if (bytes_load64(cell->key + i) != bytes_load64(member->key + i)) {
            return false;
        }
    }
    uint32_t tail = len - WORD_BYTES;
    return bytes_load64(cell->key + tail) == bytes_load64(member->key + tail);
}

static bool has_keys(const struct cell *cells, const struct kineto_member *members, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!has_key(&cells[i], &members[i])) {
            return false;
        }
    }
    return true;
}

static inline bool is_of_shape(const struct event_shape *shape,
                               const struct kineto_members *members)
{
    return shape->top_count == members->top_count && shape->arg_count == members->arg_count &&
           shape->has_args == members->has_args &&
           has_keys(shape->cells, members->top, members->top_count) &&
           has_keys(shape->cells + shape->top_count, members->args, members->arg_count);
}

enum fit { FITS, FITS_NOT, NO_MEMORY };

static inline enum fit take_value(struct event_texts *texts,
                                  const struct cell *cell,
                                  const struct json_value *value,
                                  int64_t *to)
{
    int64_t number[2];
    switch ((enum event_slot_kind)cell->kind) {
    case EVENT_SLOT_INT:
        return event_value_int(value, to) ? FITS : FITS_NOT;
    case EVENT_SLOT_DECIMAL:
        return event_value_decimal(value, to) ? FITS : FITS_NOT;
    case EVENT_SLOT_TEXT:
        break;
    }
    if (KS_UNLIKELY(value->kind == JSON_KIND_NUMBER) &&
        (event_value_int(value, number) || event_value_decimal(value, number))) {
        return FITS_NOT;
    }
    uint32_t id = event_texts_value(texts, value);
    *to = id;
    return KS_LIKELY(id != STRTAB_NONE) ? FITS : NO_MEMORY;
}

static enum fit take_values(struct event_texts *texts,
                            const struct cell *cells,
                            const struct kineto_member *members,
                            uint32_t count,
                            int64_t *values)
{
    for (uint32_t i = 0; i < count; i++) {
        if (KS_UNLIKELY(cells[i].is_overridden)) {
            continue;
        }
        enum fit fit = take_value(texts, &cells[i], &members[i].value, values + cells[i].value_at);
        if (KS_UNLIKELY(fit != FITS)) {
            return fit;
        }
    }
    return FITS;
}

/* Whether the event has this shape; its values are written then, unless it is one text. */
static enum fit try_shape(struct event_shapes *shapes,
                          struct event_shape *shape,
                          const struct kineto_members *members,
                          int64_t *values)
{
    if (!is_of_shape(shape, members)) {
        return FITS_NOT;
    }
    if (KS_UNLIKELY(shape->is_whole)) {
        return FITS;
    }
    enum fit fit =
        take_values(shapes->texts, shape->cells, members->top, members->top_count, values);
    return fit == FITS ? take_values(shapes->texts, shape->cells + shape->top_count, members->args,
                                     members->arg_count, values)
                       : fit;
}

/* --- finding by hash --- */

static inline uint64_t mix(uint64_t state, uint64_t word)
{
    uint64_t product = (state ^ word) * BYTES_SPREAD;
    return product ^ product >> 29;
}

static uint64_t hash_members(uint64_t hash, const struct kineto_member *members, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t len = members[i].key_len;
        hash = mix(hash, event_text_head(members[i].key, len));
        if (len > WORD_BYTES) {
            hash = mix(hash, bytes_load64(members[i].key + len - WORD_BYTES));
        }
        hash = mix(hash, (uint64_t)len << 2 | event_value_kind(&members[i].value));
    }
    return hash;
}

static uint64_t hash_of(const struct kineto_members *members)
{
    uint64_t hash = hash_members(members->has_args, members->top, members->top_count);
    return mix(hash_members(hash, members->args, members->arg_count), members->arg_count);
}

static uint16_t *first_slot(struct event_shapes *shapes, uint64_t hash)
{
    return &shapes->slots_plus_1[hash % EVENT_SHAPE_SLOTS];
}

static uint16_t *next_slot(struct event_shapes *shapes, uint16_t *slot)
{
    return slot + 1 == shapes->slots_plus_1 + EVENT_SHAPE_SLOTS ? shapes->slots_plus_1 : slot + 1;
}

/* --- learning --- */

/* The number of a new template with this room for slots, or UINT32_MAX without memory. */
static uint32_t add_template(struct event_shapes *shapes, uint32_t slot_count)
{
    struct event_log *log = shapes->log;
    if (log->template_count == shapes->template_capacity) {
        uint32_t capacity = shapes->template_capacity * 2 + SHAPES_FIRST;
        struct event_template *templates =
            arena_alloc(&shapes->arena, capacity * sizeof *templates);
        if (templates == NULL) {
            return UINT32_MAX;
        }
        /* The old ones stay: a sink may be at work with them. */
        if (log->template_count > 0) {
            memcpy(templates, log->templates, log->template_count * sizeof *templates);
        }
        log->templates = templates;
        shapes->template_capacity = capacity;
    }
    struct event_slot *slots = arena_calloc(&shapes->arena, slot_count + 1U, sizeof *slots);
    if (slots == NULL) {
        return UINT32_MAX;
    }
    log->templates[log->template_count] = (struct event_template){.slots = slots};
    return log->template_count++;
}

/* An event as one text. */
static bool take_whole(struct event_shapes *shapes,
                       const struct kineto_event *event,
                       int64_t *values,
                       struct event_record *record)
{
    if (shapes->whole_template == UINT32_MAX) {
        uint32_t number = add_template(shapes, 1);
        if (number == UINT32_MAX) {
            return false;
        }
        struct event_template *whole = &shapes->log->templates[number];
        whole->slots[0] = (struct event_slot){.key = EVENT_KEY_NONE, .kind = EVENT_SLOT_TEXT};
        whole->slot_count = 1;
        whole->value_count = 1;
        shapes->whole_template = number;
    }
    uint32_t id = event_texts_object(shapes->texts, event->begin, event->end);
    values[0] = id;
    *record = (struct event_record){.template_number = shapes->whole_template, .value_count = 1};
    return id != STRTAB_NONE;
}

/* The id of a key as a reader of the JSON text sees it. */
static uint32_t decoded_key(struct event_shapes *shapes, const struct kineto_member *member)
{
    const struct json_value key = {
        .ptr = member->key, .len = member->key_len, .kind = JSON_KIND_STRING};
    struct buf *scratch = &shapes->texts->scratch;
    buf_clear(scratch);
    json_text_string(&key, scratch, NULL);
    return scratch->failed ? STRTAB_NONE : strtab_intern(shapes->keys, scratch->ptr, scratch->len);
}

/* A shape while it is learnt: slots of one level, each with the cell whose value it has. */
struct lesson {
    uint32_t key_ids[EVENT_KEYS_MAX]; /* by slot */
    uint32_t cells[EVENT_KEYS_MAX];
    uint32_t slot_count;
    bool two_spellings; /* a key came again in another spelling */
};

/* Makes cell `number` the owner of its key's slot. False without memory. */
static bool learn_member(struct event_shapes *shapes,
                         const struct kineto_member *member,
                         struct cell *cells,
                         uint32_t number,
                         struct lesson *lesson)
{
    struct cell *cell = &cells[number];
    uint32_t key_id = decoded_key(shapes, member);
    const char *key = arena_strndup(&shapes->arena, member->key, member->key_len);
    if (key_id == STRTAB_NONE || key == NULL) {
        return false;
    }
    *cell = (struct cell){.key = key,
                          .key_head = event_text_head(key, member->key_len),
                          .key_len = member->key_len,
                          .kind = (uint8_t)event_value_kind(&member->value)};
    uint32_t slot = 0;
    while (slot < lesson->slot_count && lesson->key_ids[slot] != key_id) {
        slot++;
    }
    if (slot < lesson->slot_count) {
        struct cell *before = &cells[lesson->cells[slot]];
        before->is_overridden = true;
        lesson->two_spellings = lesson->two_spellings || !has_key(before, member);
    }
    lesson->slot_count += slot == lesson->slot_count;
    lesson->key_ids[slot] = key_id;
    lesson->cells[slot] = number;
    return true;
}

static bool is_args_key(const struct cell *cell)
{
    return cell->key_len == 4 && memcmp(cell->key, "args", 4) == 0;
}

/* `args` as a member in its own right is overridden by an object of that name; one in another
 * spelling could stand behind it. */
static void drop_args(struct event_shapes *shapes, struct cell *cells, struct lesson *lesson)
{
    uint32_t args_id = strtab_find(shapes->keys, "args", 4);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < lesson->slot_count; i++) {
        struct cell *cell = &cells[lesson->cells[i]];
        if (args_id != STRTAB_NONE && lesson->key_ids[i] == args_id) {
            cell->is_overridden = true;
            lesson->two_spellings = lesson->two_spellings || !is_args_key(cell);
            continue;
        }
        lesson->cells[kept] = lesson->cells[i];
        lesson->key_ids[kept++] = lesson->key_ids[i];
    }
    lesson->slot_count = kept;
}

static uint32_t value_count_of(uint8_t kind)
{
    return kind == EVENT_SLOT_DECIMAL ? 2 : 1;
}

/* The slots of a lesson behind those that the template has. */
static bool add_slots(struct event_shapes *shapes,
                      struct event_template *template,
                      struct cell *cells,
                      const struct lesson *lesson,
                      bool in_args)
{
    for (uint32_t i = 0; i < lesson->slot_count; i++) {
        struct cell *cell = &cells[lesson->cells[i]];
        uint32_t key = event_texts_key(shapes->texts, cell->key, cell->key_len);
        if (key == STRTAB_NONE) {
            return false;
        }
        cell->value_at = (uint16_t) template->value_count;
        template->value_count += value_count_of(cell->kind);
        template->slots[template->slot_count++] =
            (struct event_slot){.key = key, .kind = cell->kind, .in_args = in_args};
    }
    return true;
}

/* Both levels. False without memory. */
static bool learn_cells(struct event_shapes *shapes,
                        const struct kineto_members *members,
                        struct event_shape *shape,
                        struct lesson *top,
                        struct lesson *args)
{
    struct cell *arg_cells = shape->cells + shape->top_count;
    for (uint32_t i = 0; i < shape->top_count; i++) {
        if (!learn_member(shapes, &members->top[i], shape->cells, i, top)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < shape->arg_count; i++) {
        if (!learn_member(shapes, &members->args[i], arg_cells, i, args)) {
            return false;
        }
    }
    if (shape->has_args) {
        drop_args(shapes, shape->cells, top);
    }
    shape->is_whole = top->two_spellings || args->two_spellings;
    return true;
}

static bool
learn(struct event_shapes *shapes, const struct kineto_members *members, struct event_shape *shape)
{
    struct lesson top = {.slot_count = 0};
    struct lesson args = {.slot_count = 0};
    uint32_t cell_count = shape->top_count + shape->arg_count;
    shape->cells = arena_calloc(&shapes->arena, cell_count + 1U, sizeof *shape->cells);
    if (shape->cells == NULL || !learn_cells(shapes, members, shape, &top, &args)) {
        return false;
    }
    if (shape->is_whole) {
        return true;
    }
    shape->template_number = add_template(shapes, top.slot_count + args.slot_count);
    if (shape->template_number == UINT32_MAX) {
        return false;
    }
    struct event_template *template = &shapes->log->templates[shape->template_number];
    template->has_args = shape->has_args;
    bool good = add_slots(shapes, template, shape->cells, &top, false) &&
                add_slots(shapes, template, shape->cells + shape->top_count, &args, true);
    shape->value_count = template->value_count;
    return good;
}

/* The number of the new shape of these members; NO_SHAPE without memory. */
static uint32_t
add_shape(struct event_shapes *shapes, const struct kineto_members *members, uint64_t hash)
{
    if (shapes->shape_count == shapes->shape_capacity) {
        uint32_t capacity = shapes->shape_capacity * 2 + SHAPES_FIRST;
        struct event_shape *grown = realloc(shapes->shapes, capacity * sizeof *grown);
        if (grown == NULL) {
            return NO_SHAPE;
        }
        shapes->shapes = grown;
        shapes->shape_capacity = capacity;
    }
    struct event_shape *shape = &shapes->shapes[shapes->shape_count];
    *shape = (struct event_shape){.hash = hash,
                                  .top_count = members->top_count,
                                  .arg_count = members->arg_count,
                                  .has_args = members->has_args,
                                  .next = NO_SHAPE};
    return learn(shapes, members, shape) ? shapes->shape_count++ : NO_SHAPE;
}

/* --- one event --- */

/* The shape with this hash that fits, learnt if there is none; *number NO_SHAPE: too many. */
static enum fit find_shape(struct event_shapes *shapes,
                           const struct kineto_members *members,
                           int64_t *values,
                           uint32_t *number)
{
    uint64_t hash = hash_of(members);
    uint16_t *slot = first_slot(shapes, hash);
    for (; *slot != 0; slot = next_slot(shapes, slot)) {
        *number = *slot - 1U;
        struct event_shape *shape = &shapes->shapes[*number];
        enum fit fit = shape->hash == hash ? try_shape(shapes, shape, members, values) : FITS_NOT;
        if (fit != FITS_NOT) {
            return fit;
        }
    }
    *number = NO_SHAPE;
    if (shapes->shape_count == SHAPES_MAX) {
        return FITS;
    }
    *number = add_shape(shapes, members, hash);
    if (*number == NO_SHAPE) {
        return NO_MEMORY;
    }
    *slot = (uint16_t)(*number + 1);
    return try_shape(shapes, &shapes->shapes[*number], members, values);
}

bool event_shapes_take(struct event_shapes *shapes,
                       const struct kineto_event *event,
                       int64_t *values,
                       struct event_record *record)
{
    const struct kineto_members *members = event->members;
    if (members->too_many || members->top_count + members->arg_count > EVENT_KEYS_MAX) {
        return take_whole(shapes, event, values, record);
    }
    uint32_t number = shapes->last == NO_SHAPE ? NO_SHAPE : shapes->shapes[shapes->last].next;
    enum fit fit =
        number == NO_SHAPE ? FITS_NOT : try_shape(shapes, &shapes->shapes[number], members, values);
    if (fit == FITS_NOT) {
        fit = find_shape(shapes, members, values, &number);
        if (number != NO_SHAPE && shapes->last != NO_SHAPE) {
            shapes->shapes[shapes->last].next = number;
        }
    }
    if (fit != FITS) {
        return false;
    }
    shapes->last = number == NO_SHAPE ? shapes->last : number;
    if (number == NO_SHAPE || shapes->shapes[number].is_whole) {
        return take_whole(shapes, event, values, record);
    }
    *record = (struct event_record){.template_number = shapes->shapes[number].template_number,
                                    .value_count = shapes->shapes[number].value_count};
    return true;
}

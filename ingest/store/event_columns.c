#include "ingest/store/event_columns.h"

#include "ingest/base/strtab.h"

#include <stdlib.h>

#define NOT_IN_BLOCK UINT32_MAX
/* Events whose values go to the columns at a time: they stay in the fastest memory. */
#define TILE_EVENTS 64u
#define LINE_VALUES 8u /* that come from memory at once */

static bool no_memory(struct err *err)
{
    return err_set(err, ERR_NO_MEMORY, "no memory to store events");
}

bool event_columns_init(struct event_columns *all)
{
    *all = (struct event_columns){.plans = NULL};
    arena_init(&all->arena, 0);
    all->rows = malloc(EVENT_BATCH_EVENTS * sizeof *all->rows);
    all->sequence = malloc(EVENT_BATCH_EVENTS * sizeof *all->sequence);
    all->locals = malloc((EVENT_TEMPLATES_MAX + 1) * sizeof *all->locals);
    return all->rows != NULL && all->sequence != NULL && all->locals != NULL;
}

void event_columns_free(struct event_columns *all)
{
    arena_free(&all->arena);
    free(all->plans);
    free(all->locals);
    free(all->sequence);
    free(all->rows);
    free(all->columns);
    free(all->values);
}

/* ---- plans ---- */

static void
set_roles(struct event_plan *plan, const struct event_slot *slot, const char *key, uint32_t at)
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

static bool init_plan(struct event_columns *all,
                      const struct event_log *log,
                      const struct event_template *template,
                      struct event_plan *plan)
{
    const char *keys[EVENT_KEYS_MAX];
    struct arena *arena = &all->arena;
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

static bool make_plans(struct event_columns *all, const struct event_log *log, struct err *err)
{
    if (log->template_count > EVENT_TEMPLATES_MAX + 1) {
        return err_set(err, ERR_INTERNAL, "%u kinds of events are too many", log->template_count);
    }
    if (log->template_count > all->plan_cap) {
        uint32_t cap = log->template_count * 2;
        struct event_plan *plans = realloc(all->plans, cap * sizeof *plans);
        if (plans == NULL) {
            return no_memory(err);
        }
        all->plans = plans;
        all->plan_cap = cap;
    }
    for (; all->plan_count < log->template_count; all->plan_count++) {
        const struct event_template *template = &log->templates[all->plan_count];
        if (!is_sound(log, template)) {
            return err_set(err, ERR_INTERNAL, "a kind of events cannot be stored");
        }
        if (!init_plan(all, log, template, &all->plans[all->plan_count])) {
            return no_memory(err);
        }
    }
    return true;
}

/* ---- from rows to columns ---- */

/* Numbers the templates of the block in order of first use and counts their events. */
static bool
number_templates(struct event_columns *all, const struct event_batch *batch, struct err *err)
{
    size_t values = 0;
    for (uint32_t i = 0; i < batch->event_count; i++) {
        uint32_t template = batch->templates[i];
        if (template >= all->plan_count) {
            return err_set(err, ERR_INTERNAL, "event %u has no kind", batch->first_event + i);
        }
        struct event_plan *plan = &all->plans[template];
        if (plan->local == NOT_IN_BLOCK) {
            plan->local = all->local_count++;
            all->locals[plan->local] = (struct local_template){.template = template};
        }
        all->locals[plan->local].event_count++;
        all->sequence[i] = (uint16_t)plan->local;
        values += plan->value_count;
    }
    return values == batch->value_count ||
           err_set(err, ERR_INTERNAL, "a batch has %zu values instead of %zu", batch->value_count,
                   values);
}

/* A batch lies near the processor that made it: it is asked for as a whole, in order, before it is
 * read here and there. */
static void fetch_values(const struct event_batch *batch)
{
    for (size_t i = 0; i < batch->value_count; i += LINE_VALUES) {
        KS_PREFETCH(&batch->values[i]);
    }
}

/* Where the values of each template's events are. */
static void find_rows(struct event_columns *all, const struct event_batch *batch)
{
    uint32_t *rows = all->rows;
    uint32_t at = 0;
    for (uint32_t k = 0; k < all->local_count; k++) {
        all->locals[k].rows = rows;
        rows += all->locals[k].event_count;
    }
    for (uint32_t i = 0; i < batch->event_count; i++) {
        struct local_template *local = &all->locals[all->sequence[i]];
        *local->rows++ = at;
        at += all->plans[local->template].value_count;
    }
    for (uint32_t k = 0; k < all->local_count; k++) {
        all->locals[k].rows -= all->locals[k].event_count;
    }
}

static bool grow_columns(struct event_columns *all, size_t column_count, size_t value_count)
{
    if (column_count > all->column_cap) {
        free(all->columns);
        all->column_cap = 2 * column_count;
        all->columns = malloc(all->column_cap * sizeof *all->columns);
        all->column_cap = all->columns == NULL ? 0 : all->column_cap;
    }
    if (value_count > all->value_cap) {
        free(all->values);
        all->value_cap = value_count + value_count / 4;
        all->values = malloc(all->value_cap * sizeof *all->values);
        all->value_cap = all->values == NULL ? 0 : all->value_cap;
    }
    return column_count <= all->column_cap && value_count <= all->value_cap;
}

/* The values of some events of a template; values[row] is the first one's. A column is filled from
 * the first value on that differs; `room` is where it would be. Whether it was taken. */
static bool gather_tile(struct value_column *column,
                        const int64_t *values,
                        const uint32_t *rows,
                        uint32_t from,
                        uint32_t to,
                        int64_t *room)
{
    bool is_new = column->values == NULL;
    if (is_new) {
        int64_t differ = 0;
        for (uint32_t i = from; i < to; i++) {
            differ |= values[rows[i]] ^ column->first;
        }
        if (differ == 0) {
            return false;
        }
        column->values = room;
        for (uint32_t i = 0; i < from; i++) {
            room[i] = column->first;
        }
    }
    int64_t *out = column->values;
    for (uint32_t i = from; i < to; i++) {
        out[i] = values[rows[i]];
    }
    return is_new;
}

/* The columns of a template. Its times get one, since they become differences; gives the room that
 * is left. */
static int64_t *gather(const struct local_template *local,
                       const struct event_plan *plan,
                       const int64_t *values,
                       int64_t *room)
{
    uint32_t count = local->event_count;
    for (uint32_t v = 0; v < plan->value_count; v++) {
        local->columns[v] = (struct value_column){.first = values[local->rows[0] + v]};
    }
    if (event_plan_has_number(plan, EVENT_TS)) {
        local->columns[plan->shape.value[EVENT_TS]].values = room;
        room += count;
    }
    for (uint32_t from = 0; from < count; from += TILE_EVENTS) {
        uint32_t to = count - from < TILE_EVENTS ? count : from + TILE_EVENTS;
        for (uint32_t v = 0; v < plan->value_count; v++) {
            bool took = gather_tile(&local->columns[v], values + v, local->rows, from, to, room);
            room += took ? count : 0;
        }
    }
    return room;
}

static bool make_columns(struct event_columns *all, const struct event_batch *batch)
{
    size_t column_count = 0;
    for (uint32_t k = 0; k < all->local_count; k++) {
        column_count += all->plans[all->locals[k].template].value_count;
    }
    if (!grow_columns(all, column_count + 1, batch->value_count + 1)) {
        return false;
    }
    fetch_values(batch);
    find_rows(all, batch);
    struct value_column *columns = all->columns;
    int64_t *room = all->values;
    for (uint32_t k = 0; k < all->local_count; k++) {
        struct local_template *local = &all->locals[k];
        const struct event_plan *plan = &all->plans[local->template];
        local->columns = columns;
        columns += plan->value_count;
        room = gather(local, plan, batch->values, room);
    }
    return true;
}

static void start_anew(struct event_columns *all)
{
    for (uint32_t k = 0; k < all->local_count; k++) {
        all->plans[all->locals[k].template].local = NOT_IN_BLOCK;
    }
    all->local_count = 0;
}

bool event_columns_make(struct event_columns *all,
                        const struct event_log *log,
                        const struct event_batch *batch,
                        struct err *err)
{
    start_anew(all);
    if (batch->event_count > EVENT_BATCH_EVENTS) {
        return err_set(err, ERR_INTERNAL, "a batch of %u events is too large", batch->event_count);
    }
    return make_plans(all, log, err) && number_templates(all, batch, err) &&
           (make_columns(all, batch) || no_memory(err));
}

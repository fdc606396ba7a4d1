#include "ingest/store/events/columns.h"

#include "ingest/base/text/strtab.h"

#include <stdlib.h>
#include <string.h>

#define NOT_IN_BLOCK UINT32_MAX
/* A batch lies near the processor that made it: its values are asked for so many events ahead. */
#define AHEAD_VALUES 256u

static bool no_memory(struct err *err)
{
    return err_set(err, ERR_NO_MEMORY, "no memory to store events");
}

bool event_columns_init(struct event_columns *all)
{
    *all = (struct event_columns){.plans = NULL};
    arena_init(&all->arena, 0);
    all->rows = malloc(EVENT_BATCH_EVENTS * sizeof *all->rows);
    all->times = malloc(EVENT_BATCH_EVENTS * sizeof *all->times);
    all->sequence = malloc(EVENT_BATCH_EVENTS * sizeof *all->sequence);
    all->locals = malloc((EVENT_TEMPLATES_MAX + 1) * sizeof *all->locals);
    return all->rows != NULL && all->times != NULL && all->sequence != NULL && all->locals != NULL;
}

void event_columns_free(struct event_columns *all)
{
    arena_free(&all->arena);
    free(all->plans);
    free(all->locals);
    free(all->sequence);
    free(all->rows);
    free(all->times);
    free(all->differ);
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

static struct local_template local_of(const struct event_plan *plan, uint32_t template)
{
    bool has_time = event_plan_has_number(plan, EVENT_TS);
    return (struct local_template){
        .template = template,
        .value_count = plan->value_count,
        .time_at = has_time ? plan->shape.value[EVENT_TS] : EVENT_NO_VALUE,
        .time_kind = has_time ? plan->shape.kind[EVENT_TS] : EVENT_SLOT_TEXT,
    };
}

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
            all->locals[plan->local] = local_of(plan, template);
        }
        all->locals[plan->local].event_count++;
        all->sequence[i] = (uint16_t)plan->local;
        values += plan->value_count;
    }
    return values == batch->value_count ||
           err_set(err, ERR_INTERNAL, "a batch has %zu values instead of %zu", batch->value_count,
                   values);
}

static bool grow_differ(struct event_columns *all)
{
    size_t count = 0;
    for (uint32_t k = 0; k < all->local_count; k++) {
        count += all->locals[k].value_count;
    }
    if (count > all->differ_cap) {
        free(all->differ);
        all->differ_cap = 2 * count;
        all->differ = malloc(all->differ_cap * sizeof *all->differ);
        all->differ_cap = all->differ == NULL ? 0 : all->differ_cap;
    }
    if (count > 0 && all->differ_cap > 0) {
        memset(all->differ, 0, count * sizeof *all->differ);
    }
    return count <= all->differ_cap;
}

/* Gives each template its part of the arrays; `event_count` becomes what of it is filled. */
static void share_out(struct event_columns *all)
{
    uint32_t *rows = all->rows;
    int64_t *times = all->times;
    uint64_t *differ = all->differ;
    for (uint32_t k = 0; k < all->local_count; k++) {
        struct local_template *local = &all->locals[k];
        local->rows = rows;
        local->times = times;
        local->differ = differ;
        rows += local->event_count;
        times += local->event_count;
        differ += local->value_count;
        local->event_count = 0;
    }
}

static inline void note_differences(uint64_t *restrict differ,
                                    const int64_t *first,
                                    const int64_t *values,
                                    uint32_t count)
{
    for (uint32_t v = 0; v < count; v++) {
        differ[v] |= (uint64_t)first[v] ^ (uint64_t)values[v];
    }
}

/* The one walk through the values in their order. */
static void take_events(struct event_columns *all, const struct event_batch *batch)
{
    uint64_t last[EVENT_SLOT_TEXT + 1] = {0};
    uint32_t at = 0;
    for (uint32_t i = 0; i < batch->event_count; i++) {
        struct local_template *local = &all->locals[all->sequence[i]];
        const int64_t *values = batch->values + at;
        uint32_t row = local->event_count++;
        if (at + AHEAD_VALUES < batch->value_count) {
            KS_PREFETCH(values + AHEAD_VALUES);
        }
        local->rows[row] = at;
        local->first = row == 0 ? values : local->first;
        if (local->time_at != EVENT_NO_VALUE) {
            uint64_t now = (uint64_t)values[local->time_at];
            uint64_t delta = now - last[local->time_kind];
            last[local->time_kind] = now;
            local->times[row] = (int64_t)delta;
        }
        note_differences(local->differ, local->first, values, local->value_count);
        at += local->value_count;
    }
}

static bool make_columns(struct event_columns *all, const struct event_batch *batch)
{
    if (!grow_differ(all)) {
        return false;
    }
    share_out(all);
    all->values = batch->values;
    take_events(all, batch);
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

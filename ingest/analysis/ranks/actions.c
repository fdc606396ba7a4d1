/* The operations of a pipeline that ranges of a trace name [RANK-4c]. */
#include "ingest/analysis/ranks/digest_internal.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"
#include "ingest/base/text/affix.h"
#include "ingest/model/operations.h"

#include <stdlib.h>
#include <string.h>

/* ---- names ---- */

enum rule { RULE_NONE, RULE_ACTION, RULE_TYPE, RULE_NUMBERED, RULE_FUNCTION, RULE_COUNT };

struct word {
    const char *text;
    uint8_t type;
};

#define STAGE_DIGITS_MAX 9

static const struct word actions[] = {
    {"F", OPERATION_FORWARD_COMPUTE},    {"B", OPERATION_BACKWARD_COMPUTE},
    {"I", OPERATION_BACKWARD_COMPUTE},   {"W", OPERATION_BACKWARD_COMPUTE},
    {"SEND_F", OPERATION_FORWARD_SEND},  {"RECV_F", OPERATION_FORWARD_RECV},
    {"SEND_B", OPERATION_BACKWARD_SEND}, {"RECV_B", OPERATION_BACKWARD_RECV},
};
static const struct word numbered[] = {
    {"Forward ", OPERATION_FORWARD_COMPUTE},
    {"Backward ", OPERATION_BACKWARD_COMPUTE},
};
/* Functions, and the file in which they stand. */
static const struct function {
    const char *file, *name;
    uint8_t type;
} functions[] = {
    {"pipeline_parallel/schedules.py(", "forward_step", OPERATION_FORWARD_COMPUTE},
    {"pipeline_parallel/schedules.py(", "backward_step", OPERATION_BACKWARD_COMPUTE},
    {"pipeline_parallel/p2p_communication.py(", "send_forward", OPERATION_FORWARD_SEND},
    {"pipeline_parallel/p2p_communication.py(", "recv_forward", OPERATION_FORWARD_RECV},
    {"pipeline_parallel/p2p_communication.py(", "send_backward", OPERATION_BACKWARD_SEND},
    {"pipeline_parallel/p2p_communication.py(", "recv_backward", OPERATION_BACKWARD_RECV},
    {"runtime/pipe/engine.py(", "_exec_forward_pass", OPERATION_FORWARD_COMPUTE},
    {"runtime/pipe/engine.py(", "_exec_backward_pass", OPERATION_BACKWARD_COMPUTE},
    {"runtime/pipe/engine.py(", "_exec_send_activations", OPERATION_FORWARD_SEND},
    {"runtime/pipe/engine.py(", "_exec_recv_activations", OPERATION_FORWARD_RECV},
    {"runtime/pipe/engine.py(", "_exec_send_grads", OPERATION_BACKWARD_SEND},
    {"runtime/pipe/engine.py(", "_exec_recv_grads", OPERATION_BACKWARD_RECV},
    {"runtime/pipe/engine.py(", "_exec_optimizer_step", OPERATION_OPTIMIZER},
};
#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static bool is_digits(const char *text)
{
    return text[strspn(text, "0123456789")] == '\0';
}

/* "2SEND_F13" behind "PP:": stage, action, micro-batch. */
static struct rank_operation_name read_action(const char *text)
{
    struct rank_operation_name out = {.stage = 0, .rule = RULE_NONE};
    size_t digits = strspn(text, "0123456789");
    size_t letters = strcspn(text + digits, "0123456789");
    if (digits == 0 || digits > STAGE_DIGITS_MAX || !is_digits(text + digits + letters)) {
        return out;
    }
    for (size_t i = 0; i < digits; i++) {
        out.stage = out.stage * 10 + (text[i] - '0');
    }
    for (size_t i = 0; i < COUNT_OF(actions); i++) {
        if (strlen(actions[i].text) == letters &&
            strncmp(text + digits, actions[i].text, letters) == 0) {
            out.type = actions[i].type;
            out.rule = RULE_ACTION;
        }
    }
    return out;
}

static struct rank_operation_name named(uint8_t type, enum rule rule)
{
    return (struct rank_operation_name){RANK_UNKNOWN, type, (uint8_t)rule};
}

struct rank_operation_name rank_operation_named(const char *name)
{
    if (text_begins(name, "PP:")) {
        return read_action(name + 3);
    }
    for (int type = 0; type < OPERATION_TYPE_COUNT; type++) {
        if (strcmp(name, operation_type_name((enum operation_type)type)) == 0) {
            return named((uint8_t)type, RULE_TYPE);
        }
    }
    for (size_t i = 0; i < COUNT_OF(numbered); i++) {
        size_t len = strlen(numbered[i].text);
        if (text_begins(name, numbered[i].text) && name[len] != '\0' && is_digits(name + len)) {
            return named(numbered[i].type, RULE_NUMBERED);
        }
    }
    const char *function = strstr(name, ".py(") == NULL ? NULL : strstr(name, "): ");
    for (size_t i = 0; function != NULL && i < COUNT_OF(functions); i++) {
        const char *file = strstr(name, functions[i].file);
        if (file != NULL && file < function && strcmp(function + 3, functions[i].name) == 0) {
            return named(functions[i].type, RULE_FUNCTION);
        }
    }
    return named(0, RULE_NONE);
}

/* ---- which ranges count ---- */

/* What is told by several rules, or of host and device, counts once: the first of these. */
enum part { PART_COMPUTE, PART_TRANSFER, PART_REST, PART_COUNT };

struct found {
    struct rank_operation operation;
    uint32_t name;
    uint8_t source; /* smaller goes before */
};

struct finding {
    struct digesting *d;
    struct id_map names; /* name -> packed rank_operation_name */
    struct found *items;
    size_t count, cap;
    uint8_t best[PART_COUNT];
};

static enum part part_of(uint8_t type)
{
    switch (type) {
    case OPERATION_FORWARD_COMPUTE:
    case OPERATION_BACKWARD_COMPUTE:
        return PART_COMPUTE;
    case OPERATION_FORWARD_SEND:
    case OPERATION_FORWARD_RECV:
    case OPERATION_BACKWARD_SEND:
    case OPERATION_BACKWARD_RECV:
        return PART_TRANSFER;
    default:
        return PART_REST;
    }
}

static bool can_name(enum index_class class)
{
    return class == INDEX_ANNOTATION || class == INDEX_OPERATOR || class == INDEX_FUNCTION ||
           class == INDEX_DEVICE_ANNOTATION;
}

/* Each name is read once: whether it is one at all is kept. */
static bool is_name(struct finding *f, uint32_t name, struct rank_operation_name *out)
{
    struct id_slot *slot = id_map_add(&f->names, name);
    f->d->failed = f->d->failed || slot == NULL;
    if (slot == NULL || slot->value == 0) {
        return false;
    }
    *out = rank_operation_named(names_text(&f->d->sel->names, name));
    slot->value = out->rule != RULE_NONE;
    return slot->value != 0;
}

static bool note(struct finding *f, uint32_t event, const struct rank_operation_name *told)
{
    bool is_host = index_class(f->d->index, event) != INDEX_DEVICE_ANNOTATION;
    struct found *items = scratch_grow(f->items, f->count, &f->cap, sizeof *items);
    if (items == NULL) {
        return false;
    }
    f->items = items;
    struct found *item = &items[f->count];
    *item =
        (struct found){.operation = {.start_ns = digest_start(f->d, event),
                                     .duration_ns = trace_dur_ns(&f->d->sel->trace->events, event),
                                     .stage = told->stage,
                                     .type = told->type},
                       .name = f->d->sel->name[event],
                       .source = (uint8_t)(2 * told->rule + is_host)};
    uint8_t *best = &f->best[part_of(told->type)];
    *best = item->source < *best ? item->source : *best;
    f->count++;
    return true;
}

ORDER_BY(by_name, struct found, ORDER_UP(name), ORDER_UP(operation.start_ns))

ORDER_BY(by_start, struct found, ORDER_UP(operation.start_ns), ORDER_UP(operation.type))

/* Ranges of one name that overlap are one: a device has them once for each stream. */
static void unite_names(struct finding *f)
{
    size_t kept = 0;
    qsort(f->items, f->count, sizeof *f->items, by_name);
    for (size_t i = 0; i < f->count; i++) {
        struct rank_operation *now = &f->items[i].operation;
        if (f->items[i].source != f->best[part_of(now->type)]) {
            continue;
        }
        struct rank_operation *before = kept == 0 ? NULL : &f->items[kept - 1].operation;
        bool is_same = before != NULL && f->items[kept - 1].name == f->items[i].name &&
                       now->start_ns < saturating_add(before->start_ns, before->duration_ns);
        if (is_same) {
            int64_t end_ns = i64_max(saturating_add(before->start_ns, before->duration_ns),
                                     saturating_add(now->start_ns, now->duration_ns));
            before->duration_ns = saturating_sub(end_ns, before->start_ns);
        } else {
            f->items[kept++] = f->items[i];
        }
    }
    f->count = kept;
    qsort(f->items, f->count, sizeof *f->items, by_start);
}

ORDER_BY(by_step_start, struct rank_step, ORDER_UP(start_ns), ORDER_UP(number))

/* Each in the last step that starts at or before it, without steps in step 0; those before all
 * steps are left out. */
static bool copy_operations(struct finding *f)
{
    struct rank_digest *out = f->d->out;
    struct rank_step *steps = scratch_alloc(out->step_count, sizeof *steps);
    out->operations = arena_calloc(f->d->arena, f->count + 1, sizeof *out->operations);
    bool ok = steps != NULL && out->operations != NULL;
    uint32_t at = 0;
    if (ok && out->step_count > 0) {
        memcpy(steps, out->steps, out->step_count * sizeof *steps);
        qsort(steps, out->step_count, sizeof *steps, by_step_start);
    }
    for (size_t i = 0; ok && i < f->count; i++) {
        struct rank_operation *operation = &f->items[i].operation;
        while (at < out->step_count && steps[at].start_ns <= operation->start_ns) {
            at++;
        }
        if (at > 0 || out->step_count == 0) {
            operation->step = at == 0 ? 0 : steps[at - 1].number;
            out->operations[out->operation_count++] = *operation;
        }
    }
    scratch_free(steps);
    return ok;
}

bool digest_operations(struct digesting *d)
{
    struct finding f = {.d = d, .best = {UINT8_MAX, UINT8_MAX, UINT8_MAX}};
    bool ok = true;
    id_map_init(&f.names);
    for (uint32_t i = 0; ok && i < d->index->count; i++) {
        uint32_t event = d->index->in_order[i];
        struct rank_operation_name told;
        if (can_name(index_class(d->index, event)) && is_name(&f, d->sel->name[event], &told)) {
            ok = note(&f, event, &told);
        }
    }
    ok = ok && !d->failed;
    if (ok && f.count > 0) {
        unite_names(&f);
    }
    ok = ok && copy_operations(&f);
    id_map_free(&f.names);
    scratch_free(f.items);
    return ok;
}

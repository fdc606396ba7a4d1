#include "ingest/formats/chrome_json/scan/key_path.h"

#include "ingest/formats/chrome_json/scan/key_path_scan.h"

#include <stdlib.h>
#include <string.h>

#define ENDS_FIRST 16U
#define ENDS_MAX EVENT_TEMPLATES_MAX
#define TEXT_BYTES_MAX ((ptrdiff_t)1 << 12)
#define LEARNT_BYTES_MAX ((size_t)4 << 20)
/* They are tried one after the other. */
#define SIBLINGS_MAX 32U
/* Of phases and categories: where there are more, or longer ones, they are values like any other.
 */
#define CONSTANT_SIBLINGS_MAX 24U
#define CONSTANT_BYTES_MAX 24U
#define CONSTANTS_MAX 2U

/* --- life --- */

/* For one more end. False without memory. */
static bool make_room(struct key_paths *paths)
{
    if (paths->end_count < paths->end_capacity) {
        return true;
    }
    uint32_t capacity = 2 * paths->end_capacity + ENDS_FIRST;
    struct key_path_end *grown = realloc(paths->ends, capacity * sizeof *grown);
    if (grown == NULL) {
        return false;
    }
    paths->ends = grown;
    paths->end_capacity = capacity;
    return true;
}

bool key_paths_init(struct key_paths *paths, struct kineto_texts *texts)
{
    memset(paths, 0, sizeof *paths);
    arena_init(&paths->arena, 0);
    paths->texts = texts;
    return make_room(paths);
}

void key_paths_free(struct key_paths *paths)
{
    arena_free(&paths->arena);
    free(paths->ends);
    memset(paths, 0, sizeof *paths);
}

size_t key_paths_memory(const struct key_paths *paths)
{
    return paths->arena.held_bytes + paths->end_capacity * sizeof *paths->ends;
}

/* --- learning --- */

/* The members of an event in the order of the text, and what has been learnt of them. */
struct lesson {
    const struct kineto_members *members;
    uint32_t top; /* the next of each list */
    uint32_t arg;
    const char *at;             /* behind the last value */
    struct kineto_step **first; /* the list of steps at which the way goes on */
    uint16_t top_at;            /* where the log has the values of the next ones */
    uint16_t arg_at;
    uint16_t order[EVENT_VALUES_MAX];
    uint32_t value_count;
    struct kineto_constant constants[CONSTANTS_MAX]; /* between `at` and the next value */
    uint32_t constant_count;
};

static uint32_t values_of(const struct kineto_member *members, uint32_t count)
{
    uint32_t values = 0;
    for (uint32_t i = 0; i < count; i++) {
        values += event_value_kind(&members[i].value) == EVENT_SLOT_DECIMAL ? 2 : 1;
    }
    return values;
}

/* The step with this text, NULL: there is none; *siblings: how many others are at its place. */
static struct kineto_step *
known_step(const struct lesson *lesson, ptrdiff_t len, uint32_t *siblings)
{
    *siblings = 0;
    for (struct kineto_step *known = *lesson->first; known != NULL; known = known->sibling) {
        if (known->len == len && memcmp(known->text, lesson->at, (size_t)len) == 0) {
            return known;
        }
        (*siblings)++;
    }
    return NULL;
}

/* Copies of the text and of the constants within it. False without memory. */
static bool
keep_text(struct key_paths *paths, const struct lesson *lesson, struct kineto_step *step)
{
    char *text = arena_calloc(&paths->arena, (size_t)step->len + BYTES_BLOCK, sizeof *text);
    if (text == NULL) {
        return false;
    }
    memcpy(text, lesson->at, step->len);
    step->text = text;
    if (lesson->constant_count == 0) {
        return true;
    }
    struct kineto_constant *constants =
        arena_calloc(&paths->arena, lesson->constant_count, sizeof *constants);
    if (constants == NULL) {
        return false;
    }
    memcpy(constants, lesson->constants, lesson->constant_count * sizeof *constants);
    step->constants = constants;
    step->constant_count = lesson->constant_count;
    step->is_special = true;
    return true;
}

/* The step with the text up to `end`; *step NULL: it is new and there is no room for it. False
 * without memory. */
static bool find_step(struct key_paths *paths,
                      struct lesson *lesson,
                      const char *end,
                      struct kineto_step **step)
{
    uint32_t siblings;
    ptrdiff_t len = end - lesson->at;
    *step = known_step(lesson, len, &siblings);
    if (*step != NULL || siblings == SIBLINGS_MAX || paths->step_count == KEY_PATH_STEPS_MAX ||
        len > TEXT_BYTES_MAX || paths->arena.held_bytes > LEARNT_BYTES_MAX) {
        lesson->constant_count = 0;
        return true;
    }
    struct kineto_step *new_step = arena_calloc(&paths->arena, 1, sizeof *new_step);
    if (new_step == NULL) {
        return false;
    }
    new_step->len = (uint32_t)len;
    new_step->mask = len < BYTES_BLOCK ? (1U << len) - 1 : UINT32_MAX;
    if (!keep_text(paths, lesson, new_step)) {
        return false;
    }
    lesson->constant_count = 0;
    paths->step_count++;
    new_step->sibling = *lesson->first;
    *lesson->first = new_step;
    *step = new_step;
    return true;
}

/* The next member in the text, and where its value belongs; NULL: there is none. */
static const struct kineto_member *
next_member(struct lesson *lesson, uint32_t *place, bool *in_args)
{
    const struct kineto_members *members = lesson->members;
    bool has_top = lesson->top < members->top_count;
    bool has_arg = lesson->arg < members->arg_count;
    if (!has_top && !has_arg) {
        return NULL;
    }
    *in_args = !has_top || (has_arg && members->args[lesson->arg].value.ptr <
                                           members->top[lesson->top].value.ptr);
    const struct kineto_member *member =
        *in_args ? &members->args[lesson->arg++] : &members->top[lesson->top++];
    *place = *in_args ? FIELD_COUNT + (uint32_t)kineto_arg_of(member->key, member->key_len)
                      : (uint32_t)kineto_field_of(member->key, member->key_len);
    if (!*in_args && *place == FIELD_COUNT) {
        *place = KINETO_VALUES - 1;
    }
    return member;
}

/* Where the log has the value that is the next in the text. */
static void note_order(struct lesson *lesson, bool in_args, enum event_slot_kind kind)
{
    uint16_t *at = in_args ? &lesson->arg_at : &lesson->top_at;
    for (unsigned i = 0; i < (kind == EVENT_SLOT_DECIMAL ? 2U : 1U); i++) {
        lesson->order[lesson->value_count++] = (*at)++;
    }
}

/* *constant: the value was noted as part of the text. False without memory. */
static bool note_constant(struct key_paths *paths,
                          struct lesson *lesson,
                          const struct json_value *value,
                          uint32_t place,
                          bool *constant)
{
    uint32_t siblings = 0;
    *constant = false;
    if ((place != FIELD_PH && place != FIELD_CAT) || value->kind != JSON_KIND_STRING ||
        value->flags != 0 || value->len > CONSTANT_BYTES_MAX ||
        lesson->constant_count == CONSTANTS_MAX) {
        return true;
    }
    for (const struct kineto_step *step = *lesson->first; step != NULL; step = step->sibling) {
        siblings++;
    }
    struct kineto_constant *noted = &lesson->constants[lesson->constant_count];
    *noted = (struct kineto_constant){
        .value = *value, .place = place, .offset = (uint32_t)(value->ptr - lesson->at)};
    if (siblings >= CONSTANT_SIBLINGS_MAX) {
        return true;
    }
    if (!kineto_texts_add(paths->texts, &noted->value, &noted->logged)) {
        return false;
    }
    *constant = (noted->value.flags & JSON_KNOWN) != 0;
    lesson->constant_count += *constant;
    return true;
}

/* Numbers that tell events of one kind apart and lead to nothing but themselves; those that nobody
 * asks for, once they have changed a few times. */
static void set_variation(struct kineto_step *step, uint32_t place)
{
    const uint32_t most_changes = 8;
    const uint64_t numbers =
        (uint64_t)1 << FIELD_TS | (uint64_t)1 << FIELD_DUR | (uint64_t)1 << FIELD_ID |
        ((uint64_t)1 << ARG_EXTERNAL_ID_LOWER | (uint64_t)1 << ARG_EXTERNAL_ID_UPPER |
         (uint64_t)1 << ARG_CORRELATION | (uint64_t)1 << ARG_PYTHON_ID |
         (uint64_t)1 << ARG_PYTHON_PARENT_ID | (uint64_t)1 << ARG_ADDR |
         (uint64_t)1 << ARG_BYTES_UPPER | (uint64_t)1 << ARG_TOTAL_ALLOCATED |
         (uint64_t)1 << ARG_TOTAL_RESERVED)
            << FIELD_COUNT;
    bool is_unknown = place == KINETO_VALUES - 1;
    if (step->may_vary) {
        return;
    }
    step->may_vary = is_unknown || (place < 64 && (numbers >> place & 1) != 0);
    step->changes_left = is_unknown ? most_changes : 0;
}

/* Goes over the next member; *known false: it cannot be learnt. False without memory. */
static bool learn_member(struct key_paths *paths,
                         struct lesson *lesson,
                         const struct kineto_member *member,
                         uint32_t place,
                         bool in_args,
                         bool *known)
{
    const struct json_value *value = &member->value;
    bool is_string = value->kind == JSON_KIND_STRING;
    enum event_slot_kind kind = event_value_kind(value);
    struct kineto_step *step;
    if (!note_constant(paths, lesson, value, place, known)) {
        return false;
    }
    note_order(lesson, in_args, kind);
    if (*known) {
        return true;
    }
    if (!find_step(paths, lesson, value->ptr - is_string, &step)) {
        return false;
    }
    *known = step != NULL;
    if (*known) {
        step->place = place;
        set_variation(step, place);
        lesson->first = &step->next[kind];
        lesson->at = value->ptr + value->len + is_string;
    }
    return true;
}

static bool is_ordered(const struct lesson *lesson)
{
    for (uint32_t i = 0; i < lesson->value_count; i++) {
        if (lesson->order[i] != i) {
            return false;
        }
    }
    return true;
}

static bool learn_end(struct key_paths *paths,
                      const struct lesson *lesson,
                      const struct kineto_event *event,
                      const struct event_record *record,
                      struct kineto_step *step)
{
    if (step->end_plus_1 != 0 || paths->end_count == ENDS_MAX) {
        return true;
    }
    struct key_path_end *end = &paths->ends[paths->end_count];
    *end = (struct key_path_end){.has_args = event->has_args,
                                 .has_fields = event->has_fields,
                                 .args_are_object = event->members->has_args,
                                 .template_number = record == NULL ? 0 : record->template_number,
                                 .value_count = lesson->value_count};
    if (!is_ordered(lesson)) {
        end->order = arena_calloc(&paths->arena, lesson->value_count, sizeof *end->order);
        if (end->order == NULL) {
            return false;
        }
        memcpy(end->order, lesson->order, lesson->value_count * sizeof *end->order);
    }
    step->end_plus_1 = ++paths->end_count;
    step->is_special = true;
    return true;
}

/* Whether each member has its values in the log. */
static bool is_simple(const struct kineto_event *event, const struct event_record *record)
{
    const struct kineto_members *members = event->members;
    bool is_proper = !members->is_repaired && !members->too_many && event->duplicate_keys == 0 &&
                     event->control_values == 0 && kineto_event_has(event, FIELD_PH) &&
                     members->top_count + members->arg_count <= EVENT_KEYS_MAX;
    return is_proper && (record == NULL ||
                         record->value_count == values_of(members->top, members->top_count) +
                                                    values_of(members->args, members->arg_count));
}

bool key_paths_learn(struct key_paths *paths,
                     const struct kineto_event *event,
                     const struct event_record *record)
{
    struct lesson lesson = {.members = event->members, .at = event->begin};
    const struct kineto_member *member;
    uint32_t place;
    bool in_args;
    if (!is_simple(event, record)) {
        return true;
    }
    if (!make_room(paths)) {
        return false;
    }
    lesson.first = &paths->first;
    lesson.arg_at = (uint16_t)values_of(event->members->top, event->members->top_count);
    while ((member = next_member(&lesson, &place, &in_args)) != NULL) {
        bool known;
        if (!learn_member(paths, &lesson, member, place, in_args, &known)) {
            return false;
        }
        if (!known) {
            return true;
        }
    }
    struct kineto_step *step;
    return find_step(paths, &lesson, event->end, &step) &&
           (step == NULL || learn_end(paths, &lesson, event, record, step));
}

/* ---- scanning ---- */

bool key_paths_scan(struct key_paths *paths,
                    struct kineto_event *event,
                    int64_t *values,
                    const char *begin,
                    const char *end)
{
    return scan_path(paths, event, values, begin, end);
}

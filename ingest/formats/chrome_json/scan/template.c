#include "ingest/formats/chrome_json/scan/template.h"

#include "ingest/formats/chrome_json/scan/template_scan.h"

#include <stdlib.h>
#include <string.h>

/* Of all forms, and of an event that is worth one. */
#define FORM_BYTES_MAX ((size_t)3 << 20)
#define EVENT_BYTES_MAX ((ptrdiff_t)8 << 10)
#define FORM_VALUES_MAX 64U

/* --- life --- */

bool scan_templates_init(struct scan_templates *forms)
{
    static const char nothing[BYTES_BLOCK];
    static const int64_t none[SCAN_TEMPLATE_VALUES];
    memset(forms, 0, sizeof *forms);
    arena_init(&forms->arena, 0);
    forms->tables = malloc(sizeof *forms->tables);
    if (forms->tables == NULL) {
        return false;
    }
    memset(forms->tables, 0, offsetof(struct scan_template_tables, forms));
    /* No event begins with NUL. */
    forms->tables->forms[0] =
        (struct scan_template){.values = none, .last = nothing, .last_len = 1, .last_mask = 1};
    forms->count = 1;
    return true;
}

void scan_templates_free(struct scan_templates *forms)
{
    arena_free(&forms->arena);
    free(forms->tables);
    memset(forms, 0, sizeof *forms);
}

size_t scan_templates_memory(const struct scan_templates *forms)
{
    return forms->arena.held_bytes + forms->count * sizeof *forms->tables->forms;
}

/* --- what events have in common --- */

struct mixture {
    uint64_t hash;
    uint64_t odd; /* another factor for each word, so that none waits for the one before */
};

static void mix_word(struct mixture *mixture, uint64_t word)
{
    mixture->hash += word * mixture->odd;
    mixture->odd += 2 * BYTES_SPREAD;
}

static void mix_bytes(struct mixture *mixture, const char *at, const char *end)
{
    for (; end - at >= (ptrdiff_t)sizeof(uint64_t); at += sizeof(uint64_t)) {
        mix_word(mixture, bytes_load64(at));
    }
    mix_word(mixture, bytes_load_short(at, (size_t)(end - at)));
}

/* Of the bytes that are no blanks. Two events of different forms may have the same one: what is
 * guessed by it is compared. */
static uint32_t identity_of(const struct key_paths *paths, const struct kineto_event *event)
{
    struct mixture mixture = {.hash = paths->end->template_number, .odd = BYTES_SPREAD};
    const char *at = event->begin;
    for (uint32_t i = 0; i < paths->blank_count; i++) {
        mix_bytes(&mixture, at, paths->blanks[i].begin);
        at = paths->blanks[i].end;
    }
    mix_bytes(&mixture, at, event->end);
    return (uint32_t)(((mixture.hash ^ mixture.hash >> 32) * BYTES_SPREAD) >> 32);
}

/* --- what begins alike --- */

#define BEGINNING_BYTES 128

/* Without the digits, and what else has their high bits: numbers differ. */
static uint64_t without_digits(uint64_t word)
{
    uint64_t highs = (word ^ 0x3030303030303030U) >> 4 & 0x0F0F0F0F0F0F0F0FU;
    uint64_t others = (highs + 0x0F0F0F0F0F0F0F0FU) >> 4 & 0x0101010101010101U;
    return word & others * 0xFFU;
}

uint32_t
scan_templates_by_beginning(struct scan_templates *forms, const char *begin, const char *end)
{
    struct mixture mixture = {.odd = BYTES_SPREAD};
    forms->beginning = 0;
    if (end - begin < BEGINNING_BYTES) {
        return 0;
    }
    for (size_t i = 0; i < BEGINNING_BYTES; i += sizeof(uint64_t)) {
        mix_word(&mixture, without_digits(bytes_load64(begin + i)));
    }
    forms->beginning = (uint32_t)(((mixture.hash ^ mixture.hash >> 32) * BYTES_SPREAD) >> 32) &
                       (SCAN_TEMPLATE_BEGINNINGS - 1);
    return forms->tables->beginnings[forms->beginning];
}

/* --- learning --- */

/* The memory of a form as it is filled. */
struct storage {
    struct kineto_piece *pieces;
    int64_t *values;
    char *bytes;
};

static uint32_t block_mask(uint32_t len)
{
    return len < BYTES_BLOCK ? (1U << len) - 1 : UINT32_MAX;
}

static char *put_bytes(struct storage *storage, const char *begin, const char *end, uint32_t *len)
{
    char *put = storage->bytes;
    *len = (uint32_t)(end - begin);
    memcpy(put, begin, *len);
    storage->bytes += *len;
    return put;
}

static bool make_room(struct scan_templates *forms,
                      const struct key_paths *paths,
                      const struct kineto_event *event,
                      struct storage *storage)
{
    size_t value_count = paths->end->value_count + SCAN_TEMPLATE_VALUES;
    size_t pieces_bytes = paths->blank_count * sizeof *storage->pieces;
    size_t values_bytes = value_count * sizeof *storage->values;
    size_t bytes = (size_t)(event->end - event->begin) + BYTES_BLOCK;
    char *room = arena_alloc(&forms->arena, pieces_bytes + values_bytes + bytes);
    if (room == NULL) {
        return false;
    }
    storage->values = (int64_t *)(void *)room;
    storage->pieces = (struct kineto_piece *)(void *)(room + values_bytes);
    storage->bytes = room + values_bytes + pieces_bytes;
    return true;
}

static void put_pieces(struct scan_template *form,
                       struct storage *storage,
                       const struct key_paths *paths,
                       const struct kineto_event *event,
                       const uint8_t uses[KINETO_BLANKS_MAX])
{
    const uint16_t *order = paths->end->order;
    const char *at = event->begin;
    for (uint32_t i = 0; i < paths->blank_count; i++) {
        const struct kineto_blank *blank = &paths->blanks[i];
        uint32_t len;
        const char *text = put_bytes(storage, at, blank->begin, &len);
        storage->pieces[i] = (struct kineto_piece){
            .text = text,
            .len = len,
            .mask = block_mask(len),
            .value = order == NULL ? blank->value : order[blank->value],
            .use = uses[i],
            .is_decimal = blank->is_decimal,
        };
        at = blank->end;
    }
    form->pieces = storage->pieces;
    form->blank_count = paths->blank_count;
    form->last = put_bytes(storage, at, event->end, &form->last_len);
    form->last_mask = block_mask(form->last_len);
}

/* False: a blank alone does not tell what the row has. */
static bool find_uses(const struct key_paths *paths,
                      const struct kineto_event *event,
                      const struct kineto_build *build,
                      uint8_t uses[KINETO_BLANKS_MAX])
{
    for (uint32_t i = 0; i < paths->blank_count; i++) {
        const struct kineto_blank *blank = &paths->blanks[i];
        enum kineto_use use = kineto_build_use(build, event, blank->place, blank->is_decimal);
        if (use == KINETO_USES) {
            return false;
        }
        uses[i] = (uint8_t)use;
    }
    return true;
}

/* *number stays 0 where there is to be none. */
static bool make_form(struct scan_templates *forms,
                      const struct key_paths *paths,
                      const struct kineto_event *event,
                      const int64_t *values,
                      const struct kineto_build *build,
                      uint32_t identity,
                      uint32_t *number)
{
    uint8_t uses[KINETO_BLANKS_MAX];
    struct storage storage;
    if (forms->count == SCAN_TEMPLATES_MAX || forms->arena.held_bytes > FORM_BYTES_MAX ||
        event->end - event->begin > EVENT_BYTES_MAX || paths->blank_count == KINETO_BLANKS_MAX ||
        paths->end->value_count > FORM_VALUES_MAX || !find_uses(paths, event, build, uses)) {
        return true;
    }
    if (!make_room(forms, paths, event, &storage)) {
        return false;
    }
    *number = forms->count++;
    struct scan_template *form = &forms->tables->forms[*number];
    *form = (struct scan_template){.identity = identity,
                                   .template_number = paths->end->template_number,
                                   .value_count = paths->end->value_count,
                                   .values = storage.values,
                                   .row = kineto_build_last(build)};
    memcpy(storage.values, values, form->value_count * sizeof *values);
    memset(storage.values + form->value_count, 0, SCAN_TEMPLATE_VALUES * sizeof *values);
    put_pieces(form, &storage, paths, event, uses);
    return true;
}

bool scan_templates_learn(struct scan_templates *forms,
                          const struct key_paths *paths,
                          const struct kineto_event *event,
                          const int64_t *values,
                          const struct kineto_build *build,
                          bool is_pure)
{
    uint32_t identity = identity_of(paths, event);
    struct scan_template_candidate *candidate =
        &forms->tables->candidates[identity & (SCAN_TEMPLATE_CANDIDATES - 1)];
    bool came_again = candidate->identity == identity;
    if (!came_again) {
        *candidate = (struct scan_template_candidate){.identity = identity};
    }
    uint32_t number = candidate->form;
    if (came_again && number == 0 && is_pure &&
        !make_form(forms, paths, event, values, build, identity, &number)) {
        return false;
    }
    candidate->form = number;
    if (number != 0) {
        forms->tables->beginnings[forms->beginning] = (uint16_t)number;
    }
    scan_templates_pass(forms, number, identity);
    return true;
}

/* --- comparing --- */

const char *scan_template_scan(struct scan_template *form,
                               const char *begin,
                               const char *end,
                               int64_t *values,
                               int64_t numbers[KINETO_USES])
{
    return scan_by_template(form, begin, end, values, numbers);
}

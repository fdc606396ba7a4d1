#include "ingest/analysis/kernel_classes/work_classes.h"

#include "ingest/base/memory/scratch.h"

#include <string.h>

/* What the category of an event says of its class, before the name does. */
enum said { SAID_NOTHING, SAID_COPY, SAID_SET, SAID_COUNT };

static enum said said_of(enum index_class class)
{
    return class == INDEX_MEMCPY ? SAID_COPY : class == INDEX_MEMSET ? SAID_SET : SAID_NOTHING;
}

static bool read_class(const struct kernel_rules *own,
                       enum said said,
                       const char *name,
                       struct kernel_class *out)
{
    static const struct kernel_class of_categories[] = {
        [SAID_COPY] = {KERNEL_CLASS_MEMCPY, NULL, MATRIX_UNIT_UNUSED},
        [SAID_SET] = {KERNEL_CLASS_MEMSET, NULL, MATRIX_UNIT_UNUSED},
    };
    if (said != SAID_NOTHING) {
        *out = of_categories[said];
        return true;
    }
    return kernel_class_of(own, name, out);
}

/* Finds or appends a text. */
static bool
find_text(const char ***texts, size_t *count, size_t *cap, const char *text, uint32_t *place)
{
    for (size_t i = 0; i < *count; i++) {
        if (strcmp((*texts)[i], text) == 0) {
            *place = (uint32_t)i;
            return true;
        }
    }
    const char **grown = scratch_grow(*texts, *count, cap, sizeof *grown);
    if (grown == NULL) {
        return false;
    }
    *texts = grown;
    *place = (uint32_t)*count;
    grown[(*count)++] = text;
    return true;
}

/* A place of that name and class that another category made. */
static uint32_t find_twin(const struct work_classes *classes, uint32_t text, const char *class)
{
    for (int said = 0; said < SAID_COUNT; said++) {
        uint32_t place = classes->name_of[said][text];
        if (place != WORK_CLASSES_NONE && strcmp(classes->names[place].class.name, class) == 0) {
            return place;
        }
    }
    return WORK_CLASSES_NONE;
}

static bool add_name(struct work_classes *classes, uint32_t text, const struct kernel_class *class)
{
    struct work_name name = {.text = text, .class = *class, .kind_number = WORK_CLASSES_NONE};
    name.is_sync = strcmp(class->name, KERNEL_CLASS_SYNC) == 0;
    struct work_name *grown =
        scratch_grow(classes->names, classes->name_count, &classes->name_cap, sizeof *grown);
    if (grown == NULL) {
        return false;
    }
    classes->names = grown;
    bool ok = find_text(&classes->classes, &classes->class_count, &classes->class_cap, class->name,
                        &name.class_number);
    if (ok && class->communication_kind != NULL) {
        ok = find_text(&classes->kinds, &classes->kind_count, &classes->kind_cap,
                       class->communication_kind, &name.kind_number);
    }
    if (ok) {
        grown[classes->name_count++] = name;
    }
    return ok;
}

static bool read_event(struct work_classes *classes,
                       const struct trace_index *index,
                       const struct kernel_rules *own,
                       uint32_t event)
{
    enum said said = said_of(index_class(index, event));
    uint32_t text = index->trace->events.name[event];
    struct kernel_class class;
    if (classes->name_of[said][text] != WORK_CLASSES_NONE) {
        return true;
    }
    if (!read_class(own, said, strtab_text(index->trace->strings, text), &class)) {
        return false;
    }
    uint32_t place = find_twin(classes, text, class.name);
    if (place == WORK_CLASSES_NONE) {
        place = (uint32_t)classes->name_count;
        if (!add_name(classes, text, &class)) {
            return false;
        }
    }
    classes->name_of[said][text] = place;
    return true;
}

bool work_classes_build(struct work_classes *out,
                        const struct trace_index *index,
                        const struct kernel_rules *own)
{
    bool ok = true;
    *out = (struct work_classes){.name_count = 0};
    for (int said = 0; said < SAID_COUNT; said++) {
        out->name_of[said] = scratch_none(strtab_count(index->trace->strings));
        ok = out->name_of[said] != NULL && ok;
    }
    for (uint32_t i = 0; ok && i < index->trace->events.count; i++) {
        ok = !work_classes_has(index, i) || read_event(out, index, own, i);
    }
    return ok;
}

void work_classes_free(struct work_classes *classes)
{
    for (int said = 0; said < SAID_COUNT; said++) {
        scratch_free(classes->name_of[said]);
    }
    SCRATCH_FREE(classes->names, (void *)classes->classes, (void *)classes->kinds);
    *classes = (struct work_classes){.name_count = 0};
}

uint32_t work_classes_name(const struct work_classes *classes,
                           const struct trace_index *index,
                           uint32_t event)
{
    return classes->name_of[said_of(index_class(index, event))][index->trace->events.name[event]];
}

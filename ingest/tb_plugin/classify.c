#include "ingest/tb_plugin/classify.h"

#include "ingest/base/memory/scratch.h"
#include "ingest/base/saturating.h"
#include "ingest/tb_plugin/clock.h"

#include <string.h>

/* Before names are asked. */
static enum index_class class_of(const struct event_classes *sel,
                                 const struct event_class *event_class)
{
    enum index_class class = index_class_by_category(event_class);
    bool is_frame = class == INDEX_MODULE || class == INDEX_FUNCTION;
    bool is_unknown = class == INDEX_UNKNOWN || class == INDEX_DRIVER_CALL ||
                      class == INDEX_DEVICE_ROW || (is_frame && sel->lightning);
    if (is_unknown || (event_class->flags & EVENT_NO_NAME) != 0) {
        return INDEX_OTHER;
    }
    return class == INDEX_DEVICE_ANNOTATION ? INDEX_ANNOTATION : class;
}

static enum index_class lightning_class(const struct event_classes *sel, uint32_t event)
{
    const char *name = names_text(&sel->names, sel->name[event]);
    if (strncmp(name, INDEX_PL_PROFILE, strlen(INDEX_PL_PROFILE)) == 0) {
        return INDEX_PROFILE;
    }
    bool is_module = strncmp(name, INDEX_PL_MODULE, strlen(INDEX_PL_MODULE)) == 0;
    return is_module ? INDEX_MODULE : INDEX_OPERATOR;
}

bool tb_classify_events(struct event_classes *sel,
                        const struct trace *trace,
                        const struct event_clock *clock,
                        struct warnings *warnings)
{
    const struct trace_events *events = &trace->events;
    uint8_t *by_class = scratch_alloc(events->class_count, sizeof *by_class);
    bool ok = classify_begin(sel, trace) && by_class != NULL;
    sel->clock = clock;
    sel->names.only_listed = true;
    for (uint32_t i = 0; ok && i < events->class_count; i++) {
        by_class[i] = (uint8_t)class_of(sel, &events->classes[i]);
    }
    for (uint32_t i = 0; ok && i < events->count; i++) {
        sel->class[i] = by_class[trace_index(&events->class, i)];
        if (sel->lightning && sel->class[i] == INDEX_OPERATOR) {
            sel->class[i] = (uint8_t)lightning_class(sel, i);
        }
    }
    scratch_free(by_class);
    return ok && classify_finish(sel, NULL, warnings);
}

bool tb_classify_needs_clock(const struct event_classes *sel)
{
    return tb_clock_is_needed(sel->trace->decimal_times,
                              saturating_sub(sel->last_ns, sel->first_ns));
}

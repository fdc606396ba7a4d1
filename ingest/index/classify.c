#include "ingest/base/memory/scratch.h"
#include "ingest/base/text/affix.h"
#include "ingest/index/stages.h"

#include <string.h>

/* What a name makes of an event of its category. */
enum name_meaning { NAME_PLAIN, NAME_MARKS_STEP, NAME_WAITS, NAME_PL_MODULE, NAME_PL_PROFILE };

static bool marks_step(const char *name)
{
    static const char PREFIX[] = "ProfilerStep#";
    if (!text_begins(name, PREFIX)) {
        return false;
    }
    const char *number = name + strlen(PREFIX);
    size_t digits = strspn(number, "0123456789");
    return digits > 0 && number[digits] == '\0';
}

/* Whether a text begins with `prefix`, and goes on with `holds` and then `then` anywhere. */
static bool
begins_and_holds(const char *text, const char *prefix, const char *holds, const char *then)
{
    const char *at = text_begins(text, prefix) ? strstr(text + strlen(prefix), holds) : NULL;
    return at != NULL && strstr(at + strlen(holds), then) != NULL;
}

/* The patterns of class sync [DEV-1], of names as long as those of waits are. */
static bool waits(const char *name)
{
    static const char *const PREFIXES[] = {"event_wait", "event_record", "notify_wait",
                                           "notify_record"};
    char plain[64];
    size_t len = 0;
    for (; name[len] != '\0' && len + 1 < sizeof plain; len++) {
        bool is_upper = name[len] >= 'A' && name[len] <= 'Z';
        plain[len] = (char)(is_upper ? name[len] - 'A' + 'a' : name[len]);
    }
    plain[len] = '\0';
    for (size_t i = 0; i < sizeof PREFIXES / sizeof *PREFIXES; i++) {
        if (text_begins(plain, PREFIXES[i])) {
            return true;
        }
    }
    return begins_and_holds(plain, "stream", "wait", "event") ||
           begins_and_holds(plain, "context", "sync", "") ||
           begins_and_holds(plain, "event", "sync", "");
}

static enum name_meaning meaning_of(const char *name, bool is_lightning)
{
    switch (*name) {
    case 'P':
        return marks_step(name) ? NAME_MARKS_STEP : NAME_PLAIN;
    case 'c':
    case 'C':
    case 'e':
    case 'E':
    case 'n':
    case 'N':
    case 's':
    case 'S':
        return waits(name) ? NAME_WAITS : NAME_PLAIN;
    case '[':
        if (is_lightning && text_begins(name, INDEX_PL_MODULE)) {
            return NAME_PL_MODULE;
        }
        return is_lightning && text_begins(name, INDEX_PL_PROFILE) ? NAME_PL_PROFILE : NAME_PLAIN;
    default:
        return NAME_PLAIN;
    }
}

/* By string id, to be freed; NULL without memory. */
static uint8_t *read_names(const struct trace *trace)
{
    const struct strtab *strings = trace->strings;
    bool is_lightning =
        trace->framework != NULL && strcmp(trace->framework, "pytorch-lightning") == 0;
    uint32_t count = strtab_count(strings);
    uint8_t *meaning = scratch_alloc(count, sizeof *meaning);
    for (uint32_t i = 0; meaning != NULL && i < count; i++) {
        meaning[i] = (uint8_t)meaning_of(strtab_text(strings, i), is_lightning);
    }
    return meaning;
}

enum index_class index_class_by_category(const struct event_class *event_class)
{
    enum event_kind kind = (enum event_kind)event_class->kind;
    bool is_record = kind == EVENT_MEMORY && event_class->phase == 'i';
    if ((event_class->phase != 'X' && !is_record) || (event_class->flags & EVENT_NO_TS) != 0) {
        return INDEX_OTHER;
    }
    switch (kind) {
    case EVENT_OPERATOR:
        return INDEX_OPERATOR;
    case EVENT_USER_ANNOTATION:
        return INDEX_ANNOTATION;
    case EVENT_GPU_USER_ANNOTATION:
        return INDEX_DEVICE_ANNOTATION;
    case EVENT_PYTHON:
        return INDEX_PYTHON;
    case EVENT_PYTHON_FUNCTION:
        return (event_class->flags & EVENT_MODULE) != 0 ? INDEX_MODULE : INDEX_FUNCTION;
    case EVENT_RUNTIME:
        return INDEX_RUNTIME_CALL;
    case EVENT_DRIVER:
        return INDEX_DRIVER_CALL;
    case EVENT_KERNEL:
        return INDEX_KERNEL;
    case EVENT_MEMCPY:
        return INDEX_MEMCPY;
    case EVENT_MEMSET:
        return INDEX_MEMSET;
    case EVENT_DEVICE_ROW:
        return INDEX_DEVICE_ROW;
    case EVENT_TRACE_SPAN:
        return INDEX_SPAN;
    case EVENT_MEMORY:
        return INDEX_MEMORY;
    case EVENT_OTHER:
    case EVENT_FLOW_FWDBWD:
    case EVENT_FLOW:
        break;
    }
    return INDEX_UNKNOWN;
}

static enum index_class ask_name(const struct trace_index *index,
                                 uint32_t event,
                                 enum index_class class,
                                 enum name_meaning meaning)
{
    bool is_host = class == INDEX_OPERATOR || class == INDEX_ANNOTATION;
    if (meaning == NAME_MARKS_STEP && is_host) {
        bool takes_time = trace_dur_ns(&index->trace->events, event) > 0;
        return takes_time ? INDEX_STEP : INDEX_ANNOTATION;
    }
    if (class == INDEX_OPERATOR && meaning == NAME_PL_MODULE) {
        return INDEX_MODULE;
    }
    if (class == INDEX_OPERATOR && meaning == NAME_PL_PROFILE) {
        return INDEX_PROFILE;
    }
    bool is_row = class == INDEX_DEVICE_ROW || class == INDEX_KERNEL;
    return meaning == NAME_WAITS && is_row ? INDEX_DEVICE_WAIT : class;
}

bool index_classify(struct trace_index *index)
{
    const struct trace_events *events = &index->trace->events;
    uint8_t *by_class = scratch_alloc(events->class_count, sizeof *by_class);
    uint8_t *meaning = read_names(index->trace);
    bool ok = by_class != NULL && meaning != NULL;
    for (uint32_t i = 0; ok && i < events->class_count; i++) {
        by_class[i] = (uint8_t)index_class_by_category(&events->classes[i]);
    }
    for (uint32_t i = 0; ok && i < events->count; i++) {
        uint8_t class = by_class[trace_index(&events->class, i)];
        uint8_t said = meaning[events->name[i]];
        if (KS_UNLIKELY(said != NAME_PLAIN)) {
            class = (uint8_t)ask_name(index, i, (enum index_class) class, (enum name_meaning)said);
        }
        index->class[i] = class;
        index->class_count[class]++;
    }
    SCRATCH_FREE(by_class, meaning);
    return ok;
}

#include "ingest/analysis/stacks/call_paths.h"

#include "ingest/analysis/relations/fwdbwd.h"
#include "ingest/base/containers/id_map.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/text/python_frame.h"

#include <string.h>

/* Of the events that start where a flow ends so many are looked at. */
#define SAME_START_MAX 64

bool frame_names_init(struct frame_names *names)
{
    buf_init(&names->text, SIZE_MAX);
    names->texts = strtab_create();
    return names->texts != NULL;
}

void frame_names_free(struct frame_names *names)
{
    strtab_destroy(names->texts);
    buf_free(&names->text);
    names->texts = NULL;
}

uint32_t frame_names_add(struct frame_names *names, const char *name, size_t len)
{
    const char *tail = "";
    size_t stem = python_frame_stem(name, len, &tail);
    if (stem == len) {
        return strtab_intern(names->texts, name, len);
    }
    buf_clear(&names->text);
    buf_append(&names->text, name, stem);
    buf_puts(&names->text, tail);
    return names->text.failed ? STRTAB_NONE
                              : strtab_intern(names->texts, names->text.ptr, names->text.len);
}

static uint32_t add_type(struct frame_names *names, const char *name, size_t len)
{
    size_t stem = len;
    while (stem > 0 && name[stem - 1] >= '0' && name[stem - 1] <= '9') {
        stem--;
    }
    bool has_number = stem > 1 && stem < len && name[stem - 1] == '_';
    return strtab_intern(names->texts, name, has_number ? stem - 1 : len);
}

/* The name of a frame without its address; STRTAB_NONE without memory. */
static uint32_t name_of(struct call_paths *paths, uint32_t event)
{
    const struct trace *trace = paths->index->trace;
    uint32_t text = trace->events.name[event];
    if (paths->name_of[text] == STRTAB_NONE) {
        bool is_type =
            paths->modules == MODULES_BY_TYPE && index_class(paths->index, event) == INDEX_MODULE;
        paths->name_of[text] = (is_type ? add_type : frame_names_add)(
            &paths->names, strtab_text(trace->strings, text), strtab_len(trace->strings, text));
    }
    return paths->name_of[text];
}

/* The path of a frame inside `around`; CALL_PATH_NONE without memory. */
static uint32_t
path_within(struct call_paths *paths, uint32_t around, uint32_t name, bool is_module)
{
    uint32_t known = paths->keys.count;
    uint32_t number = name == STRTAB_NONE
                          ? KEY_MAP_NONE
                          : key_map_add(&paths->keys, (struct key){{around, name, is_module, 0}});
    if (number == KEY_MAP_NONE || number < known) {
        return number == KEY_MAP_NONE ? CALL_PATH_NONE : number + 1;
    }
    uint32_t path = number + 1;
    uint32_t *module = scratch_grow(paths->module, path, &paths->module_cap, sizeof *module);
    if (module == NULL) {
        return CALL_PATH_NONE;
    }
    paths->module = module;
    module[path] = is_module ? path : module[around];
    return path;
}

static bool is_frame(enum index_class class)
{
    return index_is_frame(class);
}

/* Parents stand before their children. */
static bool walk_threads(struct call_paths *paths)
{
    const struct trace_index *index = paths->index;
    for (uint32_t i = 0; i < index->count; i++) {
        uint32_t event = index->in_order[i];
        enum index_class class = index_class(index, event);
        uint32_t parent = index->parent[event];
        uint32_t path = parent == INDEX_NONE ? CALL_PATH_NONE : paths->of[parent];
        if (is_frame(class)) {
            path = path_within(paths, path, name_of(paths, event), class == INDEX_MODULE);
            if (path == CALL_PATH_NONE) {
                return false;
            }
        }
        paths->of[event] = path;
    }
    return true;
}

/* ---- backward operators ---- */

struct flow {
    uint32_t forward, backward; /* operators, INDEX_NONE */
};

/* The first operator that begins at the end of a flow, INDEX_NONE. */
static uint32_t operator_at(const struct trace_index *index, uint32_t flow_end)
{
    const struct trace_events *events = &index->trace->events;
    int64_t at_ns = events->ts_ns[flow_end];
    uint32_t thread = index->track_thread[trace_event_track(events, flow_end)];
    if (thread >= index->thread_count) {
        return INDEX_NONE;
    }
    struct index_range range = index->threads[thread].events;
    while (range.first < range.end) {
        uint32_t middle = range.first + (range.end - range.first) / 2;
        if (events->ts_ns[index->in_order[middle]] < at_ns) {
            range.first = middle + 1;
        } else {
            range.end = middle;
        }
    }
    uint32_t end = index->threads[thread].events.end;
    for (uint32_t i = range.first; i < end && i - range.first < SAME_START_MAX; i++) {
        uint32_t event = index->in_order[i];
        if (events->ts_ns[event] != at_ns) {
            break;
        }
        if (index_class(index, event) == INDEX_OPERATOR) {
            return event;
        }
    }
    return INDEX_NONE;
}

/* *out, to be freed, has an entry a flow. False without memory. */
static bool read_flows(const struct trace_index *index, struct flow **out, uint32_t *count)
{
    const struct trace_events *events = &index->trace->events;
    struct id_map by_id;
    size_t cap = 0;
    id_map_init(&by_id);
    bool ok = true;
    for (uint32_t i = 0; ok && i < events->count; i++) {
        if (!fwdbwd_is_end(events, i)) {
            continue;
        }
        const struct id_slot *slot = id_map_add(&by_id, trace_correlation(events, i));
        struct flow *flows = slot == NULL ? NULL : *out;
        if (slot != NULL && slot->index == *count) {
            flows = scratch_grow(*out, *count, &cap, sizeof *flows);
            if (flows != NULL) {
                *out = flows;
                flows[(*count)++] = (struct flow){INDEX_NONE, INDEX_NONE};
            }
        }
        ok = flows != NULL;
        if (ok && trace_phase(events, i) == 's') {
            flows[slot->index].forward = operator_at(index, i);
        } else if (ok) {
            flows[slot->index].backward = operator_at(index, i);
        }
    }
    id_map_free(&by_id);
    return ok;
}

static bool is_backward(const struct call_paths *paths, uint32_t path)
{
    return path != CALL_PATH_NONE && call_paths_name(paths, path) == paths->backward;
}

/* What leads from one backward operator to the next is passed over. */
static bool mark_backward(struct call_paths *paths, const struct flow *flows, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        bool is_pair = flows[i].forward != INDEX_NONE && flows[i].backward != INDEX_NONE;
        uint32_t forward = is_pair ? paths->of[flows[i].forward] : CALL_PATH_NONE;
        if (forward == CALL_PATH_NONE || is_backward(paths, forward) ||
            paths->of[flows[i].backward] != CALL_PATH_NONE) {
            continue;
        }
        uint32_t path = path_within(paths, forward, paths->backward, false);
        if (path == CALL_PATH_NONE) {
            return false;
        }
        paths->of[flows[i].backward] = path;
    }
    return true;
}

static void pass_down(struct call_paths *paths)
{
    const struct trace_index *index = paths->index;
    for (uint32_t i = 0; i < index->count; i++) {
        uint32_t event = index->in_order[i];
        if (paths->of[event] == CALL_PATH_NONE && index->parent[event] != INDEX_NONE) {
            paths->of[event] = paths->of[index->parent[event]];
        }
    }
}

static bool add_backward(struct call_paths *paths)
{
    struct flow *flows = NULL;
    uint32_t count = 0;
    bool ok = read_flows(paths->index, &flows, &count) && mark_backward(paths, flows, count);
    if (ok && count > 0) {
        pass_down(paths);
    }
    scratch_free(flows);
    return ok;
}

/* ---- device work ---- */

static void add_device_work(struct call_paths *paths)
{
    const struct trace_index *index = paths->index;
    for (uint32_t i = 0; i < index->device_count; i++) {
        uint32_t event = index->device_work[i];
        uint32_t launcher = index_launcher(index, event);
        paths->of[event] = launcher == INDEX_NONE ? CALL_PATH_NONE : paths->of[launcher];
    }
}

bool call_paths_build(struct call_paths *paths,
                      const struct trace_index *index,
                      enum call_paths_modules modules)
{
    *paths = (struct call_paths){.index = index, .modules = modules};
    key_map_init(&paths->keys);
    paths->of = scratch_calloc(index->trace->events.count, sizeof *paths->of);
    paths->name_of = scratch_none(strtab_count(index->trace->strings));
    paths->module = scratch_grow(NULL, 0, &paths->module_cap, sizeof *paths->module);
    if (!frame_names_init(&paths->names) || paths->of == NULL || paths->name_of == NULL ||
        paths->module == NULL) {
        return false;
    }
    paths->backward =
        frame_names_add(&paths->names, CALL_PATHS_BACKWARD, strlen(CALL_PATHS_BACKWARD));
    paths->module[CALL_PATH_NONE] = CALL_PATH_NONE;
    bool has_frames = index->class_count[INDEX_FUNCTION] + index->class_count[INDEX_MODULE] +
                          index->class_count[INDEX_PYTHON] >
                      0;
    if (!has_frames) {
        return true;
    }
    if (!walk_threads(paths) || !add_backward(paths)) {
        return false;
    }
    add_device_work(paths);
    return true;
}

void call_paths_free(struct call_paths *paths)
{
    key_map_free(&paths->keys);
    frame_names_free(&paths->names);
    SCRATCH_FREE(paths->name_of, paths->of, paths->module);
    *paths = (struct call_paths){.index = NULL};
}

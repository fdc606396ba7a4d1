/* The tensors of a call: who wrote what it reads, who reads what it gives [FMT-9.4]. */
#include "api/handlers.h"
#include "api/timeline/common.h"
#include "ingest/jobs/on_request/execution_traces.h"
#include "ingest/query/timeline/locate.h"
#include "ingest/query/timeline/records.h"

#include <string.h>

/* Calls that are looked up in the trace for one answer. */
#define LINKS_MAX 96

/* The calls at the other ends, each once. */
struct links {
    uint64_t ids[LINKS_MAX];
    struct timeline_partner calls[LINKS_MAX];
    size_t count;
};

static void list_links(struct links *links, const struct call_tensor *tensors, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < tensors[i].link_count; k++) {
            uint64_t id = tensors[i].links[k].record_id;
            bool is_known = id == 0;
            for (size_t n = 0; !is_known && n < links->count; n++) {
                is_known = links->ids[n] == id;
            }
            if (!is_known && links->count < LINKS_MAX) {
                links->ids[links->count++] = id;
            }
        }
    }
}

static const struct timeline_partner *call_of(const struct links *links, uint64_t record_id)
{
    for (size_t i = 0; record_id != 0 && i < links->count; i++) {
        if (links->ids[i] == record_id && links->calls[i].event != TIMELINE_NO_EVENT) {
            return &links->calls[i];
        }
    }
    return NULL;
}

/* ---- JSON ---- */

/* A node; with its place where the trace has the call. */
static void
write_link(struct json_write *w, const struct call_link *link, const struct links *links)
{
    const struct timeline_partner *call = call_of(links, link->record_id);
    bool is_drawn = call != NULL && call->track != TIMELINE_NO_TRACK;
    bool has_dur = call != NULL && call->dur_ns != TIMELINE_INSTANT;
    jw_object_begin(w);
    jw_key_int(w, "node", (int64_t)link->node);
    jw_key_string(w, "name", link->name);
    jw_key_known_int(w, "event", call != NULL ? call->event : INT64_MIN);
    jw_key_known_int(w, "track", is_drawn ? call->track : INT64_MIN);
    jw_key_known_int(w, "lane", is_drawn ? call->lane : INT64_MIN);
    jw_key_known_int(w, "start_ns", call != NULL ? call->start_ns : INT64_MIN);
    jw_key_known_int(w, "dur_ns", has_dur ? call->dur_ns : INT64_MIN);
    jw_object_end(w);
}

static void write_tensor(struct json_write *w,
                         const struct call_tensor *tensor,
                         bool is_input,
                         const struct links *links)
{
    jw_object_begin(w);
    jw_key_int(w, "position", tensor->position);
    jw_key_int(w, "tensor", (int64_t)tensor->tensor);
    jw_key_int(w, "storage", (int64_t)tensor->storage);
    jw_key_string(w, "dtype", tensor->type);
    jw_key_string(w, "shape", tensor->shape);
    jw_key_string(w, "device", tensor->device);
    jw_key_int(w, "elements", tensor->elements);
    jw_key_int(w, "element_bytes", tensor->element_bytes);
    jw_key_array_begin(w, is_input ? "written_by" : "read_by");
    for (size_t i = 0; i < tensor->link_count; i++) {
        write_link(w, &tensor->links[i], links);
    }
    jw_array_end(w);
    jw_key_bool(w, "more", tensor->more);
    jw_key_bool(w, "by_storage", tensor->by_storage);
    jw_object_end(w);
}

static void write_side(struct json_write *w,
                       const char *key,
                       const struct call_tensor *tensors,
                       size_t count,
                       const struct links *links)
{
    jw_key_array_begin(w, key);
    for (size_t i = 0; i < count; i++) {
        write_tensor(w, &tensors[i], strcmp(key, "inputs") == 0, links);
    }
    jw_array_end(w);
}

static void write_source(struct json_write *w, const struct call_tensors *tensors)
{
    jw_key(w, "execution_trace");
    if (tensors->source == NULL) {
        jw_null(w);
        return;
    }
    jw_object_begin(w);
    jw_key_int(w, "id", tensors->source->id);
    jw_key_string(w, "file_name", tensors->source->file_name);
    jw_key_int(w, "node", (int64_t)tensors->node);
    jw_object_end(w);
}

bool event_tensors_get(struct api_call *call, struct err *err)
{
    struct store_trace *trace = NULL;
    struct timeline *timeline = NULL;
    uint32_t number = 0;
    struct store_event event;
    struct call_tensors tensors = {.source = NULL};
    struct links *links = arena_calloc(call_arena(call), 1, sizeof *links);
    if (links == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for the tensors of a call");
    }
    if (!timeline_event_number(call, &number, err) ||
        !timeline_load(&trace, &timeline, call, err)) {
        return false;
    }
    if (!store_event_get(call->snapshot, call_arena(call), trace->id, number, &event, err)) {
        return timeline_gone(err);
    }
    uint64_t record_id = record_id_of(event.json);
    if (record_id != 0 && !call_tensors_read(call->api->jobs, trace, record_id, event.name,
                                             call_arena(call), &tensors, err)) {
        return false;
    }
    list_links(links, tensors.inputs, tensors.input_count);
    list_links(links, tensors.outputs, tensors.output_count);
    if (!record_events_find(call->snapshot, call_arena(call), trace->id, timeline, links->ids,
                            links->count, links->calls, err)) {
        return timeline_gone(err);
    }
    struct json_write w = call_json(call, false);
    jw_object_begin(&w);
    jw_key_int(&w, "event", number);
    jw_key_known_int(&w, "record_function_id", record_id == 0 ? INT64_MIN : (int64_t)record_id);
    write_source(&w, &tensors);
    write_side(&w, "inputs", tensors.inputs, tensors.input_count, links);
    write_side(&w, "outputs", tensors.outputs, tensors.output_count, links);
    jw_object_end(&w);
    return true;
}

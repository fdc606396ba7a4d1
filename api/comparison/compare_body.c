#include "api/comparison/compare_body.h"

#include "api/authorize.h"
#include "api/json_body.h"

#include <inttypes.h>
#include <string.h>

#define TRACES_MAX 1000
#define LABEL_MAX_BYTES 100
#define TITLE_MAX_BYTES 500
#define RUN_NAME_MAX_BYTES 255

static const char *const side_names[SIDE_COUNT] = {"base", "candidate"};

static bool keep_ids(struct query_compare_request *request,
                     enum comparison_side side,
                     struct api_call *call,
                     const json_t *list,
                     struct err *err)
{
    size_t count = json_array_size(list);
    if (count == 0 || count > TRACES_MAX) {
        return err_set(err, ERR_BAD_REQUEST, "\"%s\" must name 1 to %d traces", side_names[side],
                       TRACES_MAX);
    }
    int64_t *ids = arena_calloc(call_arena(call), count, sizeof *ids);
    if (ids == NULL) {
        return err_set(err, ERR_NO_MEMORY, "No memory for the ids of the traces");
    }
    for (size_t i = 0; i < count; i++) {
        const json_t *id = json_array_get(list, i);
        if (!json_is_integer(id)) {
            return err_set(err, ERR_BAD_REQUEST, "Item %zu of \"%s\" must be the id of a trace", i,
                           side_names[side]);
        }
        ids[i] = json_integer_value(id);
        if (!authorize_trace(call, ids[i], err)) {
            return false;
        }
    }
    request->trace_ids[side] = ids;
    request->trace_count[side] = count;
    return true;
}

static bool keep_run(struct query_compare_request *request,
                     enum comparison_side side,
                     struct api_call *call,
                     const json_t *object,
                     struct err *err)
{
    const char *run = NULL;
    struct store_trace *traces = NULL;
    size_t count = 0;
    const json_t *name = json_object_get(object, "run");
    if (name == NULL || json_object_size(object) != 1) {
        return err_set(err, ERR_BAD_REQUEST, "\"%s\" as an object must be {\"run\": name}",
                       side_names[side]);
    }
    if (!json_body_text(name, "The name of a run", RUN_NAME_MAX_BYTES, call_arena(call), &run,
                        err) ||
        !authorize_run(call, run, err) ||
        !store_traces(call->snapshot, call_arena(call), run, &traces, &count, err)) {
        return false;
    }
    int64_t *ids = arena_calloc(call_arena(call), count, sizeof *ids);
    if (ids == NULL) {
        return err_set(err, ERR_NO_MEMORY, "No memory for the traces of the run");
    }
    for (size_t i = 0; i < count; i++) {
        if ((traces[i].views >> VIEW_CYCLES & 1U) != 0) {
            ids[request->trace_count[side]++] = traces[i].id;
        }
    }
    request->trace_ids[side] = ids;
    return request->trace_count[side] > 0 ||
           err_set(err, ERR_BAD_REQUEST,
                   "No trace of run \"%.200s\" has cycles: mark the steps with prof.step(), or "
                   "name a function that begins each cycle when uploading (?marker=)",
                   run);
}

static bool keep_side(struct query_compare_request *request,
                      enum comparison_side side,
                      struct api_call *call,
                      json_t *value,
                      struct err *err)
{
    if (json_is_object(value)) {
        return keep_run(request, side, call, value, err);
    }
    if (json_is_array(value)) {
        return keep_ids(request, side, call, value, err);
    }
    if (!json_is_integer(value)) {
        return err_set(err, ERR_BAD_REQUEST,
                       "\"%s\" must be the id of a trace, a list of ids, or {\"run\": name}",
                       side_names[side]);
    }
    json_t *list = json_array();
    bool ok = list != NULL && json_array_append(list, value) == 0
                  ? keep_ids(request, side, call, list, err)
                  : err_set(err, ERR_NO_MEMORY, "No memory for the ids of the traces");
    json_decref(list);
    return ok;
}

static bool keep_pid(int64_t *pid, const char *key, const json_t *value, struct err *err)
{
    if (!json_is_integer(value) || json_integer_value(value) == COMPARISON_NO_PID) {
        return err_set(err, ERR_BAD_REQUEST, "\"%s\" must be the number of a process", key);
    }
    *pid = json_integer_value(value);
    return true;
}

static bool keep_kind(int *kind, const json_t *value, struct err *err)
{
    const char *name = json_string_value(value);
    for (int i = 0; name != NULL && i < CYCLE_KIND_COUNT; i++) {
        if (strcmp(cycle_kind_name((enum cycle_kind)i), name) == 0) {
            *kind = i;
            return true;
        }
    }
    return err_set(
        err, ERR_BAD_REQUEST,
        "\"kind\" must be a kind of cycle: step, prefill, decode, layer, mixed, idle or diffusion");
}

static bool keep_labels(const char *labels[SIDE_COUNT],
                        struct api_call *call,
                        const json_t *value,
                        struct err *err)
{
    if (!json_is_array(value) || json_array_size(value) != SIDE_COUNT) {
        return err_set(err, ERR_BAD_REQUEST,
                       "\"labels\" must be two strings, for base and candidate");
    }
    for (int side = 0; side < SIDE_COUNT; side++) {
        if (!json_body_text(json_array_get(value, (size_t)side), "Each of \"labels\"",
                            LABEL_MAX_BYTES, call_arena(call), &labels[side], err)) {
            return false;
        }
    }
    return strcmp(labels[SIDE_BASE], labels[SIDE_CANDIDATE]) != 0 ||
           err_set(err, ERR_BAD_REQUEST, "The two \"labels\" must differ");
}

enum option { OPTION_BASE_PID, OPTION_CANDIDATE_PID, OPTION_KIND, OPTION_LABELS, OPTION_TITLE };

/* Everything but the sides; null leaves an option as it is. */
static bool keep_option(struct query_compare_request *request,
                        struct api_call *call,
                        const char *key,
                        const json_t *value,
                        struct err *err)
{
    static const char *const options[] = {
        [OPTION_BASE_PID] = "base_pid", [OPTION_CANDIDATE_PID] = "candidate_pid",
        [OPTION_KIND] = "kind",         [OPTION_LABELS] = "labels",
        [OPTION_TITLE] = "title",
    };
    size_t count = sizeof options / sizeof options[0];
    size_t at = 0;
    while (at < count && strcmp(options[at], key) != 0) {
        at++;
    }
    if (at < count && json_is_null(value)) {
        return true;
    }
    switch (at) {
    case OPTION_BASE_PID:
        return keep_pid(&request->base_pid, key, value, err);
    case OPTION_CANDIDATE_PID:
        return keep_pid(&request->candidate_pid, key, value, err);
    case OPTION_KIND:
        return keep_kind(&request->kind, value, err);
    case OPTION_LABELS:
        return keep_labels(request->labels, call, value, err);
    case OPTION_TITLE:
        return json_body_text(value, "\"title\"", TITLE_MAX_BYTES, call_arena(call),
                              &request->title, err);
    default:
        return err_set(err, ERR_BAD_REQUEST,
                       "\"%.60s\" is unknown: the body has base, candidate, base_pid, "
                       "candidate_pid, kind, labels and title",
                       key);
    }
}

static bool keep_members(struct query_compare_request *request,
                         struct api_call *call,
                         json_t *object,
                         struct err *err)
{
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach(object, key, value)
    {
        bool is_side = strcmp(key, "base") == 0 || strcmp(key, "candidate") == 0;
        if (!is_side && !keep_option(request, call, key, value, err)) {
            return false;
        }
    }
    for (int side = 0; side < SIDE_COUNT; side++) {
        if (!keep_side(request, (enum comparison_side)side, call,
                       json_object_get(object, side_names[side]), err)) {
            return false;
        }
    }
    return true;
}

bool compare_body_read(struct query_compare_request *request,
                       struct api_call *call,
                       struct err *err)
{
    *request = (struct query_compare_request){
        .labels = {side_names[SIDE_BASE], side_names[SIDE_CANDIDATE]},
        .base_pid = COMPARISON_NO_PID,
        .candidate_pid = COMPARISON_NO_PID,
        .kind = -1,
    };
    json_t *object = json_body_read(call->request, err);
    if (object == NULL) {
        return false;
    }
    bool ok = json_is_object(object)
                  ? keep_members(request, call, object, err)
                  : err_set(err, ERR_BAD_REQUEST,
                            "The body must be an object: {\"base\": ..., \"candidate\": ...}");
    json_decref(object);
    return ok;
}

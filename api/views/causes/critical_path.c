/* The critical path of a trace, and what it would gain [CAU-3]. */
#include "api/handlers.h"
#include "api/table/rows.h"
#include "api/table/table_view.h"
#include "api/timeline/common.h"
#include "api/views/causes/common.h"
#include "ingest/jobs/on_request/analyses.h"

#include <ctype.h>
#include <string.h>

#define LIMIT_DEFAULT 100
#define TOP_DEFAULT 10
#define NAMES_MAX 64 /* in data_loading= and scale= */
#define FACTOR_DIGITS 9
#define FACTOR_MAX 10

struct answer {
    struct table_view view;
    struct path_request request;
    const char *instance;
    struct critical_path path;
};

/* ---- parameters ---- */

static const char *read_number(const char *text, uint64_t *value)
{
    *value = 0;
    if (isdigit((unsigned char)*text) == 0) {
        return NULL;
    }
    while (isdigit((unsigned char)*text) != 0) {
        *value = *value > UINT32_MAX ? *value : *value * 10 + (uint64_t)(*text - '0');
        text++;
    }
    return text;
}

/* ?instance=k or a-b */
static bool read_instance(struct answer *answer, const struct api_call *call, struct err *err)
{
    const char *text = query_string_word(&call->query, "instance");
    struct path_options *options = &answer->request.options;
    answer->instance = text == NULL ? "0" : text;
    const char *end = read_number(answer->instance, &options->first_instance);
    options->last_instance = options->first_instance;
    if (end != NULL && *end == '-') {
        end = read_number(end + 1, &options->last_instance);
    }
    return (end != NULL && *end == '\0') ||
           err_set(err, ERR_BAD_REQUEST, "instance is a number from 0, or two: instance=1-3");
}

/* The parts of `text` between commas, in the arena; *count of them. NULL without memory, or for too
 * many. */
static const char **split(struct api_call *call, const char *text, size_t *count)
{
    const char **parts = arena_calloc(call_arena(call), NAMES_MAX, sizeof *parts);
    *count = 0;
    while (parts != NULL && text != NULL && *text != '\0') {
        size_t len = strcspn(text, ",");
        if (len > 0) {
            if (*count == NAMES_MAX) {
                return NULL;
            }
            parts[*count] = arena_strndup(call_arena(call), text, len);
            if (parts[(*count)++] == NULL) {
                return NULL;
            }
        }
        text += len + (text[len] == ',' ? 1 : 0);
    }
    return parts;
}

/* "0.25": a decimal of 0 to 10. */
static bool read_factor(const char *text, struct path_scale *scale)
{
    scale->denominator = 1;
    const char *at = read_number(text, &scale->numerator);
    if (at == NULL || scale->numerator > FACTOR_MAX) {
        return false;
    }
    if (*at == '.') {
        const char *digits = ++at;
        while (isdigit((unsigned char)*at) != 0 && at - digits < FACTOR_DIGITS) {
            scale->numerator = scale->numerator * 10 + (uint64_t)(*at++ - '0');
            scale->denominator *= 10;
        }
    }
    return *at == '\0' && scale->numerator <= FACTOR_MAX * scale->denominator;
}

/* ?scale=<name>:<factor or "roofline">,… with names percent-encoded */
static bool read_scales(struct answer *answer, struct api_call *call, struct err *err)
{
    size_t count;
    const char **parts = split(call, query_string_word(&call->query, "scale"), &count);
    struct path_scale *scales = arena_calloc(call_arena(call), NAMES_MAX, sizeof *scales);
    if (parts == NULL || scales == NULL) {
        return err_set(err, ERR_BAD_REQUEST, "scale names at most %d events", NAMES_MAX);
    }
    for (size_t i = 0; i < count; i++) {
        const char *colon = strrchr(parts[i], ':');
        scales[i].at_roofline = colon != NULL && strcmp(colon + 1, "roofline") == 0;
        if (colon == NULL || (!scales[i].at_roofline && !read_factor(colon + 1, &scales[i]))) {
            return err_set(err, ERR_BAD_REQUEST,
                           "scale is a name, a colon and a factor of 0 to 10 with at most %d "
                           "decimals, or the word roofline: scale=aten%%253A%%253Amm:0.5",
                           FACTOR_DIGITS);
        }
        if (!query_string_decode(&scales[i].name, call_arena(call), parts[i],
                                 (size_t)(colon - parts[i]), false, err)) {
            return false;
        }
    }
    answer->request.scales = scales;
    answer->request.scale_count = count;
    return true;
}

static bool read_loading(struct answer *answer, struct api_call *call, struct err *err)
{
    size_t count;
    const char **parts = split(call, query_string_word(&call->query, "data_loading"), &count);
    answer->request.options.loading = parts;
    answer->request.options.loading_count = count;
    return parts != NULL ||
           err_set(err, ERR_BAD_REQUEST, "data_loading has at most %d parts", NAMES_MAX);
}

static bool read_request(struct answer *answer, struct api_call *call, struct err *err)
{
    static const char *const launch_edges[] = {"all", "delays", NULL};
    static const char *const ends[] = {"top", "own", NULL};
    static const char *const edges[] = {"path", "all", "none", NULL};
    const char *annotation = query_string_word(&call->query, "annotation");
    size_t launches = 0;
    size_t own = 0;
    size_t shown = 0;
    int64_t top = TOP_DEFAULT;
    if (!read_instance(answer, call, err) || !read_scales(answer, call, err) ||
        !read_loading(answer, call, err) ||
        !table_params_choice(call, "launch_edges", launch_edges, &launches, err) ||
        !table_params_choice(call, "ends", ends, &own, err) ||
        !table_params_choice(call, "edges", edges, &shown, err) ||
        !query_string_int(&call->query, "top", 1, PATH_TOP_MAX, &top, err)) {
        return false;
    }
    answer->request.options.annotation = annotation == NULL ? "" : annotation;
    answer->request.options.delays_only = launches == 1;
    answer->request.options.own_ends = own == 1;
    answer->request.edges = (enum path_edges_shown)shown;
    answer->request.top = (size_t)top;
    answer->request.first_edge = (size_t)answer->view.params.page.offset;
    answer->request.edges_max = (size_t)answer->view.params.page.limit;
    return true;
}

/* ---- the answer ---- */

static void write_types(struct json_write *w, const char *key, const int64_t *by_type)
{
    jw_key_object_begin(w, key);
    for (int i = 0; i < PATH_EDGE_TYPE_COUNT; i++) {
        jw_key_int(w, path_edge_type_text((enum path_edge_type)i), by_type[i]);
    }
    jw_object_end(w);
}

static void write_path(struct json_write *w, const struct critical_path *path)
{
    jw_key_object_begin(w, "path");
    jw_key_int(w, "nodes", path->path_nodes);
    jw_key_int(w, "events", (int64_t)path->event_count);
    jw_key_int(w, "edges", path->path_edges);
    write_types(w, "edges_by_type", path->path_edges_by_type);
    jw_object_end(w);
    jw_key_array_begin(w, "boundedness");
    for (int i = 0; i < PATH_BOUND_COUNT; i++) {
        jw_object_begin(w);
        jw_key_string(w, "bound", path_bound_text((enum path_bound)i));
        jw_key_int(w, "ns", path->bound_ns[i]);
        jw_key_double(w, "ratio", rows_known_share(path->bound_ns[i], path->length_ns));
        jw_object_end(w);
    }
    jw_array_end(w);
}

static void write_events(struct json_write *w, const struct answer *answer)
{
    const struct path_event_row *rows = answer->view.rows;
    struct field_out out = {.notation = FIELD_JSON, .json = w};
    jw_key_object_begin(w, "events");
    table_view_members(w, &answer->view, NULL);
    jw_key_array_begin(w, "rows");
    for (size_t i = 0; i < answer->view.count; i++) {
        size_t at = answer->view.shown == NULL ? i : answer->view.shown[i];
        field_row(&out, &table_path_event, &rows[at], 0);
    }
    jw_array_end(w);
    jw_object_end(w);
}

static void write_edges(struct json_write *w, const struct answer *answer)
{
    jw_key_object_begin(w, "edges");
    jw_key_int(w, "total", answer->path.edge_total);
    field_rows(w, "rows", &table_path_edge, answer->path.edges, answer->path.edge_count);
    jw_object_end(w);
}

static void write_saving(struct json_write *w, int64_t length_ns, int64_t of_ns)
{
    int64_t saved_ns = rows_sub(of_ns, length_ns);
    jw_key_int(w, "length_ns", length_ns);
    jw_key_int(w, "saved_ns", saved_ns);
    jw_key_double(w, "ratio", rows_known_share(saved_ns, of_ns));
}

static void write_what_if(struct json_write *w, const struct critical_path *path)
{
    jw_key_object_begin(w, "what_if");
    write_saving(w, path->scaled_length_ns, path->length_ns);
    jw_key_array_begin(w, "names");
    for (size_t i = 0; i < path->gain_count; i++) {
        jw_object_begin(w);
        jw_key_string(w, "name", path->gains[i].name);
        jw_key_int(w, "path_ns", path->gains[i].path_ns);
        write_saving(w, path->gains[i].length_ns, path->length_ns);
        jw_key_int(w, "saved_at_most_ns", path->gains[i].saved_at_most_ns);
        jw_object_end(w);
    }
    jw_array_end(w);
    jw_object_end(w);
}

static void write_answer(struct api_call *call, const struct answer *answer)
{
    const struct critical_path *path = &answer->path;
    struct json_write w = call_json_long(call, false);
    jw_object_begin(&w);
    jw_key_string(&w, "annotation", answer->request.options.annotation);
    jw_key_string(&w, "instance", answer->instance);
    jw_key_object_begin(&w, "window");
    jw_key_int(&w, "start_ns", path->start_ns);
    jw_key_int(&w, "end_ns", path->end_ns);
    jw_object_end(&w);
    jw_key_int(&w, "nodes", path->nodes);
    write_types(&w, "edges_by_type", path->edges_by_type);
    jw_key_int(&w, "dropped_edges", path->dropped_edges);
    jw_key_int(&w, "unmatched_waits", path->unmatched_waits);
    jw_key_int(&w, "length_ns", path->length_ns);
    write_path(&w, path);
    write_events(&w, answer);
    write_edges(&w, answer);
    write_what_if(&w, path);
    jw_object_end(&w);
}

bool critical_path_get(struct api_call *call, struct err *err)
{
    struct answer answer = {.view = {.table = &table_path_event, .stem = "critical-path"}};
    struct store_trace *trace = NULL;
    if (!table_view_read(&answer.view, call, "start_ns", LIMIT_DEFAULT, err) ||
        !read_request(&answer, call, err) || !timeline_trace(&trace, call, err) ||
        !(critical_path_read(call->api->jobs, trace->id, &answer.request, call_arena(call),
                             &answer.path, err) ||
          timeline_gone(err)) ||
        !table_view_run(&answer.view, call, answer.path.events, answer.path.event_count, err)) {
        return false;
    }
    if (answer.view.params.csv) {
        table_view_answer(&answer.view, call);
    } else {
        write_answer(call, &answer);
    }
    return true;
}

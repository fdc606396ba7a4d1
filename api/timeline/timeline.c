/* The timeline: its tracks, and what a window of them shows on a screen. */
#include "api/handlers.h"
#include "api/table/columns.h"
#include "api/timeline/common.h"
#include "ingest/base/order.h"
#include "ingest/base/text/utf8.h"
#include "ingest/query/timeline/query.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH_DEFAULT 1600
#define WIDTH_MAX 16384
/* An answer beyond this is asked for again with coarser pixels. */
#define ANSWER_MAX_BYTES 3000000u
/* Labels of an answer, the commonest; the others are told by their role only. All names together:
 * longer ones are cut where they would have more. */
#define LABELS_MAX 6000u
#define NAMES_MAX_BYTES 300000u
#define ELLIPSIS "\xE2\x80\xA6"

/* ---- tracks ---- */

static const char *const kind_names[] = {
    [TIMELINE_THREAD] = "thread",   [TIMELINE_STREAM] = "stream", [TIMELINE_ASYNC] = "async",
    [TIMELINE_COUNTER] = "counter", [TIMELINE_GROUP] = "group",
};

static void write_series(struct json_write *w, const struct timeline_track *track)
{
    jw_key_array_begin(w, "series");
    for (uint32_t i = 0; i < track->lane_count; i++) {
        jw_string(w, track->series[i]);
    }
    jw_array_end(w);
}

static void write_track(struct json_write *w, const struct timeline_track *track, uint32_t id)
{
    jw_object_begin(w);
    jw_key_int(w, "id", id);
    jw_key_string(w, "kind", kind_names[track->kind]);
    jw_key_string(w, "process", track->process);
    jw_key_string(w, "label", track->label);
    jw_key_string(w, "pid", track->pid);
    jw_key_string(w, "tid", track->tid);
    jw_key_int(w, "lanes", track->lane_count);
    jw_key_int(w, "members", track->member_count);
    jw_key_int(w, "items", (int64_t)track->item_count);
    jw_key_int(w, "first_ns", track->first_ns);
    jw_key_int(w, "end_ns", track->end_ns);
    jw_key_int(w, "busy_ns", track->busy_ns);
    if (track->kind == TIMELINE_COUNTER && track->series != NULL) {
        write_series(w, track);
    }
    jw_object_end(w);
}

static void write_steps(struct json_write *w, const struct trace_results *results)
{
    size_t count = results_step_count(results);
    jw_key_array_begin(w, "steps");
    for (size_t i = 0; i < count; i++) {
        jw_object_begin(w);
        jw_key_string(w, "name", results->steps[i].name);
        jw_key_int(w, "start_ns", results->steps[i].start_ns);
        jw_key_int(w, "end_ns", results->steps[i].end_ns);
        jw_object_end(w);
    }
    jw_array_end(w);
}

bool timeline_tracks(struct api_call *call, struct err *err)
{
    struct store_trace *trace = NULL;
    struct timeline *timeline = NULL;
    struct trace_results *results = NULL;
    if (!timeline_load(&trace, &timeline, call, err) ||
        !store_overview(call->snapshot, call_arena(call), trace->id, &results, err)) {
        return false;
    }
    struct json_write w = call_json_long(call, false);
    jw_object_begin(&w);
    jw_key_int(&w, "start_ns", timeline->start_ns);
    jw_key_int(&w, "end_ns", timeline->end_ns);
    jw_key_int(&w, "events", trace->event_count);
    jw_key_int(&w, "flows", (int64_t)timeline->flow_count);
    jw_key_array_begin(&w, "tracks");
    for (uint32_t i = 0; i < timeline->track_count; i++) {
        write_track(&w, &timeline->tracks[i], i);
    }
    jw_array_end(&w);
    write_steps(&w, results);
    jw_object_end(&w);
    return true;
}

/* ---- what is asked for ---- */

/* One number of the list; what follows it is a comma or the end. */
static bool read_track(const char **text, uint32_t track_count, uint32_t *track)
{
    char *end = NULL;
    if (**text < '0' || **text > '9') {
        return false;
    }
    unsigned long long value = strtoull(*text, &end, 10);
    bool goes_on = *end == ',' && end[1] != '\0';
    *track = (uint32_t)value;
    *text = goes_on ? end + 1 : end;
    return value < track_count && (goes_on || *end == '\0');
}

static bool bad_tracks(const char *list, uint32_t track_count, struct err *err)
{
    if (track_count == 0) {
        return err_set(err, ERR_BAD_REQUEST, "The parameter tracks is \"%.60s\": there are none",
                       list);
    }
    return err_set(err, ERR_BAD_REQUEST,
                   "The parameter tracks is \"%.60s\": it must be numbers of tracks from 0 to "
                   "%" PRIu32 ", comma-separated",
                   list, track_count - 1);
}

/* `tracks=`: ascending, each once. */
static bool read_tracks(struct timeline_request *request,
                        struct api_call *call,
                        uint32_t track_count,
                        struct err *err)
{
    const char *list = query_string_word(&call->query, "tracks");
    if (list == NULL) {
        return true;
    }
    uint32_t *tracks = arena_calloc(call_arena(call), strlen(list) + 1, sizeof *tracks);
    if (tracks == NULL) {
        return err_set(err, ERR_NO_MEMORY, "No memory for the list of tracks");
    }
    size_t count = 0;
    for (const char *at = list; *at != '\0'; count++) {
        if (!read_track(&at, track_count, &tracks[count])) {
            return bad_tracks(list, track_count, err);
        }
    }
    qsort(tracks, count, sizeof *tracks, order_u32_at);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || tracks[i] != tracks[kept - 1]) {
            tracks[kept++] = tracks[i];
        }
    }
    request->tracks = tracks;
    request->track_count = kept;
    return true;
}

static bool read_request(struct timeline_request *request,
                         struct api_call *call,
                         const struct timeline *timeline,
                         struct err *err)
{
    int64_t width = WIDTH_DEFAULT;
    *request = (struct timeline_request){
        .start_ns = timeline->start_ns,
        .end_ns = timeline->end_ns > timeline->start_ns ? timeline->end_ns : timeline->start_ns + 1,
    };
    if (!timeline_range(&request->start_ns, &request->end_ns, false, call, err) ||
        !query_string_int(&call->query, "width_px", 1, WIDTH_MAX, &width, err)) {
        return false;
    }
    request->width_px = (uint32_t)width;
    return read_tracks(request, call, timeline->track_count, err);
}

/* ---- the answer ---- */

/* Labels stand by falling count over the whole trace. */
static size_t named_labels(const struct timeline_window *window)
{
    return window->label_count < LABELS_MAX ? window->label_count : LABELS_MAX;
}

static enum time_category role_of(const struct timeline_label *label)
{
    return label->role < TIME_CATEGORY_COUNT ? (enum time_category)label->role : TIME_OTHER;
}

static size_t names_bytes(const struct timeline_window *window)
{
    size_t bytes = 0;
    for (size_t i = 0; i < named_labels(window); i++) {
        bytes += strlen(window->labels[i].name) + strlen(window->labels[i].category);
    }
    return bytes;
}

/* Names of more than `max_bytes` lose their end. */
static void write_cut(
    struct json_write *w, struct arena *arena, const char *key, const char *text, size_t max_bytes)
{
    size_t len = strlen(text);
    size_t kept = len <= max_bytes ? len : utf8_cut(text, max_bytes - strlen(ELLIPSIS));
    char *cut = len <= max_bytes ? NULL : arena_alloc(arena, kept + sizeof ELLIPSIS);
    if (cut == NULL) {
        jw_key_string(w, key, text);
        return;
    }
    memcpy(cut, text, kept);
    memcpy(cut + kept, ELLIPSIS, sizeof ELLIPSIS);
    jw_key_string(w, key, cut);
}

static void
write_labels(struct json_write *w, struct arena *arena, const struct timeline_window *window)
{
    size_t count = named_labels(window);
    bool is_cut = names_bytes(window) > NAMES_MAX_BYTES;
    size_t max_bytes = is_cut ? NAMES_MAX_BYTES / count : SIZE_MAX;
    jw_key_array_begin(w, "labels");
    for (size_t i = 0; i < count; i++) {
        const struct timeline_label *label = &window->labels[i];
        jw_object_begin(w);
        write_cut(w, arena, "name", label->name, max_bytes);
        write_cut(w, arena, "category", label->category, max_bytes);
        jw_key_string(w, "role", time_category_name(role_of(label)));
        jw_object_end(w);
    }
    for (int role = 0; count < window->label_count && role < TIME_CATEGORY_COUNT; role++) {
        jw_object_begin(w);
        jw_key_string(w, "name", ELLIPSIS);
        jw_key_string(w, "category", "");
        jw_key_string(w, "role", time_category_name((enum time_category)role));
        jw_object_end(w);
    }
    jw_array_end(w);
}

static uint32_t place_of_label(const struct timeline_window *window, uint32_t id)
{
    const uint32_t *found = bsearch(&id, window->label_ids, window->label_count,
                                    sizeof *window->label_ids, order_u32_at);
    if (found == NULL) {
        return 0;
    }
    size_t place = (size_t)(found - window->label_ids);
    size_t named = named_labels(window);
    return (uint32_t)(place < named ? place : named + role_of(&window->labels[place]));
}

/* Label ids become places in the list of labels. Neighbours often have the same. */
static void place_labels(struct timeline_block *slices, const struct timeline_window *window)
{
    uint32_t last_id = UINT32_MAX;
    uint32_t last_place = 0;
    for (uint32_t i = 0; i < slices->item_count; i++) {
        uint32_t id = slices->label[i];
        if (id != last_id) {
            last_id = id;
            last_place = place_of_label(window, id);
        }
        slices->label[i] = last_place;
    }
}

static bool are_single(const struct timeline_block *slices)
{
    uint32_t more = 0;
    for (uint32_t i = 0; i < slices->item_count; i++) {
        more |= slices->count[i] ^ 1U;
    }
    return more == 0;
}

static void write_slices(struct json_write *w, const struct timeline_block *slices)
{
    size_t count = slices->item_count;
    columns_ints(w, "start_ns", slices->start_ns, count);
    columns_known_ints(w, "dur_ns", slices->dur_ns, count, TIMELINE_INSTANT);
    columns_uints(w, "lane", slices->lane, count);
    columns_uints(w, "label", slices->label, count);
    columns_uints(w, "event", slices->event, count);
    if (!are_single(slices)) {
        columns_uints(w, "count", slices->count, count);
        columns_ints(w, "busy_ns", slices->busy_ns, count);
    }
}

static void write_points(struct json_write *w, const struct timeline_points *points)
{
    size_t count = points->item_count;
    jw_key_object_begin(w, "points");
    columns_ints(w, "start_ns", points->start_ns, count);
    columns_uints(w, "lane", points->lane, count);
    columns_uints(w, "event", points->event, count);
    columns_doubles(w, "last", points->last, count);
    columns_doubles(w, "min", points->min, count);
    columns_doubles(w, "max", points->max, count);
    jw_object_end(w);
}

static void write_tracks(struct json_write *w, const struct timeline_window *window)
{
    jw_key_array_begin(w, "tracks");
    for (size_t i = 0; i < window->track_count; i++) {
        struct timeline_track_window *track = &window->tracks[i];
        if (track->slices.item_count == 0 && track->points.item_count == 0) {
            continue;
        }
        jw_object_begin(w);
        jw_key_int(w, "id", track->track);
        jw_key_int(w, "pixel_ns", track->pixel_ns);
        if (track->slices.item_count > 0) {
            place_labels(&track->slices, window);
            write_slices(w, &track->slices);
        }
        if (track->points.item_count > 0) {
            write_points(w, &track->points);
        }
        jw_object_end(w);
    }
    jw_array_end(w);
}

static void write_window(struct api_call *call,
                         const struct timeline_request *request,
                         const struct timeline_window *window)
{
    struct json_write w = call_json(call, false);
    jw_object_begin(&w);
    jw_key_int(&w, "start_ns", request->start_ns);
    jw_key_int(&w, "end_ns", request->end_ns);
    jw_key_int(&w, "width_px", request->width_px);
    write_labels(&w, call_arena(call), window);
    write_tracks(&w, window);
    jw_object_end(&w);
}

/* A width that gives an answer of the right size if its size follows the width; from the second
 * try on it visibly does not. */
static uint32_t narrower(uint32_t width_px, size_t bytes, unsigned tries)
{
    double share = (double)ANSWER_MAX_BYTES / (double)bytes;
    double width = (double)width_px * share * (tries == 1 ? 0.9 : 0.5);
    return width < 1 ? 1 : (uint32_t)width;
}

bool timeline_window(struct api_call *call, struct err *err)
{
    struct store_trace *trace = NULL;
    struct timeline *timeline = NULL;
    struct timeline_request asked;
    if (!timeline_load(&trace, &timeline, call, err) ||
        !read_request(&asked, call, timeline, err)) {
        return false;
    }
    struct timeline_request request = asked;
    request.end_ns++; /* an instant at its very end belongs to a window */
    for (unsigned tries = 1;; tries++) {
        struct timeline_window window;
        if (!query_timeline(call->snapshot, call_arena(call), trace->id, &request, &window, err)) {
            return timeline_gone(err);
        }
        write_window(call, &asked, &window);
        size_t bytes = call->response->body.len;
        if (bytes <= ANSWER_MAX_BYTES || request.width_px == 1) {
            return true;
        }
        request.width_px = narrower(request.width_px, bytes, tries);
    }
}

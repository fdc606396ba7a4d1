/* Search in a trace: names of slices, and events by name, category or argument. */
#include "api/handlers.h"
#include "api/timeline/common.h"
#include "ingest/store/store_events.h"
#include "ingest/store/store_timeline.h"

#include <string.h>
#include <strings.h>

#define LIMIT_DEFAULT 100
#define LIMIT_MAX 10000
#define Q_MAX_BYTES 1000
/* Hits beyond this are not counted. */
#define COUNT_MAX 100000u
#define NAMES_MAX 50u
/* Labels in memory at a time. */
#define LABELS_AT_ONCE 4096u

/* How well a name fits, best first. */
enum fit { FIT_EXACT, FIT_PREFIX, FIT_INSIDE, FIT_NONE };

struct found_name {
    enum fit fit;
    struct timeline_label label;
};

/* The best names so far, best first. */
struct found_names {
    const char *q;
    struct found_name rows[NAMES_MAX];
    size_t count;
};

static enum fit fit_of(const char *name, const char *q)
{
    size_t len = strlen(q);
    if (strncasecmp(name, q, len) == 0) {
        return name[len] == '\0' ? FIT_EXACT : FIT_PREFIX;
    }
    for (const char *at = name; *at != '\0'; at++) {
        if (strncasecmp(at, q, len) == 0) {
            return FIT_INSIDE;
        }
    }
    return FIT_NONE;
}

static bool is_better(const struct found_name *a, const struct found_name *b)
{
    return a->fit != b->fit ? a->fit < b->fit : a->label.total_ns > b->label.total_ns;
}

/* Ties keep their order. False without memory. */
static bool
offer(struct found_names *names, struct arena *arena, const struct timeline_label *label)
{
    struct found_name row = {.fit = fit_of(label->name, names->q), .label = *label};
    bool is_full = names->count == NAMES_MAX;
    if (row.fit == FIT_NONE || (is_full && !is_better(&row, &names->rows[NAMES_MAX - 1]))) {
        return true;
    }
    row.label.name = arena_strdup(arena, label->name);
    row.label.category = arena_strdup(arena, label->category);
    if (row.label.name == NULL || row.label.category == NULL) {
        return false;
    }
    size_t at = is_full ? NAMES_MAX - 1 : names->count++;
    for (; at > 0 && is_better(&row, &names->rows[at - 1]); at--) {
        names->rows[at] = names->rows[at - 1];
    }
    names->rows[at] = row;
    return true;
}

/* Labels from `first` on. */
static bool find_in_part(struct found_names *names,
                         struct api_call *call,
                         struct arena *scratch,
                         int64_t trace_id,
                         uint32_t first,
                         uint32_t count,
                         struct err *err)
{
    uint32_t *ids = arena_calloc(scratch, count, sizeof *ids);
    struct timeline_label *labels = NULL;
    for (uint32_t i = 0; ids != NULL && i < count; i++) {
        ids[i] = first + i;
    }
    if (ids == NULL) {
        return err_set(err, ERR_NO_MEMORY, "No memory for the names of the trace");
    }
    if (!store_timeline_labels(call->snapshot, scratch, trace_id, ids, count, &labels, err)) {
        return timeline_gone(err);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!offer(names, call_arena(call), &labels[i])) {
            return err_set(err, ERR_NO_MEMORY, "No memory for the names that were found");
        }
    }
    return true;
}

static bool find_names(struct found_names *names,
                       struct api_call *call,
                       int64_t trace_id,
                       uint32_t label_count,
                       struct err *err)
{
    bool ok = true;
    for (uint32_t first = 0; ok && first < label_count; first += LABELS_AT_ONCE) {
        struct arena scratch;
        uint32_t left = label_count - first;
        arena_init(&scratch, 0);
        ok = find_in_part(names, call, &scratch, trace_id, first,
                          left < LABELS_AT_ONCE ? left : LABELS_AT_ONCE, err);
        arena_free(&scratch);
    }
    return ok;
}

struct search {
    const char *q;
    int64_t start_ns;
    int64_t end_ns;
    int64_t limit;
    struct found_names names;
    struct store_event_hit *hits;
    size_t count;
    size_t total;
};

static bool read_search(struct search *search, const struct api_call *call, struct err *err)
{
    const char *q = query_string_word(&call->query, "q");
    if (q == NULL) {
        (void)err_set(err, ERR_BAD_REQUEST,
                      "The parameter q is missing: it is the text to look for");
        return false;
    }
    *search = (struct search){.q = q,
                              .start_ns = INT64_MIN,
                              .end_ns = INT64_MAX,
                              .limit = LIMIT_DEFAULT,
                              .names = {.q = q}};
    if (strlen(q) > Q_MAX_BYTES) {
        return err_set(err, ERR_BAD_REQUEST,
                       "The parameter q has %zu bytes: at most %d are allowed", strlen(q),
                       Q_MAX_BYTES);
    }
    return timeline_range(&search->start_ns, &search->end_ns, true, call, err) &&
           query_string_int(&call->query, "limit", 1, LIMIT_MAX, &search->limit, err);
}

static void write_names(struct json_write *w, const struct found_names *names)
{
    jw_key_array_begin(w, "names");
    for (size_t i = 0; i < names->count; i++) {
        const struct timeline_label *label = &names->rows[i].label;
        jw_object_begin(w);
        jw_key_string(w, "name", label->name);
        jw_key_string(w, "category", label->category);
        jw_key_string(w, "role", time_category_name((enum time_category)label->role));
        jw_key_int(w, "count", (int64_t)label->count);
        jw_key_int(w, "total_ns", label->total_ns);
        jw_object_end(w);
    }
    jw_array_end(w);
}

static void write_hit(struct json_write *w, const struct store_event_hit *hit)
{
    const struct store_event *event = &hit->event;
    jw_object_begin(w);
    jw_key_int(w, "event", event->event);
    jw_key_string(w, "name", event->name);
    jw_key_string(w, "category", event->category);
    jw_key(w, "start_ns");
    if (event->has_start) {
        jw_int(w, event->start_ns);
    } else {
        jw_null(w);
    }
    jw_key(w, "dur_ns");
    if (event->has_dur) {
        jw_int(w, event->dur_ns);
    } else {
        jw_null(w);
    }
    jw_key_string(w, "key", hit->key);
    jw_key_string(w, "pid", event->pid);
    jw_key_string(w, "tid", event->tid);
    jw_object_end(w);
}

bool search_get(struct api_call *call, struct err *err)
{
    struct store_trace *trace = NULL;
    struct timeline *timeline = NULL;
    /* Its names would fill a fifth of a request thread's stack. */
    struct search *search = arena_calloc(call_arena(call), 1, sizeof *search);
    if (search == NULL) {
        return err_set(err, ERR_NO_MEMORY, "No memory for the search");
    }
    if (!read_search(search, call, err) || !timeline_load(&trace, &timeline, call, err) ||
        !find_names(&search->names, call, trace->id, timeline->label_count, err)) {
        return false;
    }
    const struct store_event_query query = {.q = search->q,
                                            .start_ns = search->start_ns,
                                            .end_ns = search->end_ns,
                                            .limit = (size_t)search->limit,
                                            .count_max = COUNT_MAX};
    if (!store_events_search(call->snapshot, call_arena(call), trace->id, &query, &search->hits,
                             &search->count, &search->total, err)) {
        return timeline_gone(err);
    }
    struct json_write w = call_json(call, false);
    jw_object_begin(&w);
    jw_key_string(&w, "q", search->q);
    jw_key_int(&w, "total", (int64_t)search->total);
    jw_key_bool(&w, "total_is_lower_bound", search->total >= COUNT_MAX);
    write_names(&w, &search->names);
    jw_key_array_begin(&w, "hits");
    for (size_t i = 0; i < search->count; i++) {
        write_hit(&w, &search->hits[i]);
    }
    jw_array_end(&w);
    jw_object_end(&w);
    return true;
}

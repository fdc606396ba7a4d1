#include "ingest/analysis/timeline/layout.h"

#include "ingest/analysis/timeline/order.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"
#include "ingest/base/text/affix.h"
#include "ingest/index/sort.h"

#include <stdlib.h>
#include <string.h>

#define DECIMAL 10

struct laying {
    struct timeline_layout *layout;
    const struct timeline_items *items;
    struct timeline_places *places;
    struct key_map processes; /* by text of the pid */
};

/* ---- processes and metadata ---- */

static bool find_processes(struct laying *l)
{
    struct timeline_layout *layout = l->layout;
    for (uint32_t i = 0; i < l->places->count; i++) {
        const struct timeline_place *place = &l->places->items[i];
        const struct key key = {{l->items->trace->tracks[place->track].pid_text, 0, 0, 0}};
        uint32_t number = key_map_add(&l->processes, key);
        if (number == KEY_MAP_NONE) {
            return false;
        }
        if (number == layout->process_count) {
            struct layout_process *processes =
                scratch_grow(layout->processes, number, &layout->processes_cap, sizeof *processes);
            if (processes == NULL) {
                return false;
            }
            layout->processes = processes;
            processes[layout->process_count++] = (struct layout_process){
                .track = place->track, .name = STRTAB_NONE, .labels = STRTAB_NONE};
        }
        layout->process_of[i] = number;
        struct layout_process *process = &layout->processes[number];
        process->has_streams = process->has_streams || place->kind == TIMELINE_STREAM;
        process->has_threads =
            process->has_threads || (place->kind == TIMELINE_THREAD && place->item_count > 0);
        process->has_work = process->has_work || place->has_work;
    }
    return true;
}

static int64_t sort_index_of(const struct trace *trace, uint32_t label)
{
    /* What is no number is 0, what is beyond 64 bits their bound. */
    return strtoll(strtab_text(trace->strings, label), NULL, DECIMAL);
}

static uint32_t find_text(const struct trace *trace, const char *text)
{
    return strtab_find(trace->strings, text, strlen(text));
}

/* Ids of the metadata's names, STRTAB_NONE where the trace has none of them. */
struct label_kinds {
    uint32_t process_name, process_labels, process_sort_index, thread_name, thread_sort_index;
};

static bool read_process_label(struct laying *l,
                               const struct label_kinds *kinds,
                               const struct trace_label *label)
{
    const struct trace *trace = l->items->trace;
    const struct key key = {{trace->tracks[label->track].pid_text, 0, 0, 0}};
    uint32_t number = key_map_add(&l->processes, key);
    if (number == KEY_MAP_NONE || number >= l->layout->process_count) {
        return number != KEY_MAP_NONE;
    }
    struct layout_process *process = &l->layout->processes[number];
    if (label->kind_name == kinds->process_name) {
        process->name = label->label;
    } else if (label->kind_name == kinds->process_labels) {
        process->labels = label->label;
    } else if (label->kind_name == kinds->process_sort_index) {
        process->sort_index = sort_index_of(trace, label->label);
    }
    return true;
}

static bool read_labels(struct laying *l)
{
    const struct trace *trace = l->items->trace;
    const struct label_kinds kinds = {
        .process_name = find_text(trace, "process_name"),
        .process_labels = find_text(trace, "process_labels"),
        .process_sort_index = find_text(trace, "process_sort_index"),
        .thread_name = find_text(trace, "thread_name"),
        .thread_sort_index = find_text(trace, "thread_sort_index"),
    };
    for (uint32_t i = 0; i < trace->label_count; i++) {
        const struct trace_label *label = &trace->labels[i];
        const struct trace_track *track = &trace->tracks[label->track];
        bool is_name = label->kind_name == kinds.thread_name;
        uint32_t place = PLACE_NONE;
        if (!is_name && label->kind_name != kinds.thread_sort_index) {
            if (!read_process_label(l, &kinds, label)) {
                return false;
            }
            continue;
        }
        if (!timeline_place_of_thread(l->places, track->pid_text, track->tid_text, &place)) {
            return false;
        }
        if (place != PLACE_NONE && is_name) {
            l->layout->thread_name[place] = label->label;
        } else if (place != PLACE_NONE) {
            l->layout->sort_index[place] = sort_index_of(trace, label->label);
        }
    }
    return true;
}

/* ---- order ---- */

/* Numbers first, ascending; then texts. */
static int compare_ids(bool is_int_a, int64_t a, bool is_int_b, int64_t b)
{
    if (is_int_a != is_int_b) {
        return is_int_a ? -1 : 1;
    }
    return is_int_a ? order_i64(a, b) : 0;
}

/* Profilers label devices; stray frames of Python may share the number of one. */
static bool is_device(const struct layout_process *process)
{
    return process->has_streams && (!process->has_threads || process->labels != STRTAB_NONE);
}

static const char *skip_zeros(const char *text)
{
    while (*text == '0' && text_is_digit(text[1])) {
        text++;
    }
    return text;
}

static size_t digits_at(const char *text)
{
    size_t count = 0;
    while (text_is_digit(text[count])) {
        count++;
    }
    return count;
}

/* Texts with the numbers in them as numbers: "stream 7" before "stream 20". */
static int compare_texts(const char *a, const char *b)
{
    while (*a != '\0' && *b != '\0') {
        if (text_is_digit(*a) && text_is_digit(*b)) {
            a = skip_zeros(a);
            b = skip_zeros(b);
            size_t digits_a = digits_at(a);
            size_t digits_b = digits_at(b);
            if (digits_a != digits_b) {
                return digits_a < digits_b ? -1 : 1;
            }
        }
        if (*a != *b) {
            break;
        }
        a++;
        b++;
    }
    return (int)(unsigned char)*a - (int)(unsigned char)*b;
}

static int compare_processes(const struct laying *l, uint32_t a, uint32_t b)
{
    if (a == b || a == LAYOUT_NO_PROCESS || b == LAYOUT_NO_PROCESS) {
        return (a > b) - (a < b);
    }
    const struct trace *trace = l->items->trace;
    const struct layout_process *x = &l->layout->processes[a];
    const struct layout_process *y = &l->layout->processes[b];
    const struct trace_track *track_x = &trace->tracks[x->track];
    const struct trace_track *track_y = &trace->tracks[y->track];
    /* What only tells how the recording went has often no sort index, which would put it first. */
    int order = (int)y->has_work - (int)x->has_work;
    order = order != 0 ? order : order_i64(x->sort_index, y->sort_index);
    order = order != 0 ? order : (int)is_device(x) - (int)is_device(y);
    order = order != 0 ? order
                       : compare_ids(track_x->pid_int_valid, track_x->pid_int,
                                     track_y->pid_int_valid, track_y->pid_int);
    order = order != 0 ? order
                       : compare_texts(strtab_text(trace->strings, track_x->pid_text),
                                       strtab_text(trace->strings, track_y->pid_text));
    return order;
}

/* Threads and streams, then what has no thread, then what is joined. */
static int class_of(const struct layout_track *track)
{
    static const int CLASS[] = {[TIMELINE_THREAD] = 0,
                                [TIMELINE_STREAM] = 0,
                                [TIMELINE_ASYNC] = 2,
                                [TIMELINE_COUNTER] = 4,
                                [TIMELINE_GROUP] = 6};
    return CLASS[track->kind] + track->is_joined;
}

static int
compare_tracks(const struct laying *l, const struct layout_track *a, const struct layout_track *b)
{
    const struct trace *trace = l->items->trace;
    const struct trace_track *x = &trace->tracks[l->places->items[a->place].track];
    const struct trace_track *y = &trace->tracks[l->places->items[b->place].track];
    int order = compare_processes(l, a->process, b->process);
    order = order != 0 ? order : class_of(a) - class_of(b);
    if (order != 0 || class_of(a) != 0) {
        return order != 0 ? order : (a->place > b->place) - (a->place < b->place);
    }
    order = order_i64(l->layout->sort_index[a->place], l->layout->sort_index[b->place]);
    order = order != 0 ? order : (int)a->kind - (int)b->kind;
    order = order != 0 ? order
                       : compare_ids(x->tid_int_valid, x->tid_int, y->tid_int_valid, y->tid_int);
    order = order != 0 ? order
                       : compare_texts(strtab_text(trace->strings, x->tid_text),
                                       strtab_text(trace->strings, y->tid_text));
    return order;
}

static int by_position(uint32_t a, uint32_t b, const void *ctx)
{
    const struct laying *l = ctx;
    return compare_tracks(l, &l->layout->tracks[a], &l->layout->tracks[b]);
}

static bool order_tracks(struct laying *l)
{
    struct timeline_layout *layout = l->layout;
    uint32_t count = layout->track_count;
    uint32_t *order = scratch_alloc(count, sizeof *order);
    uint32_t *position = scratch_alloc(count, sizeof *position);
    struct layout_track *tracks = scratch_alloc(count, sizeof *tracks);
    bool ok = order != NULL && position != NULL && tracks != NULL;
    for (uint32_t i = 0; ok && i < count; i++) {
        order[i] = i;
    }
    ok = ok && sort_stable(order, count, by_position, l);
    for (uint32_t i = 0; ok && i < count; i++) {
        tracks[i] = layout->tracks[order[i]];
        position[order[i]] = i;
    }
    for (uint32_t i = 0; ok && i < l->places->count; i++) {
        uint32_t *track = &layout->track_of[i];
        *track = *track == PLACE_NONE ? PLACE_NONE : position[*track];
    }
    if (ok) {
        scratch_free(layout->tracks);
        layout->tracks = tracks;
        tracks = NULL;
    }
    SCRATCH_FREE(order, position, tracks);
    return ok;
}

/* ---- events track by track ---- */

/* Of counters that share a track each has lanes of its own. */
static bool find_lanes(struct laying *l)
{
    struct timeline_layout *layout = l->layout;
    uint32_t *lanes = scratch_calloc(layout->track_count, sizeof *lanes);
    if (lanes == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < l->places->count; i++) {
        uint32_t number = layout->track_of[i];
        if (number != PLACE_NONE) {
            layout->lane_base[i] = lanes[number];
            lanes[number] += l->places->items[i].series_count;
            lanes[number] = lanes[number] < TIMELINE_LANES_MAX ? lanes[number] : TIMELINE_LANES_MAX;
        }
    }
    scratch_free(lanes);
    return true;
}

/* Where no track has several places, the events of each stand together already. */
static void find_parts(struct laying *l)
{
    struct timeline_layout *layout = l->layout;
    for (uint32_t t = 0; t < layout->track_count; t++) {
        const struct timeline_place *place = &l->places->items[layout->tracks[t].place];
        layout->tracks[t].first = place->first;
        layout->tracks[t].count = place->count;
    }
}

static void find_joined_parts(struct laying *l)
{
    struct timeline_layout *layout = l->layout;
    uint32_t total = 0;
    for (uint32_t i = 0; i < l->places->count; i++) {
        if (layout->track_of[i] != PLACE_NONE) {
            layout->tracks[layout->track_of[i]].count += l->places->items[i].count;
        }
    }
    for (uint32_t t = 0; t < layout->track_count; t++) {
        layout->tracks[t].first = total;
        total += layout->tracks[t].count;
        layout->tracks[t].count = 0;
    }
}

static bool gather_events(struct laying *l, uint32_t **order)
{
    struct timeline_layout *layout = l->layout;
    uint32_t event_count = l->items->trace->events.count;
    uint32_t *gathered = scratch_alloc(event_count, sizeof *gathered);
    bool ok = gathered != NULL;
    find_joined_parts(l);
    for (uint32_t i = 0; ok && i < l->places->count; i++) {
        const struct timeline_place *place = &l->places->items[i];
        if (layout->track_of[i] != PLACE_NONE) {
            struct layout_track *track = &layout->tracks[layout->track_of[i]];
            memcpy(gathered + track->first + track->count, *order + place->first,
                   place->count * sizeof *gathered);
            track->count += place->count;
        }
    }
    for (uint32_t t = 0; ok && t < layout->track_count; t++) {
        const struct layout_track *track = &layout->tracks[t];
        ok = !track->is_joined ||
             timeline_order_events(l->items, gathered + track->first, track->count);
    }
    scratch_free(ok ? *order : gathered);
    *order = ok ? gathered : *order;
    return ok;
}

static bool keep_places(struct laying *l)
{
    size_t count = l->items->trace->events.count;
    l->places->of_event = scratch_alloc(count, sizeof *l->places->of_event);
    if (l->places->of_event != NULL) {
        memcpy(l->places->of_event, l->items->by_event, count * sizeof *l->places->of_event);
    }
    return l->places->of_event != NULL;
}

static bool arrange_events(struct laying *l, uint32_t **order)
{
    if (!find_lanes(l)) {
        return false;
    }
    if (l->layout->joined_count > 0) {
        return keep_places(l) && gather_events(l, order);
    }
    find_parts(l);
    return true;
}

bool timeline_layout_find(struct timeline_layout *layout,
                          const struct timeline_items *items,
                          struct timeline_places *places,
                          uint32_t **order)
{
    struct laying l = {.layout = layout, .items = items, .places = places};
    *layout = (struct timeline_layout){
        .process_of = scratch_alloc(places->count, sizeof *layout->process_of),
        .lane_base = scratch_calloc(places->count, sizeof *layout->lane_base),
        .thread_name = scratch_none(places->count),
        .sort_index = scratch_calloc(places->count, sizeof *layout->sort_index)};
    key_map_init(&l.processes);
    bool ok = layout->process_of != NULL && layout->lane_base != NULL &&
              layout->thread_name != NULL && layout->sort_index != NULL && find_processes(&l) &&
              read_labels(&l) && timeline_join(layout, items, places, *order) && order_tracks(&l);
    ok = ok && arrange_events(&l, order);
    key_map_free(&l.processes);
    return ok;
}

void timeline_layout_free(struct timeline_layout *layout)
{
    SCRATCH_FREE(layout->processes, layout->process_of, layout->track_of, layout->lane_base,
                 layout->thread_name, layout->sort_index, layout->tracks);
    *layout = (struct timeline_layout){0};
}

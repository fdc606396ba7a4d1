#include "ingest/analysis/slices/slices.h"

#include "ingest/base/containers/key_map.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/saturating.h"
#include "ingest/index/sort.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX
#define OPEN (-1) /* the duration of a begin or an end without its partner */

/* Slices stand in file order, side by side in columns. */
struct analysis {
    const struct trace *trace;
    enum slices_group by;
    struct key_map tracks; /* pid and tid by track number */
    uint32_t *track_of;    /* by track of the trace */
    uint32_t count;
    uint32_t *event; /* the complete event, or the begin */
    int64_t *start_ns;
    int64_t *dur_ns;
    uint32_t *track;
    uint32_t *group;
    uint32_t *order;      /* slices by start, the longer first, then in file order */
    uint32_t *group_text; /* by group: what it is named after, a string id or a track number */
    uint32_t group_count;
    struct slices_row *rows; /* by group */
};

/* ---- slices ---- */

static bool number_tracks(struct analysis *run)
{
    const struct trace *trace = run->trace;
    run->track_of = scratch_alloc(trace->track_count, sizeof *run->track_of);
    bool ok = run->track_of != NULL;
    for (uint32_t i = 0; ok && i < trace->track_count; i++) {
        const struct key key = {{trace->tracks[i].pid_text, trace->tracks[i].tid_text, 0, 0}};
        run->track_of[i] = key_map_add(&run->tracks, key);
        ok = run->track_of[i] != KEY_MAP_NONE;
    }
    return ok;
}

static bool makes_slices(const struct trace_events *events, uint32_t event)
{
    char phase = trace_phase(events, event);
    return (phase == 'X' || phase == 'B' || phase == 'E') &&
           (trace_flags(events, event) & EVENT_NO_TS) == 0;
}

/* Complete events, begins and ends. */
static bool list_slices(struct analysis *run)
{
    const struct trace_events *events = &run->trace->events;
    size_t count = 0;
    for (uint32_t i = 0; i < events->count; i++) {
        count += makes_slices(events, i);
    }
    run->event = scratch_alloc(count, sizeof *run->event);
    run->start_ns = scratch_alloc(count, sizeof *run->start_ns);
    run->dur_ns = scratch_alloc(count, sizeof *run->dur_ns);
    run->track = scratch_alloc(count, sizeof *run->track);
    if (run->event == NULL || run->start_ns == NULL || run->dur_ns == NULL || run->track == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < events->count; i++) {
        if (makes_slices(events, i)) {
            uint32_t slice = run->count++;
            run->event[slice] = i;
            run->start_ns[slice] = events->ts_ns[i];
            run->dur_ns[slice] = trace_phase(events, i) == 'X' ? trace_dur_ns(events, i) : OPEN;
            run->track[slice] = run->track_of[trace_event_track(events, i)];
        }
    }
    return true;
}

/* `below`: of an open begin the one that was open before it on its track. */
static void pair_ends(
    struct analysis *run, const uint32_t *marks, uint32_t count, uint32_t *top, uint32_t *below)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t mark = marks[i];
        uint32_t *open = &top[run->track[mark]];
        if (trace_phase(&run->trace->events, run->event[mark]) == 'B') {
            below[mark] = *open;
            *open = mark;
        } else if (*open != NONE) {
            run->dur_ns[*open] = saturating_sub(run->start_ns[mark], run->start_ns[*open]);
            *open = below[*open];
        }
    }
}

static void drop_open(struct analysis *run)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < run->count; i++) {
        if (run->dur_ns[i] != OPEN) {
            run->event[kept] = run->event[i];
            run->start_ns[kept] = run->start_ns[i];
            run->dur_ns[kept] = run->dur_ns[i];
            run->track[kept++] = run->track[i];
        }
    }
    run->count = kept;
}

static bool close_pairs(struct analysis *run)
{
    uint32_t *marks = scratch_alloc(run->count, sizeof *marks);
    uint32_t *below = scratch_alloc(run->count, sizeof *below);
    uint32_t *top = scratch_none(run->tracks.count);
    uint32_t count = 0;
    bool ok = marks != NULL && below != NULL && top != NULL;
    for (uint32_t i = 0; ok && i < run->count; i++) {
        marks[count] = i;
        count += run->dur_ns[i] == OPEN;
    }
    ok = ok && sort_by_key(marks, count, run->start_ns);
    if (ok) {
        pair_ends(run, marks, count, top, below);
        drop_open(run);
    }
    SCRATCH_FREE(marks, below, top);
    return ok;
}

/* Both sorts keep the order of equal keys. */
static bool order_slices(struct analysis *run)
{
    int64_t *shortness = scratch_alloc(run->count, sizeof *shortness);
    run->order = scratch_alloc(run->count, sizeof *run->order);
    bool ok = shortness != NULL && run->order != NULL;
    for (uint32_t i = 0; ok && i < run->count; i++) {
        shortness[i] = -run->dur_ns[i];
        run->order[i] = i;
    }
    ok = ok && sort_by_key(run->order, run->count, shortness) &&
         sort_by_key(run->order, run->count, run->start_ns);
    scratch_free(shortness);
    return ok;
}

/* ---- groups ---- */

/* A string id, or the track. */
static uint32_t text_of(const struct analysis *run, uint32_t slice)
{
    const struct trace_events *events = &run->trace->events;
    switch (run->by) {
    case SLICES_BY_NAME:
        return events->name[run->event[slice]];
    case SLICES_BY_CATEGORY:
        return run->trace->categories[trace_category(events, run->event[slice])];
    case SLICES_BY_TRACK:
        break;
    }
    return run->track[slice];
}

static bool group_slices(struct analysis *run)
{
    size_t texts = strtab_count(run->trace->strings);
    size_t count = texts > run->tracks.count ? texts : run->tracks.count;
    uint32_t *number = scratch_none(count);
    run->group = scratch_alloc(run->count, sizeof *run->group);
    run->group_text = scratch_alloc(count, sizeof *run->group_text);
    bool ok = number != NULL && run->group != NULL && run->group_text != NULL;
    for (uint32_t i = 0; ok && i < run->count; i++) {
        uint32_t text = text_of(run, i);
        if (number[text] == NONE) {
            run->group_text[run->group_count] = text;
            number[text] = run->group_count++;
        }
        run->group[i] = number[text];
    }
    scratch_free(number);
    return ok;
}

/* ---- figures ---- */

static void count_slice(struct slices_row *row, int64_t dur_ns)
{
    row->min_ns = row->count == 0 || dur_ns < row->min_ns ? dur_ns : row->min_ns;
    row->max_ns = dur_ns > row->max_ns ? dur_ns : row->max_ns;
    row->count++;
    row->total_ns = saturating_add(row->total_ns, dur_ns);
    row->self_ns = saturating_add(row->self_ns, dur_ns);
}

/* Takes the time of slices, in order, from the one around each on its track [DEV-5b]; where two of
 * them cross, what both cover once. */
static bool subtract_children(struct analysis *run)
{
    uint32_t *top = scratch_none(run->tracks.count);
    uint32_t *below = scratch_alloc(run->count, sizeof *below);
    int64_t *covered_to_ns = scratch_alloc(run->count, sizeof *covered_to_ns);
    bool ok = top != NULL && below != NULL && covered_to_ns != NULL;
    for (uint32_t i = 0; ok && i < run->count; i++) {
        uint32_t slice = run->order[i];
        uint32_t *around = &top[run->track[slice]];
        int64_t end_ns = run->start_ns[slice] + run->dur_ns[slice];
        while (*around != NONE) {
            int64_t around_end_ns = run->start_ns[*around] + run->dur_ns[*around];
            if (around_end_ns > run->start_ns[slice] && around_end_ns >= end_ns) {
                struct slices_row *parent = &run->rows[run->group[*around]];
                int64_t from_ns = i64_max(covered_to_ns[*around], run->start_ns[slice]);
                if (end_ns > from_ns) {
                    parent->self_ns = saturating_sub(parent->self_ns, end_ns - from_ns);
                    covered_to_ns[*around] = end_ns;
                }
                break;
            }
            *around = below[*around];
        }
        below[slice] = *around;
        covered_to_ns[slice] = run->start_ns[slice];
        *around = slice;
    }
    SCRATCH_FREE(top, below, covered_to_ns);
    return ok;
}

static bool measure_busy(struct analysis *run, struct slices *out)
{
    int64_t *end_ns = scratch_alloc(run->group_count, sizeof *end_ns);
    int64_t last_ns = INT64_MIN;
    for (uint32_t i = 0; end_ns != NULL && i < run->group_count; i++) {
        end_ns[i] = INT64_MIN;
    }
    for (uint32_t i = 0; end_ns != NULL && i < run->count; i++) {
        uint32_t slice = run->order[i];
        uint32_t group = run->group[slice];
        int64_t from_ns =
            run->start_ns[slice] > end_ns[group] ? run->start_ns[slice] : end_ns[group];
        int64_t to_ns = run->start_ns[slice] + run->dur_ns[slice];
        if (to_ns > from_ns) {
            run->rows[group].busy_ns =
                saturating_add(run->rows[group].busy_ns, saturating_sub(to_ns, from_ns));
        }
        end_ns[group] = to_ns > end_ns[group] ? to_ns : end_ns[group];
        last_ns = to_ns > last_ns ? to_ns : last_ns;
    }
    out->duration_ns = run->count == 0 ? 0 : saturating_sub(last_ns, run->start_ns[run->order[0]]);
    scratch_free(end_ns);
    return end_ns != NULL;
}

/* Puts durations and groups in another order: the last figures. */
static bool measure_percentiles(struct analysis *run)
{
    int64_t *counts = scratch_alloc(run->group_count, sizeof *counts);
    struct percentiles *found = scratch_alloc(run->group_count, sizeof *found);
    bool ok = counts != NULL && found != NULL;
    for (uint32_t i = 0; ok && i < run->group_count; i++) {
        counts[i] = run->rows[i].count;
    }
    ok = ok &&
         percentiles_by_group(run->dur_ns, run->group, run->count, counts, run->group_count, found);
    for (uint32_t i = 0; ok && i < run->group_count; i++) {
        run->rows[i].duration = found[i];
    }
    SCRATCH_FREE(counts, found);
    return ok;
}

static bool measure(struct analysis *run, struct arena *arena, struct slices *out)
{
    run->rows = arena_calloc(arena, (size_t)run->group_count + 1, sizeof *run->rows);
    for (uint32_t i = 0; run->rows != NULL && i < run->count; i++) {
        count_slice(&run->rows[run->group[i]], run->dur_ns[i]);
    }
    return run->rows != NULL && subtract_children(run) && measure_busy(run, out) &&
           measure_percentiles(run);
}

/* ---- names ---- */

static const char *copy_text(const struct analysis *run, uint32_t text, struct arena *arena)
{
    const struct strtab *strings = run->trace->strings;
    return arena_strndup(arena, strtab_text(strings, text), strtab_len(strings, text));
}

/* String ids of what the file names processes, by string id of the pid, and threads, by track. */
struct track_names {
    uint32_t *process, *thread;
};

/* The last name counts. */
static bool read_names(struct analysis *run, struct track_names *names)
{
    const struct trace *trace = run->trace;
    uint32_t process_name = strtab_find(trace->strings, "process_name", strlen("process_name"));
    uint32_t thread_name = strtab_find(trace->strings, "thread_name", strlen("thread_name"));
    names->process = scratch_none(strtab_count(trace->strings));
    names->thread = scratch_none(run->tracks.count);
    if (names->process == NULL || names->thread == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < trace->label_count; i++) {
        const struct trace_label *label = &trace->labels[i];
        if (label->kind_name == process_name) {
            names->process[trace->tracks[label->track].pid_text] = label->label;
        } else if (label->kind_name == thread_name) {
            names->thread[run->track_of[label->track]] = label->label;
        }
    }
    return true;
}

static const char *name_or(const char *name, const char *number)
{
    return name == NULL || name[0] == '\0' ? number : name;
}

static const char *join_names(const char *process, const char *thread, struct arena *arena)
{
    size_t size = strlen(process) + strlen(thread) + sizeof " / ";
    char *text = arena_alloc(arena, size);
    if (text != NULL) {
        (void)snprintf(text, size, "%s / %s", process, thread);
    }
    return text;
}

static bool name_track(const struct analysis *run,
                       const struct track_names *names,
                       uint32_t track,
                       struct arena *arena,
                       struct slices_row *row)
{
    const uint32_t *ids = run->tracks.keys[track].id;
    uint32_t process = names->process[ids[0]];
    uint32_t thread = names->thread[track];
    row->pid = copy_text(run, ids[0], arena);
    row->tid = copy_text(run, ids[1], arena);
    row->process_name = process == NONE ? NULL : copy_text(run, process, arena);
    row->thread_name = thread == NONE ? NULL : copy_text(run, thread, arena);
    if (row->pid == NULL || row->tid == NULL || (process != NONE && row->process_name == NULL) ||
        (thread != NONE && row->thread_name == NULL)) {
        return false;
    }
    row->key = join_names(name_or(row->process_name, row->pid), name_or(row->thread_name, row->tid),
                          arena);
    return row->key != NULL;
}

static bool name_tracks(struct analysis *run, struct arena *arena)
{
    struct track_names names = {NULL, NULL};
    bool ok = read_names(run, &names);
    for (uint32_t i = 0; ok && i < run->group_count; i++) {
        ok = name_track(run, &names, run->group_text[i], arena, &run->rows[i]);
    }
    SCRATCH_FREE(names.process, names.thread);
    return ok;
}

static bool name_rows(struct analysis *run, struct arena *arena)
{
    if (run->by == SLICES_BY_TRACK) {
        return name_tracks(run, arena);
    }
    for (uint32_t i = 0; i < run->group_count; i++) {
        run->rows[i].key = copy_text(run, run->group_text[i], arena);
        if (run->rows[i].key == NULL) {
            return false;
        }
    }
    return true;
}

static int compare_rows(const void *left, const void *right)
{
    const struct slices_row *a = left;
    const struct slices_row *b = right;
    if (a->total_ns != b->total_ns) {
        return a->total_ns < b->total_ns ? 1 : -1;
    }
    int order = strcmp(a->pid == NULL ? a->key : a->pid, b->pid == NULL ? b->key : b->pid);
    return order != 0 || a->tid == NULL ? order : strcmp(a->tid, b->tid);
}

/* ---- all ---- */

static void end(struct analysis *run)
{
    key_map_free(&run->tracks);
    SCRATCH_FREE(run->track_of, run->event, run->start_ns, run->dur_ns, run->track, run->group,
                 run->order, run->group_text);
}

bool slices_analyse(const struct trace *trace,
                    enum slices_group by,
                    struct arena *arena,
                    struct slices *out)
{
    struct analysis run = {.trace = trace, .by = by};
    *out = (struct slices){.count = 0};
    key_map_init(&run.tracks);
    bool ok = number_tracks(&run) && list_slices(&run) && close_pairs(&run) && order_slices(&run) &&
              group_slices(&run) && measure(&run, arena, out) && name_rows(&run, arena);
    if (ok) {
        qsort(run.rows, run.group_count, sizeof *run.rows, compare_rows);
        out->rows = run.rows;
        out->count = run.group_count;
        out->slice_count = run.count;
    }
    end(&run);
    return ok;
}

/* ---- the rows as a table ---- */

#define TABLE_DEF "ingest/model/tables/trace/slices.def"
#define TABLE_ROW struct slices_row
#include "ingest/model/tables/describe.h"

/* What tracks are called. */
#include "ingest/analysis/timeline/layout.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/text/buf.h"
#include "ingest/base/text/utf8.h"

#include <inttypes.h>
#include <string.h>

/* Longer texts are cut: a track's name is to be read. */
#define TEXT_BYTES ((size_t)256)
#define LABEL_BYTES_MAX ((size_t)4096)
#define DEVICE_CPU 0
#define DEVICE_CUDA 1
#define DEVICE_HIP 6
#define THOUSAND 1000u

struct writing {
    const struct timeline_layout *layout;
    const struct trace *trace;
    const struct timeline_places *places;
    bool mlu;
    const char *device_word; /* what the maker calls a device */
    struct arena *arena;
    const char **process_labels; /* by process; NULL until written, as are the following ones */
    const char **process_pids;
    struct buf text;
};

static const char *keep(struct writing *w)
{
    const char *kept = w->text.failed ? NULL : arena_strndup(w->arena, w->text.ptr, w->text.len);
    buf_clear(&w->text);
    return kept;
}

static void put_text(struct writing *w, uint32_t id)
{
    const char *text = strtab_text(w->trace->strings, id);
    size_t len = strtab_len(w->trace->strings, id);
    size_t cut = len > TEXT_BYTES ? utf8_cut(text, TEXT_BYTES) : len;
    while (cut > 0 && text[cut - 1] == ' ') {
        cut--;
    }
    buf_append(&w->text, text, cut);
}

static const char *text_of(struct writing *w, uint32_t id)
{
    put_text(w, id);
    return keep(w);
}

static bool is_empty(const struct writing *w, uint32_t id)
{
    return id == STRTAB_NONE || strtab_len(w->trace->strings, id) == 0;
}

/* A name, and the number that it stands for unless it tells it. */
static void put_name(struct writing *w, uint32_t name, uint32_t number)
{
    const char *number_text = strtab_text(w->trace->strings, number);
    put_text(w, name);
    if (strstr(strtab_text(w->trace->strings, name), number_text) == NULL) {
        buf_puts(&w->text, " (");
        put_text(w, number);
        buf_putc(&w->text, ')');
    }
}

static const char *process_label(struct writing *w, const struct layout_process *process)
{
    const struct trace_track *track = &w->trace->tracks[process->track];
    bool is_device = process->has_streams && !process->has_threads;
    bool has_labels = !is_empty(w, process->labels);
    /* "GPU 0" says all, even where stray frames of Python share the number of the device. */
    if (has_labels && process->has_streams) {
        put_text(w, process->labels);
        return keep(w);
    }
    if (has_labels) {
        put_text(w, process->labels);
        buf_puts(&w->text, ": ");
    }
    if (!is_empty(w, process->name)) {
        put_name(w, process->name, track->pid_text);
    } else if (is_empty(w, track->pid_text)) {
        buf_puts(&w->text, "unnamed process");
    } else if (track->pid_int_valid) {
        buf_puts(&w->text, is_device ? w->device_word : "process");
        buf_putc(&w->text, ' ');
        put_text(w, track->pid_text);
    } else {
        put_text(w, track->pid_text);
    }
    return keep(w);
}

static bool write_process(struct writing *w, uint32_t number, struct timeline_track *out)
{
    if (number == LAYOUT_NO_PROCESS) {
        out->process = "more processes";
        return true;
    }
    const struct layout_process *process = &w->layout->processes[number];
    if (w->process_labels[number] == NULL) {
        w->process_labels[number] = process_label(w, process);
        w->process_pids[number] = text_of(w, w->trace->tracks[process->track].pid_text);
    }
    out->process = w->process_labels[number];
    out->pid = w->process_pids[number];
    return out->process != NULL && out->pid != NULL;
}

static void put_thread(struct writing *w, uint32_t place)
{
    const struct trace_track *track = &w->trace->tracks[w->places->items[place].track];
    bool is_stream = w->places->items[place].kind == TIMELINE_STREAM;
    const char *sort = is_stream ? "stream" : "thread";
    uint32_t name = w->layout->thread_name[place];
    if (!is_empty(w, name)) {
        put_name(w, name, track->tid_text);
    } else if (is_empty(w, track->tid_text)) {
        buf_printf(&w->text, "unnamed %s", sort);
    } else {
        if (track->tid_int_valid) {
            buf_printf(&w->text, "%s ", sort);
        }
        put_text(w, track->tid_text);
    }
}

static void put_memory(struct writing *w, const struct timeline_place *place)
{
    buf_puts(&w->text, "Memory");
    if (place->device_type == DEVICE_CPU) {
        buf_puts(&w->text, " of CPU");
    } else if (place->device_type == DEVICE_CUDA || place->device_type == DEVICE_HIP || w->mlu) {
        buf_printf(&w->text, " of %s", w->device_word);
    } else {
        buf_puts(&w->text, " of device");
    }
    if (place->id != TRACE_NO_ID) {
        buf_printf(&w->text, " %" PRId64, place->id);
    }
}

static void put_counter(struct writing *w, const struct timeline_place *place)
{
    if (place->is_memory) {
        put_memory(w, place);
        return;
    }
    put_text(w, place->name);
    /* Negative ids stand for texts. */
    if (place->id >= 0) {
        buf_printf(&w->text, " (%" PRId64 ")", place->id);
    }
}

static void put_count(struct writing *w, uint32_t count)
{
    if (count >= THOUSAND) {
        put_count(w, count / THOUSAND);
        buf_printf(&w->text, ",%03u", count % THOUSAND);
    } else {
        buf_printf(&w->text, "%u", count);
    }
}

static const char *track_label(struct writing *w, const struct layout_track *track)
{
    const struct timeline_place *place = &w->places->items[track->place];
    bool is_counter = place->kind == TIMELINE_COUNTER;
    if (track->is_joined) {
        put_count(w, track->member_count);
        buf_puts(&w->text, is_counter ? " more counters" : " more threads");
    } else if (is_counter) {
        put_counter(w, place);
    } else if (place->kind == TIMELINE_ASYNC) {
        put_text(w, place->name);
    } else {
        put_thread(w, track->place);
    }
    return keep(w);
}

static bool
write_track(struct writing *w, const struct layout_track *track, struct timeline_track *out)
{
    const struct timeline_place *place = &w->places->items[track->place];
    bool is_thread = place->kind == TIMELINE_THREAD || place->kind == TIMELINE_STREAM;
    *out = (struct timeline_track){.kind = track->kind, .member_count = track->member_count};
    out->label = track_label(w, track);
    bool ok = out->label != NULL && write_process(w, track->process, out);
    if (ok && is_thread && !track->is_joined) {
        out->tid = text_of(w, w->trace->tracks[place->track].tid_text);
        ok = out->tid != NULL;
    }
    return ok;
}

/* ---- series ---- */

/* Where a place's series stands; false when it shares the last lane with others. */
static bool
series_lane(const struct writing *w, uint32_t place, uint32_t lane, uint32_t *track, uint32_t *at)
{
    uint32_t base = w->layout->lane_base[place];
    *track = w->layout->track_of[place];
    *at = base + lane;
    return *track != PLACE_NONE && *at < TIMELINE_LANES_MAX;
}

static bool name_series(struct writing *w,
                        struct timeline_track *tracks,
                        const char **const *names,
                        uint32_t place,
                        uint32_t lane)
{
    const struct timeline_place *item = &w->places->items[place];
    uint32_t number;
    uint32_t at;
    if (!series_lane(w, place, lane, &number, &at)) {
        buf_clear(&w->text);
        return true;
    }
    struct buf series = w->text;
    if (tracks[number].member_count > 1) {
        buf_init(&w->text, LABEL_BYTES_MAX);
        put_counter(w, item);
        buf_puts(&w->text, ": ");
        buf_append(&w->text, series.ptr, series.len);
        buf_free(&series);
    }
    names[number][at] = keep(w);
    return names[number][at] != NULL;
}

/* Of a memory place. */
static bool name_memory(struct writing *w,
                        struct timeline_track *tracks,
                        const char **const *names,
                        uint32_t place)
{
    const struct timeline_place *item = &w->places->items[place];
    buf_puts(&w->text, item->has_totals ? "Allocated" : "Allocated since the start");
    bool ok = name_series(w, tracks, names, place, PLACE_MEMORY_ALLOCATED);
    if (ok && item->series_count > PLACE_MEMORY_RESERVED) {
        buf_puts(&w->text, "Reserved");
        ok = name_series(w, tracks, names, place, PLACE_MEMORY_RESERVED);
    }
    return ok;
}

static bool name_all(struct writing *w, struct timeline_track *tracks, const char **const *names)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < w->places->series.count; i++) {
        const struct key *key = &w->places->series.keys[i];
        put_text(w, key->id[1]);
        ok = name_series(w, tracks, names, key->id[0], w->places->series_lane[i]);
    }
    for (uint32_t i = 0; ok && i < w->places->count; i++) {
        ok = !w->places->items[i].is_memory || name_memory(w, tracks, names, i);
    }
    return ok;
}

static bool write_series(struct writing *w, struct timeline_track *tracks)
{
    const struct timeline_layout *layout = w->layout;
    const char ***names = scratch_calloc(layout->track_count, sizeof *names);
    bool ok = names != NULL;
    for (uint32_t i = 0; i < w->places->count; i++) {
        const struct timeline_place *place = &w->places->items[i];
        if (place->kind == TIMELINE_COUNTER && layout->track_of[i] != PLACE_NONE) {
            struct timeline_track *track = &tracks[layout->track_of[i]];
            uint32_t lanes = track->lane_count + place->series_count;
            track->lane_count = lanes < TIMELINE_LANES_MAX ? lanes : TIMELINE_LANES_MAX;
        }
    }
    for (uint32_t t = 0; ok && t < layout->track_count; t++) {
        if (tracks[t].kind == TIMELINE_COUNTER) {
            names[t] = arena_calloc(w->arena, tracks[t].lane_count, sizeof *names[t]);
            tracks[t].series = names[t];
            ok = names[t] != NULL;
        }
    }
    ok = ok && name_all(w, tracks, (const char **const *)names);
    scratch_free(names);
    return ok;
}

bool timeline_layout_write(const struct timeline_layout *layout,
                           const struct timeline_items *items,
                           const struct timeline_places *places,
                           bool mlu,
                           struct arena *arena,
                           struct timeline_track *tracks)
{
    struct writing w = {
        .layout = layout,
        .trace = items->trace,
        .places = places,
        .mlu = mlu,
        .device_word = trace_device_word(items->trace, mlu),
        .arena = arena,
        .process_labels = scratch_calloc(layout->process_count, sizeof *w.process_labels),
        .process_pids = scratch_calloc(layout->process_count, sizeof *w.process_pids)};
    buf_init(&w.text, LABEL_BYTES_MAX);
    bool ok = w.process_labels != NULL && w.process_pids != NULL;
    for (uint32_t t = 0; ok && t < layout->track_count; t++) {
        ok = write_track(&w, &layout->tracks[t], &tracks[t]);
    }
    ok = ok && write_series(&w, tracks);
    SCRATCH_FREE(w.process_labels, w.process_pids);
    buf_free(&w.text);
    return ok;
}

#include "ingest/formats/sampled_stacks/speedscope.h"

#include "ingest/base/memory/scratch.h"
#include "ingest/base/saturating.h"
#include "ingest/base/text/buf.h"
#include "ingest/formats/json/text.h"
#include "ingest/formats/json/walk.h"
#include "ingest/formats/sampled_stacks/stack_slices.h"

#include <math.h>
#include <string.h>

#define SCHEMA "speedscope.app/file-format-schema.json"
#define NS_MAX 4e18

struct reader {
    struct stack_slices slices;
    uint32_t *frames; /* string ids of the shared frames */
    size_t frame_count, frame_cap;
    double unit_ns; /* of the profile */
};

/* Where the lists of a profile stand. */
enum list { SAMPLES, WEIGHTS, EVENTS, LISTS };

struct profile {
    struct json_walk lists[LISTS];
    bool has[LISTS];
    double start;
};

/* The schema is named at the begin, whatever its key. */
bool speedscope_recognises(const char *window, size_t len)
{
    size_t size = strlen(SCHEMA);
    struct json_walk walk = {.at = window, .end = window + len};
    if (!json_walk_is(&walk, '{')) {
        return false;
    }
    for (const char *at = walk.at; (size_t)(window + len - at) >= size; at++) {
        const char *found = memchr(at, 's', (size_t)(window + len - at) - size + 1);
        if (found == NULL) {
            return false;
        }
        if (memcmp(found, SCHEMA, size) == 0) {
            return true;
        }
        at = found;
    }
    return false;
}

/* ---- values ---- */

static double real(const struct json_value *value, double none)
{
    double number;
    return json_text_double(value, &number) ? number : none;
}

/* Numbers of JavaScript, whose doubles they are. */
static int64_t ns_of(const struct reader *reader, double value)
{
    double ns = value * reader->unit_ns;
    if (!(ns > -NS_MAX && ns < NS_MAX)) {
        return 0;
    }
    return (int64_t)llround(ns);
}

static uint32_t frame_at(const struct reader *reader, int64_t at)
{
    bool is_known = at >= 0 && (uint64_t)at < reader->frame_count;
    return is_known ? reader->frames[at] : STRTAB_NONE;
}

/* ---- frames ---- */

/* "train.py(20): forward", as PyTorch's profiler names a frame. */
static uint32_t name_frame(struct reader *reader,
                           const struct json_value *name,
                           const struct json_value *file,
                           int64_t line)
{
    struct strtab *names = reader->slices.names;
    uint32_t function = stack_slices_json_name(&reader->slices, name);
    uint32_t path = file->kind == JSON_KIND_STRING ? stack_slices_json_name(&reader->slices, file)
                                                   : STRTAB_NONE;
    if (path == STRTAB_NONE || function == STRTAB_NONE || *strtab_text(names, path) == '\0') {
        return function;
    }
    struct buf text;
    buf_init(&text, (size_t)4 << 20);
    buf_printf(&text, "%s(%lld): %s", strtab_text(names, path), (long long)line,
               strtab_text(names, function));
    uint32_t id = text.failed ? function : stack_slices_name(&reader->slices, text.ptr, text.len);
    buf_free(&text);
    return id;
}

static bool take_frame(struct reader *reader, struct json_walk *walk)
{
    struct json_value key;
    struct json_value value;
    struct json_value name = {.ptr = "", .kind = JSON_KIND_NULL};
    struct json_value file = name;
    int64_t line = 0;
    if (!json_walk_enter(walk, '{')) {
        return false;
    }
    while (json_walk_key(walk, &key) && json_walk_value(walk, &value)) {
        name = json_walk_text_is(&key, "name") ? value : name;
        file = json_walk_text_is(&key, "file") ? value : file;
        line = json_walk_text_is(&key, "line") ? json_walk_int(&value, 0) : line;
    }
    uint32_t *grown =
        scratch_grow(reader->frames, reader->frame_count, &reader->frame_cap, sizeof *grown);
    if (grown == NULL) {
        reader->slices.failed = true;
        return false;
    }
    reader->frames = grown;
    grown[reader->frame_count++] = name_frame(reader, &name, &file, line);
    return !walk->failed && !reader->slices.failed;
}

static void read_frames(struct reader *reader, struct json_walk walk)
{
    struct json_value key;
    if (!json_walk_enter(&walk, '{')) {
        return;
    }
    while (json_walk_key(&walk, &key)) {
        if (!json_walk_text_is(&key, "frames") || !json_walk_is(&walk, '[')) {
            if (!json_walk_skip(&walk)) {
                return;
            }
            continue;
        }
        bool ok = json_walk_enter(&walk, '[');
        while (ok && json_walk_item(&walk)) {
            ok = take_frame(reader, &walk);
        }
        return;
    }
}

/* ---- profiles ---- */

static double unit_of(const struct json_value *unit)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {
        {"microseconds", 1e3}, {"milliseconds", 1e6}, {"seconds", 1e9}, {"nanoseconds", 1}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (json_walk_text_is(unit, units[i].name)) {
            return units[i].ns;
        }
    }
    return 1; /* bytes, none */
}

static void take_sample(struct reader *reader, struct json_walk *walk)
{
    uint32_t frames[STACK_DEPTH_MAX + 1];
    struct json_value value;
    size_t count = 0;
    if (!json_walk_enter(walk, '[')) {
        return;
    }
    while (json_walk_item(walk) && json_walk_value(walk, &value)) {
        uint32_t frame = frame_at(reader, json_walk_int(&value, -1));
        if (frame == STRTAB_NONE) {
            reader->slices.unmatched++;
        } else if (count < sizeof frames / sizeof *frames) {
            frames[count++] = frame;
        }
    }
    stack_slices_set(&reader->slices, frames, count);
}

static void read_samples(struct reader *reader, struct profile *profile)
{
    struct stack_slices *slices = &reader->slices;
    struct json_walk *samples = &profile->lists[SAMPLES];
    struct json_walk *weights = &profile->lists[WEIGHTS];
    bool has_weights = profile->has[WEIGHTS] && json_walk_enter(weights, '[');
    if (!json_walk_enter(samples, '[')) {
        return;
    }
    while (json_walk_item(samples) && json_walk_is(samples, '[') && !slices->failed) {
        struct json_value weight;
        int64_t ns = ns_of(reader, 1);
        take_sample(reader, samples);
        if (has_weights && json_walk_item(weights) && json_walk_value(weights, &weight)) {
            ns = ns_of(reader, real(&weight, 0));
        }
        slices->now_ns = saturating_add(slices->now_ns, i64_max(0, ns));
    }
}

static void take_event(struct reader *reader, const struct profile *profile, struct json_walk *walk)
{
    struct json_value key;
    struct json_value value;
    bool opens = false;
    uint32_t frame = STRTAB_NONE;
    double at = profile->start;
    if (!json_walk_enter(walk, '{')) {
        return;
    }
    while (json_walk_key(walk, &key) && json_walk_value(walk, &value)) {
        opens = json_walk_text_is(&key, "type") ? json_walk_text_is(&value, "O") : opens;
        at = json_walk_text_is(&key, "at") ? real(&value, at) : at;
        frame =
            json_walk_text_is(&key, "frame") ? frame_at(reader, json_walk_int(&value, -1)) : frame;
    }
    /* Times of a profile do not go back. */
    reader->slices.now_ns = i64_max(reader->slices.now_ns, ns_of(reader, at - profile->start));
    if (frame == STRTAB_NONE) {
        reader->slices.unmatched++;
    } else if (opens) {
        stack_slices_open(&reader->slices, frame);
    } else {
        stack_slices_close(&reader->slices, frame);
    }
}

static enum list list_of(const struct json_value *key)
{
    static const char *const names[LISTS] = {"samples", "weights", "events"};
    int list = SAMPLES;
    while (list < LISTS && !json_walk_text_is(key, names[list])) {
        list++;
    }
    return (enum list)list;
}

static void find_lists(struct reader *reader, struct json_walk *walk, struct profile *profile)
{
    struct json_value key;
    struct json_value value;
    while (json_walk_key(walk, &key)) {
        enum list list = list_of(&key);
        if (list != LISTS) {
            profile->lists[list] = *walk;
            profile->has[list] = true;
            (void)json_walk_skip(walk);
        } else if (json_walk_value(walk, &value)) {
            bool is_start = json_walk_text_is(&key, "startValue");
            reader->unit_ns = json_walk_text_is(&key, "unit") ? unit_of(&value) : reader->unit_ns;
            profile->start = is_start ? real(&value, 0) : profile->start;
        }
    }
}

static void read_profile(struct reader *reader, struct json_walk *walk)
{
    struct profile profile = {.start = 0};
    struct json_walk *events = &profile.lists[EVENTS];
    reader->unit_ns = 1;
    reader->slices.now_ns = 0;
    if (!json_walk_enter(walk, '{')) {
        return;
    }
    find_lists(reader, walk, &profile);
    if (profile.has[SAMPLES]) {
        read_samples(reader, &profile);
    } else if (profile.has[EVENTS] && json_walk_enter(events, '[')) {
        while (json_walk_item(events) && json_walk_is(events, '{') && !reader->slices.failed) {
            take_event(reader, &profile, events);
        }
    }
    stack_slices_set(&reader->slices, NULL, 0);
    reader->slices.thread++;
}

static void read_profiles(struct reader *reader, struct json_walk walk)
{
    if (json_walk_enter(&walk, '[')) {
        while (json_walk_item(&walk) && json_walk_is(&walk, '{') && !reader->slices.failed) {
            read_profile(reader, &walk);
        }
    }
}

/* ---- the whole ---- */

/* Frames may stand behind the profiles. */
static void read_document(struct reader *reader, const struct whole *whole)
{
    struct json_walk walk = {.at = whole->bytes, .end = whole->bytes + whole->len};
    struct json_walk profiles = {.failed = true};
    struct json_value key;
    bool has_profiles = false;
    bool ok = json_walk_enter(&walk, '{');
    while (ok && json_walk_key(&walk, &key)) {
        if (json_walk_text_is(&key, "shared")) {
            read_frames(reader, walk);
        } else if (json_walk_text_is(&key, "profiles")) {
            profiles = walk;
            has_profiles = true;
        }
        ok = json_walk_skip(&walk);
    }
    if (walk.failed) {
        reader->slices.cut_at = (uint64_t)(walk.at - whole->bytes);
    }
    if (has_profiles) {
        read_profiles(reader, profiles);
    }
}

bool speedscope_read(const struct whole *whole,
                     const struct format_options *options,
                     struct trace **out,
                     struct err *err)
{
    struct reader reader = {.frames = NULL};
    stack_slices_init(&reader.slices, "speedscope");
    read_document(&reader, whole);
    bool ok =
        stack_slices_read(&reader.slices, "the file of speedscope has no stack", options, out, err);
    stack_slices_free(&reader.slices);
    scratch_free(reader.frames);
    return ok;
}

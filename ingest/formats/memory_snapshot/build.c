#include "ingest/formats/memory_snapshot/build.h"

#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"
#include "ingest/base/text/buf.h"
#include "ingest/base/text/json_write.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_BYTES_MAX ((size_t)1 << 20)
#define SETTINGS_BYTES_MAX ((size_t)64 << 10)
#define SETTING_NAME_BYTES 100
#define SETTINGS_MAX 200

struct builder {
    const struct pickle *pickle;
    struct memory_snapshot *out;
    uint32_t *frame_of; /* by container, so that a list that many events share is read once */
    struct buf text;
    uint32_t read_count; /* blocks and events; each is a dictionary of its own */
    bool has_times;
    bool is_repeated; /* there are more of them than dictionaries: one list is told of over and over
                       */
    bool failed;      /* no memory */
};

#define FRAME_UNKNOWN (UINT32_MAX - 1)

/* ---- frames [FMT-4.4] ---- */

/* A frame may lack its file, or have something else there. */
static bool text_begins(const struct pickle_value *text, const char *prefix)
{
    size_t len = strlen(prefix);
    return text != NULL && text->kind == PICKLE_TEXT && text->len >= len &&
           memcmp(text->text, prefix, len) == 0;
}

static bool text_contains(const struct pickle_value *text, const char *part)
{
    size_t len = strlen(part);
    bool is_text = text != NULL && text->kind == PICKLE_TEXT;
    for (size_t i = 0; is_text && i + len <= text->len; i++) {
        if (memcmp(text->text + i, part, len) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_python(const struct pickle_value *file)
{
    return file != NULL && file->kind == PICKLE_TEXT && file->len >= 3 &&
           memcmp(file->text + file->len - 3, ".py", 3) == 0;
}

static bool is_torch(const struct pickle_value *file)
{
    return text_begins(file, "torch/") || text_begins(file, "torch_npu/") ||
           text_contains(file, "/torch/") || text_contains(file, "/torch_npu/");
}

/* torch_npu's own frames say whose memory it is, wherever they stand in the stack [FMT-4.1d]. */
static void look_for_npu(struct builder *b, const struct pickle_container *frames)
{
    for (uint32_t i = 0; !b->out->is_npu && i < frames->count; i++) {
        const struct pickle_value *file = pickle_get(b->pickle, &frames->items[i], "filename");
        b->out->is_npu = text_begins(file, "torch_npu/") || text_contains(file, "/torch_npu/");
    }
}

static void append_value(struct buf *out, const struct pickle_value *value)
{
    if (value != NULL && value->kind == PICKLE_TEXT) {
        buf_append(out, value->text, value->len);
    } else if (value != NULL && value->kind == PICKLE_INT) {
        buf_printf(out, "%" PRId64, value->number);
    } else {
        buf_puts(out, "None");
    }
}

static const struct pickle_value *choose_frame(const struct builder *b,
                                               const struct pickle_container *frames)
{
    const struct pickle_value *first = NULL;
    for (uint32_t i = 0; i < frames->count; i++) {
        const struct pickle_value *file = pickle_get(b->pickle, &frames->items[i], "filename");
        if (!is_python(file)) {
            continue;
        }
        if (!is_torch(file)) {
            return &frames->items[i];
        }
        first = first == NULL ? &frames->items[i] : first;
    }
    return first;
}

static uint32_t intern(struct builder *b)
{
    size_t len = b->text.len < TEXT_BYTES_MAX ? b->text.len : TEXT_BYTES_MAX;
    uint32_t id = b->text.failed ? STRTAB_NONE
                                 : strtab_intern(b->out->texts, len == 0 ? "" : b->text.ptr, len);
    b->failed = b->failed || id == STRTAB_NONE;
    return id;
}

static uint32_t frame_of_list(struct builder *b, const struct pickle_container *frames)
{
    buf_clear(&b->text);
    look_for_npu(b, frames);
    const struct pickle_value *frame = choose_frame(b, frames);
    if (frame == NULL) {
        buf_puts(&b->text, "(no Python frame)");
        return intern(b);
    }
    append_value(&b->text, pickle_get(b->pickle, frame, "filename"));
    buf_putc(&b->text, ':');
    append_value(&b->text, pickle_get(b->pickle, frame, "line"));
    buf_putc(&b->text, ' ');
    append_value(&b->text, pickle_get(b->pickle, frame, "name"));
    return intern(b);
}

static uint32_t frame_of(struct builder *b, const struct pickle_value *value)
{
    const struct pickle_container *frames = pickle_list(b->pickle, value);
    if (frames == NULL || frames->count == 0) {
        return SNAPSHOT_NO_FRAMES;
    }
    uint32_t *known = &b->frame_of[value->container];
    if (*known == FRAME_UNKNOWN) {
        *known = frame_of_list(b, frames);
    }
    return *known;
}

/* So that a small file cannot ask for much. */
static bool may_read(struct builder *b, uint64_t count)
{
    b->is_repeated = b->is_repeated || count > b->pickle->container_count - b->read_count;
    b->read_count += b->is_repeated ? 0 : (uint32_t)count;
    return !b->is_repeated;
}

/* ---- events ---- */

static enum snapshot_action action_of(const struct pickle_value *text)
{
    static const struct {
        const char *name;
        enum snapshot_action action;
    } actions[] = {
        {"alloc", SNAPSHOT_ALLOC},
        {"free_requested", SNAPSHOT_FREE_REQUESTED},
        {"segment_alloc", SNAPSHOT_SEGMENT_GROWS},
        {"segment_map", SNAPSHOT_SEGMENT_GROWS},
        {"segment_free", SNAPSHOT_SEGMENT_SHRINKS},
        {"segment_unmap", SNAPSHOT_SEGMENT_SHRINKS},
        {"oom", SNAPSHOT_OOM},
    };
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
        if (pickle_text_is(text, actions[i].name)) {
            return actions[i].action;
        }
    }
    return SNAPSHOT_OTHER;
}

static void note_time(struct builder *b, int64_t time_us)
{
    struct memory_snapshot *out = b->out;
    if (time_us == SNAPSHOT_NONE) {
        return;
    }
    out->start_us = !b->has_times || time_us < out->start_us ? time_us : out->start_us;
    out->end_us = !b->has_times || time_us > out->end_us ? time_us : out->end_us;
    b->has_times = true;
}

static void
read_event(struct builder *b, const struct pickle_value *value, struct snapshot_event *event)
{
    const struct pickle *pickle = b->pickle;
    *event = (struct snapshot_event){
        .action = (uint8_t)action_of(pickle_get(pickle, value, "action")),
        .addr = pickle_int(pickle_get(pickle, value, "addr"), 0),
        .size = pickle_int(pickle_get(pickle, value, "size"), 0),
        .stream = pickle_int(pickle_get(pickle, value, "stream"), SNAPSHOT_NONE),
        .time_us = pickle_int(pickle_get(pickle, value, "time_us"), SNAPSHOT_NONE),
        .device_free = pickle_int(pickle_get(pickle, value, "device_free"), SNAPSHOT_NONE),
        .frame = frame_of(b, pickle_get(pickle, value, "frames")),
    };
    note_time(b, event->time_us);
}

static bool
read_events(struct builder *b, const struct pickle_container *list, struct snapshot_device *device)
{
    if (!may_read(b, list->count)) {
        return false;
    }
    device->events = scratch_calloc(list->count, sizeof *device->events);
    for (uint32_t i = 0; device->events != NULL && i < list->count; i++) {
        read_event(b, &list->items[i], &device->events[i]);
    }
    device->event_count = device->events == NULL ? 0 : list->count;
    return device->events != NULL;
}

/* ---- segments ---- */

static enum snapshot_state state_of(const struct pickle_value *text)
{
    for (int state = 0; state < SNAPSHOT_STATE_OTHER; state++) {
        if (pickle_text_is(text, snapshot_state_name((enum snapshot_state)state))) {
            return (enum snapshot_state)state;
        }
    }
    return SNAPSHOT_STATE_OTHER;
}

static void read_block(struct builder *b,
                       const struct pickle_value *value,
                       uint32_t segment,
                       struct snapshot_block *block)
{
    const struct pickle *pickle = b->pickle;
    int64_t size = pickle_int(pickle_get(pickle, value, "size"), 0);
    *block = (struct snapshot_block){
        .address = pickle_int(pickle_get(pickle, value, "address"), 0),
        .size = size,
        .requested_size = pickle_int(pickle_get(pickle, value, "requested_size"), size),
        .state = (uint8_t)state_of(pickle_get(pickle, value, "state")),
        .segment = segment,
        .frame = frame_of(b, pickle_get(pickle, value, "frames")),
    };
}

static int64_t device_of(const struct builder *b, const struct pickle_value *segment)
{
    return pickle_int(pickle_get(b->pickle, segment, "device"), 0);
}

static const struct pickle_container *blocks_of(const struct builder *b,
                                                const struct pickle_value *segment)
{
    return pickle_list(b->pickle, pickle_get(b->pickle, segment, "blocks"));
}

static void
read_segment(struct builder *b, const struct pickle_value *value, struct snapshot_device *device)
{
    const struct pickle *pickle = b->pickle;
    const struct pickle_container *blocks = blocks_of(b, value);
    struct snapshot_segment *segment = &device->segments[device->segment_count];
    *segment = (struct snapshot_segment){
        .address = pickle_int(pickle_get(pickle, value, "address"), 0),
        .total_size = pickle_int(pickle_get(pickle, value, "total_size"), 0),
        .allocated_size = pickle_int(pickle_get(pickle, value, "allocated_size"), 0),
        .active_size = pickle_int(pickle_get(pickle, value, "active_size"), 0),
        .stream = pickle_int(pickle_get(pickle, value, "stream"), SNAPSHOT_NONE),
        .first_block = device->block_count,
        .block_count = blocks == NULL ? 0 : blocks->count,
    };
    for (uint32_t i = 0; i < segment->block_count; i++) {
        read_block(b, &blocks->items[i], device->segment_count,
                   &device->blocks[device->block_count++]);
    }
    device->segment_count++;
}

/* ---- devices ---- */

/* Segments of the file by device, in the order of the file. */
struct placed {
    int64_t device;
    uint32_t segment;
};

ORDER_BY(by_device, struct placed, ORDER_UP(device), ORDER_UP(segment))

static struct snapshot_device *add_device(struct builder *b, size_t *cap, int64_t id)
{
    struct memory_snapshot *out = b->out;
    struct snapshot_device *grown =
        scratch_grow(out->devices, out->device_count, cap, sizeof *grown);
    if (grown == NULL) {
        return NULL;
    }
    out->devices = grown;
    grown[out->device_count] = (struct snapshot_device){.id = id};
    return &grown[out->device_count++];
}

static uint64_t count_blocks(struct builder *b,
                             const struct pickle_container *segments,
                             const struct placed *placed,
                             size_t count)
{
    uint64_t blocks = 0;
    for (size_t i = 0; i < count; i++) {
        const struct pickle_container *list = blocks_of(b, &segments->items[placed[i].segment]);
        blocks += list == NULL ? 0 : list->count;
    }
    return blocks;
}

static bool read_segments(struct builder *b,
                          const struct pickle_container *segments,
                          const struct placed *placed,
                          size_t count,
                          struct snapshot_device *device)
{
    uint64_t blocks = count_blocks(b, segments, placed, count);
    if (!may_read(b, blocks)) {
        return false;
    }
    device->segments = scratch_calloc(count, sizeof *device->segments);
    device->blocks = scratch_calloc((size_t)blocks, sizeof *device->blocks);
    if (device->segments == NULL || device->blocks == NULL) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        read_segment(b, &segments->items[placed[i].segment], device);
    }
    return true;
}

/* Devices that have segments come by number; those with events alone, by their place in the list of
 * histories. */
static bool read_devices(struct builder *b,
                         const struct pickle_container *segments,
                         const struct placed *placed,
                         const struct pickle_container *histories)
{
    size_t cap = 0;
    size_t next = 0;
    uint32_t history = 0;
    uint32_t history_count = histories == NULL ? 0 : histories->count;
    bool ok = true;
    while (ok && (next < segments->count || history < history_count)) {
        bool has_segments =
            next < segments->count && (history >= history_count || placed[next].device <= history);
        int64_t id = has_segments ? placed[next].device : history;
        size_t first = next;
        while (next < segments->count && placed[next].device == id) {
            next++;
        }
        const struct pickle_container *events = NULL;
        if (history < history_count && history == id) {
            events = pickle_list(b->pickle, &histories->items[history++]);
        }
        bool has_events = events != NULL && events->count > 0;
        if (first == next && !has_events) {
            continue;
        }
        struct snapshot_device *device = add_device(b, &cap, id);
        ok = device != NULL && read_segments(b, segments, placed + first, next - first, device) &&
             (!has_events || read_events(b, events, device));
    }
    return ok;
}

static bool read_all(struct builder *b,
                     const struct pickle_container *segments,
                     const struct pickle_container *histories)
{
    struct placed *placed = scratch_alloc(segments->count, sizeof *placed);
    for (uint32_t i = 0; placed != NULL && i < segments->count; i++) {
        placed[i] = (struct placed){device_of(b, &segments->items[i]), i};
    }
    if (placed != NULL) {
        qsort(placed, segments->count, sizeof *placed, by_device);
    }
    bool ok = placed != NULL && read_devices(b, segments, placed, histories);
    scratch_free(placed);
    return ok;
}

/* ---- settings ---- */

static void write_value(struct json_write *w, const struct pickle_value *value)
{
    switch (value->kind) {
    case PICKLE_BOOL:
        jw_bool(w, value->number != 0);
        break;
    case PICKLE_INT:
        jw_int(w, value->number);
        break;
    case PICKLE_REAL:
        jw_double(w, value->real);
        break;
    case PICKLE_TEXT:
        jw_string_n(w, value->text, value->len);
        break;
    default:
        jw_null(w);
        break;
    }
}

/* False: the member is not of the wanted kind, a dictionary or a plain value, and nothing is
 * written. */
static bool write_key(struct json_write *w, const struct pickle_value *member, bool wants_dict)
{
    char name[SETTING_NAME_BYTES];
    bool fits = wants_dict ? member[1].kind == PICKLE_DICT : member[1].kind < PICKLE_LIST;
    if (!fits || member->kind != PICKLE_TEXT || member->len >= sizeof name) {
        return false;
    }
    memcpy(name, member->text, member->len);
    name[member->len] = '\0';
    jw_key(w, name);
    return true;
}

static void write_plain(struct json_write *w, const struct pickle_container *items, uint32_t at)
{
    if (write_key(w, &items->items[at], false)) {
        write_value(w, &items->items[at + 1]);
    }
}

/* Plain members, and those of one level of dictionaries (roundup_power2_divisions). */
static bool read_settings(struct builder *b, const struct pickle_value *settings)
{
    struct buf text;
    struct json_write w;
    size_t len;
    if (settings == NULL || settings->kind != PICKLE_DICT) {
        return true;
    }
    buf_init(&text, SETTINGS_BYTES_MAX);
    jw_init(&w, &text, false);
    jw_object_begin(&w);
    const struct pickle_container *items = &b->pickle->containers[settings->container];
    for (uint32_t i = 0; i + 1 < items->count && i / 2 < SETTINGS_MAX; i += 2) {
        write_plain(&w, items, i);
        if (write_key(&w, &items->items[i], true)) {
            const struct pickle_container *inner =
                &b->pickle->containers[items->items[i + 1].container];
            jw_object_begin(&w);
            for (uint32_t k = 0; k + 1 < inner->count && k / 2 < SETTINGS_MAX; k += 2) {
                write_plain(&w, inner, k);
            }
            jw_object_end(&w);
        }
    }
    jw_object_end(&w);
    b->out->settings = text.failed ? NULL : buf_take(&text, &len);
    buf_free(&text);
    return true;
}

/* ---- the whole ---- */

/* CUDA's events have times since PyTorch 2.2, whose segments name their pool; torch_npu's have none
 * [FMT-4.1d]. */
static bool lacks_times(const struct builder *b, const struct pickle_container *segments)
{
    bool has_events = false;
    for (size_t i = 0; i < b->out->device_count; i++) {
        has_events = has_events || b->out->devices[i].event_count > 0;
    }
    return has_events && !b->has_times && segments->count > 0 &&
           pickle_get(b->pickle, &segments->items[0], "segment_pool_id") != NULL;
}

static bool begin(struct builder *b)
{
    size_t containers = b->pickle->container_count;
    buf_init(&b->text, TEXT_BYTES_MAX * 3);
    b->out = calloc(1, sizeof *b->out);
    b->frame_of = scratch_alloc(containers, sizeof *b->frame_of);
    if (b->out == NULL || b->frame_of == NULL) {
        return false;
    }
    for (size_t i = 0; i < containers; i++) {
        b->frame_of[i] = FRAME_UNKNOWN;
    }
    b->out->texts = strtab_create();
    return b->out->texts != NULL;
}

bool snapshot_build(const struct pickle *pickle, struct memory_snapshot **out, struct err *err)
{
    struct builder b = {.pickle = pickle};
    bool is_list = pickle->root.kind == PICKLE_LIST;
    const struct pickle_value *root = &pickle->root;
    const struct pickle_container *segments =
        pickle_list(pickle, is_list ? root : pickle_get(pickle, root, "segments"));
    if (segments == NULL) {
        return err_set_at(err, ERR_BAD_INPUT, 0,
                          "a pickle, but no memory snapshot: it has no list of segments");
    }
    bool ok =
        begin(&b) &&
        read_all(&b, segments, pickle_list(pickle, pickle_get(pickle, root, "device_traces"))) &&
        read_settings(&b, pickle_get(pickle, root, "allocator_settings")) && !b.failed;
    scratch_free(b.frame_of);
    buf_free(&b.text);
    if (ok) {
        b.out->is_npu = b.out->is_npu || lacks_times(&b, segments);
    } else {
        memory_snapshot_destroy(b.out);
        return b.is_repeated
                   ? err_set_at(err, ERR_BAD_INPUT, 0,
                                "the snapshot tells of more blocks and events than it holds")
                   : err_set(err, ERR_NO_MEMORY, "no memory for a memory snapshot");
    }
    *out = b.out;
    return true;
}

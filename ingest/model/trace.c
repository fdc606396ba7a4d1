/* Columns and the tables that they point into.
 *
 *     events   ts[] dur[] ... name[] track[] args[]     one row an event, columns grow together
 *                             |      |       |
 *              strings <------+      |       +--> op_args / kernel_args / memory_args
 *              tracks  <-------------+
 *
 * Tables whose equal entries are stored once have an index over them: an open-addressing table of
 * entry numbers, at most half full, with the hash kept beside the number so that growing touches no
 * entry. */
#include "ingest/model/trace.h"

#include "ingest/base/bytes.h"
#include "ingest/base/text/affix.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_FIRST ((uint32_t)1024)
#define ROWS_MAX (UINT32_MAX - 1)
/* So many tell how many there will be. */
#define ROWS_TO_EXPECT ((size_t)16 << 10)
#define ENTRIES_FIRST ((uint32_t)64)
#define CATEGORIES_MAX ((uint32_t)UINT16_MAX + 1)
#define SLOTS_FIRST ((size_t)128)
#define GUESS_BITS 6

_Static_assert(sizeof(struct op_args) == 7 * sizeof(uint32_t), "no padding: hashed as bytes");
_Static_assert(sizeof(struct event_class) == sizeof(uint64_t), "no padding: compared as a word");
_Static_assert(sizeof(struct kernel_args) == 5 * sizeof(uint64_t) + 8 * sizeof(uint32_t),
               "no padding: hashed as bytes");

struct slot {
    uint32_t hash;
    uint32_t entry_plus_1; /* 0: free */
};

struct table_index {
    struct slot *slots;
    size_t slot_mask;
};

/* What makes two tracks the same: the raw texts and whether they were JSON strings. */
struct track_key {
    uint32_t words[3];
};

/* The class that was last asked for among those of a bucket. */
struct class_guess {
    uint64_t bytes;
    uint32_t class_plus_1; /* 0: none */
};

struct trace_private {
    struct class_guess guesses[1 << GUESS_BITS];
    struct table_index class_index;
    struct table_index track_index;
    struct table_index category_index;
    struct table_index op_index;
    struct table_index kernel_index;
    struct track_key *track_keys; /* beside trace.tracks */
    uint32_t track_key_capacity;
    uint32_t track_capacity;
    uint32_t class_capacity;
    uint32_t category_capacity;
    uint32_t op_capacity;
    uint32_t kernel_capacity;
    uint32_t memory_capacity;
    uint32_t extra_capacity;
    uint32_t collective_capacity;
    uint32_t wait_capacity;
    uint32_t counter_capacity;
    uint32_t label_capacity;
    uint32_t device_capacity;
    uint32_t meta_capacity;
};

/* --- growing --- */

static size_t grown(size_t capacity, size_t first, size_t most)
{
    if (capacity < first) {
        return first;
    }
    return capacity > most - capacity / 2 ? most : capacity + capacity / 2;
}

/* Room for what is expected and an eighth: columns that move are copied, and what they do not fill
 * takes hardly any memory. What few events say is not trusted far. */
static size_t rows_wanted(const struct trace_events *events)
{
    size_t capacity = events->capacity;
    size_t rows = grown(capacity, ROWS_FIRST, ROWS_MAX);
    size_t most = capacity * (capacity < ROWS_TO_EXPECT ? 1 : 16);
    size_t expected = (size_t)events->expected + events->expected / 8;
    expected = expected < most ? expected : most;
    rows = rows < expected ? expected : rows;
    return rows < ROWS_MAX ? rows : ROWS_MAX;
}

/* Room for one more entry of a table, whatever its type; the new address, or NULL. */
static void *table_room(void *entries, uint32_t count, uint32_t *capacity, size_t entry_bytes)
{
    if (count < *capacity) {
        return entries;
    }
    size_t more = grown(*capacity, ENTRIES_FIRST, UINT32_MAX);
    if (more <= count) {
        return NULL;
    }
    void *moved = realloc(entries, more * entry_bytes);
    if (moved != NULL) {
        *capacity = (uint32_t)more;
    }
    return moved;
}

static bool resize_column(void **column, size_t rows, size_t row_bytes)
{
    void *moved = realloc(*column, rows * row_bytes);
    if (moved == NULL) {
        return false;
    }
    *column = moved;
    return true;
}

/* A column that cannot grow leaves the others longer than `capacity` says, which does no harm. */
static bool resize_columns(struct trace_events *events, uint32_t rows)
{
#define RESIZE(column)                                                \
    do {                                                              \
        void *address = events->column;                               \
        if (!resize_column(&address, rows, sizeof *events->column)) { \
            return false;                                             \
        }                                                             \
        events->column = address;                                     \
    } while (0)
    RESIZE(ts_ns);
    RESIZE(dur_ns.word);
    RESIZE(correlation.word);
    RESIZE(external_id.word);
    RESIZE(name);
    RESIZE(track.low);
    if (events->track.high != NULL) {
        RESIZE(track.high);
    }
    RESIZE(class.low);
    if (events->class.high != NULL) {
        RESIZE(class.high);
    }
    RESIZE(args);
#undef RESIZE
    events->capacity = rows;
    return true;
}

/* --- index tables --- */

/* Of whole words of 32 bits, 64 at a time, the last ones overlapping; no product waits for the one
 * before it. */
static inline uint32_t hash_words(const void *bytes, size_t len)
{
    const char *at = bytes;
    uint64_t hash = len;
    if (len < sizeof(uint64_t)) {
        uint32_t word;
        memcpy(&word, at, sizeof word);
        hash = (hash ^ word) * BYTES_SPREAD;
    } else {
        uint64_t odd = BYTES_SPREAD;
        for (size_t done = 0; done < len - sizeof(uint64_t); done += sizeof(uint64_t)) {
            hash += bytes_load64(at + done) * odd;
            odd += 2 * BYTES_SPREAD;
        }
        hash += bytes_load64(at + len - sizeof(uint64_t)) * odd;
    }
    hash = (hash ^ hash >> 32) * BYTES_SPREAD;
    return (uint32_t)(hash >> 32);
}

static void index_put(struct slot *slots, size_t mask, struct slot slot)
{
    size_t at = slot.hash & mask;
    while (slots[at].entry_plus_1 != 0) {
        at = (at + 1) & mask;
    }
    slots[at] = slot;
}

/* Makes room for one more number when `count` are in the index. */
static bool index_room(struct table_index *index, uint32_t count)
{
    size_t old_slots = index->slots == NULL ? 0 : index->slot_mask + 1;
    if (count < old_slots / 2) {
        return true;
    }
    size_t new_slots = old_slots == 0 ? SLOTS_FIRST : old_slots * 2;
    struct slot *slots = calloc(new_slots, sizeof *slots);
    if (slots == NULL) {
        return false;
    }
    for (size_t i = 0; i < old_slots; i++) {
        if (index->slots[i].entry_plus_1 != 0) {
            index_put(slots, new_slots - 1, index->slots[i]);
        }
    }
    free(index->slots);
    index->slots = slots;
    index->slot_mask = new_slots - 1;
    return true;
}

/* A table whose equal entries are stored once, seen while an entry is put into it. */
struct table {
    void *entries;
    uint32_t count;
    uint32_t *capacity;
    struct table_index *index;
    size_t entry_bytes;
};

/* The slot of the entry with the bytes of *entry, or the free slot where it belongs. */
static inline struct slot *
table_slot(const struct table *table, const void *entry, size_t size, uint32_t hash)
{
    const struct table_index *index = table->index;
    size_t at = hash & index->slot_mask;
    for (;; at = (at + 1) & index->slot_mask) {
        struct slot *slot = &index->slots[at];
        if (slot->entry_plus_1 == 0) {
            return slot;
        }
        const char *other = (const char *)table->entries + (slot->entry_plus_1 - 1) * size;
        if (slot->hash == hash && bytes_equal(other, entry, size)) {
            return slot;
        }
    }
}

/* The number of a new entry; UINT32_MAX without memory. */
static uint32_t table_add(struct table *table, const void *entry, uint32_t hash)
{
    size_t size = table->entry_bytes;
    if (!index_room(table->index, table->count)) {
        return UINT32_MAX;
    }
    struct slot *slot = table_slot(table, entry, size, hash);
    void *entries = table_room(table->entries, table->count, table->capacity, size);
    if (entries == NULL) {
        return UINT32_MAX;
    }
    table->entries = entries;
    uint32_t number = table->count++;
    memcpy((char *)entries + number * size, entry, size);
    *slot = (struct slot){.hash = hash, .entry_plus_1 = number + 1};
    return number;
}

/* The number of the entry with the `size` bytes of *entry, added when new; UINT32_MAX without
 * memory. Compiled for each kind of entry, whose size is known where it is called. */
static inline uint32_t table_put(struct table *table, const void *entry, size_t size)
{
    uint32_t hash = hash_words(entry, size);
    if (KS_LIKELY(table->index->slots != NULL)) {
        const struct slot *slot = table_slot(table, entry, size, hash);
        if (KS_LIKELY(slot->entry_plus_1 != 0)) {
            return slot->entry_plus_1 - 1;
        }
    }
    return table_add(table, entry, hash);
}

static size_t index_bytes(const struct table_index *index)
{
    return index->slots == NULL ? 0 : (index->slot_mask + 1) * sizeof *index->slots;
}

/* --- life --- */

static void init_columns(struct trace *trace)
{
    arena_init(&trace->arena, 0);
    trace->distributed_rank = TRACE_NO_ID;
    trace->distributed_world_size = TRACE_NO_ID;
    for (size_t i = 0; i < WARNING_CODE_COUNT; i++) {
        trace->warnings.by_code[i].first_offset = WARNING_NO_OFFSET;
    }
}

struct trace *trace_create(void)
{
    struct trace *trace = calloc(1, sizeof *trace);
    if (trace == NULL) {
        return NULL;
    }
    init_columns(trace);
    trace->priv = calloc(1, sizeof *trace->priv);
    trace->strings = strtab_create();
    if (trace->priv == NULL || trace->strings == NULL || trace_add_category(trace, "", 0) != 0) {
        trace_destroy(trace);
        return NULL;
    }
    return trace;
}

static void free_columns(struct trace_events *events)
{
    free(events->ts_ns);
    free(events->dur_ns.word);
    free(events->dur_ns.wide);
    free(events->correlation.word);
    free(events->correlation.wide);
    free(events->external_id.word);
    free(events->external_id.wide);
    free(events->name);
    free(events->track.low);
    free(events->track.high);
    free(events->class.low);
    free(events->class.high);
    free(events->args);
    free(events->classes);
}

void trace_destroy(struct trace *trace)
{
    if (trace == NULL) {
        return;
    }
    free_columns(&trace->events);
    free(trace->tracks);
    free(trace->categories);
    free(trace->op_args);
    free(trace->kernel_args);
    free(trace->memory_args);
    free(trace->extras);
    free(trace->collectives);
    free(trace->waits);
    free(trace->counters);
    free(trace->labels);
    free(trace->devices);
    free(trace->meta);
    if (trace->priv != NULL) {
        free(trace->priv->track_keys);
        free(trace->priv->class_index.slots);
        free(trace->priv->track_index.slots);
        free(trace->priv->category_index.slots);
        free(trace->priv->op_index.slots);
        free(trace->priv->kernel_index.slots);
        free(trace->priv);
    }
    strtab_destroy(trace->strings);
    arena_free(&trace->arena);
    free(trace);
}

const char *trace_device_word(const struct trace *trace, bool is_mlu)
{
    const char *recorder = trace->recorded == NULL ? NULL : trace->recorded->recorder;
    if (is_mlu || recorder == NULL) {
        return is_mlu ? "MLU" : "GPU";
    }
    for (uint32_t i = 0; strcmp(recorder, "XLA") == 0 && i < trace->track_count; i++) {
        const char *process = strtab_text(trace->strings, trace->tracks[i].pid_text);
        if (text_begins(process, "/device:TPU:")) {
            return "TPU";
        }
    }
    return strcmp(recorder, "torch_npu") == 0 ? "NPU" : "GPU";
}

static void fit_memory_args(struct trace *trace)
{
    size_t bytes = trace->memory_args_count * sizeof *trace->memory_args;
    void *fitted = bytes == 0 ? NULL : realloc(trace->memory_args, bytes);
    if (fitted != NULL) {
        trace->memory_args = fitted;
        trace->priv->memory_capacity = trace->memory_args_count;
    }
}

void trace_seal(struct trace *trace)
{
    /* Of the tables the only one that has a row for each of many events. */
    fit_memory_args(trace);
    if (trace->events.count == 0 || trace->events.count == trace->events.capacity) {
        return;
    }
    /* Said first: should one column refuse to shrink, the others are short already. */
    trace->events.capacity = trace->events.count;
    (void)resize_columns(&trace->events, trace->events.count);
}

void trace_expect(struct trace *trace, uint64_t event_count)
{
    trace->events.expected = (uint32_t)(event_count < ROWS_MAX ? event_count : ROWS_MAX);
}

/* --- filling --- */

/* What does not fit a word goes to the list, to the place of what stands there already. */
static bool put_wide(struct trace_numbers *numbers, uint32_t row, bool is_wide, int64_t number)
{
    if (is_wide) {
        numbers->wide[numbers->word[row] - TRACE_WIDE] = number;
        return true;
    }
    int64_t *wide =
        numbers->wide_count >= TRACE_WIDE - 1
            ? NULL
            : table_room(numbers->wide, numbers->wide_count, &numbers->wide_capacity, sizeof *wide);
    if (wide == NULL) {
        return false;
    }
    numbers->wide = wide;
    wide[numbers->wide_count] = number;
    numbers->word[row] = TRACE_WIDE + numbers->wide_count++;
    return true;
}

static inline bool put_number(struct trace_numbers *numbers, uint32_t row, int64_t number)
{
    if (KS_LIKELY(number >= 0 && number < (int64_t)TRACE_WIDE)) {
        numbers->word[row] = (uint32_t)number;
        return true;
    }
    if (number == TRACE_NO_ID) {
        numbers->word[row] = TRACE_WORD_NONE;
        return true;
    }
    return put_wide(numbers, row, false, number);
}

static bool set_number(struct trace_numbers *numbers, uint32_t event, int64_t number)
{
    uint32_t word = numbers->word[event];
    bool was_wide = word >= TRACE_WIDE && word != TRACE_WORD_NONE;
    bool stays_wide = was_wide && number >= (int64_t)TRACE_WIDE;
    return stays_wide ? put_wide(numbers, event, true, number) : put_number(numbers, event, number);
}

bool trace_set_dur_ns(struct trace *trace, uint32_t event, int64_t dur_ns)
{
    return set_number(&trace->events.dur_ns, event, dur_ns);
}

bool trace_set_correlation(struct trace *trace, uint32_t event, int64_t id)
{
    return set_number(&trace->events.correlation, event, id);
}

bool trace_set_external_id(struct trace *trace, uint32_t event, int64_t id)
{
    return set_number(&trace->events.external_id, event, id);
}

static inline bool put_index(const struct trace_events *events,
                             struct trace_indexes *indexes,
                             uint32_t row,
                             uint32_t index)
{
    if (KS_UNLIKELY(index > UINT16_MAX && indexes->high == NULL)) {
        indexes->high = calloc(events->capacity, sizeof *indexes->high);
        if (indexes->high == NULL) {
            return false;
        }
    }
    trace_set_index(indexes, row, index);
    return true;
}

/* The number of a class, added when new; UINT32_MAX without memory. */
static uint32_t add_class(struct trace *trace, const struct event_class *class)
{
    struct trace_events *events = &trace->events;
    struct table table = {.entries = events->classes,
                          .count = events->class_count,
                          .capacity = &trace->priv->class_capacity,
                          .index = &trace->priv->class_index,
                          .entry_bytes = sizeof *class};
    uint32_t number = table_put(&table, class, sizeof *class);
    events->classes = table.entries;
    events->class_count = table.count;
    return number;
}

static inline uint32_t class_number(struct trace *trace, const struct event_class *class)
{
    uint64_t bytes;
    memcpy(&bytes, class, sizeof bytes);
    struct class_guess *guess = &trace->priv->guesses[bytes * BYTES_SPREAD >> (64 - GUESS_BITS)];
    if (KS_UNLIKELY(guess->bytes != bytes || guess->class_plus_1 == 0)) {
        uint32_t number = add_class(trace, class);
        if (number == UINT32_MAX) {
            return number;
        }
        *guess = (struct class_guess){.bytes = bytes, .class_plus_1 = number + 1};
    }
    return guess->class_plus_1 - 1;
}

bool trace_set_class(struct trace *trace, uint32_t event, struct event_class class)
{
    uint32_t number = class_number(trace, &class);
    return number != UINT32_MAX && put_index(&trace->events, &trace->events.class, event, number);
}

static inline bool
add_row(struct trace_events *events, const struct trace_event *event, uint32_t class)
{
    if (KS_UNLIKELY(events->count == events->capacity)) {
        size_t rows = rows_wanted(events);
        if (rows <= events->count || !resize_columns(events, (uint32_t)rows)) {
            return false;
        }
    }
    uint32_t row = events->count;
    if (!put_index(events, &events->class, row, class) ||
        !put_index(events, &events->track, row, event->track) ||
        !put_number(&events->dur_ns, row, event->dur_ns) ||
        !put_number(&events->correlation, row, event->correlation) ||
        !put_number(&events->external_id, row, event->external_id)) {
        return false;
    }
    events->count++;
    events->ts_ns[row] = event->ts_ns;
    events->name[row] = event->name;
    events->args[row] = event->args;
    return true;
}

bool trace_add_event(struct trace *trace, const struct trace_event *event)
{
    struct event_class common = {.category = event->category,
                                 .kind = (uint8_t)event->kind,
                                 .flags = event->flags,
                                 .phase = event->phase};
    uint32_t class = class_number(trace, &common);
    return class != UINT32_MAX && add_row(&trace->events, event, class);
}

bool trace_add_event_of_class(struct trace *trace, const struct trace_event *event, uint32_t class)
{
    return add_row(&trace->events, event, class);
}

static struct track_key track_key(const struct trace_track *track)
{
    uint32_t flags = (track->pid_is_text ? 1U : 0U) | (track->tid_is_text ? 2U : 0U) |
                     (track->pid_is_int ? 4U : 0U) | (track->tid_is_int ? 8U : 0U);
    return (struct track_key){{track->pid_text, track->tid_text, flags}};
}

uint32_t trace_add_track(struct trace *trace, const struct trace_track *track)
{
    struct trace_private *priv = trace->priv;
    struct trace_track *tracks =
        table_room(trace->tracks, trace->track_count, &priv->track_capacity, sizeof *tracks);
    if (tracks == NULL) {
        return UINT32_MAX;
    }
    trace->tracks = tracks;
    struct track_key key = track_key(track);
    struct table table = {.entries = priv->track_keys,
                          .count = trace->track_count,
                          .capacity = &priv->track_key_capacity,
                          .index = &priv->track_index,
                          .entry_bytes = sizeof key};
    uint32_t number = table_put(&table, &key, sizeof key);
    priv->track_keys = table.entries;
    if (number == trace->track_count) {
        tracks[number] = *track;
        trace->track_count++;
    }
    return number;
}

uint32_t trace_add_category(struct trace *trace, const char *text, size_t len)
{
    struct trace_private *priv = trace->priv;
    uint32_t text_id = strtab_intern(trace->strings, text, len);
    if (text_id == STRTAB_NONE) {
        return UINT32_MAX;
    }
    struct table table = {.entries = trace->categories,
                          .count = trace->category_count,
                          .capacity = &priv->category_capacity,
                          .index = &priv->category_index,
                          .entry_bytes = sizeof text_id};
    bool is_new_and_too_many =
        table.count == CATEGORIES_MAX &&
        table_slot(&table, &text_id, sizeof text_id, hash_words(&text_id, sizeof text_id))
                ->entry_plus_1 == 0;
    if (is_new_and_too_many) {
        return 0;
    }
    uint32_t number = table_put(&table, &text_id, sizeof text_id);
    trace->categories = table.entries;
    trace->category_count = table.count;
    return number;
}

uint32_t trace_add_op_args(struct trace *trace, const struct op_args *args)
{
    struct trace_private *priv = trace->priv;
    struct table table = {.entries = trace->op_args,
                          .count = trace->op_args_count,
                          .capacity = &priv->op_capacity,
                          .index = &priv->op_index,
                          .entry_bytes = sizeof *args};
    uint32_t number = table_put(&table, args, sizeof *args);
    trace->op_args = table.entries;
    trace->op_args_count = table.count;
    return number;
}

struct kernel_args trace_no_kernel_args(void)
{
    return (struct kernel_args){.device = TRACE_NO_ID,
                                .stream = TRACE_NO_ID,
                                .size_bytes = TRACE_NO_ID,
                                .blocks_per_sm = (double)NAN,
                                .occupancy_pct = (double)NAN,
                                .grid = STRTAB_NONE,
                                .block = STRTAB_NONE,
                                .registers_per_thread = STRTAB_NONE,
                                .shared_memory = STRTAB_NONE,
                                .kernel_type = STRTAB_NONE,
                                .dim = STRTAB_NONE,
                                .tasktopo = STRTAB_NONE,
                                .tasktopo_node = STRTAB_NONE};
}

uint32_t trace_add_kernel_args(struct trace *trace, const struct kernel_args *args)
{
    struct trace_private *priv = trace->priv;
    struct table table = {.entries = trace->kernel_args,
                          .count = trace->kernel_args_count,
                          .capacity = &priv->kernel_capacity,
                          .index = &priv->kernel_index,
                          .entry_bytes = sizeof *args};
    uint32_t number = table_put(&table, args, sizeof *args);
    trace->kernel_args = table.entries;
    trace->kernel_args_count = table.count;
    return number;
}

/* Appends a copy of *entry to a table without index; false without memory. */
static bool
append(void **entries, uint32_t *count, uint32_t *capacity, const void *entry, size_t entry_bytes)
{
    void *room = table_room(*entries, *count, capacity, entry_bytes);
    if (room == NULL) {
        return false;
    }
    *entries = room;
    memcpy((char *)room + *count * entry_bytes, entry, entry_bytes);
    (*count)++;
    return true;
}

uint32_t trace_add_memory_args(struct trace *trace, const struct memory_args *args)
{
    void *entries = trace->memory_args;
    bool good = append(&entries, &trace->memory_args_count, &trace->priv->memory_capacity, args,
                       sizeof *args);
    trace->memory_args = entries;
    return good ? trace->memory_args_count - 1 : UINT32_MAX;
}

bool trace_add_extra(struct trace *trace, const struct event_extra *extra)
{
    void *entries = trace->extras;
    bool good =
        append(&entries, &trace->extra_count, &trace->priv->extra_capacity, extra, sizeof *extra);
    trace->extras = entries;
    return good;
}

bool trace_add_collective(struct trace *trace, const struct collective_args *args)
{
    void *entries = trace->collectives;
    bool good = append(&entries, &trace->collective_count, &trace->priv->collective_capacity, args,
                       sizeof *args);
    trace->collectives = entries;
    return good;
}

bool trace_add_wait(struct trace *trace, const struct wait_args *args)
{
    void *entries = trace->waits;
    bool good =
        append(&entries, &trace->wait_count, &trace->priv->wait_capacity, args, sizeof *args);
    trace->waits = entries;
    return good;
}

bool trace_add_counter(struct trace *trace, const struct trace_counter *counter)
{
    void *entries = trace->counters;
    bool good = append(&entries, &trace->counter_count, &trace->priv->counter_capacity, counter,
                       sizeof *counter);
    trace->counters = entries;
    return good;
}

bool trace_add_label(struct trace *trace, const struct trace_label *label)
{
    void *entries = trace->labels;
    bool good =
        append(&entries, &trace->label_count, &trace->priv->label_capacity, label, sizeof *label);
    trace->labels = entries;
    return good;
}

bool trace_add_device(struct trace *trace, const struct device_properties *device)
{
    struct device_properties copy = *device;
    if (device->name != NULL) {
        copy.name = arena_strdup(&trace->arena, device->name);
        if (copy.name == NULL) {
            return false;
        }
    }
    void *entries = trace->devices;
    bool good =
        append(&entries, &trace->device_count, &trace->priv->device_capacity, &copy, sizeof copy);
    trace->devices = entries;
    return good;
}

bool trace_add_meta(struct trace *trace, const char *key, const char *value)
{
    struct trace_meta meta = {
        .key = arena_strdup(&trace->arena, key),
        .value = arena_strdup(&trace->arena, value),
    };
    if (meta.key == NULL || meta.value == NULL) {
        return false;
    }
    void *entries = trace->meta;
    bool good =
        append(&entries, &trace->meta_count, &trace->priv->meta_capacity, &meta, sizeof meta);
    trace->meta = entries;
    return good;
}

/* --- memory --- */

static size_t index_row_bytes(const struct trace_indexes *indexes)
{
    return sizeof *indexes->low + (indexes->high == NULL ? 0 : sizeof *indexes->high);
}

static size_t row_bytes(const struct trace_events *events)
{
    return sizeof *events->ts_ns + sizeof *events->dur_ns.word + sizeof *events->correlation.word +
           sizeof *events->external_id.word + sizeof *events->name +
           index_row_bytes(&events->track) + index_row_bytes(&events->class) + sizeof *events->args;
}

static size_t wide_bytes(const struct trace_events *events)
{
    size_t count = (size_t)events->dur_ns.wide_count + events->correlation.wide_count +
                   events->external_id.wide_count;
    return count * sizeof(int64_t);
}

size_t trace_memory_bytes(const struct trace *trace)
{
    const struct trace_private *priv = trace->priv;
    return sizeof *trace + sizeof *priv + trace->events.count * row_bytes(&trace->events) +
           wide_bytes(&trace->events) + trace->events.class_count * sizeof *trace->events.classes +
           trace->track_count * (sizeof *trace->tracks + sizeof *priv->track_keys) +
           trace->category_count * sizeof *trace->categories +
           trace->op_args_count * sizeof *trace->op_args +
           trace->kernel_args_count * sizeof *trace->kernel_args +
           trace->memory_args_count * sizeof *trace->memory_args +
           trace->extra_count * sizeof *trace->extras +
           trace->collective_count * sizeof *trace->collectives +
           trace->wait_count * sizeof *trace->waits +
           trace->counter_count * sizeof *trace->counters +
           trace->label_count * sizeof *trace->labels +
           trace->device_count * sizeof *trace->devices + trace->meta_count * sizeof *trace->meta +
           index_bytes(&priv->class_index) + index_bytes(&priv->track_index) +
           index_bytes(&priv->category_index) + index_bytes(&priv->op_index) +
           index_bytes(&priv->kernel_index) + strtab_bytes(trace->strings) +
           trace->arena.held_bytes;
}

#include "ingest/analysis/memory/log.h"

#include "ingest/analysis/classify/times.h"
#include "ingest/base/containers/id_map.h"
#include "ingest/base/memory/scratch.h"

#include <stdio.h>
#include <string.h>

#define DEVICE_TYPE_CPU 0
#define DEVICE_TYPE_CUDA 1
#define DEVICE_TYPE_HIP 6
#define DEVICE_TYPE_XPU 12
#define DEVICE_TYPE_HPU 15
#define DEVICE_TYPE_MTIA 19
#define DEVICE_TYPE_PRIVATE 20 /* MLU */
#define DEVICE_NAME_BYTES 32

/* Where the records are; the context of a log's source. */
struct records {
    const struct event_classes *sel;
    const uint32_t *events; /* by record, in order of time */
};

/* A device that was found before, so that most records need no map. */
struct known_device {
    int64_t key;
    uint32_t number_plus_1; /* 0: none */
};
#define KNOWN_DEVICES 16 /* a power of two */

struct placing {
    struct memory_log *log;
    struct arena *arena;
    const struct event_classes *sel;
    const struct call_tree *tree;
    const struct call_rows *rows;
    struct records *records;
    uint32_t *open;       /* rows from the root down to where the walk stands */
    uint32_t *next_child; /* by place in `open`: the child that is looked at next */
    uint32_t depth;
    size_t open_cap;
    size_t child_cap;
    bool no_memory;
    const uint32_t *thread_of; /* by track: thread of the call tree, CALL_NONE */
    uint32_t *first_of;        /* by thread: its first record and its last one so far, */
    uint32_t *last_of;
    const char **devices; /* log->devices until their number is known */
    size_t device_capacity;
    struct id_map device_numbers;
    struct known_device known[KNOWN_DEVICES];
};

/* ---- records ---- */

static const struct memory_args *args_of(const struct event_classes *sel, uint32_t event)
{
    static const struct memory_args nothing = {0};
    const struct trace *trace = sel->trace;
    uint32_t index = trace->events.args[event];
    return index < trace->memory_args_count ? &trace->memory_args[index] : &nothing;
}

static uint8_t flags_of(const struct memory_args *args)
{
    const uint32_t totals = MEMORY_HAS_ALLOCATED | MEMORY_HAS_RESERVED;
    return (uint8_t)(((args->has & MEMORY_HAS_ADDR) != 0 ? MEMORY_RECORD_HAS_ADDR : 0) |
                     ((args->has & totals) == totals ? MEMORY_RECORD_HAS_TOTALS : 0));
}

/* A loop a column. */
#define READ_COLUMN(value)                                                 \
    for (uint32_t i = 0; i < count; i++) {                                 \
        const struct memory_args *args = args_of(records->sel, events[i]); \
        out[i] = (value);                                                  \
    }                                                                      \
    break

static void
read_records(const void *context, unsigned column, uint32_t first, uint32_t count, int64_t *out)
{
    const struct records *records = context;
    const uint32_t *events = records->events + first;
    switch ((enum memory_column)column) {
    case MEMORY_COLUMN_ADDR:
        READ_COLUMN(args->addr);
    case MEMORY_COLUMN_SIZE:
        READ_COLUMN(args->size_bytes);
    case MEMORY_COLUMN_ALLOCATED:
        READ_COLUMN(args->total_allocated_bytes);
    case MEMORY_COLUMN_RESERVED:
        READ_COLUMN(args->total_reserved_bytes);
    case MEMORY_COLUMN_FLAGS:
        READ_COLUMN(flags_of(args));
    default:
        for (uint32_t i = 0; i < count; i++) {
            out[i] = times_position(records->sel, times_start(records->sel, events[i]));
        }
        break;
    }
}
#undef READ_COLUMN

/* ---- columns ---- */

static bool make_columns(struct placing *p)
{
    struct memory_log *log = p->log;
    bool ok = true;
#define MAKE_COLUMN(column)                                                \
    log->column = arena_alloc(p->arena, log->count * sizeof *log->column); \
    ok = ok && log->column != NULL
    MAKE_COLUMN(node);
    MAKE_COLUMN(op);
    MAKE_COLUMN(parent);
    MAKE_COLUMN(device);
#undef MAKE_COLUMN
    log->visited = arena_calloc(p->arena, (size_t)log->node_count + 1, sizeof *log->visited);
    p->records = arena_calloc(p->arena, 1, sizeof *p->records);
    if (!ok || log->visited == NULL || p->records == NULL) {
        return false;
    }
    p->records->sel = p->sel;
    p->records->events = p->sel->lists[LIST_MEMORY].items;
    log->source = (struct column_source){read_records, p->records};
    p->first_of = scratch_none(p->tree->thread_count);
    p->last_of = scratch_none(p->tree->thread_count);
    return p->first_of != NULL && p->last_of != NULL;
}

/* Accelerators that the annex does not know. '\0': none. */
static char newer_family(int64_t type)
{
    switch (type) {
    case DEVICE_TYPE_HIP:
        return 'G';
    case DEVICE_TYPE_XPU:
        return 'X';
    case DEVICE_TYPE_HPU:
        return 'H';
    case DEVICE_TYPE_MTIA:
        return 'T';
    default:
        return '\0';
    }
}

/* What the name of a device tells; 0: no view shows it. Type 20 stands for an MLU where nothing
 * says that it is something else [TB-17.4]. */
static char device_family(const struct placing *p, const struct memory_args *args)
{
    bool has_type = (args->has & MEMORY_HAS_DEVICE_TYPE) != 0;
    bool is_mlu = p->sel->mlu || p->sel->trace->device_count == 0;
    if (has_type && args->device_type == DEVICE_TYPE_CPU) {
        return 'C';
    }
    if (has_type && args->device_type == DEVICE_TYPE_CUDA) {
        return 'G';
    }
    if (has_type && args->device_type == DEVICE_TYPE_PRIVATE && is_mlu) {
        return 'M';
    }
    if (has_type && p->sel->is_ours) {
        return newer_family(args->device_type);
    }
    return '\0';
}

static const char *family_word(char family)
{
    switch (family) {
    case 'G':
        return "GPU";
    case 'M':
        return "MLU";
    case 'X':
        return "XPU";
    case 'H':
        return "HPU";
    case 'T':
        return "MTIA";
    default:
        return "";
    }
}

static void name_device(char family, const struct memory_args *args, char name[DEVICE_NAME_BYTES])
{
    char id[DEVICE_NAME_BYTES] = "None";
    if ((args->has & MEMORY_HAS_DEVICE_ID) != 0) {
        (void)snprintf(id, sizeof id, "%d", (int)args->device_id);
    }
    const char *word = family_word(family);
    if (family == 'C') {
        (void)snprintf(name, DEVICE_NAME_BYTES, "CPU");
    } else if (*word != '\0') {
        (void)snprintf(name, DEVICE_NAME_BYTES, "%s%.20s", word, id);
    } else {
        name[0] = '\0';
    }
}

static bool add_device(struct placing *p, const char *name)
{
    const char **devices = scratch_grow((void *)p->devices, p->log->device_count,
                                        &p->device_capacity, sizeof *devices);
    if (devices == NULL) {
        return false;
    }
    p->devices = devices;
    devices[p->log->device_count] = arena_strdup(p->arena, name);
    return devices[p->log->device_count++] != NULL;
}

static bool keep_devices(struct placing *p)
{
    struct memory_log *log = p->log;
    log->devices = arena_calloc(p->arena, (size_t)log->device_count + 1, sizeof *log->devices);
    if (log->devices != NULL && p->devices != NULL) {
        memcpy((void *)log->devices, (const void *)p->devices,
               log->device_count * sizeof *log->devices);
    }
    return log->devices != NULL;
}

/* What tells devices apart. */
static int64_t device_key(char family, const struct memory_args *args)
{
    bool has_id = (args->has & MEMORY_HAS_DEVICE_ID) != 0;
    bool by_id = *family_word(family) != '\0';
    int64_t id = by_id ? (int64_t)(has_id ? args->device_id : 0) * 2 + has_id : 0;
    return id * 256 + family;
}

/* The number of a device, in the order in which they appear. */
static bool find_device(struct placing *p, const struct memory_args *args, uint32_t *device)
{
    char family = device_family(p, args);
    int64_t key = device_key(family, args);
    struct known_device *known = &p->known[((uint64_t)key ^ (uint64_t)key >> 8) % KNOWN_DEVICES];
    if (KS_LIKELY(known->key == key && known->number_plus_1 != 0)) {
        *device = known->number_plus_1 - 1;
        return true;
    }
    struct id_slot *slot = id_map_add(&p->device_numbers, key);
    if (slot == NULL) {
        return false;
    }
    if (slot->value == ID_MAP_NONE) {
        char name[DEVICE_NAME_BYTES];
        if (p->log->device_count >= MEMORY_DEVICES_MAX) {
            family = '\0';
        }
        name_device(family, args, name);
        if (!add_device(p, name)) {
            return false;
        }
        slot->value = p->log->device_count - 1;
    }
    *known = (struct known_device){key, slot->value + 1};
    *device = slot->value;
    return true;
}

/* The records of each thread, in order of time: until it is placed, a record has the next one for
 * its `op`. */
static void list_in_thread(struct placing *p, uint32_t at, uint32_t event)
{
    uint32_t thread = p->thread_of[trace_event_track(&p->sel->trace->events, event)];
    if (thread == CALL_NONE) {
        return;
    }
    uint32_t *last = &p->last_of[thread];
    *(*last == CALL_NONE ? &p->first_of[thread] : &p->log->op[*last]) = at;
    *last = at;
}

static bool find_records(struct placing *p)
{
    struct memory_log *log = p->log;
    id_map_init(&p->device_numbers);
    bool ok = true;
    for (uint32_t at = 0; ok && at < log->count; at++) {
        uint32_t event = p->records->events[at];
        log->node[at] = log->op[at] = log->parent[at] = CALL_NONE;
        list_in_thread(p, at, event);
        ok = find_device(p, args_of(p->sel, event), &log->device[at]);
    }
    id_map_free(&p->device_numbers);
    return ok;
}

/* ---- placing ---- */

static bool descend(struct placing *p, uint32_t row)
{
    uint32_t *open = scratch_grow(p->open, p->depth, &p->open_cap, sizeof *open);
    p->open = open == NULL ? p->open : open;
    uint32_t *next_child = scratch_grow(p->next_child, p->depth, &p->child_cap, sizeof *next_child);
    p->next_child = next_child == NULL ? p->next_child : next_child;
    if (open == NULL || next_child == NULL) {
        p->no_memory = true;
        return false;
    }
    p->log->visited[row] = 1;
    open[p->depth] = row;
    next_child[p->depth++] = row + 1;
    return true;
}

/* The walk only goes forward: leaves what has ended, then enters what runs at that time [TB-13a].
 * Stale before the root begins and after it ends: then nothing is open. */
static bool walk_to(struct placing *p, uint32_t root, int64_t key)
{
    const struct call_rows *rows = p->rows;
    if (p->depth == 0 || key < call_row_start_key(rows, root)) {
        return false;
    }
    while (p->depth > 0 && key >= call_row_stop_key(rows, p->open[p->depth - 1])) {
        p->depth--;
        if (p->depth > 0) {
            p->next_child[p->depth - 1] = rows->end[p->next_child[p->depth - 1]];
        }
    }
    if (p->depth == 0) {
        return false;
    }
    p->log->visited[root] = 1;
    for (;;) {
        uint32_t end = rows->end[p->open[p->depth - 1]];
        uint32_t *child = &p->next_child[p->depth - 1];
        while (*child < end && key >= call_row_stop_key(rows, *child)) {
            *child = rows->end[*child];
        }
        if (*child >= end || call_row_start_key(rows, *child) > key) {
            return true;
        }
        if (!descend(p, *child)) {
            return false;
        }
    }
}

static void place_record(struct placing *p, uint32_t at)
{
    uint32_t row = p->open[p->depth - 1];
    if (!call_row_is_real(p->rows, row)) {
        return;
    }
    p->log->node[at] = row;
    /* Allocations and releases take turns: no branch foresees them. */
    bool allocates = args_of(p->sel, p->records->events[at])->size_bytes > 0;
    uint32_t op = call_row_name(p->rows, row);
    uint32_t parent = p->depth > 1 ? call_row_name(p->rows, p->open[p->depth - 2]) : CALL_NONE;
    p->log->op[at] = allocates ? op : CALL_NONE;
    p->log->parent[at] = allocates ? parent : CALL_NONE;
}

/* Stops without memory. */
static void place_records(struct placing *p)
{
    for (uint32_t t = 0; t < p->tree->thread_count; t++) {
        uint32_t root = p->tree->threads[t].first;
        p->depth = 0;
        if (!descend(p, root)) {
            return;
        }
        p->log->visited[root] = 0;
        for (uint32_t at = p->first_of[t], next; at != CALL_NONE; at = next) {
            next = p->log->op[at];
            p->log->op[at] = CALL_NONE;
            if (walk_to(p, root, times_start_key(p->sel, p->records->events[at]))) {
                place_record(p, at);
            }
        }
    }
}

/* What is allocated on a device begins at a multiple of 512: ids that lie close suit the map. */
static int64_t key_of_addr(int64_t addr)
{
    return (int64_t)((uint64_t)addr >> 9 | (uint64_t)addr << 55);
}

/* A release takes the names of the last allocation of its address that is still open [TB-13b].
 * Records without an address belong together. */
static bool name_releases(struct placing *p)
{
    struct memory_log *log = p->log;
    struct id_map open;
    id_map_init(&open);
    bool ok = true;
    uint32_t without_addr = CALL_NONE;
    for (uint32_t at = 0; ok && at < log->count; at++) {
        const struct memory_args *args = args_of(p->sel, p->records->events[at]);
        uint32_t *holder = &without_addr;
        if ((args->has & MEMORY_HAS_ADDR) != 0) {
            struct id_slot *slot = id_map_add(&open, key_of_addr(args->addr));
            ok = slot != NULL;
            holder = ok ? &slot->value : holder;
        }
        bool allocates = args->size_bytes > 0;
        uint32_t named = allocates || *holder == CALL_NONE ? at : *holder;
        log->op[at] = log->op[named];
        log->parent[at] = log->parent[named];
        *holder = allocates ? at : CALL_NONE;
    }
    id_map_free(&open);
    return ok;
}

bool memory_log_build(struct memory_log **out,
                      struct arena *arena,
                      const struct event_classes *sel,
                      const struct call_tree *tree,
                      const struct call_rows *rows,
                      const uint32_t *thread_of)
{
    *out = NULL;
    if (sel->class_count[INDEX_MEMORY] == 0) {
        return true;
    }
    struct placing p = {.log = arena_calloc(arena, 1, sizeof *p.log),
                        .arena = arena,
                        .sel = sel,
                        .tree = tree,
                        .rows = rows,
                        .thread_of = thread_of};
    bool ok = p.log != NULL;
    if (ok) {
        p.log->count = sel->class_count[INDEX_MEMORY];
        p.log->node_count = tree->node_count;
        ok = make_columns(&p) && find_records(&p) && keep_devices(&p);
    }
    if (ok) {
        place_records(&p);
        ok = !p.no_memory && name_releases(&p);
    }
    SCRATCH_FREE(p.last_of, p.first_of, p.open, p.next_child, (void *)p.devices);
    *out = ok ? p.log : NULL;
    return ok;
}

bool memory_log_write(struct memory_log *log, struct arena *arena)
{
    if (log == NULL) {
        return true;
    }
    bool ok = true;
#define WRITE(kind, member, column) \
    ok = ok && (log->member = column_source_##kind(&log->source, column, log->count, arena)) != NULL
    WRITE(i64, ts, MEMORY_COLUMN_TS);
    WRITE(i64, addr, MEMORY_COLUMN_ADDR);
    WRITE(i64, size_bytes, MEMORY_COLUMN_SIZE);
    WRITE(i64, allocated_bytes, MEMORY_COLUMN_ALLOCATED);
    WRITE(i64, reserved_bytes, MEMORY_COLUMN_RESERVED);
    WRITE(u8, flags, MEMORY_COLUMN_FLAGS);
#undef WRITE
    log->source = (struct column_source){.read = NULL};
    return ok;
}

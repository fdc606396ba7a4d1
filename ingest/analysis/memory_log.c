#include "ingest/analysis/memory_log.h"

#include "ingest/analysis/id_map.h"
#include "ingest/analysis/scratch.h"
#include "ingest/analysis/times.h"

#include <stdio.h>
#include <string.h>

#define DEVICE_TYPE_CPU 0
#define DEVICE_TYPE_CUDA 1
#define DEVICE_TYPE_PRIVATE 20 /* MLU */
#define DEVICE_NAME_BYTES 32

struct placing {
    struct memory_log *log;
    struct arena *arena;
    const struct selection *sel;
    const struct call_tree *tree;
    const struct call_tree_keys *keys;
    int64_t *key;         /* by record: its time to compare; NULL: that of the log is */
    uint32_t *thread;     /* by record: thread of the call tree, CALL_NONE */
    uint32_t *open;       /* rows from the root down to where the walk stands */
    uint32_t *next_child; /* by place in `open`: the child that is looked at next */
    uint32_t depth;
    uint32_t *first_of; /* by thread: its first record, by record the next one of its thread */
    uint32_t *next_of;
    const char **devices; /* log->devices until their number is known */
    size_t device_capacity;
};

/* ---- columns ---- */

static bool make_columns(struct placing *p)
{
    struct memory_log *log = p->log;
    bool ok = true;
#define MAKE_COLUMN(column, rows)                                    \
    log->column = arena_calloc(p->arena, rows, sizeof *log->column); \
    ok = ok && log->column != NULL
    MAKE_COLUMN(ts, log->count);
    MAKE_COLUMN(addr, log->count);
    MAKE_COLUMN(size_bytes, log->count);
    MAKE_COLUMN(allocated_bytes, log->count);
    MAKE_COLUMN(reserved_bytes, log->count);
    MAKE_COLUMN(node, log->count);
    MAKE_COLUMN(op, log->count);
    MAKE_COLUMN(parent, log->count);
    MAKE_COLUMN(device, log->count);
    MAKE_COLUMN(flags, log->count);
    MAKE_COLUMN(visited, (size_t)log->node_count + 1);
#undef MAKE_COLUMN
    p->key = p->sel->rounded ? scratch_alloc(log->count, sizeof *p->key) : NULL;
    p->thread = scratch_none(log->count);
    p->next_of = scratch_none(log->count);
    p->first_of = scratch_none(p->tree->thread_count);
    p->open = scratch_alloc((size_t)log->node_count + 1, sizeof *p->open);
    p->next_child = scratch_alloc((size_t)log->node_count + 1, sizeof *p->next_child);
    return ok && (p->key != NULL || !p->sel->rounded) && p->thread != NULL && p->next_of != NULL &&
           p->first_of != NULL && p->open != NULL && p->next_child != NULL;
}

/* What the name of a device tells; 0: no view shows it. Type 20 stands for an MLU where nothing
 * says that it is something else (completions 17.4). */
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
    return has_type && args->device_type == DEVICE_TYPE_PRIVATE && is_mlu ? 'M' : '\0';
}

static void name_device(char family, const struct memory_args *args, char name[DEVICE_NAME_BYTES])
{
    char id[DEVICE_NAME_BYTES] = "None";
    if ((args->has & MEMORY_HAS_DEVICE_ID) != 0) {
        (void)snprintf(id, sizeof id, "%d", (int)args->device_id);
    }
    switch (family) {
    case 'C':
        (void)snprintf(name, DEVICE_NAME_BYTES, "CPU");
        break;
    case 'G':
        (void)snprintf(name, DEVICE_NAME_BYTES, "GPU%.20s", id);
        break;
    case 'M':
        (void)snprintf(name, DEVICE_NAME_BYTES, "MLU%.20s", id);
        break;
    default:
        name[0] = '\0';
        break;
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
    devices[p->log->device_count] = arena_strndup(p->arena, name, strlen(name));
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

/* The number of a device, in the order in which they appear. */
static bool find_device(struct placing *p,
                        struct id_map *known,
                        const struct memory_args *args,
                        uint32_t *device)
{
    char family = device_family(p, args);
    bool has_id = (args->has & MEMORY_HAS_DEVICE_ID) != 0;
    bool by_id = family == 'G' || family == 'M';
    int64_t id = by_id ? (int64_t)(has_id ? args->device_id : 0) * 2 + has_id : 0;
    struct id_slot *slot = id_map_add(known, id * 256 + family);
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
    *device = slot->value;
    return true;
}

static bool write_record(struct placing *p, struct id_map *devices, uint32_t at, uint32_t event)
{
    static const struct memory_args nothing = {0};
    const struct trace *trace = p->sel->trace;
    uint32_t index = trace->events.args[event];
    const struct memory_args *args =
        index < trace->memory_args_count ? &trace->memory_args[index] : &nothing;
    const uint32_t totals = MEMORY_HAS_ALLOCATED | MEMORY_HAS_RESERVED;
    struct memory_log *log = p->log;
    log->ts[at] = times_position(p->sel, times_start(p->sel, event));
    log->addr[at] = args->addr;
    log->size_bytes[at] = args->size_bytes;
    log->allocated_bytes[at] = args->total_allocated_bytes;
    log->reserved_bytes[at] = args->total_reserved_bytes;
    log->node[at] = log->op[at] = log->parent[at] = CALL_NONE;
    log->flags[at] = (uint8_t)(((args->has & MEMORY_HAS_ADDR) != 0 ? MEMORY_RECORD_HAS_ADDR : 0) |
                               ((args->has & totals) == totals ? MEMORY_RECORD_HAS_TOTALS : 0));
    if (p->key != NULL) {
        p->key[at] = times_start_key(p->sel, event);
    }
    return find_device(p, devices, args, &log->device[at]);
}

/* The threads of the call tree by their number; a record's tid must be an integer in the file. */
static void
find_thread(struct placing *p, const struct id_map *threads, uint32_t at, uint32_t event)
{
    const struct trace *trace = p->sel->trace;
    const struct trace_track *track = &trace->tracks[trace->events.track[event]];
    const struct id_slot *slot = track->tid_is_int ? id_map_find(threads, track->tid_int) : NULL;
    p->thread[at] = slot == NULL ? CALL_NONE : slot->value;
}

static bool map_threads(const struct placing *p, struct id_map *threads)
{
    for (uint32_t t = 0; t < p->tree->thread_count; t++) {
        struct id_slot *slot =
            t == p->tree->profile_thread ? NULL : id_map_add(threads, p->tree->threads[t].tid);
        if (slot != NULL) {
            slot->value = t;
        } else if (t != p->tree->profile_thread) {
            return false;
        }
    }
    return true;
}

static bool read_records(struct placing *p)
{
    struct id_map devices;
    struct id_map threads;
    id_map_init(&devices);
    id_map_init(&threads);
    bool ok = map_threads(p, &threads);
    uint32_t at = 0;
    for (uint32_t i = 0; ok && i < p->sel->order_count; i++) {
        uint32_t event = p->sel->order[i];
        if (p->sel->type[event] == TYPE_MEMORY) {
            find_thread(p, &threads, at, event);
            ok = write_record(p, &devices, at++, event);
        }
    }
    id_map_free(&devices);
    id_map_free(&threads);
    return ok;
}

/* ---- placing ---- */

static void descend(struct placing *p, uint32_t row)
{
    p->log->visited[row] = 1;
    p->open[p->depth] = row;
    p->next_child[p->depth++] = row + 1;
}

/* The walk only goes forward: leaves what has ended, then enters what runs at that time. Stale
 * before the root begins and after it ends: then nothing is open. */
static bool walk_to(struct placing *p, uint32_t root, int64_t key)
{
    const struct call_tree *tree = p->tree;
    if (p->depth == 0 || key < call_tree_start_key(tree, p->keys, root)) {
        return false;
    }
    while (p->depth > 0 && key >= call_tree_stop_key(tree, p->keys, p->open[p->depth - 1])) {
        p->depth--;
        if (p->depth > 0) {
            p->next_child[p->depth - 1] = tree->end[p->next_child[p->depth - 1]];
        }
    }
    if (p->depth == 0) {
        return false;
    }
    p->log->visited[root] = 1;
    for (;;) {
        uint32_t end = tree->end[p->open[p->depth - 1]];
        uint32_t *child = &p->next_child[p->depth - 1];
        while (*child < end && key >= call_tree_stop_key(tree, p->keys, *child)) {
            *child = tree->end[*child];
        }
        if (*child >= end || call_tree_start_key(tree, p->keys, *child) > key) {
            return true;
        }
        descend(p, *child);
    }
}

static void place_record(struct placing *p, uint32_t at)
{
    const struct call_tree *tree = p->tree;
    uint32_t row = p->open[p->depth - 1];
    if ((tree->flags[row] & CALL_IS_REAL) == 0) {
        return;
    }
    p->log->node[at] = row;
    if (p->log->size_bytes[at] > 0) {
        p->log->op[at] = tree->name[row];
        p->log->parent[at] = p->depth > 1 ? tree->name[p->open[p->depth - 2]] : CALL_NONE;
    }
}

/* The records of each thread, in order of time. */
static void list_by_thread(struct placing *p)
{
    for (uint32_t at = p->log->count; at-- > 0;) {
        uint32_t thread = p->thread[at];
        if (thread != CALL_NONE) {
            p->next_of[at] = p->first_of[thread];
            p->first_of[thread] = at;
        }
    }
}

static int64_t key_of(const struct placing *p, uint32_t at)
{
    return p->key != NULL ? p->key[at] : ns_add(p->log->ts[at], p->sel->first_ns);
}

static void place_records(struct placing *p)
{
    list_by_thread(p);
    for (uint32_t t = 0; t < p->tree->thread_count; t++) {
        uint32_t root = p->tree->threads[t].first;
        p->depth = 0;
        descend(p, root);
        p->log->visited[root] = 0;
        for (uint32_t at = p->first_of[t]; at != CALL_NONE; at = p->next_of[at]) {
            if (walk_to(p, root, key_of(p, at))) {
                place_record(p, at);
            }
        }
    }
}

/* A release takes the names of the last allocation of its address that is still open. Records
 * without an address belong together. */
static bool name_releases(struct placing *p)
{
    struct memory_log *log = p->log;
    struct id_map open;
    id_map_init(&open);
    bool ok = true;
    uint32_t without_addr = CALL_NONE;
    for (uint32_t at = 0; ok && at < log->count; at++) {
        uint32_t *holder = &without_addr;
        if ((log->flags[at] & MEMORY_RECORD_HAS_ADDR) != 0) {
            struct id_slot *slot = id_map_add(&open, log->addr[at]);
            ok = slot != NULL;
            holder = ok ? &slot->value : holder;
        }
        if (log->size_bytes[at] > 0) {
            *holder = at;
        } else if (*holder != CALL_NONE) {
            log->op[at] = log->op[*holder];
            log->parent[at] = log->parent[*holder];
            *holder = CALL_NONE;
        }
    }
    id_map_free(&open);
    return ok;
}

bool memory_log_build(struct memory_log **out,
                      struct arena *arena,
                      const struct selection *sel,
                      const struct call_tree *tree,
                      const struct call_tree_keys *keys)
{
    *out = NULL;
    if (sel->type_count[TYPE_MEMORY] == 0) {
        return true;
    }
    struct placing p = {.log = arena_calloc(arena, 1, sizeof *p.log),
                        .arena = arena,
                        .sel = sel,
                        .tree = tree,
                        .keys = keys};
    bool ok = p.log != NULL;
    if (ok) {
        p.log->count = sel->type_count[TYPE_MEMORY];
        p.log->node_count = tree->node_count;
        ok = make_columns(&p) && read_records(&p) && keep_devices(&p);
    }
    if (ok) {
        place_records(&p);
        ok = name_releases(&p);
    }
    scratch_free(p.key);
    scratch_free(p.thread);
    scratch_free(p.next_of);
    scratch_free(p.first_of);
    scratch_free(p.open);
    scratch_free(p.next_child);
    scratch_free((void *)p.devices);
    *out = ok ? p.log : NULL;
    return ok;
}

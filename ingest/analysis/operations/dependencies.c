#include "ingest/analysis/operations/dependencies.h"

#include "ingest/base/containers/id_map.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"

#include <inttypes.h>
#include <stdlib.h>

/* How far a transfer may stand outside of the computation that it belongs to [RANK-6.2]. */
#define SLACK_S 50e-6

struct edge {
    uint32_t from, to;
};

/* A list of operations. */
struct list {
    uint32_t *items;
    size_t count;
};

struct linking {
    struct dependencies *out;
    const struct operation_lanes *lanes;
    bool has_replicas; /* more than one */
    bool is_overlapped;
    struct edge *edges;
    size_t edge_count, edge_cap;
    uint32_t *ordered;       /* by stage, start, sequence, type */
    uint32_t *first_ordered; /* by stage, one more */
    uint32_t *room;          /* lists of one stage; four parts of it */
    uint32_t *partner;       /* by operation: the other one of its group; OPERATION_NONE */
    uint32_t *live[OPERATION_TYPE_COUNT]; /* live ones of this type, stage by stage */
    uint32_t *first_live[OPERATION_TYPE_COUNT];
    struct err *err;
};

static bool no_memory(struct err *err)
{
    return err_set(err, ERR_NO_MEMORY, "no memory for the dependencies of a job");
}

static struct operation_key key_at(const struct linking *l, uint32_t operation)
{
    return l->lanes->keys[operation];
}

static double start_of(const struct linking *l, uint32_t operation)
{
    return l->lanes->start_s[operation];
}

static double end_of(const struct linking *l, uint32_t operation)
{
    return l->lanes->start_s[operation] + l->lanes->duration_s[operation];
}

static bool missing(const struct linking *l, struct operation_key key)
{
    return err_set(l->err, ERR_BAD_INPUT,
                   "A dependency on %s %" PRId64 " of stage %" PRIu32 ", which does not exist",
                   operation_type_name((enum operation_type)key.type), key.seq_id, key.stage);
}

static bool add_edge(struct linking *l, uint32_t from, uint32_t to)
{
    struct edge *edges = scratch_grow(l->edges, l->edge_count, &l->edge_cap, sizeof *edges);
    if (edges == NULL) {
        return no_memory(l->err);
    }
    l->edges = edges;
    edges[l->edge_count++] = (struct edge){from, to};
    return true;
}

static uint32_t find(const struct linking *l, enum operation_type type, int64_t seq, uint32_t stage)
{
    size_t at = operation_lanes_find(l->lanes, (struct operation_key){seq, stage, (uint8_t)type});
    return at == SIZE_MAX ? OPERATION_NONE : (uint32_t)at;
}

/* *at: the operation, which must exist. */
static bool
need(const struct linking *l, enum operation_type type, int64_t seq, uint32_t stage, uint32_t *at)
{
    *at = find(l, type, seq, stage);
    return *at != OPERATION_NONE || missing(l, (struct operation_key){seq, stage, (uint8_t)type});
}

static bool chain(struct linking *l, struct list list)
{
    bool ok = true;
    for (size_t i = 1; ok && i < list.count; i++) {
        ok = add_edge(l, list.items[i - 1], list.items[i]);
    }
    return ok;
}

/* ---- operations of a stage in order ---- */

struct sort_item {
    double start_s;
    struct operation_key key;
    uint32_t operation;
};

ORDER_BY(by_stage,
         struct sort_item,
         ORDER_UP(key.stage),
         ORDER_UP(start_s),
         ORDER_UP(key.seq_id),
         ORDER_UP(key.type))

static bool order_stages(struct linking *l)
{
    size_t count = l->lanes->key_count;
    struct sort_item *items = scratch_alloc(count, sizeof *items);
    l->ordered = scratch_alloc(count, sizeof *l->ordered);
    l->first_ordered = scratch_calloc((size_t)l->lanes->stage_count + 1, sizeof *l->first_ordered);
    l->room = scratch_alloc(count, sizeof *l->room);
    bool ok = items != NULL && l->ordered != NULL && l->first_ordered != NULL && l->room != NULL;
    for (uint32_t i = 0; ok && i < count; i++) {
        items[i] = (struct sort_item){start_of(l, i), key_at(l, i), i};
    }
    if (ok) {
        qsort(items, count, sizeof *items, by_stage);
    }
    for (uint32_t i = 0; ok && i < count; i++) {
        l->ordered[i] = items[i].operation;
        l->first_ordered[items[i].key.stage + 1] = i + 1;
    }
    for (uint32_t s = 0; ok && s < l->lanes->stage_count; s++) {
        uint32_t before = l->first_ordered[s];
        uint32_t *end = &l->first_ordered[s + 1];
        *end = *end < before ? before : *end;
    }
    scratch_free(items);
    return ok || no_memory(l->err);
}

static struct list stage_list(const struct linking *l, uint32_t stage)
{
    uint32_t first = l->first_ordered[stage];
    return (struct list){l->ordered + first, l->first_ordered[stage + 1] - first};
}

/* Those of a stage with one of two types, in order. They stand at `room`, which has room for all
 * that are left of the stage; *room moves behind them. */
static struct list choose(const struct linking *l,
                          struct list from,
                          enum operation_type a,
                          enum operation_type b,
                          uint32_t **room)
{
    struct list out = {*room, 0};
    for (size_t i = 0; i < from.count; i++) {
        uint8_t type = key_at(l, from.items[i]).type;
        if (type == a || type == b) {
            out.items[out.count++] = from.items[i];
        }
    }
    *room += out.count;
    return out;
}

/* ---- transfers between stages [RANK-6.2] ---- */

struct direction {
    enum operation_type compute, recv, send;
    int recv_delta, send_delta; /* chunk on the other side */
};

static const struct direction directions[] = {
    {OPERATION_FORWARD_COMPUTE, OPERATION_FORWARD_RECV, OPERATION_FORWARD_SEND, -1, 1},
    {OPERATION_BACKWARD_COMPUTE, OPERATION_BACKWARD_RECV, OPERATION_BACKWARD_SEND, 1, -1},
};

/* Which transfers take part: recv that start, send that end, within the computation. */
static struct list
taking_part(const struct linking *l, struct list found, struct list compute, bool is_recv)
{
    struct list part = {found.items, 0};
    double bound = is_recv ? start_of(l, compute.items[0]) : end_of(l, compute.items[0]);
    for (size_t i = 1; i < compute.count; i++) {
        double own = is_recv ? start_of(l, compute.items[i]) : end_of(l, compute.items[i]);
        bound = is_recv == (own > bound) ? own : bound;
    }
    for (size_t i = 0; i < found.count; i++) {
        bool fits = is_recv ? start_of(l, found.items[i]) <= bound + SLACK_S
                            : end_of(l, found.items[i]) >= bound - SLACK_S;
        if (fits) {
            part.items[part.count++] = found.items[i];
        }
    }
    return part;
}

static bool is_live(const struct linking *l, uint32_t compute, int delta)
{
    int64_t chunk = l->lanes->first[compute]->model_chunk;
    int64_t count = l->lanes->chunk_count * (int64_t)l->lanes->stage_count;
    return chunk + delta >= 0 && chunk + delta < count;
}

static bool match_transfers(struct linking *l,
                            uint32_t stage,
                            const struct direction *d,
                            bool is_recv,
                            struct list part,
                            size_t compute_count)
{
    enum operation_type type = is_recv ? d->recv : d->send;
    int64_t sequence = is_recv && part.count + 1 == compute_count;
    bool ok = true;
    for (size_t i = 0; ok && i < part.count; i++, sequence++) {
        uint32_t compute;
        uint32_t before = OPERATION_NONE;
        ok =
            need(l, d->compute, sequence, stage, &compute) &&
            (is_recv ? add_edge(l, part.items[i], compute) : add_edge(l, compute, part.items[i])) &&
            (!is_recv || sequence < 1 || need(l, d->compute, sequence - 1, stage, &before)) &&
            (before == OPERATION_NONE || add_edge(l, before, part.items[i]));
        if (ok && is_live(l, compute, is_recv ? d->recv_delta : d->send_delta)) {
            l->live[type][l->first_live[type][stage + 1]++] = part.items[i];
        }
    }
    return ok;
}

static bool link_transfers(struct linking *l, uint32_t stage)
{
    struct list all = stage_list(l, stage);
    bool ok = true;
    for (size_t d = 0; ok && d < sizeof directions / sizeof *directions; d++) {
        const struct direction *direction = &directions[d];
        uint32_t *room = l->room;
        struct list compute = choose(l, all, direction->compute, direction->compute, &room);
        for (int is_recv = 1; ok && compute.count > 0 && is_recv >= 0; is_recv--) {
            enum operation_type type = is_recv != 0 ? direction->recv : direction->send;
            uint32_t *more = room;
            struct list part =
                taking_part(l, choose(l, all, type, type, &more), compute, is_recv != 0);
            ok = match_transfers(l, stage, direction, is_recv != 0, part, compute.count);
        }
    }
    return ok;
}

/* The k-th live send of a stage ends with the k-th live recv of its neighbour [RANK-6.3]. */
static void
pair_transfers(struct linking *l, enum operation_type send, enum operation_type recv, uint32_t step)
{
    uint32_t stages = l->lanes->stage_count;
    for (uint32_t s = 0; s < stages; s++) {
        uint32_t other = (s + step) % stages;
        const uint32_t *from = l->first_live[send];
        const uint32_t *to = l->first_live[recv];
        uint32_t count = from[s + 1] - from[s];
        count = count < to[other + 1] - to[other] ? count : to[other + 1] - to[other];
        for (uint32_t k = 0; k < count; k++) {
            uint32_t a = l->live[send][from[s] + k];
            uint32_t b = l->live[recv][to[other] + k];
            l->partner[a] = b;
            l->partner[b] = a;
        }
    }
}

/* ---- order within a stage ---- */

/* [RANK-6.1], [RANK-6.4] */
static bool link_streams(struct linking *l, uint32_t stage)
{
    static const enum operation_type streams[] = {OPERATION_FORWARD_RECV, OPERATION_FORWARD_SEND,
                                                  OPERATION_BACKWARD_RECV, OPERATION_BACKWARD_SEND};
    struct list all = stage_list(l, stage);
    uint32_t *room = l->room;
    struct list compute =
        choose(l, all, OPERATION_FORWARD_COMPUTE, OPERATION_BACKWARD_COMPUTE, &room);
    bool ok = chain(l, compute);
    size_t n = 0;
    while (n < compute.count && key_at(l, compute.items[n]).type != OPERATION_BACKWARD_COMPUTE) {
        n++;
    }
    static const enum operation_type first[] = {OPERATION_BACKWARD_RECV, OPERATION_BACKWARD_SEND};
    for (size_t i = 0; ok && n >= 2 && n < compute.count && i < 2; i++) {
        uint32_t to = find(l, first[i], 0, stage);
        ok = to == OPERATION_NONE || add_edge(l, compute.items[n - 2], to);
    }
    for (size_t i = 0; ok && i < sizeof streams / sizeof *streams; i++) {
        room = l->room;
        ok = chain(l, choose(l, all, streams[i], streams[i], &room));
    }
    return ok;
}

/* What matters of a chunk of the model in a stage [RANK-6.5]. */
struct chunk {
    uint32_t last_gather, first_forward, last_backward, first_scatter;
};

static void note_chunk(const struct linking *l, struct chunk *chunk, uint32_t operation)
{
    struct operation_key key = key_at(l, operation);
    uint32_t *best = &chunk->first_forward;
    bool is_better = false;
    switch (key.type) {
    case OPERATION_ALL_GATHER:
        best = &chunk->last_gather;
        is_better = *best != OPERATION_NONE && key.seq_id > key_at(l, *best).seq_id;
        break;
    case OPERATION_BACKWARD_COMPUTE:
        best = &chunk->last_backward;
        is_better = *best != OPERATION_NONE && end_of(l, operation) > end_of(l, *best);
        break;
    case OPERATION_REDUCE_SCATTER:
        best = &chunk->first_scatter;
        is_better = *best != OPERATION_NONE && key.seq_id < key_at(l, *best).seq_id;
        break;
    default:
        break;
    }
    *best = *best == OPERATION_NONE || is_better ? operation : *best;
}

static bool counts_in_chunk(uint8_t type)
{
    return type == OPERATION_ALL_GATHER || type == OPERATION_FORWARD_COMPUTE ||
           type == OPERATION_BACKWARD_COMPUTE || type == OPERATION_REDUCE_SCATTER;
}

static bool note_chunks(struct linking *l,
                        struct list all,
                        struct id_map *numbers,
                        struct chunk **chunks,
                        size_t *count)
{
    size_t cap = 0;
    for (size_t i = 0; i < all.count; i++) {
        int64_t number = l->lanes->first[all.items[i]]->chunk;
        if (number < 0 || !counts_in_chunk(key_at(l, all.items[i]).type)) {
            continue;
        }
        struct id_slot *slot = id_map_add(numbers, number);
        struct chunk *items = scratch_grow(*chunks, *count, &cap, sizeof *items);
        if (slot == NULL || items == NULL) {
            return no_memory(l->err);
        }
        *chunks = items;
        if (slot->value == ID_MAP_NONE) {
            slot->value = (uint32_t)*count;
            items[(*count)++] =
                (struct chunk){OPERATION_NONE, OPERATION_NONE, OPERATION_NONE, OPERATION_NONE};
        }
        note_chunk(l, &items[slot->value], all.items[i]);
    }
    return true;
}

static bool link_parameters(struct linking *l, uint32_t stage)
{
    struct list all = stage_list(l, stage);
    struct id_map numbers;
    struct chunk *chunks = NULL;
    size_t count = 0;
    uint32_t *room = l->room;
    if (!l->has_replicas) {
        return true;
    }
    id_map_init(&numbers);
    bool ok = chain(l, choose(l, all, OPERATION_ALL_GATHER, OPERATION_REDUCE_SCATTER, &room)) &&
              note_chunks(l, all, &numbers, &chunks, &count);
    for (size_t i = 0; ok && i < count; i++) {
        const struct chunk *chunk = &chunks[i];
        bool has_gather =
            chunk->last_gather != OPERATION_NONE && chunk->first_forward != OPERATION_NONE;
        bool has_scatter = l->is_overlapped && chunk->last_backward != OPERATION_NONE &&
                           chunk->first_scatter != OPERATION_NONE;
        ok = (!has_gather || add_edge(l, chunk->last_gather, chunk->first_forward)) &&
             (!has_scatter || add_edge(l, chunk->last_backward, chunk->first_scatter));
    }
    id_map_free(&numbers);
    scratch_free(chunks);
    return ok;
}

/* ---- the tail of a stage [RANK-6.6] ---- */

/* In order of start. */
static struct list of_type(const struct linking *l, enum operation_type type, uint32_t stage)
{
    struct list out = {l->room, 0};
    struct list all = stage_list(l, stage);
    for (size_t i = 0; i < all.count; i++) {
        if (key_at(l, all.items[i]).type == type) {
            out.items[out.count++] = all.items[i];
        }
    }
    return out;
}

static bool last_compute(const struct linking *l, uint32_t stage, uint32_t *last)
{
    struct list all = stage_list(l, stage);
    *last = OPERATION_NONE;
    for (size_t i = 0; i < all.count; i++) {
        uint8_t type = key_at(l, all.items[i]).type;
        bool counts = type == OPERATION_FORWARD_COMPUTE || type == OPERATION_BACKWARD_COMPUTE;
        if (counts && (*last == OPERATION_NONE || end_of(l, all.items[i]) > end_of(l, *last))) {
            *last = all.items[i];
        }
    }
    return *last != OPERATION_NONE ||
           err_set(l->err, ERR_BAD_INPUT, "Stage %" PRIu32 " has no compute operation", stage);
}

/* Links what is named to what came before it; *last moves on. Of annotations it may be missing. */
static bool link_next(struct linking *l, enum operation_type type, uint32_t stage, uint32_t *last)
{
    uint32_t next;
    if (l->lanes->is_annotated && find(l, type, 0, stage) == OPERATION_NONE) {
        l->out->missing |= 1U << type;
        return true;
    }
    bool ok = need(l, type, 0, stage, &next) && add_edge(l, *last, next);
    *last = next;
    return ok;
}

static bool link_middle(struct linking *l, uint32_t stage, uint32_t *last)
{
    enum operation_type type =
        l->is_overlapped ? OPERATION_SEPARATE_GRADS : OPERATION_REDUCE_SCATTER;
    if (!l->has_replicas) {
        return true;
    }
    bool ok = true;
    if (l->is_overlapped) {
        struct list scatters = of_type(l, OPERATION_REDUCE_SCATTER, stage);
        uint32_t layernorm = find(l, OPERATION_LAYERNORM_GRADS, 0, stage);
        bool has_next = layernorm != OPERATION_NONE || !l->lanes->is_annotated;
        uint32_t scatter = OPERATION_NONE;
        for (size_t i = 0; i < scatters.count; i++) {
            bool is_later = scatter == OPERATION_NONE || scatters.items[i] > scatter;
            scatter = is_later ? scatters.items[i] : scatter;
        }
        ok = scatter == OPERATION_NONE || !has_next ||
             (need(l, OPERATION_LAYERNORM_GRADS, 0, stage, &layernorm) &&
              add_edge(l, scatter, layernorm));
    }
    struct list middle = of_type(l, type, stage); /* keys of one type stand by sequence */
    if (middle.count > 1) {
        qsort(middle.items, middle.count, sizeof *middle.items, order_u32_at);
    }
    for (size_t i = 0; ok && i < middle.count; i++) {
        ok = add_edge(l, *last, middle.items[i]);
        *last = middle.items[i];
    }
    return ok;
}

static bool link_tail(struct linking *l, uint32_t stage)
{
    bool is_outer = stage == 0 || stage + 1 == l->lanes->stage_count;
    uint32_t last;
    return last_compute(l, stage, &last) && link_next(l, OPERATION_GC, stage, &last) &&
           link_next(l, OPERATION_LAYERNORM_GRADS, stage, &last) &&
           (!is_outer || link_next(l, OPERATION_EMBEDDING_GRADS, stage, &last)) &&
           link_middle(l, stage, &last) && link_next(l, OPERATION_CLIP, stage, &last) &&
           link_next(l, OPERATION_OPTIMIZER, stage, &last);
}

/* ---- groups [RANK-6.7] ---- */

static bool is_transfer(uint8_t type)
{
    return type == OPERATION_FORWARD_RECV || type == OPERATION_FORWARD_SEND ||
           type == OPERATION_BACKWARD_RECV || type == OPERATION_BACKWARD_SEND;
}

static bool is_parameter(uint8_t type)
{
    return type == OPERATION_ALL_GATHER || type == OPERATION_REDUCE_SCATTER ||
           type == OPERATION_SEPARATE_GRADS;
}

/* The operation whose unit this one joins; itself for the first of a unit. Keys of one type and
 * sequence stand beside each other, by stage. */
static uint32_t leader_of(const struct linking *l, uint32_t operation)
{
    struct operation_key key = key_at(l, operation);
    uint32_t partner = l->partner[operation];
    uint32_t stages = l->lanes->stage_count;
    if (partner != OPERATION_NONE) {
        return partner < operation ? partner : operation;
    }
    bool joins = key.type == OPERATION_CLIP || (key.type == OPERATION_EMBEDDING_GRADS &&
                                                key.stage + 1 == stages && key.stage > 0);
    if (!joins) {
        return operation;
    }
    if (key.type == OPERATION_EMBEDDING_GRADS) {
        uint32_t first = find(l, OPERATION_EMBEDDING_GRADS, key.seq_id, 0);
        return first == OPERATION_NONE ? operation : first;
    }
    uint32_t before = operation == 0 ? operation : operation - 1;
    struct operation_key other = key_at(l, before);
    bool is_same = other.type == key.type && other.seq_id == key.seq_id;
    return is_same ? before : operation;
}

static bool make_units(struct linking *l)
{
    struct dependencies *out = l->out;
    size_t count = l->lanes->key_count;
    out->unit_of = scratch_alloc(count, sizeof *out->unit_of);
    out->is_grouped = scratch_calloc(count, sizeof *out->is_grouped);
    out->is_synchronised = scratch_calloc(count, sizeof *out->is_synchronised);
    out->first_member = scratch_calloc(count + 2, sizeof *out->first_member);
    out->members = scratch_alloc(count, sizeof *out->members);
    if (out->unit_of == NULL || out->is_grouped == NULL || out->is_synchronised == NULL ||
        out->first_member == NULL || out->members == NULL) {
        return no_memory(l->err);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint8_t type = key_at(l, i).type;
        uint32_t leader = leader_of(l, i);
        out->unit_of[i] = leader == i ? out->unit_count++ : out->unit_of[leader];
        bool is_replicated = l->has_replicas && is_parameter(type);
        out->is_grouped[i] = is_transfer(type) || is_replicated ||
                             type == OPERATION_EMBEDDING_GRADS || type == OPERATION_CLIP;
        out->is_synchronised[out->unit_of[i]] = is_replicated || type == OPERATION_CLIP;
        out->first_member[out->unit_of[i] + 2]++;
    }
    uint32_t *next = out->first_member + 1;
    for (uint32_t u = 0; u < out->unit_count; u++) {
        next[u + 1] += next[u];
    }
    for (uint32_t i = 0; i < count; i++) {
        out->members[next[out->unit_of[i]]++] = i;
    }
    return true;
}

/* ---- order of all ---- */

static bool list_edges(struct linking *l)
{
    struct dependencies *out = l->out;
    size_t count = l->lanes->key_count;
    out->first_before = scratch_calloc(count + 2, sizeof *out->first_before);
    out->before = scratch_alloc(l->edge_count, sizeof *out->before);
    if (out->first_before == NULL || out->before == NULL || l->edge_count >= UINT32_MAX) {
        return no_memory(l->err);
    }
    uint32_t *next = out->first_before + 1;
    for (size_t i = 0; i < l->edge_count; i++) {
        next[l->edges[i].to + 1]++;
    }
    for (size_t i = 0; i < count; i++) {
        next[i + 1] += next[i];
    }
    for (size_t i = 0; i < l->edge_count; i++) {
        out->before[next[l->edges[i].to]++] = l->edges[i].from;
    }
    return true;
}

struct after_list {
    uint32_t *first, *items, *left; /* of units: what waits for each; how many each waits for */
};

static bool list_after(struct linking *l, struct after_list *after)
{
    const struct dependencies *out = l->out;
    after->first = scratch_calloc((size_t)out->unit_count + 2, sizeof *after->first);
    after->items = scratch_alloc(l->edge_count, sizeof *after->items);
    after->left = scratch_calloc(out->unit_count, sizeof *after->left);
    if (after->first == NULL || after->items == NULL || after->left == NULL) {
        return no_memory(l->err);
    }
    uint32_t *next = after->first + 1;
    for (size_t i = 0; i < l->edge_count; i++) {
        next[out->unit_of[l->edges[i].from] + 1]++;
        after->left[out->unit_of[l->edges[i].to]]++;
    }
    for (uint32_t u = 0; u < out->unit_count; u++) {
        next[u + 1] += next[u];
    }
    for (size_t i = 0; i < l->edge_count; i++) {
        after->items[next[out->unit_of[l->edges[i].from]]++] = out->unit_of[l->edges[i].to];
    }
    return true;
}

static bool cycle(struct linking *l, const struct after_list *after)
{
    uint32_t unit = 0;
    while (after->left[unit] == 0) {
        unit++;
    }
    struct operation_key key = key_at(l, l->out->members[l->out->first_member[unit]]);
    return err_set(l->err, ERR_BAD_INPUT,
                   "A cycle of dependencies at %s %" PRId64 " of stage %" PRIu32,
                   operation_type_name((enum operation_type)key.type), key.seq_id, key.stage);
}

static bool sort_units(struct linking *l)
{
    struct dependencies *out = l->out;
    struct after_list after = {NULL, NULL, NULL};
    uint32_t ready = 0;
    out->order = scratch_alloc(out->unit_count, sizeof *out->order);
    if (out->order == NULL) {
        return no_memory(l->err);
    }
    bool ok = list_after(l, &after);
    for (uint32_t u = 0; ok && u < out->unit_count; u++) {
        if (after.left[u] == 0) {
            out->order[ready++] = u;
        }
    }
    for (uint32_t i = 0; ok && i < ready; i++) {
        for (uint32_t a = after.first[out->order[i]]; a < after.first[out->order[i] + 1]; a++) {
            uint32_t unit = after.items[a];
            if (--after.left[unit] == 0) {
                out->order[ready++] = unit;
            }
        }
    }
    ok = ok && (ready == out->unit_count || cycle(l, &after));
    SCRATCH_FREE(after.first, after.items, after.left);
    return ok;
}

/* ---- the whole ---- */

static bool prepare(struct linking *l)
{
    size_t count = l->lanes->key_count;
    bool ok = true;
    l->partner = scratch_none(count);
    for (int type = 0; ok && type < OPERATION_TYPE_COUNT; type++) {
        if (is_transfer((uint8_t)type)) {
            l->live[type] = scratch_alloc(count, sizeof *l->live[type]);
            l->first_live[type] =
                scratch_calloc((size_t)l->lanes->stage_count + 1, sizeof *l->first_live[type]);
            ok = l->live[type] != NULL && l->first_live[type] != NULL;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        l->is_overlapped = l->is_overlapped || key_at(l, i).type == OPERATION_SEPARATE_GRADS;
    }
    return (ok && l->partner != NULL) || no_memory(l->err);
}

static bool link_all(struct linking *l)
{
    bool ok = true;
    for (uint32_t s = 0; ok && s < l->lanes->stage_count; s++) {
        for (int type = 0; type < OPERATION_TYPE_COUNT; type++) {
            if (l->first_live[type] != NULL) {
                l->first_live[type][s + 1] = l->first_live[type][s];
            }
        }
        ok = link_streams(l, s) && link_transfers(l, s) && link_parameters(l, s) && link_tail(l, s);
    }
    if (ok) {
        pair_transfers(l, OPERATION_FORWARD_SEND, OPERATION_FORWARD_RECV, 1);
        pair_transfers(l, OPERATION_BACKWARD_SEND, OPERATION_BACKWARD_RECV,
                       l->lanes->stage_count - 1);
    }
    return ok;
}

/* Annotations that name no transfers do not tell how stages wait for each other [RANK-6c]. */
static bool knows_transfers(const struct linking *l)
{
    const struct operation_lanes *lanes = l->lanes;
    uint32_t found = 0;
    for (size_t i = 0; i < lanes->key_count; i++) {
        found |= 1U << lanes->keys[i].type;
    }
    for (size_t i = 0; lanes->is_annotated && lanes->stage_count > 1 && i < 2; i++) {
        const struct direction *d = &directions[i];
        if ((found & (1U << d->recv | 1U << d->send)) == 0) {
            return err_set(l->err, ERR_BAD_INPUT,
                           "Annotations name neither %s nor %s: how the stages wait for each other "
                           "is not known",
                           operation_type_name(d->recv), operation_type_name(d->send));
        }
    }
    return true;
}

bool dependencies_build(struct dependencies *out,
                        const struct operation_lanes *lanes,
                        int64_t replicas,
                        struct err *err)
{
    struct linking l = {.out = out, .lanes = lanes, .has_replicas = replicas > 1, .err = err};
    *out = (struct dependencies){.unit_count = 0};
    bool ok = prepare(&l) && knows_transfers(&l) && order_stages(&l) && link_all(&l) &&
              make_units(&l) && list_edges(&l) && sort_units(&l);
    for (int type = 0; type < OPERATION_TYPE_COUNT; type++) {
        SCRATCH_FREE(l.live[type], l.first_live[type]);
    }
    SCRATCH_FREE(l.partner, l.room, l.ordered, l.first_ordered, l.edges);
    return ok;
}

void dependencies_free(struct dependencies *dependencies)
{
    SCRATCH_FREE(dependencies->unit_of, dependencies->is_grouped, dependencies->is_synchronised,
                 dependencies->first_member, dependencies->members, dependencies->order,
                 dependencies->first_before, dependencies->before);
}

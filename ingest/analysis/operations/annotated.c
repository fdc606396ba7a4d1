#include "ingest/analysis/operations/annotated.h"

#include "ingest/base/containers/id_map.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"
#include "ingest/base/saturating.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_S 1e9

/* A rank with operations. */
struct member {
    const struct annotated_rank *from;
    int64_t *stages; /* of its chunks in the model, ascending; empty: not told */
    size_t stage_count;
    size_t parent; /* a member of its pipeline, itself at the root */
    int64_t key;   /* orders the stages */
    uint32_t stage, replica;
};

struct deriving {
    struct member *members;
    size_t count;
    struct id_map by_rank; /* rank -> member */
    int64_t *steps;        /* those that all have whole, ascending */
    size_t step_count;
};

/* ---- what a rank needs of its digest ---- */

bool annotated_read(struct annotated_rank *out,
                    const struct rank_digest *digest,
                    struct arena *arena)
{
    struct id_map seen;
    bool ok = true;
    size_t bytes = digest->operation_count * sizeof *out->operations;
    struct rank_operation *operations =
        arena_calloc(arena, (size_t)digest->operation_count + 1, sizeof *operations);
    out->peers = arena_calloc(arena, (size_t)digest->text_count + 1, sizeof *out->peers);
    if (operations == NULL || out->peers == NULL) {
        return false;
    }
    if (bytes > 0) {
        memcpy(operations, digest->operations, bytes);
    }
    out->operations = operations;
    out->operation_count = digest->operation_count;
    id_map_init(&seen);
    for (uint32_t i = 0; ok && bytes > 0 && i < digest->collective_count; i++) {
        const struct rank_collective *item = &digest->collectives[i];
        if (item->kind != RANK_SEND_RECEIVE || item->group_ranks == RANK_NO_TEXT) {
            continue;
        }
        struct id_slot *slot = id_map_add(&seen, item->group_ranks);
        ok = slot != NULL;
        if (ok && slot->value == ID_MAP_NONE) {
            const char *text = digest->texts[item->group_ranks];
            slot->value = 1;
            out->peers[out->peer_count] = arena_strdup(arena, text);
            ok = out->peers[out->peer_count++] != NULL;
        }
    }
    id_map_free(&seen);
    struct rank_transfer *transfers = NULL;
    ok = ok &&
         (bytes == 0 || transfers_read(digest, out->rank, arena, &transfers, &out->transfer_count));
    out->transfers = transfers;
    return ok;
}

/* ---- pipelines: ranks that send to each other ---- */

static size_t root_of(struct deriving *d, size_t at)
{
    while (d->members[at].parent != at) {
        d->members[at].parent = d->members[d->members[at].parent].parent;
        at = d->members[at].parent;
    }
    return at;
}

/* The lower root stays, so that a root is the lowest of its pipeline. */
static void join(struct deriving *d, size_t a, size_t b)
{
    a = root_of(d, a);
    b = root_of(d, b);
    d->members[a > b ? a : b].parent = a > b ? b : a;
}

static void join_peers(struct deriving *d, size_t member)
{
    const struct annotated_rank *from = d->members[member].from;
    for (uint32_t p = 0; p < from->peer_count; p++) {
        for (const char *at = from->peers[p]; *at != '\0';) {
            char *end = NULL;
            if (isdigit((unsigned char)*at) == 0) {
                at++;
                continue;
            }
            long long rank = strtoll(at, &end, 10);
            const struct id_slot *slot = id_map_find(&d->by_rank, rank);
            if (slot != NULL) {
                join(d, member, slot->value);
            }
            at = end;
        }
    }
}

/* ---- stages and replicas ---- */

static bool list_stages(struct member *member)
{
    member->stages = scratch_alloc(member->from->operation_count, sizeof *member->stages);
    if (member->stages == NULL) {
        return false;
    }
    size_t count = 0;
    for (uint32_t i = 0; i < member->from->operation_count; i++) {
        int64_t stage = member->from->operations[i].stage;
        member->stages[count] = stage;
        count += stage != RANK_UNKNOWN;
    }
    if (count > 0) {
        qsort(member->stages, count, sizeof *member->stages, order_i64_at);
    }
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || member->stages[i] != member->stages[i - 1]) {
            member->stages[member->stage_count++] = member->stages[i];
        }
    }
    return true;
}

/* By the lowest stage that names tell, else by the place in the pipeline. False: nothing tells. */
static bool set_keys(struct deriving *d)
{
    int64_t *places = scratch_calloc(d->count, sizeof *places);
    bool told = places != NULL;
    for (size_t m = 0; told && m < d->count; m++) {
        join_peers(d, m);
    }
    for (size_t m = 0; told && m < d->count; m++) {
        struct member *member = &d->members[m];
        size_t root = root_of(d, m);
        member->key = member->stage_count > 0 ? member->stages[0] : places[root];
        places[root]++;
    }
    for (size_t m = 0; told && m < d->count; m++) {
        bool is_alone = places[root_of(d, m)] == 1;
        told = d->members[m].stage_count > 0 || !is_alone || d->count == 1;
    }
    scratch_free(places);
    return told;
}

static int by_key(const void *left, const void *right)
{
    const struct member *a = *(struct member *const *)left;
    const struct member *b = *(struct member *const *)right;
    int order = order_i64(a->key, b->key);
    return order != 0 ? order : order_i64(a->from->rank, b->from->rank);
}

/* The stages are the keys in their order; ranks of one stage are replicas. */
static bool number_stages(struct deriving *d)
{
    struct member **sorted = scratch_alloc(d->count, sizeof(struct member *));
    if (sorted == NULL) {
        return false;
    }
    for (size_t m = 0; m < d->count; m++) {
        sorted[m] = &d->members[m];
    }
    qsort((void *)sorted, d->count, sizeof(struct member *), by_key);
    for (size_t m = 1; m < d->count; m++) {
        const struct member *before = sorted[m - 1];
        bool is_same = before->key == sorted[m]->key;
        sorted[m]->stage = is_same ? before->stage : before->stage + 1;
        sorted[m]->replica = is_same ? before->replica + 1 : 0;
    }
    scratch_free((void *)sorted);
    return true;
}

/* ---- transfers that kernels tell ---- */

/* A rank of several stages receives from a neighbour for any of them. */
static bool tells_transfers(const struct deriving *d)
{
    for (size_t m = 0; m < d->count; m++) {
        const struct member *member = &d->members[m];
        if (member->stage_count > 1 ||
            transfers_named(member->from->operations, member->from->operation_count)) {
            return false;
        }
    }
    return true;
}

/* The member's operations and transfers; false without memory. */
static bool add_transfers(const struct deriving *d, struct member *member, struct arena *arena)
{
    const struct annotated_rank *from = member->from;
    struct annotated_rank *rank = arena_calloc(arena, 1, sizeof *rank);
    size_t room = (size_t)from->operation_count + from->transfer_count;
    struct rank_operation *items = arena_calloc(arena, room + 1, sizeof *items);
    if (rank == NULL || items == NULL) {
        return false;
    }
    uint32_t count = from->operation_count;
    memcpy(items, from->operations, count * sizeof *items);
    for (uint32_t i = 0; i < from->transfer_count; i++) {
        const struct rank_transfer *transfer = &from->transfers[i];
        const struct id_slot *slot = id_map_find(&d->by_rank, transfer->peer);
        int type = slot == NULL ? -1
                                : transfers_type(transfer->is_send, member->stage,
                                                 d->members[slot->value].stage);
        if (type >= 0) {
            items[count++] = (struct rank_operation){
                .start_ns = transfer->start_ns,
                .duration_ns = transfer->duration_ns,
                .step = transfer->step,
                .stage = member->stage_count > 0 ? member->stages[0] : RANK_UNKNOWN,
                .type = (uint8_t)type};
        }
    }
    *rank = *from;
    rank->operations = items;
    rank->operation_count = count;
    member->from = rank;
    return true;
}

static bool add_all_transfers(struct deriving *d, struct arena *arena)
{
    bool ok = true;
    bool tells = tells_transfers(d);
    for (size_t m = 0; ok && tells && m < d->count; m++) {
        ok = add_transfers(d, &d->members[m], arena);
    }
    return ok;
}

/* ---- steps that every rank has whole ---- */

struct step_count {
    int64_t step;
    size_t member, operations;
    bool is_whole; /* as many as in the fullest step of the rank */
};

ORDER_BY(by_step, struct step_count, ORDER_UP(step), ORDER_UP(member))

/* One entry a step of the member, behind `count`; returns the new count. */
static size_t count_steps(
    const struct member *member, size_t at, int64_t *steps, struct step_count *counts, size_t count)
{
    size_t first = count;
    size_t most = 0;
    for (uint32_t i = 0; i < member->from->operation_count; i++) {
        steps[i] = member->from->operations[i].step;
    }
    qsort(steps, member->from->operation_count, sizeof *steps, order_i64_at);
    for (uint32_t i = 0; i < member->from->operation_count; i++) {
        if (count == first || counts[count - 1].step != steps[i]) {
            counts[count++] = (struct step_count){.step = steps[i], .member = at};
        }
        size_t operations = ++counts[count - 1].operations;
        most = operations > most ? operations : most;
    }
    for (size_t i = first; i < count; i++) {
        counts[i].is_whole = counts[i].operations == most;
    }
    return count;
}

static bool choose_steps(struct deriving *d)
{
    size_t total = 0;
    size_t count = 0;
    for (size_t m = 0; m < d->count; m++) {
        total += d->members[m].from->operation_count;
    }
    struct step_count *counts = scratch_alloc(total, sizeof *counts);
    int64_t *steps = scratch_alloc(total, sizeof *steps);
    d->steps = scratch_alloc(total, sizeof *d->steps);
    bool ok = counts != NULL && steps != NULL && d->steps != NULL;
    for (size_t m = 0; ok && m < d->count; m++) {
        count = count_steps(&d->members[m], m, steps, counts, count);
    }
    if (ok && count > 0) {
        qsort(counts, count, sizeof *counts, by_step);
    }
    for (size_t i = 0; ok && i < count;) {
        size_t whole = 0;
        size_t next = i;
        for (; next < count && counts[next].step == counts[i].step; next++) {
            whole += counts[next].is_whole;
        }
        if (whole == d->count) {
            d->steps[d->step_count++] = counts[i].step;
        }
        i = next;
    }
    SCRATCH_FREE(counts, steps);
    return ok;
}

/* ---- the table ---- */

static size_t place_in(const int64_t *values, size_t count, int64_t value)
{
    const int64_t *found =
        count == 0 ? NULL : bsearch(&value, values, count, sizeof *values, order_i64_at);
    return found == NULL ? SIZE_MAX : (size_t)(found - values);
}

struct numbered {
    struct operation operation;
    int64_t start_ns;
};

ORDER_BY(by_type,
         struct numbered,
         ORDER_UP(operation.step),
         ORDER_UP(operation.type),
         ORDER_UP(start_ns))

/* The operations of a rank in chosen steps, numbered by type. */
static size_t add_member(const struct deriving *d,
                         const struct member *member,
                         struct numbered *room,
                         struct operation *items)
{
    size_t count = 0;
    for (uint32_t i = 0; i < member->from->operation_count; i++) {
        const struct rank_operation *from = &member->from->operations[i];
        if (place_in(d->steps, d->step_count, from->step) == SIZE_MAX) {
            continue;
        }
        size_t chunk = place_in(member->stages, member->stage_count, from->stage);
        int64_t start_ns = saturating_sub(from->start_ns, member->from->zero_ns);
        room[count++] = (struct numbered){
            .operation = {.start_s = (double)start_ns / NS_PER_S,
                          .duration_s = (double)from->duration_ns / NS_PER_S,
                          .step = from->step,
                          .rank = member->from->rank,
                          .chunk = chunk == SIZE_MAX ? 0 : (int64_t)chunk,
                          .model_chunk =
                              from->stage == RANK_UNKNOWN ? (int64_t)member->stage : from->stage,
                          .dp_rank = member->replica,
                          .stage = member->stage,
                          .type = from->type},
            .start_ns = start_ns};
    }
    if (count > 0) {
        qsort(room, count, sizeof *room, by_type);
    }
    for (size_t i = 0; i < count; i++) {
        bool goes_on = i > 0 && room[i].operation.step == room[i - 1].operation.step &&
                       room[i].operation.type == room[i - 1].operation.type;
        room[i].operation.seq_id = goes_on ? room[i - 1].operation.seq_id + 1 : 0;
        items[i] = room[i].operation;
    }
    return count;
}

static bool make_table(struct deriving *d, struct arena *arena, struct operation_table **out)
{
    size_t total = 0;
    for (size_t m = 0; m < d->count; m++) {
        total += d->members[m].from->operation_count;
    }
    struct operation_table *table = arena_calloc(arena, 1, sizeof *table);
    struct numbered *room = scratch_alloc(total, sizeof *room);
    bool ok = table != NULL && room != NULL && total < UINT32_MAX;
    if (ok) {
        table->is_annotated = true;
        table->items = arena_calloc(arena, total + 1, sizeof *table->items);
        ok = table->items != NULL;
    }
    for (size_t m = 0; ok && m < d->count; m++) {
        table->count += (uint32_t)add_member(d, &d->members[m], room, table->items + table->count);
    }
    scratch_free(room);
    *out = ok && table->count > 0 ? table : NULL;
    return ok;
}

static bool add_members(struct deriving *d, const struct annotated_rank *ranks, size_t count)
{
    bool ok = true;
    d->members = scratch_calloc(count, sizeof *d->members);
    for (size_t i = 0; d->members != NULL && ok && i < count; i++) {
        if (ranks[i].operation_count == 0) {
            continue;
        }
        struct id_slot *slot = id_map_add(&d->by_rank, ranks[i].rank);
        d->members[d->count] = (struct member){.from = &ranks[i], .parent = d->count};
        ok = slot != NULL && list_stages(&d->members[d->count]);
        if (slot != NULL) {
            slot->value = (uint32_t)d->count;
        }
        d->count++;
    }
    return ok && d->members != NULL;
}

bool annotated_operations(const struct annotated_rank *ranks,
                          size_t count,
                          struct arena *arena,
                          struct operation_table **out)
{
    struct deriving d = {.count = 0};
    *out = NULL;
    id_map_init(&d.by_rank);
    bool ok = add_members(&d, ranks, count);
    if (ok && d.count > 0 && set_keys(&d)) {
        ok = number_stages(&d) && add_all_transfers(&d, arena) && choose_steps(&d) &&
             make_table(&d, arena, out);
    }
    for (size_t m = 0; d.members != NULL && m < d.count; m++) {
        scratch_free(d.members[m].stages);
    }
    id_map_free(&d.by_rank);
    SCRATCH_FREE(d.members, d.steps);
    return ok;
}

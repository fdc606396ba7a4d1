#include "ingest/analysis/operations/lanes.h"

#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"

#include <inttypes.h>
#include <stdlib.h>

struct place {
    const struct operation *operation;
    uint32_t at; /* in the table */
};

static int compare_keys(struct operation_key a, struct operation_key b)
{
    int order = order_i64(a.type, b.type);
    order = order != 0 ? order : order_i64(a.seq_id, b.seq_id);
    return order != 0 ? order : order_i64(a.stage, b.stage);
}

static struct operation_key key_of(const struct operation *operation)
{
    return (struct operation_key){operation->seq_id, operation->stage, operation->type};
}

static bool is_same_lane(const struct operation *a, const struct operation *b)
{
    return a->step == b->step && a->dp_rank == b->dp_rank;
}

/* Of one key in one lane the last row goes first. */
ORDER_BY(by_lane,
         struct place,
         ORDER_UP(operation->step),
         ORDER_UP(operation->dp_rank),
         ORDER_KEY(compare_keys(key_of(a->operation), key_of(b->operation))),
         ORDER_DOWN(at))

/* The operations lane by lane, by key; each key once. NULL without memory; to be freed. */
static struct place *sort_operations(const struct operation_table *table, size_t *count)
{
    struct place *places = scratch_alloc(table->count, sizeof *places);
    *count = 0;
    if (places == NULL) {
        return NULL;
    }
    for (uint32_t i = 0; i < table->count; i++) {
        places[i] = (struct place){&table->items[i], i};
    }
    if (table->count > 0) {
        qsort(places, table->count, sizeof *places, by_lane);
    }
    for (uint32_t i = 0; i < table->count; i++) {
        const struct operation *before = *count == 0 ? NULL : places[*count - 1].operation;
        const struct operation *own = places[i].operation;
        bool is_again = before != NULL && is_same_lane(before, own) &&
                        compare_keys(key_of(before), key_of(own)) == 0;
        if (!is_again) {
            places[(*count)++] = places[i];
        }
    }
    return places;
}

static bool no_memory(struct err *err)
{
    return err_set(err, ERR_NO_MEMORY, "no memory for the operations of a job");
}

static bool lacks(const struct operation *lane, struct operation_key key, struct err *err)
{
    return err_set(err, ERR_BAD_INPUT,
                   "Step %" PRId64 ", dp_rank %" PRIu32 ": %s %" PRId64 " of stage %" PRIu32
                   " is not in every step and replica",
                   lane->step, lane->dp_rank, operation_type_name((enum operation_type)key.type),
                   key.seq_id, key.stage);
}

/* The first key that only one of two lanes has. */
static struct operation_key
first_difference(const struct operation_lanes *lanes, const struct place *lane, size_t count)
{
    for (size_t i = 0; i < lanes->key_count && i < count; i++) {
        struct operation_key own = key_of(lane[i].operation);
        int order = compare_keys(lanes->keys[i], own);
        if (order != 0) {
            return order < 0 ? lanes->keys[i] : own;
        }
    }
    return count < lanes->key_count ? lanes->keys[count] : key_of(lane[lanes->key_count].operation);
}

static bool add_first_lane(struct operation_lanes *out, const struct place *lane, size_t count)
{
    out->keys = scratch_alloc(count, sizeof *out->keys);
    out->first = scratch_alloc(count, sizeof(struct operation *));
    out->key_count = count;
    for (size_t i = 0; out->keys != NULL && out->first != NULL && i < count; i++) {
        out->keys[i] = key_of(lane[i].operation);
        out->first[i] = lane[i].operation;
    }
    return out->keys != NULL && out->first != NULL;
}

static size_t lane_end(const struct place *places, size_t count, size_t first)
{
    size_t end = first;
    while (end < count && is_same_lane(places[end].operation, places[first].operation)) {
        end++;
    }
    return end;
}

/* Every lane has the keys of the first, and every step its replicas. */
static bool
check_lanes(struct operation_lanes *out, const struct place *places, size_t count, struct err *err)
{
    size_t lane = 0;
    for (size_t first = 0, end; first < count; first = end, lane++) {
        const struct operation *own = places[first].operation;
        end = lane_end(places, count, first);
        bool is_same = end - first == out->key_count;
        for (size_t i = 0; is_same && i < out->key_count; i++) {
            is_same = compare_keys(out->keys[i], key_of(places[first + i].operation)) == 0;
        }
        if (!is_same) {
            return lacks(own, first_difference(out, &places[first], end - first), err);
        }
        size_t step = lane / out->replica_count;
        if (step >= out->step_count || out->steps[step] != own->step ||
            out->replicas[lane % out->replica_count] != own->dp_rank) {
            return err_set(err, ERR_BAD_INPUT,
                           "Step %" PRId64 " has not the dp_ranks of the first step: dp_rank "
                           "%" PRIu32 " is missing or surplus",
                           own->step, own->dp_rank);
        }
    }
    return lane == out->step_count * out->replica_count ||
           err_set(err, ERR_BAD_INPUT, "The last step has not the dp_ranks of the first one");
}

/* Steps of all lanes, replicas of the first step. */
static bool list_lanes(struct operation_lanes *out, const struct place *places, size_t count)
{
    out->steps = scratch_alloc(count, sizeof *out->steps);
    out->replicas = scratch_alloc(count, sizeof *out->replicas);
    if (out->steps == NULL || out->replicas == NULL) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        const struct operation *own = places[i].operation;
        if (out->step_count == 0 || out->steps[out->step_count - 1] != own->step) {
            out->steps[out->step_count++] = own->step;
        }
        bool is_new =
            out->replica_count == 0 || out->replicas[out->replica_count - 1] != own->dp_rank;
        if (out->step_count == 1 && is_new) {
            out->replicas[out->replica_count++] = own->dp_rank;
        }
    }
    return true;
}

static bool copy_times(struct operation_lanes *out, const struct place *places, size_t count)
{
    out->start_s = scratch_alloc(count, sizeof *out->start_s);
    out->duration_s = scratch_alloc(count, sizeof *out->duration_s);
    for (size_t i = 0; out->start_s != NULL && out->duration_s != NULL && i < count; i++) {
        out->start_s[i] = places[i].operation->start_s;
        out->duration_s[i] = places[i].operation->duration_s;
    }
    return out->start_s != NULL && out->duration_s != NULL;
}

bool operation_lanes_build(struct operation_lanes *out,
                           const struct operation_table *table,
                           struct err *err)
{
    size_t count = 0;
    *out = (struct operation_lanes){.is_annotated = table->is_annotated};
    struct place *places = sort_operations(table, &count);
    if (places == NULL) {
        return no_memory(err);
    }
    bool ok = (add_first_lane(out, places, count == 0 ? 0 : lane_end(places, count, 0)) &&
               list_lanes(out, places, count)) ||
              no_memory(err);
    ok = ok && (count > 0 || err_set(err, ERR_BAD_INPUT, "The table has no operation"));
    ok = ok && check_lanes(out, places, count, err) &&
         (copy_times(out, places, count) || no_memory(err));
    for (size_t i = 0; ok && i < count; i++) {
        const struct operation *own = places[i].operation;
        out->stage_count = own->stage >= out->stage_count ? own->stage + 1 : out->stage_count;
        out->chunk_count = own->chunk >= out->chunk_count ? own->chunk + 1 : out->chunk_count;
    }
    scratch_free(places);
    return ok;
}

void operation_lanes_free(struct operation_lanes *lanes)
{
    SCRATCH_FREE(lanes->keys, (void *)lanes->first, lanes->steps, lanes->replicas, lanes->start_s,
                 lanes->duration_s);
}

size_t operation_lanes_find(const struct operation_lanes *lanes, struct operation_key key)
{
    size_t low = 0;
    ORDER_SEARCH(low, lanes->key_count, at, compare_keys(lanes->keys[at], key) < 0);
    bool is_there = low < lanes->key_count && compare_keys(lanes->keys[low], key) == 0;
    return is_there ? low : SIZE_MAX;
}

/* Collectives of a run in figures [RANK-1h] to [RANK-1l]. */
#include "ingest/analysis/ranks/run_internal.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_S 1e9

static const char *const kind_names[RANK_KIND_COUNT] = {
    [RANK_ALL_REDUCE] = "all_reduce", [RANK_REDUCE_SCATTER] = "reduce_scatter",
    [RANK_ALL_GATHER] = "all_gather", [RANK_ALL_TO_ALL] = "all_to_all",
    [RANK_BARRIER] = "barrier",       [RANK_BROADCAST] = "broadcast",
    [RANK_REDUCE] = "reduce",         [RANK_SEND_RECEIVE] = "send_receive",
    [RANK_OTHER] = "other",
};

struct making {
    struct ranks_run *run;
    struct arena *arena;
    struct ranks_collectives *out;
    const char **texts; /* run.texts, in the arena */
    int64_t zero_ns;    /* start of the run */
    bool is_raw;
};

static const char *text_of(const struct making *m, uint32_t text)
{
    return text == RANKS_NONE ? NULL : m->texts[text];
}

static bool copy_texts(struct making *m)
{
    uint32_t count = strtab_count(m->run->texts);
    m->texts = arena_calloc(m->arena, (size_t)count + 1, sizeof *m->texts);
    bool ok = m->texts != NULL;
    for (uint32_t i = 0; ok && i < count; i++) {
        m->texts[i] =
            arena_strndup(m->arena, strtab_text(m->run->texts, i), strtab_len(m->run->texts, i));
        ok = m->texts[i] != NULL;
    }
    return ok;
}

/* On the clock of the answer, absolute. */
static int64_t start_of(const struct making *m, const struct ranks_part *part)
{
    int64_t start_ns = ranks_part_event(m->run, part)->start_ns;
    return m->is_raw ? start_ns : saturating_sub(start_ns, m->run->members[part->member].offset_ns);
}

/* ---- figures of one instance [RANK-1h] [RANK-1i] ---- */

struct extremes {
    int64_t first_ns, last_ns, first_end_ns, last_end_ns, shortest_ns;
    uint32_t first, last; /* members */
};

static struct extremes find_extremes(const struct making *m, uint32_t instance)
{
    struct extremes e = {INT64_MAX, INT64_MIN, INT64_MAX, INT64_MIN, INT64_MAX, 0, 0};
    for (uint32_t p = m->run->first[instance]; p < m->run->first[instance + 1]; p++) {
        const struct ranks_part *part = &m->run->parts[p];
        int64_t start_ns = start_of(m, part);
        int64_t duration_ns = ranks_part_event(m->run, part)->duration_ns;
        int64_t end_ns = saturating_add(start_ns, duration_ns);
        e.first = start_ns < e.first_ns ? part->member : e.first;
        e.last = start_ns > e.last_ns ? part->member : e.last;
        e.first_ns = i64_min(e.first_ns, start_ns);
        e.last_ns = i64_max(e.last_ns, start_ns);
        e.first_end_ns = i64_min(e.first_end_ns, end_ns);
        e.last_end_ns = i64_max(e.last_end_ns, end_ns);
        e.shortest_ns = i64_min(e.shortest_ns, duration_ns);
    }
    return e;
}

static double bus_factor(enum rank_kind kind, int64_t size)
{
    double others = (double)size - 1;
    if (size <= 0) {
        return (double)NAN;
    }
    switch (kind) {
    case RANK_ALL_REDUCE:
        return 2 * others / (double)size;
    case RANK_ALL_GATHER:
    case RANK_REDUCE_SCATTER:
    case RANK_ALL_TO_ALL:
        return others / (double)size;
    case RANK_OTHER:
    case RANK_KIND_COUNT:
        return (double)NAN;
    default:
        return 1;
    }
}

static void set_bandwidth(struct collective_row *row, enum rank_kind kind)
{
    bool is_known = row->bytes != RANK_UNKNOWN && row->transfer_ns > 0;
    row->algorithm_bytes_per_s =
        is_known ? (double)row->bytes * NS_PER_S / (double)row->transfer_ns : (double)NAN;
    row->bus_bytes_per_s = row->algorithm_bytes_per_s * bus_factor(kind, row->size);
}

static void fill_times(const struct making *m, struct collective_row *row)
{
    struct extremes e = find_extremes(m, row->instance);
    int64_t wait_ns = 0;
    for (uint32_t p = m->run->first[row->instance]; p < m->run->first[row->instance + 1]; p++) {
        wait_ns =
            saturating_add(wait_ns, saturating_sub(e.last_ns, start_of(m, &m->run->parts[p])));
    }
    row->start_ns = saturating_sub(e.first_ns, m->zero_ns);
    row->skew_ns = saturating_sub(e.last_ns, e.first_ns);
    row->end_skew_ns = saturating_sub(e.last_end_ns, e.first_end_ns);
    row->transfer_ns = e.shortest_ns;
    row->mean_wait_ns = (double)wait_ns / (double)row->ranks_n;
    row->first_rank = m->run->members[e.first].rank;
    row->last_rank = m->run->members[e.last].rank;
}

static void fill_row(const struct making *m, uint32_t at, struct collective_row *row)
{
    const struct ranks_run *run = m->run;
    const struct ranks_instance *instance = &run->instances[at];
    const struct ranks_group *group = &run->groups[instance->group];
    struct ranks_call call = ranks_call_of(run, instance->call);
    *row = (struct collective_row){
        .group = text_of(m, group->name),
        .group_ranks = text_of(m, group->ranks),
        .sequence = instance->sequence,
        .matched_by = group->by_order ? "order" : "sequence",
        .name = text_of(m, call.name),
        .kind = kind_names[call.kind],
        .ranks_n = ranks_instance_size(run, at),
        .size = instance->size == RANK_UNKNOWN ? (int64_t)run->member_count : instance->size,
        .mismatch = instance->mismatch,
        .dtype = text_of(m, instance->dtype),
        .step = instance->step == RANKS_NONE ? RANK_UNKNOWN : run->steps[instance->step],
        .in_bytes = instance->in_bytes,
        .out_bytes = instance->out_bytes,
        .bytes = call.kind == RANK_ALL_GATHER ? instance->out_bytes : instance->in_bytes,
        .instance = at,
    };
    row->complete = row->ranks_n == row->size;
    fill_times(m, row);
    set_bandwidth(row, call.kind);
}

ORDER_BY(by_start,
         struct collective_row,
         ORDER_UP(start_ns),
         ORDER_TEXT(group),
         ORDER_TEXT(group_ranks),
         ORDER_UP(sequence),
         ORDER_UP(instance))

/* ---- summary [RANK-1l] ---- */

static struct key
sum_key(struct key_map *groups, const struct ranks_run *run, const struct collective_row *row)
{
    const struct ranks_instance *instance = &run->instances[row->instance];
    const struct ranks_group *group = &run->groups[instance->group];
    uint32_t named = key_map_add(groups, (struct key){{group->name, group->ranks, 0, 0}});
    uint32_t kind = (uint32_t)ranks_call_of(run, instance->call).kind;
    return (struct key){
        {kind, named, (uint32_t)(uint64_t)row->bytes, (uint32_t)((uint64_t)row->bytes >> 32)}};
}

ORDER_BY(by_transfer,
         struct collective_sum_row,
         ORDER_DOWN(transfer_ns),
         ORDER_TEXT(kind),
         ORDER_TEXT(group),
         ORDER_TEXT(group_ranks),
         ORDER_UP(bytes))

struct bus_value {
    double value;
    uint32_t sum;
};

ORDER_BY(by_sum, struct bus_value, ORDER_UP(sum), ORDER_UP(value))

static void set_medians(struct ranks_collectives *out, struct bus_value *values, size_t count)
{
    if (count > 0) {
        qsort(values, count, sizeof *values, by_sum);
    }
    for (size_t i = 0, end; i < count; i = end) {
        end = i;
        while (end < count && values[end].sum == values[i].sum) {
            end++;
        }
        size_t n = end - i;
        double low = values[i + (n - 1) / 2].value;
        double high = values[i + n / 2].value;
        out->sums[values[i].sum].bus_bytes_per_s = n % 2 == 1 ? low : (low + high) / 2;
    }
}

static bool add_sums(struct making *m, struct key_map *sums, struct key_map *groups)
{
    struct ranks_collectives *out = m->out;
    struct bus_value *values = scratch_alloc(out->row_count, sizeof *values);
    size_t known = 0;
    out->sums = arena_calloc(m->arena, out->row_count + 1, sizeof *out->sums);
    bool ok = values != NULL && out->sums != NULL;
    for (size_t i = 0; ok && i < out->row_count; i++) {
        const struct collective_row *row = &out->rows[i];
        if (!row->complete || row->mismatch) {
            continue;
        }
        uint32_t at = key_map_add(sums, sum_key(groups, m->run, row));
        ok = at != KEY_MAP_NONE;
        struct collective_sum_row *sum = ok ? &out->sums[at] : NULL;
        if (ok && at == out->sum_count) {
            out->sum_count++;
            *sum = (struct collective_sum_row){.kind = row->kind,
                                               .group = row->group,
                                               .group_ranks = row->group_ranks,
                                               .bytes = row->bytes,
                                               .bus_bytes_per_s = (double)NAN};
        }
        if (ok) {
            sum->count++;
            sum->transfer_ns = saturating_add(sum->transfer_ns, row->transfer_ns);
            sum->mean_wait_ns += row->mean_wait_ns;
        }
        if (ok && !isnan(row->bus_bytes_per_s)) {
            values[known++] = (struct bus_value){row->bus_bytes_per_s, at};
        }
    }
    for (size_t i = 0; ok && i < out->sum_count; i++) {
        out->sums[i].mean_wait_ns /= (double)out->sums[i].count;
    }
    if (ok) {
        set_medians(out, values, known);
    }
    scratch_free(values);
    return ok;
}

static bool sum_up(struct making *m)
{
    struct key_map sums;
    struct key_map groups;
    key_map_init(&sums);
    key_map_init(&groups);
    bool ok = add_sums(m, &sums, &groups);
    key_map_free(&sums);
    key_map_free(&groups);
    if (ok && m->out->sum_count > 0) {
        qsort(m->out->sums, m->out->sum_count, sizeof *m->out->sums, by_transfer);
    }
    return ok;
}

/* ---- experts [RANK-1m], ranks ---- */

static double imbalance(const int64_t *sums, size_t count, double total)
{
    int64_t largest = 0;
    for (size_t i = 0; i < count; i++) {
        largest = i64_max(largest, sums[i]);
    }
    return total > 0 ? (double)largest * (double)count / total : (double)NAN;
}

static bool copy_experts(struct making *m)
{
    size_t count = m->run->member_count;
    const int64_t *from = m->run->sent_bytes;
    struct ranks_collectives *out = m->out;
    if (from == NULL) {
        return true;
    }
    int64_t *sums = scratch_calloc(2 * count, sizeof *sums);
    out->sent_bytes = arena_calloc(m->arena, count * count, sizeof *out->sent_bytes);
    bool ok = sums != NULL && out->sent_bytes != NULL;
    int64_t total = 0;
    for (size_t i = 0; ok && i < count * count; i++) {
        out->sent_bytes[i] = from[i];
        total = saturating_add(total, from[i]);
        sums[i / count] = saturating_add(sums[i / count], from[i]);
        sums[count + i % count] = saturating_add(sums[count + i % count], from[i]);
    }
    if (ok) {
        out->imbalance_send = imbalance(sums, count, (double)total);
        out->imbalance_receive = imbalance(sums + count, count, (double)total);
    }
    scratch_free(sums);
    return ok;
}

static bool copy_ranks(struct making *m)
{
    struct ranks_collectives *out = m->out;
    size_t count = m->run->member_count;
    out->rank_count = count;
    out->ranks = arena_calloc(m->arena, count + 1, sizeof *out->ranks);
    out->communication_ns = arena_calloc(m->arena, count + 1, sizeof *out->communication_ns);
    out->hidden_ns = arena_calloc(m->arena, count + 1, sizeof *out->hidden_ns);
    bool ok = out->ranks != NULL && out->communication_ns != NULL && out->hidden_ns != NULL;
    for (size_t i = 0; ok && i < count; i++) {
        out->ranks[i] = m->run->members[i].rank;
        out->communication_ns[i] = m->run->members[i].communication_ns;
        out->hidden_ns[i] = m->run->members[i].hidden_ns;
    }
    return ok;
}

/* ---- parts ---- */

static bool copy_parts(struct making *m)
{
    const struct ranks_run *run = m->run;
    uint32_t count = run->first[run->instance_count];
    struct ranks_collectives *out = m->out;
    out->first = arena_calloc(m->arena, (size_t)run->instance_count + 1, sizeof *out->first);
    out->parts = arena_calloc(m->arena, (size_t)count + 1, sizeof *out->parts);
    if (out->first == NULL || out->parts == NULL) {
        return false;
    }
    memcpy(out->first, run->first, ((size_t)run->instance_count + 1) * sizeof *out->first);
    for (uint32_t i = 0; i < run->instance_count; i++) {
        struct extremes e = find_extremes(m, i);
        for (uint32_t p = run->first[i]; p < run->first[i + 1]; p++) {
            const struct ranks_part *part = &run->parts[p];
            const struct ranks_member *member = &run->members[part->member];
            int64_t start_ns = start_of(m, part);
            out->parts[p] =
                (struct collective_part){.rank = member->rank,
                                         .trace = member->trace_id,
                                         .event = ranks_part_event(run, part)->event,
                                         .start_ns = saturating_sub(start_ns, m->zero_ns),
                                         .duration_ns = ranks_part_event(run, part)->duration_ns,
                                         .wait_ns = saturating_sub(e.last_ns, start_ns)};
        }
    }
    return true;
}

bool ranks_run_collectives(struct ranks_run *run,
                           bool is_raw,
                           bool with_parts,
                           struct arena *arena,
                           struct ranks_collectives *out)
{
    struct making m = {.run = run, .arena = arena, .out = out, .is_raw = is_raw};
    *out =
        (struct ranks_collectives){.imbalance_send = (double)NAN, .imbalance_receive = (double)NAN};
    out->row_count = run->instance_count;
    out->rows = arena_calloc(arena, out->row_count + 1, sizeof *out->rows);
    if (out->rows == NULL || !copy_texts(&m)) {
        return false;
    }
    m.zero_ns = ranks_zero(run, is_raw);
    for (uint32_t i = 0; i < run->instance_count; i++) {
        fill_row(&m, i, &out->rows[i]);
    }
    if (out->row_count > 0) {
        qsort(out->rows, out->row_count, sizeof *out->rows, by_start);
    }
    return sum_up(&m) && copy_experts(&m) && copy_ranks(&m) && (!with_parts || copy_parts(&m));
}

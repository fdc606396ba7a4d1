#include "ingest/analysis/ranks/run.h"

#include "ingest/analysis/ranks/run_internal.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"

#include <stdlib.h>
#include <string.h>

struct ranks_run *ranks_run_create(const int64_t *ranks, const int64_t *trace_ids, size_t count)
{
    struct ranks_run *run = scratch_calloc(1, sizeof *run);
    if (run == NULL) {
        return NULL;
    }
    key_map_init(&run->calls);
    key_map_init(&run->groups_by_text);
    key_map_init(&run->candidates);
    id_map_init(&run->member_of_rank);
    run->texts = strtab_create();
    run->members = scratch_calloc(count, sizeof *run->members);
    run->member_count = count;
    bool ok = run->texts != NULL && run->members != NULL;
    for (size_t i = 0; ok && i < count; i++) {
        run->members[i] = (struct ranks_member){.rank = ranks[i],
                                                .trace_id = trace_ids[i],
                                                .first_ns = RANK_UNKNOWN,
                                                .last_ns = RANK_UNKNOWN};
        struct id_slot *slot = id_map_add(&run->member_of_rank, ranks[i]);
        ok = slot != NULL;
        if (ok) {
            slot->value = (uint32_t)i;
        }
    }
    if (!ok) {
        ranks_run_destroy(run);
    }
    return ok ? run : NULL;
}

void ranks_run_destroy(struct ranks_run *run)
{
    if (run == NULL) {
        return;
    }
    for (size_t i = 0; run->members != NULL && i < run->member_count; i++) {
        SCRATCH_FREE(run->members[i].events, run->members[i].steps, run->members[i].steps_by_start);
    }
    key_map_free(&run->calls);
    key_map_free(&run->groups_by_text);
    key_map_free(&run->candidates);
    id_map_free(&run->member_of_rank);
    strtab_destroy(run->texts);
    SCRATCH_FREE(run->members, run->groups, run->instances, run->first, run->parts, run->sent_bytes,
                 run->steps, run->wait_ns, run->cause_ns, run->culprits, run->first_candidate,
                 run->candidate_ns, run->last_start_ns, run);
}

void ranks_sort(int64_t *values, size_t count)
{
    if (count > 1) {
        qsort(values, count, sizeof *values, order_i64_at);
    }
}

int64_t ranks_median(int64_t *values, size_t count)
{
    ranks_sort(values, count);
    int64_t low = values[(count - 1) / 2];
    return ranks_middle(low, values[count / 2]);
}

int64_t ranks_zero(const struct ranks_run *run, bool is_raw)
{
    int64_t zero_ns = 0;
    bool has_any = false;
    for (size_t i = 0; i < run->member_count; i++) {
        const struct ranks_member *member = &run->members[i];
        int64_t first_ns =
            is_raw ? member->first_ns : saturating_sub(member->first_ns, member->offset_ns);
        if (member->first_ns != RANK_UNKNOWN && (!has_any || first_ns < zero_ns)) {
            zero_ns = first_ns;
            has_any = true;
        }
    }
    return zero_ns;
}

/* ---- adding ---- */

/* Ids in run.texts of the texts of a digest. */
static bool share_texts(struct ranks_run *run, const struct rank_digest *digest, uint32_t *shared)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < digest->text_count; i++) {
        shared[i] = strtab_intern(run->texts, digest->texts[i], strlen(digest->texts[i]));
        ok = shared[i] != STRTAB_NONE;
    }
    return ok;
}

static uint32_t shared_text(const uint32_t *shared, uint32_t text)
{
    return text == RANK_NO_TEXT ? RANKS_NONE : shared[text];
}

/* RANKS_NONE without memory. */
static uint32_t find_group(struct ranks_run *run, uint32_t name, uint32_t ranks, uint32_t call_name)
{
    uint32_t count = run->groups_by_text.count;
    struct key key = {{name, ranks, name == RANKS_NONE ? call_name : 0, 0}};
    uint32_t at = key_map_add(&run->groups_by_text, key);
    if (at != KEY_MAP_NONE && at == count) {
        struct ranks_group *groups =
            scratch_grow(run->groups, count, &run->groups_cap, sizeof *groups);
        if (groups == NULL) {
            return RANKS_NONE;
        }
        run->groups = groups;
        groups[at] = (struct ranks_group){.name = name, .ranks = ranks, .seen_member = RANKS_NONE};
    }
    return at;
}

/* A group in which a Seq is missing, or comes twice on a rank, is matched by order [RANK-1d]. */
static bool
check_sequence(struct ranks_run *run, struct key_map *seen, const struct ranks_event *item)
{
    struct ranks_group *group = &run->groups[item->group];
    uint64_t sequence = (uint64_t)item->sequence;
    uint32_t count = seen->count;
    if (item->sequence == RANK_UNKNOWN || group->by_order) {
        group->by_order = true;
        return true;
    }
    uint32_t at = key_map_add(seen, (struct key){{item->group, ranks_call_of(run, item->call).name,
                                                  (uint32_t)sequence, (uint32_t)(sequence >> 32)}});
    group->by_order = at != count;
    return at != KEY_MAP_NONE;
}

static bool add_events(struct ranks_run *run,
                       struct ranks_member *member,
                       const struct rank_digest *digest,
                       const uint32_t *shared)
{
    struct key_map seen;
    bool ok = true;
    key_map_init(&seen);
    member->events = scratch_alloc(digest->collective_count, sizeof *member->events);
    ok = member->events != NULL;
    for (uint32_t i = 0; ok && i < digest->collective_count; i++) {
        const struct rank_collective *from = &digest->collectives[i];
        struct ranks_event *item = &member->events[i];
        uint32_t name = shared_text(shared, from->name);
        *item = (struct ranks_event){.start_ns = from->start_ns,
                                     .duration_ns = from->duration_ns,
                                     .sequence = from->sequence,
                                     .event = from->event,
                                     .instance = RANKS_NONE};
        item->call = key_map_add(&run->calls, (struct key){{name, from->kind, 0, 0}});
        item->group = find_group(run, shared_text(shared, from->group),
                                 shared_text(shared, from->group_ranks), name);
        ok = item->call != KEY_MAP_NONE && item->group != RANKS_NONE &&
             check_sequence(run, &seen, item);
        member->event_count = i + 1;
    }
    key_map_free(&seen);
    return ok;
}

struct start_of_step {
    int64_t start_ns;
    uint32_t step;
};

ORDER_BY(by_start, struct start_of_step, ORDER_UP(start_ns), ORDER_UP(step))

static bool add_steps(struct ranks_member *member, const struct rank_digest *digest)
{
    uint32_t count = digest->step_count;
    struct start_of_step *starts = scratch_alloc(count, sizeof *starts);
    member->steps = scratch_alloc(count, sizeof *member->steps);
    member->steps_by_start = scratch_alloc(count, sizeof *member->steps_by_start);
    bool ok = starts != NULL && member->steps != NULL && member->steps_by_start != NULL;
    if (ok && count > 0) {
        memcpy(member->steps, digest->steps, count * sizeof *member->steps);
        for (uint32_t i = 0; i < count; i++) {
            starts[i] = (struct start_of_step){digest->steps[i].start_ns, i};
        }
        qsort(starts, count, sizeof *starts, by_start);
        for (uint32_t i = 0; i < count; i++) {
            member->steps_by_start[i] = starts[i].step;
        }
        member->step_count = count;
    }
    scratch_free(starts);
    return ok;
}

bool ranks_run_add(struct ranks_run *run, size_t member, const struct rank_digest *digest)
{
    struct ranks_member *to = &run->members[member];
    uint32_t *shared = scratch_alloc(digest->text_count, sizeof *shared);
    to->first_ns = digest->first_ns;
    to->last_ns = digest->last_ns;
    to->communication_ns = digest->communication_ns;
    to->hidden_ns = digest->hidden_ns;
    bool ok = shared != NULL && share_texts(run, digest, shared) &&
              add_events(run, to, digest, shared) && add_steps(to, digest) &&
              ranks_add_experts(run, member, digest);
    scratch_free(shared);
    return ok;
}

/* ---- matching [RANK-1d] ---- */

/* The key of the instance of a member's event; the events of each group are counted. */
static struct key key_of(struct ranks_run *run, uint32_t member, const struct ranks_event *item)
{
    struct ranks_group *group = &run->groups[item->group];
    uint64_t sequence = (uint64_t)item->sequence;
    if (group->seen_member != member) {
        group->seen_member = member;
        group->seen = 0;
    }
    uint32_t place = group->seen++;
    return group->by_order ? (struct key){{item->group, place, 0, 0}}
                           : (struct key){{item->group, ranks_call_of(run, item->call).name,
                                           (uint32_t)sequence, (uint32_t)(sequence >> 32)}};
}

static bool number_instances(struct ranks_run *run)
{
    struct key_map keys;
    size_t cap = 0;
    bool ok = true;
    key_map_init(&keys);
    for (uint32_t m = 0; ok && m < run->member_count; m++) {
        struct ranks_member *member = &run->members[m];
        for (uint32_t i = 0; ok && i < member->event_count; i++) {
            struct ranks_event *item = &member->events[i];
            struct ranks_instance *instances =
                scratch_grow(run->instances, run->instance_count, &cap, sizeof *instances);
            struct key key = key_of(run, m, item);
            item->instance = key_map_add(&keys, key);
            ok = instances != NULL && item->instance != KEY_MAP_NONE;
            run->instances = instances == NULL ? run->instances : instances;
            if (ok && item->instance == run->instance_count) {
                bool by_order = run->groups[item->group].by_order;
                instances[run->instance_count++] = (struct ranks_instance){
                    .sequence = by_order ? (int64_t)key.id[1] : item->sequence,
                    .size = RANK_UNKNOWN,
                    .in_bytes = RANK_UNKNOWN,
                    .out_bytes = RANK_UNKNOWN,
                    .group = item->group,
                    .call = item->call,
                    .dtype = RANKS_NONE,
                    .lowest = m,
                    .step = RANKS_NONE};
            }
        }
    }
    key_map_free(&keys);
    return ok;
}

/* Members stand in ascending order in each instance. */
static bool list_parts(struct ranks_run *run)
{
    size_t part_count = 0;
    for (size_t m = 0; m < run->member_count; m++) {
        part_count += run->members[m].event_count;
    }
    if (part_count >= RANKS_NONE) {
        return false;
    }
    run->first = scratch_calloc((size_t)run->instance_count + 2, sizeof *run->first);
    run->parts = scratch_alloc(part_count, sizeof *run->parts);
    if (run->first == NULL || run->parts == NULL) {
        return false;
    }
    uint32_t *next = run->first + 1; /* moves to the end of each, where the next one begins */
    for (size_t m = 0; m < run->member_count; m++) {
        for (uint32_t i = 0; i < run->members[m].event_count; i++) {
            next[run->members[m].events[i].instance + 1]++;
        }
    }
    for (uint32_t i = 0; i < run->instance_count; i++) {
        next[i + 1] += next[i];
    }
    for (uint32_t m = 0; m < run->member_count; m++) {
        for (uint32_t i = 0; i < run->members[m].event_count; i++) {
            const struct ranks_event *item = &run->members[m].events[i];
            struct ranks_instance *instance = &run->instances[item->instance];
            run->parts[next[item->instance]++] = (struct ranks_part){m, i};
            instance->mismatch = instance->mismatch || ranks_call_of(run, item->call).name !=
                                                           ranks_call_of(run, instance->call).name;
        }
    }
    return true;
}

bool ranks_synchronises(const struct ranks_run *run, uint32_t instance)
{
    const struct ranks_instance *item = &run->instances[instance];
    return ranks_call_of(run, item->call).kind <= RANK_BARRIER && !item->mismatch &&
           ranks_instance_size(run, instance) >= 2;
}

bool ranks_run_match(struct ranks_run *run)
{
    return number_instances(run) && list_parts(run) && ranks_set_clocks(run) &&
           ranks_find_culprits(run);
}

/* ---- what the lowest rank says [RANK-1e] ---- */

bool ranks_run_describe(struct ranks_run *run, size_t member, const struct rank_digest *digest)
{
    const struct ranks_member *from = &run->members[member];
    if (digest->collective_count != from->event_count) {
        return true; /* another trace meanwhile */
    }
    for (uint32_t i = 0; i < digest->collective_count; i++) {
        const struct rank_collective *told = &digest->collectives[i];
        struct ranks_instance *instance = &run->instances[from->events[i].instance];
        if (instance->lowest != member) {
            continue;
        }
        instance->size = told->size;
        instance->in_bytes = told->in_bytes;
        instance->out_bytes = told->out_bytes;
        if (told->dtype != RANK_NO_TEXT) {
            const char *dtype = digest->texts[told->dtype];
            instance->dtype = strtab_intern(run->texts, dtype, strlen(dtype));
            if (instance->dtype == STRTAB_NONE) {
                return false;
            }
        }
    }
    return ranks_add_work(run, member, digest);
}

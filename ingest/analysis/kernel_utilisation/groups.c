#include "ingest/analysis/kernel_utilisation/groups.h"

#include "ingest/base/memory/scratch.h"
#include "ingest/base/saturating.h"
#include "ingest/index/sort.h"

static bool number_groups(struct kernel_groups *groups,
                          const struct kernel_table *table,
                          const uint32_t *key_of_name,
                          uint32_t key_count)
{
    uint32_t *group_of_key = scratch_none(key_count);
    groups->of_launch = scratch_none(table->launch_count);
    groups->groups = scratch_calloc(
        key_count < table->launch_count ? key_count : table->launch_count, sizeof *groups->groups);
    bool ok = group_of_key != NULL && groups->of_launch != NULL && groups->groups != NULL;
    for (uint32_t i = 0; ok && i < table->launch_count; i++) {
        const struct kernel_table_launch *launch = &table->launches[i];
        if (launch->kind != KERNEL_TABLE_KERNEL) {
            continue;
        }
        uint32_t key = key_of_name == NULL ? launch->name : key_of_name[launch->name];
        if (group_of_key[key] == UINT32_MAX) {
            group_of_key[key] = groups->count++;
            groups->groups[group_of_key[key]].first_launch = i;
        }
        struct kernel_group *group = &groups->groups[group_of_key[key]];
        groups->of_launch[i] = group_of_key[key];
        group->launches++;
        group->total_ns = saturating_add(group->total_ns, launch->dur_ns);
    }
    scratch_free(group_of_key);
    return ok;
}

/* Durations sorted once over all launches fall into their groups in ascending order. */
static bool sort_durations(struct kernel_groups *groups, const struct kernel_table *table)
{
    int64_t *durations = scratch_alloc(table->launch_count, sizeof *durations);
    uint32_t *group_of = scratch_alloc(table->launch_count, sizeof *group_of);
    size_t *next = scratch_alloc(groups->count, sizeof *next);
    groups->durations_ns = scratch_alloc(table->launch_count, sizeof *groups->durations_ns);
    bool ok = durations != NULL && group_of != NULL && next != NULL && groups->durations_ns != NULL;
    for (uint32_t i = 0; ok && i < table->launch_count; i++) {
        durations[i] = table->launches[i].dur_ns;
        group_of[i] = groups->of_launch[i];
    }
    ok = ok && sort_pairs(durations, group_of, table->launch_count);
    size_t begin = 0;
    for (uint32_t g = 0; ok && g < groups->count; g++) {
        groups->groups[g].durations_ns = groups->durations_ns + begin;
        next[g] = begin;
        begin += (size_t)groups->groups[g].launches;
    }
    for (uint32_t i = 0; ok && i < table->launch_count; i++) {
        if (group_of[i] != KERNEL_GROUP_NONE) {
            groups->durations_ns[next[group_of[i]]++] = durations[i];
        }
    }
    SCRATCH_FREE(durations, group_of, next);
    return ok;
}

static int by_total(uint32_t a, uint32_t b, const void *ctx)
{
    const struct kernel_groups *groups = ctx;
    int64_t total_a = groups->groups[a].total_ns;
    int64_t total_b = groups->groups[b].total_ns;
    return (total_a < total_b) - (total_a > total_b);
}

static bool order_groups(struct kernel_groups *groups)
{
    groups->order = scratch_alloc(groups->count, sizeof *groups->order);
    for (uint32_t g = 0; groups->order != NULL && g < groups->count; g++) {
        groups->order[g] = g;
    }
    if (groups->order == NULL || !sort_stable(groups->order, groups->count, by_total, groups)) {
        return false;
    }
    for (uint32_t i = 0; i < groups->count; i++) {
        groups->groups[groups->order[i]].rank = i;
    }
    return true;
}

bool kernel_groups_make(struct kernel_groups *groups,
                        const struct kernel_table *table,
                        const uint32_t *key_of_name,
                        uint32_t key_count)
{
    *groups = (struct kernel_groups){.count = 0};
    return number_groups(groups, table, key_of_name, key_count) && sort_durations(groups, table) &&
           order_groups(groups);
}

void kernel_groups_free(struct kernel_groups *groups)
{
    SCRATCH_FREE(groups->groups, groups->of_launch, groups->order, groups->durations_ns);
    *groups = (struct kernel_groups){.count = 0};
}

#include "ingest/tb_plugin/steps/breakdown.h"

#include "ingest/analysis/steps/breakdown.h"

static bool has_free_time(const struct step_row *rows, const struct steps *steps)
{
    for (uint32_t i = 0; i < steps->count; i++) {
        if (rows[i].cost_ns[TIME_OTHER] > 0) {
            return true;
        }
    }
    return false;
}

static bool make_whole(struct ranges *free_time, struct step_row *rows, const struct steps *steps)
{
    bool ok = true;
    ranges_free(free_time);
    breakdown_begin(rows, steps);
    for (uint32_t i = 0; ok && i < steps->count; i++) {
        ok = ranges_merge(free_time, steps->items[i].start, steps->items[i].end);
    }
    return ok;
}

static bool add_role(struct ranges *free_time,
                     struct step_row *rows,
                     const struct steps *steps,
                     enum time_category role,
                     const struct ranges *role_ranges)
{
    bool has_time = has_free_time(rows, steps);
    if (role_ranges->count == 0 && has_time) {
        return true; /* it costs nothing */
    }
    bool ok =
        (has_time || make_whole(free_time, rows, steps)) && breakdown_take(free_time, role_ranges);
    if (ok) {
        breakdown_add_costs(rows, steps, role, free_time);
    }
    return ok;
}

bool tb_breakdown_run(struct step_row *rows,
                      const struct steps *steps,
                      const struct time_ranges *roles)
{
    struct ranges free_time = {0};
    bool ok = make_whole(&free_time, rows, steps);
    for (int role = TIME_KERNEL; ok && role < TIME_OTHER; role++) {
        ok = add_role(&free_time, rows, steps, (enum time_category)role, &roles->by_role[role]);
    }
    ranges_free(&free_time);
    return ok && breakdown_add_overlap(rows, steps, roles);
}

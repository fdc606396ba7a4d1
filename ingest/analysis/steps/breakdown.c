#include "ingest/analysis/steps/breakdown.h"

#include "ingest/analysis/classify/tb_clock.h"

/* What is still free, while one role after the other takes its time. */
struct division {
    struct step_row *rows; /* cost_ns[TIME_OTHER]: what is free of the step */
    const struct steps *steps;
    struct ranges free_time; /* of the whole span */
    struct ranges again;     /* of the steps, once they began again */
    bool has_begun_again;
};

static bool merge_steps(struct ranges *merged, const struct steps *steps)
{
    for (uint32_t i = 0; i < steps->count; i++) {
        if (!ranges_merge(merged, steps->items[i].start, steps->items[i].end)) {
            return false;
        }
    }
    return true;
}

static bool take(struct ranges *free_time, const struct ranges *role_ranges)
{
    struct ranges left;
    if (role_ranges->count == 0) {
        return true;
    }
    if (!ranges_subtract(&left, free_time, role_ranges)) {
        return false;
    }
    ranges_free(free_time);
    *free_time = left;
    return true;
}

static bool has_free_time(const struct division *d)
{
    for (uint32_t i = 0; i < d->steps->count; i++) {
        if (d->rows[i].cost_ns[TIME_OTHER] > 0) {
            return true;
        }
    }
    return false;
}

static bool begin_again(struct division *d)
{
    ranges_free(&d->again);
    d->has_begun_again = true;
    for (uint32_t i = 0; i < d->steps->count; i++) {
        const struct step *step = &d->steps->items[i];
        d->rows[i].cost_ns[TIME_OTHER] = i64_max(saturating_sub(step->end, step->start), 0);
    }
    return merge_steps(&d->again, d->steps);
}

/* The plugin, which finds no time free, takes the steps to be whole again. */
static bool find_time(struct division *d)
{
    return d->steps->sel->ours || has_free_time(d) || begin_again(d);
}

/* What the steps lose to the role is its cost. */
static void add_costs(struct division *d, enum time_category role)
{
    const struct ranges *free_time = d->has_begun_again ? &d->again : &d->free_time;
    for (uint32_t i = 0; i < d->steps->count; i++) {
        const struct step *step = &d->steps->items[i];
        int64_t free_ns = ranges_length_within(free_time, step->start, step->end);
        int64_t *cost_ns = d->rows[i].cost_ns;
        cost_ns[role] = saturating_sub(cost_ns[TIME_OTHER], free_ns);
        cost_ns[TIME_OTHER] = free_ns;
    }
}

static bool add_role(struct division *d, enum time_category role, const struct ranges *role_ranges)
{
    if (role_ranges->count == 0 && (d->steps->sel->ours || has_free_time(d))) {
        return true; /* it costs nothing */
    }
    bool ok = take(&d->free_time, role_ranges) && find_time(d) &&
              (!d->has_begun_again || take(&d->again, role_ranges));
    if (ok) {
        add_costs(d, role);
    }
    return ok;
}

static bool
add_overlap(struct step_row *rows, const struct steps *steps, const struct time_ranges *roles)
{
    const struct ranges *kernels = &roles->by_role[TIME_KERNEL];
    const struct ranges *computation =
        kernels->count != 0 ? kernels : &roles->by_role[TIME_CPU_EXEC];
    const struct ranges *communication = &roles->by_role[TIME_COMMUNICATION];
    struct ranges both;
    if (!ranges_intersect(&both, computation, communication)) {
        return false;
    }
    for (uint32_t i = 0; i < steps->count; i++) {
        int64_t start = steps->items[i].start;
        int64_t end = steps->items[i].end;
        rows[i].computation_ns = ranges_length_within(computation, start, end);
        rows[i].communication_ns = ranges_length_within(communication, start, end);
        rows[i].overlap_ns = ranges_length_within(&both, start, end);
    }
    ranges_free(&both);
    return true;
}

static int64_t length_of(const struct ranges *list)
{
    return ranges_length_within(list, INT64_MIN, INT64_MAX);
}

bool breakdown_run(struct step_row *rows,
                   int64_t cost_ns[TIME_CATEGORY_COUNT],
                   struct range span,
                   const struct steps *steps,
                   const struct time_ranges *roles)
{
    struct division d = {.rows = rows, .steps = steps};
    int64_t free_ns = saturating_sub(span.end, span.start);
    bool ok = ranges_merge(&d.free_time, span.start, span.end) && begin_again(&d);
    d.has_begun_again = false;
    for (int role = TIME_KERNEL; ok && role < TIME_OTHER; role++) {
        ok = add_role(&d, (enum time_category)role, &roles->by_role[role]);
        bool takes_time = roles->by_role[role].count != 0;
        int64_t left_ns = takes_time ? length_of(&d.free_time) : free_ns;
        cost_ns[role] = saturating_sub(free_ns, left_ns);
        free_ns = left_ns;
    }
    cost_ns[TIME_OTHER] = free_ns;
    ranges_free(&d.free_time);
    ranges_free(&d.again);
    return ok && add_overlap(rows, steps, roles);
}

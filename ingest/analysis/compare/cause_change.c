#include "ingest/analysis/compare/cause_change.h"

#include <math.h>
#include <string.h>

#define TABLE_DEF "ingest/model/tables/comparison/cause_change.def"
#define TABLE_ROW struct cause_change_row
#include "ingest/model/tables/describe.h"

static void add(struct cause_change *out,
                const char *part,
                const char *figure,
                const char *unit,
                const double values[SIDE_COUNT])
{
    out->rows[out->count++] = (struct cause_change_row){
        .part = part,
        .figure = figure,
        .unit = unit,
        .base = values[SIDE_BASE],
        .candidate = values[SIDE_CANDIDATE],
        .delta = values[SIDE_CANDIDATE] - values[SIDE_BASE],
    };
}

static void add_time(struct cause_change *out,
                     const char *part,
                     const char *figure,
                     const double ns[SIDE_COUNT],
                     const int64_t steps[SIDE_COUNT])
{
    double values[SIDE_COUNT];
    for (int side = 0; side < SIDE_COUNT; side++) {
        values[side] = ns[side] / (double)steps[side];
    }
    add(out, part, figure, "ns", values);
}

static void add_missing(struct cause_change *out, const char *part, int side, const char *reason)
{
    out->missing[out->missing_count++] = (struct cause_missing){part, side, reason};
}

/* ---- idle time ---- */

static bool has_idle(const struct cause_side sides[SIDE_COUNT], struct cause_change *out)
{
    bool has = true;
    for (int side = 0; side < SIDE_COUNT; side++) {
        const struct idle *idle = sides[side].idle;
        if (idle == NULL || idle->device_count == 0) {
            add_missing(
                out, "idle", side,
                idle == NULL
                    ? "its events were not stored"
                    : "none of its device work names its stream, so nothing is known to wait");
            has = false;
        }
    }
    return has;
}

/* Sums over the devices of a side. */
struct idle_sums {
    double idle_ns, cause_ns[IDLE_CAUSE_COUNT], host_ns[HOST_KIND_COUNT];
};

static struct idle_sums sums_of(const struct idle *idle)
{
    struct idle_sums sums = {.idle_ns = 0};
    for (size_t i = 0; i < idle->device_count; i++) {
        const struct idle_lane *lane = &idle->devices[i];
        sums.idle_ns += (double)lane->idle_ns;
        for (int cause = 0; cause < IDLE_CAUSE_COUNT; cause++) {
            sums.cause_ns[cause] += (double)lane->causes[cause].sum_ns;
        }
        for (int kind = 0; kind < HOST_KIND_COUNT; kind++) {
            sums.host_ns[kind] += (double)lane->host_ns[kind];
        }
    }
    return sums;
}

static void add_idle(const struct cause_side sides[SIDE_COUNT],
                     const int64_t steps[SIDE_COUNT],
                     struct cause_change *out)
{
    struct idle_sums base = sums_of(sides[SIDE_BASE].idle);
    struct idle_sums candidate = sums_of(sides[SIDE_CANDIDATE].idle);
    add_time(out, "idle", "idle", (const double[]){base.idle_ns, candidate.idle_ns}, steps);
    for (int i = 0; i < IDLE_CAUSE_COUNT; i++) {
        add_time(out, "cause", idle_cause_text((enum idle_cause)i),
                 (const double[]){base.cause_ns[i], candidate.cause_ns[i]}, steps);
    }
    for (int i = 0; i < HOST_KIND_COUNT; i++) {
        add_time(out, "host", host_kind_text((enum host_kind)i),
                 (const double[]){base.host_ns[i], candidate.host_ns[i]}, steps);
    }
}

/* ---- efficiency ---- */

enum { BOUND_COMPUTE, BOUND_MEMORY, BOUND_NONE, BOUND_COUNT };

static bool has_efficiency(const struct cause_side sides[SIDE_COUNT], struct cause_change *out)
{
    bool has = true;
    for (int side = 0; side < SIDE_COUNT; side++) {
        const struct efficiency *efficiency = sides[side].efficiency;
        if (efficiency == NULL || efficiency->modelled_time_ns == 0) {
            add_missing(out, "efficiency", side,
                        efficiency == NULL ? "its events were not stored"
                                           : "no operator with recorded shapes that a formula "
                                             "knows launched device work (record_shapes=True)");
            has = false;
        }
    }
    return has;
}

static bool has_mfu(const struct cause_side sides[SIDE_COUNT], struct cause_change *out)
{
    bool has = true;
    for (int side = 0; side < SIDE_COUNT; side++) {
        const struct efficiency *efficiency = sides[side].efficiency;
        if (isnan(efficiency->mfu)) {
            add_missing(out, "mfu", side,
                        efficiency->device.name == NULL
                            ? "the peaks of its device are not known (--devices)"
                            : "its device has no peak for the type of a matrix");
            has = false;
        }
    }
    return has;
}

static void bounds_of(const struct efficiency *efficiency,
                      int side,
                      double bound_ns[BOUND_COUNT][SIDE_COUNT],
                      double headroom_ns[SIDE_COUNT])
{
    for (size_t i = 0; i < efficiency->count; i++) {
        const struct efficiency_row *row = &efficiency->rows[i];
        int bound = row->bound == NULL                   ? BOUND_NONE
                    : strcmp(row->bound, "compute") == 0 ? BOUND_COMPUTE
                                                         : BOUND_MEMORY;
        bound_ns[bound][side] += (double)row->time_ns;
        headroom_ns[side] += isnan(row->headroom_ns) ? 0 : row->headroom_ns;
    }
}

static void add_efficiency(const struct cause_side sides[SIDE_COUNT],
                           const int64_t steps[SIDE_COUNT],
                           struct cause_change *out)
{
    static const char *const bounds[BOUND_COUNT] = {"compute", "memory", "none"};
    double mfu[SIDE_COUNT];
    double modelled[SIDE_COUNT];
    double headroom_ns[SIDE_COUNT] = {0};
    double bound_ns[BOUND_COUNT][SIDE_COUNT] = {{0}};
    for (int side = 0; side < SIDE_COUNT; side++) {
        const struct efficiency *efficiency = sides[side].efficiency;
        mfu[side] = efficiency->mfu;
        modelled[side] = (double)efficiency->modelled_time_ns / (double)efficiency->time_ns;
        bounds_of(efficiency, side, bound_ns, headroom_ns);
    }
    if (has_mfu(sides, out)) {
        add(out, "efficiency", "mfu", "share", mfu);
        add_time(out, "efficiency", "headroom", headroom_ns, steps);
    }
    add(out, "efficiency", "modelled", "share", modelled);
    for (int i = 0; i < BOUND_COUNT; i++) {
        add_time(out, "bound", bounds[i], bound_ns[i], steps);
    }
}

void cause_change_of(const struct cause_side sides[SIDE_COUNT],
                     const int64_t steps[SIDE_COUNT],
                     struct cause_change *out)
{
    *out = (struct cause_change){.count = 0};
    if (has_idle(sides, out)) {
        add_idle(sides, steps, out);
    }
    if (has_efficiency(sides, out)) {
        add_efficiency(sides, steps, out);
    }
}

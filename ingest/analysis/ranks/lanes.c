/* The ranks of a run as lanes of one timeline [RANK-10]. */
#include "ingest/analysis/ranks/run.h"
#include "ingest/analysis/ranks/run_internal.h"
#include "ingest/base/memory/scratch.h"

/* ---- what a rank does ---- */

static bool make_spans(struct arena *arena, struct lane_spans *spans, size_t count)
{
    spans->start_ns = arena_calloc(arena, count + 1, sizeof *spans->start_ns);
    spans->end_ns = arena_calloc(arena, count + 1, sizeof *spans->end_ns);
    return spans->start_ns != NULL && spans->end_ns != NULL;
}

static void add_span(struct lane_spans *spans, int64_t start_ns, int64_t end_ns)
{
    if (end_ns > start_ns) {
        spans->start_ns[spans->count] = start_ns;
        spans->end_ns[spans->count++] = end_ns;
    }
}

/* What all lanes count from, and when the last rank of each instance arrives. */
static bool find_common_times(struct ranks_run *run)
{
    run->zero_ns = ranks_zero(run, false);
    run->last_start_ns = scratch_alloc(run->instance_count, sizeof *run->last_start_ns);
    for (uint32_t i = 0; run->last_start_ns != NULL && i < run->instance_count; i++) {
        int64_t last_ns = INT64_MIN;
        for (uint32_t p = run->first[i]; p < run->first[i + 1]; p++) {
            const struct ranks_part *part = &run->parts[p];
            int64_t start_ns = saturating_sub(ranks_part_event(run, part)->start_ns,
                                              run->members[part->member].offset_ns);
            last_ns = i64_max(last_ns, start_ns);
        }
        run->last_start_ns[i] = last_ns;
    }
    return run->last_start_ns != NULL;
}

bool ranks_run_lane(struct ranks_run *run,
                    size_t member,
                    const struct rank_digest *digest,
                    struct arena *arena,
                    struct rank_lane *out)
{
    const struct ranks_member *of = &run->members[member];
    *out = (struct rank_lane){.rank = of->rank};
    if ((run->last_start_ns == NULL && !find_common_times(run)) ||
        !make_spans(arena, &out->layers[LANE_BUSY], digest->busy_count) ||
        !make_spans(arena, &out->layers[LANE_TRANSFER], of->event_count) ||
        !make_spans(arena, &out->layers[LANE_WAIT], of->event_count)) {
        return false;
    }
    int64_t zero_ns = saturating_add(run->zero_ns, of->offset_ns);
    for (uint32_t i = 0; i < digest->busy_count; i++) {
        add_span(&out->layers[LANE_BUSY], saturating_sub(digest->busy[i].start_ns, zero_ns),
                 saturating_sub(digest->busy[i].end_ns, zero_ns));
    }
    for (uint32_t i = 0; i < of->event_count; i++) {
        const struct ranks_event *event = &of->events[i];
        int64_t start_ns = saturating_sub(event->start_ns, zero_ns);
        int64_t end_ns = saturating_add(start_ns, event->duration_ns);
        int64_t last_ns = start_ns;
        if (ranks_synchronises(run, event->instance)) {
            last_ns = saturating_sub(
                saturating_add(run->last_start_ns[event->instance], of->offset_ns), zero_ns);
        }
        last_ns = i64_min(i64_max(last_ns, start_ns), end_ns);
        add_span(&out->layers[LANE_WAIT], start_ns, last_ns);
        add_span(&out->layers[LANE_TRANSFER], last_ns, end_ns);
    }
    return true;
}

/* ---- a window of it ---- */

struct pixels {
    int64_t *part_ns; /* by pixel: covered by spans that begin or end in it */
    int32_t *opened;  /* by pixel, one more: spans that cover all of it from here on */
    int64_t start_ns, pixel_ns;
    size_t count;
};

static void cover_part(struct pixels *p, size_t at, int64_t ns)
{
    p->part_ns[at] = i64_min(p->pixel_ns, saturating_add(p->part_ns[at], ns));
}

static void cover(struct pixels *p, int64_t start_ns, int64_t end_ns)
{
    int64_t whole_ns = saturating_mul(p->pixel_ns, (int64_t)p->count);
    int64_t from = i64_max(0, saturating_sub(start_ns, p->start_ns));
    int64_t to = i64_min(whole_ns, saturating_sub(end_ns, p->start_ns));
    if (from >= to) {
        return;
    }
    size_t first = (size_t)(from / p->pixel_ns);
    size_t last = (size_t)((to - 1) / p->pixel_ns);
    if (first == last) {
        cover_part(p, first, to - from);
        return;
    }
    cover_part(p, first, p->pixel_ns - from % p->pixel_ns);
    cover_part(p, last, (to - 1) % p->pixel_ns + 1);
    p->opened[first + 1]++;
    p->opened[last]--;
}

bool rank_lane_levels(const struct lane_spans *spans,
                      int64_t start_ns,
                      int64_t pixel_ns,
                      size_t pixels,
                      char *levels,
                      int64_t *covered_ns)
{
    struct pixels p = {.part_ns = scratch_calloc(pixels + 1, sizeof *p.part_ns),
                       .opened = scratch_calloc(pixels + 2, sizeof *p.opened),
                       .start_ns = start_ns,
                       .pixel_ns = pixel_ns,
                       .count = pixels};
    bool ok = p.part_ns != NULL && p.opened != NULL;
    for (size_t i = 0; ok && i < spans->count; i++) {
        cover(&p, spans->start_ns[i], spans->end_ns[i]);
    }
    int64_t level_ns = i64_max(1, pixel_ns / LANE_LEVEL_MAX + (pixel_ns % LANE_LEVEL_MAX != 0));
    int32_t open = 0;
    *covered_ns = 0;
    for (size_t i = 0; ok && i < pixels; i++) {
        open += p.opened[i];
        int64_t ns = open > 0 ? pixel_ns : p.part_ns[i];
        *covered_ns = saturating_add(*covered_ns, ns);
        levels[i] = (char)(ns == 0 ? '0' : '1' + (ns - 1) / level_ns);
    }
    levels[ok ? pixels : 0] = '\0';
    SCRATCH_FREE(p.part_ns, p.opened);
    return ok;
}

#include "ingest/analysis/history/changes.h"

#include "ingest/analysis/history/split.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/text/num.h"

#include <math.h>
#include <string.h>

#define NONE SIZE_MAX

/* ---- summaries ---- */

static double sample_std(const struct piece *piece)
{
    double n = (double)piece->count;
    return piece->count > 1 ? piece->std * sqrt(n / (n - 1)) : 0;
}

bool history_summarise(struct history_summary *out, const double *values, size_t count)
{
    struct prefix_sums sums;
    *out = (struct history_summary){count,       (double)NAN, (double)NAN,
                                    (double)NAN, (double)NAN, (double)NAN};
    double *sorted = scratch_alloc(count, sizeof *sorted);
    bool ok = prefix_sums_build(&sums, values, count) && sorted != NULL;
    if (ok && count > 0) {
        struct piece piece = prefix_piece(&sums, 0, count);
        memcpy(sorted, values, count * sizeof *sorted);
        out->mean = piece.mean;
        out->std = sample_std(&piece);
        out->median = num_median(sorted, count);
        out->min = sorted[0];
        out->max = sorted[count - 1];
    }
    scratch_free(sorted);
    prefix_sums_free(&sums);
    return ok;
}

/* ---- the points under way ---- */

/* Two tournaments over the weak points, so that the next one to remove is found in logarithmic
 * time: nodes hold the point that wins, NONE where all are removed. */
struct merging {
    const struct prefix_sums *sums;
    const struct history_rules *rules;
    size_t count;     /* weak points */
    size_t left_over; /* of them not removed */
    const size_t *at; /* by point: its index in the series */
    struct history_test *tests;
    size_t *before, *after; /* by point: neighbours in the list; NONE */
    size_t *largest_p, *least_magnitude;
};

static struct history_test test_between(const struct prefix_sums *sums, const size_t place[3])
{
    struct piece left = prefix_piece(sums, place[0], place[1]);
    struct piece right = prefix_piece(sums, place[1], place[2]);
    double backward = right.mean != 0 ? left.mean / right.mean - 1 : 0;
    struct history_test test = {.p = split_test_p(&left, &right),
                                .mean_before = left.mean,
                                .mean_after = right.mean,
                                .std_before = left.std,
                                .std_after = right.std,
                                .change = left.mean != 0 ? right.mean / left.mean - 1 : 0};
    test.magnitude = fmax(fabs(test.change), fabs(backward));
    return test;
}

static void carry_test(struct merging *m, size_t point)
{
    size_t before = m->before[point];
    size_t after = m->after[point];
    const size_t place[3] = {before == NONE ? 0 : m->at[before], m->at[point],
                             after == NONE ? m->sums->count : m->at[after]};
    m->tests[point] = test_between(m->sums, place);
}

/* Ties go to the left one, which comes first. */
static size_t winner_by_p(const struct merging *m, size_t left, size_t right)
{
    if (left == NONE || right == NONE) {
        return left == NONE ? right : left;
    }
    return m->tests[right].p > m->tests[left].p ? right : left;
}

static size_t winner_by_magnitude(const struct merging *m, size_t left, size_t right)
{
    if (left == NONE || right == NONE) {
        return left == NONE ? right : left;
    }
    return m->tests[right].magnitude < m->tests[left].magnitude ? right : left;
}

static void play(struct merging *m, size_t node)
{
    m->largest_p[node] = winner_by_p(m, m->largest_p[2 * node], m->largest_p[2 * node + 1]);
    m->least_magnitude[node] =
        winner_by_magnitude(m, m->least_magnitude[2 * node], m->least_magnitude[2 * node + 1]);
}

/* A power of two, so that leaves stand in the order of the points. */
static size_t leaves_of(size_t count)
{
    size_t leaves = 1;
    while (leaves < count) {
        leaves *= 2;
    }
    return leaves;
}

static void replay(struct merging *m, size_t point, bool is_there)
{
    size_t node = leaves_of(m->count) + point;
    m->largest_p[node] = is_there ? point : NONE;
    m->least_magnitude[node] = m->largest_p[node];
    for (node /= 2; node > 0; node /= 2) {
        play(m, node);
    }
}

static void renew(struct merging *m, size_t point)
{
    if (point != NONE) {
        carry_test(m, point);
        replay(m, point, true);
    }
}

static void remove_point(struct merging *m, size_t point)
{
    size_t before = m->before[point];
    size_t after = m->after[point];
    if (before != NONE) {
        m->after[before] = after;
    }
    if (after != NONE) {
        m->before[after] = before;
    }
    m->left_over--;
    replay(m, point, false);
    renew(m, after);
    if (m->rules->strict) {
        renew(m, before);
    } else if (after != NONE) {
        renew(m, m->after[after]);
    }
}

/* [HIST-2.6] */
static void remove_doubtful(struct merging *m)
{
    while (m->left_over > 0) {
        size_t worst = m->largest_p[1];
        if (m->tests[worst].p < m->rules->p) {
            worst = m->least_magnitude[1];
            if (m->tests[worst].magnitude > m->rules->min_magnitude) {
                return;
            }
        }
        remove_point(m, worst);
    }
}

static bool begin_merging(struct merging *m, struct arena *arena)
{
    size_t leaves = leaves_of(m->count);
    m->left_over = m->count;
    m->tests = arena_calloc(arena, m->count + 1, sizeof *m->tests);
    m->before = scratch_alloc(m->count, sizeof *m->before);
    m->after = scratch_alloc(m->count, sizeof *m->after);
    m->largest_p = scratch_alloc(2 * leaves, sizeof *m->largest_p);
    m->least_magnitude = scratch_alloc(2 * leaves, sizeof *m->least_magnitude);
    if (m->tests == NULL || m->before == NULL || m->after == NULL || m->largest_p == NULL ||
        m->least_magnitude == NULL) {
        return false;
    }
    for (size_t i = 0; i < m->count; i++) {
        m->before[i] = i == 0 ? NONE : i - 1;
        m->after[i] = i + 1 == m->count ? NONE : i + 1;
    }
    for (size_t i = 0; i < leaves; i++) {
        if (i < m->count) {
            carry_test(m, i);
        }
        m->largest_p[leaves + i] = i < m->count ? i : NONE;
        m->least_magnitude[leaves + i] = m->largest_p[leaves + i];
    }
    for (size_t node = leaves - 1; node > 0; node--) {
        play(m, node);
    }
    return true;
}

static void end_merging(struct merging *m)
{
    SCRATCH_FREE(m->before, m->after, m->largest_p, m->least_magnitude);
}

static bool write_changes(struct history_changes *out, struct arena *arena, struct merging *m)
{
    out->changes = arena_calloc(arena, m->left_over + 1, sizeof *out->changes);
    if (out->changes == NULL) {
        return false;
    }
    /* A removed point is nobody's winner: its leaf says so. */
    for (size_t i = 0; i < m->count; i++) {
        if (m->largest_p[leaves_of(m->count) + i] != NONE) {
            out->changes[out->change_count++] = (struct history_change){m->at[i], m->tests[i]};
        }
    }
    return true;
}

/* ---- the whole ---- */

/* [HIST-2.1] False without memory. *filled is NULL where nothing is to be found. */
static bool fill_gaps(double **filled, const double *values, size_t count)
{
    size_t first = 0;
    *filled = NULL;
    while (first < count && isnan(values[first])) {
        first++;
    }
    if (first == count) {
        return true;
    }
    *filled = scratch_alloc(count, sizeof **filled);
    for (size_t i = 0; *filled != NULL && i < count; i++) {
        double before = i == 0 ? values[first] : (*filled)[i - 1];
        (*filled)[i] = isnan(values[i]) ? before : values[i];
    }
    return *filled != NULL;
}

/* [HIST-2.5] */
static bool mark_weak(const struct prefix_sums *sums,
                      const struct history_rules *rules,
                      unsigned char *is_point)
{
    struct splitter splitter;
    double level = rules->p < 0.05 ? 10 * rules->p : rules->p < 0.5 ? 2 * rules->p : rules->p;
    bool ok = splitter_init(&splitter, sums, rules->window);
    for (size_t first = 0; ok && first < sums->count;) {
        size_t rest = sums->count - first;
        size_t end = first + (rest < rules->window ? rest : rules->window);
        size_t last = splitter_mark(&splitter, first, end, level, is_point);
        first += rules->window / 2;
        first = last > first ? last : first;
    }
    splitter_free(&splitter);
    return ok;
}

static bool find_weak(struct history_changes *out,
                      struct arena *arena,
                      const struct prefix_sums *sums,
                      const struct history_rules *rules)
{
    unsigned char *is_point = scratch_calloc(sums->count, sizeof *is_point);
    bool ok = is_point != NULL && mark_weak(sums, rules, is_point);
    size_t count = 0;
    for (size_t i = 0; ok && i < sums->count; i++) {
        count += is_point[i];
    }
    out->weak = ok ? arena_calloc(arena, count + 1, sizeof *out->weak) : NULL;
    ok = out->weak != NULL;
    for (size_t i = 0; ok && i < sums->count; i++) {
        if (is_point[i] != 0) {
            out->weak[out->weak_count++] = i;
        }
    }
    scratch_free(is_point);
    return ok;
}

/* Sorts the pieces of `filled` in place, for their medians: nobody needs their order any more. */
static bool write_segments(struct history_changes *out,
                           struct arena *arena,
                           const struct prefix_sums *sums,
                           double *filled)
{
    size_t first = 0;
    out->segments = arena_calloc(arena, out->change_count + 1, sizeof *out->segments);
    for (size_t i = 0; out->segments != NULL && i <= out->change_count; i++) {
        size_t end = i < out->change_count ? out->changes[i].index : sums->count;
        struct piece piece = prefix_piece(sums, first, end);
        out->segments[out->segment_count++] = (struct history_segment){.first = first,
                                                                       .last = end - 1,
                                                                       .mean = piece.mean,
                                                                       .std = sample_std(&piece),
                                                                       .median = (double)NAN};
        first = end;
    }
    for (size_t i = 0; out->segments != NULL && i < out->segment_count; i++) {
        struct history_segment *segment = &out->segments[i];
        segment->median = num_median(filled + segment->first, segment->last - segment->first + 1);
    }
    return out->segments != NULL;
}

static bool find(struct history_changes *out,
                 struct arena *arena,
                 double *filled,
                 size_t count,
                 const struct history_rules *rules)
{
    struct prefix_sums sums;
    struct merging m = {.sums = &sums, .rules = rules};
    bool ok = prefix_sums_build(&sums, filled, count) && find_weak(out, arena, &sums, rules);
    if (ok) {
        m.at = out->weak;
        m.count = out->weak_count;
        ok = begin_merging(&m, arena);
    }
    if (ok) {
        remove_doubtful(&m);
        ok = write_changes(out, arena, &m) && write_segments(out, arena, &sums, filled);
    }
    end_merging(&m);
    prefix_sums_free(&sums);
    return ok;
}

double history_rules_p(const struct history_rules *rules, size_t count)
{
    bool is_long = rules->p_of_series && count > rules->window;
    return is_long ? rules->p * (double)rules->window / (double)count : rules->p;
}

bool history_changes_find(struct history_changes *out,
                          struct arena *arena,
                          const double *values,
                          size_t count,
                          const struct history_rules *rules)
{
    double *filled;
    struct history_rules held = *rules;
    *out = (struct history_changes){0};
    held.p = history_rules_p(rules, count);
    bool ok = fill_gaps(&filled, values, count) &&
              (filled == NULL || find(out, arena, filled, count, &held));
    scratch_free(filled);
    return ok;
}

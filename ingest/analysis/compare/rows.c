#include "ingest/analysis/compare/rows.h"

#include "ingest/analysis/util/fisher.h"
#include "ingest/analysis/util/stat_tests.h"
#include "ingest/base/containers/introsort.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A base deviation up to this gives no z-score [CMP-4e]. */
#define DEVIATION_MIN 1e-9

/* ---- the triplets of both roles, one after the other ---- */

struct merge {
    const struct pool *pool;
    const struct role_stats *roles[SIDE_COUNT];
    size_t at[SIDE_COUNT];
    bool with_metric_only;
};

static struct merge merge_begin(const struct pool *pool,
                                const struct role_stats *base,
                                const struct role_stats *candidate)
{
    return (struct merge){.pool = pool,
                          .roles = {base, candidate},
                          .with_metric_only = base->has_metrics || candidate->has_metrics};
}

static uint32_t next_key(const struct merge *merge, int side)
{
    const struct role_stats *role = merge->roles[side];
    return merge->at[side] < role->triplet_count ? role->triplets[merge->at[side]].key : UINT32_MAX;
}

/* A row without metric is no row of the reference's report [CMP-2g]. It stays where it is all there
 * is: in roles without counters, and for what the reference does not know. Nor is one without
 * function. */
static bool
is_row(const struct merge *merge, uint32_t key, const struct triplet_stats *const sides[SIDE_COUNT])
{
    const struct pool_key *names = &merge->pool->keys[key];
    bool has_figures = !merge->with_metric_only || names->has_metric ||
                       sides[SIDE_BASE]->is_operator || sides[SIDE_CANDIDATE]->is_operator;
    return has_figures && *names->function != '\0';
}

/* The next triplet of either role; figures of a side without it are 0. UINT32_MAX at the end. */
static uint32_t merge_next(struct merge *merge, const struct triplet_stats *sides[SIDE_COUNT])
{
    static const struct triplet_stats none = {0};
    for (;;) {
        uint32_t keys[SIDE_COUNT] = {next_key(merge, SIDE_BASE), next_key(merge, SIDE_CANDIDATE)};
        uint32_t key =
            keys[SIDE_BASE] < keys[SIDE_CANDIDATE] ? keys[SIDE_BASE] : keys[SIDE_CANDIDATE];
        if (key == UINT32_MAX) {
            return key;
        }
        for (int side = 0; side < SIDE_COUNT; side++) {
            bool has = keys[side] == key;
            sides[side] = has ? &merge->roles[side]->triplets[merge->at[side]] : &none;
            merge->at[side] += has;
        }
        if (is_row(merge, key, sides)) {
            return key;
        }
    }
}

static double delta_of(const struct triplet_stats *const sides[SIDE_COUNT], enum stat_of of)
{
    return sides[SIDE_CANDIDATE]->mean[of] - sides[SIDE_BASE]->mean[of];
}

static double z_of(const struct triplet_stats *const sides[SIDE_COUNT], enum stat_of of)
{
    double deviation = sides[SIDE_BASE]->deviation[of];
    return deviation > DEVIATION_MIN ? delta_of(sides, of) / deviation : 0;
}

static double score_of(const struct triplet_stats *const sides[SIDE_COUNT], bool has_metric)
{
    double z_log_mu = has_metric ? fabs(z_of(sides, STAT_LOG_MU)) : 0;
    return fabs(delta_of(sides, STAT_BETA)) * (fabs(z_of(sides, STAT_BETA)) + z_log_mu);
}

double compare_top_score(const struct pool *pool,
                         const struct role_stats *base,
                         const struct role_stats *candidate,
                         size_t *row_count)
{
    struct merge merge = merge_begin(pool, base, candidate);
    const struct triplet_stats *sides[SIDE_COUNT];
    double top = 0;
    *row_count = 0;
    for (uint32_t key = merge_next(&merge, sides); key != UINT32_MAX;
         key = merge_next(&merge, sides)) {
        top = fmax(top, score_of(sides, pool->keys[key].has_metric));
        ++*row_count;
    }
    return top;
}

/* ---- one row ---- */

static double welch_of(const struct triplet_stats *const sides[SIDE_COUNT], enum stat_of of)
{
    const struct triplet_stats *a = sides[SIDE_BASE];
    const struct triplet_stats *b = sides[SIDE_CANDIDATE];
    return stat_welch_p(a->mean[of], a->deviation[of], (size_t)a->cycles, b->mean[of],
                        b->deviation[of], (size_t)b->cycles);
}

static void fill_beta(struct comparison_row *row,
                      const struct triplet_stats *const sides[SIDE_COUNT])
{
    row->beta_pct[SIDE_BASE] = sides[SIDE_BASE]->mean[STAT_BETA];
    row->beta_pct[SIDE_CANDIDATE] = sides[SIDE_CANDIDATE]->mean[STAT_BETA];
    row->delta_beta = delta_of(sides, STAT_BETA);
    row->z_beta = z_of(sides, STAT_BETA);
    row->p_beta = welch_of(sides, STAT_BETA);
}

static void fill_mu(struct comparison_row *row,
                    const struct triplet_stats *const sides[SIDE_COUNT],
                    bool has_metric)
{
    row->mu[SIDE_BASE] = has_metric ? sides[SIDE_BASE]->mean[STAT_MU] : (double)NAN;
    row->mu[SIDE_CANDIDATE] = has_metric ? sides[SIDE_CANDIDATE]->mean[STAT_MU] : (double)NAN;
    row->delta_mu = has_metric ? delta_of(sides, STAT_MU) : (double)NAN;
    row->z_mu = has_metric ? z_of(sides, STAT_MU) : (double)NAN;
    row->z_log_mu = has_metric ? z_of(sides, STAT_LOG_MU) : (double)NAN;
    row->p_mu = has_metric ? welch_of(sides, STAT_MU) : (double)NAN;
    row->u_mu = (double)NAN;
}

static bool fill_u(struct comparison_row *row,
                   const struct merge *merge,
                   const struct triplet_stats *const sides[SIDE_COUNT],
                   bool has_metric)
{
    const struct triplet_stats *a = sides[SIDE_BASE];
    const struct triplet_stats *b = sides[SIDE_CANDIDATE];
    double *const *values_a = merge->roles[SIDE_BASE]->values;
    double *const *values_b = merge->roles[SIDE_CANDIDATE]->values;
    return stat_mann_whitney_p(values_a[STAT_BETA] + a->first, a->beta_count,
                               values_b[STAT_BETA] + b->first, b->beta_count, &row->u_beta) &&
           (!has_metric ||
            stat_mann_whitney_p(values_a[STAT_MU] + a->first, a->mu_count,
                                values_b[STAT_MU] + b->first, b->mu_count, &row->u_mu));
}

static bool has_place(const struct role_stats *role, uint32_t place)
{
    return bsearch(&place, role->places, role->place_count, sizeof place, order_u32_at) != NULL;
}

static enum comparison_presence presence_of(const struct merge *merge, uint32_t place)
{
    if (!has_place(merge->roles[SIDE_BASE], place)) {
        return PRESENCE_ADDED;
    }
    return has_place(merge->roles[SIDE_CANDIDATE], place) ? PRESENCE_BOTH : PRESENCE_REMOVED;
}

/* A function whose time stands under another metric on one side is there all the same. */
static double presence_p(const struct comparison_row *row, const struct merge *merge)
{
    bool stands_elsewhere = row->presence == PRESENCE_BOTH &&
                            (row->cycles[SIDE_BASE] == 0 || row->cycles[SIDE_CANDIDATE] == 0);
    int64_t base = merge->roles[SIDE_BASE]->cycle_count;
    int64_t candidate = merge->roles[SIDE_CANDIDATE]->cycle_count;
    if (stands_elsewhere || base < 2 || candidate < 2) {
        return (double)NAN;
    }
    return fisher_p(row->cycles[SIDE_BASE], base, row->cycles[SIDE_CANDIDATE], candidate);
}

/* Names of the devices of a pair, each made once: there are few. */
#define NAMES_KEPT 16

struct device_names {
    struct arena *arena;
    int64_t pids[SIDE_COUNT];
    const char *shared[NAMES_KEPT];
    const char *names[NAMES_KEPT];
    size_t count;
};

/* NULL without memory. */
static const char *
device_name(struct device_names *names, const struct pool *pool, const char *shared)
{
    for (size_t i = 0; i < names->count; i++) {
        if (names->shared[i] == shared) {
            return names->names[i];
        }
    }
    char text[DEVICE_TEXT_BYTES];
    const char *name = device_order_name(&pool->devices, names->pids, shared, text);
    if (name == text) {
        name = arena_strdup(names->arena, text);
    }
    if (name != NULL && names->count < NAMES_KEPT) {
        names->shared[names->count] = shared;
        names->names[names->count++] = name;
    }
    return name;
}

static bool fill_row(struct comparison_row *row,
                     struct device_names *devices,
                     const struct merge *merge,
                     uint32_t key,
                     const struct triplet_stats *const sides[SIDE_COUNT])
{
    const struct pool_key *names = &merge->pool->keys[key];
    *row = (struct comparison_row){
        .function = names->function,
        .metric = names->metric,
        .device = device_name(devices, merge->pool, names->device),
        .score = score_of(sides, names->has_metric),
        .presence = presence_of(merge, names->place),
        .cycles = {sides[SIDE_BASE]->cycles, sides[SIDE_CANDIDATE]->cycles},
    };
    fill_beta(row, sides);
    row->p_presence = presence_p(row, merge);
    fill_mu(row, sides, names->has_metric);
    return row->device != NULL && fill_u(row, merge, sides, names->has_metric);
}

/* ---- q-values ---- */

/* The p-values that are corrected, each kind for itself. */
enum tested { TESTED_BETA, TESTED_MU, TESTED_PRESENCE, TESTED_COUNT };

static double p_of(const struct comparison_row *row, enum tested tested)
{
    return tested == TESTED_BETA ? row->p_beta : tested == TESTED_MU ? row->p_mu : row->p_presence;
}

static double *q_of(struct comparison_row *row, enum tested tested)
{
    return tested == TESTED_BETA ? &row->q_beta
           : tested == TESTED_MU ? &row->q_mu
                                 : &row->q_presence;
}

static bool fill_q(struct comparison_row *rows, size_t count)
{
    double *p = scratch_alloc(count, sizeof *p);
    double *q = scratch_alloc(count, sizeof *q);
    bool ok = p != NULL && q != NULL;
    for (int tested = 0; ok && tested < TESTED_COUNT; tested++) {
        for (size_t i = 0; i < count; i++) {
            p[i] = p_of(&rows[i], (enum tested)tested);
        }
        ok = stat_benjamini_hochberg(p, q, count);
        for (size_t i = 0; ok && i < count; i++) {
            *q_of(&rows[i], (enum tested)tested) = q[i];
        }
    }
    SCRATCH_FREE(p, q);
    return ok;
}

/* ---- order ---- */

/* Doubles of at least 0 order as their bits do. */
static int64_t bits_of(double score)
{
    int64_t bits;
    memcpy(&bits, &score, sizeof bits);
    return bits;
}

/* order[i] is the row that comes i-th: by score descending as the reference sorts, scores that are
 * no numbers last [CMP-6a]. */
static uint32_t *order_by_score(const struct comparison_row *rows, size_t count)
{
    uint32_t *order = scratch_alloc(count, sizeof *order);
    uint32_t *numbers = scratch_alloc(count, sizeof *numbers);
    int64_t *reversed = scratch_alloc(count, sizeof *reversed);
    if (order == NULL || numbers == NULL || reversed == NULL) {
        scratch_free(order);
        order = NULL;
        count = 0;
    }
    size_t number_count = 0;
    for (size_t i = 0; i < count; i++) {
        if (!isnan(rows[i].score)) {
            numbers[number_count++] = (uint32_t)i;
        }
    }
    for (size_t i = 0; i < number_count; i++) {
        reversed[i] = bits_of(rows[numbers[number_count - 1 - i]].score);
    }
    if (order != NULL) {
        introsort_kernel_order(order, reversed, number_count);
    }
    for (size_t i = 0; i < number_count; i++) {
        order[i] = numbers[order[i]];
    }
    for (size_t i = 0, at = number_count; i < count; i++) {
        if (isnan(rows[i].score)) {
            order[at++] = (uint32_t)i;
        }
    }
    SCRATCH_FREE(numbers, reversed);
    return order;
}

/* Puts the rows, and the places of each, in order. */
static bool sort_rows(struct comparison *out,
                      struct arena *arena,
                      const struct comparison_row *rows,
                      const uint32_t *row_places,
                      uint32_t **places)
{
    size_t count = out->row_count;
    uint32_t *order = order_by_score(rows, count);
    out->rows = arena_calloc(arena, count, sizeof *out->rows);
    *places = scratch_alloc(count, sizeof **places);
    if (order == NULL || out->rows == NULL || *places == NULL) {
        SCRATCH_FREE(order, *places);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        out->rows[i] = rows[order[i]];
        (*places)[i] = row_places[order[i]];
    }
    scratch_free(order);
    return true;
}

bool compare_rows_build(struct comparison *out,
                        struct arena *arena,
                        const struct pool *pool,
                        const struct role_stats *base,
                        const struct role_stats *candidate,
                        uint32_t **places)
{
    size_t count;
    (void)compare_top_score(pool, base, candidate, &count);
    struct comparison_row *rows = scratch_alloc(count, sizeof *rows);
    uint32_t *row_places = scratch_alloc(count, sizeof *row_places);
    bool ok = rows != NULL && row_places != NULL;
    struct merge merge = merge_begin(pool, base, candidate);
    struct device_names devices = {.arena = arena, .pids = {base->role->pid, candidate->role->pid}};
    for (size_t i = 0; ok && i < count; i++) {
        const struct triplet_stats *sides[SIDE_COUNT];
        uint32_t key = merge_next(&merge, sides);
        row_places[i] = pool->keys[key].place;
        ok = fill_row(&rows[i], &devices, &merge, key, sides);
    }
    out->row_count = count;
    ok = ok && fill_q(rows, count) && sort_rows(out, arena, rows, row_places, places);
    SCRATCH_FREE(rows, row_places);
    return ok;
}

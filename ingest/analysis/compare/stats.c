#include "ingest/analysis/compare/stats.h"

#include "ingest/base/containers/key_map.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"
#include "ingest/base/text/num.h"

#include <math.h>
#include <stdlib.h>

/* Kahan's sum for the mean, Welford's running squares for the deviation: which scores are exact
 * ties depends on the last bits [CMP-4b]. */
struct mean_variance {
    size_t count;
    double sum, lost;
    double running_mean, squares;
};

static void mean_variance_add(struct mean_variance *m, double value)
{
    m->count++;
    double term = value - m->lost;
    double sum = m->sum + term;
    m->lost = (sum - m->sum) - term;
    m->sum = sum;
    double before = m->running_mean;
    m->running_mean += (value - before) / (double)m->count;
    m->squares += (value - m->running_mean) * (value - before);
}

static double mean_variance_mean(const struct mean_variance *m)
{
    return m->count == 0 ? 0 : m->sum / (double)m->count;
}

static double mean_variance_deviation(const struct mean_variance *m)
{
    return m->count < 2 ? 0 : sqrt(m->squares / (double)(m->count - 1));
}

static int descending(const void *a, const void *b)
{
    return order_f64_at(b, a);
}

struct build {
    struct role_stats *stats;
    const struct pool *pool;
    const struct pool_rows *rows;
    const struct pool_cycle *cycles;
    const uint32_t *order; /* the role's rows */
    size_t count;
};

/* Ids in ascending order, each once; the new count. */
static size_t distinct(uint32_t *ids, size_t count)
{
    size_t kept = 0;
    qsort(ids, count, sizeof *ids, order_u32_at);
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || ids[kept - 1] != ids[i]) {
            ids[kept++] = ids[i];
        }
    }
    return kept;
}

/* ---- triplets ---- */

/* The rows [first, end) of the role, which are one triplet; `numbers` has room for one a row. */
static void add_triplet(const struct build *build, size_t first, size_t end, uint32_t *numbers)
{
    struct role_stats *stats = build->stats;
    struct mean_variance moments[STAT_COUNT] = {{0}};
    struct triplet_stats *triplet = &stats->triplets[stats->triplet_count++];
    double *values[2] = {stats->values[STAT_BETA] + first, stats->values[STAT_MU] + first};
    *triplet = (struct triplet_stats){.key = (uint32_t)build->rows->key[build->order[first]],
                                      .first = first};
    for (size_t i = first; i < end; i++) {
        uint32_t row = build->order[i];
        double beta = build->rows->beta[row];
        double mu = isfinite(build->rows->mu[row]) ? build->rows->mu[row] : 0;
        double log_mu = log1p(mu);
        if (isfinite(beta)) {
            mean_variance_add(&moments[STAT_BETA], beta);
            values[STAT_BETA][triplet->beta_count++] = beta;
        }
        mean_variance_add(&moments[STAT_MU], mu);
        values[STAT_MU][triplet->mu_count++] = mu;
        if (isfinite(log_mu)) {
            mean_variance_add(&moments[STAT_LOG_MU], log_mu);
        }
        numbers[i - first] = build->cycles[build->rows->cycle[row]].number;
        triplet->is_operator = triplet->is_operator || build->rows->type[row] == POOL_OPERATOR;
    }
    for (int of = 0; of < STAT_COUNT; of++) {
        triplet->mean[of] = mean_variance_mean(&moments[of]);
        triplet->deviation[of] = mean_variance_deviation(&moments[of]);
    }
    triplet->cycles = (int64_t)distinct(numbers, end - first);
    qsort(values[STAT_BETA], triplet->beta_count, sizeof(double), order_f64_at);
    qsort(values[STAT_MU], triplet->mu_count, sizeof(double), order_f64_at);
}

static bool build_triplets(const struct build *build)
{
    struct role_stats *stats = build->stats;
    uint32_t *numbers = scratch_alloc(build->count, sizeof *numbers);
    stats->values[STAT_BETA] = scratch_alloc(build->count, sizeof(double));
    stats->values[STAT_MU] = scratch_alloc(build->count, sizeof(double));
    size_t groups = 0;
    for (size_t i = 0; i < build->count; i++) {
        const int64_t *key = build->rows->key;
        groups += i == 0 || key[build->order[i]] != key[build->order[i - 1]];
    }
    stats->triplets = scratch_alloc(groups, sizeof *stats->triplets);
    stats->places = scratch_alloc(groups, sizeof *stats->places);
    if (numbers == NULL || stats->values[STAT_BETA] == NULL || stats->values[STAT_MU] == NULL ||
        stats->triplets == NULL || stats->places == NULL) {
        scratch_free(numbers);
        return false;
    }
    size_t first = 0;
    while (first < build->count) {
        int64_t key = build->rows->key[build->order[first]];
        size_t end = first + 1;
        while (end < build->count && build->rows->key[build->order[end]] == key) {
            end++;
        }
        stats->places[stats->triplet_count] = build->pool->keys[key].place;
        stats->has_metrics = stats->has_metrics || build->pool->keys[key].has_metric;
        add_triplet(build, first, end, numbers);
        first = end;
    }
    stats->place_count = distinct(stats->places, stats->triplet_count);
    scratch_free(numbers);
    return true;
}

/* ---- cycles ---- */

static bool build_cycles(const struct build *build)
{
    struct role_stats *stats = build->stats;
    uint32_t *cycles = scratch_alloc(build->count, sizeof *cycles);
    if (cycles == NULL) {
        return false;
    }
    for (size_t i = 0; i < build->count; i++) {
        cycles[i] = build->rows->cycle[build->order[i]];
    }
    size_t count = distinct(cycles, build->count);
    stats->cycle_count = (int64_t)count;
    stats->cycle_us = scratch_alloc(count, sizeof *stats->cycle_us);
    struct mean_variance moments = {0};
    for (size_t i = 0; stats->cycle_us != NULL && i < count; i++) {
        double dur_us = build->cycles[cycles[i]].dur_us;
        if (isfinite(dur_us)) {
            stats->cycle_us[stats->cycle_us_count++] = dur_us;
            mean_variance_add(&moments, dur_us);
        }
    }
    scratch_free(cycles);
    if (stats->cycle_us == NULL) {
        return false;
    }
    double *values = stats->cycle_us;
    size_t numbers = stats->cycle_us_count;
    stats->mean_cycle_us = numbers == 0 ? 0 : num_sum_pairwise(values, numbers) / (double)numbers;
    stats->cycle_deviation_us = mean_variance_deviation(&moments);
    qsort(values, numbers, sizeof *values, descending);
    return true;
}

/* The rows repeat the time of a function for each of its metrics: it counts once a cycle. */
static bool build_times(const struct build *build)
{
    double total[3] = {0};
    struct key_map seen;
    key_map_init(&seen);
    for (size_t i = 0; i < build->count; i++) {
        uint32_t row = build->order[i];
        uint8_t type = build->rows->type[row];
        if (type == POOL_OTHER || !isfinite(build->rows->duration_us[row])) {
            continue;
        }
        uint32_t place = build->pool->keys[build->rows->key[row]].place;
        uint32_t before = seen.count;
        if (key_map_add(&seen, (struct key){{build->rows->cycle[row], place, type, 0}}) ==
            KEY_MAP_NONE) {
            key_map_free(&seen);
            return false;
        }
        total[type] += seen.count > before ? build->rows->duration_us[row] : 0;
    }
    key_map_free(&seen);
    double cycles = build->stats->cycle_count == 0 ? 1 : (double)build->stats->cycle_count;
    build->stats->kernel_us = total[POOL_KERNEL] / cycles;
    build->stats->operator_us = total[POOL_OPERATOR] / cycles;
    return true;
}

bool role_stats_build(struct role_stats *stats,
                      const struct pool *pool,
                      const struct pool_role *role)
{
    *stats = (struct role_stats){.role = role};
    const struct pool_rows *rows = &pool->rows[role->side];
    const struct build build = {.stats = stats,
                                .pool = pool,
                                .rows = rows,
                                .cycles = pool->cycles[role->side],
                                .order = rows->order + role->first,
                                .count = role->count};
    if (build_triplets(&build) && build_cycles(&build) && build_times(&build)) {
        return true;
    }
    role_stats_free(stats);
    return false;
}

void role_stats_free(struct role_stats *stats)
{
    SCRATCH_FREE(stats->triplets, stats->values[STAT_BETA], stats->values[STAT_MU], stats->places,
                 stats->cycle_us);
    *stats = (struct role_stats){0};
}

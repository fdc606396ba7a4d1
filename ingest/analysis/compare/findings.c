/* What is concluded from the rows: findings as the reference picks them [CMP-7b] [CMP-7c], what
 * appeared or went, and whether there is a difference at all. */
#include "ingest/analysis/compare/rows.h"
#include "ingest/base/containers/key_map.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/index/sort.h"

#include <math.h>
#include <string.h>

#define DELTA_MU_MIN 1e-6

/* ---- findings ---- */

static bool is_same_place(const uint32_t *places, const size_t *rows, size_t count, size_t row)
{
    for (size_t i = 0; i < count; i++) {
        if (places[rows[i]] == places[row]) {
            return true;
        }
    }
    return false;
}

/* The metrics of the significant rows of the same function and device, in their order. */
static void fill_metrics(struct comparison_finding *finding,
                         const struct comparison *comparison,
                         const uint32_t *places,
                         uint32_t place,
                         size_t significant)
{
    for (size_t i = 0; i < significant && finding->metric_count < FINDING_METRICS_MAX; i++) {
        const struct comparison_row *row = &comparison->rows[i];
        if (places[i] == place && fabs(row->delta_mu) > DELTA_MU_MIN) {
            size_t at = finding->metric_count++;
            finding->metrics[at].metric = row->metric;
            finding->metrics[at].mu[SIDE_BASE] = row->mu[SIDE_BASE];
            finding->metrics[at].mu[SIDE_CANDIDATE] = row->mu[SIDE_CANDIDATE];
        }
    }
}

static bool find_issues(struct comparison *out, struct arena *arena, const uint32_t *places)
{
    size_t issues[FINDINGS_MAX];
    size_t significant = 0;
    size_t count = 0;
    while (significant < out->row_count && out->rows[significant].score > COMPARE_SCORE_MIN) {
        if (count < FINDINGS_MAX && !is_same_place(places, issues, count, significant)) {
            issues[count++] = significant;
        }
        significant++;
    }
    out->findings = arena_calloc(arena, count, sizeof *out->findings);
    if (out->findings == NULL) {
        return false;
    }
    out->finding_count = count;
    for (size_t i = 0; i < count; i++) {
        const struct comparison_row *row = &out->rows[issues[i]];
        out->findings[i] = (struct comparison_finding){
            .function = row->function,
            .device = row->device,
            .beta_pct = {row->beta_pct[SIDE_BASE], row->beta_pct[SIDE_CANDIDATE]},
            .delta_beta = row->delta_beta,
            .p_beta = row->p_beta,
        };
        fill_metrics(&out->findings[i], out, places, places[issues[i]], significant);
    }
    return true;
}

/* ---- added and removed ---- */

static int larger_change_first(uint32_t a, uint32_t b, const void *ctx)
{
    const struct comparison_row *rows = ctx;
    double x = fabs(rows[a].delta_beta);
    double y = fabs(rows[b].delta_beta);
    return (x < y) - (x > y);
}

/* Of the rows in `order`, the first of each place. */
static bool keep_places(uint32_t *order, size_t *count, const uint32_t *places)
{
    struct key_map seen;
    key_map_init(&seen);
    size_t kept = 0;
    bool ok = true;
    for (size_t i = 0; ok && i < *count; i++) {
        uint32_t before = seen.count;
        ok = key_map_add(&seen, (struct key){{places[order[i]], 0, 0, 0}}) != KEY_MAP_NONE;
        if (seen.count > before) {
            order[kept++] = order[i];
        }
    }
    *count = kept;
    key_map_free(&seen);
    return ok;
}

static bool find_appeared(struct comparison *out, struct arena *arena, const uint32_t *places)
{
    uint32_t *order = scratch_alloc(out->row_count, sizeof *order);
    if (order == NULL) {
        return false;
    }
    size_t count = 0;
    for (size_t i = 0; i < out->row_count; i++) {
        if (out->rows[i].presence != PRESENCE_BOTH) {
            order[count++] = (uint32_t)i;
        }
    }
    bool ok = sort_stable(order, count, larger_change_first, out->rows) &&
              keep_places(order, &count, places);
    out->appeared = ok ? arena_calloc(arena, count, sizeof *out->appeared) : NULL;
    if (out->appeared != NULL) {
        memcpy(out->appeared, order, count * sizeof *order);
        out->appeared_count = count;
    }
    scratch_free(order);
    return out->appeared != NULL;
}

/* ---- verdict ---- */

static bool is_zero_or_unknown(double value)
{
    return value == 0 || isnan(value);
}

static bool is_identical(const struct comparison *comparison)
{
    for (size_t i = 0; i < comparison->row_count; i++) {
        const struct comparison_row *row = &comparison->rows[i];
        if (row->presence != PRESENCE_BOTH || row->delta_beta != 0 ||
            !is_zero_or_unknown(row->delta_mu)) {
            return false;
        }
    }
    for (size_t i = 0; i < comparison->cycle_count; i++) {
        const double *dur_us = comparison->cycles[i].dur_us;
        if (!(dur_us[SIDE_BASE] == dur_us[SIDE_CANDIDATE])) {
            return false;
        }
    }
    return true;
}

static bool row_differs(const struct comparison_row *row)
{
    return row->q_beta < COMPARE_Q_MAX || row->q_presence < COMPARE_Q_MAX ||
           (row->q_mu < COMPARE_Q_MAX && row->score > COMPARE_SCORE_MIN) ||
           (row->presence != PRESENCE_BOTH && fabs(row->delta_beta) >= COMPARE_APPEARED_PPT_MIN);
}

static enum comparison_verdict verdict_of(const struct comparison *comparison)
{
    if (comparison->roles[SIDE_BASE].cycles < 2 || comparison->roles[SIDE_CANDIDATE].cycles < 2) {
        return VERDICT_UNDECIDED;
    }
    if (is_identical(comparison)) {
        return VERDICT_NO_DIFFERENCE;
    }
    if (fmin(comparison->cycle_p, comparison->cycle_u) < COMPARE_Q_MAX / 2) {
        return VERDICT_DIFFERENT;
    }
    for (size_t i = 0; i < comparison->row_count; i++) {
        if (row_differs(&comparison->rows[i])) {
            return VERDICT_DIFFERENT;
        }
    }
    return VERDICT_NO_DIFFERENCE;
}

bool compare_conclude(struct comparison *out, struct arena *arena, const uint32_t *places)
{
    if (!find_issues(out, arena, places) || !find_appeared(out, arena, places)) {
        return false;
    }
    out->verdict = verdict_of(out);
    return true;
}

/* Pool both sides' rows, take the figures of each role once, rank the pairs by their highest score,
 * and compare them, the most suspicious first. */
#include "ingest/analysis/compare/compare.h"

#include "ingest/analysis/compare/pool.h"
#include "ingest/analysis/compare/rows.h"
#include "ingest/analysis/compare/stats.h"
#include "ingest/analysis/util/stat_tests.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/text/buf.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define ROLES_NAMED_MAX 8
#define TEXT_BYTES_MAX ((size_t)1 << 20)

struct pair {
    uint32_t roles[SIDE_COUNT];
    bool strict;
    double top_score;
    size_t row_count;
};

struct run {
    struct arena *arena;
    const struct compare_side *sides;
    const struct compare_options *options;
    struct pool pool;
    struct role_stats *stats; /* by role; built for roles of a pair */
    struct pair *pairs;
    size_t pair_count, pair_cap;
};

/* ---- which roles meet ---- */

/* The roles [first, end) of a side and kind. */
struct role_range {
    uint32_t first, end;
};

static struct role_range roles_of(const struct pool *pool, int side, enum cycle_kind kind)
{
    struct role_range range = {0, 0};
    for (uint32_t i = 0; i < pool->role_count; i++) {
        if ((int)pool->roles[i].side == side && pool->roles[i].kind == kind) {
            range.first = range.end == 0 ? i : range.first;
            range.end = i + 1;
        }
    }
    return range;
}

static bool add_pair(struct run *run, uint32_t base, uint32_t candidate, struct err *err)
{
    if (run->pair_count == COMPARE_PAIRS_MAX) {
        return err_set(err, ERR_BAD_REQUEST,
                       "the sides have so many processes that they make more than %d pairs; say "
                       "which processes to compare (base_pid and candidate_pid)",
                       COMPARE_PAIRS_MAX);
    }
    struct pair *pairs =
        scratch_grow(run->pairs, run->pair_count, &run->pair_cap, sizeof *run->pairs);
    if (pairs == NULL) {
        return err_set(err, ERR_NO_MEMORY, "out of memory");
    }
    run->pairs = pairs;
    run->pairs[run->pair_count++] =
        (struct pair){.roles = {base, candidate},
                      .strict = run->pool.roles[base].pid == run->pool.roles[candidate].pid};
    return true;
}

/* Roles of both sides that may meet. */
struct pairing {
    struct role_range ranges[SIDE_COUNT];
    int64_t pids[SIDE_COUNT]; /* wanted, or COMPARISON_NO_PID */
    uint32_t *roles[SIDE_COUNT];
    size_t count[SIDE_COUNT];
};

static bool is_wanted(const struct run *run, const struct pairing *pairing, int side, uint32_t role)
{
    return pairing->pids[side] == COMPARISON_NO_PID ||
           pairing->pids[side] == run->pool.roles[role].pid;
}

static void add_to_pairing(const struct run *run, struct pairing *pairing, int side, uint32_t role)
{
    if (is_wanted(run, pairing, side, role)) {
        pairing->roles[side][pairing->count[side]++] = role;
    }
}

/* Adds the strict pairs; what is on one side only stays in the pairing [CMP-2d]. */
static bool add_strict(struct run *run, struct pairing *pairing, struct err *err)
{
    const struct pool_role *roles = run->pool.roles;
    struct role_range base = pairing->ranges[SIDE_BASE];
    struct role_range candidate = pairing->ranges[SIDE_CANDIDATE];
    while (base.first < base.end || candidate.first < candidate.end) {
        if (candidate.first == candidate.end ||
            (base.first < base.end && roles[base.first].pid < roles[candidate.first].pid)) {
            add_to_pairing(run, pairing, SIDE_BASE, base.first++);
        } else if (base.first == base.end || roles[candidate.first].pid < roles[base.first].pid) {
            add_to_pairing(run, pairing, SIDE_CANDIDATE, candidate.first++);
        } else {
            bool wanted = is_wanted(run, pairing, SIDE_BASE, base.first) &&
                          is_wanted(run, pairing, SIDE_CANDIDATE, candidate.first);
            if (wanted && !add_pair(run, base.first, candidate.first, err)) {
                return false;
            }
            base.first++;
            candidate.first++;
        }
    }
    return true;
}

static void add_all(const struct run *run, struct pairing *pairing)
{
    for (int side = 0; side < SIDE_COUNT; side++) {
        pairing->count[side] = 0;
        for (uint32_t i = pairing->ranges[side].first; i < pairing->ranges[side].end; i++) {
            add_to_pairing(run, pairing, side, i);
        }
    }
}

static bool add_cross(struct run *run, const struct pairing *pairing, struct err *err)
{
    for (size_t b = 0; b < pairing->count[SIDE_BASE]; b++) {
        for (size_t c = 0; c < pairing->count[SIDE_CANDIDATE]; c++) {
            if (!add_pair(run, pairing->roles[SIDE_BASE][b], pairing->roles[SIDE_CANDIDATE][c],
                          err)) {
                return false;
            }
        }
    }
    return true;
}

static bool add_pairing(struct run *run, struct pairing *pairing, struct err *err)
{
    bool any_given = false;
    bool all_given = true;
    for (int side = 0; side < SIDE_COUNT; side++) {
        bool given = pairing->pids[side] != COMPARISON_NO_PID;
        any_given = any_given || given;
        all_given = all_given && given;
    }
    size_t before = run->pair_count;
    if (!all_given && (!add_strict(run, pairing, err) || !add_cross(run, pairing, err))) {
        return false;
    }
    if (!any_given || run->pair_count > before) {
        return true;
    }
    add_all(run, pairing);
    return add_cross(run, pairing, err);
}

static bool
pair_kinds(struct run *run, enum cycle_kind base, enum cycle_kind candidate, struct err *err)
{
    struct pairing pairing = {
        .ranges = {roles_of(&run->pool, SIDE_BASE, base),
                   roles_of(&run->pool, SIDE_CANDIDATE, candidate)},
        .pids = {run->options->base_pid, run->options->candidate_pid},
    };
    bool ok = true;
    for (int side = 0; side < SIDE_COUNT; side++) {
        pairing.roles[side] =
            scratch_alloc(pairing.ranges[side].end - pairing.ranges[side].first, sizeof(uint32_t));
        ok = ok && pairing.roles[side] != NULL;
    }
    ok = ok ? add_pairing(run, &pairing, err) : err_set(err, ERR_NO_MEMORY, "out of memory");
    SCRATCH_FREE(pairing.roles[SIDE_BASE], pairing.roles[SIDE_CANDIDATE]);
    return ok;
}

static bool has_kind(const struct pool *pool, int side, enum cycle_kind kind)
{
    return roles_of(pool, side, kind).end != 0;
}

static bool is_wanted_kind(const struct run *run, enum cycle_kind a, enum cycle_kind b)
{
    return run->options->kind < 0 || run->options->kind == (int)a || run->options->kind == (int)b;
}

static bool find_pairs(struct run *run, struct err *err)
{
    bool met = false;
    for (int kind = 0; kind < CYCLE_KIND_COUNT; kind++) {
        enum cycle_kind here = (enum cycle_kind)kind;
        bool both =
            has_kind(&run->pool, SIDE_BASE, here) && has_kind(&run->pool, SIDE_CANDIDATE, here);
        met = met || both;
        if (both && is_wanted_kind(run, here, here) && !pair_kinds(run, here, here, err)) {
            return false;
        }
    }
    if (met || !is_wanted_kind(run, CYCLE_STEP, CYCLE_DECODE)) {
        return true;
    }
    return pair_kinds(run, CYCLE_STEP, CYCLE_DECODE, err) &&
           pair_kinds(run, CYCLE_DECODE, CYCLE_STEP, err);
}

/* "17 (step), 18 (decode)" */
static void describe_roles(struct buf *out, const struct pool *pool, int side)
{
    size_t named = 0;
    size_t count = 0;
    for (uint32_t i = 0; i < pool->role_count; i++) {
        const struct pool_role *role = &pool->roles[i];
        if ((int)role->side != side) {
            continue;
        }
        if (++count <= ROLES_NAMED_MAX) {
            named++;
            buf_printf(out, "%s%" PRId64 " (%s)", named > 1 ? ", " : "", role->pid,
                       cycle_kind_name(role->kind));
        }
    }
    if (count > named) {
        buf_printf(out, " and %zu more", count - named);
    }
    if (count == 0) {
        buf_puts(out, "none");
    }
}

static bool no_pair(const struct run *run, struct err *err)
{
    struct buf texts[SIDE_COUNT];
    for (int side = 0; side < SIDE_COUNT; side++) {
        buf_init(&texts[side], TEXT_BYTES_MAX);
        describe_roles(&texts[side], &run->pool, side);
    }
    (void)err_set(err, ERR_BAD_REQUEST,
                  "nothing to compare: no process and kind of cycle of one side goes with one of "
                  "the other. Processes (and their cycles) of the base: %.170s; of the "
                  "candidate: %.170s",
                  texts[SIDE_BASE].failed ? "?" : texts[SIDE_BASE].ptr,
                  texts[SIDE_CANDIDATE].failed ? "?" : texts[SIDE_CANDIDATE].ptr);
    for (int side = 0; side < SIDE_COUNT; side++) {
        buf_free(&texts[side]);
    }
    return false;
}

/* ---- ranking pairs ---- */

static bool build_stats(struct run *run)
{
    run->stats = scratch_calloc(run->pool.role_count, sizeof *run->stats);
    if (run->stats == NULL) {
        return false;
    }
    for (size_t i = 0; i < run->pair_count; i++) {
        for (int side = 0; side < SIDE_COUNT; side++) {
            uint32_t role = run->pairs[i].roles[side];
            if (run->stats[role].role == NULL &&
                !role_stats_build(&run->stats[role], &run->pool, &run->pool.roles[role])) {
                return false;
            }
        }
    }
    return true;
}

/* Roles are numbered by pid, so that pairs of equal scores stand by pids. */
static int compare_pairs(const void *a, const void *b)
{
    const struct pair *x = a;
    const struct pair *y = b;
    if (x->top_score != y->top_score) {
        return x->top_score < y->top_score ? 1 : -1;
    }
    for (int side = 0; side < SIDE_COUNT; side++) {
        if (x->roles[side] != y->roles[side]) {
            return x->roles[side] < y->roles[side] ? -1 : 1;
        }
    }
    return 0;
}

static void rank_pairs(struct run *run)
{
    for (size_t i = 0; i < run->pair_count; i++) {
        struct pair *pair = &run->pairs[i];
        pair->top_score =
            compare_top_score(&run->pool, &run->stats[pair->roles[SIDE_BASE]],
                              &run->stats[pair->roles[SIDE_CANDIDATE]], &pair->row_count);
    }
    qsort(run->pairs, run->pair_count, sizeof *run->pairs, compare_pairs);
}

/* ---- one comparison ---- */

static const char *label_of(struct arena *arena, const char *label, int64_t pid, bool strict)
{
    struct buf text;
    buf_init(&text, TEXT_BYTES_MAX);
    buf_puts(&text, label);
    if (!strict) {
        buf_printf(&text, "_pid_%" PRId64, pid);
    }
    char *copy = text.failed ? NULL : arena_strndup(arena, text.ptr, text.len);
    buf_free(&text);
    return copy;
}

static bool fill_roles(struct comparison *out, const struct run *run, const struct pair *pair)
{
    for (int side = 0; side < SIDE_COUNT; side++) {
        const struct role_stats *stats = &run->stats[pair->roles[side]];
        out->roles[side] = (struct comparison_role){
            .label = label_of(run->arena, run->sides[side].label, stats->role->pid, pair->strict),
            .host = stats->role->host,
            .pid = stats->role->pid,
            .cycles = stats->cycle_count,
            .mean_cycle_us = stats->mean_cycle_us,
        };
        out->kernel_us[side] = stats->kernel_us;
        out->operator_us[side] = stats->operator_us;
        if (out->roles[side].label == NULL) {
            return false;
        }
    }
    return true;
}

static bool fill_cycles(struct comparison *out,
                        struct arena *arena,
                        const struct role_stats *base,
                        const struct role_stats *candidate)
{
    const struct role_stats *const sides[SIDE_COUNT] = {base, candidate};
    size_t counts[SIDE_COUNT] = {base->cycle_us_count, candidate->cycle_us_count};
    out->cycle_count =
        counts[SIDE_BASE] > counts[SIDE_CANDIDATE] ? counts[SIDE_BASE] : counts[SIDE_CANDIDATE];
    out->cycles = arena_calloc(arena, out->cycle_count, sizeof *out->cycles);
    if (out->cycles == NULL) {
        return false;
    }
    for (size_t i = 0; i < out->cycle_count; i++) {
        for (int side = 0; side < SIDE_COUNT; side++) {
            out->cycles[i].dur_us[side] = i < counts[side] ? sides[side]->cycle_us[i] : (double)NAN;
        }
    }
    out->cycle_p = (double)NAN;
    out->cycle_u = (double)NAN;
    if (counts[SIDE_BASE] < 2 || counts[SIDE_CANDIDATE] < 2) {
        return true;
    }
    out->cycle_p = stat_welch_p(base->mean_cycle_us, base->cycle_deviation_us, counts[SIDE_BASE],
                                candidate->mean_cycle_us, candidate->cycle_deviation_us,
                                counts[SIDE_CANDIDATE]);
    return stat_mann_whitney_p(base->cycle_us, counts[SIDE_BASE], candidate->cycle_us,
                               counts[SIDE_CANDIDATE], &out->cycle_u);
}

static bool
compare_pair(struct run *run, const struct pair *pair, const char *title, struct comparison **item)
{
    struct comparison *out = arena_calloc(run->arena, 1, sizeof *out);
    if (out == NULL) {
        return false;
    }
    const struct role_stats *base = &run->stats[pair->roles[SIDE_BASE]];
    const struct role_stats *candidate = &run->stats[pair->roles[SIDE_CANDIDATE]];
    bool is_step = base->role->kind == CYCLE_STEP;
    out->kind = is_step ? candidate->role->kind : base->role->kind;
    out->title = title;
    out->strict = pair->strict;
    uint32_t *places = NULL;
    bool ok = fill_roles(out, run, pair) && fill_cycles(out, run->arena, base, candidate) &&
              compare_rows_build(out, run->arena, &run->pool, base, candidate, &places);
    if (ok) {
        ok = compare_conclude(out, run->arena, places);
        scratch_free(places);
    }
    *item = out;
    return ok;
}

static bool compare_all(struct run *run, struct comparison_list *out)
{
    *out = (struct comparison_list){
        .items = arena_calloc(run->arena, run->pair_count, sizeof(struct comparison *))};
    const char *text = run->options->title == NULL ? "" : run->options->title;
    const char *title = arena_strdup(run->arena, text);
    if (out->items == NULL || title == NULL) {
        return false;
    }
    size_t rows = 0;
    for (size_t i = 0; i < run->pair_count; i++) {
        rows += run->pairs[i].row_count;
        if (i > 0 && rows > COMPARE_ROWS_MAX) {
            out->left_out = run->pair_count - i;
            break;
        }
        if (!compare_pair(run, &run->pairs[i], title, &out->items[out->count++])) {
            return false;
        }
    }
    return true;
}

bool compare_run(struct arena *arena,
                 const struct compare_side sides[SIDE_COUNT],
                 const struct compare_options *options,
                 struct comparison_list *out,
                 struct err *err)
{
    struct run run = {.arena = arena, .sides = sides, .options = options};
    if (!pool_build(&run.pool, arena, sides, err)) {
        return false;
    }
    bool ok = find_pairs(&run, err);
    if (ok && run.pair_count == 0) {
        ok = no_pair(&run, err);
    } else if (ok) {
        ok = build_stats(&run);
        if (ok) {
            rank_pairs(&run);
            ok = compare_all(&run, out);
        }
        ok = ok || err_set(err, ERR_NO_MEMORY, "out of memory");
    }
    for (uint32_t i = 0; run.stats != NULL && i < run.pool.role_count; i++) {
        role_stats_free(&run.stats[i]);
    }
    SCRATCH_FREE(run.stats, run.pairs);
    pool_free(&run.pool);
    return ok;
}

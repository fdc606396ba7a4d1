#include "server/options/fail_if.h"

#include "ingest/analysis/history/gate.h"
#include "ingest/base/order.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KERNEL_PREFIX "kernel:"

enum fail_if_name {
    FAIL_IF_STEP,
    FAIL_IF_SUSPICION,
    FAIL_IF_KERNELS,
    FAIL_IF_OPERATORS,
    FAIL_IF_FUNCTION
};

struct condition {
    enum fail_if_name name;
    const char *function; /* FAIL_IF_FUNCTION: `function_len` bytes */
    size_t function_len;
    double threshold;
    bool relative;
    double p_below; /* NaN: chance does not matter */
};

static bool read_name(struct condition *condition, const char *text, size_t len)
{
    static const char *const names[] = {[FAIL_IF_STEP] = "step_time",
                                        [FAIL_IF_SUSPICION] = "suspicion",
                                        [FAIL_IF_KERNELS] = "kernel_time",
                                        [FAIL_IF_OPERATORS] = "operator_time"};
    const size_t prefix_len = sizeof KERNEL_PREFIX - 1;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strlen(names[i]) == len && memcmp(names[i], text, len) == 0) {
            condition->name = (enum fail_if_name)i;
            return true;
        }
    }
    condition->name = FAIL_IF_FUNCTION;
    condition->function = text + prefix_len;
    condition->function_len = len > prefix_len ? len - prefix_len : 0;
    return len > prefix_len && memcmp(text, KERNEL_PREFIX, prefix_len) == 0;
}

static bool fail_if_parse(const char *text, struct condition *condition)
{
    struct gate_condition parsed;
    *condition = (struct condition){.function = ""};
    if (!gate_condition_parse(&parsed, text) ||
        !read_name(condition, parsed.name, parsed.name_len)) {
        return false;
    }
    condition->threshold = parsed.limit;
    condition->relative = parsed.is_relative;
    condition->p_below = parsed.p_below;
    return condition->threshold >= 0 &&
           !(condition->relative && condition->name == FAIL_IF_SUSPICION) &&
           (isnan(condition->p_below) || condition->name == FAIL_IF_STEP);
}

bool fail_if_is_valid(const char *text)
{
    struct condition condition;
    return fail_if_parse(text, &condition);
}

/* ---- the time of one function ---- */

/* One (cycle, device) in which the function ran; its rows repeat the duration for each metric. */
struct share {
    size_t trace;
    int64_t cycle;
    const char *device;
    double duration_us;
};

ORDER_BY(compare_shares, struct share, ORDER_UP(trace), ORDER_UP(cycle), ORDER_TEXT(device))

static bool text_is(const char *text, const struct condition *condition)
{
    return strlen(text) == condition->function_len &&
           memcmp(text, condition->function, condition->function_len) == 0;
}

static bool row_counts(const struct condition *condition,
                       const struct comparison *comparison,
                       enum comparison_side side,
                       const struct trace_results *results,
                       const struct cycle_use_row *row)
{
    const struct comparison_role *role = &comparison->roles[side];
    return row->pid == role->pid && results->cycles[row->cycle].kind == comparison->kind &&
           (text_is(row->function, condition) || text_is(row->simple_name, condition));
}

static size_t count_rows(const struct fail_if_side *side)
{
    size_t count = 0;
    for (size_t i = 0; i < side->count; i++) {
        count += side->results[i]->cycle_use_count;
    }
    return count;
}

/* Mean time a cycle of one side; NaN without memory. *seen: the function occurs. */
static double function_us(const struct condition *condition,
                          const struct comparison *comparison,
                          enum comparison_side which,
                          const struct fail_if_side *side,
                          bool *seen)
{
    size_t room = count_rows(side);
    struct share *shares = calloc(room + 1, sizeof *shares);
    if (shares == NULL) {
        return (double)NAN;
    }
    size_t count = 0;
    for (size_t i = 0; i < side->count; i++) {
        const struct trace_results *results = side->results[i];
        for (size_t j = 0; j < results->cycle_use_count; j++) {
            const struct cycle_use_row *row = &results->cycle_uses[j];
            if (row_counts(condition, comparison, which, results, row)) {
                const char *device = row->device == NULL ? "" : row->device;
                shares[count++] = (struct share){i, row->cycle, device, row->duration_us};
            }
        }
    }
    qsort(shares, count, sizeof *shares, compare_shares);
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        bool again = i > 0 && compare_shares(&shares[i - 1], &shares[i]) == 0;
        sum += again ? 0 : shares[i].duration_us;
    }
    free(shares);
    *seen |= count > 0;
    int64_t cycles = comparison->roles[which].cycles;
    return cycles > 0 ? sum / (double)cycles : 0;
}

/* ---- figures ---- */

static double highest_score(const struct comparison *comparison)
{
    double highest = 0;
    for (size_t i = 0; i < comparison->row_count; i++) {
        highest = fmax(highest, comparison->rows[i].score);
    }
    return highest;
}

static bool read_figures(const struct condition *condition,
                         const struct comparison *comparison,
                         const struct fail_if_side sides[SIDE_COUNT],
                         double figures[SIDE_COUNT],
                         struct err *err)
{
    bool seen = false;
    for (int side = 0; side < SIDE_COUNT; side++) {
        switch (condition->name) {
        case FAIL_IF_STEP:
            figures[side] = comparison->roles[side].mean_cycle_us;
            break;
        case FAIL_IF_SUSPICION:
            figures[side] = side == SIDE_CANDIDATE ? highest_score(comparison) : 0;
            break;
        case FAIL_IF_KERNELS:
            figures[side] = comparison->kernel_us[side];
            break;
        case FAIL_IF_OPERATORS:
            figures[side] = comparison->operator_us[side];
            break;
        case FAIL_IF_FUNCTION:
            figures[side] =
                function_us(condition, comparison, (enum comparison_side)side, &sides[side], &seen);
            break;
        }
    }
    if (condition->name == FAIL_IF_FUNCTION && !seen) {
        return err_set(err, ERR_BAD_REQUEST, "--fail-if: no function is called %.*s on either side",
                       (int)(condition->function_len < 200 ? condition->function_len : 200),
                       condition->function);
    }
    return true;
}

static void write_reason(char why[FAIL_IF_TEXT_BYTES],
                         const char *text,
                         const struct condition *condition,
                         double measured,
                         double p,
                         const double figures[SIDE_COUNT])
{
    char chance[40] = "";
    if (condition->name == FAIL_IF_SUSPICION) {
        (void)snprintf(why, FAIL_IF_TEXT_BYTES, "%.200s: the score is %.4f", text, measured);
        return;
    }
    if (!isnan(condition->p_below)) {
        (void)snprintf(chance, sizeof chance, ", p %.3g", p);
    }
    (void)snprintf(why, FAIL_IF_TEXT_BYTES,
                   "%.200s: grew by %.2f%s, from %.2f µs to %.2f µs a cycle%s", text, measured,
                   condition->relative ? "%" : " µs", figures[SIDE_BASE], figures[SIDE_CANDIDATE],
                   chance);
}

bool fail_if_check(const char *text,
                   const struct comparison *comparison,
                   const struct fail_if_side sides[SIDE_COUNT],
                   bool *fires,
                   char why[FAIL_IF_TEXT_BYTES],
                   struct err *err)
{
    struct condition condition;
    double figures[SIDE_COUNT];
    *fires = false;
    if (!fail_if_parse(text, &condition)) {
        return err_set(err, ERR_BAD_REQUEST, "--fail-if %.100s: no gate", text);
    }
    if (!read_figures(&condition, comparison, sides, figures, err)) {
        return false;
    }
    double base = figures[SIDE_BASE];
    double candidate = figures[SIDE_CANDIDATE];
    if (isnan(base) || isnan(candidate)) {
        return err_set(err, ERR_BAD_REQUEST, "--fail-if %.100s: the traces do not have this time",
                       text);
    }
    double p = comparison->cycle_p;
    if (!isnan(condition.p_below) && isnan(p)) {
        return err_set(err, ERR_BAD_REQUEST,
                       "--fail-if %.100s: there are too few cycles for a test", text);
    }
    double growth = candidate - base;
    double measured = !condition.relative ? growth
                      : base > 0          ? 100 * growth / base
                                          : (double)INFINITY;
    *fires = growth > 0 && measured > condition.threshold &&
             (isnan(condition.p_below) || p < condition.p_below);
    write_reason(why, text, &condition, measured, p, figures);
    return true;
}

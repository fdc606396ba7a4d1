#include "server/options/gate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KERNEL_PREFIX "kernel:"

enum gate_name { GATE_STEP, GATE_SUSPICION, GATE_KERNELS, GATE_OPERATORS, GATE_FUNCTION };

struct gate {
    enum gate_name name;
    const char *function; /* GATE_FUNCTION: `function_len` bytes */
    size_t function_len;
    double threshold;
    bool relative;
};

static bool read_name(struct gate *gate, const char *text, size_t len)
{
    static const char *const names[] = {[GATE_STEP] = "step_time",
                                        [GATE_SUSPICION] = "suspicion",
                                        [GATE_KERNELS] = "kernel_time",
                                        [GATE_OPERATORS] = "operator_time"};
    const size_t prefix_len = sizeof KERNEL_PREFIX - 1;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strlen(names[i]) == len && memcmp(names[i], text, len) == 0) {
            gate->name = (enum gate_name)i;
            return true;
        }
    }
    gate->name = GATE_FUNCTION;
    gate->function = text + prefix_len;
    gate->function_len = len > prefix_len ? len - prefix_len : 0;
    return len > prefix_len && memcmp(text, KERNEL_PREFIX, prefix_len) == 0;
}

/* The last `>` divides: names of kernels have them too. */
static bool gate_parse(const char *text, struct gate *gate)
{
    const char *sign = strrchr(text, '>');
    char *end = NULL;
    if (sign == NULL || !read_name(gate, text, (size_t)(sign - text))) {
        return false;
    }
    gate->threshold = strtod(sign + 1, &end);
    gate->relative = *end == '%';
    end += gate->relative;
    return end > sign + 1 && *end == '\0' && isfinite(gate->threshold) && gate->threshold >= 0 &&
           !(gate->relative && gate->name == GATE_SUSPICION);
}

bool gate_is_valid(const char *text)
{
    struct gate gate;
    return gate_parse(text, &gate);
}

/* ---- the time of one function ---- */

/* One (cycle, device) in which the function ran; its rows repeat the duration for each metric. */
struct share {
    size_t trace;
    int64_t cycle;
    const char *device;
    double duration_us;
};

static int compare_shares(const void *left, const void *right)
{
    const struct share *a = left;
    const struct share *b = right;
    if (a->trace != b->trace) {
        return a->trace < b->trace ? -1 : 1;
    }
    if (a->cycle != b->cycle) {
        return a->cycle < b->cycle ? -1 : 1;
    }
    return strcmp(a->device, b->device);
}

static bool text_is(const char *text, const struct gate *gate)
{
    return strlen(text) == gate->function_len &&
           memcmp(text, gate->function, gate->function_len) == 0;
}

static bool row_counts(const struct gate *gate,
                       const struct comparison *comparison,
                       enum comparison_side side,
                       const struct trace_results *results,
                       const struct cycle_use_row *row)
{
    const struct comparison_role *role = &comparison->roles[side];
    return row->pid == role->pid && results->cycles[row->cycle].kind == comparison->kind &&
           (text_is(row->function, gate) || text_is(row->simple_name, gate));
}

static size_t count_rows(const struct gate_side *side)
{
    size_t count = 0;
    for (size_t i = 0; i < side->count; i++) {
        count += side->results[i]->cycle_use_count;
    }
    return count;
}

/* Mean time a cycle of one side; NaN without memory. *seen: the function occurs. */
static double function_us(const struct gate *gate,
                          const struct comparison *comparison,
                          enum comparison_side which,
                          const struct gate_side *side,
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
            if (row_counts(gate, comparison, which, results, row)) {
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

static bool read_figures(const struct gate *gate,
                         const struct comparison *comparison,
                         const struct gate_side sides[SIDE_COUNT],
                         double figures[SIDE_COUNT],
                         struct err *err)
{
    bool seen = false;
    for (int side = 0; side < SIDE_COUNT; side++) {
        switch (gate->name) {
        case GATE_STEP:
            figures[side] = comparison->roles[side].mean_cycle_us;
            break;
        case GATE_SUSPICION:
            figures[side] = side == SIDE_CANDIDATE ? highest_score(comparison) : 0;
            break;
        case GATE_KERNELS:
            figures[side] = comparison->kernel_us[side];
            break;
        case GATE_OPERATORS:
            figures[side] = comparison->operator_us[side];
            break;
        case GATE_FUNCTION:
            figures[side] =
                function_us(gate, comparison, (enum comparison_side)side, &sides[side], &seen);
            break;
        }
    }
    if (gate->name == GATE_FUNCTION && !seen) {
        return err_set(err, ERR_BAD_REQUEST, "--fail-if: no function is called %.*s on either side",
                       (int)(gate->function_len < 200 ? gate->function_len : 200), gate->function);
    }
    return true;
}

static void write_reason(char why[GATE_TEXT_BYTES],
                         const char *text,
                         const struct gate *gate,
                         double measured,
                         const double figures[SIDE_COUNT])
{
    if (gate->name == GATE_SUSPICION) {
        (void)snprintf(why, GATE_TEXT_BYTES, "%.200s: the score is %.4f", text, measured);
        return;
    }
    (void)snprintf(why, GATE_TEXT_BYTES, "%.200s: grew by %.2f%s, from %.2f us to %.2f us a cycle",
                   text, measured, gate->relative ? "%" : " us", figures[SIDE_BASE],
                   figures[SIDE_CANDIDATE]);
}

bool gate_check(const char *text,
                const struct comparison *comparison,
                const struct gate_side sides[SIDE_COUNT],
                bool *fires,
                char why[GATE_TEXT_BYTES],
                struct err *err)
{
    struct gate gate;
    double figures[SIDE_COUNT];
    *fires = false;
    if (!gate_parse(text, &gate)) {
        return err_set(err, ERR_BAD_REQUEST, "--fail-if %.100s: no gate", text);
    }
    if (!read_figures(&gate, comparison, sides, figures, err)) {
        return false;
    }
    double base = figures[SIDE_BASE];
    double candidate = figures[SIDE_CANDIDATE];
    if (isnan(base) || isnan(candidate)) {
        return err_set(err, ERR_BAD_REQUEST, "--fail-if %.100s: the traces do not have this time",
                       text);
    }
    double growth = candidate - base;
    double measured = !gate.relative ? growth : base > 0 ? 100 * growth / base : (double)INFINITY;
    *fires = growth > 0 && measured > gate.threshold;
    write_reason(why, text, &gate, measured, figures);
    return true;
}

#include "ingest/analysis/history/gate.h"

#include "ingest/analysis/util/stat_tests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool history_baseline_find(struct history_baseline *out,
                           struct arena *arena,
                           const double *values,
                           size_t count,
                           const struct history_rules *rules)
{
    struct history_changes changes;
    *out = (struct history_baseline){.first = 0};
    if (!history_changes_find(&changes, arena, values, count, rules)) {
        return false;
    }
    out->has_change = changes.change_count > 0;
    if (out->has_change) {
        out->first = changes.changes[changes.change_count - 1].index;
    }
    return history_summarise(&out->summary, values + out->first, count - out->first);
}

/* The end of a number in decimal digits, NULL without one: strtod alone takes words and hexadecimal
 * digits, too. */
static const char *read_number(const char *text, double *value)
{
    char *end = NULL;
    size_t digits = strspn(text, "0123456789.eE+-");
    *value = strtod(text, &end);
    return digits > 0 && end == text + digits && isfinite(*value) ? end : NULL;
}

static const char *skip_blanks(const char *text)
{
    return text + strspn(text, " ");
}

/* `text` is what follows the limit: nothing, or " and p<P". */
static bool read_chance(const char *text, double *p_below)
{
    const char *word = skip_blanks(text);
    *p_below = (double)NAN;
    if (*word == '\0') {
        return word == text;
    }
    if (word == text || strncmp(word, "and ", 4) != 0) {
        return false;
    }
    word = skip_blanks(word + 4);
    const char *sign = *word == 'p' ? skip_blanks(word + 1) : word;
    if (*word != 'p' || *sign != '<') {
        return false;
    }
    const char *end = read_number(skip_blanks(sign + 1), p_below);
    return end != NULL && *end == '\0' && *p_below > 0 && *p_below <= 1;
}

bool gate_condition_parse(struct gate_condition *out, const char *text)
{
    const char *sign = strrchr(text, '>');
    if (sign == NULL || sign == text) {
        return false;
    }
    *out = (struct gate_condition){
        .name = text, .name_len = (size_t)(sign - text), .limit_text = sign + 1};
    const char *end = read_number(sign + 1, &out->limit);
    out->is_relative = end != NULL && *end == '%';
    return end != NULL && read_chance(end + out->is_relative, &out->p_below);
}

const char *gate_verdict_text(enum gate_verdict verdict)
{
    static const char *const texts[] = {
        [GATE_PASS] = "pass", [GATE_FAIL] = "fail", [GATE_NO_BASELINE] = "no_baseline"};
    return texts[verdict];
}

/* One-sided [HIST-4c]. */
static double p_of(double worse_by, const struct history_summary *baseline)
{
    double k = (double)baseline->count;
    if (baseline->std == 0) {
        return worse_by > 0 ? 0 : 1;
    }
    double t = worse_by / (baseline->std * sqrt(1 + 1 / k));
    double half = stat_student_p(t, k - 1) / 2;
    return t > 0 ? half : 1 - half;
}

static bool is_beyond(double worse_by, double mean, const struct gate_condition *condition)
{
    if (!condition->is_relative) {
        return worse_by > condition->limit;
    }
    return mean == 0 ? worse_by > 0 : worse_by / fabs(mean) > condition->limit / 100;
}

static bool is_improbable(double p, const struct gate_condition *condition, double p_max)
{
    return isnan(condition->p_below) ? p <= p_max : p < condition->p_below;
}

struct gate_row gate_judge(double candidate,
                           const struct history_summary *baseline,
                           int direction,
                           const struct gate_condition *condition,
                           const struct gate_rules *rules)
{
    struct gate_row row = {(double)NAN, (double)NAN, (double)NAN, GATE_NO_BASELINE};
    if (isnan(candidate) || baseline->count == 0) {
        return row;
    }
    double mean = baseline->mean;
    row.worse_by = direction < 0 ? candidate - mean : mean - candidate;
    row.change = mean == 0 ? (double)NAN : candidate / mean - 1;
    row.p = p_of(row.worse_by, baseline);
    if ((int64_t)baseline->count >= rules->min_points) {
        bool fails =
            is_beyond(row.worse_by, mean, condition) && is_improbable(row.p, condition, rules->p);
        row.verdict = fails ? GATE_FAIL : GATE_PASS;
    }
    return row;
}

enum gate_verdict gate_overall(const struct gate_row *rows, size_t count)
{
    enum gate_verdict verdict = GATE_NO_BASELINE;
    for (size_t i = 0; i < count && verdict != GATE_FAIL; i++) {
        verdict = rows[i].verdict != GATE_NO_BASELINE ? rows[i].verdict : verdict;
    }
    return verdict;
}

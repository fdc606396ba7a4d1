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

/* The last ">" divides: names of kernels have them too. */
bool gate_condition_parse(struct gate_condition *out, const char *text)
{
    const char *sign = strrchr(text, '>');
    char *end = NULL;
    if (sign == NULL || sign == text) {
        return false;
    }
    *out = (struct gate_condition){
        .name = text, .name_len = (size_t)(sign - text), .limit_text = sign + 1};
    /* strtod takes words and hexadecimal digits, too. */
    size_t digits = strspn(sign + 1, "0123456789.eE+-");
    out->limit = strtod(sign + 1, &end);
    out->is_relative = *end == '%';
    return digits > 0 && end == sign + 1 + digits && end[out->is_relative] == '\0' &&
           isfinite(out->limit);
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
        bool fails = is_beyond(row.worse_by, mean, condition) && row.p <= rules->p;
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

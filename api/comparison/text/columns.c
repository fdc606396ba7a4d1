#include "api/comparison/text/columns.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PID_SUFFIX_BYTES 32

#define OF(field) offsetof(struct comparison_row, field)

const struct comparison_column comparison_columns[COMPARISON_COLUMN_COUNT] = {
    {"Suspicion Score", "", SIDE_COUNT, STYLE_SCORE, OF(score)},
    {"β_", "(%)", SIDE_BASE, STYLE_SHARE, OF(beta_pct[SIDE_BASE])},
    {"β_", "(%)", SIDE_CANDIDATE, STYLE_SHARE, OF(beta_pct[SIDE_CANDIDATE])},
    {"Δβ(%)", "", SIDE_COUNT, STYLE_SIGNED, OF(delta_beta)},
    {"Z-Score(β)", "", SIDE_COUNT, STYLE_SIGNED, OF(z_beta)},
    {"p-value(β)", "", SIDE_COUNT, STYLE_P, OF(p_beta)},
    {"U-test p(β)", "", SIDE_COUNT, STYLE_P, OF(u_beta)},
    {"μ_", "", SIDE_BASE, STYLE_THOUSANDS, OF(mu[SIDE_BASE])},
    {"μ_", "", SIDE_CANDIDATE, STYLE_THOUSANDS, OF(mu[SIDE_CANDIDATE])},
    {"Δμ", "", SIDE_COUNT, STYLE_SIGNED, OF(delta_mu)},
    {"Z-Score(μ)", "", SIDE_COUNT, STYLE_SIGNED, OF(z_mu)},
    {"Z-Score(log_μ)", "", SIDE_COUNT, STYLE_SIGNED, OF(z_log_mu)},
    {"p-value(μ)", "", SIDE_COUNT, STYLE_P, OF(p_mu)},
    {"U-test p(μ)", "", SIDE_COUNT, STYLE_P, OF(u_mu)},
    {"q-value(β)", "", SIDE_COUNT, STYLE_P, OF(q_beta)},
    {"q-value(μ)", "", SIDE_COUNT, STYLE_P, OF(q_mu)},
    {"p-value(presence)", "", SIDE_COUNT, STYLE_P, OF(p_presence)},
    {"q-value(presence)", "", SIDE_COUNT, STYLE_P, OF(q_presence)},
};

double comparison_column_value(const struct comparison_column *column,
                               const struct comparison_row *row)
{
    double value;
    memcpy(&value, (const char *)row + column->offset, sizeof value);
    return value;
}

void comparison_column_header(struct buf *out,
                              const struct comparison_column *column,
                              const struct comparison_role roles[SIDE_COUNT],
                              bool plain)
{
    buf_puts(out, column->before);
    if (column->side != SIDE_COUNT) {
        const struct comparison_role *role = &roles[column->side];
        size_t len = plain ? comparison_plain_label_len(role) : strlen(role->label);
        buf_append(out, role->label, len);
    }
    buf_puts(out, column->after);
}

size_t comparison_plain_label_len(const struct comparison_role *role)
{
    char suffix[PID_SUFFIX_BYTES];
    int len = snprintf(suffix, sizeof suffix, "_pid_%" PRId64, role->pid);
    size_t label_len = strlen(role->label);
    bool has_suffix = len > 0 && label_len > (size_t)len &&
                      strcmp(role->label + label_len - (size_t)len, suffix) == 0;
    return has_suffix ? label_len - (size_t)len : label_len;
}

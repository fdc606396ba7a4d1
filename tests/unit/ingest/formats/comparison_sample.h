/* A comparison with values of their own in every field. */
#ifndef KS_TESTS_UNIT_INGEST_FORMATS_COMPARISON_SAMPLE_H
#define KS_TESTS_UNIT_INGEST_FORMATS_COMPARISON_SAMPLE_H

#include "tests/unit/ingest/analysis/row_checks.h"

#define SAMPLE_ROWS 4

struct comparison_sample {
    struct comparison comparison;
    struct comparison_cycle_row cycles[SAMPLE_ROWS];
    struct comparison_row rows[SAMPLE_ROWS];
    struct comparison_finding findings[2];
    uint32_t appeared[2];
};

static inline void fill_comparison_rows(struct comparison_sample *s, int *n, int *r)
{
    static const char *const functions[] = {"gemm", "", NULL, "gemm"};
    for (int i = 0; i < SAMPLE_ROWS; i++) {
        struct comparison_row *row = &s->rows[i];
        row->function = functions[i];
        row->metric = i == 1 ? NULL : "gpu_util";
        row->device = i == 2 ? NULL : "GPU 7";
        row->score = i == 3 ? (double)NAN : 40.0 - i;
        row->delta_beta = next_real(r);
        row->z_beta = next_real(r);
        row->p_beta = next_real(r);
        row->u_beta = next_real(r);
        row->delta_mu = next_real(r);
        row->z_mu = next_real(r);
        row->z_log_mu = next_real(r);
        row->p_mu = next_real(r);
        row->u_mu = next_real(r);
        row->q_beta = next_real(r);
        row->q_mu = next_real(r);
        row->p_presence = next_real(r);
        row->q_presence = next_real(r);
        row->presence = (enum comparison_presence)(i % 3);
        for (int side = 0; side < SIDE_COUNT; side++) {
            row->beta_pct[side] = next_real(r);
            row->mu[side] = next_real(r);
            row->cycles[side] = i == 0 ? COMPARISON_UNKNOWN : next_number(n);
            s->cycles[i].dur_us[side] = next_real(r);
        }
    }
}

static inline void fill_comparison_findings(struct comparison_sample *s, int *r)
{
    for (int i = 0; i < 2; i++) {
        struct comparison_finding *row = &s->findings[i];
        row->function = i == 0 ? "gemm" : "other";
        row->device = i == 0 ? "Host" : NULL;
        row->delta_beta = next_real(r);
        row->p_beta = next_real(r);
        row->metric_count = i == 0 ? FINDING_METRICS_MAX : 0;
        for (size_t k = 0; k < row->metric_count; k++) {
            row->metrics[k].metric = k == 1 ? "gpu_util" : "clock";
            row->metrics[k].mu[SIDE_BASE] = next_real(r);
            row->metrics[k].mu[SIDE_CANDIDATE] = next_real(r);
        }
        row->beta_pct[SIDE_BASE] = next_real(r);
        row->beta_pct[SIDE_CANDIDATE] = next_real(r);
    }
}

/* `seed` makes comparisons that differ. */
static inline struct comparison_sample *make_comparison(const char *title, int seed)
{
    int n = seed;
    int r = seed;
    struct comparison_sample *s = calloc(1, sizeof *s);
    assert_non_null(s);
    struct comparison *c = &s->comparison;
    fill_comparison_rows(s, &n, &r);
    fill_comparison_findings(s, &r);
    c->kind = (enum cycle_kind)(seed % CYCLE_KIND_COUNT);
    c->title = title;
    c->strict = seed % 2 == 0;
    c->cycle_p = next_real(&r);
    c->cycle_u = next_real(&r);
    c->verdict = (enum comparison_verdict)(seed % 3);
    for (int side = 0; side < SIDE_COUNT; side++) {
        c->roles[side] = (struct comparison_role){.label = side == 0 ? "normal" : "abnormal_pid_7",
                                                  .host = side == 0 ? "" : "host",
                                                  .pid = side == 0 ? COMPARISON_NO_PID : 7,
                                                  .cycles = next_number(&n),
                                                  .mean_cycle_us = next_real(&r)};
        c->kernel_us[side] = next_real(&r);
        c->operator_us[side] = next_real(&r);
    }
    s->appeared[0] = 3;
    s->appeared[1] = 0;
    c->cycles = s->cycles;
    c->cycle_count = SAMPLE_ROWS;
    c->rows = s->rows;
    c->row_count = SAMPLE_ROWS;
    c->findings = s->findings;
    c->finding_count = 2;
    c->appeared = s->appeared;
    c->appeared_count = 2;
    return s;
}

static inline void check_comparison_row(const struct comparison_row *a,
                                        const struct comparison_row *b)
{
    TEXT(function);
    TEXT(metric);
    TEXT(device);
    REAL(score);
    PAIR(beta_pct);
    REAL(delta_beta);
    REAL(z_beta);
    REAL(p_beta);
    REAL(u_beta);
    PAIR(mu);
    REAL(delta_mu);
    REAL(z_mu);
    REAL(z_log_mu);
    REAL(p_mu);
    REAL(u_mu);
    REAL(q_beta);
    REAL(q_mu);
    REAL(p_presence);
    REAL(q_presence);
    INT(presence);
    INT(cycles[SIDE_BASE]);
    INT(cycles[SIDE_CANDIDATE]);
}

static inline void check_comparison_finding(const struct comparison_finding *a,
                                            const struct comparison_finding *b)
{
    TEXT(function);
    TEXT(device);
    PAIR(beta_pct);
    REAL(delta_beta);
    REAL(p_beta);
    INT(metric_count);
    for (size_t k = 0; k < a->metric_count; k++) {
        TEXT(metrics[k].metric);
        PAIR(metrics[k].mu);
    }
}

static inline void check_comparison_head(const struct comparison *a, const struct comparison *b)
{
    INT(kind);
    TEXT(title);
    INT(strict);
    REAL(cycle_p);
    REAL(cycle_u);
    INT(verdict);
    PAIR(kernel_us);
    PAIR(operator_us);
    for (int side = 0; side < SIDE_COUNT; side++) {
        TEXT(roles[side].label);
        TEXT(roles[side].host);
        INT(roles[side].pid);
        INT(roles[side].cycles);
        REAL(roles[side].mean_cycle_us);
    }
}

static inline void check_comparison(const struct comparison *a, const struct comparison *b)
{
    check_comparison_head(a, b);
    INT(cycle_count);
    INT(row_count);
    INT(finding_count);
    INT(appeared_count);
    for (size_t i = 0; i < a->cycle_count; i++) {
        PAIR(cycles[i].dur_us);
    }
    for (size_t i = 0; i < a->row_count; i++) {
        check_comparison_row(&a->rows[i], &b->rows[i]);
    }
    for (size_t i = 0; i < a->finding_count; i++) {
        check_comparison_finding(&a->findings[i], &b->findings[i]);
    }
    for (size_t i = 0; i < a->appeared_count; i++) {
        INT(appeared[i]);
    }
}

#endif

/* The sentences about a comparison, the same in Markdown, plain text and JSON. */
#ifndef KS_API_COMPARISON_WORDS_H
#define KS_API_COMPARISON_WORDS_H

#include "ingest/base/text/buf.h"
#include "ingest/model/results/comparison.h"

enum words_markup { WORDS_PLAIN, WORDS_MARKDOWN };

/* A function, metric or device within a sentence. */
void words_name(struct buf *out, const char *name, enum words_markup markup);
/* A function within a sentence: short where nobody reads it by machine. */
void words_function(struct buf *out, const char *name, enum words_markup markup);
/* "base (process 17)": a side, and its process where the label names it as _pid_17. */
void words_role(struct buf *out, const struct comparison_role *role, enum words_markup markup);
/* What the findings say as a whole. */
void words_overview(struct buf *out, const struct comparison *comparison, enum words_markup markup);
/* "Its share of the cycle time (β) increased from 2.71% to 8.62% (+5.91 ppt), ..." */
void words_share(struct buf *out,
                 const struct comparison_finding *finding,
                 enum words_markup markup);
/* "process_gpu_usage: increased from 6.32 to 21.57." */
void words_metric(struct buf *out,
                  const struct comparison_finding *finding,
                  size_t metric,
                  enum words_markup markup);
void words_recommendation(struct buf *out,
                          const struct comparison *comparison,
                          enum words_markup markup);
/* The verdict and the figures it rests on. No names, hence no markup. */
void words_verdict(struct buf *out, const struct comparison *comparison);

/* A row is significant from here on, and so is p [CMP-7a] [CMP-7c]. */
#define WORDS_SCORE_MIN 10.0
#define WORDS_P_MAX 0.05

/* Relative growth of the mean cycle time in percent; infinite where the base is not above 0. */
double words_change_pct(const struct comparison *comparison);
/* Whether a β above 100 % needs its note. */
bool words_has_large_beta(const struct comparison *comparison);

#endif

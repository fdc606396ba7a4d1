#include "api/comparison/text/words.h"

#include "api/comparison/text/columns.h"
#include "api/table/markdown_table.h"
#include "ingest/base/text/affix.h"
#include "ingest/base/text/short_name.h"
#include "ingest/base/text/utf8.h"

#include <math.h>
#include <string.h>

#define FUNCTION_BYTES_MAX ((size_t)120) /* of a name within a sentence */
#define CHANCE_ROUNDS_TO_0 0.0005        /* at three decimals */

static void strong(struct buf *out, enum words_markup markup)
{
    buf_puts(out, markup == WORDS_MARKDOWN ? "**" : "");
}

/* Longest run of backticks: a code span needs one more around it, and something in it. */
static size_t longest_ticks(const char *text)
{
    size_t longest = 0;
    while (*text != '\0') {
        text += strcspn(text, "`");
        size_t run = strspn(text, "`");
        longest = run > longest ? run : longest;
        text += run;
    }
    return longest;
}

void words_name(struct buf *out, const char *name, enum words_markup markup)
{
    size_t inner = longest_ticks(name);
    size_t ticks = markup == WORDS_MARKDOWN ? inner + 1 : 0;
    const char *gap = ticks > 1 || (ticks == 1 && *name == '\0') ? " " : "";
    for (size_t i = 0; i < ticks; i++) {
        buf_putc(out, '`');
    }
    buf_puts(out, gap);
    markdown_table_line(out, name);
    buf_puts(out, gap);
    for (size_t i = 0; i < ticks; i++) {
        buf_putc(out, '`');
    }
}

void words_function(struct buf *out, const char *name, enum words_markup markup)
{
    struct buf shorter;
    buf_init(&shorter, out->max_bytes);
    if (markup == WORDS_PLAIN) {
        short_name(&shorter, name);
    } else {
        buf_puts(&shorter, name);
    }
    if (markup == WORDS_PLAIN && shorter.len > FUNCTION_BYTES_MAX) {
        shorter.len = utf8_cut(shorter.ptr, FUNCTION_BYTES_MAX);
        buf_puts(&shorter, "…");
    }
    words_name(out, shorter.ptr, markup);
    buf_free(&shorter);
}

static const char pid_word[] = "_pid_";

/* Without the number of a process at its end, whether or not the report says that number. */
static size_t label_words_len(const char *label)
{
    size_t len = strlen(label);
    size_t at = len;
    while (at > 0 && text_is_digit(label[at - 1])) {
        at--;
    }
    size_t word_len = sizeof pid_word - 1;
    bool has_pid =
        at < len && at > word_len && memcmp(label + at - word_len, pid_word, word_len) == 0;
    return has_pid ? at - word_len : len;
}

void words_role(struct buf *out, const struct comparison_role *role, enum words_markup markup)
{
    size_t len = label_words_len(role->label);
    struct buf label;
    buf_init(&label, out->max_bytes);
    buf_append(&label, role->label, len);
    words_name(out, label.ptr, markup);
    if (role->label[len] != '\0') {
        buf_printf(out, " (process %s)", role->label + len + sizeof pid_word - 1);
    }
    buf_free(&label);
}

double words_change_pct(const struct comparison *comparison)
{
    double base = comparison->roles[SIDE_BASE].mean_cycle_us;
    double candidate = comparison->roles[SIDE_CANDIDATE].mean_cycle_us;
    return base > 0 ? (candidate - base) / base * 100 : (double)INFINITY;
}

bool words_has_large_beta(const struct comparison *comparison)
{
    for (size_t i = 0; i < comparison->finding_count; i++) {
        const double *beta_pct = comparison->findings[i].beta_pct;
        if (beta_pct[SIDE_BASE] > 100 || beta_pct[SIDE_CANDIDATE] > 100) {
            return true;
        }
    }
    return false;
}

/* Scores that make findings, in a table that came without: an uploaded CSV. */
static bool has_unnamed_findings(const struct comparison *comparison)
{
    for (size_t i = 0; i < comparison->row_count && comparison->finding_count == 0; i++) {
        if (comparison->rows[i].score > WORDS_SCORE_MIN) {
            return true;
        }
    }
    return false;
}

void words_overview(struct buf *out, const struct comparison *comparison, enum words_markup markup)
{
    const struct comparison_role *roles = comparison->roles;
    if (comparison->finding_count == 0) {
        bool unnamed = has_unnamed_findings(comparison);
        buf_puts(out, unnamed ? "Rows stand out between " : "Nothing stands out between ");
        words_role(out, &roles[SIDE_BASE], markup);
        buf_puts(out, " and ");
        words_role(out, &roles[SIDE_CANDIDATE], markup);
        buf_printf(out,
                   unnamed ? ": some Suspicion Scores are above %.1f."
                           : ": no Suspicion Score is above %.1f.",
                   WORDS_SCORE_MIN);
        return;
    }
    const struct comparison_finding *first = &comparison->findings[0];
    buf_puts(out, "What sets ");
    words_role(out, &roles[SIDE_CANDIDATE], markup);
    buf_puts(out, " apart from ");
    words_role(out, &roles[SIDE_BASE], markup);
    buf_puts(out, " most is ");
    strong(out, markup);
    words_function(out, first->function, markup);
    strong(out, markup);
    buf_printf(out, ", with a clear %s of its share of the cycle time.",
               first->delta_beta > 0 ? "increase" : "decrease");
    if (comparison->verdict == VERDICT_NO_DIFFERENCE) {
        buf_puts(out, " Chance may explain it.");
    }
}

/* Never 0.000: a small probability is none of 0. */
static void put_chance(struct buf *out, double p)
{
    if (p < CHANCE_ROUNDS_TO_0) {
        buf_puts(out, "< 0.001");
    } else {
        buf_printf(out, "%.3f", p);
    }
}

void words_share(struct buf *out,
                 const struct comparison_finding *finding,
                 enum words_markup markup)
{
    const char *mark = markup == WORDS_MARKDOWN ? "**" : "";
    bool significant = finding->p_beta < WORDS_P_MAX;
    buf_printf(out,
               "Its share of the cycle time (β) %s%s%s from %s%.2f%%%s to %s%.2f%%%s (%+.2f ppt), "
               "%s (p-value: ",
               mark, finding->delta_beta > 0 ? "increased" : "decreased", mark, mark,
               finding->beta_pct[SIDE_BASE], mark, mark, finding->beta_pct[SIDE_CANDIDATE], mark,
               finding->delta_beta,
               significant ? "which is statistically significant"
                           : "which chance may explain as well");
    if (markup == WORDS_MARKDOWN) {
        buf_printf(out, "%.3f", finding->p_beta); /* as the reference prints it */
    } else {
        put_chance(out, finding->p_beta);
    }
    buf_puts(out, ").");
}

void words_metric(struct buf *out,
                  const struct comparison_finding *finding,
                  size_t metric,
                  enum words_markup markup)
{
    const double *mu = finding->metrics[metric].mu;
    strong(out, markup);
    words_name(out, finding->metrics[metric].metric, markup);
    strong(out, markup);
    buf_printf(out, ": %s from ", mu[SIDE_CANDIDATE] > mu[SIDE_BASE] ? "increased" : "decreased");
    markdown_table_thousands(out, mu[SIDE_BASE]);
    buf_puts(out, " to ");
    markdown_table_thousands(out, mu[SIDE_CANDIDATE]);
    buf_putc(out, '.');
}

static const char *recommendation_without_finding(const struct comparison *comparison)
{
    if (has_unnamed_findings(comparison)) {
        return "Begin with the rows of the highest Suspicion Score.";
    }
    return comparison->verdict == VERDICT_DIFFERENT
               ? "No function and metric explain the difference together: look at the cycle times "
                 "and at what was added or removed."
               : "Nothing needs to be looked into on the strength of these cycles.";
}

void words_recommendation(struct buf *out,
                          const struct comparison *comparison,
                          enum words_markup markup)
{
    if (comparison->finding_count == 0) {
        buf_puts(out, recommendation_without_finding(comparison));
        return;
    }
    const struct comparison_finding *first = &comparison->findings[0];
    buf_puts(out, "Begin with ");
    words_function(out, first->function, markup);
    buf_puts(out, " on ");
    words_name(out, first->device, markup);
    buf_puts(out, ", which has the highest Suspicion Score");
    buf_puts(out, comparison->finding_count > 1 ? ", then take the other functions above. " : ". ");
    buf_puts(out, first->metric_count > 0
                      ? "Resources that it works with (μ) changed as well: find out which change "
                        "caused the other."
                      : "No resource metric (μ) changed along with it: look at how often it is "
                        "called, and on what.");
}

/* ---- verdict ---- */

struct tally {
    size_t rows;  /* that differ in beta */
    size_t added; /* functions of the candidate alone */
    size_t removed;
    double lowest_q; /* NaN: no test was made */
    double lowest_presence_q;
};

static struct tally count(const struct comparison *comparison)
{
    struct tally tally = {.lowest_q = (double)NAN, .lowest_presence_q = (double)NAN};
    for (size_t i = 0; i < comparison->row_count; i++) {
        double q = comparison->rows[i].q_beta;
        tally.rows += q < WORDS_P_MAX;
        tally.lowest_q = fmin(tally.lowest_q, q);
    }
    for (size_t i = 0; i < comparison->appeared_count; i++) {
        const struct comparison_row *row = &comparison->rows[comparison->appeared[i]];
        bool is_added = row->presence == PRESENCE_ADDED;
        tally.lowest_presence_q = fmin(tally.lowest_presence_q, row->q_presence);
        tally.added += is_added;
        tally.removed += !is_added;
    }
    return tally;
}

/* "= 0.023", "< 0.001" */
static void put_equal_chance(struct buf *out, double p)
{
    size_t at = out->len;
    put_chance(out, p);
    if (!out->failed && out->len > at && out->ptr[at] != '<') {
        out->len = at;
        buf_puts(out, "= ");
        put_chance(out, p);
    }
}

static void put_cycle_test(struct buf *out, const struct comparison *comparison)
{
    if (isfinite(words_change_pct(comparison))) {
        buf_printf(out, " The mean cycle time changed by %+.2f%%", words_change_pct(comparison));
        if (!isnan(comparison->cycle_p)) {
            buf_puts(out, " (t-test p ");
            put_equal_chance(out, comparison->cycle_p);
            if (!isnan(comparison->cycle_u)) {
                buf_puts(out, ", Mann-Whitney p ");
                put_equal_chance(out, comparison->cycle_u);
            }
            buf_putc(out, ')');
        }
        buf_putc(out, '.');
    }
}

static void put_appeared(struct buf *out, const struct tally *tally)
{
    if (tally->added + tally->removed > 0) {
        buf_printf(out, " Functions: %zu added, %zu removed", tally->added, tally->removed);
        if (!isnan(tally->lowest_presence_q)) {
            buf_puts(out, " (Fisher's exact test: smallest q ");
            put_chance(out, tally->lowest_presence_q);
            buf_putc(out, ')');
        }
        buf_putc(out, '.');
    }
}

/* A side of a report that does not say how many cycles it had has 0. */
static bool has_one_cycle(const struct comparison *comparison)
{
    return comparison->roles[SIDE_BASE].cycles == 1 ||
           comparison->roles[SIDE_CANDIDATE].cycles == 1;
}

void words_verdict(struct buf *out, const struct comparison *comparison)
{
    struct tally tally = count(comparison);
    bool tested = !isnan(tally.lowest_q);
    switch (comparison->verdict) {
    case VERDICT_NO_DIFFERENCE:
        buf_puts(out, "No significant difference: no share of the cycle time and no cycle time "
                      "differs by more than chance explains");
        if (tested) {
            buf_printf(out, " (smallest q %.3f over %zu rows)", tally.lowest_q,
                       comparison->row_count);
        }
        buf_putc(out, '.');
        break;
    case VERDICT_DIFFERENT:
        buf_puts(out, "The two differ");
        if (tested) {
            buf_printf(out,
                       ": %zu of %zu rows changed their share of the cycle time significantly "
                       "(q < %.2f)",
                       tally.rows, comparison->row_count, WORDS_P_MAX);
        }
        buf_putc(out, '.');
        break;
    case VERDICT_UNDECIDED:
        buf_puts(out, has_one_cycle(comparison)
                          ? "Not enough data to test: with one cycle on a side nothing tells a "
                            "difference from chance; record more cycles."
                          : "Undecided: the report does not say whether chance explains the "
                            "differences.");
        break;
    }
    put_cycle_test(out, comparison);
    put_appeared(out, &tally);
}

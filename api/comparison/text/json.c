#include "api/comparison/text/environment.h"
#include "api/comparison/text/text.h"
#include "api/comparison/text/words.h"
#include "api/table/field.h"
#include "ingest/base/order.h"
#include "ingest/base/saturating.h"
#include "ingest/base/text/json_write.h"
#include "ingest/base/text/strtab.h"
#include "ingest/model/tables.h"

#include <stdlib.h>
#include <string.h>

#define SENTENCE_BYTES_MAX ((size_t)1 << 22)

/* ---- summary ---- */

static void put_name(struct json_write *w, const struct comparison_role *role)
{
    struct buf name;
    buf_init(&name, SENTENCE_BYTES_MAX);
    words_role(&name, role, WORDS_PLAIN);
    jw_key_string(w, "name", name.ptr);
    buf_free(&name);
}

static void put_role(struct json_write *w, const char *key, const struct comparison_role *role)
{
    struct field_out out = {.notation = FIELD_JSON, .json = w};
    jw_key_object_begin(w, key);
    field_columns(&out, &table_comparison_role, role, 0);
    put_name(w, role);
    jw_object_end(w);
}

static void put_summary(struct json_write *w, const struct comparison *comparison)
{
    const struct comparison_role *roles = comparison->roles;
    struct buf verdict;
    buf_init(&verdict, SENTENCE_BYTES_MAX);
    environment_sentence(&verdict, comparison->environment);
    buf_puts(&verdict, verdict.len > 0 ? " " : "");
    words_verdict(&verdict, comparison);
    jw_key_object_begin(w, "summary");
    jw_key_array_begin(w, "labels");
    jw_string(w, roles[SIDE_BASE].label);
    jw_string(w, roles[SIDE_CANDIDATE].label);
    jw_array_end(w);
    put_role(w, "base", &roles[SIDE_BASE]);
    put_role(w, "candidate", &roles[SIDE_CANDIDATE]);
    jw_key_double(w, "delta_ns",
                  us_to_ns(roles[SIDE_CANDIDATE].mean_cycle_us - roles[SIDE_BASE].mean_cycle_us));
    jw_key_double(w, "change_pct", words_change_pct(comparison));
    jw_key_double(w, "cycle_p", comparison->cycle_p);
    jw_key_double(w, "cycle_u", comparison->cycle_u);
    jw_key_string(w, "verdict_text", verdict.ptr);
    jw_object_end(w);
    buf_free(&verdict);
}

static void put_cycles(struct json_write *w, const struct comparison *comparison)
{
    jw_key_array_begin(w, "cycles");
    for (size_t i = 0; i < comparison->cycle_count; i++) {
        const double *dur_us = comparison->cycles[i].dur_us;
        double delta_us = dur_us[SIDE_CANDIDATE] - dur_us[SIDE_BASE];
        jw_object_begin(w);
        jw_key_int(w, "rank", (int64_t)i + 1);
        jw_key_double(w, "base_ns", us_to_ns(dur_us[SIDE_BASE]));
        jw_key_double(w, "candidate_ns", us_to_ns(dur_us[SIDE_CANDIDATE]));
        jw_key_double(w, "delta_ns", us_to_ns(delta_us));
        jw_key_double(w, "delta_pct", delta_us / dur_us[SIDE_BASE] * 100);
        jw_object_end(w);
    }
    jw_array_end(w);
}

/* ---- findings ---- */

static void put_finding_text(struct json_write *w, const struct comparison_finding *finding)
{
    struct buf text;
    buf_init(&text, SENTENCE_BYTES_MAX);
    words_function(&text, finding->function, WORDS_PLAIN);
    buf_puts(&text, " on ");
    words_name(&text, finding->device, WORDS_PLAIN);
    buf_puts(&text, ": ");
    words_share(&text, finding, WORDS_PLAIN);
    for (size_t i = 0; i < finding->metric_count; i++) {
        buf_putc(&text, ' ');
        words_metric(&text, finding, i, WORDS_PLAIN);
    }
    jw_key_string(w, "text", text.ptr);
    buf_free(&text);
}

static void put_finding(struct json_write *w, const struct comparison_finding *finding)
{
    struct field_out out = {.notation = FIELD_JSON, .json = w};
    jw_object_begin(w);
    field_columns(&out, &table_comparison_finding, finding, 0);
    jw_key_bool(w, "significant", finding->p_beta < WORDS_P_MAX);
    jw_key_array_begin(w, "metrics");
    for (size_t i = 0; i < finding->metric_count; i++) {
        const double *mu = finding->metrics[i].mu;
        jw_object_begin(w);
        jw_key_string(w, "metric", finding->metrics[i].metric);
        jw_key_double(w, "base_mu", mu[SIDE_BASE]);
        jw_key_double(w, "candidate_mu", mu[SIDE_CANDIDATE]);
        jw_key_double(w, "delta_mu", mu[SIDE_CANDIDATE] - mu[SIDE_BASE]);
        jw_object_end(w);
    }
    jw_array_end(w);
    put_finding_text(w, finding);
    jw_object_end(w);
}

static void put_appeared(struct json_write *w, const struct comparison *comparison)
{
    jw_key_array_begin(w, "appeared");
    for (size_t i = 0; i < comparison->appeared_count; i++) {
        const struct comparison_row *row = &comparison->rows[comparison->appeared[i]];
        jw_object_begin(w);
        jw_key_string(w, "function", row->function);
        jw_key_string(w, "device", row->device);
        jw_key_string(w, "presence", comparison_presence_name(row->presence));
        jw_key_double(w, "base_beta_pct", row->beta_pct[SIDE_BASE]);
        jw_key_double(w, "candidate_beta_pct", row->beta_pct[SIDE_CANDIDATE]);
        jw_key_double(w, "delta_beta", row->delta_beta);
        jw_key_double(w, "p_presence", row->p_presence);
        jw_key_double(w, "q_presence", row->q_presence);
        jw_object_end(w);
    }
    jw_array_end(w);
}

static void put_sentence(struct json_write *w,
                         const char *key,
                         void (*words)(struct buf *, const struct comparison *, enum words_markup),
                         const struct comparison *comparison)
{
    struct buf text;
    buf_init(&text, SENTENCE_BYTES_MAX);
    words(&text, comparison, WORDS_PLAIN);
    jw_key_string(w, key, text.ptr);
    buf_free(&text);
}

void comparison_json_head(struct json_write *w, const struct comparison *comparison)
{
    jw_key_string(w, "title", comparison->title);
    jw_key_string(w, "kind", cycle_kind_name(comparison->kind));
    jw_key_bool(w, "strict", comparison->strict);
    jw_key_string(w, "verdict", comparison_verdict_name(comparison->verdict));
    environment_json_members(w, comparison->environment);
    put_summary(w, comparison);
    put_cycles(w, comparison);
    put_sentence(w, "overview", words_overview, comparison);
    put_sentence(w, "recommendation", words_recommendation, comparison);
    jw_key_array_begin(w, "findings");
    for (size_t i = 0; i < comparison->finding_count; i++) {
        put_finding(w, &comparison->findings[i]);
    }
    jw_array_end(w);
    put_appeared(w, comparison);
}

/* Without memory the output fails, as when it cannot grow. */
static void put_distinct(struct json_write *w,
                         const char *key,
                         const struct comparison *comparison,
                         bool device)
{
    struct strtab *seen = strtab_create();
    for (size_t i = 0; seen != NULL && i < comparison->row_count; i++) {
        const char *text = device ? comparison->rows[i].device : comparison->rows[i].metric;
        if (strtab_intern(seen, text, strlen(text)) == STRTAB_NONE) {
            w->out->failed = true;
        }
    }
    /* id 0 is the empty text, which no row has */
    size_t count = seen == NULL ? 0 : strtab_count(seen) - 1;
    const char **texts = calloc(count + 1, sizeof *texts);
    w->out->failed = w->out->failed || seen == NULL || texts == NULL;
    jw_key_array_begin(w, key);
    if (texts != NULL) {
        for (size_t i = 0; i < count; i++) {
            texts[i] = strtab_text(seen, (uint32_t)i + 1);
        }
        qsort(texts, count, sizeof *texts, order_text_at);
        for (size_t i = 0; i < count; i++) {
            jw_string(w, texts[i]);
        }
    }
    jw_array_end(w);
    free(texts);
    strtab_destroy(seen);
}

void comparison_json_facets(struct json_write *w, const struct comparison *comparison)
{
    put_distinct(w, "devices", comparison, true);
    put_distinct(w, "metrics", comparison, false);
}

void comparison_json_pair(struct json_write *w,
                          const struct comparison *comparison,
                          double top_score)
{
    const struct comparison_role *roles = comparison->roles;
    jw_key_string(w, "kind", cycle_kind_name(comparison->kind));
    jw_key_bool(w, "strict", comparison->strict);
    jw_key_known_int(w, "base_pid", roles[SIDE_BASE].pid);
    jw_key_known_int(w, "candidate_pid", roles[SIDE_CANDIDATE].pid);
    jw_key_string(w, "base_host", roles[SIDE_BASE].host);
    jw_key_string(w, "candidate_host", roles[SIDE_CANDIDATE].host);
    jw_key_double(w, "top_score", top_score);
    jw_key_string(w, "verdict", comparison_verdict_name(comparison->verdict));
}

void comparison_json_members(struct json_write *w, const struct comparison *comparison)
{
    comparison_json_head(w, comparison);
    field_rows(w, "rows", &table_comparison_row, comparison->rows, comparison->row_count);
    jw_key_int(w, "total", (int64_t)comparison->row_count);
    comparison_json_facets(w, comparison);
}

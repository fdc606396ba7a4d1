/* For a terminal of 100 columns. */
#include "api/comparison/text/environment.h"
#include "api/comparison/text/text.h"
#include "api/comparison/text/words.h"
#include "api/table/markdown_table.h"
#include "ingest/base/text/short_name.h"
#include "ingest/base/text/utf8.h"

#include <inttypes.h>
#include <math.h>

#define NAME_COLUMNS 48
#define METRIC_COLUMNS 20
#define ROLE_COLUMNS 32
#define APPEARED_MAX 5

/* A text cut or filled up to `columns` characters. */
static void put_cut(struct buf *out, const char *text, size_t columns)
{
    struct buf line;
    buf_init(&line, out->max_bytes);
    markdown_table_line(&line, text);
    size_t at = 0;
    size_t used = 0;
    while (at < line.len && used < columns) {
        uint32_t point;
        size_t len = utf8_decode(line.ptr + at, line.len - at, &point);
        bool is_last = used + 1 == columns && at + len < line.len;
        if (is_last) {
            buf_puts(out, "…");
        } else {
            buf_append(out, line.ptr + at, len);
        }
        at += len;
        used++;
    }
    for (; used < columns; used++) {
        buf_putc(out, ' ');
    }
    buf_free(&line);
}

/* 47.15 ms: three digits that count, in the unit of the larger side. */
static void put_time_us(struct buf *out, double us)
{
    double size = fabs(us);
    double shown = size >= 1e6 ? us / 1e6 : size >= 1e3 ? us / 1e3 : us;
    buf_printf(out, "%.*f %s",
               fabs(shown) < 10    ? 3
               : fabs(shown) < 100 ? 2
                                   : 1,
               shown,
               size >= 1e6   ? "s"
               : size >= 1e3 ? "ms"
                             : "µs");
}

static void put_role(struct buf *out, const struct comparison_role *role)
{
    struct buf name;
    buf_init(&name, out->max_bytes);
    words_role(&name, role, WORDS_PLAIN);
    buf_puts(out, "  ");
    put_cut(out, name.ptr, ROLE_COLUMNS);
    buf_free(&name);
    buf_printf(out, " %6" PRId64 " cycle%s mean ", role->cycles, role->cycles == 1 ? ", " : "s,");
    put_time_us(out, role->mean_cycle_us);
    if (role->host != NULL && *role->host != '\0') {
        buf_puts(out, " on ");
        markdown_table_line(out, role->host);
    }
    buf_putc(out, '\n');
}

static void put_finding(struct buf *out, const struct comparison_finding *finding)
{
    buf_puts(out, "- ");
    words_function(out, finding->function, WORDS_PLAIN);
    buf_puts(out, " on ");
    words_name(out, finding->device, WORDS_PLAIN);
    buf_puts(out, "\n  ");
    words_share(out, finding, WORDS_PLAIN);
    buf_putc(out, '\n');
    for (size_t i = 0; i < finding->metric_count; i++) {
        buf_puts(out, "    ");
        words_metric(out, finding, i, WORDS_PLAIN);
        buf_putc(out, '\n');
    }
}

static void put_p(struct buf *out, double p)
{
    if (isnan(p)) {
        buf_puts(out, "      -");
    } else {
        buf_printf(out, " %6.3f", p);
    }
}

static void put_function(struct buf *out, const char *function)
{
    struct buf shorter;
    buf_init(&shorter, out->max_bytes);
    short_name(&shorter, function);
    put_cut(out, shorter.ptr, NAME_COLUMNS);
    buf_free(&shorter);
}

static void put_appeared(struct buf *out, const struct comparison *comparison)
{
    size_t count = comparison->appeared_count;
    if (count == 0) {
        return;
    }
    buf_puts(out,
             "\nAdded and removed functions (change of the share of the cycle time in points, p of "
             "Fisher's test)\n");
    for (size_t i = 0; i < count && i < APPEARED_MAX; i++) {
        const struct comparison_row *row = &comparison->rows[comparison->appeared[i]];
        buf_printf(out, "  %-7s %+8.2f ", comparison_presence_name(row->presence), row->delta_beta);
        put_p(out, row->p_presence);
        buf_puts(out, "  ");
        put_function(out, row->function);
        buf_puts(out, "  ");
        markdown_table_line(out, row->device);
        buf_putc(out, '\n');
    }
    if (count > APPEARED_MAX) {
        buf_printf(out, "  and %zu more\n", count - APPEARED_MAX);
    }
}

static void put_rows(struct buf *out, const struct comparison *comparison, size_t limit)
{
    size_t count = 0;
    while (count < limit && count < comparison->row_count && comparison->rows[count].score > 0) {
        count++;
    }
    if (count == 0) {
        buf_puts(out,
                 comparison->row_count == 0 ? "" : "\nNo row has a suspicion score above 0.\n");
        return;
    }
    buf_printf(out, "\nRows by suspicion score (%zu of %zu)\n", count, comparison->row_count);
    buf_puts(out, "       score   base %   cand %    delta      p      q  ");
    put_cut(out, "function", NAME_COLUMNS);
    buf_puts(out, " ");
    put_cut(out, "metric", METRIC_COLUMNS);
    buf_puts(out, " device\n");
    for (size_t i = 0; i < count; i++) {
        const struct comparison_row *row = &comparison->rows[i];
        buf_printf(out, "%12.4f %8.2f %8.2f %+8.2f", row->score, row->beta_pct[SIDE_BASE],
                   row->beta_pct[SIDE_CANDIDATE], row->delta_beta);
        bool is_in_both = row->presence == PRESENCE_BOTH;
        put_p(out, is_in_both ? row->p_beta : row->p_presence);
        put_p(out, is_in_both ? row->q_beta : row->q_presence);
        buf_puts(out, "  ");
        put_function(out, row->function);
        buf_putc(out, ' ');
        put_cut(out, row->metric, METRIC_COLUMNS);
        buf_putc(out, ' ');
        markdown_table_line(out, row->device);
        buf_putc(out, '\n');
    }
}

static void put_environment(struct buf *out, const struct environment sides[SIDE_COUNT])
{
    if (!environment_is_known(sides)) {
        return;
    }
    environment_plain(out, sides);
    buf_putc(out, '\n');
    size_t before = out->len;
    environment_sentence(out, sides);
    buf_puts(out, out->len > before ? "\n" : "");
}

void comparison_plain(struct buf *out,
                      const struct comparison *comparison,
                      size_t row_limit,
                      bool with_environment)
{
    markdown_table_line(out, comparison->title);
    buf_printf(out, " (%s cycles)\n", cycle_kind_name(comparison->kind));
    put_role(out, &comparison->roles[SIDE_BASE]);
    put_role(out, &comparison->roles[SIDE_CANDIDATE]);
    buf_putc(out, '\n');
    if (with_environment) {
        put_environment(out, comparison->environment);
    }
    words_verdict(out, comparison);
    buf_puts(out, "\n\n");
    words_overview(out, comparison, WORDS_PLAIN);
    buf_putc(out, '\n');
    for (size_t i = 0; i < comparison->finding_count; i++) {
        put_finding(out, &comparison->findings[i]);
    }
    words_recommendation(out, comparison, WORDS_PLAIN);
    buf_putc(out, '\n');
    put_appeared(out, comparison);
    put_rows(out, comparison, row_limit);
}

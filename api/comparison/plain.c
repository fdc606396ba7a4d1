/* For a terminal of 100 columns. */
#include "api/comparison/text.h"
#include "api/comparison/words.h"
#include "api/table/markdown_table.h"
#include "ingest/base/text/utf8.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define NAME_COLUMNS 40
#define METRIC_COLUMNS 20
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

static void put_role(struct buf *out, const struct comparison_role *role)
{
    buf_puts(out, "  ");
    put_cut(out, role->label, 24);
    buf_printf(out, " %6" PRId64 " cycles, mean ", role->cycles);
    markdown_table_thousands(out, role->mean_cycle_us);
    buf_puts(out, " us");
    if (role->pid != COMPARISON_NO_PID) {
        buf_printf(out, ", process %" PRId64, role->pid);
    }
    if (role->host != NULL && *role->host != '\0') {
        buf_puts(out, " on ");
        markdown_table_line(out, role->host);
    }
    buf_putc(out, '\n');
}

static void put_finding(struct buf *out, const struct comparison_finding *finding)
{
    buf_puts(out, "- ");
    words_name(out, finding->function, WORDS_PLAIN);
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

static void put_appeared(struct buf *out, const struct comparison *comparison)
{
    size_t count = comparison->appeared_count;
    if (count == 0) {
        return;
    }
    buf_puts(out, "\nNew and gone functions (share of the cycle time in %)\n");
    for (size_t i = 0; i < count && i < APPEARED_MAX; i++) {
        const struct comparison_row *row = &comparison->rows[comparison->appeared[i]];
        buf_printf(out, "  %-5s %+8.2f  ", comparison_presence_name(row->presence),
                   row->delta_beta);
        put_cut(out, row->function, NAME_COLUMNS);
        buf_puts(out, "  ");
        markdown_table_line(out, row->device);
        buf_putc(out, '\n');
    }
    if (count > APPEARED_MAX) {
        buf_printf(out, "  and %zu more\n", count - APPEARED_MAX);
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

static void put_rows(struct buf *out, const struct comparison *comparison, size_t limit)
{
    size_t count = comparison->row_count < limit ? comparison->row_count : limit;
    if (count == 0) {
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
        put_p(out, row->p_beta);
        put_p(out, row->q_beta);
        buf_puts(out, "  ");
        put_cut(out, row->function, NAME_COLUMNS);
        buf_putc(out, ' ');
        put_cut(out, row->metric, METRIC_COLUMNS);
        buf_putc(out, ' ');
        markdown_table_line(out, row->device);
        buf_putc(out, '\n');
    }
}

void comparison_plain(struct buf *out, const struct comparison *comparison, size_t row_limit)
{
    markdown_table_line(out, comparison->title);
    buf_printf(out, " (%s cycles)\n", cycle_kind_name(comparison->kind));
    put_role(out, &comparison->roles[SIDE_BASE]);
    put_role(out, &comparison->roles[SIDE_CANDIDATE]);
    buf_putc(out, '\n');
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

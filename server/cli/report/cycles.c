#include "ingest/base/order.h"
#include "server/cli/report/prose.h"
#include "server/cli/report/report.h"

#include <stdlib.h>
#include <string.h>

/* A function on a device: its part of the cycles. Its rows repeat beta for each metric. */
struct taker {
    const char *function;
    const char *device;
    int64_t cycle;
    int64_t pid;
    double beta_pct;
};

static int compare_names(const struct taker *a, const struct taker *b)
{
    int order = strcmp(a->function, b->function);
    return order != 0 ? order : strcmp(a->device, b->device);
}

ORDER_BY(by_name, struct taker, ORDER_KEY(compare_names(a, b)), ORDER_UP(cycle), ORDER_UP(pid))

ORDER_BY(by_beta, struct taker, ORDER_DOWN(beta_pct), ORDER_KEY(compare_names(a, b)))

/* Sums the parts of each function over its cycles, in place; returns how many functions there are.
 */
static size_t merge_takers(struct taker *takers, size_t count)
{
    size_t merged = 0;
    qsort(takers, count, sizeof *takers, by_name);
    for (size_t i = 0; i < count; i++) {
        struct taker *last = merged == 0 ? NULL : &takers[merged - 1];
        if (last == NULL || compare_names(last, &takers[i]) != 0) {
            takers[merged++] = takers[i];
        } else if (last->cycle != takers[i].cycle || last->pid != takers[i].pid) {
            last->beta_pct += takers[i].beta_pct;
            last->cycle = takers[i].cycle;
            last->pid = takers[i].pid;
        }
    }
    return merged;
}

static void section_takers(struct prose *p, size_t limit)
{
    const struct trace_results *results = p->results;
    struct taker *takers = arena_calloc(&p->arena, results->cycle_use_count + 1, sizeof *takers);
    if (takers == NULL || results->cycle_use_count == 0) {
        return;
    }
    for (size_t i = 0; i < results->cycle_use_count; i++) {
        const struct cycle_use_row *row = &results->cycle_uses[i];
        const char *device = row->device == NULL ? "-" : row->device;
        takers[i] = (struct taker){row->function, device, row->cycle, row->pid, row->beta_pct};
    }
    size_t count = merge_takers(takers, results->cycle_use_count);
    qsort(takers, count, sizeof *takers, by_beta);
    PROSE_BEGIN_TABLE(p, TEXTS("function"), TEXTS("device"), NUMBERS("share of a cycle"));
    for (size_t i = 0; i < count && i < limit; i++) {
        prose_cell_name(p, takers[i].function, TEXT_NAME_SHORT);
        prose_cell_clean(p, takers[i].device);
        prose_cell_share(p, takers[i].beta_pct / 100 / (double)results->cycle_count);
    }
    prose_end_table(p);
}

/* How long the cycles of one kind are. */
struct kind_lengths {
    size_t count;
    double sum_us, least_us, most_us;
};

static void section_kinds(struct prose *p)
{
    const struct trace_results *results = p->results;
    struct kind_lengths kinds[CYCLE_KIND_COUNT] = {{0}};
    for (size_t i = 0; i < results->cycle_count; i++) {
        double us = results->cycles[i].dur_us;
        struct kind_lengths *kind = &kinds[results->cycles[i].kind];
        kind->least_us = kind->count == 0 || us < kind->least_us ? us : kind->least_us;
        kind->most_us = us > kind->most_us ? us : kind->most_us;
        kind->sum_us += us;
        kind->count++;
    }
    PROSE_BEGIN_TABLE(p, TEXTS("kind"), NUMBERS("cycles"), NUMBERS("mean"), NUMBERS("shortest"),
                      NUMBERS("longest"));
    for (int i = 0; i < CYCLE_KIND_COUNT; i++) {
        const struct kind_lengths *kind = &kinds[i];
        if (kind->count > 0) {
            report_table_cell(&p->table, cycle_kind_name((enum cycle_kind)i));
            prose_cell_count(p, (int64_t)kind->count);
            prose_cell_time(p, kind->sum_us * 1000 / (double)kind->count);
            prose_cell_time(p, kind->least_us * 1000);
            prose_cell_time(p, kind->most_us * 1000);
        }
    }
    prose_end_table(p);
    buf_putc(p->out, '\n');
}

void report_cycles(struct prose *p)
{
    const struct trace_results *results = p->results;
    if (results->cycle_count == 0) {
        return;
    }
    double sum_us = 0;
    for (size_t i = 0; i < results->cycle_count; i++) {
        sum_us += results->cycles[i].dur_us;
    }
    char mean[TEXT_FIGURE_BYTES];
    char count[TEXT_FIGURE_BYTES];
    text_time(mean, sum_us * 1000 / (double)results->cycle_count);
    text_count(count, (int64_t)results->cycle_count);
    buf_clear(&p->line);
    buf_printf(&p->line, "%s cycle%s of ", count, results->cycle_count == 1 ? "" : "s");
    text_short_name(&p->line, results->cycles[0].anchor, TEXT_NAME_SHORT, PROSE_NAME_WIDTH);
    buf_printf(&p->line, ", %s on average", mean);
    prose_heading(p, 3, p->line.ptr);
    section_takers(p, PROSE_TOP_ROWS);
}

#define CYCLES_TOP_ROWS 30

void report_cycles_text(const struct trace_results *results, struct buf *out)
{
    struct prose p = {.out = out, .results = results};
    arena_init(&p.arena, 0);
    buf_init(&p.line, PROSE_LINE_MAX_BYTES);
    buf_puts(&p.line, "Cycles of ");
    text_short_name(&p.line, results->cycles[0].anchor, TEXT_NAME_SHORT, PROSE_NAME_WIDTH);
    prose_text(&p, p.line.ptr);
    buf_puts(out, "\n\n");
    section_kinds(&p);
    section_takers(&p, CYCLES_TOP_ROWS);
    buf_puts(out, "\n--format csv prints every function of every cycle.\n");
    buf_free(&p.line);
    arena_free(&p.arena);
}

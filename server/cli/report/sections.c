/* A report for people: the answers in the order in which they are asked for. Step time and where it
 * goes, devices, the worst operators and kernels, advice, and what is wrong with the trace itself.
 */
#include "api/comparison/text/text.h"
#include "api/table/render.h"
#include "ingest/base/order.h"
#include "ingest/jobs/pipeline/details.h"
#include "server/cli/report/prose.h"
#include "server/cli/report/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEP_ROWS 20
/* Of the device time: so much without an operator is worth a line. */
#define UNATTRIBUTED_SHARE 0.02
/* ---- sections ---- */

static void section_summary(struct prose *p, const struct pipeline_item *item)
{
    char events[TEXT_FIGURE_BYTES];
    char duration[TEXT_FIGURE_BYTES];
    text_count(events, p->results->event_count);
    text_time(duration, (double)p->results->duration_ns);
    buf_clear(&p->line);
    buf_puts(&p->line, "Worker ");
    text_clean(&p->line, item->worker);
    if (item->span_digits[0] != '\0') {
        buf_puts(&p->line, ", span ");
        text_clean(&p->line, item->span_digits);
    }
    prose_heading(p, 2, p->line.ptr);
    buf_puts(p->out, p->markdown ? "" : "  ");
    prose_text(p, item->format);
    buf_puts(p->out, ", ");
    prose_text(p, p->results->device_type);
    buf_printf(p->out, ", %s events", events);
    if (p->results->duration_ns > 0) {
        buf_printf(p->out, " over %s", duration);
    }
    buf_putc(p->out, '\n');
}

/* Of tables, reports and memory alone no part of the time is known. */
static bool knows_a_part(const struct trace_results *results)
{
    double sum_ns = 0;
    for (int role = 0; role < TIME_CATEGORY_COUNT; role++) {
        sum_ns += render_mean_cost_ns(results, (enum time_category)role);
    }
    return sum_ns > 0;
}

static void section_breakdown(struct prose *p)
{
    double step_ns = render_window_ns(p->results);
    if (!(step_ns > 0) || !knows_a_part(p->results)) {
        return;
    }
    char title[96];
    (void)snprintf(title, sizeof title,
                   p->results->has_steps ? "Step time, mean of %zu"
                                         : "Time of the whole trace (no steps)",
                   p->results->step_count);
    prose_heading(p, 3, title);
    PROSE_BEGIN_TABLE(p, TEXTS("where"), NUMBERS("time"), NUMBERS("share"));
    for (int role = 0; role < TIME_CATEGORY_COUNT; role++) {
        if (render_shows_time_category(p->results, (enum time_category)role)) {
            double mean_ns = render_mean_cost_ns(p->results, (enum time_category)role);
            report_table_cell(&p->table, time_category_label((enum time_category)role));
            prose_cell_time(p, mean_ns);
            prose_cell_share(p, prose_ratio(mean_ns, step_ns));
        }
    }
    report_table_cell(&p->table, "total");
    prose_cell_time(p, step_ns);
    prose_cell_share(p, prose_ratio(step_ns, step_ns));
    prose_end_table(p);
}

static void section_steps(struct prose *p)
{
    const struct trace_results *results = p->results;
    if (!results->has_steps) {
        return;
    }
    prose_heading(p, 3, "Steps");
    PROSE_BEGIN_TABLE(p, TEXTS("step"), NUMBERS("time"), NUMBERS("kernel"),
                      NUMBERS(results->has_communication ? "communication" : ""),
                      NUMBERS("data loader"));
    for (size_t i = 0; i < results->step_count && i < STEP_ROWS; i++) {
        const struct step_row *step = &results->steps[i];
        prose_cell_clean(p, step->name);
        prose_cell_time(p, (double)(step->end_ns - step->start_ns));
        prose_cell_time(p, (double)step->cost_ns[TIME_KERNEL]);
        if (results->has_communication) {
            prose_cell_time(p, (double)step->cost_ns[TIME_COMMUNICATION]);
        }
        prose_cell_time(p, (double)step->cost_ns[TIME_DATALOADER]);
    }
    prose_end_table(p);
    if (results->step_count > STEP_ROWS) {
        buf_printf(p->out, "  and %zu more\n", results->step_count - STEP_ROWS);
    }
}

static void section_devices(struct prose *p)
{
    if (p->results->device_count == 0) {
        return;
    }
    prose_heading(p, 3, "Devices");
    PROSE_BEGIN_TABLE(p, NUMBERS("id"), TEXTS("name"), NUMBERS("memory"),
                      NUMBERS(p->results->has_steps ? "busy, of the steps" : "busy, of its window"),
                      NUMBERS("SM efficiency"), NUMBERS("occupancy"),
                      NUMBERS(results_matrix_units(p->results)));
    for (size_t i = 0; i < p->results->device_count; i++) {
        const struct device_row *device = &p->results->devices[i];
        char memory[TEXT_FIGURE_BYTES] = "-";
        if (!isnan(device->memory_bytes)) {
            text_bytes(memory, device->memory_bytes);
        }
        prose_cell_count(p, device->id);
        prose_cell_clean(p, device->name == NULL || device->name[0] == '\0' ? "-" : device->name);
        report_table_cell(&p->table, memory);
        prose_cell_share(p, p->results->steps_undefined ? (double)NAN : device->utilisation);
        prose_cell_share(p, device->sm_efficiency);
        prose_cell_share(p, device->occupancy_pct / 100);
        prose_cell_share(p, device->tensor_share);
    }
    prose_end_table(p);
}

/* A row's place and the figure it is ordered by. */
struct ranked {
    size_t at;
    int64_t ns;
};

ORDER_BY(compare_ranked, struct ranked, ORDER_DOWN(ns), ORDER_UP(at))

static struct ranked *ranking_of(struct prose *p, size_t count)
{
    return arena_alloc(&p->arena, count * sizeof(struct ranked));
}

/* What the shares leave out, where that is much. */
static void
note_unattributed(struct prose *p, const struct pipeline_details *details, double sum_ns)
{
    double whole_ns = details == NULL ? 0 : (double)details->device_time.device_ns;
    double missing_ns = whole_ns - sum_ns;
    char missing[TEXT_FIGURE_BYTES];
    char whole[TEXT_FIGURE_BYTES];
    if (missing_ns > UNATTRIBUTED_SHARE * whole_ns) {
        text_time(missing, missing_ns);
        text_time(whole, whole_ns);
        buf_clear(&p->line);
        buf_printf(&p->line,
                   "%s of %s device time (%.1f%%) is in no row: no call of an operator launched it",
                   missing, whole, 100 * missing_ns / whole_ns);
        prose_bullet(p, p->line.ptr);
    }
}

static void section_operators(struct prose *p, const struct pipeline_details *details)
{
    const struct trace_results *results = p->results;
    const struct operator_row *rows = results->operators[OPERATOR_BY_NAME];
    size_t count = results->operator_count[OPERATOR_BY_NAME];
    struct ranked *ranking = count == 0 ? NULL : ranking_of(p, count);
    if (ranking == NULL) {
        return;
    }
    bool by_device = results->operators_have_device;
    double sum_ns = 0;
    for (size_t i = 0; i < count; i++) {
        ranking[i] = (struct ranked){i, by_device ? rows[i].device_self_ns : rows[i].host_self_ns};
        sum_ns += (double)ranking[i].ns;
    }
    qsort(ranking, count, sizeof ranking[0], compare_ranked);
    prose_heading(p, 3,
                  by_device ? "Operators by device self time" : "Operators by host self time");
    PROSE_BEGIN_TABLE(p, TEXTS("operator"), NUMBERS("calls"),
                      NUMBERS(by_device ? "device self" : ""), NUMBERS("host self"),
                      NUMBERS("share"));
    for (size_t i = 0; i < count && i < PROSE_TOP_ROWS; i++) {
        const struct operator_row *row = &rows[ranking[i].at];
        prose_cell_name(p, row->name, TEXT_NAME_SHORT);
        prose_cell_count(p, row->calls);
        if (by_device) {
            prose_cell_time(p, (double)row->device_self_ns);
        }
        prose_cell_time(p, (double)row->host_self_ns);
        prose_cell_share(p, prose_ratio((double)ranking[i].ns, sum_ns));
    }
    prose_end_table(p);
    if (by_device) {
        note_unattributed(p, details, sum_ns);
    }
}

/* Whether another of the kernels shown has the same short name. */
static bool is_ambiguous(struct prose *p, const struct ranked *ranking, size_t at)
{
    const struct kernel_row *kernels = p->results->kernels;
    struct buf other;
    buf_init(&other, PROSE_LINE_MAX_BYTES);
    buf_clear(&p->line);
    text_short_name(&p->line, kernels[ranking[at].at].name, TEXT_NAME_SHORT, PROSE_NAME_WIDTH);
    bool found = false;
    for (size_t i = 0; i < p->results->kernel_count && i < PROSE_TOP_ROWS && !found; i++) {
        buf_clear(&other);
        text_short_name(&other, kernels[ranking[i].at].name, TEXT_NAME_SHORT, PROSE_NAME_WIDTH);
        found = i != at && strcmp(other.ptr, p->line.ptr) == 0;
    }
    buf_free(&other);
    return found;
}

static void section_kernels(struct prose *p)
{
    const struct trace_results *results = p->results;
    struct ranked *ranking =
        results->kernel_count == 0 ? NULL : ranking_of(p, results->kernel_count);
    if (ranking == NULL) {
        return;
    }
    double sum_ns = 0;
    for (size_t i = 0; i < results->kernel_count; i++) {
        ranking[i] = (struct ranked){i, results->kernels[i].total_ns};
        sum_ns += (double)ranking[i].ns;
    }
    qsort(ranking, results->kernel_count, sizeof ranking[0], compare_ranked);
    prose_heading(p, 3, "Kernels by total time");
    PROSE_BEGIN_TABLE(p, TEXTS("kernel"), NUMBERS("calls"), NUMBERS("total"), NUMBERS("median"),
                      NUMBERS("share"), TEXTS(results_matrix_units(p->results)));
    for (size_t i = 0; i < results->kernel_count && i < PROSE_TOP_ROWS; i++) {
        const struct kernel_row *row = &results->kernels[ranking[i].at];
        prose_cell_name(p, row->name,
                        is_ambiguous(p, ranking, i) ? TEXT_NAME_FULL : TEXT_NAME_SHORT);
        prose_cell_count(p, row->calls);
        prose_cell_time(p, (double)row->total_ns);
        prose_cell_time(p, row->p50_ns > 0 ? (double)row->p50_ns : (double)NAN); /* 0: not told */
        prose_cell_share(p, prose_ratio((double)row->total_ns, sum_ns));
        report_table_cell(&p->table, row->tensor_used ? "yes" : "no");
    }
    prose_end_table(p);
}

static void section_recommendations(struct prose *p)
{
    if (p->results->recommendation_count == 0) {
        return;
    }
    prose_heading(p, 3, "Recommendations");
    for (size_t i = 0; i < p->results->recommendation_count; i++) {
        const struct recommendation_row *row = &p->results->recommendations[i];
        buf_clear(&p->line);
        buf_puts(&p->line, row->text);
        if (row->saving_ns != RESULTS_NO_TIME) {
            char saving[TEXT_FIGURE_BYTES];
            text_time(saving, (double)row->saving_ns);
            buf_printf(&p->line, " Saves up to %s%s.", saving,
                       p->results->has_steps ? " a step" : "");
        }
        if (row->documentation != NULL) {
            buf_printf(&p->line, " See %s.", row->documentation);
        }
        if (row->evidence != NULL && row->evidence[0] != '\0') {
            buf_printf(&p->line, " Evidence on the page: %s.", row->evidence);
        }
        prose_bullet(p, p->line.ptr);
    }
}

static void health_warnings(struct prose *p)
{
    for (unsigned code = 0; code < WARNING_CODE_COUNT; code++) {
        const struct warning_count *warning = &p->results->warnings.by_code[code];
        if (warning->count == 0) {
            continue;
        }
        buf_clear(&p->line);
        buf_printf(&p->line, "%s %llu time%s", warning_message((enum warning_code)code),
                   (unsigned long long)warning->count, warning->count == 1 ? "" : "s");
        if (warning->first_offset != WARNING_NO_OFFSET) {
            buf_printf(&p->line, ", first at byte %llu", (unsigned long long)warning->first_offset);
        }
        prose_bullet(p, p->line.ptr);
    }
}

/* The first and the last may be cut off, or warm up. */
static void health_odd_steps(struct prose *p)
{
    struct query_odd_steps odd;
    query_odd_steps(p->results, &odd);
    for (size_t i = 0; i < odd.count; i++) {
        const struct step_row *row = odd.items[i].row;
        char time[TEXT_FIGURE_BYTES];
        char median[TEXT_FIGURE_BYTES];
        text_time(time, (double)(row->end_ns - row->start_ns));
        text_time(median, odd.median_ns);
        buf_clear(&p->line);
        buf_printf(&p->line, "the %s step takes %s, the median %s: cut off, or warming up",
                   odd.items[i].place, time, median);
        prose_bullet(p, p->line.ptr);
    }
}

static void section_health(struct prose *p)
{
    prose_heading(p, 3, "Trace health");
    size_t before = p->out->len;
    health_warnings(p);
    health_odd_steps(p);
    for (size_t i = 0; i < p->results->missing_count; i++) {
        const struct missing_row *missing = &p->results->missing[i];
        buf_clear(&p->line);
        buf_printf(&p->line, "%s: %s", missing->view, missing->reason);
        if (missing->record != NULL && missing->record[0] != '\0') {
            buf_printf(&p->line, " (record with %s)", missing->record);
        }
        prose_bullet(p, p->line.ptr);
    }
    for (size_t i = 0; i < p->results->bad_row_count; i++) {
        prose_bullet(p, p->results->bad_rows[i]);
    }
    if (p->out->len == before) {
        prose_bullet(p, "nothing to repair, nothing missing");
    }
}

static void section_comparison(struct prose *p)
{
    const struct comparison *comparison = p->results->comparison;
    if (comparison == NULL) {
        return;
    }
    buf_putc(p->out, '\n');
    if (p->markdown) {
        comparison_markdown(p->out, comparison);
    } else {
        comparison_plain(p->out, comparison, PROSE_TOP_ROWS, true);
    }
}

static void section_details(struct prose *p, const struct pipeline_details *details)
{
    if (details == NULL) {
        return;
    }
    report_device_time(p, &details->device_time);
    report_engine_steps(p, &details->engine_steps);
    if ((p->results->views & 1u << VIEW_SLICES) != 0) {
        report_slices(p, &details->names, &details->tracks);
    }
    report_places(p, details);
    report_overlaps(p, details);
    report_gains(p, details);
}

/* What only views of the page show, none of which has a section here. */
static void section_page(struct prose *p)
{
    static const unsigned sections = 1U << VIEW_OVERVIEW | 1U << VIEW_OPERATOR | 1U << VIEW_KERNEL |
                                     1U << VIEW_UTILISATION | 1U << VIEW_SNAPSHOT |
                                     1U << VIEW_CYCLES | 1U << VIEW_COMPARISON | 1U << VIEW_SLICES;
    if ((p->results->views & sections) == 0) {
        buf_puts(p->out, p->markdown ? "\n" : "\n  ");
        prose_text(p, "What this file holds has a view of its own on the page: kinetoscope upload "
                      "FILE --server URL");
        buf_putc(p->out, '\n');
    }
}

static void
write_item(struct prose *p, const struct report_source *source, const struct pipeline_item *item)
{
    p->results = item->results;
    section_summary(p, item);
    section_breakdown(p);
    section_steps(p);
    section_details(p, item->details);
    if ((p->results->views & 1U << VIEW_SNAPSHOT) != 0) {
        report_memory_snapshot(p, source, item->worker);
    }
    section_page(p);
    section_devices(p);
    section_operators(p, item->details);
    if (p->results->has_kernel_use) {
        report_kernel_utilisation(p);
    } else {
        section_kernels(p);
    }
    report_cycles(p);
    section_comparison(p);
    section_recommendations(p);
    section_health(p);
}

/* What of an archive could not be read. */
static void section_failures(struct prose *p, const struct pipeline_output *output)
{
    if (output->failure_count == 0) {
        return;
    }
    prose_heading(p, 2, "Not read");
    for (size_t i = 0; i < output->failure_count; i++) {
        const struct pipeline_failure *failure = &output->failures[i];
        buf_puts(p->out, p->markdown ? "- " : "  ");
        prose_text(p, failure->member);
        buf_puts(p->out, failure->member[0] == '\0' ? "" : ": ");
        prose_text(p, failure->error.msg);
        buf_putc(p->out, '\n');
    }
}

void report_prose(const char *file_name,
                  const struct report_source *source,
                  const struct pipeline_output *output,
                  bool markdown,
                  struct buf *out)
{
    struct prose *p = calloc(1, sizeof *p);
    if (p == NULL) {
        out->failed = true;
        return;
    }
    p->out = out;
    p->markdown = markdown;
    arena_init(&p->arena, 0);
    buf_init(&p->line, PROSE_LINE_MAX_BYTES);
    buf_puts(out, markdown ? "# " : "");
    prose_text(p, file_name);
    buf_putc(out, '\n');
    for (size_t i = 0; i < output->item_count; i++) {
        write_item(p, source, &output->items[i]);
    }
    section_failures(p, output);
    buf_free(&p->line);
    arena_free(&p->arena);
    free(p);
}

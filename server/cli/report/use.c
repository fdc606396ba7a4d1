#include "server/cli/report/prose.h"

/* The words of the page (static/js/views/utilisation/classes.js). */
static const char *class_label(enum use_class use)
{
    static const char *const labels[USE_CLASS_COUNT] = {
        [USE_BOTH_LOW] = "latency-bound", [USE_LOW_COMPUTE] = "compute low",
        [USE_LOW_DRAM] = "DRAM low",      [USE_NEITHER_LOW] = "balanced",
        [USE_UNKNOWN] = "not measured",
    };
    return labels[use];
}

static void section_totals(struct prose *p)
{
    const struct kernel_utilisation_totals *totals = &p->results->kernel_utilisation_totals;
    prose_heading(p, 3, "Use of the device while kernels ran");
    PROSE_BEGIN_TABLE(p, NUMBERS("launches"), NUMBERS("kernels"), NUMBERS("time"),
                      NUMBERS("tensor"), NUMBERS("DRAM"), NUMBERS("SM"), NUMBERS("headroom"));
    prose_cell_count(p, totals->launches);
    prose_cell_count(p, totals->kernels);
    prose_cell_time(p, (double)totals->total_ns);
    prose_cell_share(p, totals->tensor);
    prose_cell_share(p, totals->dram);
    prose_cell_share(p, totals->sm);
    prose_cell_time(p, totals->headroom_ns);
    prose_end_table(p);
}

static void section_classes(struct prose *p)
{
    const struct kernel_utilisation_totals *totals = &p->results->kernel_utilisation_totals;
    prose_heading(p, 3, "Time by class (low: below a third of the peak)");
    PROSE_BEGIN_TABLE(p, TEXTS("class"), NUMBERS("launches"), NUMBERS("time"), NUMBERS("share"));
    for (int use = 0; use < USE_CLASS_COUNT; use++) {
        if (totals->class_launches[use] > 0) {
            report_table_cell(&p->table, class_label((enum use_class)use));
            prose_cell_count(p, totals->class_launches[use]);
            prose_cell_time(p, (double)totals->class_ns[use]);
            prose_cell_share(p,
                             prose_ratio((double)totals->class_ns[use], (double)totals->total_ns));
        }
    }
    prose_end_table(p);
}

static void section_rows(struct prose *p)
{
    const struct trace_results *results = p->results;
    prose_heading(p, 3, "Kernels by total time");
    PROSE_BEGIN_TABLE(p, TEXTS("kernel"), NUMBERS("launches"), NUMBERS("total"), NUMBERS("share"),
                      NUMBERS("tensor"), NUMBERS("DRAM"), NUMBERS("SM"), TEXTS("class"));
    for (size_t i = 0; i < results->kernel_utilisation_count && i < PROSE_TOP_ROWS; i++) {
        const struct kernel_utilisation_row *row = &results->kernel_utilisation[i];
        prose_cell_name(p, row->name, TEXT_NAME_SHORT);
        prose_cell_count(p, row->launches);
        prose_cell_time(p, (double)row->total_ns);
        prose_cell_share(p, prose_ratio((double)row->total_ns,
                                        (double)results->kernel_utilisation_totals.total_ns));
        prose_cell_share(p, row->tensor);
        prose_cell_share(p, row->dram);
        prose_cell_share(p, row->sm);
        report_table_cell(&p->table, class_label(row->use));
    }
    prose_end_table(p);
}

static void section_transfers(struct prose *p)
{
    if (p->results->transfer_count == 0) {
        return;
    }
    prose_heading(p, 3, "Copies and sets of memory");
    PROSE_BEGIN_TABLE(p, TEXTS("operation"), NUMBERS("times"), NUMBERS("total"));
    for (size_t i = 0; i < p->results->transfer_count && i < PROSE_TOP_ROWS; i++) {
        const struct transfer_row *row = &p->results->transfers[i];
        prose_cell_clean(p, row->name);
        prose_cell_count(p, row->operations);
        prose_cell_time(p, (double)row->total_ns);
    }
    prose_end_table(p);
}

void report_kernel_utilisation(struct prose *p)
{
    section_totals(p);
    section_classes(p);
    section_rows(p);
    section_transfers(p);
}

/* Device time, steps of a serving engine, and slices of a trace that has neither [DEV-7a]. */
#include "ingest/base/saturating.h"
#include "ingest/jobs/pipeline/details.h"
#include "server/cli/report/prose.h"

#include <stdio.h>

/* ---- device time ---- */

static void row_of_block(struct prose *p, const char *name, const struct device_time_block *block)
{
    if (!block->is_there) {
        return;
    }
    int64_t total_ns = saturating_sub(block->end_ns, block->start_ns);
    report_table_cell(&p->table, name);
    prose_cell_time(p, (double)total_ns);
    prose_cell_time(p, (double)block->busy_ns);
    prose_cell_share(p, prose_ratio((double)block->busy_ns, (double)total_ns));
    prose_cell_time(p, (double)block->computation_ns);
    prose_cell_time(p, (double)block->exposed_communication_ns);
    prose_cell_time(p, (double)block->exposed_memcpy_ns);
    prose_cell_time(p, (double)saturating_sub(total_ns, block->busy_ns));
}

static void section_windows(struct prose *p, const struct device_time_blocks *blocks)
{
    prose_heading(p, 3, "Device time");
    PROSE_BEGIN_TABLE(p, TEXTS("over"), NUMBERS("length"), NUMBERS("busy"), NUMBERS("utilisation"),
                      NUMBERS("computing"), NUMBERS("exposed communication"),
                      NUMBERS("exposed copies"), NUMBERS("idle"));
    row_of_block(p, "the device's window", &blocks->window);
    if (blocks->launched.events != blocks->window.events) {
        row_of_block(p, "launched work", &blocks->launched);
    }
    row_of_block(p, "the steps", &blocks->steps);
    prose_end_table(p);
}

static void section_classes(struct prose *p,
                            const char *title,
                            const char *what,
                            const struct device_time_class *classes,
                            size_t count,
                            int64_t device_ns)
{
    if (count == 0) {
        return;
    }
    prose_heading(p, 3, title);
    PROSE_BEGIN_TABLE(p, TEXTS(what), NUMBERS("events"), NUMBERS("time"), NUMBERS("share"),
                      NUMBERS("busy"));
    for (size_t i = 0; i < count; i++) {
        prose_cell_clean(p, classes[i].name);
        prose_cell_count(p, classes[i].events);
        prose_cell_time(p, (double)classes[i].device_ns);
        prose_cell_share(p, prose_ratio((double)classes[i].device_ns, (double)device_ns));
        prose_cell_time(p, (double)classes[i].busy_ns);
    }
    prose_end_table(p);
}

void report_device_time(struct prose *p, const struct device_time *times)
{
    if (!times->blocks.window.is_there) {
        return;
    }
    section_windows(p, &times->blocks);
    section_classes(p, "Device time by class of work", "class", times->classes, times->class_count,
                    times->device_ns);
    section_classes(p, "Communication by library", "library", times->kinds, times->kind_count,
                    times->device_ns);
}

/* ---- steps of a serving engine ---- */

static void row_of_phase(struct prose *p, const struct engine_phase_total *phase)
{
    double steps = (double)phase->steps;
    report_table_cell(&p->table, engine_phase_text(phase->phase));
    prose_cell_count(p, phase->steps);
    prose_cell_count(p, phase->requests);
    if (phase->tokens == ENGINE_UNKNOWN) {
        report_table_cell(&p->table, "-");
    } else {
        prose_cell_count(p, phase->tokens);
    }
    prose_cell_time(p, (double)phase->duration_ns / steps);
    prose_cell_time(p, (double)phase->device_ns / steps);
    prose_cell_time(p, (double)phase->device_ns);
    prose_cell_clean(p, phase->classes.count == 0 ? "-" : phase->classes.items[0].name);
}

void report_engine_steps(struct prose *p, const struct engine_steps *steps)
{
    char title[64];
    if (steps->count == 0) {
        return;
    }
    (void)snprintf(title, sizeof title, "Steps of the engine (%s annotations)",
                   engine_text(steps->engine));
    prose_heading(p, 3, title);
    PROSE_BEGIN_TABLE(p, TEXTS("phase"), NUMBERS("steps"), NUMBERS("requests"), NUMBERS("tokens"),
                      NUMBERS("host a step"), NUMBERS("device a step"), NUMBERS("device"),
                      TEXTS("mostly"));
    for (size_t i = 0; i < steps->phase_count; i++) {
        row_of_phase(p, &steps->phases[i]);
    }
    prose_end_table(p);
}

/* ---- slices ---- */

/* The largest first by total, as they come. */
static void
section_rows(struct prose *p, const char *title, const char *what, const struct slices *slices)
{
    prose_heading(p, 3, title);
    PROSE_BEGIN_TABLE(p, TEXTS(what), NUMBERS("slices"), NUMBERS("total"), NUMBERS("self"),
                      NUMBERS("median"), NUMBERS("busy"), NUMBERS("busy share"));
    for (size_t i = 0; i < slices->count && i < PROSE_TOP_ROWS; i++) {
        const struct slices_row *row = &slices->rows[i];
        prose_cell_name(p, row->key, TEXT_NAME_FULL);
        prose_cell_count(p, row->count);
        prose_cell_time(p, (double)row->total_ns);
        prose_cell_time(p, (double)row->self_ns);
        prose_cell_time(p, (double)row->duration.p50);
        prose_cell_time(p, (double)row->busy_ns);
        prose_cell_share(p, prose_ratio((double)row->busy_ns, (double)slices->duration_ns));
    }
    prose_end_table(p);
    if (slices->count > PROSE_TOP_ROWS) {
        buf_printf(p->out, "  and %zu more\n", slices->count - PROSE_TOP_ROWS);
    }
}

void report_slices(struct prose *p, const struct slices *names, const struct slices *tracks)
{
    section_rows(p, "Slices by name", "name", names);
    section_rows(p, "Slices by track", "track", tracks);
}

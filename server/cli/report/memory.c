#include "ingest/analysis/memory_snapshot/memory_snapshot.h"
#include "ingest/formats/memory_snapshot/snapshot.h"
#include "ingest/jobs/pipeline/archive.h"
#include "server/cli/report/prose.h"
#include "server/cli/report/report.h"

#include <math.h>

static bool load(void *context, struct input *in, struct err *err)
{
    static const struct format_options options = {.memory_budget_bytes = 0};
    return memory_snapshot_load(in, &options, context, err);
}

/* SNAPSHOT_NONE: not said. */
static void cell_bytes(struct prose *p, int64_t bytes)
{
    char text[TEXT_FIGURE_BYTES];
    text_bytes(text, bytes == SNAPSHOT_NONE ? (double)NAN : (double)bytes);
    report_table_cell(&p->table, text);
}

static void section_devices(struct prose *p, const struct memory_snapshot *snapshot)
{
    prose_heading(p, 3, "Memory of each device");
    PROSE_BEGIN_TABLE(p, NUMBERS("id"), NUMBERS("peak allocated"), NUMBERS("peak reserved"),
                      NUMBERS("allocated at the end"), NUMBERS("reserved at the end"),
                      NUMBERS("before the recording"), NUMBERS("live blocks"),
                      NUMBERS("out of memory"));
    for (size_t i = 0; i < snapshot->device_count; i++) {
        struct snapshot_figures figures;
        if (!snapshot_figures_of(snapshot, &snapshot->devices[i], &p->arena, &figures)) {
            p->out->failed = true;
            break;
        }
        prose_cell_count(p, figures.device);
        cell_bytes(p, figures.peak_allocated_bytes);
        cell_bytes(p, figures.peak_reserved_bytes);
        cell_bytes(p, figures.allocated_bytes);
        cell_bytes(p, figures.reserved_bytes);
        cell_bytes(p, figures.history_start_allocated_bytes);
        prose_cell_count(p, figures.live_blocks);
        prose_cell_count(p, (int64_t)figures.oom_count);
    }
    prose_end_table(p);
}

static void section_holders(struct prose *p, const struct memory_snapshot *snapshot)
{
    struct snapshot_question question = {
        .snapshot = snapshot, .device = SNAPSHOT_NONE, .when = SNAPSHOT_AT_PEAK};
    struct snapshot_frame_row *rows = NULL;
    size_t count = 0;
    if (!snapshot_frames(&question, &p->arena, &rows, &count)) {
        p->out->failed = true;
        return;
    }
    if (count == 0) {
        return;
    }
    prose_heading(p, 3, "Who holds memory at the peak, by source line");
    PROSE_BEGIN_TABLE(p, TEXTS("frame"), NUMBERS("blocks"), NUMBERS("bytes"), NUMBERS("share"));
    for (size_t i = 0; i < count && i < PROSE_TOP_ROWS; i++) {
        prose_cell_clean(p, rows[i].frame);
        prose_cell_count(p, rows[i].blocks);
        cell_bytes(p, rows[i].bytes);
        prose_cell_share(p, rows[i].share);
    }
    prose_end_table(p);
}

void report_memory_snapshot(struct prose *p, const struct report_source *source, const char *worker)
{
    struct memory_snapshot *snapshot = NULL;
    struct err err = ERR_INIT;
    if (!pipeline_read_worker(source->path, worker, &source->limits, load, &snapshot, &err)) {
        prose_bullet(p, err.msg);
        return;
    }
    section_devices(p, snapshot);
    section_holders(p, snapshot);
    memory_snapshot_destroy(snapshot);
}

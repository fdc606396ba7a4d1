/* What the sections of a report for people share: the text so far, one table at a time, and cells.
 */
#ifndef KS_SERVER_CLI_REPORT_PROSE_H
#define KS_SERVER_CLI_REPORT_PROSE_H

#include "ingest/base/memory/arena.h"
#include "ingest/base/text/buf.h"
#include "ingest/model/results/results.h"
#include "server/cli/report/table.h"
#include "server/cli/text.h"

#include <stdbool.h>
#include <stdint.h>

#define PROSE_TOP_ROWS 10
#define PROSE_NAME_WIDTH 72
#define PROSE_LINE_MAX_BYTES ((size_t)64 << 10)

struct device_time;
struct engine_steps;
struct slices;
struct pipeline_details;
struct report_source;

struct prose {
    struct arena arena;
    struct report_table table;
    struct buf line; /* for one cell or sentence */
    struct buf *out;
    const struct trace_results *results;
    bool markdown;
};

/* Appends any text, made safe for terminals, and literal in Markdown. */
void prose_text(struct prose *p, const char *text);
void prose_heading(struct prose *p, unsigned level, const char *text);
/* Appends a list item; the text is made safe. */
void prose_bullet(struct prose *p, const char *text);
/* A table: begin with the list of its columns (NUMBERS, TEXTS), its cells, end. */
#define PROSE_BEGIN_TABLE(p, ...)               \
    report_table_init(&(p)->table, &(p)->arena, \
                      (const struct report_column[]){__VA_ARGS__, {NULL, false}})
#define NUMBERS(head) \
    {                 \
        (head), false \
    }
#define TEXTS(head)  \
    {                \
        (head), true \
    }
/* What something costs a step; its cells are prose_cell_step. */
#define NUMBERS_A_STEP(steps) NUMBERS((steps) > 0 ? "a step" : "")
void prose_end_table(struct prose *p);
void prose_cell_name(struct prose *p, const char *name, enum text_name how);
void prose_cell_clean(struct prose *p, const char *text);
/* A line of the program; NULL: it is not known. */
void prose_cell_source(struct prose *p, const char *source);
void prose_cell_time(struct prose *p, double ns);
void prose_cell_count(struct prose *p, int64_t count);
void prose_cell_share(struct prose *p, double share); /* NaN: not known */
/* No cell where there are no steps, as NUMBERS_A_STEP has no column. */
void prose_cell_step(struct prose *p, double ns, int64_t steps);
/* part / whole; NaN when the whole is 0 */
double prose_ratio(double part, double whole);

/* The section about kernel utilisation (use.c). */
void report_kernel_utilisation(struct prose *p);
/* The sections about device time, steps of a serving engine, and slices (device.c); nothing
 * where there are none. */
void report_device_time(struct prose *p, const struct device_time *times);
void report_engine_steps(struct prose *p, const struct engine_steps *steps);
void report_slices(struct prose *p, const struct slices *names, const struct slices *tracks);
/* Where the time of devices goes, with the lines of the program, and what of it could run beside
 * computing (places.c). */
void report_places(struct prose *p, const struct pipeline_details *details);
void report_overlaps(struct prose *p, const struct pipeline_details *details);
/* What to do first, by what it would save (gains.c). */
void report_gains(struct prose *p, const struct pipeline_details *details);
/* The sections about a memory snapshot, read once more from the file (memory.c). */
void report_memory_snapshot(struct prose *p,
                            const struct report_source *source,
                            const char *worker);
/* The section about cycles and the functions that take most of them (cycles.c). */
void report_cycles(struct prose *p);

#endif

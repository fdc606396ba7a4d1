/* Memory views of a stored trace, whole or of a window, from its stored call tree and memory
 * records [TB-13]. */
#ifndef KS_QUERY_VIEWS_MEMORY_H
#define KS_QUERY_VIEWS_MEMORY_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/base/memory/arena.h"
#include "ingest/model/results/memory_rows.h"
#include "ingest/store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* `figures_id`: the id of a trace, or its derived_id; the unit of times is that of its
 * results. Everything is empty for a trace without memory records. Errors: those of the store. */
bool query_memory_stats(struct store_snapshot *snapshot,
                        struct arena *arena,
                        int64_t figures_id,
                        struct memory_window window,
                        struct memory_stats *out,
                        struct err *err) KS_MUST_USE;
/* In the order of [TB-13]; `name` as memory_block_name gives it. */
bool query_memory_blocks(struct store_snapshot *snapshot,
                         struct arena *arena,
                         int64_t figures_id,
                         struct memory_window window,
                         struct memory_block **blocks,
                         size_t *count,
                         struct err *err) KS_MUST_USE;
/* In the order in which devices appear. `with_sums`: devices without totals have curves too
 * (memory_curves_with_sums). */
bool query_memory_curves(struct store_snapshot *snapshot,
                         struct arena *arena,
                         int64_t figures_id,
                         bool with_sums,
                         struct memory_curve **curves,
                         size_t *count,
                         struct err *err) KS_MUST_USE;
/* The points of a curve that keep its shape [TB-13d]: indices into `chosen`, ascending; answers
 * their number, at most `wanted`. */
size_t
query_sample_curve(const double *x, const double *y, size_t count, size_t wanted, size_t *chosen);
/* The same of a curve as it is (wanted >= 4); its peak is always among them. *chosen lies in the
 * arena. */
bool query_sample_memory(struct arena *arena,
                         const struct memory_curve *curve,
                         size_t wanted,
                         size_t **chosen,
                         size_t *count,
                         struct err *err) KS_MUST_USE;

/* ---- one device of a trace; times are nanoseconds, so only for the id of a trace ---- */

/* The records of a device. */
struct query_memory_device {
    const char *device;
    int64_t records;
    bool has_totals; /* records say how much is allocated and reserved in all; else the rest is 0 */
    struct memory_point peak; /* the first with the most allocated */
    int64_t allocated_end_bytes;
    int64_t reserved_peak_bytes;
};

#define QUERY_BLOCKS_MAX 10

/* The largest of some blocks, largest first. */
struct query_blocks {
    int64_t count; /* of all of them */
    int64_t size_bytes;
    struct memory_block rows[QUERY_BLOCKS_MAX];
    size_t row_count;
};

struct query_memory {
    struct query_memory_device *devices; /* by name */
    size_t device_count;
    const struct query_memory_device *device; /* the chosen one; NULL: there is none */
    struct memory_stat_row *rows;             /* of the window */
    size_t row_count;
    struct query_blocks unreleased; /* allocated and never released, whatever the window */
    struct query_blocks at_peak;    /* alive just after the peak, whatever the window */
};

/* `device`: NULL chooses the first accelerator by name, else the CPU. ERR_BAD_REQUEST for one that
 * the trace has not, with those that it has; else the errors of the store. */
bool query_memory(struct store_snapshot *snapshot,
                  struct arena *arena,
                  int64_t trace_id,
                  const char *device,
                  struct memory_window window,
                  struct query_memory *out,
                  struct err *err) KS_MUST_USE;

struct query_memory_blocks {
    const char *device; /* the chosen one; NULL: there is none */
    struct memory_block *rows;
    size_t row_count;
};

/* Blocks of one device, chosen in the same way, in the same order. */
bool query_memory_device_blocks(struct store_snapshot *snapshot,
                                struct arena *arena,
                                int64_t trace_id,
                                const char *device,
                                struct memory_window window,
                                struct query_memory_blocks *out,
                                struct err *err) KS_MUST_USE;

#endif

/* A kernel table under construction, shared by its readers: repairs and interns names, records
 * unreadable rows with their place, keeps the memory budget. */
#ifndef KS_FORMATS_NSIGHT_KERNEL_ROWS_H
#define KS_FORMATS_NSIGHT_KERNEL_ROWS_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/formats/format.h"
#include "ingest/formats/json/text_stream.h"
#include "ingest/model/results/kernel_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kernel_rows {
    struct kernel_table *table;
    size_t budget_bytes; /* 0: no bound */
};

/* Errors of all: ERR_NO_MEMORY, ERR_TOO_LARGE (memory budget). */
bool kernel_rows_open(struct kernel_rows *rows, size_t budget_bytes, struct err *err) KS_MUST_USE;
void kernel_rows_close(struct kernel_rows *rows); /* frees what was not handed on */

/* The string id of a text; bytes that are no UTF-8 and NULs in it are replaced. */
bool kernel_rows_text(struct kernel_rows *rows,
                      const char *text,
                      size_t len,
                      uint32_t *id,
                      struct err *err) KS_MUST_USE;
/* A launch of which nothing is known. */
struct kernel_table_launch kernel_rows_blank(void);
bool kernel_rows_add(struct kernel_rows *rows,
                     const struct kernel_table_launch *launch,
                     struct err *err) KS_MUST_USE;
bool kernel_rows_add_summary(struct kernel_rows *rows,
                             const struct kernel_table_summary *summary,
                             struct err *err) KS_MUST_USE;
bool kernel_rows_add_metric(struct kernel_rows *rows,
                            const struct kernel_table_metric *metric,
                            struct err *err) KS_MUST_USE;
/* A row that is left out, and why: "line 17: ..." */
bool kernel_rows_bad(struct kernel_rows *rows,
                     uint64_t line,
                     uint64_t byte_off,
                     struct err *err,
                     const char *fmt,
                     ...) KS_MUST_USE KS_PRINTF(5, 6);

/* Grid or block: "[128, 1, 1]". */
#define KERNEL_DIM_BYTES 72
void kernel_rows_dim(char out[KERNEL_DIM_BYTES], const int64_t dim[3]);

/* What the text had that was repaired, or that it breaks off. */
void kernel_rows_note_stream(struct kernel_rows *rows, const struct text_stream *stream);
/* Hands the table to the bundle. ERR_BAD_INPUT when it has no row: the message says why the first
 * of the bad ones was, or `nothing`. */
bool kernel_rows_finish(struct kernel_rows *rows,
                        const char *nothing,
                        struct format_bundle *bundle,
                        struct err *err) KS_MUST_USE;

#endif

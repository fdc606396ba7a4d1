/* Rows of the tables of /api/v1. Each function names its fields once, for JSON and CSV. It omits
 * optional fields that are NULL in the row, so a CSV header needs a row with the same NULLs as the
 * others. */
#ifndef KS_API_TABLE_ROWS_H
#define KS_API_TABLE_ROWS_H

#include "api/table/field.h"
#include "ingest/model/results/results.h"

#include <stdint.h>

/* a + b and a - b, saturating: sums over hostile traces must not overflow. */
int64_t rows_add(int64_t a, int64_t b);
int64_t rows_sub(int64_t a, int64_t b);
/* Time of a step in which no device works: what its categories of the host take [DEV-6c]. */
int64_t rows_step_idle_ns(const struct step_row *row);
int64_t rows_later(int64_t a, int64_t b);
/* part / whole; 0 when the whole is 0. */
double rows_share(int64_t part_ns, int64_t whole_ns);
/* The same; NaN, which is written as null, when the whole is 0. */
double rows_known_share(int64_t part_ns, int64_t whole_ns);

#endif

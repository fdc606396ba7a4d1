/* The rows of the tables of /api/v1, each named field by field once for JSON and CSV. Optional
 * fields follow the row's NULLs, so that a header needs a row that is like the others. */
#ifndef KS_API_TABLE_ROWS_H
#define KS_API_TABLE_ROWS_H

#include "api/table/field.h"
#include "ingest/model/results/results.h"
#include "ingest/query/views/kernel_match.h"

#include <stdint.h>

void rows_step(struct field_out *out,
               const struct trace_results *results,
               const struct step_row *row);
void rows_operator(struct field_out *out, const struct operator_row *row, double share);
/* `use`: what a kernel table of the run says of it; NULL: the run has none. */
void rows_kernel(struct field_out *out,
                 const struct kernel_row *row,
                 double share,
                 int64_t steps,
                 const struct kernel_match_use *use);
void rows_kernel_launch(struct field_out *out,
                        const struct kernel_launch_row *row,
                        double share,
                        const struct kernel_match_use *use);
/* Members into an open object: the other metrics follow in JSON. */
void rows_kernel_utilisation(struct field_out *out,
                             const struct kernel_utilisation_row *row,
                             double share);
void rows_kernel_utilisation_launch(struct field_out *out,
                                    const struct kernel_utilisation_launch_row *row);
void rows_transfer(struct field_out *out, const struct transfer_row *row);

/* a + b and a - b within 64 bits: sums over hostile traces must not overflow. */
int64_t rows_add(int64_t a, int64_t b);
int64_t rows_sub(int64_t a, int64_t b);
/* part / whole, 0 when the whole is 0 */
double rows_share(int64_t part_ns, int64_t whole_ns);

#endif

/* Selects the rows of a comparison for an answer:
 * ?q=&device=&metric=&significant=&sort=&order=&limit=&offset= */
#ifndef KS_API_COMPARISON_COMPARE_ROWS_H
#define KS_API_COMPARISON_COMPARE_ROWS_H

#include "api/call.h"
#include "ingest/model/results/comparison.h"

#include <stdbool.h>
#include <stddef.h>

struct compare_rows {
    struct store_page page;
    struct comparison_row *rows; /* copies, in the arena */
    size_t count;
    size_t total; /* matching rows, before limit and offset */
};

/* Without parameters: all rows in stored order. ERR_BAD_REQUEST for bad numbers and unknown words.
 */
bool compare_rows_select(struct compare_rows *out,
                         struct api_call *call,
                         const struct comparison *comparison,
                         struct err *err) KS_MUST_USE;

#endif

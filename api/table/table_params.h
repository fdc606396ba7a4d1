/* What every table understands: ?sort=&order=&q=&limit=&offset=&format=. */
#ifndef KS_API_TABLE_TABLE_PARAMS_H
#define KS_API_TABLE_TABLE_PARAMS_H

#include "api/call.h"

#include <stdbool.h>
#include <stddef.h>

struct table_params {
    struct store_page page; /* limit 0: all */
    bool csv;
};

/* `texts`: the columns of text, which ascend unless told otherwise, NULL-terminated; numbers
 * descend. Whether a column exists is for the one who sorts to say. ERR_BAD_REQUEST for bad numbers
 * and unknown words. */
bool table_params_page(struct store_page *page,
                       const struct api_call *call,
                       const char *const *texts,
                       const char *default_sort,
                       int64_t default_limit,
                       struct err *err) KS_MUST_USE;
/* The same with the format, json or csv. CSV has no limit unless one is given. */
bool table_params_read(struct table_params *params,
                       const struct api_call *call,
                       const char *const *texts,
                       const char *default_sort,
                       int64_t default_limit,
                       struct err *err) KS_MUST_USE;

/* One of several words as the value of a parameter: its index in `words` (NULL-terminated), 0 when
 * the parameter is absent or empty. ERR_BAD_REQUEST with the known ones. */
bool table_params_choice(const struct api_call *call,
                         const char *name,
                         const char *const *words,
                         size_t *choice,
                         struct err *err) KS_MUST_USE;

/* How many of `count` rows lie on the page, and where it begins. */
size_t table_params_slice(const struct store_page *page, size_t count, size_t *offset);
/* Members of the answer: total, group_by (unless NULL), sort, order, q, limit, offset. */
void table_params_members(struct json_write *w,
                          const struct store_page *page,
                          int64_t total,
                          const char *group_by);

#endif

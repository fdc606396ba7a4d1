/* Resolves kernel names: the tables of Nsight Systems hold only their ids. */
#ifndef KS_FORMATS_NSIGHT_NSYS_NAMES_H
#define KS_FORMATS_NSIGHT_NSYS_NAMES_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/formats/nsight/kernel_rows.h"
#include "ingest/formats/nsight/nsys_database.h"

#include <stdbool.h>
#include <stdint.h>

#define NSYS_NAME_KNOWN INT64_MIN /* in place of an id: the launch has its name */

/* Gives each launch the text of its id in StringIds; those without are left out, as bad rows.
 * `name_ids` has one entry a launch. */
bool nsys_names_resolve(const struct nsys_database *db,
                        struct kernel_rows *rows,
                        const int64_t *name_ids,
                        struct err *err) KS_MUST_USE;

#endif

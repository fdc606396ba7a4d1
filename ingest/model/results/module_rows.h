/* The hierarchy of nn.Module (or Lightning's modules) with what each took. Rows live as
 * results.h says. */
#ifndef KS_MODEL_RESULTS_MODULE_ROWS_H
#define KS_MODEL_RESULTS_MODULE_ROWS_H

#include "ingest/model/tables/table.h"

#include <stdint.h>

#define MODULE_NO_PARENT INT64_C(-1)

/* Parents before their children, siblings in the order of time. Times in ticks of the
 * results. */
struct module_row {
#define TABLE_DEF "ingest/model/tables/operators/module.def"
#include "ingest/model/tables/struct.h"
};

#endif

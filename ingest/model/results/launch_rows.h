/* Launches, call by call. */
#ifndef KS_MODEL_RESULTS_LAUNCH_ROWS_H
#define KS_MODEL_RESULTS_LAUNCH_ROWS_H

#include "ingest/model/tables/table.h"

struct launch_row {
#define TABLE_DEF "ingest/model/tables/launch.def"
#include "ingest/model/tables/struct.h"
};

#endif

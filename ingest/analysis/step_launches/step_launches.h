/* How much work each step launched onto each stream, and how late it started [CAU-2e]. */
#ifndef KS_ANALYSIS_STEP_LAUNCHES_STEP_LAUNCHES_H
#define KS_ANALYSIS_STEP_LAUNCHES_STEP_LAUNCHES_H

#include "ingest/index/index.h"
#include "ingest/model/tables/table.h"

struct step_launches_row {
#define TABLE_DEF "ingest/model/tables/causes/step_launches.def"
#include "ingest/model/tables/struct.h"
};
extern const struct row_table table_step_launches;

/* Rows stream by stream, each in order of its first work. O(n). */
rows_analysis step_launches_analyse;

#endif

#include "ingest/model/results/what_if.h"

#define TABLE_DEF "ingest/model/tables/ranks/pipeline.def"
#define TABLE_ROW struct pipeline_row
#include "ingest/model/tables/describe.h"

#define TABLE_DEF "ingest/model/tables/ranks/what_if_slice.def"
#define TABLE_ROW struct what_if_slice_row
#include "ingest/model/tables/describe.h"

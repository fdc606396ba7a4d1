#include "ingest/model/results/ranks.h"

#define TABLE_DEF "ingest/model/tables/ranks/collective.def"
#define TABLE_ROW struct collective_row
#include "ingest/model/tables/describe.h"

#define TABLE_DEF "ingest/model/tables/ranks/collective_sum.def"
#define TABLE_ROW struct collective_sum_row
#include "ingest/model/tables/describe.h"

#define TABLE_DEF "ingest/model/tables/ranks/clock.def"
#define TABLE_ROW struct clock_row
#include "ingest/model/tables/describe.h"

#define TABLE_DEF "ingest/model/tables/ranks/lane.def"
#define TABLE_ROW struct lane_row
#include "ingest/model/tables/describe.h"

static const char *const cause_names[CAUSE_COUNT] = {"compute", "memory", "input", "host"};
static const char *const verdict_names[] = {"unknown", "balanced", "persistent", "scattered"};

const char *rank_cause_name(enum rank_cause cause)
{
    return cause_names[cause];
}

const char *rank_verdict_name(enum rank_verdict verdict)
{
    return verdict_names[verdict];
}

#include "api/handlers.h"
#include "api/timeline/common.h"
#include "ingest/jobs/on_request/analyses.h"

bool step_launches_get(struct api_call *call, struct err *err)
{
    struct table_view view = {.table = &table_step_launches, .stem = "step-launches"};
    return timeline_answer_rows(call, &view, "start_ns", step_launches_analyse, err);
}

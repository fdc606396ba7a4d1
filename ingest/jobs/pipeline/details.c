#include "ingest/jobs/pipeline/details.h"

#include <stdlib.h>

struct pipeline_details *
pipeline_details_find(const struct trace *trace, int64_t zero_ns, const struct kernel_rules *own)
{
    static const struct engine_attention as_recorded = {.heads = 0};
    static const struct path_request whole = {
        .options = {.annotation = ""}, .top = PATH_TOP_MAX, .edges = PATH_EDGES_NONE};
    struct pipeline_details *out = calloc(1, sizeof *out);
    if (out == NULL) {
        return NULL;
    }
    arena_init(&out->arena, 0);
    bool ok =
        device_time_analyse(trace, zero_ns, own, NULL, &out->arena, &out->device_time) &&
        engine_steps_analyse(trace, zero_ns, own, NULL, 0, &as_recorded, &out->arena,
                             &out->engine_steps) &&
        slices_analyse(trace, SLICES_BY_NAME, &out->arena, &out->names) &&
        slices_analyse(trace, SLICES_BY_TRACK, &out->arena, &out->tracks) &&
        idle_analyse(trace, zero_ns, CAUSES_KEEP_LAST_STEP, 1, &out->arena, &out->idle) &&
        critical_path_analyse(trace, zero_ns, &whole, &out->arena, &out->path) &&
        efficiency_analyse(trace, EFFICIENCY_BY_OPERATOR, NULL, &out->arena, &out->efficiency) &&
        kernel_stacks_analyse(trace, NULL, MODULES_BY_TYPE, &out->arena, &out->stacks);
    if (!ok) {
        pipeline_details_free(out);
        return NULL;
    }
    return out;
}

void pipeline_details_free(struct pipeline_details *details)
{
    if (details != NULL) {
        arena_free(&details->arena);
        free(details);
    }
}

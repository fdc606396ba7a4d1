#include "ingest/jobs/pipeline/details.h"

#include <stdlib.h>

static bool find_all(const struct trace *trace,
                     int64_t zero_ns,
                     const struct kernel_rules *own,
                     struct pipeline_details *out)
{
    static const struct engine_attention as_recorded = {.heads = 0};
    static const struct path_request whole = {
        .options = {.annotation = ""}, .top = PATH_TOP_MAX, .edges = PATH_EDGES_NONE};
    return device_time_analyse(trace, zero_ns, own, NULL, &out->arena, &out->device_time) &&
           engine_steps_analyse(trace, zero_ns, own, NULL, 0, &as_recorded, &out->arena,
                                &out->engine_steps) &&
           slices_analyse(trace, SLICES_BY_NAME, &out->arena, &out->names) &&
           slices_analyse(trace, SLICES_BY_TRACK, &out->arena, &out->tracks) &&
           critical_path_analyse(trace, zero_ns, &whole, &out->arena, &out->path) &&
           kernel_stacks_analyse(trace, NULL, MODULES_BY_TYPE, &out->arena, &out->stacks);
}

struct pipeline_details *pipeline_details_find(const struct trace *trace,
                                               int64_t zero_ns,
                                               const struct kernel_rules *own,
                                               enum pipeline_detail which)
{
    struct pipeline_details *out = calloc(1, sizeof *out);
    if (out == NULL) {
        return NULL;
    }
    arena_init(&out->arena, 0);
    enum efficiency_group by =
        which == PIPELINE_CAUSES ? EFFICIENCY_BY_SHAPE : EFFICIENCY_BY_OPERATOR;
    bool ok = (which == PIPELINE_CAUSES || find_all(trace, zero_ns, own, out)) &&
              idle_analyse(trace, zero_ns, CAUSES_KEEP_LAST_STEP, 1, &out->arena, &out->idle) &&
              efficiency_analyse(trace, by, NULL, &out->arena, &out->efficiency);
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

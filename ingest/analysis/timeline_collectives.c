#include "ingest/analysis/comm.h"
#include "ingest/analysis/comm_ours.h"
#include "ingest/analysis/link.h"
#include "ingest/analysis/scratch.h"
#include "ingest/analysis/select.h"
#include "ingest/analysis/timeline_labels.h"

struct finding {
    struct selection sel;
    struct links links;
    struct comms comms;
    struct comm_ours ours;
};

/* Where our rule sees no collective, the plugin's may: it goes by external ids alone. */
static bool mark_by_plugin(const struct finding *f, bool **out)
{
    *out = scratch_calloc(f->sel.trace->events.count, sizeof **out);
    for (uint32_t i = 0; *out != NULL && i < f->sel.order_count; i++) {
        uint32_t event = f->sel.order[i];
        (*out)[event] = comm_has_device_event(&f->comms, &f->sel, event);
    }
    return *out != NULL;
}

bool timeline_find_collectives(const struct trace *trace,
                               const struct trace_results *results,
                               bool **out)
{
    struct finding f = {0};
    struct warnings counted_before = {0};
    *out = NULL;
    if (!results->has_communication && results->collective_count == 0) {
        return true;
    }
    bool ok = select_events(&f.sel, trace, false, &counted_before) &&
              link_devices(&f.links, &f.sel) && comm_collect(&f.comms, &f.sel) &&
              comm_ours_collect(&f.ours, &f.sel, &f.links, &f.comms);
    if (ok && f.ours.communicates != NULL) {
        *out = f.ours.communicates;
        f.ours.communicates = NULL;
    } else if (ok) {
        ok = mark_by_plugin(&f, out);
    }
    comm_ours_free(&f.ours);
    comm_free(&f.comms);
    link_free(&f.links);
    select_free(&f.sel);
    return ok;
}

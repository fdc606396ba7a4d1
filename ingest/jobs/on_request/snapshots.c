#include "ingest/jobs/on_request/snapshots.h"

#include "ingest/base/thread.h"
#include "ingest/formats/memory_snapshot/snapshot.h"
#include "ingest/jobs/pipeline/archive.h"
#include "ingest/store/store.h"

struct reading {
    struct jobs *jobs;
    enum snapshot_view view;
    const struct snapshot_request *request;
    struct arena *arena;
    struct snapshot_answer *out;
    size_t budget_bytes;
    struct err *err;
    bool ok;
};

/* ---- loading ---- */

struct loading {
    const struct format_options options;
    struct memory_snapshot **out;
};

static bool load_input(void *context, struct input *in, struct err *err)
{
    const struct loading *loading = context;
    return memory_snapshot_load(in, &loading->options, loading->out, err);
}

static bool
load(const struct reading *reading, int64_t trace_id, struct memory_snapshot **out, struct err *err)
{
    struct store *store = jobs_store(reading->jobs);
    struct store_trace *trace = NULL;
    struct arena arena;
    const char *path = NULL;
    struct store_snapshot state;
    struct loading loading = {{.memory_budget_bytes = reading->budget_bytes}, out};
    arena_init(&arena, 0);
    store_snapshot_init(&state, store);
    bool ok = store_trace_get(&state, &arena, trace_id, &trace, err);
    store_snapshot_close(&state);
    ok = ok &&
         ((trace->views >> VIEW_SNAPSHOT & 1U) != 0 ||
          err_set(err, ERR_NOT_FOUND,
                  "The upload (%s) is no memory snapshot: upload what "
                  "torch.cuda.memory._dump_snapshot wrote",
                  trace->format)) &&
         store_blob_checked_path(store, &arena, trace->sha256_hex, trace->size_bytes, &path, err) &&
         pipeline_read_worker(path, trace->worker, jobs_input_limits(reading->jobs), load_input,
                              &loading, err);
    arena_free(&arena);
    return ok;
}

/* ---- answers ---- */

static bool answer_overview(const struct memory_snapshot *snapshot, const struct reading *reading)
{
    struct snapshot_answer *out = reading->out;
    int64_t device = reading->request->device;
    bool ok = true;
    out->devices = arena_calloc(reading->arena, snapshot->device_count + 1, sizeof *out->devices);
    if (out->devices == NULL) {
        return false;
    }
    for (size_t i = 0; ok && i < snapshot->device_count; i++) {
        if (device == SNAPSHOT_NONE || device == snapshot->devices[i].id) {
            ok = snapshot_figures_of(snapshot, &snapshot->devices[i], reading->arena,
                                     &out->devices[out->count++]);
        }
    }
    if (snapshot->settings != NULL) {
        out->settings = arena_strdup(reading->arena, snapshot->settings);
        ok = ok && out->settings != NULL;
    }
    return ok;
}

/* Of the device asked for, or of the lowest; *err is set where there is none. */
static bool answer_device(const struct memory_snapshot *snapshot, const struct reading *reading)
{
    const struct snapshot_request *request = reading->request;
    for (size_t i = 0; i < snapshot->device_count; i++) {
        const struct snapshot_device *device = &snapshot->devices[i];
        if (request->device != SNAPSHOT_NONE && request->device != device->id) {
            continue;
        }
        return reading->view == SNAPSHOT_CURVE
                   ? snapshot_curve_of(snapshot, device, request->count, reading->arena,
                                       &reading->out->curve)
               : reading->view == SNAPSHOT_LIVES
                   ? snapshot_lives_of(snapshot, device, &request->window, reading->arena,
                                       &reading->out->lives)
                   : snapshot_segments_of(device, request->order, request->count, reading->arena,
                                          &reading->out->segments);
    }
    return err_set(reading->err, ERR_NOT_FOUND, "The snapshot has no such device");
}

/* False without memory, or with the error set. */
static bool answer(const struct memory_snapshot *snapshot,
                   const struct memory_snapshot *baseline,
                   const struct reading *reading)
{
    struct snapshot_answer *out = reading->out;
    const struct snapshot_question question = {snapshot, baseline, reading->request->device,
                                               reading->request->when};
    switch (reading->view) {
    case SNAPSHOT_OVERVIEW:
        return answer_overview(snapshot, reading);
    case SNAPSHOT_FRAMES:
        return snapshot_frames(&question, reading->arena, &out->frames, &out->count);
    case SNAPSHOT_BLOCKS:
        return snapshot_blocks(&question, reading->arena, &out->blocks, &out->count);
    default:
        return answer_device(snapshot, reading);
    }
}

static void *run(void *context)
{
    struct reading *reading = context;
    struct memory_snapshot *snapshot = NULL;
    struct memory_snapshot *baseline = NULL;
    int64_t baseline_id = reading->request->baseline_id;
    reading->ok = load(reading, reading->request->trace_id, &snapshot, reading->err) &&
                  (baseline_id == 0 || load(reading, baseline_id, &baseline, reading->err));
    if (reading->ok && !answer(snapshot, baseline, reading)) {
        bool is_told = reading->err->code != ERR_NONE;
        reading->ok =
            !is_told && err_set(reading->err, ERR_NO_MEMORY, "no memory for a memory snapshot");
    }
    memory_snapshot_destroy(baseline);
    memory_snapshot_destroy(snapshot);
    return NULL;
}

bool snapshot_read(struct jobs *jobs,
                   enum snapshot_view view,
                   const struct snapshot_request *request,
                   struct arena *arena,
                   struct snapshot_answer *out,
                   struct err *err)
{
    struct reading reading = {
        .jobs = jobs, .view = view, .request = request, .arena = arena, .out = out, .err = err};
    *out = (struct snapshot_answer){.count = 0};
    if (!jobs_window_begin(jobs, &reading.budget_bytes, err)) {
        return false;
    }
    int code = thread_call(run, &reading);
    jobs_window_end(jobs);
    return code == 0 ? reading.ok
                     : err_set_errno(err, ERR_NO_MEMORY, code, "no thread for an analysis");
}

#include "ingest/analysis/stages.h"

#include "ingest/analysis/classify/times.h"
#include "ingest/analysis/devices/gpus.h"
#include "ingest/analysis/memory/log.h"
#include "ingest/analysis/overview/health.h"

#include <string.h>

void analysis_set_bounds(struct analysis *run)
{
    struct trace_results *results = run->results;
    results->event_count = run->trace->events.count;
    results->decimal_times = run->trace->decimal_times;
    results->first_event_ns = run->sel.zero_ns;
    results->start_ns = saturating_add(run->trace->base_time_ns, run->sel.zero_ns);
    results->duration_ns = saturating_sub(run->sel.last_ns, run->sel.zero_ns);
    results->mlu = run->sel.mlu;
}

/* [TB-8a]: a device's columns are shown when it did anything. */
void analysis_set_presence(struct analysis *run, bool has_kernel)
{
    struct trace_results *results = run->results;
    const struct ranges *roles = run->roles.by_role;
    results->has_runtime = roles[TIME_RUNTIME].count > 0;
    results->has_kernel = has_kernel;
    results->has_communication = roles[TIME_COMMUNICATION].count > 0;
    results->has_memcpy_or_memset = roles[TIME_MEMCPY].count > 0 || roles[TIME_MEMSET].count > 0;
    results->operators_have_device = results->has_kernel || results->has_memcpy_or_memset;
    const char *device_type = trace_device_word(run->trace, run->sel.mlu);
    bool has_device = results->operators_have_device || results->has_runtime;
    results->device_type = has_device ? device_type : "CPU";
}

static const char *step_name(struct analysis *run, uint32_t event)
{
    static const char ONLY_STEP[] = "0";
    struct arena *arena = &run->results->arena;
    if (event == STEP_NO_EVENT) {
        return arena_strdup(arena, ONLY_STEP);
    }
    char number[NAMES_STEP_NUMBER_BYTES];
    const char *name = names_text(&run->sel.names, run->sel.name[event]);
    if (strncmp(name, NAMES_STEP_PREFIX, strlen(NAMES_STEP_PREFIX)) != 0) {
        return arena_strdup(arena, name);
    }
    size_t len = names_step_number(name, number, sizeof number);
    return arena_strndup(arena, number, len);
}

bool analysis_write_steps(struct analysis *run, struct step_row **out)
{
    struct trace_results *results = run->results;
    const struct steps *steps = &run->steps;
    struct step_row *rows = arena_calloc(&results->arena, steps->count, sizeof *rows);
    *out = rows;
    if (rows == NULL) {
        return false;
    }
    results->steps = rows;
    results->step_count = steps->count;
    results->steps_undefined = steps->undefined;
    results->has_steps = steps->has_steps;
    for (uint32_t i = 0; i < steps->count; i++) {
        const struct step *step = &steps->items[i];
        rows[i].name = step_name(run, step->event);
        rows[i].launches = step->launches;
        rows[i].device_activities = step->device_activities;
        if (!steps->undefined) {
            rows[i].start_ns = times_position(&run->sel, step->start);
            rows[i].end_ns = times_position(&run->sel, step->end);
        }
        if (rows[i].name == NULL) {
            return false;
        }
    }
    return true;
}

/* ---- logs: packed as soon as nobody needs their columns, for they are the largest results ---- */

bool analysis_pack_log(struct analysis *run, enum result_log log, const void *columns)
{
    bool has_any = run->wants->pack != NULL && columns != NULL;
    return !has_any || run->wants->pack(log, columns, &run->results->packed[log]);
}

void analysis_drop_columns(struct analysis *run, enum result_log log)
{
    struct trace_results *results = run->results;
    if (run->wants->pack == NULL) {
        return;
    }
    arena_free(&results->log_arenas[log]);
    switch (log) {
    case RESULT_CALL_TREE:
        results->call_tree = NULL;
        break;
    case RESULT_MEMORY_LOG:
        results->memory_log = NULL;
        break;
    default:
        results->gpu_counters = NULL;
        break;
    }
}

static bool
run_memory_log(struct analysis *run, const struct call_rows *rows, const uint32_t *record_thread)
{
    struct trace_results *results = run->results;
    struct arena *arena = &results->log_arenas[RESULT_MEMORY_LOG];
    bool ok =
        memory_log_build(&results->memory_log, arena, &run->sel, results->call_tree, rows,
                         record_thread) &&
        (run->wants->pack != NULL ? analysis_pack_log(run, RESULT_MEMORY_LOG, results->memory_log)
                                  : memory_log_write(results->memory_log, arena));
    analysis_drop_columns(run, RESULT_MEMORY_LOG);
    return ok;
}

/* To be packed it needs no columns, which would be the most that an ingest has in memory. */
bool analysis_write_calls(struct analysis *run,
                          struct call_rows *rows,
                          const uint32_t *record_thread)
{
    struct trace_results *results = run->results;
    struct arena *arena = &results->log_arenas[RESULT_CALL_TREE];
    bool ok = run->wants->pack != NULL
                  ? analysis_pack_log(run, RESULT_CALL_TREE, results->call_tree)
                  : call_rows_write(rows, results->call_tree, arena);
    call_rows_drop_partners(rows);
    ok = ok && run_memory_log(run, rows, record_thread);
    analysis_drop_columns(run, RESULT_CALL_TREE);
    return ok;
}

/* ---- devices ---- */

bool analysis_run_devices(struct analysis *run)
{
    struct trace_results *results = run->results;
    return kernels_collect(&run->kernels, &run->sel) &&
           kernels_run(results, &run->texts, &run->sel.names, &run->kernels) &&
           devices_run(results, &results->arena, &run->kernels, &run->steps, &run->launched) &&
           gpus_run(results, &run->sel);
}

bool analysis_finish(struct analysis *run)
{
    struct trace_results *results = run->results;
    health_find_views(results, &run->sel);
    return health_copy_environment(results, run->trace) && health_find_missing(results, &run->sel);
}

/* ---- begin and end ---- */

bool analysis_begin(struct analysis *run,
                    const struct trace *trace,
                    const struct analysis_wants *wants)
{
    *run = (struct analysis){.trace = trace, .wants = wants, .results = results_create()};
    if (run->results != NULL) {
        run->results->warnings = trace->warnings;
    }
    /* Index arrays keep one bit for marks. */
    return run->results != NULL && trace->events.count <= INT32_MAX;
}

bool analysis_end(struct analysis *run, bool ok, struct trace_results **out, struct err *err)
{
    time_ranges_free(&run->roles);
    texts_free(&run->texts);
    kernels_free(&run->kernels);
    steps_free(&run->steps);
    classify_free(&run->sel);
    if (!ok) {
        results_destroy(run->results);
        run->results = NULL;
    }
    *out = run->results;
    return ok || err_set(err, ERR_NO_MEMORY, "Not enough memory to analyse %u events.",
                         run->trace->events.count);
}

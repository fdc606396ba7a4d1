#include "api/table/field.h"
#include "api/table/rows.h"
#include "api/views/distributed.h"
#include "ingest/model/tables.h"
#include "ingest/query/ranks/ranks.h"

#include <inttypes.h>

static const char *name_of(const struct query_worker *worker)
{
    return worker->trace->worker;
}

static void
write_worker(struct json_write *w, const struct distributed_answer *answer, size_t index)
{
    const struct query_worker *worker = &answer->view.workers[index];
    const struct trace_results *results = worker->results;
    struct field_out out = {.notation = FIELD_JSON, .json = w};
    field_row_begin(&out);
    field_text(&out, "worker", name_of(worker));
    field_int(&out, "trace", worker->trace->id);
    field_known_int(&out, "rank", query_rank_of(INT64_MIN, worker->trace));
    field_text(&out, "node", answer->places[index].node);
    field_text(&out, "process", answer->places[index].process);
    field_text(&out, "backend", worker_backend(results));
    field_int(&out, "collectives", worker->matched->log->op_count);
    field_int(&out, "matched", worker->matched->matched_count);
    jw_key_array_begin(w, "device_names");
    for (size_t i = 0; i < results->gpu_count; i++) {
        jw_string(w, results->gpus[i].name);
    }
    jw_array_end(w);
    field_row_end(&out);
}

/* ---- overlap ---- */

static void
write_step(struct json_write *w, const struct query_worker *worker, const struct step_row *step)
{
    struct field_out out = {.notation = FIELD_JSON, .json = w};
    int64_t computation = step->computation_ns;
    int64_t communication = step->communication_ns;
    int64_t overlap = step->overlap_ns;
    int64_t busy = rows_sub(rows_add(computation, communication), overlap);
    int64_t length = rows_sub(step->end_ns, step->start_ns);
    field_row_begin(&out);
    field_text(&out, "worker", name_of(worker));
    field_text(&out, "step", step->name);
    field_int(&out, "computation_ns", rows_sub(computation, overlap));
    field_int(&out, "overlap_ns", overlap);
    field_int(&out, "communication_ns", rows_sub(communication, overlap));
    field_known_int(&out, "other_ns",
                    worker->results->steps_undefined ? INT64_MIN : rows_sub(length, busy));
    field_row_end(&out);
}

static void write_overlap(struct json_write *w, const struct distributed_answer *answer)
{
    const struct query_distributed *view = &answer->view;
    jw_key_object_begin(w, "overlap");
    jw_key_array_begin(w, "steps");
    for (size_t i = 0; i < answer->step_count; i++) {
        jw_string(w, answer->steps[i]);
    }
    jw_array_end(w);
    jw_key_array_begin(w, "rows");
    for (size_t i = 0; i < view->worker_count; i++) {
        for (size_t j = 0; j < view->workers[i].results->step_count; j++) {
            write_step(w, &view->workers[i], &view->workers[i].results->steps[j]);
        }
    }
    jw_array_end(w);
    jw_object_end(w);
}

/* ---- transfer and waiting ---- */

static void write_wait(struct json_write *w,
                       const struct query_worker *worker,
                       const struct distributed_wait *wait)
{
    struct field_out out = {.notation = FIELD_JSON, .json = w};
    bool has_step = wait->step >= 0 && (uint64_t)wait->step < worker->results->step_count;
    int64_t transfer = wait->real;
    field_row_begin(&out);
    field_text(&out, "worker", name_of(worker));
    field_text(&out, "step", has_step ? worker->results->steps[wait->step].name : NULL);
    field_int(&out, "transfer_ns", transfer);
    field_int(&out, "wait_ns", rows_sub(wait->total, transfer));
    field_row_end(&out);
}

static void write_waits(struct json_write *w, const struct query_distributed *view)
{
    jw_key_object_begin(w, "wait");
    jw_key_array_begin(w, "rows");
    for (size_t i = 0; i < view->worker_count; i++) {
        for (size_t j = 0; j < view->workers[i].wait_count; j++) {
            write_wait(w, &view->workers[i], &view->workers[i].waits[j]);
        }
    }
    jw_array_end(w);
    jw_object_end(w);
}

/* ---- collectives ---- */

static void write_operation(struct json_write *w,
                            const struct query_worker *worker,
                            const struct distributed_op *op)
{
    struct field_out out = {.notation = FIELD_JSON, .json = w};
    int64_t total = op->total;
    int64_t transfer = op->real;
    field_row_begin(&out);
    field_text(&out, "worker", name_of(worker));
    field_text(&out, "name", op->name);
    field_int(&out, "calls", op->calls);
    field_int(&out, "size_bytes", op->size_bytes);
    field_double(&out, "mean_size_bytes", rows_share(op->size_bytes, op->calls));
    field_int(&out, "total_ns", total);
    field_double(&out, "mean_ns", rows_share(total, op->calls));
    field_int(&out, "transfer_ns", transfer);
    field_double(&out, "mean_transfer_ns", rows_share(transfer, op->calls));
    field_row_end(&out);
}

static void write_operations(struct json_write *w, const struct query_distributed *view)
{
    jw_key_array_begin(w, "operations");
    for (size_t i = 0; i < view->worker_count; i++) {
        for (size_t j = 0; j < view->workers[i].op_count; j++) {
            write_operation(w, &view->workers[i], &view->workers[i].ops[j]);
        }
    }
    jw_array_end(w);
}

/* ---- devices ---- */

static void write_device(struct json_write *w,
                         const struct distributed_answer *answer,
                         size_t index,
                         const struct gpu_row *gpu)
{
    struct field_out out = {.notation = FIELD_JSON, .json = w};
    field_row_begin(&out);
    field_text(&out, "node", answer->places[index].node);
    field_text(&out, "process", answer->places[index].process);
    field_text(&out, "worker", name_of(&answer->view.workers[index]));
    field_columns(&out, &table_gpu, gpu, 0);
    field_row_end(&out);
}

static void write_devices(struct json_write *w, const struct distributed_answer *answer)
{
    const struct query_distributed *view = &answer->view;
    jw_key_array_begin(w, "devices");
    for (size_t i = 0; i < view->worker_count; i++) {
        for (size_t j = 0; j < view->workers[i].results->gpu_count; j++) {
            write_device(w, answer, i, &view->workers[i].results->gpus[j]);
        }
    }
    jw_array_end(w);
}

void distributed_write(struct json_write *w, const struct distributed_answer *answer)
{
    jw_key_array_begin(w, "workers");
    for (size_t i = 0; i < answer->view.worker_count; i++) {
        write_worker(w, answer, i);
    }
    jw_array_end(w);
    write_overlap(w, answer);
    write_waits(w, &answer->view);
    write_operations(w, &answer->view);
    write_devices(w, answer);
}

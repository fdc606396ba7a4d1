#include "api/table/rows.h"

#include <math.h>

int64_t rows_add(int64_t a, int64_t b)
{
    if (b < 0) {
        return a < INT64_MIN - b ? INT64_MIN : a + b;
    }
    return a > INT64_MAX - b ? INT64_MAX : a + b;
}

int64_t rows_sub(int64_t a, int64_t b)
{
    if (b < 0) {
        return a > INT64_MAX + b ? INT64_MAX : a - b;
    }
    return a < INT64_MIN + b ? INT64_MIN : a - b;
}

double rows_share(int64_t part_ns, int64_t whole_ns)
{
    return whole_ns == 0 ? 0 : (double)part_ns / (double)whole_ns;
}

double rows_known_share(int64_t part_ns, int64_t whole_ns)
{
    return whole_ns == 0 ? (double)NAN : (double)part_ns / (double)whole_ns;
}

void rows_step(struct field_out *out,
               const struct trace_results *results,
               const struct step_row *row)
{
    static const char *const cost_names[TIME_CATEGORY_COUNT] = {
        [TIME_KERNEL] = "kernel_ns",     [TIME_MEMCPY] = "memcpy_ns",
        [TIME_MEMSET] = "memset_ns",     [TIME_COMMUNICATION] = "communication_ns",
        [TIME_RUNTIME] = "runtime_ns",   [TIME_DATALOADER] = "dataloader_ns",
        [TIME_CPU_EXEC] = "cpu_exec_ns", [TIME_OTHER] = "other_ns",
    };
    field_row_begin(out);
    field_text(out, "name", row->name);
    if (results->steps_undefined) {
        field_null(out, "start_ns");
        field_null(out, "duration_ns");
    } else {
        field_int(out, "start_ns", row->start_ns);
        field_int(out, "duration_ns", row->end_ns - row->start_ns);
    }
    for (unsigned role = 0; role < TIME_CATEGORY_COUNT; role++) {
        field_int(out, cost_names[role], row->cost_ns[role]);
    }
    field_int(out, "computation_ns", row->computation_ns);
    field_int(out, "overlap_ns", row->overlap_ns);
    field_int(out, "launches", row->launches);
    field_int(out, "device_activities", row->device_activities);
    field_row_end(out);
}

void rows_operator(struct field_out *out, const struct operator_row *row, double share)
{
    field_row_begin(out);
    field_text(out, "name", row->name);
    if (row->input_shape != NULL) {
        field_text(out, "input_shape", row->input_shape);
    }
    if (row->call_stack != NULL) {
        field_text(out, "call_stack", row->call_stack);
    }
    field_int(out, "calls", row->calls);
    field_int(out, "host_total_ns", row->host_total_ns);
    field_int(out, "host_self_ns", row->host_self_ns);
    field_double(out, "host_mean_ns", rows_share(row->host_total_ns, row->calls));
    field_int(out, "host_min_ns", row->host_min_ns);
    field_int(out, "host_max_ns", row->host_max_ns);
    field_int(out, "host_p50_ns", row->host_p50_ns);
    field_int(out, "host_p95_ns", row->host_p95_ns);
    field_int(out, "host_p99_ns", row->host_p99_ns);
    field_int(out, "device_total_ns", row->device_total_ns);
    field_int(out, "device_self_ns", row->device_self_ns);
    field_int(out, "device_p50_ns", row->device_p50_ns);
    field_int(out, "device_p95_ns", row->device_p95_ns);
    field_int(out, "device_p99_ns", row->device_p99_ns);
    field_double(out, "share", share);
    field_bool(out, "tensor_core_eligible", row->tensor_eligible);
    field_double(out, "tensor_core_self_share",
                 rows_share(row->tensor_self_ns, row->device_self_ns));
    field_double(out, "tensor_core_total_share",
                 rows_share(row->tensor_total_ns, row->device_total_ns));
    field_bool(out, "has_call_stack", row->has_call_stack);
    field_row_end(out);
}

/* What the rows of both groupings of kernels have in common. */
struct kernel_times {
    int64_t calls, total_ns, min_ns, max_ns, p50_ns, p95_ns, p99_ns;
    bool tensor_used, tc_used;
    double blocks_per_sm, occupancy_pct;
};

static void write_times(struct field_out *out, const struct kernel_times *times, double share)
{
    field_int(out, "calls", times->calls);
    field_int(out, "total_ns", times->total_ns);
    field_double(out, "share", share);
    field_double(out, "mean_ns", rows_share(times->total_ns, times->calls));
    field_int(out, "min_ns", times->min_ns);
    field_int(out, "max_ns", times->max_ns);
    field_int(out, "p50_ns", times->p50_ns);
    field_int(out, "p95_ns", times->p95_ns);
    field_int(out, "p99_ns", times->p99_ns);
    field_bool(out, "tensor_cores", times->tensor_used);
    field_bool(out, "tensor_cores_plugin", times->tc_used);
    field_double(out, "blocks_per_sm", times->blocks_per_sm);
    field_double(out, "occupancy_pct", times->occupancy_pct);
}

#define TIMES_OF(row)                                                                          \
    {                                                                                          \
        .calls = (row)->calls, .total_ns = (row)->total_ns, .min_ns = (row)->min_ns,           \
        .max_ns = (row)->max_ns, .p50_ns = (row)->p50_ns, .p95_ns = (row)->p95_ns,             \
        .p99_ns = (row)->p99_ns, .tensor_used = (row)->tensor_used, .tc_used = (row)->tc_used, \
        .blocks_per_sm = (row)->blocks_per_sm, .occupancy_pct = (row)->occupancy_pct           \
    }

/* Shares of the peak, and what they make of a kernel. */
static void
write_shares(struct field_out *out, double tensor, double dram, double sm, enum use_class use)
{
    field_double(out, "tensor", tensor);
    field_double(out, "dram", dram);
    field_double(out, "sm", sm);
    field_text(out, "class", use_class_name(use));
}

static void write_match(struct field_out *out, const struct kernel_match_use *use)
{
    if (use == NULL) {
        return;
    }
    write_shares(out, use->tensor, use->dram, use->sm, use->use);
    field_double(out, "headroom_ns", use->headroom_ns);
    field_text(out, "utilisation_match",
               use->launches == 0 ? NULL
               : use->by_launch   ? "launch"
                                  : "name");
}

void rows_kernel(struct field_out *out,
                 const struct kernel_row *row,
                 double share,
                 int64_t steps,
                 const struct kernel_match_use *use)
{
    const struct kernel_times times = TIMES_OF(row);
    field_row_begin(out);
    field_text(out, "name", row->name);
    write_times(out, &times, share);
    field_double(out, "calls_per_step", (double)row->calls / (double)(steps > 0 ? steps : 1));
    write_match(out, use);
    field_row_end(out);
}

void rows_kernel_launch(struct field_out *out,
                        const struct kernel_launch_row *row,
                        double share,
                        const struct kernel_match_use *use)
{
    const struct kernel_times times = TIMES_OF(row);
    field_row_begin(out);
    field_text(out, "name", row->name);
    field_text(out, "operator", row->operator_name);
    field_texts(out, "config", row->config, 4);
    write_times(out, &times, share);
    field_bool(out, "operator_tensor_core_eligible", row->op_tensor_eligible);
    write_match(out, use);
    field_row_end(out);
}

void rows_kernel_utilisation(struct field_out *out,
                             const struct kernel_utilisation_row *row,
                             double share)
{
    field_text(out, "name", row->name);
    field_text(out, "full_name", row->full_name);
    field_int(out, "launches", row->launches);
    field_int(out, "total_ns", row->total_ns);
    field_double(out, "share", share);
    field_double(out, "mean_ns", row->mean_ns);
    field_known_int(out, "min_ns", row->min_ns);
    field_known_int(out, "max_ns", row->max_ns);
    field_double(out, "p50_ns", row->p50_ns);
    field_double(out, "p95_ns", row->p95_ns);
    field_double(out, "p99_ns", row->p99_ns);
    write_shares(out, row->tensor, row->dram, row->sm, row->use);
    field_double(out, "headroom_ns", row->headroom_ns);
}

void rows_kernel_utilisation_launch(struct field_out *out,
                                    const struct kernel_utilisation_launch_row *row)
{
    field_int(out, "position", row->position);
    field_text(out, "name", row->name);
    field_text(out, "full_name", row->full_name);
    field_text(out, "grid", row->grid);
    field_text(out, "block", row->block);
    field_known_int(out, "start_ns", row->start_ns);
    field_int(out, "duration_ns", row->dur_ns);
    field_known_int(out, "device", row->device);
    field_known_int(out, "stream", row->stream);
    write_shares(out, row->tensor, row->dram, row->sm, row->use);
}

void rows_transfer(struct field_out *out, const struct transfer_row *row)
{
    field_row_begin(out);
    field_text(out, "name", row->name);
    field_text(out, "kind", row->kind);
    field_int(out, "operations", row->operations);
    field_int(out, "total_ns", row->total_ns);
    field_known_int(out, "min_ns", row->min_ns);
    field_known_int(out, "max_ns", row->max_ns);
    field_known_int(out, "size_bytes", row->size_bytes);
    field_row_end(out);
}

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

/* The columns of the result tables that are fields of the row structs: one list a table, from which
 * the INSERT, its parameters, the SELECT and the reading of a row are made, so that they cannot
 * differ.
 *
 * Kinds: INT int64_t; FLAG bool; BITS uint32_t; REAL double; TEXT a text kept in the row; SHARED a
 * text kept once a trace, column <field>_id. */
#ifndef KS_STORE_FIELDS_H
#define KS_STORE_FIELDS_H

#define TRACE_FIELDS(X)             \
    X(INT, event_count)             \
    X(INT, start_ns)                \
    X(INT, plugin_start_ns)         \
    X(INT, duration_ns)             \
    X(FLAG, decimal_times)          \
    X(INT, ticks_per_us)            \
    X(FLAG, steps_undefined)        \
    X(FLAG, has_profiler_steps)     \
    X(BITS, views)                  \
    X(FLAG, has_runtime)            \
    X(FLAG, has_kernel)             \
    X(FLAG, has_communication)      \
    X(FLAG, has_memcpy_or_memset)   \
    X(FLAG, has_blocks_per_sm)      \
    X(FLAG, has_occupancy)          \
    X(FLAG, operators_have_device)  \
    X(FLAG, mlu)                    \
    X(INT, communication_nodes)     \
    X(INT, communication_signature) \
    X(REAL, tc_pie_used)            \
    X(REAL, tensor_pie_used)

/* Behind them in the table: the number of rows of the tables below. */
#define TRACE_COUNT_COLUMNS                                                               \
    ", step_count, operator_count, operator_count_1, operator_count_2, operator_count_3," \
    " kernel_count, kernel_launch_count"

#define STEP_FIELDS(X)       \
    X(TEXT, name)            \
    X(INT, start_ns)         \
    X(INT, end_ns)           \
    X(INT, computation_ns)   \
    X(INT, communication_ns) \
    X(INT, overlap_ns)       \
    X(INT, launches)         \
    X(INT, device_activities)

/* Behind them: cost_ns by role. */
#define STEP_COST_COLUMNS                                                                       \
    ", cost_kernel_ns, cost_memcpy_ns, cost_memset_ns, cost_communication_ns, cost_runtime_ns," \
    " cost_dataloader_ns, cost_cpu_exec_ns, cost_other_ns"

#define OPERATOR_FIELDS(X)   \
    X(SHARED, name)          \
    X(SHARED, input_shape)   \
    X(SHARED, call_stack)    \
    X(INT, calls)            \
    X(INT, host_total_ns)    \
    X(INT, host_self_ns)     \
    X(INT, device_total_ns)  \
    X(INT, device_self_ns)   \
    X(INT, tc_total_ns)      \
    X(INT, tc_self_ns)       \
    X(INT, tensor_total_ns)  \
    X(INT, tensor_self_ns)   \
    X(INT, host_min_ns)      \
    X(INT, host_max_ns)      \
    X(INT, host_p50_ns)      \
    X(INT, host_p95_ns)      \
    X(INT, host_p99_ns)      \
    X(INT, device_p50_ns)    \
    X(INT, device_p95_ns)    \
    X(INT, device_p99_ns)    \
    X(FLAG, tc_eligible)     \
    X(FLAG, tensor_eligible) \
    X(FLAG, has_call_stack)

#define KERNEL_FIGURE_FIELDS(X) \
    X(INT, calls)               \
    X(INT, total_ns)            \
    X(INT, min_ns)              \
    X(INT, max_ns)              \
    X(INT, p50_ns)              \
    X(INT, p95_ns)              \
    X(INT, p99_ns)              \
    X(FLAG, tc_used)            \
    X(FLAG, tensor_used)        \
    X(REAL, blocks_per_sm)      \
    X(REAL, occupancy_pct)

#define KERNEL_FIELDS(X) \
    X(SHARED, name)      \
    KERNEL_FIGURE_FIELDS(X)

#define LAUNCH_FIELDS(X)        \
    X(SHARED, name)             \
    X(SHARED, operator_name)    \
    X(FLAG, op_tc_eligible)     \
    X(FLAG, op_tensor_eligible) \
    KERNEL_FIGURE_FIELDS(X)

/* Behind them: config. */
#define LAUNCH_CONFIG_COLUMNS ", config_1_id, config_2_id, config_3_id, config_4_id"
#define LAUNCH_CONFIGS 4

#define DEVICE_FIELDS(X)   \
    X(INT, id)             \
    X(TEXT, name)          \
    X(REAL, memory_bytes)  \
    X(INT, compute_major)  \
    X(INT, compute_minor)  \
    X(REAL, utilisation)   \
    X(REAL, sm_efficiency) \
    X(REAL, occupancy_pct) \
    X(REAL, tc_share)      \
    X(REAL, tensor_share)  \
    X(BITS, has)

#define RECOMMENDATION_FIELDS(X) \
    X(TEXT, code)                \
    X(TEXT, text)

#define ENVIRONMENT_FIELDS(X) \
    X(TEXT, name)             \
    X(TEXT, value)

#define MISSING_FIELDS(X) \
    X(TEXT, view)         \
    X(TEXT, reason)       \
    X(TEXT, record)

#define PLUGIN_ANSWER_FIELDS(X) \
    X(TEXT, route)              \
    X(TEXT, group_by)           \
    X(TEXT, json)

/* ", name_id, calls, …" */
#define FIELD_COLUMN_INT(field) ", " #field
#define FIELD_COLUMN_FLAG(field) ", " #field
#define FIELD_COLUMN_BITS(field) ", " #field
#define FIELD_COLUMN_REAL(field) ", " #field
#define FIELD_COLUMN_TEXT(field) ", " #field
#define FIELD_COLUMN_SHARED(field) ", " #field "_id"
#define FIELD_COLUMN(kind, field) FIELD_COLUMN_##kind(field)
/* ", ?, ?, …" */
#define FIELD_PARAM(kind, field) ", ?"

/* For reading: `st` a statement at the first of these columns, `row` the struct, `arena` and
 * `texts` as text_cache.h has them. */
#define FIELD_READ_INT(field) row->field = db_get_int(st);
#define FIELD_READ_FLAG(field) row->field = db_get_bool(st);
#define FIELD_READ_BITS(field) row->field = (uint32_t)db_get_int(st);
#define FIELD_READ_REAL(field) row->field = db_get_real(st);
#define FIELD_READ_TEXT(field) row->field = db_get_text(st, arena);
#define FIELD_READ_SHARED(field) row->field = text_cache_get(texts, st);
#define FIELD_READ(kind, field) FIELD_READ_##kind(field)

#endif

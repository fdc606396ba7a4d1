/* The columns of the result tables that are fields of the row structs: one list a table, from which
 * the INSERT, its parameters, the SELECT and the reading of a row are made, so that they cannot
 * differ.
 *
 * Kinds: INT int64_t; OPTIONAL int64_t whose INT64_MIN means "not there"; FLAG bool; BITS uint32_t;
 * REAL double; PAIR double a side, columns <field>_base and <field>_candidate; COUNTS int64_t the
 * same; TEXT a text kept in the row; SHARED a text kept once a trace or group of comparisons,
 * column <field>_id. KIND, SOURCE, PRESENCE, VERDICT: enumerations of the model. */
#ifndef KS_STORE_DB_FIELDS_H
#define KS_STORE_DB_FIELDS_H

#define TRACE_FIELDS(X)            \
    X(INT, event_count)            \
    X(INT, start_ns)               \
    X(INT, first_event_ns)         \
    X(INT, duration_ns)            \
    X(INT, device_ns)              \
    X(INT, steps_ns)               \
    X(FLAG, decimal_times)         \
    X(INT, ticks_per_us)           \
    X(FLAG, steps_undefined)       \
    X(FLAG, has_steps)             \
    X(BITS, views)                 \
    X(FLAG, has_runtime)           \
    X(FLAG, has_kernel)            \
    X(FLAG, has_communication)     \
    X(FLAG, has_memcpy_or_memset)  \
    X(FLAG, has_blocks_per_sm)     \
    X(FLAG, has_occupancy)         \
    X(FLAG, operators_have_device) \
    X(FLAG, mlu)                   \
    X(FLAG, is_amd)                \
    X(INT, collective_count)       \
    X(REAL, tensor_pie_used)       \
    X(INT, device_property_count)  \
    X(INT, role_kernel_ns)         \
    X(INT, role_memcpy_ns)         \
    X(INT, role_memset_ns)         \
    X(INT, role_communication_ns)  \
    X(INT, role_runtime_ns)        \
    X(INT, role_dataloader_ns)     \
    X(INT, role_cpu_exec_ns)       \
    X(INT, role_other_ns)          \
    X(FLAG, has_kernel_use)        \
    X(SOURCE, cycle_source)

/* Behind them in the table: the number of rows of the tables below. */
#define TRACE_COUNT_COLUMNS                                                               \
    ", step_count, operator_count, operator_count_1, operator_count_2, operator_count_3," \
    " kernel_count, kernel_launch_count, kernel_use_count, kernel_use_launch_count,"      \
    " cycle_count, cycle_use_count"

#define DEVICE_FIELDS(X)   \
    X(INT, id)             \
    X(TEXT, name)          \
    X(REAL, memory_bytes)  \
    X(INT, compute_major)  \
    X(INT, compute_minor)  \
    X(REAL, utilisation)   \
    X(REAL, sm_efficiency) \
    X(REAL, occupancy_pct) \
    X(REAL, tensor_share)  \
    X(BITS, has)

#define RECOMMENDATION_FIELDS(X) \
    X(TEXT, code)                \
    X(TEXT, text)                \
    X(TEXT, evidence)            \
    X(TEXT, documentation)       \
    X(OPTIONAL, saving_ns)

#define ENVIRONMENT_FIELDS(X) \
    X(TEXT, name)             \
    X(TEXT, value)

#define MISSING_FIELDS(X) \
    X(TEXT, view)         \
    X(TEXT, reason)       \
    X(TEXT, record)

#define GPU_FIELDS(X)     \
    X(INT, id)            \
    X(TEXT, name)         \
    X(INT, memory_bytes)  \
    X(INT, compute_major) \
    X(INT, compute_minor) \
    X(BITS, has)

#define UPLOADED_ANSWER_FIELDS(X) \
    X(TEXT, route)                \
    X(TEXT, group_by)             \
    X(TEXT, json)

#define KERNEL_UTILISATION_TOTAL_FIELDS(X) \
    X(INT, launches)                       \
    X(INT, kernels)                        \
    X(INT, total_ns)                       \
    X(REAL, tensor)                        \
    X(REAL, dram)                          \
    X(REAL, sm)                            \
    X(REAL, headroom_ns)

/* Behind them: class_ns and class_launches by class. */
#define KERNEL_UTILISATION_CLASS_COLUMNS                                                 \
    ", both_low_ns, low_compute_ns, low_dram_ns, neither_low_ns, unknown_ns,"            \
    " both_low_launches, low_compute_launches, low_dram_launches, neither_low_launches," \
    " unknown_launches"

#define KERNEL_UTILISATION_METRIC_FIELDS(X) \
    X(INT, kernel)                          \
    X(SHARED, metric)                       \
    X(SHARED, unit)                         \
    X(INT, launches)                        \
    X(REAL, mean)                           \
    X(REAL, min)                            \
    X(REAL, max)

#define KERNEL_UTILISATION_VALUE_FIELDS(X) \
    X(INT, launch)                         \
    X(SHARED, metric)                      \
    X(SHARED, unit)                        \
    X(REAL, value)

#define CYCLE_FIELDS(X) \
    X(INT, number)      \
    X(KIND, kind)       \
    X(SHARED, anchor)   \
    X(INT, start_ns)    \
    X(REAL, dur_us)

#define CYCLE_USE_FIELDS(X)  \
    X(INT, cycle)            \
    X(OPTIONAL, pid)         \
    X(SHARED, host)          \
    X(SHARED, function)      \
    X(SHARED, simple_name)   \
    X(SHARED, type)          \
    X(SHARED, metric)        \
    X(SHARED, device)        \
    X(REAL, beta_pct)        \
    X(REAL, mu_pct)          \
    X(REAL, sigma_pct)       \
    X(REAL, duration_us)     \
    X(SHARED, interpolation) \
    X(INT, instances)

#define COUNTER_FIELDS(X) \
    X(SHARED, name)       \
    X(SHARED, host)       \
    X(INT, samples)       \
    X(REAL, mean)         \
    X(REAL, min)          \
    X(REAL, max)          \
    X(REAL, std)

#define COMPARISON_FIELDS(X) \
    X(KIND, kind)            \
    X(TEXT, title)           \
    X(FLAG, strict)          \
    X(REAL, cycle_p)         \
    X(REAL, cycle_u)         \
    X(VERDICT, verdict)      \
    X(PAIR, kernel_us)       \
    X(PAIR, operator_us)

#define COMPARISON_ROLE_FIELDS(X) \
    X(TEXT, label)                \
    X(TEXT, host)                 \
    X(OPTIONAL, pid)              \
    X(INT, cycles)                \
    X(REAL, mean_cycle_us)

#define COMPARISON_CYCLE_FIELDS(X) X(PAIR, dur_us)

#define COMPARISON_ROW_FIELDS(X) \
    X(SHARED, function)          \
    X(SHARED, metric)            \
    X(SHARED, device)            \
    X(REAL, score)               \
    X(PAIR, beta_pct)            \
    X(REAL, delta_beta)          \
    X(REAL, z_beta)              \
    X(REAL, p_beta)              \
    X(REAL, u_beta)              \
    X(PAIR, mu)                  \
    X(REAL, delta_mu)            \
    X(REAL, z_mu)                \
    X(REAL, z_log_mu)            \
    X(REAL, p_mu)                \
    X(REAL, u_mu)                \
    X(REAL, q_beta)              \
    X(REAL, q_mu)                \
    X(REAL, p_presence)          \
    X(REAL, q_presence)          \
    X(PRESENCE, presence)        \
    X(COUNTS, cycles)

#define COMPARISON_FINDING_FIELDS(X) \
    X(SHARED, function)              \
    X(SHARED, device)                \
    X(PAIR, beta_pct)                \
    X(REAL, delta_beta)              \
    X(REAL, p_beta)

/* ", name_id, calls, …" */
#define FIELD_COLUMN_INT(field) ", " #field
#define FIELD_COLUMN_OPTIONAL(field) ", " #field
#define FIELD_COLUMN_FLAG(field) ", " #field
#define FIELD_COLUMN_BITS(field) ", " #field
#define FIELD_COLUMN_REAL(field) ", " #field
#define FIELD_COLUMN_PAIR(field) ", " #field "_base, " #field "_candidate"
#define FIELD_COLUMN_COUNTS(field) FIELD_COLUMN_PAIR(field)
#define FIELD_COLUMN_TEXT(field) ", " #field
#define FIELD_COLUMN_SHARED(field) ", " #field "_id"
#define FIELD_COLUMN_KIND(field) ", " #field
#define FIELD_COLUMN_SOURCE(field) ", " #field
#define FIELD_COLUMN_PRESENCE(field) ", " #field
#define FIELD_COLUMN_VERDICT(field) ", " #field
#define FIELD_COLUMN(kind, field) FIELD_COLUMN_##kind(field)
/* ", ?, ?, …" */
#define FIELD_PARAM_INT ", ?"
#define FIELD_PARAM_OPTIONAL ", ?"
#define FIELD_PARAM_FLAG ", ?"
#define FIELD_PARAM_BITS ", ?"
#define FIELD_PARAM_REAL ", ?"
#define FIELD_PARAM_PAIR ", ?, ?"
#define FIELD_PARAM_COUNTS ", ?, ?"
#define FIELD_PARAM_TEXT ", ?"
#define FIELD_PARAM_SHARED ", ?"
#define FIELD_PARAM_KIND ", ?"
#define FIELD_PARAM_SOURCE ", ?"
#define FIELD_PARAM_PRESENCE ", ?"
#define FIELD_PARAM_VERDICT ", ?"
#define FIELD_PARAM(kind, field) FIELD_PARAM_##kind

/* For reading: `st` a statement at the first of these columns, `row` the struct, `arena` and
 * `texts` as text_cache.h has them. A number that no enumeration has is read as the last one. */
#define FIELD_READ_INT(field) row->field = db_get_int(st);
#define FIELD_READ_OPTIONAL(field) row->field = db_get_optional(st);
#define FIELD_READ_FLAG(field) row->field = db_get_bool(st);
#define FIELD_READ_BITS(field) row->field = (uint32_t)db_get_int(st);
#define FIELD_READ_REAL(field) row->field = db_get_real(st);
#define FIELD_READ_PAIR(field)               \
    row->field[SIDE_BASE] = db_get_real(st); \
    row->field[SIDE_CANDIDATE] = db_get_real(st);
#define FIELD_READ_COUNTS(field)            \
    row->field[SIDE_BASE] = db_get_int(st); \
    row->field[SIDE_CANDIDATE] = db_get_int(st);
#define FIELD_READ_TEXT(field) row->field = db_get_text(st, arena);
#define FIELD_READ_SHARED(field) row->field = text_cache_get(texts, st);
#define FIELD_READ_KIND(field) row->field = (enum cycle_kind)db_get_enum(st, CYCLE_KIND_COUNT - 1);
#define FIELD_READ_SOURCE(field) row->field = (enum cycle_source)db_get_enum(st, CYCLES_TABLE);
#define FIELD_READ_PRESENCE(field) \
    row->field = (enum comparison_presence)db_get_enum(st, PRESENCE_REMOVED);
#define FIELD_READ_VERDICT(field) \
    row->field = (enum comparison_verdict)db_get_enum(st, VERDICT_UNDECIDED);
#define FIELD_READ(kind, field) FIELD_READ_##kind(field)

#endif

/* The tables of results that are declared in tables/. */
#ifndef KS_MODEL_TABLES_H
#define KS_MODEL_TABLES_H

#include "ingest/model/tables/table.h"

extern const struct row_table table_operator;
extern const struct row_table table_kernel;
extern const struct row_table table_kernel_launch;
extern const struct row_table table_kernel_utilisation;
extern const struct row_table table_kernel_utilisation_launch;
extern const struct row_table table_step;
extern const struct row_table table_module;
extern const struct row_table table_transfer;
extern const struct row_table table_memory_operator;
extern const struct row_table table_memory_block;
extern const struct row_table table_trace;
extern const struct row_table table_device;
extern const struct row_table table_gpu;
extern const struct row_table table_recommendation;
extern const struct row_table table_environment;
extern const struct row_table table_missing;
extern const struct row_table table_uploaded_answer;
extern const struct row_table table_kernel_utilisation_total;
extern const struct row_table table_kernel_utilisation_metric;
extern const struct row_table table_kernel_utilisation_value;
extern const struct row_table table_cycle;
extern const struct row_table table_cycle_use;
extern const struct row_table table_counter;
extern const struct row_table table_comparison;
extern const struct row_table table_comparison_role;
extern const struct row_table table_comparison_cycle;
extern const struct row_table table_comparison_row;
extern const struct row_table table_comparison_finding;

/* All of them, for tests. Rows of analyses are described where they are made. */
const struct row_table *const *tables_all(size_t *count);

#endif

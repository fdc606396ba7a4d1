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

/* All of them, for tests. Rows of analyses are described where they are made. */
const struct row_table *const *tables_all(size_t *count);

#endif

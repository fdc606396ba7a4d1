/* The result tables of a trace as SQL tables with the columns that answers have, texts and words in
 * place of ids and numbers. Made from the declared tables (model/tables). */
#ifndef KS_STORE_SQL_TABLES_H
#define KS_STORE_SQL_TABLES_H

#include "ingest/base/attr.h"
#include "ingest/store/db/db.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sql_table {
    const char *name;
    const char *doc; /* what a row is */
};

size_t sql_tables_count(void);
struct sql_table sql_tables_at(size_t index);
/* Creates all of them, empty, in the schema of `out` ("main", or an attached one). */
bool sql_tables_create(struct db *out, const char *schema, struct err *err) KS_MUST_USE;
/* Copies the rows of one from the file of the trace. */
bool sql_tables_fill(
    struct db *out, const char *schema, size_t index, struct db *file, struct err *err) KS_MUST_USE;

#endif

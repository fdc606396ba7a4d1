/* What stands beside trace_view.json in a folder of the Ascend PyTorch Profiler [FMT-1.1]
 * [FMT-1.3]:
 *
 *     kernel_details.csv   operator_memory.csv   memory_record.csv   communication.json
 *     profiler_info_<rank>.json
 *
 * They are read first, and put in front of the events as members of the document and as records of
 * memory; chrome_json then reads one text. */
#ifndef KS_FORMATS_ASCEND_TABLES_H
#define KS_FORMATS_ASCEND_TABLES_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/input/input.h"

#include <stdbool.h>
#include <stddef.h>

struct ascend_tables;

/* NULL without memory. */
struct ascend_tables *ascend_tables_create(void) KS_MUST_USE;
void ascend_tables_free(struct ascend_tables *tables); /* NULL is allowed */
/* Whether a file of this name is one of them, in any case. */
bool ascend_tables_know(const char *file_name);
/* Reads a file; one that cannot be read is left out, and counted. False without memory. */
bool ascend_tables_add(struct ascend_tables *tables,
                       const char *file_name,
                       const char *bytes,
                       size_t len) KS_MUST_USE;
/* Counts tables that cannot be taken, with a reason that outlives the tables. */
void ascend_tables_leave_out(struct ascend_tables *tables,
                             const char *what,
                             const char *reason,
                             size_t count);

/* The text of the trace with the tables before its events. `trace` is closed with *out, and
 * `tables` must outlive it. False: `trace` is closed. */
bool ascend_tables_open(struct ascend_tables *tables,
                        struct input *trace,
                        struct input **out,
                        struct err *err) KS_MUST_USE;
/* To be called behind input_close(*out). */
void ascend_tables_close(struct ascend_tables *tables);

#endif

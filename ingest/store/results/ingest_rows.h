/* Writes the rows of one trace into its file and into the catalogue. */
#ifndef KS_STORE_RESULTS_INGEST_ROWS_H
#define KS_STORE_RESULTS_INGEST_ROWS_H

#include "ingest/model/tables/table.h"
#include "ingest/store/db/rows_reader.h"
#include "ingest/store/results_files.h"

/* The tables of a trace that are stored as they stand, in blocks or as SQL. */
enum results_part {
    PART_STEP,
    PART_DEVICE,
    PART_GPU,
    PART_RECOMMENDATION,
    PART_ENVIRONMENT,
    PART_MISSING,
    PART_UPLOADED_ANSWER,
    PART_TRANSFER, /* of kernel tables, as the next one */
    PART_UTILISATION_METRIC,
    PART_CYCLE,
    PART_COUNTER,
    PART_MODULE,
    PART_KERNEL, /* of these, pages are read */
    PART_KERNEL_LAUNCH,
    PART_UTILISATION,
    PART_UTILISATION_LAUNCH,
    PART_UTILISATION_VALUE,
    RESULTS_PART_COUNT
};
extern const struct rows_part results_parts[RESULTS_PART_COUNT];
/* Reads those from `first` to `last`. */
bool results_read_parts(const struct rows_reader *in,
                        enum results_part first,
                        enum results_part last,
                        struct trace_results *out,
                        struct err *err) KS_MUST_USE;

/* Writes the results of a trace into its file, in turns of bounded size. On false an unknown number
 * of rows is there. */
bool ingest_rows_write(struct results_file *file,
                       const struct trace_results *results,
                       struct err *err) KS_MUST_USE;

/* The comparison of an uploaded report, of a trace whose row is there: into the catalogue, in
 * transactions of bounded size. */
bool ingest_rows_comparison(struct store *store,
                            int64_t trace_id,
                            const struct trace_results *results,
                            struct err *err) KS_MUST_USE;

/* The warnings anew, of a trace whose row came before all that may still give some. */
bool ingest_rows_warnings(struct store *store,
                          int64_t trace_id,
                          const struct trace_results *results,
                          struct err *err) KS_MUST_USE;

/* What an upload tells of one of its traces. */
struct trace_place {
    int64_t upload_id;
    int64_t derived_of; /* the trace whose figures by other rules these are; 0: none */
    bool has_events;    /* in its file */
    const char *worker;
    const char *span_digits;
    const char *format;
};

/* The trace row, with its warnings, and what lists read of its results, inside the caller's
 * transaction. */
bool ingest_rows_trace(struct store *store,
                       const struct trace_place *place,
                       const struct trace_results *results,
                       int64_t *trace_id,
                       struct err *err) KS_MUST_USE;

#endif

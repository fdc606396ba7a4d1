/* What an answer of the plugin is, and the rows that it tells. */
#ifndef KS_FORMATS_TB_PLUGIN_ROWS_H
#define KS_FORMATS_TB_PLUGIN_ROWS_H

#include "ingest/base/attr.h"
#include "ingest/model/results/results.h"

#include <jansson.h>
#include <stdbool.h>

enum plugin_kind {
    PLUGIN_UNKNOWN,
    PLUGIN_OVERVIEW,
    PLUGIN_OPERATION,
    PLUGIN_OPERATION_TABLE,
    PLUGIN_KERNEL,
    PLUGIN_KERNEL_TABLE
};

struct plugin_document {
    enum plugin_kind kind;
    const char *route;    /* static text */
    const char *group_by; /* static text, "" where the route has none */
};

struct plugin_document plugin_document_kind(const json_t *document);

/* Adds the rows of a document to the results. False without memory. */
bool plugin_rows_add(struct trace_results *results,
                     const struct plugin_document *kind,
                     const json_t *document) KS_MUST_USE;

/* The accelerator that an overview is about ("MLU 0"), NULL when it names none or several. */
const char *plugin_rows_worker(struct trace_results *results);

#endif

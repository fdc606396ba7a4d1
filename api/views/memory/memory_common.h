/* Shared by the memory routes of a trace: the window, and blocks. */
#ifndef KS_API_VIEWS_MEMORY_COMMON_H
#define KS_API_VIEWS_MEMORY_COMMON_H

#include "api/call.h"
#include "api/table/field.h"
#include "ingest/model/results/memory_rows.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct memory_request {
    int64_t trace_id;
    const char *device; /* NULL: the default */
    struct memory_window window;
};

/* Reads the trace, `device=`, `start_ns=` and `end_ns=` (both inclusive). ERR_NOT_FOUND: no such
 * trace, or no memory records (says how to record them); ERR_BAD_REQUEST: the window ends before it
 * begins. */
bool memory_request_read(struct memory_request *request,
                         struct api_call *call,
                         struct err *err) KS_MUST_USE;
/* Writes the members start_ns and end_ns: null for no bound. */
void memory_window_members(struct json_write *w, const struct memory_window *window);

/* How long the block was in use; INT64_MIN when an end is unknown. */
int64_t memory_block_duration(const struct memory_block *block);
void memory_block_row(struct field_out *out, const struct memory_block *block);

#endif

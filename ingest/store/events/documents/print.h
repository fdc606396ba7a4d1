/* Events as JSON, as they were written: `, ` between members and `: ` behind keys. */
#ifndef KS_STORE_EVENTS_DOCUMENTS_PRINT_H
#define KS_STORE_EVENTS_DOCUMENTS_PRINT_H

#include "ingest/base/memory/arena.h"
#include "ingest/base/text/buf.h"
#include "ingest/store/events/decode.h"
#include "ingest/store/events/documents/json_members.h"

/* What stands between the values of a template: before each slot, and behind the last. */
struct printed_template {
    struct json_slice *before; /* [slot_count + 1]; NULL: not made yet */
};

bool printed_template_make(struct printed_template *out,
                           struct arena *arena,
                           const struct stored_templates *templates,
                           const struct stored_template *of) KS_MUST_USE; /* false: no memory */
/* Appends an event; `slices` are the texts of its block. A lack of memory is told by `out`. */
void event_print(struct buf *out,
                 const struct printed_template *printed,
                 const struct block_template *template,
                 uint32_t row,
                 const struct json_slice *slices);
/* A number as it was written; gives the place behind it. There are PRINT_NUMBER_BYTES at `at`, more
 * than any number has: it is copied in whole words. */
#define PRINT_NUMBER_BYTES 32
char *event_print_int(char *at, int64_t value);
char *event_print_decimal(char *at, int64_t value, int64_t digits);

#endif

/* The names, tags and projects of all visible runs in memory, as a search for a plain text looks at
 * them: of 100,000 runs each row alone costs a database 5 ms and more. Follows the store by the log
 * of changed runs (history/changes.h). About 40 bytes a run and what its texts have. */
#ifndef KS_STORE_RUNS_RUN_NAMES_H
#define KS_STORE_RUNS_RUN_NAMES_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/base/text/buf.h"
#include "ingest/store/store.h"

#include <stdbool.h>
#include <stdint.h>

struct db;
struct run_names;

struct run_names *run_names_create(void) KS_MUST_USE; /* NULL without memory */
void run_names_destroy(struct run_names *names);      /* NULL is allowed */

/* The runs of the page's projects and project whose name or one of whose tags contains page->q,
 * which has no control characters, without regard to ASCII case; page->tag is not looked at. `ids`
 * gets them as a JSON array, in no order, at most `enough`, and *count how many they are.
 * *has_looked is false, and nothing is found, while the database is away and what is in memory may
 * be old. Thread-safe. */
bool run_names_find(struct run_names *names,
                    struct db *db,
                    const struct store_page *page,
                    int64_t enough,
                    struct buf *ids,
                    int64_t *count,
                    bool *has_looked,
                    struct err *err) KS_MUST_USE;

#endif

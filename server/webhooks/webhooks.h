/* Webhooks [HIST-5]: one thread looks for changes that crossed a line, and sends what waits. */
#ifndef KS_SERVER_WEBHOOKS_WEBHOOKS_H
#define KS_SERVER_WEBHOOKS_WEBHOOKS_H

#include "ingest/base/log.h"
#include "ingest/store/store.h"

#include <stdbool.h>

struct webhooks;

struct webhooks_options {
    const char *path;       /* of the file; NULL: none, nothing starts */
    bool may_reach_private; /* addresses of private networks too */
    const char *public_url; /* that links begin with; must outlive the webhooks */
    const struct log *log;
};

/* Reads the file. *out is NULL without one. ERR_BAD_INPUT names the line; ERR_UNSUPPORTED: built
 * without libcurl. */
bool webhooks_start(struct webhooks **out,
                    struct store *store,
                    const struct webhooks_options *options,
                    struct err *err) KS_MUST_USE;
/* Waits for a delivery under way, ten seconds at most. NULL is allowed. */
void webhooks_stop(struct webhooks *webhooks);

#endif

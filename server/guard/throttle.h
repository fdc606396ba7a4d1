/* Limits how often one address may present a wrong token: ten times at once, then once a second.
 * Memory is bounded: with very many addresses, those nearly forgiven are forgotten. Thread-safe. */
#ifndef KS_SERVER_GUARD_THROTTLE_H
#define KS_SERVER_GUARD_THROTTLE_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct throttle;

bool throttle_create(struct throttle **out, struct err *err) KS_MUST_USE;
void throttle_free(struct throttle *throttle); /* NULL is allowed */

/* Whether this address may try; `now_ms` is monotonic. */
bool throttle_allows(struct throttle *throttle, const char *address, int64_t now_ms) KS_MUST_USE;
/* Records a failure. True if the address may not try again for now. */
bool throttle_note(struct throttle *throttle, const char *address, int64_t now_ms);
/* Others have counted failures of it, too: with these and ours it owes so many that were not
 * forgiven yet. */
void throttle_owes(struct throttle *throttle,
                   const char *address,
                   int64_t failures,
                   int64_t now_ms);

#endif

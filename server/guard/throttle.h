/* How often one address may be wrong about a token: ten times at once, then once a second. Memory
 * is bounded: of very many addresses, those that have nearly been forgiven are forgotten.
 * Thread-safe.
 */
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
/* It was wrong. True when with that it may not try any more. */
bool throttle_note(struct throttle *throttle, const char *address, int64_t now_ms);

#endif

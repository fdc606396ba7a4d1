/* Counts wrong tokens of an address: ten at once, then one a second (guard/throttle.h). Servers
 * that share a catalogue count together: each writes what it has counted once a second, and reads
 * what the others have before it lets an address try, if it has not read within a second. So in any
 * time an address has ten tries at most for each server, and one more for each second of that time,
 * over all servers. Where the database does not answer, each counts alone. Thread-safe. */
#ifndef KS_SERVER_AUTH_WRONG_TOKENS_H
#define KS_SERVER_AUTH_WRONG_TOKENS_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/base/log.h"
#include "ingest/store/store_access.h"

#include <stdbool.h>

struct wrong_tokens;

/* NULL store: there is one server. */
bool wrong_tokens_create(struct wrong_tokens **out,
                         struct store *store,
                         const struct log *log,
                         struct err *err) KS_MUST_USE;
/* Writes what is not written yet. NULL is allowed. */
void wrong_tokens_free(struct wrong_tokens *wrong);
/* Whether this address may try. */
bool wrong_tokens_allow(struct wrong_tokens *wrong, const char *address) KS_MUST_USE;
/* Records one. True if the address may not try again for now. */
bool wrong_tokens_note(struct wrong_tokens *wrong, const char *address);

#endif

/* Secrets that nobody can guess, and the form in which they are kept: their SHA-256. */
#ifndef KS_BASE_SECRET_H
#define KS_BASE_SECRET_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/base/sha256.h"

#include <stdbool.h>
#include <stddef.h>

#define SECRET_PREFIX_MAX 8
/* 256 bits in base64url without padding, the prefix and NUL. */
#define SECRET_BYTES (SECRET_PREFIX_MAX + 43 + 1)

/* `prefix` (at most SECRET_PREFIX_MAX bytes) and 256 random bits: a secret whose kind is seen at a
 * glance, by people and by scanners of leaked text. ERR_INTERNAL when the system gives no random
 * bits. */
bool secret_make(char secret[SECRET_BYTES], const char *prefix, struct err *err) KS_MUST_USE;
/* The SHA-256 of a text. ERR_NO_MEMORY. */
bool secret_hash(const char *text, char hex[SHA256_HEX_BYTES], struct err *err) KS_MUST_USE;
/* Whether two hashes are equal, in a time that does not depend on where they differ. */
bool secret_hash_equal(const char left[SHA256_HEX_BYTES], const char right[SHA256_HEX_BYTES]);

#endif

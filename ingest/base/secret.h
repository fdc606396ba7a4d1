/* Makes secrets that nobody can guess, and hashes them for storage (SHA-256). */
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

/* Makes a secret: `prefix` (at most SECRET_PREFIX_MAX bytes) and 256 random bits. People, and
 * scanners of leaked text, recognise its kind by the prefix. ERR_INTERNAL when the system has no
 * random bits. */
bool secret_make(char secret[SECRET_BYTES], const char *prefix, struct err *err) KS_MUST_USE;
/* The SHA-256 of a text. ERR_NO_MEMORY. */
bool secret_hash(const char *text, char hex[SHA256_HEX_BYTES], struct err *err) KS_MUST_USE;
/* Whether two hashes are equal, in a time that does not depend on where they differ. */
bool secret_hash_equal(const char left[SHA256_HEX_BYTES], const char right[SHA256_HEX_BYTES]);

#endif

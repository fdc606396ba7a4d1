/* SHA-256 over a stream (OpenSSL's libcrypto). */
#ifndef KS_BASE_SHA256_H
#define KS_BASE_SHA256_H

#include "ingest/base/attr.h"

#include <stddef.h>

#define SHA256_HEX_BYTES 65

struct sha256;

struct sha256 *sha256_create(void) KS_MUST_USE; /* NULL without memory */
void sha256_update(struct sha256 *hash, const void *bytes, size_t len);
/* Lower-case hex with NUL; the hash cannot be updated after it. */
void sha256_final_hex(struct sha256 *hash, char hex[SHA256_HEX_BYTES]);
void sha256_destroy(struct sha256 *hash); /* NULL is allowed */

#endif

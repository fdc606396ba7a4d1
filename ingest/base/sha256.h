/* SHA-256 over a stream, and of bytes with a key (OpenSSL's libcrypto). */
#ifndef KS_BASE_SHA256_H
#define KS_BASE_SHA256_H

#include "ingest/base/attr.h"

#include <stdbool.h>
#include <stddef.h>

#define SHA256_BYTES 32
#define SHA256_HEX_BYTES 65
#define SHA256_BASE64_BYTES 45

struct sha256;

struct sha256 *sha256_create(void) KS_MUST_USE; /* NULL without memory */
void sha256_update(struct sha256 *hash, const void *bytes, size_t len);
/* Lower-case hex with NUL; the hash cannot be updated after it. */
void sha256_final_hex(struct sha256 *hash, char hex[SHA256_HEX_BYTES]);
void sha256_destroy(struct sha256 *hash); /* NULL is allowed */

/* Each returns false when libcrypto fails, which means no memory. */
bool sha256_of(const void *bytes, size_t len, unsigned char digest[SHA256_BYTES]) KS_MUST_USE;
/* HMAC-SHA-256 (RFC 2104). */
bool sha256_hmac(const void *key,
                 size_t key_len,
                 const void *bytes,
                 size_t len,
                 unsigned char mac[SHA256_BYTES]) KS_MUST_USE;
/* Whether the text is a whole one in lower-case hex. */
bool sha256_is_hex(const char *text);
/* Both add the NUL. */
void sha256_to_hex(const unsigned char digest[SHA256_BYTES], char hex[SHA256_HEX_BYTES]);
void sha256_to_base64(const unsigned char digest[SHA256_BYTES], char text[SHA256_BASE64_BYTES]);

#endif

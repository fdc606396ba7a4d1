#include "ingest/base/secret.h"

#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <string.h>

#define RANDOM_BYTES 32

/* 43 digits hold 258 bits: the last one carries two zeros. */
static void put_base64url(char *out, const unsigned char bytes[RANDOM_BYTES])
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    unsigned held = 0;
    unsigned held_bits = 0;
    for (size_t i = 0; i < RANDOM_BYTES; i++) {
        held = (held << 8 | bytes[i]) & 0xFFFFU;
        held_bits += 8;
        while (held_bits >= 6) {
            held_bits -= 6;
            *out++ = digits[held >> held_bits & 63U];
        }
    }
    *out++ = digits[held << (6 - held_bits) & 63U];
    *out = '\0';
}

bool secret_make(char secret[SECRET_BYTES], const char *prefix, struct err *err)
{
    unsigned char bytes[RANDOM_BYTES];
    size_t prefix_len = strlen(prefix);
    if (prefix_len > SECRET_PREFIX_MAX || RAND_bytes(bytes, (int)sizeof bytes) != 1) {
        return err_set(err, ERR_INTERNAL, "the system gives no random bits");
    }
    (void)snprintf(secret, SECRET_BYTES, "%s", prefix);
    put_base64url(secret + prefix_len, bytes);
    OPENSSL_cleanse(bytes, sizeof bytes);
    return true;
}

bool secret_hash(const char *text, char hex[SHA256_HEX_BYTES], struct err *err)
{
    struct sha256 *hash = sha256_create();
    hex[0] = '\0';
    if (hash != NULL) {
        sha256_update(hash, text, strlen(text));
        sha256_final_hex(hash, hex);
        sha256_destroy(hash);
    }
    return hex[0] != '\0' || err_set(err, ERR_NO_MEMORY, "no memory for a hash");
}

bool secret_hash_equal(const char left[SHA256_HEX_BYTES], const char right[SHA256_HEX_BYTES])
{
    return CRYPTO_memcmp(left, right, SHA256_HEX_BYTES) == 0;
}

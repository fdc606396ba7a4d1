#include "ingest/base/sha256.h"

#include <openssl/evp.h>
#include <stdbool.h>
#include <stdlib.h>

struct sha256 {
    EVP_MD_CTX *ctx;
    bool failed;
};

struct sha256 *sha256_create(void)
{
    struct sha256 *hash = calloc(1, sizeof *hash);
    if (hash == NULL) {
        return NULL;
    }
    hash->ctx = EVP_MD_CTX_new();
    if (hash->ctx == NULL || EVP_DigestInit_ex(hash->ctx, EVP_sha256(), NULL) != 1) {
        sha256_destroy(hash);
        return NULL;
    }
    return hash;
}

void sha256_update(struct sha256 *hash, const void *bytes, size_t len)
{
    if (EVP_DigestUpdate(hash->ctx, bytes, len) != 1) {
        hash->failed = true;
    }
}

void sha256_final_hex(struct sha256 *hash, char hex[SHA256_HEX_BYTES])
{
    static const char digits[] = "0123456789abcdef";
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned len = 0;
    if (hash->failed || EVP_DigestFinal_ex(hash->ctx, digest, &len) != 1 ||
        len != (SHA256_HEX_BYTES - 1) / 2) {
        hex[0] = '\0';
        return;
    }
    for (size_t i = 0; i < len; i++) {
        hex[2 * i] = digits[digest[i] >> 4];
        hex[2 * i + 1] = digits[digest[i] & 15];
    }
    hex[SHA256_HEX_BYTES - 1] = '\0';
}

void sha256_destroy(struct sha256 *hash)
{
    if (hash == NULL) {
        return;
    }
    EVP_MD_CTX_free(hash->ctx);
    free(hash);
}

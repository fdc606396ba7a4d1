#include "ingest/base/sha256.h"

#include <limits.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdlib.h>
#include <string.h>

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
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned len = 0;
    if (hash->failed || EVP_DigestFinal_ex(hash->ctx, digest, &len) != 1 || len != SHA256_BYTES) {
        hex[0] = '\0';
        return;
    }
    sha256_to_hex(digest, hex);
}

void sha256_destroy(struct sha256 *hash)
{
    if (hash == NULL) {
        return;
    }
    EVP_MD_CTX_free(hash->ctx);
    free(hash);
}

bool sha256_of(const void *bytes, size_t len, unsigned char digest[SHA256_BYTES])
{
    return EVP_Digest(bytes, len, digest, NULL, EVP_sha256(), NULL) == 1;
}

bool sha256_hmac(
    const void *key, size_t key_len, const void *bytes, size_t len, unsigned char mac[SHA256_BYTES])
{
    return key_len <= INT_MAX &&
           HMAC(EVP_sha256(), key, (int)key_len, bytes, len, mac, NULL) != NULL;
}

void sha256_to_hex(const unsigned char digest[SHA256_BYTES], char hex[SHA256_HEX_BYTES])
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < SHA256_BYTES; i++) {
        hex[2 * i] = digits[digest[i] >> 4];
        hex[2 * i + 1] = digits[digest[i] & 15];
    }
    hex[SHA256_HEX_BYTES - 1] = '\0';
}

void sha256_to_base64(const unsigned char digest[SHA256_BYTES], char text[SHA256_BASE64_BYTES])
{
    (void)EVP_EncodeBlock((unsigned char *)text, digest, SHA256_BYTES);
}

bool sha256_is_hex(const char *text)
{
    return strlen(text) == SHA256_HEX_BYTES - 1 &&
           strspn(text, "0123456789abcdef") == SHA256_HEX_BYTES - 1;
}

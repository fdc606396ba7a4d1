/* "Authenticating Requests (AWS Signature Version 4)" of the Amazon S3 API Reference. */
#include "ingest/store/objects/s3/signature.h"

#include <stdio.h>
#include <string.h>

#define DATE_CHARS 8 /* of the time */
#define TEXT_BYTES_MAX ((size_t)64 << 10)
#define SECRET_BYTES_MAX 256

static bool is_unreserved(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

void s3_encode(struct buf *out, const char *text, bool keeps_slashes)
{
    for (; *text != '\0'; text++) {
        if (is_unreserved(*text) || (keeps_slashes && *text == '/')) {
            buf_putc(out, *text);
        } else {
            buf_printf(out, "%%%02X", (unsigned)(unsigned char)*text);
        }
    }
}

static void put_signed_names(struct buf *out, const struct s3_signing *signing)
{
    for (size_t i = 0; i < signing->header_count; i++) {
        buf_printf(out, "%s%s", i == 0 ? "" : ";", signing->headers[i].name);
    }
}

static void put_scope(struct buf *out, const struct s3_signing *signing)
{
    buf_printf(out, "%.*s/%s/s3/aws4_request", DATE_CHARS, signing->time, signing->region);
}

/* The request in the form in which both sides hash it. */
static bool hash_request(const struct s3_signing *signing, char hex[SHA256_HEX_BYTES])
{
    struct buf text;
    unsigned char digest[SHA256_BYTES];
    buf_init(&text, TEXT_BYTES_MAX);
    buf_printf(&text, "%s\n%s\n%s\n", signing->method, signing->path, signing->query);
    for (size_t i = 0; i < signing->header_count; i++) {
        buf_printf(&text, "%s:%s\n", signing->headers[i].name, signing->headers[i].value);
    }
    buf_putc(&text, '\n');
    put_signed_names(&text, signing);
    buf_printf(&text, "\n%s", signing->payload_sha256);
    bool ok = !text.failed && sha256_of(text.ptr, text.len, digest);
    if (ok) {
        sha256_to_hex(digest, hex);
    }
    buf_free(&text);
    return ok;
}

static bool chain(unsigned char key[SHA256_BYTES], const char *text, size_t len)
{
    unsigned char mac[SHA256_BYTES];
    bool ok = sha256_hmac(key, SHA256_BYTES, text, len, mac);
    memcpy(key, mac, SHA256_BYTES);
    return ok;
}

/* The key is good for a day, a region and a service. */
static bool make_key(const struct s3_signing *signing, unsigned char key[SHA256_BYTES])
{
    char secret[SECRET_BYTES_MAX + 8];
    int len = snprintf(secret, sizeof secret, "AWS4%s", signing->secret_key);
    bool ok = len > 0 && (size_t)len < sizeof secret &&
              sha256_hmac(secret, (size_t)len, signing->time, DATE_CHARS, key) &&
              chain(key, signing->region, strlen(signing->region)) && chain(key, "s3", 2) &&
              chain(key, "aws4_request", strlen("aws4_request"));
    return ok;
}

bool s3_sign(const struct s3_signing *signing, struct buf *out)
{
    struct buf text;
    char hex[SHA256_HEX_BYTES];
    unsigned char key[SHA256_BYTES];
    unsigned char signature[SHA256_BYTES];
    if (!hash_request(signing, hex) || !make_key(signing, key)) {
        return false;
    }
    buf_init(&text, TEXT_BYTES_MAX);
    buf_printf(&text, "AWS4-HMAC-SHA256\n%s\n", signing->time);
    put_scope(&text, signing);
    buf_printf(&text, "\n%s", hex);
    bool ok = !text.failed && sha256_hmac(key, sizeof key, text.ptr, text.len, signature);
    buf_free(&text);
    if (!ok) {
        return false;
    }
    sha256_to_hex(signature, hex);
    buf_printf(out, "AWS4-HMAC-SHA256 Credential=%s/", signing->access_key);
    put_scope(out, signing);
    buf_puts(out, ",SignedHeaders=");
    put_signed_names(out, signing);
    buf_printf(out, ",Signature=%s", hex);
    return !out->failed;
}

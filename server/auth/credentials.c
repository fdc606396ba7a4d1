#include "server/auth/credentials.h"

#include <openssl/evp.h>
#include <string.h>
#include <strings.h>

static bool copy(char out[CREDENTIALS_MAX_BYTES], const char *text, size_t len)
{
    if (len >= CREDENTIALS_MAX_BYTES) {
        return false;
    }
    memcpy(out, text, len);
    out[len] = '\0';
    return len > 0 && strlen(out) == len;
}

/* The password of "user:password" in base64. */
static bool decode_basic(const char *text, char token[CREDENTIALS_MAX_BYTES])
{
    size_t len = strlen(text);
    unsigned char pair[CREDENTIALS_MAX_BYTES];
    if (len == 0 || len % 4 != 0 || len > CREDENTIALS_MAX_BYTES) {
        return false;
    }
    int decoded = EVP_DecodeBlock(pair, (const unsigned char *)text, (int)len);
    if (decoded < 0) {
        return false;
    }
    /* EVP_DecodeBlock counts the padding as bytes. */
    size_t pair_len = (size_t)decoded - (text[len - 1] == '=') - (text[len - 2] == '=');
    const unsigned char *colon = memchr(pair, ':', pair_len);
    return colon != NULL &&
           copy(token, (const char *)colon + 1, pair_len - (size_t)(colon + 1 - pair));
}

bool credentials_token(const char *authorization, char token[CREDENTIALS_MAX_BYTES])
{
    static const char bearer[] = "Bearer ";
    static const char basic[] = "Basic ";
    if (authorization == NULL) {
        return false;
    }
    if (strncasecmp(authorization, basic, sizeof basic - 1) == 0) {
        return decode_basic(authorization + sizeof basic - 1, token);
    }
    if (strncasecmp(authorization, bearer, sizeof bearer - 1) != 0) {
        return false;
    }
    const char *text = authorization + sizeof bearer - 1;
    text += strspn(text, " ");
    return copy(token, text, strcspn(text, " \t"));
}

bool credentials_session(const char *cookie, char session[CREDENTIALS_MAX_BYTES])
{
    static const char name[] = CREDENTIALS_COOKIE "=";
    while (cookie != NULL && *cookie != '\0') {
        cookie += strspn(cookie, "; \t");
        size_t len = strcspn(cookie, ";");
        if (strncmp(cookie, name, sizeof name - 1) == 0) {
            return copy(session, cookie + sizeof name - 1, len - (sizeof name - 1));
        }
        cookie += len;
    }
    return false;
}

#include "ingest/store/objects/s3/target.h"

#include "ingest/base/text/affix.h"
#include "ingest/store/objects/s3/signature.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUCKET_BYTES 64

static const char *env(const char *name)
{
    const char *text = getenv(name);
    return text == NULL ? "" : text;
}

static bool take(char *out, size_t cap, const char *name, struct err *err)
{
    const char *text = env(name);
    int len = snprintf(out, cap, "%s", text);
    return (len >= 0 && (size_t)len < cap && strpbrk(text, "\r\n") == NULL) ||
           err_set(err, ERR_BAD_REQUEST, "%s is too long, or not one line", name);
}

static bool read_keys(struct s3_target *target, struct err *err)
{
    if (*env("AWS_ACCESS_KEY_ID") == '\0' || *env("AWS_SECRET_ACCESS_KEY") == '\0') {
        return err_set(err, ERR_BAD_REQUEST,
                       "objects in S3 need AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the "
                       "environment");
    }
    const char *region = *env("AWS_REGION") != '\0' ? "AWS_REGION" : "AWS_DEFAULT_REGION";
    bool ok = take(target->access_key, sizeof target->access_key, "AWS_ACCESS_KEY_ID", err) &&
              take(target->secret_key, sizeof target->secret_key, "AWS_SECRET_ACCESS_KEY", err) &&
              take(target->session_token, sizeof target->session_token, "AWS_SESSION_TOKEN", err) &&
              take(target->region, sizeof target->region, region, err);
    if (ok && target->region[0] == '\0') {
        (void)snprintf(target->region, sizeof target->region, "us-east-1");
    }
    return ok;
}

static bool is_bucket(const char *bucket, size_t len)
{
    bool ok = len >= 3 && len < BUCKET_BYTES;
    for (size_t i = 0; ok && i < len; i++) {
        ok = islower((unsigned char)bucket[i]) || isdigit((unsigned char)bucket[i]) ||
             bucket[i] == '-' || bucket[i] == '.';
    }
    return ok;
}

static bool read_prefix(struct s3_target *target, const char *prefix, struct err *err)
{
    size_t len = strlen(prefix);
    while (len > 0 && prefix[len - 1] == '/') {
        len--;
    }
    bool ok = len + 2 < sizeof target->prefix;
    for (size_t i = 0; ok && i < len; i++) {
        bool begins = i == 0 || prefix[i - 1] == '/';
        ok = isalnum((unsigned char)prefix[i]) || strchr("._-", prefix[i]) != NULL ||
             (prefix[i] == '/' && !begins);
    }
    if (!ok) {
        return err_set(err, ERR_BAD_REQUEST,
                       "the prefix in s3://bucket/prefix has letters without accents, digits, and "
                       ". _ - /");
    }
    (void)snprintf(target->prefix, sizeof target->prefix, "%.*s%s", (int)len, prefix,
                   len > 0 ? "/" : "");
    return true;
}

/* Amazon's own: a dot in the bucket's name does not fit its certificate. */
static void aim_at_amazon(struct s3_target *target, const char *bucket)
{
    bool in_path = strchr(bucket, '.') != NULL;
    (void)snprintf(target->host, sizeof target->host, "%s%ss3.%.200s.amazonaws.com",
                   in_path ? "" : bucket, in_path ? "" : ".", target->region);
    (void)snprintf(target->origin, sizeof target->origin, "https://%.319s", target->host);
    (void)snprintf(target->above, sizeof target->above, "%s%s", in_path ? "/" : "",
                   in_path ? bucket : "");
}

static bool
aim_at_endpoint(struct s3_target *target, const char *endpoint, const char *bucket, struct err *err)
{
    bool is_https = text_begins(endpoint, "https://");
    bool is_http = text_begins(endpoint, "http://");
    const char *host = endpoint + (is_https ? 8 : 7);
    size_t host_len = is_https || is_http ? strcspn(host, "/") : 0;
    const char *path = host_len > 0 ? host + host_len : "";
    size_t path_len = strlen(path);
    while (path_len > 0 && path[path_len - 1] == '/') {
        path_len--;
    }
    if (host_len == 0 || host_len >= sizeof target->host || path_len >= S3_TEXT_BYTES ||
        strpbrk(endpoint, "@?# \t\r\n") != NULL) {
        return err_set(err, ERR_BAD_REQUEST,
                       "AWS_ENDPOINT_URL_S3 is the address of an S3 server, such as "
                       "http://127.0.0.1:9000");
    }
    (void)snprintf(target->host, sizeof target->host, "%.*s", (int)host_len, host);
    (void)snprintf(target->origin, sizeof target->origin, "%s://%.319s",
                   is_https ? "https" : "http", target->host);
    (void)snprintf(target->above, sizeof target->above, "%.*s/%s", (int)path_len, path, bucket);
    return true;
}

bool s3_target_read(struct s3_target *target, const char *rest, struct err *err)
{
    char bucket[BUCKET_BYTES];
    size_t len = strcspn(rest, "/");
    *target = (struct s3_target){.host = ""};
    if (!is_bucket(rest, len)) {
        return err_set(err, ERR_BAD_REQUEST,
                       "s3://%.100s names no bucket: 3 to 63 of a-z, 0-9, - and .", rest);
    }
    (void)snprintf(bucket, sizeof bucket, "%.*s", (int)len, rest);
    if (!read_prefix(target, rest[len] == '/' ? rest + len + 1 : "", err) ||
        !read_keys(target, err)) {
        return false;
    }
    const char *endpoint = env("AWS_ENDPOINT_URL_S3");
    endpoint = *endpoint == '\0' ? env("AWS_ENDPOINT_URL") : endpoint;
    if (*endpoint == '\0') {
        aim_at_amazon(target, bucket);
        return true;
    }
    return aim_at_endpoint(target, endpoint, bucket, err);
}

void s3_target_path(const struct s3_target *target, const char *key, struct buf *out)
{
    s3_encode(out, target->above, true);
    if (key != NULL) {
        buf_putc(out, '/');
        s3_encode(out, target->prefix, true);
        s3_encode(out, key, true);
    } else if (target->above[0] == '\0') {
        buf_putc(out, '/');
    }
}

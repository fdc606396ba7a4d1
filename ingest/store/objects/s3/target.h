/* Where a bucket is and who asks: what the URL and the environment say. */
#ifndef KS_STORE_OBJECTS_S3_TARGET_H
#define KS_STORE_OBJECTS_S3_TARGET_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/base/text/buf.h"

#include <stdbool.h>

#define S3_HOST_BYTES 320
#define S3_TEXT_BYTES 256
#define S3_TOKEN_BYTES 4096

struct s3_target {
    char origin[S3_HOST_BYTES + 8]; /* "https://host:port", without the path */
    char host[S3_HOST_BYTES];       /* as in the Host header */
    char above[2 * S3_TEXT_BYTES];  /* path before the key: "", or of the endpoint and the bucket */
    char prefix[S3_TEXT_BYTES];     /* "" or "prefix/" */
    char region[S3_TEXT_BYTES];
    char access_key[S3_TEXT_BYTES];
    char secret_key[S3_TEXT_BYTES];
    char session_token[S3_TOKEN_BYTES]; /* "" for none */
};

/* `rest` is bucket[/prefix]. With AWS_ENDPOINT_URL_S3 (or AWS_ENDPOINT_URL) the bucket is the first
 * part of the path; without it, it is part of the host's name at Amazon. ERR_BAD_REQUEST. */
bool s3_target_read(struct s3_target *target, const char *rest, struct err *err) KS_MUST_USE;
/* Appends the path of a key, encoded; of the bucket for NULL. */
void s3_target_path(const struct s3_target *target, const char *key, struct buf *out);

#endif

/* AWS Signature Version 4 of a request, in its Authorization header. */
#ifndef KS_STORE_OBJECTS_S3_SIGNATURE_H
#define KS_STORE_OBJECTS_S3_SIGNATURE_H

#include "ingest/base/attr.h"
#include "ingest/base/sha256.h"
#include "ingest/base/text/buf.h"

#include <stdbool.h>
#include <stddef.h>

struct s3_header {
    const char *name; /* lower case */
    const char *value;
};

struct s3_signing {
    const char *method;
    const char *path;  /* as sent: begins with a slash, encoded by s3_encode */
    const char *query; /* as sent: `name=value`, both encoded, in the order of the names; or "" */
    const struct s3_header *headers; /* the signed ones, in the order of their names */
    size_t header_count;
    const char *payload_sha256; /* of the body, hex */
    const char *time;           /* 20130524T000000Z, as in x-amz-date */
    const char *region;
    const char *access_key;
    const char *secret_key;
};

/* Appends the value of the Authorization header. False: libcrypto failed, or the buffer has. */
bool s3_sign(const struct s3_signing *signing, struct buf *out) KS_MUST_USE;
/* Appends `text` percent-encoded: all but unreserved characters of RFC 3986, and slashes if
 * `keeps_slashes`. */
void s3_encode(struct buf *out, const char *text, bool keeps_slashes);

#endif

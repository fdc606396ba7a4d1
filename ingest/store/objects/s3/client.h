/* Requests to one bucket of S3: signed, sent with libcurl, sent again while that may help. */
#ifndef KS_STORE_OBJECTS_S3_CLIENT_H
#define KS_STORE_OBJECTS_S3_CLIENT_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/base/text/buf.h"
#include "ingest/store/objects/objects.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct s3_client;

struct s3_request {
    const char *method;
    const char *key;   /* NULL: the bucket itself */
    const char *query; /* as struct s3_signing has it; NULL: none */
    const void *body;  /* of a PUT or POST */
    size_t body_len;
    bool has_checksum;          /* sends the body's hash in a header of its own as well */
    bool if_absent;             /* If-None-Match: * */
    bool once;                  /* no retries */
    const _Atomic bool *cancel; /* NULL: none; once set, the request ends in an error */
    /* Of a range: the `len` bytes from `offset` go to `bytes`. NULL: the whole body is collected.
     */
    void *bytes;
    size_t len;
    uint64_t offset;
};

struct s3_answer {
    int status;
    unsigned tries;
    uint64_t length; /* Content-Length */
    char tag[OBJECT_TAG_BYTES];
    struct buf body;
};

/* `rest` is bucket[/prefix]. */
bool s3_client_create(struct s3_client **out,
                      const char *rest,
                      const struct objects_options *options,
                      struct err *err) KS_MUST_USE;
void s3_client_destroy(struct s3_client *client); /* NULL is allowed */
/* What precedes every key in the bucket: "" or "prefix/". */
const char *s3_client_prefix(const struct s3_client *client);

/* True for an answer that decides something: 2xx (without an error in its body), 404, 412 and 501;
 * the caller looks at the status and frees the answer, also on false. Works on a thread of its own,
 * because a request thread has too little stack for TLS. */
bool s3_send(struct s3_client *client,
             const struct s3_request *request,
             struct s3_answer *answer,
             struct err *err) KS_MUST_USE;
void s3_answer_free(struct s3_answer *answer);

/* The text of the first `<name>` at or after *at, which moves behind it; NULL: there is none. Not
 * NUL-terminated; in `len` bytes. */
const char *s3_element(const char **at, const char *name, size_t *len);

#endif

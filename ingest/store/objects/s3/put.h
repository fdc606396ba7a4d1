/* One put to S3: a single request up to a part's size, above it parts that go while bytes come. */
#ifndef KS_STORE_OBJECTS_S3_PUT_H
#define KS_STORE_OBJECTS_S3_PUT_H

#include "ingest/base/attr.h"
#include "ingest/store/objects/driver.h"
#include "ingest/store/objects/s3/client.h"

#include <pthread.h>

/* Parts under way at once: of one put, and of all puts of a place, which bounds the memory. */
#define S3_PUT_PARTS 4
#define S3_PLACE_PARTS 8

struct s3_place {
    struct objects objects;
    struct s3_client *client;
    uint64_t part_bytes;
    pthread_mutex_t lock; /* guards what follows, and the state of every put */
    pthread_cond_t changed;
    unsigned parts_under_way;
};

/* As the functions of struct objects_driver. */
bool s3_put_begin(struct objects *objects,
                  const char *key,
                  struct object_put **out,
                  struct err *err);
bool s3_put_write(struct object_put *base, const void *bytes, size_t len, struct err *err);
bool s3_put_finish(struct object_put *base, struct object_info *info, struct err *err);
void s3_put_abort(struct object_put *base);
bool s3_head(struct objects *objects, const char *key, struct object_info *info, struct err *err);
/* Ends unfinished multipart uploads of a key. */
bool s3_put_discard(struct s3_place *place, const char *key, struct err *err) KS_MUST_USE;
/* Reports an answer that is no success. */
bool s3_refused(const struct s3_answer *answer, const char *key, struct err *err);

#endif

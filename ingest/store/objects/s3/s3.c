/* Objects in a bucket of S3. */
#include "ingest/store/objects/driver.h"
#include "ingest/store/objects/s3/client.h"
#include "ingest/store/objects/s3/put.h"
#include "ingest/store/objects/s3/signature.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define DELETE_MAX 1000 /* keys of one request, S3's own limit */
#define DELETE_BYTES ((size_t)2 << 20)

static const struct objects_driver s3_driver;

static bool no_memory(struct err *err)
{
    return err_set(err, ERR_NO_MEMORY, "no memory for the objects");
}

/* ---- the place ---- */

bool s3_open(struct objects **out,
             const char *rest,
             const struct objects_options *options,
             struct err *err)
{
    struct s3_place *place = calloc(1, sizeof *place);
    if (place == NULL || pthread_mutex_init(&place->lock, NULL) != 0) {
        free(place);
        return no_memory(err);
    }
    place->part_bytes = options->part_bytes;
    bool has_cond = pthread_cond_init(&place->changed, NULL) == 0;
    if (!has_cond || !s3_client_create(&place->client, rest, options, err)) {
        if (has_cond) {
            (void)pthread_cond_destroy(&place->changed);
        }
        (void)pthread_mutex_destroy(&place->lock);
        free(place);
        return has_cond ? false : no_memory(err);
    }
    place->objects.driver = &s3_driver;
    *out = &place->objects;
    return true;
}

static void close_place(struct objects *objects)
{
    struct s3_place *place = (struct s3_place *)objects;
    s3_client_destroy(place->client);
    (void)pthread_cond_destroy(&place->changed);
    (void)pthread_mutex_destroy(&place->lock);
    free(place);
}

/* ---- reading ---- */

static bool
look(struct s3_place *place, const char *key, bool once, struct s3_answer *answer, struct err *err)
{
    const struct s3_request request = {.method = "HEAD", .key = key, .once = once};
    return s3_send(place->client, &request, answer, err);
}

bool s3_head(struct objects *objects, const char *key, struct object_info *info, struct err *err)
{
    struct s3_answer answer;
    bool ok = look((struct s3_place *)objects, key, false, &answer, err) &&
              (answer.status == 200 || s3_refused(&answer, key, err));
    *info = (struct object_info){.size_bytes = answer.length};
    (void)snprintf(info->tag, sizeof info->tag, "%s", answer.tag);
    s3_answer_free(&answer);
    return ok;
}

/* An object that is not there is an answer; a bucket that is not there is none, but HEAD has no
 * body that would tell them apart. So the bucket is asked. */
static bool probe(struct objects *objects, struct err *err)
{
    struct s3_place *place = (struct s3_place *)objects;
    struct s3_answer answer;
    bool ok = look(place, NULL, true, &answer, err) &&
              (answer.status == 200 ||
               err_set(err, ERR_UNAVAILABLE, "the bucket is not there, or may not be read"));
    s3_answer_free(&answer);
    return ok;
}

static bool range(struct objects *objects,
                  const char *key,
                  uint64_t offset,
                  void *bytes,
                  size_t len,
                  struct err *err)
{
    struct s3_place *place = (struct s3_place *)objects;
    struct s3_answer answer;
    const struct s3_request request = {
        .method = "GET", .key = key, .bytes = bytes, .len = len, .offset = offset};
    bool ok = s3_send(place->client, &request, &answer, err);
    if (!ok && answer.status == 416) {
        ok = err_set(err, ERR_IO, "the object %s ends before byte %" PRIu64, key, offset + len);
    }
    ok = ok && (answer.status / 100 == 2 || s3_refused(&answer, key, err));
    s3_answer_free(&answer);
    return ok;
}

/* ---- deleting ---- */

static bool
delete_some(struct s3_place *place, const char *const *keys, size_t count, struct err *err)
{
    struct s3_answer answer;
    struct buf body;
    buf_init(&body, DELETE_BYTES);
    buf_puts(&body, "<Delete><Quiet>true</Quiet>");
    for (size_t i = 0; i < count; i++) {
        buf_printf(&body, "<Object><Key>%s%s</Key></Object>", s3_client_prefix(place->client),
                   keys[i]);
    }
    buf_puts(&body, "</Delete>");
    if (body.failed) {
        buf_free(&body);
        return no_memory(err);
    }
    const struct s3_request request = {.method = "POST",
                                       .query = "delete=",
                                       .body = body.ptr,
                                       .body_len = body.len,
                                       .has_checksum = true};
    bool ok = s3_send(place->client, &request, &answer, err) &&
              (answer.status / 100 == 2 || s3_refused(&answer, keys[0], err));
    s3_answer_free(&answer);
    buf_free(&body);
    return ok;
}

static bool
delete_many(struct objects *objects, const char *const *keys, size_t count, struct err *err)
{
    bool ok = true;
    for (size_t at = 0; ok && at < count; at += DELETE_MAX) {
        size_t left = count - at;
        ok = delete_some((struct s3_place *)objects, keys + at,
                         left < DELETE_MAX ? left : DELETE_MAX, err);
    }
    return ok;
}

static bool discard(struct objects *objects, const char *key, struct err *err)
{
    return s3_put_discard((struct s3_place *)objects, key, err) &&
           delete_many(objects, &key, 1, err);
}

static const struct objects_driver s3_driver = {
    .close = close_place,
    .put_begin = s3_put_begin,
    .put_write = s3_put_write,
    .put_finish = s3_put_finish,
    .put_abort = s3_put_abort,
    .discard = discard,
    .head = s3_head,
    .range = range,
    .probe = probe,
    .delete_many = delete_many,
};

#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "ingest/store/objects/s3/put.h"

#include "ingest/base/thread.h"
#include "ingest/store/objects/s3/signature.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PARTS_MAX 10000 /* S3's own limit */
#define UPLOAD_ID_BYTES 1024
#define QUERY_BYTES ((size_t)8 << 10)
#define COMPLETE_BYTES ((size_t)4 << 20)

struct put {
    struct object_put base;
    struct s3_place *place;
    char key[OBJECT_KEY_BYTES];
    char *filling; /* the next part, part_bytes of address space; NULL: none begun */
    size_t filled_bytes;
    uint64_t size_bytes;
    char upload_id[UPLOAD_ID_BYTES]; /* encoded for a query; "": no multipart upload yet */
    _Atomic bool cancelled;
    unsigned part_count; /* begun */
    /* place->lock guards what follows. */
    unsigned under_way;
    bool has_failed;
    struct err err;  /* of the first part that failed */
    struct buf tags; /* OBJECT_TAG_BYTES of each part, by number */
};

/* One part under way, on a thread of its own. */
struct part {
    struct put *put;
    char *bytes;
    size_t len;
    unsigned number; /* from 1 */
};

static bool no_memory(struct err *err)
{
    return err_set(err, ERR_NO_MEMORY, "no memory to send an object");
}

bool s3_refused(const struct s3_answer *answer, const char *key, struct err *err)
{
    if (answer->status == 404) {
        return err_set(err, ERR_NOT_FOUND, "there is no object %s, or no such bucket", key);
    }
    if (answer->status == 412) {
        return err_set(err, ERR_CONFLICT, "the object %s is there already", key);
    }
    return err_set(err, ERR_UNAVAILABLE, "the objects' server answers %d to %s", answer->status,
                   key);
}

/* Sends a request that has to succeed. The caller frees the answer, also on false. */
static bool
send(struct put *put, const struct s3_request *request, struct s3_answer *answer, struct err *err)
{
    struct s3_request cancellable = *request;
    cancellable.key = put->key;
    cancellable.cancel = &put->cancelled;
    if (!s3_send(put->place->client, &cancellable, answer, err)) {
        return false;
    }
    /* No fault of who sends the bytes, who is to send them again. */
    if (answer->status == 404) {
        return err_set(err, ERR_UNAVAILABLE,
                       "the objects' server has no such bucket, or has given up the upload of %s",
                       put->key);
    }
    return answer->status / 100 == 2 || s3_refused(answer, put->key, err);
}

/* ---- parts ---- */

/* Memory that goes back to the system at once, and is touched only as far as it is filled. */
static char *map_part(const struct s3_place *place)
{
    void *bytes = mmap(NULL, (size_t)place->part_bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return bytes == MAP_FAILED ? NULL : bytes;
}

static void unmap_part(const struct s3_place *place, char *bytes)
{
    if (bytes != NULL) {
        (void)munmap(bytes, (size_t)place->part_bytes);
    }
}

static bool send_part(const struct part *part, char tag[OBJECT_TAG_BYTES], struct err *err)
{
    struct put *put = part->put;
    struct s3_answer answer;
    char query[UPLOAD_ID_BYTES + 64];
    (void)snprintf(query, sizeof query, "partNumber=%u&uploadId=%s", part->number, put->upload_id);
    const struct s3_request request = {
        .method = "PUT", .query = query, .body = part->bytes, .body_len = part->len};
    bool ok = send(put, &request, &answer, err);
    (void)snprintf(tag, OBJECT_TAG_BYTES, "%s", answer.tag);
    s3_answer_free(&answer);
    return ok && (tag[0] != '\0' ||
                  err_set(err, ERR_UNAVAILABLE, "the objects' server gave a part no ETag"));
}

static void *run_part(void *argument)
{
    struct part *part = argument;
    struct put *put = part->put;
    struct s3_place *place = put->place;
    struct err err = ERR_INIT;
    char tag[OBJECT_TAG_BYTES] = "";
    bool ok = send_part(part, tag, &err);
    unmap_part(place, part->bytes);
    (void)pthread_mutex_lock(&place->lock);
    if (ok) {
        memcpy(put->tags.ptr + (size_t)(part->number - 1) * OBJECT_TAG_BYTES, tag, sizeof tag);
    } else if (!put->has_failed) {
        put->has_failed = true;
        put->err = err;
    }
    put->under_way--;
    place->parts_under_way--;
    (void)pthread_cond_broadcast(&place->changed);
    (void)pthread_mutex_unlock(&place->lock);
    free(part);
    return NULL;
}

/* A place for one more part. False: an earlier one has failed. */
static bool take_turn(struct put *put, struct err *err)
{
    struct s3_place *place = put->place;
    (void)pthread_mutex_lock(&place->lock);
    while (!put->has_failed &&
           (put->under_way >= S3_PUT_PARTS || place->parts_under_way >= S3_PLACE_PARTS)) {
        (void)pthread_cond_wait(&place->changed, &place->lock);
    }
    bool ok = !put->has_failed;
    if (ok) {
        put->tags.len += buf_reserve(&put->tags, OBJECT_TAG_BYTES) == NULL ? 0 : OBJECT_TAG_BYTES;
        put->under_way++;
        place->parts_under_way++;
    } else {
        *err = put->err;
    }
    (void)pthread_mutex_unlock(&place->lock);
    return ok;
}

static void leave_turn(struct put *put)
{
    (void)pthread_mutex_lock(&put->place->lock);
    put->under_way--;
    put->place->parts_under_way--;
    (void)pthread_cond_broadcast(&put->place->changed);
    (void)pthread_mutex_unlock(&put->place->lock);
}

static bool begin_multipart(struct put *put, struct err *err)
{
    struct s3_answer answer;
    const struct s3_request request = {.method = "POST", .query = "uploads="};
    bool ok = send(put, &request, &answer, err);
    if (ok) {
        char id[UPLOAD_ID_BYTES / 3];
        struct buf encoded;
        size_t len = 0;
        const char *at = answer.body.ptr;
        const char *found = s3_element(&at, "UploadId", &len);
        ok = (found != NULL && len > 0 && len < sizeof id) ||
             err_set(err, ERR_UNAVAILABLE, "the objects' server began no multipart upload");
        (void)snprintf(id, sizeof id, "%.*s", ok ? (int)len : 0, ok ? found : "");
        buf_init(&encoded, sizeof put->upload_id);
        s3_encode(&encoded, id, false);
        (void)snprintf(put->upload_id, sizeof put->upload_id, "%s", ok ? encoded.ptr : "");
        buf_free(&encoded);
    }
    s3_answer_free(&answer);
    return ok;
}

/* What was filled becomes a part under way. */
static bool give_part(struct put *put, struct err *err)
{
    if (put->part_count >= PARTS_MAX) {
        return err_set(err, ERR_TOO_LARGE, "an object has at most %d parts of %" PRIu64 " bytes",
                       PARTS_MAX, put->place->part_bytes);
    }
    if ((put->upload_id[0] == '\0' && !begin_multipart(put, err)) || !take_turn(put, err)) {
        return false;
    }
    struct part *part = put->tags.failed ? NULL : malloc(sizeof *part);
    pthread_t thread;
    if (part != NULL) {
        *part = (struct part){put, put->filling, put->filled_bytes, put->part_count + 1};
    }
    if (part == NULL || thread_start(&thread, run_part, part) != 0) {
        free(part);
        leave_turn(put);
        return no_memory(err);
    }
    (void)pthread_detach(thread);
    put->part_count++;
    put->filling = NULL;
    put->filled_bytes = 0;
    return true;
}

static bool await_parts(struct put *put, struct err *err)
{
    struct s3_place *place = put->place;
    (void)pthread_mutex_lock(&place->lock);
    while (put->under_way > 0) {
        (void)pthread_cond_wait(&place->changed, &place->lock);
    }
    bool ok = !put->has_failed;
    if (!ok) {
        *err = put->err;
    }
    (void)pthread_mutex_unlock(&place->lock);
    return ok;
}

/* ---- begin, write, abort ---- */

bool s3_put_begin(struct objects *objects,
                  const char *key,
                  struct object_put **out,
                  struct err *err)
{
    struct put *put = calloc(1, sizeof *put);
    if (put == NULL) {
        return no_memory(err);
    }
    put->base.driver = objects->driver;
    put->place = (struct s3_place *)objects;
    put->err = (struct err)ERR_INIT;
    (void)snprintf(put->key, sizeof put->key, "%s", key);
    buf_init(&put->tags, (size_t)PARTS_MAX * OBJECT_TAG_BYTES);
    *out = &put->base;
    return true;
}

bool s3_put_write(struct object_put *base, const void *bytes, size_t len, struct err *err)
{
    struct put *put = (struct put *)base;
    const char *at = bytes;
    size_t part_bytes = (size_t)put->place->part_bytes;
    while (len > 0) {
        /* A full part goes when there is more: what fits into one is a single request. */
        if (put->filled_bytes == part_bytes && !give_part(put, err)) {
            return false;
        }
        if (put->filling == NULL) {
            put->filling = map_part(put->place);
        }
        if (put->filling == NULL) {
            return no_memory(err);
        }
        size_t room = part_bytes - put->filled_bytes;
        size_t take = len < room ? len : room;
        memcpy(put->filling + put->filled_bytes, at, take);
        put->filled_bytes += take;
        put->size_bytes += take;
        at += take;
        len -= take;
    }
    return true;
}

void s3_put_abort(struct object_put *base)
{
    struct put *put = (struct put *)base;
    struct err ignored = ERR_INIT;
    atomic_store(&put->cancelled, true);
    (void)await_parts(put, &ignored);
    unmap_part(put->place, put->filling);
    buf_free(&put->tags);
    free(put);
}

/* ---- finish ---- */

/* Whether the object is there as this put made it, when an answer to it may have got lost. */
static bool is_there(struct put *put, struct object_info *info, struct err *err)
{
    struct object_info there;
    struct err second = ERR_INIT;
    if (!s3_head(&put->place->objects, put->key, &there, &second) ||
        there.size_bytes != put->size_bytes) {
        return false;
    }
    *info = there;
    *err = (struct err)ERR_INIT;
    return true;
}

static bool send_whole(struct put *put, struct object_info *info, struct err *err)
{
    struct s3_answer answer;
    struct s3_request request = {
        .method = "PUT", .body = put->filling, .body_len = put->filled_bytes, .if_absent = true};
    bool ok = send(put, &request, &answer, err);
    int status = answer.status;
    unsigned tries = answer.tries;
    if (!ok && status == 501) { /* a server without conditions */
        s3_answer_free(&answer);
        *err = (struct err)ERR_INIT;
        request.if_absent = false;
        ok = send(put, &request, &answer, err);
    }
    (void)snprintf(info->tag, sizeof info->tag, "%s", answer.tag);
    s3_answer_free(&answer);
    return ok || (status == 412 && tries > 1 && is_there(put, info, err));
}

static void put_parts(const struct put *put, struct buf *out)
{
    buf_puts(out, "<CompleteMultipartUpload>");
    for (unsigned i = 0; i < put->part_count; i++) {
        const char *tag = put->tags.ptr + (size_t)i * OBJECT_TAG_BYTES;
        buf_printf(out, "<Part><PartNumber>%u</PartNumber><ETag>", i + 1);
        for (; *tag != '\0'; tag++) {
            if (*tag == '"') {
                buf_puts(out, "&quot;");
            } else if (*tag != '<' && *tag != '&') {
                buf_putc(out, *tag);
            }
        }
        buf_puts(out, "</ETag></Part>");
    }
    buf_puts(out, "</CompleteMultipartUpload>");
}

static bool complete(struct put *put, struct object_info *info, struct err *err)
{
    struct s3_answer answer;
    struct buf body;
    char query[UPLOAD_ID_BYTES + 16];
    buf_init(&body, COMPLETE_BYTES);
    put_parts(put, &body);
    if (body.failed) {
        buf_free(&body);
        return no_memory(err);
    }
    (void)snprintf(query, sizeof query, "uploadId=%s", put->upload_id);
    const struct s3_request request = {
        .method = "POST", .query = query, .body = body.ptr, .body_len = body.len};
    bool ok = send(put, &request, &answer, err);
    s3_answer_free(&answer);
    buf_free(&body);
    /* The answer has the tag in XML; the one of HEAD is what is compared later. An answer may get
     * lost after the work is done: then the next try finds no such upload. */
    if (is_there(put, info, err)) {
        return true;
    }
    return ok ? err_set(err, ERR_UNAVAILABLE,
                        "the objects' server completed the upload of %s and does not have it",
                        put->key)
              : false;
}

bool s3_put_finish(struct object_put *base, struct object_info *info, struct err *err)
{
    struct put *put = (struct put *)base;
    *info = (struct object_info){.size_bytes = put->size_bytes};
    bool ok = put->upload_id[0] == '\0'
                  ? send_whole(put, info, err)
                  : give_part(put, err) && await_parts(put, err) && complete(put, info, err);
    info->size_bytes = put->size_bytes;
    s3_put_abort(base);
    return ok;
}

/* ---- what an unfinished put leaves ---- */

static bool abort_upload(struct s3_place *place, const char *key, const char *id, struct err *err)
{
    struct s3_answer answer;
    struct buf query;
    buf_init(&query, QUERY_BYTES);
    buf_puts(&query, "uploadId=");
    s3_encode(&query, id, false);
    const struct s3_request request = {.method = "DELETE", .key = key, .query = query.ptr};
    bool ok = query.failed ? no_memory(err) : s3_send(place->client, &request, &answer, err);
    if (!query.failed) {
        ok = ok &&
             (answer.status / 100 == 2 || answer.status == 404 || s3_refused(&answer, key, err));
        s3_answer_free(&answer);
    }
    buf_free(&query);
    return ok;
}

/* Ids of uploads in a listing, of the key alone: the prefix may begin other keys too. */
static bool
abort_listed(struct s3_place *place, const char *key, const char *listing, struct err *err)
{
    const char *at = listing;
    char full[OBJECT_KEY_BYTES + 512];
    int full_len = snprintf(full, sizeof full, "%s%s", s3_client_prefix(place->client), key);
    bool ok = true;
    while (ok && at != NULL) {
        size_t key_len = 0;
        size_t id_len = 0;
        char id[UPLOAD_ID_BYTES];
        const char *found = s3_element(&at, "Key", &key_len);
        const char *upload = found == NULL ? NULL : s3_element(&at, "UploadId", &id_len);
        if (upload == NULL || id_len >= sizeof id) {
            return true;
        }
        (void)snprintf(id, sizeof id, "%.*s", (int)id_len, upload);
        if (key_len == (size_t)full_len && memcmp(found, full, key_len) == 0) {
            ok = abort_upload(place, key, id, err);
        }
    }
    return ok;
}

bool s3_put_discard(struct s3_place *place, const char *key, struct err *err)
{
    struct s3_answer answer;
    struct buf query;
    buf_init(&query, QUERY_BYTES);
    buf_puts(&query, "prefix=");
    s3_encode(&query, s3_client_prefix(place->client), false);
    s3_encode(&query, key, false);
    buf_puts(&query, "&uploads=");
    if (query.failed) {
        buf_free(&query);
        return no_memory(err);
    }
    const struct s3_request request = {.method = "GET", .query = query.ptr};
    bool ok = s3_send(place->client, &request, &answer, err) &&
              (answer.status == 200 || s3_refused(&answer, key, err));
    ok = ok && (answer.body.len == 0 || abort_listed(place, key, answer.body.ptr, err));
    s3_answer_free(&answer);
    buf_free(&query);
    return ok;
}

#include "api/upload/body.h"

#include "api/catalogue/tags.h"
#include "api/upload/name.h"
#include "api/upload/project.h"
#include "ingest/jobs/pipeline/rank_name.h"

#include <inttypes.h>
#include <stdlib.h>

#define CHUNK_BYTES ((size_t)256 << 10)

static bool too_large(const struct upload_body *body, struct err *err)
{
    return err_set(err, ERR_TOO_LARGE,
                   "Uploads may have at most %" PRIu64 " bytes (the server's --max-upload)",
                   body->max_bytes);
}

/* The run is params[0]. */
static bool check_quotas(const struct api_call *call, const char *project, struct err *err)
{
    int64_t announced = call->request->content_length;
    const struct retention_upload upload = {.run = call->params[0],
                                            .project = project,
                                            .size_bytes = announced < 0 ? 0 : (uint64_t)announced};
    return jobs_admit(call->api->jobs, &upload, err);
}

bool upload_body_begin(struct upload_body *body,
                       const struct api_call *call,
                       const char *project,
                       struct err *err)
{
    int64_t announced = call->request->content_length;
    *body = (struct upload_body){
        .request = call->request,
        .max_bytes = call->api->options.max_upload_bytes,
    };
    if (announced > 0 && (uint64_t)announced > body->max_bytes) {
        return too_large(body, err);
    }
    if (announced == 0) {
        return err_set(err, ERR_BAD_REQUEST, "The body is empty: it must be the file");
    }
    if (*call_header(call, "Content-Range") != '\0') {
        return err_set(err, ERR_BAD_REQUEST,
                       "Content-Range is not understood: send the file as a whole");
    }
    return check_quotas(call, project, err);
}

bool upload_body_hints(struct jobs_hints *hints, struct api_call *call, struct err *err)
{
    *hints = (struct jobs_hints){.marker = query_string_word(&call->query, "marker"),
                                 .rank = STORE_NO_RANK};
    return (hints->marker == NULL || upload_name_check_marker(hints->marker, err)) &&
           query_string_int(&call->query, "rank", 0, RANK_MAX, &hints->rank, err) &&
           tags_of_query(&hints->tags, call_arena(call), &call->query, err) &&
           upload_project(&hints->project, call, err);
}

int64_t upload_body_read(struct upload_body *body, void *bytes, size_t len)
{
    int64_t got = body->request->read_body(body->request, bytes, len);
    int64_t announced = body->request->content_length;
    if (got > 0) {
        body->received_bytes += (uint64_t)got;
        body->too_large = body->received_bytes > body->max_bytes;
        return body->too_large ? -1 : got;
    }
    body->too_slow = got == API_BODY_TOO_SLOW;
    body->cut = got < 0 || (announced > 0 && body->received_bytes < (uint64_t)announced);
    return body->cut ? -1 : 0;
}

bool upload_body_error(const struct upload_body *body, struct err *err)
{
    if (body->too_large) {
        return too_large(body, err);
    }
    if (body->too_slow) {
        return err_set(err, ERR_TIMEOUT,
                       "Nothing came for too long (the server's --request-timeout) after %" PRIu64
                       " bytes of the upload",
                       body->received_bytes);
    }
    return err_set(err, ERR_CLIENT_GONE, "The upload broke off after %" PRIu64 " bytes",
                   body->received_bytes);
}

static bool copy_body(struct upload_body *body,
                      struct store_blob *blob,
                      struct streaming_feed *follow,
                      char *chunk,
                      struct err *err)
{
    for (;;) {
        int64_t got = upload_body_read(body, chunk, CHUNK_BYTES);
        if (got < 0) {
            return upload_body_error(body, err);
        }
        if (got == 0) {
            return body->received_bytes > 0 ||
                   err_set(err, ERR_BAD_REQUEST, "The body is empty: it must be the file");
        }
        if (!store_blob_write(blob, chunk, (size_t)got, err)) {
            return false;
        }
        streaming_ingest_feed(follow, blob);
    }
}

static bool receive(struct upload_body *body,
                    struct store *store,
                    struct streaming_feed *follow,
                    struct upload_file *file,
                    struct err *err)
{
    char *chunk = malloc(CHUNK_BYTES);
    if (chunk == NULL) {
        return err_set(err, ERR_NO_MEMORY, "No memory to receive the file");
    }
    struct store_blob *blob = NULL;
    bool received =
        store_blob_create(store, &blob, err) && copy_body(body, blob, follow, chunk, err);
    free(chunk);
    if (!received) {
        store_blob_discard(blob);
        return false;
    }
    return store_blob_commit(blob, file->sha256_hex, &file->size_bytes, err);
}

bool upload_body_receive(struct upload_body *body,
                         const struct api_call *call,
                         const char *file_name,
                         struct jobs_hints *hints,
                         struct upload_file *file,
                         struct err *err)
{
    int64_t announced = call->request->content_length;
    struct streaming_feed follow = {.jobs = call->api->jobs,
                                    .file_name = file_name,
                                    .marker = hints->marker,
                                    .size_bytes = announced < 0 ? 0 : (uint64_t)announced};
    bool received = receive(body, call->api->store, &follow, file, err);
    hints->streaming = streaming_ingest_end_feed(&follow, received, file->size_bytes);
    return received;
}

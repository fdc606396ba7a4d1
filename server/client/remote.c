#include "server/client/remote.h"

#include "api/query_string.h"
#include "ingest/base/text/affix.h"
#include "ingest/base/text/json_small.h"
#include "ingest/store/store.h"
#include "server/client/http_client.h"
#include "server/http/gzip_encode.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define ADDRESS_MAX_BYTES ((size_t)16 << 10)
#define COPY_BYTES ((size_t)256 << 10)
#define PACKED_FROM_BYTES ((int64_t)64 << 10)
#define PAUSE_MAX_S 30
#define RETRY_AFTER_MAX_S 600
#define ASK_TIMEOUT_S 300U

/* ---- one request ---- */

/* The server's own words: the detail of its problem. */
static bool refuse(int status, const struct buf *answer, struct err *err)
{
    struct err ignored = ERR_INIT;
    json_t *problem = json_small_parse(answer->ptr, answer->len, 0, "The answer", &ignored);
    const char *detail = json_string_value(json_object_get(problem, "detail"));
    bool may_pass = status == 408 || status == 425 || status == 429 || status >= 500;
    (void)err_set(err,
                  may_pass        ? ERR_UNAVAILABLE
                  : status == 400 ? ERR_BAD_REQUEST
                                  : ERR_FORBIDDEN,
                  "the server answers %d: %s", status,
                  detail != NULL ? detail : "(no explanation)");
    json_decref(problem);
    return false;
}

/* Fills in address and token, sends, and judges the status. `retry_after_s`: as the server asks. */
static bool send_request(const struct remote *remote,
                         const char *path,
                         struct http_client_request *request,
                         struct buf *body,
                         int64_t *retry_after_s,
                         struct err *err)
{
    struct buf url;
    struct buf token;
    struct http_client_answer answer = {0};
    buf_init(&url, ADDRESS_MAX_BYTES);
    buf_init(&token, ADDRESS_MAX_BYTES);
    buf_init(&answer.body, REMOTE_ANSWER_MAX_BYTES);
    buf_printf(&url, "%s%s", remote->url, path);
    if (remote->token != NULL) {
        buf_printf(&token, "Authorization: Bearer %s", remote->token);
        request->headers[1] = token.ptr;
    }
    request->url = url.ptr;
    bool ok = (!url.failed && !token.failed) ||
              err_set(err, ERR_BAD_REQUEST, "the address or the token is too long");
    ok =
        ok && http_client_ask(request, &answer, err) &&
        ((answer.status >= 200 && answer.status < 300) || refuse(answer.status, &answer.body, err));
    *retry_after_s = answer.retry_after_s;
    if (ok) {
        buf_append(body, answer.body.ptr, answer.body.len);
        ok = !body->failed || err_set(err, ERR_NO_MEMORY, "no memory for the answer");
    }
    buf_free(&answer.body);
    buf_free(&token);
    buf_free(&url);
    return ok;
}

bool remote_ask(const struct remote *remote,
                const char *method,
                const char *path,
                const char *json,
                struct buf *answer,
                struct err *err)
{
    struct http_client_request request = {.method = method,
                                          .headers = {"Content-Type: application/json"},
                                          .body = json,
                                          .body_len = json == NULL ? 0 : strlen(json),
                                          .timeout_s = ASK_TIMEOUT_S};
    int64_t retry_after_s = 0;
    return send_request(remote, path, &request, answer, &retry_after_s, err);
}

/* ---- uploads ---- */

/* Packs into a file without a name, of `*size` bytes; closes the one given. */
static FILE *pack_file(FILE *plain, int64_t *size, struct err *err)
{
    struct gzip_encoder *encoder = gzip_encoder_create(GZIP_FAST);
    FILE *packed = tmpfile();
    char *bytes = malloc(COPY_BYTES);
    struct buf out;
    buf_init(&out, 4 * COPY_BYTES);
    bool ok = encoder != NULL && packed != NULL && bytes != NULL;
    *size = 0;
    for (bool last = false; ok && !last;) {
        size_t len = fread(bytes, 1, COPY_BYTES, plain);
        last = len < COPY_BYTES;
        ok = ferror(plain) == 0 && gzip_encoder_put(encoder, bytes, len, last, &out) &&
             fwrite(out.ptr, 1, out.len, packed) == out.len;
        *size += (int64_t)out.len;
        buf_clear(&out);
    }
    ok = ok && fflush(packed) == 0;
    if (!ok) {
        (void)err_set_errno(err, ERR_IO, errno, "the file cannot be packed");
    }
    buf_free(&out);
    free(bytes);
    gzip_encoder_destroy(encoder);
    (void)fclose(plain);
    if (!ok && packed != NULL) {
        (void)fclose(packed);
    }
    return ok ? packed : NULL;
}

/* Looks before it opens: a pipe without a writer would not open. */
static FILE *open_regular(const char *path, int64_t *size, struct err *err)
{
    struct stat status;
    FILE *file = NULL;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
        (void)err_set(err, ERR_IO,
                      "only a regular file can be uploaded; what comes from a pipe "
                      "goes into a file first");
        return NULL;
    }
    file = fopen(path, "rb");
    if (file == NULL || fstat(fileno(file), &status) != 0) {
        (void)err_set_errno(err, ERR_IO, errno, "the file cannot be read");
        if (file != NULL) {
            (void)fclose(file);
        }
        return NULL;
    }
    *size = status.st_size;
    return file;
}

/* The bytes to send; `is_packed` when they are no longer the file's own. */
static FILE *open_upload(const char *path, bool *is_packed, int64_t *size, struct err *err)
{
    FILE *file = open_regular(path, size, err);
    if (file == NULL) {
        return NULL;
    }
    *is_packed = *size >= PACKED_FROM_BYTES && text_ends(path, ".json");
    return *is_packed ? pack_file(file, size, err) : file;
}

/* /api/v1/runs/RUN/traces/NAME?project=&rank=&tag= */
static const char *
upload_path(struct arena *arena, const struct remote_upload *upload, bool is_packed)
{
    struct buf path;
    const char *run = query_string_encode(arena, upload->run);
    const char *name = query_string_encode(arena, upload->name);
    const char *project =
        upload->project == NULL ? "" : query_string_encode(arena, upload->project);
    bool ok = run != NULL && name != NULL && project != NULL;
    buf_init(&path, ADDRESS_MAX_BYTES);
    if (ok) {
        buf_printf(&path, "/api/v1/runs/%s/traces/%s%s?project=%s", run, name,
                   is_packed ? ".gz" : "", project);
    }
    if (upload->rank != STORE_NO_RANK) {
        buf_printf(&path, "&rank=%" PRId64, upload->rank);
    }
    for (size_t i = 0; ok && i < upload->tag_count; i++) {
        const char *tag = query_string_encode(arena, upload->tags[i]);
        ok = tag != NULL;
        buf_printf(&path, "&tag=%s", ok ? tag : "");
    }
    const char *copy = !ok || path.failed ? NULL : arena_strndup(arena, path.ptr, path.len);
    buf_free(&path);
    return copy;
}

/* Of an archive's answer the first trace counts. */
static bool read_url(const struct buf *answer, struct arena *arena, const char **url)
{
    struct err ignored = ERR_INIT;
    json_t *found = json_small_parse(answer->ptr, answer->len, 0, "The answer", &ignored);
    json_t *traces = json_object_get(found, "traces");
    json_t *trace = json_is_array(traces) ? json_array_get(traces, 0) : found;
    const char *text = json_string_value(json_object_get(trace, "url"));
    *url = text == NULL ? "" : arena_strdup(arena, text);
    json_decref(found);
    return *url != NULL;
}

/* As long as the server asks, at least as long as the attempts so far call for. False when it was
 * the last. */
static bool pause_before(const struct remote *remote,
                         unsigned attempt,
                         int64_t retry_after_s,
                         const struct err *err)
{
    int64_t wait_s = attempt < 5 ? 1 << attempt : PAUSE_MAX_S;
    int64_t asked_s = retry_after_s < RETRY_AFTER_MAX_S ? retry_after_s : RETRY_AFTER_MAX_S;
    if (err->code != ERR_UNAVAILABLE || attempt >= remote->retries) {
        return false;
    }
    wait_s = asked_s > wait_s ? asked_s : wait_s;
    (void)fprintf(stderr, "kinetoscope: %s; trying again in %lld s\n", err->msg, (long long)wait_s);
    const struct timespec pause = {.tv_sec = (time_t)wait_s};
    (void)nanosleep(&pause, NULL);
    return true;
}

static bool try_put(const struct remote *remote,
                    const char *path,
                    FILE *file,
                    int64_t size,
                    struct buf *answer,
                    struct err *err)
{
    for (unsigned attempt = 0;; attempt++) {
        struct http_client_request request = {.method = "PUT",
                                              .headers = {"Content-Type: application/octet-stream"},
                                              .file = file,
                                              .file_bytes = size};
        int64_t retry_after_s = 0;
        rewind(file);
        if (send_request(remote, path, &request, answer, &retry_after_s, err)) {
            return true;
        }
        if (!pause_before(remote, attempt, retry_after_s, err)) {
            return false;
        }
    }
}

bool remote_put(const struct remote *remote,
                struct arena *arena,
                const struct remote_upload *upload,
                const char **url,
                struct err *err)
{
    bool is_packed = false;
    int64_t size = 0;
    struct buf answer;
    FILE *file = open_upload(upload->path, &is_packed, &size, err);
    if (file == NULL) {
        return false;
    }
    buf_init(&answer, REMOTE_ANSWER_MAX_BYTES);
    const char *path = upload_path(arena, upload, is_packed);
    bool ok = path != NULL || err_set(err, ERR_BAD_REQUEST, "the names and tags are too long");
    ok = ok && try_put(remote, path, file, size, &answer, err) &&
         (read_url(&answer, arena, url) || err_set(err, ERR_NO_MEMORY, "no memory"));
    buf_free(&answer);
    (void)fclose(file);
    return ok;
}

#include "server/http/page.h"

#include "server/http/assets.h"
#include "server/http/mime.h"
#include "server/http/negotiate.h"
#include "server/http/reply.h"

#include <string.h>

#define FILE_MAX_BYTES ((size_t)64 << 20)

static void refuse_method(struct http_request *req)
{
    static const struct api_header allow = {"Allow", "GET, HEAD"};
    struct err err = ERR_INIT;
    (void)err_set(&err, ERR_METHOD, "The page's files answer GET and HEAD only%s",
                  strcmp(req->method, "PUT") == 0 ? API_UPLOAD_HINT : "");
    reply_problem(req, &err, &allow);
}

static void answer_nothing(struct http_request *req, const char *path)
{
    if (negotiate_html(http_request_header(req, "Accept"))) {
        static const char text[] = "<!doctype html>\n<html lang=\"en\">\n<meta "
                                   "charset=\"utf-8\">\n<title>Not found</title>\n"
                                   "<h1>There is nothing here</h1>\n<p>The address may have been "
                                   "cut or mistyped. All runs "
                                   "are on Kinetoscope's first page.</p>\n</html>\n";
        const struct reply_asset page = {
            .content_type = "text/html; charset=utf-8", .bytes = text, .len = sizeof text - 1};
        reply_asset(req, 404, &page);
        return;
    }
    struct err err = ERR_INIT;
    (void)err_set(&err, ERR_NOT_FOUND,
                  "There is nothing at %.300s; the interface begins at /api/v1/openapi.json", path);
    reply_problem(req, &err, NULL);
}

static bool answer_from_disk(struct http_request *req, const char *static_dir, const char *name)
{
    struct buf content;
    buf_init(&content, FILE_MAX_BYTES);
    bool found = assets_read_file(static_dir, name, &content);
    if (found) {
        const struct reply_asset file = {
            .content_type = mime_of(name), .bytes = content.ptr, .len = content.len};
        reply_asset(req, 200, &file);
    }
    buf_free(&content);
    return found;
}

static bool answer_embedded(struct http_request *req, const char *name, bool lasting)
{
    const struct asset *asset = assets_find(name);
    if (asset == NULL) {
        return false;
    }
    const struct reply_asset file = {.content_type = asset->content_type,
                                     .bytes = asset->bytes,
                                     .len = asset->len,
                                     .gzip = asset->gzip,
                                     .gzip_len = asset->gzip_len,
                                     .etag = asset->etag,
                                     .lasting = lasting};
    reply_asset(req, 200, &file);
    return true;
}

void page_answer(struct http_request *req, const char *static_dir, const char *path)
{
    if (strcmp(req->method, "GET") != 0 && !req->is_head) {
        refuse_method(req);
        return;
    }
    bool lasting = false;
    const char *name =
        strcmp(path, "/") == 0 ? "index.html" : assets_unversioned(path + 1, &lasting);
    bool answered = static_dir != NULL && answer_from_disk(req, static_dir, name);
    if (!answered && !answer_embedded(req, name, lasting)) {
        answer_nothing(req, path);
    }
}

void page_file(const char *static_dir, const char *name, struct buf *out)
{
    if (static_dir != NULL && assets_read_file(static_dir, name, out)) {
        return;
    }
    const struct asset *asset = assets_find(name);
    if (asset != NULL) {
        buf_append(out, asset->bytes, asset->len);
    }
}

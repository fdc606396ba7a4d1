#include "server/http/page.h"

#include "server/http/assets.h"
#include "server/http/mime.h"
#include "server/http/negotiate.h"
#include "server/http/reply.h"

#include <string.h>

#define FILE_MAX_BYTES ((size_t)64 << 20)

static void refuse_method(struct exchange *x)
{
    static const struct api_header allow = {"Allow", "GET, HEAD"};
    struct err err = ERR_INIT;
    (void)err_set(&err, ERR_METHOD, "The page's files answer GET and HEAD only");
    reply_problem(x, &err, &allow);
}

static void answer_nothing(struct exchange *x, const char *path)
{
    if (negotiate_html(exchange_header(x, "Accept"))) {
        static const char text[] = "<!doctype html>\n<html lang=\"en\">\n<meta "
                                   "charset=\"utf-8\">\n<title>Not found</title>\n"
                                   "<h1>There is nothing here</h1>\n<p>The address may have been "
                                   "cut or mistyped. All runs "
                                   "are on Kinetoscope's first page.</p>\n</html>\n";
        const struct reply_asset page = {
            .content_type = "text/html; charset=utf-8", .bytes = text, .len = sizeof text - 1};
        reply_asset(x, 404, &page);
        return;
    }
    struct err err = ERR_INIT;
    (void)err_set(&err, ERR_NOT_FOUND,
                  "There is nothing at %.300s; the interface begins at /api/v1/openapi.json", path);
    reply_problem(x, &err, NULL);
}

static bool answer_from_disk(struct exchange *x, const char *static_dir, const char *name)
{
    struct buf content;
    buf_init(&content, FILE_MAX_BYTES);
    bool found = assets_read_file(static_dir, name, &content);
    if (found) {
        const struct reply_asset file = {
            .content_type = mime_of(name), .bytes = content.ptr, .len = content.len};
        reply_asset(x, 200, &file);
    }
    buf_free(&content);
    return found;
}

static bool answer_embedded(struct exchange *x, const char *name, bool lasting)
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
    reply_asset(x, 200, &file);
    return true;
}

void page_answer(struct exchange *x, const char *static_dir, const char *path)
{
    if (strcmp(x->method, "GET") != 0 && !x->is_head) {
        refuse_method(x);
        return;
    }
    bool lasting = false;
    const char *name =
        strcmp(path, "/") == 0 ? "index.html" : assets_unversioned(path + 1, &lasting);
    bool answered = static_dir != NULL && answer_from_disk(x, static_dir, name);
    if (!answered && !answer_embedded(x, name, lasting)) {
        answer_nothing(x, path);
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

/* Serves the page: static files below the base path, and what a browser sees where nothing exists.
 */
#ifndef KS_SERVER_HTTP_PAGE_H
#define KS_SERVER_HTTP_PAGE_H

#include "ingest/base/text/buf.h"
#include "server/http/http_request.h"

/* `path` begins with a slash, below the base path. `static_dir` NULL: the embedded files. Libraries
 * that are in no directory always come from the embedded files. */
void page_answer(struct http_request *req, const char *static_dir, const char *path);
/* Appends one of its files, from the same place as page_answer; nothing when it does not exist. */
void page_file(const char *static_dir, const char *name, struct buf *out);

#endif

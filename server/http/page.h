/* The page: static files below the base path, and what a browser sees where there is nothing. */
#ifndef KS_SERVER_HTTP_PAGE_H
#define KS_SERVER_HTTP_PAGE_H

#include "ingest/base/text/buf.h"
#include "server/http/http_request.h"

/* `path` begins with a slash, below the base path. `static_dir` NULL: the embedded files. Libraries
 * that stand in no directory come from the embedded files in any case. */
void page_answer(struct http_request *req, const char *static_dir, const char *path);
/* One of its files, from where page_answer takes them; nothing is appended when there is none. */
void page_file(const char *static_dir, const char *name, struct buf *out);

#endif

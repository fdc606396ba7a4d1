/* The page: static files below the base path, and what a browser sees where there is nothing. */
#ifndef KS_SERVER_HTTP_PAGE_H
#define KS_SERVER_HTTP_PAGE_H

#include "server/http/exchange.h"

/* `path` begins with a slash, below the base path. `static_dir` NULL: the embedded files. Libraries
 * that stand in no directory come from the embedded files in any case. */
void page_answer(struct exchange *x, const char *static_dir, const char *path);

#endif

/* MIME types of the page's files, by file ending. */
#ifndef KS_SERVER_HTTP_MIME_H
#define KS_SERVER_HTTP_MIME_H

#include <stdbool.h>

/* Static text; "application/octet-stream" for an unknown ending. */
const char *mime_of(const char *file_name);
/* Whether gzip pays for this type. */
bool mime_is_compressible(const char *content_type);

#endif

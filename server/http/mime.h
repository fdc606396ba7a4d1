/* MIME types of the page's files, by the end of their names. */
#ifndef KS_SERVER_HTTP_MIME_H
#define KS_SERVER_HTTP_MIME_H

#include <stdbool.h>

/* Static text; "application/octet-stream" for an ending that is not known. */
const char *mime_of(const char *file_name);
/* Whether text of this type gains by gzip. */
bool mime_is_compressible(const char *content_type);

#endif

/* The page's files: embedded by the build (gen/assets.c, made by ks_embed), or read from a
 * directory while developing. */
#ifndef KS_SERVER_HTTP_ASSETS_H
#define KS_SERVER_HTTP_ASSETS_H

#include "ingest/base/attr.h"
#include "ingest/base/text/buf.h"

#include <stdbool.h>
#include <stddef.h>

struct asset {
    const char *path; /* below the base path, without a slash in front: "js/main.js" */
    const char *content_type;
    const char *etag; /* with quotes */
    const unsigned char *bytes;
    size_t len;
    const unsigned char *gzip; /* NULL when it does not pay */
    size_t gzip_len;
};

/* In order of path. */
extern const struct asset assets_embedded[];
extern const size_t assets_embedded_count;
/* Of all files together, for the addresses below which they stay what they are. */
extern const char assets_version[];

/* NULL when there is none. */
const struct asset *assets_find(const char *path);
/* What stands behind "v/VERSION/" is the same file; any version is taken off, so that a page that
 * is still open after an upgrade goes on. `lasting`: the version is the present one. */
const char *assets_unversioned(const char *path, bool *lasting);
/* Reads `dir`/`path`; false when there is no such file, or when the path is not one of a page's
 * file (only letters, digits and "._-" between single slashes, no name that begins with a dot). */
bool assets_read_file(const char *dir, const char *path, struct buf *out) KS_MUST_USE;

#endif

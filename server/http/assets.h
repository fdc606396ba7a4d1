/* The page's files: embedded at build time (gen/assets.c, made by ks_embed), or read from a
 * directory for development. */
#ifndef KS_SERVER_HTTP_ASSETS_H
#define KS_SERVER_HTTP_ASSETS_H

#include "ingest/base/attr.h"
#include "ingest/base/text/buf.h"

#include <stdbool.h>
#include <stddef.h>

struct asset {
    const char *path; /* below the base path, without a leading slash: "js/main.js" */
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
/* Hash of all files, for addresses that browsers may cache for good. */
extern const char assets_version[];

/* NULL when there is none. */
const struct asset *assets_find(const char *path);
/* Strips "v/VERSION/" from a path. Any version is stripped, so that a page that is open during an
 * upgrade still works. `lasting`: it is the current version. */
const char *assets_unversioned(const char *path, bool *lasting);
/* Reads `dir`/`path`. False when the file does not exist, or the path is not that of a page file
 * (only letters, digits and "._-" between single slashes; no name begins with a dot). */
bool assets_read_file(const char *dir, const char *path, struct buf *out) KS_MUST_USE;

#endif

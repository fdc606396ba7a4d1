#include "server/http/assets.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_MAX_BYTES 1024
#define READ_BYTES ((size_t)64 << 10)

static int compare_path(const void *path, const void *asset)
{
    return strcmp(path, ((const struct asset *)asset)->path);
}

const struct asset *assets_find(const char *path)
{
    return bsearch(path, assets_embedded, assets_embedded_count, sizeof assets_embedded[0],
                   compare_path);
}

const char *assets_unversioned(const char *path, bool *lasting)
{
    static const char prefix[] = "v/";
    const char *version = path + sizeof prefix - 1;
    const char *end = strncmp(path, prefix, sizeof prefix - 1) == 0 ? strchr(version, '/') : NULL;
    *lasting = end != NULL && (size_t)(end - version) == strlen(assets_version) &&
               strncmp(version, assets_version, (size_t)(end - version)) == 0;
    return end == NULL ? path : end + 1;
}

static bool is_page_path(const char *path)
{
    char before = '/';
    for (const char *c = path; *c != '\0'; c++) {
        bool starts_name = before == '/';
        bool plain = isalnum((unsigned char)*c) || *c == '_' || *c == '-';
        if (!plain && (starts_name || (*c != '.' && *c != '/'))) {
            return false;
        }
        before = *c;
    }
    return before != '/';
}

bool assets_read_file(const char *dir, const char *path, struct buf *out)
{
    char full[PATH_MAX_BYTES];
    if (!is_page_path(path) ||
        snprintf(full, sizeof full, "%s/%s", dir, path) >= (int)sizeof full) {
        return false;
    }
    FILE *file = fopen(full, "rb");
    if (file == NULL) {
        return false;
    }
    size_t got = 0;
    do {
        char *room = buf_reserve(out, READ_BYTES);
        got = room == NULL ? 0 : fread(room, 1, READ_BYTES, file);
        out->len += got;
    } while (got > 0);
    bool ok = !ferror(file) && !out->failed;
    (void)fclose(file);
    return ok;
}

#include "server/http/mime.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

struct mime_ending {
    const char *ending;
    const char *type;
};

static const struct mime_ending mime_endings[] = {
    {".html", "text/html; charset=utf-8"},
    {".js", "text/javascript; charset=utf-8"},
    {".mjs", "text/javascript; charset=utf-8"},
    {".css", "text/css; charset=utf-8"},
    {".svg", "image/svg+xml"},
    {".json", "application/json"},
    {".webmanifest", "application/manifest+json"},
    {".txt", "text/plain; charset=utf-8"},
    {".csv", "text/csv; charset=utf-8"},
    {".py", "text/x-python; charset=utf-8"},
    {".png", "image/png"},
    {".ico", "image/x-icon"},
    {".woff2", "font/woff2"},
};

const char *mime_of(const char *file_name)
{
    const char *ending = strrchr(file_name, '.');
    if (ending != NULL) {
        for (size_t i = 0; i < sizeof mime_endings / sizeof mime_endings[0]; i++) {
            if (strcasecmp(ending, mime_endings[i].ending) == 0) {
                return mime_endings[i].type;
            }
        }
    }
    return "application/octet-stream";
}

bool mime_is_compressible(const char *content_type)
{
    static const char *const types[] = {
        "text/",
        "application/json",
        "application/problem+json",
        "application/manifest+json",
        "application/openmetrics-text",
        "image/svg+xml",
    };
    /* Compressed events would wait in the compressor instead of reaching the client. */
    if (strncasecmp(content_type, "text/event-stream", strlen("text/event-stream")) == 0) {
        return false;
    }
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (strncasecmp(content_type, types[i], strlen(types[i])) == 0) {
            return true;
        }
    }
    return false;
}

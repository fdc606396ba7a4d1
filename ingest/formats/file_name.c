#include "ingest/formats/format.h"
#include "ingest/formats/json/scan.h"

#include <stdlib.h>
#include <string.h>

#define TRACE_SUFFIX ".pt.trace.json"

static bool ends_with(const char *text, size_t len, const char *suffix)
{
    size_t suffix_len = strlen(suffix);
    return len > suffix_len && memcmp(text + len - suffix_len, suffix, suffix_len) == 0;
}

/* The length without the suffix, if it is there. */
static size_t without(const char *text, size_t len, const char *suffix)
{
    return ends_with(text, len, suffix) ? len - strlen(suffix) : len;
}

static char *copy(const char *text, size_t len)
{
    char *out = malloc(len + 1);
    if (out != NULL) {
        memcpy(out, text, len);
        out[len] = '\0';
    }
    return out;
}

/* The worker is the shortest possible prefix: with `w.1.2.pt.trace.json` the worker is `w.1`. */
static size_t span_begin(const char *name, size_t len)
{
    size_t at = len;
    while (at > 0 && json_is_digit(name[at - 1])) {
        at--;
    }
    return at < len && at > 1 && name[at - 1] == '.' ? at : len;
}

/* Without what only says which kind of file it is. */
static size_t stem_len(const char *name, size_t len)
{
    static const char *const suffixes[] = {"_perf_data.csv", ".json", ".csv", ".txt", ".md",
                                           ".sqlite",        ".et"};
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        if (ends_with(name, len, suffixes[i])) {
            return len - strlen(suffixes[i]);
        }
    }
    return len;
}

bool format_split_name(const char *file_name, char **worker, char **span_digits)
{
    const char *slash = strrchr(file_name, '/');
    const char *name = slash == NULL ? file_name : slash + 1;
    size_t len = without(name, strlen(name), ".gz");
    len = without(name, len, ".zst");
    size_t digits_at = len;
    size_t digits_end = len;
    size_t worker_len;
    if (ends_with(name, len, TRACE_SUFFIX)) {
        digits_end = without(name, len, TRACE_SUFFIX);
        digits_at = span_begin(name, digits_end);
        worker_len = digits_at < digits_end ? digits_at - 1 : digits_end;
    } else {
        worker_len = stem_len(name, len);
    }
    *worker = copy(name, worker_len);
    *span_digits = copy(name + digits_at, digits_end - digits_at);
    if (*worker == NULL || *span_digits == NULL) {
        free(*worker);
        free(*span_digits);
        *worker = NULL;
        *span_digits = NULL;
        return false;
    }
    return true;
}

#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_BYTES 512
#define FNV_PRIME UINT64_C(0x100000001b3)

void fuzz_fail(const char *what)
{
    (void)fprintf(stderr, "does not hold: %s\n", what);
    abort();
}

char *fuzz_text(const uint8_t *bytes, size_t len)
{
    char *text = malloc(len + 1);
    fuzz_require(text != NULL, "memory for a copy");
    if (len > 0) {
        memcpy(text, bytes, len);
    }
    text[len] = '\0';
    return text;
}

/* The one file of the process: a descriptor and a path, kept between the calls. */
struct own_file {
    int fd;
    char path[PATH_BYTES];
};

static struct own_file *own_file(void)
{
    static struct own_file file = {.fd = -1};
    return &file;
}

static void remove_file(void)
{
    (void)unlink(own_file()->path);
}

static void make_file(struct own_file *file)
{
    const char *folder = getenv("TMPDIR");
    int len = snprintf(file->path, sizeof file->path, "%s/kinetoscope-fuzz-XXXXXX",
                       folder == NULL || *folder == '\0' ? "/tmp" : folder);
    fuzz_require(len > 0 && (size_t)len < sizeof file->path, "the path of TMPDIR fits");
    file->fd = mkstemp(file->path);
    fuzz_require(file->fd >= 0, "a temporary file can be made");
    (void)atexit(remove_file);
}

const char *fuzz_file(const uint8_t *bytes, size_t len)
{
    struct own_file *file = own_file();
    if (file->fd < 0) {
        make_file(file);
    }
    fuzz_require(ftruncate(file->fd, 0) == 0, "the temporary file can be emptied");
    for (size_t at = 0; at < len;) {
        ssize_t written = pwrite(file->fd, bytes + at, len - at, (off_t)at);
        fuzz_require(written > 0, "the temporary file can be written");
        at += (size_t)written;
    }
    return file->path;
}

uint64_t fuzz_hash(uint64_t hash, const void *bytes, size_t len)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < len; i++) {
        hash = (hash ^ at[i]) * FNV_PRIME;
    }
    return hash;
}

uint64_t fuzz_hash_text(uint64_t hash, const char *text)
{
    return text == NULL ? fuzz_hash(hash, "\xFF", 2) : fuzz_hash(hash, text, strlen(text) + 1);
}

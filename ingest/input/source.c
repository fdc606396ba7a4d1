#include "ingest/input/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool source_is_gzip(const char *bytes, size_t len)
{
    return len >= GZIP_MAGIC_BYTES && memcmp(bytes, "\x1F\x8B", GZIP_MAGIC_BYTES) == 0;
}

bool source_is_zstd(const char *bytes, size_t len)
{
    if (len < ZSTD_MAGIC_BYTES) {
        return false;
    }
    bool frame = memcmp(bytes, "\x28\xB5\x2F\xFD", ZSTD_MAGIC_BYTES) == 0;
    bool skippable =
        ((unsigned char)bytes[0] & 0xF0U) == 0x50 && memcmp(bytes + 1, "\x2A\x4D\x18", 3) == 0;
    return frame || skippable;
}

enum input_container input_container_of(const char *bytes, size_t len)
{
    if (source_is_gzip(bytes, len)) {
        return INPUT_GZIP;
    }
    return source_is_zstd(bytes, len) ? INPUT_ZSTD : INPUT_PLAIN;
}

static ssize_t read_again(int fd, char *out, size_t cap)
{
    ssize_t got;
    do {
        got = read(fd, out, cap);
    } while (got < 0 && errno == EINTR);
    return got;
}

/* `what`: the file, in words of an error. */
static bool inspect_file(struct source *source, const char *what, struct err *err)
{
    struct stat status;
    if (fstat(source->fd, &status) != 0) {
        return err_set_errno(err, ERR_IO, errno, "%s", what);
    }
    if (!S_ISREG(status.st_mode)) {
        return err_set(err, ERR_IO, "%s: not a regular file", what);
    }
    char magic[ZSTD_MAGIC_BYTES];
    ssize_t got = pread(source->fd, magic, sizeof magic, 0);
    if (got < 0) {
        return err_set_errno(err, ERR_IO, errno, "%s", what);
    }
    source->total_bytes = (uint64_t)status.st_size;
    source->container = input_container_of(magic, (size_t)got);
    (void)posix_fadvise(source->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    return true;
}

static void init(struct source *source)
{
    source->fd = -1;
    source->memory = NULL;
    source->memory_at = 0;
    source->stream = (struct input_stream){.next = NULL};
    source->growth = (struct input_growth){.wait = NULL};
    source->there_bytes = 0;
    source->piece_len = 0;
    source->container = INPUT_PLAIN;
    source->read_max_bytes = (size_t)1 << 30;
    source->total_bytes = 0;
    atomic_init(&source->read_bytes, 0);
    atomic_init(&source->stop, false);
}

bool source_open_file(struct source *source, const char *path, struct err *err)
{
    init(source);
    /* O_NONBLOCK: opening a FIFO must not wait for a writer before it is refused. */
    source->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (source->fd < 0) {
        enum err_code code = errno == ENOENT || errno == ENOTDIR ? ERR_NOT_FOUND : ERR_IO;
        return err_set_errno(err, code, errno, "%s", path);
    }
    if (!inspect_file(source, path, err)) {
        source_close(source);
        return false;
    }
    return true;
}

bool source_open_growing(struct source *source,
                         int fd,
                         const struct input_growth *growth,
                         struct err *err)
{
    init(source);
    source->fd = fd;
    source->growth = *growth;
    bool ok = inspect_file(source, "an upload that is arriving", err);
    source->total_bytes = growth->total_bytes;
    return ok;
}

void source_open_memory(struct source *source, const void *bytes, size_t len, size_t read_max_bytes)
{
    init(source);
    source->memory = bytes;
    source->total_bytes = len;
    source->read_max_bytes = read_max_bytes;
    source->container = input_container_of(bytes, len);
}

void source_open_stream(struct source *source, const struct input_stream *stream)
{
    init(source);
    source->stream = *stream;
    source->container = stream->container;
}

void source_close(struct source *source)
{
    if (source->fd >= 0 && source->growth.wait == NULL) {
        (void)close(source->fd);
    }
    source->fd = -1;
}

static size_t read_memory(struct source *source, char *out, size_t cap)
{
    size_t left = (size_t)source->total_bytes - source->memory_at;
    size_t take = cap < left ? cap : left;
    if (take != 0) {
        memcpy(out, source->memory + source->memory_at, take);
        source->memory_at += take;
    }
    return take;
}

static bool read_stream(struct source *source, char *out, size_t cap, size_t *len, struct err *err)
{
    const struct input_stream *stream = &source->stream;
    if (source->piece_len == 0 &&
        !stream->next(stream->context, &source->piece, &source->piece_len, err)) {
        return false;
    }
    *len = cap < source->piece_len ? cap : source->piece_len;
    if (*len != 0) {
        memcpy(out, source->piece, *len);
        source->piece += *len;
        source->piece_len -= *len;
    }
    return true;
}

/* How many of `cap` bytes are there to be read, once there are any; 0 at the end. */
static bool await_growth(struct source *source, size_t *cap, struct err *err)
{
    uint64_t read_bytes = atomic_load_explicit(&source->read_bytes, memory_order_relaxed);
    if (source->there_bytes <= read_bytes &&
        !source->growth.wait(source->growth.context, read_bytes, &source->there_bytes, err)) {
        return false;
    }
    uint64_t left = source->there_bytes - read_bytes;
    *cap = *cap < left ? *cap : (size_t)left;
    return true;
}

static bool read_file(struct source *source, char *out, size_t cap, size_t *len, struct err *err)
{
    if (source->growth.wait != NULL && !await_growth(source, &cap, err)) {
        return false;
    }
    ssize_t got = read_again(source->fd, out, cap);
    if (got < 0) {
        return err_set_errno(err, ERR_IO, errno, "reading failed");
    }
    *len = (size_t)got;
    return true;
}

bool source_read(struct source *source, char *out, size_t cap, size_t *len, struct err *err)
{
    *len = 0;
    if (atomic_load_explicit(&source->stop, memory_order_relaxed)) {
        return true;
    }
    if (cap > source->read_max_bytes) {
        cap = source->read_max_bytes;
    }
    if (source->stream.next != NULL) {
        if (!read_stream(source, out, cap, len, err)) {
            return false;
        }
    } else if (source->fd < 0) {
        *len = read_memory(source, out, cap);
    } else if (!read_file(source, out, cap, len, err)) {
        return false;
    }
    (void)atomic_fetch_add_explicit(&source->read_bytes, *len, memory_order_relaxed);
    return true;
}

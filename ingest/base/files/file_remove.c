#include "ingest/base/files/file_remove.h"

#include "ingest/base/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#define LARGE_BYTES ((off_t)4 << 20)

static void *close_last(void *context)
{
    (void)close((int)(intptr_t)context);
    return NULL;
}

/* Its space is free when nobody has it open: so it is opened, and closed elsewhere. */
static int open_if_large(const char *path)
{
    struct stat info;
    bool is_large = lstat(path, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > LARGE_BYTES;
    return is_large ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
}

int file_remove(const char *path)
{
    pthread_t thread;
    int fd = open_if_large(path);
    int code = unlink(path);
    int errnum = errno;
    if (fd >= 0) {
        if (code == 0 && thread_start(&thread, close_last, (void *)(intptr_t)fd) == 0) {
            (void)pthread_detach(thread);
        } else {
            (void)close(fd);
        }
    }
    errno = errnum;
    return code;
}

/* Faults of a disk, for the checks: preloaded into the program, it lets calls that change files
 * below one directory fail, or ends the process there as a power cut would.
 *
 * KS_FAULTS_DIR is the directory, KS_FAULTS_CONTROL a file of five 64-bit integers in the order of
 * `struct control`, which faults.py maps and changes while the program runs. Linux only: the name
 * of an open file is read from /proc. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum kind { KIND_WRITE = 1, KIND_SYNC = 2, KIND_OPEN = 4, KIND_NAME = 8, KIND_TRUNCATE = 16 };

#define ACTION_NONE 0
#define ACTION_KILL (-1)

struct control {
    _Atomic int64_t action; /* ACTION_..., or the errno that calls fail with */
    _Atomic int64_t kinds;  /* bits of enum kind that are meant */
    _Atomic int64_t wait;   /* so many such calls pass before */
    _Atomic int64_t hits;   /* calls that failed */
    _Atomic int64_t calls;  /* calls of these kinds since the action was set */
};

#define PATH_BYTES 4096

static struct control *control;
static char directory[PATH_BYTES];

__attribute__((constructor)) static void start(void)
{
    const char *dir = getenv("KS_FAULTS_DIR");
    const char *path = getenv("KS_FAULTS_CONTROL");
    int fd = path == NULL || dir == NULL ? -1 : open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) {
        return;
    }
    (void)snprintf(directory, sizeof directory, "%s", dir);
    void *bytes = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    (void)close(fd);
    control = bytes == MAP_FAILED ? NULL : bytes;
}

/* Pedantic C has no cast from an object's pointer to a function's. */
#define REAL(name)                             \
    static __typeof__(&name) real;             \
    if (real == NULL) {                        \
        void *found = dlsym(RTLD_NEXT, #name); \
        memcpy(&real, &found, sizeof real);    \
    }

static bool is_below(const char *path)
{
    size_t len = strlen(directory);
    return strncmp(path, directory, len) == 0 && (path[len] == '/' || path[len] == '\0');
}

/* ACTION_NONE, or what is to happen to this call. */
static int64_t strike(enum kind kind, const char *path)
{
    if (control == NULL || atomic_load(&control->action) == ACTION_NONE ||
        (atomic_load(&control->kinds) & kind) == 0 || !is_below(path)) {
        return ACTION_NONE;
    }
    atomic_fetch_add(&control->calls, 1);
    if (atomic_fetch_sub(&control->wait, 1) > 0) {
        return ACTION_NONE;
    }
    atomic_fetch_add(&control->hits, 1);
    return atomic_load(&control->action);
}

static int64_t strike_fd(enum kind kind, int fd)
{
    char link[64];
    char path[PATH_BYTES];
    if (control == NULL || atomic_load(&control->action) == ACTION_NONE) {
        return ACTION_NONE;
    }
    int errnum = errno;
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t len = readlink(link, path, sizeof path - 1);
    errno = errnum;
    if (len < 0) {
        return ACTION_NONE;
    }
    path[len] = '\0';
    return strike(kind, path);
}

static int fail(int64_t action)
{
    if (action == ACTION_KILL) {
        (void)kill(getpid(), SIGKILL);
        for (;;) {
            (void)pause();
        }
    }
    errno = (int)action;
    return -1;
}

/* ---- the calls ---- */

/* A write that the end interrupts has written a part. */
ssize_t write(int fd, const void *bytes, size_t len)
{
    REAL(write)
    int64_t action = strike_fd(KIND_WRITE, fd);
    if (action == ACTION_KILL && len > 1) {
        (void)!real(fd, bytes, len / 2);
    }
    return action == ACTION_NONE ? real(fd, bytes, len) : fail(action);
}

ssize_t pwrite(int fd, const void *bytes, size_t len, off_t at)
{
    REAL(pwrite)
    int64_t action = strike_fd(KIND_WRITE, fd);
    if (action == ACTION_KILL && len > 1) {
        (void)!real(fd, bytes, len / 2, at);
    }
    return action == ACTION_NONE ? real(fd, bytes, len, at) : fail(action);
}

ssize_t pwrite64(int fd, const void *bytes, size_t len, off64_t at)
{
    REAL(pwrite64)
    int64_t action = strike_fd(KIND_WRITE, fd);
    if (action == ACTION_KILL && len > 1) {
        (void)!real(fd, bytes, len / 2, at);
    }
    return action == ACTION_NONE ? real(fd, bytes, len, at) : fail(action);
}

int fsync(int fd)
{
    REAL(fsync)
    int64_t action = strike_fd(KIND_SYNC, fd);
    return action == ACTION_NONE ? real(fd) : fail(action);
}

int fdatasync(int fd)
{
    REAL(fdatasync)
    int64_t action = strike_fd(KIND_SYNC, fd);
    return action == ACTION_NONE ? real(fd) : fail(action);
}

int ftruncate(int fd, off_t len)
{
    REAL(ftruncate)
    int64_t action = strike_fd(KIND_TRUNCATE, fd);
    return action == ACTION_NONE ? real(fd, len) : fail(action);
}

int ftruncate64(int fd, off64_t len)
{
    REAL(ftruncate64)
    int64_t action = strike_fd(KIND_TRUNCATE, fd);
    return action == ACTION_NONE ? real(fd, len) : fail(action);
}

/* Only what creates or may write: reading goes on. */
static int64_t strike_open(const char *path, int flags)
{
    bool changes = (flags & (O_CREAT | O_TRUNC | O_WRONLY)) != 0;
    return changes ? strike(KIND_OPEN, path) : ACTION_NONE;
}

#define OPEN_MODE(mode, flags)                    \
    mode_t mode = 0;                              \
    if (((flags) & (O_CREAT | O_TMPFILE)) != 0) { \
        va_list args;                             \
        va_start(args, flags);                    \
        (mode) = (mode_t)va_arg(args, unsigned);  \
        va_end(args);                             \
    }

int open(const char *path, int flags, ...)
{
    REAL(open)
    OPEN_MODE(mode, flags)
    int64_t action = strike_open(path, flags);
    return action == ACTION_NONE ? real(path, flags, mode) : fail(action);
}

int open64(const char *path, int flags, ...)
{
    REAL(open64)
    OPEN_MODE(mode, flags)
    int64_t action = strike_open(path, flags);
    return action == ACTION_NONE ? real(path, flags, mode) : fail(action);
}

int rename(const char *from, const char *to)
{
    REAL(rename)
    int64_t action = strike(KIND_NAME, to);
    return action == ACTION_NONE ? real(from, to) : fail(action);
}

int mkdir(const char *path, mode_t mode)
{
    REAL(mkdir)
    int64_t action = strike(KIND_NAME, path);
    return action == ACTION_NONE ? real(path, mode) : fail(action);
}

int unlink(const char *path)
{
    REAL(unlink)
    int64_t action = strike(KIND_NAME, path);
    return action == ACTION_NONE ? real(path) : fail(action);
}

#include "ingest/store/objects/blob_check.h"

#include "ingest/base/monotonic.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE_BYTES ((size_t)256 << 10)
#define NS_A_SECOND INT64_C(1000000000)
/* A file's slot is told by the beginning of its hash; a later file takes it over. There are more of
 * them than files may wait for their analysis. */
#define SLOT_HEX_CHARS 3
#define SLOT_COUNT 4096

/* What is known of one file. */
struct slot {
    char sha256_hex[SHA256_HEX_BYTES];
    struct blob_stamp stamp;
    enum blob_state state;
    int64_t read_at_ms;
    bool is_judged;
    bool is_reading; /* a thread is at it, the others wait */
};

struct blob_checks {
    pthread_mutex_t lock;
    pthread_cond_t read; /* a file was read to its end */
    struct slot slots[SLOT_COUNT];
};

bool blob_checks_create(struct blob_checks **out, struct err *err)
{
    struct blob_checks *checks = calloc(1, sizeof *checks);
    bool has_lock = checks != NULL && pthread_mutex_init(&checks->lock, NULL) == 0;
    if (!has_lock || pthread_cond_init(&checks->read, NULL) != 0) {
        if (has_lock) {
            (void)pthread_mutex_destroy(&checks->lock);
        }
        free(checks);
        return err_set(err, ERR_NO_MEMORY, "no resources for the checks of stored uploads");
    }
    *out = checks;
    return true;
}

void blob_checks_destroy(struct blob_checks *checks)
{
    if (checks != NULL) {
        (void)pthread_cond_destroy(&checks->read);
        (void)pthread_mutex_destroy(&checks->lock);
        free(checks);
    }
}

/* ---- stamps ---- */

static struct blob_stamp stamp_of(const struct stat *info)
{
    return (struct blob_stamp){
        .device = (uint64_t)info->st_dev,
        .inode = (uint64_t)info->st_ino,
        .size_bytes = (uint64_t)info->st_size,
        .modified_ns = (int64_t)info->st_mtim.tv_sec * NS_A_SECOND + info->st_mtim.tv_nsec,
        .changed_ns = (int64_t)info->st_ctim.tv_sec * NS_A_SECOND + info->st_ctim.tv_nsec,
    };
}

static bool is_same(const struct blob_stamp *a, const struct blob_stamp *b)
{
    return a->device == b->device && a->inode == b->inode && a->size_bytes == b->size_bytes &&
           a->modified_ns == b->modified_ns && a->changed_ns == b->changed_ns;
}

bool blob_verdict_holds(const struct blob_verdict *verdict, const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0) {
        return verdict->state == BLOB_MISSING;
    }
    const struct blob_stamp now = stamp_of(&info);
    return verdict->state != BLOB_MISSING && is_same(&verdict->stamp, &now);
}

/* ---- reading ---- */

static bool hash_file(int fd, struct sha256 *hash, char *piece, struct err *err)
{
    off_t at = 0;
    for (;;) {
        ssize_t got = pread(fd, piece, PIECE_BYTES, at);
        if (got == 0) {
            return true;
        }
        if (got > 0) {
            sha256_update(hash, piece, (size_t)got);
            at += got;
        } else if (errno != EINTR) {
            return err_set_errno(err, ERR_IO, errno, "reading a stored upload");
        }
    }
}

bool blob_hash(int fd, char sha256_hex[SHA256_HEX_BYTES], struct err *err)
{
    char *piece = malloc(PIECE_BYTES);
    struct sha256 *hash = sha256_create();
    bool ok = (piece != NULL && hash != NULL) ||
              err_set(err, ERR_NO_MEMORY, "no memory to check a stored upload");
    if (ok) {
        (void)posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
        ok = hash_file(fd, hash, piece, err);
        sha256_final_hex(hash, sha256_hex);
    }
    sha256_destroy(hash);
    free(piece);
    return ok;
}

/* A disk that cannot read a file has damaged it, as far as its readers can tell. */
static bool hash_state(int fd, const char *sha256_hex, enum blob_state *state, struct err *err)
{
    char found[SHA256_HEX_BYTES];
    bool is_read = blob_hash(fd, found, err);
    if (!is_read && err->code == ERR_NO_MEMORY) {
        return false;
    }
    if (!is_read) {
        *err = (struct err)ERR_INIT;
    }
    *state = is_read && strcmp(found, sha256_hex) == 0 ? BLOB_WHOLE : BLOB_DAMAGED;
    return true;
}

/* ---- verdicts ---- */

/* A file that is being checked. */
struct subject {
    const char *sha256_hex;
    uint64_t size_bytes; /* that it should have */
    int fd;
};

static struct slot *slot_of(struct blob_checks *checks, const char *sha256_hex)
{
    char begin[SLOT_HEX_CHARS + 1] = {0};
    memcpy(begin, sha256_hex, SLOT_HEX_CHARS);
    return &checks->slots[strtoul(begin, NULL, 16) % SLOT_COUNT];
}

/* `lock` is held. */
static bool is_known(const struct slot *slot, const char *sha256_hex, const struct blob_stamp *now)
{
    return slot->is_judged && strcmp(slot->sha256_hex, sha256_hex) == 0 &&
           is_same(&slot->stamp, now) && monotonic_ms() - slot->read_at_ms < BLOB_CHECK_MS;
}

/* `lock` is held. */
static void remember(struct slot *slot,
                     const char *sha256_hex,
                     const struct blob_stamp *stamp,
                     enum blob_state state)
{
    memcpy(slot->sha256_hex, sha256_hex, SHA256_HEX_BYTES);
    slot->stamp = *stamp;
    slot->state = state;
    slot->is_judged = true;
    slot->read_at_ms = monotonic_ms();
}

static bool read_state(const struct subject *subject, struct blob_verdict *out, struct err *err)
{
    out->state = BLOB_DAMAGED;
    return out->stamp.size_bytes != subject->size_bytes ||
           hash_state(subject->fd, subject->sha256_hex, &out->state, err);
}

/* The slot is this thread's while it reads, so that several requests for one large file read it
 * once. `lock` is held, but not while the file is read. */
static bool read_into_slot(struct blob_checks *checks,
                           struct slot *slot,
                           const struct subject *subject,
                           struct blob_verdict *out,
                           struct err *err)
{
    memcpy(slot->sha256_hex, subject->sha256_hex, SHA256_HEX_BYTES);
    slot->is_judged = false;
    slot->is_reading = true;
    (void)pthread_mutex_unlock(&checks->lock);
    bool ok = read_state(subject, out, err);
    (void)pthread_mutex_lock(&checks->lock);
    slot->is_reading = false;
    if (ok) {
        remember(slot, subject->sha256_hex, &out->stamp, out->state);
    }
    (void)pthread_cond_broadcast(&checks->read);
    return ok;
}

/* Reads the file unless its state is known. */
static bool judge(struct blob_checks *checks,
                  const struct subject *subject,
                  struct blob_verdict *out,
                  struct err *err)
{
    struct slot *slot = slot_of(checks, subject->sha256_hex);
    (void)pthread_mutex_lock(&checks->lock);
    while (slot->is_reading && strcmp(slot->sha256_hex, subject->sha256_hex) == 0) {
        (void)pthread_cond_wait(&checks->read, &checks->lock);
    }
    bool is_taken = slot->is_reading; /* by another file, which may be a large one */
    bool ok = true;
    if (!is_taken && is_known(slot, subject->sha256_hex, &out->stamp)) {
        out->state = slot->state;
        out->is_new = false;
    } else if (!is_taken) {
        ok = read_into_slot(checks, slot, subject, out, err);
    }
    (void)pthread_mutex_unlock(&checks->lock);
    return is_taken ? read_state(subject, out, err) : ok;
}

bool blob_check(struct blob_checks *checks,
                const char *path,
                const char *sha256_hex,
                uint64_t size_bytes,
                struct blob_verdict *out,
                struct err *err)
{
    *out = (struct blob_verdict){.state = BLOB_MISSING, .is_new = true};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return errno == ENOENT || err_set_errno(err, ERR_IO, errno, "opening %s", path);
    }
    struct stat info;
    bool ok = fstat(fd, &info) == 0 || err_set_errno(err, ERR_IO, errno, "looking at %s", path);
    if (ok) {
        const struct subject subject = {
            .sha256_hex = sha256_hex, .size_bytes = size_bytes, .fd = fd};
        out->stamp = stamp_of(&info);
        ok = judge(checks, &subject, out, err);
    }
    (void)close(fd);
    return ok;
}

void blob_checks_note_whole(struct blob_checks *checks, const char *sha256_hex, int fd)
{
    struct stat info;
    if (fstat(fd, &info) != 0) {
        return;
    }
    const struct blob_stamp stamp = stamp_of(&info);
    struct slot *slot = slot_of(checks, sha256_hex);
    (void)pthread_mutex_lock(&checks->lock);
    if (!slot->is_reading) {
        remember(slot, sha256_hex, &stamp, BLOB_WHOLE);
    }
    (void)pthread_mutex_unlock(&checks->lock);
}

#include "ingest/store/objects/spool.h"

#include "ingest/base/thread.h"
#include "ingest/store/db/write_back.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One piece fills and is written while the thread is at the other. */
#define PIECE_BYTES ((size_t)512 << 10)
/* The first piece is small: who follows the file can begin with it. */
#define FIRST_PIECE_BYTES ((size_t)64 << 10)

struct spool {
    int fd;
    struct sha256 *hash;
    pthread_t thread;
    bool thread_runs;
    unsigned filling; /* the piece that the next bytes go to */
    size_t filled_bytes;
    uint64_t written_bytes;
    int errnum;

    pthread_mutex_t lock;
    pthread_cond_t changed; /* one side waits at a time */
    const char *given;      /* the thread's piece; NULL: it has none */
    size_t given_bytes;
    bool has_ended;

    char pieces[2][PIECE_BYTES];
};

static void write_piece(struct spool *spool, const char *piece, size_t len)
{
    uint64_t begin = spool->written_bytes;
    while (len > 0 && spool->errnum == 0) {
        ssize_t done = write(spool->fd, piece, len);
        if (done >= 0) {
            piece += done;
            len -= (size_t)done;
            spool->written_bytes += (uint64_t)done;
        } else if (errno != EINTR) {
            spool->errnum = errno;
        }
    }
    if (spool->written_bytes > begin) {
        write_back_begin(spool->fd, begin);
    }
}

static void *run(void *argument)
{
    struct spool *spool = argument;
    (void)pthread_mutex_lock(&spool->lock);
    while (!spool->has_ended || spool->given != NULL) {
        if (spool->given == NULL) {
            (void)pthread_cond_wait(&spool->changed, &spool->lock);
            continue;
        }
        (void)pthread_mutex_unlock(&spool->lock);
        sha256_update(spool->hash, spool->given, spool->given_bytes);
        (void)pthread_mutex_lock(&spool->lock);
        spool->given = NULL;
        (void)pthread_cond_signal(&spool->changed);
    }
    (void)pthread_mutex_unlock(&spool->lock);
    return NULL;
}

/* To the thread, or without one hashed here. */
static void hash_piece(struct spool *spool, const char *piece, size_t len)
{
    if (!spool->thread_runs) {
        spool->thread_runs = thread_start(&spool->thread, run, spool) == 0;
    }
    if (!spool->thread_runs) {
        sha256_update(spool->hash, piece, len);
        return;
    }
    (void)pthread_mutex_lock(&spool->lock);
    while (spool->given != NULL) {
        (void)pthread_cond_wait(&spool->changed, &spool->lock);
    }
    spool->given = piece;
    spool->given_bytes = len;
    (void)pthread_cond_signal(&spool->changed);
    (void)pthread_mutex_unlock(&spool->lock);
    spool->filling ^= 1U;
}

/* A full piece. */
static void put_away(struct spool *spool)
{
    const char *piece = spool->pieces[spool->filling];
    size_t len = spool->filled_bytes;
    spool->filled_bytes = 0;
    hash_piece(spool, piece, len);
    write_piece(spool, piece, len);
}

struct spool *spool_create(int fd)
{
    /* Pages that no bytes come to are never touched. */
    struct spool *spool = malloc(sizeof *spool);
    if (spool == NULL) {
        return NULL;
    }
    spool->fd = fd;
    spool->hash = sha256_create();
    spool->thread_runs = false;
    spool->filling = 0;
    spool->filled_bytes = 0;
    spool->given = NULL;
    spool->has_ended = false;
    spool->errnum = 0;
    spool->written_bytes = 0;
    bool has_lock = spool->hash != NULL && pthread_mutex_init(&spool->lock, NULL) == 0;
    if (!has_lock || pthread_cond_init(&spool->changed, NULL) != 0) {
        if (has_lock) {
            (void)pthread_mutex_destroy(&spool->lock);
        }
        sha256_destroy(spool->hash);
        free(spool);
        return NULL;
    }
    return spool;
}

int spool_add(struct spool *spool, const void *bytes, size_t len)
{
    const char *at = bytes;
    while (len > 0 && spool->errnum == 0) {
        size_t piece_bytes = spool->written_bytes == 0 ? FIRST_PIECE_BYTES : PIECE_BYTES;
        size_t room = piece_bytes - spool->filled_bytes;
        size_t take = len < room ? len : room;
        memcpy(spool->pieces[spool->filling] + spool->filled_bytes, at, take);
        spool->filled_bytes += take;
        at += take;
        len -= take;
        if (take == room) {
            put_away(spool);
        }
    }
    return spool->errnum;
}

static void end_thread(struct spool *spool)
{
    if (!spool->thread_runs) {
        return;
    }
    (void)pthread_mutex_lock(&spool->lock);
    spool->has_ended = true;
    (void)pthread_cond_signal(&spool->changed);
    (void)pthread_mutex_unlock(&spool->lock);
    (void)pthread_join(spool->thread, NULL);
    spool->thread_runs = false;
}

int spool_end(struct spool *spool)
{
    end_thread(spool);
    const char *rest = spool->pieces[spool->filling];
    sha256_update(spool->hash, rest, spool->filled_bytes);
    write_piece(spool, rest, spool->filled_bytes);
    spool->filled_bytes = 0;
    return spool->errnum;
}

void spool_sha256(struct spool *spool, char sha256_hex[SHA256_HEX_BYTES])
{
    sha256_final_hex(spool->hash, sha256_hex);
}

uint64_t spool_size_bytes(const struct spool *spool)
{
    return spool->written_bytes;
}

void spool_destroy(struct spool *spool)
{
    if (spool == NULL) {
        return;
    }
    end_thread(spool);
    (void)pthread_cond_destroy(&spool->changed);
    (void)pthread_mutex_destroy(&spool->lock);
    sha256_destroy(spool->hash);
    free(spool);
}

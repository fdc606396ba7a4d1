#include "ingest/store/objects/spool.h"

#include "ingest/store/db/write_back.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Bytes come in pieces of any size; the file is written in such ones. */
#define PIECE_BYTES ((size_t)512 << 10)
/* The first piece is small: who follows the file can begin with it. */
#define FIRST_PIECE_BYTES ((size_t)64 << 10)

struct spool {
    int fd;
    struct sha256 *hash;
    size_t filled_bytes;
    uint64_t written_bytes;
    int errnum;
    char piece[PIECE_BYTES];
};

/* What the piece holds, to the hash and into the file. */
static void put_away(struct spool *spool)
{
    const char *at = spool->piece;
    size_t len = spool->filled_bytes;
    uint64_t begin = spool->written_bytes;
    spool->filled_bytes = 0;
    while (len > 0 && spool->errnum == 0) {
        ssize_t done = write(spool->fd, at, len);
        if (done >= 0) {
            sha256_update(spool->hash, at, (size_t)done);
            at += done;
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

struct spool *spool_create(int fd)
{
    /* Pages that no bytes come to are never touched. */
    struct spool *spool = malloc(sizeof *spool);
    if (spool == NULL) {
        return NULL;
    }
    spool->fd = fd;
    spool->hash = sha256_create();
    spool->filled_bytes = 0;
    spool->written_bytes = 0;
    spool->errnum = 0;
    if (spool->hash == NULL) {
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
        memcpy(spool->piece + spool->filled_bytes, at, take);
        spool->filled_bytes += take;
        at += take;
        len -= take;
        if (take == room) {
            put_away(spool);
        }
    }
    return spool->errnum;
}

int spool_end(struct spool *spool)
{
    put_away(spool);
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
    if (spool != NULL) {
        sha256_destroy(spool->hash);
        free(spool);
    }
}

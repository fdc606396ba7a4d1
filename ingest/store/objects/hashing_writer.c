#include "ingest/store/objects/hashing_writer.h"

#include "ingest/store/db/write_back.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Bytes come in pieces of any size; the file is written in such ones. */
#define PIECE_BYTES ((size_t)512 << 10)
/* The first piece is small: who follows the file can begin with it. */
#define FIRST_PIECE_BYTES ((size_t)64 << 10)

struct hashing_writer {
    int fd;
    struct sha256 *hash;
    size_t filled_bytes;
    uint64_t written_bytes;
    int errnum;
    char piece[PIECE_BYTES];
};

/* What the piece holds, to the hash and into the file. */
static void put_away(struct hashing_writer *writer)
{
    const char *at = writer->piece;
    size_t len = writer->filled_bytes;
    uint64_t begin = writer->written_bytes;
    writer->filled_bytes = 0;
    while (len > 0 && writer->errnum == 0) {
        ssize_t done = write(writer->fd, at, len);
        if (done >= 0) {
            sha256_update(writer->hash, at, (size_t)done);
            at += done;
            len -= (size_t)done;
            writer->written_bytes += (uint64_t)done;
        } else if (errno != EINTR) {
            writer->errnum = errno;
        }
    }
    if (writer->written_bytes > begin) {
        write_back_begin(writer->fd, begin);
    }
}

struct hashing_writer *hashing_writer_create(int fd)
{
    /* Pages that no bytes come to are never touched. */
    struct hashing_writer *writer = malloc(sizeof *writer);
    if (writer == NULL) {
        return NULL;
    }
    writer->fd = fd;
    writer->hash = sha256_create();
    writer->filled_bytes = 0;
    writer->written_bytes = 0;
    writer->errnum = 0;
    if (writer->hash == NULL) {
        free(writer);
        return NULL;
    }
    return writer;
}

int hashing_writer_write(struct hashing_writer *writer, const void *bytes, size_t len)
{
    const char *at = bytes;
    while (len > 0 && writer->errnum == 0) {
        size_t piece_bytes = writer->written_bytes == 0 ? FIRST_PIECE_BYTES : PIECE_BYTES;
        size_t room = piece_bytes - writer->filled_bytes;
        size_t take = len < room ? len : room;
        memcpy(writer->piece + writer->filled_bytes, at, take);
        writer->filled_bytes += take;
        at += take;
        len -= take;
        if (take == room) {
            put_away(writer);
        }
    }
    return writer->errnum;
}

int hashing_writer_finish(struct hashing_writer *writer)
{
    put_away(writer);
    return writer->errnum;
}

void hashing_writer_sha256(struct hashing_writer *writer, char sha256_hex[SHA256_HEX_BYTES])
{
    sha256_final_hex(writer->hash, sha256_hex);
}

uint64_t hashing_writer_size_bytes(const struct hashing_writer *writer)
{
    return writer->written_bytes;
}

void hashing_writer_destroy(struct hashing_writer *writer)
{
    if (writer != NULL) {
        sha256_destroy(writer->hash);
        free(writer);
    }
}

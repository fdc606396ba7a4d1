/* Checks that a stored upload still has the bytes of its hash.
 *
 * Call it before a file is given out or taken for the same as one that arrives: a disk that
 * damaged a file tells nobody, and a download that turns out wrong at its end is too late. The file
 * is read once, in bounded memory. A verdict is remembered for BLOB_CHECK_MS, and only while the
 * file's device, inode, size and times stay the same: ranges of one download, HEAD before GET and
 * an upload that was just written cost one reading together. Thread-safe. */
#ifndef KS_STORE_BLOB_CHECK_H
#define KS_STORE_BLOB_CHECK_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/base/sha256.h"

#include <stdbool.h>
#include <stdint.h>

/* Ten minutes: a resumed download of a large file reads it once, and damage shows the same day.
 * Reading costs 0.9 s of processor time a GB (SHA-256 with its instructions), before the first byte
 * of the first download. */
#define BLOB_CHECK_MS ((int64_t)10 * 60 * 1000)

enum blob_state {
    BLOB_WHOLE,
    BLOB_DAMAGED, /* other bytes, another size, or the disk cannot read it */
    BLOB_MISSING
};

/* Which state of which file: equal stamps are the same bytes, unless the disk changes them. */
struct blob_stamp {
    uint64_t device;
    uint64_t inode;
    uint64_t size_bytes;
    int64_t modified_ns;
    int64_t changed_ns;
};

struct blob_verdict {
    enum blob_state state;
    bool is_new;             /* not remembered from an earlier call */
    struct blob_stamp stamp; /* all zero for BLOB_MISSING */
};

struct blob_checks;

bool blob_checks_create(struct blob_checks **out, struct err *err) KS_MUST_USE;
void blob_checks_destroy(struct blob_checks *checks); /* NULL is allowed */

/* False: no verdict, because of memory (ERR_NO_MEMORY) or because the file cannot be opened
 * (ERR_IO). Threads that ask for one file at the same time wait for the one that reads it. */
bool blob_check(struct blob_checks *checks,
                const char *path,
                const char *sha256_hex,
                uint64_t size_bytes,
                struct blob_verdict *out,
                struct err *err) KS_MUST_USE;
/* The open file was written and hashed just now, so it is whole. Call it after the rename, which
 * changes the stamp. */
void blob_checks_note_whole(struct blob_checks *checks, const char *sha256_hex, int fd);
/* The hash of a file's bytes, wherever its offset stands. ERR_NO_MEMORY, ERR_IO. */
bool blob_hash(int fd, char sha256_hex[SHA256_HEX_BYTES], struct err *err) KS_MUST_USE;
/* Whether the file at `path` is still the one that was judged. */
bool blob_verdict_holds(const struct blob_verdict *verdict, const char *path) KS_MUST_USE;

#endif

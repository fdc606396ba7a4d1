/* The archive that a backup is: a plain tar, ustar headers with a pax record where a size needs
 * more than eleven octal digits, so that every tar can list and unpack it. Only regular files with
 * short names, one after the other; written and read in one go, without seeking. */
#ifndef KS_STORE_BACKUP_TAR_H
#define KS_STORE_BACKUP_TAR_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* With NUL; what a ustar header holds without a prefix. */
#define BACKUP_TAR_NAME_BYTES 101

struct backup_tar {
    int fd;                /* of the caller, who closes it */
    const char *path;      /* for messages */
    uint64_t member_bytes; /* of this member that are still to come */
    uint64_t pad_bytes;    /* behind it */
};

/* Each of the following: ERR_IO, ERR_NO_SPACE; reading also ERR_BAD_INPUT (cut or no such
 * archive). Interrupted calls go on. */

bool backup_tar_begin(struct backup_tar *tar,
                      const char *name,
                      uint64_t size_bytes,
                      int64_t modified_at_s,
                      struct err *err) KS_MUST_USE;
/* Exactly `size_bytes` are to follow, then backup_tar_end_member. */
bool backup_tar_write(struct backup_tar *tar, const void *bytes, size_t len, struct err *err)
    KS_MUST_USE;
bool backup_tar_end_member(struct backup_tar *tar, struct err *err) KS_MUST_USE;
bool backup_tar_finish(struct backup_tar *tar, struct err *err) KS_MUST_USE;

/* The next member; *has_member false at the end mark. All bytes of the one before must be read. */
bool backup_tar_next(struct backup_tar *tar,
                     char name[BACKUP_TAR_NAME_BYTES],
                     uint64_t *size_bytes,
                     bool *has_member,
                     struct err *err) KS_MUST_USE;
/* Up to `len` bytes of the member; *got 0 at its end. */
bool backup_tar_read(struct backup_tar *tar, void *bytes, size_t len, size_t *got, struct err *err)
    KS_MUST_USE;

#endif

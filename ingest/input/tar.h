/* A tar archive, member by member: ustar, pax, GNU and the older kind without magic, behind any
 * container that an input undoes. Nothing is written anywhere; paths are text that others may show.
 *
 *     input [header][bytes....pad][header][bytes..pad][zeros][zeros]
 *            tar_next ^ tar_member -> input over these bytes, itself plain, gzip or zstd
 *
 * One thread at a time; a member's input reads on a thread of its own until it is closed. */
#ifndef KS_INPUT_TAR_H
#define KS_INPUT_TAR_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/input/input.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TAR_BLOCK_BYTES 512u
/* Longer paths are not taken. */
#define TAR_PATH_MAX_BYTES 4096u

/* Whether the bytes begin an archive: by the magic of a header, or, of the kind without, by its
 * checksum. Needs TAR_BLOCK_BYTES. */
bool tar_recognises(const char *bytes, size_t len);

struct tar;

/* Reads from the input's first byte (input_peek may have looked). The input stays the caller's and
 * must outlive the archive. ERR_NO_MEMORY. */
bool tar_open(struct tar **out, struct input *in, struct err *err) KS_MUST_USE;
void tar_close(struct tar *tar); /* NULL is allowed */

/* A regular file with at least one byte, or a fault. Valid until the next call. */
struct tar_entry {
    /* Parts joined by "/", without empty parts, "." and ".."; bytes that are no UTF-8 and control
     * characters are "_". Of a fault the path of the member concerned, or "". */
    const char *path;
    uint64_t size_bytes;
    /* ERR_BAD_INPUT: this is no file but what is wrong: a header that is damaged (what follows is
     * looked for behind it), a sparse file, an archive that breaks off (in the member before, or
     * without its end mark). NULL: nothing. */
    const struct err *fault;
};

/* Goes on to the next file, over what is left of the one before, over directories, links, devices,
 * hidden files (a part of the path begins with ".") and empty ones. *has_entry false: the archive
 * is over; what stands behind its end mark is not read. Errors: those of input_next. */
bool tar_next(struct tar *tar, struct tar_entry *entry, bool *has_entry, struct err *err)
    KS_MUST_USE;
/* The bytes of the file that tar_next answered, once. Where the archive breaks off they end, and
 * the next entry says so. To be closed before the next tar_next. Errors: those of input_next,
 * ERR_NO_MEMORY. */
bool tar_member(struct tar *tar, struct input **out, struct err *err) KS_MUST_USE;

#endif

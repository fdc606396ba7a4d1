/* Reads a tar archive member by member: ustar, pax, GNU and the older kind without magic, in any
 * container that an input undoes. Writes nothing to disk; paths are safe to display.
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
/* Longer paths are faults. */
#define TAR_PATH_MAX_BYTES 4096u

/* Whether the bytes begin an archive: by the magic of a header, or by its checksum if it has no
 * magic. Needs TAR_BLOCK_BYTES. */
bool tar_recognises(const char *bytes, size_t len);

struct tar;

/* Reads from the input's first byte (input_peek may have looked). The caller keeps the input, which
 * must outlive the archive. ERR_NO_MEMORY. */
bool tar_open(struct tar **out, struct input *in, struct err *err) KS_MUST_USE;
void tar_close(struct tar *tar); /* NULL is allowed */

/* A regular file with at least one byte, or a fault. Valid until the next call. */
struct tar_entry {
    /* Parts joined by "/", without empty parts, "." and ".."; "_" replaces control characters and
     * bytes that are not UTF-8. For a fault: the path of its member, or "". */
    const char *path;
    uint64_t size_bytes;
    /* NULL: a file. ERR_BAD_INPUT: a fault: a damaged header (the search goes on after it), a
     * sparse file, an archive that breaks off (in the member before, or without its end mark). */
    const struct err *fault;
};

/* Skips the rest of the current file, and directories, links, devices, hidden files (a part of the
 * path begins with ".") and empty files, and returns the next file. *has_entry false: the end of
 * the archive; what follows its end mark is not read. Errors: those of input_next. */
bool tar_next(struct tar *tar, struct tar_entry *entry, bool *has_entry, struct err *err)
    KS_MUST_USE;
/* Opens the bytes of the file that tar_next returned, once. They end where the archive breaks off,
 * and the next entry says so. Close it before the next tar_next. Errors: those of input_next,
 * ERR_NO_MEMORY. */
bool tar_member(struct tar *tar, struct input **out, struct err *err) KS_MUST_USE;

#endif

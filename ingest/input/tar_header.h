/* Parses one header block of an archive. Knows no input. */
#ifndef KS_INPUT_TAR_HEADER_H
#define KS_INPUT_TAR_HEADER_H

#include "ingest/base/attr.h"
#include "ingest/base/text/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tar_kind {
    TAR_FILE,
    TAR_NO_DATA,     /* a directory, link or device: no bytes follow, whatever its size says */
    TAR_SKIPPED,     /* another entry whose bytes are skipped */
    TAR_LONG_NAME,   /* its bytes are the path of the next header */
    TAR_EXTENDED,    /* its bytes are pax records for the next header */
    TAR_SPARSE,      /* a file with holes, in the old GNU format */
    TAR_OTHER_VOLUME /* the rest of a file that began in another archive */
};

struct tar_header {
    enum tar_kind kind;
    uint64_t size_bytes;
    bool more_sparse_blocks; /* TAR_SPARSE: another block of the map follows */
};

/* What pax records and long names say about the next header. */
struct tar_extras {
    struct buf path; /* empty: as the header says */
    bool has_size;
    uint64_t size_bytes;
    bool is_sparse;
};

/* All take TAR_BLOCK_BYTES. */
bool tar_header_is_zero(const char *block);
bool tar_header_checksum_holds(const char *block);
/* False: a field is not a number, or the size is impossible. */
bool tar_header_read(const char *block, struct tar_header *header) KS_MUST_USE;
/* Appends the path in the header itself. */
void tar_header_path(const char *block, struct buf *path);
/* Whether another block of a sparse file's map follows this one. */
bool tar_sparse_goes_on(const char *block);

/* Reads pax records; stops at a malformed one. */
void tar_extras_read(struct tar_extras *extras, const char *records, size_t len);

/* Appends the path in the form of struct tar_entry. `hidden`: a part begins with ".". */
void tar_clean_path(const char *path, size_t len, struct buf *out, bool *hidden);

#endif

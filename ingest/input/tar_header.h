/* What one header block of an archive says. Knows no input. */
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
    TAR_SKIPPED,     /* something else whose bytes are of no use */
    TAR_LONG_NAME,   /* its bytes are the path of the next header */
    TAR_EXTENDED,    /* its bytes are pax records for the next header */
    TAR_SPARSE,      /* a file with holes, in the old GNU way */
    TAR_OTHER_VOLUME /* the rest of a file that began in another archive */
};

struct tar_header {
    enum tar_kind kind;
    uint64_t size_bytes;
    bool more_sparse_blocks; /* TAR_SPARSE: another block of the map follows */
};

/* What pax records and long names tell of the next header. */
struct tar_extras {
    struct buf path; /* empty: as the header says */
    bool has_size;
    uint64_t size_bytes;
    bool is_sparse;
};

/* All are of TAR_BLOCK_BYTES. */
bool tar_header_is_zero(const char *block);
bool tar_header_has_magic(const char *block);
bool tar_header_checksum_holds(const char *block);
/* False: a field is no number, or a size that no file has. */
bool tar_header_read(const char *block, struct tar_header *header) KS_MUST_USE;
/* Appends the path that the header itself has. */
void tar_header_path(const char *block, struct buf *path);
/* Whether another block follows in the map of a sparse file, by such a block. */
bool tar_sparse_goes_on(const char *block);

/* Takes over what pax records say; a record that is none ends the reading. */
void tar_extras_read(struct tar_extras *extras, const char *records, size_t len);

/* Appends the path as struct tar_entry has it. `hidden`: one of its parts begins with ".". */
void tar_clean_path(const char *path, size_t len, struct buf *out, bool *hidden);

#endif

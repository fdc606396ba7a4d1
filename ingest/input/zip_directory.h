/* The members of a zip archive: from the directory at its end, else from the headers before them.
 */
#ifndef KS_INPUT_ZIP_DIRECTORY_H
#define KS_INPUT_ZIP_DIRECTORY_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct zip_member {
    char *name; /* as it stands there */
    size_t name_len;
    uint64_t at; /* of its packed bytes in the file */
    uint64_t packed_bytes, size_bytes;
    uint32_t crc32;
    uint16_t method;
    bool is_encrypted;
};

struct zip_directory {
    int fd;
    uint64_t file_bytes;
    struct zip_member *members;
    size_t count, cap;
};

/* ERR_IO, ERR_NO_MEMORY; ERR_BAD_INPUT: no member. To be freed in either case. */
bool zip_directory_read(struct zip_directory *directory,
                        const char *path,
                        struct err *err) KS_MUST_USE;
void zip_directory_free(struct zip_directory *directory);
/* Fewer than `want` bytes at the end of the file only. */
bool zip_read_at(const struct zip_directory *directory,
                 uint64_t at,
                 char *out,
                 size_t want,
                 size_t *len,
                 struct err *err) KS_MUST_USE;

#endif

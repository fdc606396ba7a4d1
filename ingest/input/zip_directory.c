#include "ingest/input/zip_directory.h"

#include "ingest/base/memory/scratch.h"
#include "ingest/input/zip.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOCAL_BYTES ((size_t)30)
#define CENTRAL_BYTES ((size_t)46)
#define END_BYTES ((size_t)22)
#define END64_LOCATOR_BYTES ((size_t)20)
#define END64_BYTES ((size_t)56)
#define COMMENT_BYTES_MAX ((size_t)65535)
#define EXTRA_64 1
#define NAME_BYTES_MAX ((size_t)4096)
#define SIZE_IS_IN_EXTRA UINT32_MAX
/* Room for ZIP_MEMBERS_MAX with long names; the file itself may say that it is as long as the file.
 */
#define DIRECTORY_BYTES_MAX ((uint64_t)128 << 20)
enum { FLAG_ENCRYPTED = 1, FLAG_SIZES_FOLLOW = 8 };

bool zip_read_at(const struct zip_directory *directory,
                 uint64_t at,
                 char *out,
                 size_t want,
                 size_t *len,
                 struct err *err)
{
    *len = 0;
    while (*len < want && at + *len < directory->file_bytes) {
        ssize_t got = pread(directory->fd, out + *len, want - *len, (off_t)(at + *len));
        if (got < 0 && errno != EINTR) {
            return err_set_errno(err, ERR_IO, errno, "reading a zip archive");
        }
        if (got == 0) {
            break;
        }
        *len += got > 0 ? (size_t)got : 0;
    }
    return true;
}

static uint64_t number_at(const char *bytes, int size)
{
    uint64_t value = 0;
    for (int i = size - 1; i >= 0; i--) {
        value = value << 8 | (unsigned char)bytes[i];
    }
    return value;
}

static bool has_magic(const char *bytes, size_t len, const char *magic)
{
    return bytes != NULL && len >= 4 && memcmp(bytes, magic, 4) == 0;
}

/* ---- members ---- */

/* Sizes beyond 32 bits stand in an extra field, in the order of those that say so. */
static void read_extra(const char *extra, size_t len, struct zip_member *member, uint64_t *header)
{
    while (len >= 4) {
        size_t size = (size_t)number_at(extra + 2, 2);
        size = size < len - 4 ? size : len - 4;
        const char *at = extra + 4;
        size_t left = number_at(extra, 2) == EXTRA_64 ? size : 0;
        uint64_t *const fields[] = {&member->size_bytes, &member->packed_bytes, header};
        for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
            if (fields[i] != NULL && *fields[i] == SIZE_IS_IN_EXTRA && left >= 8) {
                *fields[i] = number_at(at, 8);
                at += 8;
                left -= 8;
            }
        }
        extra += 4 + size;
        len -= 4 + size;
    }
}

static bool
add_member(struct zip_directory *directory, struct zip_member member, const char *name, size_t len)
{
    struct zip_member *grown =
        scratch_grow(directory->members, directory->count, &directory->cap, sizeof *grown);
    if (grown == NULL) {
        return false;
    }
    directory->members = grown;
    len = len < NAME_BYTES_MAX ? len : NAME_BYTES_MAX;
    member.name = malloc(len + 1);
    if (member.name == NULL) {
        return false;
    }
    memcpy(member.name, name, len);
    member.name[len] = '\0';
    member.name_len = len;
    grown[directory->count++] = member;
    return true;
}

/* Where the bytes behind a local header begin; UINT64_MAX: there is none. */
static bool
find_bytes(const struct zip_directory *directory, uint64_t header, uint64_t *at, struct err *err)
{
    char local[LOCAL_BYTES];
    size_t len;
    *at = UINT64_MAX;
    if (header >= directory->file_bytes) {
        return true;
    }
    if (!zip_read_at(directory, header, local, sizeof local, &len, err)) {
        return false;
    }
    if (len == sizeof local && has_magic(local, len, "PK\x03\x04")) {
        *at = header + LOCAL_BYTES + number_at(local + 26, 2) + number_at(local + 28, 2);
    }
    return true;
}

/* ---- the directory ---- */

static bool take_central(struct zip_directory *directory,
                         const char *entry,
                         size_t name_len,
                         size_t extra_len,
                         struct err *err)
{
    unsigned flags = (unsigned)number_at(entry + 8, 2);
    uint64_t header = number_at(entry + 42, 4);
    struct zip_member member = {.packed_bytes = number_at(entry + 20, 4),
                                .size_bytes = number_at(entry + 24, 4),
                                .crc32 = (uint32_t)number_at(entry + 16, 4),
                                .method = (uint16_t)number_at(entry + 10, 2),
                                .is_encrypted = (flags & FLAG_ENCRYPTED) != 0};
    read_extra(entry + CENTRAL_BYTES + name_len, extra_len, &member, &header);
    if (!find_bytes(directory, header, &member.at, err)) {
        return false;
    }
    bool is_there = member.at < directory->file_bytes && member.size_bytes > 0;
    return !is_there || add_member(directory, member, entry + CENTRAL_BYTES, name_len) ||
           err_set(err, ERR_NO_MEMORY, "no memory for the members of a zip archive");
}

static bool
take_directory(struct zip_directory *directory, const char *bytes, size_t len, struct err *err)
{
    while (directory->count < ZIP_MEMBERS_MAX && len >= CENTRAL_BYTES &&
           has_magic(bytes, len, "PK\x01\x02")) {
        size_t name_len = (size_t)number_at(bytes + 28, 2);
        size_t extra_len = (size_t)number_at(bytes + 30, 2);
        size_t whole = CENTRAL_BYTES + name_len + extra_len + (size_t)number_at(bytes + 32, 2);
        if (whole > len) {
            break;
        }
        if (!take_central(directory, bytes, name_len, extra_len, err)) {
            return false;
        }
        bytes += whole;
        len -= whole;
    }
    return true;
}

/* The place and size of the directory; a size of 0: there is none. */
static bool find_directory(const struct zip_directory *directory,
                           const char *tail,
                           size_t tail_len,
                           uint64_t *at,
                           uint64_t *size,
                           struct err *err)
{
    size_t i = tail_len < END_BYTES ? 0 : tail_len - END_BYTES + 1;
    *size = 0;
    while (i-- > 0) {
        if (!has_magic(tail + i, tail_len - i, "PK\x05\x06")) {
            continue;
        }
        *size = number_at(tail + i + 12, 4);
        *at = number_at(tail + i + 16, 4);
        char end[END64_BYTES];
        size_t len = 0;
        bool has_64 =
            i >= END64_LOCATOR_BYTES && has_magic(tail + i - END64_LOCATOR_BYTES, 4, "PK\x06\x07");
        if (has_64 && !zip_read_at(directory, number_at(tail + i - END64_LOCATOR_BYTES + 8, 8), end,
                                   sizeof end, &len, err)) {
            return false;
        }
        if (len == sizeof end && has_magic(end, len, "PK\x06\x06")) {
            *size = number_at(end + 40, 8);
            *at = number_at(end + 48, 8);
        }
        return true;
    }
    return true;
}

static bool read_directory(struct zip_directory *directory, struct err *err)
{
    size_t want = END_BYTES + COMMENT_BYTES_MAX + END64_LOCATOR_BYTES;
    want = want < directory->file_bytes ? want : (size_t)directory->file_bytes;
    char *tail = scratch_alloc(want + 1, 1);
    size_t len = 0;
    uint64_t at = 0;
    uint64_t size = 0;
    bool ok = tail != NULL || err_set(err, ERR_NO_MEMORY, "no memory for a zip archive");
    ok = ok && zip_read_at(directory, directory->file_bytes - want, tail, want, &len, err) &&
         find_directory(directory, tail, len, &at, &size, err);
    scratch_free(tail);
    if (!ok || size == 0 || at >= directory->file_bytes || size > directory->file_bytes - at) {
        return ok;
    }
    size = size < DIRECTORY_BYTES_MAX ? size : DIRECTORY_BYTES_MAX;
    char *bytes = scratch_alloc((size_t)size, 1);
    ok = bytes != NULL || err_set(err, ERR_NO_MEMORY, "no memory for a zip archive");
    ok = ok && zip_read_at(directory, at, bytes, (size_t)size, &len, err) &&
         take_directory(directory, bytes, len, err);
    scratch_free(bytes);
    return ok;
}

/* ---- without one ---- */

/* Header by header, as far as they say how long their members are. */
static bool follow_headers(struct zip_directory *directory, struct err *err)
{
    uint64_t at = 0;
    char header[LOCAL_BYTES + NAME_BYTES_MAX];
    while (directory->count < ZIP_MEMBERS_MAX && at < directory->file_bytes) {
        size_t len;
        if (!zip_read_at(directory, at, header, sizeof header, &len, err)) {
            return false;
        }
        if (len < LOCAL_BYTES || !has_magic(header, len, "PK\x03\x04")) {
            return true;
        }
        unsigned flags = (unsigned)number_at(header + 6, 2);
        size_t name_len = (size_t)number_at(header + 26, 2);
        size_t there = LOCAL_BYTES + name_len <= len ? name_len : len - LOCAL_BYTES;
        struct zip_member member = {.packed_bytes = number_at(header + 18, 4),
                                    .size_bytes = number_at(header + 22, 4),
                                    .crc32 = (uint32_t)number_at(header + 14, 4),
                                    .method = (uint16_t)number_at(header + 8, 2),
                                    .is_encrypted = (flags & FLAG_ENCRYPTED) != 0};
        member.at = at + LOCAL_BYTES + name_len + number_at(header + 28, 2);
        bool is_told = (flags & FLAG_SIZES_FOLLOW) == 0 && member.packed_bytes != SIZE_IS_IN_EXTRA;
        if (!is_told || member.at > directory->file_bytes) {
            return true;
        }
        if (member.size_bytes > 0 && !add_member(directory, member, header + LOCAL_BYTES, there)) {
            return err_set(err, ERR_NO_MEMORY, "no memory for the members of a zip archive");
        }
        at = member.at + member.packed_bytes;
    }
    return true;
}

/* ---- the whole ---- */

bool zip_directory_read(struct zip_directory *directory, const char *path, struct err *err)
{
    struct stat state;
    *directory = (struct zip_directory){.fd = open(path, O_RDONLY | O_CLOEXEC)};
    if (directory->fd < 0 || fstat(directory->fd, &state) != 0) {
        return err_set_errno(err, ERR_IO, errno, "opening a zip archive");
    }
    directory->file_bytes = (uint64_t)state.st_size;
    if (!read_directory(directory, err) ||
        (directory->count == 0 && !follow_headers(directory, err))) {
        return false;
    }
    return directory->count > 0 ||
           err_set(err, ERR_BAD_INPUT, "the zip archive holds no file that can be read");
}

void zip_directory_free(struct zip_directory *directory)
{
    for (size_t i = 0; i < directory->count; i++) {
        free(directory->members[i].name);
    }
    scratch_free(directory->members);
    if (directory->fd >= 0) {
        (void)close(directory->fd);
    }
}

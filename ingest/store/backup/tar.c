#include "ingest/store/backup/tar.h"

#include "ingest/base/files/write_all.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BLOCK_BYTES 512u
/* Eleven octal digits. */
#define USTAR_SIZE_MAX (((uint64_t)1 << 33) - 1)
#define SIZE_RECORD "size="

/* As POSIX lays a header out; texts and octal numbers. */
struct header {
    char name[100];
    char mode[8];
    char uid[8];
    char gid[8];
    char size[12];
    char mtime[12];
    char checksum[8];
    char type;
    char link_name[100];
    char magic[6];
    char version[2];
    char user[32];
    char group[32];
    char device_major[8];
    char device_minor[8];
    char prefix[155];
    char unused[12];
};

_Static_assert(sizeof(struct header) == BLOCK_BYTES, "a header is a block");

#define TYPE_FILE '0'
#define TYPE_PAX 'x'

static unsigned checksum_of(const struct header *header)
{
    struct header copy = *header;
    const unsigned char *bytes = (const unsigned char *)&copy;
    unsigned sum = 0;
    memset(copy.checksum, ' ', sizeof copy.checksum);
    for (size_t i = 0; i < sizeof copy; i++) {
        sum += bytes[i];
    }
    return sum;
}

static uint64_t padding_of(uint64_t size_bytes)
{
    return (BLOCK_BYTES - size_bytes % BLOCK_BYTES) % BLOCK_BYTES;
}

/* ---- writing ---- */

static bool
write_fully(const struct backup_tar *tar, const void *bytes, size_t len, struct err *err)
{
    return write_all(tar->fd, bytes, len) ||
           err_set_errno(err, ERR_IO, errno, "writing the backup %s", tar->path);
}

static bool write_header(const struct backup_tar *tar,
                         const char *name,
                         char type,
                         uint64_t size_bytes,
                         int64_t modified_at_s,
                         struct err *err)
{
    struct header header = {.type = type, .magic = "ustar", .version = {'0', '0'}};
    size_t len = strlen(name);
    if (len > sizeof header.name) {
        return err_set(err, ERR_INTERNAL, "the name %s is too long for a backup", name);
    }
    memcpy(header.name, name, len);
    (void)snprintf(header.mode, sizeof header.mode, "%07o", 0600U);
    (void)snprintf(header.uid, sizeof header.uid, "%07o", 0U);
    (void)snprintf(header.gid, sizeof header.gid, "%07o", 0U);
    (void)snprintf(header.size, sizeof header.size, "%011" PRIo64, size_bytes & USTAR_SIZE_MAX);
    (void)snprintf(header.mtime, sizeof header.mtime, "%011" PRIo64,
                   modified_at_s < 0 ? 0 : (uint64_t)modified_at_s & USTAR_SIZE_MAX);
    (void)snprintf(header.checksum, sizeof header.checksum, "%06o",
                   checksum_of(&header) & 0777777U);
    header.checksum[sizeof header.checksum - 1] = ' ';
    return write_fully(tar, &header, sizeof header, err);
}

/* "<length of all> size=<bytes>\n", where the length counts its own digits. */
static bool write_size_record(const struct backup_tar *tar, uint64_t size_bytes, struct err *err)
{
    char block[BLOCK_BYTES] = {0};
    char text[64];
    int rest = snprintf(text, sizeof text, " " SIZE_RECORD "%" PRIu64 "\n", size_bytes);
    int total = rest + 2;
    (void)snprintf(block, sizeof block, "%d%s", total, text);
    return write_header(tar, "size", TYPE_PAX, (uint64_t)total, 0, err) &&
           write_fully(tar, block, sizeof block, err);
}

bool backup_tar_begin(struct backup_tar *tar,
                      const char *name,
                      uint64_t size_bytes,
                      int64_t modified_at_s,
                      struct err *err)
{
    tar->member_bytes = size_bytes;
    tar->pad_bytes = padding_of(size_bytes);
    return (size_bytes <= USTAR_SIZE_MAX || write_size_record(tar, size_bytes, err)) &&
           write_header(tar, name, TYPE_FILE, size_bytes <= USTAR_SIZE_MAX ? size_bytes : 0,
                        modified_at_s, err);
}

bool backup_tar_write(struct backup_tar *tar, const void *bytes, size_t len, struct err *err)
{
    if (len > tar->member_bytes) {
        return err_set(err, ERR_IO, "a file grew while it was copied into %s", tar->path);
    }
    tar->member_bytes -= len;
    return write_fully(tar, bytes, len, err);
}

bool backup_tar_end_member(struct backup_tar *tar, struct err *err)
{
    static const char zeros[BLOCK_BYTES];
    if (tar->member_bytes != 0) {
        return err_set(err, ERR_IO, "a file shrank while it was copied into %s", tar->path);
    }
    return write_fully(tar, zeros, (size_t)tar->pad_bytes, err);
}

bool backup_tar_finish(struct backup_tar *tar, struct err *err)
{
    static const char zeros[2 * BLOCK_BYTES];
    return write_fully(tar, zeros, sizeof zeros, err);
}

/* ---- reading ---- */

static bool read_fully(const struct backup_tar *tar, void *bytes, size_t len, struct err *err)
{
    char *at = bytes;
    while (len > 0) {
        ssize_t got = read(tar->fd, at, len);
        if (got == 0) {
            return err_set(err, ERR_BAD_INPUT, "the backup %s breaks off; take another one",
                           tar->path);
        }
        if (got < 0 && errno != EINTR) {
            return err_set_errno(err, ERR_IO, errno, "reading the backup %s", tar->path);
        }
        at += got > 0 ? got : 0;
        len -= got > 0 ? (size_t)got : 0;
    }
    return true;
}

static bool no_backup(const struct backup_tar *tar, struct err *err)
{
    return err_set(err, ERR_BAD_INPUT,
                   "%s is no backup that `kinetoscope backup` wrote, or damaged", tar->path);
}

static bool parse_octal(const char *text, size_t len, uint64_t *value)
{
    size_t at = 0;
    *value = 0;
    while (at < len && text[at] >= '0' && text[at] <= '7') {
        *value = *value << 3 | (uint64_t)(text[at++] - '0');
    }
    return at > 0;
}

static bool parse_size_record(const char *text, uint64_t *size_bytes)
{
    const char *found = strstr(text, " " SIZE_RECORD);
    return found != NULL && sscanf(found + sizeof SIZE_RECORD, "%" SCNu64, size_bytes) == 1;
}

static bool is_zero(const struct header *header)
{
    static const struct header zero;
    return memcmp(header, &zero, sizeof zero) == 0;
}

static bool
read_header(const struct backup_tar *tar, struct header *header, uint64_t *size, struct err *err)
{
    uint64_t sum = 0;
    if (!read_fully(tar, header, sizeof *header, err)) {
        return false;
    }
    if (is_zero(header)) {
        return true;
    }
    bool ok = memcmp(header->magic, "ustar", sizeof header->magic) == 0 &&
              parse_octal(header->checksum, sizeof header->checksum, &sum) &&
              sum == checksum_of(header) && parse_octal(header->size, sizeof header->size, size);
    return ok || no_backup(tar, err);
}

bool backup_tar_next(struct backup_tar *tar,
                     char name[BACKUP_TAR_NAME_BYTES],
                     uint64_t *size_bytes,
                     bool *has_member,
                     struct err *err)
{
    struct header header;
    uint64_t size = 0;
    uint64_t long_size = 0;
    char skipped[BLOCK_BYTES];
    if (!read_fully(tar, skipped, (size_t)tar->pad_bytes, err) ||
        !read_header(tar, &header, &size, err)) {
        return false;
    }
    tar->pad_bytes = 0;
    *has_member = !is_zero(&header);
    if (*has_member && header.type == TYPE_PAX) {
        char text[BLOCK_BYTES + 1] = {0};
        if (size > BLOCK_BYTES || !read_fully(tar, text, BLOCK_BYTES, err)) {
            return size <= BLOCK_BYTES ? false : no_backup(tar, err);
        }
        if (!parse_size_record(text, &long_size)) {
            return no_backup(tar, err);
        }
        if (!read_header(tar, &header, &size, err)) {
            return false;
        }
    }
    if (!*has_member) {
        return true;
    }
    if (header.type != TYPE_FILE) {
        return no_backup(tar, err);
    }
    memcpy(name, header.name, sizeof header.name);
    name[sizeof header.name] = '\0';
    *size_bytes = long_size != 0 ? long_size : size;
    tar->member_bytes = *size_bytes;
    tar->pad_bytes = padding_of(*size_bytes);
    return true;
}

bool backup_tar_read(struct backup_tar *tar, void *bytes, size_t len, size_t *got, struct err *err)
{
    *got = len < tar->member_bytes ? len : (size_t)tar->member_bytes;
    tar->member_bytes -= *got;
    return read_fully(tar, bytes, *got, err);
}

/* A deflated member becomes a gzip file: a header before it, its checksum and size behind. So the
 * decoder of gzip, which knows how damage looks, reads zip too. */
#include "ingest/input/zip.h"

#include "ingest/base/text/buf.h"
#include "ingest/input/zip_directory.h"

#include <stdlib.h>
#include <string.h>

#define TAR_BLOCK ((size_t)512)
#define PIECE_BYTES ((size_t)64 << 10)
#define GZIP_HEAD_BYTES ((size_t)10)
#define GZIP_TAIL_BYTES ((size_t)8)
#define TAR_NAME_BYTES ((size_t)100)
#define TAR_OCTAL_MAX ((uint64_t)077777777777)

enum { METHOD_DEFLATED = 8, METHOD_ZSTD = 93 };
enum stage { STAGE_HEADER, STAGE_BYTES, STAGE_PAD, STAGE_END };

struct zip {
    struct zip_directory directory;
    struct input_limits limits;
    struct buf tar; /* a header, or what is behind a member */
    enum stage stage;
    size_t next;
    /* of the member under way */
    const struct zip_member *member;
    struct input *in;
    uint64_t left_bytes; /* of what its header promises */
    uint64_t packed_at, packed_left;
    int piece; /* of the gzip file: header, bytes, checksum */
    char bytes[PIECE_BYTES];
    uint64_t made_bytes; /* of all members */
};

bool zip_recognises(const char *bytes, size_t len)
{
    return len >= 4 && memcmp(bytes, "PK\x03\x04", 4) == 0;
}

/* ---- the packed bytes of a member ---- */

static size_t write_gzip_head(char *out)
{
    static const char head[GZIP_HEAD_BYTES] = {0x1F, (char)0x8B, 8, 0, 0, 0, 0, 0, 0, (char)0xFF};
    memcpy(out, head, sizeof head);
    return sizeof head;
}

static void put_u32(char *out, uint32_t value)
{
    for (int i = 0; i < 4; i++) {
        out[i] = (char)(value >> 8 * i & 0xFF);
    }
}

static size_t write_gzip_tail(const struct zip_member *member, char *out)
{
    put_u32(out, member->crc32);
    put_u32(out + 4, (uint32_t)member->size_bytes);
    return GZIP_TAIL_BYTES;
}

static bool read_packed(struct zip *zip, size_t *len, struct err *err)
{
    size_t want = zip->packed_left < PIECE_BYTES ? (size_t)zip->packed_left : PIECE_BYTES;
    if (!zip_read_at(&zip->directory, zip->packed_at, zip->bytes, want, len, err)) {
        return false;
    }
    zip->packed_at += *len;
    zip->packed_left = *len == 0 ? 0 : zip->packed_left - *len;
    return true;
}

static bool next_packed(void *context, const char **bytes, size_t *len, struct err *err)
{
    struct zip *zip = context;
    bool is_deflated = zip->member->method == METHOD_DEFLATED && !zip->member->is_encrypted;
    *bytes = zip->bytes;
    *len = 0;
    if (is_deflated && zip->piece == 0) {
        zip->piece = 1;
        *len = write_gzip_head(zip->bytes);
    } else if (zip->packed_left > 0 && !read_packed(zip, len, err)) {
        return false;
    }
    if (*len == 0 && is_deflated && zip->piece == 1) {
        zip->piece = 2;
        *len = write_gzip_tail(zip->member, zip->bytes);
    }
    return true;
}

static bool open_member(struct zip *zip, struct err *err)
{
    const struct zip_member *member = zip->member;
    struct input_stream stream = {zip, next_packed, INPUT_PLAIN};
    if (!member->is_encrypted) {
        stream.container = member->method == METHOD_DEFLATED ? INPUT_GZIP
                           : member->method == METHOD_ZSTD   ? INPUT_ZSTD
                                                             : INPUT_PLAIN;
    }
    zip->piece = 0;
    zip->packed_at = member->at;
    zip->packed_left = member->packed_bytes;
    zip->left_bytes = stream.container == INPUT_PLAIN ? member->packed_bytes : member->size_bytes;
    if (!input_open_stream(&zip->in, &stream, err)) {
        return false;
    }
    input_limit(zip->in, &zip->limits);
    return true;
}

/* ---- the tar archive ---- */

/* Digits, and the NUL that ends them. */
static void put_octal(char *out, size_t width, uint64_t value)
{
    out[width - 1] = '\0';
    for (size_t i = width - 1; i-- > 0; value /= 8) {
        out[i] = (char)('0' + value % 8);
    }
}

/* Sizes that eleven octal digits do not hold are binary, as GNU tar writes them. */
static void put_size(char *out, uint64_t size_bytes)
{
    if (size_bytes <= TAR_OCTAL_MAX) {
        put_octal(out, 12, size_bytes);
        return;
    }
    memset(out, 0, 12);
    out[0] = (char)0x80;
    for (int i = 0; i < 8; i++) {
        out[11 - i] = (char)(size_bytes >> 8 * i & 0xFF);
    }
}

static void put_header(struct buf *tar, const char *name, size_t len, uint64_t size, char kind)
{
    static const char magic[8] = {'u', 's', 't', 'a', 'r', 0, '0', '0'};
    char block[TAR_BLOCK] = {0};
    unsigned sum = 0;
    memcpy(block, name, len < TAR_NAME_BYTES ? len : TAR_NAME_BYTES);
    put_octal(block + 100, 8, 0644);
    put_octal(block + 108, 8, 0);
    put_octal(block + 116, 8, 0);
    put_size(block + 124, size);
    put_octal(block + 136, 12, 0);
    block[156] = kind;
    memcpy(block + 257, magic, sizeof magic);
    memset(block + 148, ' ', 8);
    for (size_t i = 0; i < sizeof block; i++) {
        sum += (unsigned char)block[i];
    }
    put_octal(block + 148, 7, sum);
    buf_append(tar, block, sizeof block);
}

static void pad(struct buf *tar, uint64_t size_bytes)
{
    static const char zeros[TAR_BLOCK];
    buf_append(tar, zeros, (TAR_BLOCK - (size_t)(size_bytes % TAR_BLOCK)) % TAR_BLOCK);
}

static void put_member(struct buf *tar, const struct zip_member *member, uint64_t size_bytes)
{
    buf_clear(tar);
    if (member->name_len > TAR_NAME_BYTES) {
        put_header(tar, "././@LongLink", strlen("././@LongLink"), member->name_len + 1, 'L');
        buf_append(tar, member->name, member->name_len);
        buf_append(tar, "", 1);
        pad(tar, member->name_len + 1);
    }
    put_header(tar, member->name, member->name_len, size_bytes, '0');
}

static bool hold_limits(struct zip *zip, size_t made, struct err *err)
{
    uint64_t file_bytes = zip->directory.file_bytes;
    zip->made_bytes += made;
    bool is_over =
        zip->limits.decompressed_bytes > 0 && zip->made_bytes > zip->limits.decompressed_bytes;
    bool is_bomb = zip->limits.ratio > 0 && zip->made_bytes > INPUT_RATIO_FREE_BYTES &&
                   zip->made_bytes / zip->limits.ratio > file_bytes;
    return (!is_over && !is_bomb) ||
           err_set(err, ERR_TOO_LARGE, "the files of the zip archive take more than %llu bytes: %s",
                   (unsigned long long)zip->made_bytes,
                   is_over ? "more than may be unpacked" : "more than a trace packs to this size");
}

static bool begin_member(struct zip *zip, struct err *err)
{
    zip->member = &zip->directory.members[zip->next++];
    if (!open_member(zip, err)) {
        return false;
    }
    put_member(&zip->tar, zip->member, zip->left_bytes);
    zip->stage = STAGE_BYTES;
    return true;
}

/* What its header promised and the archive does not hold ends the tar archive, which says so. */
static bool take_bytes(struct zip *zip, const char **bytes, size_t *len, struct err *err)
{
    const char *window = NULL;
    size_t got = 0;
    if (zip->left_bytes > 0 && !input_next(zip->in, 0, &window, &got, err)) {
        return false;
    }
    got = got < zip->left_bytes ? got : (size_t)zip->left_bytes;
    zip->left_bytes -= got;
    *bytes = window;
    *len = got;
    if (got == 0) {
        zip->stage = zip->left_bytes == 0 ? STAGE_PAD : STAGE_END;
    }
    return hold_limits(zip, got, err);
}

static void end_member(struct zip *zip)
{
    bool is_packed = input_container(zip->in) != INPUT_PLAIN;
    buf_clear(&zip->tar);
    pad(&zip->tar, is_packed ? zip->member->size_bytes : zip->member->packed_bytes);
    input_close(zip->in);
    zip->in = NULL;
    zip->stage = STAGE_HEADER;
}

static void end_archive(struct zip *zip)
{
    static const char zeros[TAR_BLOCK * 2];
    buf_clear(&zip->tar);
    buf_append(&zip->tar, zeros, sizeof zeros);
    zip->stage = STAGE_END;
}

static bool next_tar(void *context, const char **bytes, size_t *len, struct err *err)
{
    struct zip *zip = context;
    *len = 0;
    while (*len == 0 && zip->stage != STAGE_END) {
        if (zip->stage == STAGE_BYTES) {
            if (!take_bytes(zip, bytes, len, err)) {
                return false;
            }
            continue;
        }
        if (zip->stage == STAGE_PAD) {
            end_member(zip);
        } else if (zip->next == zip->directory.count) {
            end_archive(zip);
        } else if (!begin_member(zip, err)) {
            return false;
        }
        *bytes = zip->tar.ptr;
        *len = zip->tar.len;
    }
    return !zip->tar.failed || err_set(err, ERR_NO_MEMORY, "no memory for a zip archive");
}

bool zip_open(struct zip **zip,
              struct input **out,
              const char *path,
              const struct input_limits *limits,
              struct err *err)
{
    struct zip *made = calloc(1, sizeof *made);
    *zip = made;
    *out = NULL;
    if (made == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for a zip archive");
    }
    buf_init(&made->tar, (size_t)1 << 20);
    made->limits = *limits;
    const struct input_stream stream = {made, next_tar, INPUT_PLAIN};
    return zip_directory_read(&made->directory, path, err) && input_open_stream(out, &stream, err);
}

void zip_close(struct zip *zip)
{
    if (zip != NULL) {
        input_close(zip->in);
        zip_directory_free(&zip->directory);
        buf_free(&zip->tar);
        free(zip);
    }
}

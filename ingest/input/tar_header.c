/* A header block, by the bytes that matter here:
 *
 *       0 name 100    124 size 12    148 checksum 8    156 type 1    257 magic 8    345 prefix 155
 *
 * Old GNU archives have "ustar  " with two spaces, and other things where the prefix would be. */
#include "ingest/input/tar_header.h"

#include "ingest/base/text/utf8.h"
#include "ingest/input/tar.h"

#include <string.h>

#define NAME_AT 0u
#define NAME_BYTES 100u
#define SIZE_AT 124u
#define SIZE_BYTES 12u
#define CHECKSUM_AT 148u
#define CHECKSUM_BYTES 8u
#define TYPE_AT 156u
#define MAGIC_AT 257u
#define PREFIX_AT 345u
#define PREFIX_BYTES 155u
/* Sparse files of old GNU: whether more of the map follows the header, or such a block. */
#define SPARSE_MORE_AT 482u
#define SPARSE_BLOCK_MORE_AT 504u

#define MAGIC "ustar"
#define MAGIC_BYTES 5u
#define BASE_256 0x80U
#define DECIMAL 10u

bool tar_header_is_zero(const char *block)
{
    return block[0] == '\0' && memcmp(block, block + 1, TAR_BLOCK_BYTES - 1) == 0;
}

static bool has_magic(const char *block)
{
    return memcmp(block + MAGIC_AT, MAGIC, MAGIC_BYTES) == 0;
}

/* ---- numbers ---- */

/* Spaces, octal digits, then NUL, a space or the field's end. */
static bool read_octal(const char *field, size_t len, uint64_t *value)
{
    size_t at = 0;
    *value = 0;
    while (at < len && field[at] == ' ') {
        at++;
    }
    for (; at < len && field[at] >= '0' && field[at] <= '7'; at++) {
        if (*value > UINT64_MAX >> 3U) {
            return false;
        }
        *value = (*value << 3U) + (uint64_t)(field[at] - '0');
    }
    return at == len || field[at] == '\0' || field[at] == ' ';
}

/* Big-endian behind a first byte of 0x80: how GNU writes what does not fit in octal. */
static bool read_base_256(const char *field, size_t len, uint64_t *value)
{
    *value = (unsigned char)field[0] & ~BASE_256;
    for (size_t i = 1; i < len; i++) {
        if (*value > UINT64_MAX >> 8U) {
            return false;
        }
        *value = (*value << 8U) + (unsigned char)field[i];
    }
    return true;
}

static bool read_number(const char *field, size_t len, uint64_t *value)
{
    bool is_binary = ((unsigned char)field[0] & BASE_256) != 0;
    bool ok = is_binary ? read_base_256(field, len, value) : read_octal(field, len, value);
    return ok && *value <= INT64_MAX;
}

/* The sum of all bytes with the field itself as spaces; some old writers took bytes as signed. */
bool tar_header_checksum_holds(const char *block)
{
    uint64_t told;
    int64_t as_unsigned = 0;
    int64_t as_signed = 0;
    for (size_t i = 0; i < TAR_BLOCK_BYTES; i++) {
        bool is_own = i >= CHECKSUM_AT && i < CHECKSUM_AT + CHECKSUM_BYTES;
        as_unsigned += is_own ? ' ' : (unsigned char)block[i];
        as_signed += is_own ? ' ' : (signed char)block[i];
    }
    return read_number(block + CHECKSUM_AT, CHECKSUM_BYTES, &told) &&
           ((int64_t)told == as_unsigned || (int64_t)told == as_signed);
}

bool tar_recognises(const char *bytes, size_t len)
{
    if (len < TAR_BLOCK_BYTES || bytes[0] == '\0') {
        return false;
    }
    return has_magic(bytes) || tar_header_checksum_holds(bytes);
}

/* ---- the header ---- */

static size_t text_len(const char *field, size_t len)
{
    const char *end = memchr(field, '\0', len);
    return end == NULL ? len : (size_t)(end - field);
}

static enum tar_kind kind_of(const char *block)
{
    size_t name_len = text_len(block + NAME_AT, NAME_BYTES);
    switch (block[TYPE_AT]) {
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
        return TAR_NO_DATA;
    case 'D':
    case 'K':
    case 'N':
    case 'V':
    case 'g':
        return TAR_SKIPPED;
    case 'L':
        return TAR_LONG_NAME;
    case 'M':
        return TAR_OTHER_VOLUME;
    case 'S':
        return TAR_SPARSE;
    case 'X':
    case 'x':
        return TAR_EXTENDED;
    default:
        /* Before there were types, a directory was a name that ends like one. */
        return name_len > 0 && block[name_len - 1] == '/' ? TAR_NO_DATA : TAR_FILE;
    }
}

bool tar_header_read(const char *block, struct tar_header *header)
{
    *header = (struct tar_header){.kind = kind_of(block),
                                  .more_sparse_blocks = block[SPARSE_MORE_AT] != '\0'};
    return read_number(block + SIZE_AT, SIZE_BYTES, &header->size_bytes);
}

void tar_header_path(const char *block, struct buf *path)
{
    size_t prefix_len = text_len(block + PREFIX_AT, PREFIX_BYTES);
    bool is_posix = has_magic(block) && block[MAGIC_AT + MAGIC_BYTES] == '\0';
    if (is_posix && prefix_len > 0) {
        buf_append(path, block + PREFIX_AT, prefix_len);
        buf_putc(path, '/');
    }
    buf_append(path, block + NAME_AT, text_len(block + NAME_AT, NAME_BYTES));
}

bool tar_sparse_goes_on(const char *block)
{
    return block[SPARSE_BLOCK_MORE_AT] != '\0';
}

/* ---- pax records ---- */

static bool read_decimal(const char *text, size_t len, uint64_t *value)
{
    *value = 0;
    for (size_t i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9' || *value > (INT64_MAX - DECIMAL) / DECIMAL) {
            return false;
        }
        *value = *value * DECIMAL + (uint64_t)(text[i] - '0');
    }
    return len > 0;
}

static bool has_key(const char *record, size_t key_len, const char *key)
{
    return strlen(key) == key_len && memcmp(record, key, key_len) == 0;
}

static void take_record(struct tar_extras *extras, const char *record, size_t len)
{
    static const char sparse_key[] = "GNU.sparse.";
    const char *equals = memchr(record, '=', len);
    if (equals == NULL) {
        return;
    }
    size_t key_len = (size_t)(equals - record);
    const char *value = equals + 1;
    size_t value_len = len - key_len - 1;
    if (has_key(record, key_len, "path")) {
        buf_clear(&extras->path);
        buf_append(&extras->path, value, text_len(value, value_len));
    } else if (has_key(record, key_len, "size")) {
        extras->has_size = read_decimal(value, value_len, &extras->size_bytes);
    } else if (key_len > sizeof sparse_key - 1 &&
               memcmp(record, sparse_key, sizeof sparse_key - 1) == 0) {
        extras->is_sparse = true;
    }
}

/* "27 path=rank_0/trace.json\n": the length counts all of it. */
void tar_extras_read(struct tar_extras *extras, const char *records, size_t len)
{
    size_t at = 0;
    while (at < len) {
        const char *space = memchr(records + at, ' ', len - at);
        uint64_t record_len = 0;
        if (space == NULL) {
            return;
        }
        size_t digits = (size_t)(space - (records + at));
        if (!read_decimal(records + at, digits, &record_len) || record_len > len - at ||
            record_len < digits + 2 || records[at + record_len - 1] != '\n') {
            return;
        }
        take_record(extras, space + 1, (size_t)record_len - digits - 2);
        at += (size_t)record_len;
    }
}

/* ---- paths ---- */

static void append_clean(struct buf *out, const char *part, size_t len)
{
    for (size_t at = 0; at < len;) {
        uint32_t code_point;
        size_t char_len = utf8_decode(part + at, len - at, &code_point);
        bool is_control = code_point < 0x20 || (code_point >= 0x7F && code_point < 0xA0);
        if (code_point == UTF8_INVALID || is_control) {
            buf_putc(out, '_');
        } else {
            buf_append(out, part + at, char_len);
        }
        at += char_len;
    }
}

void tar_clean_path(const char *path, size_t len, struct buf *out, bool *hidden)
{
    *hidden = false;
    for (size_t at = 0; at < len;) {
        const char *slash = memchr(path + at, '/', len - at);
        size_t part_len = slash == NULL ? len - at : (size_t)(slash - (path + at));
        const char *part = path + at;
        bool is_step = (part_len == 1 && part[0] == '.') ||
                       (part_len == 2 && part[0] == '.' && part[1] == '.');
        if (part_len > 0 && !is_step) {
            *hidden = *hidden || part[0] == '.';
            if (out->len > 0) {
                buf_putc(out, '/');
            }
            append_clean(out, part, part_len);
        }
        at += part_len + 1;
    }
}

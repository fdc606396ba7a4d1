/* Archives made in memory, header by header. */
#ifndef KS_TESTS_UNIT_INGEST_INPUT_TAR_BUILDER_H
#define KS_TESTS_UNIT_INGEST_INPUT_TAR_BUILDER_H

#include "ingest/base/text/buf.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

#define TAR_BLOCK ((size_t)512)

struct tar_spec {
    const char *name;
    const char *prefix; /* NULL: none */
    char type;          /* 0: '0' */
    const char *magic;  /* eight bytes; NULL: "ustar\0" "00" */
    uint64_t size_bytes;
    bool base_256;
};

static inline void tar_checksum(char *block)
{
    unsigned sum = 0;
    memset(block + 148, ' ', 8);
    for (size_t i = 0; i < TAR_BLOCK; i++) {
        sum += (unsigned char)block[i];
    }
    (void)snprintf(block + 148, 7, "%06o", sum);
}

/* A field of a header, without a NUL behind it. */
static inline void tar_field(char *field, const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        field[i] = bytes[i];
    }
}

static inline void tar_header(struct buf *out, const struct tar_spec *spec)
{
    char block[TAR_BLOCK] = "";
    tar_field(block, spec->name, strnlen(spec->name, 100));
    tar_field(block + 100, "0000644", 8);
    if (spec->base_256) {
        tar_field(block + 124, "\x80", 1);
        for (unsigned i = 0; i < 8; i++) {
            unsigned char byte = (unsigned char)(spec->size_bytes >> (8 * i));
            memcpy(block + 135 - i, &byte, 1);
        }
    } else {
        char octal[32];
        (void)snprintf(octal, sizeof octal, "%011llo", (unsigned long long)spec->size_bytes);
        tar_field(block + 124, octal, 11);
    }
    tar_field(block + 136, "14000000000", 11);
    tar_field(block + 156, spec->type == 0 ? "0" : &spec->type, 1);
    tar_field(block + 257, spec->magic == NULL ? "ustar\00000" : spec->magic, 8);
    if (spec->prefix != NULL) {
        tar_field(block + 345, spec->prefix, strnlen(spec->prefix, 155));
    }
    tar_checksum(block);
    buf_append(out, block, sizeof block);
    assert_false(out->failed);
}

static inline void tar_bytes(struct buf *out, const void *bytes, size_t len)
{
    static const char zeros[TAR_BLOCK] = "";
    buf_append(out, bytes, len);
    buf_append(out, zeros, (TAR_BLOCK - len % TAR_BLOCK) % TAR_BLOCK);
    assert_false(out->failed);
}

static inline void tar_any(struct buf *out, struct tar_spec spec, const void *bytes, size_t len)
{
    spec.size_bytes = len;
    tar_header(out, &spec);
    tar_bytes(out, bytes, len);
}

static inline void tar_text(struct buf *out, const char *name, const char *text)
{
    tar_any(out, (struct tar_spec){.name = name}, text, strlen(text));
}

static inline void tar_end(struct buf *out)
{
    static const char zeros[2 * TAR_BLOCK] = "";
    buf_append(out, zeros, sizeof zeros);
    assert_false(out->failed);
}

#endif

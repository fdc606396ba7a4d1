/* Protocol buffers, field by field: no schema, no copy, no recursion. Groups, field 0 and lengths
 * beyond the end are damage. */
#ifndef KS_FORMATS_PROTOBUF_WIRE_H
#define KS_FORMATS_PROTOBUF_WIRE_H

#include "ingest/base/attr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A message that is read from front to back. */
struct wire {
    const unsigned char *at, *end;
    bool failed; /* at `at` */
};

enum wire_kind { WIRE_NUMBER, WIRE_BYTES };

struct wire_field {
    uint32_t number;
    enum wire_kind kind;
    uint64_t value;     /* of a number; the bits of a double or float */
    struct wire inside; /* of bytes */
};

static inline struct wire wire_of(const void *bytes, size_t len)
{
    return (struct wire){.at = bytes, .end = (const unsigned char *)bytes + len};
}

/* False at the end, and at damage. */
bool wire_next(struct wire *wire, struct wire_field *field);

/* What stands there without a field: a number, bytes with their length in front. False at damage,
 * which the end is too. */
bool wire_number(struct wire *wire, uint64_t *value);
bool wire_bytes(struct wire *wire, struct wire *inside);

static inline bool wire_is(const struct wire_field *field, uint32_t number, enum wire_kind kind)
{
    return field->number == number && field->kind == kind;
}

static inline const char *wire_text(const struct wire *inside)
{
    return (const char *)inside->at;
}

static inline size_t wire_len(const struct wire *inside)
{
    return (size_t)(inside->end - inside->at);
}

#endif

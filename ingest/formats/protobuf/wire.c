#include "ingest/formats/protobuf/wire.h"

#define VARINT_BYTES_MAX 10

static bool fail(struct wire *wire, const unsigned char *at)
{
    wire->at = at;
    wire->failed = true;
    return false;
}

bool wire_number(struct wire *wire, uint64_t *value)
{
    const unsigned char *begin = wire->at;
    *value = 0;
    for (unsigned i = 0; i < VARINT_BYTES_MAX && wire->at < wire->end; i++) {
        unsigned char byte = *wire->at++;
        *value |= (uint64_t)(byte & 0x7F) << (7 * i);
        if ((byte & 0x80) == 0) {
            return true;
        }
    }
    return fail(wire, begin);
}

static bool read_fixed(struct wire *wire, size_t bytes, uint64_t *value)
{
    if ((size_t)(wire->end - wire->at) < bytes) {
        return fail(wire, wire->at);
    }
    *value = 0;
    for (size_t i = 0; i < bytes; i++) {
        *value |= (uint64_t)wire->at[i] << (8 * i);
    }
    wire->at += bytes;
    return true;
}

bool wire_bytes(struct wire *wire, struct wire *inside)
{
    const unsigned char *begin = wire->at;
    uint64_t len;
    if (!wire_number(wire, &len) || len > (uint64_t)(wire->end - wire->at)) {
        return fail(wire, begin);
    }
    *inside = (struct wire){.at = wire->at, .end = wire->at + len};
    wire->at += len;
    return true;
}

bool wire_next(struct wire *wire, struct wire_field *field)
{
    const unsigned char *begin = wire->at;
    uint64_t key;
    if (wire->failed || wire->at == wire->end || !wire_number(wire, &key)) {
        return false;
    }
    *field = (struct wire_field){
        .number = key >> 3 > UINT32_MAX ? UINT32_MAX : (uint32_t)(key >> 3), .kind = WIRE_NUMBER};
    if (field->number == 0) {
        return fail(wire, begin);
    }
    switch (key & 7) {
    case 0:
        return wire_number(wire, &field->value);
    case 1:
        return read_fixed(wire, 8, &field->value);
    case 2:
        field->kind = WIRE_BYTES;
        return wire_bytes(wire, &field->inside) || fail(wire, begin);
    case 5:
        return read_fixed(wire, 4, &field->value);
    default:
        return fail(wire, begin);
    }
}

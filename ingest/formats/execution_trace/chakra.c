#include "ingest/formats/execution_trace/chakra.h"

#include "ingest/formats/protobuf/wire.h"

#include <string.h>

enum node_field {
    NODE_ID = 1,
    NODE_NAME = 2,
    NODE_TYPE = 3,
    NODE_PARENTS = 4,
    NODE_DATA_PARENTS = 5,
    NODE_START = 6,
    NODE_DURATION = 7,
    NODE_INPUTS = 8,
    NODE_OUTPUTS = 9,
    NODE_ATTRIBUTE = 10,
    NODE_LAST = 11
};
#define NODE_TYPE_LAST 10

enum io_field { IO_VALUES = 1, IO_SHAPES = 2, IO_TYPES = 3 };

enum attribute_field { ATTRIBUTE_NAME = 1, ATTRIBUTE_FIRST_VALUE = 3, ATTRIBUTE_LAST_VALUE = 32 };

/* GlobalMetadata: its attributes are field 1, since it has a version field 2. */
#define HEAD_LAST 2

static struct literal text_of(const struct wire *inside)
{
    return literal_of(wire_text(inside), wire_len(inside));
}

static struct execution_io read_io(struct wire inside)
{
    struct execution_io io = {.values = {NULL, NULL}};
    struct wire_field field;
    while (wire_next(&inside, &field)) {
        if (field.kind == WIRE_BYTES && field.number >= IO_VALUES && field.number <= IO_TYPES) {
            struct literal *lists[] = {&io.values, &io.shapes, &io.types};
            *lists[field.number - IO_VALUES] = text_of(&field.inside);
        }
    }
    return io;
}

static void read_attribute(struct execution_input *node, struct wire inside)
{
    static const char record_id[] = "rf_id";
    struct wire_field field;
    bool is_record_id = false;
    uint64_t value = 0;
    while (wire_next(&inside, &field)) {
        if (wire_is(&field, ATTRIBUTE_NAME, WIRE_BYTES)) {
            is_record_id = wire_len(&field.inside) == sizeof record_id - 1 &&
                           memcmp(wire_text(&field.inside), record_id, sizeof record_id - 1) == 0;
        } else if (field.kind == WIRE_NUMBER && field.number >= ATTRIBUTE_FIRST_VALUE &&
                   field.number <= ATTRIBUTE_LAST_VALUE) {
            value = field.value;
        }
    }
    if (is_record_id) {
        node->record_id = value;
    }
}

/* Numbers stand packed or one by one. The first counts: a call has one that it was made in. */
static void read_parents(struct execution_input *node, struct wire_field field)
{
    bool is_there = field.kind == WIRE_NUMBER || wire_number(&field.inside, &field.value);
    if (is_there && node->parent == 0) {
        node->parent = field.value;
    }
}

/* False for what is no node: damage, or fields of other kinds. */
static bool read_node(struct wire message, struct execution_input *node)
{
    struct wire_field field;
    *node = (struct execution_input){.has_id = true};
    while (wire_next(&message, &field)) {
        bool is_number = field.number == NODE_ID || field.number == NODE_TYPE ||
                         field.number == NODE_START || field.number == NODE_DURATION;
        bool either = field.number == NODE_PARENTS || field.number == NODE_DATA_PARENTS;
        if (!either && field.number <= NODE_LAST && is_number != (field.kind == WIRE_NUMBER)) {
            return false;
        }
        if (field.number == NODE_ID) {
            node->id = field.value;
        } else if (field.number == NODE_NAME) {
            node->name = wire_text(&field.inside);
            node->name_len = wire_len(&field.inside);
        } else if (field.number == NODE_PARENTS) {
            read_parents(node, field);
        } else if (field.number == NODE_INPUTS) {
            node->inputs = read_io(field.inside);
        } else if (field.number == NODE_OUTPUTS) {
            node->outputs = read_io(field.inside);
        } else if (field.number == NODE_ATTRIBUTE) {
            read_attribute(node, field.inside);
        }
    }
    return !message.failed;
}

/* ---- messages ---- */

/* The next message with its length in front; false at the end, or where it breaks off. */
static bool next_message(struct wire *file, struct wire *message)
{
    return file->at != file->end && wire_bytes(file, message);
}

static bool is_head(struct wire message)
{
    struct wire_field field;
    while (wire_next(&message, &field)) {
        if (field.kind != WIRE_BYTES || field.number > HEAD_LAST) {
            return false;
        }
    }
    return !message.failed;
}

/* A node by its looks: a name in printable text, a type that there is. */
static bool looks_like_node(struct wire message)
{
    struct execution_input node;
    struct wire again = message;
    struct wire_field field;
    bool has_type = false;
    if (!read_node(message, &node) || node.name == NULL || node.name_len == 0) {
        return false;
    }
    for (size_t i = 0; i < node.name_len; i++) {
        if ((unsigned char)node.name[i] < ' ') {
            return false;
        }
    }
    while (wire_next(&again, &field)) {
        if (field.number > NODE_LAST) {
            return false;
        }
        has_type = has_type || (field.number == NODE_TYPE && field.value <= NODE_TYPE_LAST);
    }
    return has_type;
}

bool chakra_recognises(const char *window, size_t len)
{
    struct wire file = wire_of(window, len);
    struct wire message;
    return next_message(&file, &message) && is_head(message) && next_message(&file, &message) &&
           looks_like_node(message);
}

bool chakra_read(struct execution_build *build, const struct whole *whole, struct err *err)
{
    static const char schema[] = "Chakra";
    struct wire file = wire_of(whole->bytes, whole->len);
    struct wire message;
    bool ok = true;
    build->trace->schema = strtab_intern(build->trace->texts, schema, sizeof schema - 1);
    (void)next_message(&file, &message); /* GlobalMetadata */
    while (ok && next_message(&file, &message)) {
        struct execution_input node;
        node.has_id = read_node(message, &node);
        ok = execution_build_node(build, &node, err);
    }
    if (file.failed || whole->is_cut) {
        build->trace->is_cut = true;
        build->trace->cut_offset = (uint64_t)((const char *)file.at - whole->bytes);
    }
    return ok;
}

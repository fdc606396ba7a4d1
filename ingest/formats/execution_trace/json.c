#include "ingest/formats/execution_trace/json.h"

#include "ingest/base/text/buf.h"
#include "ingest/formats/json/text.h"
#include "ingest/formats/json/walk.h"

#include <string.h>

enum io_list { IO_VALUES, IO_SHAPES, IO_TYPES, IO_LISTS };
enum { SIDE_INPUTS, SIDE_OUTPUTS, SIDES };

/* A node while its members are read. What stands in quotes is decoded into texts of its own. */
struct reading {
    struct execution_input node;
    struct literal lists[SIDES][IO_LISTS];
    struct buf decoded[SIDES][IO_LISTS];
    struct buf name;
};

static void reading_init(struct reading *reading)
{
    buf_init(&reading->name, SIZE_MAX);
    for (size_t i = 0; i < SIDES * (size_t)IO_LISTS; i++) {
        buf_init(&reading->decoded[i / IO_LISTS][i % IO_LISTS], SIZE_MAX);
    }
}

static void reading_free(struct reading *reading)
{
    buf_free(&reading->name);
    for (size_t i = 0; i < SIDES * (size_t)IO_LISTS; i++) {
        buf_free(&reading->decoded[i / IO_LISTS][i % IO_LISTS]);
    }
}

static bool is_key(const struct json_value *key, const char *text)
{
    return json_walk_text_is(key, text);
}

/* ---- members ---- */

/* A list, or the text of one in quotes. */
static void set_list(struct reading *reading, size_t side, size_t list, struct json_value value)
{
    struct literal *out = &reading->lists[side][list];
    if (value.kind == JSON_KIND_STRING) {
        struct buf *text = &reading->decoded[side][list];
        buf_clear(text);
        json_text_string(&value, text, NULL);
        *out = literal_of(text->ptr, text->len);
    } else {
        *out = literal_of(value.ptr, value.len);
    }
}

/* {"values": …, "shapes": …, "types": …}; in files before Chakra the values alone. */
static void read_side(struct reading *reading, size_t side, const struct json_value *value)
{
    static const char *const names[IO_LISTS] = {"values", "shapes", "types"};
    struct json_walk walk = json_walk_of(value);
    struct json_value key;
    struct json_value list;
    if (value->kind != JSON_KIND_OBJECT) {
        set_list(reading, side, IO_VALUES, *value);
        return;
    }
    bool ok = json_walk_enter(&walk, '{');
    while (ok && json_walk_key(&walk, &key) && json_walk_value(&walk, &list)) {
        for (size_t i = 0; i < IO_LISTS; i++) {
            if (is_key(&key, names[i])) {
                set_list(reading, side, i, list);
            }
        }
    }
}

/* {"name": "rf_id", "value": 7}; of Chakra {"name": "rf_id", "int64Val": "7"}. */
static void read_attribute(struct reading *reading, const struct json_value *value)
{
    struct json_walk walk = json_walk_of(value);
    struct json_value key;
    struct json_value member;
    bool is_record_id = false;
    int64_t number = 0;
    bool ok = json_walk_enter(&walk, '{');
    while (ok && json_walk_key(&walk, &key) && json_walk_value(&walk, &member)) {
        if (is_key(&key, "name")) {
            is_record_id = json_walk_text_is(&member, "rf_id");
        } else if (!is_key(&key, "type") && !is_key(&key, "docString")) {
            number = json_walk_int(&member, 0);
        }
    }
    if (is_record_id) {
        reading->node.record_id = (uint64_t)number;
    }
}

/* A number, or the first of a list of numbers: a call has one that it was made in. */
static uint64_t first_number(const struct json_value *value)
{
    struct json_walk walk = json_walk_of(value);
    struct json_value first = *value;
    if (value->kind == JSON_KIND_ARRAY && (!json_walk_enter(&walk, '[') || !json_walk_item(&walk) ||
                                           !json_walk_value(&walk, &first))) {
        return 0;
    }
    return (uint64_t)json_walk_int(&first, 0);
}

static void read_attributes(struct reading *reading, const struct json_value *value)
{
    struct json_walk walk = json_walk_of(value);
    struct json_value item;
    bool ok = json_walk_enter(&walk, '[');
    while (ok && json_walk_item(&walk) && json_walk_value(&walk, &item)) {
        read_attribute(reading, &item);
    }
}

/* Lists that stand beside the values in files before Chakra. */
static bool read_flat_list(struct reading *reading,
                           const struct json_value *key,
                           const struct json_value *value)
{
    static const struct {
        const char *key;
        size_t side, list;
    } flat[] = {{"input_shapes", SIDE_INPUTS, IO_SHAPES},
                {"input_types", SIDE_INPUTS, IO_TYPES},
                {"output_shapes", SIDE_OUTPUTS, IO_SHAPES},
                {"output_types", SIDE_OUTPUTS, IO_TYPES}};
    for (size_t i = 0; i < sizeof flat / sizeof *flat; i++) {
        if (is_key(key, flat[i].key)) {
            set_list(reading, flat[i].side, flat[i].list, *value);
            return true;
        }
    }
    return false;
}

static void
read_member(struct reading *reading, const struct json_value *key, const struct json_value *value)
{
    struct execution_input *node = &reading->node;
    if (is_key(key, "id")) {
        node->has_id = value->kind == JSON_KIND_NUMBER || value->kind == JSON_KIND_STRING;
        node->id = (uint64_t)json_walk_int(value, 0);
    } else if (is_key(key, "name") && value->kind == JSON_KIND_STRING) {
        buf_clear(&reading->name);
        json_text_string(value, &reading->name, NULL);
        node->name = reading->name.ptr == NULL ? "" : reading->name.ptr;
        node->name_len = reading->name.len;
    } else if (is_key(key, "ctrl_deps") || is_key(key, "ctrlDeps") || is_key(key, "parent")) {
        node->parent = first_number(value);
    } else if (is_key(key, "rf_id")) {
        node->record_id = (uint64_t)json_walk_int(value, 0);
    } else if (is_key(key, "attrs") || is_key(key, "attr")) {
        read_attributes(reading, value);
    } else if (is_key(key, "inputs") || is_key(key, "outputs")) {
        read_side(reading, is_key(key, "inputs") ? SIDE_INPUTS : SIDE_OUTPUTS, value);
    } else {
        (void)read_flat_list(reading, key, value);
    }
}

static struct execution_io io_of(const struct reading *reading, size_t side)
{
    const struct literal *lists = reading->lists[side];
    return (struct execution_io){lists[IO_VALUES], lists[IO_SHAPES], lists[IO_TYPES]};
}

/* The node that stands here. What is no object is counted as one that could not be read; the
 * message of Chakra that describes the file, `may_be_head`, is none. */
static bool read_node(struct execution_build *build,
                      struct reading *reading,
                      struct json_walk *walk,
                      bool may_be_head,
                      struct err *err)
{
    struct json_value key;
    struct json_value value;
    memset(&reading->node, 0, sizeof reading->node);
    memset(reading->lists, 0, sizeof reading->lists);
    if (!json_walk_is(walk, '{')) {
        if (!walk->failed && json_walk_skip(walk)) {
            build->trace->skipped++;
        }
        return true;
    }
    bool ok = json_walk_enter(walk, '{');
    while (ok && json_walk_key(walk, &key) && json_walk_value(walk, &value)) {
        read_member(reading, &key, &value);
    }
    /* Of a node that breaks off nobody knows what it lacks; proto3 leaves out an id of 0. */
    bool is_head = may_be_head && reading->node.name == NULL;
    reading->node.has_id = reading->node.has_id || may_be_head;
    reading->node.inputs = io_of(reading, SIDE_INPUTS);
    reading->node.outputs = io_of(reading, SIDE_OUTPUTS);
    return walk->failed || is_head || execution_build_node(build, &reading->node, err);
}

static void
note_cut(struct execution_build *build, const struct json_walk *walk, const struct whole *whole)
{
    if (walk->failed || whole->is_cut) {
        build->trace->is_cut = true;
        build->trace->cut_offset = (uint64_t)(walk->at - whole->bytes);
    }
}

/* ---- PyTorch's observer ---- */

/* To the list of nodes; *schema is the text of the file's form. */
static bool find_nodes(struct json_walk *walk, struct json_value *schema)
{
    struct json_value key;
    struct json_value value;
    *schema = (struct json_value){.ptr = NULL};
    if (!json_walk_enter(walk, '{')) {
        return false;
    }
    while (json_walk_key(walk, &key)) {
        if (is_key(&key, "nodes")) {
            return json_walk_is(walk, '[');
        }
        if (!json_walk_value(walk, &value)) {
            return false;
        }
        if (is_key(&key, "schema") && value.kind == JSON_KIND_STRING) {
            *schema = value;
        }
    }
    return false;
}

bool observer_json_recognises(const char *window, size_t len)
{
    struct json_walk walk = {.at = window, .end = window + len};
    struct json_value schema;
    return find_nodes(&walk, &schema) && schema.ptr != NULL;
}

bool observer_json_read(struct execution_build *build, const struct whole *whole, struct err *err)
{
    struct json_walk walk = {.at = whole->bytes, .end = whole->bytes + whole->len};
    struct json_value schema;
    struct json_value key;
    struct reading reading;
    bool ok = true;
    reading_init(&reading);
    if (find_nodes(&walk, &schema) && json_walk_enter(&walk, '[')) {
        build->trace->schema = strtab_intern(build->trace->texts, schema.ptr, schema.len);
        while (ok && json_walk_item(&walk)) {
            ok = read_node(build, &reading, &walk, false, err);
        }
        while (ok && json_walk_key(&walk, &key) && json_walk_skip(&walk)) {
            /* what follows the nodes says nothing of them, only whether the file is whole */
        }
    }
    note_cut(build, &walk, whole);
    reading_free(&reading);
    return ok;
}

/* ---- Chakra ---- */

/* Its messages follow each other, or stand in a list. */
static bool next_message(struct json_walk *walk)
{
    while (walk->at < walk->end &&
           (json_is_space(*walk->at) || *walk->at == ',' || *walk->at == '[' || *walk->at == ']')) {
        walk->at++;
    }
    return !walk->failed && walk->at < walk->end;
}

/* A node says so by its type. */
static bool is_node(const struct json_value *message)
{
    static const char ending[] = "_NODE";
    const size_t ending_len = sizeof ending - 1;
    struct json_walk walk = json_walk_of(message);
    struct json_value key;
    struct json_value value;
    bool has_name = false;
    bool has_type = false;
    bool ok = json_walk_enter(&walk, '{');
    while (ok && json_walk_key(&walk, &key) && json_walk_value(&walk, &value)) {
        has_name = has_name || is_key(&key, "name");
        has_type =
            has_type ||
            (is_key(&key, "type") && value.kind == JSON_KIND_STRING && value.len > ending_len &&
             memcmp(value.ptr + value.len - ending_len, ending, ending_len) == 0);
    }
    return has_name && has_type;
}

bool chakra_json_recognises(const char *window, size_t len)
{
    struct json_walk walk = {.at = window, .end = window + len};
    struct json_value message;
    bool found = false;
    /* The first message may be the one that describes the file. */
    for (size_t i = 0; !found && i < 2 && next_message(&walk) && json_walk_is(&walk, '{') &&
                       json_walk_value(&walk, &message);
         i++) {
        found = is_node(&message);
    }
    return found;
}

bool chakra_json_read(struct execution_build *build, const struct whole *whole, struct err *err)
{
    static const char schema[] = "Chakra";
    struct json_walk walk = {.at = whole->bytes, .end = whole->bytes + whole->len};
    struct reading reading;
    bool ok = true;
    reading_init(&reading);
    build->trace->schema = strtab_intern(build->trace->texts, schema, sizeof schema - 1);
    while (ok && next_message(&walk)) {
        ok = read_node(build, &reading, &walk, true, err);
    }
    note_cut(build, &walk, whole);
    reading_free(&reading);
    return ok;
}

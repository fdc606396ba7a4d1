/* Execution traces [FMT-9]: nested lists, the three forms, damage, who wrote and who reads. */
#include "ingest/analysis/execution_trace/tensors.h"
#include "ingest/formats/execution_trace/execution_trace.h"
#include "ingest/formats/execution_trace/literal.h"
#include "ingest/input/input.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

#define BYTES(text) (text), sizeof(text) - 1

/* A copy that can be read beyond its end, as windows of the input can; the caller frees it. */
static char *padded(const char *bytes, size_t len)
{
    char *copy = calloc(1, len + INPUT_PADDING_BYTES);
    assert_non_null(copy);
    memcpy(copy, bytes, len);
    return copy;
}

static bool recognises(const char *bytes, size_t len)
{
    char *copy = padded(bytes, len);
    bool taken = execution_trace_recognises(copy, len);
    free(copy);
    return taken;
}

static struct execution_trace *read_good(const char *bytes, size_t len)
{
    const struct format_options options = {.memory_budget_bytes = (size_t)16 << 20};
    struct execution_trace *trace = NULL;
    struct input *in = NULL;
    struct err err = ERR_INIT;
    assert_true(recognises(bytes, len));
    assert_true(input_open_memory(&in, bytes, len, 0, &err));
    if (!execution_trace_load(in, &options, &trace, &err)) {
        fail_msg("%s", err.msg);
    }
    input_close(in);
    return trace;
}

static const char *text_of(const struct execution_trace *trace, uint32_t id)
{
    return strtab_text(trace->texts, id);
}

/* ---- lists ---- */

static void lists_of_json_and_python_are_stepped_through(void **state)
{
    static const char text[] = " [1, ( 'a\\'],' , \"]\"), {'k': [2]}, None ] rest";
    struct literal list = literal_of(text, strlen(text));
    uint64_t number;
    assert_true(literal_enter(&list));
    assert_true(literal_item(&list));
    assert_true(literal_number(literal_take(&list), &number));
    assert_int_equal(number, 1);
    assert_true(literal_item(&list));
    assert_true(literal_enter(&list));
    assert_true(literal_item(&list));
    struct literal string = literal_take(&list);
    assert_int_equal(string.end - string.at, 5);
    assert_true(literal_item(&list));
    (void)literal_take(&list);
    assert_false(literal_item(&list));
    for (int i = 0; i < 2; i++) {
        assert_true(literal_item(&list));
        assert_false(literal_number(literal_take(&list), &number));
    }
    assert_false(literal_item(&list));
    assert_string_equal(list.at, " rest");
}

static void numbers_beyond_64_bits_are_none(void **state)
{
    static const struct {
        const char *text;
        bool is_number;
    } cases[] = {{"18446744073709551615", true},
                 {"18446744073709551616", false},
                 {"", false},
                 {"-1", false},
                 {"1.5", false}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        uint64_t number;
        assert_int_equal(literal_number(literal_of(cases[i].text, strlen(cases[i].text)), &number),
                         cases[i].is_number);
    }
}

/* ---- the forms ---- */

#define TENSOR "[5,6,0,8,2,\"cuda:0\"]"
#define OTHER "[7,8,1,3,4,\"cpu\"]"

/* The second argument is a list of two; the third one was never made. */
static const char observed[] =
    "{\"schema\": \"1.1.1-chakra.0.0.4\", \"pid\": 1, \"nodes\": [{\"id\": 9, \"name\": "
    "\"aten::cat\", "
    "\"ctrl_deps\": 2, \"inputs\": {\"values\": [3, [" TENSOR ", " OTHER "], "
    "[1,0,0,0,0,\"\"]], \"shapes\": [[], [[2, 4], [3]], []], \"types\": [\"Int\", "
    "\"GenericList[Tensor(c10::Half),Tensor(float)]\", \"Tensor(nullptr (uninitialized))\"], "
    "\"strides\": []}, \"outputs\": {\"values\": [" TENSOR "], \"shapes\": [[8]], \"types\": "
    "[\"Tensor(float)\"]}, \"attrs\": [{\"name\": \"rf_id\", \"type\": \"uint64\", \"value\": 77}, "
    "{\"name\": \"tid\", \"type\": \"uint64\", \"value\": 1}]}, {\"id\": 2, \"name\": \"top\", "
    "\"ctrl_deps\": 2}]}";

static void a_node_has_the_tensors_of_its_lists(void **state)
{
    struct execution_trace *trace = read_good(BYTES(observed));
    assert_int_equal(trace->node_count, 2);
    assert_string_equal(text_of(trace, trace->nodes[0].name), "top");
    assert_int_equal(trace->nodes[0].caller, EXECUTION_NO_NODE); /* it calls itself */
    const struct execution_node *node = &trace->nodes[1];
    assert_int_equal(node->record_id, 77);
    assert_int_equal(node->caller, 0);
    assert_int_equal(node->input_count, 2);
    assert_int_equal(node->output_count, 1);
    const struct execution_tensor *tensors = &trace->tensors[node->first_tensor];
    assert_string_equal(text_of(trace, tensors[0].type), "c10::Half");
    assert_string_equal(text_of(trace, tensors[0].shape), "[2, 4]");
    assert_string_equal(text_of(trace, tensors[1].type), "float");
    assert_string_equal(text_of(trace, tensors[1].device), "cpu");
    assert_int_equal(tensors[1].offset, 1);
    assert_int_equal(tensors[1].position, 1);
    assert_string_equal(text_of(trace, tensors[2].shape), "[8]");
    execution_trace_destroy(trace);
}

/* GlobalMetadata {attr}, then Node {id 3, name "x", type COMP_NODE, inputs, rf_id 300}. */
static const char messages[] = "\x0A\x0A\x08\x0A\x06schema"
                               "`\x08\x03\x12\x01x\x18\x04\x22\x01\x02"
                               "BH\x0A\x1E[[5, 6, 0, 8, 2, 'cuda:0'], 1]\x12\x0C[[2, 4], "
                               "[]]\x1A\x18['Tensor(float)', 'Int']R\x0A\x0A\x05rf_idH\xAC\x02";

static void messages_of_chakra_say_the_same(void **state)
{
    struct execution_trace *trace = read_good(BYTES(messages));
    assert_int_equal(trace->node_count, 1);
    assert_int_equal(trace->nodes[0].record_id, 300);
    assert_int_equal(trace->nodes[0].parent, 2);
    assert_int_equal(trace->nodes[0].input_count, 1);
    assert_string_equal(text_of(trace, trace->tensors[0].shape), "[2, 4]");
    assert_string_equal(text_of(trace, trace->tensors[0].type), "float");
    assert_false(trace->is_cut);
    execution_trace_destroy(trace);
}

/* Each prefix is read as far as it goes, or refused with words. */
static void cut_files_keep_what_was_read(void **state)
{
    static const struct {
        const char *bytes;
        size_t len;
    } files[] = {{BYTES(observed)}, {BYTES(messages)}};
    for (size_t f = 0; f < COUNT_OF(files); f++) {
        for (size_t len = 0; len < files[f].len; len++) {
            const struct format_options options = {.memory_budget_bytes = (size_t)16 << 20};
            struct execution_trace *trace = NULL;
            struct input *in = NULL;
            struct err err = ERR_INIT;
            assert_true(input_open_memory(&in, files[f].bytes, len, 0, &err));
            if (execution_trace_load(in, &options, &trace, &err)) {
                assert_true(trace->is_cut && trace->node_count > 0);
                execution_trace_destroy(trace);
            } else {
                assert_int_equal(err.code, ERR_BAD_INPUT);
            }
            input_close(in);
        }
    }
}

static void other_files_are_not_taken(void **state)
{
    static const char *const others[] = {
        "{\"schemaVersion\": 1, \"traceEvents\": []}",
        "{\"nodes\": []}",
        "{\"schema\": 1, \"nodes\": {}}",
        "[[1, 2, 3, 4]]",
        "{\"name\": \"x\", \"type\": \"NODE\"}",
        "a;b 1\nc 2\n",
        "",
    };
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        assert_false(recognises(others[i], strlen(others[i])));
    }
}

/* Lists in lists do not cost more than their length. */
static void deep_lists_end(void **state)
{
    enum { DEPTH = 200000 };
    static const char head[] =
        "{\"id\": \"1\", \"name\": \"x\", \"type\": \"COMP_NODE\"}\n{\"id\": \"2\", "
        "\"name\": \"y\", \"type\": \"COMP_NODE\", \"inputs\": {\"values\": \"[";
    static char text[sizeof head + DEPTH + 8];
    size_t len = sizeof head - 1;
    memcpy(text, head, len);
    memset(text + len, '[', DEPTH);
    len += DEPTH;
    memcpy(text + len, "\"}}", 3);
    struct execution_trace *trace = read_good(text, len + 3);
    assert_int_equal(trace->node_count, 2);
    assert_int_equal(trace->tensor_count, 0);
    execution_trace_destroy(trace);
}

/* ---- who wrote, who reads ---- */

struct made_node {
    uint64_t id, caller;
    uint64_t in, in_storage, out, out_storage; /* 0: none */
};

static struct execution_trace *make(const struct made_node *nodes, size_t count)
{
    static char text[8192];
    size_t len = (size_t)snprintf(text, sizeof text, "{\"schema\": \"\", \"nodes\": [");
    for (size_t i = 0; i < count; i++) {
        const struct made_node *node = &nodes[i];
        len += (size_t)snprintf(text + len, sizeof text - len,
                                "%s{\"id\": %d, \"name\": \"n\", \"parent\": %d", i == 0 ? "" : ",",
                                (int)node->id, (int)node->caller);
        const uint64_t sides[2][2] = {{node->in, node->in_storage}, {node->out, node->out_storage}};
        for (int side = 0; side < 2; side++) {
            if (sides[side][0] != 0) {
                len += (size_t)snprintf(
                    text + len, sizeof text - len, ", \"%s\": [[%d, %d, 0, 1, 4, \"cpu\"]]",
                    side == 0 ? "inputs" : "outputs", (int)sides[side][0], (int)sides[side][1]);
            }
        }
        len += (size_t)snprintf(text + len, sizeof text - len, "}");
    }
    len += (size_t)snprintf(text + len, sizeof text - len, "]}");
    return read_good(text, len);
}

/* A layer (2) of two calls writes 20; 5 changes it in place, 6 makes a view, 7 reads the view, 8
 * and 9 within it read 20. */
static void writers_and_readers_are_the_outermost_and_the_last(void **state)
{
    static const struct made_node nodes[] = {{2, 1, 10, 30, 20, 40}, {3, 2, 10, 30, 11, 30},
                                             {4, 2, 11, 30, 20, 40}, {5, 1, 20, 40, 20, 40},
                                             {6, 1, 20, 40, 21, 40}, {7, 1, 21, 40, 0, 0},
                                             {8, 1, 20, 40, 0, 0},   {9, 8, 20, 40, 0, 0}};
    struct execution_trace *trace = make(nodes, COUNT_OF(nodes));
    static const struct {
        uint32_t node;
        uint32_t writer;     /* of its input; EXECUTION_NO_NODE: none */
        uint32_t readers[2]; /* of its output */
        size_t reader_count;
        bool by_storage; /* the readers */
    } expected[] = {
        {0, EXECUTION_NO_NODE, {3}, 1, false}, /* 2: its own calls are no readers of it */
        {1, EXECUTION_NO_NODE, {2}, 1, false}, /* 3: 2 is around it */
        {2, 1, {3}, 1, false},                 /* 4 */
        {3, 0, {4, 6}, 2, false},              /* 5: 2 wrote, not 4 within it; 9 lies within 8 */
        {4, 3, {5}, 1, false},                 /* 6 */
        {5, 4, {0}, 0, false},
        {7, 3, {0}, 0, false},
    };
    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        struct arena arena;
        struct node_tensors found;
        arena_init(&arena, 0);
        assert_true(node_tensors_find(trace, expected[i].node, &arena, &found));
        assert_int_equal(found.input_count, 1);
        assert_int_equal(found.inputs[0].node_count, expected[i].writer != EXECUTION_NO_NODE);
        if (found.inputs[0].node_count == 1) {
            assert_int_equal(found.inputs[0].nodes[0], expected[i].writer);
        }
        if (found.output_count == 1) {
            assert_int_equal(found.outputs[0].node_count, expected[i].reader_count);
            assert_memory_equal(found.outputs[0].nodes, expected[i].readers,
                                expected[i].reader_count * sizeof(uint32_t));
            assert_int_equal(found.outputs[0].by_storage, expected[i].by_storage);
        }
        arena_free(&arena);
    }
    execution_trace_destroy(trace);
}

static void a_tensor_of_the_same_storage_stands_in(void **state)
{
    static const struct made_node nodes[] = {{2, 1, 0, 0, 20, 40}, {3, 1, 21, 40, 0, 0}};
    struct execution_trace *trace = make(nodes, COUNT_OF(nodes));
    struct arena arena;
    struct node_tensors found;
    arena_init(&arena, 0);
    assert_true(node_tensors_find(trace, 0, &arena, &found));
    assert_true(found.outputs[0].by_storage && found.outputs[0].nodes[0] == 1);
    assert_true(node_tensors_find(trace, 1, &arena, &found));
    assert_true(found.inputs[0].by_storage && found.inputs[0].nodes[0] == 0);
    arena_free(&arena);
    execution_trace_destroy(trace);
}

/* More readers than are told, and calls that lie in each other in a circle. */
static void many_readers_and_circles_end(void **state)
{
    struct made_node nodes[TENSOR_READERS_MAX + 2] = {{1, 2, 0, 0, 20, 40}};
    for (size_t i = 1; i < COUNT_OF(nodes); i++) {
        nodes[i] = (struct made_node){i + 1, 100, 20, 40, 0, 0};
    }
    struct execution_trace *trace = make(nodes, COUNT_OF(nodes));
    struct arena arena;
    struct node_tensors found;
    trace->nodes[1].caller = 2;
    trace->nodes[2].caller = 1;
    arena_init(&arena, 0);
    assert_true(node_tensors_find(trace, 0, &arena, &found));
    assert_true(found.outputs[0].node_count > 0);
    trace->nodes[1].caller = trace->nodes[2].caller = EXECUTION_NO_NODE;
    assert_true(node_tensors_find(trace, 0, &arena, &found));
    assert_int_equal(found.outputs[0].node_count, TENSOR_READERS_MAX);
    assert_true(found.outputs[0].more);
    arena_free(&arena);
    execution_trace_destroy(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_of_json_and_python_are_stepped_through),
        cmocka_unit_test(numbers_beyond_64_bits_are_none),
        cmocka_unit_test(a_node_has_the_tensors_of_its_lists),
        cmocka_unit_test(messages_of_chakra_say_the_same),
        cmocka_unit_test(cut_files_keep_what_was_read),
        cmocka_unit_test(other_files_are_not_taken),
        cmocka_unit_test(deep_lists_end),
        cmocka_unit_test(writers_and_readers_are_the_outermost_and_the_last),
        cmocka_unit_test(a_tensor_of_the_same_storage_stands_in),
        cmocka_unit_test(many_readers_and_circles_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "ingest/formats/execution_trace/build.h"

#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"

#include <stdlib.h>
#include <string.h>

/* A tensor's value: its id, that of its storage, offset, elements, bytes of one, device. */
enum tensor_part { PART_ID, PART_STORAGE, PART_OFFSET, PART_ELEMENTS, PART_BYTES, PART_NUMBERS };
#define TENSOR_TYPE "Tensor("

bool execution_build_init(struct execution_build *build, size_t budget_bytes, struct err *err)
{
    *build = (struct execution_build){.budget_bytes = budget_bytes};
    build->trace = calloc(1, sizeof *build->trace);
    if (build->trace != NULL) {
        build->trace->schema = STRTAB_NONE;
        build->trace->texts = strtab_create();
    }
    if (build->trace == NULL || build->trace->texts == NULL) {
        execution_trace_destroy(build->trace);
        return err_set(err, ERR_NO_MEMORY, "no memory for an execution trace");
    }
    return true;
}

static bool make_room(struct execution_build *build, struct err *err)
{
    struct execution_trace *trace = build->trace;
    struct execution_tensor *tensors =
        scratch_grow(trace->tensors, trace->tensor_count, &build->tensor_cap, sizeof *tensors);
    trace->tensors = tensors == NULL ? trace->tensors : tensors;
    struct execution_node *nodes =
        scratch_grow(trace->nodes, trace->node_count, &build->node_cap, sizeof *nodes);
    trace->nodes = nodes == NULL ? trace->nodes : nodes;
    if (tensors == NULL || nodes == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for an execution trace");
    }
    size_t bytes = build->tensor_cap * sizeof *tensors + build->node_cap * sizeof *nodes +
                   strtab_bytes(trace->texts);
    return (trace->tensor_count < UINT32_MAX - 1 && trace->node_count < UINT32_MAX - 1 &&
            (build->budget_bytes == 0 || bytes <= build->budget_bytes)) ||
           err_set(err, ERR_TOO_LARGE, "the execution trace needs more memory than is allowed");
}

/* ---- tensors ---- */

/* The value here, if it is a tensor's: five numbers and the text of a device. Else nothing is
 * stepped over, and little was looked at: lists may be nested deeply. */
static bool take_tensor(struct literal *values, uint64_t numbers[], struct literal *device)
{
    struct literal within = *values;
    bool fits = literal_enter(&within);
    for (size_t i = 0; fits && i < PART_NUMBERS; i++) {
        fits = literal_item(&within) && !literal_is_list(&within) &&
               literal_number(literal_take(&within), &numbers[i]);
    }
    fits = fits && literal_item(&within) && (*within.at == '"' || *within.at == '\'');
    if (fits) {
        *device = literal_take(&within);
        fits = !literal_item(&within);
    }
    if (fits) {
        *values = within;
    }
    return fits;
}

/* The type of the next tensor of an argument: "float" of "Tensor(float)". */
static struct literal take_type(struct literal *types)
{
    const size_t word_len = strlen(TENSOR_TYPE);
    for (const char *at = types->at; at < types->end && (size_t)(types->end - at) >= word_len;
         at++) {
        if (memcmp(at, TENSOR_TYPE, word_len) == 0) {
            const char *begin = at + word_len;
            const char *close = memchr(begin, ')', (size_t)(types->end - begin));
            types->at = close == NULL ? types->end : close;
            return (struct literal){.at = begin, .end = types->at};
        }
    }
    types->at = types->end;
    return *types;
}

static uint32_t intern(struct strtab *texts, struct literal text)
{
    return text.at == text.end ? STRTAB_NONE
                               : strtab_intern(texts, text.at, (size_t)(text.end - text.at));
}

/* "[2, 3]", however it was written. */
static uint32_t intern_shape(struct strtab *texts, struct literal shape)
{
    char text[256] = "[";
    size_t len = 1;
    if (!literal_enter(&shape)) {
        return STRTAB_NONE;
    }
    while (literal_item(&shape) && len < sizeof text / 2) {
        struct literal size = literal_take(&shape);
        size_t size_len = (size_t)(size.end - size.at);
        if (size_len > 20) {
            return STRTAB_NONE;
        }
        if (len > 1) {
            text[len++] = ',';
            text[len++] = ' ';
        }
        memcpy(text + len, size.at, size_len);
        len += size_len;
    }
    text[len++] = ']';
    return strtab_intern(texts, text, len);
}

static int64_t signed_of(uint64_t number)
{
    return number > INT64_MAX ? INT64_MAX : (int64_t)number;
}

/* One that was never made has neither storage nor device. */
static bool add_tensor(struct execution_build *build,
                       const uint64_t numbers[],
                       struct literal device,
                       struct literal shape,
                       struct literal type,
                       uint32_t position,
                       struct err *err)
{
    struct execution_trace *trace = build->trace;
    if (numbers[PART_STORAGE] == 0 && device.at == device.end) {
        return true;
    }
    if (!make_room(build, err)) {
        return false;
    }
    trace->tensors[trace->tensor_count++] = (struct execution_tensor){
        .id = numbers[PART_ID],
        .storage = numbers[PART_STORAGE],
        .offset = signed_of(numbers[PART_OFFSET]),
        .elements = signed_of(numbers[PART_ELEMENTS]),
        .element_bytes = signed_of(numbers[PART_BYTES]),
        .position = position,
        .type = intern(trace->texts, type),
        .shape = intern_shape(trace->texts, shape),
        .device = intern(trace->texts, device),
    };
    return true;
}

/* One argument: values and shapes are nested alike, a tensor's shape stands where its value does.
 */
static bool add_argument(struct execution_build *build,
                         struct execution_io argument,
                         uint32_t position,
                         struct err *err)
{
    struct literal *values = &argument.values;
    struct literal *shapes = &argument.shapes;
    size_t depth = 0;
    do {
        uint64_t numbers[PART_NUMBERS];
        struct literal device;
        if (take_tensor(values, numbers, &device)) {
            if (!add_tensor(build, numbers, device, literal_take(shapes),
                            take_type(&argument.types), position, err)) {
                return false;
            }
        } else if (literal_enter(values)) {
            if (!literal_enter(shapes)) {
                shapes->at = shapes->end;
            }
            depth++;
        } else {
            (void)literal_take(values);
            (void)literal_take(shapes);
        }
        while (depth > 0 && !literal_item(values)) {
            while (literal_item(shapes)) {
                (void)literal_take(shapes);
            }
            depth--;
        }
        if (depth > 0) {
            (void)literal_item(shapes);
        }
    } while (depth > 0);
    return true;
}

static bool
add_side(struct execution_build *build, struct execution_io io, uint32_t *count, struct err *err)
{
    uint32_t first = build->trace->tensor_count;
    bool has_shapes = literal_enter(&io.shapes);
    bool has_types = literal_enter(&io.types);
    bool ok = literal_enter(&io.values);
    for (uint32_t position = 0; ok && literal_item(&io.values); position++) {
        struct execution_io argument = {.values = literal_take(&io.values)};
        has_shapes = has_shapes && literal_item(&io.shapes);
        has_types = has_types && literal_item(&io.types);
        argument.shapes = has_shapes ? literal_take(&io.shapes) : (struct literal){NULL, NULL};
        argument.types = has_types ? literal_take(&io.types) : (struct literal){NULL, NULL};
        if (!add_argument(build, argument, position, err)) {
            return false;
        }
    }
    *count = build->trace->tensor_count - first;
    return true;
}

/* ---- nodes ---- */

bool execution_build_node(struct execution_build *build,
                          const struct execution_input *input,
                          struct err *err)
{
    struct execution_trace *trace = build->trace;
    struct execution_node node = {.id = input->id,
                                  .record_id = input->record_id,
                                  .parent = input->parent,
                                  .first_tensor = trace->tensor_count};
    if (!input->has_id || input->name == NULL) {
        trace->skipped += trace->skipped < UINT32_MAX;
        return true;
    }
    if (!add_side(build, input->inputs, &node.input_count, err) ||
        !add_side(build, input->outputs, &node.output_count, err) || !make_room(build, err)) {
        return false;
    }
    node.name = strtab_intern(trace->texts, input->name, input->name_len);
    trace->nodes[trace->node_count++] = node;
    return node.name != STRTAB_NONE ||
           err_set(err, ERR_NO_MEMORY, "no memory for an execution trace");
}

ORDER_BY(by_id, struct execution_node, ORDER_UP(id), ORDER_UP(first_tensor))

/* Index of the first node with this id, or EXECUTION_NO_NODE. */
static uint32_t find_node(const struct execution_trace *trace, uint64_t id)
{
    size_t low = 0;
    ORDER_SEARCH(low, trace->node_count, at, trace->nodes[at].id < id);
    return low < trace->node_count && trace->nodes[low].id == id ? (uint32_t)low
                                                                 : EXECUTION_NO_NODE;
}

static void find_callers(struct execution_trace *trace)
{
    for (uint32_t i = 0; i < trace->node_count; i++) {
        uint32_t caller = find_node(trace, trace->nodes[i].parent);
        trace->nodes[i].caller = caller == i ? EXECUTION_NO_NODE : caller;
    }
}

bool execution_build_end(struct execution_build *build,
                         struct execution_trace **out,
                         struct err *err)
{
    struct execution_trace *trace = build->trace;
    if (trace->node_count == 0) {
        bool is_cut = trace->is_cut;
        uint64_t offset = is_cut ? trace->cut_offset : 0;
        execution_trace_destroy(trace);
        return err_set_at(err, ERR_BAD_INPUT, offset, "the execution trace has no readable node");
    }
    qsort(trace->nodes, trace->node_count, sizeof *trace->nodes, by_id);
    find_callers(trace);
    *out = trace;
    return true;
}

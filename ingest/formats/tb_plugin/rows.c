#include "ingest/formats/tb_plugin/rows.h"

#include "ingest/base/text/affix.h"
#include "ingest/base/text/buf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_US 1000.0
#define TEXT_BYTES_MAX ((size_t)1 << 20)
#define TIME_MAX_NS 0x1p62
#define GIB 1073741824.0

/* --- kinds --- */

static const char *column_name(const json_t *columns, size_t index)
{
    const char *name = json_string_value(json_object_get(json_array_get(columns, index), "name"));
    return name == NULL ? "" : name;
}

static struct plugin_document table_kind(const json_t *data)
{
    if (json_is_array(data)) {
        bool by_shape = json_object_get(json_array_get(data, 0), "input_shape") != NULL;
        return (struct plugin_document){PLUGIN_OPERATION_TABLE, "operation/table",
                                        by_shape ? "OperationAndInputShape" : "Operation"};
    }
    const json_t *columns = json_object_get(data, "columns");
    if (!json_is_array(columns) || strcmp(column_name(columns, 0), "Name") != 0) {
        return (struct plugin_document){PLUGIN_UNKNOWN, "", ""};
    }
    bool by_operator = strcmp(column_name(columns, 1), "Operator") == 0;
    return (struct plugin_document){PLUGIN_KERNEL_TABLE, "kernel/table",
                                    by_operator ? "KernelNameAndOpName" : "Kernel"};
}

struct plugin_document plugin_document_kind(const json_t *document)
{
    if (json_is_object(json_object_get(document, "steps"))) {
        return (struct plugin_document){PLUGIN_OVERVIEW, "overview", ""};
    }
    if (json_object_get(document, "host_total_time") != NULL ||
        json_object_get(document, "device_total_time") != NULL) {
        return (struct plugin_document){PLUGIN_OPERATION, "operation", "Operation"};
    }
    if (json_object_get(document, "metadata") != NULL) {
        return table_kind(json_object_get(document, "data"));
    }
    const json_t *total = json_object_get(document, "total");
    if (json_is_array(json_object_get(total, "rows"))) {
        const json_t *first = json_array_get(json_object_get(total, "rows"), 0);
        const char *name = json_string_value(json_array_get(first, 0));
        bool is_tensor_pie = name != NULL && strcmp(name, "Using Tensor Cores") == 0;
        return (struct plugin_document){PLUGIN_KERNEL, is_tensor_pie ? "kernel/tc_pie" : "kernel",
                                        is_tensor_pie ? "" : "Kernel"};
    }
    return (struct plugin_document){PLUGIN_UNKNOWN, "", ""};
}

/* --- values --- */

static double number_of(const json_t *value)
{
    double number = json_number_value(value);
    return number > -TIME_MAX_NS && number < TIME_MAX_NS ? number : 0;
}

static int64_t ns_of(const json_t *microseconds)
{
    double ns = number_of(microseconds) * NS_PER_US;
    return fabs(ns) < TIME_MAX_NS ? llround(ns) : 0;
}

static const char *text_of(struct trace_results *results, const json_t *value)
{
    const char *text = json_is_string(value) ? json_string_value(value) : "";
    return arena_strdup(&results->arena, text);
}

static bool is_yes(const json_t *value)
{
    const char *text = json_string_value(value);
    return text != NULL && strcmp(text, "Yes") == 0;
}

/* --- overview: steps --- */

static enum time_category role_of_label(const char *label)
{
    enum time_category role = TIME_KERNEL;
    while (role < TIME_CATEGORY_COUNT && strcmp(time_category_label(role), label) != 0) {
        role++;
    }
    return role;
}

static void add_costs(struct step_row *step, const json_t *columns, const json_t *cells)
{
    for (size_t i = 1; i < json_array_size(columns); i++) {
        enum time_category role = role_of_label(column_name(columns, i));
        if (role != TIME_CATEGORY_COUNT) {
            step->cost_ns[role] = ns_of(json_array_get(cells, i));
            step->end_ns += step->cost_ns[role];
        }
    }
}

/* An overview tells how long steps took, not when they were: they are laid end to end. */
static bool add_steps(struct trace_results *results, const json_t *table)
{
    const json_t *columns = json_object_get(table, "columns");
    const json_t *rows = json_object_get(table, "rows");
    size_t count = json_array_size(rows);
    results->steps = arena_calloc(&results->arena, count, sizeof *results->steps);
    if (results->steps == NULL) {
        return false;
    }
    int64_t at_ns = 0;
    for (size_t i = 0; i < count; i++) {
        const json_t *cells = json_array_get(rows, i);
        struct step_row *step = &results->steps[i];
        step->name = text_of(results, json_array_get(cells, 0));
        if (step->name == NULL) {
            return false;
        }
        step->start_ns = at_ns;
        step->end_ns = at_ns;
        add_costs(step, columns, cells);
        at_ns = step->end_ns;
        for (int role = 0; role < TIME_CATEGORY_COUNT; role++) {
            results->role_ns[role] += step->cost_ns[role]; /* what a recording without steps says */
        }
        results->has_kernel = results->has_kernel || step->cost_ns[TIME_KERNEL] > 0;
        results->has_memcpy_or_memset = results->has_memcpy_or_memset ||
                                        step->cost_ns[TIME_MEMCPY] > 0 ||
                                        step->cost_ns[TIME_MEMSET] > 0;
    }
    for (size_t i = 0; i < json_array_size(columns); i++) {
        enum time_category role = role_of_label(column_name(columns, i));
        results->has_runtime = results->has_runtime || role == TIME_RUNTIME;
        results->has_communication = results->has_communication || role == TIME_COMMUNICATION;
    }
    results->step_count = count;
    results->has_steps = count > 1 || (count == 1 && strcmp(results->steps[0].name, "0") != 0);
    results->duration_ns = at_ns;
    return true;
}

/* --- overview: devices --- */

/* `GPU 0:`: the first line of a device. */
static bool device_title(const char *title, int64_t *id)
{
    const char *space = strchr(title, ' ');
    if (space == NULL || !text_ends(title, ":")) {
        return false;
    }
    char *end;
    *id = strtol(space + 1, &end, 10);
    return end != space + 1 && strcmp(end, ":") == 0;
}

static bool add_metric(struct trace_results *results,
                       struct device_row *device,
                       const char *title,
                       const char *value)
{
    double number = strtod(value, NULL);
    if (strcmp(title, "Name") == 0) {
        device->name = arena_strdup(&results->arena, value);
        return device->name != NULL;
    }
    if (strcmp(title, "Memory") == 0) {
        device->memory_bytes = number * GIB;
    } else if (strcmp(title, "Compute Capability") == 0) {
        device->capability = arena_strdup(&results->arena, value);
        return device->capability != NULL;
    } else if (text_ends(title, " Utilization")) {
        device->utilisation = number / 100;
    } else if (strcmp(title, "Est. SM Efficiency") == 0) {
        device->sm_efficiency = number / 100;
    } else if (strcmp(title, "Est. Achieved Occupancy") == 0) {
        device->occupancy_pct = number;
    } else if (strcmp(title, "Kernel Time using Tensor Cores") == 0) {
        device->tensor_share = number / 100;
    }
    return true;
}

/* `gpu_metrics`, `mlu_metrics`: whatever the accelerator is called. */
static const json_t *metrics_of(const json_t *overview)
{
    const char *key;
    json_t *value;
    void *iter = json_object_iter((json_t *)(uintptr_t)overview);
    for (; iter != NULL; iter = json_object_iter_next((json_t *)(uintptr_t)overview, iter)) {
        key = json_object_iter_key(iter);
        value = json_object_iter_value(iter);
        if (text_ends(key, "_metrics")) {
            return json_object_get(value, "data");
        }
    }
    return NULL;
}

static bool add_devices(struct trace_results *results, const json_t *data)
{
    results->devices =
        arena_calloc(&results->arena, json_array_size(data), sizeof *results->devices);
    if (results->devices == NULL) {
        return false;
    }
    for (size_t i = 0; i < json_array_size(data); i++) {
        const json_t *line = json_array_get(data, i);
        const char *title = json_string_value(json_object_get(line, "title"));
        const char *value = json_string_value(json_object_get(line, "value"));
        int64_t id;
        if (title == NULL || value == NULL) {
            continue;
        }
        if (device_title(title, &id)) {
            results->devices[results->device_count++] = device_row_unknown(id);
        } else if (results->device_count > 0 &&
                   !add_metric(results, &results->devices[results->device_count - 1], title,
                               value)) {
            return false;
        }
    }
    return true;
}

/* --- overview: texts --- */

static const char *recommendation_code(const char *text)
{
    static const struct {
        const char *word;
        const char *code;
    } codes[] = {
        {"DataLoader", "dataloader"},       {"num_workers", "dataloader"},
        {"utilization", "utilisation"},     {"NCCL", "nccl"},
        {"DataParallel", "data_parallel"},  {"Tensor Core", "tensor_cores"},
        {"communication", "communication"}, {"memory", "memory"},
    };
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        if (strstr(text, codes[i].word) != NULL) {
            return codes[i].code;
        }
    }
    return "other";
}

/* Appends the text of HTML up to `end`: tags left out, the usual entities undone. */
static void append_plain(struct buf *out, const char *at, const char *end)
{
    static const struct {
        const char *entity;
        char c;
    } entities[] = {{"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&#39;", '\''}, {"&amp;", '&'}};
    bool in_tag = false;
    while (at < end) {
        size_t len = 1;
        char c = *at;
        for (size_t i = 0; c == '&' && i < sizeof entities / sizeof entities[0]; i++) {
            if (strncmp(at, entities[i].entity, strlen(entities[i].entity)) == 0) {
                len = strlen(entities[i].entity);
                c = entities[i].c;
                break;
            }
        }
        in_tag = in_tag || *at == '<';
        if (!in_tag) {
            buf_putc(out, c);
        }
        in_tag = in_tag && *at != '>';
        at += len;
    }
}

static size_t count_of(const char *text, const char *word)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, word)) != NULL; at++) {
        count++;
    }
    return count;
}

static bool add_recommendations(struct trace_results *results, const char *html)
{
    size_t count = count_of(html, "<li>");
    results->recommendations =
        arena_calloc(&results->arena, count, sizeof *results->recommendations);
    if (results->recommendations == NULL) {
        return false;
    }
    struct buf text;
    buf_init(&text, TEXT_BYTES_MAX);
    bool good = true;
    for (const char *at = html; good && (at = strstr(at, "<li>")) != NULL; at++) {
        const char *end = strstr(at, "</li>");
        buf_clear(&text);
        append_plain(&text, at, end == NULL ? at + strlen(at) : end);
        if (strcmp(text.ptr, "N/A") == 0 || text.failed) {
            continue;
        }
        const char *kept = arena_strndup(&results->arena, text.ptr, text.len);
        results->recommendations[results->recommendation_count++] = (struct recommendation_row){
            .code = recommendation_code(text.ptr), .text = kept, .saving_ns = RESULTS_NO_TIME};
        good = kept != NULL;
    }
    buf_free(&text);
    return good;
}

static bool add_environment(struct trace_results *results, const json_t *lines)
{
    size_t count = json_array_size(lines);
    results->environment = arena_calloc(&results->arena, count, sizeof *results->environment);
    if (results->environment == NULL) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        const json_t *line = json_array_get(lines, i);
        struct environment_row *row = &results->environment[results->environment_count++];
        row->name = text_of(results, json_object_get(line, "title"));
        row->value = text_of(results, json_object_get(line, "value"));
        if (row->name == NULL || row->value == NULL) {
            return false;
        }
        if (strcmp(row->name, "Device Type") == 0) {
            results->device_type = row->value;
            results->mlu = strcmp(row->value, "MLU") == 0;
        }
    }
    return true;
}

static bool add_overview(struct trace_results *results, const json_t *overview)
{
    const char *html = json_string_value(json_object_get(overview, "recommendations"));
    results->views |= 1U << VIEW_OVERVIEW;
    return add_steps(results, json_object_get(overview, "steps")) &&
           add_devices(results, metrics_of(overview)) &&
           add_recommendations(results, html == NULL ? "" : html) &&
           add_environment(results, json_object_get(overview, "environments"));
}

/* --- tables --- */

static bool
add_operators(struct trace_results *results, const json_t *data, enum operator_group group)
{
    size_t count = json_array_size(data);
    struct operator_row *rows = arena_calloc(&results->arena, count, sizeof *rows);
    if (rows == NULL) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        const json_t *line = json_array_get(data, i);
        const json_t *shape = json_object_get(line, "input_shape");
        struct operator_row *row = &rows[i];
        row->name = text_of(results, json_object_get(line, "name"));
        row->input_shape = group == OPERATOR_BY_NAME_SHAPE ? text_of(results, shape) : NULL;
        if (row->name == NULL || (group == OPERATOR_BY_NAME_SHAPE && row->input_shape == NULL)) {
            return false;
        }
        row->calls = (int64_t)number_of(json_object_get(line, "calls"));
        row->host_total_ns = ns_of(json_object_get(line, "host_total_duration"));
        row->host_self_ns = ns_of(json_object_get(line, "host_self_duration"));
        row->device_total_ns = ns_of(json_object_get(line, "device_total_duration"));
        row->device_self_ns = ns_of(json_object_get(line, "device_self_duration"));
        row->tensor_eligible = is_yes(json_object_get(line, "tc_eligible"));
        row->has_call_stack = json_is_true(json_object_get(line, "has_call_stack"));
        double total_pct = number_of(json_object_get(line, "tc_total_ratio"));
        double self_pct = number_of(json_object_get(line, "tc_self_ratio"));
        row->tensor_total_ns = (int64_t)((double)row->device_total_ns * fmin(total_pct, 100) / 100);
        row->tensor_self_ns = (int64_t)((double)row->device_self_ns * fmin(self_pct, 100) / 100);
        results->operators_have_device =
            results->operators_have_device || json_object_get(line, "device_self_duration") != NULL;
    }
    results->operators[group] = rows;
    results->operator_count[group] = count;
    return true;
}

/* Where each figure stands in a kernel table: column numbers, SIZE_MAX for columns that are not
 * there. */
static size_t column_of(const json_t *columns, const char *name)
{
    for (size_t i = 0; i < json_array_size(columns); i++) {
        if (strcmp(column_name(columns, i), name) == 0) {
            return i;
        }
    }
    return SIZE_MAX;
}

static const json_t *cell(const json_t *cells, const json_t *columns, const char *name)
{
    size_t column = column_of(columns, name);
    return column == SIZE_MAX ? NULL : json_array_get(cells, column);
}

static bool add_kernels(struct trace_results *results, const json_t *data)
{
    const json_t *columns = json_object_get(data, "columns");
    const json_t *rows = json_object_get(data, "rows");
    size_t count = json_array_size(rows);
    double total_ns = 0;
    double tc_ns = 0;
    results->kernels = arena_calloc(&results->arena, count, sizeof *results->kernels);
    if (results->kernels == NULL) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        const json_t *cells = json_array_get(rows, i);
        struct kernel_row *row = &results->kernels[i];
        row->name = text_of(results, cell(cells, columns, "Name"));
        if (row->name == NULL) {
            return false;
        }
        row->calls = (int64_t)number_of(cell(cells, columns, "Calls"));
        row->total_ns = ns_of(cell(cells, columns, "Total Duration (us)"));
        row->max_ns = ns_of(cell(cells, columns, "Max Duration (us)"));
        row->min_ns = ns_of(cell(cells, columns, "Min Duration (us)"));
        row->tensor_used = is_yes(cell(cells, columns, "Tensor Cores Used"));
        row->blocks_per_sm = number_of(cell(cells, columns, "Mean Blocks Per SM"));
        row->occupancy_pct = number_of(cell(cells, columns, "Mean Est. Achieved Occupancy (%)"));
        total_ns += (double)row->total_ns;
        tc_ns += row->tensor_used ? (double)row->total_ns : 0;
    }
    results->kernel_count = count;
    results->has_kernel = results->has_kernel || count > 0;
    results->has_blocks_per_sm = column_of(columns, "Mean Blocks Per SM") != SIZE_MAX;
    results->has_occupancy = column_of(columns, "Mean Est. Achieved Occupancy (%)") != SIZE_MAX;
    results->tensor_pie_used = total_ns > 0 ? tc_ns / total_ns : 0;
    return true;
}

bool plugin_rows_add(struct trace_results *results,
                     const struct plugin_document *kind,
                     const json_t *document)
{
    const json_t *data = json_object_get(document, "data");
    switch (kind->kind) {
    case PLUGIN_OVERVIEW:
        return add_overview(results, document);
    case PLUGIN_OPERATION:
        results->views |= 1U << VIEW_OPERATOR;
        return true;
    case PLUGIN_OPERATION_TABLE:
        results->views |= 1U << VIEW_OPERATOR;
        return add_operators(results, data,
                             strcmp(kind->group_by, "Operation") == 0 ? OPERATOR_BY_NAME
                                                                      : OPERATOR_BY_NAME_SHAPE);
    case PLUGIN_KERNEL:
        results->views |= 1U << VIEW_KERNEL;
        return true;
    case PLUGIN_KERNEL_TABLE:
        results->views |= 1U << VIEW_KERNEL;
        return strcmp(kind->group_by, "Kernel") != 0 || add_kernels(results, data);
    case PLUGIN_UNKNOWN:
        break;
    }
    return true;
}

const char *plugin_rows_worker(struct trace_results *results)
{
    if (results->device_count != 1) {
        return NULL;
    }
    char name[64];
    const char *type = results->device_type == NULL ? "GPU" : results->device_type;
    int len = snprintf(name, sizeof name, "%s %lld", type, (long long)results->devices[0].id);
    return len < 0 || (size_t)len >= sizeof name
               ? NULL
               : arena_strndup(&results->arena, name, (size_t)len);
}

/* The plugin's routes over call trees: tree, module, diff, diffnode [TB-A.tree] [TB-14] [TB-16]. */
#include "api/tb_plugin/common.h"
#include "api/tb_plugin/derived.h"
#include "api/tb_plugin/handlers.h"
#include "ingest/query/compare/tree_query.h"

/* ---- tree ---- */

/* Trees are deeper than a json_write nests: brackets are written here, texts by it. */
static void put_text(struct buf *out, const char *text)
{
    struct json_write w;
    jw_init(&w, out, true);
    jw_string(&w, text);
}

/* A time of the file: positions count from the trace's start. */
static void put_time(struct buf *out, const struct trace_results *results, int64_t position)
{
    char number[64];
    buf_append(
        out, number,
        plugin_position_text(number, sizeof number, results, plugin_ticks(results), position));
}

static void put_node(struct buf *out,
                     const struct call_tree *tree,
                     uint32_t row,
                     const struct trace_results *results)
{
    buf_puts(out, "{\"name\": ");
    put_text(out, tree->names[tree->name[row]]);
    buf_puts(out, ", \"start_time\": ");
    put_time(out, results, tree->start[row]);
    buf_puts(out, ", \"end_time\": ");
    put_time(out, results, tree->stop[row]);
    buf_puts(out, ", \"type\": ");
    put_text(out, call_type_name((enum call_type)tree->type[row]));
    buf_puts(out, ", \"tid\": ");
    if ((tree->flags[row] & CALL_TID_IS_TEXT) != 0) {
        put_text(out, tree->names[tree->tid[row]]);
    } else {
        buf_puts(out, tree->names[tree->tid[row]]);
    }
    buf_puts(out, ", \"children\": [");
}

static bool put_tree(struct api_call *call,
                     const struct call_tree *tree,
                     const struct trace_results *results,
                     struct err *err)
{
    struct buf *out = &call->response->body;
    uint32_t thread = tree->profile_thread != CALL_NONE ? tree->profile_thread : 0;
    (void)call_json_long(call, true);
    if (tree->thread_count == 0) {
        buf_puts(out, "{}");
        return true;
    }
    uint32_t first = tree->threads[thread].first;
    uint32_t end = tree->threads[thread].end;
    uint32_t *open = arena_calloc(call_arena(call), (size_t)(end - first) + 1, sizeof *open);
    if (open == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for a tree of %u nodes", end - first);
    }
    size_t depth = 0;
    for (uint32_t row = first; row < end && !out->failed; row++) {
        size_t before = depth;
        while (depth > 0 && tree->end[open[depth - 1]] <= row) {
            buf_puts(out, "]}");
            depth--;
        }
        buf_puts(out, row > first && (depth < before || row > open[depth - 1] + 1) ? ", " : "");
        put_node(out, tree, row, results);
        open[depth++] = row;
    }
    for (; depth > 0; depth--) {
        buf_puts(out, "]}");
    }
    return true;
}

bool plugin_tree(struct api_call *call, struct err *err)
{
    struct plugin_request request;
    struct call_tree *tree = NULL;
    if (!plugin_begin(call, "tree", NULL, &request, err) || request.answered) {
        return request.answered;
    }
    if (!store_call_tree(call->snapshot, call_arena(call), request.figures_id, &tree, err)) {
        return false;
    }
    if (tree == NULL) {
        return err_set(err, ERR_NOT_FOUND, "this upload holds no events, and so no tree");
    }
    return put_tree(call, tree, request.results, err);
}

/* ---- module ---- */

static void put_module_column(struct json_write *w, const char *name, const char *key, bool text)
{
    jw_object_begin(w);
    jw_key_string(w, "name", name);
    jw_key_string(w, "type", text ? "string" : "number");
    jw_key_string(w, "key", key);
    jw_object_end(w);
}

static void put_module_columns(struct json_write *w)
{
    jw_key_array_begin(w, "columns");
    put_module_column(w, "Module Name", "name", true);
    put_module_column(w, "Occurences", "occurences", false);
    put_module_column(w, "Operators", "operators", false);
    put_module_column(w, "Host Total Time", "host_duration", false);
    put_module_column(w, "Host Self Time", "self_host_duration", false);
    put_module_column(w, "Device Total Time", "device_duration", false);
    put_module_column(w, "Device Self Time", "self_device_duration", false);
    jw_array_end(w);
}

static void put_us(struct buf *out, const char *key, struct plugin_unit unit, int64_t ticks)
{
    char number[64];
    buf_printf(out, ", \"%s\": ", key);
    buf_append(out, number, plugin_us_text(number, sizeof number, unit, ticks));
}

/* Everything but the children and what closes it. */
static void put_module(struct buf *out, const struct module_row *row, struct plugin_unit unit)
{
    struct json_write w;
    buf_puts(out, "{\"name\": ");
    put_text(out, row->name);
    buf_printf(out, ", \"id\": %lld, \"occurences\": %lld, \"operators\": %lld",
               (long long)row->module_id, (long long)row->occurrences, (long long)row->operators);
    put_us(out, "host_duration", unit, row->host_total);
    put_us(out, "self_host_duration", unit, row->host_self);
    put_us(out, "device_duration", unit, row->device_total);
    put_us(out, "self_device_duration", unit, row->device_self);
    double calls = row->occurrences > 0 ? (double)row->occurrences : 1;
    double device = plugin_us(unit, row->device_total) / calls;
    buf_puts(out, ", \"avg_duration\": ");
    jw_init(&w, out, true);
    if (row->occurrences == 0) {
        jw_int(&w, 0);
    } else {
        jw_double(&w, device > 0 ? device : plugin_us(unit, row->host_total) / calls);
    }
    buf_puts(out, ", \"children\": [");
}

/* Rows stand in pre-order; a row whose parent is not the one that is open closes what is. */
static void
put_modules(struct buf *out, const struct module_row *rows, size_t count, struct plugin_unit unit)
{
    int64_t open = MODULE_NO_PARENT;
    for (size_t i = 0; i < count && !out->failed; i++) {
        bool follows = i > 0 && rows[i].parent != open;
        while (open != rows[i].parent && open != MODULE_NO_PARENT) {
            buf_puts(out, "]}");
            open = rows[open].parent;
        }
        buf_puts(out, follows ? ", " : "");
        put_module(out, &rows[i], unit);
        open = (int64_t)i;
    }
    while (open != MODULE_NO_PARENT) {
        buf_puts(out, "]}");
        open = rows[open].parent;
    }
}

bool plugin_module(struct api_call *call, struct err *err)
{
    struct plugin_request request;
    struct module_row *rows = NULL;
    size_t count = 0;
    if (!plugin_begin(call, "module", NULL, &request, err) || request.answered) {
        return request.answered;
    }
    if (!store_modules(call->snapshot, call_arena(call), request.figures_id, &rows, &count, err)) {
        return false;
    }
    if (count == 0) {
        return err_set(err, ERR_NOT_FOUND,
                       "the trace has no modules: profile with with_stack=True and "
                       "with_modules=True");
    }
    struct json_write w = call_json_long(call, true);
    struct buf *out = &call->response->body;
    jw_object_begin(&w);
    put_module_columns(&w);
    jw_key(&w, "data");
    jw_raw(&w, "[", 1);
    put_modules(out, rows, count, plugin_ticks(request.results));
    buf_puts(out, "]");
    jw_object_end(&w);
    return true;
}

/* ---- diff ---- */

struct diff_request {
    struct diff diff;
    struct plugin_unit units[DIFF_SIDES];
};

static bool begin_diff(struct api_call *call, struct diff_request *d, struct err *err)
{
    struct plugin_run run;
    const struct store_trace *traces[DIFF_SIDES];
    int64_t ids[DIFF_SIDES];
    if (!plugin_find_run(call, &run, err) ||
        !plugin_find_trace(call, &run, &traces[DIFF_LEFT], err) ||
        !plugin_find_other(call, &traces[DIFF_RIGHT], err)) {
        return false;
    }
    for (int side = 0; side < DIFF_SIDES; side++) {
        struct trace_results *results = NULL;
        if (!derived_figures(call, traces[side], &ids[side], err) ||
            !store_overview(call->snapshot, call_arena(call), ids[side], &results, err)) {
            return false;
        }
        d->units[side] = plugin_ticks(results);
    }
    return query_diff(call->snapshot, call_arena(call), ids, &d->diff, err);
}

static void put_operator(struct buf *out, const struct diff_operator *row, struct plugin_unit unit)
{
    buf_puts(out, "{\"name\": ");
    put_text(out, row->name);
    buf_printf(out, ", \"calls\": %lld", (long long)row->calls);
    put_us(out, "host_duration", unit, row->host);
    put_us(out, "device_duration", unit, row->device);
    put_us(out, "self_host_duration", unit, row->host_self);
    put_us(out, "self_device_duration", unit, row->device_self);
    buf_puts(out, "}");
}

static bool put_side(struct api_call *call,
                     const struct diff_request *d,
                     const struct diff_node *node,
                     int side,
                     struct err *err)
{
    struct buf *out = &call->response->body;
    struct diff_side figures;
    struct arena arena; /* for this node: there may be as many as events */
    arena_init(&arena, 0);
    if (!query_diff_side(&arena, &d->diff, node, side, &figures, err)) {
        arena_free(&arena);
        return false;
    }
    buf_printf(out, "\"%s\": {\"name\": ", side == DIFF_LEFT ? "left" : "right");
    put_text(out, figures.name);
    put_us(out, "duration", d->units[side], figures.duration);
    put_us(out, "device_duration", d->units[side], figures.device_duration);
    put_us(out, "total_duration", d->units[side], figures.total_duration);
    buf_puts(out, ", \"aggs\": [");
    for (size_t i = 0; i < figures.operator_count; i++) {
        buf_puts(out, i == 0 ? "" : ", ");
        put_operator(out, &figures.operators[i], d->units[side]);
    }
    buf_puts(out, "]}, ");
    arena_free(&arena);
    return true;
}

static bool put_sides(struct api_call *call,
                      const struct diff_request *d,
                      const struct diff_node *node,
                      struct err *err)
{
    buf_puts(&call->response->body, "{");
    return put_side(call, d, node, DIFF_LEFT, err) && put_side(call, d, node, DIFF_RIGHT, err);
}

/* A node whose children are being written. */
struct open_node {
    uint32_t node;
    uint32_t next_child;
};

/* The whole tree, as deep as modules nest. */
static bool put_diff(struct api_call *call, const struct diff_request *d, struct err *err)
{
    struct buf *out = &call->response->body;
    const struct diff_node *nodes = d->diff.nodes;
    struct open_node *open =
        arena_calloc(call_arena(call), (size_t)d->diff.node_count + 1, sizeof *open);
    if (open == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for a tree of %u nodes", d->diff.node_count);
    }
    size_t depth = 1;
    if (!put_sides(call, d, &nodes[0], err)) {
        return false;
    }
    buf_puts(out, "\"children\": [");
    while (depth > 0 && !out->failed) {
        struct open_node *top = &open[depth - 1];
        const struct diff_node *here = &nodes[top->node];
        if (top->next_child == here->child_count) {
            buf_puts(out, "]}");
            depth--;
            continue;
        }
        buf_puts(out, top->next_child == 0 ? "" : ", ");
        uint32_t child = here->first_child + top->next_child++;
        if (!put_sides(call, d, &nodes[child], err)) {
            return false;
        }
        buf_puts(out, "\"children\": [");
        open[depth++] = (struct open_node){.node = child};
    }
    return true;
}

bool plugin_diff(struct api_call *call, struct err *err)
{
    struct diff_request d;
    if (!begin_diff(call, &d, err)) {
        return false;
    }
    (void)call_json_long(call, true);
    return put_diff(call, &d, err);
}

bool plugin_diffnode(struct api_call *call, struct err *err)
{
    struct diff_request d;
    const char *given = query_string_get(&call->query, "path");
    const char *path = given == NULL || *given == '\0' ? "0" : given;
    struct buf *out = &call->response->body;
    uint32_t node = 0;
    if (!begin_diff(call, &d, err) || !query_diff_find(&d.diff, path, &node, err)) {
        return false;
    }
    const struct diff_node *here = &d.diff.nodes[node];
    (void)call_json_long(call, true);
    if (!put_sides(call, &d, here, err)) {
        return false;
    }
    buf_puts(out, "\"path\": ");
    put_text(out, path);
    buf_puts(out, ", \"children\": [");
    for (uint32_t i = 0; i < here->child_count; i++) {
        buf_puts(out, i == 0 ? "" : ", ");
        if (!put_sides(call, &d, &d.diff.nodes[here->first_child + i], err)) {
            return false;
        }
        buf_puts(out, "\"path\": ");
        put_text(out, call_format(call, "%s-%u", path, i));
        buf_puts(out, "}");
    }
    buf_puts(out, "]}");
    return true;
}
